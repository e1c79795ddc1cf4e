/* What is known of a CUDA device. */
#ifndef TKT_CUDA_DEVICE_H
#define TKT_CUDA_DEVICE_H

#include <stdint.h>

/* Fields that nobody could tell are 0. */
typedef struct tkt_device {
    uint32_t ordinal; /* of the process: N of "cuda:N" */
    uint32_t label;   /* string, "cuda:0"; strings as in cuda/shape.h */
    uint32_t name;    /* string, the product's */
    uint32_t major;   /* compute capability */
    uint32_t minor;
    uint32_t multiprocessors;
    uint32_t warp_size;
    uint32_t max_threads_per_block;
    uint32_t max_threads_per_multiprocessor;
    uint32_t max_blocks_per_multiprocessor;
    uint32_t registers_per_block;
    uint32_t registers_per_multiprocessor;
    uint32_t shared_per_block; /* bytes, and so are these: */
    uint32_t shared_per_block_optin;
    uint32_t shared_per_multiprocessor;
    uint32_t reserved_shared_per_block;
    uint32_t clock_khz;
    uint32_t memory_clock_khz;
    uint32_t memory_bus_bits;
    uint32_t reserved;
    uint64_t memory_bytes;
} tkt_device;

#endif
