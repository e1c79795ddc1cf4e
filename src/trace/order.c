/* Sorting by time: a natural merge sort of keys. It finds ascending runs and merges neighbours in
 * place until one run is left. Device activities have a faster way, see the second section. */
#include "trace/order.h"

#include "base/containers.h"

#include <string.h>

/* ======== Sorting ======== */

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

/* The index of the first key in keys[begin..end) that is after `key` or, with `or_equal`, not
 * before it. */
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

/* Merges keys[begin..middle) and keys[middle..end) in place. Keys before or after all keys of the
 * other run stay where they are. These are most of both runs, since events are only slightly out of
 * order. */
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

/* Merges each pair of neighbouring runs. */
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

/* Moves the items along the cycles of the permutation. Most are already at or near their places. */
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

/* ======== Activities by begin ======== */

/* A bucket sort: divides the time into equal parts, counts the activities of each part, writes them
 * to their parts, then sorts each part by insertion. This is linear, and reads memory almost in
 * order. */

#define LARGEST_PART 128

/* Binary search for the first host activity. */
size_t tkt_device_activity_count(const takt_trace *trace)
{
    size_t first = 0;
    size_t end = trace->activities.count;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (trace->activities.items[middle].span == TKT_NO_SPAN)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* Divides the time into `count` equal parts of 2^shift ns; at most as many as there are
 * activities. */
typedef struct parts {
    uint64_t begin_ns;
    uint32_t shift;
    size_t count;
} parts;

static size_t part_of(const parts *p, uint64_t ns)
{
    return (size_t)((ns - p->begin_ns) >> p->shift);
}

/* Copies the begins, so that the passes that follow read an eighth of the memory. False if they are
 * in order already. */
static bool find_parts(const tkt_activity *items, size_t count, uint64_t *begins, parts *out)
{
    uint64_t end_ns = 0;
    bool is_ordered = true;
    *out = (parts){.begin_ns = UINT64_MAX};
    for (size_t i = 0; i < count; i++) {
        uint64_t ns = begins[i] = items[i].begin_ns;
        is_ordered = is_ordered && ns >= end_ns;
        end_ns = ns > end_ns ? ns : end_ns;
        out->begin_ns = ns < out->begin_ns ? ns : out->begin_ns;
    }
    while (!is_ordered && (end_ns - out->begin_ns) >> out->shift >= count)
        out->shift++;
    out->count = is_ordered ? 0 : (size_t)((end_ns - out->begin_ns) >> out->shift) + 1;
    return !is_ordered;
}

/* Turns the number of activities in each part into the part's first place. False if a part is too
 * large for insertion sort. */
static bool add_counts(uint32_t *firsts, const parts *p)
{
    uint32_t sum = 0;
    uint32_t largest = 0;
    for (size_t i = 0; i < p->count; i++) {
        uint32_t count = firsts[i];
        largest = count > largest ? count : largest;
        firsts[i] = sum;
        sum += count;
    }
    return largest <= LARGEST_PART;
}

/* An insertion sort. */
static void sort_places(const uint64_t *begins, size_t count, uint32_t *places)
{
    uint64_t last_ns = 0; /* the latest begin so far */
    for (size_t i = 0; i < count; i++) {
        uint32_t place = places[i];
        uint64_t ns = begins[place];
        size_t to = i;
        if (ns >= last_ns) {
            last_ns = ns;
            continue;
        }
        for (; to > 0 && begins[places[to - 1]] > ns; to--)
            places[to] = places[to - 1];
        places[to] = place;
    }
}

static bool fill_parts(const uint64_t *begins, size_t count, const parts *p, uint32_t *firsts,
                       uint32_t *places)
{
    for (size_t i = 0; i < count; i++)
        firsts[part_of(p, begins[i])]++;
    if (!add_counts(firsts, p))
        return false;
    for (size_t i = 0; i < count; i++)
        places[firsts[part_of(p, begins[i])]++] = (uint32_t)i;
    return true;
}

/* Issue order is nearly the order of begins, but streams lag behind each other. A merge sort would
 * pay for many short runs. Here, the parts fill nearly in order, and activities that are still out
 * of order lie close together. False: use the merge sort instead. */
static bool order_by_parts(const uint64_t *begins, size_t count, const parts *p, uint32_t *places)
{
    uint32_t *firsts = tkt_alloc_zeroed(p->count * sizeof *firsts);
    bool is_even = firsts && fill_parts(begins, count, p, firsts, places);
    tkt_free(firsts);
    if (is_even)
        sort_places(begins, count, places);
    return is_even;
}

/* Like tkt_order_find(). */
static takt_status find_order(tkt_activity *items, size_t count, uint32_t **places)
{
    parts p;
    uint64_t *begins = tkt_alloc((count + 1) * sizeof *begins);
    bool is_done = begins && !find_parts(items, count, begins, &p);
    *places = NULL;
    if (begins && !is_done) {
        *places = tkt_alloc(count * sizeof **places);
        is_done = *places && order_by_parts(begins, count, &p, *places);
    }
    tkt_free(begins);
    if (is_done)
        return TAKT_OK;
    tkt_free(*places);
    return tkt_order_find(&(tkt_order_items){items, count, sizeof *items, 0}, places);
}

takt_status tkt_trace_begins(const takt_trace *trace, const uint32_t **places)
{
    /* A sealed trace is constant except for its caches; fold_lock guards this one. */
    takt_trace *mine = (takt_trace *)trace;
    takt_status status = TAKT_OK;
    tkt_mutex_lock(&mine->fold_lock);
    if (!mine->begins_are_known) {
        status = find_order(mine->activities.items, tkt_device_activity_count(mine), &mine->begins);
        mine->begins_are_known = status == TAKT_OK;
    }
    *places = mine->begins;
    tkt_mutex_unlock(&mine->fold_lock);
    return status;
}
