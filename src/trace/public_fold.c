/* Read-only access to what a trace adds up by path of scopes, and how long its lists are. */
#include "trace/model.h"

#include "base/error.h"

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
    durations.min_ns = stats->min_ns;
    durations.max_ns = stats->max_ns;
    if (histogram) {
        durations.median_ns = tkt_stats_quantile(stats, histogram, 0.5);
        durations.p99_ns = tkt_stats_quantile(stats, histogram, 0.99);
    }
    return durations;
}

/* The root is nobody's node. */
static size_t index_of(uint32_t node)
{
    return node == 0 ? TAKT_NO_PARENT : node - 1;
}

static uint32_t depth_of(const tkt_fold *fold, uint32_t node)
{
    uint32_t depth = 0;
    for (uint32_t at = fold->items[node].parent; at != 0; at = fold->items[at].parent)
        depth++;
    return depth;
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
                           .depth = depth_of(fold, (uint32_t)index + 1),
                           .durations = durations_of(&from->stats, from->histogram),
                           .self_ns = from->stats.self_ns,
                           .errors = from->errors,
                           .flops = from->flops,
                           .bytes = from->bytes,
                           .device = ""};
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
