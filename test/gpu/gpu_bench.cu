/* What recording costs a program that launches: gpu_bench LOOP MODE. One mode a process, since
 * CUPTI leaves traces in a process once it was on. `make bench-gpu` runs all of them and compares.
 *
 * Loops: "empty" launches kernels that do nothing, as fast as it can; "busy" launches kernels of 50
 * microseconds, in scopes of twenty.
 *
 * Modes: "bare" has nothing around it. "sync" waits for the device around each scope, as timers do
 * that know no better. "cupti" has the kinds of activities on that Takt enables, with a consumer
 * that throws all records away; "callbacks" has empty callbacks on the launches besides: that is
 * the floor for Takt. "wait" has a profiler that waits for its first step to record; "after" one
 * that has recorded and waits for the next cycle. "takt" records. "marks" records without CUPTI,
 * each launch in a TAKT_LAUNCH of its own. */
#include "gpu.cuh"

#include <cupti.h>
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <vector>

namespace
{

const int repeats = 7;
const int scope_launches = 20;

struct Loop {
    const char *name;
    int launches;
} const loops[] = {{"empty", 100000}, {"busy", 1000}};

void *cupti_library()
{
    const char *const names[] = {"libcupti.so.13", "libcupti.so.12",
                                 "/usr/local/cuda/lib64/libcupti.so",
                                 "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"};
    for (const char *name : names) {
        void *library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
        if (library)
            return library;
    }
    std::puts("no libcupti");
    std::exit(77);
}

#define CUPTI(function) reinterpret_cast<decltype(&function)>(dlsym(library, #function))

/* Zeroed buffers, given out and taken back: neither filled nor read by anybody but CUPTI. */
const size_t buffer_bytes = 1 << 20;
std::atomic<int> used;
uint8_t *buffers[64];
std::atomic<uint64_t> bytes_completed;

void CUPTIAPI request(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
    *buffer = buffers[used++ % 64];
    *bytes = buffer_bytes;
    *max_records = 0;
}

void CUPTIAPI complete(CUcontext, uint32_t, uint8_t *buffer, size_t, size_t valid)
{
    std::memset(buffer, 0, valid);
    bytes_completed += valid;
}

void CUPTIAPI called(void *, CUpti_CallbackDomain, CUpti_CallbackId, const void *)
{
}

void start_cupti(bool with_callbacks)
{
    void *library = cupti_library();
    CUpti_SubscriberHandle subscriber;
    uint8_t zeroed = 1;
    size_t size = sizeof zeroed;
    for (uint8_t *&buffer : buffers)
        buffer = static_cast<uint8_t *>(std::calloc(1, buffer_bytes));
    int status = CUPTI(cuptiSubscribe)(&subscriber, called, nullptr);
    if (status != 0) {
        std::printf("cuptiSubscribe fails with %d\n", status);
        std::exit(1);
    }
    CUPTI(cuptiActivitySetAttribute)
    (CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size, &zeroed);
    CUPTI(cuptiActivityRegisterCallbacks)(request, complete);
    const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                        CUPTI_ACTIVITY_KIND_MEMCPY,
                                        CUPTI_ACTIVITY_KIND_MEMSET,
                                        CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                                        CUPTI_ACTIVITY_KIND_OVERHEAD,
                                        CUPTI_ACTIVITY_KIND_MEMORY2,
                                        CUPTI_ACTIVITY_KIND_MEMORY_POOL};
    for (CUpti_ActivityKind kind : kinds)
        CUPTI(cuptiActivityEnable)(kind);
    if (!with_callbacks)
        return;
    for (uint32_t id : {211u, 214u, 430u, 505u, 506u}) /* cudaLaunchKernel and its like */
        CUPTI(cuptiEnableCallback)(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, id);
    for (uint32_t id : {307u, 442u, 652u, 653u}) /* cuLaunchKernel */
        CUPTI(cuptiEnableCallback)(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
}

bool marks, synchronises;

void launch(bool is_busy)
{
    if (is_busy)
        spin_50us<<<1, 1>>>();
    else
        nothing<<<1, 1>>>();
}

void launch_scope(bool is_busy, int launches)
{
    TAKT_SCOPE("scope");
    for (int i = 0; i < launches; i++) {
        if (!marks)
            launch(is_busy);
        else
            TAKT_LAUNCH(nullptr, TAKT_TIMING_KERNEL, "kernel") {
                launch(is_busy);
            }
    }
}

struct Times {
    double host_ns, whole_ns; /* a launch: until all are launched, and until all are done */
};

Times run(const Loop &loop)
{
    const bool is_busy = loop.name[0] == 'b';
    CHECK(cudaDeviceSynchronize());
    uint64_t begin = takt_now_ns();
    for (int i = 0; i < loop.launches; i += scope_launches) {
        launch_scope(is_busy, scope_launches);
        if (synchronises)
            CHECK(cudaDeviceSynchronize());
    }
    uint64_t launched = takt_now_ns();
    CHECK(cudaDeviceSynchronize());
    uint64_t done = takt_now_ns();
    return {static_cast<double>(launched - begin) / loop.launches,
            static_cast<double>(done - begin) / loop.launches};
}

Times median(const Loop &loop)
{
    std::vector<double> host, whole;
    run(loop);
    for (int i = 0; i < repeats; i++) {
        Times times = run(loop);
        host.push_back(times.host_ns);
        whole.push_back(times.whole_ns);
    }
    std::sort(host.begin(), host.end());
    std::sort(whole.begin(), whole.end());
    return {host[repeats / 2], whole[repeats / 2]};
}

Times with_profiler(const Loop &loop, bool waits, bool recorded_before)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.max_memory_bytes = UINT64_C(1) << 30;
    if (waits) {
        options.schedule.active = 1;
        options.schedule.wait = recorded_before ? 0 : 1000000;
        options.schedule.skip_first_wait = recorded_before;
        options.schedule.repeat = 1;
    }
    takt::Profiler profiler(options);
    profiler.start();
    if (recorded_before) {
        launch_scope(true, scope_launches);
        profiler.step();
        profiler.step();
    }
    Times times = median(loop);
    profiler.stop();
    if (!waits && profiler.trace()) {
        const takt_facts *facts = takt_trace_facts(profiler.trace().get());
        EXPECT(facts->activity_count == uint64_t(loop.launches) * (repeats + 1), "%llu activities",
               (unsigned long long)facts->activity_count);
        expect_no_losses(profiler.trace().get());
    }
    return times;
}

Times measure(const Loop &loop, const std::string &mode)
{
    if (mode == "wait" || mode == "after") {
        setenv("TAKT_LOG", "off", 1); /* that it ends before it has recorded */
        return with_profiler(loop, true, mode == "after");
    }
    if (mode == "marks") {
        setenv("TAKT_CUPTI_LIBRARY", "none", 1);
        setenv("TAKT_LOG", "off", 1);
        marks = true;
    }
    if (mode == "takt" || mode == "marks")
        return with_profiler(loop, false, false);
    synchronises = mode == "sync";
    if (mode == "cupti" || mode == "callbacks")
        start_cupti(mode == "callbacks");
    return median(loop);
}

} // namespace

int main(int argc, char **argv)
{
    for (const Loop &loop : loops) {
        if (argc != 3 || std::strcmp(argv[1], loop.name) != 0)
            continue;
        Loop chosen = loop;
        const char *launches = std::getenv("GPU_BENCH_LAUNCHES"); /* fewer, to try it out */
        if (launches && std::atoi(launches) >= scope_launches)
            chosen.launches = std::atoi(launches) / scope_launches * scope_launches;
        CHECK(cudaFree(nullptr));
        Times times = measure(chosen, argv[2]);
        std::printf("%s %s %.1f %.1f\n", argv[1], argv[2], times.host_ns, times.whole_ns);
        return failures != 0;
    }
    std::fputs("usage: gpu_bench empty|busy bare|sync|cupti|callbacks|wait|after|takt|marks\n",
               stderr);
    return 2;
}
