/* Threads that end. A key of the C library's tells of most of them, and the log goes to the next
 * thread. But its destructors come in rounds, and there is a last one: a host's own destructor that
 * records after it has a log that nobody is going to take back. So a log's thread is never believed
 * to be there. What looks at its hot state asks the kernel for a copy, and whoever needs a log
 * looks whose owners are gone.
 *
 * A thread that has begun to end takes the slow path with each event, which notes in the log where
 * the thread is. So nothing that it records is lost with its hot state. A thread that is new takes
 * it at first, too: for all that Takt knows, it ends already. */
#include "record/log.h"

#include "base/clock.h"
#include "base/thread.h"
#include "record/control.h"
#include "record/scope.h"

/* ThreadSanitizer sees no order in the kernel's copies: for it, what is published is read again. */
static void read_published(takt_thread_v1 *out, const takt_thread_v1 *thread)
{
#ifdef __SANITIZE_THREAD__
    out->cursor = __atomic_load_n(&thread->cursor, __ATOMIC_ACQUIRE);
    out->top = __atomic_load_n(&thread->top, __ATOMIC_ACQUIRE);
#else
    (void)out;
    (void)thread;
#endif
}

/* What the thread in the log says of itself; false when its memory is gone, or being cleared for
 * another thread. */
static bool peek(const tkt_thread_log *log, takt_thread_v1 *out)
{
    if (log->thread == &takt_thread_hot_v1)
        *out = *log->thread;
    else if (!tkt_thread_peek(out, log->thread, sizeof *out))
        return false;
    else
        read_published(out, log->thread);
    return out->log == log && out->cursor;
}

bool tkt_log_locate(const tkt_thread_log *log, tkt_log_place *place)
{
    takt_thread_v1 seen;
    bool is_there = log->thread && peek(log, &seen);
    if (is_there)
        *place = (tkt_log_place){seen.cursor, seen.top};
    else
        *place = (tkt_log_place){__atomic_load_n(&log->rest, __ATOMIC_ACQUIRE),
                                 __atomic_load_n(&log->rest_top, __ATOMIC_ACQUIRE)};
    return is_there;
}

/* Ends what `thread`, which lives in the log, has left open. */
static void leave_log(tkt_thread_log *log, const takt_thread_v1 *thread)
{
    tkt_scope_unwind(log, 0, tkt_ticks(), TKT_OPEN_AT_EXIT);
    tkt_mutex_lock(&log->lock);
    log->rest = thread->cursor;
    log->rest_top = log->frames;
    log->thread = NULL;
    tkt_mutex_unlock(&log->lock);
}

static void on_thread_exit(void *value)
{
    tkt_thread_log *log = value;
    takt_thread_v1 *thread = &takt_thread_hot_v1;
    if (tkt_process_is_disabled() || thread->log != log)
        return;
    tkt_busy_begin();
    leave_log(log, thread);
    tkt_log_forget_thread();
    tkt_log_give(log);
    tkt_busy_end(TAKT_BUSY | TKT_BUSY_ENDING);
}

bool tkt_log_watch_thread(tkt_thread_log *log)
{
    return tkt_thread_at_exit(on_thread_exit, log) == TAKT_OK;
}

bool tkt_log_reclaim(tkt_thread_log *log)
{
    tkt_log_place place;
    tkt_mutex_lock(&log->lock);
    bool is_gone =
        log->thread && (!tkt_log_locate(log, &place) || tkt_thread_is_gone(log->mark.thread_id));
    takt_thread_v1 ghost = {.log = log};
    if (is_gone) {
        ghost.cursor = place.cursor;
        ghost.top = place.top;
        log->thread = &ghost;
    }
    tkt_mutex_unlock(&log->lock);
    if (is_gone)
        leave_log(log, &ghost);
    return is_gone;
}
