/* Bounds the error of device clocks. One walk visits the activities in order of issue, and the
 * waits between them.
 *
 * Each stream has a group: its activities since the last wait for it. A wait closes the groups that
 * it waited for: all their activities must have ended before the wait returned, so the one that
 * ends last gives a bound. A wait counts for a group only if all launching calls of the group had
 * returned when the wait began. Otherwise another thread was launching, and the group stays open
 * until the next wait.
 *
 * The walk uses calls that wait for a stream or a context, known from SYNCHRONIZATION records of
 * CUPTI, and blocking copies to the host. It does not use waits for events, since no record says
 * where in its stream an event was recorded. Nor does it use copies to the device, which may return
 * once their data is staged.
 *
 * The tightest bounds of a recording may come from different moments, and the error may drift
 * between them. So the reported interval is never narrower than the narrowest one that a single
 * group and its wait show. */
#include "trace/devices.h"

#include "base/containers.h"
#include "trace/order.h"

#include <stdlib.h>
#include <string.h>

/* A larger error does not come from clocks, but from a wrong correlation id or a failed call. It
 * moves no activity, but counts for the uncertainty. */
#define MOST_NS INT64_C(10000000)

#define RECENT       16u
#define NONE         UINT32_MAX
#define COPY_TO_HOST 2u /* CUpti_ActivityMemcpyKind */

/* The bounds of one device: the shift that corrects its times, in ns, is in [low, high]. */
typedef struct device_bounds {
    uint32_t label; /* string */
    bool is_active;
    int64_t low;     /* INT64_MIN: no launch bounds the shift */
    int64_t high;    /* INT64_MAX: no wait bounds the shift */
    int64_t width;   /* of the narrowest group; INT64_MAX: no group is bounded on both sides */
    int64_t ignored; /* the largest error above MOST_NS */
    int64_t shift;
} device_bounds;

typedef struct group {
    uint32_t context;
    uint32_t stream;
    uint32_t device; /* of `devices` */
    uint32_t next;   /* next group in the list of its context + 1 */
    bool is_open;    /* has activities that no wait has closed */
    bool is_listed;
    int64_t low;
    uint64_t end_ns;   /* of the activity that ends last */
    uint64_t calls_ns; /* when the last launching call returned */
} group;

/* A wait with a reliable begin and end. */
typedef struct known_wait {
    uint64_t begin_ns;
    uint64_t end_ns;
    uint32_t context;
    uint32_t stream; /* NONE: the whole context */
} known_wait;

typedef struct walk {
    takt_trace *trace;
    TKT_ARRAY_OF(device_bounds) devices;
    TKT_ARRAY_OF(group) groups;
    TKT_ARRAY_OF(known_wait) waits;
    tkt_map group_index; /* context and stream -> group + 1 */
    tkt_map open;        /* context -> first group of its list + 1 */
    size_t next_wait;
    uint32_t recent[RECENT]; /* cache: groups + 1; most activities use a recent stream again */
} walk;

/* to_ns - from_ns, limited to 10^15 ns (some days) to keep sums from overflowing. */
static int64_t distance(uint64_t to_ns, uint64_t from_ns)
{
    int64_t ns = (int64_t)(to_ns - from_ns), most = INT64_C(1000000000000000);
    return ns > most ? most : ns < -most ? -most : ns;
}

/* ---- Groups ---------------------------------------------------------------------------------- */

/* The index of the device with this label, added if it is new; NONE without memory. */
static uint32_t device_of(walk *w, uint32_t label)
{
    for (uint32_t i = 0; i < w->devices.count; i++)
        if (w->devices.items[i].label == label)
            return i;
    device_bounds *device = TKT_ARRAY_ADD(&w->devices);
    if (!device)
        return NONE;
    *device =
        (device_bounds){.label = label, .low = INT64_MIN, .high = INT64_MAX, .width = INT64_MAX};
    return (uint32_t)w->devices.count - 1;
}

static uint64_t key_of(uint32_t context, uint32_t stream)
{
    return (uint64_t)context << 32 | stream;
}

static uint32_t find_group(const walk *w, uint32_t context, uint32_t stream)
{
    const uint64_t *known = tkt_map_get(&w->group_index, key_of(context, stream));
    return known ? (uint32_t)*known - 1 : NONE;
}

static uint32_t add_group(walk *w, const tkt_activity *activity)
{
    uint64_t *known = tkt_map_put(&w->group_index, key_of(activity->context, activity->stream));
    uint32_t device = device_of(w, activity->device);
    group *added = known && device != NONE ? TKT_ARRAY_ADD(&w->groups) : NULL;
    if (!added)
        return NONE;
    *added = (group){.context = activity->context, .stream = activity->stream, .device = device};
    *known = w->groups.count;
    return (uint32_t)w->groups.count - 1;
}

/* The index of the group of the activity's stream, added if it is new; NONE without memory. */
static uint32_t group_of(walk *w, const tkt_activity *activity)
{
    uint32_t *recent = &w->recent[(activity->context ^ activity->stream) % RECENT];
    if (*recent) {
        const group *last = &w->groups.items[*recent - 1];
        if (last->context == activity->context && last->stream == activity->stream)
            return *recent - 1;
    }
    uint32_t found = find_group(w, activity->context, activity->stream);
    found = found == NONE ? add_group(w, activity) : found;
    *recent = found + 1; /* 0 for NONE */
    return found;
}

static bool open_group(walk *w, group *g)
{
    uint32_t number = (uint32_t)(g - w->groups.items) + 1;
    g->is_open = true;
    g->low = INT64_MIN;
    g->end_ns = g->calls_ns = 0;
    if (g->is_listed)
        return true;
    uint64_t *first = tkt_map_put(&w->open, g->context);
    if (!first)
        return false;
    g->next = (uint32_t)*first;
    g->is_listed = true;
    *first = number;
    return true;
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

static void ignore(device_bounds *device, int64_t by)
{
    device->ignored = by > device->ignored ? by : device->ignored;
}

/* Closes a group: a wait for it returned at `end_ns`. */
static void close_group(walk *w, group *g, uint64_t end_ns)
{
    device_bounds *device = &w->devices.items[g->device];
    int64_t high = distance(end_ns, g->end_ns);
    g->is_open = false;
    if (high < -MOST_NS) {
        ignore(device, -high);
        return;
    }
    device->high = high < device->high ? high : device->high;
    if (g->low == INT64_MIN)
        return;
    int64_t width = high > g->low ? high - g->low : 0;
    device->width = width < device->width ? width : device->width;
}

static bool is_covered(const group *g, const known_wait *wait)
{
    return g->is_open && g->calls_ns <= wait->begin_ns;
}

/* Applies a wait for a context: closes its groups and removes closed ones from the list. */
static void close_context(walk *w, const known_wait *wait)
{
    uint64_t *first = tkt_map_get(&w->open, wait->context);
    uint32_t at = first ? (uint32_t)*first : 0;
    uint32_t left = 0;
    while (at) {
        group *g = &w->groups.items[at - 1];
        uint32_t number = at;
        at = g->next;
        if (is_covered(g, wait))
            close_group(w, g, wait->end_ns);
        g->is_listed = g->is_open;
        if (!g->is_open)
            continue;
        g->next = left;
        left = number;
    }
    if (first)
        *first = left;
}

static void apply_wait(walk *w, const known_wait *wait)
{
    if (wait->stream == NONE) {
        close_context(w, wait);
        return;
    }
    uint32_t found = find_group(w, wait->context, wait->stream);
    if (found != NONE && is_covered(&w->groups.items[found], wait))
        close_group(w, &w->groups.items[found], wait->end_ns);
}

static void apply_waits_until(walk *w, uint64_t ns)
{
    while (w->next_wait < w->waits.count && w->waits.items[w->next_wait].begin_ns <= ns)
        apply_wait(w, &w->waits.items[w->next_wait++]);
}

/* ---- Activities ------------------------------------------------------------------------------ */

static bool is_blocking_copy(const takt_trace *trace, const tkt_activity *activity,
                             const tkt_span *call)
{
    if (activity->filter != TAKT_TIMING_MEMCPY || activity->shape == TKT_NO_SHAPE ||
        trace->shapes.items[activity->shape].copy_kind != COPY_TO_HOST)
        return false;
    const char *name = tkt_trace_text(trace, tkt_span_name(trace, call));
    return strstr(name, "Memcpy") && !strstr(name, "Async") && !strstr(name, "Batch");
}

/* A blocking copy is a wait for its stream. */
static void end_copy(walk *w, group *g, const tkt_span *call)
{
    if (g->calls_ns <= call->begin_ns)
        close_group(w, g, call->end_ns);
}

static bool apply_activity(walk *w, const tkt_activity *activity)
{
    if (activity->call == TKT_NO_CALL)
        return true;
    const tkt_span *call = tkt_call_span(w->trace, activity->call);
    if (tkt_span_flags(call) & TAKT_SPAN_BEGUN_BEFORE)
        return true;
    apply_waits_until(w, call->begin_ns);
    uint32_t number = group_of(w, activity);
    if (number == NONE)
        return false;
    group *g = &w->groups.items[number];
    device_bounds *device = &w->devices.items[g->device];
    device->is_active = true;
    if (!g->is_open && !open_group(w, g))
        return false;
    int64_t low = distance(call->begin_ns, activity->begin_ns);
    if (low > MOST_NS)
        ignore(device, low);
    else if (low > g->low)
        g->low = low;
    device->low = g->low > device->low ? g->low : device->low;
    g->end_ns = activity->end_ns > g->end_ns ? activity->end_ns : g->end_ns;
    bool is_returned = !(tkt_span_flags(call) & TAKT_SPAN_UNFINISHED);
    if (is_returned && is_blocking_copy(w->trace, activity, call))
        end_copy(w, g, call);
    uint64_t returned_ns = is_returned ? call->end_ns : UINT64_MAX;
    g->calls_ns = returned_ns > g->calls_ns ? returned_ns : g->calls_ns;
    return true;
}

/* ---- Waits ----------------------------------------------------------------------------------- */

static bool add_wait(walk *w, const tkt_wait *wait, uint64_t begin_ns, uint64_t end_ns)
{
    bool is_context = wait->kind == TAKT_WAIT_CONTEXT;
    if (!is_context && (wait->kind != TAKT_WAIT_STREAM || wait->stream == NONE))
        return true;
    known_wait *added = TKT_ARRAY_ADD(&w->waits);
    if (added)
        *added = (known_wait){begin_ns, end_ns, wait->context, is_context ? NONE : wait->stream};
    return added != NULL;
}

/* Adds a wait with the begin and end of its call. Leaves out failed calls, which may not have
 * waited. */
static bool add_call_wait(walk *w, const tkt_call_index *index, const tkt_wait *wait)
{
    uint32_t number = tkt_call_find(index, wait->correlation);
    if (number == TKT_NO_CALL || w->trace->calls.items[number].result != 0)
        return true;
    const tkt_span *call = tkt_call_span(w->trace, number);
    if (tkt_span_flags(call) & (TAKT_SPAN_BEGUN_BEFORE | TAKT_SPAN_UNFINISHED))
        return true;
    return add_wait(w, wait, call->begin_ns, call->end_ns);
}

static takt_status collect_waits(walk *w, const tkt_call_index *index, const tkt_waits *later,
                                 double host_ns)
{
    uint64_t slack_ns = host_ns < 1e15 ? (uint64_t)(host_ns + 1) : UINT64_C(1000000000000000);
    bool is_good = true;
    for (size_t i = 0; i < w->trace->waits.count && is_good; i++)
        is_good = add_call_wait(w, index, &w->trace->waits.items[i]);
    for (size_t i = 0; i < later->count && is_good; i++) {
        const tkt_wait *wait = &later->items[i];
        if (wait->begin_ns > slack_ns)
            is_good = add_wait(w, wait, wait->begin_ns - slack_ns, wait->end_ns + slack_ns);
    }
    return is_good ? tkt_order_by_time(TKT_ORDER_ITEMS(&w->waits, 0)) : TAKT_NO_MEMORY;
}

/* ---- Results --------------------------------------------------------------------------------- */

/* The shift nearest to 0 within the bounds; their middle if they contradict each other. */
static int64_t shift_of(const device_bounds *device)
{
    if (device->low != INT64_MIN && device->low > device->high)
        return device->high + (device->low - device->high) / 2;
    if (device->low != INT64_MIN && device->low > 0)
        return device->low;
    return device->high < 0 ? device->high : 0;
}

static void widen(double *uncertainty_ns, int64_t by)
{
    if ((double)by > *uncertainty_ns)
        *uncertainty_ns = (double)by;
}

static void conclude(device_bounds *device, tkt_skew *skew)
{
    int64_t low = device->low, high = device->high;
    bool has_low = low != INT64_MIN, has_high = high != INT64_MAX;
    skew->is_least |= device->is_active && !(has_low && has_high);
    device->shift = skew->is_movable ? shift_of(device) : 0;
    if (llabs(device->shift) > llabs(skew->shift_ns))
        skew->shift_ns = device->shift;
    if (device->width != INT64_MAX) {
        int64_t lowest = high - device->width, highest = low + device->width;
        low = lowest < low ? lowest : low;
        high = highest > high ? highest : high;
    }
    if (has_low)
        widen(&skew->uncertainty_ns, llabs(low - device->shift));
    if (has_high)
        widen(&skew->uncertainty_ns, llabs(high - device->shift));
    widen(&skew->uncertainty_ns, device->ignored);
}

static uint64_t moved(uint64_t ns, int64_t by)
{
    return by < 0 && ns < (uint64_t)-by ? 0 : ns + (uint64_t)by;
}

static void move(takt_trace *trace, size_t first, const device_bounds *device)
{
    for (size_t i = first; i < trace->activities.count; i++) {
        tkt_activity *activity = &trace->activities.items[i];
        if (activity->device != device->label)
            continue;
        uint64_t took_ns = activity->end_ns - activity->begin_ns;
        activity->begin_ns = moved(activity->begin_ns, device->shift);
        activity->end_ns = activity->begin_ns + took_ns;
    }
}

static takt_status finish(walk *w, size_t first, tkt_skew *skew)
{
    skew->uncertainty_ns = skew->host_ns;
    skew->is_least = w->devices.count == 0;
    skew->shift_ns = 0;
    for (size_t i = 0; i < w->devices.count; i++) {
        conclude(&w->devices.items[i], skew);
        if (w->devices.items[i].shift != 0)
            move(w->trace, first, &w->devices.items[i]);
    }
    return skew->shift_ns != 0 ? tkt_calls_order(w->trace, first) : TAKT_OK;
}

takt_status tkt_skew_correct(takt_trace *trace, size_t first, const tkt_call_index *index,
                             const tkt_waits *later, tkt_skew *skew)
{
    walk w = {.trace = trace};
    takt_status status = collect_waits(&w, index, later, skew->host_ns);
    for (size_t i = first; i < trace->activities.count && status == TAKT_OK; i++)
        if (!apply_activity(&w, &trace->activities.items[i]))
            status = TAKT_NO_MEMORY;
    if (status == TAKT_OK) {
        apply_waits_until(&w, UINT64_MAX);
        status = finish(&w, first, skew);
    }
    TKT_ARRAY_FREE(&w.devices);
    TKT_ARRAY_FREE(&w.groups);
    TKT_ARRAY_FREE(&w.waits);
    tkt_map_fini(&w.group_index);
    tkt_map_fini(&w.open);
    return status;
}
