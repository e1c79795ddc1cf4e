/* Sorts events by time; and keeps an index of device activities sorted by begin. */
#ifndef TKT_TRACE_ORDER_H
#define TKT_TRACE_ORDER_H

#include "trace/model.h"

#include <takt/base.h>

/* ======== Sorting ======== */

/* An array to sort. Each item begins with a uint64_t time and has a uint32_t at `group_offset`,
 * which decides between equal times; offset 0 means no group. The sort is stable. */
typedef struct tkt_order_items {
    void  *items;
    size_t count; /* below 2^32 */
    size_t item_size;
    size_t group_offset;
} tkt_order_items;

/* Finds the sorted order: (*places)[i] is the current index of the item that belongs at place i.
 * *places is NULL if the items are sorted already; the caller frees it. Traces consist of a few
 * ascending runs: the cost is linear for sorted items, at most n log r for r runs, and low if runs
 * overlap little. TAKT_NO_MEMORY. */
takt_status tkt_order_find(const tkt_order_items *items, uint32_t **places);

/* The same from keys: sorts them by time and group. `index` is the current index of the item. The
 * caller frees *places. */
typedef struct tkt_order_key {
    uint64_t time_ns;
    uint32_t group;
    uint32_t index;
} tkt_order_key;

takt_status tkt_order_keys(tkt_order_key *keys, size_t count, uint32_t **places);

/* Moves the items to the places that tkt_order_find() found. TAKT_NO_MEMORY. */
takt_status tkt_order_apply(const tkt_order_items *items, const uint32_t *places);

/* Sorts the items: finds the order and applies it. */
takt_status tkt_order_by_time(const tkt_order_items *items);

#define TKT_ORDER_ITEMS(array, group_offset)                                                       \
    (&(tkt_order_items){(array)->items, (array)->count, sizeof *(array)->items, (group_offset)})

/* ======== Activities by begin ======== */

/* The number of device activities. They come first in trace->activities; host activities follow. */
size_t tkt_device_activity_count(const takt_trace *trace);

/* The device activities sorted by begin: (*places)[i] is the index of the i-th one. *places is NULL
 * if they are sorted already. The trace computes the order at the first call and owns it. Any
 * thread. TAKT_NO_MEMORY. */
takt_status tkt_trace_begins(const takt_trace *trace, const uint32_t **places);

#endif
