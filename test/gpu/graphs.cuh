/* Graphs that several programs of this folder make, and functions that not every CUDA has. */
#ifndef GPU_GRAPHS_CUH
#define GPU_GRAPHS_CUH

#include "gpu.cuh"

#include <dlfcn.h>

static const int missing = 77; /* of a mode: this driver, toolkit or device has no such thing */

/* A function that older libraries, and the stand-ins, lack: NULL there. */
#define FOUND(name) reinterpret_cast<decltype(&name)>(dlsym(RTLD_DEFAULT, #name))

/* name_ is the function, of several of this name; where it is missing, so is the mode. */
#define FIND_AS(name, type)                                                                        \
    auto name##_ = reinterpret_cast<type>(dlsym(RTLD_DEFAULT, #name));                             \
    if (!name##_)                                                                                  \
        return std::printf("no %s\n", #name), missing;

static inline cudaStream_t make_stream(void)
{
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

static inline cudaGraph_t capture(cudaStream_t stream, int kernels, cudaStreamCaptureMode mode,
                                  void (*kernel)() = spin_10us)
{
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(stream, mode));
    for (int i = 0; i < kernels; i++)
        kernel<<<1, 1, 0, stream>>>();
    CHECK(cudaStreamEndCapture(stream, &graph));
    return graph;
}

static __global__ void body_next(cudaGraphConditionalHandle handle, int *count, int rounds)
{
    cudaGraphSetConditional(handle, ++*count % rounds != 0);
}

static __global__ void body_last()
{
    spin_ns(2000);
}

/* A kernel, then a condition whose body has two; with `rounds` it is repeated so often, and without
 * `is_true` not once. *counter, on the device, counts repetitions. NULL if this CUDA has no
 * conditions. */
static inline cudaGraphExec_t make_conditional(cudaStream_t stream, int rounds, int **out_counter,
                                               bool is_true = true)
{
    auto create = FOUND(cudaGraphConditionalHandleCreate);
    auto add = FOUND(cudaGraphAddNode);
    auto begin = FOUND(cudaStreamBeginCaptureToGraph);
    if (!create || !add || !begin)
        return nullptr;
    cudaGraphExec_t launchable;
    cudaGraphConditionalHandle handle;
    cudaGraphNodeParams params = {};
    cudaGraphNode_t first, condition;
    size_t count = 1;
    int *counter;
    CHECK(cudaMalloc(&counter, sizeof *counter));
    CHECK(cudaMemset(counter, 0, sizeof *counter));
    *out_counter = counter;
    cudaGraph_t graph = capture(stream, 1, cudaStreamCaptureModeRelaxed);
    CHECK(cudaGraphGetNodes(graph, &first, &count));
    CHECK(create(&handle, graph, is_true, cudaGraphCondAssignDefault));
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = rounds > 1 ? cudaGraphCondTypeWhile : cudaGraphCondTypeIf;
    params.conditional.size = 1;
    CHECK(add(&condition, graph, &first, nullptr, 1, &params));
    cudaGraph_t body = params.conditional.phGraph_out[0];
    CHECK(begin(stream, body, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
    body_next<<<1, 1, 0, stream>>>(handle, counter, rounds);
    body_last<<<1, 1, 0, stream>>>();
    CHECK(cudaStreamEndCapture(stream, &body));
    CHECK(cudaGraphInstantiate(&launchable, graph, 0));
    return launchable;
}

#endif
