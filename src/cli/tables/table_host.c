/* Tables about the recording as a whole, and about the events that threads recorded. */
#include "cli/cli.h"
#include "cli/tables/tables.h"
#include "report/show.h"
#include "trace/cost.h"

/* ======== The recording ======== */

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
           put_text(row, "ending", tkt_ending_name(facts)) &&
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
           put_real(row, "cost_ns", tkt_trace_cost(source->trace).estimate_ns) &&
           put_steps(source->trace, row) && put_host_peak(source->trace, row);
}

const table table_facts = TABLE_OF("facts", fact_columns, fill_facts);

static const table_column loss_columns[] = {
    {"name", "TEXT PRIMARY KEY"}, {"count", "INTEGER"}, {"meaning", "TEXT"}};

static bool fill_losses(const table_source *source, table_row *row)
{
    for (int i = 0; i < TAKT_LOSS_COUNT; i++) {
        table_put_text(row, takt_loss_name((takt_loss)i));
        if (tkt_loss_is_known(source->trace, i))
            table_put_uint(row, takt_trace_loss(source->trace, (takt_loss)i));
        else
            table_put_null(row);
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

/* ======== Spans ======== */

/* Spans of threads and async tracks, their paths and arguments, and call stacks. */

static const table_column span_columns[] = {{"id", "INTEGER PRIMARY KEY"},
                                            {"track", "INTEGER REFERENCES tracks"},
                                            {"name", "TEXT"},
                                            {"category", "TEXT"},
                                            {"file", "TEXT"},
                                            {"line", "INTEGER"},
                                            {"kind", "TEXT"},
                                            {"begin_ns", "INTEGER"},
                                            {"end_ns", "INTEGER"},
                                            {"duration_ns", "INTEGER"},
                                            {"self_ns", "INTEGER"},
                                            {"parent", "INTEGER REFERENCES spans"},
                                            {"depth", "INTEGER"},
                                            {"path", "INTEGER REFERENCES paths"},
                                            {"begun_before", "INTEGER"},
                                            {"unfinished", "INTEGER"},
                                            {"flops", "REAL"},
                                            {"bytes", "REAL"},
                                            {"stack", "INTEGER"},
                                            {"device", "TEXT"},
                                            {"activity_kind", "TEXT"},
                                            {"step", "INTEGER REFERENCES steps"}};

static const char *kind_of(uint32_t flags)
{
    if (flags & TAKT_SPAN_CALL)
        return "call";
    if (flags & TAKT_SPAN_ACTIVITY)
        return "activity";
    return flags & TAKT_SPAN_PHASE ? "phase" : "scope";
}

static void put_work(const table_source *source, size_t track, size_t span, table_row *row)
{
    double flops = 0, bytes = 0;
    size_t stack = takt_trace_span_stack(source->trace, track, span);
    takt_trace_work(source->trace, track, span, &flops, &bytes);
    table_put_known_real(row, flops);
    table_put_known_real(row, bytes);
    table_put_known(row, stack == TAKT_NO_STACK ? 0 : stack + 1);
}

static bool put_span(const table_source *source, size_t track, size_t number, table_row *row)
{
    takt_span_info span;
    size_t at = source->first[track] + number;
    uint32_t path = source->path[at];
    takt_trace_span(source->trace, track, number, &span);
    table_put_span(row, source, track, number);
    table_put_track(row, track);
    table_put_text(row, span.name);
    table_put_known_text(row, span.category);
    table_put_known_text(row, span.file);
    table_put_known(row, span.line);
    table_put_text(row, kind_of(span.flags));
    table_put_times(row, span.begin_ns, span.end_ns);
    table_put_int(row, source->self_ns[at]);
    table_put_span(row, source, track, span.parent);
    table_put_uint(row, path ? source->paths.items[path].depth : 0);
    table_put_known(row, path);
    table_put_uint(row, (span.flags & TAKT_SPAN_BEGUN_BEFORE) != 0);
    table_put_uint(row, (span.flags & TAKT_SPAN_UNFINISHED) != 0);
    put_work(source, track, number, row);
    table_put_known_text(row, span.device);
    table_put_known_text(row, table_activity_kind(span.filter));
    table_put_step(row, source, span.begin_ns);
    return table_row_end(row);
}

/* Calls `put` for each span. */
static bool for_spans(const table_source *source, table_row *row,
                      bool (*put)(const table_source *source, size_t track, size_t span,
                                  table_row *row))
{
    for (size_t track = 0; track < takt_trace_count(source->trace, TAKT_TRACE_TRACKS); track++)
        for (size_t i = 0; i < source->first[track + 1] - source->first[track]; i++)
            if (!put(source, track, i, row))
                return false;
    return true;
}

static bool fill_spans(const table_source *source, table_row *row)
{
    return for_spans(source, row, put_span);
}

const table table_spans = TABLE_OF("spans", span_columns, fill_spans);

static const table_column path_columns[] = {
    {"id", "INTEGER PRIMARY KEY"}, {"parent", "INTEGER REFERENCES paths"},
    {"depth", "INTEGER"},          {"name", "TEXT"},
    {"category", "TEXT"},          {"file", "TEXT"},
    {"line", "INTEGER"},           {"is_call", "INTEGER"},
    {"is_recursive", "INTEGER"},   {"is_wait", "INTEGER"},
    {"activity_kind", "TEXT"}};

static bool fill_paths(const table_source *source, table_row *row)
{
    for (size_t i = 1; i < source->paths.count; i++) {
        const table_path *path = &source->paths.items[i];
        table_put_uint(row, i);
        table_put_known(row, path->parent);
        table_put_uint(row, path->depth);
        table_put_text(row, path->name);
        table_put_known_text(row, path->category);
        table_put_known_text(row, path->file);
        table_put_known(row, path->line);
        table_put_uint(row, path->is_call);
        table_put_uint(row, path->is_recursive);
        table_put_uint(row, path->is_wait);
        table_put_known_text(row, table_activity_kind(path->filter));
        if (!table_row_end(row))
            return false;
    }
    return true;
}

const table table_path_list = TABLE_OF("paths", path_columns, fill_paths);

static const table_column arg_columns[] = {{"span", "INTEGER REFERENCES spans"},
                                           {"position", "INTEGER"},
                                           {"key", "TEXT"},
                                           {"kind", "TEXT"},
                                           {"value", ""}};

static void put_value(const takt_arg_info *arg, table_row *row)
{
    static const char *const kinds[] = {
        [TAKT_ARG_INT] = "int",   [TAKT_ARG_UINT] = "uint", [TAKT_ARG_DOUBLE] = "double",
        [TAKT_ARG_BOOL] = "bool", [TAKT_ARG_TEXT] = "text",
    };
    table_put_text(row, kinds[arg->kind]);
    switch (arg->kind) {
    case TAKT_ARG_UINT:
        table_put_uint(row, arg->u);
        break;
    case TAKT_ARG_DOUBLE:
        table_put_real(row, arg->d);
        break;
    case TAKT_ARG_TEXT:
        table_put_text(row, arg->text);
        break;
    default:
        table_put_int(row, arg->i);
    }
}

static bool put_args(const table_source *source, size_t track, size_t span, table_row *row)
{
    takt_arg_info arg;
    size_t count = takt_trace_arg_count(source->trace, track, span);
    for (size_t i = 0; i < count; i++) {
        takt_trace_arg(source->trace, track, span, i, &arg);
        table_put_span(row, source, track, span);
        table_put_uint(row, i + 1);
        table_put_text(row, arg.key);
        put_value(&arg, row);
        if (!table_row_end(row))
            return false;
    }
    return true;
}

static bool fill_args(const table_source *source, table_row *row)
{
    return for_spans(source, row, put_args);
}

const table table_args = TABLE_OF("args", arg_columns, fill_args);

static const table_column frame_columns[] = {
    {"stack", "INTEGER"},  {"position", "INTEGER"}, {"function", "TEXT"}, {"module", "TEXT"},
    {"offset", "INTEGER"}, {"file", "TEXT"},        {"line", "INTEGER"},  {"is_inline", "INTEGER"}};

static bool put_frame(size_t stack, size_t position, const takt_frame_info *frame, table_row *row)
{
    table_put_uint(row, stack + 1);
    table_put_uint(row, position + 1);
    table_put_known_text(row, frame->function);
    table_put_known_text(row, frame->module);
    table_put_uint(row, frame->offset);
    table_put_known_text(row, frame->file);
    table_put_known(row, frame->line);
    table_put_uint(row, frame->is_inline);
    return table_row_end(row);
}

static bool fill_frames(const table_source *source, table_row *row)
{
    takt_frame_info frame;
    for (size_t stack = 0; stack < takt_trace_count(source->trace, TAKT_TRACE_STACKS); stack++)
        for (size_t i = 0; takt_trace_frame(source->trace, stack, i, &frame) == TAKT_OK; i++)
            if (!put_frame(stack, i, &frame, row))
                return false;
    return true;
}

const table table_frames = TABLE_OF("frames", frame_columns, fill_frames);

/* ======== Counters, marks and flows ======== */

static const table_column counter_columns[] = {{"name", "TEXT"},
                                               {"time_ns", "INTEGER"},
                                               {"value", "REAL"},
                                               {"track", "INTEGER REFERENCES tracks"}};

static bool fill_counters(const table_source *source, table_row *row)
{
    takt_counter_info counter;
    for (size_t i = 0; takt_trace_counter(source->trace, i, &counter) == TAKT_OK; i++) {
        table_put_text(row, counter.name);
        table_put_uint(row, counter.time_ns);
        table_put_real(row, counter.value);
        table_put_track(row, source->trace->counters.items[i].track);
        if (!table_row_end(row))
            return false;
    }
    return true;
}

const table table_counters = TABLE_OF("counters", counter_columns, fill_counters);

static const table_column mark_columns[] = {
    {"name", "TEXT"}, {"time_ns", "INTEGER"}, {"track", "INTEGER REFERENCES tracks"}};

static bool fill_marks(const table_source *source, table_row *row)
{
    takt_mark_info mark;
    for (size_t i = 0; takt_trace_mark(source->trace, i, &mark) == TAKT_OK; i++) {
        table_put_text(row, mark.name);
        table_put_uint(row, mark.time_ns);
        table_put_track(row, mark.track);
        if (!table_row_end(row))
            return false;
    }
    return true;
}

const table table_marks = TABLE_OF("marks", mark_columns, fill_marks);

/* Ids have no type: an INTEGER column would make a number of the text of large ones, and round. */
static const table_column flow_columns[] = {{"id", ""},
                                            {"is_end", "INTEGER"},
                                            {"time_ns", "INTEGER"},
                                            {"track", "INTEGER REFERENCES tracks"},
                                            {"span", "INTEGER REFERENCES spans"}};

static bool fill_flows(const table_source *source, table_row *row)
{
    for (size_t i = 0; i < source->trace->flows.count; i++) {
        const tkt_flow *flow = &source->trace->flows.items[i];
        table_put_uint(row, flow->id);
        table_put_uint(row, flow->is_end);
        table_put_uint(row, flow->time_ns);
        table_put_track(row, flow->track);
        table_put_span(row, source, flow->track, flow->span == TKT_NO_SPAN ? SIZE_MAX : flow->span);
        if (!table_row_end(row))
            return false;
    }
    return true;
}

const table table_flows = TABLE_OF("flows", flow_columns, fill_flows);
