/* Windows beside a kernel that runs as long as the program, as those of communication libraries and
 * renderers do: their ends wait for their own work, of which all arrives, and not for the device.
 */
#include "simgpu/cudart.h"
#include "simgpu/profiled.h"
#include "simgpu/sim.h"

#include "trace/model.h"

#include "support/test.h"

#include <takt/takt.h>

#include <stdlib.h>
#include <string.h>

#define WINDOWS 5
#define NODES   3
#define MANY    5000

static CUcontext context;
static CUfunction kernel, slow;
static CUstream stream;
static CUgraphExec early; /* instantiated before Takt has looked at CUDA */
static CUdeviceptr memory;

static void launch(CUfunction function, CUstream on)
{
    check(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, on, NULL, NULL));
}

static CUgraphExec make_graph(CUfunction function, int nodes)
{
    CUgraph graph;
    CUgraphExec exec;
    check(cuStreamBeginCapture_v2(stream, 1));
    for (int i = 0; i < nodes; i++)
        launch(function, stream);
    check(cuStreamEndCapture(stream, &graph));
    check(cuGraphInstantiateWithFlags(&exec, graph, 0));
    check(cuGraphDestroy(graph));
    return exec;
}

/* The kernel outlives the waits of windows, which are half as long. */
static int begin_endless_work(void **state)
{
    (void)state;
    CUmodule module;
    CUstream beside;
    CUfunction endless;
    use_devices("kernel=10us; kernel.slow=60ms; kernel.endless=1200s", &context, 1, &module);
    check(cuModuleGetFunction(&kernel, module, "kernel"));
    check(cuModuleGetFunction(&slow, module, "slow"));
    check(cuModuleGetFunction(&endless, module, "endless"));
    check(cuStreamCreate(&stream, 1));
    check(cuStreamCreate(&beside, 1));
    check(cuMemAlloc_v2(&memory, 64));
    early = make_graph(slow, NODES);
    launch(endless, beside);
    return 0;
}

static uint64_t activities(void)
{
    uint64_t count = takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES);
    for (size_t i = 0; i < last_trace->node_activities.count; i++)
        count += last_trace->node_activities.items[i].stats.count;
    return count;
}

/* Ends windows with this work, which CUDA records in so many activities. What has not arrived when
 * the wait is over, is lost; and what waits for the kernel, takes ten minutes. */
static void end_windows(void (*work)(void), uint64_t count)
{
    for (int i = 0; i < 2 * WINDOWS; i++) {
        takt_mode mode = i < WINDOWS ? TAKT_MODE_TRACE : TAKT_MODE_SUMMARY;
        takt_profiler *profiler =
            start_profiler((takt_profiler_options){.mode = mode, .background = TAKT_OFF});
        work();
        uint64_t begin_ns = takt_now_ns();
        stop_profiler(profiler);
        assert_true(takt_now_ns() - begin_ns < UINT64_C(300000000000));
        assert_int_equal(activities(), count);
        for (int l = 0; l < TAKT_LOSS_COUNT; l++)
            assert_int_equal(loss((takt_loss)l), 0);
    }
}

static void launch_kernels(void)
{
    for (int i = 0; i < 20; i++)
        launch(kernel, stream);
}

TEST(kernels_are_waited_for)
{
    end_windows(launch_kernels, 20);
}

static void launch_early_graph(void)
{
    check(cuGraphLaunch(early, stream));
}

TEST(one_launch_of_a_graph_of_unknown_length_is_waited_for)
{
    end_windows(launch_early_graph, NODES);
}

static void launch_new_graph(void)
{
    CUgraphExec exec = make_graph(kernel, NODES);
    check(cuGraphLaunch(exec, stream));
    check(cuStreamSynchronize(stream));
    check(cuGraphExecDestroy(exec));
}

TEST(a_graph_that_was_captured_in_the_window_is_waited_for)
{
    end_windows(launch_new_graph, NODES);
}

static void launch_on_a_stream_that_ends(void)
{
    CUstream own;
    check(cuStreamCreate(&own, 1));
    check(cuGraphLaunch(early, own));
    check(cuStreamSynchronize(own));
    check(cuStreamDestroy_v2(own));
}

TEST(a_stream_that_is_gone_is_not_asked)
{
    end_windows(launch_on_a_stream_that_ends, NODES);
}

/* To free it would wait for the device. */
static void allocate(void)
{
    CUdeviceptr more;
    check(cuMemAlloc_v2(&more, 1 << 10));
    launch(kernel, stream);
}

TEST(memory_is_not_waited_for)
{
    end_windows(allocate, 1);
}

static void do_nothing(void)
{
    char host[64] = "";
    CUgraphExec exec = make_graph(kernel, 0);
    void *there = (void *)(uintptr_t)memory;
    check((int)cudaMemcpy2DAsync(there, 8, host, 8, 0, 4, cudaMemcpyHostToDevice,
                                 (cudaStream_t)stream));
    check((int)cudaMemcpy2DAsync(there, 8, host, 8, 4, 0, cudaMemcpyHostToDevice,
                                 (cudaStream_t)stream));
    check((int)cudaMemcpyPeerAsync(there, 0, there, 0, 0, (cudaStream_t)stream));
    check((int)cudaMemsetAsync(there, 1, 0, (cudaStream_t)stream));
    check(cuGraphLaunch(exec, stream));
    check((int)cudaMemcpyAsync(there, host, sizeof host, cudaMemcpyHostToDevice,
                               (cudaStream_t)stream));
    check(cuGraphExecDestroy(exec));
}

TEST(work_that_reaches_no_device_is_not_waited_for)
{
    end_windows(do_nothing, 1);
}

/* Another stream is captured all the time: it is not asked, and its capture stays valid. */
TEST(captures_do_not_hold_up_an_end)
{
    CUgraph graph;
    CUstream captured;
    check(cuStreamCreate(&captured, 1));
    check(cuStreamBeginCapture_v2(captured, 1));
    launch(kernel, captured);
    end_windows(launch_early_graph, NODES);
    check(cuStreamEndCapture(captured, &graph));
    check(cuGraphDestroy(graph));
    check(cuStreamDestroy_v2(captured));
}

/* Of two launches with as many nodes each, the last node of the second one is not over when the
 * wait is: of this launch only full buffers have arrived. Beside another window nobody asks for
 * more. */
TEST(a_launch_that_lacks_nodes_is_incomplete)
{
    CUgraph graph;
    CUgraphExec exec;
    CUstream own;
    CUfunction late;
    CUmodule module;
    check(cuModuleLoadData(&module, "none"));
    check(cuModuleGetFunction(&late, module, "late"));
    check(cuStreamCreate(&own, 1));
    check(cuStreamBeginCapture_v2(own, 1));
    for (int i = 0; i < MANY; i++)
        launch(kernel, own);
    launch(late, own);
    check(cuStreamEndCapture(own, &graph));
    check(cuGraphInstantiateWithFlags(&exec, graph, 0));
    const takt_profiler_options options = {.background = TAKT_OFF, .device_wait_ms = 50};
    takt_profiler *profiler = start_profiler(options), *other = start_profiler(options);
    check(cuGraphLaunch(exec, own));
    check(cuStreamSynchronize(own));
    sim_script("kernel=1us; kernel.late=1200s");
    check(cuGraphLaunch(exec, own));
    stop_profiler(profiler);
    assert_true(loss(TAKT_LOSS_INCOMPLETE) > 0);
    assert_int_equal(loss(TAKT_LOSS_NO_ACTIVITY), 0);
    stop_profiler(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_launch_of_a_graph_of_unknown_length_is_waited_for),
        cmocka_unit_test(kernels_are_waited_for),
        cmocka_unit_test(a_graph_that_was_captured_in_the_window_is_waited_for),
        cmocka_unit_test(a_stream_that_is_gone_is_not_asked),
        cmocka_unit_test(memory_is_not_waited_for),
        cmocka_unit_test(work_that_reaches_no_device_is_not_waited_for),
        cmocka_unit_test(captures_do_not_hold_up_an_end),
        cmocka_unit_test(a_launch_that_lacks_nodes_is_incomplete),
    };
    return cmocka_run_group_tests(tests, begin_endless_work, NULL);
}
