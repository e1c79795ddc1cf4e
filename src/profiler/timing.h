/* Collecting activities in a window of the common log. */
#ifndef TKT_PROFILER_TIMING_H
#define TKT_PROFILER_TIMING_H

#include "trace/model.h"

#include <takt/activity.h>

/* takt_timing_end() with an end that was read before. */
takt_status tkt_timing_end_at(takt_timing *timing, uint64_t ticks);

/* When an activity was issued: a device's with its launch, the host's as it began. */
uint64_t tkt_activity_issue_ns(const takt_trace *trace, const tkt_activity *activity);

#endif
