/* Stream overlap: work on two streams at once, and how much time that saves.
 *
 * An array is copied to the device, squared, and copied back, in pieces. The first run uses one
 * stream, one piece after the other. In the second run the pieces alternate between two streams:
 * one piece is copied while another is computed. TAKT_STREAM_SCOPE measures the time between two
 * points on a stream, gaps included. The timer's tables show the busy time. Busy times that overlap
 * add up to more than the elapsed time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <takt/takt.hpp>

#include "sample.cuh"

#include <vector>

static const int count = 1 << 22;
static const int pieces = 8;
static const int piece = count / pieces;
static const int threads = 256;

static __global__ void square(float *values)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < piece)
        values[i] *= values[i];
}

static void send_through(float *host, float *device, cudaStream_t stream)
{
    TAKT_STREAM_SCOPE(stream, "piece");
    CHECK(cudaMemcpyAsync(device, host, piece * sizeof(float), cudaMemcpyHostToDevice, stream));
    square<<<sample_blocks(piece, threads), threads, 0, stream>>>(device);
    CHECK(cudaMemcpyAsync(host, device, piece * sizeof(float), cudaMemcpyDeviceToHost, stream));
}

/* Returns the milliseconds from the start of the first piece to the end of the last one. The first
 * stream waits for the second before the end is recorded. */
static double run(float *host, float *device, cudaStream_t *streams, int stream_count)
{
    takt::Event begin, end;
    CHECK(cudaDeviceSynchronize());
    begin.record(streams[0]);
    for (int i = 0; i < pieces; i++)
        send_through(host + i * piece, device + i * piece, streams[i % stream_count]);
    for (int i = 1; i < stream_count; i++) {
        cudaEvent_t done;
        CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
        CHECK(cudaEventRecord(done, streams[i]));
        CHECK(cudaStreamWaitEvent(streams[0], done, 0));
        CHECK(cudaEventDestroy(done));
    }
    end.record(streams[0]);
    return end.elapsed_ms_since(begin);
}

/* True if each value was squared by both runs. */
static bool is_right(const float *host)
{
    for (int i = 0; i < count; i++) {
        float value = static_cast<float>(i % 3);
        if (host[i] != value * value * value * value)
            return false;
    }
    return true;
}

int main()
{
    float *host, *device;
    cudaStream_t streams[2];
    sample_need_device();
    const bool computes = sample_computes();
    CHECK(cudaMallocHost(&host, count * sizeof(float))); /* pinned; otherwise nothing overlaps */
    CHECK(cudaMalloc(&device, count * sizeof(float)));
    for (cudaStream_t &stream : streams)
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int i = 0; i < count; i++)
        host[i] = static_cast<float>(i % 3);

    double one, two;
    {
        TAKT_TIMER("One stream",
                   takt::ScopedTimer::Options().synchronize().filter(TAKT_TIMING_ALL));
        one = run(host, device, streams, 1);
    }
    {
        TAKT_TIMER("Two streams",
                   takt::ScopedTimer::Options().synchronize().filter(TAKT_TIMING_ALL));
        two = run(host, device, streams, 2);
    }
    std::printf("On the device: %.6f ms one after the other, %.6f ms overlapping\n", one, two);
    const bool right = !computes || is_right(host);

    for (cudaStream_t &stream : streams)
        CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(device));
    CHECK(cudaFreeHost(host));
    return right && one > 0.0 && two > 0.0 ? 0 : 1;
}
