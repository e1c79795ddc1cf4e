/* Without CUPTI, what the program marks is timed by events: as long as cudaEvent says, at the place
 * where it was launched, below its scope, and nothing twice. */
#include "gpu.cuh"

#include <numeric>

namespace
{

const int rounds = 20;

std::vector<double> by_cuda_ms;

void marked(cudaStream_t stream, cudaEvent_t begin, cudaEvent_t end)
{
    float ms;
    TAKT_SCOPE("round");
    CHECK(cudaEventRecord(begin, stream));
    TAKT_LAUNCH(stream, TAKT_TIMING_KERNEL, "spin") {
        spin_50us<<<1, 1, 0, stream>>>();
    }
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    by_cuda_ms.push_back(static_cast<double>(ms));

    TAKT_STREAM_SCOPE(stream, "nested");
    TAKT_LAUNCH(stream, TAKT_TIMING_KERNEL, "inner") {
        spin_10us<<<1, 1, 0, stream>>>();
    }
    TAKT_LAUNCH(nullptr, TAKT_TIMING_MEMSET, "other stream") {
        nothing<<<1, 1>>>();
    }
}

void scoped(cudaStream_t stream)
{
    TAKT_STREAM_SCOPE(stream, "both");
    spin_10us<<<1, 1, 0, stream>>>();
    spin_50us<<<1, 1, 0, stream>>>();
}

void captured(cudaStream_t stream)
{
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    TAKT_LAUNCH(stream, TAKT_TIMING_KERNEL, "captured") {
        spin_10us<<<1, 1, 0, stream>>>();
    }
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphDestroy(graph));
}

/* In the middle one of the rounds: by events of the program around the kernel, less the mark's own.
 * In the others the host may have been interrupted between the two. */
double median_apart_ms(const takt_trace *trace)
{
    std::vector<double> apart;
    for (size_t i = 0; i < takt_trace_count(trace, TAKT_TRACE_ACTIVITIES); i++) {
        takt_activity activity;
        takt_trace_activity(trace, i, &activity);
        if (std::strcmp(activity.name, "kernel spin") == 0 && apart.size() < by_cuda_ms.size())
            apart.push_back(by_cuda_ms[apart.size()] - activity.elapsed_ms);
    }
    std::sort(apart.begin(), apart.end());
    return apart.empty() ? NAN : apart[apart.size() / 2];
}

} // namespace

int main()
{
    cudaStream_t stream;
    cudaEvent_t begin, end;
    setenv("TAKT_CUPTI_LIBRARY", "none", 1); /* a machine without CUPTI */
    setenv("TAKT_LOG", "off", 1);            /* which is told in a warning otherwise */
    need_device();
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    spin_10us<<<1, 1>>>();
    spin_50us<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());

    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt::Profiler profiler(options);
    profiler.start();
    for (int round = 0; round < rounds; round++) {
        marked(stream, begin, end);
        scoped(stream);
    }
    captured(stream);
    CHECK(cudaDeviceSynchronize());
    profiler.stop();
    takt::Trace trace = profiler.trace();
    EXPECT(trace, "no trace");
    if (!trace)
        return finish();

    const takt_facts *facts = takt_trace_facts(trace.get());
    Totals spin = totals_of(trace.get(), "spin", "kernel spin");
    Totals inner = totals_of(trace.get(), "inner", "kernel inner");
    Totals other = totals_of(trace.get(), "other stream", "memset other stream");
    Totals both = totals_of(trace.get(), "both", nullptr);
    Totals all = totals_of(trace.get(), nullptr, nullptr);
    std::printf("backend %s, uncertainty %.0f ns\n", facts->backend, facts->device_uncertainty_ns);
    double whole_ms = std::accumulate(by_cuda_ms.begin(), by_cuda_ms.end(), 0.0);
    double apart_ms = median_apart_ms(trace.get());
    std::printf("spin: %.6f ms by marks, %.6f ms by events around them, median %.6f ms apart\n",
                spin.ms, whole_ms, apart_ms);
    EXPECT(std::strcmp(facts->backend, "CUDA events") == 0, "%s", facts->backend);
    EXPECT(spin.count == size_t(rounds), "%zu marks", spin.count);
    EXPECT(inner.count == size_t(rounds), "%zu marks", inner.count);
    EXPECT(other.count == size_t(rounds), "%zu marks", other.count);
    EXPECT(both.count == size_t(rounds), "%zu marks", both.count);
    EXPECT(all.count == 4u * rounds, "%zu marks in all", all.count); /* not "nested" */
    EXPECT(spin.ms >= 0.05 * rounds && spin.ms <= whole_ms, "%.6f and %.6f ms", spin.ms, whole_ms);
    EXPECT(apart_ms >= 0.0 && apart_ms <= 0.02, "%.6f ms", apart_ms);
    EXPECT(both.ms >= 0.06 * rounds, "%.6f ms", both.ms);

    for (size_t i = 0; i < takt_trace_count(trace.get(), TAKT_TRACE_ACTIVITIES); i++) {
        takt_activity a;
        takt_trace_activity(trace.get(), i, &a);
        double slack_ns = facts->device_uncertainty_ns + 1000.0;
        EXPECT(static_cast<double>(a.begin_ns) + slack_ns >= static_cast<double>(a.launch_begin_ns),
               "activity %zu begins %.0f ns before its launch", i,
               static_cast<double>(a.launch_begin_ns) - static_cast<double>(a.begin_ns));
        EXPECT(static_cast<double>(a.end_ns) <= static_cast<double>(facts->end_ns) + slack_ns,
               "activity %zu ends after the recording", i);
    }
    expect_no_losses(trace.get());
    return finish();
}
