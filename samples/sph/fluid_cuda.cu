/* One thread per particle, in double precision as on the host. A thread finds neighbours by walking
 * the nine rows of cells around its particle each time. A neighbour list would save nothing:
 * reading it costs as much memory traffic.
 *
 * All orders are those of the host. Particles are sorted by cell and keep their order within a
 * cell: threads take places with atomics, then each cell is sorted. Neighbours are added in storage
 * order. So every run gives the same bits.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fluid_cuda.h"

#include <takt/takt.h>

#include "../sample.cuh"

enum {
    THREADS = 128,
    SCAN_THREADS = 1024,
    SUM_THREADS = 256
};

/* Arrays on the device; fluid.h and grid.h describe their contents. */
struct arrays {
    vec3 *position, *velocity, *acceleration, *viscous, *wall, *scratch;
    double *density, *pressure_term;
    uint32_t *first, *taken, *order, *cell_of;
    unsigned long long *pairs; /* counts pairs twice, and each particle with itself */
    fluid_sums *sums;
};

struct fluid_cuda {
    medium m;
    grid g;
    arrays a;
    int count;
    fluid_sums *sums; /* pinned host memory */
    unsigned long long *pairs;
    bool is_fine;
};

static __device__ int own_index(void)
{
    return (int)(blockIdx.x * blockDim.x + threadIdx.x);
}

/* ---- Sorting ---- */

static __global__ void count_cells(grid g, arrays a, int count)
{
    int i = own_index();
    if (i >= count)
        return;
    a.cell_of[i] = (uint32_t)grid_cell_of(&g, a.position[i]);
    atomicAdd(&a.first[a.cell_of[i]], 1u);
}

/* Turns counts into the begin of each cell: each thread sums a run of cells, then all runs before
 * it. */
static __global__ void add_up_cells(arrays a, int cells)
{
    __shared__ uint32_t sums[SCAN_THREADS];
    int run = (cells + SCAN_THREADS - 1) / SCAN_THREADS;
    int begin = (int)threadIdx.x * run, end = min(begin + run, cells);
    uint32_t sum = 0, before = 0;
    for (int c = begin; c < end; c++)
        sum += a.first[c];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned t = 0; t < threadIdx.x; t++)
        before += sums[t];
    for (int c = begin; c < end; c++) {
        uint32_t here = a.first[c];
        a.first[c] = before;
        before += here;
    }
}

static __global__ void take_places(arrays a, int count)
{
    int i = own_index();
    if (i < count)
        a.order[a.first[a.cell_of[i]] + atomicAdd(&a.taken[a.cell_of[i]], 1u)] = (uint32_t)i;
}

/* Insertion sort: a cell has about ten particles. */
static __global__ void order_cells(arrays a, int cells)
{
    int c = own_index();
    if (c >= cells)
        return;
    for (uint32_t i = a.first[c] + 1; i < a.first[c + 1]; i++) {
        uint32_t moved = a.order[i], to = i;
        for (; to > a.first[c] && a.order[to - 1] > moved; to--)
            a.order[to] = a.order[to - 1];
        a.order[to] = moved;
    }
}

static __global__ void gather(vec3 *to, const vec3 *from, const uint32_t *order, int count)
{
    int i = own_index();
    if (i < count)
        to[i] = from[order[i]];
}

/* ---- Physics ---- */

/* Calls visit(j, r) for each particle j within reach of p, including the particle itself; r = p -
 * x_j. */
template <typename Visit>
static __device__ void each_neighbour(const grid &g, const arrays &a, vec3 p, Visit visit)
{
    const double reach_squared = g.reach * g.reach;
    const cell_range cells = grid_cells_around(&g, p);
    for (int z = cells.first[2]; z <= cells.last[2]; z++) {
        for (int y = cells.first[1]; y <= cells.last[1]; y++) {
            uint32_t begin = a.first[grid_cell_index(&g, cells.first[0], y, z)];
            uint32_t end = a.first[grid_cell_index(&g, cells.last[0], y, z) + 1];
            for (uint32_t j = begin; j < end; j++) {
                vec3 r = vec3_sub(p, a.position[j]);
                if (vec3_dot(r, r) < reach_squared)
                    visit(j, r);
            }
        }
    }
}

static __global__ void density_sums(medium m, grid g, arrays a, int count)
{
    int i = own_index();
    if (i >= count)
        return;
    vec3 p = a.position[i];
    double sum = 0.0;
    unsigned neighbours = 0;
    each_neighbour(g, a, p, [&](uint32_t, vec3 r) {
        sum += kernel_value(&m.smoothing, vec3_dot(r, r));
        neighbours++;
    });
    double density = density_at(&m, p, sum);
    a.density[i] = density;
    a.pressure_term[i] = pressure_at(&m, density) / (density * density);
    atomicAdd(a.pairs, (unsigned long long)neighbours);
}

static __device__ particle particle_at(const arrays &a, uint32_t i)
{
    particle p = {a.position[i], a.velocity[i], a.density[i], a.pressure_term[i]};
    return p;
}

static __global__ void pair_forces(medium m, grid g, arrays a, int count)
{
    int i = own_index();
    if (i >= count)
        return;
    const particle p = particle_at(a, (uint32_t)i);
    vec3 pressure = {0.0, 0.0, 0.0}, viscous = {0.0, 0.0, 0.0};
    each_neighbour(g, a, p.position, [&](uint32_t j, vec3) {
        particle neighbour = particle_at(a, j);
        add_pair(&m, &p, &neighbour, &pressure, &viscous);
    });
    a.wall[i] = wall_acceleration_at(&m, p.position, p.pressure_term);
    a.viscous[i] = viscous;
    a.acceleration[i] = vec3_add(vec3_add(pressure, viscous), a.wall[i]);
    a.acceleration[i].z -= m.gravity;
}

static __device__ void add_sums(fluid_sums *to, const fluid_sums *from)
{
    to->kinetic += from->kinetic;
    to->potential += from->potential;
    to->internal += from->internal;
    to->power += from->power;
    to->momentum = vec3_add(to->momentum, from->momentum);
    to->force = vec3_add(to->force, from->force);
}

/* One block, whose threads add in pairs: the same order each time. */
static __global__ void add_up_balance(medium m, arrays a, int count, double to_now)
{
    __shared__ fluid_sums sums[SUM_THREADS];
    fluid_sums mine = {};
    for (int i = (int)threadIdx.x; i < count; i += SUM_THREADS) {
        particle p = particle_at(a, (uint32_t)i);
        add_to_sums(&m, &mine, &p, to_now, a.acceleration[i], a.viscous[i], a.wall[i]);
    }
    sums[threadIdx.x] = mine;
    for (unsigned half = SUM_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            add_sums(&sums[threadIdx.x], &sums[threadIdx.x + half]);
    }
    if (threadIdx.x == 0)
        *a.sums = sums[0];
}

static __global__ void leapfrog(arrays a, int count, double kick, double time_step)
{
    int i = own_index();
    if (i >= count)
        return;
    a.velocity[i] = vec3_add_scaled(a.velocity[i], kick, a.acceleration[i]);
    a.position[i] = vec3_add_scaled(a.position[i], time_step, a.velocity[i]);
}

/* ---- Host side ---- */

/* Remembers the first error and prints it. */
static void note(fluid_cuda *d, cudaError_t error)
{
    if (error != cudaSuccess && d->is_fine)
        std::fprintf(stderr, "sph: CUDA: %s\n", cudaGetErrorString(error));
    d->is_fine &= error == cudaSuccess;
}

static int blocks_of(const fluid_cuda *d)
{
    return sample_blocks(d->count, THREADS);
}

extern "C" bool fluid_cuda_exists(void)
{
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

extern "C" bool fluid_cuda_computes(void)
{
    return sample_computes();
}

static bool allocate(fluid_cuda *d)
{
    arrays *a = &d->a;
    const size_t count = (size_t)d->count, cells = d->g.cell_count + 1;
    vec3 **const vectors[] = {&a->position,     &a->velocity, &a->scratch,
                              &a->acceleration, &a->viscous,  &a->wall};
    for (vec3 **vector : vectors)
        note(d, cudaMalloc(vector, count * sizeof(vec3)));
    note(d, cudaMalloc(&a->density, count * sizeof(double)));
    note(d, cudaMalloc(&a->pressure_term, count * sizeof(double)));
    note(d, cudaMalloc(&a->first, cells * sizeof(uint32_t)));
    note(d, cudaMalloc(&a->taken, cells * sizeof(uint32_t)));
    note(d, cudaMalloc(&a->order, count * sizeof(uint32_t)));
    note(d, cudaMalloc(&a->cell_of, count * sizeof(uint32_t)));
    note(d, cudaMalloc(&a->pairs, sizeof *a->pairs));
    note(d, cudaMalloc(&a->sums, sizeof *a->sums));
    note(d, cudaMallocHost(&d->sums, sizeof *d->sums));
    note(d, cudaMallocHost(&d->pairs, sizeof *d->pairs));
    return d->is_fine;
}

extern "C" fluid_cuda *fluid_cuda_create(const medium *m, const grid *g, const vec3 *position)
{
    fluid_cuda *d = static_cast<fluid_cuda *>(std::calloc(1, sizeof *d));
    if (!d)
        return nullptr;
    d->m = *m;
    d->g = *g;
    d->count = (int)g->count;
    d->is_fine = true;
    if (allocate(d)) {
        note(d,
             cudaMemcpy(d->a.position, position, g->count * sizeof(vec3), cudaMemcpyHostToDevice));
        note(d, cudaMemset(d->a.velocity, 0, g->count * sizeof(vec3)));
    }
    if (d->is_fine)
        return d;
    fluid_cuda_destroy(d);
    return nullptr;
}

extern "C" void fluid_cuda_destroy(fluid_cuda *d)
{
    if (!d)
        return;
    arrays *a = &d->a;
    void *const all[] = {a->position, a->velocity,      a->scratch, a->acceleration, a->viscous,
                         a->wall,     a->density,       a->first,   a->taken,        a->order,
                         a->cell_of,  a->pressure_term, a->pairs,   a->sums};
    for (void *array : all)
        cudaFree(array);
    cudaFreeHost(d->sums);
    cudaFreeHost(d->pairs);
    std::free(d);
}

static void move_into_order(fluid_cuda *d, vec3 **array)
{
    vec3 *from = *array, *to = d->a.scratch;
    gather<<<blocks_of(d), THREADS>>>(to, from, d->a.order, d->count);
    *array = to;
    d->a.scratch = from;
}

extern "C" void fluid_cuda_sort(fluid_cuda *d)
{
    const int cells = (int)d->g.cell_count, blocks = blocks_of(d);
    note(d, cudaMemsetAsync(d->a.first, 0, (size_t)(cells + 1) * sizeof(uint32_t)));
    note(d, cudaMemsetAsync(d->a.taken, 0, (size_t)(cells + 1) * sizeof(uint32_t)));
    count_cells<<<blocks, THREADS>>>(d->g, d->a, d->count);
    add_up_cells<<<1, SCAN_THREADS>>>(d->a, cells + 1);
    take_places<<<blocks, THREADS>>>(d->a, d->count);
    order_cells<<<sample_blocks(cells, THREADS), THREADS>>>(d->a, cells);
    move_into_order(d, &d->a.position);
    move_into_order(d, &d->a.velocity);
    note(d, cudaGetLastError());
}

extern "C" void fluid_cuda_density(fluid_cuda *d)
{
    note(d, cudaMemsetAsync(d->a.pairs, 0, sizeof *d->a.pairs));
    density_sums<<<blocks_of(d), THREADS>>>(d->m, d->g, d->a, d->count);
    note(d, cudaGetLastError());
}

extern "C" void fluid_cuda_forces(fluid_cuda *d)
{
    pair_forces<<<blocks_of(d), THREADS>>>(d->m, d->g, d->a, d->count);
    note(d, cudaGetLastError());
}

/* The number of pairs is known only after the wait, so the scope that waits declares the work. */
extern "C" fluid_sums fluid_cuda_sums(fluid_cuda *d, double to_now)
{
    add_up_balance<<<1, SUM_THREADS>>>(d->m, d->a, d->count, to_now);
    note(d, cudaGetLastError());
    note(d, cudaMemcpyAsync(d->sums, d->a.sums, sizeof *d->sums, cudaMemcpyDeviceToHost));
    note(d, cudaMemcpyAsync(d->pairs, d->a.pairs, sizeof *d->pairs, cudaMemcpyDeviceToHost));
    note(d, cudaStreamSynchronize(0));
    TAKT_ARG("pairs", (uint64_t)*d->pairs);
    TAKT_WORK((double)*d->pairs * (DENSITY_PAIR_FLOPS + FORCE_PAIR_FLOPS), 0.0);
    return *d->sums;
}

extern "C" void fluid_cuda_move(fluid_cuda *d, double kick, double time_step)
{
    leapfrog<<<blocks_of(d), THREADS>>>(d->a, d->count, kick, time_step);
    note(d, cudaGetLastError());
}

extern "C" void fluid_cuda_read(fluid_cuda *d, vec3 *position, vec3 *velocity)
{
    const size_t bytes = (size_t)d->count * sizeof(vec3);
    note(d, cudaMemcpy(position, d->a.position, bytes, cudaMemcpyDeviceToHost));
    note(d, cudaMemcpy(velocity, d->a.velocity, bytes, cudaMemcpyDeviceToHost));
}

extern "C" bool fluid_cuda_is_fine(const fluid_cuda *d)
{
    return d->is_fine;
}
