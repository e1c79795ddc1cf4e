/* Begin and end in pairs among scopes of blocks: an end ends what a begin began, whatever is open
 * within. And a block that is open for longer than a record of 32 bits can say. */
#include "support/test.h"

#include <takt/takt.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static takt_profiler *start_with(takt_profiler_options options)
{
    takt_profiler *profiler = NULL;
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    return profiler;
}

static takt_profiler *start(void)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    return start_with(options);
}

static takt_span_info span_at(const takt_trace *trace, size_t index)
{
    takt_span_info span = {.name = ""};
    assert_int_equal(takt_trace_span(trace, 0, index, &span), TAKT_OK);
    return span;
}

TEST(end_of_a_pair_closes_the_block_within)
{
    takt_profiler *profiler = start();
    for (int i = 0; i < 100; i++) {
        takt_begin("pair");
        TAKT_SCOPE("block");
        TAKT_PHASE("phase");
        takt_end();
    }
    takt_profiler_stop(profiler);
    const takt_trace *trace = takt_profiler_trace(profiler);
    const takt_facts *facts = takt_trace_facts(trace);
    assert_int_equal(facts->span_count, 300);
    assert_int_equal(facts->unfinished, 0);
    assert_int_equal(takt_trace_loss(trace, TAKT_LOSS_MISMATCH), 100);
    for (size_t i = 0; i < 300; i += 3) {
        assert_string_equal(span_at(trace, i).name, "pair");
        assert_true(span_at(trace, i).parent == TAKT_NO_PARENT);
        assert_string_equal(span_at(trace, i + 1).name, "block");
        assert_string_equal(span_at(trace, i + 2).name, "phase");
    }
    takt_profiler_destroy(profiler);
}

/* One clock read is the end of one and the begin of the other. */
TEST(a_phase_begins_where_the_one_before_it_ended)
{
    takt_profiler *profiler = start();
    {
        TAKT_SCOPE("block");
        for (int i = 0; i < 100; i++) {
            TAKT_PHASE("one");
            TAKT_PHASE("other");
        }
    }
    takt_profiler_stop(profiler);
    const takt_trace *trace = takt_profiler_trace(profiler);
    assert_int_equal(takt_trace_facts(trace)->span_count, 201);
    for (size_t i = 1; i < 200; i++)
        assert_true(span_at(trace, i + 1).begin_ns == span_at(trace, i).end_ns);
    takt_profiler_destroy(profiler);
}

TEST(end_leaves_a_block_alone)
{
    takt_profiler *profiler = start();
    for (int i = 0; i < 100; i++) {
        TAKT_SCOPE("block");
        takt_end();
        TAKT_SCOPE("inner");
    }
    takt_profiler_stop(profiler);
    const takt_trace *trace = takt_profiler_trace(profiler);
    const takt_facts *facts = takt_trace_facts(trace);
    assert_int_equal(facts->span_count, 200);
    assert_int_equal(takt_trace_loss(trace, TAKT_LOSS_MISMATCH), 100);
    assert_true(span_at(trace, 1).parent == 0);
    takt_profiler_destroy(profiler);
}

static takt_status append(void *user, const void *bytes, size_t size)
{
    strncat(user, bytes, size);
    return TAKT_OK;
}

/* The last line of a table names the begin that has no end, however many scopes are around it. */
TEST(a_begin_without_an_end_is_named)
{
    static char text[1 << 16];
    takt_profiler *profiler = start();
    unsigned line = 0;
    for (int i = 0; i < 7; i++) {
        TAKT_SCOPE("step");
        (void)0;
    }
    TAKT_BEGIN("outer");
    for (int i = 0; i < 7; i++) {
        line = __LINE__ + 1;
        TAKT_BEGIN("solve");
    }
    takt_profiler_stop(profiler);
    const takt_trace *trace = takt_profiler_trace(profiler);
    assert_int_equal(takt_trace_facts(trace)->unfinished, 8);
    const takt_sink sink = {.write = append, .user = text};
    assert_int_equal(takt_report(trace, "scopes", NULL, &sink), TAKT_OK);
    char expected[128];
    snprintf(expected, sizeof expected, "unfinished 8 (7 of 'solve' at test_pairs.c:%u)", line);
    assert_non_null(strstr(text, expected));
    for (int i = 0; i < 8; i++)
        takt_end();
    takt_profiler_destroy(profiler);
}

static void end_solve(void)
{
    TAKT_END("solve");
}

/* The scope around is of the first recording, the pair begins before the next one. */
TEST(a_pair_that_began_before_the_recording_is_no_mistake_in_an_older_scope)
{
    takt_profiler *profiler = start();
    {
        TAKT_SCOPE("simulation");
        takt_profiler_stop(profiler);
        for (int i = 0; i < 2; i++) {
            TAKT_BEGIN("solve");
            takt_profiler_start(profiler);
            end_solve();
            if (i == 1)
                end_solve(); /* and this is one */
            takt_profiler_stop(profiler);
            assert_int_equal(takt_trace_loss(takt_profiler_trace(profiler), TAKT_LOSS_MISMATCH), i);
        }
    }
    takt_profiler_destroy(profiler);
}

/* The pairs within run while nothing is recorded, or begin then. Their ends end no older pair. */
TEST(a_pair_that_was_not_recorded_ends_no_scope_of_an_earlier_recording)
{
    takt_profiler *profiler = start();
    takt_begin("outer");
    TAKT_SCOPE("mid");
    takt_profiler_stop(profiler);
    for (int i = 0; i < 3; i++) {
        takt_begin("skipped");
        takt_begin("skipped too");
        takt_end();
        takt_end();
    }
    takt_begin("begun before");
    takt_profiler_start(profiler);
    takt_begin("inner");
    takt_end();
    takt_end(); /* of "begun before" */
    takt_begin("after");
    takt_end();
    takt_profiler_stop(profiler);
    const takt_trace *trace = takt_profiler_trace(profiler);
    static const char *const names[] = {"outer", "mid", "inner", "after"};
    static const size_t parents[] = {TAKT_NO_PARENT, 0, 1, 1};
    assert_int_equal(takt_trace_facts(trace)->span_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(span_at(trace, i).name, names[i]);
        assert_int_equal(span_at(trace, i).parent, parents[i]);
    }
    assert_int_equal(takt_trace_loss(trace, TAKT_LOSS_MISMATCH), 0);
    takt_end();
    takt_profiler_destroy(profiler);
}

/* The same without a block between them. */
TEST(a_pair_that_was_not_recorded_leaves_the_pair_around_it_open)
{
    takt_profiler *profiler = start();
    takt_begin("outer");
    takt_profiler_stop(profiler);
    takt_begin("skipped");
    takt_end();
    takt_profiler_start(profiler);
    takt_begin("inner");
    takt_end();
    takt_end();
    takt_profiler_stop(profiler);
    const takt_trace *trace = takt_profiler_trace(profiler);
    assert_int_equal(takt_trace_facts(trace)->span_count, 2);
    assert_string_equal(span_at(trace, 0).name, "outer");
    assert_string_equal(span_at(trace, 1).name, "inner");
    assert_int_equal(span_at(trace, 1).parent, 0);
    assert_int_equal(takt_trace_loss(trace, TAKT_LOSS_MISMATCH), 0);
    takt_profiler_destroy(profiler);
}

/* Scopes of one name, each in the one before. */
static void dive(unsigned depth)
{
    TAKT_BEGIN("deep");
    if (depth > 1)
        dive(depth - 1);
    TAKT_END("deep");
}

static uint64_t duration_of_first(const takt_trace *trace)
{
    takt_span_info span = span_at(trace, 0);
    return span.end_ns - span.begin_ns;
}

/* The ends come in the reverse order of the begins, those that were not recorded first. */
TEST(ends_beyond_the_deepest_scope_leave_outer_ones_open)
{
    takt_profiler *profiler = start();
    TAKT_BEGIN("deep");
    dive(8300);
    uint64_t until = takt_now_ns() + 20000000;
    while (takt_now_ns() < until)
        continue;
    TAKT_END("deep");
    takt_profiler_stop(profiler);
    const takt_trace *trace = takt_profiler_trace(profiler);
    assert_true(duration_of_first(trace) >= 20000000);
    assert_int_equal(takt_trace_loss(trace, TAKT_LOSS_TOO_DEEP), 8301 - 8191);
    assert_int_equal(takt_trace_loss(trace, TAKT_LOSS_MISMATCH), 0);
    takt_profiler_destroy(profiler);
}

static void *begin_too_many(void *unused)
{
    for (int i = 0; i < 8300; i++)
        takt_begin("never ended");
    return unused;
}

static void *record_pairs(void *unused)
{
    for (int i = 0; i < 20; i++) {
        takt_begin("pair");
        takt_end();
    }
    return unused;
}

/* The second thread gets the log of the first one. */
TEST(begins_that_found_a_full_stack_do_not_matter_to_the_next_thread)
{
    void *(*const runs[])(void *) = {begin_too_many, record_pairs};
    takt_profiler *profiler = start();
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, runs[i], NULL), 0);
        pthread_join(thread, NULL);
    }
    takt_profiler_stop(profiler);
    const takt_trace *trace = takt_profiler_trace(profiler);
    assert_int_equal(takt_trace_loss(trace, TAKT_LOSS_MISMATCH), 8191); /* of the first thread */
    takt_profiler_destroy(profiler);
}

/* Its begin is moved back by 2^33 ticks, some seconds, which is before the recording began. Taken
 * modulo 2^32 it would have ended there, too, and be missing. */
TEST(a_block_of_over_32_bits_of_ticks_is_recorded)
{
    static takt_site site =
        TAKT_SITE_AS(TAKT_SITE_SCOPE, TAKT_LEVEL_NORMAL, NULL, "long", __func__, NULL, 0);
    takt_profiler *profiler = start();
    takt_scope_close(takt_scope_open(&site, TAKT_NORMAL_BIT)); /* makes the place known */
    takt_profiler_destroy(profiler);
    profiler = start();
    takt_open open = takt_scope_open(&site, TAKT_NORMAL_BIT);
    open.start -= UINT64_C(1) << 33;
    open.frame->start = open.start;
    takt_scope_close(open);
    takt_profiler_stop(profiler);
    const takt_trace *trace = takt_profiler_trace(profiler);
    assert_int_equal(takt_trace_facts(trace)->span_count, 1);
    takt_span_info span = span_at(trace, 0);
    assert_string_equal(span.name, "long");
    assert_int_equal(span.begin_ns, takt_trace_facts(trace)->begin_ns);
    assert_true(span.flags & TAKT_SPAN_BEGUN_BEFORE);
    assert_true(span.end_ns > span.begin_ns);
    takt_profiler_destroy(profiler);
}

/* The same of a phase, which the next one ends; the first round makes the places known. */
TEST(a_phase_of_over_32_bits_of_ticks_is_recorded)
{
    takt_profiler *profiler = start();
    for (int i = 0; i < 2; i++) {
        TAKT_SCOPE("block");
        TAKT_PHASE("long");
        if (i == 1)
            takt_thread_hot_v1.top[-1].start -= UINT64_C(1) << 33;
        TAKT_PHASE("next");
    }
    takt_profiler_stop(profiler);
    const takt_trace *trace = takt_profiler_trace(profiler);
    static const char *const names[] = {"block", "long", "next"};
    unsigned found = 0, begun_before = 0;
    assert_int_equal(takt_trace_facts(trace)->span_count, 6);
    for (size_t i = 0; i < 6; i++) {
        takt_span_info span = span_at(trace, i);
        for (size_t k = 0; k < 3; k++)
            found += strcmp(span.name, names[k]) == 0;
        if (span.flags & TAKT_SPAN_BEGUN_BEFORE) {
            begun_before++;
            assert_string_equal(span.name, "long");
        }
    }
    assert_int_equal(found, 6);
    assert_int_equal(begun_before, 1);
    takt_profiler_destroy(profiler);
}

/* Moves the begin of the scope that is `above` the innermost back by 2^33 ticks. */
static void move_back(int above)
{
    takt_thread_hot_v1.top[-1 - above].start -= UINT64_C(1) << 33;
}

static void end_a_block_with_a_phase(void)
{
    static takt_site site =
        TAKT_SITE_AS(TAKT_SITE_SCOPE, TAKT_LEVEL_NORMAL, NULL, "long", __func__, NULL, 0);
    takt_open open = takt_scope_open(&site, TAKT_NORMAL_BIT);
    TAKT_PHASE("phase");
    move_back(1);
    open.start = open.frame->start;
    takt_scope_close(open);
}

static void end_a_pair(void)
{
    takt_begin("long");
    move_back(0);
    takt_end();
}

static void end_a_pair_of_macros(void)
{
    TAKT_BEGIN("long");
    move_back(0);
    TAKT_END("long");
}

static void end_a_block(void)
{
    static takt_site site =
        TAKT_SITE_AS(TAKT_SITE_SCOPE, TAKT_LEVEL_NORMAL, NULL, "long", __func__, NULL, 0);
    takt_open open = takt_scope_open(&site, TAKT_NORMAL_BIT);
    move_back(0);
    open.start = open.frame->start;
    takt_scope_close(open);
}

/* Each way by which a scope ends in the library, twice: the first time its place is new. */
TEST(whatever_ends_a_long_scope_records_it_whole)
{
    static const struct {
        void (*end)(void);
        bool with_stack;
    } ways[] = {{end_a_block_with_a_phase, false},
                {end_a_pair, false},
                {end_a_pair_of_macros, false},
                {end_a_block, true}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
        options.with_stack = ways[i].with_stack;
        takt_profiler *profiler = start_with(options);
        ways[i].end();
        ways[i].end();
        takt_profiler_stop(profiler);
        const takt_trace *trace = takt_profiler_trace(profiler);
        unsigned found = 0;
        for (size_t k = 0; k < takt_trace_facts(trace)->span_count; k++) {
            takt_span_info span = span_at(trace, k);
            found += strcmp(span.name, "long") == 0 && (span.flags & TAKT_SPAN_BEGUN_BEFORE) &&
                     span.begin_ns == takt_trace_facts(trace)->begin_ns;
        }
        assert_int_equal(found, 2);
        assert_int_equal(takt_trace_loss(trace, TAKT_LOSS_MISMATCH), 0);
        takt_profiler_destroy(profiler);
    }
}

TEST_MAIN(NULL, NULL)
