/* Every reported address is kept with its size, so that a free knows what it gives back: in maps of
 * their own locks, chosen by address, so that threads seldom meet. Totals are atomic. */
#include "record/memory.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/thread.h"
#include "record/control.h"
#include "record/log.h"
#include "record/slot.h"

#include <takt/memory.h>

#define SHARDS 16u

typedef struct shard {
    tkt_mutex lock;
    tkt_map sizes; /* address -> bytes + 1 */
} shard;

static shard shards[SHARDS] = {
#define FOUR                                                                                       \
    {TKT_MUTEX_INIT, {0}}, {TKT_MUTEX_INIT, {0}}, {TKT_MUTEX_INIT, {0}},                           \
    {                                                                                              \
        TKT_MUTEX_INIT,                                                                            \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }
    FOUR, FOUR, FOUR, FOUR
#undef FOUR
};
static tkt_memory_state totals; /* atomic, relaxed */

static shard *shard_of(const void *address)
{
    return &shards[tkt_hash_u64((uint64_t)(uintptr_t)address) % SHARDS];
}

/* Stores the size of an address, which may be reported twice; returns the size it had. */
static uint64_t remember(const void *address, uint64_t bytes)
{
    shard *s = shard_of(address);
    uint64_t before = 0;
    tkt_mutex_lock(&s->lock);
    uint64_t *size = tkt_map_put(&s->sizes, (uint64_t)(uintptr_t)address);
    if (size) {
        before = *size ? *size - 1 : 0;
        *size = bytes + 1;
    }
    tkt_mutex_unlock(&s->lock);
    return before;
}

/* Whether the address was known; its size goes to *bytes. */
static bool forget(const void *address, uint64_t *bytes)
{
    shard *s = shard_of(address);
    tkt_mutex_lock(&s->lock);
    const uint64_t *size = tkt_map_get(&s->sizes, (uint64_t)(uintptr_t)address);
    bool is_known = size != NULL;
    if (is_known) {
        *bytes = *size - 1;
        tkt_map_remove(&s->sizes, (uint64_t)(uintptr_t)address);
    }
    tkt_mutex_unlock(&s->lock);
    return is_known;
}

static void raise_peak(uint64_t current, uint64_t ticks)
{
    uint64_t peak = __atomic_load_n(&totals.peak_bytes, __ATOMIC_RELAXED);
    while (current > peak) {
        if (__atomic_compare_exchange_n(&totals.peak_bytes, &peak, current, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
            __atomic_store_n(&totals.peak_ticks, ticks, __ATOMIC_RELAXED);
            return;
        }
    }
}

static void record(const void *address, int64_t bytes, uint64_t ticks)
{
    if (!takt_is_on(TAKT_NORMAL_BIT) || !tkt_record_has(TKT_MEMORY))
        return;
    tkt_thread_log *log = tkt_log_enter();
    if (!log)
        return;
    takt_record *slot = tkt_log_reserve(log, 3);
    if (slot) {
        uint32_t depth = tkt_log_depth(log);
        slot[0] = (takt_record){ticks, 0, tkt_slot_tag(TKT_SLOT_MEMORY, depth)};
        slot[1] =
            (takt_record){(uint64_t)(uintptr_t)address, 0, tkt_slot_tag(TKT_SLOT_MORE, depth)};
        slot[2] = (takt_record){(uint64_t)bytes, 0, tkt_slot_tag(TKT_SLOT_MORE, depth)};
        tkt_log_publish(log, slot + 3);
    }
    tkt_log_leave(log);
}

void takt_memory_allocated(const void *address, size_t bytes)
{
    if (!address || tkt_record_is_refused())
        return;
    uint64_t ticks = tkt_ticks();
    uint64_t lost = remember(address, bytes);
    uint64_t current = __atomic_add_fetch(&totals.current_bytes, bytes - lost, __ATOMIC_RELAXED);
    __atomic_fetch_add(&totals.allocations, 1, __ATOMIC_RELAXED);
    raise_peak(current, ticks);
    if (lost != 0) /* its free was not reported; without an event, events would add up to more */
        record(address, (int64_t)(0 - lost), ticks);
    record(address, (int64_t)bytes, ticks);
}

void takt_memory_freed(const void *address)
{
    uint64_t bytes;
    if (!address || tkt_record_is_refused())
        return;
    if (!forget(address, &bytes)) {
        __atomic_fetch_add(&totals.unmatched_frees, 1, __ATOMIC_RELAXED);
        return;
    }
    __atomic_fetch_sub(&totals.current_bytes, bytes, __ATOMIC_RELAXED);
    __atomic_fetch_add(&totals.frees, 1, __ATOMIC_RELAXED);
    record(address, (int64_t)(0 - bytes), tkt_ticks());
}

tkt_memory_state tkt_memory_now(void)
{
    return (tkt_memory_state){
        __atomic_load_n(&totals.current_bytes, __ATOMIC_RELAXED),
        __atomic_load_n(&totals.peak_bytes, __ATOMIC_RELAXED),
        __atomic_load_n(&totals.peak_ticks, __ATOMIC_RELAXED),
        __atomic_load_n(&totals.allocations, __ATOMIC_RELAXED),
        __atomic_load_n(&totals.frees, __ATOMIC_RELAXED),
        __atomic_load_n(&totals.unmatched_frees, __ATOMIC_RELAXED),
    };
}
