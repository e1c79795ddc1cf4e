/* Which scope something belongs to. */
#ifndef TKT_SUMMARY_OWNERS_H
#define TKT_SUMMARY_OWNERS_H

#include "summary/scopes.h"
#include "trace/model.h"

/* ======== Where a thread was ======== */

/* In which scope a thread was, at what time. */

/* A thread was in `span`, and in none inside it, from begin_ns to end_ns; TKT_NO_SPAN: in none. */
typedef void (*tkt_stay)(void *user, uint32_t span, uint64_t begin_ns, uint64_t end_ns);

/* Calls `stay` for each stretch of [begin_ns, end_ns), in order. `begun` is how many of the track's
 * spans have begun by begin_ns, or fewer; returns the same for end_ns, so that who goes through the
 * time from the begin on looks at each span once. */
size_t tkt_whereabouts(const tkt_track *track, size_t begun, uint64_t begin_ns, uint64_t end_ns,
                       tkt_stay stay, void *user);

/* How many of the track's spans have begun by then, found by halving. */
size_t tkt_spans_begun(const tkt_track *track, uint64_t time_ns);

/* The innermost scope of a span: itself, or that around a call. */
static inline uint32_t tkt_scope_of(const tkt_track *track, uint32_t span)
{
    while (span != TKT_NO_SPAN && tkt_span_flags(&track->spans.items[span]) & TAKT_SPAN_CALL)
        span = track->spans.items[span].parent;
    return span;
}

/* ======== Whose it is ======== */

/* Whose the activities of devices and the allocations are, span by span. */

/* Which group a span belongs to: that of its site, or one of its own. TKT_NO_GROUP: none. */
typedef struct tkt_groups {
    const uint32_t *items; /* by site; or by span, where `first` is given */
    const size_t   *first; /* by track: where its spans begin in `items` */
} tkt_groups;

/* Fills _bytes and, with_activities, device_ of each of `scopes`, which are zero, and of the whole.
 * TAKT_NO_MEMORY. */
takt_status tkt_charge(const takt_trace *trace, const tkt_groups *groups, bool with_activities,
                       tkt_scopes *scopes);

/* With activities of devices added as rows behind the others, one for each name. */
takt_status tkt_scopes_add_activities(const takt_trace *trace, tkt_scopes *scopes);

#endif
