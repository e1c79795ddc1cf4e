/* The steps that both sides of a comparison recorded.
 *
 * Steps are not alike: the first one is cold, and many programs slow down as they go. A program
 * that recorded 20 steps has another mean step than the same program with 40, since its first step
 * weighs more. So the row of steps is made of the steps that all runs recorded, by their numbers.
 * The calls of scopes are not known by step here; if sides recorded other steps, only their typical
 * calls are compared. Durations of steps stay in memory until all runs are read. */
#include "cli/compare.h"
#include "summary/steps.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* ======== Keeping ======== */

static cli_part *part_of(cli_comparison *comparison, int side)
{
    uint32_t row = cli_rows_find(&comparison->rows, CLI_ROW_STEP, CLI_NO_ROW, "step");
    return row == CLI_NO_ROW ? NULL : &comparison->rows.items[row].parts[side];
}

/* Adds the sum of all steps, where a trace lists only some of them. */
static void add_sum(cli_part *part, const tkt_stats *all)
{
    part->calls += all->count;
    part->total_ns += (double)all->total_ns;
    part->self_ns += (double)all->total_ns;
    part->whole_ns += (double)all->total_ns;
    part->whole_calls += all->count;
}

static bool keep(cli_part *part, cli_side *side, const takt_trace *trace)
{
    const takt_facts *facts = takt_trace_facts(trace);
    cli_run_steps *run = trace->steps.count > 0 ? TKT_ARRAY_ADD(&side->steps) : NULL;

    if (!run)
        return trace->steps.count == 0;
    *run = (cli_run_steps){.begin_ns = facts->begin_ns + (uint64_t)facts->realtime_offset_ns,
                           .first = UINT64_MAX};
    for (size_t i = 0; i < trace->steps.count; i++) {
        const tkt_step *step = &trace->steps.items[i];
        cli_step *kept = TKT_ARRAY_ADD(&run->steps);
        if (!kept)
            return false;
        *kept = (cli_step){step->number, tkt_step_ns(step)};
        run->first = step->number < run->first ? step->number : run->first;
        run->last = step->number > run->last ? step->number : run->last;
        part->total_ns += (double)kept->ns;
        part->self_ns += (double)kept->ns;
    }
    part->calls += trace->steps.count;
    return true;
}

takt_status cli_compare_steps(cli_comparison *comparison, int side, const takt_trace *trace)
{
    cli_part *part = part_of(comparison, side);

    if (!part)
        return TAKT_NO_MEMORY;
    if (cli_steps_are_listed(trace) || !cli_steps_are_summed(trace))
        return keep(part, &comparison->sides[side], trace) ? TAKT_OK : TAKT_NO_MEMORY;
    add_sum(part, &trace->all_steps.stats);
    return TAKT_OK;
}

void cli_steps_free(cli_side *side)
{
    for (size_t i = 0; i < side->steps.count; i++)
        TKT_ARRAY_FREE(&side->steps.items[i].steps);
    TKT_ARRAY_FREE(&side->steps);
}

/* ======== Which are compared ======== */

/* The steps of a side's runs, of which each recorded those from `last_first` to `first_last`. */
typedef struct extent {
    uint64_t first, last_first, first_last, last;
    double count; /* per run */
} extent;

static extent extent_of(const cli_side *side)
{
    extent e = {UINT64_MAX, 0, UINT64_MAX, 0, 0};

    for (size_t i = 0; i < side->steps.count; i++) {
        const cli_run_steps *run = &side->steps.items[i];
        e.first = run->first < e.first ? run->first : e.first;
        e.last_first = run->first > e.last_first ? run->first : e.last_first;
        e.first_last = run->last < e.first_last ? run->last : e.first_last;
        e.last = run->last > e.last ? run->last : e.last;
        e.count += (double)run->steps.count / (double)side->steps.count;
    }
    return e;
}

/* A difference of the numbers of steps changes a mean by no more than that, but one recording that
 * begins later than another may lack all that is cold. */
static bool is_unequal(const extent *a, const extent *b, double limit)
{
    return a->last_first < b->first || b->last_first < a->first ||
           fabs(a->count - b->count) > limit * fmax(a->count, b->count);
}

void cli_steps_choose(cli_comparison *c)
{
    extent a = extent_of(&c->sides[CLI_A]), b = extent_of(&c->sides[CLI_B]);
    cli_common_steps *common = &c->steps;
    uint64_t first = a.last_first > b.last_first ? a.last_first : b.last_first;
    uint64_t last = a.first_last < b.first_last ? a.first_last : b.first_last;
    bool is_known = c->sides[CLI_A].steps.count == c->sides[CLI_A].runs &&
                    c->sides[CLI_B].steps.count == c->sides[CLI_B].runs;

    *common = (cli_common_steps){.first = 0, .last = UINT64_MAX};
    if (!is_known)
        return;
    common->are_unequal = is_unequal(&a, &b, c->options.limit);
    bool differ = a.first != b.first || a.last != b.last || a.count != b.count;
    /* A stray run with few steps is no reason to leave out those of all others. */
    common->are_chosen =
        differ && first <= last && 2 * ((double)(last - first) + 1) >= fmin(a.count, b.count);
    if (common->are_chosen) {
        common->first = first;
        common->last = last;
    }
    common->firsts[CLI_A] = a.first;
    common->firsts[CLI_B] = b.first;
    common->lasts[CLI_A] = a.last;
    common->lasts[CLI_B] = b.last;
}

/* ======== Their durations ======== */

static bool add_run(const cli_comparison *c, const cli_run_steps *run, cli_part *part)
{
    for (size_t i = 0; i < run->steps.count; i++) {
        const cli_step *step = &run->steps.items[i];
        if (step->number >= c->steps.first && step->number <= c->steps.last &&
            !cli_samples_add(&part->samples, step->ns))
            return false;
    }
    return !c->is_by_run || cli_part_keep_run(part, run->begin_ns);
}

bool cli_steps_add(cli_comparison *c)
{
    for (int side = CLI_A; side < CLI_BOTH; side++) {
        const cli_side *of = &c->sides[side];
        cli_part *part = of->steps.count > 0 ? part_of(c, side) : NULL;
        for (size_t i = 0; i < of->steps.count; i++)
            if (!part || !add_run(c, &of->steps.items[i], part))
                return false;
    }
    return true;
}

bool cli_steps_spoil_means(const cli_comparison *c, const cli_row *row)
{
    return c->steps.are_unequal && row->kind != CLI_ROW_RUN &&
           (row->kind != CLI_ROW_STEP || !c->steps.are_chosen);
}

/* ======== What is told ======== */

void cli_steps_caution(const cli_comparison *c, cli_obstacles *out)
{
    const cli_common_steps *s = &c->steps;
    char compared[96] = "mean steps and calls cannot be compared, only typical ones";

    if (!s->are_unequal && !s->are_chosen)
        return;
    if (s->are_chosen)
        snprintf(compared, sizeof compared, "compared are steps %" PRIu64 " to %" PRIu64 "%s",
                 s->first, s->last, s->are_unequal ? ", and of scopes the typical calls" : "");
    cli_obstacles_add(
        out, CLI_FACT_STEPS,
        "A recorded steps %" PRIu64 " to %" PRIu64 " and B %" PRIu64 " to %" PRIu64 "; %s",
        s->firsts[CLI_A], s->lasts[CLI_A], s->firsts[CLI_B], s->lasts[CLI_B], compared);
}
