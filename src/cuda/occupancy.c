/* How many blocks of a kernel fit on a multiprocessor at once. Four resources set a limit: warps,
 * registers, shared memory, blocks; the lowest limit counts. The CUDA C++ Programming Guide
 * ("Compute Capabilities") and the toolkit's occupancy calculator publish how the hardware
 * allocates them; a test compares this file with the calculator:
 *
 *   - threads by warp;
 *   - registers by warp, in units of 256; the file has four quarters, and a warp's registers lie in
 *     one of them;
 *   - shared memory by block, in units of 256 bytes up to capability 7.x and 128 bytes from 8.0 on,
 *     including the driver's own share.
 *
 * This assumes that the driver chooses the split of shared memory and cache, and then gives shared
 * memory all it needs. It ignores clusters, which must fit as a whole. */
#include "cuda/kernel.h"

#include <stdbool.h>
#include <stddef.h>

#define REGISTERS_AT_A_TIME 256u
#define QUARTERS            4u
#define NO_LIMIT            UINT32_MAX

static uint32_t round_up(uint32_t value, uint32_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static uint32_t by_registers(const tkt_shape *shape, const tkt_device *device, uint32_t warps)
{
    uint32_t of_warp = round_up(shape->registers * device->warp_size, REGISTERS_AT_A_TIME);
    if (of_warp == 0)
        return NO_LIMIT;
    return device->registers_per_multiprocessor / QUARTERS / of_warp * QUARTERS / warps;
}

static uint32_t by_shared_memory(const tkt_shape *shape, const tkt_device *device)
{
    uint64_t bytes = (uint64_t)shape->static_shared_bytes + shape->dynamic_shared_bytes +
                     device->reserved_shared_per_block;
    if (bytes > device->shared_per_multiprocessor)
        return 0;
    uint32_t of_block = round_up((uint32_t)bytes, device->major < 8 ? 256 : 128);
    return of_block ? device->shared_per_multiprocessor / of_block : NO_LIMIT;
}

static bool has_known_rules(const tkt_device *device)
{
    return device->major >= 7 && device->major <= 12 && device->warp_size &&
           device->max_threads_per_multiprocessor && device->max_blocks_per_multiprocessor &&
           device->registers_per_multiprocessor && device->shared_per_multiprocessor;
}

void tkt_occupancy_fill(tkt_shape *shape, const tkt_device *device)
{
    uint64_t threads = (uint64_t)shape->block[0] * shape->block[1] * shape->block[2];
    if (!has_known_rules(device) || threads == 0 || threads > device->max_threads_per_block)
        return;
    uint32_t room = device->max_threads_per_multiprocessor / device->warp_size;
    uint32_t warps = (uint32_t)((threads + device->warp_size - 1) / device->warp_size);
    const struct {
        takt_occupancy_limit limiter;
        uint32_t blocks;
    } limits[] = {
        /* Among equal limits the first one is named: with all warps in use nothing else matters. */
        {TAKT_LIMIT_WARPS, room / warps},
        {TAKT_LIMIT_REGISTERS, by_registers(shape, device, warps)},
        {TAKT_LIMIT_SHARED_MEMORY, by_shared_memory(shape, device)},
        {TAKT_LIMIT_BLOCKS, device->max_blocks_per_multiprocessor},
    };
    size_t least = 0;
    for (size_t i = 1; i < sizeof limits / sizeof *limits; i++) {
        if (limits[i].blocks < limits[least].blocks)
            least = i;
    }
    if (limits[least].blocks == 0)
        return; /* the kernel has run, so the device's properties are wrong */
    shape->occupancy = (uint16_t)((uint64_t)limits[least].blocks * warps * 10000 / room);
    shape->limiter = (uint8_t)limits[least].limiter;
}
