/* What a window has and what it lost is what was recorded in it, once memory is used up: beside the
 * flight recorder, with spans on tracks, in streams, and in streams without memory of their own. */
#include "profiler/stream.h"

#include "support/test.h"

#include <takt/takt.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t in_trace, lost;
static atomic_bool has_no_memory; /* to grow what is there */
static atomic_uint refusals;      /* to grow it */

static void *resize(void *user, void *pointer, size_t size)
{
    (void)user;
    if (!size) {
        free(pointer);
        return NULL;
    }
    if (!atomic_load(&has_no_memory) || !pointer)
        return realloc(pointer, size);
    atomic_fetch_add(&refusals, 1);
    return NULL;
}

static int set_up(void **state)
{
    static const takt_allocator allocator = {.resize = resize};
    (void)state;
    assert_int_equal(takt_set_allocator(&allocator), TAKT_OK);
    return 0;
}

static uint64_t count_in(const takt_trace *trace)
{
    uint64_t count = 0;
    takt_track_info track;
    takt_span_info span;
    for (size_t t = 0; t < takt_trace_count(trace, TAKT_TRACE_TRACKS); t++) {
        assert_int_equal(takt_trace_track(trace, t, &track), TAKT_OK);
        for (size_t i = 0; i < track.span_count; i++) {
            assert_int_equal(takt_trace_span(trace, t, i, &span), TAKT_OK);
            count += strcmp(span.name, "in") == 0;
        }
    }
    return count;
}

static void keep(const takt_trace *trace, void *user)
{
    (void)user;
    in_trace = count_in(trace);
    lost = takt_trace_loss(trace, TAKT_LOSS_BUFFER_FULL) +
           takt_trace_loss(trace, TAKT_LOSS_OVERWRITTEN);
}

static takt_profiler *start(takt_profiler_options options)
{
    takt_profiler *profiler;
    options.struct_size = sizeof options;
    if (options.max_memory_bytes == 0) {
        options.max_memory_bytes = 256 << 10;
        options.background = TAKT_OFF;
    }
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    return profiler;
}

static void stop(takt_profiler *profiler)
{
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    takt_profiler_destroy(profiler);
}

static uint64_t make_scopes(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        TAKT_SCOPE("in");
    }
    return count;
}

TEST(beside_a_flight_recorder)
{
    const takt_mode modes[] = {TAKT_MODE_TRACE, TAKT_MODE_FLIGHT};
    for (int i = 0; i < 2; i++) {
        takt_profiler *profiler =
            start((takt_profiler_options){.mode = modes[i], .on_trace = keep});
        uint64_t made = make_scopes(20000);
        for (unsigned round = 0; round < 10; round++) {
            made += make_scopes(301 + 37 * round);
            takt_profiler *flight = start((takt_profiler_options){.mode = TAKT_MODE_FLIGHT});
            made += make_scopes(1100);
            stop(flight);
            made += make_scopes(1000);
        }
        stop(profiler);
        assert_int_equal(in_trace + lost, made);
    }
}

/* The scopes before are another profiler's, in whose tail the spans begin. */
TEST(spans_on_tracks_are_not_older_than_they_are)
{
    takt_track track = takt_track_named("track");
    takt_profiler *around = start((takt_profiler_options){.mode = TAKT_MODE_TRACE});
    make_scopes(20000);
    for (int is_at = 0; is_at < 2; is_at++) {
        takt_profiler *profiler = start((takt_profiler_options){.on_trace = keep});
        for (int i = 0; i < 1000; i++) {
            uint64_t now = takt_now_ns();
            if (is_at)
                takt_span_at(track, "in", now, now + 1);
            else
                takt_span_end(takt_span_begin(track, "in"));
        }
        stop(profiler);
        assert_int_equal(in_trace + lost, 1000);
        make_scopes(700);
    }
    stop(around);
}

enum {
    CYCLES = 40,
    SCOPES = 30000
};

/* A scope that is open while a stream reads may be in the file and, at its end, lost. */
static void check_cycle(const takt_trace *trace, void *user)
{
    uint32_t *count = user;
    keep(trace, NULL);
    assert_in_range(in_trace + lost, SCOPES, SCOPES + 100);
    ++*count;
}

/* Cycles one after the other, of which the next begins while the last one is written. */
TEST(streams_have_no_event_twice_and_miss_none)
{
    char folder[] = "/tmp/takt-losses-XXXXXX", command[64];
    assert_non_null(mkdtemp(folder));
    uint32_t count = 0;
    takt_profiler_options options = {.directory = folder,
                                     .stream = true,
                                     .max_memory_bytes = 64 << 10,
                                     .on_trace = check_cycle,
                                     .user = &count};
    options.schedule = (takt_schedule){.active = 1, .repeat = CYCLES};
    takt_profiler *profiler = start(options);
    for (int i = 0; i < CYCLES; i++) {
        make_scopes(SCOPES);
        assert_int_equal(takt_profiler_step(profiler), TAKT_OK);
    }
    stop(profiler);
    assert_int_equal(count, CYCLES);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* A flight's trace comes from memory, so it lacks what only its stream has. */
TEST(in_the_stream_of_a_flight_recorder)
{
    char folder[] = "/tmp/takt-losses-XXXXXX", command[64];
    assert_non_null(mkdtemp(folder));
    takt_profiler *profiler = start((takt_profiler_options){
        .mode = TAKT_MODE_FLIGHT, .on_trace = keep, .stream = true, .directory = folder});
    uint64_t made = 0;
    for (int i = 0; i < 200; i++) {
        made += make_scopes(5000);
        usleep(1000); /* the stream reads some of them */
    }
    stop(profiler);
    assert_int_equal(in_trace + lost, made);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* What a stream has read but cannot write is lost where memory drops it. */
TEST(in_streams_that_have_no_memory_for_slices)
{
    char folder[] = "/tmp/takt-losses-XXXXXX", command[64];
    assert_non_null(mkdtemp(folder));
    tkt_stream_pause_ms = 10;
    for (unsigned round = 0; round < 5; round++) {
        takt_profiler *profiler = start((takt_profiler_options){
            .on_trace = keep, .stream = true, .directory = folder, .max_memory_bytes = 64 << 10});
        uint64_t made = 0;
        atomic_store(&refusals, 0);
        atomic_store(&has_no_memory, true);
        for (unsigned i = 0; i < 3; i++) {
            made += make_scopes(5000 + 100 * round);
            usleep(1500 * tkt_stream_pause_ms); /* the stream reads what there still is */
        }
        while (atomic_load(&refusals) == 0)
            usleep(1000);
        atomic_store(&has_no_memory, false);
        takt_profiler_stop(profiler); /* whatever has become of the file */
        takt_profiler_destroy(profiler);
        assert_in_range(in_trace + lost, made, made + 100);
    }
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

TEST_MAIN(set_up, NULL)
