/* The largest allocations: of the host, as reported by the program, and of devices. The totals are
 * in the trace. */
#ifndef TKT_SUMMARY_MEMORY_H
#define TKT_SUMMARY_MEMORY_H

#include "trace/model.h"

/* Allocations of one size on one device in one scope. */
typedef struct tkt_memory_jump {
    uint64_t    bytes; /* of each allocation */
    uint64_t    count;
    uint64_t    first_ns;
    uint32_t    site;   /* of the innermost open scope; 0: no scope was open */
    uint32_t    device; /* string; 0: the host's own memory */
    bool        is_pinned; /* host memory allocated by CUDA; `device` is the device it is registered
                            * with */
    const char *scope;  /* the scope's name; "" if none was open */
    const char *thread; /* of the first allocation; "" if it has no name */
} tkt_memory_jump;

typedef struct tkt_memory_jumps {
    TKT_ARRAY(tkt_memory_jump);
} tkt_memory_jumps; /* starts as {0} */

/* Returns the `most` largest ones, largest first. The caller calls TKT_ARRAY_FREE(). TAKT_NO_SPANS,
 * TAKT_NO_MEMORY. */
takt_status tkt_memory_jumps_of(const takt_trace *trace, size_t most, tkt_memory_jumps *out);

/* The site of the scope that a track was in, in `span` or around that call; 0: in none. */
uint32_t tkt_site_around(const takt_trace *trace, uint32_t track, uint32_t span);

#endif
