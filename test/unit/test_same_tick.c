/* Counters that stand still while several scopes begin and end: that of an aarch64 machine may
 * have 40 ns a tick. The test's clock passes when the test says so; the last case takes the real
 * one, which `make check-aarch64` makes coarse. */
#include "profiler/session.h"

#include "test_profiler.h"
#include "support/test.h"
#include "support/windows.h"

#include <pthread.h>
#include <sched.h>

static tkt_window *open_window(uint32_t modes)
{
    const tkt_wish wish = {.modes = modes, .mask = TAKT_NORMAL_BIT};
    tkt_window *window;
    assert_int_equal(tkt_window_open(&wish, &window), TAKT_OK);
    pass_ns(10);
    return window;
}

static takt_trace *seal(tkt_window *window)
{
    takt_trace *trace = end_and_seal(window);
    pass_ns(10);
    return trace;
}

static void assert_span(const takt_trace *trace, size_t index, const char *name, uint32_t parent,
                        uint64_t duration_ns)
{
    const tkt_span *span = &trace->tracks.items[0].spans.items[index];
    const tkt_trace_site *site = &trace->sites.items[tkt_span_site(span)];
    assert_string_equal(tkt_trace_text(trace, site->name), name);
    assert_int_equal(span->parent, parent);
    assert_int_equal(span->end_ns - span->begin_ns, duration_ns);
}

static void end_and_begin(const char *ended, const char *open)
{
    takt_begin(ended);
    takt_end();
    takt_begin(open);
}

/* Its frame has the depth and the begin of the last record. */
TEST(an_open_scope_is_there_though_one_ended_in_its_tick)
{
    static const char *const ended[] = {"other", "open"};
    for (int i = 0; i < 2; i++) {
        tkt_window *window = open_window(TKT_KEEP);
        end_and_begin(ended[i], "open");
        pass_ns(100);
        takt_trace *trace = seal(window);
        takt_end();
        assert_int_equal(trace->facts.span_count, 2);
        assert_int_equal(trace->facts.unfinished, 1);
        assert_span(trace, 0, ended[i], TKT_NO_SPAN, 0);
        assert_span(trace, 1, "open", TKT_NO_SPAN, 100);
        takt_trace_release(trace);
    }
}

static void *wait_in_a_scope(void *barrier)
{
    end_and_begin("wait", "wait");
    pthread_barrier_wait(barrier);
    pthread_barrier_wait(barrier);
    takt_end();
    return NULL;
}

TEST(another_threads_is_there_too)
{
    pthread_t thread;
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, 2);
    tkt_window *window = open_window(TKT_KEEP);
    assert_int_equal(pthread_create(&thread, NULL, wait_in_a_scope, &barrier), 0);
    pthread_barrier_wait(&barrier);
    pass_ns(100);
    takt_trace *trace = seal(window);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&barrier);
    assert_int_equal(trace->facts.unfinished, 1);
    assert_span(trace, 0, "wait", TKT_NO_SPAN, 0);
    assert_span(trace, 1, "wait", TKT_NO_SPAN, 100);
    takt_trace_release(trace);
}

/* A thread that stands where it has written the record of a scope, but has not popped its frame. */
typedef struct halted {
    pthread_t thread;
    pthread_barrier_t barrier;
    takt_thread_v1 *hot;
    bool is_open; /* the frame belongs to another scope, and the thread has stopped elsewhere */
} halted;

static takt_thread_v1 *to_pop; /* the next sched_yield() lets this thread pop its frame */

/* Sealing calls it to let the thread go on. */
int sched_yield(void)
{
    if (to_pop) {
        __atomic_store_n(&to_pop->top, to_pop->top - 1, __ATOMIC_RELEASE);
        __atomic_store_n(&to_pop->busy, to_pop->busy & ~(uint64_t)TKT_BUSY_INSIDE,
                         __ATOMIC_RELEASE);
    }
    to_pop = NULL;
    return 0;
}

static void *halt(void *user)
{
    halted *it = user;
    takt_thread_v1 *hot = it->hot = &takt_thread_hot_v1;
    takt_begin("call");
    takt_end();
    if (it->is_open)
        takt_begin("call");
    else
        hot->top++;
    uint64_t busy = hot->busy;
    hot->busy |= TAKT_BUSY | TKT_BUSY_INSIDE;
    pthread_barrier_wait(&it->barrier);
    pthread_barrier_wait(&it->barrier);
    hot->busy = busy;
    if (it->is_open)
        takt_end();
    return NULL;
}

/* The trace of a window in which a thread halts. */
static takt_trace *seal_halted(uint32_t modes, bool is_open)
{
    halted it = {.is_open = is_open};
    tkt_window *window = open_window(modes);
    pthread_barrier_init(&it.barrier, NULL, 2);
    assert_int_equal(pthread_create(&it.thread, NULL, halt, &it), 0);
    pthread_barrier_wait(&it.barrier);
    to_pop = is_open ? NULL : it.hot;
    pass_ns(100);
    takt_trace *trace = seal(window);
    assert_null(to_pop);
    pthread_barrier_wait(&it.barrier);
    pthread_join(it.thread, NULL);
    pthread_barrier_destroy(&it.barrier);
    return trace;
}

TEST(a_scope_that_is_being_popped_has_ended)
{
    takt_trace *trace = seal_halted(TKT_KEEP, false);
    assert_int_equal(trace->facts.span_count, 1);
    assert_int_equal(trace->facts.unfinished, 0);
    assert_span(trace, 0, "call", TKT_NO_SPAN, 0);
    takt_trace_release(trace);
}

/* One path below the root, with so many calls. */
static void assert_folded(const takt_trace *trace, uint64_t count, uint64_t total_ns)
{
    const tkt_fold *fold = tkt_trace_fold(trace);
    assert_int_equal(fold->count, 2);
    assert_int_equal(fold->items[1].stats.count, count);
    assert_int_equal(fold->items[1].stats.total_ns, total_ns);
}

TEST(a_summary_counts_a_scope_that_is_being_popped_once)
{
    takt_trace *trace = seal_halted(TKT_FOLD, false);
    assert_folded(trace, 1, 0);
    takt_trace_release(trace);
}

TEST(sealing_does_not_wait_for_a_thread_that_stays_inside_the_library)
{
    takt_trace *trace = seal_halted(TKT_KEEP, true);
    assert_int_equal(trace->facts.span_count, 2);
    assert_int_equal(trace->facts.unfinished, 1);
    assert_span(trace, 1, "call", TKT_NO_SPAN, 100);
    takt_trace_release(trace);
}

TEST(a_summary_counts_the_open_one)
{
    tkt_window *window = open_window(TKT_FOLD);
    end_and_begin("call", "call");
    pass_ns(100);
    takt_trace *trace = seal(window);
    takt_end();
    assert_folded(trace, 2, 100);
    takt_trace_release(trace);
}

TEST(what_begins_in_one_tick_keeps_its_order_and_parents)
{
    tkt_window *window = open_window(TKT_KEEP);
    for (int i = 0; i < 2; i++) {
        TAKT_SCOPE("outer");
        {
            TAKT_SCOPE("first");
            TAKT_SCOPE("within");
        }
        TAKT_SCOPE("second");
        TAKT_PHASE("a");
        TAKT_PHASE("b");
    }
    takt_trace *trace = seal(window);
    assert_int_equal(trace->facts.span_count, 12);
    for (uint32_t i = 0; i < 12; i += 6) {
        assert_span(trace, i, "outer", TKT_NO_SPAN, 0);
        assert_span(trace, i + 1, "first", i, 0);
        assert_span(trace, i + 2, "within", i + 1, 0);
        assert_span(trace, i + 3, "second", i, 0);
        assert_span(trace, i + 4, "a", i + 3, 0);
        assert_span(trace, i + 5, "b", i + 3, 0);
    }
    takt_trace_release(trace);
}

static void one_round(void)
{
    takt_begin("round");
    pass_ns(10);
    takt_begin("child");
    takt_end();
    takt_end();
}

/* The first round ends in the tick in which the window begins, and its child began there, too. */
TEST(what_ended_in_a_windows_first_tick_is_before_it)
{
    tkt_window *all = open_window(TKT_KEEP);
    one_round();
    tkt_window *window = open_window(TKT_KEEP);
    one_round();
    takt_trace *trace = seal(window);
    assert_int_equal(trace->facts.span_count, 2);
    assert_span(trace, 0, "round", TKT_NO_SPAN, 10);
    assert_span(trace, 1, "child", 0, 0);
    takt_trace_release(trace);
    tkt_window_close(all);
}

TEST(marks_and_arguments_of_one_tick_belong_where_they_were)
{
    tkt_window *window = open_window(TKT_KEEP | TKT_ARGUMENTS);
    for (int i = 0; i < 3; i++) {
        TAKT_SCOPE("scope");
        TAKT_ARG("i", i);
        TAKT_MARK("mark");
    }
    takt_trace *trace = seal(window);
    assert_int_equal(trace->marks.count, 3);
    const tkt_track *track = &trace->tracks.items[0];
    assert_int_equal(track->args.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(track->args.items[i].span, i);
        assert_int_equal(track->args.items[i].value.i, i);
    }
    takt_trace_release(trace);
}

/* The block's scope is ended by the end of the pair around it. When the block itself ends, another
 * scope stands in the same place of the stack, and may have begun in the same tick. */
TEST(a_block_ends_no_scope_but_its_own)
{
    enum {
        TIMES = 2000
    };
    tkt_clock_fake(NULL);
    tkt_window *window = open_window(TKT_KEEP);
    for (int i = 0; i < TIMES; i++) {
        takt_begin("pair");
        {
            TAKT_SCOPE("block");
            takt_end();
            takt_begin("outer");
            takt_begin("inner");
        }
        takt_end();
        takt_end();
    }
    takt_trace *trace = seal(window);
    assert_int_equal(trace->losses[TAKT_LOSS_MISMATCH], TIMES); /* the blocks */
    assert_int_equal(trace->facts.span_count, 4 * TIMES);
    assert_int_equal(trace->facts.unfinished, 0);
    takt_trace_release(trace);
}

TEST_MAIN(begin_test, end_test)
