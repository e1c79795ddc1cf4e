/* takt/memory.h - memory: allocations of the host that the program reports, for tables and traces,
 * and the state of each device, at any time.
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
static inline void takt_memory_allocated(const void *address, size_t bytes);
static inline void takt_memory_freed(const void *address);

/* Whether totals are kept while nothing records; they are at first. Without them a report costs as
 * little as a scope while nothing records, and a recording knows only of what was allocated since
 * it began: frees of other blocks are unmatched. Totals since start are not known any more from
 * then on, as the report "memory" says, and takt_memory_query() returns TAKT_BAD_STATE for "host".
 * Call it before the first allocation. Any thread. */
TAKT_API void takt_memory_keep_totals(bool keep);

/* Memory of a device: of "host" what the program reports, since it began; of "cuda:0" and so on
 * what was allocated on it since Takt began to collect CUDA activities with profile_memory, as far
 * as CUPTI has told: that is a sixth of a second ago while a profiler records, and what happens
 * between its cycles is known when the next one begins. */
typedef struct takt_memory {
    uint64_t current_bytes;
    uint64_t peak_bytes;
    uint64_t peak_time_ns; /* takt_now_ns() of the peak */
    uint64_t allocations;
    uint64_t frees;
    uint64_t unmatched_frees;
    uint64_t free_bytes;     /* of a CUDA device, as its driver says, whoever uses it */
    uint64_t capacity_bytes;
} takt_memory;

/* Fills *out for `device`: "host", "cuda:0". Any thread, at any time; not inside callbacks of
 * CUDA's. TAKT_BAD_ARGUMENT for NULL; TAKT_NOT_FOUND for a device that does not exist, or has no
 * live context: none is woken up. */
TAKT_SIZED takt_status takt_memory_query(const char *device, takt_memory *out);
TAKT_PASS_SIZE(takt_memory_query, takt_memory, (const char *device), device)

/* ---- The library's half of the two reports --------------------------------------------------- */

extern TAKT_API uint32_t takt_memory_on_v1; /* 0: nobody wants to know; atomic */
TAKT_API void takt_memory_allocated_v1(const void *address, size_t bytes);
TAKT_API void takt_memory_freed_v1(const void *address);

static inline void takt_memory_allocated(const void *address, size_t bytes)
{
    if (__atomic_load_n(&takt_memory_on_v1, __ATOMIC_RELAXED))
        takt_memory_allocated_v1(address, bytes);
}

static inline void takt_memory_freed(const void *address)
{
    if (__atomic_load_n(&takt_memory_on_v1, __ATOMIC_RELAXED))
        takt_memory_freed_v1(address);
}

#ifdef __cplusplus
}
#endif
#endif
