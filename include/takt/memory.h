/* takt/memory.h - host allocations that the program reports, for the memory report and traces.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_MEMORY_H
#define TAKT_MEMORY_H

#include <takt/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Tells that `bytes` at `address` were allocated, and freed. Call them from the program's own
 * allocation functions. Totals are kept whether or not anything records, from the first call on;
 * the events themselves go into traces while something records with profile_memory. A free of an
 * unknown address counts as unmatched. NULL is ignored. Any thread. */
TAKT_API void takt_memory_allocated(const void *address, size_t bytes);
TAKT_API void takt_memory_freed(const void *address);

/* The reported host memory since the program began. */
typedef struct takt_memory {
    size_t   struct_size; /* the caller's sizeof(takt_memory) */
    uint64_t current_bytes;
    uint64_t peak_bytes;
    uint64_t peak_time_ns; /* takt_now_ns() of the peak */
    uint64_t allocations;
    uint64_t frees;
    uint64_t unmatched_frees;
} takt_memory;

/* Fills *out for `device`, of which there is "host" so far. Any thread, at any time.
 * TAKT_NOT_FOUND for other devices. */
TAKT_API takt_status takt_memory_query(const char *device, takt_memory *out);

#ifdef __cplusplus
}
#endif
#endif
