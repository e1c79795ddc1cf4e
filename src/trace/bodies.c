/* Finds the launches of what graphs launch on the device, such as bodies of conditional nodes. */
#include "trace/graphs.h"

#include "trace/order.h"

#include <takt/base.h>

#include <string.h>

#define QUIET_NS    UINT64_C(1000000000)  /* records come so much later than others at most, */
#define LONGEST_NS  UINT64_C(10000000000) /* and if the host launches ahead so much later */
#define MOST_HELD   (1u << 16)
#define MOST_BYTES  ((size_t)1 << 20) /* before the first launches are forgotten */
#define MOST_GRAPHS 1024u             /* the last launch of each of so many is not forgotten */
#define GRAPH_BYTES 256u              /* of a graph with one launch */

void tkt_bodies_fini(tkt_bodies *bodies)
{
    for (size_t i = 0; i < bodies->graphs.count; i++)
        TKT_ARRAY_FREE(&bodies->graphs.items[i]);
    TKT_ARRAY_FREE(&bodies->graphs);
    TKT_ARRAY_FREE(&bodies->held);
    tkt_map_fini(&bodies->index);
}

/* ---- Launches -------------------------------------------------------------------------------- */

/* NULL without memory. */
static tkt_graph_nodes *nodes_of(tkt_bodies *bodies, uint32_t graph)
{
    uint64_t *place = tkt_map_put(&bodies->index, graph);
    if (!place)
        return NULL;
    if (*place)
        return &bodies->graphs.items[*place - 1];
    tkt_graph_nodes *added = TKT_ARRAY_ADD(&bodies->graphs);
    if (!added) {
        tkt_map_remove(&bodies->index, graph);
        return NULL;
    }
    *added = (tkt_graph_nodes){.graph = graph};
    *place = bodies->graphs.count;
    bodies->bytes += GRAPH_BYTES;
    return added;
}

/* The known launches of a graph; NULL: none. */
static tkt_graph_nodes *known_nodes(const tkt_bodies *bodies, uint32_t graph)
{
    const uint64_t *place = tkt_map_get(&bodies->index, graph);
    return place ? &bodies->graphs.items[*place - 1] : NULL;
}

/* How many launches began until then. */
static size_t count_until(const tkt_graph_nodes *nodes, uint64_t begin)
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

static void add_node(tkt_bodies *bodies, tkt_graph_nodes *to, const tkt_stored_activity *from)
{
    const tkt_launch_node *last = to->count ? &to->items[to->count - 1] : NULL;
    bool is_earlier = last && from->begin < last->begin;
    if (last && last->correlation == from->correlation && !is_earlier)
        return;
    tkt_launch_node *added = TKT_ARRAY_ADD(to);
    if (!added) { /* rather no launch than another one's */
        to->count = 0;
        return;
    }
    *added = (tkt_launch_node){from->begin, from->correlation};
    to->is_unsorted |= is_earlier;
    bodies->bytes += sizeof *added;
}

/* Of a launch's nodes the earliest stays. Without memory none does. */
static void sort(tkt_graph_nodes *nodes)
{
    size_t kept = 0, count = tkt_order_by_time(TKT_ORDER_ITEMS(nodes, 0)) ? 0 : nodes->count;
    for (size_t i = 0; i < count; i++)
        if (!kept || nodes->items[kept - 1].correlation != nodes->items[i].correlation)
            nodes->items[kept++] = nodes->items[i];
    nodes->count = kept;
    nodes->is_unsorted = false;
}

void tkt_bodies_note(tkt_bodies *bodies, const tkt_store *store, uint64_t position)
{
    tkt_graph_nodes *nodes = NULL;
    for (const tkt_store_chunk *chunk = store->first; chunk; chunk = chunk->next) {
        uint64_t at = position > chunk->first ? position - chunk->first : 0;
        for (; at < chunk->count; at++) {
            const tkt_stored_activity *from = &chunk->items[at];
            if (!from->graph || !from->correlation || !from->end)
                continue;
            if (!nodes || nodes->graph != from->graph)
                nodes = nodes_of(bodies, from->graph);
            if (nodes)
                add_node(bodies, nodes, from);
        }
    }
    for (size_t i = 0; i < bodies->graphs.count; i++)
        if (bodies->graphs.items[i].is_unsorted)
            sort(&bodies->graphs.items[i]);
}

/* ---- Forgetting ------------------------------------------------------------------------------ */

/* Returns the moment of the earliest held body, or a second before the latest launch. */
static uint64_t look_at_needs(tkt_bodies *bodies)
{
    uint64_t until = 0;
    for (size_t i = 0; i < bodies->graphs.count; i++) {
        tkt_graph_nodes *nodes = &bodies->graphs.items[i];
        uint64_t last = nodes->count ? nodes->items[nodes->count - 1].begin : 0;
        until = last > until ? last : until;
        nodes->has_held = false;
    }
    until = until > QUIET_NS ? until - QUIET_NS : 0;
    for (size_t i = 0; i < bodies->held.count; i++) {
        const tkt_stored_activity *body = &bodies->held.items[i].activity;
        tkt_graph_nodes *nodes = known_nodes(bodies, body->graph);
        until = body->begin < until ? body->begin : until;
        if (nodes)
            nodes->has_held = true;
    }
    return until;
}

static void forget_first(tkt_graph_nodes *nodes, size_t count)
{
    nodes->count -= count;
    memmove(nodes->items, nodes->items + count, nodes->count * sizeof *nodes->items);
    if (!nodes->count)
        TKT_ARRAY_FREE(nodes);
}

/* The last launch of each graph may have bodies however long ago it began. In programs that make
 * graphs without end it goes, unless bodies of the graph are held. */
static void forget_launches(tkt_bodies *bodies)
{
    uint64_t until = look_at_needs(bodies);
    bool are_many = bodies->graphs.count > MOST_GRAPHS;
    size_t kept = 0;
    tkt_map_fini(&bodies->index);
    bodies->bytes = 0;
    for (size_t i = 0; i < bodies->graphs.count; i++) {
        tkt_graph_nodes nodes = bodies->graphs.items[i];
        size_t gone = count_until(&nodes, until);
        forget_first(&nodes, gone && (!are_many || nodes.has_held) ? gone - 1 : gone);
        uint64_t *place = nodes.count ? tkt_map_put(&bodies->index, nodes.graph) : NULL;
        if (!place) {
            TKT_ARRAY_FREE(&nodes);
            continue;
        }
        bodies->graphs.items[kept++] = nodes;
        *place = kept;
        bodies->bytes += GRAPH_BYTES + nodes.count * sizeof *nodes.items;
    }
    bodies->graphs.count = kept;
    bodies->kept_bytes = bodies->bytes;
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

void tkt_bodies_own(const tkt_bodies *bodies, tkt_stored_activity *body)
{
    const tkt_graph_nodes *nodes = known_nodes(bodies, body->graph);
    size_t before = nodes ? count_until(nodes, body->begin) : 0;
    if (before > 0)
        body->correlation = nodes->items[before - 1].correlation;
}

static void settle(const tkt_bodies *bodies, const tkt_stored_activity *held,
                   tkt_body_settler *settled, void *user)
{
    tkt_stored_activity body = *held;
    tkt_bodies_own(bodies, &body);
    settled(user, &body);
}

/* Without a later launch of its graph, the node of its own may be late. */
static bool is_due(const tkt_bodies *bodies, const tkt_held_body *held, uint64_t now_ns)
{
    const tkt_graph_nodes *nodes = known_nodes(bodies, held->activity.graph);
    bool is_sure =
        nodes && nodes->count && nodes->items[nodes->count - 1].begin > held->activity.begin;
    return held->since_ns + (is_sure ? QUIET_NS : LONGEST_NS) <= now_ns;
}

/* Settles the first `least`, and then those that were held long enough. */
static void settle_first(tkt_bodies *bodies, size_t least, tkt_body_settler *settled, void *user)
{
    uint64_t now = takt_now_ns();
    size_t count = bodies->held.count, done = 0;
    for (; done < count; done++) {
        const tkt_held_body *held = &bodies->held.items[done];
        if (done >= least && !is_due(bodies, held, now))
            break;
        settle(bodies, &held->activity, settled, user);
    }
    bodies->held.count -= done;
    if (done)
        memmove(bodies->held.items, bodies->held.items + done,
                bodies->held.count * sizeof *bodies->held.items);
}

void tkt_bodies_hold(tkt_bodies *bodies, const tkt_stored_activity *body, tkt_body_settler *settled,
                     void *user)
{
    if (bodies->held.count == MOST_HELD)
        settle_first(bodies, MOST_HELD / 2, settled, user);
    tkt_held_body *held = TKT_ARRAY_ADD(&bodies->held);
    if (held)
        *held = (tkt_held_body){*body, takt_now_ns()};
    else
        settle(bodies, body, settled, user);
}

void tkt_bodies_settle(tkt_bodies *bodies, bool is_all, tkt_body_settler *settled, void *user)
{
    settle_first(bodies, is_all ? SIZE_MAX : 0, settled, user);
    if (bodies->bytes > MOST_BYTES && bodies->bytes / 2 > bodies->kept_bytes)
        forget_launches(bodies);
}
