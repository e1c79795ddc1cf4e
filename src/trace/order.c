/* A natural merge sort of keys: ascending runs are found, then merged pairwise until one is left.
 */
#include "trace/order.h"

#include "base/array.h"

#include <string.h>

typedef struct order_key {
    uint64_t time_ns;
    uint32_t group;
    uint32_t index;
} order_key;

typedef TKT_ARRAY_OF(size_t) run_ends;

static order_key key_of(const tkt_order_items *items, size_t index)
{
    const char *item = (const char *)items->items + index * items->item_size;
    order_key key = {.index = (uint32_t)index};
    memcpy(&key.time_ns, item, sizeof key.time_ns);
    if (items->group_offset)
        memcpy(&key.group, item + items->group_offset, sizeof key.group);
    return key;
}

static bool is_before(const order_key *a, const order_key *b)
{
    return a->time_ns < b->time_ns || (a->time_ns == b->time_ns && a->group < b->group);
}

static bool is_ordered(const tkt_order_items *items)
{
    order_key last = {0};
    for (size_t i = 0; i < items->count; i++) {
        order_key key = key_of(items, i);
        if (is_before(&key, &last))
            return false;
        last = key;
    }
    return true;
}

static bool find_runs(const order_key *keys, size_t count, run_ends *ends)
{
    for (size_t i = 1; i <= count; i++) {
        if (i < count && !is_before(&keys[i], &keys[i - 1]))
            continue;
        size_t *end = TKT_ARRAY_ADD(ends);
        if (!end)
            return false;
        *end = i;
    }
    return true;
}

/* Merges from[begin..middle) and from[middle..end) into the same places of `to`. */
static void merge(const order_key *from, order_key *to, size_t begin, size_t middle, size_t end)
{
    size_t left = begin;
    size_t right = middle;
    for (size_t i = begin; i < end; i++) {
        bool takes_right = left == middle || (right < end && is_before(&from[right], &from[left]));
        to[i] = takes_right ? from[right++] : from[left++];
    }
}

/* One pass over all pairs of runs; an odd one is copied. */
static void merge_pairs(const order_key *from, order_key *to, run_ends *ends)
{
    size_t kept = 0;
    size_t begin = 0;
    for (size_t i = 0; i < ends->count; i += 2) {
        size_t middle = ends->items[i];
        size_t end = i + 1 < ends->count ? ends->items[i + 1] : middle;
        merge(from, to, begin, middle, end);
        ends->items[kept++] = begin = end;
    }
    ends->count = kept;
}

/* Sorts `keys` with the help of as many of `spare`; returns which of the two holds the result. */
static order_key *sort(order_key *keys, order_key *spare, run_ends *ends)
{
    while (ends->count > 1) {
        merge_pairs(keys, spare, ends);
        order_key *merged = spare;
        spare = keys;
        keys = merged;
    }
    return keys;
}

static uint32_t *places_of(const tkt_order_items *items, order_key *keys, order_key *spare,
                           run_ends *ends)
{
    for (size_t i = 0; i < items->count; i++)
        keys[i] = key_of(items, i);
    if (!find_runs(keys, items->count, ends))
        return NULL;
    uint32_t *places = tkt_alloc(items->count * sizeof *places);
    if (!places)
        return NULL;
    const order_key *sorted = sort(keys, spare, ends);
    for (size_t i = 0; i < items->count; i++)
        places[i] = sorted[i].index;
    return places;
}

takt_status tkt_order_find(const tkt_order_items *items, uint32_t **places)
{
    *places = NULL;
    if (is_ordered(items))
        return TAKT_OK;
    order_key *keys = tkt_alloc(items->count * sizeof *keys);
    order_key *spare = tkt_alloc(items->count * sizeof *spare);
    run_ends ends = {0};
    if (keys && spare)
        *places = places_of(items, keys, spare, &ends);
    TKT_ARRAY_FREE(&ends);
    tkt_free(spare);
    tkt_free(keys);
    return *places ? TAKT_OK : TAKT_NO_MEMORY;
}

takt_status tkt_order_apply(const tkt_order_items *items, const uint32_t *places)
{
    size_t size = items->item_size;
    char *ordered = tkt_alloc(items->count * size);
    if (!ordered)
        return TAKT_NO_MEMORY;
    for (size_t i = 0; i < items->count; i++)
        memcpy(ordered + i * size, (const char *)items->items + places[i] * size, size);
    memcpy(items->items, ordered, items->count * size);
    tkt_free(ordered);
    return TAKT_OK;
}

takt_status tkt_order_by_time(const tkt_order_items *items)
{
    uint32_t *places;
    takt_status status = tkt_order_find(items, &places);
    if (status == TAKT_OK && places)
        status = tkt_order_apply(items, places);
    tkt_free(places);
    return status;
}
