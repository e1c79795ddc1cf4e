/* Device time of scopes: what Takt attributes to a scope without synchronising is what a run that
 * synchronises around every scope measures, within five percent. */
#include "gpu.cuh"

#include <algorithm>
#include <vector>

namespace
{

const int rounds = 20;
const int launches = 20; /* a millisecond a scope, so that latencies matter little */

void work(int count)
{
    for (int i = 0; i < count; i++)
        spin_50us<<<1, 1>>>();
}

/* The truth: milliseconds of all rounds, each synchronised before and after, and timed by events so
 * that the host's waking up does not count. The median round stands for all. */
double synchronised(int count)
{
    std::vector<double> ms;
    takt::Event begin, end;
    for (int round = 0; round < rounds; round++) {
        CHECK(cudaDeviceSynchronize());
        begin.record();
        work(count);
        end.record();
        CHECK(cudaDeviceSynchronize());
        ms.push_back(end.elapsed_ms_since(begin));
    }
    std::sort(ms.begin(), ms.end());
    return ms[rounds / 2] * rounds;
}

void profile(takt::Profiler &profiler)
{
    profiler.start();
    for (int round = 0; round < rounds; round++) {
        TAKT_SCOPE("round");
        {
            TAKT_SCOPE("much");
            work(launches);
        }
        {
            TAKT_SCOPE("little");
            work(launches / 4);
        }
        TAKT_LAUNCH(nullptr, TAKT_TIMING_KERNEL, "marked") {
            spin_10us<<<1, 1>>>();
        }
    }
    CHECK(cudaDeviceSynchronize());
    profiler.stop();
}

/* Work runs after it was launched and before the host has waited for it. */
void expect_in_order(const takt_trace *trace)
{
    const takt_facts *facts = takt_trace_facts(trace);
    const double slack_ns = facts->device_uncertainty_ns + 1000.0;
    uint64_t end_before = 0;
    EXPECT(facts->device_uncertainty_ns > 0.0, "no uncertainty is known");
    for (size_t i = 0; i < takt_trace_count(trace, TAKT_TRACE_ACTIVITIES); i++) {
        takt_activity a;
        takt_trace_activity(trace, i, &a);
        EXPECT(a.end_ns > a.begin_ns, "activity %zu lasts nothing", i);
        EXPECT(a.begin_ns >= end_before, "activity %zu overlaps the one before", i);
        EXPECT(static_cast<double>(a.begin_ns) + slack_ns >= static_cast<double>(a.launch_begin_ns),
               "activity %zu begins before its launch", i);
        EXPECT(static_cast<double>(a.end_ns) <= static_cast<double>(facts->end_ns) + slack_ns,
               "activity %zu ends after the recording", i);
        EXPECT(a.grid[0] == 1 && a.block[0] == 1, "activity %zu has another grid", i);
        EXPECT(a.correlation != 0 && a.launch[0], "activity %zu has no launch", i);
        end_before = a.end_ns;
    }
}

} // namespace

int main()
{
    need_device();
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.filter = TAKT_TIMING_KERNEL;
    takt::Profiler profiler(options);
    synchronised(launches); /* loads kernels, raises clocks */
    profile(profiler);
    takt::Trace trace = profiler.trace();
    EXPECT(trace, "no trace");
    if (!trace)
        return finish();

    Totals much = totals_of(trace.get(), "much", "kernel spin_50us");
    Totals little = totals_of(trace.get(), "little", "kernel spin_50us");
    Totals marked = totals_of(trace.get(), "marked", "kernel spin_10us");
    Totals all = totals_of(trace.get(), nullptr, nullptr);
    double much_ms = synchronised(launches), little_ms = synchronised(launches / 4);
    std::printf("backend %s\n", takt_trace_facts(trace.get())->backend);
    tell(takt_trace_facts(trace.get())->device_uncertainty_ns, "ns", "scopes.uncertainty");
    tell(much.ms, "ms", "scopes.much.by_takt");
    tell(much_ms, "ms", "scopes.much.synchronised");
    key(100.0 * (much.ms - much_ms) / much_ms, "%", "scopes.much.apart");
    tell(little.ms, "ms", "scopes.little.by_takt");
    tell(little_ms, "ms", "scopes.little.synchronised");
    key(100.0 * (little.ms - little_ms) / little_ms, "%", "scopes.little.apart");
    EXPECT(much.count == size_t(rounds * launches), "%zu launches", much.count);
    EXPECT(little.count == size_t(rounds * launches / 4), "%zu launches", little.count);
    EXPECT(marked.count == size_t(rounds), "%zu launches", marked.count);
    EXPECT(all.count == much.count + little.count + marked.count, /* none twice */
           "%zu launches in all", all.count);
    EXPECT(agrees(much.ms, much_ms, 0.05, 0.0), "%.6f and %.6f ms", much.ms, much_ms);
    EXPECT(agrees(little.ms, little_ms, 0.15, 0.0), "%.6f and %.6f ms", little.ms, little_ms);
    expect_in_order(trace.get());
    expect_no_losses(trace.get());
    return finish();
}
