/* Timers inside kernels: from the batches that reads brought to the trace.
 *
 * A lane knows the device's global timer at its begin. Where this timer lies on Takt's timeline is
 * found for each batch by causality. A lane begins after its view was made, and before its read was
 * done. The first lane of a launch also begins after its kernel did, and soon after; no lane begins
 * after the kernel's end. Lanes of host code have Takt's time.
 *
 * A view that was captured into a graph, or used for several launches, does not tell the launch.
 * Then the time decides: a lane belongs to the one kernel that ran at its begin. */
#include "trace/devices.h"

#include "cuda/timers.h"

#include <stdio.h>
#include <stdlib.h>

#define MOST_DISTANCE_NS 50000  /* of a lane's begin from its kernel, where only time tells */
#define SHORTEST_RATE_NS 100000 /* between two readings that give the SM clock's rate */
#define MOST_PARALLEL    128    /* kernels that run at once, as far as a search goes back */

/* A device kernel of the trace. */
typedef struct kernel_place {
    uint64_t begin_ns;
    uint32_t activity;
} kernel_place;

typedef struct bounds {
    int64_t low;
    int64_t high;
} bounds;

typedef struct fill {
    takt_trace *trace;
    uint64_t begin_ns; /* of the window */
    uint64_t end_ns;
    tkt_map launches;                   /* correlation -> activity + 1 */
    TKT_ARRAY_OF(kernel_place) kernels; /* by begin */
    bool is_short;                      /* out of memory */

    /* The batch at hand. */
    uint32_t timers; /* string, as `device` */
    uint32_t device;
    int64_t offset_ns; /* from lanes' global times to Takt's */
    double ns_per_cycle;
    uint32_t names[TAKT_DEVICE_PHASES]; /* string + 1; 0: not needed yet */
} fill;

/* ---- The kernels of the trace ---------------------------------------------------------------- */

static int by_begin(const void *a, const void *b)
{
    const kernel_place *x = a, *y = b;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return x->activity < y->activity ? -1 : 1;
}

static takt_status find_kernels(fill *f)
{
    for (uint32_t i = 0; i < f->trace->activities.count; i++) {
        const tkt_activity *activity = &f->trace->activities.items[i];
        if (activity->filter != TAKT_TIMING_KERNEL || activity->shape == TKT_NO_SHAPE)
            continue;
        kernel_place *to = TKT_ARRAY_ADD(&f->kernels);
        uint64_t *launch = tkt_map_put(&f->launches, activity->correlation);
        if (!to || !launch)
            return TAKT_NO_MEMORY;
        *to = (kernel_place){activity->begin_ns, i};
        *launch = *launch ? *launch : i + 1;
    }
    if (f->kernels.count)
        qsort(f->kernels.items, f->kernels.count, sizeof *f->kernels.items, by_begin);
    return TAKT_OK;
}

static const tkt_activity *kernel_of(const fill *f, uint32_t correlation)
{
    const uint64_t *launch = correlation ? tkt_map_get(&f->launches, correlation) : NULL;
    const tkt_activity *found = launch ? &f->trace->activities.items[*launch - 1] : NULL;
    return found && found->device == f->device ? found : NULL;
}

/* How far a time lies outside of an activity. */
static uint64_t distance_ns(const tkt_activity *activity, uint64_t ns)
{
    if (ns < activity->begin_ns)
        return activity->begin_ns - ns;
    return ns > activity->end_ns ? ns - activity->end_ns : 0;
}

/* The number of kernels that begin before this time. */
static size_t begun_before(const fill *f, uint64_t ns)
{
    size_t low = 0, high = f->kernels.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (f->kernels.items[middle].begin_ns <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The kernel that ran at this time or nearly so, of this name unless it is 0. NULL if none did, or
 * several. */
static const tkt_activity *kernel_at(const fill *f, uint64_t ns, uint32_t name)
{
    const tkt_activity *found = NULL;
    uint64_t least_ns = MOST_DISTANCE_NS;
    bool is_alone = true;
    size_t last = begun_before(f, ns + MOST_DISTANCE_NS);
    for (size_t i = last; i-- > 0 && last - i <= MOST_PARALLEL;) {
        const tkt_activity *activity = &f->trace->activities.items[f->kernels.items[i].activity];
        uint64_t far_ns = distance_ns(activity, ns);
        if (activity->device != f->device || (name && activity->name != name) || far_ns > least_ns)
            continue;
        is_alone = far_ns < least_ns || !found;
        least_ns = far_ns;
        found = activity;
    }
    return is_alone ? found : NULL;
}

/* ---- Clocks of a batch ----------------------------------------------------------------------- */

static void narrow(bounds *b, int64_t low, int64_t high)
{
    b->low = low > b->low ? low : b->low;
    b->high = high < b->high ? high : b->high;
}

/* Calls for the first lane of each view, which is that of the view's first launch. */
static void narrow_by_kernels(fill *f, const tkt_phase_batch *batch, bounds *b)
{
    tkt_map first = {0}; /* view -> index of its earliest lane + 1 */
    for (size_t i = 0; i < batch->lanes.count; i++) {
        const tkt_phase_lane *lane = &batch->lanes.items[i];
        uint64_t *at = lane->correlation ? tkt_map_put(&first, lane->head.view) : NULL;
        f->is_short |= lane->correlation && !at;
        if (at && (!*at || lane->head.global < batch->lanes.items[*at - 1].head.global))
            *at = i + 1;
    }
    for (size_t i = 0; i < batch->lanes.count && !f->is_short; i++) {
        const tkt_phase_lane *lane = &batch->lanes.items[i];
        const uint64_t *at = tkt_map_get(&first, lane->head.view);
        const tkt_activity *kernel = at && *at == i + 1 ? kernel_of(f, lane->correlation) : NULL;
        if (kernel)
            narrow(b, (int64_t)(kernel->begin_ns - lane->head.global),
                   (int64_t)(kernel->end_ns - lane->head.global));
    }
    tkt_map_fini(&first);
}

/* Bounds that contradict each other come from clocks that drift: the middle is off the least. */
static int64_t within(const bounds *b, int64_t wanted)
{
    if (b->low > b->high)
        return b->high + (b->low - b->high) / 2;
    return wanted < b->low ? b->low : wanted > b->high ? b->high : wanted;
}

/* Without kernels the timer is taken to count Unix time, as the driver sets it, within bounds. */
static int64_t offset_of(fill *f, const tkt_phase_batch *batch)
{
    bounds all = {INT64_MIN, INT64_MAX}, kernels = {INT64_MIN, INT64_MAX};
    for (size_t i = 0; i < batch->lanes.count; i++) {
        const tkt_phase_lane *lane = &batch->lanes.items[i];
        narrow(&all, (int64_t)(lane->view_ns - lane->head.global),
               (int64_t)(batch->done_ns - lane->head.global));
    }
    narrow_by_kernels(f, batch, &kernels);
    if (kernels.low == INT64_MIN)
        return within(&all, -f->trace->facts.realtime_offset_ns);
    return within(&kernels, kernels.low);
}

/* The SM clock's rate, from the two lanes of one launch and SM that began farthest apart. Between
 * launches an SM's clock may stand still. Without such lanes the nominal rate is used, also where
 * the result cannot be a clock's. */
static double rate_of(fill *f, const tkt_phase_batch *batch)
{
    tkt_map firsts = {0}; /* view << 32 | SM -> index of its first lane + 1 */
    const takt_device_segment *from = NULL, *to = NULL;
    for (size_t i = 0; i < batch->lanes.count; i++) {
        const tkt_phase_lane *lane = &batch->lanes.items[i];
        if (!kernel_of(f, lane->correlation))
            continue;
        uint64_t *at = tkt_map_put(&firsts, (uint64_t)lane->head.view << 32 | lane->head.sm);
        f->is_short |= !at;
        if (at && *at == 0)
            *at = i + 1;
        const takt_device_segment *first = at ? &batch->lanes.items[*at - 1].head : NULL;
        if (first && lane->head.global > first->global &&
            (!to || lane->head.global - first->global > to->global - from->global)) {
            from = first;
            to = &lane->head;
        }
    }
    tkt_map_fini(&firsts);
    double nominal = batch->ns_per_cycle;
    if (!to || to->global - from->global < SHORTEST_RATE_NS || to->clock <= from->clock)
        return nominal;
    double rate = (double)(to->global - from->global) / (double)(to->clock - from->clock);
    return rate > nominal / 2 && rate < nominal * 8 ? rate : nominal;
}

/* ---- Lanes ----------------------------------------------------------------------------------- */

static uint32_t text(fill *f, const char *from)
{
    uint32_t string = tkt_trace_string_of(f->trace, from);
    f->is_short |= string == TKT_STRTAB_FULL;
    return string == TKT_STRTAB_FULL ? 0 : string;
}

static uint32_t phase_name(fill *f, const takt_device_timers *timers, uint32_t phase)
{
    if (f->names[phase] == 0)
        f->names[phase] = text(f, timers->phases[phase]) + 1;
    return f->names[phase] - 1;
}

/* Starts are counted from the lane's begin; one before it is not possible. */
static void add_record(fill *f, const tkt_phase_batch *batch, const tkt_phase_lane *lane,
                       const takt_device_record *record)
{
    uint32_t phase = tkt_record_phase(record, batch->timers->phase_count);
    uint64_t start = record->start - lane->head.clock;
    if (phase == UINT32_MAX) {
        f->trace->losses[TAKT_LOSS_PHASE_NUMBER]++;
        return;
    }
    tkt_phase_record *to = TKT_ARRAY_ADD(&f->trace->phase_records);
    f->is_short |= !to;
    if (to)
        *to = (tkt_phase_record){.start_cycles = start > INT64_MAX ? 0 : start,
                                 .cycles = tkt_record_cycles(record),
                                 .name = phase_name(f, batch->timers, phase),
                                 .iteration = tkt_record_iteration(record)};
}

/* The kernel of the view's launch, or where the lane did not run in it, the one that time tells. */
static const tkt_activity *find_kernel(const fill *f, const tkt_phase_lane *lane, uint64_t begin_ns)
{
    const tkt_activity *kernel = kernel_of(f, lane->correlation);
    if (kernel && distance_ns(kernel, begin_ns) == 0)
        return kernel;
    const tkt_activity *other = kernel_at(f, begin_ns, kernel ? kernel->name : 0);
    return other ? other : kernel;
}

/* Lanes belong to the window with their kernel, which may run after the window's end. Without a
 * kernel their begin decides. */
static bool is_ours(const fill *f, const tkt_activity *kernel, uint64_t begin_ns)
{
    return (begin_ns >= f->begin_ns && begin_ns <= f->end_ns) ||
           (kernel && distance_ns(kernel, begin_ns) <= MOST_DISTANCE_NS);
}

static void add_lane(fill *f, const tkt_phase_batch *batch, const tkt_phase_lane *lane)
{
    uint64_t begin_ns = lane->head.global + (uint64_t)f->offset_ns;
    const tkt_activity *kernel = find_kernel(f, lane, begin_ns);
    if (!is_ours(f, kernel, begin_ns))
        return;
    tkt_phase_segment *segment = TKT_ARRAY_ADD(&f->trace->phase_segments);
    if (!segment) {
        f->is_short = true;
        return;
    }
    size_t first = f->trace->phase_records.count;
    uint32_t lost = lane->head.count - lane->record_count;
    *segment = (tkt_phase_segment){.begin_ns = begin_ns,
                                   .timers = f->timers,
                                   .activity = TKT_NO_ACTIVITY,
                                   .correlation = lane->correlation,
                                   .device = f->device,
                                   .block = lane->head.block,
                                   .lane = lane->head.lane,
                                   .sm = lane->head.sm,
                                   .first_record = (uint32_t)first,
                                   .lost_records = lost,
                                   .ns_per_cycle = f->ns_per_cycle};
    if (kernel) {
        segment->correlation = kernel->correlation;
        segment->kernel_name = kernel->name;
    }
    for (uint32_t i = 0; i < lane->record_count && !f->is_short; i++)
        add_record(f, batch, lane, &batch->records.items[lane->first_record + i]);
    segment->record_count = (uint32_t)(f->trace->phase_records.count - first);
    f->trace->losses[TAKT_LOSS_PHASES] += lost;
}

/* ---- Batches --------------------------------------------------------------------------------- */

static bool add_batch(const tkt_phase_batch *batch, void *user)
{
    fill *f = user;
    const takt_device_timers *timers = batch->timers;
    char device[24] = "cpu";
    if (batch->done_ns < f->begin_ns)
        return true;
    if (!timers->options.on_host)
        snprintf(device, sizeof device, "cuda:%u", timers->ordinal);
    f->timers = text(f, timers->options.name);
    f->device = text(f, device);
    for (uint32_t i = 0; i < timers->phase_count; i++)
        f->names[i] = 0;
    f->offset_ns = timers->options.on_host ? 0 : offset_of(f, batch);
    f->ns_per_cycle = timers->options.on_host ? batch->ns_per_cycle : rate_of(f, batch);
    for (size_t i = 0; i < batch->lanes.count && !f->is_short; i++)
        add_lane(f, batch, &batch->lanes.items[i]);
    if (batch->read_ns <= f->end_ns)
        f->trace->losses[TAKT_LOSS_PHASE_BLOCKS] += batch->lost_lanes;
    return !f->is_short;
}

takt_status tkt_phases_fill(takt_trace *trace, uint64_t begin_ns, uint64_t end_ns)
{
    fill f = {.trace = trace, .begin_ns = begin_ns, .end_ns = end_ns};
    takt_status status = find_kernels(&f);
    if (status == TAKT_OK)
        tkt_timers_visit(add_batch, &f);
    tkt_map_fini(&f.launches);
    TKT_ARRAY_FREE(&f.kernels);
    return f.is_short ? TAKT_NO_MEMORY : status;
}
