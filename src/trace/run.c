/* Steps of a run, thinned out by joining neighbours. */
#include "trace/run.h"

#include "base/alloc.h"
#include "trace/model.h"

#include <string.h>

/* ---- Steps ----------------------------------------------------------------------------------- */

void tkt_run_clear(tkt_run_steps *run)
{
    run->step_count = run->shift = run->slowest_count = run->window_count = 0;
}

tkt_run_part tkt_run_part_at(const tkt_run_steps *run, size_t index)
{
    uint64_t first = (uint64_t)index << run->shift;
    uint64_t count = UINT64_C(1) << run->shift;
    uint64_t total_ns = run->total_ns[index];
    if (count > run->step_count - first)
        count = run->step_count - first;
    if (run->shift == 0)
        return (tkt_run_part){first, count, total_ns, total_ns, total_ns};
    return (tkt_run_part){first, count, total_ns, run->min_ns[index], run->max_ns[index]};
}

static void join_pairs(tkt_run_steps *run)
{
    for (size_t i = 0; i < TKT_RUN_PARTS / 2; i++) {
        tkt_run_part a = tkt_run_part_at(run, 2 * i), b = tkt_run_part_at(run, 2 * i + 1);
        run->total_ns[i] = a.total_ns + b.total_ns;
        run->min_ns[i] = a.min_ns < b.min_ns ? a.min_ns : b.min_ns;
        run->max_ns[i] = a.max_ns > b.max_ns ? a.max_ns : b.max_ns;
    }
    run->shift++;
}

static void keep_slow(tkt_run_steps *run, tkt_run_step step)
{
    size_t at = run->slowest_count;
    if (at == TKT_RUN_SLOWEST)
        at--;
    else
        run->slowest_count++;
    for (; at > 0 && run->slowest[at - 1].duration_ns < step.duration_ns; at--)
        run->slowest[at] = run->slowest[at - 1];
    run->slowest[at] = step;
}

void tkt_run_add(tkt_run_steps *run, uint64_t duration_ns)
{
    if (run->step_count >> run->shift == TKT_RUN_PARTS)
        join_pairs(run);
    uint64_t number = run->step_count++;
    size_t part = (size_t)(number >> run->shift);
    if ((uint64_t)part << run->shift == number) {
        run->total_ns[part] = duration_ns;
        if (run->shift > 0)
            run->min_ns[part] = run->max_ns[part] = duration_ns;
    } else {
        run->total_ns[part] += duration_ns;
        if (duration_ns < run->min_ns[part])
            run->min_ns[part] = duration_ns;
        if (duration_ns > run->max_ns[part])
            run->max_ns[part] = duration_ns;
    }
    if (run->slowest_count < TKT_RUN_SLOWEST ||
        duration_ns > run->slowest[TKT_RUN_SLOWEST - 1].duration_ns)
        keep_slow(run, (tkt_run_step){number, duration_ns});
}

/* ---- All steps ------------------------------------------------------------------------------- */

void tkt_all_steps_add(tkt_all_steps *steps, tkt_run_steps *run, uint64_t duration_ns)
{
    tkt_stats_add(&steps->stats, duration_ns);
    tkt_histogram_add(&steps->histogram, steps->stats.count, duration_ns);
    if (run)
        tkt_run_add(run, duration_ns);
}

void tkt_trace_complete_run(takt_trace *trace, bool are_new)
{
    tkt_run_steps *run = trace->run;
    for (size_t i = 0; i < trace->steps.count; i++) {
        const tkt_step *step = &trace->steps.items[i];
        if (step->number != run->step_count)
            continue;
        if (run->step_count < trace->all_steps.stats.count)
            tkt_run_add(run, step->end_ns - step->begin_ns);
        else if (are_new)
            tkt_all_steps_add(&trace->all_steps, run, step->end_ns - step->begin_ns);
    }
}

/* ---- Windows --------------------------------------------------------------------------------- */

/* Returns the number of steps from the first of the window before to the last of this one. */
static uint64_t joined_steps(const tkt_run_steps *run, size_t window)
{
    return run->windows[window].last - run->windows[window - 1].first;
}

/* Joins the two neighbours that make the shortest window, so all parts of a long run stay marked
 * about equally well. */
static void join_windows(tkt_run_steps *run)
{
    tkt_run_window *windows = run->windows;
    size_t best = 1;
    for (size_t i = 2; i < run->window_count; i++)
        if (joined_steps(run, i) < joined_steps(run, best))
            best = i;
    windows[best - 1].last = windows[best].last;
    windows[best - 1].recorded += windows[best].recorded;
    run->window_count--;
    memmove(&windows[best], &windows[best + 1], (run->window_count - best) * sizeof *windows);
}

void tkt_run_add_window(tkt_run_steps *run, uint64_t first, uint64_t count)
{
    if (count == 0)
        return;
    if (run->window_count == TKT_RUN_WINDOWS)
        join_windows(run);
    run->windows[run->window_count++] = (tkt_run_window){first, first + count - 1, count};
}

tkt_run_recorded tkt_run_is_recorded(const tkt_run_steps *run, uint64_t step)
{
    for (size_t i = 0; i < run->window_count; i++) {
        const tkt_run_window *window = &run->windows[i];
        if (step >= window->first && step <= window->last)
            return window->recorded > window->last - window->first ? TKT_RUN_RECORDED
                                                                   : TKT_RUN_PERHAPS_RECORDED;
    }
    return TKT_RUN_NOT_RECORDED;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

tkt_run_steps *tkt_run_copy(const tkt_run_steps *run)
{
    size_t bytes = tkt_run_part_bytes(run);
    tkt_run_steps *copy = tkt_alloc(sizeof *copy);
    if (!copy)
        return NULL;
    memcpy(copy, run, offsetof(tkt_run_steps, total_ns));
    memcpy(copy->total_ns, run->total_ns, bytes);
    if (run->shift > 0) {
        memcpy(copy->min_ns, run->min_ns, bytes);
        memcpy(copy->max_ns, run->max_ns, bytes);
    }
    return copy;
}
