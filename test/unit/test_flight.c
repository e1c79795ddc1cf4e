/* The flight recorder keeps the newest events of every thread. */
#include "support/test.h"

#include <takt/takt.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SPANS = 50000
};

static void record_one(void)
{
    TAKT_SCOPE("one");
}

static void record_many(void)
{
    for (int i = 0; i < SPANS; i++) {
        TAKT_SCOPE("early");
    }
    TAKT_SCOPE("last");
}

static pthread_barrier_t barrier;

/* Has a log, of a single chunk, before the first thread has taken all memory. */
static void *record_late(void *name)
{
    takt_thread_name(name);
    record_one();
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    record_many();
    return NULL;
}

/* The track of that name ends with the span "last". */
static bool has_last(const takt_trace *trace, const char *name)
{
    for (size_t i = 0; i < takt_trace_count(trace, TAKT_TRACE_TRACKS); i++) {
        takt_track_info track;
        takt_span_info span;
        if (takt_trace_track(trace, i, &track) == TAKT_OK && strcmp(track.name, name) == 0 &&
            takt_trace_span(trace, i, track.span_count - 1, &span) == TAKT_OK)
            return strcmp(span.name, "last") == 0;
    }
    return false;
}

#define TEXT_BYTES 16000

static takt_status append(void *user, const void *bytes, size_t size)
{
    size_t used = strlen(user);
    assert_true(used + size < TEXT_BYTES);
    memcpy((char *)user + used, bytes, size);
    return TAKT_OK;
}

/* Writes a report into `out`, which is zeroed. */
static void get_text(char out[TEXT_BYTES], const takt_trace *trace, const char *report,
                     takt_format format)
{
    const takt_sink sink = {.write = append, .user = out};
    takt_report_options options = TAKT_REPORT_OPTIONS_INIT;
    options.format = format;
    options.width = 400;
    assert_int_equal(takt_report(trace, report, &options, &sink), TAKT_OK);
}

/* Reports tell how far back the recorder reaches, which differs between threads. */
static void assert_tells_reach(const takt_trace *trace)
{
    uint64_t latest_ns = 0;
    char expected[128], latest[64] = "";
    static char threads[TEXT_BYTES], scopes[TEXT_BYTES];
    get_text(threads, trace, "threads", TAKT_FORMAT_CSV);
    get_text(scopes, trace, "scopes", TAKT_FORMAT_TEXT);
    assert_non_null(strstr(threads, ",scope_time_percent,first_at_ns"));
    for (size_t i = 0; i < takt_trace_count(trace, TAKT_TRACE_TRACKS); i++) {
        takt_track_info track;
        takt_span_info first;
        assert_int_equal(takt_trace_track(trace, i, &track), TAKT_OK);
        assert_int_equal(takt_trace_span(trace, i, 0, &first), TAKT_OK);
        uint64_t at_ns = first.begin_ns - takt_trace_facts(trace)->begin_ns;
        snprintf(expected, sizeof expected, "%s,%u,%zu,", track.name, (unsigned)track.thread_id,
                 (size_t)track.span_count);
        const char *row = strstr(threads, expected);
        snprintf(expected, sizeof expected, ",%llu\r\n", (unsigned long long)at_ns);
        assert_non_null(row);
        assert_non_null(strstr(row, expected));
        if (at_ns > latest_ns) {
            latest_ns = at_ns;
            snprintf(latest, sizeof latest, ": those of %.40s begin at ", track.name);
        }
    }
    assert_non_null(strstr(scopes, latest));
}

TEST(thread_that_comes_late_keeps_its_newest)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = NULL;
    pthread_t thread;
    options.mode = TAKT_MODE_FLIGHT;
    options.max_memory_bytes = 64 << 10;
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    takt_profiler_start(profiler);
    takt_thread_name("early thread");
    pthread_barrier_init(&barrier, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, record_late, "late thread"), 0);
    pthread_barrier_wait(&barrier);
    record_many();
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    takt_profiler_stop(profiler);

    const takt_trace *trace = takt_profiler_trace(profiler);
    const takt_facts *facts = takt_trace_facts(trace);
    assert_int_equal(takt_trace_loss(trace, TAKT_LOSS_BUFFER_FULL), 0);
    assert_true(takt_trace_loss(trace, TAKT_LOSS_OVERWRITTEN) > 0);
    assert_int_equal(facts->span_count + takt_trace_loss(trace, TAKT_LOSS_OVERWRITTEN),
                     2 * (SPANS + 1) + 1);
    assert_true(has_last(trace, "early thread"));
    assert_true(has_last(trace, "late thread"));
    assert_tells_reach(trace);
    takt_profiler_destroy(profiler);
}

/* The recorder has filled all memory with what is older. */
TEST(timer_beside_it_gets_all_of_its_own)
{
    enum {
        ROUNDS = 1000
    }; /* several chunks */
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = NULL;
    takt_timing *timing = NULL;
    options.mode = TAKT_MODE_FLIGHT;
    options.max_memory_bytes = 64 << 10;
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    takt_profiler_start(profiler);
    record_many();
    assert_int_equal(takt_timing_begin(&TAKT_TIMING_OPTIONS_INIT, &timing), TAKT_OK);
    for (int i = 0; i < ROUNDS; i++) {
        TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, "timed");
    }
    takt_timing_end(timing);
    assert_int_equal(takt_timing_count(timing), ROUNDS);
    takt_timing_free(timing);
    takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
}

/* ---- Cycles ---------------------------------------------------------------------------------- */

enum {
    CYCLES = 20,
    CYCLE_SPANS = 3000, /* less than fits into the memory */
    MOST_CYCLES = 100
};

typedef struct kept {
    uint64_t spans[MOST_CYCLES], lost[MOST_CYCLES];
    uint32_t count;
} kept;

static void keep(const takt_trace *trace, void *user)
{
    kept *k = user;
    const takt_facts *facts = takt_trace_facts(trace);
    assert_true(facts->cycle < MOST_CYCLES);
    k->spans[facts->cycle] = facts->span_count;
    k->lost[facts->cycle] = takt_trace_loss(trace, TAKT_LOSS_OVERWRITTEN) +
                            takt_trace_loss(trace, TAKT_LOSS_BUFFER_FULL);
    k->count++;
}

static void fly(uint32_t warmup)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = NULL;
    kept k = {.count = 0};
    options.mode = TAKT_MODE_FLIGHT;
    options.max_memory_bytes = 64 << 10;
    options.schedule = (takt_schedule){.warmup = warmup, .active = 1, .repeat = CYCLES};
    options.on_trace = keep;
    options.user = &k;
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    takt_profiler_start(profiler);
    for (uint32_t i = 0; i < CYCLES * (1 + warmup); i++) {
        for (int s = 0; s < CYCLE_SPANS; s++) {
            TAKT_SCOPE("span");
        }
        takt_profiler_step(profiler);
    }
    takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
    assert_int_equal(k.count, CYCLES);
    for (uint32_t i = 0; i < CYCLES; i++) {
        if (k.spans[i] + k.lost[i] != CYCLE_SPANS)
            print_message("cycle %u: %llu spans, %llu lost\n", i, (unsigned long long)k.spans[i],
                          (unsigned long long)k.lost[i]);
        assert_int_equal(k.spans[i] + k.lost[i], CYCLE_SPANS);
    }
}

/* Cycles end faster than they are sealed, and the memory holds only some. Each has what it
 * recorded, or says how much it lacks. */
TEST(cycles_that_come_too_fast_count_what_they_lack)
{
    fly(0);
}

TEST(a_warm_up_overwrites_no_cycle_that_waits_to_be_saved)
{
    fly(1);
}

TEST_MAIN(NULL, NULL)
