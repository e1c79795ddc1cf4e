/* Copies by where they went from and to. */
#ifndef TKT_SUMMARY_COPIES_H
#define TKT_SUMMARY_COPIES_H

#include "trace/model.h"

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
