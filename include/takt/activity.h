/* takt/activity.h - activities: single pieces of work of devices and of marked host loops.
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

/* Kinds of activity, as bits with NVIDIA Warp's values. */
#define TAKT_TIMING_KERNEL  0x1u /* kernels of the program; marked host loops */
#define TAKT_TIMING_BUILTIN 0x2u /* kernels of libraries */
#define TAKT_TIMING_MEMCPY  0x4u
#define TAKT_TIMING_MEMSET  0x8u
#define TAKT_TIMING_GRAPH   0x10u /* with kernels: as a takt_graph says; without: whole launches */
#define TAKT_TIMING_ALL     0xFFFFFFFFu

/* How CUDA graphs appear beside kernels. */
typedef enum takt_graph {
    TAKT_GRAPH_NODE,  /* each node of a CUDA graph is an activity */
    TAKT_GRAPH_LAUNCH /* each launch of a graph is one activity */
} takt_graph;

/* Sources that profilers and timed blocks observe: bits of `activities`. */
#define TAKT_ACTIVITIES_CPU  0x1u /* scopes and everything recorded on host threads */
#define TAKT_ACTIVITIES_CUDA 0x2u

/* Memory that a copy reads from or writes to; the values are CUPTI's. */
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

/* Direction of a copy; the values are CUPTI's. */
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

/* The resource that limits how many blocks of a kernel fit on a multiprocessor at once. */
typedef enum takt_occupancy_limit {
    TAKT_LIMIT_UNKNOWN,
    TAKT_LIMIT_WARPS,
    TAKT_LIMIT_REGISTERS,
    TAKT_LIMIT_SHARED_MEMORY,
    TAKT_LIMIT_BLOCKS
} takt_occupancy_limit;

/* One activity. Its strings belong to the trace or timing that returned it. */
typedef struct takt_activity {
    const char *device; /* "cpu", "cuda:0" */
    const char *name;   /* as tables print it: "kernel density", "memcpy HtoD" */
    uint32_t    filter; /* one TAKT_TIMING_ bit */
    uint32_t    thread; /* operating system's id of the thread that launched or ran it */
    double      elapsed_ms;
    uint64_t    begin_ns; /* on the time line of takt_now_ns() */
    uint64_t    end_ns;
    const char *scope; /* the scope that launched it; NULL: no scope was open, or unknown */

    /* For device activities; 0 where a field does not apply. */
    uint32_t    stream;
    uint32_t    context;
    uint32_t    correlation;    /* links the activity to the call that launched it */
    const char *full_name;      /* name of a kernel with template arguments; otherwise "" */
    const char *launch;         /* the call that launched it: "cudaLaunchKernel"; "": unknown */
    uint64_t    launch_begin_ns;
    uint64_t    launch_end_ns;
    uint64_t    bytes;          /* of a memcpy or memset */
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
    uint32_t    graph;          /* executable graph that launched it; 0: none */
    uint64_t    graph_node;

    /* Positions in the trace, see takt/trace.h; SIZE_MAX: unknown or none. */
    size_t      track;       /* of the thread that launched or ran it */
    size_t      scope_span;  /* the scope that launched it, on that track */
    size_t      launch_span; /* the call that launched it, on that track */

    uint32_t    occupancy_limit; /* takt_occupancy_limit */
    uint32_t    graph_node_count; /* number of nodes, if Takt built the launch of a graph from its
                                   * nodes; 0 if CUPTI recorded the launch as a whole */
} takt_activity;

/* Sets how kernels of the program are named. A kernel whose demangled name matches `pattern` is
 * listed as `label`. `pattern` is a POSIX extended regular expression; \\1 to \\9 in `label` stand
 * for its groups: takt_kernel_label("(.*)_cuda_kernel_adjoint", "adjoint kernel \\1"). The first
 * matching rule applies. Kernels already seen keep their names. Kernels of NVIDIA Warp need no
 * rule: Takt calls them "forward kernel NAME" and "backward kernel NAME". Both strings are copied.
 * Any thread. TAKT_BAD_ARGUMENT if `pattern` is not a valid expression; TAKT_BAD_STATE in a forked
 * child that records nothing. */
TAKT_API takt_status takt_kernel_label(const char *pattern, const char *label);

/* Counts kernels whose name matches `pattern` as builtin, in addition to those of cuBLAS, cuDNN,
 * cuFFT, cuSPARSE, NCCL, CUB, Thrust and CUTLASS. Patterns, threads and errors are as in
 * takt_kernel_label(). */
TAKT_API takt_status takt_kernel_builtin(const char *pattern);

typedef struct takt_timing takt_timing;

/* Options for takt_timing_begin(). Start from TAKT_TIMING_OPTIONS_INIT; a zero field means the
 * default. */
typedef struct takt_timing_options {
    size_t     struct_size; /* set by the initialiser */
    uint32_t   filter;      /* TAKT_TIMING_ bits; 0: TAKT_TIMING_ALL */
    bool       no_synchronize; /* do not wait for devices at the end */
    takt_graph graph;          /* how graphs appear beside kernels */
} takt_timing_options;

#define TAKT_TIMING_OPTIONS_INIT TAKT_OPTIONS_INIT(takt_timing_options)

/* Starts to collect all matching activities of the process, on all threads. Several timings may
 * collect at the same time. `options` may be NULL. The caller frees *out with takt_timing_free().
 * Any thread. TAKT_NO_MEMORY, TAKT_BAD_ARGUMENT; TAKT_BAD_STATE in a forked child that records
 * nothing. */
TAKT_API takt_status takt_timing_begin(const takt_timing_options *options, takt_timing **out);

/* Stops collecting, on any thread. The activities stand in the order of their launch or begin, and
 * stay valid until takt_timing_free(). TAKT_BAD_STATE if the timing has already ended;
 * TAKT_NO_MEMORY. */
TAKT_API takt_status takt_timing_end(takt_timing *timing);

/* Returns the number of activities; 0 before the end. */
TAKT_API size_t takt_timing_count(const takt_timing *timing);

/* Returns how many events were lost while the timing ran, because memory was used up, work had not
 * finished, devices told nothing of a launch, or CUDA came after the begin (at least one then). Some may
 * have been activities. 0 before the end. */
TAKT_API uint64_t takt_timing_lost(const takt_timing *timing);

/* Returns the activity at `index`, or NULL past the end. It belongs to `timing`. */
TAKT_API const takt_activity *takt_timing_at(const takt_timing *timing, size_t index);

/* Prints timeline, activity summary and device summary to standard output, or "No activity"; and a
 * line if events were lost. Each line begins with `indent`, which may be NULL. */
TAKT_API void takt_timing_print(const takt_timing *timing, const char *indent);

/* Ends the timing if it still runs, and frees it. NULL is ignored. */
TAKT_API void takt_timing_free(takt_timing *timing);

#ifdef __cplusplus
}
#endif
#endif
