/* Kineto's words, where it has them, since its readers know them. */
#include "export/device_names.h"

#include <stddef.h>

#define NAME_OF(names, number)                                                                     \
    ((number) < sizeof(names) / sizeof *(names) ? (names)[number] : (names)[0])

const char *tkt_memory_kind_name(uint32_t kind)
{
    static const char *const names[] = {"Unknown", "Pageable", "Pinned",        "Device",
                                        "Array",   "Managed",  "Device Static", "Managed Static"};
    return NAME_OF(names, kind);
}

const char *tkt_limiter_name(uint32_t limiter)
{
    static const char *const names[] = {"", "warps", "registers", "shared memory", "blocks"};
    return NAME_OF(names, limiter);
}

const char *tkt_wait_name(uint32_t kind)
{
    static const char *const names[] = {"Sync", "Event Sync", "Stream Wait Event", "Stream Sync",
                                        "Context Sync"};
    return NAME_OF(names, kind);
}

/* CUPTI numbers the driver's own from 1 and the others by 65536. */
const char *tkt_overhead_name(uint32_t kind)
{
    static const char *const names[] = {"Overhead",
                                        "Buffer Flush",
                                        "Instrumentation",
                                        "Resource",
                                        "Runtime Triggered Module Loading",
                                        "Lazy Function Loading",
                                        "Command Buffer Full",
                                        "Activity Buffer Request",
                                        "UVM Activity Init"};
    if (kind == 1)
        return "Driver Compiler";
    return kind & 0xFFFF ? names[0] : NAME_OF(names, kind >> 16);
}
