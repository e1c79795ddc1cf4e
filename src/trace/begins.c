/* Parts of the time are counted, then filled, then sorted: linear, and each activity is read where
 * the last one stood, or near. */
#include "trace/begins.h"

#include "trace/order.h"

#define LARGEST_PART 128

/* The border is searched by halving. */
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

/* Which part of the time an activity begins in: of equal parts, at most as many as activities. */
typedef struct parts {
    uint64_t begin_ns;
    uint32_t shift;
    size_t count;
} parts;

static size_t part_of(const parts *p, const tkt_activity *activity)
{
    return (size_t)((activity->begin_ns - p->begin_ns) >> p->shift);
}

static bool find_parts(const tkt_activity *items, size_t count, parts *out)
{
    uint64_t end_ns = 0;
    bool is_ordered = true;
    *out = (parts){.begin_ns = UINT64_MAX};
    for (size_t i = 0; i < count; i++) {
        uint64_t ns = items[i].begin_ns;
        is_ordered = is_ordered && ns >= end_ns;
        end_ns = ns > end_ns ? ns : end_ns;
        out->begin_ns = ns < out->begin_ns ? ns : out->begin_ns;
    }
    while (!is_ordered && (end_ns - out->begin_ns) >> out->shift >= count)
        out->shift++;
    out->count = is_ordered ? 0 : (size_t)((end_ns - out->begin_ns) >> out->shift) + 1;
    return !is_ordered;
}

/* Turns the activities' counts by part into where each part begins; false where one is too large
 * to be sorted by insertion. */
static bool add_counts(uint32_t *begins, const parts *p)
{
    uint32_t sum = 0;
    uint32_t largest = 0;
    for (size_t i = 0; i < p->count; i++) {
        uint32_t count = begins[i];
        largest = count > largest ? count : largest;
        begins[i] = sum;
        sum += count;
    }
    return largest <= LARGEST_PART;
}

/* The places of activities, and beside each when its activity begins. */
typedef struct placing {
    uint64_t *begins_ns;
    uint32_t *places;
} placing;

static void sort_places(const placing *by, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint64_t ns = by->begins_ns[i];
        uint32_t place = by->places[i];
        size_t to = i;
        for (; to > 0 && by->begins_ns[to - 1] > ns; to--) {
            by->begins_ns[to] = by->begins_ns[to - 1];
            by->places[to] = by->places[to - 1];
        }
        by->begins_ns[to] = ns;
        by->places[to] = place;
    }
}

static bool fill_parts(const tkt_activity *items, size_t count, const parts *p, uint32_t *begins,
                       const placing *by)
{
    for (size_t i = 0; i < count; i++)
        begins[part_of(p, &items[i])]++;
    if (!add_counts(begins, p))
        return false;
    for (size_t i = 0; i < count; i++) {
        uint32_t place = begins[part_of(p, &items[i])]++;
        by->begins_ns[place] = items[i].begin_ns;
        by->places[place] = (uint32_t)i;
    }
    return true;
}

/* Issue order is nearly the order of begins, but streams lag behind each other: a merge sort would
 * pay for each of many short runs. Parts of the time are filled nearly in order, and what is left
 * to sort lies close together. False: try the other way. */
static bool order_by_parts(const tkt_activity *items, size_t count, const parts *p,
                           uint32_t *places)
{
    uint32_t *begins = tkt_alloc_zeroed(p->count * sizeof *begins);
    placing by = {tkt_alloc(count * sizeof *by.begins_ns), places};
    bool is_even = begins && by.begins_ns && fill_parts(items, count, p, begins, &by);
    tkt_free(begins);
    if (is_even)
        sort_places(&by, count);
    tkt_free(by.begins_ns);
    return is_even;
}

/* As tkt_order_find(). */
static takt_status find_order(tkt_activity *items, size_t count, uint32_t **places)
{
    parts p;
    *places = NULL;
    if (!find_parts(items, count, &p))
        return TAKT_OK;
    *places = tkt_alloc(count * sizeof **places);
    if (*places && order_by_parts(items, count, &p, *places))
        return TAKT_OK;
    tkt_free(*places);
    return tkt_order_find(&(tkt_order_items){items, count, sizeof *items, 0}, places);
}

takt_status tkt_trace_begins(const takt_trace *trace, const uint32_t **places)
{
    /* All else in a sealed trace is constant; as the fold, this has the lock for itself. */
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
