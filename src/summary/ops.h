/* Operations: the work done, where it ran, and how close it came to the hardware's peak.
 *
 * An operation is a scope that declares its work (TAKT_WORK), a kernel or graph outside of such
 * scopes, or any copy or set. Each activity and each moment of a thread counts once:
 *
 *  - The time of a scope is that of the kernels and graphs launched in it, or in inner scopes that
 *    declare no work of their own. Their durations are added, also if they overlap. If the scope
 *    launches none, it is the thread's time without inner scopes that declare work.
 *  - The time of a copy or set is its duration. It never counts for a scope.
 *  - An activity of the host (TAKT_ACTIVITY) is treated like a scope. */
#ifndef TKT_SUMMARY_OPS_H
#define TKT_SUMMARY_OPS_H

#include "trace/model.h"

typedef struct tkt_op {
    const char *name; /* borrowed from the trace */
    uint32_t    type; /* 0: a scope; otherwise a TAKT_TIMING_ bit */
    bool        on_device;
    uint64_t    count;   /* calls of the scope, or activities */
    uint64_t    self_ns; /* the time that rates divide by */
    double      flops;   /* declared work */
    double      bytes;   /* declared, copied or set; NaN: unknown, for copies of a summary */
    double      memory_bytes; /* bytes to compare with peak.bandwidth: a copy within a device reads
                               * and writes each byte. NaN: unknown, or a copy over a link, which
                               * has other limits */
    takt_peak    peak;    /* of the device or host; 0 if unknown, or if the devices differ */
    uint64_t    sized;   /* number of copies and sets whose size is known */
    bool        has_peak;
} tkt_op;

typedef struct tkt_ops {
    TKT_ARRAY(tkt_op); /* in order of first appearance */
    tkt_map  index;
    uint64_t device_ns; /* sum over all activities of devices */
    uint64_t host_ns;   /* self time of all scopes (self CPU time total) */
    double   flops;     /* declared in all operations */
    double   device_flops;      /* the part done on devices */
    double   device_peak_flops; /* per second, sum over all devices that ran anything; 0: unknown */
} tkt_ops; /* starts as {0} */

/* Fills `out` from the folded form, and the sizes of copies from the list of activities.
 * TAKT_NO_MEMORY. */
takt_status tkt_ops_of(const takt_trace *trace, tkt_ops *out);

void tkt_ops_fini(tkt_ops *ops); /* accepts a zeroed struct; call it after a failure too */

typedef enum tkt_bound { TKT_BOUND_UNKNOWN, TKT_BOUND_COMPUTE, TKT_BOUND_MEMORY } tkt_bound;

/* Rates per second, and as shares of the peak. Shares may exceed 1. NaN: unknown, or no such
 * work. */
typedef struct tkt_op_rates {
    double    flops;
    double    bytes;
    double    flops_share;
    double    memory_share;
    tkt_bound bound; /* the larger of the two shares; TKT_BOUND_UNKNOWN if a share is unknown */
} tkt_op_rates;

tkt_op_rates tkt_op_rates_of(const tkt_op *op);

#endif
