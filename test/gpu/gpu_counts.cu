/* Threads launch all sorts of work without pause, in scopes, and count it: kernels, copies, sets,
 * graphs that are made again and again, memory from pools, with events and waits between them. Does
 * Takt have each of them, in the scope that launched it? As a trace, as a summary and as a stream,
 * each in one window and in cycles that follow one another, while a thread steps: between two cycles
 * launches belong to neither, but none may be in a wrong scope. */
#include "gpu.cuh"

#include <glob.h>

#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <thread>

static const int FLOATS = 1 << 14;

#define WORK(name)                                                                                 \
    static __global__ void name(float *data)                                                       \
    {                                                                                              \
        const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                                  \
        data[i] = data[i] * 0.5f + 1.0f;                                                           \
    }
WORK(forces)
WORK(neighbours)
WORK(bonds)
WORK(in_graph)
WORK(in_pool)

namespace
{

/* By scope and activity, such as "swap: memcpy DtoD". */
using counts = std::map<std::string, long>;

std::mutex lock;
counts launched, found;
std::atomic<bool> is_over{false};
std::map<std::string, uint64_t> lost;

/* ---- What threads do ------------------------------------------------------------------------- */

struct Worker {
    cudaStream_t streams[2];
    cudaEvent_t event;
    float *data, *other, *pinned;
    cudaGraph_t graph;
    cudaGraphExec_t launchable;
    std::mt19937 random;
    counts mine;

    cudaStream_t stream() { return streams[random() & 1]; }
};

void launch_kernels(Worker &w)
{
    TAKT_SCOPE("step");
    {
        TAKT_SCOPE("forces");
        const unsigned count = w.random() % 6 + 1;
        for (unsigned i = 0; i < count; i++)
            forces<<<FLOATS / 256, 256, 0, w.stream()>>>(w.data);
        w.mine["forces: kernel forces"] += count;
    }
    bonds<<<FLOATS / 128, 128, 0, w.stream()>>>(w.data);
    w.mine["step: kernel bonds"]++;
    TAKT_SCOPE("search");
    neighbours<<<FLOATS / 64, 64, 0, w.stream()>>>(w.other);
    w.mine["search: kernel neighbours"]++;
}

void copy(Worker &w)
{
    TAKT_SCOPE("copy");
    const size_t bytes = FLOATS * sizeof(float);
    CHECK(cudaMemcpyAsync(w.data, w.pinned, bytes, cudaMemcpyHostToDevice, w.stream()));
    CHECK(cudaMemcpyAsync(w.pinned, w.data, 256, cudaMemcpyDeviceToHost, w.stream()));
    CHECK(cudaMemcpyAsync(w.other, w.data, bytes, cudaMemcpyDeviceToDevice, w.stream()));
    w.mine["copy: memcpy"] += 3;
}

void set(Worker &w)
{
    TAKT_SCOPE("set");
    CHECK(cudaMemsetAsync(w.other, 0, FLOATS * sizeof(float), w.stream()));
    w.mine["set: memset"]++;
}

void destroy_graph(Worker &w)
{
    if (!w.graph)
        return;
    for (cudaStream_t stream : w.streams)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaGraphExecDestroy(w.launchable));
    CHECK(cudaGraphDestroy(w.graph));
    w.graph = nullptr;
}

void make_graph(Worker &w)
{
    TAKT_SCOPE("make");
    destroy_graph(w);
    CHECK(cudaStreamBeginCapture(w.streams[0], cudaStreamCaptureModeThreadLocal));
    in_graph<<<FLOATS / 256, 256, 0, w.streams[0]>>>(w.data);
    CHECK(cudaMemsetAsync(w.other, 1, 4096, w.streams[0]));
    in_graph<<<FLOATS / 256, 256, 0, w.streams[0]>>>(w.other);
    CHECK(cudaStreamEndCapture(w.streams[0], &w.graph));
    CHECK(cudaGraphInstantiate(&w.launchable, w.graph, 0));
}

void launch_graph(Worker &w)
{
    if (!w.graph || w.random() % 64 == 0)
        make_graph(w);
    TAKT_SCOPE("graph");
    CHECK(cudaGraphLaunch(w.launchable, w.stream()));
    w.mine["graph: kernel in_graph"] += 2;
    w.mine["graph: memset"]++;
}

void use_pool(Worker &w)
{
    TAKT_SCOPE("pool");
    float *memory;
    cudaStream_t stream = w.stream();
    CHECK(cudaMallocAsync(&memory, FLOATS * sizeof *memory, stream));
    in_pool<<<FLOATS / 256, 256, 0, stream>>>(memory);
    CHECK(cudaFreeAsync(memory, stream));
    w.mine["pool: kernel in_pool"]++;
}

void order(Worker &w)
{
    CHECK(cudaEventRecord(w.event, w.streams[0]));
    CHECK(cudaStreamWaitEvent(w.streams[1], w.event, 0));
    if (w.random() % 4 == 0)
        CHECK(cudaStreamSynchronize(w.stream()));
}

void work(unsigned seed)
{
    static void (*const acts[])(Worker &) = {launch_kernels, launch_kernels, copy, set,
                                             launch_graph,   use_pool,       order};
    Worker w = {};
    w.random.seed(seed);
    for (cudaStream_t &stream : w.streams)
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&w.event, cudaEventDisableTiming));
    CHECK(cudaMalloc(&w.data, FLOATS * sizeof(float)));
    CHECK(cudaMalloc(&w.other, FLOATS * sizeof(float)));
    CHECK(cudaMallocHost(&w.pinned, FLOATS * sizeof(float)));
    while (!is_over)
        acts[w.random() % (sizeof acts / sizeof *acts)](w);
    destroy_graph(w);
    for (cudaStream_t stream : w.streams)
        CHECK(cudaStreamSynchronize(stream));
    std::lock_guard<std::mutex> guard(lock);
    for (const auto &each : w.mine)
        launched[each.first] += each.second;
}

/* ---- What Takt has --------------------------------------------------------------------------- */

/* The scope of a node: calls into CUDA belong to the one around them. */
std::string scope_of(const takt_trace *trace, size_t node)
{
    takt_node_info info = {};
    while (node != TAKT_NO_PARENT) {
        takt_trace_node(trace, node, &info);
        if (!(info.flags & TAKT_SPAN_CALL))
            return info.name;
        node = info.parent;
    }
    return "none";
}

void count(const takt_trace *trace)
{
    takt_sum_info sum;
    std::lock_guard<std::mutex> guard(lock);
    takt_trace_count(trace, TAKT_TRACE_NODES);
    for (size_t i = 0; takt_trace_sum(trace, i, &sum) == TAKT_OK; i++) {
        std::string name = sum.filter == TAKT_TIMING_MEMCPY   ? "memcpy"
                           : sum.filter == TAKT_TIMING_MEMSET ? "memset"
                           : sum.filter == TAKT_TIMING_GRAPH  ? "graph"
                                                              : sum.name;
        found[scope_of(trace, sum.node) + ": " + name] += static_cast<long>(sum.durations.count);
    }
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        lost[takt_loss_name(static_cast<takt_loss>(i))] +=
            takt_trace_loss(trace, static_cast<takt_loss>(i));
}

void on_trace(const takt_trace *trace, void *user)
{
    (void)user;
    count(trace);
}

/* A stream gives the program no spans, so its files are read back. */
void count_files(const std::string &folder)
{
    glob_t files;
    EXPECT(glob((folder + "/*").c_str(), 0, nullptr, &files) == 0, "no file in %s", folder.c_str());
    for (size_t i = 0; i < files.gl_pathc; i++) {
        takt_trace *trace = nullptr;
        EXPECT(takt_trace_open(files.gl_pathv[i], &trace, nullptr) == TAKT_OK, "%s",
               files.gl_pathv[i]);
        if (trace)
            count(trace);
        takt_trace_release(trace);
        std::remove(files.gl_pathv[i]);
    }
    globfree(&files);
    rmdir(folder.c_str());
}

/* Each launch of a graph is one activity. */
void expect_whole_graphs()
{
    launched["graph: graph"] = launched["graph: memset"];
    launched.erase("graph: memset");
    launched.erase("graph: kernel in_graph");
}

void compare(const char *mode, bool are_cycles)
{
    long all = 0, got = 0;
    for (const auto &each : launched) {
        const long have = found[each.first];
        all += each.second;
        got += have;
        EXPECT(are_cycles ? have <= each.second : have == each.second, "%s: %ld of %ld",
               each.first.c_str(), have, each.second);
    }
    for (const auto &each : found)
        EXPECT(launched.count(each.first) || (are_cycles && each.first.rfind("none: ", 0) == 0),
               "%s: %ld that were not launched", each.first.c_str(), each.second);
    key(static_cast<double>(got),
        ("of_" + std::to_string(all) + (are_cycles ? "_also_between_cycles" : "_activities"))
            .c_str(),
        "counts.%s", mode);
    for (const auto &each : lost)
        EXPECT(each.second == 0, "%llu lost: %s", static_cast<unsigned long long>(each.second),
               each.first.c_str());
}

int count_all(const std::string &mode)
{
    const auto has = [&](const char *word) { return mode.find(word) != std::string::npos; };
    const bool are_cycles = has("cycles"), is_stream = has("stream");
    const unsigned threads = mode == "trace-1" ? 1 : mode == "trace-16" ? 16 : 4;
    const double seconds = is_quick() ? 0.2 : 3;
    char folder[] = "/tmp/takt-counts-XXXXXX";
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = nullptr;
    options.name = "counts";
    options.max_memory_bytes = size_t(1) << 30;
    options.schedule.active = are_cycles ? 5 : 0;
    options.mode = has("summary") ? TAKT_MODE_SUMMARY
                   : has("both")  ? TAKT_MODE_BOTH
                                  : TAKT_MODE_TRACE;
    options.graph = has("whole") ? TAKT_GRAPH_LAUNCH : TAKT_GRAPH_NODE;
    options.stream = is_stream;
    options.directory = is_stream ? mkdtemp(folder) : nullptr;
    options.on_trace = is_stream ? nullptr : on_trace;
    EXPECT(takt_profiler_create(&options, &profiler) == TAKT_OK, "no profiler");
    EXPECT(takt_profiler_start(profiler) == TAKT_OK, "no start");
    std::vector<std::thread> workers;
    for (unsigned i = 0; i < threads; i++)
        workers.emplace_back(work, i);
    for (int i = 0; i < seconds * 200; i++) {
        pause_ms(5);
        EXPECT(takt_profiler_step(profiler) == TAKT_OK, "no step");
    }
    is_over = true;
    for (std::thread &worker : workers)
        worker.join();
    EXPECT(takt_profiler_stop(profiler) == TAKT_OK, "no stop");
    takt_profiler_destroy(profiler);
    if (is_stream)
        count_files(folder);
    if (options.graph == TAKT_GRAPH_LAUNCH)
        expect_whole_graphs();
    compare(mode.c_str(), are_cycles);
    return finish();
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2)
        return run_modes(argv[0],
                         {"trace-1", "trace-4", "trace-16", "summary", "stream", "cycles",
                          "summary-cycles", "stream-cycles", "both-cycles", "whole-cycles",
                          "whole-summary-cycles"},
                         60);
    need_device();
    return count_all(argv[1]);
}
