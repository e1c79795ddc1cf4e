/* Activities of devices added up. A sum counts two that overlap twice; the time that a device was
 * busy is the length of the union of their intervals, found by one pass in the order of begins. */
#include "summary/device.h"

#include "trace/order.h"

#define LARGEST_PART 128

/* Host activities stand behind, so the border is searched by halving. */
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

/* ---- By node --------------------------------------------------------------------------------- */

static bool is_call(const takt_trace *trace, const tkt_node *node)
{
    return trace->sites.items[node->site].kind == TAKT_SITE_CALL;
}

tkt_node_device *tkt_node_device_of(const takt_trace *trace, const tkt_fold *fold)
{
    tkt_node_device *nodes = tkt_alloc_zeroed(fold->count * sizeof *nodes);
    if (!nodes)
        return NULL;
    for (size_t i = 0; i < trace->node_activities.count; i++) {
        const tkt_node_activity *activity = &trace->node_activities.items[i];
        uint32_t node = activity->node < fold->count ? activity->node : 0;
        while (node != 0 && is_call(trace, &fold->items[node]))
            node = fold->items[node].parent;
        nodes[node].self_ns += activity->stats.total_ns;
    }
    for (size_t i = fold->count; i-- > 0;) { /* children have greater numbers */
        nodes[i].total_ns += nodes[i].self_ns;
        if (i > 0)
            nodes[fold->items[i].parent].total_ns += nodes[i].total_ns;
        if (i > 0 && is_call(trace, &fold->items[i]))
            nodes[i].total_ns = 0;
    }
    return nodes;
}

/* ---- By time --------------------------------------------------------------------------------- */

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

static void sort_places(const tkt_activity *items, size_t count, uint32_t *places)
{
    for (size_t i = 1; i < count; i++) {
        uint32_t place = places[i];
        size_t to = i;
        for (; to > 0 && items[places[to - 1]].begin_ns > items[place].begin_ns; to--)
            places[to] = places[to - 1];
        places[to] = place;
    }
}

/* Issue order is nearly the order of begins, but streams lag behind each other: a merge sort would
 * pay for each of many short runs. Parts of the time are filled nearly in order, and what is left
 * to sort lies close together. False: try the other way. */
static bool order_by_parts(const tkt_activity *items, size_t count, const parts *p,
                           uint32_t *places)
{
    uint32_t *begins = tkt_alloc_zeroed(p->count * sizeof *begins);
    if (!begins)
        return false;
    for (size_t i = 0; i < count; i++)
        begins[part_of(p, &items[i])]++;
    bool is_even = add_counts(begins, p);
    for (size_t i = 0; is_even && i < count; i++)
        places[begins[part_of(p, &items[i])]++] = (uint32_t)i;
    tkt_free(begins);
    if (is_even)
        sort_places(items, count, places);
    return is_even;
}

/* As tkt_order_find(). */
static takt_status order_activities(tkt_activity *items, size_t count, uint32_t **places)
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

takt_status tkt_device_visit(const takt_trace *trace,
                             void (*visit)(void *user, const tkt_activity *activity), void *user)
{
    tkt_activity *items = trace->activities.items;
    size_t count = tkt_device_activity_count(trace);
    uint32_t *places;
    takt_status status = order_activities(items, count, &places);
    if (status != TAKT_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        visit(user, &items[places ? places[i] : i]);
    tkt_free(places);
    return TAKT_OK;
}

typedef struct sweep {
    uint64_t until; /* of the union of this device's intervals */
    size_t step;    /* the first that does not end before it */
} sweep;

typedef struct using
{
    const takt_trace *trace;
    tkt_device_uses *uses;
    TKT_ARRAY_OF(sweep) sweeps; /* by device, as uses */
    takt_status status;
}
using;

static size_t find_device(using *u, uint32_t device)
{
    size_t i = 0;
    while (i < u->uses->count && u->uses->items[i].device != device)
        i++;
    if (i < u->sweeps.count)
        return i;
    tkt_device_use *use = TKT_ARRAY_ADD(u->uses);
    sweep *new_sweep = TKT_ARRAY_ADD(&u->sweeps);
    if (!use || !new_sweep || u->status != TAKT_OK) {
        u->status = TAKT_NO_MEMORY;
        return SIZE_MAX;
    }
    *use = (tkt_device_use){.device = device};
    *new_sweep = (sweep){0, 0};
    return i;
}

static uint64_t overlap(uint64_t begin, uint64_t end, uint64_t from, uint64_t to)
{
    from = begin > from ? begin : from;
    to = end < to ? end : to;
    return to > from ? to - from : 0;
}

/* How much of [from, to) lies in recorded steps; calls for one device come in order. */
static uint64_t in_steps(const takt_trace *trace, sweep *s, uint64_t from, uint64_t to)
{
    const tkt_step *steps = trace->steps.items;
    size_t count = trace->steps.count;
    uint64_t sum_ns = 0;
    while (s->step < count && steps[s->step].end_ns <= from)
        s->step++;
    for (size_t i = s->step; i < count && steps[i].begin_ns < to; i++)
        sum_ns += overlap(steps[i].begin_ns, steps[i].end_ns, from, to);
    return sum_ns;
}

/* Steps of a recording follow each other. What is not known to be launched outside counts. */
static bool is_of_steps(const takt_trace *trace, const tkt_activity *activity)
{
    if (activity->call == TKT_NO_CALL || trace->steps.count == 0)
        return trace->steps.count > 0;
    const tkt_call_info *call = &trace->calls.items[activity->call];
    uint64_t launched_ns = trace->tracks.items[call->track].spans.items[call->span].begin_ns;
    return launched_ns >= trace->steps.items[0].begin_ns &&
           launched_ns < trace->steps.items[trace->steps.count - 1].end_ns;
}

static void use(void *user, const tkt_activity *activity)
{
    using *u = user;
    size_t i = find_device(u, activity->device);
    if (i == SIZE_MAX)
        return;
    const takt_facts *facts = &u->trace->facts;
    tkt_device_use *device = &u->uses->items[i];
    sweep *s = &u->sweeps.items[i];
    uint64_t ns = activity->end_ns - activity->begin_ns;
    device->count++;
    device->total_ns += ns;
    u->uses->total_ns += ns;
    u->uses->step_ns += is_of_steps(u->trace, activity) ? ns : 0;
    uint64_t grown_ns = tkt_union_add(&s->until, activity->begin_ns, activity->end_ns);
    uint64_t from = s->until - grown_ns;
    device->busy_ns += overlap(facts->begin_ns, facts->end_ns, from, s->until);
    device->step_busy_ns += in_steps(u->trace, s, from, s->until);
}

static void use_nodes(using *u)
{
    for (size_t i = 0; i < u->trace->node_activities.count; i++) {
        const tkt_node_activity *activity = &u->trace->node_activities.items[i];
        size_t device = find_device(u, activity->device);
        if (device == SIZE_MAX)
            return;
        u->uses->items[device].count += activity->stats.count;
        u->uses->items[device].total_ns += activity->stats.total_ns;
        u->uses->total_ns += activity->stats.total_ns;
    }
    u->uses->step_ns = u->uses->total_ns;
}

takt_status tkt_device_uses_of(const takt_trace *trace, tkt_device_uses *out)
{
    tkt_device_uses uses = {0};
    using u = {.trace = trace, .uses = &uses, .status = TAKT_OK};
    takt_status status = TAKT_OK;
    if (trace->facts.has_spans)
        status = tkt_device_visit(trace, use, &u);
    else
        use_nodes(&u);
    TKT_ARRAY_FREE(&u.sweeps);
    status = status == TAKT_OK ? u.status : status;
    if (status == TAKT_OK)
        *out = uses;
    else
        TKT_ARRAY_FREE(&uses);
    return status;
}
