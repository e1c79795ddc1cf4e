/* Names of CUPTI's kinds. */
#include "cuda/kinds.h"

#include "cuda/store.h"

#include <takt/activity.h>

const char *tkt_copy_name(uint32_t kind)
{
    static const char *const names[] = {"",     "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                        "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
    return kind < sizeof names / sizeof *names ? names[kind] : "";
}

const char *tkt_memory_name(uint32_t kind, const char *unknown)
{
    static const char *const names[] = {
        [TAKT_MEMORY_PAGEABLE] = "pageable",
        [TAKT_MEMORY_PINNED] = "pinned",
        [TAKT_MEMORY_DEVICE] = "device",
        [TAKT_MEMORY_ARRAY] = "array",
        [TAKT_MEMORY_MANAGED] = "managed",
        [TAKT_MEMORY_DEVICE_STATIC] = "static",
        [TAKT_MEMORY_MANAGED_STATIC] = "managed static",
    };
    return kind < sizeof names / sizeof *names && names[kind] ? names[kind] : unknown;
}

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
    static const char *const jits[] = {"JIT", "JIT Cache Load", "JIT Cache Store",
                                       "JIT Compilation"};
    if (kind == 1)
        return "Driver Compiler";
    if (kind == (TKT_OVERHEAD_JIT | TKT_OVERHEAD_JIT_NVVM | 3))
        return "JIT Compilation of NVVM";
    if (kind & TKT_OVERHEAD_JIT)
        return jits[(kind & 15) < sizeof jits / sizeof *jits ? kind & 15 : 0];
    kind = kind & 0xFFFF ? 0 : kind >> 16;
    return names[kind < sizeof names / sizeof *names ? kind : 0];
}
