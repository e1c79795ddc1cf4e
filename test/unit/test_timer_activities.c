/* Timers with a filter: their tables, their callback, and who gets which activity. */
#include "test_profiler.h"
#include "support/test.h"

#include <pthread.h>

#define MS 1000000u

static void density(void)
{
    TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, "density");
    pass_ns(MS);
}

static void halo(void)
{
    TAKT_ACTIVITY("cpu", TAKT_TIMING_MEMCPY, "halo");
    pass_ns(21504);
}

#define RULE "----------------+---------+------------------------\n"

TEST(three_tables_stand_before_the_line)
{
    capture_stdout();
    {
        TAKT_TIMER("Demo", .filter = TAKT_TIMING_ALL);
        density();
        halo();
        density();
    }
    assert_string_equal(captured_stdout(),
                        "Timeline:\n" RULE "Time            | Device  | Activity\n" RULE
                        "    1.000000 ms | cpu     | kernel density\n"
                        "    0.021504 ms | cpu     | memcpy halo\n"
                        "    1.000000 ms | cpu     | kernel density\n"
                        "\nActivity summary:\n" RULE "Total time      | Count   | Activity\n" RULE
                        "    2.000000 ms |       2 | kernel density\n"
                        "    0.021504 ms |       1 | memcpy halo\n"
                        "\nDevice summary:\n" RULE "Total time      | Count   | Device\n" RULE
                        "    2.021504 ms |       3 | cpu\n"
                        "Demo took 2.02 ms\n");
}

TEST(without_activities_it_says_so)
{
    capture_stdout();
    {
        TAKT_TIMER("outer");
        TAKT_TIMER("Demo", .filter = TAKT_TIMING_MEMSET);
        density();
    }
    assert_string_equal(captured_stdout(), "    No activity\n"
                                           "    Demo took 1.00 ms\n"
                                           "outer took 1.00 ms\n");
}

/* What a report callback was given. */
typedef struct told {
    unsigned calls;
    size_t count;
    double total_ms;
    char indent[80];
    char first[80];
} told;

static void tell(const takt_timing *results, const char *indent, void *user)
{
    told *mine = user;
    mine->calls++;
    mine->count = takt_timing_count(results);
    mine->total_ms = 0;
    for (size_t i = 0; i < mine->count; i++)
        mine->total_ms += takt_timing_at(results, i)->elapsed_ms;
    snprintf(mine->indent, sizeof mine->indent, "%s", indent);
    if (mine->count > 0)
        snprintf(mine->first, sizeof mine->first, "%s", takt_timing_at(results, 0)->name);
}

TEST(a_callback_replaces_the_tables)
{
    told mine = {0};
    capture_stdout();
    {
        TAKT_TIMER("outer");
        TAKT_TIMER("Demo", .filter = TAKT_TIMING_KERNEL, .report = tell, .user = &mine);
        halo();
        density();
        density();
    }
    assert_string_equal(captured_stdout(), "    Demo took 2.02 ms\nouter took 2.02 ms\n");
    assert_int_equal(mine.calls, 1);
    assert_int_equal(mine.count, 2);
    assert_true(mine.total_ms == 2);
    assert_string_equal(mine.indent, "    ");
    assert_string_equal(mine.first, "kernel density");
}

TEST(a_silent_timer_prints_nothing_but_reports)
{
    told mine = {0};
    capture_stdout();
    {
        TAKT_TIMER("Demo", .silent = true, .filter = TAKT_TIMING_ALL, .report = tell,
                   .user = &mine);
        density();
    }
    assert_string_equal(captured_stdout(), "");
    assert_int_equal(mine.calls, 1);
    assert_int_equal(mine.count, 1);
    assert_string_equal(mine.indent, "");
}

TEST(an_inner_timer_takes_nothing_from_an_outer_one)
{
    told outer = {0}, inner = {0}, innermost = {0};
    capture_stdout();
    {
        TAKT_TIMER("a", .filter = TAKT_TIMING_ALL, .report = tell, .user = &outer);
        density();
        pass_ns(1);
        {
            TAKT_TIMER("b", .filter = TAKT_TIMING_KERNEL, .report = tell, .user = &inner);
            density();
            {
                TAKT_TIMER("c", .filter = TAKT_TIMING_MEMCPY, .report = tell, .user = &innermost);
                density();
                halo();
            }
            pass_ns(1);
        }
        pass_ns(1);
        density();
    }
    captured_stdout();
    assert_int_equal(outer.count, 5);
    assert_int_equal(inner.count, 2);
    assert_int_equal(innermost.count, 1);
    assert_string_equal(innermost.first, "memcpy halo");
}

static void *work_on_thread(void *argument)
{
    told *mine = argument;
    TAKT_TIMER("thread", .filter = TAKT_TIMING_ALL, .report = tell, .user = mine);
    for (int i = 0; i < 5; i++)
        density();
    return NULL;
}

TEST(activities_of_all_threads_count)
{
    enum {
        THREADS = 3
    };
    pthread_t threads[THREADS];
    told all = {0}, each[THREADS] = {0};
    capture_stdout();
    {
        TAKT_TIMER("main", .filter = TAKT_TIMING_ALL, .report = tell, .user = &all);
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, work_on_thread, &each[i]), 0);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
    captured_stdout();
    assert_int_equal(all.count, 5 * THREADS);
    for (int i = 0; i < THREADS; i++)
        assert_in_range(each[i].count, 5, 5 * THREADS);
}

/* It was launched before. */
TEST(an_activity_that_runs_already_does_not_count)
{
    told outer = {0}, inner = {0};
    capture_stdout();
    {
        TAKT_TIMER("a", .filter = TAKT_TIMING_ALL, .report = tell, .user = &outer);
        TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, "long");
        pass_ns(MS);
        {
            TAKT_TIMER("b", .filter = TAKT_TIMING_ALL, .report = tell, .user = &inner);
            density();
        }
    }
    captured_stdout();
    assert_int_equal(inner.count, 1);
    assert_int_equal(outer.count, 2);
}

TEST(an_activity_counts_if_it_was_launched_within)
{
    takt_timing *timing;
    {
        TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, "earlier");
        assert_int_equal(takt_timing_begin(NULL, &timing), TAKT_OK);
        pass_ns(MS);
    }
    {
        TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, "later");
        pass_ns(MS);
        assert_int_equal(takt_timing_end(timing), TAKT_OK);
    }
    assert_int_equal(takt_timing_count(timing), 1);
    assert_string_equal(takt_timing_at(timing, 0)->name, "kernel later");
    takt_timing_free(timing);
}

TEST(timers_and_a_profiler_see_the_same_activities)
{
    told mine = {0};
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = started(&options);
    capture_stdout();
    density();
    pass_ns(1);
    {
        TAKT_TIMER("Demo", .filter = TAKT_TIMING_ALL, .report = tell, .user = &mine);
        density();
    }
    captured_stdout();
    takt_profiler_stop(profiler);
    assert_int_equal(mine.count, 1);
    assert_int_equal(takt_trace_count(takt_profiler_trace(profiler), TAKT_TRACE_ACTIVITIES), 2);
    takt_profiler_destroy(profiler);
}

/* The clock is read before the tables are made, and a callback's time is its own. */
static void spend_time(const takt_timing *results, const char *indent, void *user)
{
    (void)results;
    (void)indent;
    (void)user;
    pass_ns(50 * MS);
}

TEST(reporting_is_not_in_the_duration)
{
    capture_stdout();
    {
        TAKT_TIMER("Demo", .filter = TAKT_TIMING_ALL, .report = spend_time);
        density();
    }
    assert_string_equal(captured_stdout(), "Demo took 1.00 ms\n");
}

TEST_MAIN_EACH(begin_test, end_test)
