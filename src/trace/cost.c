#include "trace/cost.h"

#include <math.h>

/* How often the estimate a recording took among a program's work at most: see docs/overhead.md. */
#define MOST 5

double tkt_cost_limit(const takt_trace *trace)
{
    uint64_t listed = trace->fold.threads.count + trace->fold.unlisted_threads;
    uint64_t threads = 0;
    for (size_t i = 0; i < trace->tracks.count; i++)
        threads += trace->tracks.items[i].kind == TAKT_TRACK_THREAD;
    threads = threads > listed ? threads : listed;
    return (double)tkt_wall_ns(&trace->facts) * (double)(threads > 0 ? threads : 1);
}

static double at_most(double ns, double limit_ns)
{
    return ns < limit_ns ? ns : limit_ns;
}

static bool has_stacks(const takt_trace *trace)
{
    for (size_t i = 0; i < trace->tracks.count; i++)
        if (trace->tracks.items[i].stacks.count > 0)
            return true;
    return false;
}

tkt_cost tkt_trace_cost(const takt_trace *trace)
{
    double cost_ns = trace->facts.cost_ns, longest_ns = trace->facts.cost_longest_ns;
    double limit_ns = tkt_cost_limit(trace);
    if (!(longest_ns > 0))
        longest_ns = NAN;
    bool lacks_events = tkt_is_broken_off(&trace->facts) || trace->is_recovered ||
                        tkt_is_unknown(&trace->facts) || tkt_trace_lacks_spans(trace);
    if (lacks_events || has_stacks(trace) || !(cost_ns >= 0))
        return (tkt_cost){NAN, NAN, longest_ns};
    return (tkt_cost){at_most(cost_ns, limit_ns), at_most(MOST * cost_ns, limit_ns), longest_ns};
}
