/* The modes of recording, and mismatched begins and ends. */
#include "record/control.h"

#include "base/error.h"
#include "base/lock.h"
#include "base/thread.h"
#include "record/allocations.h"
#include "record/keeper.h"
#include "record/log.h"
#include "record/mapping.h"
#include "record/scope.h"
#include "record/site.h"

#include <stdbool.h>

/* ======== Modes of recording ======== */

TAKT_API takt_switch_v1 takt_switch_hot_v1;
tkt_control tkt_record_control;

/* A forked child has one thread, and copies of locks that other threads may have held: it records
 * nothing and takes no lock. But if nobody can have held one, the child starts afresh. */
static bool is_quiet;

static void check_before_fork(void)
{
    is_quiet = !__atomic_load_n(&tkt_record_control.modes, __ATOMIC_RELAXED) &&
               !__atomic_load_n(&takt_switch_hot_v1.mask, __ATOMIC_RELAXED) &&
               !tkt_record_is_running() && !(takt_thread_hot_v1.busy & TKT_BUSY_INSIDE) &&
               tkt_thread_is_only();
}

static void disable_in_child(void)
{
    if (is_quiet) {
        tkt_log_detach();
        return;
    }
    tkt_process_disable();
    __atomic_store_n(&takt_switch_hot_v1.mask, 0, __ATOMIC_RELAXED);
    tkt_log_shut();
    tkt_keeper_forget();
}

static void watch_forks(void)
{
    tkt_process_mark();
    tkt_record_watch_unload();
    tkt_around_fork(check_before_fork, NULL, disable_in_child);
}

void tkt_record_watch_forks(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
}

void tkt_record_run(bool is_running)
{
    tkt_record_watch_forks();
    __atomic_fetch_add(&tkt_record_control.running, is_running ? 1 : UINT32_MAX, __ATOMIC_RELAXED);
}

void tkt_record_settle(uint64_t ticks)
{
    __atomic_store_n(&tkt_record_control.settled_ticks, ticks, __ATOMIC_RELAXED);
}

tkt_boundary tkt_record_bound(void)
{
    uint64_t ticks = tkt_ticks();
    uint64_t number = __atomic_add_fetch(&tkt_record_control.boundary, 1, __ATOMIC_RELAXED);
    return (tkt_boundary){number, ticks};
}

void tkt_record_move(uint32_t number, uint64_t ticks)
{
    if (number < TKT_PLACES)
        __atomic_store_n(&tkt_record_control.open_ticks[number], ticks, __ATOMIC_RELAXED);
}

uint32_t tkt_record_open(uint64_t ticks)
{
    uint32_t number = 0;
    while (number < TKT_PLACES &&
           __atomic_load_n(&tkt_record_control.open_ticks[number], __ATOMIC_RELAXED))
        number++;
    if (number < TKT_PLACES)
        __atomic_store_n(&tkt_record_control.longest_ticks[number], 0, __ATOMIC_RELAXED);
    tkt_record_move(number, ticks);
    return number;
}

void tkt_record_close(uint32_t number)
{
    tkt_record_move(number, 0);
}

static void keep_most(uint64_t *most, uint64_t value)
{
    uint64_t now = __atomic_load_n(most, __ATOMIC_RELAXED);
    while (value > now && !__atomic_compare_exchange_n(most, &now, value, true, __ATOMIC_RELAXED,
                                                       __ATOMIC_RELAXED))
        continue;
}

void tkt_record_note_own(uint64_t begin_ticks)
{
    tkt_control *control = &tkt_record_control;
    uint64_t ticks = tkt_ticks() - begin_ticks;
    for (uint32_t i = 0; i < TKT_PLACES; i++) {
        uint64_t from = __atomic_load_n(&control->open_ticks[i], __ATOMIC_RELAXED);
        if (from && from <= begin_ticks)
            keep_most(&control->longest_ticks[i], ticks);
    }
}

uint64_t tkt_record_longest(uint32_t number)
{
    return number < TKT_PLACES
               ? __atomic_load_n(&tkt_record_control.longest_ticks[number], __ATOMIC_RELAXED)
               : 0;
}

tkt_excused tkt_record_excused(uint32_t number)
{
    tkt_control *control = &tkt_record_control;
    tkt_excused found = {.folded = __atomic_load_n(&control->folded, __ATOMIC_RELAXED)};
    if (number < TKT_PLACES) {
        found.dropped = __atomic_load_n(&control->excused[number].dropped, __ATOMIC_RELAXED);
        found.dropped_read =
            __atomic_load_n(&control->excused[number].dropped_read, __ATOMIC_RELAXED);
        found.overwritten =
            __atomic_load_n(&control->excused[number].overwritten, __ATOMIC_RELAXED);
        found.overwritten_read =
            __atomic_load_n(&control->excused[number].overwritten_read, __ATOMIC_RELAXED);
    }
    return found;
}

void tkt_record_set(uint32_t modes, uint64_t mask)
{
    if (tkt_process_is_disabled())
        return;
    tkt_record_watch_forks();
    tkt_control *control = &tkt_record_control;
    if (mask & ~TAKT_WORK_BIT)
        mask |= TAKT_SCOPES_BIT;
    bool is_begun = mask && !__atomic_load_n(&takt_switch_hot_v1.mask, __ATOMIC_RELAXED);
    if (is_begun) {
        __atomic_fetch_add(&control->epoch, 1, __ATOMIC_RELAXED);
        __atomic_store_n(&control->began_ticks, tkt_ticks(), __ATOMIC_RELAXED);
    }
    /* A thread that finds its site switched on may find the modes of before for some nanoseconds.
     */
    __atomic_store_n(&control->modes, modes, __ATOMIC_RELEASE);
    __atomic_store_n(&takt_switch_hot_v1.mask, mask, __ATOMIC_RELEASE);
    if (is_begun)
        tkt_keeper_wake();
}

/* ======== Mismatched begins and ends ======== */

#define PLACES 64u /* further ones count as losses only */

typedef struct place {
    uint32_t key; /* (site << 2 | cause) + 1; 0: free; atomic */
    uint64_t count;
    uint64_t reported;
} place;

static place places[PLACES];

/* Returns the entry of `key`, a new one if need be; NULL when all are in use. */
static place *place_of(uint32_t key)
{
    for (uint32_t i = 0; i < PLACES; i++) {
        uint32_t seen = 0;
        if (__atomic_compare_exchange_n(&places[i].key, &seen, key, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED) ||
            seen == key)
            return &places[i];
    }
    return NULL;
}

void tkt_mismatch_count(tkt_mismatch cause, uint32_t site)
{
    place *here = place_of((site << 2 | (uint32_t)cause) + 1);
    if (here)
        __atomic_fetch_add(&here->count, 1, __ATOMIC_RELAXED);
}

static const char *text_of(tkt_mismatch cause)
{
    static const char *const texts[] = {
        [TKT_END_WITHOUT_BEGIN] = "ended without a begin",
        [TKT_CLOSED_BY_ANOTHER] = "was still open when a scope around it ended",
        [TKT_OPEN_AT_EXIT] = "was still open when its thread ended",
        [TKT_TOO_DEEP] = "was not recorded: too many scopes are open",
    };
    return texts[cause];
}

static void report(uint32_t key, uint64_t counted)
{
    unsigned long long count = counted;
    const tkt_site *site = key >> 2 ? tkt_site_get(key >> 2) : NULL;
    const char *text = text_of((tkt_mismatch)(key & 3));
    const char *times = count == 1 ? "time" : "times";
    if (!site)
        tkt_log(TAKT_LOG_WARNING, "takt_end() %s (%llu %s)", text, count, times);
    else if (site->file.size == 0)
        tkt_log(TAKT_LOG_WARNING, "scope '%s' %s (%llu %s)", site->name.bytes, text, count, times);
    else
        tkt_log(TAKT_LOG_WARNING, "scope '%s' at %s:%u %s (%llu %s)", site->name.bytes,
                site->file.bytes, site->line, text, count, times);
}

void tkt_mismatch_report(void)
{
    for (uint32_t i = 0; i < PLACES; i++) {
        uint32_t key = __atomic_load_n(&places[i].key, __ATOMIC_RELAXED);
        uint64_t count = __atomic_load_n(&places[i].count, __ATOMIC_RELAXED);
        uint64_t before = __atomic_load_n(&places[i].reported, __ATOMIC_RELAXED);
        while (count > before &&
               !__atomic_compare_exchange_n(&places[i].reported, &before, count, false,
                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            ; /* another thread reports at the same time, perhaps more */
        if (key && count > before)
            report(key - 1, count - before);
    }
}

/* ======== Unloading ======== */

/* When a plugin that contains Takt is closed, the recorder's memory is freed. The C library also
 * forgets the code that it would call when threads end. Threads that go on no longer use Takt. */

static void unload(void)
{
    tkt_thread_exits_forget();
    __atomic_store_n(&takt_switch_hot_v1.mask, 0, __ATOMIC_RELAXED);
    if (__atomic_load_n(&tkt_record_control.modes, __ATOMIC_RELAXED) || tkt_record_is_running())
        return; /* a profiler was never stopped, and its threads use all this */
    tkt_log_free_all();
    tkt_pool_free_all();
    tkt_site_free_all();
    tkt_stack_free_all();
    tkt_task_free_all();
    tkt_address_forget_all();
    tkt_mapping_free();
    tkt_process_unmark();
}

void tkt_record_watch_unload(void)
{
    tkt_at_unload(unload);
}
