/* torch.profiler's table of transitions, cell by cell. It knows no stopped state before the start,
 * which is the row of NONE here. */
#include "profiler/cycle.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define W TKT_DO_WARN
#define S TKT_DO_SAVE
#define D TKT_DO_DISCARD
#define P TKT_DO_PREPARE
#define R TKT_DO_START

enum {
    STATES = 5
};

static const takt_action states[STATES] = {TAKT_ACTION_NONE, TAKT_ACTION_WARMUP, TAKT_ACTION_RECORD,
                                           TAKT_ACTION_RECORD_AND_SAVE, TKT_STOPPED};
static const char *const names[STATES] = {"none", "warmup", "record", "save", "stopped"};

/* Where torch warns and stops in front of a warm-up, the warm-up begins nevertheless: what follows
 * it could not be recorded otherwise. */
static const uint32_t table[STATES][STATES] = {
    /*            none   warmup     record     save       stopped */
    /* none    */ {0, P, P | R, P | R, 0},
    /* warmup  */ {W | D, 0, R, R, D},
    /* record  */ {W | D, W | D | P, 0, 0, S},
    /* save    */ {S, S | P, S | P | R, S | P | R, S},
    /* stopped */ {0, P, P | R, P | R, 0},
};

static void every_cell_is_as_documented(void **state)
{
    (void)state;
    for (int from = 0; from < STATES; from++)
        for (int to = 0; to < STATES; to++)
            if (tkt_transition(states[from], states[to]) != table[from][to])
                fail_msg("%s to %s: 0x%x, not 0x%x", names[from], names[to],
                         tkt_transition(states[from], states[to]), table[from][to]);
}

/* No schedule leads to a warning, and each leads to as many saves as starts. */
static void schedules_save_all_that_they_start(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3 * 3 * 3 * 3 * 2 * 2; i++) {
        const takt_schedule schedule = {.wait = i % 3,
                                        .warmup = i / 3 % 3,
                                        .active = 1 + i / 9 % 3,
                                        .repeat = 1 + i / 27 % 3,
                                        .skip_first_wait = i / 81 % 2,
                                        .repeat_mode =
                                            i / 162 ? TAKT_REPEAT_ADDITIONAL : TAKT_REPEAT_CYCLES};
        takt_action before = TKT_STOPPED;
        unsigned starts = 0, saves = 0;
        for (uint64_t step = 0; step <= takt_schedule_steps_needed(&schedule); step++) {
            takt_action now = takt_schedule_action(&schedule, step);
            uint32_t what = tkt_transition(before, now);
            assert_false(what & (W | D));
            saves += (what & S) != 0;
            starts += (what & R) != 0;
            before = now;
        }
        unsigned cycles = schedule.repeat + (schedule.repeat_mode == TAKT_REPEAT_ADDITIONAL);
        assert_int_equal(starts, cycles);
        assert_int_equal(saves, cycles);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cell_is_as_documented),
        cmocka_unit_test(schedules_save_all_that_they_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
