/* Phases: timers inside a kernel. A constraint solver, as in a physics engine, times its line
 * search, gradient, Hessian and last step in each block and iteration.
 *
 * Each block finds the velocities of one island of bodies. They stay near the unconstrained ones,
 * while contacts push back where bodies approach. Newton's method minimises
 *
 *     1/2 sum m (v - free)^2 + 1/2 stiffness sum max(0, bound - J v)^2
 *
 * The solver is written once for the device and for the host: "phases --host" and compilers other
 * than nvcc run the blocks one after another as host code, with the same timers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <takt/device.cuh>
#include <takt/takt.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#ifdef __CUDACC__
#include "sample.cuh"
#define BOTH __host__ __device__
#else
#define BOTH
#endif

/* Tests count the solver's operations with this. */
#ifndef PHASES_WORK
#define PHASES_WORK(operations) ((void)0)
#endif

enum Phase {
    SOLVE,
    GRADIENT,
    HESSIAN,
    LINE_SEARCH,
    LAST_STEP,
    PHASES
};
static const char *const phase_names[PHASES] = {"solve", "gradient", "hessian", "line search",
                                                "last step"};

const int bodies = 8;    /* of an island */
const int contacts = 12; /* of an island */
const int iterations = 8;
const int islands = 64;
const int threads = 32;
const int steps = 5;
const double stiffness = 100.0;

struct Island {
    double mass[bodies], free[bodies];
    double jacobian[contacts][bodies], bound[contacts];
};

struct Result {
    double velocity[bodies];
    double cost;
    int iterations; /* 0: no contact pushed */
    int tries;      /* of all line searches */
};

/* What the threads of a block share. */
struct Work {
    double v[bodies], gradient[bodies], direction[bodies], push[contacts];
    double hessian[bodies][bodies];
};

/* ---- The threads of a block ------------------------------------------------------------------ */

BOTH inline void wait_for_block()
{
#ifdef __CUDA_ARCH__
    __syncthreads();
#endif
}

/* In host code one thread does the work of all. */
BOTH inline int first_index()
{
#ifdef __CUDA_ARCH__
    return static_cast<int>(threadIdx.x);
#else
    return 0;
#endif
}

BOTH inline int index_stride()
{
#ifdef __CUDA_ARCH__
    return static_cast<int>(blockDim.x);
#else
    return 1;
#endif
}

/* ---- The solver ------------------------------------------------------------------------------ */

/* Every thread computes the same cost, at v + length * direction. */
BOTH inline double cost_at(const Island &island, const Work &work, double length)
{
    double cost = 0.0;
    for (int b = 0; b < bodies; b++) {
        double away = work.v[b] + length * work.direction[b] - island.free[b];
        cost += 0.5 * island.mass[b] * away * away;
    }
    for (int c = 0; c < contacts; c++) {
        double gap = island.bound[c];
        for (int b = 0; b < bodies; b++)
            gap -= island.jacobian[c][b] * (work.v[b] + length * work.direction[b]);
        cost += gap > 0.0 ? 0.5 * stiffness * gap * gap : 0.0;
    }
    PHASES_WORK(contacts * bodies);
    return cost;
}

/* Returns the square of the gradient's norm. */
BOTH inline double find_gradient(const Island &island, Work &work)
{
    double square = 0.0;
    for (int c = first_index(); c < contacts; c += index_stride()) {
        double gap = island.bound[c];
        for (int b = 0; b < bodies; b++)
            gap -= island.jacobian[c][b] * work.v[b];
        work.push[c] = gap > 0.0 ? stiffness * gap : 0.0;
    }
    wait_for_block();
    for (int b = first_index(); b < bodies; b += index_stride()) {
        work.gradient[b] = island.mass[b] * (work.v[b] - island.free[b]);
        for (int c = 0; c < contacts; c++)
            work.gradient[b] -= work.push[c] * island.jacobian[c][b];
    }
    wait_for_block();
    for (int b = 0; b < bodies; b++)
        square += work.gradient[b] * work.gradient[b];
    PHASES_WORK(2 * contacts * bodies);
    return square;
}

/* Gaussian elimination by the block's first thread: the system is small and positive definite. */
BOTH inline void find_direction(Work &work)
{
    for (int b = 0; b < bodies; b++)
        work.direction[b] = -work.gradient[b];
    for (int k = 0; k < bodies; k++)
        for (int i = k + 1; i < bodies; i++) {
            double factor = work.hessian[i][k] / work.hessian[k][k];
            for (int j = k; j < bodies; j++)
                work.hessian[i][j] -= factor * work.hessian[k][j];
            work.direction[i] -= factor * work.direction[k];
        }
    for (int i = bodies - 1; i >= 0; i--) {
        for (int j = i + 1; j < bodies; j++)
            work.direction[i] -= work.hessian[i][j] * work.direction[j];
        work.direction[i] /= work.hessian[i][i];
    }
}

BOTH inline void find_hessian(const Island &island, Work &work)
{
    for (int i = first_index(); i < bodies; i += index_stride())
        for (int j = 0; j < bodies; j++) {
            work.hessian[i][j] = i == j ? island.mass[i] : 0.0;
            for (int c = 0; c < contacts; c++)
                if (work.push[c] > 0.0)
                    work.hessian[i][j] += stiffness * island.jacobian[c][i] * island.jacobian[c][j];
        }
    wait_for_block();
    if (first_index() == 0)
        find_direction(work);
    wait_for_block();
    PHASES_WORK(contacts * bodies * bodies);
}

/* Halves the step until the cost falls. */
BOTH inline double search_line(const Island &island, const Work &work, double before, int &tries)
{
    double length = 1.0;
    for (int i = 0; i < 20; i++, length *= 0.5) {
        tries++;
        if (cost_at(island, work, length) <= before)
            return length;
    }
    return 0.0;
}

BOTH inline void move(Work &work, double length)
{
    wait_for_block();
    for (int b = first_index(); b < bodies; b += index_stride())
        work.v[b] += length * work.direction[b];
    wait_for_block();
    PHASES_WORK(bodies);
}

BOTH inline void solve_island(takt_device_view &timers, const Island &island, Work &work,
                              Result &result)
{
    TAKT_DEVICE_SCOPE(timers, SOLVE);
    int count = 0, tries = 0;
    for (int b = first_index(); b < bodies; b += index_stride()) {
        work.v[b] = island.free[b];
        work.direction[b] = 0.0;
    }
    wait_for_block();
    double cost = cost_at(island, work, 0.0);
    result.cost = cost;
    result.iterations = result.tries = 0;
    for (int b = first_index(); b < bodies; b += index_stride())
        result.velocity[b] = work.v[b];
    if (cost == 0.0)
        return; /* the scope ends here too */
    for (; count < iterations; count++) {
        TAKT_DEVICE_ITERATION(timers, count);
        TAKT_DEVICE_PHASE(timers, GRADIENT);
        if (find_gradient(island, work) < 1e-20)
            break;
        TAKT_DEVICE_PHASE(timers, HESSIAN);
        find_hessian(island, work);
        TAKT_DEVICE_PHASE(timers, LINE_SEARCH);
        double length = search_line(island, work, cost, tries);
        TAKT_DEVICE_PHASE(timers, LAST_STEP);
        move(work, length);
        cost = cost_at(island, work, 0.0);
    }
    TAKT_DEVICE_PHASE_END(timers);
    for (int b = first_index(); b < bodies; b += index_stride())
        result.velocity[b] = work.v[b];
    result.cost = cost;
    result.iterations = count;
    result.tries = tries;
}

/* ---- Islands --------------------------------------------------------------------------------- */

/* A number between 0 and 1 that depends on both. */
static double noise(int a, int b)
{
    uint32_t x = static_cast<uint32_t>(a) * 2654435761u ^ static_cast<uint32_t>(b) * 2246822519u;
    x = (x ^ x >> 15) * 2246822519u;
    return static_cast<double>((x ^ x >> 13) >> 8) / 16777216.0;
}

/* Every fourth island has no contact that pushes. */
static std::vector<Island> make_islands()
{
    std::vector<Island> all(islands);
    for (int i = 0; i < islands; i++) {
        Island &island = all[static_cast<size_t>(i)];
        for (int b = 0; b < bodies; b++) {
            island.mass[b] = 1.0 + noise(i, b);
            island.free[b] = noise(i, 100 + b) - 0.5;
        }
        for (int c = 0; c < contacts; c++) {
            for (int b = 0; b < bodies; b++)
                island.jacobian[c][b] = b == c % bodies || b == (c + 1 + c / bodies) % bodies
                                            ? noise(i, 200 + c * bodies + b) - 0.5
                                            : 0.0;
            island.bound[c] = i % 4 == 3 ? -10.0 : 0.3 * noise(i, 400 + c);
        }
    }
    return all;
}

/* True if every result is a minimum, and its island had something to do or not as it should. */
static bool are_right(const std::vector<Island> &all, const std::vector<Result> &results)
{
    for (int i = 0; i < islands; i++) {
        Work work = {};
        std::memcpy(work.v, results[static_cast<size_t>(i)].velocity, sizeof work.v);
        bool is_idle = results[static_cast<size_t>(i)].iterations == 0;
        if (find_gradient(all[static_cast<size_t>(i)], work) > 1e-12 || is_idle != (i % 4 == 3))
            return false;
    }
    return true;
}

/* ---- Steps on the host and on the device ----------------------------------------------------- */

static void solve_on_host(takt_device_view view, const std::vector<Island> &all,
                          std::vector<Result> &results)
{
    TAKT_SCOPE("solve");
    for (int i = 0; i < islands; i++) {
        takt_device_view timers = takt_device_for_block(view, static_cast<uint32_t>(i));
        Work work;
        solve_island(timers, all[static_cast<size_t>(i)], work, results[static_cast<size_t>(i)]);
    }
}

/* Prints the first block's phases, from the last step. */
static void print_block(takt_device_timers *timers, uint32_t block)
{
    std::vector<uint64_t> cycles(static_cast<size_t>(PHASES) * iterations);
    if (takt_device_timers_copy(timers, block, iterations, cycles.data()) != TAKT_OK)
        return;
    std::printf("block %u, cycles of each iteration:\n", block);
    for (size_t p = GRADIENT; p < PHASES; p++) {
        std::printf("%-12s", phase_names[p]);
        for (size_t i = 0; i < iterations; i++)
            std::printf(" %8llu", static_cast<unsigned long long>(cycles[p * iterations + i]));
        std::printf("\n");
    }
}

static takt_device_timers *make_timers(bool on_host, void *stream)
{
    takt_device_timers *timers = nullptr;
    takt_device_timers_options options = TAKT_DEVICE_TIMERS_OPTIONS_INIT;
    options.name = "solver";
    options.blocks = islands;
    options.records = 4 * iterations + 2;
    options.on_host = on_host;
    options.at_step = true;
    options.stream = stream;
    takt_status status = takt_device_timers_create(phase_names, PHASES, &options, &timers);
    if (status != TAKT_OK)
        std::printf("no timers: %s\n", takt_status_text(status));
    return timers;
}

/* A recording of some steps. `step` launches or calls the solver with a view. */
template <typename Step> static void record(takt_device_timers *timers, Step step)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    static const char *const reports[] = {"scopes", "phases"};
    options.reports = reports;
    options.report_count = 2;
    takt::Profiler profiler(options);
    profiler.start();
    for (int i = 0; i < steps; i++) {
        step(takt_device_timers_view(timers));
        profiler.step(); /* reads the timers */
    }
    profiler.stop();
    print_block(timers, 0);
}

static bool run_on_host()
{
    std::vector<Island> all = make_islands();
    std::vector<Result> results(islands);
    takt_device_timers *timers = make_timers(true, nullptr);
    record(timers, [&](takt_device_view view) { solve_on_host(view, all, results); });
    takt_device_timers_destroy(timers);
    return are_right(all, results);
}

#ifdef __CUDACC__
static __global__ void solve(takt_device_view timers, const Island *all, Result *results)
{
    __shared__ Work work;
    solve_island(timers, all[blockIdx.x], work, results[blockIdx.x]);
}

static bool run_on_device()
{
    std::vector<Island> all = make_islands();
    std::vector<Result> results(islands);
    Island *device_islands;
    Result *device_results;
    cudaStream_t stream;
    const bool computes = sample_computes();
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&device_islands, islands * sizeof(Island)));
    CHECK(cudaMalloc(&device_results, islands * sizeof(Result)));
    CHECK(cudaMemcpy(device_islands, all.data(), islands * sizeof(Island), cudaMemcpyHostToDevice));
    takt_device_timers *timers = make_timers(false, stream);
    record(timers, [&](takt_device_view view) {
        TAKT_SCOPE("solve");
        solve<<<islands, threads, 0, stream>>>(view, device_islands, device_results);
    });
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(results.data(), device_results, islands * sizeof(Result),
                     cudaMemcpyDeviceToHost));
    takt_device_timers_destroy(timers);
    CHECK(cudaFree(device_islands));
    CHECK(cudaFree(device_results));
    CHECK(cudaStreamDestroy(stream));
    return !computes || are_right(all, results);
}
#endif

int main(int argc, char **argv)
{
    bool is_right;
#ifdef __CUDACC__
    bool on_host = argc > 1 && std::strcmp(argv[1], "--host") == 0;
    if (!on_host)
        sample_need_device();
    is_right = on_host ? run_on_host() : run_on_device();
#else
    (void)argc;
    (void)argv;
    is_right = run_on_host();
#endif
    std::puts(is_right ? "all islands are at rest" : "an island is not at rest");
    return is_right ? 0 : 1;
}
