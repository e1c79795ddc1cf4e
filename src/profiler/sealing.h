/* Takt's own time inside a recording: how many events of each kind it has, times what one of them
 * costs on this machine. */
#ifndef TKT_PROFILER_SEALING_H
#define TKT_PROFILER_SEALING_H

#include "base/clock.h"
#include "trace/model.h"

/* In ns, for facts.cost_ns. The first call of a process measures, which takes microseconds. */
double tkt_cost_of(const takt_trace *trace, const tkt_clock_fit *fit);

#endif
