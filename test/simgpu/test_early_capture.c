/* Captures that had begun before Takt used CUPTI, whose callbacks therefore told nothing of them. A
 * window that marks its end on the device would spoil them. Only a process's first window is so
 * early, so this is a program of its own. */
#include "simgpu/cudart.h"
#include "simgpu/driver.h"
#include "simgpu/profiled.h"
#include "simgpu/sim.h"

#include "support/test.h"

#include <takt/takt.h>

static const char kernel;

static void launch_by_runtime(cudaStream_t stream)
{
    const cudaLaunchConfig_t config = {
        .gridDim = {1, 1, 1}, .blockDim = {32, 1, 1}, .stream = stream};
    check(cudaLaunchKernel(&kernel, (dim3){1, 1, 1}, (dim3){32, 1, 1}, NULL, 0, stream));
    check(cudaLaunchKernelExC(&config, &kernel, NULL));
}

static void launch_by_configuration(cudaStream_t stream)
{
    const cudaLaunchConfig_t config = {
        .gridDim = {1, 1, 1}, .blockDim = {32, 1, 1}, .stream = stream};
    check(cudaLaunchKernelExC(&config, &kernel, NULL));
}

static CUfunction function;

static void launch_by_driver(cudaStream_t stream)
{
    check(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, (CUstream)stream, NULL, NULL));
}

static void launch_by_drivers_configuration(cudaStream_t stream)
{
    const CUlaunchConfig config = {.gridDimX = 1,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = 32,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .hStream = (CUstream)stream};
    check(cuLaunchKernelEx(&config, function, NULL, NULL));
}

static void (*const forms[])(cudaStream_t) = {launch_by_runtime, launch_by_configuration,
                                              launch_by_driver, launch_by_drivers_configuration};

#define FORMS (sizeof forms / sizeof *forms)

/* The launches of a capture have no activities, and are no losses. */
static void assert_is_whole(size_t activities)
{
    assert_int_equal(takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES), activities);
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        assert_int_equal(takt_trace_loss(last_trace, (takt_loss)i), 0);
}

TEST(windows_spare_a_capture_from_before_the_first)
{
    cudaStream_t streams[FORMS], other;
    cudaGraph_t graph;
    check(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    for (size_t i = 0; i < FORMS; i++) {
        check(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
        check(cudaStreamBeginCapture(streams[i], cudaStreamCaptureModeRelaxed));
    }
    for (size_t i = 0; i < FORMS; i++) {
        takt_profiler *profiler = start_profiler((takt_profiler_options){0});
        forms[i](streams[i]);
        launch_by_driver(other);
        stop_profiler(profiler);
        assert_is_whole(1);
        graph = NULL;
        check(cudaStreamEndCapture(streams[i], &graph));
        assert_non_null(graph);
        check(cudaGraphDestroy(graph));
        check(cudaStreamDestroy(streams[i]));
    }
    check(cudaStreamDestroy(other));
}

static int set_up_device(void **state)
{
    (void)state;
    CUcontext context;
    CUmodule module;
    use_devices("devices=1; kernel=20us", &context, 1, &module);
    sim_register_kernel(&kernel, "kernel");
    check(cuModuleGetFunction(&function, module, "k"));
    return 0;
}

TEST_MAIN(set_up_device, NULL)
