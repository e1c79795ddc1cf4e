/* Whose the activities of devices and the allocations are, span by span. */
#ifndef TKT_SUMMARY_CHARGE_H
#define TKT_SUMMARY_CHARGE_H

#include "summary/scopes.h"

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
