/* Threads come and go by the hundred while cycles are sealed, exported and read: nothing that was
 * recorded between two steps is lost, and timers on all threads see their own activities. */
#include "support/sanitized.h"
#include "support/test.h"

#include <takt/takt.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEPS = FEWER(16, 40),
    THREADS_A_STEP = 8,
    SCOPES_A_THREAD = 300,
    CYCLE = 3 /* steps */
};

/* ---- Threads that live within one step
 * ------------------------------------------------------------ */

static void *record_some(void *name)
{
    takt_thread_name(name);
    for (int i = 0; i < SCOPES_A_THREAD; i++) {
        TAKT_SCOPE("outer");
        TAKT_ARG("i", i);
        TAKT_PHASE("first");
        TAKT_PHASE("second");
        TAKT_COUNTER("count", i);
    }
    return NULL;
}

static void run_threads(void)
{
    pthread_t threads[THREADS_A_STEP];
    for (size_t i = 0; i < THREADS_A_STEP; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, record_some, "comes and goes"), 0);
    for (size_t i = 0; i < THREADS_A_STEP; i++)
        pthread_join(threads[i], NULL);
}

typedef struct seen {
    size_t cycles;
    uint64_t spans, losses;
} seen;

static takt_status swallow(void *user, const void *data, size_t size)
{
    (void)data;
    *(size_t *)user += size;
    return TAKT_OK;
}

/* What the recording must hold: STEPS of whole threads. */
static void count_trace(const takt_trace *trace, void *user)
{
    seen *all = user;
    const takt_facts *facts = takt_trace_facts(trace);
    size_t bytes = 0;
    takt_sink sink = {swallow, &bytes};
    assert_int_equal(facts->span_count, facts->step_count * THREADS_A_STEP * SCOPES_A_THREAD * 3);
    assert_int_equal(facts->begun_before + facts->unfinished, 0);
    assert_int_equal(takt_report(trace, "summary", NULL, &sink), TAKT_OK);
    assert_int_equal(takt_export(trace, "chrome", &sink), TAKT_OK);
    assert_true(bytes > facts->span_count);
    all->cycles++;
    all->spans += facts->span_count;
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        all->losses += takt_trace_loss(trace, (takt_loss)i);
}

TEST(nothing_is_lost_while_threads_come_and_go)
{
    const char *directory = getenv("TMPDIR");
    static const char *const traces[] = {"perfetto.gz"};
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = NULL;
    seen all = {0};
    options.schedule = (takt_schedule){.active = CYCLE};
    options.name = "comings";
    options.directory = directory ? directory : "/tmp";
    options.traces = traces;
    options.trace_count = 1;
    options.on_trace = count_trace;
    options.user = &all;
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    for (int step = 0; step < STEPS; step++) {
        run_threads();
        takt_profiler_step(profiler);
    }
    takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
    assert_int_equal(all.spans, (uint64_t)STEPS * THREADS_A_STEP * SCOPES_A_THREAD * 3);
    assert_int_equal(all.losses, 0);
    assert_int_equal(all.cycles, (STEPS + CYCLE - 1) / CYCLE);
}

/* ---- Threads that pay no heed to steps
 * ------------------------------------------------------------ */

static int is_over; /* atomic */

/* cmocka's assertions are for the thread that runs the test. */
static int broken_line; /* atomic */
#define must(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            __atomic_store_n(&broken_line, __LINE__, __ATOMIC_RELAXED);                            \
    } while (0)

static bool goes_on(void)
{
    return !__atomic_load_n(&is_over, __ATOMIC_RELAXED);
}

static void run_timer(int depth)
{
    double elapsed_ms = -1.0;
    {
        TAKT_TIMER("timer", .silent = true, .elapsed_ms = &elapsed_ms,
                   .filter = TAKT_TIMING_KERNEL);
        TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, "work");
        if (depth > 0)
            run_timer(depth - 1);
    }
    must(elapsed_ms >= 0.0);
}

static void *run_timers(void *unused)
{
    while (goes_on())
        run_timer(5);
    return unused;
}

/* The activities of this thread's own work are all there, whoever else collects. */
static void *collect_own(void *unused)
{
    while (goes_on()) {
        takt_timing *timing;
        must(takt_timing_begin(NULL, &timing) == TAKT_OK);
        for (int i = 0; i < 10; i++) {
            TAKT_ACTIVITY("own", TAKT_TIMING_MEMSET, "own work");
        }
        must(takt_timing_end(timing) == TAKT_OK);
        size_t own = 0;
        for (size_t i = 0; i < takt_timing_count(timing); i++)
            own += strcmp(takt_timing_at(timing, i)->device, "own") == 0;
        must(own >= 10);
        takt_timing_free(timing);
    }
    return unused;
}

static void *spawn(void *unused)
{
    while (goes_on()) {
        pthread_t thread;
        must(pthread_create(&thread, NULL, record_some, "short") == 0);
        pthread_join(thread, NULL);
    }
    return unused;
}

static void *record_tasks(void *unused)
{
    takt_track track = takt_track_named("tasks");
    takt_span last = 0;
    while (goes_on()) {
        takt_span span = takt_span_begin(track, "task");
        takt_span_end(last);
        last = span;
        takt_memory_allocated(&last, 100);
        takt_memory_freed(&last);
        TAKT_WORK(1.0, 2.0);
        TAKT_MARK("mark");
        sched_yield(); /* or memory is used up before a busy machine has taken a step */
    }
    takt_span_end(last);
    return unused;
}

/* Spans of a thread must nest and stand in order, however the recording was cut. */
static void check_tracks(const takt_trace *trace, void *user)
{
    (*(size_t *)user)++;
    for (size_t i = 0; i < takt_trace_count(trace, TAKT_TRACE_TRACKS); i++) {
        takt_track_info track;
        assert_int_equal(takt_trace_track(trace, i, &track), TAKT_OK);
        uint64_t last_ns = 0;
        for (size_t s = 0; s < track.span_count; s++) {
            takt_span_info span, parent;
            assert_int_equal(takt_trace_span(trace, i, s, &span), TAKT_OK);
            assert_true(span.begin_ns >= last_ns && span.end_ns >= span.begin_ns);
            last_ns = span.begin_ns;
            if (span.parent == TAKT_NO_PARENT)
                continue;
            assert_true(span.parent < s);
            assert_int_equal(takt_trace_span(trace, i, span.parent, &parent), TAKT_OK);
            assert_true(parent.begin_ns <= span.begin_ns && parent.end_ns >= span.end_ns);
        }
    }
}

static void run_beside_others(takt_mode mode)
{
    void *(*const others[])(void *) = {run_timers, run_timers, collect_own, spawn, record_tasks};
    enum {
        OTHERS = sizeof others / sizeof *others
    };
    pthread_t threads[OTHERS];
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = NULL;
    size_t cycles = 0;
    options.mode = mode;
    options.max_memory_bytes = 0;
    options.schedule = (takt_schedule){.wait = 1, .warmup = 1, .active = 2};
    options.on_trace = check_tracks;
    options.user = &cycles;
    __atomic_store_n(&is_over, 0, __ATOMIC_RELAXED);
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    for (size_t i = 0; i < OTHERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, others[i], NULL), 0);
    takt_profiler_start(profiler);
    for (int step = 0; step < STEPS; step++) {
        run_threads();
        takt_profiler_step(profiler);
    }
    takt_profiler_stop(profiler);
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    for (size_t i = 0; i < OTHERS; i++)
        pthread_join(threads[i], NULL);
    takt_profiler_destroy(profiler);
    assert_int_equal(__atomic_load_n(&broken_line, __ATOMIC_RELAXED), 0);
    assert_int_equal(cycles, STEPS / 4);
}

TEST(traces_are_whole_beside_timers_and_tasks)
{
    run_beside_others(TAKT_MODE_TRACE);
    run_beside_others(TAKT_MODE_BOTH);
}

TEST(flight_recorder_and_summary_work_beside_others)
{
    run_beside_others(TAKT_MODE_FLIGHT);
    run_beside_others(TAKT_MODE_SUMMARY);
}

TEST_MAIN(NULL, NULL)
