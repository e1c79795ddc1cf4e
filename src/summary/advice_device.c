/* Advice about devices: one small rule each. The bounds are where a person who reads the numbers
 * would act; docs/reports.md gives them. */
#include "summary/advice_rules.h"

#define IDLE_SHARE      0.20
#define IDLE_IN_SHARE   0.25
#define LATE_SHARE      0.05
#define SHORT_NS        5000 /* about what launching takes */
#define SHORT_LAUNCHES  1000
#define OCCUPANCY_LOW   0.25
#define OCCUPANCY_SHARE 0.25
#define PAGEABLE_SHARE  0.01
#define PAGEABLE_BYTES  (1024 * 1024)

static const tkt_device_use *idlest_of(const tkt_advising *a)
{
    const tkt_device_uses *uses = a->known->uses;
    const tkt_device_use *idlest = NULL;
    for (size_t i = 0; a->trace->facts.has_spans && a->wall_ns > 0 && i < uses->count; i++) {
        if (!idlest || uses->items[i].busy_ns < idlest->busy_ns)
            idlest = &uses->items[i];
    }
    return idlest;
}

static bool idle_device(const tkt_advising *a, tkt_advice *out)
{
    const tkt_device_use *idlest = idlest_of(a);
    if (!idlest)
        return false;
    double idle_ns = a->wall_ns - (double)idlest->busy_ns;
    *out = (tkt_advice){.kind = TKT_ADVICE_IDLE,
                        .name = tkt_trace_text(a->trace, idlest->device),
                        .time_ns = (uint64_t)idle_ns,
                        .share = idle_ns / a->wall_ns,
                        .at_stake_ns = (uint64_t)idle_ns};
    return out->share >= IDLE_SHARE;
}

/* What the host did meanwhile. */
static bool idle_in(const tkt_advising *a, tkt_advice *out)
{
    tkt_advice idle;
    if (!idle_device(a, &idle))
        return false;
    uint32_t device = idlest_of(a)->device;
    const tkt_idle_scope *longest = NULL;
    for (size_t i = 0; i < a->known->gaps->scopes.count; i++) {
        const tkt_idle_scope *scope = &a->known->gaps->scopes.items[i];
        if (scope->device == device && scope->name != 0 &&
            (!longest || scope->idle_ns > longest->idle_ns))
            longest = scope;
    }
    if (!longest)
        return false;
    *out = (tkt_advice){.kind = TKT_ADVICE_IDLE_IN,
                        .name = tkt_trace_text(a->trace, longest->name),
                        .device = idle.name,
                        .time_ns = longest->idle_ns,
                        .share = (double)longest->idle_ns / (double)idle.time_ns,
                        .at_stake_ns = longest->idle_ns};
    return out->share >= IDLE_IN_SHARE;
}

static bool late_launches(const tkt_advising *a, tkt_advice *out)
{
    const tkt_idle *latest = NULL;
    for (size_t i = 0; i < a->known->gaps->idles.count; i++) {
        const tkt_idle *idle = &a->known->gaps->idles.items[i];
        if (idle->is_device &&
            (!latest || idle->cause_ns[TKT_IDLE_HOST] > latest->cause_ns[TKT_IDLE_HOST]))
            latest = idle;
    }
    if (!latest || a->wall_ns <= 0)
        return false;
    uint64_t waited_ns = latest->cause_ns[TKT_IDLE_HOST];
    *out = (tkt_advice){.kind = TKT_ADVICE_LATE,
                        .name = tkt_trace_text(a->trace, latest->device),
                        .count = latest->late,
                        .other = latest->count,
                        .time_ns = waited_ns,
                        .share = (double)waited_ns / a->wall_ns,
                        .at_stake_ns = waited_ns};
    return out->share >= LATE_SHARE;
}

static bool short_kernels(const tkt_advising *a, tkt_advice *out)
{
    const tkt_named *found = NULL;
    for (size_t i = 0; i < a->known->kernels->count; i++) {
        const tkt_named *kernel = &a->known->kernels->items[i];
        if (kernel->stats.count >= SHORT_LAUNCHES &&
            kernel->stats.total_ns / kernel->stats.count < SHORT_NS &&
            (!found || kernel->stats.count > found->stats.count))
            found = kernel;
    }
    if (!found)
        return false;
    *out = (tkt_advice){.kind = TKT_ADVICE_SHORT,
                        .name = tkt_trace_text(a->trace, found->name),
                        .count = found->stats.count,
                        .time_ns = found->stats.total_ns / found->stats.count,
                        .other = found->stats.total_ns,
                        .at_stake_ns = found->stats.total_ns};
    return true;
}

static bool low_occupancy(const tkt_advising *a, tkt_advice *out)
{
    const tkt_nameds *kernels = a->known->kernels;
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
                        .at_stake_ns = top->stats.total_ns};
    return out->share >= OCCUPANCY_SHARE && out->occupancy > 0 && out->occupancy < OCCUPANCY_LOW;
}

static bool pageable_copies(const tkt_advising *a, tkt_advice *out)
{
    *out = (tkt_advice){.kind = TKT_ADVICE_PAGEABLE};
    for (size_t i = 0; i < a->known->copies->count; i++) {
        const tkt_copy_total *copy = &a->known->copies->items[i];
        if (copy->source != TAKT_MEMORY_PAGEABLE && copy->target != TAKT_MEMORY_PAGEABLE)
            continue;
        out->count += copy->count;
        out->other += copy->bytes;
        out->time_ns += copy->time_ns;
    }
    if (out->time_ns == 0 || out->other < PAGEABLE_BYTES)
        return false;
    out->share = (double)out->time_ns / (double)a->known->uses->total_ns;
    out->at_stake_ns = out->time_ns;
    return out->share >= PAGEABLE_SHARE;
}

const tkt_advice_rule tkt_device_rules[] = {
    idle_device, idle_in, late_launches, short_kernels, low_occupancy, pageable_copies, NULL};
