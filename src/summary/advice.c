/* Advice: small rules, each about one problem, in files advice_*.c; here are those about what was
 * recorded. Rules run in an order in which the special explanation comes before the general one:
 * an interval is told once. Results are sorted by the time at stake. */
#include "summary/advice.h"

#include "base/alloc.h"
#include "trace/cost.h"

/* Thresholds are set where a person reading the numbers would act; docs/reports.md lists them. */

#define UNCOVERED_SHARE 0.20
#define SMALL_NS        500 /* a few times the cost of recording a scope */
#define SMALL_CALLS     10000
#define COST_SHARE      0.05
#define GROWTH_BYTES    (1024 * 1024)
#define GROWTH_SHARE    0.01

bool tkt_is_of_main(const tkt_scope_total *scope)
{
    return scope->threads == 1 && scope->main_ns > 0;
}

static bool is_hotter(const tkt_scope_total *scope, const tkt_scope_total *than)
{
    return !than || tkt_working_ns(scope) > tkt_working_ns(than);
}

tkt_hottest tkt_hottest_scope(const takt_trace *trace, const tkt_scopes *scopes)
{
    uint64_t wall_ns = tkt_wall_ns(&trace->facts);
    tkt_hottest all = {.of_ns = scopes->self_ns}, of_main = {.of_ns = wall_ns, .is_of_main = true};
    uint64_t working_ns = 0;
    for (size_t i = 0; i < scopes->count; i++) {
        const tkt_scope_total *scope = &scopes->items[i];
        bool waits = scope->is_wait;
        if (!waits && is_hotter(scope, all.scope))
            all.scope = scope;
        if (!tkt_is_of_main(scope))
            continue;
        working_ns += waits ? 0 : tkt_working_ns(scope);
        if (!waits && is_hotter(scope, of_main.scope))
            of_main.scope = scope;
    }
    bool is_of_another = all.scope && all.scope->threads == 1 && all.scope->main_ns == 0;
    bool works = of_main.scope && working_ns >= wall_ns / 2;
    return works && is_of_another ? of_main : all;
}

/* ======== The recording ======== */

/* The sum of all threads' self times is at least the time covered by any of them. */
static bool uncovered(tkt_advising *a, tkt_advice *out)
{
    double missing_ns = a->wall_ns - (double)a->known->scopes->self_ns;
    if (tkt_trace_lacks_time(a->trace) || a->known->scopes->count == 0 ||
        missing_ns < UNCOVERED_SHARE * a->wall_ns || missing_ns <= 0)
        return false;
    *out = (tkt_advice){.kind = TKT_ADVICE_UNCOVERED,
                        .time_ns = (uint64_t)missing_ns,
                        .share = missing_ns / a->wall_ns,
                        .at_stake_ns = (uint64_t)missing_ns};
    return true;
}

/* What recording took; 0 if that is unknown or little. */
static uint64_t costly_ns(const tkt_advising *a)
{
    double cost_ns = tkt_trace_cost(a->trace).estimate_ns;
    return a->wall_ns > 0 && cost_ns > COST_SHARE * a->wall_ns ? (uint64_t)cost_ns : 0;
}

/* Scopes that are too small, or too many of them: the first is the usual reason for the second. */
static bool small_scopes(tkt_advising *a, tkt_advice *out)
{
    const tkt_scopes *scopes = a->known->scopes;
    const tkt_scope_total *found = NULL;
    for (size_t i = 0; i < scopes->count; i++) {
        const tkt_scope_total *scope = &scopes->items[i];
        bool is_small = scope->calls >= SMALL_CALLS && tkt_scope_mean_ns(scope) < SMALL_NS;
        if (is_small && scope->site != TKT_SITE_OTHER && (!found || scope->calls > found->calls))
            found = scope;
    }
    uint64_t cost_ns = costly_ns(a);
    if (found)
        *out = (tkt_advice){.kind = TKT_ADVICE_SMALL,
                            .name = found->name,
                            .count = found->calls,
                            .time_ns = tkt_scope_mean_ns(found),
                            .is_costly = cost_ns > 0,
                            .is_fine = a->trace->sites.items[found->site].level > TAKT_LEVEL_NORMAL,
                            .is_made = a->trace->sites.items[found->site].line == 0,
                            .at_stake_ns = found->total_ns > cost_ns ? found->total_ns : cost_ns};
    else if (cost_ns > 0)
        *out = (tkt_advice){.kind = TKT_ADVICE_COST, .at_stake_ns = cost_ns};
    return found || cost_ns > 0;
}

static bool memory_growth(tkt_advising *a, tkt_advice *out)
{
    const tkt_memory_totals *memory = &a->trace->memory;
    const tkt_scopes *scopes = a->known->scopes;
    if (memory->is_of_recording ||
        memory->current_bytes < memory->window_begin_bytes + GROWTH_BYTES)
        return false;
    *out = (tkt_advice){.kind = TKT_ADVICE_GROWTH,
                        .count = memory->current_bytes - memory->window_begin_bytes};
    for (size_t i = 0; !tkt_trace_lacks_spans(a->trace) && i < scopes->count; i++) {
        if (scopes->items[i].host_self_bytes <= (int64_t)out->other)
            continue;
        out->name = scopes->items[i].name;
        out->other = (uint64_t)scopes->items[i].host_self_bytes;
    }
    return (double)out->count >= GROWTH_SHARE * (double)memory->window_begin_bytes;
}

/* ======== All rules ======== */

static const tkt_advice_rule rules[] = {tkt_advise_slow_steps,
                                        tkt_advise_allocation,
                                        tkt_advise_idle,
                                        tkt_advise_copies,
                                        tkt_advise_pageable,
                                        tkt_advise_serial,
                                        tkt_advise_threads,
                                        uncovered,
                                        small_scopes,
                                        tkt_advise_phases,
                                        tkt_advise_occupancy,
                                        memory_growth,
                                        tkt_advise_few_steps,
                                        tkt_advise_open,
                                        tkt_advise_step_inside,
                                        tkt_advise_numbered,
                                        NULL};

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

/* True if the other advice is about the time outside of all scopes and says so. */
static bool is_about_uncovered(const tkt_advice *advice)
{
    bool is_of_steps = advice->kind == TKT_ADVICE_OUTLIER || advice->kind == TKT_ADVICE_FIRST ||
                       advice->kind == TKT_ADVICE_SLOW_STEPS;
    return (advice->kind == TKT_ADVICE_IDLE && !advice->name && advice->other > 0) ||
           (is_of_steps && !advice->name && advice->grew_ns > 0);
}

/* True if earlier advice explains the same time. */
static bool is_told(const tkt_advice *items, size_t count, const tkt_advice *advice)
{
    bool is_known = false;
    for (size_t i = 0; i < count; i++) {
        bool is_same_scope = items[i].name == advice->name; /* the trace has each text once */
        is_known |= advice->kind == TKT_ADVICE_UNCOVERED && is_about_uncovered(&items[i]);
        is_known |= advice->kind == TKT_ADVICE_THREADS && is_same_scope &&
                    items[i].kind == TKT_ADVICE_ALLOCATION;
    }
    return is_known;
}

/* Inserts behind all advice with as much or more at stake. The list is short. */
static void insert(tkt_advice *items, size_t count, const tkt_advice *advice)
{
    size_t place = count;
    for (; place > 0 && items[place - 1].at_stake_ns < advice->at_stake_ns; place--)
        items[place] = items[place - 1];
    items[place] = *advice;
}

static size_t add_advice(tkt_advising *a, tkt_advice *out)
{
    size_t count = 0;
    for (const tkt_advice_rule *rule = rules; *rule; rule++) {
        tkt_advice advice = {0};
        if (!(*rule)(a, &advice) || is_told(out, count, &advice))
            continue;
        if (*rule == tkt_advise_slow_steps)
            tkt_advise_idle_step(a, &advice);
        insert(out, count++, &advice);
    }
    return count;
}

/* Activities come last in a file, so a truncated one lacks them. */
bool tkt_advice_is_possible(const takt_trace *trace)
{
    bool has_anything = trace->facts.span_count || trace->fold.count > 1;
    return trace->facts.ending == TAKT_ENDING_WHOLE ||
           (tkt_is_broken_off(&trace->facts) && has_anything);
}

/* Scopes that share a name at different places of the source are one to the reader, as in the
 * tables. NULL without memory. */
static uint32_t *name_sites(const takt_trace *trace)
{
    tkt_map firsts = {0};
    uint32_t *named = tkt_alloc(trace->sites.count * sizeof *named);
    for (uint32_t i = 0; named && i < trace->sites.count; i++) {
        uint64_t *first = tkt_map_put(&firsts, tkt_site_name_key(trace, i));
        if (!first) {
            tkt_free(named);
            named = NULL;
            break;
        }
        *first = *first ? *first : i + 1;
        named[i] = (uint32_t)*first - 1;
    }
    tkt_map_fini(&firsts);
    return named;
}

takt_status tkt_advice_of(const takt_trace *trace, const tkt_advice_basis *basis, tkt_advice *out,
                          size_t *count)
{
    tkt_advising a = {
        .trace = trace, .known = basis, .wall_ns = (double)tkt_wall_ns(&trace->facts)};
    *count = 0;
    a.named = name_sites(trace);
    if (!a.named)
        return TAKT_NO_MEMORY;
    if (tkt_advice_is_possible(trace))
        *count = add_advice(&a, out);
    *count += add_losses(trace, &out[*count]);
    tkt_free(a.slow_busy_ns);
    tkt_free(a.named);
    return a.is_short ? TAKT_NO_MEMORY : TAKT_OK;
}
