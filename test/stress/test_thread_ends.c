/* Threads that record while they end: in destructors of the host's keys, in any of the rounds that
 * the C library makes of them. In the last round nobody tells Takt that the thread is gone. */
#include "support/sanitized.h"
#include "support/skip.h"
#include "support/test.h"

#include <takt/takt.h>

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    THREADS = 40,
    ROUNDS = PTHREAD_DESTRUCTOR_ITERATIONS
};

/* What the threads of a case do. */
typedef struct plan {
    bool records_before; /* and so has a log when it ends */
    int first_round;     /* of the destructor: scopes from here on */
    bool leaves_open;    /* a scope in the last round */
    bool is_late;        /* the key was made after Takt's */
} plan;

typedef struct thread {
    const plan *plan;
    pthread_key_t key;
    int round;
} thread;

static pthread_key_t early_key, late_key;
static uint64_t spans_made; /* atomic */

static void make_span(void)
{
    TAKT_SCOPE("a thread that ends");
    __atomic_fetch_add(&spans_made, 1, __ATOMIC_RELAXED);
}

static void destroy(void *value)
{
    thread *self = value;
    self->round++;
    if (self->round >= self->plan->first_round) {
        make_span();
        make_span();
    }
    if (self->round < ROUNDS) {
        pthread_setspecific(self->key, self);
    } else if (self->plan->leaves_open) {
        takt_begin("left open");
    }
}

static void *run(void *argument)
{
    thread *self = argument;
    if (self->plan->records_before)
        make_span();
    pthread_setspecific(self->key, self);
    return NULL;
}

static uint64_t count_spans(const takt_trace *trace)
{
    uint64_t count = 0;
    for (size_t i = 0; i < takt_trace_count(trace, TAKT_TRACE_TRACKS); i++) {
        takt_track_info track;
        assert_int_equal(takt_trace_track(trace, i, &track), TAKT_OK);
        count += track.span_count;
    }
    return count;
}

static void *record_elsewhere(void *unused)
{
    make_span();
    return unused;
}

/* Cycles are sealed while threads end and after they are gone; every scope is in one of them. */
static void end_threads(const plan *what)
{
    static thread threads[THREADS];
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = NULL;
    pthread_t ids[THREADS], other;
    spans_made = 0;
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    takt_profiler_start(profiler);
    make_span();
    for (size_t i = 0; i < THREADS; i++) {
        threads[i] = (thread){what, what->is_late ? late_key : early_key, 0};
        assert_int_equal(pthread_create(&ids[i], NULL, run, &threads[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
    takt_timing *timing; /* looks at all logs */
    assert_int_equal(takt_timing_begin(NULL, &timing), TAKT_OK);
    assert_int_equal(takt_timing_end(timing), TAKT_OK);
    takt_timing_free(timing);
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    const takt_trace *trace = takt_profiler_trace(profiler);
    uint64_t open = what->leaves_open ? THREADS : 0;
    assert_int_equal(count_spans(trace), spans_made + open);
    takt_profiler_destroy(profiler);
    /* and their logs serve others */
    assert_int_equal(pthread_create(&other, NULL, record_elsewhere, NULL), 0);
    pthread_join(other, NULL);
}

TEST(scopes_in_any_round_of_destructors_are_recorded)
{
    for (int late = 0; late < 2; late++)
        for (int before = 0; before < 2; before++)
            for (int round = 1; round <= ROUNDS; round++)
                end_threads(&(plan){before, round, false, late});
}

TEST(a_scope_left_open_in_the_last_round_does_no_harm)
{
    for (int late = 0; late < 2; late++) {
        end_threads(&(plan){true, 1, true, late});
        end_threads(&(plan){true, ROUNDS, true, late});
    }
}

/* Nothing looks for ended threads before the window ends: the log still names this one. */
TEST(a_thread_whose_memory_is_gone_is_sealed)
{
    enum {
        STACK_BYTES = 1 << 20
    };
    const plan what = {true, 1, false, true};
    thread self = {&what, late_key, 0};
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = NULL;
    pthread_attr_t attributes;
    pthread_t id;
    spans_made = 0;
    void *stack =
        mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(stack, MAP_FAILED);
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstack(&attributes, stack, STACK_BYTES), 0);
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    assert_int_equal(pthread_create(&id, &attributes, run, &self), 0);
    assert_int_equal(pthread_join(id, NULL), 0);
    assert_int_equal(munmap(stack, STACK_BYTES), 0);
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    assert_int_equal(count_spans(takt_profiler_trace(profiler)), spans_made);
    takt_profiler_destroy(profiler);
    pthread_attr_destroy(&attributes);
}

/* ---- Cancelled at any instruction ------------------------------------------------------------ */

static uint64_t turns; /* atomic */

static void *record_until_cancelled(void *unused)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &(int){0});
    for (uint32_t i = 0;; i++) {
        char name[] = "name 00";
        name[5] = (char)('0' + i / 10 % 10);
        name[6] = (char)('0' + i % 10);
        takt_begin(name);
        takt_span span = takt_span_begin(0, "span");
        TAKT_COUNTER("counter", i);
        takt_span_end(span);
        takt_end();
        __atomic_fetch_add(&turns, 1, __ATOMIC_RELAXED);
    }
    return unused;
}

/* A lock that such a thread held would keep the others, and its own end, waiting for ever. */
static void cancel_threads(takt_mode mode)
{
    enum {
        CANCELLED = 100
    };
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = NULL;
    options.mode = mode;
    options.max_memory_bytes = 8 << 20;
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    for (uint32_t i = 0; i < CANCELLED; i++) {
        pthread_t id;
        void *result = NULL;
        uint64_t until = __atomic_load_n(&turns, __ATOMIC_RELAXED) + 500 + 37 * i;
        assert_int_equal(pthread_create(&id, NULL, record_until_cancelled, NULL), 0);
        while (__atomic_load_n(&turns, __ATOMIC_RELAXED) < until)
            sched_yield();
        assert_int_equal(pthread_cancel(id), 0);
        assert_int_equal(pthread_join(id, &result), 0);
        assert_ptr_equal(result, PTHREAD_CANCELED);
    }
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    const takt_trace *trace = takt_profiler_trace(profiler);
    assert_non_null(trace);
    takt_profiler_destroy(profiler);
}

TEST(threads_that_are_cancelled_at_any_instruction_hold_nobody_up)
{
    if (IS_SANITIZED)
        SKIP_CASE("a sanitizer has locks of its own");
    cancel_threads(TAKT_MODE_TRACE);
    cancel_threads(TAKT_MODE_SUMMARY);
    cancel_threads(TAKT_MODE_BOTH);
    cancel_threads(TAKT_MODE_FLIGHT);
}

/* The kernel tells whether the memory of a thread is there: tkt_thread_peek(). */
static bool can_peek(void)
{
    int from = 1, to = 0;
    struct iovec source = {&from, sizeof from}, target = {&to, sizeof to};
    return process_vm_readv(getpid(), &target, 1, &source, 1, 0) == (ssize_t)sizeof to;
}

int main(void)
{
    if (!can_peek()) {
        puts("no process_vm_readv() here: a thread's last destructors must not record then");
        return 77;
    }
    pthread_key_create(&early_key, destroy);
    make_span();
    takt_thread_name("main"); /* Takt makes its key */
    pthread_key_create(&late_key, destroy);
    return run_all_tests(NULL, NULL);
}
