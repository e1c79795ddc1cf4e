/* Activities added up: by what was done, and by who did it (Warp's two summaries). */
#ifndef TKT_SUMMARY_ACTIVITIES_H
#define TKT_SUMMARY_ACTIVITIES_H

#include "trace/model.h"

#include <string.h>

typedef struct tkt_activity_total {
    uint64_t count;
    uint64_t total_ns;
} tkt_activity_total;

/* Totals by a name, in the order in which the names were first added. */
typedef struct tkt_activity_totals {
    TKT_ARRAY(tkt_activity_total); /* by the names' ids; "" has count 0 unless it was added */
    tkt_strtab names;
} tkt_activity_totals;

takt_status tkt_activity_totals_init(tkt_activity_totals *totals);
void tkt_activity_totals_fini(tkt_activity_totals *totals); /* also of a zeroed one */

takt_status tkt_activity_totals_add(tkt_activity_totals *totals, const char *name, uint64_t count,
                                    uint64_t total_ns);

typedef enum tkt_activity_key { TKT_BY_ACTIVITY, TKT_BY_DEVICE } tkt_activity_key;

/* All activities of the trace: those of devices in issue order, then those of the host from the
 * folded form, in the order of its nodes. The caller calls tkt_activity_totals_fini(). */
takt_status tkt_activities_total(const takt_trace *trace, tkt_activity_key key,
                                 tkt_activity_totals *out);

/* Puts in *out whether there are activities, and all of them on devices called "cuda:...". */
takt_status tkt_activities_are_cuda(const takt_trace *trace, bool *out);

static inline bool tkt_device_is_cuda(const char *device)
{
    return strncmp(device, "cuda:", 5) == 0;
}

/* ======== Copies ======== */

/* Copies by where they went from and to. */

typedef struct tkt_copy_total {
    uint32_t name;   /* string: "memcpy HtoD" */
    uint32_t source; /* takt_memory_kind */
    uint32_t target;
    uint64_t count;
    uint64_t bytes;
    uint64_t min_bytes; /* of one */
    uint64_t max_bytes;
    uint64_t time_ns;
} tkt_copy_total;

typedef struct tkt_copies {
    TKT_ARRAY(tkt_copy_total); /* in the order in which they were first seen */
} tkt_copies; /* starts as {0} */

/* Those of the list of activities, so none where no spans are kept. The caller calls
 * TKT_ARRAY_FREE(). TAKT_NO_MEMORY. */
takt_status tkt_copies_of(const takt_trace *trace, tkt_copies *out);

#endif
