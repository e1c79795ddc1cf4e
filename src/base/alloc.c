/* All memory passes through here. takt_set_allocator() works only before the first allocation,
 * because a block must return to the allocator that it came from. So the first allocation closes
 * the choice. A thread that allocates while another one is choosing waits. */
#include "base/alloc.h"

#include "base/lock.h"
#include "base/sanitizers.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    CHOICE_OPEN,
    CHOICE_IN_PROGRESS,
    CHOICE_CLOSED
};

static atomic_int choice;
static takt_allocator host; /* resize NULL: the C library's allocator */

/* The failures that tkt_alloc_fail() requests. Unless the flag is set, nobody touches the
 * counters. */
static atomic_bool is_injecting;
static _Atomic uint64_t injected_successes;
static _Atomic uint64_t injected_failures;

static void close_choice(void)
{
    int seen = CHOICE_OPEN;
    while (!atomic_compare_exchange_weak_explicit(&choice, &seen, CHOICE_CLOSED,
                                                  memory_order_acquire, memory_order_acquire)) {
        if (seen == CHOICE_CLOSED)
            return;
        if (seen == CHOICE_IN_PROGRESS)
            sched_yield();
        seen = CHOICE_OPEN;
    }
}

/* Makes the choice of the allocator final. */
static void choose(void)
{
    /* acquire: pairs with the release at the end of takt_set_allocator() */
    if (atomic_load_explicit(&choice, memory_order_acquire) != CHOICE_CLOSED)
        close_choice();
}

/* Decrements a counter; false when it is 0. UINT64_MAX stays as it is. */
static bool take_one(_Atomic uint64_t *counter)
{
    uint64_t left = atomic_load_explicit(counter, memory_order_relaxed);
    while (left != 0 && left != UINT64_MAX) {
        if (atomic_compare_exchange_weak_explicit(counter, &left, left - 1, memory_order_relaxed,
                                                  memory_order_relaxed))
            return true;
    }
    return left != 0;
}

static bool should_fail(void)
{
    /* acquire: pairs with the release in tkt_alloc_fail() */
    if (!atomic_load_explicit(&is_injecting, memory_order_acquire))
        return false;
    return !take_one(&injected_successes) && take_one(&injected_failures);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* Precedes each block. */
typedef struct header {
    size_t size;
    size_t mapped; /* bytes, if the kernel mapped the block; 0: the allocator made it */
} header;

_Static_assert(sizeof(header) == 16, "blocks are aligned for any type");

/* A block that a thread could not free at once, because it was busy recording. */
typedef struct waiting {
    header head;
    struct waiting *next;
} waiting;

static _Atomic(waiting *) to_free;

/* True inside the recorder. A signal handler that records may have interrupted malloc() or the
 * host's allocator, so the recorder's memory is mapped by the kernel, which such a handler may
 * call. That is rare: the recorder allocates in large pieces. Sanitizers must see all memory, so
 * they get false. */
static bool is_recording(void)
{
#if defined(TKT_ADDRESS_SANITIZER) || defined(TKT_THREAD_SANITIZER)
    return false;
#else
    return (takt_thread_hot_v1.busy & TKT_BUSY_INSIDE) != 0;
#endif
}

static size_t pages_for(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) & ~(page - 1);
}

static header *map_block(header *old, size_t bytes)
{
    size_t mapped = pages_for(bytes);
    void *block =
        old ? mremap(old, old->mapped, mapped, MREMAP_MAYMOVE)
            : mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        return NULL;
    ((header *)block)->mapped = mapped;
    return block;
}

/* The library may hold locks here, and the allocator may be instrumented, the C library's too.
 * Until it returns, its events are ignored, because the thread is inside the library. */
static uint64_t enter_allocator(void)
{
    takt_thread_v1 *thread = &takt_thread_hot_v1;
    uint64_t was_busy = thread->busy;
    thread->busy = was_busy | TAKT_BUSY | TKT_BUSY_HOST;
    tkt_lock_begins();
    return was_busy;
}

static void leave_allocator(uint64_t was_busy)
{
    tkt_lock_ends();
    takt_thread_hot_v1.busy = was_busy;
}

static header *ask_allocator(header *old, size_t bytes)
{
    uint64_t was = enter_allocator();
    header *block = host.resize ? host.resize(host.user, old, bytes) : realloc(old, bytes);
    leave_allocator(was);
    return block;
}

static void give_back(header *block)
{
    uint64_t was = enter_allocator();
    if (host.resize)
        host.resize(host.user, block, 0);
    else
        free(block);
    leave_allocator(was);
}

static void free_waiting(void)
{
    if (!atomic_load_explicit(&to_free, memory_order_relaxed))
        return;
    waiting *all = atomic_exchange_explicit(&to_free, NULL, memory_order_acquire);
    while (all) {
        waiting *next = all->next;
        give_back(&all->head);
        all = next;
    }
}

/* release: pairs with the acquire in free_waiting() */
static void free_later(header *block)
{
    waiting *mine = (waiting *)block;
    mine->next = atomic_load_explicit(&to_free, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&to_free, &mine->next, mine, memory_order_release,
                                                  memory_order_relaxed))
        continue;
}

static void free_block(header *block)
{
    if (block->mapped)
        munmap(block, block->mapped);
    else if (is_recording())
        free_later(block);
    else
        give_back(block);
}

/* Moves one of the allocator's blocks to a mapped one, while the allocator may not be called. */
static header *move_to_mapped(header *old, size_t bytes)
{
    header *block = map_block(NULL, bytes);
    if (!block)
        return NULL;
    memcpy(block + 1, old + 1, old->size < bytes - sizeof *old ? old->size : bytes - sizeof *old);
    free_block(old);
    return block;
}

/* A block has room for a `waiting`, so free_later() can use it as one. */
static size_t bytes_of(size_t size)
{
    size_t least = sizeof(waiting) - sizeof(header);
    return sizeof(header) + (size < least ? least : size);
}

void *tkt_alloc(size_t size)
{
    return tkt_resize(NULL, size);
}

void *tkt_alloc_mapped(size_t size)
{
    header *block = should_fail() ? NULL : map_block(NULL, bytes_of(size));
    if (!block)
        return NULL;
    block->size = size;
    return block + 1;
}

void *tkt_alloc_zeroed(size_t size)
{
    choose();
    if (is_recording() || host.resize || size > SIZE_MAX / 2) {
        void *pointer = tkt_resize(NULL, size);
        return pointer ? memset(pointer, 0, size) : NULL;
    }
    if (should_fail())
        return NULL;
    free_waiting();
    uint64_t was = enter_allocator();
    header *block = calloc(1, bytes_of(size)); /* fresh pages need no clearing */
    leave_allocator(was);
    if (!block)
        return NULL;
    *block = (header){size, 0};
    return block + 1;
}

void *tkt_resize(void *pointer, size_t size)
{
    header *old = pointer ? (header *)pointer - 1 : NULL;
    header *block;
    choose();
    if (should_fail() || size > SIZE_MAX / 2)
        return NULL;
    if (old && old->mapped) {
        block = map_block(old, bytes_of(size));
    } else if (is_recording()) {
        block = old ? move_to_mapped(old, bytes_of(size)) : map_block(NULL, bytes_of(size));
    } else {
        free_waiting();
        block = ask_allocator(old, bytes_of(size));
        if (block)
            block->mapped = 0;
    }
    if (!block)
        return NULL;
    block->size = size;
    return block + 1;
}

void tkt_free(void *pointer)
{
    if (pointer)
        free_block((header *)pointer - 1);
}

void *tkt_copy(const void *data, size_t size)
{
    void *copy = tkt_alloc(size);
    if (copy && size)
        memcpy(copy, data, size);
    return copy;
}

char *tkt_copy_string(const char *text)
{
    return text ? tkt_copy(text, strlen(text) + 1) : NULL;
}

void tkt_alloc_fail(uint64_t after, uint64_t failures)
{
    atomic_store_explicit(&injected_successes, after, memory_order_relaxed);
    atomic_store_explicit(&injected_failures, failures, memory_order_relaxed);
    /* release: pairs with the acquire in should_fail() */
    atomic_store_explicit(&is_injecting, failures != 0, memory_order_release);
}

takt_status takt_set_allocator(const takt_allocator *allocator)
{
    if (allocator && !allocator->resize)
        return TAKT_BAD_ARGUMENT;
    int seen = CHOICE_OPEN;
    if (!atomic_compare_exchange_strong_explicit(&choice, &seen, CHOICE_IN_PROGRESS,
                                                 memory_order_acquire, memory_order_relaxed))
        return TAKT_BAD_STATE;
    host = allocator ? *allocator : (takt_allocator){0};
    /* release: pairs with the acquires in choose() and close_choice() */
    atomic_store_explicit(&choice, CHOICE_OPEN, memory_order_release);
    return TAKT_OK;
}
