/* Chunks are cut from slabs of a megabyte, which are never given back, so that the free list can
 * name them by number: its head holds a number and a tag that changes with every push, and a stale
 * head fails the exchange (no ABA). Fresh pages cost more than what is recorded in them, therefore
 * chunks are reused last in, first out. */
#include "record/pool.h"

#include "base/alloc.h"
#include "base/thread.h"

#include <string.h>

#define SLAB_CHUNKS 128u
#define MAX_SLABS   (1u << 15) /* 32 GiB */
#define NONE        UINT32_MAX

_Static_assert(sizeof(tkt_chunk) == TKT_CHUNK_BYTES, "no room is wasted");

static tkt_mutex slab_lock = TKT_MUTEX_INIT;
static tkt_chunk *slabs[MAX_SLABS];
static uint32_t slab_count;
static uint64_t free_head = NONE; /* tag << 32 | number */
static uint32_t used_count;
static uint32_t limit_count = (256u << 20) / TKT_CHUNK_BYTES;

static tkt_chunk *chunk_at(uint32_t index)
{
    /* acquire: pairs with the release in add_slab() */
    return __atomic_load_n(&slabs[index / SLAB_CHUNKS], __ATOMIC_ACQUIRE) + index % SLAB_CHUNKS;
}

static void push(tkt_chunk *chunk)
{
    uint64_t head = __atomic_load_n(&free_head, __ATOMIC_RELAXED);
    uint64_t mine;
    do {
        __atomic_store_n(&chunk->next_free, (uint32_t)head, __ATOMIC_RELAXED);
        mine = (head >> 32) + 1;
        mine = mine << 32 | chunk->index;
        /* release: pairs with the acquire in pop(), which reads next_free */
    } while (!__atomic_compare_exchange_n(&free_head, &head, mine, true, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED));
}

static tkt_chunk *pop(void)
{
    uint64_t head = __atomic_load_n(&free_head, __ATOMIC_ACQUIRE);
    while ((uint32_t)head != NONE) {
        tkt_chunk *chunk = chunk_at((uint32_t)head);
        uint64_t next = __atomic_load_n(&chunk->next_free, __ATOMIC_RELAXED);
        uint64_t mine = (head >> 32) << 32 | next;
        if (__atomic_compare_exchange_n(&free_head, &head, mine, true, __ATOMIC_ACQUIRE,
                                        __ATOMIC_ACQUIRE))
            return chunk;
    }
    return NULL;
}

/* Adds a slab's chunks to the free list. Two threads that run out together may add two. */
static bool add_slab(bool touch)
{
    tkt_chunk *slab = tkt_alloc(SLAB_CHUNKS * sizeof *slab);
    if (!slab)
        return false;
    if (touch)
        memset(slab, 0, SLAB_CHUNKS * sizeof *slab);
    tkt_mutex_lock(&slab_lock);
    uint32_t number = slab_count;
    if (number < MAX_SLABS) {
        __atomic_store_n(&slabs[number], slab, __ATOMIC_RELEASE);
        __atomic_store_n(&slab_count, number + 1, __ATOMIC_RELAXED);
    }
    tkt_mutex_unlock(&slab_lock);
    if (number >= MAX_SLABS) {
        tkt_free(slab);
        return false;
    }
    for (uint32_t i = SLAB_CHUNKS; i-- > 0;) {
        slab[i].index = number * SLAB_CHUNKS + i;
        push(&slab[i]);
    }
    return true;
}

tkt_chunk *tkt_pool_take(uint32_t extra)
{
    uint32_t used = __atomic_add_fetch(&used_count, 1, __ATOMIC_RELAXED);
    if (used <= __atomic_load_n(&limit_count, __ATOMIC_RELAXED) + extra) {
        tkt_chunk *chunk = pop();
        if (!chunk && add_slab(false))
            chunk = pop();
        if (chunk)
            return chunk;
    }
    __atomic_sub_fetch(&used_count, 1, __ATOMIC_RELAXED);
    return NULL;
}

void tkt_pool_give(tkt_chunk *chunk)
{
    push(chunk);
    __atomic_sub_fetch(&used_count, 1, __ATOMIC_RELAXED);
}

void tkt_pool_limit(uint64_t bytes)
{
    uint64_t count = bytes / TKT_CHUNK_BYTES;
    if (count > (uint64_t)MAX_SLABS * SLAB_CHUNKS)
        count = (uint64_t)MAX_SLABS * SLAB_CHUNKS;
    __atomic_store_n(&limit_count, (uint32_t)count, __ATOMIC_RELAXED);
}

void tkt_pool_prefault(uint64_t bytes)
{
    uint64_t limit = (uint64_t)__atomic_load_n(&limit_count, __ATOMIC_RELAXED) * TKT_CHUNK_BYTES;
    if (bytes > limit)
        bytes = limit;
    while (tkt_pool_total_bytes() < bytes)
        if (!add_slab(true))
            return;
}

uint64_t tkt_pool_used_bytes(void)
{
    return (uint64_t)__atomic_load_n(&used_count, __ATOMIC_RELAXED) * TKT_CHUNK_BYTES;
}

uint64_t tkt_pool_total_bytes(void)
{
    return (uint64_t)__atomic_load_n(&slab_count, __ATOMIC_RELAXED) * SLAB_CHUNKS * TKT_CHUNK_BYTES;
}
