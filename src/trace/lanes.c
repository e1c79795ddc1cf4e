/* Timers inside kernels: from the batches that reads brought to the trace.
 *
 * A lane knows the device's global timer at its begin. lane_kernels.c finds the lane's launch, and
 * bounds for the offset from this timer to Takt's timeline. Of the possible offsets the least one
 * places the lanes: the first lane of a launch begins soon after its kernel does. Without recorded
 * kernels only causality tells: a lane begins after its view was made, and before its read was
 * done. Lanes of host code have Takt's time. */
#include "trace/devices.h"
#include "trace/lanes.h"

#include "cuda/timers.h"

#include <stdio.h>
#include <string.h>

#define SHORTEST_RATE_NS 100000 /* between two readings that give the SM clock's rate */
#define OVERCLOCKED      0.8    /* ns of a cycle, over those at the nominal rate, at the least */

typedef struct fill {
    takt_trace *trace;
    const tkt_phase_window *window;
    tkt_lane_search search; /* of the device at hand */
    bool is_short;          /* out of memory */

    /* The batch at hand. */
    const tkt_lane *places; /* of its lanes; NULL on the host */
    uint32_t timers;        /* string, as `device` */
    uint32_t device;
    double ns_per_cycle;
    uint32_t names[TAKT_DEVICE_PHASES]; /* string + 1; 0: not needed yet */
} fill;

static uint32_t text(fill *f, const char *from)
{
    uint32_t string = tkt_trace_string_of(f->trace, from);
    f->is_short |= string == TKT_STRTAB_FULL;
    return string == TKT_STRTAB_FULL ? 0 : string;
}

/* ---- The search's input ---------------------------------------------------------------------- */

static void add_kernels(fill *f, uint32_t device)
{
    for (uint32_t i = 0; i < f->trace->activities.count && !f->is_short; i++) {
        const tkt_activity *activity = &f->trace->activities.items[i];
        if (activity->filter != TAKT_TIMING_KERNEL || activity->shape == TKT_NO_SHAPE ||
            activity->device != device)
            continue;
        tkt_lane_kernel *kernel = TKT_ARRAY_ADD(&f->search.kernels);
        f->is_short |= !kernel;
        if (kernel)
            *kernel = (tkt_lane_kernel){activity->begin_ns, activity->end_ns, activity->name,
                                        activity->correlation};
    }
}

/* Cycles from the lane's begin to its last record. */
static uint64_t extent_of(const tkt_phase_batch *batch, const tkt_phase_lane *lane)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < lane->record_count; i++) {
        const takt_device_record *record = &batch->records.items[lane->first_record + i];
        uint64_t end = tkt_record_start(record, lane->head.clock) + tkt_record_cycles(record);
        last = end > last ? end : last;
    }
    return last;
}

static void add_lanes(fill *f, const tkt_phase_batch *batch)
{
    for (size_t i = 0; i < batch->lanes.count && !f->is_short; i++) {
        const tkt_phase_lane *from = &batch->lanes.items[i];
        double least_ns = (double)extent_of(batch, from) * batch->ns_per_cycle * OVERCLOCKED;
        tkt_lane *lane = TKT_ARRAY_ADD(&f->search.lanes);
        f->is_short |= !lane;
        if (lane)
            *lane = (tkt_lane){.global = from->head.global,
                               .least_ns = least_ns < 1e18 ? (uint64_t)least_ns : 0,
                               .after = from->after,
                               .before = batch->heard,
                               .view = from->head.view,
                               .block = from->head.block,
                               .lane = from->head.lane,
                               .correlation = from->correlation};
    }
}

/* ---- Clocks of a batch ----------------------------------------------------------------------- */

/* The value closest to this one within bounds. Bounds contradict each other where clocks drift: the
 * middle is off the least. */
static int64_t within(tkt_lane_offsets bounds, int64_t wanted)
{
    if (bounds.low > bounds.high)
        return bounds.high + (bounds.low - bounds.high) / 2;
    return wanted < bounds.low ? bounds.low : wanted > bounds.high ? bounds.high : wanted;
}

/* By causality. Within bounds the timer is taken to count Unix time, as the driver sets it. */
static int64_t causal_offset(const fill *f, const tkt_phase_batch *batch)
{
    tkt_lane_offsets bounds = {INT64_MIN, INT64_MAX};
    for (size_t i = 0; i < batch->lanes.count; i++) {
        const tkt_phase_lane *lane = &batch->lanes.items[i];
        int64_t low = (int64_t)(lane->view_ns - lane->head.global);
        int64_t high = (int64_t)(batch->done_ns - lane->head.global);
        bounds.low = low > bounds.low ? low : bounds.low;
        bounds.high = high < bounds.high ? high : bounds.high;
    }
    return within(bounds, -f->trace->facts.realtime_offset_ns);
}

/* When the lane began on Takt's timeline. `causal` is for lanes that no kernel bounds. */
static uint64_t begin_of(const fill *f, const tkt_lane *place, int64_t causal)
{
    const tkt_lane_offsets *bounds = &place->offsets;
    bool is_bounded = bounds->low != INT64_MIN && bounds->high != INT64_MAX;
    if (!is_bounded)
        return place->global + (uint64_t)causal;
    tkt_lane_offsets exact = {bounds->low + TKT_LANE_TOLERANCE_NS,
                              bounds->high - TKT_LANE_TOLERANCE_NS};
    uint64_t begin_ns = place->global + (uint64_t)within(exact, exact.low);
    const tkt_lane_kernel *kernel =
        place->kernel ? &f->search.kernels.items[place->kernel - 1] : NULL;
    if (kernel && begin_ns < kernel->begin_ns)
        return kernel->begin_ns;
    return kernel && begin_ns > kernel->end_ns ? kernel->end_ns : begin_ns;
}

/* The SM clock's rate, from the two lanes of one launch and SM that began farthest apart. Between
 * launches an SM's clock may stand still. Without such lanes the nominal rate is used, also where
 * the result cannot be a clock's. */
static double rate_of(fill *f, const tkt_phase_batch *batch)
{
    tkt_map firsts = {0}; /* kernel << 32 | SM -> index of its first lane + 1 */
    const takt_device_segment *from = NULL, *to = NULL;
    for (size_t i = 0; i < batch->lanes.count; i++) {
        const takt_device_segment *head = &batch->lanes.items[i].head;
        if (!f->places[i].kernel)
            continue;
        uint64_t *at = tkt_map_put(&firsts, (uint64_t)f->places[i].kernel << 32 | head->sm);
        f->is_short |= !at;
        if (at && *at == 0)
            *at = i + 1;
        const takt_device_segment *first = at ? &batch->lanes.items[*at - 1].head : NULL;
        if (first && head->global > first->global &&
            (!to || head->global - first->global > to->global - from->global)) {
            from = first;
            to = head;
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

static uint32_t phase_name(fill *f, const takt_device_timers *timers, uint32_t phase)
{
    if (f->names[phase] == 0)
        f->names[phase] = text(f, timers->phases[phase]) + 1;
    return f->names[phase] - 1;
}

static void add_record(fill *f, const tkt_phase_batch *batch, const tkt_phase_lane *lane,
                       const takt_device_record *record)
{
    uint32_t phase = tkt_record_phase(record, batch->timers->phase_count);
    if (phase == UINT32_MAX) {
        f->trace->losses[TAKT_LOSS_PHASE_NUMBER]++;
        return;
    }
    tkt_phase_record *to = TKT_ARRAY_ADD(&f->trace->phase_records);
    f->is_short |= !to;
    if (to)
        *to = (tkt_phase_record){.start_cycles = tkt_record_start(record, lane->head.clock),
                                 .cycles = tkt_record_cycles(record),
                                 .name = phase_name(f, batch->timers, phase),
                                 .iteration = tkt_record_iteration(record)};
}

/* True if the lane belongs to the window: its kernel does, or all kernels that may be its own, or
 * else its begin. */
static bool is_ours(const fill *f, const tkt_lane *place, uint64_t begin_ns)
{
    return (place && (place->kernel || place->is_complete)) ||
           (begin_ns >= f->window->begin_ns && begin_ns <= f->window->end_ns);
}

static tkt_phase_segment *add_segment(fill *f, const tkt_phase_lane *lane, const tkt_lane *place)
{
    tkt_phase_segment *segment = TKT_ARRAY_ADD(&f->trace->phase_segments);
    f->is_short |= !segment;
    if (!segment)
        return NULL;
    *segment = (tkt_phase_segment){.timers = f->timers,
                                   .activity = TKT_NO_ACTIVITY,
                                   .device = f->device,
                                   .block = lane->head.block,
                                   .lane = lane->head.lane,
                                   .sm = lane->head.sm,
                                   .first_record = (uint32_t)f->trace->phase_records.count,
                                   .ns_per_cycle = f->ns_per_cycle};
    if (place) {
        segment->launch = place->launch;
        segment->kernel_name = place->kernel_name;
        segment->correlation = place->kernel
                                   ? f->search.kernels.items[place->kernel - 1].correlation
                               : place->is_own ? lane->correlation
                                               : 0;
    }
    return segment;
}

static void add_lane(fill *f, const tkt_phase_batch *batch, const tkt_phase_lane *lane,
                     const tkt_lane *place, uint64_t begin_ns)
{
    tkt_phase_segment *segment = is_ours(f, place, begin_ns) ? add_segment(f, lane, place) : NULL;
    if (!segment)
        return;
    segment->begin_ns = begin_ns;
    segment->lost_records = lane->head.count - lane->record_count;
    for (uint32_t i = 0; i < lane->record_count && !f->is_short; i++)
        add_record(f, batch, lane, &batch->records.items[lane->first_record + i]);
    segment->record_count = (uint32_t)(f->trace->phase_records.count - segment->first_record);
    f->trace->losses[TAKT_LOSS_PHASES] += segment->lost_records;
}

/* ---- Batches --------------------------------------------------------------------------------- */

static void add_batch(fill *f, const tkt_phase_batch *batch)
{
    const takt_device_timers *timers = batch->timers;
    int64_t causal = f->places ? causal_offset(f, batch) : 0;
    f->timers = text(f, timers->options.name);
    memset(f->names, 0, timers->phase_count * sizeof *f->names);
    f->ns_per_cycle = f->places ? rate_of(f, batch) : batch->ns_per_cycle;
    for (size_t i = 0; i < batch->lanes.count && !f->is_short; i++) {
        const tkt_phase_lane *lane = &batch->lanes.items[i];
        const tkt_lane *place = f->places ? &f->places[i] : NULL;
        add_lane(f, batch, lane, place, place ? begin_of(f, place, causal) : lane->head.global);
    }
    if (batch->read_ns <= f->window->end_ns)
        f->trace->losses[TAKT_LOSS_PHASE_BLOCKS] += batch->lost_lanes;
}

/* The host counts as the device before the first. */
static uint64_t device_number(const tkt_phase_batch *batch)
{
    return batch->timers->options.on_host ? 0 : (uint64_t)batch->timers->ordinal + 1;
}

static bool is_of_device(const fill *f, const tkt_phase_batch *batch, uint64_t device)
{
    return device_number(batch) == device && batch->done_ns >= f->window->begin_ns &&
           !(f->window->seen && batch->number <= *f->window->seen);
}

static void search_device(fill *f, const tkt_phase_batch *first, uint64_t device)
{
    f->search.kernels.count = f->search.lanes.count = 0;
    add_kernels(f, f->device);
    for (const tkt_phase_batch *b = first; b; b = b->next)
        if (is_of_device(f, b, device))
            add_lanes(f, b);
    if (!f->is_short)
        f->is_short = tkt_lanes_find(&f->search) != TAKT_OK;
}

static void add_device(fill *f, const tkt_phase_batch *first, uint64_t device)
{
    char name[24] = "cpu";
    if (device)
        snprintf(name, sizeof name, "cuda:%u", (unsigned)(device - 1));
    f->device = text(f, name);
    if (device)
        search_device(f, first, device);
    size_t at = 0;
    for (const tkt_phase_batch *b = first; b && !f->is_short; b = b->next) {
        if (!is_of_device(f, b, device))
            continue;
        f->places = device && b->lanes.count ? &f->search.lanes.items[at] : NULL;
        add_batch(f, b);
        at += b->lanes.count;
    }
}

static void add_all(const tkt_phase_batch *first, void *user)
{
    fill *f = user;
    for (uint64_t device = 0, next; first && device != UINT64_MAX && !f->is_short; device = next) {
        add_device(f, first, device);
        next = UINT64_MAX;
        for (const tkt_phase_batch *b = first; b; b = b->next)
            if (device_number(b) > device && device_number(b) < next)
                next = device_number(b);
    }
    for (const tkt_phase_batch *b = first; b && f->window->seen; b = b->next)
        *f->window->seen = b->number;
}

/* True if kernels that ran may be missing from the trace. */
static bool has_lost_kernels(const takt_trace *trace)
{
    return trace->losses[TAKT_LOSS_DEVICE_DROPPED] || trace->losses[TAKT_LOSS_OVERWRITTEN] ||
           trace->losses[TAKT_LOSS_INCOMPLETE] || trace->losses[TAKT_LOSS_NO_ACTIVITY] ||
           trace->losses[TAKT_LOSS_BAD_TIME];
}

takt_status tkt_phases_fill(takt_trace *trace, const tkt_phase_window *window)
{
    fill f = {.trace = trace,
              .window = window,
              .search = {.first_correlation = window->first_correlation,
                         .last_correlation = window->last_correlation,
                         .has_lost = window->seen || has_lost_kernels(trace)}};
    tkt_timers_visit(add_all, &f);
    TKT_ARRAY_FREE(&f.search.kernels);
    TKT_ARRAY_FREE(&f.search.lanes);
    return f.is_short ? TAKT_NO_MEMORY : TAKT_OK;
}
