/* The recording that the golden files with CUDA show: three steps of a solver on two devices, with
 * overlapping streams, a graph, copies of pageable and pinned memory, allocations on threads of
 * their own, an activity whose launch is unknown. All numbers are round, to be followed by hand. */
#ifndef TEST_REPORT_CUDA_H
#define TEST_REPORT_CUDA_H

#include "test_report_build.h"

typedef struct cuda_shapes {
    uint32_t kernel;
    uint32_t upload;
    uint32_t download;
} cuda_shapes;

UNUSED static cuda_shapes cuda_add_shapes(takt_trace *trace)
{
    tkt_shape kernel = {.name = build_string(trace, "density(float *, int)"),
                        .label = build_string(trace, "kernel density"),
                        .filter = TAKT_TIMING_KERNEL,
                        .grid = {64, 2, 1},
                        .block = {128, 1, 1},
                        .static_shared_bytes = 1024,
                        .dynamic_shared_bytes = 2048,
                        .registers = 32,
                        .occupancy = 7500,
                        .limiter = TKT_LIMITER_SHARED_MEMORY};
    tkt_shape copy = {.filter = TAKT_TIMING_MEMCPY, .bytes = 4000000};
    cuda_shapes shapes = {.kernel = build_shape(trace, &kernel)};
    copy.copy_kind = TAKT_COPY_HTOD;
    copy.source = TAKT_MEMORY_PINNED;
    copy.target = TAKT_MEMORY_DEVICE;
    shapes.upload = build_shape(trace, &copy);
    copy.copy_kind = TAKT_COPY_DTOH;
    copy.source = TAKT_MEMORY_DEVICE;
    copy.target = TAKT_MEMORY_PAGEABLE;
    shapes.download = build_shape(trace, &copy);
    return shapes;
}

/* 4 ms, of which forces take 2 and output 1. On cuda:0 the kernels, 1 ms each, overlap by half; the
 * copy takes 0.5 ms. On cuda:1 the graph's two kernels take 0.25 ms, one after the other. */
UNUSED static void cuda_add_step(takt_trace *trace, const cuda_shapes *s, uint64_t number)
{
    uint64_t t = 1000000 + number * 4000000;
    uint32_t step =
        build_span(trace, 0, build_site(trace, "step"), TKT_NO_SPAN, t, t + 4000000);
    uint32_t forces =
        build_span(trace, 0, build_site(trace, "forces"), step, t + 100000, t + 2100000);
    uint32_t first = build_call(trace, 0, "cudaLaunchKernel", forces, t + 200000, t + 210000);
    uint32_t second = build_call(trace, 0, "cudaLaunchKernel", forces, t + 220000, t + 230000);
    uint32_t graph = build_call(trace, 0, "cudaGraphLaunch", forces, t + 300000, t + 340000);
    build_call(trace, 0, "cudaStreamSynchronize", forces, t + 400000, t + 1800000);
    uint32_t output =
        build_span(trace, 0, build_site(trace, "output"), step, t + 2200000, t + 3200000);
    uint32_t copy = build_call(trace, 0, "cudaMemcpy", output, t + 2300000, t + 3000000);

    build_launched(trace, first, "cuda:0", "kernel density", TAKT_TIMING_KERNEL, t + 250000,
                   t + 1250000)
        ->shape = s->kernel;
    build_launched(trace, second, "cuda:0", "kernel pressure", TAKT_TIMING_KERNEL, t + 750000,
                   t + 1750000)
        ->stream = 8;
    for (uint64_t i = 0; i < 2; i++)
        build_launched(trace, graph, "cuda:1", "kernel density", TAKT_TIMING_KERNEL,
                       t + 400000 + i * 250000, t + 650000 + i * 250000)
            ->shape = s->kernel;
    build_launched(trace, copy, "cuda:0", "memcpy DtoH", TAKT_TIMING_MEMCPY, t + 2400000,
                   t + 2900000)
        ->shape = s->download;
    build_step(trace, number, t, t + 4000000);
}

/* A thread that uploads in 0.25 ms and clears in 0.05 ms, on cuda:1, and allocates. */
UNUSED static void cuda_add_loader(takt_trace *trace, const cuda_shapes *s, uint64_t number)
{
    uint64_t t = 2000000 + number * 3000000;
    uint32_t track = build_track(trace, number ? "loader" : "first loader");
    uint32_t load =
        build_span(trace, track, build_site(trace, "load"), TKT_NO_SPAN, t, t + 2000000);
    build_call(trace, track, "cudaMalloc", load, t + 100000, t + 200000);
    uint32_t copy = build_call(trace, track, "cudaMemcpyAsync", load, t + 300000, t + 310000);
    uint32_t set = build_call(trace, track, "cudaMemsetAsync", load, t + 400000, t + 410000);
    build_launched(trace, copy, "cuda:1", "memcpy HtoD", TAKT_TIMING_MEMCPY, t + 1400000,
                   t + 1650000)
        ->shape = s->upload;
    build_launched(trace, set, "cuda:1", "memset", TAKT_TIMING_MEMSET, t + 1700000, t + 1750000);
    build_memory_event(trace, "cuda:1", t + 200000, 8 << 20, track, load);
    if (number == 1)
        build_memory_event(trace, "cuda:1", t + 1900000, -(8 << 20), track, load);
    build_memory_event(trace, NULL, t + 50000, 1000, track, load);
}

UNUSED static void cuda_add_totals(takt_trace *trace)
{
    trace->memory = (tkt_memory_totals){.window_peak_bytes = 3000,
                                        .window_peak_ns = 8050000,
                                        .window_allocations = 3,
                                        .current_bytes = 3000,
                                        .peak_bytes = 3000,
                                        .peak_ns = 8050000,
                                        .allocations = 3};
    tkt_device_memory *device = TKT_ARRAY_ADD(&trace->device_memory);
    assert_non_null(device);
    *device = (tkt_device_memory){.device = build_string(trace, "cuda:1"),
                                  .totals = {.window_begin_bytes = 4 << 20,
                                             .window_peak_bytes = 20 << 20,
                                             .window_peak_ns = 5200000,
                                             .window_allocations = 3,
                                             .window_frees = 1,
                                             .current_bytes = 20 << 20,
                                             .peak_bytes = 24 << 20,
                                             .peak_ns = 900000,
                                             .allocations = 5,
                                             .frees = 2},
                                  .free_bytes = UINT64_C(1) << 30,
                                  .capacity_bytes = UINT64_C(4) << 30,
                                  .pool_bytes = 16 << 20,
                                  .pool_used_bytes = 12 << 20};
}

UNUSED static takt_trace *build_cuda(void)
{
    takt_trace *trace = build_begin(13000000);
    trace->backend = build_string(trace, "CUPTI 13.0 (130001)");
    build_track(trace, "main");
    cuda_shapes shapes = cuda_add_shapes(trace);
    for (uint64_t i = 0; i < 3; i++)
        cuda_add_step(trace, &shapes, i);
    for (uint64_t i = 0; i < 3; i++)
        cuda_add_loader(trace, &shapes, i);
    build_activity(trace, "cuda:0", "kernel pressure", TAKT_TIMING_KERNEL, 12500000, 12600000,
                   TKT_NO_TRACK, TKT_NO_SPAN);
    for (uint64_t i = 0; i < 3; i++)
        build_all_step(trace, 4000000);
    cuda_add_totals(trace);
    trace->facts.device_resolution_ns = 32;
    trace->facts.device_uncertainty_ns = 512.5;
    trace->losses[TAKT_LOSS_INCOMPLETE] = 2;
    trace->losses[TAKT_LOSS_UNATTRIBUTED] = 1;
    build_end(trace);
    return trace;
}

#endif
