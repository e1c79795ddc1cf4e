#include "record/control.h"

#include "base/thread.h"
#include "record/log.h"

TAKT_API takt_switch_v1 takt_switch_hot_v1;
tkt_control tkt_record_control;

/* A forked child has one thread and copies of locks that others may have held: it records nothing
 * and touches none of them. Unless nobody could have held one: then it begins anew. */
static bool is_quiet;

static void look_before_fork(void)
{
    is_quiet = !__atomic_load_n(&tkt_record_control.modes, __ATOMIC_RELAXED) &&
               !__atomic_load_n(&takt_switch_hot_v1.mask, __ATOMIC_RELAXED) &&
               !__atomic_load_n(&tkt_record_control.running, __ATOMIC_RELAXED) &&
               !(takt_thread_hot_v1.busy & TKT_BUSY_INSIDE) && tkt_thread_is_only();
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
}

static void watch_forks(void)
{
    tkt_process_mark();
    tkt_record_watch_unload();
    tkt_around_fork(look_before_fork, NULL, disable_in_child);
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
    uint64_t *settled = &tkt_record_control.settled_ticks;
    uint64_t before = __atomic_load_n(settled, __ATOMIC_RELAXED);
    while (before < ticks && !__atomic_compare_exchange_n(settled, &before, ticks, true,
                                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

void tkt_record_set(uint32_t modes, uint64_t mask)
{
    if (tkt_process_is_disabled())
        return;
    tkt_record_watch_forks();
    tkt_control *control = &tkt_record_control;
    if (mask && !__atomic_load_n(&takt_switch_hot_v1.mask, __ATOMIC_RELAXED)) {
        __atomic_fetch_add(&control->epoch, 1, __ATOMIC_RELAXED);
        __atomic_store_n(&control->began_ticks, tkt_ticks(), __ATOMIC_RELAXED);
    }
    /* release: a thread that finds its site switched on finds the modes too */
    __atomic_store_n(&control->modes, modes, __ATOMIC_RELEASE);
    __atomic_store_n(&takt_switch_hot_v1.mask, mask, __ATOMIC_RELEASE);
}
