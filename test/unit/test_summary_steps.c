/* Figures of steps, against a sort of the durations. */
#include "support/test.h"
#include "support/report_traces.h"

#include "report/show.h"
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

TEST(recorded_figures_equal_those_of_a_sort)
{
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

TEST(figures_of_all_are_those_of_the_recorded_ones_if_none_is_missing)
{
    uint64_t sorted[1000];
    takt_trace *trace = build_steps(1000, 30, 3, sorted);
    tkt_step_figures all = tkt_steps_all(trace), recorded = tkt_steps_recorded(trace);
    assert_int_equal(all.median_ns, recorded.median_ns);
    assert_int_equal(all.p99_ns, sorted[989]);
    takt_trace_release(trace);
}

/* Also if some of the steps are not recorded. */
TEST(figures_of_all_are_close_to_those_of_a_sort)
{
    uint64_t sorted[1000];
    takt_trace *trace = build_steps(1000, 30, 3, sorted);
    trace->steps.count = 10;
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
TEST(equal_steps_have_exact_quantiles)
{
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

TEST(rates_follow_from_the_mean)
{
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

TEST(without_steps_all_is_zero)
{
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

TEST(steps_of_no_duration_have_no_rate)
{
    takt_trace *trace = build_begin(2000000);
    build_step(trace, 0, 1000000, 1000000);
    build_end(trace);
    tkt_step_figures figures = tkt_steps_recorded(trace);
    assert_int_equal(figures.count, 1);
    assert_true(figures.steps_per_second == 0 && figures.realtime_factor == 0);
    takt_trace_release(trace);
}

/* What of a device is told, and whether there are notes, depends on what is known. */
TEST(rows_say_what_is_known)
{
    takt_trace *trace = build_begin(9000000);
    build_step(trace, 0, 1000000, 5000000);
    build_end(trace);
    json_t *json = report_json(trace, "steps", NULL);
    assert_int_equal(row_count(json), 1);
    assert_text(row_at(json, 0), "steps", "recorded");
    assert_value(row_at(json, 0), "median_ns", 4000000);
    assert_value(row_at(json, 0), "steps_per_second", 250);
    assert_null(json_object_get(row_at(json, 0), "cuda_time_ns"));
    assert_null(json_object_get(row_at(json, 0), "cuda_busy_percent"));
    assert_null(json_object_get(row_at(json, 0), "realtime_factor"));
    assert_int_equal(json_array_size(json_object_get(json, "notes")), 0);
    json_decref(json);
    takt_trace_release(trace);

    trace = build_begin(9000000);
    build_track(trace, "main");
    build_step(trace, 0, 1000000, 5000000);
    build_all_step(trace, 4000000);
    trace->all_steps.simulated_seconds = 0.002;
    uint32_t span = build_span(trace, 0, build_site(trace, "step"), TKT_NO_SPAN, 1000000, 5000000);
    build_activity(trace, "cuda:0", "kernel a", TAKT_TIMING_KERNEL, 2000000, 3000000, 0, span);
    build_end(trace);
    json = report_json(trace, "steps", NULL);
    assert_int_equal(row_count(json), 2);
    const json_t *row = row_of(json, "steps", "recorded");
    assert_value(row, "cuda_time_ns", 1000000);
    assert_value(row, "cuda_busy_percent", 25);
    assert_value(row, "realtime_factor", 0.5);
    row = row_of(json, "steps", "all");
    assert_value(row, "cuda_time_ns", NAN);
    assert_value(row, "cuda_busy_percent", NAN);
    assert_true(json_array_size(json_object_get(json, "notes")) > 0);
    assert_value(json_object_get(json, "facts"), "simulated_seconds_per_step", 0.002);
    json_decref(json);
    takt_trace_release(trace);
}

/* One that was too long ago to be recorded. */
TEST(the_summary_has_steps_that_were_not_recorded)
{
    takt_trace *trace = build_begin(9000000);
    build_track(trace, "main");
    build_span(trace, 0, build_site(trace, "step"), TKT_NO_SPAN, 1000000, 5000000);
    build_all_step(trace, 4000000);
    build_end(trace);
    json_t *json = report_json(trace, "summary", NULL);
    assert_text(row_at(table_of(json, "steps"), 0), "steps", "all");
    assert_value(json_object_get(json, "facts"), "step_median_ns", 4000000);
    assert_value(json_object_get(json, "facts"), "steps_per_second", 250);
    json_decref(json);
    takt_trace_release(trace);
}

/* ---- The line on the run, and its slowest steps ---------------------------------------------- */

/* `count` steps of 1 ms except number 3, of 9 ms. */
static takt_trace *build_run(size_t count)
{
    takt_trace *trace = build_begin(9000000);
    for (size_t i = 0; i < count; i++)
        build_all_step(trace, i == 3 ? 9000000 : 1000000);
    return trace;
}

static void assert_line(takt_trace *trace, const char *expected)
{
    char line[TKT_RUN_LINE];
    assert_string_equal(tkt_run_line(line, trace), expected);
    takt_trace_release(trace);
}

TEST(the_run_is_one_line)
{
    assert_line(build_run(0), "");
    assert_line(build_run(1), "1 step, 1.000ms");
    takt_trace *trace = build_run(1000);
    assert_line(trace, "1000 steps, 1.008s, median 1.000ms, slowest 3 (9.000ms, not recorded)");
}

TEST(the_line_says_whether_the_slowest_step_was_recorded)
{
    takt_trace *trace = build_run(5);
    tkt_run_add_window(trace->run, 3, 1);
    assert_line(trace, "5 steps, 13.000ms, median 1.000ms, slowest 3 (9.000ms)");
}

/* As in files of earlier versions. */
TEST(without_the_run_the_slowest_step_has_no_number)
{
    takt_trace *trace = build_run(5);
    tkt_free(trace->run);
    trace->run = NULL;
    build_end(trace);
    json_t *json = report_json(trace, "steps", NULL);
    assert_text(json, "headline", "5 steps, 13.000ms, median 1.000ms, slowest 9.000ms");
    assert_value(json_object_get(json, "facts"), "run_steps", 5);
    assert_null(json_object_get(json_object_get(json, "facts"), "slowest_step"));
    assert_null(json_object_get(json_object_get(json, "tables"), "slowest"));
    json_decref(json);
    takt_trace_release(trace);
}

TEST(the_slowest_steps_are_listed_when_they_are_not_all)
{
    takt_trace *trace = build_run(10);
    build_end(trace);
    json_t *json = report_json(trace, "steps", NULL);
    assert_null(json_object_get(json, "tables"));
    json_decref(json);
    takt_trace_release(trace);

    trace = build_run(11);
    tkt_run_add_window(trace->run, 0, 2);
    trace->run->windows[trace->run->window_count++] = (tkt_run_window){5, 8, 2}; /* joined */
    build_end(trace);
    json = report_json(trace, "steps", NULL);
    const json_t *slowest = table_of(json, "slowest");
    static const struct {
        double number, duration_ns;
        json_type recorded;
    } rows[10] = {{3, 9e6, JSON_FALSE}, {0, 1e6, JSON_TRUE},  {1, 1e6, JSON_TRUE},
                  {2, 1e6, JSON_FALSE}, {4, 1e6, JSON_FALSE}, {5, 1e6, JSON_NULL},
                  {6, 1e6, JSON_NULL},  {7, 1e6, JSON_NULL},  {8, 1e6, JSON_NULL},
                  {9, 1e6, JSON_FALSE}};
    assert_int_equal(row_count(slowest), 10);
    for (size_t i = 0; i < 10; i++) {
        const json_t *row = row_at(slowest, i);
        assert_value(row, "step", rows[i].number);
        assert_value(row, "duration_ns", rows[i].duration_ns);
        assert_value(row, "times_median", rows[i].duration_ns / 1e6);
        assert_int_equal(json_typeof(json_object_get(row, "recorded")), rows[i].recorded);
    }
    assert_value(json_object_get(json, "facts"), "run_ns", 19e6);
    assert_value(json_object_get(json, "facts"), "run_recorded_steps", 4);
    assert_value(json_object_get(json, "facts"), "slowest_step", 3);
    json_decref(json);
    takt_trace_release(trace);
}

TEST_MAIN(NULL, NULL)
