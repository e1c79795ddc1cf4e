/* Finds launches whose activities have not arrived, and combines the nodes of graph launches.
 *
 * Any activity with a launch's correlation id counts as its arrival, even one that the store marks
 * as lost. A graph launch has one activity for each node, and they may arrive in several buffers.
 * Their number is known only from other launches of the same graph. */
#include "trace/devices.h"

#include "base/containers.h"

#include <stdio.h>
#include <string.h>

/* ======== Arrivals ======== */

uint32_t tkt_call_of_stored(const tkt_call_index *index, const takt_trace *trace,
                            const tkt_store *store, const tkt_stored_activity *activity)
{
    uint32_t call = tkt_call_find(index, activity->correlation);
    bool is_of_graph = activity->graph || store->shapes.items[activity->shape].graph;
    return is_of_graph && call != TKT_NO_CALL && !tkt_call_launches_graph(trace, call) ? TKT_NO_CALL
                                                                                       : call;
}

uint8_t *tkt_calls_that_launch(const takt_trace *trace, uint32_t filter)
{
    uint8_t *calls = tkt_alloc_zeroed(trace->calls.count + 1);
    uint32_t *sites = tkt_alloc_zeroed((trace->sites.count + 1) * sizeof *sites);
    for (size_t i = 0; sites && i < trace->sites.count; i++)
        if (trace->sites.items[i].kind == TAKT_SITE_CALL)
            sites[i] = tkt_launched_by(tkt_trace_text(trace, trace->sites.items[i].name));
    for (uint32_t i = 0; calls && sites && i < trace->calls.count; i++) {
        const tkt_span *span = tkt_call_span(trace, i);
        uint32_t launched = sites[tkt_span_site(span)];
        if (trace->calls.items[i].result == 0 &&
            !(tkt_span_flags(span) & (TAKT_SPAN_BEGUN_BEFORE | TAKT_SPAN_CAPTURING)))
            calls[i] = tkt_must_launch(launched, filter);
    }
    if (!sites) {
        tkt_free(calls);
        calls = NULL;
    }
    tkt_free(sites);
    return calls;
}

takt_status tkt_arrivals_init(tkt_arrivals *arrivals, const takt_trace *trace, const tkt_join *what)
{
    size_t count = trace->calls.count + 1;
    *arrivals = (tkt_arrivals){.trace = trace, .what = what, .position = what->position};
    arrivals->launches = tkt_calls_that_launch(trace, what->filter);
    arrivals->counts = tkt_alloc_zeroed(count * sizeof *arrivals->counts);
    arrivals->graphs = tkt_alloc_zeroed(count * sizeof *arrivals->graphs);
    takt_status status = arrivals->launches && arrivals->counts && arrivals->graphs
                             ? tkt_call_index_init(&arrivals->index, trace)
                             : TAKT_NO_MEMORY;
    if (status != TAKT_OK) {
        tkt_arrivals_fini(arrivals);
        return status;
    }
    for (size_t i = 0; i < trace->calls.count; i++)
        arrivals->missing += arrivals->launches[i] != TKT_LAUNCHES_NOTHING;
    return TAKT_OK;
}

void tkt_arrivals_fini(tkt_arrivals *arrivals)
{
    tkt_call_index_fini(&arrivals->index);
    tkt_free(arrivals->launches);
    tkt_free(arrivals->counts);
    tkt_free(arrivals->graphs);
    *arrivals = (tkt_arrivals){0};
}

static void note_stray(tkt_arrivals *a, uint32_t id)
{
    if (!id || !tkt_is_call_within(id, a->what->first_correlation, a->what->last_correlation) ||
        tkt_call_is_late(a->trace, id))
        return;
    a->strays++;
    for (size_t i = 0; i < a->call_count; i++)
        a->has_call |= a->calls[i] == id;
}

static void note_arrival(tkt_arrivals *a, const tkt_store *store,
                         const tkt_stored_activity *activity)
{
    uint32_t call = tkt_call_of_stored(&a->index, a->trace, store, activity);
    if (call == TKT_NO_CALL) {
        note_stray(a, activity->correlation);
        return;
    }
    a->missing -= a->launches[call] && a->counts[call] == 0;
    a->counts[call]++;
    a->graphs[call] = activity->graph;
}

static void note_new(tkt_arrivals *a, const tkt_store *store)
{
    for (const tkt_store_chunk *chunk = store->first; chunk; chunk = chunk->next) {
        uint64_t at = a->position > chunk->first ? a->position - chunk->first : 0;
        for (; at < chunk->count; at++)
            note_arrival(a, store, &chunk->items[at]);
    }
    a->position = store->next_sequence;
}

/* Maps each graph to launches << 32 | the largest number of nodes of a launch. False without
 * memory. */
static bool find_graphs(const uint32_t *graphs, const uint32_t *nodes, size_t count, tkt_map *known)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t *graph = graphs[i] ? tkt_map_put(known, graphs[i]) : NULL;
        if (graphs[i] && !graph)
            return false;
        if (graph && (uint32_t)*graph < nodes[i])
            *graph += nodes[i] - (uint32_t)*graph;
        if (graph)
            *graph += UINT64_C(1) << 32;
    }
    return true;
}

/* A launch may have some nodes in a buffer that has arrived and others in one that has not. */
takt_status tkt_missing_nodes(const uint32_t *graphs, const uint32_t *nodes, size_t count,
                              uint64_t *missing)
{
    tkt_map known = {0};
    bool has_memory = find_graphs(graphs, nodes, count, &known);
    *missing = 0;
    for (size_t i = 0; i < count && has_memory; i++)
        if (graphs[i])
            *missing += (uint32_t)*tkt_map_get(&known, graphs[i]) - nodes[i];
    tkt_map_fini(&known);
    return has_memory ? TAKT_OK : TAKT_NO_MEMORY;
}

/* True if every graph has several launches, all with the same number of nodes. A single launch does
 * not show how many nodes the graph has. */
static bool are_graphs_whole(const tkt_arrivals *a)
{
    tkt_map known = {0};
    bool are_whole = find_graphs(a->graphs, a->counts, a->trace->calls.count, &known);
    for (size_t i = 0; i < a->trace->calls.count && are_whole; i++) {
        const uint64_t *graph = a->graphs[i] ? tkt_map_get(&known, a->graphs[i]) : NULL;
        are_whole = !graph || (*graph >> 32 > 1 && (uint32_t)*graph == a->counts[i]);
    }
    tkt_map_fini(&known);
    return are_whole;
}

bool tkt_arrivals_look(tkt_arrivals *arrivals, tkt_store *store)
{
    tkt_mutex_lock(&store->lock);
    note_new(arrivals, store);
    tkt_mutex_unlock(&store->lock);
    return arrivals->missing == 0 && are_graphs_whole(arrivals);
}

/* ======== Launches of graphs ======== */

/* All nodes of a launch have its correlation id. They arrive in any order, and no record marks the
 * last one: a launch is complete when the caller has seen all activities. */

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
        *added = (tkt_graph_launch){.whole = *node, .nodes = 1};
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

tkt_graph_launch *tkt_graphs_add(tkt_graphs *graphs, const tkt_stored_activity *node)
{
    size_t last = graphs->items.count;
    tkt_graph_launch *launch = last ? &graphs->items.items[last - 1] : NULL;
    if (launch && launch->whole.correlation == node->correlation) {
        add_node(launch, node);
        return launch;
    }
    uint64_t *index = tkt_map_put(&graphs->index, node->correlation);
    if (!index)
        return NULL;
    if (*index) {
        launch = &graphs->items.items[*index - 1];
        add_node(launch, node);
        return launch;
    }
    launch = add_launch(graphs, node);
    if (launch)
        *index = graphs->items.count;
    else
        tkt_map_remove(&graphs->index, node->correlation);
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

const char *tkt_launch_label(char out[TKT_GRAPH_LABEL_BYTES], const tkt_graph_launch *launch)
{
    return tkt_graph_label(out, launch->whole.graph, " from nodes");
}

static uint32_t add_shape(takt_trace *trace, const tkt_graph_launch *launch)
{
    char label[TKT_GRAPH_LABEL_BYTES];
    uint32_t string = tkt_trace_string_of(trace, tkt_launch_label(label, launch));
    tkt_shape *shape = string == TKT_STRTAB_FULL ? NULL : TKT_ARRAY_ADD(&trace->shapes);
    if (!shape)
        return TKT_NO_SHAPE;
    *shape = (tkt_shape){.graph = launch->whole.graph,
                         .graph_node_count = launch->nodes,
                         .label = string,
                         .filter = TAKT_TIMING_GRAPH};
    return (uint32_t)trace->shapes.count - 1;
}

uint32_t tkt_graph_shape(tkt_graphs *graphs, takt_trace *trace, const tkt_graph_launch *launch)
{
    uint64_t key = (uint64_t)launch->whole.graph << 32 | launch->nodes;
    uint64_t *known = tkt_map_put(&graphs->shapes, key);
    if (!known)
        return TKT_NO_SHAPE;
    if (!*known) {
        uint32_t shape = add_shape(trace, launch);
        if (shape == TKT_NO_SHAPE) {
            tkt_map_remove(&graphs->shapes, key);
            return TKT_NO_SHAPE;
        }
        *known = (uint64_t)shape + 1;
    }
    return (uint32_t)(*known - 1);
}
