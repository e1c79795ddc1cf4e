/* Shared by programs that launch kernels on the stand-ins. */
#ifndef TEST_SIMGPU_LAUNCHING_H
#define TEST_SIMGPU_LAUNCHING_H

#include "simgpu/driver.h"

#include <stdio.h>
#include <unistd.h>

/* Ends the program if a call failed. */
static inline void check(CUresult result)
{
    if (result == 0)
        return;
    fprintf(stderr, "CUDA fails: %d\n", (int)result);
    _exit(3);
}

/* Makes a context current, and loads a module whose kernels have any name. */
static inline void begin_cuda(CUcontext *context, CUmodule *module)
{
    check(cuInit(0));
    check(cuDevicePrimaryCtxRetain(context, 0));
    check(cuCtxSetCurrent(*context));
    check(cuModuleLoadData(module, "none"));
}

#endif
