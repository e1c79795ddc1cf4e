/* What a recording suggests to do next; each piece of advice names the numbers that it rests on. */
#ifndef TKT_SUMMARY_ADVICE_H
#define TKT_SUMMARY_ADVICE_H

#include "summary/activities.h"
#include "summary/device.h"
#include "summary/gaps.h"
#include "summary/named.h"
#include "summary/scopes.h"

typedef enum tkt_advice_kind {
    TKT_ADVICE_HOT,       /* name, count, time_ns of self time and its share of all, other ns of
                           * waits for devices left out */
    TKT_ADVICE_UNCOVERED, /* time_ns and share of the wall time that no scope covers */
    TKT_ADVICE_SMALL,     /* name, count, time_ns of one call: too small to be worth a scope */
    TKT_ADVICE_COST,      /* time_ns and share of the wall time that recording took */
    TKT_ADVICE_UNEVEN,    /* steps: time_ns is p99, other is the median */
    TKT_ADVICE_GROWTH,    /* host memory: count is bytes more at the end than at the begin */
    TKT_ADVICE_WAITING,   /* the host waited for devices: count calls, time_ns, share of the self
                           * time; the most in scope `name` */
    TKT_ADVICE_IDLE,      /* name of a device, time_ns and share of the wall time it did nothing */
    TKT_ADVICE_IDLE_IN,   /* share of `device`'s idle time, time_ns: the host was in scope `name` */
    TKT_ADVICE_LATE,      /* name of a device, which waited time_ns, share of the wall time, for
                           * `count` launches of `other` */
    TKT_ADVICE_SHORT,     /* kernel `name`: count, time_ns on average, other ns in all */
    TKT_ADVICE_OCCUPANCY, /* kernel `name`: time_ns, share of all kernels', at most `occupancy`
                           * of a multiprocessor's warps at once */
    TKT_ADVICE_PAGEABLE,  /* copies from or to pageable memory: count, other is bytes, time_ns,
                           * share of the time of all activities */
    TKT_ADVICE_LOST,      /* loss, count */
    TKT_ADVICE_KINDS
} tkt_advice_kind;

typedef struct tkt_advice {
    tkt_advice_kind kind;
    takt_loss       loss;
    const char     *name; /* the trace's, both */
    const char     *device;
    uint64_t        count;
    uint64_t        time_ns;
    uint64_t        other;
    double          share;
    double          occupancy;
    uint64_t        at_stake_ns; /* how much time it is about; the most comes first */
} tkt_advice;

#define TKT_MOST_ADVICE (TKT_ADVICE_KINDS + TAKT_LOSS_COUNT)

/* What is known of a trace already. */
typedef struct tkt_advice_basis {
    const tkt_scopes      *scopes; /* by name */
    const tkt_device_uses *uses;
    const tkt_copies      *copies;
    const tkt_gaps        *gaps; /* empty where there are no spans */
    const tkt_named_list      *kernels; /* by name */
} tkt_advice_basis;

/* Fills at most TKT_MOST_ADVICE pieces and returns how many: by at_stake_ns, losses last. Of
 * several devices the one that was idle longest is named. */
size_t tkt_advice_of(const takt_trace *trace, const tkt_advice_basis *basis, tkt_advice *out);

#endif
