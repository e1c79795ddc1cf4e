/* A host's allocator that is itself instrumented: Takt allocates through it while Takt records it.
 */
#include "support/test.h"

#include <takt/takt.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static uint64_t calls;      /* atomic */
static uint64_t fail_every; /* atomic; 0: never */

static void *resize(void *user, void *pointer, size_t size)
{
    TAKT_SCOPE("the host's allocator");
    TAKT_ARG("size", size);
    takt_begin("inner");
    uint64_t number = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    uint64_t every = __atomic_load_n(&fail_every, __ATOMIC_RELAXED);
    void *result = NULL;
    (void)user;
    takt_memory_freed(pointer);
    if (size == 0)
        free(pointer);
    else if (every == 0 || number % every != 0)
        result = realloc(pointer, size);
    if (result)
        takt_memory_allocated(result, size);
    else if (size > 0 && pointer)
        takt_memory_allocated(pointer, size);
    takt_end();
    return result;
}

static void *record_some(void *unused)
{
    char name[32] = "name 0000";
    for (int i = 0; i < 2000; i++) {
        name[5] = (char)('0' + i / 100 % 10);
        name[6] = (char)('0' + i / 10 % 10);
        name[7] = (char)('0' + i % 10);
        TAKT_SCOPE("scope");
        takt_begin(name);
        TAKT_ARG("name", name);
        takt_span_end(takt_span_begin(takt_track_named("track"), name));
        takt_end();
    }
    return unused;
}

#define SCOPES_OF_TWO_STEPS (2 * 2 * 2000)

static size_t scopes_found, losses_found;

static void count_scopes(const takt_trace *trace, void *user)
{
    takt_track_info track;
    takt_span_info span;
    (void)user;
    for (size_t i = 0; i < takt_trace_count(trace, TAKT_TRACE_TRACKS); i++)
        for (size_t k = 0; takt_trace_track(trace, i, &track) == TAKT_OK && k < track.span_count;
             k++)
            scopes_found +=
                takt_trace_span(trace, i, k, &span) == TAKT_OK && strcmp(span.name, "scope") == 0;
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        losses_found += takt_trace_loss(trace, (takt_loss)i);
}

static void run_session(takt_mode mode)
{
    pthread_t thread;
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = NULL;
    options.mode = mode;
    options.schedule = (takt_schedule){.active = 2, .repeat = 1};
    options.on_trace = count_scopes;
    scopes_found = losses_found = 0;
    if (takt_profiler_create(&options, &profiler) != TAKT_OK)
        return;
    takt_profiler_start(profiler);
    for (int step = 0; step < 6; step++) {
        TAKT_TIMER("timer", .silent = true, .filter = TAKT_TIMING_ALL);
        bool has_thread = pthread_create(&thread, NULL, record_some, NULL) == 0;
        record_some(NULL);
        if (has_thread)
            pthread_join(thread, NULL);
        takt_profiler_step(profiler);
    }
    takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
}

static void ignore(takt_log_level level, const char *line, void *user)
{
    TAKT_SCOPE("the host's log");
    (void)level;
    (void)line;
    (void)user;
}

TEST(instrumented_allocator_works_in_every_mode)
{
    for (int mode = TAKT_MODE_TRACE; mode <= TAKT_MODE_FLIGHT; mode++)
        run_session((takt_mode)mode);
    assert_true(__atomic_load_n(&calls, __ATOMIC_RELAXED) > 1000);
}

TEST(it_may_run_out_of_memory_at_times)
{
    static const uint64_t everies[] = {1, 2, 3, 5, 17, 101, 997};
    takt_set_log(ignore, NULL);
    for (size_t i = 0; i < sizeof everies / sizeof *everies; i++) {
        __atomic_store_n(&fail_every, everies[i], __ATOMIC_RELAXED);
        for (int mode = TAKT_MODE_TRACE; mode <= TAKT_MODE_FLIGHT; mode++) {
            run_session((takt_mode)mode);
            assert_true(scopes_found <= SCOPES_OF_TWO_STEPS);
        }
    }
    __atomic_store_n(&fail_every, 0, __ATOMIC_RELAXED);
    run_session(TAKT_MODE_TRACE); /* nothing is left of that */
    assert_int_equal(scopes_found, SCOPES_OF_TWO_STEPS);
    assert_int_equal(losses_found, 0);
}

int main(void)
{
    const takt_allocator allocator = {resize, NULL};
    if (takt_set_allocator(&allocator) != TAKT_OK)
        return 1;
    return run_all_tests(NULL, NULL);
}
