/* Memory as the library's own allocator sees it: what it holds at a moment, and the most it held.
 */
#include "bench.h"

#include <malloc.h>
#include <stdlib.h>

static uint64_t now_bytes;  /* atomic */
static uint64_t peak_bytes; /* atomic */

static void count(uint64_t freed, uint64_t taken)
{
    uint64_t now = __atomic_add_fetch(&now_bytes, taken - freed, __ATOMIC_RELAXED);
    uint64_t peak = __atomic_load_n(&peak_bytes, __ATOMIC_RELAXED);
    while (now > peak && !__atomic_compare_exchange_n(&peak_bytes, &peak, now, true,
                                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* A block that grows is not counted twice: large ones are moved by the kernel, not copied. */
static void *resize(void *user, void *pointer, size_t size)
{
    (void)user;
    size_t before = malloc_usable_size(pointer);
    if (size == 0) {
        count(before, 0);
        free(pointer);
        return NULL;
    }
    void *result = realloc(pointer, size);
    if (result)
        count(before, malloc_usable_size(result));
    return result;
}

void bench_memory_begin(void)
{
    const takt_allocator counting = {.resize = resize};
    takt_set_allocator(&counting);
}

uint64_t bench_memory_now(void)
{
    return __atomic_load_n(&now_bytes, __ATOMIC_RELAXED);
}

uint64_t bench_memory_peak(void)
{
    return __atomic_load_n(&peak_bytes, __ATOMIC_RELAXED);
}

void bench_memory_reset_peak(void)
{
    __atomic_store_n(&peak_bytes, bench_memory_now(), __ATOMIC_RELAXED);
}
