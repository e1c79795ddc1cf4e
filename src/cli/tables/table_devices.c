/* Tables of activities, calls into CUDA, waits, overheads and memory. */
#include "cli/tables/tables.h"
#include "cuda/kinds.h"
#include "export/devices.h"
#include "trace/model.h"

/* ======== Devices ======== */

static const table_column api_columns[] = {{"span", "INTEGER PRIMARY KEY REFERENCES spans"},
                                           {"track", "INTEGER REFERENCES tracks"},
                                           {"name", "TEXT"},
                                           {"begin_ns", "INTEGER"},
                                           {"end_ns", "INTEGER"},
                                           {"duration_ns", "INTEGER"},
                                           {"correlation", "INTEGER"},
                                           {"result", "INTEGER"},
                                           {"no_activity", "INTEGER"}};

static bool fill_api(const table_source *source, table_row *row)
{
    takt_call_info call;
    for (size_t i = 0; takt_trace_call(source->trace, i, &call) == TAKT_OK; i++) {
        takt_span_info span = {.name = ""};
        takt_trace_span(source->trace, call.track, call.span, &span);
        table_put_span(row, source, call.track, call.span);
        table_put_track(row, call.track);
        table_put_text(row, span.name);
        table_put_times(row, span.begin_ns, span.end_ns);
        table_put_known(row, call.correlation);
        table_put_int(row, call.result);
        table_put_int(row, (span.flags & TAKT_SPAN_NO_ACTIVITY) != 0);
        if (!table_row_end(row))
            return false;
    }
    return true;
}

const table table_api = TABLE_OF("api", api_columns, fill_api);

static const table_column activity_columns[] = {{"id", "INTEGER PRIMARY KEY"},
                                                {"device", "TEXT"},
                                                {"name", "TEXT"},
                                                {"full_name", "TEXT"},
                                                {"kind", "TEXT"},
                                                {"thread", "INTEGER"},
                                                {"track", "INTEGER REFERENCES tracks"},
                                                {"begin_ns", "INTEGER"},
                                                {"end_ns", "INTEGER"},
                                                {"duration_ns", "INTEGER"},
                                                {"scope", "TEXT"},
                                                {"scope_span", "INTEGER REFERENCES spans"},
                                                {"launch", "TEXT"},
                                                {"launch_span", "INTEGER REFERENCES spans"},
                                                {"launch_begin_ns", "INTEGER"},
                                                {"launch_end_ns", "INTEGER"},
                                                {"context", "INTEGER"},
                                                {"stream", "INTEGER"},
                                                {"correlation", "INTEGER"},
                                                {"bytes", "INTEGER"},
                                                {"copy_kind", "TEXT"},
                                                {"source_memory", "TEXT"},
                                                {"target_memory", "TEXT"},
                                                {"grid_x", "INTEGER"},
                                                {"grid_y", "INTEGER"},
                                                {"grid_z", "INTEGER"},
                                                {"block_x", "INTEGER"},
                                                {"block_y", "INTEGER"},
                                                {"block_z", "INTEGER"},
                                                {"cluster_x", "INTEGER"},
                                                {"cluster_y", "INTEGER"},
                                                {"cluster_z", "INTEGER"},
                                                {"registers", "INTEGER"},
                                                {"static_shared_bytes", "INTEGER"},
                                                {"dynamic_shared_bytes", "INTEGER"},
                                                {"local_bytes", "INTEGER"},
                                                {"occupancy", "REAL"},
                                                {"graph", "INTEGER"},
                                                {"graph_node", "INTEGER"},
                                                {"limited_by", "TEXT"},
                                                {"graph_node_count", "INTEGER"},
                                                {"step", "INTEGER REFERENCES steps"}};

static void put_launch(const table_source *source, const takt_activity *activity, table_row *row)
{
    bool is_known = activity->launch_span != SIZE_MAX;
    bool is_cuda = activity->context != 0;
    table_put_text(row, activity->scope);
    table_put_span(row, source, activity->track, activity->scope_span);
    table_put_known_text(row, activity->launch);
    table_put_span(row, source, activity->track, activity->launch_span);
    table_put_known(row, is_known ? activity->launch_begin_ns : 0);
    table_put_known(row, is_known ? activity->launch_end_ns : 0);
    table_put_known(row, activity->context);
    if (is_cuda)
        table_put_uint(row, activity->stream);
    else
        table_put_null(row);
    table_put_known(row, activity->correlation);
}

static void put_copy(const takt_activity *activity, table_row *row)
{
    table_put_known(row, activity->bytes);
    table_put_known_text(row, tkt_copy_name(activity->copy_kind));
    table_put_known_text(row, tkt_memory_name(activity->source_memory, NULL));
    table_put_known_text(row, tkt_memory_name(activity->target_memory, NULL));
}

static void put_triple(const uint32_t values[3], table_row *row)
{
    for (int i = 0; i < 3; i++)
        table_put_known(row, values[i]);
}

/* Every kernel has registers: without any, the trace tells no resources, and sizes of 0 are null. */
static void put_kernel(const takt_activity *activity, table_row *row)
{
    static const char *const limits[] = {NULL, "warps", "registers", "shared memory", "blocks"};
    const uint32_t values[] = {activity->registers, activity->static_shared_bytes,
                               activity->dynamic_shared_bytes, activity->local_bytes};
    put_triple(activity->grid, row);
    put_triple(activity->block, row);
    put_triple(activity->cluster, row);
    for (int i = 0; i < 4; i++)
        if (activity->registers)
            table_put_uint(row, values[i]);
        else
            table_put_known(row, values[i]);
    table_put_known_real(row, activity->occupancy);
    table_put_known(row, activity->graph);
    table_put_known(row, activity->graph_node);
    table_put_text(row, TABLE_NAME_OF(limits, activity->occupancy_limit));
    table_put_known(row, activity->graph_node_count);
}

/* An activity belongs to the step that launched it, which may have ended when it runs. */
static uint64_t issued_ns(const takt_activity *activity)
{
    return activity->launch_span == SIZE_MAX ? activity->begin_ns : activity->launch_begin_ns;
}

static bool fill_activities(const table_source *source, table_row *row)
{
    takt_activity activity;
    for (size_t i = 0; takt_trace_activity(source->trace, i, &activity) == TAKT_OK; i++) {
        table_put_uint(row, i + 1);
        table_put_text(row, activity.device);
        table_put_text(row, activity.name);
        table_put_known_text(row, activity.full_name);
        table_put_known_text(row, table_activity_kind(activity.filter));
        table_put_known(row, activity.thread);
        table_put_track(row, activity.track);
        table_put_times(row, activity.begin_ns, activity.end_ns);
        put_launch(source, &activity, row);
        put_copy(&activity, row);
        put_kernel(&activity, row);
        table_put_step(row, source, issued_ns(&activity));
        if (!table_row_end(row))
            return false;
    }
    return true;
}

const table table_activities = TABLE_OF("activities", activity_columns, fill_activities);

static const table_column wait_columns[] = {{"begin_ns", "INTEGER"},    {"end_ns", "INTEGER"},
                                            {"duration_ns", "INTEGER"}, {"kind", "TEXT"},
                                            {"correlation", "INTEGER"}, {"context", "INTEGER"},
                                            {"stream", "INTEGER"},
                                            {"thread", "INTEGER"},
                                            {"track", "INTEGER REFERENCES tracks"},
                                            {"span", "INTEGER REFERENCES spans"},
                                            {"event", "INTEGER"},
                                            {"record_correlation", "INTEGER"},
                                            {"record_stream", "INTEGER"}};

/* The waiting call, and the event with the call that recorded it. */
static void put_wait_calls(const table_source *source, const takt_wait_info *wait, table_row *row)
{
    takt_track_info track = {.thread_id = 0};
    if (wait->track != SIZE_MAX)
        takt_trace_track(source->trace, wait->track, &track);
    table_put_known(row, track.thread_id);
    table_put_track(row, wait->track);
    table_put_span(row, source, wait->track, wait->span);
    table_put_known(row, wait->event);
    table_put_known(row, wait->record_correlation);
    if (wait->record_correlation)
        table_put_uint(row, wait->record_stream);
    else
        table_put_null(row);
}

static bool fill_waits(const table_source *source, table_row *row)
{
    static const char *const kinds[] = {NULL, "event", "stream event", "stream", "context"};
    takt_wait_info wait;
    for (size_t i = 0; takt_trace_wait(source->trace, i, &wait) == TAKT_OK; i++) {
        table_put_times(row, wait.begin_ns, wait.end_ns);
        table_put_known_text(row, TABLE_NAME_OF(kinds, wait.kind));
        table_put_known(row, wait.correlation);
        table_put_known(row, wait.context);
        if (wait.stream == UINT32_MAX)
            table_put_null(row);
        else
            table_put_uint(row, wait.stream);
        put_wait_calls(source, &wait, row);
        if (!table_row_end(row))
            return false;
    }
    return true;
}

const table table_waits = TABLE_OF("waits", wait_columns, fill_waits);

static const table_column overhead_columns[] = {{"begin_ns", "INTEGER"},
                                                {"end_ns", "INTEGER"},
                                                {"duration_ns", "INTEGER"},
                                                {"kind", "TEXT"},
                                                {"thread", "INTEGER"}};

static bool fill_overheads(const table_source *source, table_row *row)
{
    for (size_t i = 0; i < source->trace->overheads.count; i++) {
        const tkt_overhead *overhead = &source->trace->overheads.items[i];
        table_put_times(row, overhead->begin_ns, overhead->end_ns);
        table_put_text(row, tkt_overhead_name(overhead->kind));
        table_put_known(row, overhead->thread_id);
        if (!table_row_end(row))
            return false;
    }
    return true;
}

const table table_overheads = TABLE_OF("overheads", overhead_columns, fill_overheads);

/* ======== Memory ======== */

static const table_column memory_columns[] = {{"time_ns", "INTEGER"},
                                              {"device", "TEXT"},
                                              {"kind", "TEXT"},
                                              {"is_pool", "INTEGER"},
                                              {"address", "INTEGER"},
                                              {"bytes", "INTEGER"},
                                              {"scope", "TEXT"},
                                              {"thread", "INTEGER"},
                                              {"track", "INTEGER REFERENCES tracks"},
                                              {"span", "INTEGER REFERENCES spans"}};

static const char *device_name(const char *device)
{
    return *device ? device : "host";
}

static bool fill_memory(const table_source *source, table_row *row)
{
    takt_memory_info memory;
    for (size_t i = 0; takt_trace_memory(source->trace, i, &memory) == TAKT_OK; i++) {
        table_put_uint(row, memory.time_ns);
        table_put_text(row, device_name(memory.device));
        table_put_known_text(row, tkt_memory_name(memory.kind, NULL));
        table_put_uint(row, memory.is_pool);
        table_put_uint(row, memory.address);
        table_put_int(row, memory.bytes);
        table_put_text(row, memory.scope);
        table_put_known(row, memory.thread);
        table_put_track(row, memory.track);
        table_put_span(row, source, memory.track, memory.span);
        if (!table_row_end(row))
            return false;
    }
    return true;
}

const table table_memory = TABLE_OF("memory", memory_columns, fill_memory);

static const table_column total_columns[] = {{"device", "TEXT"},
                                             {"period", "TEXT"},
                                             {"begin_bytes", "INTEGER"},
                                             {"peak_bytes", "INTEGER"},
                                             {"peak_ns", "INTEGER"},
                                             {"current_bytes", "INTEGER"},
                                             {"allocations", "INTEGER"},
                                             {"frees", "INTEGER"},
                                             {"unmatched_frees", "INTEGER"},
                                             {"free_bytes", "INTEGER"},
                                             {"capacity_bytes", "INTEGER"},
                                             {"pool_bytes", "INTEGER"},
                                             {"pool_used_bytes", "INTEGER"}};

/* Puts a device's state at the end of the recording; null in rows of the other period. */
static void put_device(const takt_memory_totals *totals, table_row *row)
{
    bool is_told = totals->capacity_bytes > 0;
    if (is_told)
        table_put_uint(row, totals->free_bytes);
    else
        table_put_null(row);
    table_put_known(row, totals->capacity_bytes);
    table_put_known(row, totals->pool_bytes);
    table_put_known(row, totals->pool_bytes ? totals->pool_used_bytes : 0);
}

static bool put_period(const takt_memory_totals *totals, const takt_memory_period *period,
                       table_row *row)
{
    static const takt_memory_totals unknown = {.device = ""};
    bool is_recording = period == &totals->recording;
    table_put_text(row, device_name(totals->device));
    table_put_text(row, is_recording ? "recording" : "since start");
    table_put_uint(row, period->begin_bytes);
    table_put_uint(row, period->peak_bytes);
    table_put_known(row, period->peak_ns);
    table_put_uint(row, totals->current_bytes);
    table_put_uint(row, period->allocations);
    table_put_uint(row, period->frees);
    if (is_recording)
        table_put_null(row);
    else
        table_put_uint(row, period->unmatched_frees);
    put_device(is_recording ? totals : &unknown, row);
    return table_row_end(row);
}

/* True unless the program reported no memory of the host. */
static bool is_reported(const takt_memory_totals *totals)
{
    const takt_memory_period *period = &totals->since_start;
    return *totals->device || period->allocations > 0 || period->frees > 0 ||
           period->peak_bytes > 0 || totals->recording.allocations > 0;
}

static bool fill_totals(const table_source *source, table_row *row)
{
    takt_memory_totals totals;
    for (size_t i = 0; takt_trace_memory_totals(source->trace, i, &totals) == TAKT_OK; i++)
        if (is_reported(&totals) &&
            !(put_period(&totals, &totals.recording, row) &&
              (totals.is_of_recording || put_period(&totals, &totals.since_start, row))))
            return false;
    return true;
}

const table table_memory_totals = TABLE_OF("memory_totals", total_columns, fill_totals);
