/* Finds launches whose activities have not arrived.
 *
 * Any activity with a launch's correlation id counts as its arrival, even one that the store marks
 * as lost. A graph launch has one activity for each node, and they may arrive in several buffers.
 * Their number is known only from other launches of the same graph. */
#include "trace/devices.h"

#include "base/containers.h"

#include <string.h>

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

bool tkt_call_lacks(const takt_trace *trace, uint32_t call, uint8_t launches, bool are_graphs_sure)
{
    return launches != TKT_LAUNCHES_NOTHING && launches != TKT_LAUNCHES_PERHAPS &&
           !(are_graphs_sure && tkt_call_launches_graph(trace, call));
}

/* Counts the launches like this one without an activity. */
static uint64_t *count_of(tkt_arrivals *a, uint32_t call)
{
    return tkt_call_launches_graph(a->trace, call) ? &a->missing_graphs : &a->missing;
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
    for (uint32_t i = 0; i < trace->calls.count; i++)
        if (arrivals->launches[i])
            ++*count_of(arrivals, i);
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
    if (a->launches[call] && a->counts[call] == 0)
        --*count_of(a, call);
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

tkt_completeness tkt_arrivals_look(tkt_arrivals *arrivals, tkt_store *store)
{
    tkt_mutex_lock(&store->lock);
    note_new(arrivals, store);
    tkt_mutex_unlock(&store->lock);
    if (arrivals->missing)
        return TKT_LACKING;
    return arrivals->missing_graphs == 0 && are_graphs_whole(arrivals) ? TKT_COMPLETE
                                                                       : TKT_LACKS_GRAPHS;
}
