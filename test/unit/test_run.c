/* The steps of a run, against all their durations. */
#include "trace/run.h"

#include "base/alloc.h"

#include "support/test.h"

#include <stdlib.h>
#include <string.h>

/* ---- Durations that can be computed again ---------------------------------------------------- */

/* About 12 ms, with a rare slow one; equal durations occur. Ten million steps differ. */
static uint64_t duration_of(uint64_t step)
{
    uint64_t x = step + 0x9e3779b97f4a7c15u; /* splitmix64 */
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    uint64_t usual = 12000000 + (x & 0xFFF) * 10;
    return x >> 50 == 0 ? usual * (2 + (x >> 40 & 0xFF)) : usual;
}

static uint64_t clock_ns;

static tkt_run_steps *run_of(uint64_t steps)
{
    tkt_run_steps *run = tkt_alloc_zeroed(sizeof *run);
    tkt_run_clear(run);
    for (uint64_t i = 0; i < steps; i++) {
        uint64_t begin_ns = clock_ns;
        clock_ns += duration_of(i);
        tkt_run_add(run, clock_ns - begin_ns);
    }
    return run;
}

/* The smallest power of two that divides the steps into no more than 4096 parts. */
static uint64_t steps_of_a_part(uint64_t steps)
{
    uint64_t size = 1;
    while ((steps + size - 1) / size > 4096)
        size *= 2;
    return size;
}

static void assert_parts(const tkt_run_steps *run, uint64_t steps)
{
    uint64_t size = steps_of_a_part(steps), all_ns = 0, expected_ns = 0;
    assert_int_equal(run->step_count, steps);
    assert_int_equal(tkt_run_part_count(run), (steps + size - 1) / size);
    for (size_t i = 0; i < tkt_run_part_count(run); i++) {
        uint64_t first = i * size, end = first + size < steps ? first + size : steps;
        uint64_t total_ns = 0, min_ns = UINT64_MAX, max_ns = 0;
        for (uint64_t k = first; k < end; k++) {
            uint64_t ns = duration_of(k);
            total_ns += ns;
            min_ns = ns < min_ns ? ns : min_ns;
            max_ns = ns > max_ns ? ns : max_ns;
        }
        tkt_run_part part = tkt_run_part_at(run, i);
        assert_int_equal(part.first, first);
        assert_int_equal(part.count, end - first);
        assert_int_equal(part.total_ns, total_ns);
        assert_int_equal(part.min_ns, min_ns);
        assert_int_equal(part.max_ns, max_ns);
        all_ns += part.total_ns;
        expected_ns += total_ns;
    }
    assert_int_equal(all_ns, expected_ns);
}

static int slowest_first(const void *a, const void *b)
{
    const tkt_run_step *x = a, *y = b;
    if (x->duration_ns != y->duration_ns)
        return x->duration_ns < y->duration_ns ? 1 : -1;
    return x->number < y->number ? -1 : 1;
}

static void assert_slowest(const tkt_run_steps *run, uint64_t steps)
{
    tkt_run_step *all = tkt_alloc(steps * sizeof *all);
    for (uint64_t i = 0; i < steps; i++)
        all[i] = (tkt_run_step){i, duration_of(i)};
    qsort(all, steps, sizeof *all, slowest_first);
    uint64_t count = steps < TKT_RUN_SLOWEST ? steps : TKT_RUN_SLOWEST;
    assert_int_equal(run->slowest_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(run->slowest[i].number, all[i].number);
        assert_int_equal(run->slowest[i].duration_ns, all[i].duration_ns);
    }
    tkt_free(all);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

TEST(an_empty_run_has_no_parts)
{
    tkt_run_steps *run = run_of(0);
    assert_int_equal(tkt_run_part_count(run), 0);
    assert_int_equal(run->slowest_count, 0);
    tkt_free(run);
}

TEST(parts_and_slowest_steps_equal_those_of_all_durations)
{
    static const uint64_t counts[] = {1,    2,    9,    10,   11,   4095,   4096,
                                      4097, 4098, 8191, 8192, 8193, 100000, 1000000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        tkt_run_steps *run = run_of(counts[i]);
        assert_parts(run, counts[i]);
        assert_slowest(run, counts[i]);
        tkt_free(run);
    }
}

/* Two weeks of steps of 12 ms. */
TEST(a_hundred_million_steps_take_the_memory_of_4096)
{
    const uint64_t steps = 100000000;
    clock_ns = 0;
    tkt_run_steps *run = run_of(steps);
    assert_true(clock_ns / 86400000000000 >= 13);
    assert_int_equal(tkt_run_part_count(run), 3052);
    assert_parts(run, steps);
    uint64_t max_ns = 0, slowest = 0;
    for (uint64_t i = 0; i < steps; i++) {
        if (duration_of(i) > max_ns) {
            max_ns = duration_of(i);
            slowest = i;
        }
    }
    assert_int_equal(run->slowest[0].duration_ns, max_ns);
    assert_int_equal(run->slowest[0].number, slowest);
    tkt_free(run);
}

TEST(equal_steps_keep_the_first_as_slowest)
{
    tkt_run_steps *run = tkt_alloc_zeroed(sizeof *run);
    for (int i = 0; i < 5000; i++)
        tkt_run_add(run, 7);
    for (size_t i = 0; i < TKT_RUN_SLOWEST; i++)
        assert_int_equal(run->slowest[i].number, i);
    tkt_free(run);
}

TEST(a_cleared_run_begins_again)
{
    tkt_run_steps *run = run_of(9000);
    tkt_run_add_window(run, 10, 10);
    tkt_run_clear(run);
    assert_int_equal(tkt_run_part_count(run), 0);
    assert_int_equal(run->window_count, 0);
    for (uint64_t i = 0; i < 5000; i++)
        tkt_run_add(run, duration_of(i));
    assert_parts(run, 5000);
    assert_slowest(run, 5000);
    tkt_free(run);
}

TEST(a_copy_equals_its_original)
{
    static const uint64_t counts[] = {0, 5, 4096, 4097, 20000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        tkt_run_steps *run = run_of(counts[i]);
        tkt_run_add_window(run, 2, 3);
        tkt_run_steps *copy = tkt_run_copy(run);
        tkt_free(run);
        assert_parts(copy, counts[i]);
        assert_slowest(copy, counts[i]);
        assert_int_equal(copy->window_count, 1);
        assert_int_equal(copy->windows[0].last, 4);
        tkt_run_add(copy, duration_of(counts[i])); /* a copy goes on */
        assert_parts(copy, counts[i] + 1);
        tkt_free(copy);
    }
}

/* ---- Windows --------------------------------------------------------------------------------- */

TEST(windows_tell_which_steps_were_recorded)
{
    tkt_run_steps run = {0};
    assert_int_equal(tkt_run_is_recorded(&run, 0), TKT_RUN_NOT_RECORDED);
    tkt_run_add_window(&run, 5, 0);
    assert_int_equal(run.window_count, 0);
    tkt_run_add_window(&run, 5, 10);
    tkt_run_add_window(&run, 20, 1);
    for (uint64_t step = 0; step < 30; step++)
        assert_int_equal(tkt_run_is_recorded(&run, step), (step >= 5 && step <= 14) || step == 20
                                                              ? TKT_RUN_RECORDED
                                                              : TKT_RUN_NOT_RECORDED);
}

/* 3 recorded of each 10 steps, but one pair of windows is nearer. */
TEST(the_shortest_neighbours_are_joined_when_there_are_too_many_windows)
{
    tkt_run_steps *run = tkt_alloc_zeroed(sizeof *run);
    for (uint64_t i = 0; i < TKT_RUN_WINDOWS; i++)
        tkt_run_add_window(run, 10 * i + (i == 40 ? 0 : 2), 3);
    assert_int_equal(run->window_count, TKT_RUN_WINDOWS);
    tkt_run_add_window(run, 5000, 3);
    assert_int_equal(run->window_count, TKT_RUN_WINDOWS);
    assert_int_equal(run->windows[39].first, 392);
    assert_int_equal(run->windows[39].last, 402);
    assert_int_equal(run->windows[39].recorded, 6);
    assert_int_equal(tkt_run_is_recorded(run, 395), TKT_RUN_PERHAPS_RECORDED);
    assert_int_equal(run->windows[40].first, 412);
    assert_int_equal(run->windows[TKT_RUN_WINDOWS - 1].last, 5002);
    tkt_free(run);
}

/* Every second step is recorded, by itself. */
TEST(many_windows_keep_order_and_their_steps)
{
    tkt_run_steps *run = tkt_alloc_zeroed(sizeof *run);
    for (uint64_t i = 0; i < 100000; i++)
        tkt_run_add_window(run, 2 * i, 1);
    uint64_t recorded = 0;
    for (size_t i = 0; i < run->window_count; i++) {
        const tkt_run_window *window = &run->windows[i];
        assert_true(window->first <= window->last);
        assert_true(i == 0 || run->windows[i - 1].last < window->first);
        recorded += window->recorded;
    }
    assert_int_equal(recorded, 100000);
    for (size_t i = 0; i < run->window_count; i++) /* none has more than its share */
        assert_true(run->windows[i].recorded <= 4 * 100000 / TKT_RUN_WINDOWS);
    assert_int_equal(run->windows[0].first, 0);
    assert_int_equal(run->windows[run->window_count - 1].last, 199998);
    tkt_free(run);
}

TEST_MAIN(NULL, NULL)
