/* Durations of steps: of the recorded ones, and of all steps of the run. */
#ifndef TKT_SUMMARY_STEPS_H
#define TKT_SUMMARY_STEPS_H

#include "trace/model.h"

static inline uint64_t tkt_step_ns(const tkt_step *step)
{
    return step->end_ns - step->begin_ns;
}

typedef struct tkt_step_figures {
    uint64_t count; /* 0: all other fields are 0 too */
    uint64_t mean_ns;
    uint64_t median_ns;
    uint64_t p99_ns;
    uint64_t max_ns;
    uint64_t min_ns;
    double   steps_per_second;
    double   realtime_factor; /* simulated time / real time; 0 if the steps' simulated time is
                               * unknown */
} tkt_step_figures;

/* Exact. The median of an even number of steps is the mean of the middle two; p99 is the nearest
 * rank. */
tkt_step_figures tkt_steps_recorded(const takt_trace *trace);

/* True if all steps of the run are recorded and listed. */
static inline bool tkt_steps_are_exact(const takt_trace *trace)
{
    return trace->steps.count == trace->all_steps.stats.count;
}

/* Exact if all are recorded; otherwise median and p99 come from a histogram, by nearest rank:
 * within 1/32. */
tkt_step_figures tkt_steps_all(const takt_trace *trace);

/* Both, in less time. */
void tkt_steps_both(const takt_trace *trace, tkt_step_figures *recorded, tkt_step_figures *all);

#endif
