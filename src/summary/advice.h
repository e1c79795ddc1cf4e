/* What a recording suggests to do next; each piece of advice names the numbers that it rests on. */
#ifndef TKT_SUMMARY_ADVICE_H
#define TKT_SUMMARY_ADVICE_H

#include "summary/scopes.h"

typedef enum tkt_advice_kind {
    TKT_ADVICE_HOT,       /* name, count, time_ns of self time, share of all self time */
    TKT_ADVICE_UNCOVERED, /* time_ns and share of the wall time that no scope covers */
    TKT_ADVICE_SMALL,     /* name, count, time_ns of one call: too small to be worth a scope */
    TKT_ADVICE_COST,      /* time_ns and share of the wall time that recording took */
    TKT_ADVICE_UNEVEN,    /* steps: time_ns is p99, other is the median */
    TKT_ADVICE_GROWTH,    /* host memory: count is bytes more at the end than at the begin */
    TKT_ADVICE_LOST,      /* loss, count */
    TKT_ADVICE_KINDS
} tkt_advice_kind;

typedef struct tkt_advice {
    tkt_advice_kind kind;
    takt_loss       loss;
    const char     *name; /* the trace's */
    uint64_t        count;
    uint64_t        time_ns;
    uint64_t        other;
    double          share;
} tkt_advice;

#define TKT_MOST_ADVICE (TKT_ADVICE_KINDS + TAKT_LOSS_COUNT)

/* Fills at most TKT_MOST_ADVICE pieces and returns how many; `scopes` are the trace's, by name. */
size_t tkt_advice_of(const takt_trace *trace, const tkt_scopes *scopes, tkt_advice *out);

#endif
