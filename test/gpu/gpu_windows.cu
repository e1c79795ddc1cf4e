/* Takt's windows on a device that never idles, beside a kernel that does not end, and with a queue
 * that is longer than anybody likes to wait: the share of what a window launched that its trace
 * has, and how long its end takes. */
#include "gpu.cuh"

#include <takt/activity.h>

#include <atomic>
#include <thread>

namespace
{

struct Window {
    size_t got;
    uint64_t losses, incomplete;
    double stop_ms;
};

/* Each step launches as many kernels, which take longer than the step, so that the queue only
 * grows. Every second step is recorded. */
void busy(bool foreground)
{
    const int windows = is_quick() ? 2 : 5, launches = 40;
    const char *mode = foreground ? "foreground" : "background";
    std::vector<Window> seen;
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.schedule.wait = options.schedule.active = 1;
    options.schedule.repeat = static_cast<uint32_t>(windows);
    options.background = foreground ? TAKT_OFF : TAKT_ON;
    auto on_trace = [&](const takt_trace *trace) {
        seen.push_back({totals_of(trace, "step", "kernel spin_1ms").count, all_losses(trace),
                        takt_trace_loss(trace, TAKT_LOSS_INCOMPLETE), 0.0});
    };
    takt::Profiler profiler(options, on_trace);
    std::vector<double> step_us;
    profiler.start();
    for (int step = 0; step < 2 * windows + 4; step++) {
        {
            TAKT_SCOPE("step");
            for (int i = 0; i < launches; i++) {
                spin_1ms<<<1, 1>>>();
                pause_ms(0.7);
            }
        }
        uint64_t begin = takt_now_ns();
        profiler.step();
        step_us.push_back(static_cast<double>(takt_now_ns() - begin) / 1e3);
    }
    uint64_t begin = takt_now_ns();
    profiler.stop();
    tell(static_cast<double>(takt_now_ns() - begin) / 1e6, "ms", "windows.%s.stop", mode);
    tell(quantile(step_us, 1.0), "us", "windows.%s.longest_step", mode);
    size_t got = 0;
    for (size_t i = 0; i < seen.size(); i++) {
        tell(static_cast<double>(seen[i].got), "of_40_kernels", "windows.%s.%zu.got", mode, i);
        tell(static_cast<double>(seen[i].losses), "losses", "windows.%s.%zu.losses", mode, i);
        EXPECT(seen[i].got <= size_t(launches), "%zu of %d", seen[i].got, launches);
        got += seen[i].got;
    }
    tell(static_cast<double>(seen.size()), "traces", "windows.%s.traces", mode);
    key(100.0 * static_cast<double>(got) / (windows * launches), "%", "windows.%s.got", mode);
    CHECK(cudaDeviceSynchronize());
}

/* 150 kernels of 20 ms are launched at once: three seconds of work behind the window's end. */
void deep()
{
    const int launches = is_quick() ? 120 : 250;
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt::Profiler profiler(options);
    cudaEvent_t last;
    CHECK(cudaEventCreateWithFlags(&last, cudaEventDisableTiming));
    profiler.start();
    {
        TAKT_SCOPE("deep");
        for (int i = 0; i < launches; i++)
            spin_20ms<<<1, 1>>>();
    }
    CHECK(cudaEventRecord(last));
    uint64_t begin = takt_now_ns();
    profiler.stop();
    double waited_ms = static_cast<double>(takt_now_ns() - begin) / 1e6;
    bool all_done = cudaEventQuery(last) == cudaSuccess;
    takt::Trace trace = profiler.trace();
    EXPECT(trace, "no trace");
    if (!trace)
        return;
    Totals totals = totals_of(trace.get(), "deep", "kernel spin_20ms");
    tell(launches, "kernels", "windows.deep.launched");
    key(100.0 * static_cast<double>(totals.count) / launches, "%", "windows.deep.got");
    key(waited_ms, "ms", "windows.deep.stop");
    tell(totals.count ? totals.ms / static_cast<double>(totals.count) : 0.0, "ms",
         "windows.deep.kernel");
    tell(all_done, "yes", "windows.deep.done_when_it_ended");
    tell(static_cast<double>(takt_trace_loss(trace.get(), TAKT_LOSS_INCOMPLETE)), "losses",
         "windows.deep.incomplete");
    CHECK(cudaDeviceSynchronize());
}

/* ---- Beside a kernel that does not end ------------------------------------------------------- */

/* Ends when the host says so, or after `most_ns`. */
__global__ void spin_until(const volatile int *over, unsigned long long most_ns)
{
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (*over == 0 && now - begin < most_ns);
}

/* The kernel, on a stream of its own. A call that waits for it would never return: then a thread
 * ends the kernel after some time. */
class Endless
{
    int *over;
    std::atomic<uint64_t> ends_ns{UINT64_MAX};
    std::atomic<bool> is_left{false};
    std::thread watch;

  public:
    cudaStream_t stream;

    Endless()
    {
        CHECK(cudaHostAlloc(&over, sizeof *over, cudaHostAllocMapped));
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        end();
        spin_until<<<1, 1, 0, stream>>>(over, 0); /* its code is loaded once nothing runs */
        CHECK(cudaStreamSynchronize(stream));
        watch = std::thread([this] {
            while (!is_left) {
                if (takt_now_ns() > ends_ns)
                    end();
                pause_ms(5);
            }
        });
    }
    ~Endless()
    {
        is_left = true;
        watch.join();
        end();
        CHECK(cudaStreamSynchronize(stream));
    }
    void end() { __atomic_store_n(over, 1, __ATOMIC_RELEASE); }
    bool is_running() { return cudaStreamQuery(stream) == cudaErrorNotReady; }
    void begin()
    {
        if (is_running())
            return;
        __atomic_store_n(over, 0, __ATOMIC_RELEASE);
        spin_until<<<1, 1, 0, stream>>>(over, 60000000000ull);
    }
    /* Until the next call of this. */
    void end_after_ms(uint64_t ms) { ends_ns = ms ? takt_now_ns() + ms * 1000000 : UINT64_MAX; }
};

struct Beside {
    cudaStream_t stream;
    cudaGraphExec_t graph;
    std::vector<void *> kept;
};

const int kernels = 20, nodes = 3;

void launch_graph(Beside &b)
{
    CHECK(cudaGraphLaunch(b.graph, b.stream));
}

void allocate(Beside &b)
{
    void *memory;
    CHECK(cudaMalloc(&memory, 1 << 20));
    b.kept.push_back(memory); /* freed once the kernel has ended */
}

void allocate_and_free(Beside &)
{
    void *memory;
    CHECK(cudaMalloc(&memory, 1 << 20));
    CHECK(cudaFree(memory));
}

void use_pool(Beside &b)
{
    void *memory;
    CHECK(cudaMallocAsync(&memory, 1 << 20, b.stream));
    CHECK(cudaFreeAsync(memory, b.stream));
}

/* The last one may wait for the kernel. */
const struct Form {
    const char *name;
    size_t expected;
    void (*more)(Beside &);
} beside_forms[] = {
    // clang-format off
    {"kernels", kernels, nullptr},
    {"graph", kernels + nodes, launch_graph},
    {"malloc", kernels, allocate},
    {"pool", kernels, use_pool},
    {"free", kernels, allocate_and_free},
    // clang-format on
};

/* Milliseconds until all that a window launches is done. */
double do_work(const Form &form, Beside &b)
{
    TAKT_SCOPE("work");
    return ms_of([&] {
        for (int i = 0; i < kernels; i++)
            nothing<<<1, 1, 0, b.stream>>>();
        if (form.more)
            form.more(b);
        CHECK(cudaStreamSynchronize(b.stream));
    });
}

void tell_form(const char *name, const std::vector<double> &starts,
               const std::vector<double> &calls, const std::vector<double> &ends)
{
    tell(static_cast<double>(ends.size()), "windows", "windows.endless.%s", name);
    tell(quantile(starts, 1.0), "ms", "windows.endless.%s.slowest_begin", name);
    tell(quantile(calls, 1.0), "ms", "windows.endless.%s.slowest_calls", name);
    tell(median(ends), "ms", "windows.endless.%s.end", name);
    budget(quantile(ends, 1.0), 50.0, "ms", "windows.endless.%s.slowest_end", name);
}

/* Gives up after three windows that take a second. */
void windows_beside(Endless &endless, Beside &b, const Form &form)
{
    std::vector<double> starts, calls, ends;
    size_t got = 0, waited = 0, alone = 0, slow = 0;
    uint64_t losses = 0;
    const size_t windows = is_quick() ? 5 : 100;
    while (ends.size() < windows && slow < 3) {
        takt::Profiler profiler(TAKT_PROFILER_OPTIONS_INIT);
        endless.begin();
        endless.end_after_ms(1000);
        starts.push_back(ms_of([&] { profiler.start(); }));
        calls.push_back(do_work(form, b));
        waited += !endless.is_running();
        endless.end_after_ms(20000);
        ends.push_back(ms_of([&] { profiler.stop(); }));
        alone += !endless.is_running();
        endless.end_after_ms(0);
        slow += starts.back() + calls.back() + ends.back() > 900.0;
        takt::Trace trace = profiler.trace();
        got += totals_of(trace.get(), "work", "kernel nothing").count;
        losses += all_losses(trace.get());
    }
    const size_t launched = ends.size() * form.expected;
    tell_form(form.name, starts, calls, ends);
    key(100.0 * static_cast<double>(got) / static_cast<double>(launched), "%",
        "windows.endless.%s.got", form.name);
    key(static_cast<double>(losses), "losses", "windows.endless.%s.losses", form.name);
    tell(static_cast<double>(alone), "windows", "windows.endless.%s.without_the_kernel", form.name);
    if (waited)
        key(static_cast<double>(waited), "windows_whose_calls_waited_for_the_kernel",
            "windows.endless.%s", form.name);
    EXPECT(got <= launched && got + losses >= launched, "%zu of %zu, %llu lost", got, launched,
           static_cast<unsigned long long>(losses));
}

/* A timed block around a graph. */
void timers_beside(Endless &endless, Beside &b)
{
    std::vector<double> ends;
    size_t got = 0, slow = 0;
    while (ends.size() < (is_quick() ? 3 : 20) && slow < 3) {
        takt_timing *timing = nullptr;
        endless.begin();
        endless.end_after_ms(1000);
        slow += 900.0 < ms_of([&] {
                    EXPECT(takt_timing_begin(nullptr, &timing) == TAKT_OK, "no timed block");
                    CHECK(cudaGraphLaunch(b.graph, b.stream));
                    CHECK(cudaStreamSynchronize(b.stream));
                });
        endless.end_after_ms(20000);
        ends.push_back(ms_of([&] { takt_timing_end(timing); }));
        endless.end_after_ms(0);
        slow += ends.back() > 900.0;
        got += takt_timing_count(timing);
        takt_timing_free(timing);
    }
    budget(quantile(ends, 1.0), 50.0, "ms", "windows.endless.timer.slowest_end");
    key(100.0 * static_cast<double>(got) / static_cast<double>(nodes * ends.size()), "%",
        "windows.endless.timer.got");
}

/* Takt asks the streams of graphs whether they are done. */
void query_beside(Endless &endless, Beside &b)
{
    auto query = DRIVER(cuStreamQuery);
    const struct {
        const char *name;
        cudaStream_t stream;
        CUresult expected;
    } asked[] = {{"busy", endless.stream, CUDA_ERROR_NOT_READY}, {"idle", b.stream, CUDA_SUCCESS}};
    for (const auto &each : asked) {
        std::vector<double> us;
        size_t others = 0;
        endless.begin();
        for (int i = 0; i < 1000; i++) {
            CUresult result = CUDA_SUCCESS;
            us.push_back(1e3 * ms_of([&] { result = query(each.stream); }));
            others += result != each.expected;
        }
        key(median(us), "us", "windows.endless.query.%s", each.name);
        budget(quantile(us, 1.0), 1000.0, "us", "windows.endless.query.%s.slowest", each.name);
        tell(static_cast<double>(others), "other_answers", "windows.endless.query.%s", each.name);
    }
}

void beside()
{
    Beside b = {};
    cudaGraph_t graph;
    CHECK(cudaStreamCreateWithFlags(&b.stream, cudaStreamNonBlocking));
    CHECK(cudaStreamBeginCapture(b.stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < nodes; i++)
        nothing<<<1, 1, 0, b.stream>>>();
    CHECK(cudaStreamEndCapture(b.stream, &graph));
    CHECK(cudaGraphInstantiate(&b.graph, graph, 0));
    use_pool(b);
    {
        takt::Profiler first(TAKT_PROFILER_OPTIONS_INIT);
        first.start();
        do_work(beside_forms[1], b); /* whatever is loaded late would wait for the kernel */
        first.stop();
    }
    {
        Endless endless;
        endless.begin();
        query_beside(endless, b);
        decides("whether Takt may ask a stream beside a kernel that never ends");
        timers_beside(endless, b);
        for (const Form &form : beside_forms)
            windows_beside(endless, b, form);
        decides("ends beside a kernel that never ends stay below 50 ms, and lose nothing");
    }
    for (void *memory : b.kept)
        CHECK(cudaFree(memory));
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2)
        return run_modes(argv[0], {"endless", "background", "foreground", "deep"}, 60);
    need_device();
    spin_1ms<<<1, 1>>>();
    spin_20ms<<<1, 1>>>();
    nothing<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());
    if (std::strcmp(argv[1], "endless") == 0)
        beside();
    else if (std::strcmp(argv[1], "deep") == 0)
        deep();
    else
        busy(argv[1][0] == 'f');
    return finish();
}
