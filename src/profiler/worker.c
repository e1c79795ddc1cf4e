#include "profiler/worker.h"

#include "base/thread.h"

static void append(tkt_cycle **list, tkt_cycle *cycle)
{
    while (*list)
        list = &(*list)->next;
    cycle->next = NULL;
    *list = cycle;
}

static tkt_cycle *take_first(tkt_cycle **list)
{
    tkt_cycle *cycle = *list;
    if (cycle)
        *list = cycle->next;
    return cycle;
}

void tkt_worker_init(tkt_worker *worker)
{
    *worker = (tkt_worker){.lock = TKT_MUTEX_INIT, .changed = TKT_CONDITION_INIT};
}

static void finish(tkt_worker *worker, tkt_cycle *cycle)
{
    append(&worker->done, cycle);
    worker->open--;
    /* release: pairs with the acquire in tkt_worker_take() */
    __atomic_store_n(&worker->has_done, true, __ATOMIC_RELEASE);
    tkt_condition_wake_all(&worker->changed);
}

static void *run(void *argument)
{
    tkt_worker *worker = argument;
    tkt_mutex_lock(&worker->lock);
    for (;;) {
        tkt_cycle *cycle = take_first(&worker->waiting);
        if (cycle) {
            tkt_mutex_unlock(&worker->lock);
            tkt_cycle_seal(cycle);
            tkt_mutex_lock(&worker->lock);
            finish(worker, cycle);
        } else if (worker->is_ended) {
            break;
        } else {
            tkt_condition_wait(&worker->changed, &worker->lock);
        }
    }
    tkt_mutex_unlock(&worker->lock);
    return NULL;
}

void tkt_worker_submit(tkt_worker *worker, tkt_cycle *cycle, bool in_foreground)
{
    if (!in_foreground && !worker->has_thread)
        worker->has_thread = tkt_thread_start(&worker->thread, "takt", run, worker) == TAKT_OK;
    if (in_foreground || !worker->has_thread)
        tkt_cycle_seal(cycle);
    tkt_mutex_lock(&worker->lock);
    worker->open++;
    if (cycle->window) {
        append(&worker->waiting, cycle);
        tkt_condition_wake_all(&worker->changed);
    } else {
        finish(worker, cycle);
    }
    tkt_mutex_unlock(&worker->lock);
}

tkt_cycle *tkt_worker_take(tkt_worker *worker)
{
    if (!__atomic_load_n(&worker->has_done, __ATOMIC_ACQUIRE))
        return NULL;
    tkt_mutex_lock(&worker->lock);
    tkt_cycle *cycle = take_first(&worker->done);
    if (!worker->done)
        __atomic_store_n(&worker->has_done, false, __ATOMIC_RELAXED);
    tkt_mutex_unlock(&worker->lock);
    return cycle;
}

void tkt_worker_wait(tkt_worker *worker)
{
    tkt_mutex_lock(&worker->lock);
    while (worker->open > 0)
        tkt_condition_wait(&worker->changed, &worker->lock);
    tkt_mutex_unlock(&worker->lock);
}

void tkt_worker_fini(tkt_worker *worker)
{
    if (tkt_process_is_disabled()) /* the thread did not come along into the forked child */
        return;
    tkt_mutex_lock(&worker->lock);
    worker->is_ended = true;
    tkt_condition_wake_all(&worker->changed);
    tkt_mutex_unlock(&worker->lock);
    if (worker->has_thread)
        tkt_thread_join(worker->thread);
    for (tkt_cycle *cycle; (cycle = take_first(&worker->done)) != NULL;)
        tkt_cycle_destroy(cycle);
    tkt_mutex_fini(&worker->lock);
}
