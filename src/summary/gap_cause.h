/* Why a gap ended when it did: what was handed over when, and what else the device ran. */
#ifndef TKT_SUMMARY_GAP_CAUSE_H
#define TKT_SUMMARY_GAP_CAUSE_H

#include "summary/gaps.h"

/* The waits for events that streams were told to make, by stream, in the order of their begins. */
typedef struct tkt_wait_lists {
    const takt_trace *trace;
    tkt_map   first; /* context << 32 | stream -> wait + 1 */
    uint32_t *next;  /* by wait: the next one + 1; NULL where there are none */
} tkt_wait_lists;

takt_status tkt_wait_lists_init(tkt_wait_lists *lists, const takt_trace *trace);
void tkt_wait_lists_fini(tkt_wait_lists *lists); /* also of a zeroed one */

/* Where a stream's list begins. */
uint32_t tkt_wait_first(const tkt_wait_lists *lists, uint32_t context, uint32_t stream);

/* Moves *wait behind those that the stream was told before it was given this activity, by the ids
 * of the calls. Whether there were any. */
bool tkt_wait_pass(const tkt_wait_lists *lists, uint32_t *wait, const tkt_activity *activity);

/* When a device's activities end, while they are visited in the order of their begins: times in ns,
 * and any number for each stream. */
typedef struct tkt_endings {
    tkt_heap      running;   /* those that may run still, by their end */
    tkt_heap_item latest[2]; /* that ended; the second is of another stream than the first */
} tkt_endings; /* starts as {0} */

/* Forgets those that have ended by `now_ns`, but for the latest. */
void tkt_endings_pass(tkt_endings *endings, uint64_t now_ns);

/* False without memory. */
bool tkt_endings_add(tkt_endings *endings, uint64_t end_ns, uint32_t stream);

/* Whether, of those that have ended, one of another stream did so after `since_ns`. */
bool tkt_endings_other(const tkt_endings *endings, uint32_t stream, uint64_t since_ns);

/* A gap in two parts, of which either may be empty. */
typedef struct tkt_gap_parts {
    uint64_t       host_until_ns; /* from the gap's begin on its cause is TKT_IDLE_HOST */
    tkt_idle_cause rest;
    bool           is_late;
} tkt_gap_parts;

/* The gap from the end of `before` to the begin of `after`; `waited`: there is a reason to think
 * that `after` had to wait for something. */
tkt_gap_parts tkt_gap_parts_of(const takt_trace *trace, const tkt_activity *before,
                               uint64_t begin_ns, const tkt_activity *after, bool waited);

#endif
