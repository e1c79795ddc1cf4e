/* Windows on the common log: each gets its own part, whatever the others do meanwhile. */
#include "base/alloc.h"
#include "profiler/session.h"
#include "record/control.h"
#include "record/log.h"

#include "test_profiler.h"
#include "support/test.h"
#include "support/windows.h"

static tkt_window *open_window(uint32_t modes)
{
    const tkt_wish wish = {.modes = modes, .mask = TAKT_NORMAL_BIT};
    return window_with(&wish);
}

static void end_window(tkt_window *window)
{
    tkt_window_end(window, tkt_ticks());
    pass_ns(1);
}

static void record(const char *name, unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        takt_begin(name);
        pass_ns(10);
        takt_end();
        pass_ns(1);
    }
}

/* How often `name` was called, as the folded form has it. */
static uint64_t calls_of(const takt_trace *trace, const char *name)
{
    uint64_t calls = 0;
    const tkt_fold *fold = tkt_trace_fold(trace);
    for (size_t i = 1; i < fold->count; i++) {
        uint32_t site = fold->items[i].site;
        if (strcmp(tkt_trace_text(trace, trace->sites.items[site].name), name) == 0)
            calls += fold->items[i].stats.count;
    }
    return calls;
}

/* More than a chunk holds. */
enum {
    MANY = 3000
};

TEST(overlapping_windows_each_have_their_part)
{
    tkt_window *first = open_window(TKT_KEEP);
    record("a", 3);
    tkt_window *second = open_window(TKT_KEEP);
    record("b", 4);
    end_window(first);
    record("c", 5);
    end_window(second);
    record("d", 6);
    takt_trace *one = seal_window(first), *two = seal_window(second);
    assert_int_equal(count_spans(one, "a"), 3);
    assert_int_equal(count_spans(one, "b"), 4);
    assert_int_equal(one->facts.span_count, 7);
    assert_int_equal(count_spans(two, "b"), 4);
    assert_int_equal(count_spans(two, "c"), 5);
    assert_int_equal(two->facts.span_count, 9);
    takt_trace_release(one);
    takt_trace_release(two);
}

/* A stream may read a log before it hears of the end, when later windows have recorded already. */
TEST(a_slice_that_comes_late_ends_with_its_window)
{
    takt_trace *trace;
    tkt_seal_places places = {0};
    tkt_window *first = open_window(TKT_KEEP);
    record("a", 3);
    tkt_window *second = open_window(TKT_KEEP);
    tkt_seal_window slice = tkt_window_bounds(first, false);
    slice.end_ticks = tkt_ticks() + (UINT64_C(1) << 40);
    slice.with_spans = true;
    slice.places = &places;
    end_window(first);
    record("b", 4);
    assert_int_equal(tkt_seal(&slice, &trace), TAKT_OK);
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    assert_int_equal(count_spans(trace, "a"), 3);
    assert_int_equal(count_spans(trace, "b"), 0);
    takt_trace_release(trace);
    TKT_ARRAY_FREE(&places.logs);
    end_window(second);
    takt_trace_release(seal_window(first));
    takt_trace_release(seal_window(second));
}

TEST(an_ended_window_keeps_its_spans_until_it_is_sealed)
{
    tkt_window *early = open_window(TKT_KEEP);
    record("a", MANY);
    end_window(early);
    tkt_window *late = open_window(TKT_KEEP);
    record("b", MANY);
    end_window(late);
    takt_trace_release(seal_window(late));
    takt_trace *trace = seal_window(early);
    assert_int_equal(count_spans(trace, "a"), MANY);
    assert_int_equal(trace->facts.span_count, MANY);
    takt_trace_release(trace);
}

static void assert_tasks(tkt_window *window, uint64_t ahead, uint64_t past)
{
    takt_trace *trace = end_and_seal(window);
    assert_int_equal(count_spans(trace, "ahead"), ahead);
    assert_int_equal(count_spans(trace, "past"), past);
    takt_trace_release(trace);
}

/* Whether the chunk that has it is given back when its window is sealed, or kept for another. */
TEST(a_task_that_ends_in_later_windows_is_in_each_of_them)
{
    takt_track track = takt_track_named("plan");
    for (int is_kept = 0; is_kept < 2; is_kept++) {
        tkt_window *around = is_kept ? open_window(TKT_KEEP) : NULL;
        tkt_window *first = open_window(TKT_KEEP);
        uint64_t now = takt_now_ns();
        takt_span_at(track, "ahead", now, now + 1000000);
        takt_span_at(track, "past", now, now + 1);
        record("a", MANY);
        assert_tasks(first, 1, 1);
        for (int i = 0; i < 2; i++) {
            tkt_window *later = open_window(TKT_KEEP);
            record("b", MANY);
            assert_tasks(later, 1, 0);
        }
        pass_ns(1000000);
        assert_tasks(open_window(TKT_KEEP), 0, 0);
        if (is_kept)
            assert_tasks(around, 1, 1);
        for (tkt_thread_log *log = tkt_log_first(); log; log = tkt_log_next(log))
            assert_int_equal(log->ahead.count, 0);
    }
}

TEST(a_stream_of_a_later_window_has_the_task_once)
{
    takt_trace *slice;
    tkt_seal_places places = {0};
    tkt_window *first = open_window(TKT_KEEP);
    uint64_t now = takt_now_ns();
    takt_span_at(takt_track_named("plan"), "ahead", now, now + 1000000);
    record("a", MANY);
    assert_tasks(first, 1, 0);
    tkt_window *second = open_window(TKT_KEEP);
    for (uint64_t i = 0; i < 3; i++) {
        tkt_seal_window request = tkt_window_bounds(second, false);
        request.end_ticks = tkt_ticks() + (UINT64_C(1) << 40);
        request.with_spans = true;
        request.places = &places;
        assert_int_equal(tkt_seal(&request, &slice), TAKT_OK);
        assert_int_equal(tkt_trace_finish(slice), TAKT_OK);
        assert_int_equal(count_spans(slice, "ahead"), i == 0);
        takt_trace_release(slice);
        record("b", MANY);
    }
    TKT_ARRAY_FREE(&places.logs);
    assert_tasks(second, 1, 0);
    pass_ns(1000000);
}

/* Of those whose chunk is given back, so many are kept as have room; the others are counted. */
TEST(tasks_ahead_without_room_are_counted)
{
    enum {
        TASKS = 10000
    };
    uint64_t losses[TAKT_LOSS_COUNT];
    tkt_window *first = open_window(TKT_KEEP);
    uint64_t now = takt_now_ns();
    for (int i = 0; i < TASKS; i++)
        takt_span_at(takt_track_named("plan"), "ahead", now, now + 1000000);
    record("a", MANY);
    assert_tasks(first, TASKS, 0);
    tkt_log_losses(losses);
    assert_true(losses[TAKT_LOSS_NO_MEMORY] > 0);
    tkt_window *second = open_window(TKT_KEEP);
    record("b", 1);
    assert_tasks(second, TASKS - losses[TAKT_LOSS_NO_MEMORY], 0);
    pass_ns(1000000);
    assert_tasks(open_window(TKT_KEEP), 0, 0);
}

TEST(nothing_is_switched_on_when_the_last_window_has_ended)
{
    tkt_window *window = open_window(TKT_KEEP);
    assert_true(takt_is_on(TAKT_NORMAL_BIT));
    end_window(window);
    assert_false(takt_is_on(~UINT64_C(0)));
    record("late", 3);
    takt_trace *trace = seal_window(window);
    assert_int_equal(trace->facts.span_count, 0);
    takt_trace_release(trace);
}

TEST(a_span_that_reaches_over_an_end_is_cut_and_marked)
{
    tkt_window *outer = open_window(TKT_KEEP);
    takt_begin("long");
    pass_ns(5);
    tkt_window *window = open_window(TKT_KEEP);
    pass_ns(7);
    end_window(window);
    takt_trace *trace = seal_window(window);
    takt_end();
    end_window(outer);
    tkt_window_close(outer);
    takt_span_info span;
    assert_int_equal(takt_trace_span(trace, 0, 0, &span), TAKT_OK);
    assert_int_equal(span.flags, TAKT_SPAN_BEGUN_BEFORE | TAKT_SPAN_UNFINISHED);
    assert_int_equal(span.end_ns - span.begin_ns, 7);
    assert_int_equal(trace->facts.begun_before, 1);
    assert_int_equal(trace->facts.unfinished, 1);
    takt_trace_release(trace);
}

/* ---- Summaries ------------------------------------------------------------------------------- */

static void declare(unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        TAKT_WORK(1, 2);
        TAKT_ARG("round", i);
    }
}

/* Neither has a time; and nothing else ends in the scope, which is open all the while. */
TEST(work_and_arguments_belong_to_the_window_in_which_they_were_given)
{
    tkt_window *around = open_window(TKT_KEEP | TKT_ARGUMENTS);
    takt_begin("open");
    declare(MANY);
    tkt_window *window = open_window(TKT_KEEP | TKT_ARGUMENTS);
    declare(5);
    end_window(window);
    declare(MANY);
    takt_trace *trace = seal_window(window);
    const tkt_track *track = &trace->tracks.items[0];
    assert_int_equal(track->spans.count, 1);
    assert_int_equal(track->args.count, 5);
    assert_true(track->works.count == 1 && track->works.items[0].flops == 5);
    takt_trace_release(trace);
    takt_end();
    trace = end_and_seal(around);
    assert_true(trace->tracks.items[0].works.items[0].flops == 5 + 2 * MANY);
    takt_trace_release(trace);
}

enum {
    LEAST_BYTES = 1 << 20
};

/* The chunk that has the boundary's number goes, in a flight that is longer than its memory. */
TEST(work_counts_where_the_begin_was_overwritten)
{
    const tkt_wish wish = {.modes = TKT_KEEP | TKT_RING | TKT_ARGUMENTS,
                           .mask = TAKT_NORMAL_BIT,
                           .max_bytes = LEAST_BYTES};
    tkt_window *warm = open_window(0);
    takt_begin("open");
    pass_ns(1);
    tkt_window *window = window_with(&wish);
    tkt_window_close(warm);
    pass_ns(1);
    for (int i = 0; i < 100; i++) {
        declare(MANY / 2);
        pass_ns(1);
    }
    end_window(window);
    pass_ns(1);
    declare(MANY / 10);
    takt_trace *trace = seal_window(window);
    const tkt_track *track = &trace->tracks.items[0];
    uint64_t kept = track->args.count;
    assert_true(kept > MANY && kept + trace->losses[TAKT_LOSS_OVERWRITTEN] / 2 >= 50 * MANY);
    assert_int_equal(track->works.count, 1);
    assert_true(track->works.items[0].flops == (double)kept);
    assert_int_equal(track->args.items[kept - 1].value.u, MANY / 2 - 1); /* none from after it */
    takt_trace_release(trace);
    takt_end();
}

/* The thread still reads the number of before, though its clock is later. */
TEST(work_counts_where_a_thread_hears_of_the_begin_late)
{
    tkt_window *around = open_window(TKT_KEEP | TKT_ARGUMENTS);
    takt_begin("before");
    declare(3);
    pass_ns(1);
    tkt_window *window = open_window(TKT_KEEP | TKT_ARGUMENTS);
    tkt_thread_log *log = takt_thread_hot_v1.log;
    log->boundary = tkt_record_boundary();
    declare(4);
    pass_ns(1);
    takt_begin("after");
    declare(5);
    takt_end();
    takt_end();
    takt_trace *trace = end_and_seal(window);
    assert_true(flops_of_spans(trace) == 5);
    takt_trace_release(trace);
    trace = end_and_seal(around);
    assert_true(flops_of_spans(trace) == 12);
    takt_trace_release(trace);
}

static void *work_in_the_window(void *sum)
{
    tkt_window **window = sum;
    takt_begin("thread");
    declare(3);
    pass_ns(1);
    *window = open_window(TKT_KEEP | TKT_ARGUMENTS);
    declare(4);
    pass_ns(1);
    return NULL; /* which ends the scope */
}

static void *end_the_window(void *sum)
{
    tkt_window **window = sum;
    takt_begin("thread");
    declare(10);
    end_window(*window);
    declare(20);
    takt_end();
    return NULL;
}

static double flops_of_track(const takt_trace *trace, size_t track)
{
    double flops = 0;
    for (size_t i = 0; i < trace->tracks.items[track].works.count; i++)
        flops += trace->tracks.items[track].works.items[i].flops;
    return flops;
}

/* Both threads use one log, one after the other. */
TEST(a_window_has_the_work_of_threads_that_begin_and_end_in_it)
{
    tkt_window *window, *around = open_window(TKT_KEEP | TKT_ARGUMENTS);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, work_in_the_window, &window), 0);
    pthread_join(thread, NULL);
    pass_ns(1);
    assert_int_equal(pthread_create(&thread, NULL, end_the_window, &window), 0);
    pthread_join(thread, NULL);
    takt_trace *trace = seal_window(window);
    assert_int_equal(trace->tracks.count, 2);
    assert_true(flops_of_track(trace, 0) + flops_of_track(trace, 1) == 14);
    assert_true(flops_of_track(trace, 0) == 4 || flops_of_track(trace, 1) == 4);
    takt_trace_release(trace);
    trace = end_and_seal(around);
    assert_true(flops_of_spans(trace) == 37);
    takt_trace_release(trace);
}

TEST(only_one_window_at_a_time_is_folded)
{
    const tkt_wish wish = {.modes = TKT_FOLD, .mask = TAKT_NORMAL_BIT};
    tkt_window *first = open_window(TKT_FOLD), *second = NULL;
    assert_int_equal(tkt_window_open(&wish, &second), TAKT_BAD_STATE);
    assert_null(second);
    record("a", 2);
    end_window(first);
    takt_trace *trace = seal_window(first);
    assert_int_equal(calls_of(trace, "a"), 2);
    takt_trace_release(trace);
}

/* Sealing comes later, in the background. */
TEST(the_next_may_be_folded_before_the_last_is_sealed)
{
    tkt_window *first = open_window(TKT_FOLD);
    record("a", MANY);
    end_window(first);
    tkt_window *second = open_window(TKT_FOLD);
    record("b", MANY);
    end_window(second);
    takt_trace *one = seal_window(first), *two = seal_window(second);
    assert_int_equal(calls_of(one, "a"), MANY);
    assert_int_equal(calls_of(one, "b"), 0);
    assert_int_equal(calls_of(two, "a"), 0);
    assert_int_equal(calls_of(two, "b"), MANY);
    takt_trace_release(one);
    takt_trace_release(two);
}

/* While a warm-up follows, threads write again over what nobody keeps. */
TEST(what_is_recorded_after_its_end_takes_nothing_from_a_summary)
{
    tkt_window *window = open_window(TKT_FOLD);
    record("a", 100);
    end_window(window);
    tkt_window *warm = open_window(0);
    record("b", MANY);
    takt_trace *trace = seal_window(window);
    tkt_window_end(warm, tkt_ticks());
    tkt_window_close(warm);
    assert_int_equal(calls_of(trace, "a"), 100);
    assert_int_equal(calls_of(trace, "b"), 0);
    takt_trace_release(trace);
}

TEST(spans_and_summary_of_one_window_agree)
{
    tkt_window *window = open_window(TKT_KEEP | TKT_FOLD);
    takt_begin("outer");
    record("inner", MANY);
    takt_end();
    end_window(window);
    takt_trace *trace = seal_window(window);
    assert_int_equal(count_spans(trace, "inner"), MANY);
    assert_int_equal(calls_of(trace, "inner"), MANY);
    assert_int_equal(calls_of(trace, "outer"), 1);
    takt_trace_release(trace);
}

/* A chunk that was full while somebody looked at the log is folded with the next one. */
TEST(closing_another_window_takes_nothing_from_a_summary)
{
    tkt_window *window = open_window(TKT_FOLD);
    record("a", 1); /* there is a log from here on */
    tkt_thread_log *log = takt_thread_hot_v1.log;
    tkt_window *other = open_window(TKT_KEEP);
    tkt_mutex_lock(&log->lock);
    record("a", TKT_CHUNK_SLOTS);
    tkt_mutex_unlock(&log->lock);
    end_window(other);
    tkt_window_close(other);
    record("a", 1);
    end_window(window);
    takt_trace *trace = seal_window(window);
    assert_int_equal(calls_of(trace, "a"), TKT_CHUNK_SLOTS + 2);
    takt_trace_release(trace);
}

/* A reader has seen the cursor at the end of a chunk that is folded to its end, and then the thread
 * goes on in another chunk. */
TEST(a_fold_up_to_the_end_of_a_chunk_does_not_look_for_it_in_the_next_one)
{
    tkt_window *window = open_window(TKT_FOLD);
    record("a", 1);
    tkt_thread_log *log = takt_thread_hot_v1.log;
    while (takt_thread_hot_v1.cursor != log->tail->slots + TKT_CHUNK_SLOTS)
        record("a", 1);
    tkt_log_fold_reset(log);
    takt_record *cursor = takt_thread_hot_v1.cursor;
    tkt_mutex_lock(&log->lock);
    record("a", 1);
    assert_int_equal(tkt_online_fold(log, cursor, NULL, 0, 0), TAKT_OK);
    tkt_mutex_unlock(&log->lock);
    end_window(window);
    takt_trace *trace = seal_window(window);
    assert_int_equal(calls_of(trace, "a"), 1);
    takt_trace_release(trace);
}

TEST(a_window_that_is_never_sealed_leaves_no_chunks)
{
    tkt_window *window = open_window(TKT_KEEP | TKT_FOLD);
    record("a", MANY);
    uint64_t used = tkt_pool_used_bytes();
    assert_true(used > 3 * TKT_CHUNK_BYTES);
    tkt_window_close(window);
    assert_true(tkt_pool_used_bytes() <= used - 3 * TKT_CHUNK_BYTES);
    tkt_window_close(NULL);
}

/* Each copy is given memory that holds anything. */
TEST(a_copy_that_runs_out_of_memory_takes_nothing_from_a_summary)
{
    tkt_window *window = open_window(TKT_FOLD);
    tkt_thread_log *log = tkt_log_first();
    record("work", 1);
    tkt_mutex_lock(&log->lock); /* so that full chunks wait to be folded */
    record("work", MANY - 1);
    tkt_mutex_unlock(&log->lock);
    bool is_done = false;
    for (uint64_t after = 0; !is_done; after++) {
        tkt_fold copy = {0};
        tkt_alloc_fail(after, 1);
        takt_status status = tkt_log_fold_copy(log, tkt_ticks(), &copy);
        tkt_alloc_fail(0, 0);
        is_done = status == TAKT_OK;
        assert_true(is_done || status == TAKT_NO_MEMORY);
        assert_true(is_done || after < 1000);
        tkt_fold_fini(&copy);
    }
    end_window(window);
    takt_trace *trace = seal_window(window);
    uint64_t lost = trace->losses[TAKT_LOSS_NO_MEMORY];
    assert_int_equal(calls_of(trace, "work") + lost, MANY);
    takt_trace_release(trace);
}

static void work(unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        takt_begin("work");
        TAKT_WORK(1, 2);
        pass_ns(10);
        takt_end();
        pass_ns(1);
    }
}

static double flops_of(const takt_trace *trace)
{
    double flops = 0;
    const tkt_fold *fold = tkt_trace_fold(trace);
    for (size_t i = 0; i < fold->count; i++)
        flops += fold->items[i].flops;
    return flops;
}

static void set_end_of_fold(uint64_t ticks)
{
    __atomic_store_n(&tkt_record_control.fold_until_ticks, ticks, __ATOMIC_RELAXED);
}

/* Threads fold their full chunks before a window's begin is known, and after its end until its
 * folds are taken. */
TEST(threads_that_fold_add_nothing_from_outside_the_window)
{
    tkt_window *window = open_window(TKT_FOLD);
    set_end_of_fold(TKT_FOLD_NOTHING);
    work(MANY);
    tkt_record_control.fold_from_ticks = tkt_ticks();
    set_end_of_fold(0);
    work(7);
    uint64_t end = tkt_ticks();
    pass_ns(1);
    set_end_of_fold(end);
    work(MANY);
    tkt_window_end(window, end);
    takt_trace *trace = seal_window(window);
    assert_int_equal(calls_of(trace, "work"), 7);
    assert_true(flops_of(trace) == 7);
    assert_int_equal(trace->fold.begun_before + trace->fold.unfinished, 0);
    takt_trace_release(trace);
}

/* ---- Declared work in both forms ------------------------------------------------------------- */

/* A thread goes on while its window ends: a scope that begins after the end has no work in it, but
 * the one around it has. */
TEST(work_around_a_scope_that_begins_after_the_end_counts)
{
    tkt_window *window = open_window(TKT_KEEP | TKT_FOLD);
    takt_begin("outer");
    TAKT_WORK(1, 0);
    pass_ns(5);
    uint64_t end = tkt_ticks();
    pass_ns(1);
    takt_begin("later");
    TAKT_WORK(10, 0);
    takt_end();
    TAKT_WORK(100, 0);
    tkt_window_end(window, end);
    takt_end();
    takt_trace *trace = seal_window(window);
    assert_int_equal(calls_of(trace, "outer"), 1);
    assert_int_equal(calls_of(trace, "later"), 0);
    assert_true(flops_of(trace) == 101);
    assert_true(flops_of_spans(trace) == 101);
    takt_trace_release(trace);
}

/* A thread fills chunks between the time that the window's end is, and the window's end. */
TEST(work_after_an_announced_end_does_not_count)
{
    tkt_window *window = open_window(TKT_KEEP | TKT_FOLD);
    work(7);
    tkt_window_end_soon(window);
    uint64_t end = tkt_ticks();
    pass_ns(1);
    work(MANY);
    tkt_window_end(window, end);
    takt_trace *trace = seal_window(window);
    assert_int_equal(calls_of(trace, "work"), 7);
    assert_true(flops_of(trace) == 7);
    assert_true(flops_of_spans(trace) == 7);
    takt_trace_release(trace);
}

TEST_MAIN_EACH(begin_test, end_test)
