/* For tests that profile: devices of the stand-in, the last trace that a profiler gave, and what it
 * lost. */
#ifndef TEST_PROFILED_H
#define TEST_PROFILED_H

#include "simgpu/driver.h"
#include "simgpu/stand_in.h"

#include <takt/takt.h>

#include "support/test.h"

/* CUDA must not fail; the type is that of either library's status. */
static inline void check(int status)
{
    assert_int_equal(status, 0);
}

/* Starts CUDA on the stand-in, which gets these options. Afterwards the context of device 0 is
 * current, and kernels come from the module. */
static inline void use_devices(const char *options, CUcontext *contexts, int count, CUmodule *module)
{
    use_stand_in(options);
    check(cuInit(0));
    for (int i = 0; i < count; i++)
        check(cuDevicePrimaryCtxRetain(&contexts[i], i));
    check(cuCtxSetCurrent(contexts[0]));
    check(cuModuleLoadData(module, "none"));
}

/* Launches blocks of 64 threads. */
static inline void launch_from(CUmodule module, const char *name, unsigned blocks, CUstream stream)
{
    CUfunction function;
    check(cuModuleGetFunction(&function, module, name));
    check(cuLaunchKernel(function, blocks, 1, 1, 64, 1, 1, 0, stream, NULL, NULL));
}

static const takt_trace *last_trace;

static inline void keep_trace(const takt_trace *trace, void *user)
{
    (void)user;
    takt_trace_release(last_trace);
    last_trace = takt_trace_retain(trace);
}

/* Fills in struct_size, on_trace and, unless the test sets one, a wait for devices that no busy
 * machine exceeds. */
static inline takt_profiler *start_profiler(takt_profiler_options options)
{
    takt_profiler *profiler;
    options.struct_size = sizeof options;
    options.on_trace = keep_trace;
    if (options.device_wait_ms == 0)
        options.device_wait_ms = 600000;
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    return profiler;
}

static inline void stop_profiler(takt_profiler *profiler)
{
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    takt_profiler_destroy(profiler);
    assert_non_null(last_trace);
}

static inline uint64_t loss(takt_loss which)
{
    return takt_trace_loss(last_trace, which);
}

#endif
