/* Correlation ids of graph launches in the first, second and third window of a process, with the
 * kinds switched off between the windows, left on, and with a subscription for each window. A
 * graph's node has to have the id of the call that launched the graph: since each launch is waited
 * for, it lies between that call and the next one. Without Takt. */
#include "cupti.cuh"

#include <map>

namespace
{

struct Call {
    bool is_graph;
    uint64_t entered_ns;
};

size_t unknown, wrong; /* graphs' records in all windows whose id no call had, or another
                        * call than the one that launched it */
std::map<uint32_t, Call> launched; /* the calls of this window by id, which grow */

void CUPTIAPI called(void *, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
    auto *call = static_cast<const CUpti_CallbackData *>(data);
    if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && call->callbackSite == CUPTI_API_ENTER)
        launched[call->correlationId] = {id == 311, raw::now_ns()};
}

/* Some microseconds of doubt are far less than a launch takes that is waited for. */
bool is_right(const raw::Record &record)
{
    const uint64_t doubt_ns = 3000;
    auto call = launched.find(record.correlation);
    if (call == launched.end() || !call->second.is_graph)
        return false;
    auto next = std::next(call);
    return record.begin_ns + doubt_ns >= call->second.entered_ns &&
           (next == launched.end() || record.end_ns <= next->second.entered_ns + doubt_ns);
}

cudaGraphExec_t make_graph(cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t launchable;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    spin_10us<<<1, 1, 0, stream>>>();
    nothing<<<1, 1, 0, stream>>>();
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&launchable, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    return launchable;
}

void subscribe()
{
    raw::start(called);
    for (uint32_t id :
         {211u, 311u, 505u}) /* cudaLaunchKernel, cudaGraphLaunch, __cudaLaunchKernel */
        CUPTI_CHECK(cuptiEnableCallback, 1, raw::subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, id);
}

void compare(const char *mode, int window)
{
    size_t graphs = 0, graphs_known = 0, graphs_wrong = 0, kernels = 0, kernels_known = 0, zero = 0;
    for (const raw::Record &record : raw::arrived()) {
        bool is_known = launched.count(record.correlation) != 0;
        zero += record.end_ns == 0;
        (record.graph ? graphs : kernels)++;
        (record.graph ? graphs_known : kernels_known) += is_known;
        graphs_wrong += record.graph && is_known && !is_right(record);
    }
    tell(static_cast<double>(graphs), "records", "graph_ids.%s.%d.graph", mode, window);
    tell(static_cast<double>(graphs - graphs_known), "records", "graph_ids.%s.%d.graph_unknown_id",
         mode, window);
    tell(static_cast<double>(graphs_wrong), "records", "graph_ids.%s.%d.graph_wrong_id", mode,
         window);
    unknown += graphs - graphs_known;
    wrong += graphs_wrong;
    tell(static_cast<double>(kernels), "records", "graph_ids.%s.%d.kernel", mode, window);
    tell(static_cast<double>(kernels - kernels_known), "records",
         "graph_ids.%s.%d.kernel_unknown_id", mode, window);
    tell(static_cast<double>(zero), "records", "graph_ids.%s.%d.no_times", mode, window);
    std::lock_guard<std::mutex> hold(raw::lock);
    raw::records.clear();
    launched.clear();
}

void run(const std::string &mode)
{
    const bool whole = mode.find("whole") == 0, stays = mode.find("-on") != std::string::npos;
    const bool again = mode.find("-again") != std::string::npos;
    const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                        CUPTI_ACTIVITY_KIND_GRAPH_TRACE};
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    subscribe();
    cudaGraphExec_t graph = nullptr;
    for (int window = 1; window <= 3; window++) {
        if (again && window > 1)
            subscribe();
        for (int i = 0; i < (whole ? 2 : 1); i++)
            if (window == 1 || !stays)
                raw::enable(kinds[i]);
        if (!graph)
            graph = make_graph(stream);
        for (int i = 0; i < 20; i++) {
            CHECK(cudaGraphLaunch(graph, stream));
            CHECK(cudaStreamSynchronize(stream));
            nothing<<<1, 1, 0, stream>>>();
            CHECK(cudaStreamSynchronize(stream));
        }
        raw::collect();
        for (int i = 0; i < (whole ? 2 : 1); i++)
            if (!stays)
                raw::enable(kinds[i], false);
        if (again)
            CUPTI_CHECK(cuptiUnsubscribe, raw::subscriber);
        compare(mode.c_str(), window);
        CHECK(cudaGraphLaunch(graph, stream)); /* between the windows */
        CHECK(cudaStreamSynchronize(stream));
        raw::collect();
        std::lock_guard<std::mutex> hold(raw::lock);
        raw::records.clear();
        launched.clear();
    }
    key(static_cast<double>(unknown), "records", "graph_ids.%s.unknown_id", mode.c_str());
    key(static_cast<double>(wrong), "records", "graph_ids.%s.wrong_id", mode.c_str());
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2)
        return run_modes(
            argv[0],
            {"nodes-off", "nodes-on", "nodes-again", "whole-off", "whole-on", "whole-again"}, 20);
    need_device();
    raw::tell_version();
    run(argv[1]);
    return finish();
}
