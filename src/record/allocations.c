/* The memory that the program reports. Every address is kept with its size, so a free knows how
 * much it gives back: see allocations.h. The allocated bytes and their peak are one atomic number
 * each for all threads, since a peak computed from several numbers would be a guess. */
#include "record/allocations.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/own.h"
#include "base/thread.h"
#include "record/control.h"
#include "record/fast.h"
#include "record/log.h"
#include "record/slot.h"

#include <takt/memory.h>

#include <string.h>

TAKT_API uint32_t takt_memory_on_v1 = 1;

static struct __attribute__((aligned(64))) {
    uint64_t current_bytes; /* all atomic, relaxed; written with the lock of a table */
    tkt_memory_peak peak;
    tkt_memory_peak high; /* since tkt_memory_mark(), so at most the peak */
} totals;

/* ---- Events ---------------------------------------------------------------------------------- */

static inline bool is_recorded(void)
{
    return takt_is_on(TAKT_NORMAL_BIT) && tkt_record_has(TKT_MEMORY);
}

static TKT_APART void record(const void *address, int64_t bytes, uint64_t ticks)
{
    tkt_thread_log *log = tkt_log_enter();
    if (!log)
        return;
    takt_record *slot = tkt_log_reserve(log, 3);
    if (slot) {
        bool is_hidden = log->thread->top->depth & TAKT_FRAME_HIDES;
        uint32_t depth = is_hidden ? 0 : tkt_log_depth(log);
        tkt_slot_write(slot, (takt_record){ticks, 0, tkt_slot_tag(TKT_SLOT_MEMORY, depth)});
        tkt_slot_write(slot + 1, (takt_record){(uint64_t)(uintptr_t)address, 0,
                                               tkt_slot_tag(TKT_SLOT_MORE, depth)});
        tkt_slot_write(slot + 2,
                       (takt_record){(uint64_t)bytes, 0, tkt_slot_tag(TKT_SLOT_MORE, depth)});
        tkt_log_publish(log, slot + 3);
    }
    tkt_log_leave(log);
}

/* ---- Reports of the program ------------------------------------------------------------------ */

static inline bool is_refused(void)
{
    uint64_t unusual = takt_thread_hot_v1.busy | (uintptr_t)tkt_own_work_now;
    return TAKT_UNLIKELY(unusual || tkt_process_is_disabled()) &&
           (tkt_own_work_now || tkt_log_refuses());
}

static void raise_peak(tkt_memory_peak *peak, uint64_t current, uint64_t ticks)
{
    uint64_t bytes = __atomic_load_n(&peak->bytes, __ATOMIC_RELAXED);
    while (current > bytes) {
        if (__atomic_compare_exchange_n(&peak->bytes, &bytes, current, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
            __atomic_store_n(&peak->ticks, ticks, __ATOMIC_RELAXED);
            return;
        }
    }
}

static TKT_APART void raise_peaks(uint64_t current, uint64_t ticks)
{
    ticks = ticks ? ticks : tkt_ticks();
    raise_peak(&totals.high, current, ticks);
    raise_peak(&totals.peak, current, ticks);
}

/* Remembers an address, which may be reported twice, and returns the size that it had. `ticks` may
 * be 0. False when there is no room for it. */
static inline bool remember_address(uint64_t address, uint64_t bytes, uint64_t ticks,
                                    uint64_t *before)
{
    uint64_t hash = tkt_address_hash(address);
    tkt_address_table *table = tkt_address_table_of(hash);
    uint64_t was = tkt_busy_begin();
    tkt_spin_lock(&table->lock);
    tkt_address *slot = tkt_address_put(table, address, hash);
    if (slot) {
        *before = slot->bytes;
        slot->bytes = bytes;
        tkt_address_count(&table->allocations);
        uint64_t current =
            __atomic_add_fetch(&totals.current_bytes, bytes - *before, __ATOMIC_RELAXED);
        if (TAKT_UNLIKELY(current > __atomic_load_n(&totals.high.bytes, __ATOMIC_RELAXED)))
            raise_peaks(current, ticks);
    }
    tkt_spin_unlock(&table->lock);
    tkt_busy_end(was);
    return slot != NULL;
}

/* Removes an address, and returns its size. False when it is unknown. */
static inline bool forget_address(uint64_t address, uint64_t *bytes)
{
    uint64_t hash = tkt_address_hash(address);
    tkt_address_table *table = tkt_address_table_of(hash);
    uint64_t was = tkt_busy_begin();
    tkt_spin_lock(&table->lock);
    bool is_known = tkt_address_take(table, address, hash, bytes);
    if (TAKT_LIKELY(is_known)) {
        tkt_address_count(&table->frees);
        __atomic_fetch_sub(&totals.current_bytes, *bytes, __ATOMIC_RELAXED);
    } else {
        tkt_address_count(&table->unmatched_frees);
    }
    tkt_spin_unlock(&table->lock);
    tkt_busy_end(was);
    return is_known;
}

void takt_memory_allocated_v1(const void *address, size_t bytes)
{
    uint64_t before;
    if (!address || is_refused())
        return;
    uint64_t ticks = TAKT_UNLIKELY(is_recorded()) ? tkt_ticks() : 0;
    if (TAKT_UNLIKELY(!remember_address((uint64_t)(uintptr_t)address, bytes, ticks, &before))) {
        tkt_log_lose(takt_thread_hot_v1.log, TAKT_LOSS_ADDRESSES);
        return;
    }
    if (TAKT_LIKELY(!ticks))
        return;
    if (before != 0) /* its free was not reported; the events must not add up to more */
        record(address, (int64_t)(0 - before), ticks);
    record(address, (int64_t)bytes, ticks);
}

void takt_memory_freed_v1(const void *address)
{
    uint64_t bytes;
    if (!address || is_refused() || !forget_address((uint64_t)(uintptr_t)address, &bytes))
        return;
    if (TAKT_UNLIKELY(is_recorded()))
        record(address, (int64_t)(0 - bytes), tkt_ticks());
}

/* ---- Totals ---------------------------------------------------------------------------------- */

static tkt_mutex interest_lock = TKT_MUTEX_INIT;
static bool are_totals_kept = true; /* lock */
static uint32_t watchers;           /* lock */
static bool were_totals_left;       /* atomic */

static void set_peak(tkt_memory_peak *peak, uint64_t bytes, uint64_t ticks)
{
    __atomic_store_n(&peak->bytes, bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&peak->ticks, ticks, __ATOMIC_RELAXED);
}

static tkt_memory_peak get_peak(const tkt_memory_peak *peak)
{
    return (tkt_memory_peak){__atomic_load_n(&peak->bytes, __ATOMIC_RELAXED),
                             __atomic_load_n(&peak->ticks, __ATOMIC_RELAXED)};
}

/* With the lock. After a pause, nobody knows what was missed, so everything starts from 0. */
static void follow_interest(void)
{
    bool is_on = are_totals_kept || watchers > 0;
    if (is_on == takt_memory_on_v1)
        return;
    uint64_t was = tkt_address_lock_all();
    tkt_address_forget_all();
    __atomic_store_n(&totals.current_bytes, 0, __ATOMIC_RELAXED);
    set_peak(&totals.peak, 0, 0);
    set_peak(&totals.high, 0, 0);
    __atomic_store_n(&takt_memory_on_v1, is_on, __ATOMIC_RELAXED);
    tkt_address_unlock_all(was);
}

void takt_memory_keep_totals(bool keep)
{
    if (tkt_process_is_disabled())
        return;
    tkt_record_watch_forks();
    tkt_mutex_lock(&interest_lock);
    are_totals_kept = keep;
    if (!keep)
        __atomic_store_n(&were_totals_left, true, __ATOMIC_RELAXED);
    follow_interest();
    tkt_mutex_unlock(&interest_lock);
}

void tkt_memory_watch(bool is_watching)
{
    tkt_mutex_lock(&interest_lock);
    watchers += is_watching ? 1u : -1u;
    follow_interest();
    tkt_mutex_unlock(&interest_lock);
}

/* Shuts out all reports, so that none is missed between the number and the mark. */
void tkt_memory_mark(void)
{
    uint64_t was = tkt_address_lock_all();
    set_peak(&totals.high, __atomic_load_n(&totals.current_bytes, __ATOMIC_RELAXED), tkt_ticks());
    tkt_address_unlock_all(was);
}

__attribute__((cold)) tkt_memory_state tkt_memory_now(void)
{
    tkt_memory_state now = {
        .current_bytes = __atomic_load_n(&totals.current_bytes, __ATOMIC_RELAXED),
        .peak = get_peak(&totals.peak),
        .high = get_peak(&totals.high),
        .is_since_start = !__atomic_load_n(&were_totals_left, __ATOMIC_RELAXED),
    };
    for (uint32_t i = 0; i < TKT_ADDRESS_TABLES; i++) {
        const tkt_address_table *table = &tkt_address_tables[i];
        now.allocations += __atomic_load_n(&table->allocations, __ATOMIC_RELAXED);
        now.frees += __atomic_load_n(&table->frees, __ATOMIC_RELAXED);
        now.unmatched_frees += __atomic_load_n(&table->unmatched_frees, __ATOMIC_RELAXED);
    }
    return now;
}

void tkt_memory_limit(uint64_t max_bytes)
{
    tkt_address_limit(max_bytes / 4);
}
