/* Launches whose activity is lost, by the scopes that made them. */
#ifndef TKT_SUMMARY_MISSING_H
#define TKT_SUMMARY_MISSING_H

#include "trace/model.h"

/* All of one path and call. */
typedef struct tkt_missing {
    uint32_t call; /* one such */
    uint64_t count;
} tkt_missing;

typedef struct tkt_missings {
    TKT_ARRAY(tkt_missing); /* in the order in which they were first seen */
    tkt_map index;
} tkt_missings; /* starts as {0} */

/* TAKT_NO_MEMORY. */
takt_status tkt_missings_of(const takt_trace *trace, tkt_missings *out);

void tkt_missings_fini(tkt_missings *missings); /* also of a zeroed one, or after a failure */

/* The call's name. */
const char *tkt_missing_call(const takt_trace *trace, const tkt_missing *missing);

/* Scopes, the outermost first: "step > forces". Of very deep ones the innermost. NULL without
 * memory. */
const char *tkt_missing_scopes(const takt_trace *trace, const tkt_missing *missing,
                               tkt_arena *texts);

#endif
