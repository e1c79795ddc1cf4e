/* What gpu_bench and gpu_cost launch, and what of CUPTI they switch on and off around it. */
#ifndef GPU_BENCH_CUH
#define GPU_BENCH_CUH

#include "cupti.cuh"

namespace bench
{

static const int scope_launches = 20;
static const int burst_launches = 500;

/* Zeroed buffers, given out and taken back: neither filled nor read by anybody but CUPTI. */
static const size_t buffer_bytes = 1 << 20, buffer_count = 256;
static size_t buffer_wish = buffer_bytes;
static std::atomic<size_t> used;
static uint8_t *buffers;

static void make_buffers()
{
    buffers = static_cast<uint8_t *>(std::calloc(buffer_count, buffer_bytes));
}

static void CUPTIAPI request(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
    *buffer = buffers + used++ % buffer_count * buffer_bytes;
    *bytes = buffer_wish;
    *max_records = 0;
}

static void CUPTIAPI complete(CUcontext, uint32_t, uint8_t *buffer, size_t, size_t valid)
{
    std::memset(buffer, 0, valid);
}

/* Those that Takt enables. */
static const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                    CUPTI_ACTIVITY_KIND_MEMCPY,
                                    CUPTI_ACTIVITY_KIND_MEMSET,
                                    CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                                    CUPTI_ACTIVITY_KIND_CUDA_EVENT,
                                    CUPTI_ACTIVITY_KIND_OVERHEAD,
                                    CUPTI_ACTIVITY_KIND_JIT};
static const size_t all_kinds = sizeof kinds / sizeof *kinds;

static void switch_kinds(bool on, size_t count = all_kinds)
{
    for (size_t i = 0; i < count; i++)
        raw::enable(kinds[i], on);
}

static void switch_calls(const std::string &mode, bool on)
{
    const bool both = mode == "both" || mode.find("callbacks") == 0 || mode.find("off") == 0;
    for (uint32_t id : {211u, 214u, 430u, 505u, 506u}) /* cudaLaunchKernel and its like */
        if (both || mode == "runtime")
            CUPTI(cuptiEnableCallback)(on, raw::subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, id);
    for (uint32_t id : {307u, 442u, 652u, 653u}) /* cuLaunchKernel */
        if (both || mode == "driver")
            CUPTI(cuptiEnableCallback)(on, raw::subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
}

static bool marks, synchronises;

static void launch(bool is_busy, cudaStream_t stream)
{
    if (is_busy)
        spin_50us<<<1, 1, 0, stream>>>();
    else
        nothing<<<1, 1, 0, stream>>>();
}

static void launch_scope(bool is_busy, int launches, cudaStream_t stream = nullptr)
{
    TAKT_SCOPE("scope");
    for (int i = 0; i < launches; i++) {
        if (!marks)
            launch(is_busy, stream);
        else
            TAKT_LAUNCH(nullptr, TAKT_TIMING_KERNEL, "kernel") {
                launch(is_busy, stream);
            }
    }
}

struct Times {
    double host_ns, whole_ns; /* a launch: until all are launched, and until all are done */
};

static Times run(bool is_busy, int launches, int burst, cudaStream_t stream = nullptr)
{
    uint64_t host = 0, whole = 0;
    for (int i = 0; i < launches; i += burst) {
        const int end = std::min(launches, i + burst);
        uint64_t begin = takt_now_ns();
        for (int at = i; at < end; at += scope_launches) {
            launch_scope(is_busy, std::min(scope_launches, end - at), stream);
            if (synchronises)
                CHECK(cudaDeviceSynchronize());
        }
        host += takt_now_ns() - begin;
        CHECK(cudaStreamSynchronize(stream));
        whole += takt_now_ns() - begin;
    }
    return {static_cast<double>(host) / launches, static_cast<double>(whole) / launches};
}

} // namespace bench

#endif
