/* Steps of the run, from the thread that steps to the one that seals. The first has the whole run;
 * the second continues its own with the steps since the cycle before, since a copy of all, up to
 * 100 KB, would keep the step waiting. */
#include "profiler/cycle.h"

#include <stddef.h>

#define MOST_NEW 4096u

/* ---- The thread that steps ------------------------------------------------------------------- */

void tkt_new_steps_add(tkt_new_steps *steps, uint64_t duration_ns)
{
    if (steps->lack_some)
        return;
    bool has_room = steps->durations.bytes < MOST_NEW * sizeof duration_ns;
    uint64_t *added = has_room ? tkt_blocks_add(&steps->durations, sizeof *added) : NULL;
    if (added) {
        *added = duration_ns;
        return;
    }
    tkt_blocks_fini(&steps->durations);
    steps->lack_some = true;
}

/* False without memory. */
static bool copy_run(const tkt_run_steps *run, tkt_blocks *out)
{
    size_t bytes = tkt_run_part_bytes(run);
    if (tkt_blocks_copy(out, run, offsetof(tkt_run_steps, total_ns)) &&
        tkt_blocks_copy(out, run->total_ns, bytes) &&
        (run->shift == 0 ||
         (tkt_blocks_copy(out, run->min_ns, bytes) && tkt_blocks_copy(out, run->max_ns, bytes))))
        return true;
    tkt_blocks_fini(out);
    return false;
}

void tkt_cycle_keep_run(tkt_cycle *cycle, tkt_new_steps *steps, const tkt_all_steps *all_steps,
                        const tkt_run_steps *run)
{
    cycle->simulated_seconds = all_steps->simulated_seconds;
    cycle->new_steps = *steps;
    *steps = (tkt_new_steps){0};
    if (!cycle->new_steps.lack_some)
        return;
    cycle->all_steps = *all_steps;
    steps->lack_some = !copy_run(run, &cycle->run);
}

/* ---- The thread that seals ------------------------------------------------------------------- */

static void take_run(tkt_cycle *cycle, tkt_run_so_far *to)
{
    tkt_run_steps *run = &to->run;
    to->is_known = cycle->run.bytes > 0;
    if (!to->is_known)
        return;
    to->all_steps = cycle->all_steps;
    tkt_blocks_take(&cycle->run, run, offsetof(tkt_run_steps, total_ns));
    size_t bytes = tkt_run_part_bytes(run);
    tkt_blocks_take(&cycle->run, run->total_ns, bytes);
    if (run->shift > 0) {
        tkt_blocks_take(&cycle->run, run->min_ns, bytes);
        tkt_blocks_take(&cycle->run, run->max_ns, bytes);
    }
}

static void clear(tkt_run_so_far *to)
{
    to->is_known = true;
    to->all_steps = (tkt_all_steps){0};
    tkt_stats_init(&to->all_steps.stats);
    tkt_run_clear(&to->run);
}

static void add_steps(const tkt_cycle *cycle, tkt_run_so_far *to)
{
    for (const tkt_block *block = cycle->new_steps.durations.first; block; block = block->next) {
        const uint64_t *durations = (const uint64_t *)block->data;
        for (size_t i = 0; i < block->bytes / sizeof *durations; i++)
            tkt_all_steps_add(&to->all_steps, &to->run, durations[i]);
    }
    tkt_run_add_window(&to->run, cycle->first_step, cycle->step_count);
}

void tkt_run_so_far_advance(tkt_run_so_far *to, tkt_cycle *cycle)
{
    if (cycle->new_steps.begin_run)
        clear(to);
    if (cycle->new_steps.lack_some)
        take_run(cycle, to);
    else if (to->is_known)
        add_steps(cycle, to);
    to->all_steps.simulated_seconds = cycle->simulated_seconds;
}
