/* The largest jumps of memory: the host's, which the program reports, and the devices'. Totals
 * stand in the trace. */
#ifndef TKT_SUMMARY_MEMORY_H
#define TKT_SUMMARY_MEMORY_H

#include "trace/model.h"

/* Allocations of one size on one device in one scope. */
typedef struct tkt_memory_jump {
    uint64_t    bytes; /* of each */
    uint64_t    count;
    uint64_t    first_ns;
    uint32_t    site;   /* of the innermost open scope; 0: none was open */
    uint32_t    device; /* string; 0: the host */
    bool        is_pinned; /* the host's, from CUDA: `device` is the one that it is registered with */
    const char *scope;  /* its name; "" where none was open */
    const char *thread; /* of the first one; "" when it has no name */
} tkt_memory_jump;

typedef struct tkt_memory_jumps {
    TKT_ARRAY(tkt_memory_jump);
} tkt_memory_jumps; /* starts as {0} */

/* The `most` largest ones, largest first. The caller calls TKT_ARRAY_FREE(). TAKT_NO_SPANS,
 * TAKT_NO_MEMORY. */
takt_status tkt_memory_jumps_of(const takt_trace *trace, size_t most, tkt_memory_jumps *out);

#endif
