/* What is allocated on a device since Takt began to collect: it stays right between a profiler's
 * cycles, and begins anew after a time in which nobody listened. What the driver has free says how
 * much it is. */
#include "simgpu/driver.h"
#include "simgpu/profiled.h"

#include "profiler/stream.h"
#include "record/control.h"
#include "trace/model.h"
#include "trace/perfetto.h"
#include "trace/protobuf.h"

#include "base/alloc.h"
#include "support/memory_sink.h"
#include "support/test.h"

#include <takt/memory.h>
#include <takt/report.h>
#include <takt/takt.h>

#include <string.h>

#define MIB ((size_t)1 << 20)

static int set_up_device(void **state)
{
    (void)state;
    CUcontext context;
    use_stand_in("devices=1; device.memory=1GiB");
    check(cuInit(0));
    check(cuDevicePrimaryCtxRetain(&context, 0));
    check(cuCtxSetCurrent(context));
    return 0;
}

static CUdeviceptr allocate(size_t bytes)
{
    CUdeviceptr memory;
    check(cuMemAlloc_v2(&memory, bytes));
    return memory;
}

static size_t used_now(void)
{
    size_t free_bytes, total_bytes;
    check(cuMemGetInfo_v2(&free_bytes, &total_bytes));
    return total_bytes - free_bytes;
}

static takt_profiler *start_in_foreground(takt_schedule schedule)
{
    return start_profiler((takt_profiler_options){.schedule = schedule, .background = TAKT_OFF});
}

static void step(takt_profiler *profiler)
{
    assert_int_equal(takt_profiler_step(profiler), TAKT_OK);
}

static void stop(takt_profiler *profiler)
{
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    takt_profiler_destroy(profiler);
}

static const tkt_device_memory *memory_of_last(void)
{
    assert_non_null(last_trace);
    assert_int_equal(last_trace->device_memory.count, 1);
    return &last_trace->device_memory.items[0];
}

static takt_memory ask(void)
{
    takt_memory memory;
    assert_int_equal(takt_memory_query("cuda:0", &memory), TAKT_OK);
    return memory;
}

static const takt_schedule two_cycles = {.wait = 1, .active = 1, .repeat = 2};

TEST(what_happens_between_cycles_counts)
{
    CUdeviceptr unseen = allocate(1000);
    size_t before = used_now();
    takt_profiler *profiler = start_in_foreground(two_cycles);
    step(profiler);
    CUdeviceptr freed = allocate(5000), kept = allocate(300);
    step(profiler);
    check(cuMemFree_v2(freed));
    CUdeviceptr between = allocate(70000);
    size_t at_begin = used_now() - before;
    step(profiler);
    CUdeviceptr in_second = allocate(10);
    size_t at_end = used_now() - before;
    step(profiler);
    stop(profiler);
    const tkt_memory_totals *totals = &memory_of_last()->totals;
    assert_int_equal(totals->window_begin_bytes, at_begin);
    assert_int_equal(totals->current_bytes, at_end);
    assert_int_equal(totals->window_allocations, 1);
    assert_int_equal(totals->peak_bytes, 70310);
    assert_int_equal(totals->allocations, 4);
    assert_int_equal(totals->frees, 1);
    assert_int_equal(totals->unmatched_frees, 0);
    check(cuMemFree_v2(unseen));
    check(cuMemFree_v2(kept));
    check(cuMemFree_v2(between));
    check(cuMemFree_v2(in_second));
}

TEST(pools_keep_their_size_between_cycles)
{
    CUdeviceptr small, large;
    size_t before = used_now();
    takt_profiler *profiler = start_in_foreground(two_cycles);
    step(profiler);
    check(cuMemAllocAsync(&small, 100, NULL));
    assert_int_equal(used_now() - before, 32 * MIB);
    step(profiler);
    step(profiler);
    check(cuMemAllocAsync(&large, 33 * MIB, NULL));
    size_t at_end = used_now() - before;
    step(profiler);
    stop(profiler);
    assert_int_equal(at_end, 64 * MIB);
    assert_int_equal(memory_of_last()->pool_bytes, at_end);
    assert_int_equal(memory_of_last()->pool_used_bytes, 100 + 33 * MIB);
    check(cuMemFreeAsync(small, NULL));
    check(cuMemFreeAsync(large, NULL));
    check(cuCtxSynchronize());
}

TEST(nobody_listens_when_the_schedule_is_over)
{
    takt_profiler *profiler = start_in_foreground((takt_schedule){.active = 1, .repeat = 1});
    CUdeviceptr seen = allocate(400);
    step(profiler);
    assert_int_equal(ask().current_bytes, 400);
    CUdeviceptr unseen = allocate(5000);
    takt_timing *timing; /* brings what there is up to date */
    assert_int_equal(takt_timing_begin(NULL, &timing), TAKT_OK);
    assert_int_equal(takt_timing_end(timing), TAKT_OK);
    takt_timing_free(timing);
    assert_int_equal(ask().current_bytes, 400);
    stop(profiler);
    check(cuMemFree_v2(seen));
    check(cuMemFree_v2(unseen));
}

TEST(nobody_listens_after_a_stop_between_cycles)
{
    takt_profiler *profiler = start_in_foreground((takt_schedule){.wait = 1, .active = 1});
    step(profiler);
    CUdeviceptr seen = allocate(300);
    step(profiler);
    stop(profiler);
    assert_int_equal(ask().current_bytes, 300);
    CUdeviceptr unseen = allocate(6000);
    takt_timing *timing; /* brings what there is up to date */
    assert_int_equal(takt_timing_begin(NULL, &timing), TAKT_OK);
    assert_int_equal(takt_timing_end(timing), TAKT_OK);
    takt_timing_free(timing);
    assert_int_equal(ask().current_bytes, 300);
    check(cuMemFree_v2(seen));
    check(cuMemFree_v2(unseen));
}

TEST(totals_begin_anew_after_a_time_unheard)
{
    takt_profiler *profiler = start_in_foreground((takt_schedule){0});
    CUdeviceptr freed = allocate(4000), kept = allocate(200);
    stop(profiler);
    assert_int_equal(ask().current_bytes, 4200);
    check(cuMemFree_v2(freed));
    profiler = start_in_foreground((takt_schedule){0});
    CUdeviceptr later = allocate(70);
    check(cuMemFree_v2(kept));
    stop(profiler);
    const tkt_memory_totals *totals = &memory_of_last()->totals;
    assert_int_equal(totals->window_begin_bytes, 200); /* since it was freed, it was there */
    assert_int_equal(totals->current_bytes, 70);
    assert_int_equal(totals->peak_bytes, 270); /* of the recording, which knows of the 200 */
    assert_int_equal(totals->allocations, 1);
    assert_int_equal(totals->unmatched_frees, 1);
    check(cuMemFree_v2(later));
}

static int let_go(void **state)
{
    (void)state;
    takt_trace_release(last_trace);
    return 0;
}

/* CUDA says of both with which device they were made. */
TEST(pinned_memory_is_told_from_a_devices)
{
    takt_profiler *profiler = start_in_foreground((takt_schedule){.active = 1, .repeat = 1});
    void *pinned;
    CUdeviceptr memory = allocate(MIB);
    check(cuMemAllocHost_v2(&pinned, MIB));
    step(profiler);
    stop(profiler);
    memory_sink table = {0};
    takt_report_options options = {.struct_size = sizeof options, .width = 160};
    const takt_sink sink = memory_sink_of(&table);
    assert_int_equal(takt_report(last_trace, "memory", &options, &sink), TAKT_OK);
    memory_sink_write(&table, "", 1);
    assert_non_null(strstr(table.data, "  cuda:0\n"));
    assert_non_null(strstr(table.data, "  host, pinned\n"));
    tkt_free(table.data);
    assert_int_equal(memory_of_last()->totals.window_allocations, 1);
    check(cuMemFree_v2(memory));
    check(cuMemFreeHost(pinned));
}

/* Returns the values of counters, of so many at most. */
static size_t counters_in(const memory_sink *file, uint64_t *values, size_t most)
{
    size_t count = 0;
    tkt_pb_field packet, event, field;
    tkt_pb_reader packets = tkt_pb_read((const uint8_t *)file->data, file->size);
    while (tkt_pb_next(&packets, &packet))
        for (tkt_pb_reader events = tkt_pb_inside(&packet); tkt_pb_next(&events, &event);) {
            if (event.number != TKT_PF_PACKET_TRACK_EVENT)
                continue;
            for (tkt_pb_reader fields = tkt_pb_inside(&event); tkt_pb_next(&fields, &field);)
                if (field.number == TKT_PF_EVENT_COUNTER_INT && count < most)
                    values[count++] = field.value;
        }
    return count;
}

/* What was allocated before the window is the device's, not managed memory. */
TEST(a_stream_counts_each_kind_of_memory)
{
    static tkt_stream_file to;
    const tkt_wish wish = {.modes = TKT_KEEP, .mask = TAKT_NORMAL_BIT, .devices = TAKT_TIMING_ALL};
    uint64_t values[3];
    tkt_window *window;
    CUdeviceptr managed;
    memory_sink file = {0};
    takt_profiler *around = start_in_foreground((takt_schedule){0});
    CUdeviceptr earlier = allocate(MIB);
    assert_int_equal(tkt_window_open(&wish, &window), TAKT_OK);
    CUdeviceptr memory = allocate(2 * MIB);
    check(cuMemAllocManaged(&managed, 4 * MIB, 1));
    stop(around); /* which waits for what was told of both */
    to.position = tkt_window_position(window);
    assert_int_equal(tkt_trace_create(&to.trace), TAKT_OK);
    assert_int_equal(tkt_window_describe(window, to.trace), TAKT_OK);
    assert_int_equal(tkt_writer_init(&to.writer, memory_sink_of(&file), 0), TAKT_OK);
    tkt_perfetto_open(&to.perfetto, &to.writer, to.trace);
    tkt_stream_take_devices(&to, window, false);
    tkt_stream_write_devices(&to, window, false);
    assert_int_equal(tkt_perfetto_close(&to.perfetto), TAKT_OK);
    assert_int_equal(tkt_writer_fini(&to.writer), TAKT_OK);
    assert_int_equal(counters_in(&file, values, 3), 2);
    assert_int_equal(values[0], 3 * MIB);
    assert_int_equal(values[1], 4 * MIB);
    tkt_free(file.data);
    tkt_stream_file_fini(&to);
    tkt_window_close(window);
    check(cuMemFree_v2(earlier));
    check(cuMemFree_v2(memory));
    check(cuMemFree_v2(managed));
}

TEST_MAIN(set_up_device, let_go)
