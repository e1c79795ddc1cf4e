/* What programs do wrong: each case is counted once, reported with its place, and repaired. */
#include "profiler/session.h"
#include "record/log.h"

#include "support/test.h"
#include "support/windows.h"

#include <takt/takt.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static char log_lines[8192];

static void keep_line(takt_log_level level, const char *line, void *user)
{
    (void)level;
    (void)user;
    strncat(log_lines, line, sizeof log_lines - strlen(log_lines) - 2);
    strcat(log_lines, "\n");
}

static tkt_window *open_window(void)
{
    const tkt_wish wish = {.modes = TKT_KEEP | TKT_ARGUMENTS | TKT_MEMORY, .mask = TAKT_NORMAL_BIT};
    log_lines[0] = '\0';
    return window_with(&wish);
}

static const char *name_of(const takt_trace *trace, const tkt_span *span)
{
    return tkt_trace_text(trace, trace->sites.items[tkt_span_site(span)].name);
}

static const tkt_spans *spans_of(const takt_trace *trace)
{
    assert_int_equal(trace->tracks.count, 1);
    return &trace->tracks.items[0].spans;
}

TEST(an_end_without_begin_is_counted_with_its_place_and_ignored)
{
    tkt_window *window = open_window();
    {
        TAKT_SCOPE("around");
        TAKT_END("never begun");
    }
    takt_trace *trace = end_and_seal(window);
    assert_int_equal(trace->losses[TAKT_LOSS_MISMATCH], 1);
    assert_int_equal(spans_of(trace)->count, 1);
    assert_non_null(strstr(log_lines, "'never begun' at "));
    assert_non_null(strstr(log_lines, "test_record_faults.c:"));
    assert_non_null(strstr(log_lines, "ended without a begin (1 time)"));
    takt_trace_release(trace);
}

/* Nobody knows when it began, so it is no span. */
TEST(the_first_end_of_a_place_outside_all_scopes_may_have_begun_before)
{
    tkt_window *window = open_window();
    {
        TAKT_SCOPE("inside");
    }
    for (int i = 0; i < 3; i++)
        TAKT_END("begun before");
    takt_trace *trace = end_and_seal(window);
    assert_int_equal(trace->losses[TAKT_LOSS_MISMATCH], 2);
    assert_int_equal(trace->facts.begun_before, 0);
    assert_int_equal(spans_of(trace)->count, 1);
    assert_string_equal(name_of(trace, &spans_of(trace)->items[0]), "inside");
    takt_trace_release(trace);
}

TEST(a_scope_left_open_is_closed_by_the_end_around_it)
{
    tkt_window *window = open_window();
    TAKT_BEGIN("outer");
    TAKT_BEGIN("forgotten");
    TAKT_PHASE("phase");
    TAKT_END("outer");
    TAKT_BEGIN("next");
    TAKT_END("next");
    takt_trace *trace = end_and_seal(window);
    assert_int_equal(trace->losses[TAKT_LOSS_MISMATCH], 1);
    const tkt_spans *spans = spans_of(trace);
    assert_int_equal(spans->count, 4);
    assert_string_equal(name_of(trace, &spans->items[1]), "forgotten");
    assert_int_equal(spans->items[1].end_ns, spans->items[0].end_ns);
    assert_int_equal(spans->items[2].end_ns, spans->items[0].end_ns);
    assert_string_equal(name_of(trace, &spans->items[3]), "next");
    assert_int_equal(spans->items[3].parent, TKT_NO_SPAN);
    assert_non_null(strstr(log_lines, "was still open when a scope around it ended"));
    takt_trace_release(trace);
}

TEST(a_block_whose_scope_was_closed_for_it_closes_no_other)
{
    tkt_window *window = open_window();
    TAKT_BEGIN("pair");
    {
        TAKT_SCOPE("block");
        TAKT_END("pair");
        TAKT_BEGIN("in the same frame");
    }
    TAKT_END("in the same frame");
    takt_trace *trace = end_and_seal(window);
    assert_int_equal(spans_of(trace)->count, 3);
    assert_int_equal(trace->losses[TAKT_LOSS_MISMATCH], 1);
    takt_trace_release(trace);
}

static void *leave_open(void *argument)
{
    (void)argument;
    TAKT_BEGIN("left open");
    return NULL;
}

TEST(a_scope_open_at_thread_exit_ends_there)
{
    tkt_window *window = open_window();
    pthread_t thread;
    pthread_create(&thread, NULL, leave_open, NULL);
    pthread_join(thread, NULL);
    takt_trace *trace = end_and_seal(window);
    assert_int_equal(trace->losses[TAKT_LOSS_MISMATCH], 1);
    assert_int_equal(spans_of(trace)->count, 1);
    assert_int_equal(trace->facts.unfinished, 0);
    assert_non_null(strstr(log_lines, "'left open' at "));
    assert_non_null(strstr(log_lines, "was still open when its thread ended"));
    takt_trace_release(trace);
}

static void recurse(int depth)
{
    TAKT_SCOPE("deep");
    if (depth > 1)
        recurse(depth - 1);
}

TEST(five_thousand_scopes_deep_are_recorded)
{
    tkt_window *window = open_window();
    recurse(5000);
    takt_trace *trace = end_and_seal(window);
    const tkt_spans *spans = spans_of(trace);
    assert_int_equal(spans->count, 5000);
    for (size_t i = 1; i < 5000; i++)
        assert_int_equal(spans->items[i].parent, i - 1);
    assert_int_equal(trace->losses[TAKT_LOSS_TOO_DEEP], 0);
    takt_trace_release(trace);
}

TEST(deeper_than_the_stack_is_dropped_counted_and_over_with_its_end)
{
    tkt_window *window = open_window();
    recurse(TKT_MAX_DEPTH + 10);
    for (uint32_t i = 0; i < TKT_MAX_DEPTH + 3; i++)
        TAKT_BEGIN("deep pair");
    for (uint32_t i = 0; i < TKT_MAX_DEPTH + 3; i++)
        TAKT_END("deep pair");
    TAKT_BEGIN("after");
    TAKT_END("after");
    takt_trace *trace = end_and_seal(window);
    assert_int_equal(trace->losses[TAKT_LOSS_TOO_DEEP], 10 + 3);
    assert_int_equal(trace->losses[TAKT_LOSS_MISMATCH], 0);
    const tkt_spans *spans = spans_of(trace);
    assert_int_equal(spans->count, 2 * TKT_MAX_DEPTH + 1);
    assert_int_equal(spans->items[spans->count - 1].parent, TKT_NO_SPAN);
    assert_non_null(strstr(log_lines, "too many scopes are open"));
    takt_trace_release(trace);
}

TEST(pairs_begun_while_recording_and_ended_after_leave_nothing_behind)
{
    tkt_window *window = open_window();
    TAKT_BEGIN("macro");
    takt_begin("function");
    takt_trace_release(end_and_seal(window));
    takt_end();
    TAKT_END("macro");
    window = open_window();
    {
        TAKT_SCOPE("only");
    }
    takt_trace *trace = end_and_seal(window);
    assert_int_equal(spans_of(trace)->count, 1);
    assert_int_equal(spans_of(trace)->items[0].parent, TKT_NO_SPAN);
    assert_int_equal(trace->losses[TAKT_LOSS_MISMATCH], 0);
    takt_trace_release(trace);
}

TEST(names_of_any_kind_are_kept)
{
    tkt_window *window = open_window();
    size_t huge_size = 10u << 20;
    char *huge = malloc(huge_size + 1);
    assert_non_null(huge);
    memset(huge, 'x', huge_size);
    huge[huge_size] = '\0';
    const char *names[] = {NULL, "", "quote \" and \\", "\x1b[31m\n", "\xff\xfe", huge};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        takt_begin(names[i]);
        TAKT_ARG("text", names[i]);
        takt_end();
    }
    free(huge);
    takt_trace *trace = end_and_seal(window);
    const tkt_spans *spans = spans_of(trace);
    assert_int_equal(spans->count, 6);
    assert_string_equal(name_of(trace, &spans->items[0]), "(null)");
    assert_string_equal(name_of(trace, &spans->items[1]), "");
    assert_string_equal(name_of(trace, &spans->items[4]), "\xef\xbf\xbd\xef\xbf\xbd");
    assert_int_equal(strlen(name_of(trace, &spans->items[5])), huge_size);
    takt_trace_release(trace);
}

TEST(a_name_is_known_by_its_content_and_not_its_address)
{
    tkt_window *window = open_window();
    char name[] = "first";
    takt_begin(name);
    takt_end();
    strcpy(name, "other");
    takt_begin(name);
    takt_end();
    takt_trace *trace = end_and_seal(window);
    assert_string_equal(name_of(trace, &spans_of(trace)->items[0]), "first");
    assert_string_equal(name_of(trace, &spans_of(trace)->items[1]), "other");
    takt_trace_release(trace);
}

static void *from_track(void *argument)
{
    takt_span_end(*(takt_span *)argument);
    return NULL;
}

TEST(spans_of_a_track_end_on_any_thread)
{
    tkt_window *window = open_window();
    takt_track track = takt_track_named("requests");
    takt_span a = takt_span_begin(track, "a"), b = takt_span_begin(track, "b");
    pthread_t thread;
    pthread_create(&thread, NULL, from_track, &a);
    pthread_join(thread, NULL);
    uint64_t now = takt_now_ns();
    takt_span_at(track, "given", now + 500, now + 1500);
    takt_span_at(track, "without time", now + 600, now + 600);
    takt_span_at(track, "reversed", now + 1500, now + 500);
    while (takt_now_ns() < now + 3000)
        ;
    takt_trace *trace = end_and_seal(window);
    takt_span_end(b);
    const tkt_track *found = NULL;
    for (size_t i = 0; i < trace->tracks.count; i++)
        if (trace->tracks.items[i].kind == TAKT_TRACK_ASYNC)
            found = &trace->tracks.items[i];
    assert_non_null(found);
    assert_string_equal(tkt_trace_text(trace, found->name), "requests");
    assert_int_equal(found->spans.count, 4);
    assert_string_equal(name_of(trace, &found->spans.items[0]), "a");
    assert_int_equal(tkt_span_flags(&found->spans.items[0]), 0);
    assert_int_equal(tkt_span_flags(&found->spans.items[1]), TAKT_SPAN_UNFINISHED);
    assert_int_equal(found->spans.items[2].begin_ns, now + 500);
    assert_int_equal(found->spans.items[2].end_ns, now + 1500);
    assert_string_equal(name_of(trace, &found->spans.items[3]), "without time");
    assert_int_equal(found->spans.items[3].end_ns, now + 600);
    assert_int_equal(trace->losses[TAKT_LOSS_CLOCK], 1);
    takt_trace_release(trace);
}

TEST(reported_memory_adds_up)
{
    char blocks[8] = {0};
    takt_memory_allocated(&blocks[0], 1000);
    tkt_window *window = open_window();
    takt_memory_allocated(&blocks[1], 500);
    {
        TAKT_SCOPE("allocates");
        takt_memory_allocated(&blocks[2], 3000);
    }
    takt_memory_freed(&blocks[2]);
    takt_memory_freed(&blocks[0]);
    takt_memory_freed(&blocks[5]);
    takt_memory_allocated(NULL, 7);
    takt_memory now;
    assert_int_equal(takt_memory_query("host", &now), TAKT_OK);
    assert_int_equal(now.current_bytes, 500);
    assert_int_equal(now.peak_bytes, 4500);
    assert_int_equal(now.unmatched_frees, 1);
    assert_int_equal(takt_memory_query("cuda:0", &now), TAKT_NOT_FOUND);
    takt_trace *trace = end_and_seal(window);
    assert_int_equal(trace->memory_events.count, 4);
    assert_int_equal(trace->memory.window_begin_bytes, 1000);
    assert_int_equal(trace->memory.window_allocations, 2);
    assert_int_equal(trace->memory.window_frees, 2);
    assert_int_equal(trace->memory.window_peak_bytes, 4500);
    assert_int_equal(trace->memory.current_bytes, 500);
    assert_int_equal(trace->memory_events.items[0].span, TKT_NO_SPAN);
    const tkt_span *owner = &spans_of(trace)->items[trace->memory_events.items[1].span];
    assert_string_equal(name_of(trace, owner), "allocates");
    takt_trace_release(trace);
    takt_memory_freed(&blocks[1]);
}

/* A host allocator that is instrumented itself. */
static void *instrumented(void *user, void *pointer, size_t size)
{
    TAKT_SCOPE("host allocator");
    takt_begin("inside");
    (*(size_t *)user)++;
    takt_end();
    if (size == 0) {
        free(pointer);
        return NULL;
    }
    return realloc(pointer, size);
}

static int use_instrumented_allocator(void **state)
{
    (void)state;
    static size_t calls;
    const takt_allocator allocator = {instrumented, &calls};
    takt_set_log(keep_line, NULL);
    return takt_set_allocator(&allocator) == TAKT_OK ? 0 : -1;
}

TEST_MAIN(use_instrumented_allocator, NULL)
