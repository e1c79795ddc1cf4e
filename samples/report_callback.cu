/* Report callback: a timer passes its list of activities to the program, which adds them up instead
 * of printing tables.
 *
 * The simulation is a chain of springs. It runs forwards, then backwards through time (the adjoint
 * method) to get the derivative of the final energy with respect to the initial position. The times
 * of forward and backward kernels are summed separately. A finite difference checks the derivative.
 * samples/callback.c does the same on the CPU.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <takt/takt.hpp>

#include "sample.cuh"

#include <cmath>
#include <cstring>
#include <vector>

static const int masses = 4000;
static const int rounds = 400;
static const int threads = 256;
static const double time_step = 0.05;

/* Returns the second difference: the pull of the neighbours on mass i. Both ends of the chain are
 * fixed at 0. */
static __device__ double pull(const double *values, int i)
{
    double left = i > 0 ? values[i - 1] : 0.0;
    double right = i < masses - 1 ? values[i + 1] : 0.0;
    return left - 2.0 * values[i] + right;
}

/* Symplectic Euler: first new velocities, then new positions from these velocities. There are two
 * kernels, because each mass needs the old positions of its neighbours. */
static __global__ void forward_velocities(double *v, const double *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < masses)
        v[i] += time_step * pull(x, i);
}

static __global__ void forward_positions(double *x, const double *v)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < masses)
        x[i] += time_step * v[i];
}

/* The transposed lines of the forward kernels, in reverse order, applied to the derivatives. */
static __global__ void backward_positions(double *v, const double *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < masses)
        v[i] += time_step * x[i];
}

static __global__ void backward_velocities(double *x, const double *v)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < masses)
        x[i] += time_step * pull(v, i);
}

struct Chain {
    double *x, *v; /* on the device */
};

static std::vector<double> read(const double *device)
{
    std::vector<double> host(masses);
    CHECK(cudaMemcpy(host.data(), device, masses * sizeof(double), cudaMemcpyDeviceToHost));
    return host;
}

/* Returns the final kinetic energy of a chain whose middle was displaced by `height`. */
static double simulate(double height, const Chain &chain)
{
    TAKT_FUNCTION();
    const int blocks = sample_blocks(masses, threads);
    CHECK(cudaMemset(chain.x, 0, masses * sizeof(double)));
    CHECK(cudaMemset(chain.v, 0, masses * sizeof(double)));
    CHECK(cudaMemcpy(chain.x + masses / 2, &height, sizeof height, cudaMemcpyHostToDevice));
    for (int round = 0; round < rounds; round++) {
        forward_velocities<<<blocks, threads>>>(chain.v, chain.x);
        forward_positions<<<blocks, threads>>>(chain.x, chain.v);
    }
    CHECK(cudaGetLastError());
    double energy = 0.0;
    for (double v : read(chain.v))
        energy += 0.5 * v * v;
    return energy;
}

/* Returns the derivative of that energy with respect to `height`. `chain` is the final state, and
 * is overwritten with derivatives. */
static double differentiate(const Chain &chain)
{
    TAKT_FUNCTION();
    const int blocks = sample_blocks(masses, threads);
    CHECK(cudaMemset(chain.x, 0, masses * sizeof(double))); /* energy depends only on v */
    for (int round = 0; round < rounds; round++) {
        backward_positions<<<blocks, threads>>>(chain.v, chain.x);
        backward_velocities<<<blocks, threads>>>(chain.x, chain.v);
    }
    CHECK(cudaGetLastError());
    return read(chain.x)[masses / 2];
}

static bool starts_with(const char *name, const char *start)
{
    return std::strncmp(name, start, std::strlen(start)) == 0;
}

/* Called instead of printing the timer's tables. The list is the whole timeline, in launch
 * order. */
static void print_sweeps(const takt_timing *results, const char *indent)
{
    double forward_ms = 0.0, backward_ms = 0.0;
    for (size_t i = 0; i < takt_timing_count(results); i++) {
        const takt_activity *activity = takt_timing_at(results, i);
        if (starts_with(activity->name, "forward kernel"))
            forward_ms += activity->elapsed_ms;
        else if (starts_with(activity->name, "backward kernel"))
            backward_ms += activity->elapsed_ms;
    }
    std::printf("%sForward kernels  : %f ms\n", indent, forward_ms);
    std::printf("%sBackward kernels : %f ms\n", indent, backward_ms);
}

int main()
{
    const double height = 1.0, nudge = 1e-3;
    Chain chain;
    double slope;

    sample_need_device();
    const bool computes = sample_computes();
    CHECK(cudaMalloc(&chain.x, masses * sizeof(double)));
    CHECK(cudaMalloc(&chain.v, masses * sizeof(double)));

    /* Names for the program's kernels. Without these rules a kernel is called "kernel
     * forward_positions". */
    takt_kernel_label("(^|::)forward_([a-z]+)", "forward kernel \\2");
    takt_kernel_label("(^|::)backward_([a-z]+)", "backward kernel \\2");
    {
        TAKT_TIMER("Both sweeps", takt::ScopedTimer::Options().filter(TAKT_TIMING_KERNEL),
                   print_sweeps);
        simulate(height, chain);
        slope = differentiate(chain);
    }

    const double difference =
        (simulate(height + nudge, chain) - simulate(height - nudge, chain)) / (2.0 * nudge);
    CHECK(cudaFree(chain.x));
    CHECK(cudaFree(chain.v));
    std::printf("Derivative %.9f, by differences %.9f\n", slope, difference);
    return !computes || std::fabs(slope - difference) < 1e-6 * std::fabs(difference) ? 0 : 1;
}
