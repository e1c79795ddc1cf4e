/* cuBLAS builtin: distinguishes kernels of a library from kernels of the program.
 *
 * A power iteration finds the largest eigenvalue of a matrix. cuBLAS multiplies and computes the
 * norm: these are "builtin" kernels. The program scales the vector with its own kernel. The tables
 * of the timer show both. A filter with only TAKT_TIMING_KERNEL or TAKT_TIMING_BUILTIN would hide
 * the other kind.
 *
 * cuBLAS is part of the CUDA toolkit; without cuBLAS this sample is not built.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <takt/takt.hpp>

#include "sample.cuh"

#include <cublas_v2.h>

#include <cmath>
#include <cstring>
#include <vector>

static const int size = 1024;
static const int iterations = 50;
static const int threads = 256;

static __global__ void scale(float *to, const float *from, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size)
        to[i] = factor * from[i];
}

static void check(cublasStatus_t status)
{
    if (status == CUBLAS_STATUS_SUCCESS)
        return;
    std::fprintf(stderr, "cuBLAS fails with status %d\n", static_cast<int>(status));
    std::exit(EXIT_FAILURE);
}

/* Returns I + u u^T. One eigenvalue is 1 + |u|^2, all others are 1. */
static std::vector<float> make_matrix(const std::vector<float> &u)
{
    std::vector<float> matrix(size * size);
    for (int row = 0; row < size; row++)
        for (int column = 0; column < size; column++)
            matrix[row * size + column] = u[row] * u[column] + (row == column ? 1.0f : 0.0f);
    return matrix;
}

static float largest_eigenvalue(cublasHandle_t cublas, const float *matrix, float *x, float *y)
{
    TAKT_FUNCTION();
    const float one = 1.0f, zero = 0.0f;
    float norm = 0.0f;
    for (int i = 0; i < iterations; i++) {
        check(cublasSgemv(cublas, CUBLAS_OP_N, size, size, &one, matrix, size, x, 1, &zero, y, 1));
        check(cublasSnrm2(cublas, size, y, 1, &norm));
        scale<<<sample_blocks(size, threads), threads>>>(x, y, 1.0f / norm);
        CHECK(cudaGetLastError());
    }
    return norm;
}

/* Returns the number of listed activities of one kind. */
static size_t count_of(const takt_timing *timing, uint32_t filter)
{
    size_t count = 0;
    for (size_t i = 0; i < takt_timing_count(timing); i++)
        count += takt_timing_at(timing, i)->filter == filter;
    return count;
}

int main()
{
    float *matrix, *x, *y;
    cublasHandle_t cublas;
    sample_need_device();
    if (!sample_computes()) {
        std::puts("cuBLAS needs a real device");
        return EXIT_SKIPPED;
    }
    std::vector<float> u(size), start(size, 1.0f);
    double expected = 1.0;
    for (int i = 0; i < size; i++) {
        u[i] = 0.1f + 0.001f * static_cast<float>(i % 10);
        expected += static_cast<double>(u[i]) * static_cast<double>(u[i]);
    }
    std::vector<float> host = make_matrix(u);
    CHECK(cudaMalloc(&matrix, host.size() * sizeof(float)));
    CHECK(cudaMalloc(&x, size * sizeof(float)));
    CHECK(cudaMalloc(&y, size * sizeof(float)));
    CHECK(cudaMemcpy(matrix, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(x, start.data(), size * sizeof(float), cudaMemcpyHostToDevice));
    check(cublasCreate(&cublas));
    largest_eigenvalue(cublas, matrix, x, y); /* cuBLAS loads its kernels on first use */

    float found;
    size_t own = 0, builtin = 0;
    {
        const uint32_t kernels = TAKT_TIMING_KERNEL | TAKT_TIMING_BUILTIN;
        TAKT_TIMER("Power iteration", takt::ScopedTimer::Options().filter(kernels),
                   [&](const takt_timing *results, const char *indent) {
                       own = count_of(results, TAKT_TIMING_KERNEL);
                       builtin = count_of(results, TAKT_TIMING_BUILTIN);
                       takt_timing_print(results, indent);
                   });
        found = largest_eigenvalue(cublas, matrix, x, y);
    }
    check(cublasDestroy(cublas));
    CHECK(cudaFree(matrix));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    std::printf("%zu kernels of the program, %zu of cuBLAS\n", own, builtin);
    std::printf("largest eigenvalue %.4f, expected %.4f\n", found, expected);
    return std::fabs(found - expected) < 1e-3 * expected ? 0 : 1;
}
