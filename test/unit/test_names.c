/* Marks and counters whose names are made at run time: each name is a row of its own, though they
 * come from one place in the source and from one buffer. */
#include <takt/takt.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NAMES 3

static const takt_trace *record(takt_profiler **profiler, void (*work)(const char *name, int round))
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    char name[32];
    assert_int_equal(takt_profiler_create(&options, profiler), TAKT_OK);
    work("before", 0);
    assert_int_equal(takt_profiler_start(*profiler), TAKT_OK);
    for (int round = 0; round < 2 * NAMES; round++) {
        snprintf(name, sizeof name, "name %d", round % NAMES);
        work(name, round);
    }
    assert_int_equal(takt_profiler_stop(*profiler), TAKT_OK);
    return takt_profiler_trace(*profiler);
}

static void put_mark(const char *name, int round)
{
    (void)round;
    takt_mark(name);
}

static void put_counter(const char *name, int round)
{
    takt_counter(name, 10.0 * round);
}

static void check_name(const char *name, size_t round)
{
    char expected[32];
    snprintf(expected, sizeof expected, "name %zu", round % NAMES);
    assert_string_equal(name, expected);
}

static void marks_keep_names_of_run_time(void **state)
{
    (void)state;
    takt_profiler *profiler = NULL;
    const takt_trace *trace = record(&profiler, put_mark);
    assert_int_equal(takt_trace_mark_count(trace), 2 * NAMES);
    for (size_t i = 0; i < 2 * NAMES; i++) {
        takt_mark_info mark = {.name = ""};
        assert_int_equal(takt_trace_mark(trace, i, &mark), TAKT_OK);
        check_name(mark.name, i);
    }
    takt_profiler_destroy(profiler);
}

static void counters_keep_names_of_run_time(void **state)
{
    (void)state;
    takt_profiler *profiler = NULL;
    const takt_trace *trace = record(&profiler, put_counter);
    assert_int_equal(takt_trace_counter_count(trace), 2 * NAMES);
    for (size_t i = 0; i < 2 * NAMES; i++) {
        takt_counter_info counter = {.name = ""};
        assert_int_equal(takt_trace_counter(trace, i, &counter), TAKT_OK);
        check_name(counter.name, i);
        assert_true(counter.value == 10.0 * (double)i);
    }
    takt_profiler_destroy(profiler);
}

static void null_has_a_name(void **state)
{
    (void)state;
    takt_profiler *profiler = NULL;
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_mark_info mark = {.name = ""};
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    takt_mark(NULL);
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    assert_int_equal(takt_trace_mark(takt_profiler_trace(profiler), 0, &mark), TAKT_OK);
    assert_string_equal(mark.name, "(null)");
    takt_profiler_destroy(profiler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_keep_names_of_run_time),
        cmocka_unit_test(counters_keep_names_of_run_time),
        cmocka_unit_test(null_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
