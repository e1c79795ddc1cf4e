/* Finds the cause of a gap: when the host handed over the next activity, and what the device's
 * other streams ran. */
#ifndef TKT_SUMMARY_GAP_CAUSE_H
#define TKT_SUMMARY_GAP_CAUSE_H

#include "summary/gaps.h"

/* For each stream its waits for events (cudaStreamWaitEvent), sorted by begin. */
typedef struct tkt_wait_lists {
    const takt_trace *trace;
    tkt_map   first; /* context << 32 | stream -> wait + 1 */
    uint32_t *next;  /* by wait: the stream's next wait + 1, or 0; NULL if there are no waits */
} tkt_wait_lists;

takt_status tkt_wait_lists_init(tkt_wait_lists *lists, const takt_trace *trace);
void tkt_wait_lists_fini(tkt_wait_lists *lists); /* accepts a zeroed struct */

/* Returns the stream's first wait + 1, or 0. */
uint32_t tkt_wait_first(const tkt_wait_lists *lists, uint32_t context, uint32_t stream);

/* Advances *wait past the waits that were issued before the activity; ids of calls tell the order.
 * Returns true if it passed any. */
bool tkt_wait_pass(const tkt_wait_lists *lists, uint32_t *wait, const tkt_activity *activity);

/* The ends of a device's activities, while the caller visits them sorted by begin. Keys are times
 * in ns, values identify the stream. */
typedef struct tkt_endings {
    tkt_heap      running;   /* activities that may still be running, sorted by end */
    tkt_heap_item latest[2]; /* the latest ends; the second belongs to another stream than the
                              * first */
} tkt_endings; /* starts as {0} */

/* Removes activities that ended by `now_ns` from the heap and remembers the latest ends. */
void tkt_endings_pass(tkt_endings *endings, uint64_t now_ns);

/* False without memory. */
bool tkt_endings_add(tkt_endings *endings, uint64_t end_ns, uint32_t stream);

/* True if an activity of another stream has ended after `since_ns`. */
bool tkt_endings_other(const tkt_endings *endings, uint32_t stream, uint64_t since_ns);

/* When the activity was launched at the latest: at its own begin. */
uint64_t tkt_launched_ns(const takt_trace *trace, const tkt_activity *activity);

/* A gap in two parts, either of which may be empty. */
typedef struct tkt_gap_parts {
    uint64_t       host_until_ns; /* until then the cause is TKT_IDLE_HOST, afterwards `rest` */
    tkt_idle_cause rest;
    bool           is_late;
} tkt_gap_parts;

/* Divides the gap between the end of `before` and the begin of `after`. `waited` says that `after`
 * probably waited for an event or for another stream. */
tkt_gap_parts tkt_gap_parts_of(const takt_trace *trace, const tkt_activity *before,
                               uint64_t begin_ns, const tkt_activity *after, bool waited);

#endif
