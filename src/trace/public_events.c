/* Read-only access to steps, calls, memory, marks, waits and call paths of a trace, as takt/trace.h
 * declares it. */
#include "base/error.h"
#include "trace/model.h"

takt_status takt_trace_step_v1(const takt_trace *trace, size_t index, takt_step_info *out,
                               size_t size)
{
    if (index >= trace->steps.count)
        return TAKT_BAD_ARGUMENT;
    const tkt_step *from = &trace->steps.items[index];
    takt_step_info info = {
        .number = from->number, .begin_ns = from->begin_ns, .end_ns = from->end_ns};
    return tkt_fill(out, size, &info, sizeof info);
}

takt_status takt_trace_all_steps_v1(const takt_trace *trace, takt_all_steps *out, size_t size)
{
    const tkt_all_steps *from = &trace->all_steps;
    const tkt_stats *stats = &from->stats;
    takt_all_steps info = {.count = stats->count, .simulated_seconds = from->simulated_seconds};
    if (stats->count > 0) {
        info.total_ns = stats->total_ns;
        info.min_ns = stats->min_ns;
        info.median_ns = tkt_stats_median(stats, &from->histogram);
        info.p99_ns = tkt_stats_quantile(stats, &from->histogram, 0.99);
        info.max_ns = stats->max_ns;
    }
    return tkt_fill(out, size, &info, sizeof info);
}

takt_status takt_trace_call_v1(const takt_trace *trace, size_t index, takt_call_info *out,
                               size_t size)
{
    if (index >= trace->calls.count)
        return TAKT_BAD_ARGUMENT;
    const tkt_call_info *from = &trace->calls.items[index];
    takt_call_info info = {.track = from->track,
                           .span = from->span,
                           .correlation = from->correlation,
                           .result = from->result};
    return tkt_fill(out, size, &info, sizeof info);
}

static void fill_place(const takt_trace *trace, const tkt_memory_event *from, takt_memory_info *out)
{
    if (from->track == TKT_NO_TRACK)
        return;
    const tkt_track *track = &trace->tracks.items[from->track];
    out->thread = track->thread_id;
    out->track = from->track;
    if (from->span != TKT_NO_SPAN) {
        out->span = from->span;
        uint32_t site = tkt_span_site(&track->spans.items[from->span]);
        out->scope = tkt_trace_text(trace, trace->sites.items[site].name);
    }
}

takt_status takt_trace_memory_v1(const takt_trace *trace, size_t index, takt_memory_info *out,
                                 size_t size)
{
    if (index >= trace->memory_events.count)
        return TAKT_BAD_ARGUMENT;
    const tkt_memory_event *from = &trace->memory_events.items[index];
    takt_memory_info info = {.time_ns = from->time_ns,
                             .address = from->address,
                             .bytes = from->bytes,
                             .device = tkt_trace_text(trace, from->device),
                             .kind = from->kind & ~TKT_MEMORY_POOL,
                             .is_pool = (from->kind & TKT_MEMORY_POOL) != 0,
                             .track = SIZE_MAX,
                             .span = SIZE_MAX};
    fill_place(trace, from, &info);
    return tkt_fill(out, size, &info, sizeof info);
}

static void fill_totals(const tkt_memory_totals *from, takt_memory_totals *out)
{
    out->recording = (takt_memory_period){.begin_bytes = from->window_begin_bytes,
                                          .peak_bytes = from->window_peak_bytes,
                                          .peak_ns = from->window_peak_ns,
                                          .allocations = from->window_allocations,
                                          .frees = from->window_frees};
    out->since_start = (takt_memory_period){.peak_bytes = from->peak_bytes,
                                            .peak_ns = from->peak_ns,
                                            .allocations = from->allocations,
                                            .frees = from->frees,
                                            .unmatched_frees = from->unmatched_frees};
    out->current_bytes = from->current_bytes;
    out->is_of_recording = from->is_of_recording != 0;
}

takt_status takt_trace_memory_totals_v1(const takt_trace *trace, size_t index,
                                        takt_memory_totals *out, size_t size)
{
    if (index > trace->device_memory.count)
        return TAKT_BAD_ARGUMENT;
    takt_memory_totals info = {.device = ""};
    if (index == 0) {
        fill_totals(&trace->memory, &info);
        return tkt_fill(out, size, &info, sizeof info);
    }
    const tkt_device_memory *from = &trace->device_memory.items[index - 1];
    fill_totals(&from->totals, &info);
    info.device = tkt_trace_text(trace, from->device);
    info.free_bytes = from->free_bytes;
    info.capacity_bytes = from->capacity_bytes;
    info.pool_bytes = from->pool_bytes;
    info.pool_used_bytes = from->pool_used_bytes;
    return tkt_fill(out, size, &info, sizeof info);
}

takt_status takt_trace_mark_v1(const takt_trace *trace, size_t index, takt_mark_info *out,
                               size_t size)
{
    if (index >= trace->marks.count)
        return TAKT_BAD_ARGUMENT;
    const tkt_mark *from = &trace->marks.items[index];
    takt_mark_info info = {.name = tkt_trace_text(trace, trace->sites.items[from->site].name),
                           .time_ns = from->time_ns,
                           .track = from->track};
    return tkt_fill(out, size, &info, sizeof info);
}

takt_status takt_trace_wait_v1(const takt_trace *trace, size_t index, takt_wait_info *out,
                               size_t size)
{
    if (index >= trace->waits.count)
        return TAKT_BAD_ARGUMENT;
    const tkt_wait *from = &trace->waits.items[index];
    takt_wait_info info = {.begin_ns = from->begin_ns,
                           .end_ns = from->end_ns,
                           .kind = from->kind <= TAKT_WAIT_CONTEXT ? (takt_wait_kind)from->kind
                                                                   : TAKT_WAIT_UNKNOWN,
                           .correlation = from->correlation,
                           .context = from->context,
                           .stream = from->stream,
                           .track = SIZE_MAX,
                           .span = SIZE_MAX,
                           .event = from->event,
                           .record_correlation = from->record_correlation,
                           .record_stream = from->record_stream};
    if (from->call_number) {
        info.track = trace->calls.items[from->call_number - 1].track;
        info.span = trace->calls.items[from->call_number - 1].span;
    }
    return tkt_fill(out, size, &info, sizeof info);
}

/* ======== The folded form ======== */

/* Sums by call path, and the lengths of all lists. */

static size_t count_folded(const takt_trace *trace, takt_trace_list list)
{
    const tkt_fold *fold = tkt_trace_fold(trace);
    if (!fold)
        return 0;
    return list == TAKT_TRACE_NODES ? fold->count - 1 : trace->node_activities.count;
}

size_t takt_trace_count(const takt_trace *trace, takt_trace_list list)
{
    switch (list) {
    case TAKT_TRACE_TRACKS:
        return trace->tracks.count;
    case TAKT_TRACE_ACTIVITIES:
        return trace->activities.count;
    case TAKT_TRACE_DEVICES:
        return trace->devices.count;
    case TAKT_TRACE_COUNTERS:
        return trace->counters.count;
    case TAKT_TRACE_STEPS:
        return trace->steps.count;
    case TAKT_TRACE_CALLS:
        return trace->calls.count;
    case TAKT_TRACE_MEMORY:
        return trace->memory_events.count;
    case TAKT_TRACE_MARKS:
        return trace->marks.count;
    case TAKT_TRACE_WAITS:
        return trace->waits.count;
    case TAKT_TRACE_STACKS:
        return trace->stacks.count;
    case TAKT_TRACE_NODES:
    case TAKT_TRACE_SUMS:
        return count_folded(trace, list);
    }
    return 0;
}

static takt_durations durations_of(const tkt_stats *stats, const tkt_histogram *histogram)
{
    takt_durations durations = {.count = stats->count};
    if (stats->count == 0)
        return durations;
    durations.total_ns = stats->total_ns;
    if (tkt_stats_whole(stats) == 0)
        return durations;
    durations.min_ns = stats->min_ns;
    durations.max_ns = stats->max_ns;
    if (tkt_stats_are_known(stats, histogram)) {
        durations.median_ns = tkt_stats_median(stats, histogram);
        durations.p99_ns = tkt_stats_quantile(stats, histogram, 0.99);
    }
    return durations;
}

/* The public index of a node. Programs do not see the root, node 0. */
static size_t index_of(uint32_t node)
{
    return node == 0 ? TAKT_NO_PARENT : node - 1;
}

static uint32_t flags_of(uint8_t kind)
{
    switch (kind) {
    case TAKT_SITE_PHASE:
        return TAKT_SPAN_PHASE;
    case TAKT_SITE_ACTIVITY:
        return TAKT_SPAN_ACTIVITY;
    case TAKT_SITE_CALL:
        return TAKT_SPAN_CALL;
    default:
        return 0;
    }
}

takt_status takt_trace_node_v1(const takt_trace *trace, size_t index, takt_node_info *out,
                               size_t size)
{
    const tkt_fold *fold = tkt_trace_fold(trace);
    if (!fold)
        return TAKT_NO_MEMORY;
    if (index >= fold->count - 1)
        return TAKT_BAD_ARGUMENT;
    const tkt_node *from = &fold->items[index + 1];
    const tkt_trace_site *site = &trace->sites.items[from->site];
    takt_node_info info = {.name = tkt_node_name(trace, from),
                           .category = tkt_trace_text(trace, site->category),
                           .file = tkt_trace_text(trace, site->file),
                           .line = site->line,
                           .flags = flags_of(site->kind),
                           .parent = index_of(from->parent),
                           .depth = from->depth - 1,
                           .durations = durations_of(&from->stats, from->histogram),
                           .self_ns = from->stats.self_ns,
                           .errors = from->errors,
                           .flops = from->flops,
                           .bytes = from->bytes,
                           .device = "",
                           .pieces = from->stats.pieces};
    if (site->kind == TAKT_SITE_ACTIVITY) {
        info.device = tkt_trace_text(trace, site->device);
        info.filter = site->filter;
    }
    info.color = tkt_site_color(site);
    return tkt_fill(out, size, &info, sizeof info);
}

takt_status takt_trace_sum_v1(const takt_trace *trace, size_t index, takt_sum_info *out,
                              size_t size)
{
    if (!tkt_trace_fold(trace))
        return TAKT_NO_MEMORY;
    if (index >= trace->node_activities.count)
        return TAKT_BAD_ARGUMENT;
    const tkt_node_activity *from = &trace->node_activities.items[index];
    takt_sum_info info = {.node = index_of(from->node),
                          .name = tkt_trace_text(trace, from->name),
                          .device = tkt_trace_text(trace, from->device),
                          .filter = from->filter,
                          .durations = durations_of(&from->stats, from->histogram)};
    return tkt_fill(out, size, &info, sizeof info);
}
