/* Sums over activities, by name or by device (Warp's two summaries), and over copies. */
#ifndef TKT_SUMMARY_ACTIVITIES_H
#define TKT_SUMMARY_ACTIVITIES_H

#include "trace/model.h"

#include <string.h>

typedef struct tkt_activity_total {
    uint64_t count;
    uint64_t total_ns;
} tkt_activity_total;

/* Totals by name. Names keep the order in which they were added. */
typedef struct tkt_activity_totals {
    TKT_ARRAY(tkt_activity_total); /* index: the name's id in `names`; "" has count 0 unless it was
                                    * added */
    tkt_strtab names;
} tkt_activity_totals;

takt_status tkt_activity_totals_init(tkt_activity_totals *totals);
void tkt_activity_totals_fini(tkt_activity_totals *totals); /* accepts a zeroed struct */

takt_status tkt_activity_totals_add(tkt_activity_totals *totals, const char *name, uint64_t count,
                                    uint64_t total_ns);

typedef enum tkt_activity_key { TKT_BY_ACTIVITY, TKT_BY_DEVICE } tkt_activity_key;

/* Adds up all activities of the trace: first those of devices in issue order, then those of the
 * host in the order of the call tree's nodes. The caller calls tkt_activity_totals_fini(). */
takt_status tkt_activities_total(const takt_trace *trace, tkt_activity_key key,
                                 tkt_activity_totals *out);

/* Sets *out to true if the trace has activities and all of them ran on devices called
 * "cuda:...". */
takt_status tkt_activities_are_cuda(const takt_trace *trace, bool *out);

static inline bool tkt_device_is_cuda(const char *device)
{
    return strncmp(device, "cuda:", 5) == 0;
}

/* ======== Copies ======== */

/* Copies added up by source and destination. */

typedef struct tkt_copy_total {
    uint32_t name;   /* string: "memcpy HtoD" */
    uint32_t source; /* takt_memory_kind */
    uint32_t target;
    uint64_t count;
    uint64_t bytes;
    uint64_t min_bytes; /* of the smallest copy */
    uint64_t max_bytes;
    uint64_t time_ns;
} tkt_copy_total;

typedef struct tkt_copies {
    TKT_ARRAY(tkt_copy_total); /* in order of first appearance */
} tkt_copies; /* starts as {0} */

/* Adds up the copies in the list of activities; empty for a trace without spans. The caller calls
 * TKT_ARRAY_FREE(). TAKT_NO_MEMORY. */
takt_status tkt_copies_of(const takt_trace *trace, tkt_copies *out);

#endif
