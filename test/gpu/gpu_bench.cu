/* What recording costs a program that launches: gpu_bench LOOP MODE. One mode a process, since
 * CUPTI leaves traces in a process once it was on; gpu_cost takes turns.
 *
 * Loops: "empty" launches kernels that do nothing, as fast as it can; "busy" launches kernels of 50
 * microseconds, in scopes of twenty. They come in bursts of at most 500 launches, which the
 * device's queue can hold; each burst is waited for outside of the timed part. A longer row of
 * launches would measure how fast the device takes them, and hide what the host pays.
 *
 * Modes: "bare" has nothing around it. "sync" waits for the device around each scope, as timers do
 * that know no better. "cupti" has the kinds of activities on that Takt enables, with a consumer
 * that throws all records away; "runtime" has empty callbacks on the runtime's launches besides,
 * "driver" on the driver's, "callbacks" on both. "wait" has a profiler that waits for its first
 * step to record; "after" one that has recorded and waits for the next cycle. "takt" records.
 * "marks" records without CUPTI, each launch in a TAKT_LAUNCH of its own.
 *
 * To find what costs how much, "callbacks" takes more of what Takt does, one by one or together:
 * "callbacks+ids+threads+small+flush". "subscribed" never enables a kind, "off" has them and the
 * callbacks enabled and disabled again, both with "+resource" and "+captures" callbacks, "off" also
 * with "+unsubscribe" or "+finalize". With GPU_BENCH_SAMPLE each tells where the launching thread
 * spends its time. */
#include "bench.cuh"
#include "sampler.cuh"

#include <thread>

using namespace bench;

namespace
{

const int repeats = 7;

struct Loop {
    const char *name;
    int launches;
} const loops[] = {{"empty", 40000}, {"busy", 1000}};

bool has(const std::string &mode, const char *part)
{
    return mode.find(part) != std::string::npos;
}

/* Callbacks on all calls whose names contain one of these. */
void enable_named(const std::vector<const char *> &parts)
{
    for (CUpti_CallbackDomain domain : {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RUNTIME_API}) {
        for (uint32_t id = 1; id < 900; id++) {
            const char *name = nullptr;
            if (CUPTI(cuptiGetCallbackName)(domain, id, &name) != CUPTI_SUCCESS || !name)
                continue;
            for (const char *part : parts)
                if (std::strstr(name, part))
                    CUPTI(cuptiEnableCallback)(1, raw::subscriber, domain, id);
        }
    }
}

void flush_now_and_then()
{
    for (;;) {
        pause_ms(150);
        raw::flush(false);
    }
}

/* What Takt does besides; see the top. */
void start_more(const std::string &mode)
{
    if (has(mode, "+ids"))
        enable_named({"Launch", "Memcpy", "Memset", "Malloc", "Free", "HostAlloc", "MemAlloc",
                      "Synchronize", "EventRecord", "StreamWait", "ModuleLoad", "LibraryLoad",
                      "Link"});
    if (has(mode, "+captures"))
        enable_named({"BeginCapture", "EndCapture", "DriverGetVersion"});
    if (has(mode, "+threads"))
        CUPTI(cuptiSetThreadIdType)(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    if (has(mode, "+small"))
        buffer_wish = 64 << 10;
    if (has(mode, "+resource"))
        for (uint32_t id : {1u, 2u, 3u})
            CUPTI(cuptiEnableCallback)(1, raw::subscriber, CUPTI_CB_DOMAIN_RESOURCE, id);
    if (has(mode, "+flush"))
        std::thread(flush_now_and_then).detach();
}

void end_cupti(const std::string &mode)
{
    launch_scope(false, 100);
    CHECK(cudaDeviceSynchronize());
    raw::flush(false);
    switch_kinds(false);
    switch_calls(mode, false);
    if (has(mode, "+unsubscribe"))
        CUPTI(cuptiUnsubscribe)(raw::subscriber);
    if (has(mode, "+finalize"))
        CUPTI(cuptiFinalize)();
}

void start_cupti(const std::string &mode)
{
    make_buffers();
    raw::start(raw::called_nothing, request, complete);
    start_more(mode);
    if (mode.find("subscribed") == 0)
        return;
    switch_kinds(true);
    switch_calls(mode, true);
    if (mode.find("off") == 0)
        end_cupti(mode);
}

/* After one run that does not count. */
Times median_run(const Loop &loop)
{
    const bool is_busy = loop.name[0] == 'b';
    std::vector<double> host, whole;
    run(is_busy, loop.launches, burst_launches);
    if (std::getenv("GPU_BENCH_SAMPLE"))
        sampler::start();
    for (int i = 0; i < repeats; i++) {
        Times times = run(is_busy, loop.launches, burst_launches);
        host.push_back(times.host_ns);
        whole.push_back(times.whole_ns);
    }
    return {median(host), median(whole)};
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
    Times times = median_run(loop);
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
    if (mode != "bare" && mode != "sync")
        start_cupti(mode);
    return median_run(loop);
}

} // namespace

int main(int argc, char **argv)
{
    const char *wish = std::getenv("GPU_BENCH_LAUNCHES"); /* fewer, to try it out */
    const int most = wish ? std::atoi(wish) : is_quick() ? 20000 : 40000;
    for (const Loop &loop : loops) {
        if (argc != 3 || std::strcmp(argv[1], loop.name) != 0)
            continue;
        Loop chosen = loop;
        if (most >= scope_launches)
            chosen.launches = std::min(loop.launches, most / scope_launches * scope_launches);
        int count = 0;
        if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0)
            need_device();
        CHECK(cudaFree(nullptr));
        Times times = measure(chosen, argv[2]);
        std::printf("%s %s %.1f %.1f\n", argv[1], argv[2], times.host_ns, times.whole_ns);
        if (std::getenv("GPU_BENCH_SAMPLE"))
            sampler::report(argv[2], 30);
        return failures != 0;
    }
    std::fputs("usage: gpu_bench [empty|busy "
               "bare|sync|cupti|runtime|driver|callbacks[+...]|wait|after|takt|marks]\n",
               stderr);
    return 2;
}
