/* Recording on many threads at once, with the real clock and the fast paths: nothing is lost that
 * is not counted, sealing disturbs nobody, and threads that come and go need no memory. */
#include "base/alloc.h"
#include "profiler/session.h"
#include "record/log.h"

#include "support/sanitized.h"
#include "support/skip.h"
#include "support/test.h"
#include "support/windows.h"

#include <takt/takt.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Two scopes and a phase each round: three spans. */
static void one_round(void)
{
    TAKT_SCOPE("outer");
    {
        TAKT_SCOPE("inner");
    }
    TAKT_PHASE("last");
}

static void *record_rounds(void *argument)
{
    const size_t rounds = *(const size_t *)argument;
    for (size_t i = 0; i < rounds; i++)
        one_round();
    return NULL;
}

static tkt_window *open_window(uint32_t modes, uint64_t max_bytes)
{
    const tkt_wish wish = {.modes = modes, .mask = TAKT_NORMAL_BIT, .max_bytes = max_bytes};
    return window_with(&wish);
}

static size_t count_spans(const takt_trace *trace)
{
    size_t count = 0;
    for (size_t i = 0; i < trace->tracks.count; i++)
        count += trace->tracks.items[i].spans.count;
    return count;
}

/* Children lie within their parents and stand behind them. */
static void check_nesting(const takt_trace *trace)
{
    for (size_t t = 0; t < trace->tracks.count; t++) {
        const tkt_spans *spans = &trace->tracks.items[t].spans;
        for (size_t i = 0; i < spans->count; i++) {
            const tkt_span *span = &spans->items[i];
            assert_true(span->begin_ns <= span->end_ns);
            if (i > 0)
                assert_true(spans->items[i - 1].begin_ns <= span->begin_ns);
            if (span->parent == TKT_NO_SPAN)
                continue;
            assert_true(span->parent < i);
            assert_true(spans->items[span->parent].begin_ns <= span->begin_ns);
            assert_true(spans->items[span->parent].end_ns >= span->end_ns);
        }
    }
}

static void start_threads(pthread_t *threads, size_t count, size_t *rounds)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, record_rounds, rounds), 0);
}

static void join_threads(pthread_t *threads, size_t count)
{
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static void *record_without_memory_at_first(void *unused)
{
    tkt_alloc_fail(0, UINT64_MAX);
    for (int i = 0; i < 8; i++) {
        TAKT_SCOPE("lost");
    }
    tkt_alloc_fail(0, 0);
    for (int i = 0; i < 100; i++) {
        TAKT_SCOPE("late");
    }
    return unused;
}

/* The first test, since later no thread needs memory for a log. Trying costs, so after 1, 2, 3, 4
 * and 5 failures it leaves out 0, 1, 3, 7 and 15 events. */
TEST(a_thread_without_memory_tries_again)
{
    pthread_t thread;
    tkt_window *window = open_window(TKT_KEEP, 0);
    assert_int_equal(pthread_create(&thread, NULL, record_without_memory_at_first, NULL), 0);
    pthread_join(thread, NULL);
    takt_trace *trace = end_and_seal(window);
    assert_in_range(count_spans(trace), 100 - 15, 99);
    assert_int_equal(count_spans(trace) + trace->losses[TAKT_LOSS_NO_MEMORY], 8 + 100);
    takt_trace_release(trace);
}

static void solve(tkt_window **begun_inside)
{
    TAKT_SCOPE("solve");
    TAKT_PHASE("assemble");
    if (begun_inside)
        *begun_inside = open_window(TKT_KEEP, 0);
    TAKT_PHASE("factor");
}

static void job(tkt_window **begun_inside)
{
    TAKT_SCOPE("job");
    solve(begun_inside);
}

/* Runs once while the recording begins, then some times more. */
static takt_trace *record_from_inside(void (*run)(tkt_window **begun_inside), int times)
{
    tkt_window *window;
    run(&window);
    for (int i = 0; i < times; i++)
        run(NULL);
    return end_and_seal(window);
}

static void check_parents(const takt_trace *trace, const uint32_t *parents, size_t count)
{
    assert_int_equal(trace->tracks.count, 1);
    const tkt_spans *spans = &trace->tracks.items[0].spans;
    assert_int_equal(spans->count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(spans->items[i].parent, parents[i]);
}

/* The first "factor" has lost its scope, and lies around one "solve"; the others are as ever. */
TEST(a_phase_without_its_scope_ends_with_the_next_such_scope)
{
    takt_trace *trace = record_from_inside(solve, 3);
    static const uint32_t parents[] = {TKT_NO_SPAN, 0, 1, 1, TKT_NO_SPAN, 4, 4, TKT_NO_SPAN, 7, 7};
    check_parents(trace, parents, sizeof parents / sizeof *parents);
    takt_trace_release(trace);
}

/* The same with a scope around. While the stray is open, the fast paths are not. */
TEST(a_phase_without_its_scope_ends_with_the_scope_around_the_next_one)
{
    takt_trace *trace = record_from_inside(job, 3);
    static const uint32_t parents[] = {TKT_NO_SPAN, 0, 1,           2, 2,  TKT_NO_SPAN, 5,
                                       6,           6, TKT_NO_SPAN, 9, 10, 10};
    check_parents(trace, parents, sizeof parents / sizeof *parents);
    assert_int_equal(takt_thread_hot_v1.busy, 0);
    takt_trace_release(trace);
}

/* The same in a scope that an earlier recording has begun. */
TEST(a_phase_without_its_scope_ends_too_if_an_older_scope_is_open)
{
    tkt_window *earlier = open_window(TKT_KEEP, 0);
    TAKT_SCOPE("worker");
    takt_trace_release(end_and_seal(earlier));
    takt_trace *trace = record_from_inside(job, 2);
    static const uint32_t parents[] = {TKT_NO_SPAN, 0, 1, 2, 3, 3, 0, 6, 7, 7};
    check_parents(trace, parents, sizeof parents / sizeof *parents);
    takt_trace_release(trace);
}

static void descend(int depth)
{
    TAKT_SCOPE("descend");
    TAKT_PHASE("inner");
    if (depth > 0)
        descend(depth - 1);
}

TEST(a_phase_of_a_recursion_is_no_stray)
{
    tkt_window *window = open_window(TKT_KEEP, 0);
    descend(3);
    takt_trace *trace = end_and_seal(window);
    static const uint32_t parents[] = {TKT_NO_SPAN, 0, 1, 2, 3, 4, 5, 6};
    check_parents(trace, parents, sizeof parents / sizeof *parents);
    const tkt_span *spans = trace->tracks.items[0].spans.items;
    for (int i = 1; i < 8; i += 2)
        assert_true(spans[i].end_ns >= spans[i - 1].end_ns);
    takt_trace_release(trace);
}

TEST(every_span_of_every_thread_is_there)
{
    enum {
        THREADS = 4
    };
    pthread_t threads[THREADS];
    size_t rounds = 50000;
    tkt_window *window = open_window(TKT_KEEP, 0);
    start_threads(threads, THREADS, &rounds);
    join_threads(threads, THREADS);
    takt_trace *trace = end_and_seal(window);
    assert_int_equal(count_spans(trace), 3 * rounds * THREADS);
    assert_int_equal(trace->tracks.count, THREADS);
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        assert_int_equal(trace->losses[i], 0);
    check_nesting(trace);
    takt_trace_release(trace);
}

TEST(what_is_recorded_and_what_is_dropped_add_up)
{
    enum {
        THREADS = 4
    };
    pthread_t threads[THREADS];
    size_t rounds = 100000;
    tkt_window *window = open_window(TKT_KEEP, 1 << 20);
    start_threads(threads, THREADS, &rounds);
    join_threads(threads, THREADS);
    takt_trace *trace = end_and_seal(window);
    uint64_t dropped = trace->losses[TAKT_LOSS_BUFFER_FULL];
    assert_true(dropped > 0);
    assert_int_equal(count_spans(trace) + dropped, 3 * rounds * THREADS);
    check_nesting(trace);
    takt_trace_release(trace);
}

/* A window that has ended waits for its seal while the next one finds the memory full; a third one
 * begins and ends inside of it. Each loses its own events, and no others. */
TEST(windows_with_full_memory_lose_only_their_own)
{
    size_t many = 100000, some = 3000, few = 10;
    tkt_window *first = open_window(TKT_KEEP, 1 << 20);
    record_rounds(&many);
    tkt_window_end(first, tkt_ticks());
    tkt_window *second = open_window(TKT_KEEP, 1 << 20);
    record_rounds(&some);
    tkt_window *inner = open_window(TKT_KEEP, 1 << 20);
    record_rounds(&some);
    tkt_window_end(inner, tkt_ticks());
    record_rounds(&some);
    tkt_window_end(second, tkt_ticks());

    struct {
        tkt_window *window;
        size_t rounds;
    } windows[] = {{first, many}, {second, 3 * some}, {inner, some}};
    for (size_t i = 0; i < 3; i++) {
        takt_trace *trace = seal_window(windows[i].window);
        uint64_t dropped = trace->losses[TAKT_LOSS_BUFFER_FULL];
        assert_true(dropped > 0);
        assert_int_equal(count_spans(trace) + dropped, 3 * windows[i].rounds);
        check_nesting(trace);
        takt_trace_release(trace);
    }

    tkt_window *last = open_window(TKT_KEEP, 1 << 20);
    record_rounds(&few);
    takt_trace *trace = end_and_seal(last);
    assert_int_equal(count_spans(trace), 3 * few);
    assert_int_equal(trace->losses[TAKT_LOSS_BUFFER_FULL], 0);
    takt_trace_release(trace);
}

static uint64_t last_round_ns;

static void *record_rounds_and_one(void *rounds)
{
    record_rounds(rounds);
    last_round_ns = takt_now_ns();
    one_round();
    return NULL;
}

TEST(the_flight_recorder_keeps_the_last_spans)
{
    size_t rounds = 300000;
    tkt_window *window = open_window(TKT_KEEP | TKT_RING, 1 << 20);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, record_rounds_and_one, &rounds), 0);
    join_threads(&thread, 1);
    takt_trace *trace = end_and_seal(window);
    uint64_t overwritten = trace->losses[TAKT_LOSS_OVERWRITTEN];
    assert_int_equal(count_spans(trace) + overwritten, 3 * (rounds + 1));
    assert_int_equal(trace->losses[TAKT_LOSS_BUFFER_FULL], 0);
    assert_true(count_spans(trace) > (1 << 20) / sizeof(takt_record) * 9 / 10);
    const tkt_spans *spans = &trace->tracks.items[0].spans;
    uint64_t slack_ns = 10000 + (uint64_t)trace->facts.clock_uncertainty_ns;
    assert_true(spans->items[spans->count - 3].begin_ns + slack_ns >= last_round_ns);
    check_nesting(trace);
    takt_trace_release(trace);
}

static uint64_t rounds_made; /* atomic */

static void *record_until_told(void *argument)
{
    while (!__atomic_load_n((bool *)argument, __ATOMIC_RELAXED)) {
        one_round();
        __atomic_fetch_add(&rounds_made, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void wait_for_rounds(uint64_t count)
{
    uint64_t before = __atomic_load_n(&rounds_made, __ATOMIC_RELAXED);
    while (__atomic_load_n(&rounds_made, __ATOMIC_RELAXED) - before < count)
        usleep(500);
}

TEST(sealing_while_threads_record_gives_whole_pictures)
{
    enum {
        THREADS = 3
    };
    pthread_t threads[THREADS];
    bool is_over = false;
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, record_until_told, &is_over), 0);
    for (int i = 0; i < FEWER(20, 60); i++) {
        tkt_window *window = open_window(i % 2 ? TKT_KEEP : TKT_KEEP | TKT_FOLD, 64u << 20);
        wait_for_rounds(2000);
        takt_trace *trace = end_and_seal(window);
        check_nesting(trace);
        assert_int_equal(trace->losses[TAKT_LOSS_MISMATCH], 0);
        takt_trace_release(trace);
    }
    __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
    join_threads(threads, THREADS);
}

TEST(windows_that_overlap_each_get_their_own_spans)
{
    tkt_window *outer = open_window(TKT_KEEP, 0);
    one_round();
    tkt_window *inner = open_window(TKT_KEEP, 0);
    one_round();
    one_round();
    takt_trace *trace = end_and_seal(inner);
    assert_int_equal(count_spans(trace), 6);
    takt_trace_release(trace);
    one_round();
    trace = end_and_seal(outer);
    assert_int_equal(count_spans(trace), 12);
    takt_trace_release(trace);
}

TEST(chunks_go_back_when_the_last_window_is_closed)
{
    size_t rounds = 100000;
    tkt_window *window = open_window(TKT_KEEP, 0);
    uint64_t before = tkt_pool_used_bytes();
    record_rounds(&rounds);
    assert_true(tkt_pool_used_bytes() > before + rounds * 3 * sizeof(takt_record) * 9 / 10);
    takt_trace_release(end_and_seal(window));
    assert_true(tkt_pool_used_bytes() <= before + TKT_CHUNK_BYTES);
}

TEST(as_many_chunks_are_used_as_the_limit_allows)
{
    tkt_chunk *chunks[2];
    uint64_t limit = tkt_pool_limit_bytes();
    tkt_pool_limit(tkt_pool_used_bytes() + 2 * TKT_CHUNK_BYTES);
    for (int i = 0; i < 2; i++)
        assert_non_null(chunks[i] = tkt_pool_take(0));
    assert_null(tkt_pool_take(0));
    for (int i = 0; i < 2; i++)
        tkt_pool_give(chunks[i]);
    tkt_pool_limit(limit);
}

static void *record_after_the_limit(void *barrier)
{
    size_t rounds = 1000; /* several chunks */
    one_round();
    pthread_barrier_wait(barrier);
    pthread_barrier_wait(barrier);
    record_rounds(&rounds);
    TAKT_MARK("last");
    return NULL;
}

/* No memory is left. What the threads have belongs to a window that waits to be sealed, too, so it
 * must stay: each gets another chunk, of which it keeps the newest events. */
TEST(each_thread_goes_on_beside_what_waits_to_be_sealed)
{
    enum {
        THREADS = 4
    };
    pthread_t threads[THREADS];
    pthread_barrier_t barrier;
    uint64_t limit = tkt_pool_limit_bytes();
    tkt_window *first = open_window(TKT_KEEP, 0), *second = open_window(TKT_KEEP, 0);
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, record_after_the_limit, &barrier), 0);
    pthread_barrier_wait(&barrier);
    tkt_window_end(first, tkt_ticks());
    tkt_pool_limit(tkt_pool_used_bytes());
    pthread_barrier_wait(&barrier);
    join_threads(threads, THREADS);
    takt_trace *trace = end_and_seal(second);
    assert_int_equal(trace->marks.count, THREADS);
    takt_trace_release(trace);
    trace = seal_window(first);
    assert_int_equal(count_spans(trace), 3 * THREADS);
    takt_trace_release(trace);
    tkt_pool_limit(limit);
    pthread_barrier_destroy(&barrier);
}

static void *record_three(void *argument)
{
    size_t rounds = 1;
    return record_rounds(argument ? argument : &rounds);
}

TEST(thousands_of_threads_leave_their_spans_and_no_memory)
{
    enum {
        THREADS = FEWER(3000, 10000)
    };
    tkt_window *window = open_window(TKT_KEEP, 0);
    uint64_t before = tkt_pool_used_bytes();
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, record_three, NULL), 0);
        pthread_join(thread, NULL);
    }
    /* five slots a thread: three spans, and who it is in two */
    assert_true(tkt_pool_used_bytes() - before < THREADS * 5 * sizeof(takt_record) * 12 / 10);
    takt_trace *trace = end_and_seal(window);
    assert_int_equal(trace->tracks.count, THREADS);
    assert_int_equal(count_spans(trace), 3 * THREADS);
    takt_trace_release(trace);
    assert_true(tkt_pool_used_bytes() <= before + TKT_CHUNK_BYTES);
}

static void *record_as(void *name)
{
    if (name)
        prctl(PR_SET_NAME, name);
    one_round();
    return NULL;
}

/* A thread has the name of the one that starts it until it takes another, and the first one has
 * that of the program: neither tells threads apart. */
TEST(threads_are_named_by_names_of_their_own)
{
    char *const names[] = {NULL, program_invocation_short_name, "worker"};
    char before[16];
    prctl(PR_GET_NAME, before);
    prctl(PR_SET_NAME, "simulator");
    tkt_window *window = open_window(TKT_KEEP, 0);
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, record_as, names[i]), 0);
        pthread_join(thread, NULL);
    }
    takt_trace *trace = end_and_seal(window);
    prctl(PR_SET_NAME, before);
    assert_int_equal(trace->tracks.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(tkt_trace_text(trace, trace->tracks.items[i].name),
                            i < 2 ? "" : "worker");
    takt_trace_release(trace);
}

static pthread_key_t last_key; /* Takt's own handler runs before its destructor */

/* Sets the value anew in each round, so that the thread records after the last one of Takt's. */
static void record_in_each_round(void *round)
{
    one_round();
    if ((uintptr_t)round < 100)
        pthread_setspecific(last_key, (char *)round + 1);
}

static void *end_unnoticed(void *unused)
{
    pthread_setspecific(last_key, (void *)1);
    return unused;
}

TEST(the_logs_of_threads_that_end_unnoticed_are_used_again)
{
    enum {
        THREADS = 200
    };
#ifdef __SANITIZE_THREAD__
    SKIP_CASE("ThreadSanitizer forgets a thread before its last destructors");
#endif
    tkt_window *window = open_window(TKT_KEEP, 0);
    one_round(); /* makes Takt's key first */
    assert_int_equal(pthread_key_create(&last_key, record_in_each_round), 0);
    uint32_t before = tkt_log_count();
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, end_unnoticed, NULL), 0);
        pthread_join(thread, NULL);
    }
    assert_true(tkt_log_count() - before <= before / 4 + 2);
    pthread_key_delete(last_key);
    takt_trace_release(end_and_seal(window));
}

static size_t looks; /* atomic; how often a thread asked the kernel about another one */

/* Takes the place of the C library's function. */
ssize_t process_vm_readv(pid_t process, const struct iovec *to, unsigned long to_count,
                         const struct iovec *from, unsigned long from_count, unsigned long flags)
{
    __atomic_add_fetch(&looks, 1, __ATOMIC_RELAXED);
    return syscall(SYS_process_vm_readv, process, to, to_count, from, from_count, flags);
}

static void *record_and_stay(void *all_are_there)
{
    one_round();
    pthread_barrier_wait(all_are_there);
    return NULL;
}

TEST(a_new_thread_looks_at_a_few_others_however_many_live)
{
    enum {
        THREADS = 200
    };
    pthread_t threads[THREADS];
    pthread_barrier_t all_are_there;
    tkt_window *window = open_window(TKT_KEEP, 0);
    pthread_barrier_init(&all_are_there, NULL, THREADS + 1);
    looks = 0;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, record_and_stay, &all_are_there), 0);
    pthread_barrier_wait(&all_are_there);
    size_t most = 10 * THREADS, had = __atomic_load_n(&looks, __ATOMIC_RELAXED);
    join_threads(threads, THREADS);
    assert_true(had <= most);
    takt_trace_release(end_and_seal(window));
    pthread_barrier_destroy(&all_are_there);
}

TEST(a_forked_child_records_nothing_and_ends)
{
    enum {
        THREADS = 2
    };
    pthread_t threads[THREADS];
    bool is_over = false;
    tkt_window *window = open_window(TKT_KEEP | TKT_FOLD, 64u << 20);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, record_until_told, &is_over), 0);
    for (int i = 0; i < 50; i++) {
        pid_t child = fork();
        if (child == 0) {
            size_t rounds = 1000;
            alarm(600);
            record_rounds(&rounds);
            tkt_window *mine;
            const tkt_wish wish = {.modes = TKT_KEEP, .mask = TAKT_NORMAL_BIT};
            _exit(tkt_window_open(&wish, &mine) == TAKT_BAD_STATE ? 7 : 1);
        }
        int status;
        waitpid(child, &status, 0);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 7);
    }
    __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
    join_threads(threads, THREADS);
    takt_trace *trace = end_and_seal(window);
    check_nesting(trace);
    takt_trace_release(trace);
}

TEST_MAIN(NULL, NULL)
