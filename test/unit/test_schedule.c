/* The schedule against a machine that walks it step by step, over every small schedule there is. */
#include "support/test.h"

#include <takt/profiler.h>

/* ---- The machine: stays in a state for so many steps, then goes to the next one -------------- */

typedef enum phase {
    SKIPPING,
    WAITING,
    WARMING,
    RECORDING,
    OVER
} phase;

typedef struct machine {
    const takt_schedule *schedule;
    phase now;
    uint32_t left;        /* steps in this state */
    uint32_t rounds_left; /* after the one that runs */
    bool is_endless;
} machine;

static void enter(machine *m, phase next)
{
    const takt_schedule *s = m->schedule;
    const uint32_t steps[] = {[SKIPPING] = s->skip_first,
                              [WAITING] = s->wait,
                              [WARMING] = s->warmup,
                              [RECORDING] = s->active,
                              [OVER] = UINT32_MAX};
    m->now = next;
    m->left = steps[next];
}

/* What follows when a state's steps are over. */
static phase following(machine *m)
{
    const takt_schedule *s = m->schedule;
    switch (m->now) {
    case SKIPPING:
        return s->skip_first_wait ? WARMING : WAITING;
    case WAITING:
        return WARMING;
    case WARMING:
        return RECORDING;
    case RECORDING:
        if (!m->is_endless && m->rounds_left-- == 0)
            return OVER;
        return s->repeat_mode == TAKT_REPEAT_ADDITIONAL ? WARMING : WAITING;
    default:
        return OVER;
    }
}

static machine begin_machine(const takt_schedule *schedule)
{
    machine m = {.schedule = schedule};
    if (schedule->repeat_mode == TAKT_REPEAT_ADDITIONAL)
        m.rounds_left = schedule->repeat;
    else if (schedule->repeat == 0)
        m.is_endless = true;
    else
        m.rounds_left = schedule->repeat - 1;
    enter(&m, SKIPPING);
    return m;
}

static takt_action next_action(machine *m)
{
    while (m->left == 0)
        enter(m, following(m));
    m->left--;
    if (m->now == WARMING)
        return TAKT_ACTION_WARMUP;
    if (m->now == RECORDING)
        return m->left == 0 ? TAKT_ACTION_RECORD_AND_SAVE : TAKT_ACTION_RECORD;
    return TAKT_ACTION_NONE;
}

/* ---- Comparing ------------------------------------------------------------------------------- */

enum {
    HORIZON = 160
};

static void check_one(const takt_schedule *s)
{
    machine m = begin_machine(s);
    uint64_t end = 0; /* the first step count after which nothing happens any more */
    for (uint64_t step = 0; step < HORIZON; step++) {
        takt_action expected = next_action(&m);
        if (takt_schedule_action(s, step) != expected)
            fail_msg("skip %u wait %u warmup %u active %u repeat %u first %u mode %d: step %lu is "
                     "%d, not %d",
                     s->skip_first, s->wait, s->warmup, s->active, s->repeat, s->skip_first_wait,
                     (int)s->repeat_mode, (unsigned long)step, (int)takt_schedule_action(s, step),
                     (int)expected);
        if (expected != TAKT_ACTION_NONE)
            end = step + 1;
    }
    bool is_endless = s->repeat_mode == TAKT_REPEAT_CYCLES && s->repeat == 0;
    assert_int_equal(takt_schedule_steps_needed(s), is_endless ? 0 : end);
}

/* The numbers that `count` stands for, one for each schedule. */
static takt_schedule schedule_of(unsigned count)
{
    static const uint32_t skips[] = {0, 1, 2, 7};
    takt_schedule s = {0};
    s.skip_first = skips[count % 4], count /= 4;
    s.wait = count % 5, count /= 5;
    s.warmup = count % 4, count /= 4;
    s.active = 1 + count % 4, count /= 4;
    s.repeat = count % 5, count /= 5;
    s.skip_first_wait = count % 3, count /= 3;
    s.repeat_mode = count % 2 ? TAKT_REPEAT_ADDITIONAL : TAKT_REPEAT_CYCLES;
    return s;
}

TEST(every_small_schedule_is_what_walking_it_gives)
{
    for (unsigned i = 0; i < 4 * 5 * 4 * 4 * 5 * 3 * 2; i++) {
        takt_schedule schedule = schedule_of(i);
        check_one(&schedule);
    }
}

TEST(without_active_steps_everything_is_recorded)
{
    const takt_schedule none = {.wait = 3, .warmup = 2, .repeat = 1, .skip_first = 4};
    for (uint64_t step = 0; step < 20; step++)
        assert_int_equal(takt_schedule_action(&none, step), TAKT_ACTION_RECORD);
    assert_int_equal(takt_schedule_steps_needed(&none), 0);
}

TEST(the_documented_defaults_need_seven_or_eleven_steps)
{
    takt_schedule schedule = {.wait = 3, .warmup = 1, .active = 3, .repeat = 1};
    assert_int_equal(takt_schedule_steps_needed(&schedule), 7);
    schedule.repeat_mode = TAKT_REPEAT_ADDITIONAL;
    assert_int_equal(takt_schedule_steps_needed(&schedule), 11);
    static const takt_action additional[] = {TAKT_ACTION_NONE,
                                             TAKT_ACTION_NONE,
                                             TAKT_ACTION_NONE,
                                             TAKT_ACTION_WARMUP,
                                             TAKT_ACTION_RECORD,
                                             TAKT_ACTION_RECORD,
                                             TAKT_ACTION_RECORD_AND_SAVE,
                                             TAKT_ACTION_WARMUP,
                                             TAKT_ACTION_RECORD,
                                             TAKT_ACTION_RECORD,
                                             TAKT_ACTION_RECORD_AND_SAVE,
                                             TAKT_ACTION_NONE};
    for (uint64_t step = 0; step < sizeof additional / sizeof *additional; step++)
        assert_int_equal(takt_schedule_action(&schedule, step), additional[step]);
}

TEST(large_numbers_do_not_wrap_around)
{
    const uint64_t many = 4000000000u;
    takt_schedule schedule = {
        .wait = many, .warmup = many, .active = many, .repeat = 2, .skip_first = many};
    assert_int_equal(takt_schedule_steps_needed(&schedule), 7 * many);
    assert_int_equal(takt_schedule_action(&schedule, 2 * many - 1), TAKT_ACTION_NONE);
    assert_int_equal(takt_schedule_action(&schedule, 2 * many), TAKT_ACTION_WARMUP);
    assert_int_equal(takt_schedule_action(&schedule, 3 * many), TAKT_ACTION_RECORD);
    assert_int_equal(takt_schedule_action(&schedule, 4 * many - 1), TAKT_ACTION_RECORD_AND_SAVE);
    assert_int_equal(takt_schedule_action(&schedule, 7 * many - 1), TAKT_ACTION_RECORD_AND_SAVE);
    assert_int_equal(takt_schedule_action(&schedule, 7 * many), TAKT_ACTION_NONE);
    assert_int_equal(takt_schedule_action(&schedule, UINT64_MAX), TAKT_ACTION_NONE);
}

TEST(more_steps_than_can_be_counted_stay_the_largest_number)
{
    takt_schedule schedule = {UINT32_MAX, UINT32_MAX, UINT32_MAX,        UINT32_MAX,
                              UINT32_MAX, 0,          TAKT_REPEAT_CYCLES};
    assert_true(takt_schedule_steps_needed(&schedule) == UINT64_MAX);
    schedule.repeat_mode = TAKT_REPEAT_ADDITIONAL;
    schedule.skip_first_wait = 1;
    assert_true(takt_schedule_steps_needed(&schedule) == UINT64_MAX);
}

TEST_MAIN(NULL, NULL)
