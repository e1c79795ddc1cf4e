/* NVTX without a tool: what annotating a program costs while nobody listens. It is no clock read,
 * so that it is told above the empty loop, as scope_off is. */
#include "peers.h"

#include "bench.h"

#ifdef TKT_HAVE_NVTX

#include <nvtx3/nvToolsExt.h>

static __attribute__((noinline)) void run_push_pop(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        nvtxRangePushA("range");
        BENCH_BARRIER();
        nvtxRangePop();
    }
}

static __attribute__((noinline)) void run_start_end(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        nvtxRangeId_t range = nvtxRangeStartA("range");
        BENCH_BARRIER();
        nvtxRangeEnd(range);
    }
}

static void tell(const char *name, void (*run)(uint64_t count))
{
    bench_time time = bench_measure_above(&(bench_loop){.run = run}, &bench_empty);
    bench_tell(
        (bench_figure){.name = name, .value = time.ns, .unit = "ns", .floor = time.floor_ns});
}

void bench_nvtx(void)
{
    tell("peer_nvtx_push_pop", run_push_pop);
    tell("peer_nvtx_start_end", run_start_end);
}

#else

void bench_nvtx(void)
{
    bench_tell_missing("peer_nvtx_push_pop", "no NVTX headers in this build");
}

#endif
