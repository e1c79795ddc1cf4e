/* The action of each step, and the work between two steps. */
#include "profiler/cycle.h"

#include <takt/profiler.h>

/* ======== The schedule ======== */

/* The schedule is torch.profiler's: a pure function of the step number. */

static uint64_t cycle_steps(const takt_schedule *schedule)
{
    uint64_t steps = (uint64_t)schedule->warmup + schedule->active;
    return schedule->repeat_mode == TAKT_REPEAT_ADDITIONAL ? steps : steps + schedule->wait;
}

/* Returns the number of cycles; 0: endless. */
static uint64_t cycle_count(const takt_schedule *schedule)
{
    if (schedule->repeat_mode == TAKT_REPEAT_ADDITIONAL)
        return (uint64_t)schedule->repeat + 1;
    return schedule->repeat;
}

/* Returns the action of step `step` of a cycle, whose first `wait` steps are idle. */
static takt_action action_in_cycle(const takt_schedule *schedule, uint64_t step, uint64_t wait)
{
    if (step < wait)
        return TAKT_ACTION_NONE;
    step -= wait;
    if (step < schedule->warmup)
        return TAKT_ACTION_WARMUP;
    step -= schedule->warmup;
    return step + 1 < schedule->active ? TAKT_ACTION_RECORD : TAKT_ACTION_RECORD_AND_SAVE;
}

takt_action takt_schedule_action(const takt_schedule *schedule, uint64_t step)
{
    if (schedule->active == 0)
        return TAKT_ACTION_RECORD;
    if (step < schedule->skip_first)
        return TAKT_ACTION_NONE;
    step -= schedule->skip_first;
    if (schedule->skip_first_wait != 0 && __builtin_add_overflow(step, schedule->wait, &step))
        step = UINT64_MAX;
    uint64_t wait = schedule->wait;
    if (schedule->repeat_mode == TAKT_REPEAT_ADDITIONAL) {
        if (step < wait)
            return TAKT_ACTION_NONE;
        step -= wait;
        wait = 0;
    }
    uint64_t steps = cycle_steps(schedule), cycles = cycle_count(schedule);
    if (cycles != 0 && step / steps >= cycles)
        return TAKT_ACTION_NONE;
    return action_in_cycle(schedule, step % steps, wait);
}

uint64_t takt_schedule_steps_needed(const takt_schedule *schedule)
{
    uint64_t cycles = cycle_count(schedule);
    if (schedule->active == 0 || cycles == 0)
        return 0;
    uint64_t steps, before = schedule->skip_first;
    if (schedule->repeat_mode == TAKT_REPEAT_ADDITIONAL)
        before += schedule->wait;
    if (__builtin_mul_overflow(cycles, cycle_steps(schedule), &steps) ||
        __builtin_add_overflow(steps, before, &steps))
        return UINT64_MAX;
    return schedule->skip_first_wait != 0 ? steps - schedule->wait : steps;
}

/* ======== Transitions ======== */

static bool is_recording(takt_action action)
{
    return action == TAKT_ACTION_RECORD || action == TAKT_ACTION_RECORD_AND_SAVE;
}

/* Returns the work that ends `from` before `to` begins. */
static uint32_t leave(takt_action from, takt_action to)
{
    switch (from) {
    case TAKT_ACTION_WARMUP:
        if (to == TAKT_ACTION_NONE)
            return TKT_DO_WARN | TKT_DO_DISCARD;
        return to == TKT_STOPPED ? TKT_DO_DISCARD : 0;
    case TAKT_ACTION_RECORD:
        if (is_recording(to))
            return 0;
        return to == TKT_STOPPED ? TKT_DO_SAVE : TKT_DO_WARN | TKT_DO_DISCARD;
    case TAKT_ACTION_RECORD_AND_SAVE:
        return TKT_DO_SAVE;
    default:
        return 0;
    }
}

/* Returns the work that begins `to`, if nothing continues from `from`. */
static uint32_t arrive(takt_action from, takt_action to)
{
    if (to == TAKT_ACTION_WARMUP)
        return TKT_DO_PREPARE;
    if (!is_recording(to))
        return 0;
    return from == TAKT_ACTION_WARMUP ? TKT_DO_START : TKT_DO_PREPARE | TKT_DO_START;
}

uint32_t tkt_transition(takt_action from, takt_action to)
{
    uint32_t left = leave(from, to);
    bool goes_on = left == 0 && ((from == TAKT_ACTION_WARMUP && to == TAKT_ACTION_WARMUP) ||
                                 (from == TAKT_ACTION_RECORD && is_recording(to)));
    return goes_on ? 0 : left | arrive(from, to);
}
