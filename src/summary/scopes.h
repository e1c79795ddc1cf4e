/* How often and how long each scope ran, whatever called it: torch's key averages. */
#ifndef TKT_SUMMARY_SCOPES_H
#define TKT_SUMMARY_SCOPES_H

#include "trace/model.h"

#define TKT_OTHER_NAME "(other paths)"

/* All calls of one name, or of one name with the same arguments. */
typedef struct tkt_scope_total {
    const char *name; /* the trace's */
    uint64_t    calls;
    uint64_t    total_ns; /* of outermost calls: a recursive one is part of its caller's */
    uint64_t    self_ns;  /* of all calls: total less direct children */
    uint64_t    min_ns;
    uint64_t    max_ns;
    double      flops; /* declared work */
    double      bytes;
    uint32_t    track; /* by arguments: where one such call's stand, args.items[first_arg] on */
    uint32_t    first_arg;
    uint32_t    arg_count;
} tkt_scope_total;

typedef struct tkt_scopes {
    TKT_ARRAY(tkt_scope_total); /* in the order in which they were first seen */
    uint64_t self_ns; /* of all: what percentages refer to */
} tkt_scopes; /* starts as {0} */

/* By name, from the folded form. TAKT_NO_MEMORY. */
takt_status tkt_scopes_by_name(const takt_trace *trace, tkt_scopes *out);

/* By name and recorded arguments. TAKT_NO_SPANS, TAKT_NO_MEMORY. */
takt_status tkt_scopes_by_arguments(const takt_trace *trace, tkt_scopes *out);

void tkt_scopes_fini(tkt_scopes *scopes); /* also of a zeroed one */

/* The name of a node of the trace's tree. */
static inline const char *tkt_node_name(const takt_trace *trace, const tkt_node *node)
{
    if (node->site == TKT_SITE_OTHER)
        return TKT_OTHER_NAME;
    return tkt_trace_text(trace, trace->sites.items[node->site].name);
}

#endif
