/* Advice: one small rule each. The bounds are where a person who reads the numbers would act. */
#include "summary/advice.h"

#include "summary/steps.h"

#define HOT_SHARE       0.25
#define UNCOVERED_SHARE 0.20
#define SMALL_NS        500 /* a few times what recording a scope costs */
#define SMALL_CALLS     10000
#define COST_SHARE      0.05
#define UNEVEN_FACTOR   2
#define UNEVEN_STEPS    20 /* with fewer, p99 is just the slowest step */
#define GROWTH_BYTES    (1024 * 1024)
#define GROWTH_SHARE    0.01
#define IDLE_SHARE      0.20
#define PAGEABLE_SHARE  0.01
#define PAGEABLE_BYTES  (1024 * 1024)

typedef struct advising {
    const takt_trace *trace;
    const tkt_scopes *scopes;
    const tkt_device_uses *uses;
    const tkt_copies *copies;
    double wall_ns;
} advising;

typedef bool (*rule)(const advising *a, tkt_advice *out);

static bool hot_scope(const advising *a, tkt_advice *out)
{
    const tkt_scope_total *hottest = NULL;
    for (size_t i = 0; i < a->scopes->count; i++) {
        if (!hottest || a->scopes->items[i].self_ns > hottest->self_ns)
            hottest = &a->scopes->items[i];
    }
    if (!hottest || a->scopes->self_ns == 0)
        return false;
    double share = (double)hottest->self_ns / (double)a->scopes->self_ns;
    *out = (tkt_advice){.kind = TKT_ADVICE_HOT,
                        .name = hottest->name,
                        .count = hottest->calls,
                        .time_ns = hottest->self_ns,
                        .share = share};
    return share >= HOT_SHARE;
}

/* The self times of all threads together are at least the time that any of them covers. */
static bool uncovered(const advising *a, tkt_advice *out)
{
    double missing_ns = a->wall_ns - (double)a->scopes->self_ns;
    if (a->scopes->count == 0 || missing_ns < UNCOVERED_SHARE * a->wall_ns || missing_ns <= 0)
        return false;
    *out = (tkt_advice){.kind = TKT_ADVICE_UNCOVERED,
                        .time_ns = (uint64_t)missing_ns,
                        .share = missing_ns / a->wall_ns};
    return true;
}

static bool small_scope(const advising *a, tkt_advice *out)
{
    const tkt_scope_total *found = NULL;
    for (size_t i = 0; i < a->scopes->count; i++) {
        const tkt_scope_total *scope = &a->scopes->items[i];
        if (scope->calls >= SMALL_CALLS && scope->total_ns / scope->calls < SMALL_NS &&
            (!found || scope->calls > found->calls))
            found = scope;
    }
    if (!found)
        return false;
    *out = (tkt_advice){.kind = TKT_ADVICE_SMALL,
                        .name = found->name,
                        .count = found->calls,
                        .time_ns = found->total_ns / found->calls};
    return true;
}

static bool high_cost(const advising *a, tkt_advice *out)
{
    double cost_ns = a->trace->facts.cost_ns;
    if (!(a->wall_ns > 0 && cost_ns > COST_SHARE * a->wall_ns && cost_ns < 1e18))
        return false;
    *out = (tkt_advice){
        .kind = TKT_ADVICE_COST, .time_ns = (uint64_t)cost_ns, .share = cost_ns / a->wall_ns};
    return true;
}

static bool uneven_steps(const advising *a, tkt_advice *out)
{
    tkt_step_figures steps = tkt_steps_all(a->trace);
    if (steps.count < UNEVEN_STEPS || steps.p99_ns < UNEVEN_FACTOR * steps.median_ns)
        return false;
    *out =
        (tkt_advice){.kind = TKT_ADVICE_UNEVEN, .time_ns = steps.p99_ns, .other = steps.median_ns};
    return true;
}

static bool memory_growth(const advising *a, tkt_advice *out)
{
    const tkt_memory_totals *memory = &a->trace->memory;
    if (memory->current_bytes < memory->window_begin_bytes + GROWTH_BYTES)
        return false;
    uint64_t growth = memory->current_bytes - memory->window_begin_bytes;
    *out = (tkt_advice){.kind = TKT_ADVICE_GROWTH,
                        .count = growth,
                        .other = memory->window_allocations - memory->window_frees};
    return (double)growth >= GROWTH_SHARE * (double)memory->window_begin_bytes;
}

static bool idle_device(const advising *a, tkt_advice *out)
{
    const tkt_device_use *idlest = NULL;
    for (size_t i = 0; a->trace->facts.has_spans && i < a->uses->count; i++) {
        if (!idlest || a->uses->items[i].busy_ns < idlest->busy_ns)
            idlest = &a->uses->items[i];
    }
    if (!idlest || a->wall_ns <= 0)
        return false;
    double idle_ns = a->wall_ns - (double)idlest->busy_ns;
    *out = (tkt_advice){.kind = TKT_ADVICE_IDLE,
                        .name = tkt_trace_text(a->trace, idlest->device),
                        .time_ns = (uint64_t)idle_ns,
                        .share = idle_ns / a->wall_ns};
    return out->share >= IDLE_SHARE;
}

static bool pageable_copies(const advising *a, tkt_advice *out)
{
    *out = (tkt_advice){.kind = TKT_ADVICE_PAGEABLE};
    for (size_t i = 0; i < a->copies->count; i++) {
        const tkt_copy_total *copy = &a->copies->items[i];
        if (copy->source != TAKT_MEMORY_PAGEABLE && copy->target != TAKT_MEMORY_PAGEABLE)
            continue;
        out->count += copy->count;
        out->other += copy->bytes;
        out->time_ns += copy->time_ns;
    }
    if (out->time_ns == 0 || out->other < PAGEABLE_BYTES)
        return false;
    out->share = (double)out->time_ns / (double)a->uses->total_ns;
    return out->share >= PAGEABLE_SHARE;
}

static size_t add_losses(const takt_trace *trace, tkt_advice *out)
{
    size_t count = 0;
    for (int i = 0; i < TAKT_LOSS_COUNT; i++) {
        uint64_t lost = trace->facts.losses[i];
        if (lost > 0)
            out[count++] =
                (tkt_advice){.kind = TKT_ADVICE_LOST, .loss = (takt_loss)i, .count = lost};
    }
    return count;
}

size_t tkt_advice_of(const takt_trace *trace, const tkt_advice_basis *basis, tkt_advice *out)
{
    static const rule rules[] = {hot_scope,    uncovered,     small_scope, high_cost,
                                 uneven_steps, memory_growth, idle_device, pageable_copies};
    const takt_facts *facts = &trace->facts;
    advising a = {trace, basis->scopes, basis->uses, basis->copies, 0};
    if (facts->end_ns > facts->begin_ns)
        a.wall_ns = (double)(facts->end_ns - facts->begin_ns);
    size_t count = 0;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        count += rules[i](&a, &out[count]);
    return count + add_losses(trace, &out[count]);
}
