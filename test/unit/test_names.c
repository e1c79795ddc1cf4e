/* Marks and counters whose names are made at run time: each name is a row of its own, though they
 * come from one place in the source and from one buffer. */
#include "support/test.h"

#include <takt/takt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* One handle serves both: the names are made of a part of a longer text. */
static void put_made(const char *name, int round)
{
    char longer[64];
    snprintf(longer, sizeof longer, "%s and more", name);
    takt_name made = takt_name_make(longer, strlen(name));
    takt_mark_name(made);
    takt_counter_name(made, 10.0 * round);
    takt_begin_name(made);
    takt_end();
}

static void check_name(const char *name, size_t round)
{
    char expected[32];
    snprintf(expected, sizeof expected, "name %zu", round % NAMES);
    assert_string_equal(name, expected);
}

TEST(marks_keep_names_of_run_time)
{
    takt_profiler *profiler = NULL;
    const takt_trace *trace = record(&profiler, put_mark);
    assert_int_equal(takt_trace_count(trace, TAKT_TRACE_MARKS), 2 * NAMES);
    for (size_t i = 0; i < 2 * NAMES; i++) {
        takt_mark_info mark = {.name = ""};
        assert_int_equal(takt_trace_mark(trace, i, &mark), TAKT_OK);
        check_name(mark.name, i);
    }
    takt_profiler_destroy(profiler);
}

TEST(counters_keep_names_of_run_time)
{
    takt_profiler *profiler = NULL;
    const takt_trace *trace = record(&profiler, put_counter);
    assert_int_equal(takt_trace_count(trace, TAKT_TRACE_COUNTERS), 2 * NAMES);
    for (size_t i = 0; i < 2 * NAMES; i++) {
        takt_counter_info counter = {.name = ""};
        assert_int_equal(takt_trace_counter(trace, i, &counter), TAKT_OK);
        check_name(counter.name, i);
        assert_true(counter.value == 10.0 * (double)i);
    }
    takt_profiler_destroy(profiler);
}

TEST(a_name_that_is_made_is_that_of_all_its_events)
{
    takt_profiler *profiler = NULL;
    const takt_trace *trace = record(&profiler, put_made);
    assert_int_equal(takt_trace_count(trace, TAKT_TRACE_MARKS), 2 * NAMES);
    assert_int_equal(takt_trace_count(trace, TAKT_TRACE_COUNTERS), 2 * NAMES);
    for (size_t i = 0; i < 2 * NAMES; i++) {
        takt_mark_info mark = {.name = ""};
        takt_counter_info counter = {.name = ""};
        takt_span_info span = {.name = ""};
        assert_int_equal(takt_trace_mark(trace, i, &mark), TAKT_OK);
        assert_int_equal(takt_trace_counter(trace, i, &counter), TAKT_OK);
        assert_int_equal(takt_trace_span(trace, 0, i, &span), TAKT_OK);
        check_name(mark.name, i);
        check_name(counter.name, i);
        check_name(span.name, i);
        assert_true(counter.value == 10.0 * (double)i);
    }
    takt_profiler_destroy(profiler);
    assert_int_equal(takt_name_make("equal", 5).id, takt_name_make("equal names", 5).id);
    assert_int_equal(takt_name_make(NULL, 5).id, 0);
}

static void put_null(const char *name, int round)
{
    (void)name;
    (void)round;
    takt_begin_name((takt_name){0});
    takt_mark_name((takt_name){0});
    takt_end();
    takt_span_end(takt_span_begin_name(takt_track_of((takt_name){0}), (takt_name){0}));
}

static void put_span(const char *name, int round)
{
    (void)round;
    char track[64];
    size_t size = (size_t)snprintf(track, sizeof track, "track of %s", name);
    takt_track made = takt_track_of(takt_name_make(track, size));
    assert_int_equal(made, takt_track_named(track));
    takt_span_end(takt_span_begin_name(made, takt_name_make(name, strlen(name))));
}

TEST(spans_and_tracks_have_names_that_were_made)
{
    takt_profiler *profiler = NULL;
    const takt_trace *trace = record(&profiler, put_span);
    size_t found = 0;
    for (size_t i = 0; i < takt_trace_count(trace, TAKT_TRACE_TRACKS); i++) {
        takt_track_info track;
        takt_span_info span = {.name = ""};
        assert_int_equal(takt_trace_track(trace, i, &track), TAKT_OK);
        if (strncmp(track.name, "track of ", 9) != 0)
            continue;
        found += track.span_count;
        assert_int_equal(takt_trace_span(trace, i, 0, &span), TAKT_OK);
        assert_string_equal(span.name, track.name + 9);
    }
    assert_int_equal(found, 2 * NAMES);
    takt_profiler_destroy(profiler);
}

TEST(no_name_reads_as_null)
{
    takt_profiler *profiler = NULL;
    const takt_trace *trace = record(&profiler, put_null);
    takt_mark_info mark = {.name = ""};
    takt_span_info span = {.name = ""};
    assert_int_equal(takt_trace_mark(trace, 2 * NAMES - 1, &mark), TAKT_OK);
    assert_int_equal(takt_trace_span(trace, 0, 2 * NAMES - 1, &span), TAKT_OK);
    assert_string_equal(mark.name, "(null)");
    assert_string_equal(span.name, "(null)");
    takt_profiler_destroy(profiler);
}

/* What an engine's own begin and end macros are made of. */
static void open_scopes(const char *name, int round)
{
    (void)name;
    TAKT_OPEN(outer, "outer");
    if (round % 2) {
        TAKT_OPEN(inner, "inner");
        TAKT_CLOSE(inner);
    }
    TAKT_CLOSE(outer);
}

TEST(a_scope_is_opened_and_closed_by_its_variable)
{
    takt_profiler *profiler = NULL;
    const takt_trace *trace = record(&profiler, open_scopes);
    size_t at = 0;
    for (int round = 0; round < 2 * NAMES; round++) {
        takt_span_info span = {.name = ""};
        size_t outer = at;
        assert_int_equal(takt_trace_span(trace, 0, at++, &span), TAKT_OK);
        assert_string_equal(span.name, "outer");
        assert_int_equal(span.parent, TAKT_NO_PARENT);
        if (round % 2 == 0)
            continue;
        assert_int_equal(takt_trace_span(trace, 0, at++, &span), TAKT_OK);
        assert_string_equal(span.name, "inner");
        assert_int_equal(span.parent, outer);
    }
    takt_profiler_destroy(profiler);
}

TEST(null_has_a_name)
{
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

TEST_MAIN(NULL, NULL)
