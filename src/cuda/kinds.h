/* Names of CUPTI's kinds, wherever Takt prints them. */
#ifndef TKT_CUDA_KINDS_H
#define TKT_CUDA_KINDS_H

#include <stdint.h>

/* The name of a takt_activity.copy_kind, which is a CUpti_ActivityMemcpyKind: H host, D device, A
 * array, P peer device; "" for 0 and unknown kinds. */
const char *tkt_copy_name(uint32_t kind);

/* The name of a takt_memory_kind; `unknown` for 0 and unknown kinds. */
const char *tkt_memory_name(uint32_t kind, const char *unknown);

/* The name of a tkt_overhead's kind. */
const char *tkt_overhead_name(uint32_t kind);

#endif
