/* Figures of steps, against a sort of the durations. */
#include "test_report_build.h"

#include "summary/steps.h"

#include <math.h>

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* `count` steps whose durations have up to `bits` bits; sorted copies go to `sorted`. */
static takt_trace *build_steps(size_t count, unsigned bits, uint64_t seed, uint64_t *sorted)
{
    takt_trace *trace = build_begin(2000000);
    for (size_t i = 0; i < count; i++) {
        uint64_t high = (uint64_t)build_random(&seed) << 31;
        sorted[i] = (high | build_random(&seed)) & ((UINT64_C(1) << bits) - 1);
        build_step(trace, i, 1000000 + i, 1000000 + i + sorted[i]);
        build_all_step(trace, sorted[i]);
    }
    build_end(trace);
    qsort(sorted, count, sizeof *sorted, ascending);
    return trace;
}

static void recorded_figures_equal_those_of_a_sort(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 2, 3, 10, 99, 100, 101, 1000};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        for (unsigned bits = 1; bits < 50; bits += 7) {
            uint64_t sorted[1000];
            size_t count = counts[c];
            takt_trace *trace = build_steps(count, bits, bits + count, sorted);
            tkt_step_figures figures = tkt_steps_recorded(trace);
            long double sum = 0;
            for (size_t i = 0; i < count; i++)
                sum += (long double)sorted[i];
            uint64_t low = sorted[(count - 1) / 2];
            uint64_t high = sorted[count / 2];
            assert_int_equal(figures.count, count);
            assert_int_equal(figures.median_ns, low + (high - low + 1) / 2);
            assert_int_equal(figures.p99_ns, sorted[(size_t)ceil(0.99 * (double)count) - 1]);
            assert_int_equal(figures.min_ns, sorted[0]);
            assert_int_equal(figures.max_ns, sorted[count - 1]);
            assert_true(fabsl((long double)figures.mean_ns - sum / (long double)count) <= 0.51L);
            takt_trace_release(trace);
        }
    }
}

static void figures_of_all_are_close_to_those_of_a_sort(void **state)
{
    (void)state;
    uint64_t sorted[1000];
    takt_trace *trace = build_steps(1000, 30, 3, sorted);
    tkt_step_figures all = tkt_steps_all(trace);
    assert_int_equal(all.count, 1000);
    assert_int_equal(all.max_ns, sorted[999]);
    assert_int_equal(all.min_ns, sorted[0]);
    assert_near((double)all.median_ns, (double)sorted[499], (double)sorted[499] / 32);
    assert_near((double)all.p99_ns, (double)sorted[989], (double)sorted[989] / 32);
    assert_true(all.p99_ns <= all.max_ns && all.median_ns >= all.min_ns);
    takt_trace_release(trace);
}

/* The middle of their bucket is another number. */
static void equal_steps_have_exact_quantiles(void **state)
{
    (void)state;
    takt_trace *trace = build_begin(2000000);
    for (int i = 0; i < 10; i++)
        build_all_step(trace, 1000003);
    build_end(trace);
    tkt_step_figures all = tkt_steps_all(trace);
    assert_int_equal(all.median_ns, 1000003);
    assert_int_equal(all.p99_ns, 1000003);
    takt_trace_release(trace);

    trace = build_begin(2000000);
    for (int i = 0; i < 10; i++)
        build_all_step(trace, (1 << 20) + 65535);
    build_end(trace);
    all = tkt_steps_all(trace);
    assert_int_equal(all.median_ns, (1 << 20) + 65535);
    takt_trace_release(trace);
}

static void rates_follow_from_the_mean(void **state)
{
    (void)state;
    takt_trace *trace = build_begin(2000000);
    build_step(trace, 0, 1000000, 1000000 + 4000000);
    build_step(trace, 1, 5000000, 5000000 + 6000000);
    trace->all_steps.simulated_seconds = 0.001;
    build_end(trace);
    tkt_step_figures figures = tkt_steps_recorded(trace);
    assert_int_equal(figures.mean_ns, 5000000);
    assert_near(figures.steps_per_second, 200, 1e-9);
    assert_near(figures.realtime_factor, 0.2, 1e-12);
    takt_trace_release(trace);
}

static void without_steps_all_is_zero(void **state)
{
    (void)state;
    takt_trace *trace = build_begin(2000000);
    build_end(trace);
    tkt_step_figures recorded = tkt_steps_recorded(trace);
    tkt_step_figures all = tkt_steps_all(trace);
    assert_int_equal(recorded.count, 0);
    assert_int_equal(recorded.min_ns, 0);
    assert_int_equal(all.count, 0);
    assert_int_equal(all.min_ns, 0);
    assert_true(all.steps_per_second == 0);
    takt_trace_release(trace);
}

static void steps_of_no_duration_have_no_rate(void **state)
{
    (void)state;
    takt_trace *trace = build_begin(2000000);
    build_step(trace, 0, 1000000, 1000000);
    build_end(trace);
    tkt_step_figures figures = tkt_steps_recorded(trace);
    assert_int_equal(figures.count, 1);
    assert_true(figures.steps_per_second == 0 && figures.realtime_factor == 0);
    takt_trace_release(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_figures_equal_those_of_a_sort),
        cmocka_unit_test(figures_of_all_are_close_to_those_of_a_sort),
        cmocka_unit_test(equal_steps_have_exact_quantiles),
        cmocka_unit_test(rates_follow_from_the_mean),
        cmocka_unit_test(without_steps_all_is_zero),
        cmocka_unit_test(steps_of_no_duration_have_no_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
