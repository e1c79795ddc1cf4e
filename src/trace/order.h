/* The order of events by time. */
#ifndef TKT_TRACE_ORDER_H
#define TKT_TRACE_ORDER_H

#include "trace/model.h"

#include <takt/base.h>

/* ======== Sorting ======== */

/* Putting events in the order of their time. */

/* Items begin with a uint64_t time; at `group_offset` they have a uint32_t that decides between
 * equal times, or none when it is 0. Items equal in both stay as they are. */
typedef struct tkt_order_items {
    void  *items;
    size_t count; /* below 2^32 */
    size_t item_size;
    size_t group_offset;
} tkt_order_items;

/* Finds out where items must go: *places[i] is the place now of the item that belongs at place i;
 * NULL when they are in order already. The caller frees it. Linear for ordered items, at most
 * n log r for r ascending runs, which is what traces consist of, and little where these overlap
 * little. TAKT_NO_MEMORY. */
takt_status tkt_order_find(const tkt_order_items *items, uint32_t **places);

/* The same for who has the keys: sorts them, so that they need not be in order, by time and group;
 * `index` is where the item is now. The caller frees *places. */
typedef struct tkt_order_key {
    uint64_t time_ns;
    uint32_t group;
    uint32_t index;
} tkt_order_key;

takt_status tkt_order_keys(tkt_order_key *keys, size_t count, uint32_t **places);

/* Moves items to where tkt_order_find() says. */
takt_status tkt_order_apply(const tkt_order_items *items, const uint32_t *places);

/* Both. */
takt_status tkt_order_by_time(const tkt_order_items *items);

#define TKT_ORDER_ITEMS(array, group_offset)                                                       \
    (&(tkt_order_items){(array)->items, (array)->count, sizeof *(array)->items, (group_offset)})

/* ======== Activities by begin ======== */

/* The activities of devices in the order of their begins. */

/* How many activities of devices are in the list; those of the host stand behind. */
size_t tkt_device_activity_count(const takt_trace *trace);

/* Where they stand by begin: place i has the i-th; *places is NULL where they are in order as they
 * are. Found when it is first asked for, then kept with the trace. Any thread. TAKT_NO_MEMORY. */
takt_status tkt_trace_begins(const takt_trace *trace, const uint32_t **places);

#endif
