/* The first word of what tables print for an activity says what kind it is. */
#include "cuda/shape.h"

#include <stdio.h>

static const char *label_prefix(uint32_t filter)
{
    switch (filter & -filter) {
    case TAKT_TIMING_KERNEL:
        return "kernel";
    case TAKT_TIMING_BUILTIN:
        return "builtin kernel";
    case TAKT_TIMING_MEMCPY:
        return "memcpy";
    case TAKT_TIMING_MEMSET:
        return "memset";
    case TAKT_TIMING_GRAPH:
        return "graph";
    default:
        return "";
    }
}

const char *tkt_activity_label(char *out, size_t size, uint32_t filter, const char *name)
{
    const char *prefix = label_prefix(filter);
    snprintf(out, size, "%s%s%s", prefix, prefix[0] && name[0] ? " " : "", name);
    return out;
}
