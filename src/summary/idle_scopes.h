/* What the host did while devices were idle. */
#ifndef TKT_SUMMARY_IDLE_SCOPES_H
#define TKT_SUMMARY_IDLE_SCOPES_H

#include "summary/gaps.h"

typedef struct tkt_idle_scopes {
    const takt_trace *trace;
    TKT_ARRAY(tkt_idle_scope);
    tkt_map  rows;   /* device, name -> row + 1 */
    tkt_map  begun;  /* device, track -> its spans that have begun */
    uint32_t device; /* whose time is being charged: string, */
    uint32_t track;  /* and the thread */
    uint64_t host_until_ns;
    bool     is_short; /* of memory */
} tkt_idle_scopes; /* starts as {.trace = ...} */

/* Charges a stretch of a device's idle time, up to host_until_ns of cause TKT_IDLE_HOST, to what
 * the thread of `activity` did; NULL: to nobody. For each device in the order of time. */
void tkt_idle_scopes_charge(tkt_idle_scopes *scopes, uint32_t device, const tkt_activity *activity,
                            uint64_t begin_ns, uint64_t host_until_ns, uint64_t end_ns);

/* Puts them in order: by device, then by idle time. */
void tkt_idle_scopes_sort(tkt_idle_scopes *scopes, const takt_trace *trace);

void tkt_idle_scopes_fini(tkt_idle_scopes *scopes);

#endif
