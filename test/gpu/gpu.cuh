/* What the programs of this folder share: kernels of known length, expectations, reading traces. They
 * run on a GPU and, unchanged, on the stand-ins of test/simgpu, whose script says how long each
 * kernel takes there. Nothing here needs a test library, which a machine with a GPU may lack. */
#ifndef GPU_CUH
#define GPU_CUH

#include <takt/takt.hpp>

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

static int failures;

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_)); \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

/* Tells what was found when it is not as expected; the program goes on. */
#define EXPECT(condition, ...)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::printf("%s:%d: not so: %s: ", __FILE__, __LINE__, #condition);                    \
            std::printf(__VA_ARGS__);                                                              \
            std::printf("\n");                                                                     \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

/* Busy for about so long. One thread: many may run at a time. */
static __device__ void spin_ns(unsigned long long ns)
{
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - begin < ns);
}

static __global__ void spin_10us(void)
{
    spin_ns(10000);
}

static __global__ void spin_50us(void)
{
    spin_ns(50000);
}

static __global__ void spin_2ms(void)
{
    spin_ns(2000000);
}

static __global__ void nothing(void)
{
}

/* Ends the program with "skipped" where there is no device; otherwise prints what it runs on. */
static inline void need_device(void)
{
    int count = 0, driver = 0, runtime = 0;
    cudaDeviceProp properties;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        std::puts("needs a CUDA device");
        std::exit(77);
    }
    CHECK(cudaGetDeviceProperties(&properties, 0));
    CHECK(cudaDriverGetVersion(&driver));
    CHECK(cudaRuntimeGetVersion(&runtime));
    std::printf("device %s, driver %d.%d, runtime %d.%d, takt %s\n", properties.name,
                driver / 1000, driver / 10 % 100, runtime / 1000, runtime / 10 % 100,
                takt_version());
    CHECK(cudaFree(nullptr)); /* makes the context */
}

/* The profiler's last trace stays until it is destroyed. */
struct Totals {
    size_t count;
    double ms;
    size_t without_scope;
};

/* Counts and sums activities whose scope (NULL: any) and name (NULL: any) are these. */
static inline Totals totals_of(const takt_trace *trace, const char *scope, const char *name)
{
    Totals totals = {};
    for (size_t i = 0; i < takt_trace_activity_count(trace); i++) {
        takt_activity activity;
        takt_trace_activity(trace, i, &activity);
        if (std::strncmp(activity.device, "cuda", 4) != 0 ||
            (scope && (!activity.scope || std::strcmp(activity.scope, scope) != 0)) ||
            (name && std::strcmp(activity.name, name) != 0))
            continue;
        totals.count++;
        totals.ms += activity.elapsed_ms;
        totals.without_scope += !activity.scope;
    }
    return totals;
}

/* Nothing may be missing from a trace that fits into memory. */
static inline void expect_no_losses(const takt_trace *trace)
{
    const takt_facts *facts = takt_trace_facts(trace);
    for (int loss = 0; loss < TAKT_LOSS_COUNT; loss++)
        EXPECT(facts->losses[loss] == 0, "%llu %s", (unsigned long long)facts->losses[loss],
               takt_loss_name(static_cast<takt_loss>(loss)));
}

/* Whether two measurements of one thing agree: within a share of them and an absolute part. */
static inline bool agrees(double a, double b, double share, double absolute)
{
    double larger = a > b ? a : b;
    double apart = a > b ? a - b : b - a;
    return apart <= share * larger + absolute;
}

static inline int finish(void)
{
    std::printf(failures ? "%d failures\n" : "all as expected\n", failures);
    return failures != 0;
}

#endif
