/* The step of a device's clock is found in durations, and only where there are enough. */
#include "cuda/resolution.h"
#include "support/test.h"

#include <math.h>

/* Durations of `count` activities by a clock of `step` ns, whose ends are off by `rounding` at most. */
static double step_of(uint32_t count, uint64_t step, int rounding)
{
    tkt_durations durations = {0};
    uint64_t random = 7;
    for (uint32_t i = 0; i < count; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        uint64_t times = 15 + (random >> 33) % 300;
        int64_t off = rounding ? (int64_t)(random >> 40) % (2 * rounding + 1) - rounding : 0;
        tkt_durations_add(&durations, times * step + (uint64_t)off);
    }
    return tkt_durations_step_ns(&durations);
}

TEST(steps_are_found)
{
    static const uint64_t steps[] = {4, 5, 16, 32, 64, 500, 1000, 4096};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        assert_true(step_of(220, steps[i], 0) == (double)steps[i]);
        assert_true(step_of(220, steps[i], 1) == (double)steps[i]);
    }
}

TEST(without_a_step_it_is_a_nanosecond)
{
    assert_true(step_of(600, 1, 0) == 1);
    assert_true(step_of(600, 32, 2) == 1);
}

TEST(too_few_tell_nothing)
{
    tkt_durations durations = {0};
    assert_true(isnan(tkt_durations_step_ns(&durations)));
    assert_true(isnan(step_of(90, 32, 0)));
    for (uint64_t i = 0; i < 10000; i++)
        tkt_durations_add(&durations, i % 2 ? 640 : 1280); /* many, but two */
    assert_int_equal(durations.count, TKT_DURATIONS);
    assert_true(isnan(tkt_durations_step_ns(&durations)));
}

TEST_MAIN(NULL, NULL)
