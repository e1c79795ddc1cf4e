/* Rows for slices that may overlap. Slices on one row of a viewer have to nest, and one that lies
 * in another's time by chance must not be drawn as its child. So each gets a lane on which nothing
 * else is going on: the lowest that is free when it begins. */
#ifndef TKT_EXPORT_LANES_H
#define TKT_EXPORT_LANES_H

#include "base/containers.h"

#include <stdint.h>

typedef struct tkt_busy_lane {
    uint64_t end_ns;
    uint32_t lane;
} tkt_busy_lane;

typedef struct tkt_lanes {
    TKT_ARRAY_OF(tkt_busy_lane) busy; /* heap by end */
    TKT_ARRAY_OF(uint32_t) free;      /* heap by number */
    uint32_t count;
} tkt_lanes; /* starts as {0} */

/* The lane of a slice, whose begin is not before that of the one before; UINT32_MAX when there is
 * no memory. Takes n log(lanes) for n slices. */
uint32_t tkt_lanes_take(tkt_lanes *lanes, uint64_t begin_ns, uint64_t end_ns);

void tkt_lanes_fini(tkt_lanes *lanes);

#endif
