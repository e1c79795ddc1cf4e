/* Reported host memory in traces: what the events add up to is what the totals say. */
#include "trace/model.h"

#include "support/test.h"

#include <takt/memory.h>
#include <takt/profiler.h>

#include <stdlib.h>

static takt_profiler *start(void)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = NULL;
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    return profiler;
}

static int64_t sum_of_events(const takt_trace *trace)
{
    int64_t sum = 0;
    for (size_t i = 0; i < trace->memory_events.count; i++)
        sum += trace->memory_events.items[i].bytes;
    return sum;
}

/* A program that forgets to report a free tells of the same address again and again. */
TEST(address_reported_twice_counts_once)
{
    static char block;
    takt_memory_allocated(&block, 5000); /* a peak before the recording */
    takt_memory_freed(&block);

    takt_profiler *profiler = start();
    for (int i = 0; i < 100; i++)
        takt_memory_allocated(&block, 1000);
    takt_profiler_stop(profiler);
    const takt_trace *trace = takt_profiler_trace(profiler);
    assert_non_null(trace);
    assert_int_equal(trace->memory.window_peak_bytes, 1000);
    assert_int_equal(sum_of_events(trace), 1000);
    assert_int_equal(trace->memory.window_allocations, 100);
    assert_int_equal(trace->memory.window_frees, 99);
    takt_profiler_destroy(profiler);
    takt_memory_freed(&block);
}

/* Of no bytes, too. */
TEST(a_block_in_the_place_of_another_one_is_a_free)
{
    static char block;
    static const size_t sizes[] = {100, 60, 0, 0};
    takt_profiler *profiler = start();
    for (size_t i = 0; i < 4; i++)
        takt_memory_allocated(&block, sizes[i]);
    takt_memory_freed(&block);
    takt_memory_freed(&block);
    takt_profiler_stop(profiler);
    const takt_trace *trace = takt_profiler_trace(profiler);
    assert_non_null(trace);
    assert_int_equal(trace->memory.window_allocations, 4);
    assert_int_equal(trace->memory.window_frees, 4);
    assert_int_equal(sum_of_events(trace), 0);
    takt_profiler_destroy(profiler);
}

/* ---- Without events -------------------------------------------------------------------------- */

/* A summary keeps no events, nor does a trace of coarse scopes or without memory. */
static const takt_profiler_options quiet[] = {
    {.struct_size = sizeof(takt_profiler_options), .mode = TAKT_MODE_SUMMARY},
    {.struct_size = sizeof(takt_profiler_options), .level = 1},
    {.struct_size = sizeof(takt_profiler_options), .profile_memory = TAKT_OFF},
};

static takt_profiler *start_quiet(size_t i)
{
    takt_profiler *profiler = NULL;
    assert_int_equal(takt_profiler_create(&quiet[i], &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    return profiler;
}

static takt_memory_totals stop(takt_profiler *profiler)
{
    takt_memory_totals totals;
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    const takt_trace *trace = takt_profiler_trace(profiler);
    assert_int_equal(takt_trace_memory_totals(trace, 0, &totals), TAKT_OK);
    takt_profiler_destroy(profiler);
    return totals;
}

static char buffers[3];

TEST(peak_of_a_recording_is_known_without_events)
{
    takt_memory_allocated(&buffers[0], 9000);
    takt_memory_freed(&buffers[0]);
    for (size_t i = 0; i < sizeof quiet / sizeof *quiet; i++) {
        takt_memory_allocated(&buffers[0], 100);
        takt_profiler *profiler = start_quiet(i);
        for (int step = 0; step < 3; step++) {
            takt_memory_allocated(&buffers[1], 1000);
            takt_memory_freed(&buffers[1]);
        }
        takt_memory_totals totals = stop(profiler);
        assert_int_equal(totals.recording.begin_bytes, 100);
        assert_int_equal(totals.recording.peak_bytes, 1100);
        assert_true(totals.recording.peak_ns > 0);
        assert_int_equal(totals.current_bytes, 100);
        assert_int_equal(totals.since_start.peak_bytes, 9000);
        takt_memory_freed(&buffers[0]);
    }
}

/* The peak of what is only freed was at the begin. */
TEST(recording_that_only_frees_has_its_peak_at_the_begin)
{
    takt_memory_allocated(&buffers[0], 700);
    takt_profiler *profiler = start_quiet(0);
    takt_memory_freed(&buffers[0]);
    takt_memory_totals totals = stop(profiler);
    assert_int_equal(totals.recording.peak_bytes, 700);
    assert_int_equal(totals.current_bytes, 0);
}

/* A later recording begins anew; the earlier one must keep what it has seen. */
TEST(recordings_that_overlap_have_their_own_peaks)
{
    takt_profiler *first = start_quiet(1);
    takt_memory_allocated(&buffers[0], 4000);
    takt_memory_freed(&buffers[0]);
    takt_profiler *second = start_quiet(2);
    takt_memory_allocated(&buffers[1], 50);
    takt_memory_totals of_second = stop(second);
    takt_memory_freed(&buffers[1]);
    takt_memory_totals of_first = stop(first);
    assert_int_equal(of_first.recording.peak_bytes, 4000);
    assert_int_equal(of_second.recording.peak_bytes, 50);
}

TEST_MAIN(NULL, NULL)
