/* takt/memory.h - memory. The program reports its host allocations, which then appear in tables and
 * traces. It can query the memory state of the host and of each device at any time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_MEMORY_H
#define TAKT_MEMORY_H

#include <takt/base.h>

/* Takt reads no byte at the address. Otherwise gcc would warn that malloc() has written none. */
#if !defined(__clang__) && __GNUC__ >= 11
#define TAKT_ADDRESS __attribute__((__access__(__none__, 1)))
#else
#define TAKT_ADDRESS
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Reports an allocation of `bytes` at `address`, and its free. Call these from the program's own
 * allocation functions. From the first call on, Takt keeps totals even while nothing records.
 * Traces contain the events only while something records with profile_memory. The free of an
 * unknown address counts as unmatched. A block at the address of one whose free was not reported
 * takes its place, which counts as a free. NULL is ignored. Any thread.
 *
 * Report a free before the block is freed, or another thread may get and report the address first. So
 * a realloc() is takt_memory_freed(old), then the call, then takt_memory_allocated(new); if it fails,
 * report the old block again. What Takt itself allocates is not counted, not even where the program's
 * malloc() reports each block. */
TAKT_SIZED void takt_memory_allocated(const void *address, size_t bytes) TAKT_ADDRESS;
TAKT_SIZED void takt_memory_freed(const void *address) TAKT_ADDRESS;

/* Sets whether Takt keeps totals while nothing records; by default it does. After keep = false, a
 * report costs as little as a scope while nothing records. A recording then knows only memory
 * allocated since it began; frees of older blocks are unmatched. The totals since the start of the
 * program stay unknown from then on. The report "memory" says so, and takt_memory_query() returns
 * TAKT_BAD_STATE for "host". Call this before the first allocation. Any thread. */
TAKT_API void takt_memory_keep_totals(bool keep);

/* Memory of the host or of a device. "host": memory that the program has reported since it began.
 * "cuda:0" and so on: memory allocated on that device since Takt began to collect CUDA activities
 * with profile_memory. While a profiler records, device values are up to a sixth of a second old.
 * Device events between two cycles are added when the next cycle begins. */
typedef struct takt_memory {
    uint64_t current_bytes;
    uint64_t peak_bytes;
    uint64_t peak_time_ns; /* takt_now_ns() of the peak */
    uint64_t allocations;
    uint64_t frees;
    uint64_t unmatched_frees;
    uint64_t free_bytes;     /* CUDA device only: the driver's value, for all processes */
    uint64_t capacity_bytes;
} takt_memory;

/* Fills *out for `device`: "host", "cuda:0". Any thread, at any time, except inside callbacks of
 * CUDA. TAKT_BAD_ARGUMENT for NULL. TAKT_NOT_FOUND if the device does not exist or has no live
 * context; Takt never creates a context. TAKT_BAD_STATE for "host" after
 * takt_memory_keep_totals(false). */
TAKT_SIZED takt_status takt_memory_query(const char *device, takt_memory *out);
TAKT_PASS_SIZE(takt_memory_query, takt_memory, (const char *device), device)

/* ---- Implementation of the two inline functions ---------------------------------------------- */

extern TAKT_DATA uint32_t takt_memory_on_v1; /* 0: nobody uses reports; atomic */
TAKT_API void takt_memory_allocated_v1(const void *address, size_t bytes) TAKT_ADDRESS;
TAKT_API void takt_memory_freed_v1(const void *address) TAKT_ADDRESS;

#ifdef __CUDA_ARCH__
#define TAKT_MEMORY_IS_ON true /* and the call does not link */
#else
#define TAKT_MEMORY_IS_ON __atomic_load_n(&takt_memory_on_v1, __ATOMIC_RELAXED)
#endif

TAKT_SIZED void takt_memory_allocated(const void *address, size_t bytes)
{
    if (TAKT_MEMORY_IS_ON)
        takt_memory_allocated_v1(address, bytes);
}

TAKT_SIZED void takt_memory_freed(const void *address)
{
    if (TAKT_MEMORY_IS_ON)
        takt_memory_freed_v1(address);
}

#ifdef __cplusplus
}
#endif
#endif
