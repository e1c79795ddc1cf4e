/* Sums over activities of devices, and the peak performance of devices. */
#include "summary/device.h"

#include "base/own.h"
#include "summary/gaps.h"
#include "summary/scopes.h"

#include <string.h>

#define KNOWN_SHARE 0.95

/* ======== Devices ======== */

/* Sums count overlapping activities twice. A device's busy time is the length of the union of their
 * intervals, found by one pass over the activities sorted by begin. */

/* ---- By node --------------------------------------------------------------------------------- */

tkt_node_device *tkt_node_device_of(const takt_trace *trace, const tkt_fold *fold)
{
    tkt_node_device *nodes = tkt_alloc_zeroed(fold->count * sizeof *nodes);
    if (!nodes)
        return NULL;
    for (size_t i = 0; i < trace->node_activities.count; i++) {
        const tkt_node_activity *activity = &trace->node_activities.items[i];
        uint32_t node = activity->node < fold->count ? activity->node : 0;
        while (node != 0 && tkt_site_is_call(trace, fold->items[node].site))
            node = fold->items[node].parent;
        nodes[node].self_ns += activity->stats.total_ns;
    }
    for (size_t i = fold->count; i-- > 0;) { /* children have greater numbers than parents */
        nodes[i].total_ns += nodes[i].self_ns;
        if (i > 0)
            nodes[fold->items[i].parent].total_ns += nodes[i].total_ns;
        if (i > 0 && tkt_site_is_call(trace, fold->items[i].site))
            nodes[i].total_ns = 0;
    }
    return nodes;
}

/* ---- By time --------------------------------------------------------------------------------- */

#define AHEAD 16 /* prefetch so far ahead: the processor cannot predict the order by begin */

static void fetch(const tkt_activity *activity)
{
    __builtin_prefetch(activity);
    __builtin_prefetch(&activity->reserved); /* its end, usually in the next cache line */
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

void tkt_device_known(const takt_trace *trace, uint64_t *from_ns, uint64_t *until_ns)
{
    const tkt_activity *items = trace->activities.items;
    size_t count = tkt_device_activity_count(trace);
    uint64_t end_ns = trace->facts.begin_ns + tkt_wall_ns(&trace->facts);
    uint64_t first_ns = UINT64_MAX, last_ns = 0;
    bool is_flight = tkt_trace_is_of_flight(trace);
    bool is_broken_off = tkt_is_broken_off(&trace->facts);
    bool lacks_last = trace->losses[TAKT_LOSS_DEVICE_DROPPED] > 0 ||
                      (is_broken_off && trace->losses[TAKT_LOSS_INCOMPLETE] > 0);
    for (size_t i = 0; (is_flight || lacks_last) && i < count; i++) {
        first_ns = items[i].begin_ns < first_ns ? items[i].begin_ns : first_ns;
        last_ns = items[i].end_ns > last_ns ? items[i].end_ns : last_ns;
    }
    *from_ns = is_flight && count ? first_ns : trace->facts.begin_ns;
    *until_ns = lacks_last && count && last_ns < end_ns ? last_ns : end_ns;
    if (is_broken_off && trace->facts.known_until_ns < *until_ns)
        *until_ns = trace->facts.known_until_ns;
    *until_ns = *until_ns < *from_ns ? *from_ns : *until_ns;
}

/* ---- By device ------------------------------------------------------------------------------- */

static bool use_rows(const takt_trace *trace, const tkt_gaps *gaps, tkt_device_uses *uses)
{
    for (size_t i = 0; i < gaps->idles.count; i++) {
        const tkt_idle *row = &gaps->idles.items[i];
        if (!row->is_device)
            continue;
        tkt_device_use *use = TKT_ARRAY_ADD(uses);
        if (!use)
            return false;
        *use =
            (tkt_device_use){row->device,  row->count,    row->total_ns,     row->known_ns,
                             row->busy_ns, row->first_ns, row->step_busy_ns, row->step_unknown_ns};
        uses->total_ns += row->total_ns;
    }
    uses->step_ns = gaps->step_ns;
    uses->wall_ns = gaps->wall_ns;
    uses->step_count = trace->steps.count;
    return true;
}

/* Returns the entry of a device, created if it is new. NULL without memory. */
static tkt_device_use *find_device(tkt_device_uses *uses, uint32_t device)
{
    for (size_t i = 0; i < uses->count; i++) {
        if (uses->items[i].device == device)
            return &uses->items[i];
    }
    tkt_device_use *use = TKT_ARRAY_ADD(uses);
    if (use)
        *use = (tkt_device_use){.device = device};
    return use;
}

static bool use_nodes(const takt_trace *trace, tkt_device_uses *uses)
{
    for (size_t i = 0; i < trace->node_activities.count; i++) {
        const tkt_node_activity *activity = &trace->node_activities.items[i];
        tkt_device_use *use = find_device(uses, activity->device);
        if (!use)
            return false;
        use->count += activity->stats.count;
        use->total_ns += activity->stats.total_ns;
        uses->total_ns += activity->stats.total_ns;
    }
    uses->step_ns = uses->total_ns;
    uses->step_count = trace->facts.step_count; /* also those beyond TKT_MOST_STEPS */
    return true;
}

bool tkt_device_idle_is_known(const takt_trace *trace)
{
    static const char marked[] = "CUDA events";
    const char *backend = tkt_trace_text(trace, trace->backend);
    const takt_facts *facts = &trace->facts;
    bool has_ends = trace->losses[TAKT_LOSS_INCOMPLETE] <= facts->activity_count / 4;
    bool has_cut = facts->ending == TAKT_ENDING_CUT &&
                   (facts->missing_activities > 0 || facts->known_until_ns == 0);
    return has_ends && !has_cut && strncmp(backend, marked, sizeof marked - 1) != 0 &&
           !strstr(backend, TKT_BACKEND_WITHOUT);
}

bool tkt_device_use_is_known(const takt_trace *trace, const tkt_device_uses *uses,
                             const tkt_device_use *use)
{
    return !tkt_trace_lacks_work(trace) && use->known_ns > 0 &&
           (double)use->known_ns >= KNOWN_SHARE * (double)uses->wall_ns;
}

takt_status tkt_device_uses_of(const takt_trace *trace, tkt_device_uses *out)
{
    const tkt_gaps *gaps = NULL;
    *out = (tkt_device_uses){0};
    takt_status status = trace->facts.has_spans ? tkt_trace_gaps(trace, &gaps) : TAKT_OK;
    if (status != TAKT_OK)
        return status;
    if (gaps ? use_rows(trace, gaps, out) : use_nodes(trace, out))
        return TAKT_OK;
    TKT_ARRAY_FREE(out);
    return TAKT_NO_MEMORY;
}

/* ======== Peak performance ======== */

/* Results of 32-bit floating-point instructions per multiprocessor and clock. 0: unknown. */
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

static takt_peak peak_by_attributes(const tkt_device *device)
{
    double flops_per_clock = 2.0 * device->multiprocessors * lanes_of(device);
    double bytes_per_clock = 2.0 * device->memory_bus_bits / 8;
    return (takt_peak){flops_per_clock * device->clock_khz * 1e3,
                       bytes_per_clock * device->memory_clock_khz * 1e3};
}

takt_peak tkt_peak_of(const takt_trace *trace, uint32_t device)
{
    if (device == 0)
        return trace->host_peak;
    takt_peak peak = {0, 0};
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
    TKT_OWN_WORK;
    uint32_t label = UINT32_MAX; /* no device's label: gives the peak configured for all devices */
    if (strcmp(device, "cpu") == 0)
        label = 0;
    for (size_t i = 0; i < trace->devices.count; i++) {
        if (strcmp(tkt_trace_text(trace, trace->devices.items[i].label), device) == 0)
            label = trace->devices.items[i].label;
    }
    return tkt_peak_of(trace, label);
}
