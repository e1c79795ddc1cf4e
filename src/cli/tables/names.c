/* What kinds are called in tables: as reports call them. */
#include "cli/tables/tables.h"

const char *table_activity_kind(uint32_t filter)
{
    switch (filter) {
    case TAKT_TIMING_KERNEL:
        return "kernel";
    case TAKT_TIMING_BUILTIN:
        return "builtin";
    case TAKT_TIMING_MEMCPY:
        return "memcpy";
    case TAKT_TIMING_MEMSET:
        return "memset";
    default:
        return filter == TAKT_TIMING_GRAPH ? "graph" : NULL;
    }
}
