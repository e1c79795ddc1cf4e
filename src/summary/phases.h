/* Timers inside kernels: the phases of each kernel, how evenly they are spread over its blocks, and
 * its slowest blocks. "Block" stands for what recorded a segment: a block, a warp or a thread.
 *
 * Cycles come from the counter of the SM on which a block ran. Counters of two SMs cannot be
 * compared, so every number here is made of durations. */
#ifndef TKT_SUMMARY_PHASES_H
#define TKT_SUMMARY_PHASES_H

#include "trace/model.h"

/* The slowest block over the mean block, added up over launches: sum of maxima / sum of means. 1:
 * all blocks of each launch took equally long. */
typedef struct tkt_phase_spread {
    double max;  /* cycles */
    double mean; /* cycles */
} tkt_phase_spread;

/* NaN without blocks. */
static inline double tkt_phase_spread_of(const tkt_phase_spread *spread)
{
    return spread->mean > 0 ? spread->max / spread->mean : __builtin_nan("");
}

/* The segments of one kernel, of one timers object, on one device. */
typedef struct tkt_phase_kernel {
    uint32_t name;   /* string: of the timers if the kernel is not known */
    uint32_t timers; /* string */
    uint32_t device; /* string */
    bool     has_ns; /* the clock rate of all blocks is known; otherwise times are 0 */
    uint64_t launches; /* blocks that recorded twice under one correlation id ran in two launches */
    uint64_t blocks;     /* segments: the blocks of all launches */
    uint64_t uncertain;  /* blocks whose launch is one of several */
    uint64_t unrecorded; /* blocks whose launch was not recorded */
    uint64_t lost;       /* records */
    uint64_t cycles;     /* sum of the blocks' own time, each from its attach to its last record */
    double   ns;         /* the same as time */
    tkt_phase_spread spread;
} tkt_phase_kernel;

typedef struct tkt_phase {
    uint32_t kernel; /* index */
    uint32_t name;   /* string */
    uint64_t calls;
    uint64_t cycles;      /* without runs inside another run of the same phase */
    uint64_t self_cycles; /* without phases inside */
    double   ns;      /* of `cycles`; this and the rest: 0 unless the kernel has times */
    double   self_ns;
    double   mean_ns; /* of all runs; the median of an even number is the mean of the middle two */
    double   median_ns;
    double   min_ns;
    double   max_ns;
    tkt_phase_spread spread; /* blocks without the phase count */
} tkt_phase;

/* A block of a kernel, over all launches. */
typedef struct tkt_phase_block {
    uint32_t kernel;
    uint32_t block;
    uint32_t lane;
    uint32_t segment;  /* of its slowest launch */
    uint32_t phase;    /* where the block exceeded the mean block most in that launch; index, or
                        * UINT32_MAX */
    uint64_t launches;
    uint64_t cycles;   /* sum over launches */
    double   ns;
} tkt_phase_block;

/* The blocks of a kernel on one SM. */
typedef struct tkt_phase_sm {
    uint32_t kernel;
    uint32_t sm;
    uint64_t blocks;
    uint64_t cycles; /* sum; then the shortest and the longest block */
    uint64_t min_cycles;
    uint64_t max_cycles;
} tkt_phase_sm;

#define TKT_SLOWEST_BLOCKS 5

typedef struct tkt_phases {
    TKT_ARRAY_OF(tkt_phase_kernel) kernels; /* in order of their first segments */
    TKT_ARRAY_OF(tkt_phase) phases;         /* in order of their first records */
    TKT_ARRAY_OF(tkt_phase_block) slowest;  /* by kernel, slowest mean first; a few of each */
    TKT_ARRAY_OF(tkt_phase_sm) sms;         /* by kernel, then SM */
} tkt_phases; /* starts as {0} */

/* Fills `out`. TAKT_NO_MEMORY. */
takt_status tkt_phases_of(const takt_trace *trace, tkt_phases *out);

void tkt_phases_fini(tkt_phases *phases); /* accepts a zeroed struct; call it after a failure too */

#endif
