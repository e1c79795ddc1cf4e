/* A kernel that runs longer than Takt waits for a device of which it hears nothing. */
#include "simgpu/profiled.h"

#include "support/test.h"

#include <takt/takt.h>

static CUfunction function;

TEST(a_device_that_is_at_work_is_waited_for)
{
    takt_profiler *profiler = start_profiler((takt_profiler_options){0});
    check(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    stop_profiler(profiler);
    assert_int_equal(takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES), 1);
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        assert_int_equal(takt_trace_loss(last_trace, (takt_loss)i), 0);
}

static int set_up_device(void **state)
{
    (void)state;
    CUcontext context;
    CUmodule module;
    use_devices("devices=1; kernel=6500ms", &context, 1, &module);
    tkt_cuda_patience_percent = 100;
    check(cuModuleGetFunction(&function, module, "k"));
    return 0;
}

TEST_MAIN(set_up_device, NULL)
