/* What recording costs a program that launches: gpu_bench LOOP MODE. One mode a process, since
 * CUPTI leaves traces in a process once it was on; without arguments it starts itself for each.
 *
 * Loops: "empty" launches kernels that do nothing, as fast as it can; "busy" launches kernels of 50
 * microseconds, in scopes of twenty. They come in bursts of at most 500 launches, which the
 * device's queue can hold; each burst is waited for outside of the timed part. A longer row of
 * launches would measure how fast the device takes them, and hide what the host pays.
 *
 * Modes: "bare" has nothing around it. "sync" waits for the device around each scope, as timers do
 * that know no better. "cupti" has the kinds of activities on that Takt enables, with a consumer
 * that throws all records away; "runtime" has empty callbacks on the runtime's launches besides,
 * "driver" on the driver's, "callbacks" on both: that is the floor for Takt. "wait" has a profiler
 * that waits for its first step to record; "after" one that has recorded and waits for the next
 * cycle. "takt" records. "marks" records without CUPTI, each launch in a TAKT_LAUNCH of its own.
 *
 * To find what costs how much, "callbacks" takes more of what Takt does, one by one or together:
 * "callbacks+ids+threads+small+flush". "subscribed" never enables a kind, "off" has them and the
 * callbacks enabled and disabled again, both with "+resource" and "+captures" callbacks, "off" also
 * with "+unsubscribe" or "+finalize". GPU_BENCH_MODES lists the modes to run instead,
 * GPU_BENCH_ROUNDS how often; with GPU_BENCH_SAMPLE each tells where the launching thread spends
 * its time. */
#include "cupti.cuh"
#include "sampler.cuh"

#include <fstream>
#include <map>
#include <thread>

namespace
{

const int repeats = 7;
const int scope_launches = 20;
const int burst_launches = 500;

struct Loop {
    const char *name;
    int launches;
} const loops[] = {{"empty", 40000}, {"busy", 1000}};

/* Zeroed buffers, given out and taken back: neither filled nor read by anybody but CUPTI. */
const size_t buffer_bytes = 1 << 20;
size_t buffer_wish = buffer_bytes;
std::atomic<int> used;
uint8_t *buffers[64];
std::atomic<uint64_t> bytes_completed;

void CUPTIAPI request(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
    *buffer = buffers[used++ % 64];
    *bytes = buffer_wish;
    *max_records = 0;
}

void CUPTIAPI complete(CUcontext, uint32_t, uint8_t *buffer, size_t, size_t valid)
{
    std::memset(buffer, 0, valid);
    bytes_completed += valid;
}

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

void switch_kinds(bool on)
{
    const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                        CUPTI_ACTIVITY_KIND_MEMCPY,
                                        CUPTI_ACTIVITY_KIND_MEMSET,
                                        CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                                        CUPTI_ACTIVITY_KIND_CUDA_EVENT,
                                        CUPTI_ACTIVITY_KIND_OVERHEAD,
                                        CUPTI_ACTIVITY_KIND_JIT};
    for (CUpti_ActivityKind kind : kinds)
        raw::enable(kind, on);
}

void switch_calls(const std::string &mode, bool on)
{
    const bool both = mode.find("callbacks") == 0 || mode.find("off") == 0;
    for (uint32_t id : {211u, 214u, 430u, 505u, 506u}) /* cudaLaunchKernel and its like */
        if (both || mode == "runtime")
            CUPTI(cuptiEnableCallback)(on, raw::subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, id);
    for (uint32_t id : {307u, 442u, 652u, 653u}) /* cuLaunchKernel */
        if (both || mode == "driver")
            CUPTI(cuptiEnableCallback)(on, raw::subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
}

void launch_scope(bool is_busy, int launches);

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
    for (uint8_t *&buffer : buffers)
        buffer = static_cast<uint8_t *>(std::calloc(1, buffer_bytes));
    raw::start(raw::called_nothing, request, complete);
    start_more(mode);
    if (mode.find("subscribed") == 0)
        return;
    switch_kinds(true);
    switch_calls(mode, true);
    if (mode.find("off") == 0)
        end_cupti(mode);
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
    uint64_t host = 0, whole = 0;
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < loop.launches; i += burst_launches) {
        const int end = std::min(loop.launches, i + burst_launches);
        uint64_t begin = takt_now_ns();
        for (int at = i; at < end; at += scope_launches) {
            launch_scope(is_busy, scope_launches);
            if (synchronises)
                CHECK(cudaDeviceSynchronize());
        }
        host += takt_now_ns() - begin;
        CHECK(cudaDeviceSynchronize());
        whole += takt_now_ns() - begin;
    }
    return {static_cast<double>(host) / loop.launches, static_cast<double>(whole) / loop.launches};
}

/* After one run that does not count. */
Times median_run(const Loop &loop)
{
    std::vector<double> host, whole;
    run(loop);
    if (std::getenv("GPU_BENCH_SAMPLE"))
        sampler::start();
    for (int i = 0; i < repeats; i++) {
        Times times = run(loop);
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

/* The modes to run: all, or those in GPU_BENCH_MODES, with spaces between. */
std::vector<const char *> wished_modes()
{
    static std::vector<char> text;
    std::vector<const char *> modes;
    const char *wish = std::getenv("GPU_BENCH_MODES");
    if (!wish)
        return {"bare",      "sync", "cupti", "runtime", "driver",
                "callbacks", "wait", "after", "takt",    "marks"};
    text.assign(wish, wish + std::strlen(wish) + 1);
    for (char *mode = std::strtok(text.data(), " "); mode; mode = std::strtok(nullptr, " "))
        modes.push_back(mode);
    return modes;
}

typedef std::map<std::string, std::vector<double>> Rounds;

/* The medians of all rounds, and the least of them: other users of a machine only add to it. */
void tell_rounds(Rounds &host, Rounds &whole, const std::vector<const char *> &modes)
{
    std::string name;
    for (const Loop &loop : loops) {
        for (const char *mode : modes) {
            name = std::string(loop.name) + "." + mode;
            if (host[name].empty())
                continue;
            key(median(host[name]), "ns_a_launch", "bench.%s.host", name.c_str());
            tell(quantile(host[name], 0), "ns", "bench.%s.host.least", name.c_str());
            key(median(whole[name]), "ns_a_launch", "bench.%s.whole", name.c_str());
        }
    }
}

/* What Takt may cost; see the README. */
void tell_budgets(Rounds &host, Rounds &whole)
{
    for (const char *loop : {"empty", "busy"}) {
        const std::string name = loop;
        if (!host[name + ".takt"].empty() && !host[name + ".callbacks"].empty())
            budget(median(host[name + ".takt"]) / median(host[name + ".callbacks"]), 1.05,
                   "times_callbacks", "bench.%s.takt.host", loop);
    }
    if (!whole["busy.takt"].empty() && !whole["busy.bare"].empty())
        budget(median(whole["busy.takt"]) / median(whole["busy.bare"]), 1.03, "times_bare",
               "bench.busy.takt.whole");
}

/* All modes in turn, three times: machines change their speed meanwhile. */
int run_rounds(const char *program, const std::vector<const char *> &modes)
{
    const char *wish = std::getenv("GPU_BENCH_ROUNDS"), *folder = std::getenv("TMPDIR");
    const int rounds = wish ? std::atoi(wish) : is_quick() ? 1 : 3;
    std::string results = std::string(folder ? folder : "/tmp") + "/takt-bench-XXXXXX";
    int file = mkstemp(&results[0]), status = 0;
    close(file);
    setenv("GPU_BENCH_RESULTS", results.c_str(), 1);
    std::puts("# loop mode ns-a-launch-host ns-a-launch-whole");
    for (int left = rounds; left > 0; left--) {
        for (const Loop &loop : loops) {
            int ended = run_modes(program, modes, 60, loop.name);
            status = status ? status : ended;
        }
    }
    Rounds host, whole;
    std::ifstream lines(results);
    std::string name;
    for (double one, other; lines >> name >> one >> other;) {
        host[name].push_back(one);
        whole[name].push_back(other);
    }
    tell_rounds(host, whole, modes);
    tell_budgets(host, whole);
    unlink(results.c_str());
    return status;
}

} // namespace

int main(int argc, char **argv)
{
    const char *wish = std::getenv("GPU_BENCH_LAUNCHES"); /* fewer, to try it out */
    const int most = wish ? std::atoi(wish) : is_quick() ? 20000 : 40000;
    if (argc == 1)
        return run_rounds(argv[0], wished_modes());
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
        if (const char *results = std::getenv("GPU_BENCH_RESULTS"))
            std::ofstream(results, std::ios::app) << argv[1] << '.' << argv[2] << ' '
                                                  << times.host_ns << ' ' << times.whole_ns << '\n';
        if (std::getenv("GPU_BENCH_SAMPLE"))
            sampler::report(argv[2], 30);
        return failures != 0;
    }
    std::fputs("usage: gpu_bench [empty|busy "
               "bare|sync|cupti|runtime|driver|callbacks[+...]|wait|after|takt|marks]\n",
               stderr);
    return 2;
}
