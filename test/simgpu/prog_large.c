/* A long run for pages: a million spans, nested four deep, and about a million activities, on two
 * threads and four streams of a stand-in GPU, with memory that grows and shrinks. The environment's
 * profiler records it. Argument: the number of steps. */
#include "simgpu/launching.h"

#include <takt/memory.h>
#include <takt/takt.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define KERNELS 6
#define STREAMS 4
#define PARTS 8
#define LAUNCHES 61 /* of one part */
#define BUFFERS 6

static const char *const names[KERNELS] = {"density", "forces", "advance",
                                           "sort",    "cells",  "reduce"};
static CUcontext context;
static CUfunction kernels[KERNELS];
static CUstream streams[STREAMS];

static void prepare(void)
{
    CUmodule module;
    begin_cuda(&context, &module);
    for (int i = 0; i < KERNELS; i++)
        check(cuModuleGetFunction(&kernels[i], module, names[i]));
    for (int i = 0; i < STREAMS; i++)
        check(cuStreamCreate(&streams[i], 1));
}

/* Replaces one of the buffers on the device, every other one of which is managed memory, and the
 * one on the host. */
static void replace_buffers(int round)
{
    static CUdeviceptr buffers[BUFFERS];
    static char host[1];
    CUdeviceptr *buffer = &buffers[round % BUFFERS];
    size_t bytes = (size_t)(1 + round % 97) << 20;
    if (*buffer)
        check(cuMemFree_v2(*buffer));
    check(round % 2 ? cuMemAllocManaged(buffer, bytes, 1) : cuMemAlloc_v2(buffer, bytes));
    if (round > 0)
        takt_memory_freed(host);
    takt_memory_allocated(host, (size_t)(1 + round % 61) << 16);
}

static void launch(int kernel, int stream)
{
    check(cuLaunchKernel(kernels[kernel], 8, 1, 1, 64, 1, 1, 0, streams[stream], NULL, NULL));
}

static void launch_part(int first_stream, int part)
{
    TAKT_SCOPE("part");
    for (int i = 0; i < LAUNCHES; i++)
        launch((i * i + part) % KERNELS, first_stream + i % 2);
}

static void launch_half(int first_stream)
{
    TAKT_SCOPE("half");
    for (int part = 0; part < PARTS; part++)
        launch_part(first_stream, part);
}

static void *work(void *steps)
{
    check(cuCtxSetCurrent(context));
    for (int i = 0; i < *(int *)steps; i++)
        launch_half(2);
    return NULL;
}

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 1000;
    pthread_t thread;

    prepare();
    takt_profiler_start(NULL);
    pthread_create(&thread, NULL, work, &steps);
    for (int i = 0; i < steps; i++) {
        if (i % 8 == 0)
            replace_buffers(i / 8);
        launch_half(0);
        if (i + 1 == steps)
            pthread_join(thread, NULL);
        takt_profiler_step(NULL);
    }
    check(cuCtxSynchronize());
    printf("%d steps, %d launches\n", steps, steps * 2 * PARTS * LAUNCHES);
    return 0;
}
