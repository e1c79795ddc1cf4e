/* Assigns time, activities and allocations to scopes. */
#ifndef TKT_SUMMARY_OWNERS_H
#define TKT_SUMMARY_OWNERS_H

#include "summary/scopes.h"
#include "trace/model.h"

/* ======== Where a thread was ======== */

/* Reports that a thread was in `span`, and in no inner span, from begin_ns to end_ns. TKT_NO_SPAN:
 * outside of all spans. */
typedef void (*tkt_stay)(void *user, uint32_t span, uint64_t begin_ns, uint64_t end_ns);

/* Calls `stay` for each stretch of [begin_ns, end_ns), in order. `begun` is the number of the
 * track's spans that have begun by begin_ns, or less. Returns that number for end_ns; a caller that
 * passes it to the next call looks at each span only once. */
size_t tkt_visit_stays(const tkt_track *track, size_t begun, uint64_t begin_ns, uint64_t end_ns,
                       tkt_stay stay, void *user);

/* Returns the span itself if it is a scope, or the scope around a call. */
static inline uint32_t tkt_scope_of(const tkt_track *track, uint32_t span)
{
    while (span != TKT_NO_SPAN && tkt_span_is_call(&track->spans.items[span]))
        span = track->spans.items[span].parent;
    return span;
}

/* ======== Activities and allocations ======== */

/* Adds activities of devices and allocations to the groups of the spans that made them. */

/* The group of each span, or TKT_NO_GROUP. Spans of a site may share a group. */
typedef struct tkt_groups {
    const uint32_t *items; /* by span if `first` is given, otherwise by site */
    const size_t   *first; /* by track: index of its first span in `items` */
} tkt_groups;

/* Fills the fields ..._bytes of each of `scopes`, and device_... if with_activities is true, both
 * also for the whole. The fields must be zero. TAKT_NO_MEMORY. */
takt_status tkt_scopes_add_events(const takt_trace *trace, const tkt_groups *groups,
                                  bool with_activities, tkt_scopes *scopes);

/* Appends one row for each name of a device's activity. TAKT_NO_MEMORY. */
takt_status tkt_scopes_add_activities(const takt_trace *trace, tkt_scopes *scopes);

#endif
