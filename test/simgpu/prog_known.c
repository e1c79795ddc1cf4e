/* Launches without ever waiting for the device, for check_known.py: in each of STEPS steps LAUNCHES
 * marked kernels on one stream, and a memset on another. The environment's profiler records it.
 *
 *     prog_known STEPS LAUNCHES */
#include "simgpu/launching.h"

#include <takt/event.h>
#include <takt/takt.h>

#include <stdlib.h>

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 4, launches = argc > 2 ? atoi(argv[2]) : 1;
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    CUstream streams[2];
    CUdeviceptr memory;
    begin_cuda(&context, &module);
    check(cuModuleGetFunction(&kernel, module, "advance"));
    check(cuMemAlloc_v2(&memory, 4096));
    for (int i = 0; i < 2; i++)
        check(cuStreamCreate(&streams[i], 1));
    takt_profiler_start(NULL);
    for (int i = 0; i < steps; i++) {
        TAKT_SCOPE("forces");
        for (int j = 0; j < launches; j++) {
            TAKT_LAUNCH(streams[0], TAKT_TIMING_KERNEL, "advance") {
                check(cuLaunchKernel(kernel, 8, 1, 1, 64, 1, 1, 0, streams[0], NULL, NULL));
            }
        }
        check(cuMemsetD8Async(memory, 0, 4096, streams[1]));
        takt_profiler_step(NULL);
    }
    return 0;
}
