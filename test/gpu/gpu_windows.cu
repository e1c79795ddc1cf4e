/* Takt's windows on a device that never idles, and with a queue that is longer than anybody likes
 * to wait: the share of what a window launched that its trace has, and how long its end takes. */
#include "gpu.cuh"

namespace
{

struct Window {
    size_t got;
    uint64_t losses, incomplete;
    double stop_ms;
};

uint64_t all_losses(const takt_trace *trace)
{
    uint64_t sum = 0;
    for (int loss = 0; loss < TAKT_LOSS_COUNT; loss++)
        sum += takt_trace_loss(trace, static_cast<takt_loss>(loss));
    return sum;
}

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

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2)
        return run_modes(argv[0], {"background", "foreground", "deep"}, 30);
    need_device();
    spin_1ms<<<1, 1>>>();
    spin_20ms<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());
    if (std::strcmp(argv[1], "deep") == 0)
        deep();
    else
        busy(argv[1][0] == 'f');
    return finish();
}
