/* Finds the launches of what graphs launch on the device, such as bodies of conditional nodes. */
#include "trace/devices.h"

#include <takt/base.h>

#include <string.h>

#define QUIET_NS    UINT64_C(1000000000) /* records of a node may come so much later than a body's */
#define MOST_HELD   (1u << 16)
#define MOST_GRAPHS 1024u

void tkt_bodies_fini(tkt_bodies *bodies)
{
    for (size_t i = 0; i < bodies->graphs.count; i++)
        TKT_ARRAY_FREE(&bodies->graphs.items[i]);
    TKT_ARRAY_FREE(&bodies->graphs);
    TKT_ARRAY_FREE(&bodies->held);
    tkt_map_fini(&bodies->index);
}

/* Programs that make graphs without end begin anew. NULL without memory. */
static tkt_launch_nodes *nodes_of(tkt_bodies *bodies, uint32_t graph, size_t most)
{
    uint64_t *place = tkt_map_get(&bodies->index, graph);
    if (place)
        return &bodies->graphs.items[*place - 1];
    if (bodies->graphs.count == MOST_GRAPHS && most != SIZE_MAX) {
        for (size_t i = 0; i < MOST_GRAPHS; i++)
            TKT_ARRAY_FREE(&bodies->graphs.items[i]);
        bodies->graphs.count = 0;
        tkt_map_fini(&bodies->index);
    }
    tkt_launch_nodes *added = TKT_ARRAY_ADD(&bodies->graphs);
    if (!added)
        return NULL;
    *added = (tkt_launch_nodes){0};
    place = tkt_map_put(&bodies->index, graph);
    if (!place) {
        bodies->graphs.count--;
        return NULL;
    }
    *place = bodies->graphs.count;
    return added;
}

/* How many nodes began until then. */
static size_t count_until(const tkt_launch_nodes *nodes, uint64_t begin)
{
    size_t low = 0, high = nodes->count;
    if (high > 0 && nodes->items[high - 1].begin <= begin)
        return high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (nodes->items[middle].begin <= begin)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Of a launch's nodes the earliest stays. */
static void add_node(tkt_launch_nodes *to, uint64_t begin, uint32_t correlation, size_t most)
{
    size_t at = count_until(to, begin);
    if (at > 0 && to->items[at - 1].correlation == correlation)
        return;
    if (at < to->count && to->items[at].correlation == correlation) {
        to->items[at].begin = begin;
        return;
    }
    size_t gone = to->count < most ? 0 : to->count / 2;
    if (at < gone || !TKT_ARRAY_RESERVE(to, to->count + 1))
        return;
    to->count -= gone;
    at -= gone;
    if (gone)
        memmove(to->items, to->items + gone, to->count * sizeof *to->items);
    memmove(to->items + at + 1, to->items + at, (to->count++ - at) * sizeof *to->items);
    to->items[at] = (tkt_launch_node){begin, correlation};
}

void tkt_bodies_note(tkt_bodies *bodies, const tkt_store *store, uint64_t position, size_t most)
{
    for (const tkt_store_chunk *chunk = store->first; chunk; chunk = chunk->next) {
        uint64_t at = position > chunk->first ? position - chunk->first : 0;
        for (; at < chunk->count; at++) {
            const tkt_stored_activity *from = &chunk->items[at];
            if (!from->graph || !from->correlation || !from->end)
                continue;
            tkt_launch_nodes *nodes = nodes_of(bodies, from->graph, most);
            if (nodes)
                add_node(nodes, from->begin, from->correlation, most);
        }
    }
}

void tkt_bodies_own(const tkt_bodies *bodies, tkt_stored_activity *body)
{
    const uint64_t *place = tkt_map_get(&bodies->index, body->graph);
    const tkt_launch_nodes *nodes = place ? &bodies->graphs.items[*place - 1] : NULL;
    size_t before = nodes ? count_until(nodes, body->begin) : 0;
    if (before > 0)
        body->correlation = nodes->items[before - 1].correlation;
}

bool tkt_bodies_hold(tkt_bodies *bodies, const tkt_stored_activity *body)
{
    tkt_held_body *held = TKT_ARRAY_ADD(&bodies->held);
    if (held)
        *held = (tkt_held_body){*body, takt_now_ns()};
    return held;
}

void tkt_bodies_settle(tkt_bodies *bodies, bool is_all,
                       void (*settled)(void *user, const tkt_stored_activity *body), void *user)
{
    uint64_t now = takt_now_ns();
    size_t count = bodies->held.count, done = 0;
    size_t least = is_all ? count : count > MOST_HELD ? count - MOST_HELD / 2 : 0;
    for (; done < count; done++) {
        const tkt_held_body *held = &bodies->held.items[done];
        if (done >= least && held->since_ns + QUIET_NS > now)
            break;
        tkt_stored_activity body = held->activity;
        tkt_bodies_own(bodies, &body);
        settled(user, &body);
    }
    bodies->held.count -= done;
    if (done)
        memmove(bodies->held.items, bodies->held.items + done,
                bodies->held.count * sizeof *bodies->held.items);
}
