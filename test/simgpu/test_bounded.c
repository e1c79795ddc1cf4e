/* A program that launches without pause, over the stand-ins: Takt's memory stays below what
 * max_memory allows, and what there was no room for is counted by its cause. */
#include "simgpu/driver.h"
#include "simgpu/profiled.h"
#include "simgpu/sim.h"

#include "cuda/store.h"
#include "trace/model.h"

#include "support/counted_memory.h"
#include "support/test.h"

#include <takt/takt.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LAUNCHES = 200000,
    LOOK = 500, /* launches between two looks at the store */
    LIMIT = 4 << 20,
    BUFFERS = 32 << 20, /* CUPTI's, of which a few are there however small the limit */
    ROW_BYTES = sizeof(tkt_stored_activity) + sizeof(tkt_shape),
    REST = 16 << 20 /* names, folds, what is known of the latest calls */
};

static CUfunction kernel;
static CUmodule module;

static int set_up_device(void **state)
{
    (void)state;
    CUcontext context;
    assert_int_equal(takt_set_allocator(&counted_memory), TAKT_OK);
    use_devices("devices=1; kernel=200", &context, 1, &module);
    check(cuModuleGetFunction(&kernel, module, "k"));
    return 0;
}

static uint64_t store_bytes(void)
{
    tkt_store *store = tkt_store_get();
    tkt_mutex_lock(&store->lock);
    uint64_t bytes = store->used_bytes;
    tkt_mutex_unlock(&store->lock);
    return bytes;
}

/* Launches in scopes, and checks that memory is bounded while it does. The grids are 1, 2 ... as in
 * programs whose launches never look the same; `grids` is after how many they repeat. */
static void flood(takt_mode mode, unsigned grids)
{
    takt_profiler *profiler;
    takt_profiler_options options = {.struct_size = sizeof options,
                                     .mode = mode,
                                     .max_memory_bytes = LIMIT,
                                     .on_trace = keep_trace};
    uint64_t before = atomic_load(&now_bytes);
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    atomic_store(&peak_bytes, before);
    for (int i = 0; i < LAUNCHES; i++) {
        TAKT_SCOPE("step");
        check(cuLaunchKernel(kernel, (unsigned)i % grids + 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
        if (i % LOOK == 0)
            assert_in_range(store_bytes(), 0, LIMIT);
    }
    assert_in_range(atomic_load(&peak_bytes), before, before + 2 * LIMIT + BUFFERS + REST);
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    takt_profiler_destroy(profiler);
    assert_in_range(store_bytes(), 0, LIMIT);
}

TEST(a_trace_drops_the_newest)
{
    flood(TAKT_MODE_TRACE, 1);
    uint64_t kept = takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES);
    assert_in_range(kept, 1, LIMIT / sizeof(tkt_stored_activity));
    assert_true(loss(TAKT_LOSS_DEVICE_DROPPED) > 0 && loss(TAKT_LOSS_BUFFER_FULL) > 0);
    assert_int_equal(kept + loss(TAKT_LOSS_DEVICE_DROPPED), LAUNCHES);
    assert_int_equal(loss(TAKT_LOSS_OVERWRITTEN), 0);
}

static void check_flight(unsigned grids)
{
    flood(TAKT_MODE_FLIGHT, grids);
    assert_in_range(takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES), LIMIT / 5 / ROW_BYTES,
                    LIMIT / sizeof(tkt_stored_activity));
    assert_true(loss(TAKT_LOSS_OVERWRITTEN) > 0);
    assert_int_equal(loss(TAKT_LOSS_DEVICE_DROPPED) + loss(TAKT_LOSS_BUFFER_FULL), 0);
}

TEST(the_flight_recorder_drops_the_oldest)
{
    check_flight(1);
}

TEST(the_flight_recorder_records_launches_that_never_repeat)
{
    check_flight(LAUNCHES);
}

static uint64_t count_summed(void)
{
    uint64_t count = 0;
    for (size_t i = 0; i < last_trace->node_activities.count; i++)
        count += last_trace->node_activities.items[i].stats.count;
    return count;
}

static void check_summary(unsigned grids)
{
    flood(TAKT_MODE_SUMMARY, grids);
    /* On a busy machine, folding may come late. */
    assert_int_equal(count_summed() + loss(TAKT_LOSS_DEVICE_DROPPED), LAUNCHES);
    assert_int_equal(loss(TAKT_LOSS_OVERWRITTEN), 0);
    assert_in_range(tkt_store_get()->shapes.count, 0, 2);
}

TEST(a_summary_needs_no_more_however_long_it_takes)
{
    check_summary(1);
}

TEST(a_summary_needs_no_more_if_launches_never_repeat)
{
    check_summary(LAUNCHES);
}

/* Nothing frees what a program does beside launching while a summary goes on: waits are not kept,
 * and allocations leave half of the memory to activities. */
TEST(a_summary_has_room_for_activities_however_often_the_program_waits_and_allocates)
{
    takt_profiler *profiler = start_profiler(
        (takt_profiler_options){.mode = TAKT_MODE_SUMMARY, .max_memory_bytes = 1 << 20});
    for (int i = 0; i < LAUNCHES / 4; i++) {
        CUdeviceptr memory;
        TAKT_SCOPE("step");
        check(cuMemAlloc_v2(&memory, 4096));
        check(cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
        check(cuStreamSynchronize(NULL));
        check(cuMemFree_v2(memory));
    }
    tkt_store *store = tkt_store_get();
    tkt_mutex_lock(&store->lock);
    size_t waits = store->waits.count, memory = store->memory.count * sizeof *store->memory.items;
    tkt_mutex_unlock(&store->lock);
    assert_int_equal(waits, 0);
    assert_in_range(memory, 1, store->max_bytes / 2);
    stop_profiler(profiler);
    uint64_t count = count_summed();
    assert_int_equal(count + loss(TAKT_LOSS_DEVICE_DROPPED), LAUNCHES / 4);
    assert_in_range(count, LAUNCHES / 8, LAUNCHES / 4); /* without room, a tenth arrives */
    assert_true(loss(TAKT_LOSS_BUFFER_FULL) > 0);
}

/* Nor is what timings inside have left behind. */
TEST(timings_inside_a_summary_leave_room_for_activities)
{
    takt_profiler *profiler = start_profiler(
        (takt_profiler_options){.mode = TAKT_MODE_SUMMARY, .max_memory_bytes = 1 << 20});
    for (int i = 0; i < 100; i++) {
        takt_timing *timing;
        assert_int_equal(takt_timing_begin(NULL, &timing), TAKT_OK);
        check(cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
        for (int k = 0; k < 100; k++) {
            CUdeviceptr memory;
            check(cuMemAlloc_v2(&memory, 4096));
            check(cuStreamSynchronize(NULL));
            check(cuMemFree_v2(memory));
        }
        assert_int_equal(takt_timing_end(timing), TAKT_OK);
        takt_timing_free(timing);
    }
    tkt_store_release(0, 0); /* as the summary does all the time */
    tkt_store *store = tkt_store_get();
    tkt_mutex_lock(&store->lock);
    size_t waits = store->waits.count, memory = store->memory.count * sizeof *store->memory.items;
    tkt_mutex_unlock(&store->lock);
    assert_int_equal(waits, 0);
    assert_in_range(memory, 1, store->max_bytes / 2);
    stop_profiler(profiler);
    assert_int_equal(count_summed(), 100);
    assert_true(loss(TAKT_LOSS_BUFFER_FULL) > 0);
}

/* A summary alone keeps no grids; a timing inside it does, each time. */
TEST(a_timing_inside_a_summary_has_all_of_a_launch)
{
    takt_profiler *profiler = start_profiler((takt_profiler_options){.mode = TAKT_MODE_SUMMARY});
    for (unsigned grid = 2; grid < 20; grid++) {
        takt_timing *timing;
        check(cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
        assert_int_equal(takt_timing_begin(NULL, &timing), TAKT_OK);
        check(cuLaunchKernel(kernel, grid, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
        assert_int_equal(takt_timing_end(timing), TAKT_OK);
        assert_int_equal(takt_timing_at(timing, 0)->grid[0], grid);
        takt_timing_free(timing);
    }
    stop_profiler(profiler);
}

/* A program that makes a graph for each launch, with rows for whole graphs: the store's memory is
 * not used up by their labels. */
static void flood_graphs(takt_mode mode)
{
    enum {
        GRAPHS = 3 * TKT_MOST_GRAPHS
    };
    takt_profiler *profiler;
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    takt_profiler_options options = {.struct_size = sizeof options,
                                     .mode = mode,
                                     .graph = TAKT_GRAPH_LAUNCH,
                                     .max_memory_bytes = LIMIT,
                                     .on_trace = keep_trace};
    check(cuStreamCreate(&stream, 1));
    check(cuStreamBeginCapture_v2(stream, 0));
    check(cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, stream, NULL, NULL));
    check(cuStreamEndCapture(stream, &graph));
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    for (int i = 0; i < GRAPHS; i++) {
        check(cuGraphInstantiateWithFlags(&exec, graph, 0));
        check(cuGraphLaunch(exec, stream));
        check(cuStreamSynchronize(stream));
        check(cuGraphExecDestroy(exec));
    }
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    takt_profiler_destroy(profiler);
    check(cuGraphDestroy(graph));
    check(cuStreamDestroy_v2(stream));
    assert_in_range(tkt_store_get()->strings.count, 1, 2 * TKT_MOST_GRAPHS + 100);
}

TEST(graphs_that_are_made_without_end_share_a_label)
{
    flood_graphs(TAKT_MODE_FLIGHT);
    assert_int_equal(loss(TAKT_LOSS_DEVICE_DROPPED) + loss(TAKT_LOSS_BUFFER_FULL), 0);
    uint64_t late = 0;
    for (size_t i = 0; i < last_trace->activities.count; i++) {
        const char *name = tkt_trace_text(last_trace, last_trace->activities.items[i].name);
        late += strncmp(name, "graph 4096+", 11) == 0;
    }
    assert_in_range(late, 100, 3 * TKT_MOST_GRAPHS);
    flood_graphs(TAKT_MODE_SUMMARY);
}

/* ---- Names ----------------------------------------------------------------------------------- */

enum {
    NAMES = 6000,
    NAMED_LAUNCHES = 30000,
    LONG = 100000 /* with TEST_LONG=1 */
};

/* Kernels with ever new names, as run-time compilation makes them, then one that is known. */
static void flood_names(takt_mode mode, unsigned first, unsigned names, unsigned launches)
{
    takt_profiler *profiler;
    takt_profiler_options options = {.struct_size = sizeof options,
                                     .mode = mode,
                                     .max_memory_bytes = LIMIT,
                                     .device_wait_ms = 600000,
                                     .on_trace = keep_trace};
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    for (unsigned i = 0; i < launches; i++) {
        CUfunction function = kernel;
        char name[40];
        snprintf(name, sizeof name, "jit_%u", first + i);
        if (i > 0 && i < names)
            check(cuModuleGetFunction(&function, module, name));
        check(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
        if (i % LOOK == 0)
            assert_in_range(store_bytes(), 0, LIMIT);
    }
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    takt_profiler_destroy(profiler);
}

/* Names stay for ever. The first ones leave room for activities; the rest share one. */
TEST(names_of_kernels_leave_room_for_activities)
{
    unsigned names = getenv("TEST_LONG") ? LONG : NAMES;
    flood_names(TAKT_MODE_FLIGHT, 0, NAMES, NAMED_LAUNCHES);
    assert_in_range(takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES), LIMIT / 5 / ROW_BYTES,
                    NAMED_LAUNCHES);
    assert_int_equal(loss(TAKT_LOSS_DEVICE_DROPPED), 0);
    assert_in_range(loss(TAKT_LOSS_MORE_NAMES), 1, NAMES);
    flood_names(TAKT_MODE_SUMMARY, NAMES, names, names); /* new ones to the end */
    uint64_t count = loss(TAKT_LOSS_DEVICE_DROPPED), more = 0;
    for (size_t i = 0; i < last_trace->node_activities.count; i++) {
        const tkt_node_activity *activity = &last_trace->node_activities.items[i];
        const char *name = tkt_trace_text(last_trace, activity->name);
        count += activity->stats.count;
        more += strcmp(name, "kernel (more names)") == 0 ? activity->stats.count : 0;
    }
    assert_int_equal(count, names);
    assert_int_equal(more, loss(TAKT_LOSS_MORE_NAMES));
    assert_int_equal(more, names - 1);
}

TEST_MAIN(set_up_device, NULL)
