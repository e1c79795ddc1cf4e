/* Windows that end while devices go on: a program that never stops launching, queues that take
 * longer than anybody waits, many threads. Whatever happens, launches = activities + losses. */
#include "simgpu/driver.h"
#include "simgpu/profiled.h"
#include "simgpu/machine.h"
#include "simgpu/sim.h"

#include "trace/model.h"

#include "support/test.h"

#include <takt/takt.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST_THREADS 64

static CUcontext contexts[2];
static CUfunction kernel, slow, endless;

static int set_up_device(void **state)
{
    (void)state;
    CUmodule module;
    use_devices("devices=2; kernel=10us; cupti.flush_keeps=1", contexts, 2, &module);
    check(cuModuleGetFunction(&kernel, module, "kernel"));
    check(cuModuleGetFunction(&slow, module, "slow"));
    check(cuModuleGetFunction(&endless, module, "endless"));
    return 0;
}

static int settle(void **state)
{
    (void)state;
    sim_hold(false);
    for (int i = 0; i < 2; i++) {
        check(cuCtxSetCurrent(contexts[i]));
        check(cuCtxSynchronize());
    }
    check(cuCtxSetCurrent(contexts[0]));
    return 0;
}

static void launch(CUfunction function, CUstream stream)
{
    check(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, stream, NULL, NULL));
}

static void pause_us(long us)
{
    struct timespec time = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&time, NULL);
}

/* ---- What a window holds --------------------------------------------------------------------- */

static uint64_t all_losses(void)
{
    uint64_t sum = 0;
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        sum += loss((takt_loss)i);
    return sum;
}

static void assert_no_losses(void)
{
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        if (loss((takt_loss)i))
            fail_msg("%s: %lu", takt_loss_name((takt_loss)i), (unsigned long)loss((takt_loss)i));
}

static uint64_t activities_of(const char *name)
{
    uint64_t count = 0;
    for (size_t i = 0; i < takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES); i++) {
        takt_activity activity;
        assert_int_equal(takt_trace_activity(last_trace, i, &activity), TAKT_OK);
        count += strcmp(activity.name, name) == 0;
    }
    return count;
}

/* Calls of launches that began in the window. */
static uint64_t launches(void)
{
    uint64_t count = 0;
    for (size_t i = 0; i < last_trace->calls.count; i++) {
        const tkt_call_info *call = &last_trace->calls.items[i];
        const tkt_span *span = &last_trace->tracks.items[call->track].spans.items[call->span];
        const char *name =
            tkt_trace_text(last_trace, last_trace->sites.items[tkt_span_site(span)].name);
        count += strstr(name, "Launch") && !(tkt_span_flags(span) & TAKT_SPAN_BEGUN_BEFORE);
    }
    return count;
}

/* Every activity has a call, and every launch an activity or a loss. */
static void assert_balance(void)
{
    assert_int_equal(loss(TAKT_LOSS_UNATTRIBUTED), 0);
    assert_int_equal(launches(),
                     takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES) + all_losses());
}

/* ---- A program that never stops -------------------------------------------------------------- */

typedef struct launcher {
    pthread_t thread;
    int device;
    CUfunction function;
    long pause_us;
    uint64_t most_ahead; /* launches that may wait for the device */
    _Atomic uint64_t launched;
} launcher;

static atomic_bool is_over;

static void *launch_on_and_on(void *argument)
{
    launcher *l = argument;
    CUstream stream;
    check(cuCtxSetCurrent(contexts[l->device]));
    check(cuStreamCreate(&stream, 1));
    while (!atomic_load(&is_over)) {
        launch(l->function, stream);
        uint64_t launched = atomic_fetch_add(&l->launched, 1) + 1;
        if (l->most_ahead && launched % l->most_ahead == 0)
            check(cuStreamSynchronize(stream));
        if (l->pause_us)
            pause_us(l->pause_us);
    }
    check(cuStreamSynchronize(stream));
    check(cuStreamDestroy_v2(stream));
    return NULL;
}

static launcher launchers[MOST_THREADS];

static void start_launchers(int count, launcher how)
{
    atomic_store(&is_over, false);
    for (int i = 0; i < count; i++) {
        launchers[i].device = i % 2;
        launchers[i].function = how.function;
        launchers[i].pause_us = how.pause_us;
        launchers[i].most_ahead = how.most_ahead;
        assert_int_equal(
            pthread_create(&launchers[i].thread, NULL, launch_on_and_on, &launchers[i]), 0);
    }
}

/* Pauses, and on a busy machine for as long as it takes each of them to launch that often. */
static void pause_for_launches(int count, long us, uint64_t least)
{
    uint64_t before[MOST_THREADS];
    for (int i = 0; i < count; i++)
        before[i] = atomic_load(&launchers[i].launched);
    pause_us(us);
    for (int i = 0; i < count; i++)
        while (atomic_load(&launchers[i].launched) - before[i] < least)
            pause_us(1000);
}

static void stop_launchers(int count)
{
    atomic_store(&is_over, true);
    for (int i = 0; i < count; i++)
        pthread_join(launchers[i].thread, NULL);
}

/* A kernel of 1.5 ms is launched each millisecond: the device never catches up. */
TEST_WITH(a_window_on_a_device_that_is_never_idle_has_all_it_launched, NULL, settle)
{
    sim_script("kernel.slow=1500us");
    start_launchers(1, (launcher){.function = slow, .pause_us = 1000});
    for (int window = 0; window < 2; window++) {
        takt_profiler *profiler = start_profiler((takt_profiler_options){0});
        pause_for_launches(1, 60000, 12);
        stop_profiler(profiler);
        assert_in_range(launches(), 10, 1000000);
        assert_no_losses();
        assert_balance();
    }
    stop_launchers(1);
}

/* The end of one window does not cost another one anything. */
TEST_WITH(overlapping_windows_lose_nothing, NULL, settle)
{
    sim_script("kernel.slow=1500us");
    start_launchers(2, (launcher){.function = slow, .pause_us = 1000});
    takt_profiler *outer = start_profiler((takt_profiler_options){0});
    for (int i = 0; i < 3; i++) {
        takt_timing *timing;
        assert_int_equal(takt_timing_begin(NULL, &timing), TAKT_OK);
        pause_for_launches(2, 10000, 8);
        assert_int_equal(takt_timing_end(timing), TAKT_OK);
        assert_in_range(takt_timing_count(timing), 2, 1000000);
        takt_timing_free(timing);
    }
    stop_profiler(outer);
    stop_launchers(2);
    assert_in_range(launches(), 40, 1000000);
    assert_no_losses();
    assert_balance();
}

/* ---- Queues longer than anybody waits -------------------------------------------------------- */

TEST_WITH(a_queue_of_seconds_is_waited_for, NULL, settle)
{
    sim_script("kernel.slow=25ms");
    takt_profiler *profiler = start_profiler((takt_profiler_options){0});
    for (int i = 0; i < 100; i++)
        launch(slow, NULL);
    stop_profiler(profiler);
    assert_int_equal(activities_of("kernel slow"), 100);
    assert_no_losses();
}

static takt_status keep_text(void *user, const void *data, size_t size)
{
    char *text = user;
    strncat(text, data, size);
    return TAKT_OK;
}

static void assert_report_has(const takt_trace *trace, const char *row)
{
    char text[65536] = "";
    const takt_report_options options = {.struct_size = sizeof options, .format = TAKT_FORMAT_CSV};
    const takt_sink sink = {keep_text, text};
    assert_int_equal(takt_report(trace, "launches", &options, &sink), TAKT_OK);
    if (!strstr(text, row))
        fail_msg("the report lacks %s:\n%s", row, text);
}

/* The file says the same as the program. */
static void assert_lost_in(const char *row)
{
    char path[] = "/tmp/takt-busy-XXXXXX.pftrace";
    takt_trace *read;
    int file = mkstemps(path, 8);
    assert_true(file >= 0);
    close(file);
    assert_report_has(last_trace, row);
    assert_int_equal(takt_export_file(last_trace, "perfetto", path, NULL, NULL), TAKT_OK);
    assert_int_equal(takt_trace_open(path, &read, NULL), TAKT_OK);
    assert_report_has(read, row);
    takt_trace_release(read);
    unlink(path);
}

/* Nobody else waits, so that unfinished work is given up for the sake of what has finished. */
TEST_WITH(what_has_finished_is_taken_when_time_is_over, NULL, settle)
{
    sim_script("kernel=10us; kernel.endless=100ms");
    takt_profiler *profiler = start_profiler((takt_profiler_options){.device_wait_ms = 300});
    sim_hold(true);
    for (int i = 0; i < 99; i++)
        launch(kernel, NULL);
    check(cuCtxSynchronize()); /* the rest stands still */
    {
        TAKT_SCOPE("stuck");
        launch(endless, NULL);
    }
    stop_profiler(profiler);
    assert_int_equal(activities_of("kernel kernel"), 99);
    assert_int_equal(loss(TAKT_LOSS_INCOMPLETE), 1);
    assert_int_equal(all_losses(), 1);
    sim_hold(false);
    assert_lost_in("\r\nscope,launch,count\r\nstuck,cuLaunchKernel,1\r\n");
    assert_balance();
}

/* The next window's launches stand in the same buffer as the stuck one. */
TEST_WITH(giving_up_costs_no_other_window, NULL, settle)
{
    sim_script("kernel=10us; kernel.endless=1s");
    takt_profiler *first = start_profiler((takt_profiler_options){.device_wait_ms = 200});
    launch(kernel, NULL);
    launch(endless, NULL);
    takt_profiler *second = start_profiler((takt_profiler_options){0});
    for (int i = 0; i < 10; i++)
        launch(kernel, NULL);
    stop_profiler(first);
    assert_balance();
    stop_profiler(second);
    assert_int_equal(activities_of("kernel kernel"), 10);
    assert_no_losses();
}

/* Such as after an illegal address: nothing that is unfinished will finish, and nobody waits for
 * it. */
TEST_WITH(a_device_with_a_sticky_error_leaves_what_had_finished, NULL, settle)
{
    sim_script("kernel=10us; kernel.endless=100ms; fault=cuCtxRecordEvent=700");
    takt_profiler *profiler = start_profiler((takt_profiler_options){.device_wait_ms = 600000});
    sim_hold(true);
    for (int i = 0; i < 20; i++)
        launch(kernel, NULL);
    check(cuCtxSynchronize()); /* the rest stands still */
    launch(endless, NULL);
    stop_profiler(profiler);
    sim_hold(false);
    assert_int_equal(activities_of("kernel kernel"), 20);
    assert_int_equal(loss(TAKT_LOSS_INCOMPLETE), 1);
    assert_balance();
}

/* A thread's first buffers hold few records, so that some nodes of the second launch come back in
 * full ones while the last have not finished. The other window keeps Takt from giving these up. */
TEST_WITH(nodes_that_have_not_finished_are_counted, NULL, settle)
{
    enum {
        NODES = 40
    };
    CUgraph graph;
    CUgraphExec exec;
    CUstream stream, beside;
    sim_script("kernel.slow=2ms; kernel=41ms");
    check(cuStreamCreate(&stream, 1));
    check(cuStreamCreate(&beside, 1));
    check(cuStreamBeginCapture_v2(stream, 2));
    for (int i = 0; i < NODES; i++)
        launch(slow, stream);
    check(cuStreamEndCapture(stream, &graph));
    check(cuGraphInstantiateWithFlags(&exec, graph, 0));
    takt_profiler *other = start_profiler((takt_profiler_options){0});
    takt_profiler *profiler = start_profiler((takt_profiler_options){.device_wait_ms = 400});
    takt_timing *timing;
    assert_int_equal(takt_timing_begin(NULL, &timing), TAKT_OK);
    check(cuGraphLaunch(exec, stream));
    assert_int_equal(takt_timing_end(timing), TAKT_OK);
    assert_int_equal(takt_timing_count(timing), NODES);
    takt_timing_free(timing);
    sim_hold(true);
    check(cuGraphLaunch(exec, stream));
    launch(kernel, beside);
    check(cuStreamSynchronize(beside)); /* half of the nodes have finished, the rest stands still */
    stop_profiler(profiler);
    sim_hold(false);
    assert_in_range(activities_of("kernel slow"), NODES + 1, 2 * NODES - 1);
    assert_int_equal(activities_of("kernel slow") + activities_of("kernel kernel") + all_losses(),
                     2 * NODES + 1);
    assert_int_equal(loss(TAKT_LOSS_INCOMPLETE), all_losses());
    stop_profiler(other);
    assert_int_equal(activities_of("kernel slow"), 2 * NODES);
    assert_no_losses();
    check(cuGraphExecDestroy(exec));
    check(cuGraphDestroy(graph));
    check(cuStreamDestroy_v2(beside));
    check(cuStreamDestroy_v2(stream));
}

/* ---- A launch on several devices --------------------------------------------------------------
 */

/* One of them is busy for a while: its part comes later. */
TEST_WITH(a_launch_on_two_devices_is_an_activity_of_each, NULL, settle)
{
    CUDA_LAUNCH_PARAMS list[2];
    sim_script("kernel.slow=20ms; kernel.kernel=10us");
    for (int i = 0; i < 2; i++) {
        list[i] = (CUDA_LAUNCH_PARAMS){kernel, 1, 1, 1, 64, 1, 1, 0, NULL, NULL};
        check(cuCtxSetCurrent(contexts[i]));
        check(cuStreamCreate(&list[i].hStream, 1));
    }
    launch(kernel, list[1].hStream); /* loads its code */
    check(cuStreamSynchronize(list[1].hStream));
    takt_profiler *profiler = start_profiler((takt_profiler_options){0});
    launch(slow, list[1].hStream);
    for (int i = 0; i < 3; i++) {
        TAKT_SCOPE("both");
        check(cuLaunchCooperativeKernelMultiDevice(list, 2, 0));
    }
    stop_profiler(profiler);
    assert_int_equal(activities_of("kernel kernel"), 2 * 3);
    for (size_t i = 0; i < last_trace->activities.count; i++) {
        takt_activity activity;
        assert_int_equal(takt_trace_activity(last_trace, i, &activity), TAKT_OK);
        if (strcmp(activity.name, "kernel slow") != 0)
            assert_string_equal(activity.scope, "both");
    }
    assert_no_losses();
    for (int i = 0; i < 2; i++)
        check(cuStreamDestroy_v2(list[i].hStream));
}

/* ---- Launches without an activity ------------------------------------------------------------ */

TEST_WITH(a_graph_of_nothing_lacks_nothing, NULL, settle)
{
    sim_script("cupti.drop_every=0");
    CUgraph graph;
    CUgraphExec exec;
    CUstream stream;
    check(cuStreamCreate(&stream, 1));
    check(cuStreamBeginCapture_v2(stream, 2));
    check(cuStreamEndCapture(stream, &graph));
    check(cuGraphInstantiateWithFlags(&exec, graph, 0));
    takt_profiler *profiler = start_profiler((takt_profiler_options){0});
    launch(kernel, NULL);
    check(cuGraphLaunch(exec, NULL));
    stop_profiler(profiler);
    assert_int_equal(takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES), 1);
    assert_no_losses();
    check(cuGraphExecDestroy(exec));
    check(cuGraphDestroy(graph));
    check(cuStreamDestroy_v2(stream));
}

TEST_WITH(copies_of_nothing_are_no_launches, NULL, settle)
{
    CUdeviceptr memory;
    char host[16] = "";
    check(cuMemAlloc_v2(&memory, sizeof host));
    takt_profiler *profiler = start_profiler((takt_profiler_options){0});
    check(cuMemcpyHtoD_v2(memory, host, 0));
    check(cuMemsetD8_v2(memory, 0, 0));
    check(cuMemcpyHtoD_v2(memory, host, sizeof host));
    stop_profiler(profiler);
    assert_int_equal(takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES), 1);
    assert_no_losses();
    check(cuMemFree_v2(memory));
}

/* ---- Many threads ---------------------------------------------------------------------------- */

TEST_WITH(many_threads_lose_nothing, NULL, settle)
{
    sim_script("kernel=2us");
    start_launchers(MOST_THREADS,
                    (launcher){.function = kernel, .pause_us = 200, .most_ahead = 50});
    takt_profiler *profiler = start_profiler((takt_profiler_options){.max_memory_bytes = 64 << 20});
    pause_for_launches(MOST_THREADS, 100000, 10);
    stop_profiler(profiler);
    stop_launchers(MOST_THREADS);
    assert_in_range(launches(), 9 * MOST_THREADS, 10000000); /* of each, the first may be older */
    assert_no_losses();
    assert_balance();
}

/* In a thread that has no processor for a second and a half as its launch returns. The window ends
 * meanwhile. */
static __thread bool is_slow;
static atomic_bool is_launched;

static void return_slowly(const sim_call *call)
{
    if (!is_slow || call->outer)
        return;
    is_slow = false;
    atomic_store(&is_launched, true);
    pause_us(1500000);
}

static void *launch_slowly(void *unused)
{
    (void)unused;
    check(cuCtxSetCurrent(contexts[0]));
    TAKT_SCOPE("step");
    launch(kernel, NULL);
    is_slow = true;
    launch(kernel, NULL);
    return NULL;
}

TEST_WITH(launches_that_return_late_are_waited_for, NULL, settle)
{
    pthread_t thread;
    sim_before_return(return_slowly);
    takt_profiler *profiler = start_profiler((takt_profiler_options){.background = TAKT_OFF});
    assert_int_equal(pthread_create(&thread, NULL, launch_slowly, NULL), 0);
    while (!atomic_load(&is_launched))
        pause_us(1000);
    stop_profiler(profiler);
    pthread_join(thread, NULL);
    sim_before_return(NULL);
    assert_int_equal(takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES), 2);
    assert_no_losses();
    assert_balance();
}

static void *launch_some(void *unused)
{
    (void)unused;
    check(cuCtxSetCurrent(contexts[0]));
    for (int i = 0; i < 10; i++)
        launch(kernel, NULL);
    return NULL;
}

TEST_WITH(new_threads_in_each_step_lose_nothing, NULL, settle)
{
    enum {
        STEPS = 100,
        THREADS = 8
    };
    sim_script("kernel=2us");
    takt_profiler *profiler = start_profiler((takt_profiler_options){.max_memory_bytes = 64 << 20});
    for (int step = 0; step < STEPS; step++) {
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, launch_some, NULL), 0);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
    stop_profiler(profiler);
    assert_int_equal(takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES), STEPS * THREADS * 10);
    assert_no_losses();
    assert_balance();
}

/* The smallest max_memory that is allowed. */
TEST_WITH(a_small_flight_recorder_keeps_the_last_activities, NULL, settle)
{
    sim_script("kernel=1us");
    takt_profiler *profiler = start_profiler(
        (takt_profiler_options){.mode = TAKT_MODE_FLIGHT, .max_memory_bytes = 64 << 10});
    for (int i = 0; i < 30000; i++) {
        launch(kernel, NULL);
        if (i % 100 == 0) /* a wait is recorded as well */
            check(cuCtxSynchronize());
    }
    launch(slow, NULL);
    stop_profiler(profiler);
    assert_int_equal(activities_of("kernel slow"), 1);
    assert_in_range(activities_of("kernel kernel"), 500, 29000);
    assert_true(loss(TAKT_LOSS_OVERWRITTEN) > 0);
    assert_int_equal(loss(TAKT_LOSS_DEVICE_DROPPED), 0);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return run_all_tests(set_up_device, NULL);
}
