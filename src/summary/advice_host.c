/* Advice about the host: one small rule each. The bounds are where a person who reads the numbers
 * would act; docs/reports.md gives them. */
#include "summary/advice_rules.h"
#include "summary/steps.h"

#define HOT_SHARE       0.25
#define WAITING_SHARE   0.25
#define UNCOVERED_SHARE 0.20
#define SMALL_NS        500 /* a few times what recording a scope costs */
#define SMALL_CALLS     10000
#define COST_SHARE      0.05
#define UNEVEN_FACTOR   2
#define UNEVEN_STEPS    20 /* with fewer, p99 is just the slowest step */
#define GROWTH_BYTES    (1024 * 1024)
#define GROWTH_SHARE    0.01

/* Who waits for a device computes nothing. */
static uint64_t working_ns(const tkt_scope_total *scope)
{
    return scope->self_ns - scope->waiting_ns;
}

static bool hot_scope(const tkt_advising *a, tkt_advice *out)
{
    const tkt_scopes *scopes = a->known->scopes;
    const tkt_scope_total *hottest = NULL;
    for (size_t i = 0; i < scopes->count; i++) {
        if (!hottest || working_ns(&scopes->items[i]) > working_ns(hottest))
            hottest = &scopes->items[i];
    }
    if (!hottest || scopes->self_ns == 0)
        return false;
    *out = (tkt_advice){.kind = TKT_ADVICE_HOT,
                        .name = hottest->name,
                        .count = hottest->calls,
                        .time_ns = working_ns(hottest),
                        .other = hottest->waiting_ns,
                        .share = (double)working_ns(hottest) / (double)scopes->self_ns,
                        .at_stake_ns = working_ns(hottest)};
    return out->share >= HOT_SHARE;
}

static bool waiting(const tkt_advising *a, tkt_advice *out)
{
    const tkt_scopes *scopes = a->known->scopes;
    const tkt_scope_total *most = NULL;
    *out = (tkt_advice){.kind = TKT_ADVICE_WAITING};
    for (size_t i = 0; i < scopes->count; i++) {
        const tkt_scope_total *scope = &scopes->items[i];
        out->count += scope->waits;
        out->time_ns += scope->waiting_ns;
        if (!most || scope->waiting_ns > most->waiting_ns)
            most = scope;
    }
    if (out->time_ns == 0)
        return false;
    out->name = most->name;
    out->share = (double)out->time_ns / (double)scopes->self_ns;
    out->at_stake_ns = out->time_ns;
    return out->share >= WAITING_SHARE;
}

/* The self times of all threads together are at least the time that any of them covers. */
static bool uncovered(const tkt_advising *a, tkt_advice *out)
{
    double missing_ns = a->wall_ns - (double)a->known->scopes->self_ns;
    if (a->known->scopes->count == 0 || missing_ns < UNCOVERED_SHARE * a->wall_ns ||
        missing_ns <= 0)
        return false;
    *out = (tkt_advice){.kind = TKT_ADVICE_UNCOVERED,
                        .time_ns = (uint64_t)missing_ns,
                        .share = missing_ns / a->wall_ns,
                        .at_stake_ns = (uint64_t)missing_ns};
    return true;
}

static bool small_scope(const tkt_advising *a, tkt_advice *out)
{
    const tkt_scopes *scopes = a->known->scopes;
    const tkt_scope_total *found = NULL;
    for (size_t i = 0; i < scopes->count; i++) {
        const tkt_scope_total *scope = &scopes->items[i];
        if (scope->calls >= SMALL_CALLS && scope->total_ns / scope->calls < SMALL_NS &&
            (!found || scope->calls > found->calls))
            found = scope;
    }
    if (!found)
        return false;
    *out = (tkt_advice){.kind = TKT_ADVICE_SMALL,
                        .name = found->name,
                        .count = found->calls,
                        .time_ns = found->total_ns / found->calls,
                        .at_stake_ns = found->total_ns};
    return true;
}

static bool high_cost(const tkt_advising *a, tkt_advice *out)
{
    double cost_ns = a->trace->facts.cost_ns;
    if (!(a->wall_ns > 0 && cost_ns > COST_SHARE * a->wall_ns && cost_ns < 1e18))
        return false;
    *out = (tkt_advice){.kind = TKT_ADVICE_COST,
                        .time_ns = (uint64_t)cost_ns,
                        .share = cost_ns / a->wall_ns,
                        .at_stake_ns = (uint64_t)cost_ns};
    return true;
}

/* What the slowest hundredth takes longer; of the recorded steps, as all times here are. */
static bool uneven_steps(const tkt_advising *a, tkt_advice *out)
{
    tkt_step_figures steps = tkt_steps_all(a->trace);
    if (steps.count < UNEVEN_STEPS || steps.median_ns == 0 ||
        steps.p99_ns < UNEVEN_FACTOR * steps.median_ns)
        return false;
    *out = (tkt_advice){.kind = TKT_ADVICE_UNEVEN,
                        .time_ns = steps.p99_ns,
                        .other = steps.median_ns,
                        .at_stake_ns =
                            (steps.p99_ns - steps.median_ns) * a->trace->facts.step_count / 100};
    return true;
}

static bool memory_growth(const tkt_advising *a, tkt_advice *out)
{
    const tkt_memory_totals *memory = &a->trace->memory;
    if (memory->is_of_recording || memory->current_bytes < memory->window_begin_bytes + GROWTH_BYTES)
        return false;
    uint64_t growth = memory->current_bytes - memory->window_begin_bytes;
    *out = (tkt_advice){.kind = TKT_ADVICE_GROWTH,
                        .count = growth,
                        .other = memory->window_allocations - memory->window_frees};
    return (double)growth >= GROWTH_SHARE * (double)memory->window_begin_bytes;
}

const tkt_advice_rule tkt_host_rules[] = {hot_scope, waiting,      uncovered,     small_scope,
                                          high_cost, uneven_steps, memory_growth, NULL};
