/* Timers inside kernels on a device: what they cost against two bare readings of the clock, and
 * whether they tell the truth: phases of known length, one kernel on two streams at once, a graph
 * that is launched many times, and memory that is too small. */
#include "gpu.cuh"

#include <takt/device.cuh>

enum phase {
    SHORT,
    LONG,
    PHASES
};
static const char *const names[PHASES] = {"short", "long"};

static const int rounds = 1000;

static takt_device_timers *make(uint32_t blocks, uint32_t records,
                                takt_device_lanes lanes = TAKT_DEVICE_BLOCKS)
{
    takt_device_timers *timers = nullptr;
    takt_device_timers_options options = TAKT_DEVICE_TIMERS_OPTIONS_INIT;
    options.blocks = blocks;
    options.records = records;
    options.lanes = lanes;
    options.always = true;
    takt_status status = takt_device_timers_create(names, PHASES, &options, &timers);
    EXPECT(status == TAKT_OK, "%s", takt_status_text(status));
    return timers;
}

/* cycles[phase][0] of a block after a read; false if it has none. */
static bool cycles_of(takt_device_timers *timers, uint32_t block, uint64_t cycles[PHASES])
{
    return takt_device_timers_copy(timers, block, 1, cycles) == TAKT_OK;
}

static void read(takt_device_timers *timers, cudaStream_t stream)
{
    takt_status status = takt_device_timers_read(timers, stream);
    EXPECT(status == TAKT_OK, "%s", takt_status_text(status));
    CHECK(cudaStreamSynchronize(stream));
}

/* ---- What they cost -------------------------------------------------------------------------- */

/* All loops are unrolled alike: what is compared is not the loop. */
#define ROUNDS(i) _Pragma("unroll 8") for (int i = 0; i < rounds; i++)

static __device__ void keep_total(long long begin, long long *total)
{
    if (threadIdx.x == 0)
        *total = clock64() - begin;
}

/* As programs do it by hand: two readings, and one value stored. */
static __global__ void bare_clock(long long *out, long long *total)
{
    long long begin = clock64();
    ROUNDS(i)
    {
        long long start = clock64();
        long long end = clock64();
        if (threadIdx.x == 0)
            out[i] = end - start;
    }
    keep_total(begin, total);
}

/* What a reading may cost: of 64 bits, and a record of 16 bytes as Takt's, when and how long; or of
 * 32 bits, which come round every few seconds, and a record of 8. */
struct Wide {
    typedef long long time;
    typedef longlong2 record;
    static __device__ time now() { return clock64(); }
    static __device__ record keep(time begin, time end)
    {
        return make_longlong2(begin, end - begin);
    }
};

struct Narrow {
    typedef unsigned time;
    typedef uint2 record;
    static __device__ time now()
    {
        unsigned clock;
        asm volatile("mov.u32 %0, %%clock;" : "=r"(clock)::"memory");
        return clock;
    }
    static __device__ record keep(time begin, time end) { return make_uint2(begin, end - begin); }
};

/* Two readings, and a record. */
template <typename Clock>
static __global__ void kept_clock(typename Clock::record *out, long long *total)
{
    long long begin = clock64();
    ROUNDS(i)
    {
        typename Clock::time start = Clock::now();
        typename Clock::time end = Clock::now();
        if (threadIdx.x == 0)
            out[i] = Clock::keep(start, end);
    }
    keep_total(begin, total);
}

/* One reading ends what the last one began. */
template <typename Clock>
static __global__ void kept_phase(typename Clock::record *out, long long *total)
{
    long long begin = clock64();
    typename Clock::time start = Clock::now();
    ROUNDS(i)
    {
        typename Clock::time end = Clock::now();
        if (threadIdx.x == 0)
            out[i] = Clock::keep(start, end);
        start = end;
    }
    keep_total(begin, total);
}

static __global__ void with_scopes(takt_device_view timers, long long *total)
{
    TAKT_DEVICE_PHASE(timers, LONG); /* takes the segment */
    TAKT_DEVICE_PHASE_END(timers);
    long long begin = clock64();
    ROUNDS(i)
    {
        TAKT_DEVICE_SCOPE(timers, SHORT);
    }
    keep_total(begin, total);
}

static __global__ void with_phases(takt_device_view timers, long long *total)
{
    TAKT_DEVICE_PHASE(timers, LONG);
    long long begin = clock64();
    ROUNDS(i)
    {
        TAKT_DEVICE_PHASE(timers, SHORT);
    }
    keep_total(begin, total);
    TAKT_DEVICE_PHASE_END(timers);
}

/* A chain of operations that each wait for the one before. */
static __device__ void work(float &x)
{
    asm volatile("" : "+f"(x));
#pragma unroll
    for (int i = 0; i < 32; i++)
        x = fmaf(x, 0.5f, 1.0f);
    asm volatile("" : "+f"(x));
}

static __global__ void bare_work(float *out, long long *total)
{
    float x = *out;
    long long begin = clock64();
    ROUNDS(i)
    {
        work(x);
    }
    keep_total(begin, total);
    *out = x;
}

template <typename Clock>
static __global__ void kept_work(float *out, typename Clock::record *records, long long *total)
{
    float x = *out;
    long long begin = clock64();
    ROUNDS(i)
    {
        typename Clock::time start = Clock::now();
        work(x);
        typename Clock::time end = Clock::now();
        if (threadIdx.x == 0)
            records[i] = Clock::keep(start, end);
    }
    keep_total(begin, total);
    *out = x;
}

static __global__ void timed_work(takt_device_view timers, float *out, long long *total)
{
    TAKT_DEVICE_PHASE(timers, LONG);
    TAKT_DEVICE_PHASE_END(timers);
    float x = *out;
    long long begin = clock64();
    ROUNDS(i)
    {
        TAKT_DEVICE_SCOPE(timers, SHORT);
        work(x);
    }
    keep_total(begin, total);
    *out = x;
}

enum cost {
    BARE,
    KEPT,
    KEPT_PHASE,
    NARROW,
    NARROW_PHASE,
    SCOPE,
    PHASE,
    SCOPE_OFF,
    PHASE_OFF,
    WORK,
    KEPT_WORK,
    NARROW_WORK,
    TIMED_WORK,
    OFF_WORK,
    COSTS
};

/* Cycles of one round of each. */
static void measure(int threads, double cycles[COSTS])
{
    long long *total;
    longlong2 *out;
    takt_device_timers *timers = make(8, rounds + 2);
    CHECK(cudaMallocManaged(&total, COSTS * sizeof *total));
    CHECK(cudaMalloc(&out, (rounds + 1) * sizeof *out));
    CHECK(cudaMemset(out, 0, (rounds + 1) * sizeof *out));
    float *x = reinterpret_cast<float *>(out + rounds);
    uint2 *narrow = reinterpret_cast<uint2 *>(out);
    const takt_device_view off = takt_device_view();
    for (int i = 0; i < 2; i++) { /* the first time warms up */
        bare_clock<<<1, threads>>>(reinterpret_cast<long long *>(out), total + BARE);
        kept_clock<Wide><<<1, threads>>>(out, total + KEPT);
        kept_phase<Wide><<<1, threads>>>(out, total + KEPT_PHASE);
        kept_clock<Narrow><<<1, threads>>>(narrow, total + NARROW);
        kept_phase<Narrow><<<1, threads>>>(narrow, total + NARROW_PHASE);
        with_scopes<<<1, threads>>>(takt_device_timers_view(timers), total + SCOPE);
        with_phases<<<1, threads>>>(takt_device_timers_view(timers), total + PHASE);
        with_scopes<<<1, threads>>>(off, total + SCOPE_OFF);
        with_phases<<<1, threads>>>(off, total + PHASE_OFF);
        bare_work<<<1, threads>>>(x, total + WORK);
        kept_work<Wide><<<1, threads>>>(x, out, total + KEPT_WORK);
        kept_work<Narrow><<<1, threads>>>(x, narrow, total + NARROW_WORK);
        timed_work<<<1, threads>>>(takt_device_timers_view(timers), x, total + TIMED_WORK);
        timed_work<<<1, threads>>>(off, x, total + OFF_WORK);
        read(timers, nullptr);
    }
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < COSTS; i++)
        cycles[i] = static_cast<double>(total[i]) / rounds;
    takt_device_timers_destroy(timers);
    CHECK(cudaFree(total));
    CHECK(cudaFree(out));
}

static void tell_cost(int threads)
{
    double cycles[COSTS];
    measure(threads, cycles);
    tell(cycles[BARE], "cycles", "two bare readings, %d threads", threads);
    tell(cycles[KEPT], "cycles", "two readings and 16 bytes, %d threads", threads);
    tell(cycles[KEPT_PHASE], "cycles", "one reading and 16 bytes, %d threads", threads);
    tell(cycles[NARROW], "cycles", "two readings of 32 bits and 8 bytes, %d threads", threads);
    tell(cycles[NARROW_PHASE], "cycles", "one reading of 32 bits and 8 bytes, %d threads", threads);
    tell(cycles[SCOPE], "cycles", "a scope, %d threads", threads);
    tell(cycles[PHASE], "cycles", "a phase, %d threads", threads);
    tell(cycles[SCOPE_OFF], "cycles", "a scope of a view that is off, %d threads", threads);
    tell(cycles[PHASE_OFF], "cycles", "a phase of a view that is off, %d threads", threads);
    budget(cycles[SCOPE] / cycles[BARE], 1.3, "times two bare readings", "a scope, %d threads",
           threads);
    budget(cycles[PHASE] / cycles[BARE], 1.3, "times two bare readings", "a phase, %d threads",
           threads);
    key(cycles[SCOPE] / cycles[KEPT], "times two readings and 16 bytes", "a scope, %d threads",
        threads);
    key(cycles[PHASE] / cycles[KEPT_PHASE], "times one reading and 16 bytes", "a phase, %d threads",
        threads);
    tell(cycles[WORK], "cycles", "32 operations in a chain, %d threads", threads);
    tell(cycles[KEPT_WORK] - cycles[WORK], "cycles", "readings and 16 bytes add, %d threads",
         threads);
    tell(cycles[NARROW_WORK] - cycles[WORK], "cycles", "32 bits and 8 bytes add, %d threads",
         threads);
    key(cycles[NARROW] / cycles[KEPT], "times 64 bits and 16 bytes", "32 and 8, %d threads",
        threads);
    key(cycles[NARROW_PHASE] / cycles[KEPT_PHASE], "times 64 bits and 16 bytes",
        "32 and 8 of a phase, %d threads", threads);
    key(cycles[TIMED_WORK] - cycles[WORK], "cycles", "a scope around them adds, %d threads",
        threads);
    key(cycles[OFF_WORK] - cycles[WORK], "cycles", "one that is off adds, %d threads", threads);
}

/* A view that the compiler keeps in memory needs bytes of each thread. */
template <typename Kernel> static void tell_registers(const char *name, Kernel kernel)
{
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, kernel));
    tell(attributes.numRegs, "registers", "%s", name);
    tell(static_cast<double>(attributes.localSizeBytes), "bytes_of_local_memory", "%s", name);
}

/* ---- Whether they are right ------------------------------------------------------------------ */

static __global__ void spins(takt_device_view timers)
{
    TAKT_DEVICE_PHASE(timers, SHORT);
    spin_ns(20000);
    __syncthreads();
    TAKT_DEVICE_PHASE(timers, LONG);
    spin_ns(100000);
    TAKT_DEVICE_PHASE_END(timers);
}

static void expect_spins(takt_device_timers *timers, uint32_t block)
{
    uint64_t cycles[PHASES];
    bool has = cycles_of(timers, block, cycles);
    EXPECT(has, "no block %u", block);
    double ratio = has ? static_cast<double>(cycles[LONG]) / static_cast<double>(cycles[SHORT]) : 5;
    EXPECT(ratio > 4 && ratio < 6, "block %u: long and short are %f", block, ratio);
}

/* The same view on two streams at once, and then a graph that has it. */
static void check_launches(void)
{
    const uint32_t blocks = 16;
    cudaStream_t streams[2];
    cudaEvent_t done;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    takt_device_timers *timers = make(10 * blocks, 4);
    CHECK(cudaEventCreate(&done));
    for (cudaStream_t &stream : streams)
        CHECK(cudaStreamCreate(&stream));
    takt_device_view view = takt_device_timers_view(timers);
    for (cudaStream_t stream : streams)
        spins<<<blocks, 64, 0, stream>>>(view);
    CHECK(cudaEventRecord(done, streams[1]));
    CHECK(cudaStreamWaitEvent(streams[0], done, 0));
    read(timers, streams[0]);
    for (uint32_t block = 0; block < blocks; block++)
        expect_spins(timers, block);

    CHECK(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeThreadLocal));
    spins<<<blocks, 64, 0, streams[0]>>>(view);
    CHECK(cudaStreamEndCapture(streams[0], &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 10; i++)
        CHECK(cudaGraphLaunch(exec, streams[0]));
    read(timers, streams[0]);
    expect_spins(timers, blocks - 1);
    takt_device_timers_destroy(timers);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    for (cudaStream_t stream : streams)
        CHECK(cudaStreamDestroy(stream));
    CHECK(cudaEventDestroy(done));
}

/* A recording of more blocks and phases than there is room for. */
static void check_losses(void)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_device_timers *timers = make(6, 1);
    takt::Profiler profiler(options);
    profiler.start();
    spins<<<10, 32>>>(takt_device_timers_view(timers));
    read(timers, nullptr);
    profiler.stop();
    const takt_trace *trace = takt_profiler_trace(profiler.get());
    EXPECT(takt_trace_loss(trace, TAKT_LOSS_PHASE_BLOCKS) == 4, "%llu",
           (unsigned long long)takt_trace_loss(trace, TAKT_LOSS_PHASE_BLOCKS));
    EXPECT(takt_trace_loss(trace, TAKT_LOSS_PHASES) == 6, "%llu",
           (unsigned long long)takt_trace_loss(trace, TAKT_LOSS_PHASES));
    takt_device_timers_destroy(timers);
}

/* Threads of a warp go different ways, and some return early; the first one of each warp records.
 */
static __global__ void diverges(takt_device_view timers)
{
    TAKT_DEVICE_SCOPE(timers, LONG);
    if (threadIdx.x % 3 == 0) {
        TAKT_DEVICE_PHASE(timers, SHORT);
        spin_ns(20000);
        TAKT_DEVICE_PHASE_END(timers);
    }
    if (threadIdx.x % 2 == 0)
        return;
    spin_ns(20000);
}

/* Warps begin at the threads 0, 32, 64 and 96: the first and the last one have the short phase. */
static void check_warps(void)
{
    uint64_t cycles[PHASES];
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_device_timers *timers = make(6, 2, TAKT_DEVICE_WARPS);
    takt::Profiler profiler(options);
    profiler.start();
    diverges<<<2, 128>>>(takt_device_timers_view(timers));
    read(timers, nullptr);
    EXPECT(cycles_of(timers, 0, cycles) && cycles[LONG] >= cycles[SHORT], "no block 0");
    profiler.stop();
    const takt_trace *trace = takt_profiler_trace(profiler.get());
    EXPECT(takt_trace_loss(trace, TAKT_LOSS_PHASE_BLOCKS) == 2, "%llu",
           (unsigned long long)takt_trace_loss(trace, TAKT_LOSS_PHASE_BLOCKS));
    EXPECT(takt_trace_loss(trace, TAKT_LOSS_PHASES) == 0, "%llu",
           (unsigned long long)takt_trace_loss(trace, TAKT_LOSS_PHASES));
    takt_device_timers_destroy(timers);
}

static __global__ void write_one(int *out)
{
    *out = 1;
}

/* False on the stand-ins, whose kernels do nothing. */
static bool computes(void)
{
    int *one, value;
    CHECK(cudaMallocManaged(&one, sizeof *one));
    *one = 0;
    write_one<<<1, 1>>>(one);
    CHECK(cudaDeviceSynchronize());
    value = *one;
    CHECK(cudaFree(one));
    return value == 1;
}

int main()
{
    need_device();
    if (!computes()) {
        takt_device_timers *timers = make(4, 4);
        spins<<<4, 64>>>(takt_device_timers_view(timers));
        read(timers, nullptr);
        takt_device_timers_destroy(timers);
        double cycles[COSTS];
        measure(32, cycles);
        std::puts("the device computes nothing");
        return failures != 0;
    }
    for (int threads : {1, 32, 256})
        tell_cost(threads);
    decides("whether records of 8 bytes make scopes inside kernels much cheaper");
    tell_registers("bare readings", bare_clock);
    tell_registers("64 bits and 16 bytes", kept_clock<Wide>);
    tell_registers("32 bits and 8 bytes", kept_clock<Narrow>);
    tell_registers("scopes", with_scopes);
    tell_registers("phases", with_phases);
    tell_registers("scopes around work", timed_work);
    check_launches();
    check_warps();
    check_losses();
    return failures != 0;
}
