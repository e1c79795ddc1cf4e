/* takt/activity.h - activities: what devices and marked host loops did, one by one.
 *
 *     takt_timing *timing;
 *     takt_timing_begin(NULL, &timing);
 *     simulate();
 *     takt_timing_end(timing);
 *     takt_timing_print(timing, "");
 *     takt_timing_free(timing);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_ACTIVITY_H
#define TAKT_ACTIVITY_H

#include <takt/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which kinds of activity are meant; the values are those of NVIDIA Warp. */
#define TAKT_TIMING_KERNEL  0x1u /* kernels of the program; marked host loops */
#define TAKT_TIMING_BUILTIN 0x2u /* kernels of libraries */
#define TAKT_TIMING_MEMCPY  0x4u
#define TAKT_TIMING_MEMSET  0x8u
#define TAKT_TIMING_GRAPH   0x10u /* with kernels: nodes, one by one; without: whole launches */
#define TAKT_TIMING_ALL     0xFFFFFFFFu

/* What profilers and timed blocks observe: bits of `activities`. */
#define TAKT_ACTIVITIES_CPU  0x1u /* scopes, and what belongs to them */
#define TAKT_ACTIVITIES_CUDA 0x2u

/* What a copy goes from and to; the values are CUPTI's. */
typedef enum takt_memory_kind {
    TAKT_MEMORY_UNKNOWN,
    TAKT_MEMORY_PAGEABLE,
    TAKT_MEMORY_PINNED,
    TAKT_MEMORY_DEVICE,
    TAKT_MEMORY_ARRAY,
    TAKT_MEMORY_MANAGED,
    TAKT_MEMORY_DEVICE_STATIC,
    TAKT_MEMORY_MANAGED_STATIC
} takt_memory_kind;

/* Which way a copy goes; the values are CUPTI's. */
typedef enum takt_copy_kind {
    TAKT_COPY_UNKNOWN,
    TAKT_COPY_HTOD,
    TAKT_COPY_DTOH,
    TAKT_COPY_HTOA,
    TAKT_COPY_ATOH,
    TAKT_COPY_ATOA,
    TAKT_COPY_ATOD,
    TAKT_COPY_DTOA,
    TAKT_COPY_DTOD,
    TAKT_COPY_HTOH,
    TAKT_COPY_PTOP
} takt_copy_kind;

/* What limits how many blocks of a kernel fit on a multiprocessor at once. */
typedef enum takt_occupancy_limit {
    TAKT_LIMIT_UNKNOWN,
    TAKT_LIMIT_WARPS,
    TAKT_LIMIT_REGISTERS,
    TAKT_LIMIT_SHARED_MEMORY,
    TAKT_LIMIT_BLOCKS
} takt_occupancy_limit;

/* One activity. Everything it points to belongs to the trace or timing that it was taken from. */
typedef struct takt_activity {
    const char *device; /* "cpu", "cuda:0" */
    const char *name;   /* as tables print it: "kernel density", "memcpy HtoD" */
    uint32_t    filter; /* one TAKT_TIMING_ bit */
    uint32_t    thread; /* operating system's id of the thread that launched or ran it */
    double      elapsed_ms;
    uint64_t    begin_ns; /* takt_now_ns() time line */
    uint64_t    end_ns;
    const char *scope; /* the scope that launched it; NULL: none was open, or it is not known */

    /* Of device activities; 0 where it does not apply. */
    uint32_t    stream;
    uint32_t    context;
    uint32_t    correlation;    /* links it to the call that launched it */
    const char *full_name;      /* a kernel's, with its template arguments; otherwise "" */
    const char *launch;         /* the call that launched it, "cudaLaunchKernel"; "": not known */
    uint64_t    launch_begin_ns;
    uint64_t    launch_end_ns;
    uint64_t    bytes;          /* memcpy, memset */
    uint32_t    copy_kind;      /* takt_copy_kind */
    uint32_t    source_memory;  /* takt_memory_kind */
    uint32_t    target_memory;
    uint32_t    grid[3];        /* blocks */
    uint32_t    block[3];       /* threads */
    uint32_t    cluster[3];     /* blocks; 0: no clusters */
    uint32_t    registers;      /* per thread */
    uint32_t    static_shared_bytes; /* per block */
    uint32_t    dynamic_shared_bytes;
    uint32_t    local_bytes;    /* per thread */
    double      occupancy;      /* theoretical, 0 to 1; 0: unknown */
    uint32_t    graph;          /* executable graph that it was launched by; 0: none */
    uint64_t    graph_node;

    /* Where in the trace, see takt/trace.h; SIZE_MAX: not known, or there is none. */
    size_t      track;       /* of the thread that launched or ran it */
    size_t      scope_span;  /* the scope that launched it, on that track */
    size_t      launch_span; /* the call that launched it, on that track */

    uint32_t    occupancy_limit; /* takt_occupancy_limit */
    uint32_t    graph_node_count; /* of a graph's launch that was put together from its nodes: how
                                   * many; 0 where CUPTI recorded the launch as a whole */
} takt_activity;

/* Names kernels of the program: those whose demangled name matches `pattern`, a POSIX extended
 * regular expression, are listed as `label`, in which \\1 to \\9 are the pattern's groups:
 * takt_kernel_label("(.*)_cuda_kernel_adjoint", "adjoint kernel \\1"). The first that matches
 * counts; kernels already seen keep their names. NVIDIA Warp's need no rule: they are "forward
 * kernel NAME" and "backward kernel NAME". Any thread. TAKT_BAD_ARGUMENT: no such expression. */
TAKT_API takt_status takt_kernel_label(const char *pattern, const char *label);

/* Counts kernels that match as builtin: beside those of cuBLAS, cuDNN, cuFFT, cuSPARSE, NCCL, CUB,
 * Thrust and CUTLASS. The same rules. */
TAKT_API takt_status takt_kernel_builtin(const char *pattern);

typedef struct takt_timing takt_timing;

/* How to collect. Start from TAKT_TIMING_OPTIONS_INIT; a zero field means the default. */
typedef struct takt_timing_options {
    size_t   struct_size; /* set by the initialiser */
    uint32_t filter;      /* TAKT_TIMING_ bits; default TAKT_TIMING_ALL */
    bool     no_synchronize; /* do not wait for devices at the end */
} takt_timing_options;

#define TAKT_TIMING_OPTIONS_INIT TAKT_OPTIONS_INIT(takt_timing_options)

/* Starts collecting every activity of the process that matches, on all threads, whoever else
 * collects at the same time. `options` may be NULL. The caller frees with takt_timing_free().
 * Any thread. TAKT_NO_MEMORY, TAKT_BAD_ARGUMENT. */
TAKT_API takt_status takt_timing_begin(const takt_timing_options *options, takt_timing **out);

/* Stops collecting. The activities are in issue order and valid until takt_timing_free(). Any
 * thread, once. TAKT_BAD_STATE when it has ended already. */
TAKT_API takt_status takt_timing_end(takt_timing *timing);

/* How many activities there are; 0 before the end. */
TAKT_API size_t takt_timing_count(const takt_timing *timing);

/* The one at `index`, or NULL past the end. */
TAKT_API const takt_activity *takt_timing_at(const takt_timing *timing, size_t index);

/* Prints timeline, activity summary and device summary to standard output, or "No activity"; each
 * line begins with `indent`, which may be NULL. */
TAKT_API void takt_timing_print(const takt_timing *timing, const char *indent);

/* Frees it; ends it first if need be. NULL is ignored. */
TAKT_API void takt_timing_free(takt_timing *timing);

#ifdef __cplusplus
}
#endif
#endif
