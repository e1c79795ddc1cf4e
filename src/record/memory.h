/* Host memory that the program reports, as the trace wants it. */
#ifndef TKT_RECORD_MEMORY_H
#define TKT_RECORD_MEMORY_H

#include <stdint.h>

typedef struct tkt_memory_state {
    uint64_t current_bytes;
    uint64_t peak_bytes;
    uint64_t peak_ticks;
    uint64_t allocations;
    uint64_t frees;
    uint64_t unmatched_frees;
} tkt_memory_state;

/* Since the program began. */
tkt_memory_state tkt_memory_now(void);

/* How much memory there is: addresses beyond a quarter of it are not remembered, and counted. */
void tkt_memory_limit(uint64_t max_bytes);

/* Forgets all addresses, when nobody reports any more. */
void tkt_memory_free_all(void);

#endif
