/* Chunks are cut from slabs of a megabyte. Slabs are never given back, so the free list can refer
 * to chunks by number. Its head holds a number and a tag that changes with every push, so the
 * exchange fails for a stale head (no ABA).
 *
 * Fresh pages cost more than writing the records in them. Therefore chunks are reused last in,
 * first out. A program that records much gets eight slabs at a time. While a profiler runs, a
 * thread of Takt's touches them ahead; others take pages of two megabytes if the system has them.
 */
#include "record/log.h"
#include "record/mapping.h"

#include "base/alloc.h"
#include "base/thread.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define SLAB_CHUNKS  128u
#define SLAB_BYTES   (SLAB_CHUNKS * sizeof(tkt_chunk))
#define LARGE_PAGE   ((size_t)2 << 20)
#define MAX_SLABS    (1u << 15) /* 32 GiB */
#define BLOCK_SLABS  8u
#define AHEAD_CHUNKS 768u /* ready at least: a thread's fastest scopes need 7 ms for them */
#define AHEAD_SHARE  8u   /* and at most this share of the limit */
#define READY_CHUNKS 16u  /* of the crash-safe file get memory at a time */
#define NONE         UINT32_MAX

_Static_assert(sizeof(tkt_chunk) == TKT_CHUNK_BYTES, "no room is wasted");

static tkt_mutex slab_lock = TKT_MUTEX_INIT;
static tkt_chunk *slabs[MAX_SLABS];
static void *allocations[MAX_SLABS]; /* that slabs lie in; NULL where an earlier entry has it */
static uint32_t slab_count;
static uint64_t free_head = NONE; /* tag << 32 | number */
static tkt_chunk *mapped;         /* chunks of the crash-safe file, with a separate free list */
static uint32_t mapped_count;
static uint32_t mapped_index; /* number of the first */
static uint32_t mapped_next;  /* index of the first that was never used */
static uint32_t mapped_ready; /* so many have memory; grows with slab_lock */
static uint32_t mapped_most = UINT32_MAX;
static uint64_t mapped_head = NONE;
static uint32_t used_count;
static uint32_t aside_count; /* of chunks beside the limit */
static uint32_t watched_count = UINT32_MAX;
static bool is_kept;           /* atomic: a thread fills the pool */
static tkt_condition *watcher; /* atomic */
static uint32_t limit_count = (256u << 20) / TKT_CHUNK_BYTES;

static tkt_chunk *chunk_at(uint32_t index)
{
    /* acquire: pairs with the releases in number_slabs() and tkt_pool_map() */
    return __atomic_load_n(&slabs[index / SLAB_CHUNKS], __ATOMIC_ACQUIRE) + index % SLAB_CHUNKS;
}

static void push(uint64_t *list, tkt_chunk *chunk)
{
    uint64_t head = __atomic_load_n(list, __ATOMIC_RELAXED);
    uint64_t mine;
    do {
        __atomic_store_n(&chunk->next_free, (uint32_t)head, __ATOMIC_RELAXED);
        mine = (head >> 32) + 1;
        mine = mine << 32 | chunk->index;
        /* release: pairs with the acquire in pop(), which reads next_free */
    } while (
        !__atomic_compare_exchange_n(list, &head, mine, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

static tkt_chunk *pop(uint64_t *list)
{
    uint64_t head = __atomic_load_n(list, __ATOMIC_ACQUIRE);
    while ((uint32_t)head != NONE) {
        tkt_chunk *chunk = chunk_at((uint32_t)head);
        uint64_t next = __atomic_load_n(&chunk->next_free, __ATOMIC_RELAXED);
        uint64_t mine = (head >> 32) << 32 | next;
        if (__atomic_compare_exchange_n(list, &head, mine, true, __ATOMIC_ACQUIRE,
                                        __ATOMIC_ACQUIRE))
            return chunk;
    }
    return NULL;
}

/* Consecutive slabs, and the allocation to free in the end. */
typedef struct block {
    void *allocation;
    tkt_chunk *chunks;
    uint32_t slabs;
} block;

/* How many slabs to allocate: one, until so many are in use that a block is no waste. One in a
 * thread of real time that should have found memory ready: it has waited long enough. */
static uint32_t next_slabs(bool is_ahead)
{
    if (!is_ahead && __atomic_load_n(&is_kept, __ATOMIC_RELAXED) && tkt_thread_is_realtime())
        return 1;
    uint32_t count = __atomic_load_n(&slab_count, __ATOMIC_RELAXED);
    uint32_t limit = __atomic_load_n(&limit_count, __ATOMIC_RELAXED) / SLAB_CHUNKS;
    return count >= BLOCK_SLABS && count + BLOCK_SLABS <= limit ? BLOCK_SLABS : 1;
}

/* A fault on each small page costs as much as the records that fit into it. So a block that a
 * program's thread makes is aligned for large pages, and asks for them. If there are none, nothing
 * is lost. Not one that is touched ahead: to make room for a large page the kernel may move pages
 * that the program writes to, which then waits. */
static block allocate_block(bool is_ahead)
{
    block made = {.slabs = next_slabs(is_ahead)};
    size_t bytes = made.slabs * SLAB_BYTES;
    bool is_large = made.slabs > 1 && !is_ahead;
    made.allocation =
        is_ahead ? tkt_alloc_mapped(bytes) : tkt_alloc(bytes + (is_large ? LARGE_PAGE : 0));
    made.chunks = made.allocation;
    if (made.allocation && is_large) {
        uintptr_t at = (uintptr_t)made.allocation;
        made.chunks = (tkt_chunk *)((at + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE);
        madvise(made.chunks, bytes, MADV_HUGEPAGE);
    }
    return made;
}

/* Returns the first of `count` numbers, or NONE when no more are left. Without a lock: a thread of
 * lower priority may add slabs, too. */
static uint32_t take_numbers(uint32_t count)
{
    uint32_t first = __atomic_load_n(&slab_count, __ATOMIC_RELAXED);
    do {
        if (first + count > MAX_SLABS)
            return NONE;
    } while (!__atomic_compare_exchange_n(&slab_count, &first, first + count, true,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return first;
}

static uint32_t number_slabs(const block *made)
{
    uint32_t first = take_numbers(made->slabs);
    if (first == NONE)
        return NONE;
    allocations[first] = made->allocation;
    for (uint32_t i = 0; i < made->slabs; i++)
        __atomic_store_n(&slabs[first + i], made->chunks + i * SLAB_CHUNKS, __ATOMIC_RELEASE);
    return first;
}

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

static void touch(const block *made)
{
    size_t bytes = made->slabs * SLAB_BYTES;
    if (made->slabs > 1 && madvise(made->chunks, bytes, MADV_POPULATE_WRITE) == 0)
        return;
    memset(made->chunks, 0, bytes);
}

/* Adds chunks to the free list. Two threads that run out at the same time may both do so. */
static bool add_slabs(bool is_ahead)
{
    block made = allocate_block(is_ahead);
    if (!made.allocation)
        return false;
    if (is_ahead)
        touch(&made);
    uint32_t first = number_slabs(&made);
    if (first == NONE) {
        tkt_free(made.allocation);
        return false;
    }
    for (uint32_t i = made.slabs * SLAB_CHUNKS; i-- > 0;) {
        made.chunks[i].index = first * SLAB_CHUNKS + i;
        push(&free_head, &made.chunks[i]);
    }
    return true;
}

/* Gives memory to a chunk of the crash-safe file and the next ones. False if there is no such
 * chunk, or no memory. */
static bool make_ready(uint32_t index)
{
    bool is_ready = true;
    while (is_ready && index >= __atomic_load_n(&mapped_ready, __ATOMIC_RELAXED)) {
        uint64_t was = tkt_busy_lock(&slab_lock);
        uint32_t ready = mapped_ready;
        uint32_t count = mapped_count - ready < READY_CHUNKS ? mapped_count - ready : READY_CHUNKS;
        if (index >= ready) { /* no other thread was faster */
            is_ready = count && tkt_mapping_ready(mapped + ready, count * sizeof *mapped);
            __atomic_store_n(&mapped_ready, ready + (is_ready ? count : 0), __ATOMIC_RELAXED);
        }
        tkt_busy_unlock(&slab_lock, was);
    }
    return is_ready;
}

/* Returns a chunk of the crash-safe file, a used one before a new one; NULL if none is free. */
static tkt_chunk *pop_mapped(void)
{
    tkt_chunk *chunk = pop(&mapped_head);
    if (chunk || !make_ready(__atomic_load_n(&mapped_next, __ATOMIC_RELAXED)))
        return chunk;
    uint32_t next = __atomic_fetch_add(&mapped_next, 1, __ATOMIC_RELAXED);
    if (next >= mapped_count || !make_ready(next))
        return NULL;
    chunk = mapped + next;
    chunk->index = mapped_index + next;
    return chunk;
}

static tkt_chunk *take_any(void)
{
    tkt_chunk *chunk = __atomic_load_n(&mapped, __ATOMIC_ACQUIRE) ? pop_mapped() : NULL;
    if (!chunk)
        chunk = pop(&free_head);
    if (!chunk && add_slabs(false))
        chunk = pop(&free_head);
    return chunk;
}

/* True if the thread that fills the pool comes in time to wake who watches it. */
static bool is_looked_after(uint32_t used)
{
    return __atomic_load_n(&is_kept, __ATOMIC_RELAXED) &&
           used + 2 * AHEAD_CHUNKS < __atomic_load_n(&limit_count, __ATOMIC_RELAXED);
}

tkt_chunk *tkt_pool_take(uint32_t extra)
{
    uint32_t used = __atomic_add_fetch(&used_count, 1, __ATOMIC_RELAXED);
    /* acquire: pairs with the release in tkt_pool_watch() */
    if (used >= __atomic_load_n(&watched_count, __ATOMIC_ACQUIRE) && !is_looked_after(used))
        tkt_condition_wake_all(__atomic_load_n(&watcher, __ATOMIC_RELAXED));
    if (used <= __atomic_load_n(&limit_count, __ATOMIC_RELAXED) + extra) {
        tkt_chunk *chunk = take_any();
        if (chunk)
            return chunk;
    }
    __atomic_sub_fetch(&used_count, 1, __ATOMIC_RELAXED);
    return NULL;
}

void tkt_pool_give(tkt_chunk *chunk)
{
    bool is_mapped = tkt_pool_is_mapped(chunk);
    if (is_mapped)
        __atomic_store_n(&chunk->log, 0, __ATOMIC_RELEASE);
    push(is_mapped ? &mapped_head : &free_head, chunk);
    __atomic_sub_fetch(&used_count, 1, __ATOMIC_RELAXED);
}

tkt_chunk *tkt_pool_take_aside(void)
{
    tkt_chunk *chunk = pop(&free_head);
    if (!chunk && add_slabs(false))
        chunk = pop(&free_head);
    if (chunk)
        __atomic_add_fetch(&aside_count, 1, __ATOMIC_RELAXED);
    return chunk;
}

void tkt_pool_give_aside(tkt_chunk *chunk)
{
    push(&free_head, chunk);
    __atomic_sub_fetch(&aside_count, 1, __ATOMIC_RELAXED);
}

bool tkt_pool_is_roomy(void)
{
    return __atomic_load_n(&used_count, __ATOMIC_RELAXED) <
           __atomic_load_n(&limit_count, __ATOMIC_RELAXED) / 2;
}

uint64_t tkt_pool_round(uint64_t count)
{
    return (count + SLAB_CHUNKS - 1) / SLAB_CHUNKS * SLAB_CHUNKS;
}

bool tkt_pool_is_mapped(const tkt_chunk *chunk)
{
    /* acquire: pairs with the release in tkt_pool_map(), for the count */
    const tkt_chunk *first = __atomic_load_n(&mapped, __ATOMIC_ACQUIRE);
    return first && chunk >= first && chunk < first + mapped_count;
}

void tkt_pool_map(tkt_chunk *chunks, uint32_t count, uint32_t most, uint32_t ready)
{
    uint64_t was = tkt_busy_lock(&slab_lock);
    uint32_t slabs_before = __atomic_load_n(&slab_count, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < slabs_before; i++) /* others may add slabs meanwhile */
        if (tkt_pool_is_mapped(__atomic_load_n(&slabs[i], __ATOMIC_RELAXED)))
            __atomic_store_n(&slabs[i], NULL, __ATOMIC_RELAXED); /* nobody refers to its chunks */
    mapped_count = count;
    uint32_t number = take_numbers(count / SLAB_CHUNKS);
    if (number == NONE) /* 32 GiB are in use */
        number = mapped_count = 0;
    mapped_index = number * SLAB_CHUNKS;
    mapped_next = 0;
    mapped_ready = ready;
    __atomic_store_n(&mapped_most, chunks ? most : UINT32_MAX, __ATOMIC_RELAXED);
    mapped_head = NONE;
    for (uint32_t i = 0; i < mapped_count; i += SLAB_CHUNKS)
        __atomic_store_n(&slabs[number++], chunks + i, __ATOMIC_RELEASE);
    /* release: pairs with the acquire in take_any() */
    __atomic_store_n(&mapped, chunks, __ATOMIC_RELEASE);
    tkt_busy_unlock(&slab_lock, was);
}

void tkt_pool_limit(uint64_t bytes)
{
    uint64_t count = bytes / TKT_CHUNK_BYTES;
    if (count > (uint64_t)MAX_SLABS * SLAB_CHUNKS)
        count = (uint64_t)MAX_SLABS * SLAB_CHUNKS;
    uint32_t most = __atomic_load_n(&mapped_most, __ATOMIC_RELAXED);
    if (count > most)
        count = most;
    __atomic_store_n(&limit_count, (uint32_t)count, __ATOMIC_RELAXED);
}

/* There is one condition in the process; each stream sets the same one. */
void tkt_pool_watch(tkt_condition *condition, uint64_t bytes)
{
    uint64_t count = condition ? bytes / TKT_CHUNK_BYTES : UINT32_MAX;
    if (condition)
        __atomic_store_n(&watcher, condition, __ATOMIC_RELAXED);
    __atomic_store_n(&watched_count, count < UINT32_MAX ? (uint32_t)count : UINT32_MAX,
                     __ATOMIC_RELEASE);
}

uint64_t tkt_pool_limit_bytes(void)
{
    return (uint64_t)__atomic_load_n(&limit_count, __ATOMIC_RELAXED) * TKT_CHUNK_BYTES;
}

void tkt_pool_prefault(uint64_t bytes)
{
    uint64_t limit = tkt_pool_limit_bytes();
    if (bytes > limit)
        bytes = limit;
    while (tkt_pool_total_bytes() < bytes)
        if (!add_slabs(true))
            return;
}

void tkt_pool_keep(bool is_on)
{
    __atomic_store_n(&is_kept, is_on, __ATOMIC_RELAXED);
}

/* How many chunks threads can take without waiting for memory. */
static uint32_t count_ready(void)
{
    uint32_t used = __atomic_load_n(&used_count, __ATOMIC_RELAXED) +
                    __atomic_load_n(&aside_count, __ATOMIC_RELAXED);
    uint32_t all = __atomic_load_n(&slab_count, __ATOMIC_RELAXED) * SLAB_CHUNKS;
    if (__atomic_load_n(&mapped, __ATOMIC_ACQUIRE)) {
        used = __atomic_load_n(&mapped_next, __ATOMIC_RELAXED);
        all = __atomic_load_n(&mapped_ready, __ATOMIC_RELAXED);
    }
    return all > used ? all - used : 0;
}

uint64_t tkt_pool_ready_bytes(void)
{
    return (uint64_t)count_ready() * TKT_CHUNK_BYTES;
}

/* More are to be ready for a program that has used up much since the last look. */
static void look_ahead(tkt_pool_filling *filling, uint32_t used)
{
    uint32_t most = __atomic_load_n(&limit_count, __ATOMIC_RELAXED) / AHEAD_SHARE;
    if (filling->ahead == 0)
        filling->ahead = AHEAD_CHUNKS;
    if (used > filling->used && used - filling->used > filling->ahead / 4 && filling->ahead < most)
        filling->ahead *= 2;
}

/* The next chunks of the crash-safe file get memory; false if there is no such file. */
static bool fill_mapped(uint32_t ahead)
{
    if (!__atomic_load_n(&mapped, __ATOMIC_ACQUIRE))
        return false;
    uint32_t next = __atomic_load_n(&mapped_next, __ATOMIC_RELAXED);
    uint32_t last = next + ahead < mapped_count ? next + ahead : mapped_count;
    if (last > 0)
        make_ready(last - 1);
    return true;
}

/* What lies beside the limit is in no crash-safe file, so that it needs memory of its own. */
static void fill_aside(void)
{
    uint32_t all = __atomic_load_n(&slab_count, __ATOMIC_RELAXED) * SLAB_CHUNKS;
    if (all <= tkt_pool_round(mapped_count) + __atomic_load_n(&aside_count, __ATOMIC_RELAXED))
        add_slabs(true);
}

/* True if more slabs would be more than the limit allows. */
static bool is_at_limit(void)
{
    return __atomic_load_n(&slab_count, __ATOMIC_RELAXED) * SLAB_CHUNKS >=
           __atomic_load_n(&limit_count, __ATOMIC_RELAXED) +
               __atomic_load_n(&aside_count, __ATOMIC_RELAXED);
}

bool tkt_pool_fill(tkt_pool_filling *filling)
{
    uint32_t used = __atomic_load_n(&used_count, __ATOMIC_RELAXED);
    bool is_more = used > filling->used;
    look_ahead(filling, used);
    filling->used = used;
    if (fill_mapped(filling->ahead))
        fill_aside();
    else
        while (count_ready() < filling->ahead && !is_at_limit() && add_slabs(true))
            continue;
    if (used >= __atomic_load_n(&watched_count, __ATOMIC_ACQUIRE))
        tkt_condition_wake_all(__atomic_load_n(&watcher, __ATOMIC_RELAXED));
    return is_more;
}

uint64_t tkt_pool_used_bytes(void)
{
    return (uint64_t)__atomic_load_n(&used_count, __ATOMIC_RELAXED) * TKT_CHUNK_BYTES;
}

uint64_t tkt_pool_total_bytes(void)
{
    return (uint64_t)__atomic_load_n(&slab_count, __ATOMIC_RELAXED) * SLAB_CHUNKS * TKT_CHUNK_BYTES;
}

void tkt_pool_free_all(void)
{
    tkt_pool_map(NULL, 0, 0, 0);
    for (uint32_t i = 0; i < slab_count; i++) {
        tkt_free(allocations[i]);
        allocations[i] = NULL;
    }
    slab_count = used_count = aside_count = 0;
    free_head = NONE;
}
