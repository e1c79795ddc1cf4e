/* Words for what CUPTI numbers. */
#ifndef TKT_EXPORT_DEVICE_NAMES_H
#define TKT_EXPORT_DEVICE_NAMES_H

#include <stdint.h>

const char *tkt_memory_kind_name(uint32_t kind); /* takt_memory_kind: "Pageable" */
const char *tkt_limiter_name(uint32_t limiter);  /* tkt_limiter: "registers"; "": not known */
const char *tkt_wait_name(uint32_t kind);        /* tkt_wait: "Stream Sync" */
const char *tkt_overhead_name(uint32_t kind);    /* tkt_overhead: "Buffer Flush" */

#endif
