/* The demo of the profiling chapter of NVIDIA Warp. On every CUDA device, ten million numbers are
 * set to 0. A kernel adds 1 to each of them 500, 1000 and 1500 times, and the result is copied to
 * the host. A timer with a filter lists the work of the devices.
 *
 * `make sim-demo` runs this sample on two simulated devices that take as long as those of the
 * chapter.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <takt/takt.hpp>

#include "sample.cuh"

#include <vector>

namespace
{

const int count = 10000000;
const size_t bytes = count * sizeof(float);
const int threads = 256;

__global__ void inc_loop(float *a, int iterations)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    for (int k = 0; k < iterations; k++)
        a[i] += 1.0f;
}

/* Launches all work of one device without waiting for it. */
void run(int device, float *host)
{
    const int blocks = sample_blocks(count, threads);
    float *a;

    CHECK(cudaSetDevice(device));
    CHECK(cudaMallocAsync(&a, bytes, 0));
    CHECK(cudaMemsetAsync(a, 0, bytes, 0));
    inc_loop<<<blocks, threads>>>(a, 500);
    inc_loop<<<blocks, threads>>>(a, 1000);
    inc_loop<<<blocks, threads>>>(a, 1500);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(host, a, bytes, cudaMemcpyDeviceToHost, 0));
    CHECK(cudaFreeAsync(a, 0));
}

bool is_right(const float *host)
{
    for (int i = 0; i < count; i++) {
        if (host[i] != 3000.0f)
            return false;
    }
    return true;
}

} // namespace

int main()
{
    int devices = 0;
    bool all_right = true;

    sample_need_device();
    const bool computes = sample_computes();
    CHECK(cudaGetDeviceCount(&devices));

    /* Pinned memory lets copies run beside the program. */
    std::vector<float *> host(devices);
    for (float *&array : host)
        CHECK(cudaMallocHost(&array, bytes));

    takt_kernel_label("(^|::)inc_loop\\(", "forward kernel inc_loop");
    {
        TAKT_TIMER("Demo", takt::ScopedTimer::Options().filter(TAKT_TIMING_ALL));
        for (int i = 0; i < devices; i++)
            run(i, host[i]);
    }

    for (int i = 0; i < devices; i++) {
        CHECK(cudaSetDevice(i));
        CHECK(cudaDeviceSynchronize());
        all_right = all_right && is_right(host[i]);
        CHECK(cudaFreeHost(host[i]));
    }
    if (computes)
        std::puts(all_right ? "All results are right." : "There are wrong results.");
    return !computes || all_right ? 0 : 1;
}
