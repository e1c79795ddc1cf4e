/* What activities have in common that are launched again and again: a kernel with its grid, a copy
 * of so many bytes. Shapes are interned, so that an activity itself stays small. The strings are
 * ids in the table of whoever holds the shape: cuda/store.h while recording, the trace
 * afterwards. */
#ifndef TKT_CUDA_SHAPE_H
#define TKT_CUDA_SHAPE_H

#include <takt/activity.h>

#include <stddef.h>
#include <stdint.h>

/* What limits how many blocks of a kernel fit on a multiprocessor. */
typedef enum tkt_limiter {
    TKT_LIMITER_UNKNOWN,
    TKT_LIMITER_WARPS,
    TKT_LIMITER_REGISTERS,
    TKT_LIMITER_SHARED_MEMORY,
    TKT_LIMITER_BLOCKS
} tkt_limiter;

/* Compared as bytes: unused fields and `reserved` are 0. */
typedef struct tkt_shape {
    uint64_t bytes;      /* memcpy, memset */
    uint64_t graph_node; /* 0: none */
    uint32_t graph;      /* executable graph; 0: not launched by one */
    uint32_t name;       /* string: a kernel's whole demangled name; "" where the label says all */
    uint32_t label;      /* string: as tables print it, "kernel inc_loop" */
    uint32_t filter;     /* one TAKT_TIMING_ bit */
    uint32_t grid[3];    /* of kernels: blocks; threads; blocks per cluster, 0 without clusters */
    uint32_t block[3];
    uint32_t cluster[3];
    uint32_t static_shared_bytes; /* per block */
    uint32_t dynamic_shared_bytes;
    uint32_t local_bytes; /* per thread */
    uint16_t registers;   /* per thread */
    uint16_t occupancy;   /* theoretical, in 1/10000; 0: unknown */
    uint8_t  limiter;     /* tkt_limiter */
    uint8_t  copy_kind;   /* takt_copy_kind */
    uint8_t  source;      /* takt_memory_kind; of a memset 0 */
    uint8_t  target;      /* takt_memory_kind */
    uint32_t graph_node_count; /* of a launch put together from its nodes, trace/graphs.h */
    uint32_t reserved;
} tkt_shape;

/* What tables print for an activity: "kernel density", "builtin kernel x", "memcpy HtoD"; written
 * to `out`, cut to fit. Returns out. */
const char *tkt_activity_label(char *out, size_t size, uint32_t filter, const char *name);

#endif
