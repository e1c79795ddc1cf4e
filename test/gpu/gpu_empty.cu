/* Calls that give a device nothing to do: graphs without nodes, with empty nodes, with host
 * functions alone; copies and sets of no bytes, or of rows without a width or a height. Does CUPTI
 * give a record
 * ("raw", and "whole" of whole graphs)? Whoever counts a launch for each call waits for records
 * that never come: does Takt ("takt")? */
#include "cupti.cuh"
#include "graphs.cuh"

namespace
{

const int times = 10;

struct Made {
    cudaStream_t stream;
    cudaGraphExec_t empty, nodes, host;
    char *device, *pinned;
};

typedef cudaError_t (*Call)(Made &);

void CUDART_CB do_nothing(void *)
{
}

cudaError_t launch_empty(Made &made)
{
    return cudaGraphLaunch(made.empty, made.stream);
}

cudaError_t launch_nodes(Made &made)
{
    return cudaGraphLaunch(made.nodes, made.stream);
}

cudaError_t launch_host(Made &made)
{
    return cudaGraphLaunch(made.host, made.stream);
}

cudaError_t copy_none(Made &made)
{
    return cudaMemcpyAsync(made.device, made.pinned, 0, cudaMemcpyHostToDevice, made.stream);
}

template <size_t width, size_t height, cudaMemcpyKind kind> cudaError_t copy_rows(Made &made)
{
    const bool is_up = kind == cudaMemcpyHostToDevice;
    const char *source = is_up ? made.pinned : made.device;
    return cudaMemcpy2DAsync(made.device + 4096, 64, source, 64, width, height, kind, made.stream);
}

cudaError_t set_none(Made &made)
{
    return cudaMemsetAsync(made.device, 0, 0, made.stream);
}

template <size_t width, size_t height> cudaError_t set_rows(Made &made)
{
    return FOUND(cudaMemset2DAsync)(made.device, 64, 0, width, height, made.stream);
}

template <size_t width, size_t height> cudaError_t copy_volume(Made &made)
{
    cudaMemcpy3DParms params = {};
    params.srcPtr = make_cudaPitchedPtr(made.pinned, 64, 64, 4);
    params.dstPtr = make_cudaPitchedPtr(made.device, 64, 64, 4);
    params.extent = make_cudaExtent(width, height, 1);
    params.kind = cudaMemcpyHostToDevice;
    return FOUND(cudaMemcpy3DAsync)(&params, made.stream);
}

const cudaMemcpyKind up = cudaMemcpyHostToDevice, within = cudaMemcpyDeviceToDevice;

const struct {
    const char *name;
    Call call;
    const char *needs;
} forms[] = {
    {"graph_without_nodes", launch_empty, nullptr},
    {"graph_of_empty_nodes", launch_nodes, nullptr},
    {"graph_of_a_host_function", launch_host, nullptr},
    {"copy_of_0_bytes", copy_none, nullptr},
    {"copy_up_of_width_0", copy_rows<0, 4, up>, nullptr},
    {"copy_up_of_height_0", copy_rows<64, 0, up>, nullptr},
    {"copy_up_of_4_rows", copy_rows<64, 4, up>, nullptr},
    {"copy_within_of_width_0", copy_rows<0, 4, within>, nullptr},
    {"copy_within_of_height_0", copy_rows<64, 0, within>, nullptr},
    {"copy_3d_of_width_0", copy_volume<0, 4>, "cudaMemcpy3DAsync"},
    {"copy_3d_of_height_0", copy_volume<64, 0>, "cudaMemcpy3DAsync"},
    {"set_of_0_bytes", set_none, nullptr},
    {"set_of_width_0", set_rows<0, 4>, "cudaMemset2DAsync"},
    {"set_of_height_0", set_rows<64, 0>, "cudaMemset2DAsync"},
};

/* Graphs are made after recording has begun: whole launches of others crash CUPTI 13.0. */
Made make()
{
    Made made = {};
    cudaGraph_t graphs[3];
    cudaGraphNode_t node;
    cudaHostNodeParams host = {do_nothing, nullptr};
    made.stream = make_stream();
    CHECK(cudaMalloc(&made.device, 8192));
    CHECK(cudaMallocHost(&made.pinned, 8192));
    for (cudaGraph_t &graph : graphs)
        CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddEmptyNode(&node, graphs[1], nullptr, 0));
    CHECK(cudaGraphAddHostNode(&node, graphs[2], nullptr, 0, &host));
    CHECK(cudaGraphInstantiate(&made.empty, graphs[0], 0));
    CHECK(cudaGraphInstantiate(&made.nodes, graphs[1], 0));
    CHECK(cudaGraphInstantiate(&made.host, graphs[2], 0));
    return made;
}

bool can(const char *function)
{
    return !function || dlsym(RTLD_DEFAULT, function);
}

void call(const char *name, Call function, Made &made)
{
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < times && error == cudaSuccess; i++)
        error = function(made);
    if (error != cudaSuccess)
        std::printf("%s is refused: %s\n", name, cudaGetErrorName(error));
    CHECK(cudaStreamSynchronize(made.stream));
}

void by_hand(const char *mode)
{
    raw::start();
    if (mode[0] == 'w')
        raw::enable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
    for (CUpti_ActivityKind kind : {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                    CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET})
        raw::enable(kind);
    Made made = make();
    for (const auto &form : forms) {
        if (!can(form.needs))
            continue;
        raw::records.clear();
        call(form.name, form.call, made);
        raw::collect();
        key(static_cast<double>(raw::arrived().size()), "records_of_10", "empty.%s.%s", mode,
            form.name);
    }
    decides("which calls and graphs launch nothing, so that no window waits for them");
}

void by_takt()
{
    takt::Profiler first(TAKT_PROFILER_OPTIONS_INIT);
    first.start();
    Made made = make();
    nothing<<<1, 1, 0, made.stream>>>();
    first.stop();
    std::vector<double> ends;
    for (const auto &form : forms) {
        if (!can(form.needs))
            continue;
        takt::Profiler profiler(TAKT_PROFILER_OPTIONS_INIT);
        profiler.start();
        call(form.name, form.call, made);
        ends.push_back(ms_of([&] { profiler.stop(); }));
        takt::Trace trace = profiler.trace();
        tell(ends.back(), "ms", "empty.takt.%s.end", form.name);
        tell(static_cast<double>(takt_trace_count(trace.get(), TAKT_TRACE_ACTIVITIES)),
             "activities_of_10", "empty.takt.%s", form.name);
        EXPECT(all_losses(trace.get()) == 0, "%s: lost %llu", form.name,
               static_cast<unsigned long long>(all_losses(trace.get())));
    }
    budget(quantile(ends, 1.0), 50.0, "ms", "empty.takt.slowest_end");
    decides("no window waits for work that there is not, and counts none as lost");
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2)
        return run_modes(argv[0], {"raw", "whole", "takt"}, 40);
    need_device();
    nothing<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());
    if (argv[1][0] == 't')
        by_takt();
    else
        by_hand(argv[1]);
    return finish();
}
