/* Operations: what work was done, where, and how near that came to what the hardware can do.
 *
 * An operation is a scope that declares its work (TAKT_WORK), or else a kernel, copy, set or graph
 * that is part of none. Its time is its own, so that each activity and each moment of a thread
 * counts once:
 *
 *   - a scope's is that of the kernels and graphs launched in it, or in scopes inside that declare
 *     no work of their own. They are added up; where two overlap, both count. Where it launches
 *     none, it is the time of its thread, less that of scopes inside that declare work;
 *   - a copy's or set's is its duration; these are never part of a scope's time;
 *   - that of an activity of the host (TAKT_ACTIVITY) is a scope's. */
#ifndef TKT_SUMMARY_OPS_H
#define TKT_SUMMARY_OPS_H

#include "trace/model.h"

typedef struct tkt_op {
    const char *name; /* the trace's */
    uint32_t    type; /* 0: a scope; otherwise a TAKT_TIMING_ bit */
    bool        on_device;
    uint64_t    count;   /* calls of the scope; activities */
    uint64_t    self_ns; /* what rates divide by */
    double      flops;   /* declared */
    double      bytes;   /* declared, copied or set; NaN: not known, of copies of a summary */
    double      memory_bytes; /* of these the ones that `peak` is about: a copy within a device reads
                               * and writes each byte, one over a link is bound by that. Or NaN */
    takt_peak    peak;    /* of where it ran; 0 where unknown, or where devices differ */
    uint64_t    sized;   /* copies and sets of which the size is known */
    bool        has_peak;
} tkt_op;

typedef struct tkt_ops {
    TKT_ARRAY(tkt_op); /* in the order in which they were first seen */
    tkt_map  index;
    uint64_t device_ns; /* of all activities of devices */
    uint64_t host_ns;   /* of all scopes: self CPU time total */
    double   flops;     /* declared, of all */
    double   device_flops;      /* of these, those done on devices */
    double   device_peak_flops; /* per second, of all devices that did anything; 0: not known */
} tkt_ops; /* starts as {0} */

/* From the folded form; sizes of copies from the list of activities. TAKT_NO_MEMORY. */
takt_status tkt_ops_of(const takt_trace *trace, tkt_ops *out);

void tkt_ops_fini(tkt_ops *ops); /* also of a zeroed one, or after a failure */

typedef enum tkt_bound { TKT_BOUND_UNKNOWN, TKT_BOUND_COMPUTE, TKT_BOUND_MEMORY } tkt_bound;

/* Rates a second, and as shares of the peak, which may exceed 1. NaN where they are not known, or
 * where there was no such work. */
typedef struct tkt_op_rates {
    double    flops;
    double    bytes;
    double    flops_share;
    double    memory_share;
    tkt_bound bound; /* the larger of the two shares, none of which is unknown */
} tkt_op_rates;

tkt_op_rates tkt_op_rates_of(const tkt_op *op);

#endif
