/* A CUDA program that knows nothing of the stand-ins: check_nvcc.sh compiles it with nvcc and runs
 * it on them. It prints what the runtime tells it; its kernels compute nothing there. */
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            std::printf("%s: %s\n", #call, cudaGetErrorString(error_));                            \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

__constant__ float factors[4];
__managed__ int counter;

template <class T> __global__ void scale(int count, T factor, T *values)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        values[i] *= factor;
}

__global__ void gather(const float *from, float *to)
{
    extern __shared__ float shared[];
    shared[threadIdx.x] = from[threadIdx.x] * factors[0];
    __syncthreads();
    to[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

__global__ void meet()
{
    cooperative_groups::this_grid().sync();
}

static float between(cudaEvent_t begin, cudaEvent_t end)
{
    float ms = 0;
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    return ms;
}

static void launch_in_every_way(cudaStream_t stream, float *values)
{
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    scale<float><<<4, 64, 0, stream>>>(256, 2.0f, values); /* long: what follows is queued */
    CHECK(cudaEventRecord(begin, stream));
    scale<double><<<4, 64, 0, stream>>>(128, 2.0, reinterpret_cast<double *>(values));
    gather<<<dim3(1, 2, 3), 64, 64 * sizeof(float), stream>>>(values, values);
    CHECK(cudaGetLastError());
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 2;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.gridDim = 4;
    config.blockDim = 64;
    config.dynamicSmemBytes = 64 * sizeof(float);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, gather, (const float *)values, values));
    CHECK(cudaLaunchCooperativeKernel(meet, 1, 32, nullptr, 0, stream));
    CHECK(cudaEventRecord(end, stream));
    std::printf("launches: %.6f ms\n", between(begin, end));
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
}

static void launch_a_graph(cudaStream_t stream, float *values)
{
    cudaEvent_t begin, end;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    size_t nodes = 0;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecordWithFlags(begin, stream, cudaEventRecordExternal));
    gather<<<1, 64, 256, stream>>>(values, values);
    CHECK(cudaMemsetAsync(values, 0, 64, stream));
    CHECK(cudaEventRecordWithFlags(end, stream, cudaEventRecordExternal));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++)
        CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    std::printf("graph: %zu nodes, %.6f ms\n", nodes, between(begin, end));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
}

static void use_variables()
{
    const float written[4] = {1, 2, 3, 4};
    float read[4] = {};
    CHECK(cudaMemcpyToSymbol(factors, written, sizeof written));
    CHECK(cudaMemcpyFromSymbol(read, factors, sizeof read));
    counter = 41;
    counter++;
    std::printf("variables: %g %d\n", read[3], counter);
}

static void ask()
{
    cudaDeviceProp properties;
    cudaFuncAttributes attributes;
    int blocks = 0, cooperative = 0;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    CHECK(cudaFuncGetAttributes(&attributes, gather));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, gather, 256, 0));
    CHECK(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0));
    std::printf("device: %s, %d.%d, cooperative %d\n", properties.name, properties.major,
                properties.minor, cooperative);
    std::printf("gather: %d registers, %zu bytes, %d blocks of 256\n", attributes.numRegs,
                attributes.sharedSizeBytes, blocks);
    scale<float><<<1, 4096>>>(1, 1.0f, nullptr);
    std::printf("too many threads: %s\n", cudaGetErrorString(cudaGetLastError()));
}

int main()
{
    float *values, *pooled;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&values, 1024 * sizeof *values));
    CHECK(cudaMallocAsync(&pooled, 4096, stream));
    launch_in_every_way(stream, values);
    launch_a_graph(stream, values);
    use_variables();
    ask();
    CHECK(cudaFreeAsync(pooled, stream));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(values));
    CHECK(cudaDeviceReset());
    return 0;
}
