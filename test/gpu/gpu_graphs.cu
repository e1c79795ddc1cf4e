/* Graphs: their work belongs to the scope that launches them, node by node or launch by launch. */
#include "gpu.cuh"

namespace
{

const int launches = 10;

cudaGraphExec_t make_graph(cudaStream_t stream, void *memory)
{
    cudaGraph_t graph;
    cudaGraphExec_t launchable;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemsetAsync(memory, 0, 4096, stream));
    spin_10us<<<1, 1, 0, stream>>>();
    spin_50us<<<1, 1, 0, stream>>>();
    CHECK(cudaMemcpyAsync(memory, static_cast<char *>(memory) + 4096, 4096,
                          cudaMemcpyDeviceToDevice, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&launchable, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    return launchable;
}

/* Graphs have to be made while their kind is recorded, or are not seen as a whole. */
takt::Trace record(bool whole, cudaStream_t stream, void *memory)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.graph = whole ? TAKT_GRAPH_LAUNCH : TAKT_GRAPH_NODE;
    options.profile_memory = TAKT_OFF;
    takt::Profiler profiler(options);
    profiler.start();
    cudaGraphExec_t launchable = make_graph(stream, memory);
    for (int i = 0; i < launches; i++) {
        TAKT_SCOPE("launches");
        CHECK(cudaGraphLaunch(launchable, stream));
    }
    CHECK(cudaStreamSynchronize(stream));
    profiler.stop();
    CHECK(cudaGraphExecDestroy(launchable));
    return profiler.trace();
}

void expect_nodes(const takt_trace *trace)
{
    const char *const names[] = {"memset", "kernel spin_10us", "kernel spin_50us", "memcpy DtoD"};
    for (const char *name : names) {
        Totals totals = totals_of(trace, "launches", name);
        std::string word = std::string(name).substr(0, std::string(name).find(' ')) +
                           (std::strstr(name, "50us") ? "_50us" : "");
        tell(static_cast<double>(totals.count), "nodes", "graphs.node.%s", word.c_str());
        tell(totals.ms * 1e3 / launches, "us", "graphs.node.%s.mean", word.c_str());
        EXPECT(totals.count == size_t(launches), "%s: %zu", name, totals.count);
    }
    key(static_cast<double>(totals_of(trace, nullptr, nullptr).count), "of_40_nodes",
        "graphs.nodes");
    EXPECT(totals_of(trace, nullptr, nullptr).count == 4u * launches, "other activities");
    for (size_t i = 0; i < takt_trace_count(trace, TAKT_TRACE_ACTIVITIES); i++) {
        takt_activity a;
        takt_trace_activity(trace, i, &a);
        EXPECT(a.graph != 0 && a.graph_node != 0, "activity %zu is of no graph", i);
        EXPECT(std::strstr(a.launch, "GraphLaunch"), "launched by %s", a.launch);
    }
}

void expect_launches(const takt_trace *trace)
{
    Totals all = totals_of(trace, "launches", nullptr);
    key(static_cast<double>(all.count), "of_10_launches", "graphs.whole");
    tell(all.ms * 1e3 / launches, "us", "graphs.whole.mean");
    EXPECT(all.count == size_t(launches), "%zu activities", all.count);
    EXPECT(all.ms >= 0.06 * launches, "%.6f ms", all.ms);
    for (size_t i = 0; i < takt_trace_count(trace, TAKT_TRACE_ACTIVITIES); i++) {
        takt_activity a;
        takt_trace_activity(trace, i, &a);
        EXPECT(a.filter == TAKT_TIMING_GRAPH && a.graph != 0, "activity %zu is no graph", i);
    }
}

} // namespace

int main()
{
    cudaStream_t stream;
    void *memory;
    need_device();
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&memory, 8192));
    takt::Trace nodes = record(false, stream, memory);
    takt::Trace whole = record(true, stream, memory);
    EXPECT(nodes && whole, "no trace");
    if (nodes && whole) {
        expect_nodes(nodes.get());
        expect_launches(whole.get());
        expect_no_losses(nodes.get());
        expect_no_losses(whole.get());
    }
    CHECK(cudaFree(memory));
    CHECK(cudaStreamDestroy(stream));
    return finish();
}
