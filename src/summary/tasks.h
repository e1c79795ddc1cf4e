/* Spans on tracks of their own (tasks, fibers, requests), by track and name, and how many of them
 * ran at once; from the folded form of a summary, without the last. */
#ifndef TKT_SUMMARY_TASKS_H
#define TKT_SUMMARY_TASKS_H

#include "summary/named.h"
#include "trace/model.h"

typedef struct tkt_task_list {
    tkt_named_list times; /* one entry for each track and name; `shape` is the track's name */
    TKT_ARRAY_OF(uint64_t) at_once; /* by entry: the greatest number at the same time; empty for a
                                     * summary */
} tkt_task_list; /* starts as {0} */

/* TAKT_NO_SPANS: a summary that does not know its tasks. TAKT_NO_MEMORY. */
takt_status tkt_tasks_of(const takt_trace *trace, tkt_task_list *out);
void tkt_tasks_fini(tkt_task_list *tasks); /* call it after a failure too */

#endif
