#include "trace/node_activities.h"

#include <stdlib.h>

static bool is_same(const tkt_node_activity *a, const tkt_node_activity *b)
{
    return a->node == b->node && a->name == b->name && a->device == b->device &&
           a->filter == b->filter;
}

static size_t add_entry(takt_trace *trace, const tkt_node_activity *key)
{
    tkt_histogram *histogram = tkt_arena_alloc(&trace->fold.histograms, sizeof *histogram);
    tkt_node_activity *entry = histogram ? TKT_ARRAY_ADD(&trace->node_activities) : NULL;
    if (!entry)
        return SIZE_MAX;
    *histogram = (tkt_histogram){{0}};
    *entry = *key;
    entry->histogram = histogram;
    tkt_stats_init(&entry->stats);
    return trace->node_activities.count - 1;
}

size_t tkt_node_activity_index(tkt_node_activities *list, const tkt_node_activity *key)
{
    uint64_t hash = tkt_hash_u64((uint64_t)key->node << 32 | key->name) ^ key->device;
    for (;; hash++) {
        uint64_t *place = tkt_map_put(&list->index, hash);
        if (!place)
            return SIZE_MAX;
        if (*place == 0) {
            size_t index = add_entry(list->trace, key);
            if (index == SIZE_MAX)
                tkt_map_remove(&list->index, hash);
            else
                *place = index + 1;
            return index;
        }
        if (is_same(&list->trace->node_activities.items[*place - 1], key))
            return (size_t)*place - 1;
    }
}

static int compare(const void *a, const void *b)
{
    const tkt_node_activity *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return x->filter < y->filter ? -1 : x->filter > y->filter;
}

void tkt_node_activities_sort(takt_trace *trace)
{
    if (trace->node_activities.count)
        qsort(trace->node_activities.items, trace->node_activities.count,
              sizeof *trace->node_activities.items, compare);
}

/* ---- From a list of activities --------------------------------------------------------------- */

/* The fold's nodes of a track's spans; parents stand before their children. */
static uint32_t *find_nodes(tkt_fold *fold, const tkt_spans *spans)
{
    uint32_t *nodes = tkt_alloc((spans->count + 1) * sizeof *nodes);
    for (size_t i = 0; nodes && i < spans->count; i++) {
        const tkt_span *span = &spans->items[i];
        uint32_t above = span->parent == TKT_NO_SPAN ? 0 : nodes[span->parent];
        nodes[i] = tkt_fold_child(fold, above, tkt_span_site(span));
    }
    return nodes;
}

/* The node of the scope that launched an activity; TKT_NO_NODE without memory. nodes[track] is made
 * when it is needed. */
static uint32_t node_of(takt_trace *trace, uint32_t **nodes, const tkt_activity *activity)
{
    uint32_t track = activity->track;
    if (track == TKT_NO_TRACK || activity->scope == TKT_NO_SPAN)
        return 0;
    if (!nodes[track])
        nodes[track] = find_nodes(&trace->fold, &trace->tracks.items[track].spans);
    if (!nodes[track])
        return TKT_NO_NODE;
    uint32_t node = nodes[track][activity->scope];
    return node == TKT_NO_NODE ? 0 : node; /* there is no room for more paths */
}

/* The next activity of a name is mostly of the same scope: `last` are the entries, by name. */
static takt_status add_activities(takt_trace *trace, uint32_t **nodes, uint32_t *last)
{
    tkt_node_activities list = {.trace = trace};
    takt_status status = TAKT_OK;
    for (size_t i = 0; i < trace->activities.count; i++) {
        const tkt_activity *activity = &trace->activities.items[i];
        if (activity->span != TKT_NO_SPAN)
            continue;
        const tkt_node_activity key = {.node = node_of(trace, nodes, activity),
                                       .name = activity->name,
                                       .device = activity->device,
                                       .filter = activity->filter};
        size_t index = key.node == TKT_NO_NODE ? SIZE_MAX : last[key.name];
        if (index != SIZE_MAX && (index >= trace->node_activities.count ||
                                  !is_same(&trace->node_activities.items[index], &key)))
            index = tkt_node_activity_index(&list, &key);
        if (index == SIZE_MAX) {
            status = TAKT_NO_MEMORY;
            break;
        }
        last[key.name] = (uint32_t)index;
        tkt_node_activity *entry = &trace->node_activities.items[index];
        tkt_stats_add(&entry->stats, activity->end_ns - activity->begin_ns);
        tkt_histogram_add(entry->histogram, activity->end_ns - activity->begin_ns);
    }
    tkt_map_fini(&list.index);
    return status;
}

/* They stay in the order of issue: numbers of strings are others in the trace's file. */
takt_status tkt_node_activities_derive(takt_trace *trace)
{
    uint32_t **nodes = tkt_alloc_zeroed((trace->tracks.count + 1) * sizeof *nodes);
    uint32_t *last = tkt_alloc_zeroed(trace->strings.count * sizeof *last);
    takt_status status = nodes && last ? add_activities(trace, nodes, last) : TAKT_NO_MEMORY;
    for (size_t i = 0; nodes && i < trace->tracks.count; i++)
        tkt_free(nodes[i]);
    tkt_free(nodes);
    tkt_free(last);
    if (status != TAKT_OK)
        TKT_ARRAY_FREE(&trace->node_activities);
    return status;
}
