/* takt/device.h - timers inside kernels, the host's part: memory for the records, views for
 * launches, and reading back. The macros for kernels are in takt/device.cuh.
 *
 *     enum phase { LINE_SEARCH, GRADIENT, PHASES };
 *     const char *names[PHASES] = {"line search", "gradient"};
 *     takt_device_timers *timers;
 *     takt_device_timers_create(names, PHASES, NULL, &timers);
 *     solve<<<grid, block, 0, stream>>>(takt_device_timers_view(timers), ...);
 *     takt_device_timers_read(timers, stream);     // copies on the stream, does not wait
 *
 * A *lane* is a thread that records: the first one of each block or warp, or each thread. Each lane
 * of each launch writes to a segment of its own, so launches may run at once on several streams,
 * and a graph may be launched many times. Records without room are counted: TAKT_LOSS_PHASE_BLOCKS,
 * TAKT_LOSS_PHASES and TAKT_LOSS_PHASE_NUMBER in takt/trace.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_DEVICE_H
#define TAKT_DEVICE_H

#include <takt/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which threads of a kernel record. */
typedef enum takt_device_lanes {
    TAKT_DEVICE_BLOCKS, /* the first thread of each block */
    TAKT_DEVICE_WARPS,  /* the first thread of each warp */
    TAKT_DEVICE_THREADS /* each thread; choose few of them with `every` */
} takt_device_lanes;

#define TAKT_DEVICE_PHASES 254u /* most phases of one takt_device_timers */

/* Options of timers; zero is the default of every field but struct_size. */
typedef struct takt_device_timers_options {
    size_t            struct_size; /* sizeof(takt_device_timers_options); set by the macro */
    const char       *name;    /* in reports and files; default "phases" */
    takt_device_lanes lanes;
    uint32_t          every;   /* only each n-th lane of a launch records; 0 and 1: all */
    uint32_t          blocks;  /* lanes of all launches between two reads; default 1024 */
    uint32_t          records; /* phases of one lane; default 64. The memory is
                                * blocks * (64 + 16 * records) bytes, and each read copies it */
    bool              on_host; /* for kernels that run as host code: ordinary memory, no CUDA */
    bool              always;  /* record without a profiler too: for takt_device_timers_copy(), and
                                * for graphs captured before a recording */
    bool              at_step; /* takt_profiler_step() and takt_profiler_stop() read on `stream`
                                * while Takt records */
    void             *stream;  /* for at_step: a CUstream or cudaStream_t; NULL: the legacy one */
    double            ns_per_cycle; /* of TAKT_DEVICE_CLOCK(), if the program defines this macro;
                                     * default: measured */
} takt_device_timers_options;
#define TAKT_DEVICE_TIMERS_OPTIONS_INIT TAKT_OPTIONS_INIT(takt_device_timers_options)

/* Timers of one device: the names of phases, and memory for records. */
typedef struct takt_device_timers takt_device_timers;

/* Makes timers with `count` phases, 1 to TAKT_DEVICE_PHASES, for the calling thread's current CUDA
 * context. `names` are copied. `options` may be NULL. Allocates on the device, which may wait for
 * it. TAKT_BAD_ARGUMENT; TAKT_NO_MEMORY, on the host or on the device; TAKT_UNSUPPORTED without
 * CUDA; TAKT_BAD_STATE without a current context (call cudaSetDevice() before), and in a forked
 * child that records nothing, like read and copy. Any thread. */
TAKT_API takt_status takt_device_timers_create(const char *const *names, uint32_t count,
                                               const takt_device_timers_options *options,
                                               takt_device_timers **out);

/* Frees the timers and their device memory. No kernel with a view of them may still run. Records
 * that were read stay in the recording; those of kernels after the last read are lost, except with
 * `on_host`. Waits for the copies of earlier reads. NULL is ignored. */
TAKT_API void takt_device_timers_destroy(takt_device_timers *timers);

/* Sets whether views that are made from now on record; by default they do. Any thread. */
TAKT_API void takt_device_timers_enable(takt_device_timers *timers, bool enable);

struct takt_device_pool;
struct takt_device_segment;

/* A launch's access to timers: a parameter of the kernel, passed by value. Its fields are for
 * takt/device.cuh. The macros change the view, so a kernel passes it to functions by reference: two
 * copies would overwrite each other's records. Frozen. */
typedef struct takt_device_view {
    struct takt_device_pool    *pool;    /* NULL: off */
    struct takt_device_segment *segment; /* of this lane */
    uint64_t start;     /* clock at the begin of the open phase */
    uint32_t phase;     /* `rest` of its record, plus 1; 0: no phase is open */
    uint32_t iteration; /* << 16 */
    uint32_t count;     /* phases that have ended */
    uint32_t records;   /* for which the segment has room; 0: this thread does not record */
    uint32_t segments;  /* in the pool; 0: off, or this thread has looked for its segment */
    uint32_t number;    /* of the view */
    uint32_t lanes;     /* takt_device_lanes */
    uint32_t every;
    uint32_t block;     /* in host code, see takt_device_for_block() */
    uint32_t lane;
} takt_device_view;

/* Returns a view for the next launch. Call it on the launching thread just before the launch: Takt
 * assumes that this thread's next launch uses the view. The view is off, and its kernel records
 * nothing, if `timers` is NULL, after takt_device_timers_enable(timers, false), or while nothing
 * records (see `always`). Any thread. */
TAKT_API takt_device_view takt_device_timers_view(takt_device_timers *timers);

/* Queues actions on `stream`, and does not wait for them: copying the records, then emptying the
 * memory for later launches. No launch with a view of these timers may overlap the read: order
 * launches on other streams by events. A wrong order makes records wrong, but harms no other
 * memory. The records reach the recording with a later read, step, or the end of the recording.
 * TAKT_NOT_READY: two earlier reads are not done yet, so this one does nothing, and a later one
 * copies these records too. TAKT_BAD_STATE: CUDA refuses, or the stream is being captured. One
 * thread at a time for the same timers.
 *
 * The actions, two copies and a set, are recorded like the program's own, in the scope around the
 * read; a scope for it alone tells them apart. */
TAKT_API takt_status takt_device_timers_read(takt_device_timers *timers, void *stream);

/* Fills `cycles`, an array of [phases][iterations], from the latest finished read that has records:
 * cycles[phase * iterations + i] is the number of cycles that the block spent in this phase in
 * iteration i, 0 if none. `block` is the block's number in the grid, x fastest. The cycles are
 * those of the block's first lane; if the read has several launches of the block, those of the
 * last. Cycles of different SMs cannot be compared. TAKT_NOT_READY if no read is done;
 * TAKT_NOT_FOUND if the read has no such block; TAKT_INCOMPLETE if the block had more phases than
 * `records`: the array lacks the last ones. Any thread. */
TAKT_API takt_status takt_device_timers_copy(takt_device_timers *timers, uint32_t block,
                                             uint32_t iterations, uint64_t *cycles);

/* The same for blocks 0 to `blocks` - 1 at once: fills an array of [phases][iterations][blocks], 0 for
 * a block that the read lacks. *lost, which may be NULL, receives how many phases of the read are
 * lost, for want of `records`; those of lanes for which `blocks` of the options left no room are not
 * known, and not among them. TAKT_INCOMPLETE if any phase or lane is lost; TAKT_NOT_READY. Any
 * thread. */
TAKT_API takt_status takt_device_timers_copy_all(takt_device_timers *timers, uint32_t blocks,
                                                 uint32_t iterations, uint64_t *cycles,
                                                 uint64_t *lost);

/* ---- What a kernel writes -------------------------------------------------------------------- */

/* One phase that ended; all 0: none. It keeps 48 bits of the clock at its end, so a phase may take
 * 2^48 cycles, 39 hours at 2 GHz; a longer one counts modulo 2^48. Frozen. */
typedef struct takt_device_record {
    uint64_t start; /* bits 0 to 55: of the clock at its begin. 56 to 63: 40 to 47 at its end */
    uint32_t end;   /* bits 0 to 31 of the clock at its end */
    uint32_t rest;  /* bits 0 to 7: 32 to 39 of the clock at its end. 8 to 15: the phase's number
                     * + 1, 255 for a number out of range. 16 to 31: iteration, at most 65535 */
} takt_device_record;

/* The records of one lane of one launch follow this head, and all that are not written are 0: a
 * thread that returns early leaves its segment whole. Frozen. */
typedef struct takt_device_segment {
    uint64_t ticket; /* of the lane, plus 1; any other value: nothing is written here yet */
    uint64_t clock;  /* the lane's clock, and ... */
    uint64_t global; /* ... the device's ns at about the same time; in host code takt_now_ns() */
    uint32_t view;
    uint32_t block;
    uint32_t lane; /* in the block */
    uint32_t sm;
    uint32_t count; /* phases that have ended, if there are more than records; else 0 */
    uint32_t reserved[5];
} takt_device_segment;

/* The head of the memory; the segments follow. Tickets grow for ever; the slot of a ticket is its
 * distance from `base`, which a read moves. Frozen. */
typedef struct takt_device_pool {
    uint64_t taken; /* tickets */
    uint64_t base;
    uint64_t reserved[6];
} takt_device_pool;

#ifdef __cplusplus
}
#endif

#endif
