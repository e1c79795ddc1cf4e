/* Graphs: their work belongs to the scope that launches them, node by node or launch by launch. As
 * launches also where the graph is older than the recording of whole launches, in which CUPTI 13.0
 * crashes by itself: made before the profiler, while it waits, or before a window of nodes. Each
 * mode is a process of its own, since the first window decides. Then graphs of 200 nodes: 20,000
 * launches, one launch a window, with new kernels, and conditions. "release" is for one libcupti of
 * several: TAKT_CUPTI_LIBRARY. */
#include "graphs.cuh"

#include <fstream>

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

/* ---- Large ones, and one launch a window ----------------------------------------------------- */

const int nodes = 200;

cudaGraph_t capture_large(cudaStream_t stream, void (*kernel)())
{
    return capture(stream, nodes, cudaStreamCaptureModeThreadLocal, kernel);
}

cudaGraphExec_t make_large(cudaStream_t stream)
{
    cudaGraphExec_t launchable;
    CHECK(cudaGraphInstantiate(&launchable, capture_large(stream, nothing), 0));
    CHECK(cudaGraphLaunch(launchable, stream));
    CHECK(cudaStreamSynchronize(stream));
    return launchable;
}

/* Microseconds a launch, until all are done. */
double us_of_launches(cudaGraphExec_t launchable, cudaStream_t stream, int count)
{
    return 1e3 / count * ms_of([&] {
               for (int i = 0; i < count; i++) {
                   TAKT_SCOPE("launches");
                   CHECK(cudaGraphLaunch(launchable, stream));
               }
               CHECK(cudaStreamSynchronize(stream));
           });
}

double resident_mib()
{
    std::ifstream file("/proc/self/statm");
    double all = 0, resident = 0;
    file >> all >> resident;
    return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1048576;
}

double free_device_mib()
{
    size_t unused = 0, all = 0;
    CHECK(cudaMemGetInfo(&unused, &all));
    return static_cast<double>(unused) / 1048576;
}

uint64_t kernels_summed(const takt_trace *trace)
{
    takt_sum_info sum;
    uint64_t count = 0;
    takt_trace_count(trace, TAKT_TRACE_NODES);
    for (size_t i = 0; takt_trace_sum(trace, i, &sum) == TAKT_OK; i++)
        count += sum.filter == TAKT_TIMING_KERNEL ? sum.durations.count : 0;
    return count;
}

/* A summary needs no memory for each activity. */
int large()
{
    const int count = is_quick() ? 50 : 20000;
    cudaStream_t stream = make_stream();
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.mode = TAKT_MODE_SUMMARY;
    takt::Profiler profiler(options);
    profiler.start();
    cudaGraphExec_t launchable = make_large(stream);
    profiler.stop();
    key(us_of_launches(launchable, stream, count / 10), "us_a_launch", "graphs.large.bare");
    const double resident = resident_mib(), unused = free_device_mib();
    profiler.start();
    key(us_of_launches(launchable, stream, count), "us_a_launch", "graphs.large.takt");
    budget(ms_of([&] { profiler.stop(); }), 1000.0, "ms", "graphs.large.stop");
    key(resident_mib() - resident, "MiB_of_the_host", "graphs.large");
    key(unused - free_device_mib(), "MiB_of_the_device", "graphs.large");
    const uint64_t launched = uint64_t(count) * nodes;
    const uint64_t got = kernels_summed(profiler.trace().get());
    const uint64_t lost = all_losses(profiler.trace().get());
    key(100.0 * static_cast<double>(got) / static_cast<double>(launched), "%", "graphs.large.got");
    key(static_cast<double>(lost), "losses", "graphs.large");
    EXPECT(got <= launched && got + lost >= launched, "%llu of %llu", (unsigned long long)got,
           (unsigned long long)launched);
    decides("millions of nodes are counted without loss, and memory does not grow with them");
    return finish();
}

/* One launch in each window: `work` launches, and the window has to have so many kernels. */
template <typename Work>
void one_a_window(const char *form, int windows, size_t expected, Work work)
{
    std::vector<double> ends;
    size_t wrong = 0;
    uint64_t lost = 0;
    for (int i = 0; i < windows; i++) {
        takt::Profiler profiler(TAKT_PROFILER_OPTIONS_INIT);
        profiler.start();
        takt_begin("launch");
        work(i);
        takt_end();
        ends.push_back(ms_of([&] { profiler.stop(); }));
        takt::Trace trace = profiler.trace();
        const uint64_t losses = all_losses(trace.get());
        wrong += totals_of(trace.get(), "launch", nullptr).count + losses != expected;
        lost += losses;
    }
    tell(median(ends), "ms", "graphs.%s.end", form);
    budget(quantile(ends, 1.0), 50.0, "ms", "graphs.%s.slowest_end", form);
    key(static_cast<double>(wrong),
        ("windows_of_" + std::to_string(windows) + "_are_wrong").c_str(), "graphs.%s", form);
    key(static_cast<double>(lost), "losses", "graphs.%s", form);
    EXPECT(wrong == 0, "%s: %zu windows have not %zu activities", form, wrong, expected);
}

int one_each()
{
    cudaStream_t stream = make_stream();
    cudaGraphExec_t launchable = make_large(stream);
    one_a_window("one_each", is_quick() ? 10 : 300, nodes,
                 [&](int) { CHECK(cudaGraphLaunch(launchable, stream)); });
    decides("one launch of a graph tells Takt how many activities it has");
    return finish();
}

/* Each window launches once what the last one had, and once other kernels. */
int updated()
{
    using function = cudaError_t (*)(cudaGraphExec_t, cudaGraph_t, cudaGraphExecUpdateResultInfo *);
    FIND_AS(cudaGraphExecUpdate, function)
    cudaStream_t stream = make_stream();
    cudaGraphExec_t launchable = make_large(stream);
    cudaGraph_t graphs[] = {capture_large(stream, spin_10us), capture_large(stream, nothing)};
    one_a_window("updated", is_quick() ? 10 : 50, 2 * nodes, [&](int i) {
        cudaGraphExecUpdateResultInfo info;
        CHECK(cudaGraphLaunch(launchable, stream));
        CHECK(cudaGraphExecUpdate_(launchable, graphs[i % 2], &info));
        CHECK(cudaGraphLaunch(launchable, stream));
    });
    decides("an updated graph's activities are all there");
    return finish();
}

int conditions()
{
    const struct {
        const char *name;
        int rounds;
        bool is_true;
        size_t expected;
    } forms[] = {{"if", 1, true, 3},
                 {"if_not", 1, false, 1},
                 {"while", 3, true, 7},
                 {"while_not", 3, false, 1}};
    takt::Profiler first(TAKT_PROFILER_OPTIONS_INIT);
    cudaStream_t stream = make_stream();
    first.start(); /* of graphs made before CUPTI, it has one repetition of each body */
    nothing<<<1, 1>>>();
    first.stop();
    for (const auto &form : forms) {
        int *counter;
        cudaGraphExec_t launchable = make_conditional(stream, form.rounds, &counter, form.is_true);
        if (!launchable)
            return std::puts("no conditional nodes"), missing;
        CHECK(cudaDeviceSynchronize());
        one_a_window(form.name, is_quick() ? 5 : 30, form.expected,
                     [&](int) { CHECK(cudaGraphLaunch(launchable, stream)); });
    }
    decides("ends wait for bodies of conditions, and not for those that do not run");
    return finish();
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
    if (mode == "node" || mode == "release" || mode == "whole-later") {
        Recording nodes = record(TAKT_GRAPH_NODE, stream, memory, nullptr);
        const char *backend = takt_trace_facts(nodes.trace.get())->backend;
        if (mode == "release" && std::strncmp(backend, "CUPTI", 5) != 0)
            return std::printf("this libcupti is not usable here: Takt has %s\n", backend), missing;
        std::printf("backend %s\n", backend);
        if (mode != "whole-later")
            expect_nodes(nodes.trace.get());
        expect_no_losses(nodes.trace.get());
    }
    if (mode == "release") {
        decides("whether Takt's windows and graphs are right with this release of CUPTI");
        one_each();
    } else if (mode != "node") {
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
        return run_modes(argv[0],
                         {"node", "whole", "whole-later", "whole-before", "whole-waited",
                          "one-each", "updated", "conditions", "large"},
                         60);
    const std::string mode = argv[1];
    need_device();
    return mode == "large"        ? large()
           : mode == "one-each"   ? one_each()
           : mode == "updated"    ? updated()
           : mode == "conditions" ? conditions()
                                  : run(mode);
}
