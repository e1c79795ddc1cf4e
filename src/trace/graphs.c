/* Combines the nodes of graphs into launches. All nodes of a launch have its correlation id. They
 * arrive in any order, and no record marks the last one: a launch is complete when the caller has
 * seen all activities. */
#include "trace/graphs.h"

#include <string.h>

void tkt_graphs_fini(tkt_graphs *graphs)
{
    TKT_ARRAY_FREE(&graphs->items);
    tkt_map_fini(&graphs->index);
    tkt_map_fini(&graphs->shapes);
}

static tkt_graph_launch *add_launch(tkt_graphs *graphs, const tkt_stored_activity *node)
{
    tkt_graph_launch *added = TKT_ARRAY_ADD(&graphs->items);
    if (added)
        *added = (tkt_graph_launch){.whole = *node};
    return added;
}

/* True if node a comes before node b: by begin, then by stream. */
static bool is_before(const tkt_stored_activity *a, const tkt_stored_activity *b)
{
    return a->begin != b->begin ? a->begin < b->begin : a->stream < b->stream;
}

static void add_node(tkt_graph_launch *launch, const tkt_stored_activity *node)
{
    uint64_t end = launch->whole.end > node->end ? launch->whole.end : node->end;
    if (is_before(node, &launch->whole))
        launch->whole = *node;
    launch->whole.end = end;
    launch->nodes++;
}

/* The node's launch, which is added if it is new; NULL without memory. */
static tkt_graph_launch *launch_of(tkt_graphs *graphs, const tkt_stored_activity *node)
{
    size_t last = graphs->items.count;
    tkt_graph_launch *launch = last ? &graphs->items.items[last - 1] : NULL;
    if (launch && launch->whole.correlation == node->correlation)
        return launch;
    uint64_t *index = tkt_map_put(&graphs->index, node->correlation);
    if (!index || *index)
        return index ? &graphs->items.items[*index - 1] : NULL;
    launch = add_launch(graphs, node);
    if (launch)
        *index = graphs->items.count;
    else
        tkt_map_remove(&graphs->index, node->correlation);
    return launch;
}

tkt_graph_launch *tkt_graphs_add(tkt_graphs *graphs, const tkt_store *store,
                                 const tkt_stored_activity *node)
{
    tkt_graph_launch *launch = launch_of(graphs, node);
    if (!launch)
        return NULL;
    uint32_t label = store->shapes.items[node->shape].label;
    launch->set += tkt_hash_bytes(&label, sizeof label);
    add_node(launch, node);
    return launch;
}

tkt_graph_launch *tkt_graphs_extend(tkt_graphs *graphs, const tkt_stored_activity *body)
{
    const uint64_t *index = tkt_map_get(&graphs->index, body->correlation);
    tkt_graph_launch *launch = index ? &graphs->items.items[*index - 1] : NULL;
    if (launch)
        add_node(launch, body);
    return launch;
}

void tkt_graphs_drop(tkt_graphs *graphs, size_t count)
{
    tkt_graph_launch *items = graphs->items.items;
    if (count == 0)
        return;
    for (size_t i = 0; i < count; i++)
        tkt_map_remove(&graphs->index, items[i].whole.correlation);
    graphs->items.count -= count;
    memmove(items, items + count, graphs->items.count * sizeof *items);
    for (size_t i = 0; i < graphs->items.count; i++)
        *tkt_map_get(&graphs->index, items[i].whole.correlation) = i + 1;
}

static bool is_earlier(const tkt_graph_launch *a, const tkt_graph_launch *b)
{
    return (int32_t)(a->whole.correlation - b->whole.correlation) < 0;
}

void tkt_graphs_name(const tkt_graphs *graphs, size_t count, tkt_store *store)
{
    const tkt_graph_launch *items = graphs->items.items;
    tkt_map firsts = {0}; /* set -> index + 1 */
    for (size_t i = 0; i < count; i++) {
        uint64_t *first = tkt_map_put(&firsts, items[i].set);
        if (first && (!*first || is_earlier(&items[i], &items[*first - 1])))
            *first = i + 1;
    }
    for (size_t i = 0; i < count; i++) {
        const uint64_t *first = tkt_map_get(&firsts, items[i].set);
        bool has_room = store->graph_sets.count < TKT_MOST_GRAPHS;
        uint64_t *graph = first && has_room ? tkt_map_put(&store->graph_sets, items[i].set) : NULL;
        if (graph && !*graph)
            *graph = (uint64_t)items[*first - 1].whole.graph + 1;
    }
    tkt_map_fini(&firsts);
}

const char *tkt_launch_label(char out[TKT_GRAPH_LABEL_BYTES], tkt_store *store,
                             const tkt_graph_launch *launch)
{
    const uint64_t *first = tkt_map_get(&store->graph_sets, launch->set);
    return tkt_graph_label(out, first ? (uint32_t)(*first - 1) : launch->whole.graph,
                           " from nodes");
}

static uint32_t add_shape(tkt_store *store, takt_trace *trace, const tkt_graph_launch *launch)
{
    char label[TKT_GRAPH_LABEL_BYTES];
    uint32_t string = tkt_trace_string_of(trace, tkt_launch_label(label, store, launch));
    tkt_shape *shape = string == TKT_STRTAB_FULL ? NULL : TKT_ARRAY_ADD(&trace->shapes);
    if (!shape)
        return TKT_NO_SHAPE;
    *shape = (tkt_shape){.graph = launch->whole.graph,
                         .graph_node_count = launch->nodes,
                         .label = string,
                         .filter = TAKT_TIMING_GRAPH};
    return (uint32_t)trace->shapes.count - 1;
}

uint32_t tkt_graph_shape(tkt_graphs *graphs, tkt_store *store, takt_trace *trace,
                         const tkt_graph_launch *launch)
{
    const uint64_t which[] = {launch->whole.graph, launch->nodes, launch->set};
    uint64_t key = tkt_hash_bytes(which, sizeof which);
    uint64_t *known = tkt_map_put(&graphs->shapes, key);
    if (!known)
        return TKT_NO_SHAPE;
    if (!*known) {
        uint32_t shape = add_shape(store, trace, launch);
        if (shape == TKT_NO_SHAPE) {
            tkt_map_remove(&graphs->shapes, key);
            return TKT_NO_SHAPE;
        }
        *known = (uint64_t)shape + 1;
    }
    return (uint32_t)(*known - 1);
}
