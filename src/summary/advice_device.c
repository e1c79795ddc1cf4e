/* Advice about devices: why one is idle, and how its work could be faster. */
#include "summary/advice.h"

#include "base/alloc.h"

#include <string.h>

#define IDLE_SHARE      0.20
#define CAUSE_SHARE     0.10 /* with a known cause */
#define IDLE_IN_SHARE   0.25
#define LEAST_LATE      20
#define SHORT_WAIT_NS   50000 /* a few launches */
#define COPYING_SHARE   0.20
#define OCCUPANCY_LOW   0.25
#define OCCUPANCY_SHARE 0.25
#define PAGEABLE_SHARE  0.05
#define PAGEABLE_BYTES  (1024 * 1024)
#define SPREAD_FACTOR   1.5
#define SPREAD_SHARE    0.10

/* ======== The slow step ======== */

typedef struct slow_step {
    tkt_advising *advising;
    uint64_t *until_ns; /* of each of the uses: the end of its busy time so far */
} slow_step;

static void add_busy(const slow_step *slow, size_t device, uint64_t from, uint64_t to)
{
    tkt_advising *a = slow->advising;
    from = from > a->slow_begin_ns ? from : a->slow_begin_ns;
    to = to < a->slow_end_ns ? to : a->slow_end_ns;
    a->slow_busy_ns[device] += tkt_union_add(&slow->until_ns[device], from, to);
}

static void add_activity(void *user, const tkt_activity *activity)
{
    const slow_step *slow = user;
    const tkt_device_uses *uses = slow->advising->known->uses;
    for (size_t i = 0; i < uses->count; i++)
        if (uses->items[i].device == activity->device)
            add_busy(slow, i, activity->begin_ns, activity->end_ns);
}

static bool find_slow_busy(tkt_advising *a)
{
    size_t count = a->known->uses->count;
    slow_step slow = {a, tkt_alloc_zeroed(count * sizeof *slow.until_ns)};
    a->slow_busy_ns = tkt_alloc_zeroed(count * sizeof *a->slow_busy_ns);
    bool is_found = slow.until_ns && a->slow_busy_ns;
    for (size_t i = 0; is_found && i < count; i++) /* before that it may have been busy */
        add_busy(&slow, i, a->slow_begin_ns, a->known->uses->items[i].first_ns);
    if (is_found && a->slow_end_ns > a->slow_begin_ns)
        is_found = tkt_device_visit(a->trace, add_activity, &slow) == TAKT_OK;
    tkt_free(slow.until_ns);
    return is_found;
}

/* True if there are devices. Finds their busy times in the slow step once. */
static bool has_devices(tkt_advising *a)
{
    if (a->known->uses->count == 0 || !a->trace->facts.has_spans || a->wall_ns <= 0 ||
        tkt_trace_lacks_work(a->trace))
        return false;
    if (!a->slow_busy_ns)
        a->is_short |= !find_slow_busy(a);
    return a->slow_busy_ns != NULL;
}

/* ======== Idle ======== */

static uint64_t idle_ns_of(const tkt_device_use *use)
{
    return use->known_ns - use->busy_ns;
}

/* How long the device was idle for reasons that no earlier advice explains. */
static uint64_t unexplained_ns(const tkt_advising *a, size_t device)
{
    uint64_t idle_ns = idle_ns_of(&a->known->uses->items[device]);
    uint64_t known_ns =
        a->allocating_ns + a->slow_end_ns - a->slow_begin_ns - a->slow_busy_ns[device];
    return idle_ns > known_ns ? idle_ns - known_ns : 0;
}

static const tkt_device_use *idlest_of(const tkt_advising *a, uint64_t *idle_ns)
{
    const tkt_device_uses *uses = a->known->uses;
    const tkt_device_use *idlest = NULL;
    for (size_t i = 0; i < uses->count; i++) {
        uint64_t ns = unexplained_ns(a, i);
        if (uses->items[i].known_ns == 0)
            continue; /* of the others the idle time is known to be at least this */
        if (!idlest || ns > *idle_ns) {
            idlest = &uses->items[i];
            *idle_ns = ns;
        }
    }
    return idlest;
}

static uint64_t count_waits(const tkt_scopes *scopes)
{
    uint64_t waits = 0;
    for (size_t i = 0; i < scopes->count; i++)
        waits += scopes->items[i].waits;
    return waits;
}

/* True if the idle time consists of many short waits for launches; says why there are so many. */
static bool is_late(const tkt_advising *a, const tkt_idle *idle, uint64_t idle_ns, tkt_advice *out)
{
    uint64_t waits = count_waits(a->known->scopes), steps = a->trace->steps.count;
    uint64_t late_ns = idle->cause_ns[TKT_IDLE_HOST];
    late_ns = late_ns < idle_ns ? late_ns : idle_ns;
    if (idle->late < LEAST_LATE || late_ns / idle->late >= SHORT_WAIT_NS ||
        (double)late_ns < CAUSE_SHARE * a->wall_ns || late_ns < idle_ns / 2)
        return false;
    bool is_sync = waits >= idle->late / 2 && waits >= 2 * steps;
    if (!is_sync && idle->late < idle->count / 2)
        return false;
    out->kind = is_sync ? TKT_ADVICE_SYNC : TKT_ADVICE_LAUNCH;
    out->time_ns = out->at_stake_ns = late_ns;
    out->share = (double)late_ns / a->wall_ns;
    out->count = is_sync ? waits : idle->late;
    out->other = idle->count;
    return true;
}

/* Names the scope in which the host spent most of the device's idle time. */
static void name_idle_scope(const tkt_advising *a, uint32_t device, uint64_t idle_ns,
                            tkt_advice *out)
{
    const tkt_idle_scope *longest = NULL;
    for (size_t i = 0; i < a->known->gaps->scopes.count; i++) {
        const tkt_idle_scope *scope = &a->known->gaps->scopes.items[i];
        if (scope->device == device && !scope->is_unknown &&
            (!longest || scope->idle_ns > longest->idle_ns))
            longest = scope;
    }
    if (!longest || (double)longest->idle_ns < IDLE_IN_SHARE * (double)idle_ns)
        return;
    out->name = longest->name ? tkt_trace_text(a->trace, longest->name) : NULL;
    out->other = longest->idle_ns < idle_ns ? longest->idle_ns : idle_ns;
}

/* The place of the longest gap. */
static void place_idle(const tkt_advising *a, uint32_t device, tkt_advice *out)
{
    const tkt_gaps *gaps = a->known->gaps;
    for (size_t i = 0; i < gaps->device_gaps.count; i++) {
        const tkt_gap *gap = &gaps->device_gaps.items[i];
        bool is_told = gap->begin_ns < a->slow_end_ns && gap->end_ns > a->slow_begin_ns;
        if (gaps->idles.items[gap->idle].device != device || is_told)
            continue;
        out->begin_ns = gap->begin_ns;
        out->end_ns = gap->end_ns;
        return;
    }
}

bool tkt_advise_idle(tkt_advising *a, tkt_advice *out)
{
    uint64_t idle_ns = 0;
    const tkt_device_use *idlest = has_devices(a) ? idlest_of(a, &idle_ns) : NULL;
    const tkt_idle *idle = idlest ? tkt_idle_of(a->known->gaps, idlest->device) : NULL;
    if (!idle)
        return false;
    out->device = tkt_trace_text(a->trace, idlest->device);
    out->idle_ns = idle_ns_of(idlest) - idle_ns;
    place_idle(a, idlest->device, out);
    if (is_late(a, idle, idle_ns, out))
        return true;
    out->kind = TKT_ADVICE_IDLE;
    out->time_ns = out->at_stake_ns = idle_ns;
    out->share = (double)idle_ns / a->wall_ns;
    name_idle_scope(a, idlest->device, idle_ns, out);
    return out->share >= IDLE_SHARE;
}

void tkt_advise_idle_step(tkt_advising *a, tkt_advice *advice)
{
    uint64_t time_ns = a->slow_end_ns - a->slow_begin_ns;
    if (!has_devices(a))
        return;
    for (size_t i = 0; i < a->known->uses->count && time_ns > 0; i++) {
        uint64_t idle_ns = time_ns - a->slow_busy_ns[i];
        bool is_known = a->known->uses->items[i].known_ns > 0;
        if (!is_known || idle_ns < time_ns / 2 || idle_ns <= advice->idle_ns)
            continue;
        advice->device = tkt_trace_text(a->trace, a->known->uses->items[i].device);
        advice->idle_ns = idle_ns;
    }
}

/* ======== Copies ======== */

bool tkt_advise_pageable(tkt_advising *a, tkt_advice *out)
{
    const tkt_copying *copying = &a->known->gaps->copying;
    *out = (tkt_advice){.kind = TKT_ADVICE_PAGEABLE,
                        .count = copying->pageable_count,
                        .other = copying->pageable_bytes,
                        .time_ns = copying->pageable_ns};
    if (out->time_ns == 0 || out->other < PAGEABLE_BYTES)
        return false;
    out->share = (double)out->time_ns / (double)a->known->uses->total_ns;
    out->at_stake_ns = out->time_ns;
    return out->share >= PAGEABLE_SHARE;
}

/* Copies that are slow because of pageable memory are told by the rule above. */
bool tkt_advise_copies(tkt_advising *a, tkt_advice *out)
{
    const tkt_copying *copying = &a->known->gaps->copying;
    if (copying->pageable_ns > copying->ns / 2)
        return false;
    for (size_t i = 0; i < a->known->gaps->idles.count; i++) {
        const tkt_idle *row = &a->known->gaps->idles.items[i];
        uint64_t only_copying_ns = row->busy_ns - row->computing_ns;
        if (!row->is_device || row->copies == 0 || row->known_ns == 0 ||
            only_copying_ns <= out->time_ns)
            continue;
        *out = (tkt_advice){.kind = TKT_ADVICE_COPIES,
                            .device = tkt_trace_text(a->trace, row->device),
                            .count = row->copies,
                            .other = row->copied_bytes,
                            .time_ns = only_copying_ns,
                            .share = (double)only_copying_ns / a->wall_ns,
                            .at_stake_ns = only_copying_ns};
    }
    return out->share >= COPYING_SHARE;
}

/* ======== Kernels ======== */

/* At stake is what the kernel might save if twice as many warps made it twice as fast. */
bool tkt_advise_occupancy(tkt_advising *a, tkt_advice *out)
{
    const tkt_named_list *kernels = a->known->kernels;
    const tkt_named *top = NULL;
    for (size_t i = 0; i < kernels->count; i++) {
        if (!top || kernels->items[i].stats.total_ns > top->stats.total_ns)
            top = &kernels->items[i];
    }
    if (!top || top->shape == TKT_NO_SHAPE || kernels->total_ns == 0 ||
        top->varies & TKT_VARIES_OCCUPANCY)
        return false;
    const tkt_shape *shape = &a->trace->shapes.items[top->shape];
    *out = (tkt_advice){.kind = TKT_ADVICE_OCCUPANCY,
                        .name = tkt_trace_text(a->trace, top->name),
                        .time_ns = top->stats.total_ns,
                        .share = (double)top->stats.total_ns / (double)kernels->total_ns,
                        .occupancy = shape->occupancy / 10000.0,
                        .at_stake_ns = top->stats.total_ns / 2};
    return out->share >= OCCUPANCY_SHARE && out->occupancy > 0 && out->occupancy < OCCUPANCY_LOW;
}

/* At stake is how much longer the slowest block of each launch took than the mean one. */
bool tkt_advise_phases(tkt_advising *a, tkt_advice *out)
{
    const tkt_phases *phases = a->known->phases;
    for (size_t i = 0; i < phases->phases.count; i++) {
        const tkt_phase *phase = &phases->phases.items[i];
        const tkt_phase_kernel *kernel = &phases->kernels.items[phase->kernel];
        double share = (double)phase->cycles / (double)kernel->cycles;
        double rate = kernel->ns / (double)kernel->cycles;
        double max_ns = phase->spread.max * rate;
        double mean_ns = phase->spread.mean * rate;
        if (!(share >= SPREAD_SHARE && max_ns >= SPREAD_FACTOR * mean_ns && max_ns < 1e18) ||
            (uint64_t)(max_ns - mean_ns) <= out->at_stake_ns)
            continue;
        *out = (tkt_advice){.kind = TKT_ADVICE_IMBALANCE,
                            .name = tkt_trace_text(a->trace, phase->name),
                            .device = tkt_trace_text(a->trace, kernel->name),
                            .time_ns = (uint64_t)max_ns,
                            .other = (uint64_t)mean_ns,
                            .share = share,
                            .at_stake_ns = (uint64_t)(max_ns - mean_ns)};
    }
    return out->at_stake_ns > 0;
}
