/* How far the times of devices are off the host's, as the calls around their activities show.
 *
 * CUPTI and the driver convert a device's clock to the host's, and may be some microseconds wrong.
 * Reading two clocks of the host side by side cannot tell. Causality can: no activity begins before
 * the call that launched it began, and none ends after a wait for it has returned. So each launch
 * bounds the error on one side, and each wait on the other. */
#ifndef TKT_TRACE_SKEW_H
#define TKT_TRACE_SKEW_H

#include "trace/calls.h"
#include "trace/model.h"

typedef TKT_ARRAY_OF(tkt_wait) tkt_waits;

typedef struct tkt_skew {
    double  host_ns;        /* given: uncertainty of mapping CUPTI's clock to Takt's */
    bool    is_movable;     /* given: activities may be moved to where they are possible */
    bool    is_least;       /* for a device nothing bounds one side: the uncertainty may be more */
    double  uncertainty_ns; /* the largest of all devices; at least host_ns */
    int64_t shift_ns;       /* the furthest that a device's activities were moved; usually 0 */
} tkt_skew;

/* Bounds the error of each device's times with the activities from `first` on, which must be in
 * the order of issue, and moves a device's activities where the bounds exclude an error of 0: by
 * the least that satisfies all of them, or, where they contradict each other, to the middle.
 * `later` are waits behind the end of the recording whose calls are not in the trace.
 * TAKT_NO_MEMORY. */
takt_status tkt_skew_correct(takt_trace *trace, size_t first, const tkt_call_index *index,
                             const tkt_waits *later, tkt_skew *skew);

#endif
