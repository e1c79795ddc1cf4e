/* Durations by name. The folded form has them by path, each with its histogram, which add up. */
#include "summary/named.h"

#include "summary/scopes.h"

#define MOST_HISTOGRAMS 4096

/* NULL without memory. */
tkt_named *tkt_nameds_find(tkt_nameds *nameds, uint32_t name, uint32_t part)
{
    uint64_t *place = tkt_map_put(&nameds->index, (uint64_t)name << 32 | part);
    if (!place || *place)
        return place ? &nameds->items[*place - 1] : NULL;
    tkt_histogram *histogram = NULL;
    if (nameds->count < MOST_HISTOGRAMS) {
        histogram = tkt_arena_alloc(&nameds->histograms, sizeof *histogram);
        if (!histogram)
            return NULL;
        *histogram = (tkt_histogram){{0}};
    }
    tkt_named *named = TKT_ARRAY_ADD(nameds);
    if (!named)
        return NULL;
    *named = (tkt_named){.name = name, .shape = TKT_NO_SHAPE, .histogram = histogram};
    tkt_stats_init(&named->stats);
    *place = nameds->count;
    return named;
}

bool tkt_nameds_merge(tkt_nameds *nameds, uint32_t name, const tkt_stats *stats,
                      const tkt_histogram *histogram)
{
    tkt_named *named = tkt_nameds_find(nameds, name, TKT_NO_SHAPE);
    if (!named)
        return false;
    tkt_stats_merge(&named->stats, stats);
    nameds->total_ns += stats->total_ns;
    if (histogram && named->histogram)
        tkt_histogram_merge(named->histogram, histogram);
    else
        named->histogram = NULL;
    return true;
}

static bool note_error(const takt_trace *trace, const tkt_call_info *call, tkt_nameds *nameds)
{
    const tkt_span *span = &trace->tracks.items[call->track].spans.items[call->span];
    uint32_t name = trace->sites.items[tkt_span_site(span)].name;
    tkt_named *named = tkt_nameds_find(nameds, name, TKT_NO_SHAPE);
    if (!named)
        return false;
    if (named->first_error == 0 || span->begin_ns < named->first_error_ns) {
        named->first_error_ns = span->begin_ns;
        named->first_error = call->result;
    }
    return true;
}

static bool add_call(const takt_trace *trace, const tkt_node *node, tkt_nameds *nameds)
{
    uint32_t name = trace->sites.items[node->site].name;
    if (!tkt_nameds_merge(nameds, name, &node->stats, node->histogram))
        return false;
    tkt_nameds_find(nameds, name, TKT_NO_SHAPE)->errors += node->errors;
    return true;
}

takt_status tkt_calls_of(const takt_trace *trace, tkt_nameds *out)
{
    const tkt_fold *fold = tkt_trace_fold(trace);
    bool is_added = fold != NULL;
    for (size_t i = 1; is_added && i < fold->count; i++) {
        const tkt_node *node = &fold->items[i];
        if (node->stats.count > 0 && tkt_site_is_call(trace, node->site))
            is_added = add_call(trace, node, out);
    }
    for (size_t i = 0; is_added && i < trace->calls.count; i++) {
        if (trace->calls.items[i].result != 0)
            is_added = note_error(trace, &trace->calls.items[i], out);
    }
    return is_added ? TAKT_OK : TAKT_NO_MEMORY;
}

void tkt_nameds_fini(tkt_nameds *nameds)
{
    TKT_ARRAY_FREE(nameds);
    tkt_map_fini(&nameds->index);
    tkt_arena_fini(&nameds->histograms);
    *nameds = (tkt_nameds){0};
}
