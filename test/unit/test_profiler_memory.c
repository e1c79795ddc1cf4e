/* Without memory, at any allocation, once or for ever: nothing crashes or leaks, the program
 * computes what it would have computed, and what was recorded afterwards is whole. */
#include "base/alloc.h"

#include "test_profiler.h"

#include "test_export_folder.h"
#include "support/sanitized.h"
#include "support/test.h"

static const char *folder;

static int set_up(void **state)
{
    (void)state;
    folder = make_folder();
    tkt_clock_fake(read_test_clock);
    takt_set_log(keep_line, NULL);
    return folder ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    tkt_alloc_fail(0, 0);
    takt_set_log(NULL, NULL);
    tkt_clock_fake(NULL);
    remove_folder(folder);
    return 0;
}

/* What the program is there for. */
static double simulate(double x)
{
    TAKT_SCOPE("step");
    TAKT_PHASE("first");
    x = x * 1.25 + 1;
    TAKT_ARG("x", x);
    TAKT_PHASE("second");
    {
        TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, "density");
        TAKT_WORK(10, 20);
        x = x - 0.5;
    }
    takt_begin("run time");
    TAKT_COUNTER("x", x);
    takt_end();
    pass_ns(1000);
    return x;
}

static const takt_profiler_options *options_of(takt_mode mode, bool foreground)
{
    static takt_profiler_options options;
    static const char *const reports[] = {"summary", "scopes", "steps"};
    static const char *const outputs[] = {"perfetto", "chrome.gz", "folded"};
    options = TAKT_PROFILER_OPTIONS_INIT;
    options.schedule = (takt_schedule){.wait = 1, .warmup = 1, .active = 2, .repeat = 2};
    options.mode = mode;
    options.name = "memory";
    options.background = foreground ? TAKT_OFF : TAKT_ON;
    options.reports = reports;
    options.report_count = 3;
    options.traces = outputs;
    options.trace_count = 3;
    options.directory = folder;
    return &options;
}

static double profile(const takt_profiler_options *options)
{
    double x = 1;
    takt_profiler *profiler = NULL;
    if (takt_profiler_create(options, &profiler) == TAKT_OK)
        takt_profiler_start(profiler);
    for (int i = 0; i < 8; i++) {
        x = simulate(x);
        if (profiler)
            takt_profiler_step(profiler);
    }
    if (profiler)
        takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
    remove_folder(folder); /* the next run need not look for free names */
    return x;
}

/* Fails each of the first allocations, and some later ones; `make faults` fails them all. In the
 * background allocations of two threads are counted together, which is as good a choice as any. */
static void fail_each(takt_mode mode, bool foreground, uint64_t failures)
{
    const takt_profiler_options *options = options_of(mode, foreground);
    capture_stdout();
    double expected = profile(options);
    for (uint64_t after = 0; after < 2000; after += after < FEWER(20, 60) ? 1 : FEWER(41, 17)) {
        forget_lines();
        tkt_alloc_fail(after, failures);
        double x = profile(options);
        tkt_alloc_fail(0, 0);
        if (x != expected || takt_is_on(~UINT64_C(0))) {
            captured_stdout();
            fail_msg("after %lu allocations the program is changed", (unsigned long)after);
        }
    }
    captured_stdout();
}

TEST(a_single_failure_loses_at_most_a_part)
{
    fail_each(TAKT_MODE_TRACE, true, 1);
    fail_each(TAKT_MODE_BOTH, true, 1);
}

TEST(memory_that_is_gone_for_good_hurts_nobody)
{
    fail_each(TAKT_MODE_TRACE, true, UINT64_MAX);
    fail_each(TAKT_MODE_SUMMARY, true, UINT64_MAX);
}

TEST(the_background_survives_it_too)
{
    fail_each(TAKT_MODE_BOTH, false, UINT64_MAX);
    fail_each(TAKT_MODE_TRACE, false, 1);
}

TEST(a_stream_survives_it_too)
{
    takt_profiler_options options = *options_of(TAKT_MODE_TRACE, true);
    options.stream = true;
    capture_stdout();
    double expected = profile(&options);
    for (uint64_t after = 0; after < 300; after += after < FEWER(20, 60) ? 1 : FEWER(17, 7)) {
        tkt_alloc_fail(after, after % 2 ? UINT64_MAX : 1);
        double x = profile(&options);
        tkt_alloc_fail(0, 0);
        assert_true(x == expected);
    }
    captured_stdout();
}

/* ---- Timers ---------------------------------------------------------------------------------- */

TEST(timers_and_timings_measure_what_they_can)
{
    for (int is_for_ever = 0; is_for_ever < 2; is_for_ever++)
        for (uint64_t after = 0; after < 150; after++) {
            takt_samples samples = {0};
            double ms = 0, x = 1;
            takt_timing *timing = NULL;
            capture_stdout();
            tkt_alloc_fail(after, is_for_ever ? UINT64_MAX : 1);
            takt_timing_begin(NULL, &timing);
            {
                TAKT_TIMER("t", .filter = TAKT_TIMING_ALL, .detailed = true, .elapsed_ms = &ms,
                           .samples = &samples);
                x = simulate(x);
            }
            if (timing) {
                takt_timing_end(timing);
                takt_timing_print(timing, "");
            }
            takt_timing_free(timing);
            tkt_alloc_fail(0, 0);
            const char *text = captured_stdout();
            assert_true(x == 1.75);
            assert_true(ms == 1e-3);
            assert_non_null(strstr(text, "t took 0.00 ms\n"));
            assert_true(samples.count <= 1);
            takt_samples_free(&samples);
            assert_false(takt_is_on(~UINT64_C(0)));
        }
}

/* ---- Afterwards ------------------------------------------------------------------------------ */

TEST(after_all_that_a_recording_is_whole)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.background = TAKT_OFF;
    takt_profiler *profiler = started(&options);
    double x = 1;
    for (int i = 0; i < 100; i++)
        x = simulate(x);
    takt_profiler_stop(profiler);
    const takt_trace *trace = takt_profiler_trace(profiler);
    assert_non_null(trace);
    assert_int_equal(count_spans(trace, "step"), 100);
    assert_int_equal(count_spans(trace, "second"), 100);
    assert_int_equal(takt_trace_count(trace, TAKT_TRACE_ACTIVITIES), 100);
    assert_int_equal(takt_trace_count(trace, TAKT_TRACE_COUNTERS), 100);
    takt_profiler_destroy(profiler);
}

TEST_MAIN_EACH(set_up, tear_down)
