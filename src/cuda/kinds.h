/* Names of CUPTI's kinds, wherever Takt prints them. */
#ifndef TKT_CUDA_KINDS_H
#define TKT_CUDA_KINDS_H

#include <takt/activity.h>

#include <stdint.h>

/* Returns the name of a takt_activity.copy_kind, which is a CUpti_ActivityMemcpyKind: H host, D
 * device, A array, P peer device; "" for 0 and unknown kinds. */
static inline const char *tkt_copy_name(uint32_t kind)
{
    static const char *const names[] = {"",     "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                        "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
    return kind < sizeof names / sizeof *names ? names[kind] : "";
}

/* Returns the name of a takt_memory_kind; `unknown` for 0 and unknown kinds. */
static inline const char *tkt_memory_name(uint32_t kind, const char *unknown)
{
    static const char *const names[] = {
        [TAKT_MEMORY_PAGEABLE] = "pageable",    [TAKT_MEMORY_PINNED] = "pinned",
        [TAKT_MEMORY_DEVICE] = "device",        [TAKT_MEMORY_ARRAY] = "array",
        [TAKT_MEMORY_MANAGED] = "managed",      [TAKT_MEMORY_DEVICE_STATIC] = "static",
        [TAKT_MEMORY_MANAGED_STATIC] = "managed static",
    };
    return kind < sizeof names / sizeof *names && names[kind] ? names[kind] : unknown;
}

#endif
