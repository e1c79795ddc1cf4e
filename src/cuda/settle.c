/* The end of a window: waits for the work that it launched, and asks devices whether they have done
 * it. */
#include "cuda/cuda.h"

#include "cuda/collector.h"
#include "cuda/store.h"

#include <takt/base.h>

/* ======== Waiting ======== */

/* Activities arrive when CUPTI gives a buffer back: once the buffer is full and complete, or at a
 * flush if it is complete. The end of a window therefore flushes at once, then less and less often,
 * down to the collector's own pace. In between it looks at what arrived without a flush. The
 * program's threads are not disturbed.
 *
 * A forced flush also brings the finished records of incomplete buffers, but discards the
 * unfinished ones. These may belong to this window, a later window or an open timer. It is the last
 * resort: after a timeout if nobody else waits, or when a device has failed and nothing will finish
 * any more. */

#define FIRST_PAUSE_MS 1u
#define LAST_PAUSE_MS  150u /* the collector's own pace */
#define STALLED_NS     UINT64_C(5000000000)
#define REST_NS        UINT64_C(500000000)

/* The devices' progress so far. */
typedef struct progress {
    uint64_t arrived; /* position of the store */
    uint64_t since_ns;
    uint64_t complete_ns; /* since when no activity is missing and no body has come; 0: one is */
    uint64_t bodies;      /* that have come */
} progress;

/* True if no activity has arrived for so long that waiting is no use. Many windows may end one
 * after another: if the previous wait ended this way and nothing has arrived since, a tenth of the
 * time is enough. */
static bool is_stalled(progress *p)
{
    static uint64_t stalled_at = UINT64_MAX; /* atomic: position of the store */
    uint64_t arrived = tkt_store_position(), now_ns = takt_now_ns();
    if (arrived != p->arrived)
        *p = (progress){arrived, now_ns, p->complete_ns, p->bodies};
    bool was_stalled = __atomic_load_n(&stalled_at, __ATOMIC_RELAXED) == arrived;
    bool is_stalled = now_ns - p->since_ns > (was_stalled ? STALLED_NS / 10 : STALLED_NS);
    if (is_stalled)
        __atomic_store_n(&stalled_at, arrived, __ATOMIC_RELAXED);
    return is_stalled;
}

static bool is_complete(const tkt_settling *how)
{
    return how->is_complete && how->is_complete(how->user);
}

/* Checks whether the window is complete until the next flush is due. True: nothing is missing. */
static bool look_around(const tkt_settling *how, uint64_t until_ns)
{
    for (uint64_t now_ns; (now_ns = takt_now_ns()) < until_ns;) {
        uint64_t turns = tkt_collector_look(0).turns;
        if (!how->wants_rest && is_complete(how))
            return true;
        tkt_collector_wait(turns, (uint32_t)((until_ns - now_ns) / 1000000 + 1));
    }
    return false;
}

/* When no activity is missing: true if there is nothing else to wait for. As long as bodies come,
 * so may others. */
static bool has_rest(const tkt_settling *how, progress *p, uint64_t now_ns)
{
    uint64_t bodies = tkt_store_bodies();
    if (!p->complete_ns || bodies != p->bodies)
        p->complete_ns = now_ns;
    p->bodies = bodies;
    return !how->wants_rest || now_ns - p->complete_ns >= REST_NS;
}

typedef enum outcome {
    COMPLETE,
    GIVEN_UP,
    BROKEN,
    GONE /* the collector hangs, or the process exits */
} outcome;

static outcome wait_for_devices(const tkt_settling *how, uint64_t ticket)
{
    uint64_t begin_ns = takt_now_ns(), end_ns = begin_ns + how->timeout_ms * UINT64_C(1000000);
    progress p = {tkt_store_position(), begin_ns, 0, 0};
    for (uint32_t pause_ms = FIRST_PAUSE_MS;;
         pause_ms = pause_ms * 2 < LAST_PAUSE_MS ? pause_ms * 2 : LAST_PAUSE_MS) {
        if (!tkt_collector_flush(false))
            return GONE;
        tkt_collector_view view = tkt_collector_look(ticket);
        uint64_t now_ns = takt_now_ns(), next_ns = now_ns + pause_ms * UINT64_C(1000000);
        if (view.is_settled || (is_complete(how) && has_rest(how, &p, now_ns)))
            return COMPLETE;
        if (view.is_broken)
            return BROKEN;
        if (view.is_gone)
            return GONE;
        if (now_ns >= end_ns || is_stalled(&p))
            return GIVEN_UP;
        if (look_around(how, next_ns < end_ns ? next_ns : end_ns))
            return COMPLETE;
    }
}

bool tkt_cuda_settle(const tkt_settling *how)
{
    if (!tkt_collector_is_collecting())
        return true;
    if (!how->synchronize) {
        tkt_collector_flush(false);
        return false;
    }
    outcome end = wait_for_devices(how, tkt_collector_ticket());
    bool may_force = how->must_force || (how->may_force && how->may_force(how->user));
    if (end == BROKEN || (end == GIVEN_UP && may_force))
        tkt_collector_flush(true);
    return end == COMPLETE || is_complete(how);
}

/* ======== Whether devices are done ======== */

/* cuCtxRecordEvent() covers all work that a context has been given, on all its streams, and makes
 * no stream wait. Unlike cuCtxSynchronize() it does not block the collector. It would invalidate a
 * capture, so Takt calls it only while no capture is known to be under way. */

typedef struct walk {
    tkt_idle_mark *mark;
    bool is_pending;
    bool is_broken;
} walk;

static tkt_idle_state visit_contexts(const tkt_driver *driver, tkt_idle_mark *mark,
                                     tkt_context_visitor visitor)
{
    walk w = {.mark = mark};
    if (!tkt_driver_visit(driver, visitor, &w) || w.is_broken)
        return TKT_IDLE_BROKEN;
    return w.is_pending ? TKT_IDLE_NOT_YET : TKT_IDLE_DONE;
}

static void note(walk *w, int status)
{
    w->is_broken |= tkt_driver_is_sticky(status);
    w->is_pending |= status == TKT_CUDA_NOT_READY;
}

/* Finds out whether the current context has failed: then no event can be created. */
static void probe(const tkt_driver *driver, walk *w)
{
    void *event = NULL;
    note(w, driver->event_create(&event, TKT_EVENT_UNTIMED));
    if (event)
        driver->event_destroy(event);
}

/* Records an event in the current context. */
static bool record(const tkt_driver *driver, void *user)
{
    walk *w = user;
    tkt_idle_event *item = &w->mark->items[w->mark->count];
    if (w->mark->count == TKT_IDLE_CONTEXTS || !tkt_event_context_of(driver, NULL, &item->context))
        return false;
    item->event = tkt_event_take(driver, &item->context, false);
    if (!item->event) {
        probe(driver, w);
        return false;
    }
    int status = driver->context_record(item->context.handle, item->event);
    note(w, status);
    if (status == TKT_CUDA_SUCCESS)
        w->mark->count++;
    else
        tkt_event_give(driver, item->context.key, false, item->event);
    return false;
}

tkt_idle_state tkt_idle_begin(const tkt_driver *driver, tkt_idle_mark *mark)
{
    mark->count = 0;
    if (!driver->context_record)
        return tkt_driver_synchronize(driver) ? TKT_IDLE_DONE : TKT_IDLE_NOT_YET;
    if (!tkt_capture_hold())
        return TKT_IDLE_NOT_YET;
    tkt_idle_state result = visit_contexts(driver, mark, record);
    tkt_capture_release();
    return result;
}

/* Queries the events of the current context, and gives back the finished ones. */
static bool look(const tkt_driver *driver, void *user)
{
    walk *w = user;
    tkt_event_context context;
    bool is_queried = false;
    if (!tkt_event_context_of(driver, NULL, &context))
        return false;
    tkt_idle_event *end = w->mark->items + w->mark->count;
    for (tkt_idle_event *item = w->mark->items; item < end; item++) {
        if (item->context.key != context.key || !item->event)
            continue;
        int status = driver->event_query(item->event);
        is_queried = true;
        note(w, status);
        if (status == TKT_CUDA_NOT_READY)
            continue;
        tkt_event_give(driver, context.key, false, item->event);
        item->event = NULL;
    }
    if (!is_queried)
        probe(driver, w);
    return false;
}

tkt_idle_state tkt_idle_look(const tkt_driver *driver, tkt_idle_mark *mark)
{
    return visit_contexts(driver, mark, look);
}
