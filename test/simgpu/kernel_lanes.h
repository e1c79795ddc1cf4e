/* What a kernel with timers would write: kernels of the stand-in compute nothing, but the memory of its
 * devices is the host's. */
#ifndef TEST_KERNEL_LANES_H
#define TEST_KERNEL_LANES_H

#include <takt/device.h>

#include <stddef.h>
#include <time.h>

/* NULL without room. */
static inline takt_device_segment *attach(takt_device_view view, uint32_t block, uint64_t global)
{
    uint64_t slot = view.pool->taken++ - view.pool->base;
    if (slot >= view.segments)
        return NULL;
    size_t stride = sizeof(takt_device_segment) + view.records * sizeof(takt_device_record);
    takt_device_segment *segment = (void *)((char *)(view.pool + 1) + slot * stride);
    *segment = (takt_device_segment){.ticket = view.pool->taken,
                                     .clock = 1000 * block,
                                     .global = global,
                                     .view = view.number,
                                     .block = block,
                                     .sm = block % 2};
    return segment;
}

static inline void end_phase(takt_device_view view, takt_device_segment *segment, uint32_t phase,
                             uint32_t begin, uint32_t cycles, uint32_t iteration)
{
    takt_device_record *records = (void *)(segment + 1);
    uint64_t start = segment->clock + begin, end = start + cycles;
    uint32_t at = 0;
    while (at < view.records && records[at].rest)
        at++;
    if (at < view.records)
        records[at] = (takt_device_record){
            start, (uint32_t)end, iteration << 16 | (phase + 1) << 8 | (uint32_t)(end >> 32)};
    else
        segment->count = (segment->count ? segment->count : at) + 1;
}

/* The device's timer counts Unix time. */
static inline uint64_t unix_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
