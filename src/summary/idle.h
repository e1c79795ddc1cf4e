/* The longest gaps, and what the host did while devices were idle. */
#ifndef TKT_SUMMARY_IDLE_H
#define TKT_SUMMARY_IDLE_H

#include "summary/gaps.h"

/* ======== The longest gaps ======== */

typedef struct tkt_longest {
    TKT_ARRAY(tkt_gap);
    size_t   wanted;
    uint64_t least_ns; /* gaps shorter than this will not be kept; 0 until 2 x `wanted` gaps were
                        * added */
} tkt_longest; /* starts as {.wanted = ...} */

/* Adds a gap. The caller may skip gaps shorter than least_ns. False without memory. */
bool tkt_longest_add(tkt_longest *longest, const tkt_gap *gap);

/* Sorts the gaps, longest first, and removes all but the `wanted` longest. */
void tkt_longest_sort(tkt_longest *longest);

/* ======== What the host did ======== */

/* Assigns a device's idle time to the scopes in which the host spent it. */

/* A host thread that launches work for a device. */
typedef struct tkt_idle_thread {
    uint32_t device; /* string */
    uint32_t name;   /* string: the scope whose row was used last */
    uint32_t row;    /* that row + 1; 0: none yet */
    size_t   begun;  /* how many of its spans have begun */
} tkt_idle_thread;

typedef struct tkt_idle_scopes {
    const takt_trace *trace;
    TKT_ARRAY(tkt_idle_scope);
    TKT_ARRAY_OF(tkt_idle_thread) threads;
    tkt_map   rows;      /* device, name -> row + 1 */
    tkt_map   thread_of; /* device, track -> thread + 1 */
    uint32_t *last;      /* by track: its last thread + 1; usually the only one */
    uint32_t  device;    /* string: the device whose idle time is being added */
    uint32_t  track;     /* the thread's track */
    tkt_idle_thread *thread; /* the thread */
    uint64_t  host_until_ns;
    bool      is_short; /* memory ran out */
    tkt_idle_stay stay; /* or NULL: called for each part */
    void     *user;
} tkt_idle_scopes; /* starts as {.trace = ..., .stay = ..., .user = ...} */

/* Adds a stretch of a device's idle time to the scopes that the launching thread of `activity` was
 * in. Up to host_until_ns the cause is TKT_IDLE_HOST. A NULL activity means that the thread is
 * unknown. Call in order of time for each device. A failure sets is_short. */
void tkt_idle_scopes_add(tkt_idle_scopes *scopes, uint32_t device, const tkt_activity *activity,
                         uint64_t begin_ns, uint64_t host_until_ns, uint64_t end_ns);

/* Sorts the rows by device, then by idle time. */
void tkt_idle_scopes_sort(tkt_idle_scopes *scopes, const takt_trace *trace);

void tkt_idle_scopes_fini(tkt_idle_scopes *scopes);

#endif
