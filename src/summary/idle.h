/* The longest gaps, and what the host did while devices were idle. */
#ifndef TKT_SUMMARY_IDLE_H
#define TKT_SUMMARY_IDLE_H

#include "summary/gaps.h"

/* ======== The longest gaps ======== */

/* The longest of many gaps. */

typedef struct tkt_longest {
    TKT_ARRAY(tkt_gap);
    size_t   wanted;
    uint64_t least_ns; /* as many as are wanted are so long; 0 until there are twice as many */
} tkt_longest; /* starts as {.wanted = ...} */

/* Of a gap that is as long as least_ns. A shorter one only costs time. False without memory. */
bool tkt_longest_add(tkt_longest *longest, const tkt_gap *gap);

/* Puts those that are wanted in order, the longest first, and forgets the others. */
void tkt_longest_sort(tkt_longest *longest);

/* ======== What the host did ======== */

/* What the host did while devices were idle. */

/* A thread that launches for a device. */
typedef struct tkt_idle_thread {
    uint32_t device; /* string */
    uint32_t name;   /* of the scope that was charged last, */
    uint32_t row;    /* and its row + 1 */
    size_t   begun;  /* of its spans */
} tkt_idle_thread;

typedef struct tkt_idle_scopes {
    const takt_trace *trace;
    TKT_ARRAY(tkt_idle_scope);
    TKT_ARRAY_OF(tkt_idle_thread) threads;
    tkt_map   rows;      /* device, name -> row + 1 */
    tkt_map   thread_of; /* device, track -> thread + 1 */
    uint32_t *last;      /* by track: its last thread + 1; mostly it is the only one */
    uint32_t  device;    /* whose time is being charged: string, */
    uint32_t  track;     /* to this, */
    tkt_idle_thread *thread; /* which is */
    uint64_t  host_until_ns;
    bool      is_short; /* of memory */
    tkt_idle_stay stay; /* or NULL: hears of each part */
    void     *user;
} tkt_idle_scopes; /* starts as {.trace = ..., .stay = ..., .user = ...} */

/* Charges a stretch of a device's idle time, up to host_until_ns of cause TKT_IDLE_HOST, to what
 * the thread of `activity` did; NULL: to nobody. For each device in the order of time. */
void tkt_idle_scopes_charge(tkt_idle_scopes *scopes, uint32_t device, const tkt_activity *activity,
                            uint64_t begin_ns, uint64_t host_until_ns, uint64_t end_ns);

/* Puts them in order: by device, then by idle time. */
void tkt_idle_scopes_sort(tkt_idle_scopes *scopes, const takt_trace *trace);

void tkt_idle_scopes_fini(tkt_idle_scopes *scopes);

#endif
