/* What it costs to switch recording on and off: the first time, every other time, and the end of a
 * window. "cupti" without Takt, "takt" with it. */
#include "cupti.cuh"

namespace
{

void some_work()
{
    for (int i = 0; i < 200; i++)
        spin_10us<<<1, 1>>>();
}

void by_hand()
{
    const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                        CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET};
    auto all = [&](bool on) {
        for (CUpti_ActivityKind kind : kinds)
            raw::enable(kind, on);
    };
    std::vector<double> on, off, plain, forced;
    tell(ms_of([] { raw::open_library(); }), "ms", "switch.cupti.load");
    tell(ms_of([] { raw::start(); }), "ms", "switch.cupti.subscribe");
    key(ms_of([&] { all(true); }), "ms", "switch.cupti.first_enable");
    tell(ms_of([] {
             nothing<<<1, 1>>>();
             CHECK(cudaDeviceSynchronize());
         }),
         "ms", "switch.cupti.first_launch");
    for (int i = 0; i < 20; i++) {
        some_work();
        CHECK(cudaDeviceSynchronize());
        plain.push_back(ms_of([] { raw::flush(false); }));
        some_work();
        CHECK(cudaDeviceSynchronize());
        forced.push_back(ms_of([] { raw::flush(true); }));
        off.push_back(ms_of([&] { all(false); }));
        on.push_back(ms_of([&] { all(true); }));
    }
    key(median(on), "ms", "switch.cupti.enable");
    key(median(off), "ms", "switch.cupti.disable");
    tell(quantile(on, 1.0), "ms", "switch.cupti.enable.longest");
    tell(quantile(off, 1.0), "ms", "switch.cupti.disable.longest");
    tell(median(plain), "ms", "switch.cupti.plain_flush_of_200");
    tell(median(forced), "ms", "switch.cupti.forced_flush_of_200");
    tell(ms_of([] { CUPTI_CHECK(cuptiUnsubscribe, raw::subscriber); }), "ms",
         "switch.cupti.unsubscribe");
}

void by_takt()
{
    std::vector<double> starts, stops, stops_busy;
    const int rounds = is_quick() ? 6 : 12;
    for (int i = 0; i < rounds; i++) {
        const bool waits = i % 2 == 0; /* or the work is still running when the window ends */
        takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
        takt::Profiler profiler(options);
        double start_ms = ms_of([&] { profiler.start(); });
        some_work();
        if (waits)
            CHECK(cudaDeviceSynchronize());
        double stop_ms = ms_of([&] { profiler.stop(); });
        (waits ? stops : stops_busy).push_back(stop_ms);
        if (i == 0)
            key(start_ms, "ms", "switch.takt.first_start");
        else
            starts.push_back(start_ms);
        takt::Trace trace = profiler.trace();
        Totals totals = trace ? totals_of(trace.get(), nullptr, "kernel spin_10us") : Totals();
        EXPECT(totals.count == 200, "%zu of 200 kernels in window %d", totals.count, i);
        CHECK(cudaDeviceSynchronize());
    }
    key(median(starts), "ms", "switch.takt.start");
    key(median(stops), "ms", "switch.takt.stop_of_200");
    tell(quantile(stops, 1.0), "ms", "switch.takt.stop_of_200.longest");
    tell(median(stops_busy), "ms", "switch.takt.stop_of_200_running");
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2)
        return run_modes(argv[0], {"cupti", "takt"}, 40);
    need_device();
    spin_10us<<<1, 1>>>();
    nothing<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());
    if (argv[1][0] == 'c')
        by_hand();
    else
        by_takt();
    return finish();
}
