/* Graphs: their work belongs to the scope that launches them, node by node or launch by launch. As
 * launches also where the graph is older than the recording of whole launches, in which CUPTI 13.0
 * crashes by itself: made before the profiler, while it waits, or before a window of nodes. Each
 * mode is a process of its own, since the first window decides. */
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

struct Recording {
    takt::Trace trace;
    bool is_old; /* the graph was made before the window */
};

/* The graph is made inside the window unless there is one already, which is launched first. */
Recording record(takt_graph graph, cudaStream_t stream, void *memory, cudaGraphExec_t old)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.graph = graph;
    options.profile_memory = TAKT_OFF;
    takt::Profiler profiler(options);
    profiler.start();
    cudaGraphExec_t launchable = old ? old : make_graph(stream, memory);
    for (int i = 0; i < launches; i++) {
        TAKT_SCOPE("launches");
        CHECK(cudaGraphLaunch(launchable, stream));
    }
    CHECK(cudaStreamSynchronize(stream));
    profiler.stop();
    CHECK(cudaGraphExecDestroy(launchable));
    return {profiler.trace(), old != nullptr};
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

void expect_launches(const char *mode, const Recording &recording)
{
    const takt_trace *trace = recording.trace.get();
    Totals all = totals_of(trace, "launches", nullptr);
    size_t from_nodes = 0;
    for (size_t i = 0; i < takt_trace_count(trace, TAKT_TRACE_ACTIVITIES); i++) {
        takt_activity a;
        takt_trace_activity(trace, i, &a);
        EXPECT(a.filter == TAKT_TIMING_GRAPH && a.graph != 0, "activity %zu is no graph", i);
        from_nodes += a.graph_node_count > 0;
    }
    key(static_cast<double>(all.count), "of_10_launches", "graphs.%s", mode);
    tell(static_cast<double>(from_nodes), "launches", "graphs.%s.from_nodes", mode);
    tell(all.ms * 1e3 / launches, "us", "graphs.%s.mean", mode);
    EXPECT(all.count == size_t(launches), "%zu activities", all.count);
    EXPECT(all.ms >= 0.06 * launches, "%.6f ms", all.ms);
    EXPECT(!recording.is_old || from_nodes == all.count, "%zu launches from nodes", from_nodes);
}

int run(const std::string &mode)
{
    cudaStream_t stream;
    void *memory;
    takt_profiler_options waiting_options = TAKT_PROFILER_OPTIONS_INIT;
    waiting_options.schedule.wait = 1000;
    waiting_options.schedule.active = 1;
    takt::Profiler waiting(waiting_options);
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&memory, 8192));
    if (mode == "whole-waited")
        waiting.start();
    const bool is_old = mode == "whole-before" || mode == "whole-waited";
    cudaGraphExec_t old = is_old ? make_graph(stream, memory) : nullptr;
    if (old)
        CHECK(cudaGraphLaunch(old, stream));
    if (mode == "node" || mode == "whole-later") {
        Recording nodes = record(TAKT_GRAPH_NODE, stream, memory, nullptr);
        if (mode == "node")
            expect_nodes(nodes.trace.get());
        expect_no_losses(nodes.trace.get());
    }
    if (mode != "node") {
        Recording whole = record(TAKT_GRAPH_LAUNCH, stream, memory, old);
        expect_launches(mode.c_str(), whole);
        expect_no_losses(whole.trace.get());
    }
    CHECK(cudaFree(memory));
    CHECK(cudaStreamDestroy(stream));
    return finish();
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2)
        return run_modes(argv[0], {"node", "whole", "whole-later", "whole-before", "whole-waited"},
                         30);
    need_device();
    return run(argv[1]);
}
