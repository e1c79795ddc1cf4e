/* Advice: small rules, each about one problem. Results are sorted by the time at stake. */
#include "summary/steps.h"
#include "summary/advice.h"

/* ======== The host ======== */

typedef struct advising {
    const takt_trace *trace;
    const tkt_advice_basis *known;
    double wall_ns; /* 0: unknown */
} advising;

typedef bool (*tkt_advice_rule)(const advising *a, tkt_advice *out);

/* Advice about the host. Thresholds are set where a person reading the numbers would act;
 * docs/reports.md lists them. */

#define HOT_SHARE       0.25
#define WAITING_SHARE   0.25
#define UNCOVERED_SHARE 0.20
#define SMALL_NS        500 /* a few times the cost of recording a scope */
#define SMALL_CALLS     10000
#define COST_SHARE      0.05
#define UNEVEN_FACTOR   2
#define UNEVEN_STEPS    20 /* with fewer steps, p99 is simply the slowest one */
#define GROWTH_BYTES    (1024 * 1024)
#define GROWTH_SHARE    0.01

/* The scope's self time without waits for devices, which compute nothing. */
static uint64_t working_ns(const tkt_scope_total *scope)
{
    return scope->self_ns - scope->waiting_ns;
}

static bool hot_scope(const advising *a, tkt_advice *out)
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

static bool waiting(const advising *a, tkt_advice *out)
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

/* The sum of all threads' self times is at least the time covered by any of them. */
static bool uncovered(const advising *a, tkt_advice *out)
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

static bool small_scope(const advising *a, tkt_advice *out)
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

static bool high_cost(const advising *a, tkt_advice *out)
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

/* At stake is the extra time of the slowest 1 % of recorded steps: all rules judge the
 * recording. */
static bool uneven_steps(const advising *a, tkt_advice *out)
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

static bool memory_growth(const advising *a, tkt_advice *out)
{
    const tkt_memory_totals *memory = &a->trace->memory;
    if (memory->is_of_recording ||
        memory->current_bytes < memory->window_begin_bytes + GROWTH_BYTES)
        return false;
    uint64_t growth = memory->current_bytes - memory->window_begin_bytes;
    *out = (tkt_advice){.kind = TKT_ADVICE_GROWTH,
                        .count = growth,
                        .other = memory->window_allocations - memory->window_frees};
    return (double)growth >= GROWTH_SHARE * (double)memory->window_begin_bytes;
}

static const tkt_advice_rule host_rules[] = {hot_scope, waiting,      uncovered,     small_scope,
                                             high_cost, uneven_steps, memory_growth, NULL};

/* ======== Devices ======== */

/* Advice about devices. Thresholds are set as for the host. */

#define IDLE_SHARE      0.20
#define IDLE_IN_SHARE   0.25
#define LATE_SHARE      0.05
#define SHORT_NS        5000 /* roughly the cost of a launch */
#define SHORT_LAUNCHES  1000
#define OCCUPANCY_LOW   0.25
#define OCCUPANCY_SHARE 0.25
#define PAGEABLE_SHARE  0.01
#define PAGEABLE_BYTES  (1024 * 1024)
#define SPREAD_FACTOR   1.5
#define SPREAD_SHARE    0.10

static const tkt_device_use *idlest_of(const advising *a)
{
    const tkt_device_uses *uses = a->known->uses;
    const tkt_device_use *idlest = NULL;
    for (size_t i = 0; a->trace->facts.has_spans && a->wall_ns > 0 && i < uses->count; i++) {
        if (!idlest || uses->items[i].busy_ns < idlest->busy_ns)
            idlest = &uses->items[i];
    }
    return idlest;
}

static bool idle_device(const advising *a, tkt_advice *out)
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

/* Names the scope in which the host spent most of the device's idle time. */
static bool idle_in(const advising *a, tkt_advice *out)
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

static bool late_launches(const advising *a, tkt_advice *out)
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

static bool short_kernels(const advising *a, tkt_advice *out)
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

static bool low_occupancy(const advising *a, tkt_advice *out)
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
                        .at_stake_ns = top->stats.total_ns};
    return out->share >= OCCUPANCY_SHARE && out->occupancy > 0 && out->occupancy < OCCUPANCY_LOW;
}

static bool pageable_copies(const advising *a, tkt_advice *out)
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

/* At stake is how much longer the slowest block of each launch took than the mean one. */
static bool uneven_phase(const advising *a, tkt_advice *out)
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

static const tkt_advice_rule device_rules[] = {idle_device,   idle_in,       late_launches,
                                               short_kernels, low_occupancy, pageable_copies,
                                               uneven_phase,  NULL};

/* ======== All rules ======== */

static size_t add_losses(const takt_trace *trace, tkt_advice *out)
{
    size_t count = 0;
    for (int i = 0; i < TAKT_LOSS_COUNT; i++) {
        uint64_t lost = trace->losses[i];
        if (lost > 0)
            out[count++] =
                (tkt_advice){.kind = TKT_ADVICE_LOST, .loss = (takt_loss)i, .count = lost};
    }
    return count;
}

/* Inserts behind all advice with as much or more at stake. The list is short. */
static void insert(tkt_advice *items, size_t count, const tkt_advice *advice)
{
    size_t place = count;
    for (; place > 0 && items[place - 1].at_stake_ns < advice->at_stake_ns; place--)
        items[place] = items[place - 1];
    items[place] = *advice;
}

static size_t add_advice(const advising *a, const tkt_advice_rule *rules, tkt_advice *out,
                         size_t count)
{
    for (; *rules; rules++) {
        tkt_advice advice = {0};
        if ((*rules)(a, &advice))
            insert(out, count++, &advice);
    }
    return count;
}

/* False for a damaged file whose missing parts would mislead the rules: activities come last in a
 * file, so a truncated one lacks them. */
static bool is_sound(const takt_trace *trace)
{
    bool has_anything = trace->facts.span_count || trace->fold.count > 1;
    return trace->facts.ending == TAKT_ENDING_WHOLE ||
           (trace->facts.ending == TAKT_ENDING_KILLED && has_anything);
}

size_t tkt_advice_of(const takt_trace *trace, const tkt_advice_basis *basis, tkt_advice *out)
{
    advising a = {.trace = trace, .known = basis, .wall_ns = (double)tkt_wall_ns(&trace->facts)};
    size_t count = 0;
    if (is_sound(trace)) {
        count = add_advice(&a, host_rules, out, 0);
        count = add_advice(&a, device_rules, out, count);
    }
    return count + add_losses(trace, &out[count]);
}
