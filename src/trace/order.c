/* A natural merge sort of keys: ascending runs are found, then merged pairwise, where they
 * are, until one is left. */
#include "trace/order.h"

#include "base/containers.h"

#include <string.h>

typedef TKT_ARRAY_OF(size_t) run_ends;

static tkt_order_key key_of(const tkt_order_items *items, size_t index)
{
    const char *item = (const char *)items->items + index * items->item_size;
    tkt_order_key key = {.index = (uint32_t)index};
    memcpy(&key.time_ns, item, sizeof key.time_ns);
    if (items->group_offset)
        memcpy(&key.group, item + items->group_offset, sizeof key.group);
    return key;
}

static bool is_before(const tkt_order_key *a, const tkt_order_key *b)
{
    return a->time_ns < b->time_ns || (a->time_ns == b->time_ns && a->group < b->group);
}

static bool is_ordered(const tkt_order_items *items)
{
    tkt_order_key last = {0};
    for (size_t i = 0; i < items->count; i++) {
        tkt_order_key key = key_of(items, i);
        if (is_before(&key, &last))
            return false;
        last = key;
    }
    return true;
}

static bool find_runs(const tkt_order_key *keys, size_t count, run_ends *ends)
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

/* The first of keys[begin..end) that is after `key`; with `or_equal` also the first equal one. */
static size_t find_after(const tkt_order_key *keys, size_t begin, size_t end,
                         const tkt_order_key *key, bool or_equal)
{
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        bool is_after = or_equal ? !is_before(&keys[middle], key) : is_before(key, &keys[middle]);
        if (is_after)
            end = middle;
        else
            begin = middle + 1;
    }
    return begin;
}

/* Merges keys[begin..middle) and keys[middle..end) where they are. What is before all of the other
 * run, or behind it, stays: events are out of order by a little, so that is most of both. */
static void merge(tkt_order_key *keys, tkt_order_key *spare, size_t begin, size_t middle,
                  size_t end)
{
    size_t to = find_after(keys, begin, middle, &keys[middle], false);
    size_t left = 0, left_count = middle - to, right = middle;
    if (!left_count)
        return;
    end = find_after(keys, middle, end, &keys[middle - 1], true);
    memcpy(spare, keys + to, left_count * sizeof *keys);
    while (left < left_count && right < end)
        keys[to++] = is_before(&keys[right], &spare[left]) ? keys[right++] : spare[left++];
    memcpy(keys + to, spare + left, (left_count - left) * sizeof *keys);
}

/* One pass over all pairs of runs. */
static void merge_pairs(tkt_order_key *keys, tkt_order_key *spare, run_ends *ends)
{
    size_t kept = 0;
    size_t begin = 0;
    for (size_t i = 0; i < ends->count; i += 2) {
        size_t end = ends->items[i];
        if (i + 1 < ends->count) {
            size_t middle = end;
            end = ends->items[i + 1];
            merge(keys, spare, begin, middle, end);
        }
        ends->items[kept++] = begin = end;
    }
    ends->count = kept;
}

static bool sort(tkt_order_key *keys, size_t count)
{
    run_ends ends = {0};
    tkt_order_key *spare = NULL;
    bool is_sorted = find_runs(keys, count, &ends);
    if (is_sorted && ends.count > 1) {
        spare = tkt_alloc(count * sizeof *spare);
        is_sorted = spare != NULL;
    }
    while (is_sorted && ends.count > 1)
        merge_pairs(keys, spare, &ends);
    tkt_free(spare);
    TKT_ARRAY_FREE(&ends);
    return is_sorted;
}

takt_status tkt_order_keys(tkt_order_key *keys, size_t count, uint32_t **places)
{
    *places = tkt_alloc((count + 1) * sizeof **places);
    if (!*places || !sort(keys, count)) {
        tkt_free(*places);
        *places = NULL;
        return TAKT_NO_MEMORY;
    }
    for (size_t i = 0; i < count; i++)
        (*places)[i] = keys[i].index;
    return TAKT_OK;
}

takt_status tkt_order_find(const tkt_order_items *items, uint32_t **places)
{
    *places = NULL;
    if (is_ordered(items))
        return TAKT_OK;
    tkt_order_key *keys = tkt_alloc(items->count * sizeof *keys);
    if (!keys)
        return TAKT_NO_MEMORY;
    for (size_t i = 0; i < items->count; i++)
        keys[i] = key_of(items, i);
    takt_status status = tkt_order_keys(keys, items->count, places);
    tkt_free(keys);
    return status;
}

/* Takes the items round, cycle by cycle: most are where they belong, or near. */
takt_status tkt_order_apply(const tkt_order_items *items, const uint32_t *places)
{
    size_t size = items->item_size;
    char *all = items->items, *held = tkt_alloc(size);
    uint8_t *moved = tkt_alloc_zeroed(items->count / 8 + 1); /* a bit each */
    bool is_ok = held && moved;
    for (size_t i = 0; is_ok && i < items->count; i++) {
        if (places[i] == i || moved[i / 8] >> i % 8 & 1)
            continue;
        size_t at = i;
        memcpy(held, all + at * size, size);
        for (size_t from = places[at]; from != i; at = from, from = places[at]) {
            memcpy(all + at * size, all + from * size, size);
            moved[from / 8] |= (uint8_t)(1 << from % 8);
        }
        memcpy(all + at * size, held, size);
    }
    tkt_free(held);
    tkt_free(moved);
    return is_ok ? TAKT_OK : TAKT_NO_MEMORY;
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
