/* What devices did, added up, and what one could do at most. */
#include "summary/device.h"

#include <string.h>

/* ======== Devices ======== */

/* Activities of devices added up. A sum counts two that overlap twice; the time that a device was
 * busy is the length of the union of their intervals, found by one pass in the order of begins. */

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

#define AHEAD 16 /* activities are fetched: in this order the processor does not foresee them */

static void fetch(const tkt_activity *activity)
{
    __builtin_prefetch(activity);
    __builtin_prefetch(&activity->reserved); /* its end, in the next line as a rule */
}

takt_status tkt_device_visit(const takt_trace *trace,
                             void (*visit)(void *user, const tkt_activity *activity), void *user)
{
    const tkt_activity *items = trace->activities.items;
    size_t count = tkt_device_activity_count(trace);
    const uint32_t *places;
    takt_status status = tkt_trace_begins(trace, &places);
    if (status != TAKT_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        if (places && i + AHEAD < count)
            fetch(&items[places[i + AHEAD]]);
        visit(user, &items[places ? places[i] : i]);
    }
    return TAKT_OK;
}

static size_t find_device(tkt_device_using *u, uint32_t device)
{
    size_t i = 0;
    if (u->status != TAKT_OK) /* the two lists may differ in length */
        return SIZE_MAX;
    while (i < u->uses->count && u->uses->items[i].device != device)
        i++;
    if (i < u->uses->count)
        return i;
    tkt_device_use *use = TKT_ARRAY_ADD(u->uses);
    tkt_use_sweep *new_sweep = TKT_ARRAY_ADD(&u->sweeps);
    if (!use || !new_sweep) {
        u->status = TAKT_NO_MEMORY;
        return SIZE_MAX;
    }
    *use = (tkt_device_use){.device = device};
    *new_sweep = (tkt_use_sweep){0, 0};
    return i;
}

static uint64_t overlap(uint64_t begin, uint64_t end, uint64_t from, uint64_t to)
{
    from = begin > from ? begin : from;
    to = end < to ? end : to;
    return to > from ? to - from : 0;
}

/* How much of [from, to) lies in recorded steps; calls for one device come in order. */
static uint64_t in_steps(const takt_trace *trace, tkt_use_sweep *s, uint64_t from, uint64_t to)
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

void tkt_device_use_add(void *user, const tkt_activity *activity)
{
    tkt_device_using *u = user;
    size_t i = find_device(u, activity->device);
    if (i == SIZE_MAX)
        return;
    const takt_facts *facts = &u->trace->facts;
    tkt_device_use *device = &u->uses->items[i];
    tkt_use_sweep *s = &u->sweeps.items[i];
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

static void use_nodes(tkt_device_using *u)
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

takt_status tkt_device_use_end(tkt_device_using *u, takt_status status)
{
    TKT_ARRAY_FREE(&u->sweeps);
    status = status == TAKT_OK ? u->status : status;
    if (status != TAKT_OK)
        TKT_ARRAY_FREE(u->uses);
    return status;
}

takt_status tkt_device_uses_of(const takt_trace *trace, tkt_device_uses *out)
{
    tkt_device_using u = {.trace = trace, .uses = out};
    takt_status status = TAKT_OK;
    *out = (tkt_device_uses){0};
    if (trace->facts.has_spans)
        status = tkt_device_visit(trace, tkt_device_use_add, &u);
    else
        use_nodes(&u);
    return tkt_device_use_end(&u, status);
}

/* ======== What a device could do at most ======== */

/* Results of 32-bit floating-point instructions that a multiprocessor has in a clock. */
static uint32_t lanes_of(const tkt_device *device)
{
    static const struct {
        uint32_t major, minor, lanes;
    } known[] = {
        {5, 0, 128},  {5, 2, 128},  {5, 3, 128},  {6, 0, 64},   {6, 1, 128},
        {6, 2, 128},  {7, 0, 64},   {7, 2, 64},   {7, 5, 64},   {8, 0, 64},
        {8, 6, 128},  {8, 7, 128},  {8, 9, 128},  {9, 0, 128},  {10, 0, 128},
        {10, 3, 128}, {11, 0, 128}, {12, 0, 128}, {12, 1, 128},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].major == device->major && known[i].minor == device->minor)
            return known[i].lanes;
    }
    return 0;
}

static tkt_peak peak_by_attributes(const tkt_device *device)
{
    double flops_per_clock = 2.0 * device->multiprocessors * lanes_of(device);
    double bytes_per_clock = 2.0 * device->memory_bus_bits / 8;
    return (tkt_peak){flops_per_clock * device->clock_khz * 1e3,
                      bytes_per_clock * device->memory_clock_khz * 1e3};
}

tkt_peak tkt_peak_of(const takt_trace *trace, uint32_t device)
{
    if (device == 0)
        return trace->host_peak;
    tkt_peak peak = {0, 0};
    for (size_t i = 0; i < trace->devices.count; i++) {
        if (trace->devices.items[i].label == device)
            peak = peak_by_attributes(&trace->devices.items[i]);
    }
    if (trace->device_peak.flops > 0)
        peak.flops = trace->device_peak.flops;
    if (trace->device_peak.bandwidth > 0)
        peak.bandwidth = trace->device_peak.bandwidth;
    return peak;
}

takt_peak takt_trace_peak(const takt_trace *trace, const char *device)
{
    uint32_t label = UINT32_MAX; /* of no device: what holds for each */
    if (strcmp(device, "cpu") == 0)
        label = 0;
    for (size_t i = 0; i < trace->devices.count; i++) {
        if (strcmp(tkt_trace_text(trace, trace->devices.items[i].label), device) == 0)
            label = trace->devices.items[i].label;
    }
    tkt_peak peak = tkt_peak_of(trace, label);
    return (takt_peak){peak.flops, peak.bandwidth};
}
