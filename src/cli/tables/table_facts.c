/* What the recording is as a whole: facts, losses, devices, tracks and steps. */
#include "cli/cli.h"
#include "cli/tables/tables.h"

static const table_column fact_columns[] = {{"key", "TEXT PRIMARY KEY"}, {"value", ""}};

static bool put_count(table_row *row, const char *key, uint64_t value)
{
    table_put_text(row, key);
    table_put_uint(row, value);
    return table_row_end(row);
}

static bool put_real(table_row *row, const char *key, double value)
{
    table_put_text(row, key);
    table_put_real(row, value);
    return table_row_end(row);
}

static bool put_text(table_row *row, const char *key, const char *value)
{
    table_put_text(row, key);
    table_put_text(row, value);
    return table_row_end(row);
}

static bool put_steps(const takt_trace *trace, table_row *row)
{
    takt_all_steps steps;
    takt_trace_all_steps(trace, &steps);
    return put_count(row, "all_steps_count", steps.count) &&
           put_count(row, "all_steps_total_ns", steps.total_ns) &&
           put_count(row, "all_steps_min_ns", steps.min_ns) &&
           put_count(row, "all_steps_median_ns", steps.median_ns) &&
           put_count(row, "all_steps_p99_ns", steps.p99_ns) &&
           put_count(row, "all_steps_max_ns", steps.max_ns) &&
           put_real(row, "simulated_seconds_per_step", steps.simulated_seconds);
}

static bool put_host_peak(const takt_trace *trace, table_row *row)
{
    takt_peak peak = takt_trace_peak(trace, "cpu");
    return put_real(row, "host_peak_flops", peak.flops) &&
           put_real(row, "host_peak_bandwidth", peak.bandwidth);
}

static bool fill_facts(const table_source *source, table_row *row)
{
    const takt_facts *facts = takt_trace_facts(source->trace);
    bool is_good = put_count(row, "format", TABLES_FORMAT) &&
                   put_text(row, "takt_version", takt_version()) &&
                   put_text(row, "name", facts->name) && put_text(row, "backend", facts->backend);
    table_put_text(row, "realtime_offset_ns");
    table_put_int(row, facts->realtime_offset_ns);
    return is_good && table_row_end(row) && put_count(row, "begin_ns", facts->begin_ns) &&
           put_count(row, "end_ns", facts->end_ns) &&
           put_count(row, "process_id", facts->process_id) && put_count(row, "rank", facts->rank) &&
           put_count(row, "world_size", facts->world_size) &&
           put_count(row, "cycle", facts->cycle) &&
           put_count(row, "first_step", facts->first_step) &&
           put_count(row, "step_count", facts->step_count) &&
           put_count(row, "is_partial", facts->is_partial) &&
           put_text(row, "ending", cli_ending_name(facts)) &&
           put_count(row, "known_until_ns", facts->known_until_ns) &&
           put_count(row, "missing_spans", facts->missing_spans) &&
           put_count(row, "missing_activities", facts->missing_activities) &&
           put_count(row, "has_spans", facts->has_spans) &&
           put_count(row, "span_count", facts->span_count) &&
           put_count(row, "activity_count", facts->activity_count) &&
           put_count(row, "begun_before", facts->begun_before) &&
           put_count(row, "unfinished", facts->unfinished) &&
           put_real(row, "clock_resolution_ns", facts->clock_resolution_ns) &&
           put_real(row, "clock_uncertainty_ns", facts->clock_uncertainty_ns) &&
           put_real(row, "device_resolution_ns", facts->device_resolution_ns) &&
           put_real(row, "device_uncertainty_ns", facts->device_uncertainty_ns) &&
           put_count(row, "device_uncertainty_is_least", facts->device_uncertainty_is_least) &&
           put_real(row, "device_shift_ns", facts->device_shift_ns) &&
           put_real(row, "cost_ns", facts->cost_ns) && put_steps(source->trace, row) &&
           put_host_peak(source->trace, row);
}

const table table_facts = TABLE_OF("facts", fact_columns, fill_facts);

static const table_column loss_columns[] = {
    {"name", "TEXT PRIMARY KEY"}, {"count", "INTEGER"}, {"meaning", "TEXT"}};

static bool fill_losses(const table_source *source, table_row *row)
{
    for (int i = 0; i < TAKT_LOSS_COUNT; i++) {
        table_put_text(row, takt_loss_name((takt_loss)i));
        table_put_uint(row, takt_trace_loss(source->trace, (takt_loss)i));
        table_put_text(row, takt_loss_text((takt_loss)i));
        if (!table_row_end(row))
            return false;
    }
    return true;
}

const table table_losses = TABLE_OF("losses", loss_columns, fill_losses);

static const table_column device_columns[] = {
    {"device", "TEXT PRIMARY KEY"}, {"name", "TEXT"},
    {"compute_major", "INTEGER"},   {"compute_minor", "INTEGER"},
    {"multiprocessors", "INTEGER"}, {"memory_bytes", "INTEGER"},
    {"peak_flops", "REAL"},         {"peak_bandwidth", "REAL"}};

static bool fill_devices(const table_source *source, table_row *row)
{
    takt_device_info device;
    for (size_t i = 0; takt_trace_device(source->trace, i, &device) == TAKT_OK; i++) {
        table_put_text(row, device.device);
        table_put_known_text(row, device.name);
        table_put_known(row, device.compute_major);
        table_put_uint(row, device.compute_minor);
        table_put_known(row, device.multiprocessors);
        table_put_known(row, device.memory_bytes);
        takt_peak peak = takt_trace_peak(source->trace, device.device);
        table_put_known_real(row, peak.flops);
        table_put_known_real(row, peak.bandwidth);
        if (!table_row_end(row))
            return false;
    }
    return true;
}

const table table_devices = TABLE_OF("devices", device_columns, fill_devices);

static const table_column track_columns[] = {{"id", "INTEGER PRIMARY KEY"},
                                             {"kind", "TEXT"},
                                             {"name", "TEXT"},
                                             {"thread", "INTEGER"},
                                             {"spans", "INTEGER"}};

static bool fill_tracks(const table_source *source, table_row *row)
{
    takt_track_info track;
    for (size_t i = 0; takt_trace_track(source->trace, i, &track) == TAKT_OK; i++) {
        table_put_track(row, i);
        table_put_text(row, track.kind == TAKT_TRACK_ASYNC ? "async" : "thread");
        table_put_known_text(row, track.name);
        table_put_known(row, track.thread_id);
        table_put_uint(row, track.span_count);
        if (!table_row_end(row))
            return false;
    }
    return true;
}

const table table_tracks = TABLE_OF("tracks", track_columns, fill_tracks);

static const table_column step_columns[] = {{"number", "INTEGER PRIMARY KEY"},
                                            {"begin_ns", "INTEGER"},
                                            {"end_ns", "INTEGER"},
                                            {"duration_ns", "INTEGER"}};

static bool fill_steps(const table_source *source, table_row *row)
{
    takt_step_info step;
    for (size_t i = 0; takt_trace_step(source->trace, i, &step) == TAKT_OK; i++) {
        table_put_uint(row, step.number);
        table_put_times(row, step.begin_ns, step.end_ns);
        if (!table_row_end(row))
            return false;
    }
    return true;
}

const table table_steps = TABLE_OF("steps", step_columns, fill_steps);
