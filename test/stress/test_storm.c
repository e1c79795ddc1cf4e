/* Profilers that begin, step and end on four threads at once, with all that they may ask for,
 * beside threads that record and one profiler that all step. Of interest under ThreadSanitizer;
 * here no trace may end before it begins. */
#include <takt/takt.h>

#include "support/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS   4
#define RECORDERS 2
#define PROFILERS 25 /* of each thread */

static takt_profiler *shared;
static atomic_bool is_over;
static atomic_uint traces, backward;
static const char *folder;

static void look(const takt_trace *trace, void *user)
{
    (void)user;
    const takt_facts *info = takt_trace_facts(trace);
    atomic_fetch_add(&traces, 1);
    if (info->end_ns < info->begin_ns)
        atomic_fetch_add(&backward, 1);
}

static void hear_nothing(takt_log_level level, const char *line, void *user)
{
    (void)level;
    (void)line;
    (void)user;
}

static void *come_and_go(void *argument)
{
    TAKT_SCOPE("short");
    return argument;
}

static void *record(void *argument)
{
    for (unsigned i = 0; !atomic_load(&is_over); i++) {
        TAKT_SCOPE("recorder");
        TAKT_ARG("number", i);
        TAKT_PHASE("first");
        TAKT_PHASE("second");
        TAKT_COUNTER("count", i);
        if (i % 64 != 0)
            continue;
        char name[32];
        snprintf(name, sizeof name, "name %u", i % 100);
        takt_begin(name);
        takt_end();
        takt_span_end(takt_span_begin(takt_track_named(name), name));
        pthread_t thread;
        if (i % 4096 == 0 && pthread_create(&thread, NULL, come_and_go, NULL) == 0)
            pthread_join(thread, NULL);
    }
    return argument;
}

static takt_profiler_options any_options(unsigned *seed)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.mode = (takt_mode)(rand_r(seed) % 4);
    options.max_memory_bytes = (UINT64_C(64) << 10) << rand_r(seed) % 8;
    options.background = (takt_choice)(rand_r(seed) % 3);
    options.stream = rand_r(seed) % 5 == 0;
    options.crash_safe = rand_r(seed) % 8 == 0;
    options.with_stack = rand_r(seed) % 6 == 0;
    options.schedule = (takt_schedule){.wait = (uint32_t)rand_r(seed) % 2,
                                       .warmup = (uint32_t)rand_r(seed) % 2,
                                       .active = 1 + (uint32_t)rand_r(seed) % 3,
                                       .repeat = (uint32_t)rand_r(seed) % 3};
    options.on_trace = look;
    options.directory = folder;
    return options;
}

static void *profile(void *argument)
{
    unsigned seed = (unsigned)(uintptr_t)argument;
    for (int i = 0; i < PROFILERS; i++) {
        takt_profiler_options options = any_options(&seed);
        takt_profiler *profiler;
        if (takt_profiler_create(&options, &profiler) != TAKT_OK)
            continue;
        takt_profiler_start(profiler);
        for (int steps = rand_r(&seed) % 8; steps > 0; steps--) {
            come_and_go(NULL);
            takt_profiler_step(profiler);
            takt_profiler_step(shared);
        }
        if (rand_r(&seed) % 4)
            takt_profiler_stop(profiler);
        takt_profiler_destroy(profiler);
        if (rand_r(&seed) % 4 == 0)
            takt_profiler_stop(shared);
        takt_profiler_start(shared);
    }
    return NULL;
}

TEST(profilers_of_many_threads_do_not_disturb_each_other)
{
    pthread_t threads[THREADS + RECORDERS];
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    folder = getenv("TMPDIR");
    options.on_trace = look;
    options.mode = TAKT_MODE_BOTH;
    options.schedule = (takt_schedule){.active = 3};
    takt_set_log(hear_nothing, NULL); /* of the summaries, only one at a time is recorded */
    assert_int_equal(takt_profiler_create(&options, &shared), TAKT_OK);
    for (uintptr_t i = 0; i < THREADS + RECORDERS; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, i < THREADS ? profile : record, (void *)(i + 1)), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    atomic_store(&is_over, true);
    for (int i = THREADS; i < THREADS + RECORDERS; i++)
        pthread_join(threads[i], NULL);
    takt_profiler_stop(shared);
    takt_profiler_destroy(shared);
    assert_true(atomic_load(&traces) > PROFILERS);
    assert_int_equal(atomic_load(&backward), 0);
}

TEST_MAIN(NULL, NULL)
