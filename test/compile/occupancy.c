/* Occupancy as src/cuda/occupancy.c computes it against the toolkit's own calculator, over kernels
 * of all sizes on all generations of devices; and a few values from NVIDIA's tables.
 * check_occupancy.sh compiles and runs it where the toolkit is. */
#include "cuda/kernel.h"

#include <cuda_occupancy.h>

#include <stdio.h>
#include <string.h>

#define SHAPES 200000

/* Programming guide, "Technical Specifications per Compute Capability". */
static const struct {
    uint32_t major, minor, threads, blocks, shared_kib, optin_kib, reserved;
} generations[] = {
    {7, 0, 2048, 32, 96, 96, 0},       {7, 2, 2048, 32, 96, 96, 0},
    {7, 5, 1024, 16, 64, 64, 0},       {8, 0, 2048, 32, 164, 163, 1024},
    {8, 6, 1536, 16, 100, 99, 1024},   {8, 7, 1536, 16, 164, 163, 1024},
    {8, 9, 1536, 24, 100, 99, 1024},   {9, 0, 2048, 32, 228, 227, 1024},
    {10, 0, 2048, 32, 228, 227, 1024}, {10, 1, 1536, 24, 228, 227, 1024},
    {10, 3, 2048, 32, 228, 227, 1024}, {11, 0, 1536, 24, 228, 227, 1024},
    {12, 0, 1536, 24, 100, 99, 1024},  {12, 1, 1536, 24, 100, 99, 1024},
};

#define GENERATIONS (sizeof generations / sizeof *generations)

static uint64_t seed = 88172645463325252u;

/* Marsaglia's xorshift. */
static uint32_t random_below(uint32_t end)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)((seed >> 32) % end);
}

static tkt_device device_of(size_t generation)
{
    return (tkt_device){
        .major = generations[generation].major,
        .minor = generations[generation].minor,
        .multiprocessors = 80,
        .warp_size = 32,
        .max_threads_per_block = 1024,
        .max_threads_per_multiprocessor = generations[generation].threads,
        .max_blocks_per_multiprocessor = generations[generation].blocks,
        .registers_per_block = 65536,
        .registers_per_multiprocessor = 65536,
        .shared_per_block = 48 * 1024,
        .shared_per_block_optin = generations[generation].optin_kib * 1024,
        .shared_per_multiprocessor = generations[generation].shared_kib * 1024,
        .reserved_shared_per_block = generations[generation].reserved,
    };
}

static tkt_shape random_shape(const tkt_device *device)
{
    tkt_shape shape = {.registers = (uint16_t)(1 + random_below(255)), .block = {1, 1, 1}};
    shape.block[0] = 1 + random_below(1024);
    shape.block[1] = 1 + random_below(1024 / shape.block[0]);
    shape.block[2] = 1 + random_below(1024 / (shape.block[0] * shape.block[1]));
    if (random_below(3))
        shape.static_shared_bytes = random_below(48 * 1024 + 1);
    if (random_below(3))
        shape.dynamic_shared_bytes =
            random_below(device->shared_per_block_optin - shape.static_shared_bytes + 1);
    return shape;
}

static cudaOccResult reference(const tkt_shape *shape, const tkt_device *device)
{
    cudaOccResult result;
    cudaOccDeviceState state = {.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT};
    cudaOccDeviceProp properties = {
        .computeMajor = (int)device->major,
        .computeMinor = (int)device->minor,
        .maxThreadsPerBlock = (int)device->max_threads_per_block,
        .maxThreadsPerMultiprocessor = (int)device->max_threads_per_multiprocessor,
        .regsPerBlock = (int)device->registers_per_block,
        .regsPerMultiprocessor = (int)device->registers_per_multiprocessor,
        .warpSize = (int)device->warp_size,
        .sharedMemPerBlock = device->shared_per_block,
        .sharedMemPerMultiprocessor = device->shared_per_multiprocessor,
        .numSms = (int)device->multiprocessors,
        .sharedMemPerBlockOptin = device->shared_per_block_optin,
        .reservedSharedMemPerBlock = device->reserved_shared_per_block,
    };
    cudaOccFuncAttributes kernel = {
        .maxThreadsPerBlock = 1024,
        .numRegs = shape->registers,
        .sharedSizeBytes = shape->static_shared_bytes,
        .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
        .maxDynamicSharedSizeBytes = shape->dynamic_shared_bytes,
        .numBlockBarriers = 1,
    };
    memset(&result, 0, sizeof result);
    if (cudaOccMaxActiveBlocksPerMultiprocessor(
            &result, &properties, &kernel, &state,
            (int)(shape->block[0] * shape->block[1] * shape->block[2]),
            shape->dynamic_shared_bytes) != CUDA_OCC_SUCCESS)
        result.activeBlocksPerMultiprocessor = -1;
    return result;
}

static unsigned factor_of(uint8_t limiter)
{
    static const unsigned factors[] = {
        [TAKT_LIMIT_WARPS] = OCC_LIMIT_WARPS,
        [TAKT_LIMIT_REGISTERS] = OCC_LIMIT_REGISTERS,
        [TAKT_LIMIT_SHARED_MEMORY] = OCC_LIMIT_SHARED_MEMORY,
        [TAKT_LIMIT_BLOCKS] = OCC_LIMIT_BLOCKS,
    };
    return factors[limiter];
}

static bool is_same(const tkt_shape *shape, const tkt_device *device, const cudaOccResult *expected)
{
    uint32_t threads = shape->block[0] * shape->block[1] * shape->block[2];
    uint32_t warps = (threads + 31) / 32;
    uint32_t room = device->max_threads_per_multiprocessor / 32;
    uint32_t occupancy = (uint32_t)expected->activeBlocksPerMultiprocessor * warps * 10000 / room;
    return shape->occupancy == occupancy &&
           (factor_of(shape->limiter) & expected->limitingFactors) != 0;
}

/* Returns how many shapes could be compared: those that the device can run. */
static int compare(size_t generation)
{
    int compared = 0;
    tkt_device device = device_of(generation);
    for (int i = 0; i < SHAPES; i++) {
        tkt_shape shape = random_shape(&device);
        cudaOccResult expected = reference(&shape, &device);
        if (expected.activeBlocksPerMultiprocessor < 0)
            return -1;
        if (expected.activeBlocksPerMultiprocessor == 0)
            continue;
        tkt_occupancy_fill(&shape, &device);
        if (!is_same(&shape, &device, &expected)) {
            printf(
                "%u.%u: %ux%ux%u threads, %u registers, %u + %u bytes: %u by %u, not %d blocks\n",
                device.major, device.minor, shape.block[0], shape.block[1], shape.block[2],
                shape.registers, shape.static_shared_bytes, shape.dynamic_shared_bytes,
                shape.occupancy, shape.limiter, expected.activeBlocksPerMultiprocessor);
            return 0;
        }
        compared++;
    }
    return compared;
}

int main(void)
{
    for (size_t i = 0; i < GENERATIONS; i++) {
        int compared = compare(i);
        printf("%u.%u: %d shapes\n", generations[i].major, generations[i].minor, compared);
        if (compared >= 0 && compared < SHAPES / 4)
            return 1;
        if (compared < 0 && generations[i].major < 10)
            return 1; /* every calculator of interest knows these */
    }
    return 0;
}
