/* One door for all memory. The allocator may be swapped only while nothing came through the door
 * yet, because memory must go back to where it came from; so the first allocation closes the
 * choice, and a thread that allocates while another one is choosing waits for the choice. */
#include "base/alloc.h"

#include <takt/base.h>
#include <takt/scope.h>

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHOICE_OPEN,
    CHOICE_IN_PROGRESS,
    CHOICE_CLOSED
};

static atomic_int choice;
static takt_allocator host; /* resize NULL: the C library's */

/* What tkt_alloc_fail() asked for. The flag keeps the counters out of everyone else's way. */
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

/* Settles which allocator it is; true if it is the host's. */
static bool choose(void)
{
    /* acquire: pairs with the release at the end of takt_set_allocator() */
    if (atomic_load_explicit(&choice, memory_order_acquire) != CHOICE_CLOSED)
        close_choice();
    return host.resize != NULL;
}

/* Takes one from a counter; false when it is used up. UINT64_MAX is never used up. */
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

/* An empty block is one byte, so that NULL means no memory and nothing else. */
static size_t at_least_one(size_t size)
{
    return size ? size : 1;
}

/* The library may hold locks here, and the host's allocator may be instrumented: what it records is
 * ignored until it returns, as it is inside the library. */
static void *call_host(void *pointer, size_t size)
{
    takt_thread_v1 *thread = &takt_thread_hot_v1;
    uint64_t was_busy = thread->is_busy;
    thread->is_busy = 1;
    void *result = host.resize(host.user, pointer, size);
    thread->is_busy = was_busy;
    return result;
}

void *tkt_alloc(size_t size)
{
    return tkt_resize(NULL, size);
}

void *tkt_alloc_zeroed(size_t size)
{
    bool has_host = choose();
    if (should_fail())
        return NULL;
    if (!has_host)
        return calloc(1, at_least_one(size)); /* fresh pages need no clearing */
    void *pointer = call_host(NULL, at_least_one(size));
    return pointer ? memset(pointer, 0, size) : NULL;
}

void *tkt_resize(void *pointer, size_t size)
{
    bool has_host = choose();
    if (should_fail())
        return NULL;
    return has_host ? call_host(pointer, at_least_one(size)) : realloc(pointer, at_least_one(size));
}

void tkt_free(void *pointer)
{
    if (!pointer)
        return;
    if (host.resize)
        call_host(pointer, 0);
    else
        free(pointer);
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
    /* release: pairs with the acquires in chosen() and close_choice() */
    atomic_store_explicit(&choice, CHOICE_OPEN, memory_order_release);
    return TAKT_OK;
}
