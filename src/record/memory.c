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

/* Of addresses in all: so many find room in a quarter of max_memory. */
#define ADDRESS_BYTES   32u
#define LEAST_ADDRESSES (UINT64_C(1) << 15)
static uint64_t most_addresses = UINT64_C(1) << 21; /* atomic */

void tkt_memory_limit(uint64_t max_bytes)
{
    uint64_t most = max_bytes / 4 / ADDRESS_BYTES;
    __atomic_store_n(&most_addresses, most < LEAST_ADDRESSES ? LEAST_ADDRESSES : most,
                     __ATOMIC_RELAXED);
}

static shard *shard_of(const void *address)
{
    return &shards[tkt_hash_u64((uint64_t)(uintptr_t)address) % SHARDS];
}

/* Stores the size of an address, which may be reported twice, and gives the size it had. False when
 * there is no room for it. */
static bool remember(const void *address, uint64_t bytes, uint64_t *before)
{
    shard *s = shard_of(address);
    uint64_t was = tkt_busy_lock(&s->lock);
    bool is_full = s->sizes.count >= __atomic_load_n(&most_addresses, __ATOMIC_RELAXED) / SHARDS &&
                   !tkt_map_get(&s->sizes, (uint64_t)(uintptr_t)address);
    uint64_t *size = is_full ? NULL : tkt_map_put(&s->sizes, (uint64_t)(uintptr_t)address);
    if (size) {
        *before = *size ? *size - 1 : 0;
        *size = bytes + 1;
    }
    tkt_busy_unlock(&s->lock, was);
    if (!size)
        tkt_log_lose(takt_thread_hot_v1.log, TAKT_LOSS_ADDRESSES);
    return size != NULL;
}

/* Whether the address was known; its size goes to *bytes. */
static bool forget(const void *address, uint64_t *bytes)
{
    shard *s = shard_of(address);
    uint64_t was = tkt_busy_lock(&s->lock);
    const uint64_t *size = tkt_map_get(&s->sizes, (uint64_t)(uintptr_t)address);
    bool is_known = size != NULL;
    if (is_known) {
        *bytes = *size - 1;
        tkt_map_remove(&s->sizes, (uint64_t)(uintptr_t)address);
    }
    tkt_busy_unlock(&s->lock, was);
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
        tkt_slot_write(slot, (takt_record){ticks, 0, tkt_slot_tag(TKT_SLOT_MEMORY, depth)});
        tkt_slot_write(slot + 1, (takt_record){(uint64_t)(uintptr_t)address, 0,
                                               tkt_slot_tag(TKT_SLOT_MORE, depth)});
        tkt_slot_write(slot + 2,
                       (takt_record){(uint64_t)bytes, 0, tkt_slot_tag(TKT_SLOT_MORE, depth)});
        tkt_log_publish(log, slot + 3);
    }
    tkt_log_leave(log);
}

void takt_memory_allocated(const void *address, size_t bytes)
{
    if (!address || tkt_log_refuses())
        return;
    uint64_t ticks = tkt_ticks();
    uint64_t lost = 0;
    if (!remember(address, bytes, &lost))
        return;
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
    if (!address || tkt_log_refuses())
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

void tkt_memory_free_all(void)
{
    for (uint32_t i = 0; i < SHARDS; i++)
        tkt_map_fini(&shards[i].sizes);
}
