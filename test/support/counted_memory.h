/* The host's memory for Takt, counted. */
#ifndef TEST_SUPPORT_COUNTED_MEMORY_H
#define TEST_SUPPORT_COUNTED_MEMORY_H

#include <takt/memory.h>
#include <takt/takt.h>

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

static _Atomic uint64_t now_bytes, peak_bytes;

/* Keeps the size of each block in front of it. */
static inline void *counted_resize(void *user, void *pointer, size_t size)
{
    (void)user;
    size_t *block = pointer ? (size_t *)pointer - 2 : NULL;
    uint64_t before = block ? *block : 0;
    if (!size) {
        atomic_fetch_sub(&now_bytes, before);
        free(block);
        return NULL;
    }
    size_t *grown = realloc(block, size + 2 * sizeof *grown);
    if (!grown)
        return NULL;
    *grown = size;
    uint64_t now = atomic_fetch_add(&now_bytes, size - before) + size - before;
    uint64_t peak = atomic_load(&peak_bytes);
    while (now > peak && !atomic_compare_exchange_weak(&peak_bytes, &peak, now))
        ;
    return grown + 2;
}

static const takt_allocator counted_memory = {.resize = counted_resize};

#endif
