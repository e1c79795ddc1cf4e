/* Advice on what to do about a recording: a diagnosis of each interval, not a list of symptoms.
 * Each piece names the numbers behind it and the place where they can be seen. */
#ifndef TKT_SUMMARY_ADVICE_H
#define TKT_SUMMARY_ADVICE_H

#include "summary/device.h"
#include "summary/gaps.h"
#include "summary/named.h"
#include "summary/phases.h"
#include "summary/scopes.h"

typedef enum tkt_advice_kind {
    TKT_ADVICE_OUTLIER,    /* step `step` took time_ns, `share` of the wall time and `factor`
                            * times the median; scope `name` grew by grew_ns (NULL and 0: not
                            * known; NULL: the time outside of scopes), mostly in `call`;
                            * `device` was idle for idle_ns */
    TKT_ADVICE_FIRST,      /* the same of the first recorded step */
    TKT_ADVICE_SLOW_STEPS, /* the same of the slowest of `count` such steps; time_ns is what all
                            * of them took beyond the median, and `share` that of the wall time */
    TKT_ADVICE_UNEVEN,     /* steps of the run: time_ns is the p99, other the median */
    TKT_ADVICE_FEW,        /* only `count` steps were recorded */
    TKT_ADVICE_ALLOCATION, /* steps made `count` allocations and frees, most in scope `name`:
                            * calls like `call` held a thread for time_ns, `share` of the steps'
                            * time; without `call` they made and freed `count` pieces of host
                            * memory in the same step, `other` bytes */
    TKT_ADVICE_SERIAL,     /* while none of `count` threads worked in parallel, time_ns and share
                            * of the wall time, a thread was mostly in `name`, for other ns */
    TKT_ADVICE_THREADS,    /* scope `name` on `count` threads: time_ns on thread `device`, the
                            * slowest, other on the mean one */
    TKT_ADVICE_UNCOVERED,  /* time_ns and share of the wall time outside of all scopes */
    TKT_ADVICE_SMALL,      /* name, count, time_ns of one call: too short to be worth a scope */
    TKT_ADVICE_COST,       /* what recording took is more than a little */
    TKT_ADVICE_GROWTH,     /* host memory: count is the growth in bytes, most in scope `name`
                            * (NULL: not known), other bytes of it */
    TKT_ADVICE_SYNC,       /* device `device` was idle for time_ns, share of the wall time,
                            * because the host waited `count` times for `other` launches; and
                            * for idle_ns in steps and allocations that other advice tells of */
    TKT_ADVICE_LAUNCH,     /* the same, because `count` of `other` launches came late one by one */
    TKT_ADVICE_IDLE,       /* the same for other reasons; other ns of it the host was in `name`
                            * (NULL: outside of scopes); other 0: no scope had much of it */
    TKT_ADVICE_COPIES,     /* `device` ran no kernel for time_ns, share of the wall time, while
                            * it made `count` copies of `other` bytes */
    TKT_ADVICE_PAGEABLE,   /* copies from or to pageable memory: count, time_ns, share of the
                            * time of all activities; other is bytes */
    TKT_ADVICE_OCCUPANCY,  /* kernel `name`: time_ns, share of all kernels' time; at most
                            * `occupancy` of a multiprocessor's warps run at once */
    TKT_ADVICE_IMBALANCE,  /* phase `name` inside kernel `device`: share of the blocks' time;
                            * over all launches, time_ns is the slowest block's and other the
                            * mean block's */
    TKT_ADVICE_OPEN,       /* scope `name` of `site` was not ended in `count` of `other` calls */
    TKT_ADVICE_STEP_INSIDE, /* takt_profiler_step() came inside scope `name` of `site`, in `count` of
                            * `other` steps */
    TKT_ADVICE_NUMBERED,   /* `count` names such as `name` differ in a number only */
    TKT_ADVICE_LOST,       /* loss, count */
    TKT_ADVICE_KINDS
} tkt_advice_kind;

typedef struct tkt_advice {
    tkt_advice_kind kind;
    takt_loss       loss;
    const char     *name; /* borrowed from the trace, like device and call */
    const char     *device;
    const char     *call;
    uint32_t        site; /* 0: the advice is about none */
    uint64_t        count;
    uint64_t        time_ns;
    uint64_t        other;
    uint64_t        grew_ns;
    uint64_t        idle_ns;
    double          share;
    double          factor;
    double          occupancy;
    uint64_t        at_stake_ns; /* the time in question; advice is sorted by it, largest first */
    bool            has_step;
    uint64_t        step;     /* the place on the time line: a step's number, */
    uint64_t        begin_ns; /* and an interval; both 0: none */
    uint64_t        end_ns;
    bool        is_costly; /* what recording took is more than a little */
    bool        is_fine;   /* the scope has a level beyond normal already */
    bool        is_made;   /* its name was made at run time: no level can be set */
} tkt_advice;

#define TKT_MOST_ADVICE (TKT_ADVICE_KINDS + TAKT_LOSS_COUNT)

/* Summaries of the trace that the caller has already computed. */
typedef struct tkt_advice_basis {
    const tkt_scopes      *scopes; /* by name, with bytes of memory */
    const tkt_device_uses *uses;
    const tkt_gaps        *gaps; /* empty for a trace without spans */
    const tkt_named_list  *kernels; /* by name */
    const tkt_phases      *phases;
} tkt_advice_basis;

/* Writes at most TKT_MOST_ADVICE pieces to `out` and their number to *count. They are sorted by
 * at_stake_ns, losses last. TAKT_NO_MEMORY: then they are incomplete. */
takt_status tkt_advice_of(const takt_trace *trace, const tkt_advice_basis *basis, tkt_advice *out,
                          size_t *count);

/* False for a damaged file whose missing parts would mislead. */
bool tkt_advice_is_possible(const takt_trace *trace);

/* The scope with the most self time, apart from waits for devices, and from scopes in which several
 * threads wait: they compute nothing. */
typedef struct tkt_hottest {
    const tkt_scope_total *scope; /* NULL: there is none */
    uint64_t of_ns;               /* the self time of all scopes, or the wall time */
    bool is_of_main; /* a single other thread has more, but may sleep while the main thread works:
                      * of_ns is the wall time */
} tkt_hottest;
tkt_hottest tkt_hottest_scope(const takt_trace *trace, const tkt_scopes *scopes);

/* True if only the main thread called it. */
bool tkt_is_of_main(const tkt_scope_total *scope);

static inline uint64_t tkt_working_ns(const tkt_scope_total *scope)
{
    return scope->self_ns - scope->waiting_ns;
}

/* ======== Rules ======== */

/* For the files advice_*.c. */

/* What rules know. A rule that explains an interval takes it away from the rules after it. */
typedef struct tkt_advising {
    const takt_trace       *trace;
    const tkt_advice_basis *known;
    double   wall_ns;       /* 0: unknown */
    uint64_t slow_begin_ns; /* the step that stands out; equal: none does */
    uint64_t slow_end_ns;
    uint64_t allocating_ns; /* a thread was in calls that allocate, within steps */
    uint64_t *slow_busy_ns; /* of each of the uses, in the slow step; NULL: not computed */
    uint32_t *named;        /* by site: the first with the same name, of calls or of scopes */
    bool     is_short;      /* memory ran out */
} tkt_advising;

/* Rules fill *out, which is zeroed, and return true if the problem exists. */
typedef bool (*tkt_advice_rule)(tkt_advising *a, tkt_advice *out);

bool tkt_advise_slow_steps(tkt_advising *a, tkt_advice *out);
bool tkt_advise_allocation(tkt_advising *a, tkt_advice *out);
bool tkt_advise_few_steps(tkt_advising *a, tkt_advice *out);
bool tkt_advise_serial(tkt_advising *a, tkt_advice *out);
bool tkt_advise_threads(tkt_advising *a, tkt_advice *out);
bool tkt_advise_idle(tkt_advising *a, tkt_advice *out);
bool tkt_advise_copies(tkt_advising *a, tkt_advice *out);
bool tkt_advise_pageable(tkt_advising *a, tkt_advice *out);
bool tkt_advise_occupancy(tkt_advising *a, tkt_advice *out);
bool tkt_advise_phases(tkt_advising *a, tkt_advice *out);
bool tkt_advise_open(tkt_advising *a, tkt_advice *out);
bool tkt_advise_step_inside(tkt_advising *a, tkt_advice *out);
bool tkt_advise_numbered(tkt_advising *a, tkt_advice *out);

/* Completes advice on a slow step by the device that was idle in it for long, if one was. */
void tkt_advise_idle_step(tkt_advising *a, tkt_advice *advice);

#endif
