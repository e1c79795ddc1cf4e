/* Durations by name. The folded form has them by path, each with its histogram, which add up. */
#include "summary/named.h"

#include "summary/device.h"
#include "summary/scopes.h"

#include <string.h>

#define MOST_HISTOGRAMS 4096
#define KERNELS         (TAKT_TIMING_KERNEL | TAKT_TIMING_BUILTIN)

/* NULL without memory. */
static tkt_named *find(tkt_nameds *nameds, uint32_t name, uint32_t shape)
{
    uint64_t *place = tkt_map_put(&nameds->index, (uint64_t)name << 32 | shape);
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

static bool merge(tkt_nameds *nameds, uint32_t name, const tkt_stats *stats,
                  const tkt_histogram *histogram)
{
    tkt_named *named = find(nameds, name, TKT_NO_SHAPE);
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

static uint32_t differences(const tkt_shape *a, const tkt_shape *b)
{
    return (memcmp(a->grid, b->grid, sizeof a->grid) ? TKT_VARIES_GRID : 0) |
           (memcmp(a->block, b->block, sizeof a->block) ? TKT_VARIES_BLOCK : 0) |
           (a->registers != b->registers ? TKT_VARIES_REGISTERS : 0) |
           (a->static_shared_bytes != b->static_shared_bytes ? TKT_VARIES_STATIC : 0) |
           (a->dynamic_shared_bytes != b->dynamic_shared_bytes ? TKT_VARIES_DYNAMIC : 0) |
           (a->occupancy != b->occupancy || a->limiter != b->limiter ? TKT_VARIES_OCCUPANCY : 0);
}

static void note_shape(const takt_trace *trace, tkt_named *named, uint32_t shape)
{
    if (shape == TKT_NO_SHAPE || shape == named->shape)
        return;
    if (named->shape == TKT_NO_SHAPE)
        named->shape = shape;
    else
        named->varies |=
            differences(&trace->shapes.items[named->shape], &trace->shapes.items[shape]);
}

static bool add_activity(const takt_trace *trace, tkt_nameds *nameds, const tkt_activity *activity,
                         bool by_launch)
{
    tkt_named *named = find(nameds, activity->name, by_launch ? activity->shape : TKT_NO_SHAPE);
    if (!named)
        return false;
    note_shape(trace, named, activity->shape);
    if (!by_launch)
        return true;
    uint64_t ns = activity->end_ns - activity->begin_ns;
    nameds->total_ns += ns;
    tkt_stats_add(&named->stats, ns);
    if (named->histogram)
        tkt_histogram_add(named->histogram, ns);
    return true;
}

takt_status tkt_kernels_of(const takt_trace *trace, bool by_launch, tkt_nameds *out)
{
    bool is_added = tkt_trace_fold(trace) != NULL;
    if (by_launch && !trace->facts.has_spans)
        return TAKT_NO_SPANS;
    for (size_t i = 0; !by_launch && is_added && i < trace->node_activities.count; i++) {
        const tkt_node_activity *activity = &trace->node_activities.items[i];
        if (activity->filter & KERNELS)
            is_added = merge(out, activity->name, &activity->stats, activity->histogram);
    }
    size_t count = tkt_device_activity_count(trace);
    for (size_t i = 0; is_added && i < count; i++) {
        if (trace->activities.items[i].filter & KERNELS)
            is_added = add_activity(trace, out, &trace->activities.items[i], by_launch);
    }
    return is_added ? TAKT_OK : TAKT_NO_MEMORY;
}

takt_status tkt_calls_of(const takt_trace *trace, tkt_nameds *out)
{
    const tkt_fold *fold = tkt_trace_fold(trace);
    for (size_t i = 1; fold && i < fold->count; i++) {
        const tkt_node *node = &fold->items[i];
        if (node->stats.count > 0 && tkt_site_is_call(trace, node->site) &&
            !merge(out, trace->sites.items[node->site].name, &node->stats, node->histogram))
            return TAKT_NO_MEMORY;
    }
    return fold ? TAKT_OK : TAKT_NO_MEMORY;
}

void tkt_nameds_fini(tkt_nameds *nameds)
{
    TKT_ARRAY_FREE(nameds);
    tkt_map_fini(&nameds->index);
    tkt_arena_fini(&nameds->histograms);
    *nameds = (tkt_nameds){0};
}
