/* Records what CUPTI writes for a bit of everything: GPU_RECORD names the file, which
 * test/data/cupti may then hold for machines without a GPU to replay. The file is read back at
 * once. */
#include "gpu.cuh"

#include "recorder.h"

namespace
{

/* Returns how many activities that makes. */
uint64_t work()
{
    const size_t bytes = 1 << 20;
    uint64_t activities = 0;
    void *device, *other, *pinned;
    cudaStream_t streams[2];
    cudaGraph_t graph;
    cudaGraphExec_t launchable;
    CHECK(cudaMalloc(&device, bytes));
    CHECK(cudaMalloc(&other, bytes));
    CHECK(cudaMallocHost(&pinned, bytes));
    for (cudaStream_t &stream : streams)
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int i = 0; i < 100; i++) {
        cudaStream_t stream = streams[i % 2];
        CHECK(cudaMemsetAsync(device, i, bytes, stream));
        spin_10us<<<1, 1, 0, stream>>>();
        nothing<<<dim3(2, 3, 4), dim3(8, 4, 2), 1024, stream>>>();
        CHECK(cudaMemcpyAsync(other, device, bytes, cudaMemcpyDeviceToDevice, stream));
        CHECK(cudaMemcpyAsync(pinned, other, bytes, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice, stream));
        activities += 6;
    }
    void *pooled;
    CHECK(cudaMallocAsync(&pooled, bytes, streams[0]));
    CHECK(cudaFreeAsync(pooled, streams[0]));
    CHECK(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeThreadLocal));
    spin_10us<<<1, 1, 0, streams[0]>>>();
    spin_50us<<<1, 1, 0, streams[0]>>>();
    CHECK(cudaStreamEndCapture(streams[0], &graph));
    CHECK(cudaGraphInstantiate(&launchable, graph, 0));
    for (int i = 0; i < 10; i++) {
        CHECK(cudaGraphLaunch(launchable, streams[0]));
        activities += 2;
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaGraphExecDestroy(launchable));
    CHECK(cudaGraphDestroy(graph));
    for (cudaStream_t &stream : streams)
        CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(device));
    CHECK(cudaFree(other));
    CHECK(cudaFreeHost(pinned));
    return activities;
}

} // namespace

int main()
{
    const char *wish = std::getenv("GPU_RECORD"), *folder = std::getenv("TMPDIR");
    const std::string path = wish ? wish : std::string(folder ? folder : "/tmp") + "/takt.cupti";
    uint64_t found = 0, unreadable = 0;
    need_device();
    if (!gpu_record_begin(path.c_str()))
        return 1;
    uint64_t done = work();
    EXPECT(gpu_record_end(), "%s is not whole", path.c_str());
    EXPECT(gpu_record_count(path.c_str(), &found, &unreadable), "%s is no recording", path.c_str());
    std::printf("%llu activities recorded of %llu\n", (unsigned long long)found,
                (unsigned long long)done);
    EXPECT(found == done, "%llu of %llu", (unsigned long long)found, (unsigned long long)done);
    EXPECT(unreadable == 0, "%llu cannot be read", (unsigned long long)unreadable);
    if (!wish)
        std::remove(path.c_str());
    return finish();
}
