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
    takt_profiler_destroy(profiler);
    takt_memory_freed(&block);
}

TEST_MAIN(NULL, NULL)
