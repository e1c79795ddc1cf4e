/* Read-only access to the call tree: takt/trace.h. */
#include "trace/walk.h"

#include "base/error.h"

size_t takt_trace_node_count(const takt_trace *trace)
{
    const tkt_walk *walk;
    return tkt_trace_walk(trace, &walk) == TAKT_OK ? walk->count : 0;
}

static void fill_stats(const tkt_stats *stats, const tkt_histogram *histogram, takt_node_info *out)
{
    if (stats->count == 0)
        return;
    out->count = stats->count;
    out->total_ns = stats->total_ns;
    out->min_ns = stats->min_ns;
    out->max_ns = stats->max_ns;
    out->stddev_ns = tkt_stats_stddev(stats);
    if (!histogram)
        return;
    out->median_ns = tkt_stats_quantile(stats, histogram, 0.5);
    out->p99_ns = tkt_stats_quantile(stats, histogram, 0.99);
}

static takt_node_kind kind_of(const tkt_trace_site *site)
{
    switch (site->kind) {
    case TAKT_SITE_PHASE:
        return TAKT_NODE_PHASE;
    case TAKT_SITE_ACTIVITY:
        return TAKT_NODE_ACTIVITY;
    case TAKT_SITE_CALL:
        return TAKT_NODE_CALL;
    default:
        return TAKT_NODE_SCOPE;
    }
}

static void fill_site(const takt_trace *trace, const tkt_trace_site *site, takt_node_info *out)
{
    out->name = tkt_trace_text(trace, site->name);
    out->category = tkt_trace_text(trace, site->category);
    out->file = tkt_trace_text(trace, site->file);
    out->line = site->line;
    out->kind = kind_of(site);
    if (site->kind == TAKT_SITE_ACTIVITY) {
        out->device = tkt_trace_text(trace, site->device);
        out->filter = site->filter;
    }
}

static void fill_node(const takt_trace *trace, const tkt_row *row, takt_node_info *out)
{
    const tkt_node *node = row->node;
    fill_stats(&node->stats, node->histogram, out);
    if (node->site == TKT_SITE_OTHER) {
        out->name = TKT_OTHER_NAME;
        out->kind = TAKT_NODE_OTHER;
    } else {
        fill_site(trace, &trace->sites.items[node->site], out);
    }
    out->self_ns = node->stats.self_ns;
    out->flops = node->flops;
    out->bytes = node->bytes;
    out->errors = node->errors;
    out->device_self_ns = row->device.self_ns;
    out->device_total_ns = row->device.total_ns;
}

static void fill_activity(const takt_trace *trace, const tkt_node_activity *from,
                          takt_node_info *out)
{
    fill_stats(&from->stats, from->histogram, out);
    out->kind = TAKT_NODE_ACTIVITY;
    out->name = tkt_trace_text(trace, from->name);
    out->self_ns = from->stats.total_ns;
    out->device = tkt_trace_text(trace, from->device);
    out->filter = from->filter;
}

takt_status takt_trace_node_v1(const takt_trace *trace, size_t index, takt_node_info *out,
                               size_t size)
{
    const tkt_walk *walk;
    takt_status status = tkt_trace_walk(trace, &walk);
    if (status == TAKT_OK && index >= walk->count)
        status = TAKT_BAD_ARGUMENT;
    if (status != TAKT_OK)
        return status;
    const tkt_row *row = &walk->items[index];
    takt_node_info info = {.category = "",
                           .file = "",
                           .parent = row->parent == TKT_NO_ROW ? TAKT_NO_PARENT : row->parent,
                           .depth = row->depth,
                           .device = ""};
    if (row->node)
        fill_node(trace, row, &info);
    else
        fill_activity(trace, row->activity, &info);
    return tkt_fill(out, size, &info, sizeof info);
}
