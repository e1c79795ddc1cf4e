/* Figures of each counter: from its samples, or from the folded form of a summary. */
#ifndef TKT_SUMMARY_COUNTERS_H
#define TKT_SUMMARY_COUNTERS_H

#include "trace/model.h"

/* A sample's value holds until the counter's next sample, the last one's until the end of the
 * recording. */
typedef struct tkt_counter_figures {
    uint32_t name; /* string */
    uint64_t samples;
    double   first;
    double   last;
    double   min; /* of finite values, as are the next two; NaN: there is none */
    double   mean; /* each value weighted by the time that it held; NaN: or not known */
    double   max;
    bool     is_mixed; /* threads or names sampled it by turns, so that a summary has no mean */
    double   change; /* mean change from the begin to the end of a step, over the steps that begin
                      * with a value; NaN: there is none */
} tkt_counter_figures;

typedef TKT_ARRAY_OF(tkt_counter_figures) tkt_counter_list; /* in order of first appearance */

/* TAKT_NO_SPANS: a summary that does not know its counters. TAKT_NO_MEMORY. The caller frees the
 * array, after a failure too. */
takt_status tkt_counters_of(const takt_trace *trace, tkt_counter_list *out);

#endif
