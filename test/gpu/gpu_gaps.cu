/* Gaps between kernels that depend on each other, launched one by one and as a graph, with and
 * without recording. The kernels themselves write down when they begin and end, on the device's
 * clock, so that the bare run is measured without any tool. */
#include "cupti.cuh"

namespace
{

const int row = 400; /* kernels in a row */

__global__ void stamp(unsigned long long *out, int index)
{
    unsigned long long begin, end;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end));
    out[2 * index] = begin;
    out[2 * index + 1] = end;
}

unsigned long long *stamps;

void launch_row(cudaStream_t stream)
{
    for (int i = 0; i < row; i++)
        stamp<<<1, 1, 0, stream>>>(stamps, i);
}

/* Adds the gaps that the last row wrote down. */
void read_row(std::vector<double> &gaps)
{
    std::vector<unsigned long long> at(2 * row);
    CHECK(cudaMemcpy(at.data(), stamps, at.size() * sizeof at[0], cudaMemcpyDeviceToHost));
    if (at[0] == 0) /* stand-ins compute nothing */
        return;
    for (size_t i = 1; i < row; i++)
        gaps.push_back(static_cast<double>(at[2 * i]) - static_cast<double>(at[2 * i - 1]));
}

void tell_gaps(const char *mode, const char *form, const std::vector<double> &gaps,
               const std::vector<double> &whole_us)
{
    tell(median(whole_us), "us", "gaps.%s.%s.row_of_%d", mode, form, row);
    if (gaps.empty()) {
        std::printf("gaps.%s.%s: the kernels wrote nothing\n", mode, form);
        return;
    }
    key(median(gaps), "ns", "gaps.%s.%s.median", mode, form);
    tell(quantile(gaps, 0.1), "ns", "gaps.%s.%s.p10", mode, form);
    tell(quantile(gaps, 0.9), "ns", "gaps.%s.%s.p90", mode, form);
    double sum = 0.0;
    for (double gap : gaps)
        sum += gap;
    tell(sum / static_cast<double>(gaps.size()), "ns", "gaps.%s.%s.mean", mode, form);
}

template <typename Launch> void measure(const char *mode, const char *form, Launch launch)
{
    std::vector<double> gaps, whole_us;
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    for (int round = 0; round < (is_quick() ? 5 : 30); round++) {
        float ms = 0.0f;
        CHECK(cudaMemset(stamps, 0, 2 * row * sizeof *stamps));
        CHECK(cudaDeviceSynchronize());
        spin_2ms<<<1, 1>>>(); /* so that the row is queued when the device comes to it */
        spin_2ms<<<1, 1>>>();
        CHECK(cudaEventRecord(begin));
        launch();
        CHECK(cudaEventRecord(end));
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        if (round == 0)
            continue; /* the first one loads and warms up */
        whole_us.push_back(static_cast<double>(ms) * 1e3);
        read_row(gaps);
    }
    tell_gaps(mode, form, gaps, whole_us);
}

void measure_both(const char *mode)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t launchable;
    measure(mode, "stream", [] { launch_row(nullptr); });
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    launch_row(stream);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&launchable, graph, 0));
    measure(mode, "graph", [&] { CHECK(cudaGraphLaunch(launchable, nullptr)); });
    CHECK(cudaGraphExecDestroy(launchable));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(stream));
}

/* The same gaps as CUPTI's records have them. */
void tell_records(const char *mode)
{
    raw::collect();
    std::vector<raw::Record> found = raw::arrived();
    std::vector<double> gaps[2];
    std::sort(found.begin(), found.end(),
              [](const raw::Record &a, const raw::Record &b) { return a.begin_ns < b.begin_ns; });
    for (size_t i = 1; i < found.size(); i++)
        if (found[i].kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL &&
            (found[i].graph != 0) == (found[i - 1].graph != 0))
            gaps[found[i].graph != 0].push_back(static_cast<double>(found[i].begin_ns) -
                                                static_cast<double>(found[i - 1].end_ns));
    key(median(gaps[0]), "ns", "gaps.%s.records.stream.median", mode);
    key(median(gaps[1]), "ns", "gaps.%s.records.graph.median", mode);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2)
        return run_modes(argv[0], {"bare", "cupti", "whole", "takt"}, 30);
    const std::string mode = argv[1];
    need_device();
    CHECK(cudaMalloc(&stamps, 2 * row * sizeof *stamps));
    if (mode == "cupti" || mode == "whole") {
        raw::start();
        raw::enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
        if (mode == "whole")
            raw::enable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
        measure_both(argv[1]);
        if (mode == "cupti")
            tell_records(argv[1]);
    } else if (mode == "takt") {
        takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
        takt::Profiler profiler(options);
        profiler.start();
        measure_both(argv[1]);
        profiler.stop();
    } else {
        measure_both(argv[1]);
    }
    CHECK(cudaFree(stamps));
    return finish();
}
