/* Host memory that the program reports, as the trace wants it. */
#ifndef TKT_RECORD_MEMORY_H
#define TKT_RECORD_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tkt_memory_state {
    uint64_t current_bytes;
    uint64_t peak_bytes;
    uint64_t peak_ticks;
    uint64_t allocations;
    uint64_t frees;
    uint64_t unmatched_frees;
    bool     is_since_start; /* false: since somebody began to watch, as totals are left off */
} tkt_memory_state;

tkt_memory_state tkt_memory_now(void);

/* A recording that wants to know of memory begins or ends: before it, and after it. */
void tkt_memory_watch(bool is_watching);

/* How much memory there is: addresses beyond a quarter of it are not remembered, and counted. */
void tkt_memory_limit(uint64_t max_bytes);

#endif
