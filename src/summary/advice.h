/* Advice on what to do about a recording. Each piece names the numbers behind it. */
#ifndef TKT_SUMMARY_ADVICE_H
#define TKT_SUMMARY_ADVICE_H

#include "summary/activities.h"
#include "summary/device.h"
#include "summary/gaps.h"
#include "summary/named.h"
#include "summary/phases.h"
#include "summary/scopes.h"

typedef enum tkt_advice_kind {
    TKT_ADVICE_HOT,       /* name, count; time_ns is self time without waits for devices, share is
                           * of all self time; other is the ns of those waits */
    TKT_ADVICE_UNCOVERED, /* time_ns and share of the wall time outside of all scopes */
    TKT_ADVICE_SMALL,     /* name, count, time_ns of one call: too short to be worth a scope */
    TKT_ADVICE_COST,      /* time_ns and share of the wall time that recording took */
    TKT_ADVICE_UNEVEN,    /* steps: time_ns is the p99, other the median */
    TKT_ADVICE_GROWTH,    /* host memory: count is the growth in bytes from begin to end */
    TKT_ADVICE_WAITING,   /* the host waited for devices: count calls, time_ns, share of the self
                           * time; scope `name` waited longest */
    TKT_ADVICE_IDLE,      /* device `name`: time_ns and share of the wall time it was idle */
    TKT_ADVICE_IDLE_IN,   /* the host was in scope `name` for time_ns, a share of the idle time of
                           * `device` */
    TKT_ADVICE_LATE,      /* device `name` waited time_ns, share of the wall time, for `count` late
                           * launches out of `other` */
    TKT_ADVICE_SHORT,     /* kernel `name`: count; time_ns is the mean, other the total in ns */
    TKT_ADVICE_OCCUPANCY, /* kernel `name`: time_ns, share of all kernels' time; at most `occupancy`
                           * of a multiprocessor's warps run at once */
    TKT_ADVICE_PAGEABLE,  /* copies from or to pageable memory: count, time_ns, share of the time of
                           * all activities; other is bytes */
    TKT_ADVICE_IMBALANCE, /* phase `name` inside kernel `device`: share of the blocks' time; over all
                           * launches, time_ns is the slowest block's and other the mean block's */
    TKT_ADVICE_LOST,      /* loss, count */
    TKT_ADVICE_KINDS
} tkt_advice_kind;

typedef struct tkt_advice {
    tkt_advice_kind kind;
    takt_loss       loss;
    const char     *name; /* borrowed from the trace, like device */
    const char     *device;
    uint64_t        count;
    uint64_t        time_ns;
    uint64_t        other;
    double          share;
    double          occupancy;
    uint64_t        at_stake_ns; /* the time in question; advice is sorted by it, largest first */
} tkt_advice;

#define TKT_MOST_ADVICE (TKT_ADVICE_KINDS + TAKT_LOSS_COUNT)

/* Summaries of the trace that the caller has already computed. */
typedef struct tkt_advice_basis {
    const tkt_scopes      *scopes; /* by name */
    const tkt_device_uses *uses;
    const tkt_copies      *copies;
    const tkt_gaps        *gaps; /* empty for a trace without spans */
    const tkt_named_list      *kernels; /* by name */
    const tkt_phases          *phases;
} tkt_advice_basis;

/* Writes at most TKT_MOST_ADVICE pieces to `out` and returns their number. They are sorted by
 * at_stake_ns, losses last. Advice about idle time names the device that was idle longest. */
size_t tkt_advice_of(const takt_trace *trace, const tkt_advice_basis *basis, tkt_advice *out);

#endif
