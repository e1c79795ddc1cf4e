/* ScopedTimer: what it prints, measures and passes on, to the letter. */
#include "test_profiler.h"

#include "trace/model.h"

#include "base/alloc.h"
#include "support/locale.h"
#include "support/memory_sink.h"
#include "support/skip.h"
#include "support/test.h"

#include <pthread.h>
#include <sched.h>

#define MS 1000000u

static int tear_down(void **state)
{
    takt_timers_enable(true);
    return end_test(state);
}

/* ---- The line -------------------------------------------------------------------------------- */

TEST(the_line_is_name_took_milliseconds)
{
    capture_stdout();
    {
        TAKT_TIMER("Demo");
        pass_ns(520000);
    }
    {
        TAKT_TIMER("Rounded");
        pass_ns(1005001);
    }
    {
        TAKT_TIMER("Nothing");
    }
    {
        TAKT_TIMER("Long");
        pass_ns(UINT64_C(123456) * MS);
    }
    {
        TAKT_TIMER(NULL, .extra = "with more");
    }
    assert_string_equal(captured_stdout(), "Demo took 0.52 ms\n"
                                           "Rounded took 1.01 ms\n"
                                           "Nothing took 0.00 ms\n"
                                           "Long took 123456.00 ms\n"
                                           "(null) took 0.00 ms with more\n");
}

TEST(numbers_have_a_point_in_every_locale)
{
    if (!use_comma())
        SKIP_CASE("there is no locale with a comma");
    capture_stdout();
    {
        TAKT_TIMER("Demo");
        pass_ns(520000);
    }
    setlocale(LC_ALL, "C");
    assert_string_equal(captured_stdout(), "Demo took 0.52 ms\n");
}

TEST(nested_printing_timers_indent_by_four)
{
    capture_stdout();
    {
        TAKT_TIMER("outer");
        {
            TAKT_TIMER("silent", .silent = true);
            TAKT_TIMER("inactive", .inactive = true);
            TAKT_TIMER("middle");
            {
                TAKT_TIMER("inner");
            }
        }
        TAKT_TIMER("second");
    }
    {
        TAKT_TIMER("after");
    }
    assert_string_equal(captured_stdout(), "        inner took 0.00 ms\n"
                                           "    middle took 0.00 ms\n"
                                           "    second took 0.00 ms\n"
                                           "outer took 0.00 ms\n"
                                           "after took 0.00 ms\n");
}

static void *time_on_thread(void *argument)
{
    (void)argument;
    TAKT_TIMER("thread");
    return NULL;
}

TEST(the_indent_is_each_threads_own)
{
    pthread_t thread;
    capture_stdout();
    {
        TAKT_TIMER("main");
        assert_int_equal(pthread_create(&thread, NULL, time_on_thread, NULL), 0);
        pthread_join(thread, NULL);
    }
    assert_string_equal(captured_stdout(), "thread took 0.00 ms\nmain took 0.00 ms\n");
}

TEST(a_hundred_nested_timers_stay_on_their_lines)
{
    enum {
        DEPTH = 100
    };
    takt_timer timers[DEPTH];
    capture_stdout();
    for (int i = 0; i < DEPTH; i++)
        takt_timer_begin(&timers[i], "deep", NULL);
    for (int i = DEPTH; i-- > 0;)
        takt_timer_end(&timers[i]);
    const char *text = captured_stdout();
    assert_int_equal(strspn(text, " "), 64);
    assert_string_equal(strstr(text, "\ndeep") + 1, "deep took 0.00 ms\n");
}

/* ---- What it measures ------------------------------------------------------------------------ */

TEST(the_duration_is_returned_stored_and_collected)
{
    double elapsed_ms = -1;
    takt_samples samples = {0};
    for (int i = 1; i <= 20; i++) {
        TAKT_TIMER_BEGIN(timer, "t", .silent = true, .elapsed_ms = &elapsed_ms,
                         .samples = &samples);
        pass_ns(MS * (unsigned)i);
        assert_true(TAKT_TIMER_END(timer) == i);
        assert_true(elapsed_ms == i);
    }
    assert_int_equal(samples.count, 20);
    for (int i = 0; i < 20; i++)
        assert_true(samples.ms[i] == i + 1);
    takt_samples_free(&samples);
    assert_null(samples.ms);
    assert_int_equal(samples.count, 0);
}

TEST(an_inactive_timer_touches_nothing)
{
    double elapsed_ms = -1;
    takt_samples samples = {0};
    takt_timer_options options = {.struct_size = sizeof options,
                                  .inactive = true,
                                  .elapsed_ms = &elapsed_ms,
                                  .samples = &samples,
                                  .filter = TAKT_TIMING_ALL};
    takt_timer timer;
    capture_stdout();
    takt_timer_begin(&timer, "t", &options);
    pass_ns(MS);
    assert_true(takt_timer_end(&timer) == 0);
    takt_timers_enable(false);
    options.inactive = false;
    takt_timer_begin(&timer, "t", &options);
    takt_timers_enable(true);
    assert_true(takt_timer_end(&timer) == 0);
    assert_string_equal(captured_stdout(), "");
    assert_true(elapsed_ms == -1);
    assert_int_equal(samples.count, 0);
}

static unsigned evaluations;

static bool evaluated(bool value)
{
    evaluations++;
    return value;
}

TEST(options_are_evaluated_once_and_not_at_all_while_timers_are_off)
{
    evaluations = 0;
    {
        TAKT_TIMER("on", .silent = evaluated(true));
    }
    assert_int_equal(evaluations, 1);
    {
        TAKT_TIMER("inactive", .inactive = evaluated(true));
    }
    assert_int_equal(evaluations, 2);
    takt_timers_enable(false);
    {
        TAKT_TIMER("off", .silent = evaluated(true));
        TAKT_TIMER_BEGIN(pair, "off", .silent = evaluated(true));
        takt_timers_enable(true);
        assert_true(TAKT_TIMER_END(pair) == 0);
    }
    assert_int_equal(evaluations, 2);
}

TEST(switching_off_leaves_running_timers_alone)
{
    takt_timer timer;
    capture_stdout();
    takt_timer_begin(&timer, "running", NULL);
    takt_timers_enable(false);
    pass_ns(2 * MS);
    assert_true(takt_timer_end(&timer) == 2);
    assert_string_equal(captured_stdout(), "running took 2.00 ms\n");
}

TEST(a_timer_ends_once)
{
    takt_timer timer;
    capture_stdout();
    takt_timer_begin(&timer, "once", NULL);
    takt_timer_end(&timer);
    assert_true(takt_timer_end(&timer) == 0);
    assert_true(takt_timer_end(NULL) == 0);
    assert_string_equal(captured_stdout(), "once took 0.00 ms\n");
}

/* What a program has behind its options and timers stays as it is, and what is behind the options
 * of an older one is not read. */
TEST(options_of_an_older_program_read_as_zero_behind_their_end)
{
    double elapsed_ms = -1;
    struct {
        takt_timer timer;
        uint64_t canary;
    } old = {.canary = 0x1122334455667788};
    takt_timer_options options = {.struct_size = offsetof(takt_timer_options, elapsed_ms),
                                  .silent = true,
                                  .elapsed_ms = &elapsed_ms,
                                  .extra = (const char *)1};
    takt_timer_begin(&old.timer, "old", &options);
    pass_ns(MS);
    assert_true(takt_timer_end(&old.timer) == 1);
    assert_true(elapsed_ms == -1);
    assert_true(old.canary == 0x1122334455667788);
}

TEST(options_without_their_size_are_refused_in_the_log)
{
    static const size_t sizes[] = {0, 1, 7, (size_t)1 << 20, SIZE_MAX};
    capture_stdout();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        takt_timer_options options = {.struct_size = sizes[i]};
        takt_timer timer;
        forget_lines();
        takt_timer_begin(&timer, "by hand", &options);
        pass_ns(MS);
        assert_true(takt_timer_end(&timer) == 0);
        assert_int_equal(count_lines(TAKT_LOG_ERROR, "timer by hand does nothing: struct_size"), 1);
    }
    assert_string_equal(captured_stdout(), "");
}

TEST(options_of_another_size_are_taken_or_the_timer_is_inactive)
{
    struct {
        takt_timer_options known;
        uint64_t unknown;
    } newer = {.known = {.struct_size = sizeof newer, .silent = true}};
    takt_timer timer;
    takt_timer_begin(&timer, "newer", &newer.known);
    pass_ns(MS);
    assert_true(takt_timer_end(&timer) == 1);
    newer.unknown = 1;
    takt_timer_begin(&timer, "unknown", &newer.known);
    pass_ns(MS);
    assert_true(takt_timer_end(&timer) == 0);
}

TEST(nvtx_without_a_tool_changes_nothing)
{
    capture_stdout();
    {
        TAKT_TIMER("nvtx", .nvtx = true, .color = "yellow");
        pass_ns(MS);
    }
    {
        TAKT_TIMER("odd", .nvtx = true, .color = "no such colour", .synchronize = true);
    }
    assert_string_equal(captured_stdout(), "nvtx took 1.00 ms\nodd took 0.00 ms\n");
}

/* ---- Inside a recording ---------------------------------------------------------------------- */

TEST(a_timer_inside_a_recording_is_a_scope)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.background = TAKT_OFF;
    takt_profiler *profiler = started(&options);
    {
        TAKT_SCOPE("step");
        TAKT_TIMER("solve", .silent = true);
        pass_ns(MS);
        {
            TAKT_SCOPE("inside");
            pass_ns(MS);
        }
    }
    takt_profiler_stop(profiler);
    const takt_trace *trace = takt_profiler_trace(profiler);
    takt_span_info timer, inside;
    assert_int_equal(takt_trace_span(trace, 0, 1, &timer), TAKT_OK);
    assert_int_equal(takt_trace_span(trace, 0, 2, &inside), TAKT_OK);
    assert_string_equal(timer.name, "solve");
    assert_int_equal(timer.parent, 0);
    assert_int_equal(timer.end_ns - timer.begin_ns, 2 * MS);
    assert_string_equal(inside.name, "inside");
    assert_int_equal(inside.parent, 1);
    takt_profiler_destroy(profiler);
}

/* ---- Detailed -------------------------------------------------------------------------------- */

static bool others_may_go, others_are_done;

static void *work_elsewhere(void *argument)
{
    (void)argument;
    while (!__atomic_load_n(&others_may_go, __ATOMIC_ACQUIRE))
        sched_yield();
    for (int i = 0; i < 10; i++) {
        TAKT_SCOPE("elsewhere");
        TAKT_ARG("i", i);
        TAKT_WORK(1, 2);
    }
    __atomic_store_n(&others_are_done, true, __ATOMIC_RELEASE);
    return NULL;
}

/* While another thread records arguments and work of its own. */
TEST(a_detailed_timer_prints_the_tree_of_its_thread)
{
    pthread_t thread;
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = started(&options);
    assert_int_equal(pthread_create(&thread, NULL, work_elsewhere, NULL), 0);
    capture_stdout();
    {
        TAKT_TIMER("Detail", .detailed = true);
        __atomic_store_n(&others_may_go, true, __ATOMIC_RELEASE);
        while (!__atomic_load_n(&others_are_done, __ATOMIC_ACQUIRE))
            sched_yield();
        for (int i = 0; i < 3; i++) {
            TAKT_SCOPE("forces");
            pass_ns(MS);
        }
    }
    const char *text = captured_stdout();
    assert_non_null(strstr(text, "forces"));
    assert_non_null(strstr(text, "Detail"));
    assert_null(strstr(text, "elsewhere"));
    const char *line = strrchr(text, 'D');
    assert_string_equal(line, "Detail took 3.00 ms\n");
    pthread_join(thread, NULL);
    takt_profiler_destroy(profiler);
}

/* Returns how often `part` is in `text`. */
static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)) != NULL; text++)
        count++;
    return count;
}

/* The test before has printed the first tree, whose lines below the table hold for these, too. */
TEST(trees_are_indented_and_explained_once)
{
    capture_stdout();
    {
        TAKT_TIMER("outer");
        TAKT_TIMER("inner", .detailed = true);
        TAKT_SCOPE("forces");
        pass_ns(MS);
    }
    const char *text = captured_stdout();
    assert_int_equal(count_of(text, "\n    Scope "), 1);
    assert_int_equal(count_of(text, "\n      forces "), 1);
    assert_int_equal(count_of(text, "\n    inner took 1.00 ms\nouter took 1.00 ms\n"), 1);
    assert_int_equal(count_of(text, "\n    "), count_of(text, "\n") - 2);
    assert_int_equal(count_of(text, "Percentages") + count_of(text, "backend "), 0);
}

/* ---- Where timers print to ---- */

TEST(a_sink_gets_what_is_printed)
{
    memory_sink all = {0};
    const takt_sink sink = memory_sink_of(&all);
    takt_timing *timing;
    takt_timed timed;
    capture_stdout();
    takt_set_print(&sink);
    {
        TAKT_TIMER("Demo");
        pass_ns(MS);
    }
    assert_int_equal(takt_timing_begin(NULL, &timing), TAKT_OK);
    takt_timing_end(timing);
    takt_timing_print(timing, "");
    takt_timing_free(timing);
    TAKT_TIMED(&timed, .name = "work", .reports = "scopes")
        pass_ns(MS);
    takt_timed_print(&timed);
    memory_sink_write(&all, "", 1);
    assert_int_equal(count_of(all.data, "Demo took 1.00 ms\nNo activity\nscopes\n"), 1);
    assert_int_equal(count_of(all.data, "work: 1 repetition\n  mean          1.000 ms\n"), 1);
    takt_set_print(NULL);
    tkt_free(all.data);
    {
        TAKT_TIMER("Demo");
    }
    assert_string_equal(captured_stdout(), "Demo took 0.00 ms\n");
}

/* The window ends a moment after the timer's own scope. */
TEST(a_detailed_timer_is_finished_in_its_own_tree)
{
    tkt_clock_fake(NULL);
    capture_stdout();
    {
        TAKT_TIMER("Detail", .detailed = true);
    }
    const char *text = captured_stdout();
    assert_non_null(strstr(text, "# of Calls"));
    assert_null(strstr(text, "unfinished"));
}

TEST_MAIN_EACH(begin_test, tear_down)
