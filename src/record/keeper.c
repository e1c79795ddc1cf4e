/* Takt's thread that keeps memory ready, so that the program's threads neither fault on new pages
 * nor ask the kernel for more while they record. It looks after them instead of being woken: waking
 * is a system call. */
#include "record/keeper.h"

#include "base/lock.h"
#include "base/own.h"
#include "base/thread.h"
#include "record/control.h"
#include "record/log.h"

#define LEAST_MS 1u   /* while memory is being used up */
#define MOST_MS  10u  /* while it is not: what is ready lasts the fastest thread as long */
#define REST_MS  100u /* while nothing is recorded */

static struct {
    tkt_mutex lock;
    tkt_condition changed;
    tkt_thread thread;
    bool has_thread;
    uint32_t users;
    uint32_t generation; /* the thread of an earlier one ends */
    bool is_resting;     /* atomic */
} keeper = {.lock = TKT_MUTEX_INIT, .changed = TKT_CONDITION_INIT};

/* ---- The thread ------------------------------------------------------------------------------ */

typedef struct looking {
    tkt_pool_filling filling;
    uint32_t pause_ms;
    uint32_t since_ms; /* since it last asked whether it is alone */
} looking;

/* Fills up what has been used, and decides when to look again. */
static void look(looking *now)
{
    bool is_resting = !__atomic_load_n(&takt_switch_hot_v1.mask, __ATOMIC_RELAXED);
    __atomic_store_n(&keeper.is_resting, is_resting, __ATOMIC_RELAXED);
    if (is_resting)
        now->pause_ms = REST_MS;
    else if (tkt_pool_fill(&now->filling))
        now->pause_ms = LEAST_MS;
    else
        now->pause_ms = now->pause_ms * 2 < MOST_MS ? now->pause_ms * 2 : MOST_MS;
}

/* A program whose main() ends by pthread_exit() ends with its last thread: asks now and then
 * whether that is this one. */
static bool is_alone(looking *now)
{
    now->since_ms += now->pause_ms;
    if (now->since_ms < REST_MS)
        return false;
    now->since_ms = 0;
    return tkt_thread_is_last();
}

static void *keep(void *argument)
{
    TKT_OWN_WORK;
    uint32_t mine = (uint32_t)(uintptr_t)argument;
    looking now = {.pause_ms = LEAST_MS};
    tkt_mutex_lock(&keeper.lock);
    while (keeper.generation == mine && !is_alone(&now)) {
        tkt_mutex_unlock(&keeper.lock);
        look(&now);
        tkt_mutex_lock(&keeper.lock);
        if (keeper.generation == mine)
            tkt_condition_wait_for(&keeper.changed, &keeper.lock, now.pause_ms);
    }
    tkt_mutex_unlock(&keeper.lock);
    return NULL;
}

/* ---- Its life -------------------------------------------------------------------------------- */

void tkt_keeper_begin(void)
{
    tkt_mutex_lock(&keeper.lock);
    if (keeper.users++ == 0) {
        void *generation = (void *)(uintptr_t)++keeper.generation;
        keeper.has_thread =
            tkt_thread_start(&keeper.thread, "takt-memory", keep, generation) == TAKT_OK;
        tkt_pool_keep(keeper.has_thread);
    }
    tkt_mutex_unlock(&keeper.lock);
}

void tkt_keeper_end(void)
{
    tkt_thread ended;
    tkt_mutex_lock(&keeper.lock);
    bool has_ended = --keeper.users == 0 && keeper.has_thread;
    if (has_ended) {
        ended = keeper.thread;
        keeper.generation++;
        keeper.has_thread = false;
        tkt_pool_keep(false);
        tkt_condition_wake_all(&keeper.changed);
    }
    tkt_mutex_unlock(&keeper.lock);
    if (has_ended)
        tkt_thread_join(ended);
}

void tkt_keeper_wake(void)
{
    if (__atomic_load_n(&keeper.is_resting, __ATOMIC_RELAXED))
        tkt_condition_wake_all(&keeper.changed);
}

void tkt_keeper_forget(void)
{
    tkt_mutex_init(&keeper.lock);
    keeper.changed = (tkt_condition)TKT_CONDITION_INIT;
    keeper.has_thread = false;
    tkt_pool_keep(false);
}
