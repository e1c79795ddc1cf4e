/* Helpers of the CUDA samples: stop at the first error, and check for a device that computes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SAMPLE_CUH
#define SAMPLE_CUH

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

/* Exit status of a sample that cannot run on this machine, as in test programs. */
enum { EXIT_SKIPPED = 77 };

#define CHECK(call) sample_check((call), #call, __FILE__, __LINE__)

inline void sample_check(cudaError_t error, const char *call, const char *file, int line)
{
    if (error == cudaSuccess)
        return;
    std::fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, cudaGetErrorString(error));
    std::exit(EXIT_FAILURE);
}

/* Exits with EXIT_SKIPPED if there is no CUDA device. */
inline void sample_need_device(void)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0)
        return;
    std::puts("this sample needs a CUDA device");
    std::exit(EXIT_SKIPPED);
}

static __global__ void sample_write(int *out)
{
    *out = 42;
}

/* True if kernels compute results. Takt's tests also run the samples on simulated devices, which
 * take time but compute nothing. Then the function prints a line, and results are not checked. */
inline bool sample_computes(void)
{
    int *out, value = 0;
    CHECK(cudaMalloc(&out, sizeof *out));
    CHECK(cudaMemset(out, 0, sizeof *out));
    sample_write<<<1, 1>>>(out);
    CHECK(cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(out));
    if (value != 42)
        std::puts("The device computes nothing (is it simulated?): results are not checked.");
    return value == 42;
}

/* Returns the number of blocks of `threads` threads that cover `count` elements. */
inline int sample_blocks(int count, int threads)
{
    return (count + threads - 1) / threads;
}

#endif
