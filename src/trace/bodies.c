/* Finds the launches of what graphs launch on the device, such as bodies of conditional nodes. */
#include "trace/devices.h"

#include "trace/order.h"

#include <string.h>

#define MOST_BETWEEN 4096u /* nodes of other graphs between a body and its launch */

void tkt_bodies_note(tkt_bodies *bodies, const tkt_store *store, uint64_t position, size_t most)
{
    for (const tkt_store_chunk *chunk = store->first; chunk; chunk = chunk->next) {
        uint64_t at = position > chunk->first ? position - chunk->first : 0;
        for (; at < chunk->count; at++) {
            const tkt_stored_activity *from = &chunk->items[at];
            size_t count = bodies->nodes.count;
            if (!from->graph || !from->correlation || !from->end ||
                (count && bodies->nodes.items[count - 1].correlation == from->correlation))
                continue;
            tkt_launch_node *added = TKT_ARRAY_ADD(&bodies->nodes);
            if (added)
                *added = (tkt_launch_node){from->begin, from->graph, from->correlation};
        }
    }
    tkt_order_by_time(TKT_ORDER_ITEMS(&bodies->nodes, 0));
    size_t gone = bodies->nodes.count > most ? bodies->nodes.count - most : 0;
    bodies->nodes.count -= gone;
    if (gone)
        memmove(bodies->nodes.items, bodies->nodes.items + gone,
                bodies->nodes.count * sizeof *bodies->nodes.items);
}

bool tkt_bodies_own(const tkt_bodies *bodies, tkt_stored_activity *body)
{
    const tkt_launch_node *nodes = bodies->nodes.items;
    size_t low = 0, high = bodies->nodes.count;
    bool is_sure = false;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (nodes[middle].begin <= body->begin)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i < bodies->nodes.count && i - low < MOST_BETWEEN && !is_sure; i++)
        is_sure = nodes[i].graph == body->graph;
    for (size_t i = low; i-- > 0 && low - i < MOST_BETWEEN && body->correlation == 0;)
        if (nodes[i].graph == body->graph)
            body->correlation = nodes[i].correlation;
    if (body->correlation)
        body->graph = 0;
    return is_sure;
}
