/* Collecting activities in a window of the common log. */
#ifndef TKT_PROFILER_TIMING_H
#define TKT_PROFILER_TIMING_H

#include <takt/activity.h>

/* takt_timing_end() with an end that was read before. */
takt_status tkt_timing_end_at(takt_timing *timing, uint64_t ticks);

#endif
