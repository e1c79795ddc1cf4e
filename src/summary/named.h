/* Durations by name: of kernels, and of calls into devices' libraries. */
#ifndef TKT_SUMMARY_NAMED_H
#define TKT_SUMMARY_NAMED_H

#include "trace/model.h"

/* In which fields launches of one kernel differ. */
enum {
    TKT_VARIES_GRID = 1,
    TKT_VARIES_BLOCK = 2,
    TKT_VARIES_REGISTERS = 4,
    TKT_VARIES_STATIC = 8,
    TKT_VARIES_DYNAMIC = 16,
    TKT_VARIES_OCCUPANCY = 32
};

typedef struct tkt_named {
    uint32_t       name;   /* string */
    uint32_t       shape;  /* of one launch, or TKT_NO_SHAPE */
    uint32_t       varies; /* TKT_VARIES_ */
    tkt_stats      stats;
    tkt_histogram *histogram; /* NULL beyond the first few thousand */
} tkt_named;

typedef struct tkt_nameds {
    TKT_ARRAY(tkt_named); /* in the order in which they were first seen */
    tkt_map   index;
    tkt_arena histograms;
    uint64_t  total_ns;
} tkt_nameds; /* starts as {0} */

/* Kernels of devices by name or, `by_launch`, by name and all that is known of a launch. By name
 * from the folded form, shapes from the list of activities. TAKT_NO_SPANS by launch, where there is
 * no such list; TAKT_NO_MEMORY. */
takt_status tkt_kernels_of(const takt_trace *trace, bool by_launch, tkt_nameds *out);

/* Calls into devices' libraries, from the folded form. TAKT_NO_MEMORY. */
takt_status tkt_calls_of(const takt_trace *trace, tkt_nameds *out);

void tkt_nameds_fini(tkt_nameds *nameds); /* also of a zeroed one, or after a failure */

#endif
