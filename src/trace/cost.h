/* What a recording cost the program's threads.
 *
 * takt_facts.cost_ns prices events as if they stood in a loop of nothing else. Among a program's
 * work the same events cost less, down to nothing where the processor works on them while it waits
 * for memory, or more, where a reading of the clock keeps it from loading ahead: docs/overhead.md
 * has programs of each shape. So reports tell what it was at most. */
#ifndef TKT_TRACE_COST_H
#define TKT_TRACE_COST_H

#include "trace/model.h"

/* In ns, the first two summed over threads. Both of these NAN: unknown, as in a trace that lacks recorded events, or has
 * call stacks: a new one may take microseconds. */
typedef struct tkt_cost {
    double estimate_ns; /* takt_facts.cost_ns */
    double most_ns;     /* at most the time that the threads had */
    double longest_ns;  /* takt_facts.cost_longest_ns; NAN: unknown, or nothing took long */
} tkt_cost;

tkt_cost tkt_trace_cost(const takt_trace *trace);

/* The wall time of all threads that the trace knows, in ns: no recording costs more. */
double tkt_cost_limit(const takt_trace *trace);

#endif
