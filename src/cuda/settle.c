/* The end of a window: waits for the work that it launched, and asks devices whether they have done
 * it, without harm to streams that are being captured. */
#include "cuda/cuda.h"

#include "base/own.h"
#include "base/thread.h"
#include "cuda/collector.h"
#include "cuda/store.h"

#include <takt/base.h>

#include <stdatomic.h>

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
#define STALLED_MS     5000u
#define REST_NS        UINT64_C(20000000)

/* The devices' progress so far. */
typedef struct progress {
    uint64_t arrived;     /* position of the store */
    uint64_t since_ns;    /* when it became this, or when a device was last seen at work */
    uint64_t complete_ns; /* since when no launch lacks its activities and no body has come; 0: one
                           * does */
    uint64_t bodies;      /* that have come */
    tkt_completeness state; /* when last asked */
} progress;

/* True if no activity has arrived for so long that waiting is no use, though no device is known to
 * be at work. Many windows may end one after another: if the previous wait ended this way and
 * nothing has arrived since, a tenth of the time is enough. */
static bool is_stalled(progress *p, bool is_busy)
{
    static uint64_t stalled_at = UINT64_MAX; /* atomic: position of the store */
    uint64_t arrived = tkt_store_position(), now_ns = takt_now_ns();
    if (arrived != p->arrived || is_busy) {
        p->arrived = arrived;
        p->since_ns = now_ns;
    }
    bool was_stalled = __atomic_load_n(&stalled_at, __ATOMIC_RELAXED) == arrived;
    uint64_t limit_ns = tkt_patience_ms(STALLED_MS) * UINT64_C(1000000);
    bool is_stalled = now_ns - p->since_ns > (was_stalled ? limit_ns / 10 : limit_ns);
    if (is_stalled)
        __atomic_store_n(&stalled_at, arrived, __ATOMIC_RELAXED);
    return is_stalled;
}

static tkt_completeness is_complete(const tkt_settling *how)
{
    return how->is_complete ? how->is_complete(how->user) : TKT_LACKING;
}

/* Checks whether the window is complete until the next flush is due. True: nothing is missing. */
static bool look_around(const tkt_settling *how, uint64_t until_ns)
{
    for (uint64_t now_ns; (now_ns = takt_now_ns()) < until_ns;) {
        uint64_t turns = tkt_collector_look(0).turns;
        if (!how->wants_rest && is_complete(how) == TKT_COMPLETE)
            return true;
        tkt_collector_wait(turns, (uint32_t)((until_ns - now_ns) / 1000000 + 1));
    }
    return false;
}

/* Nothing of which the number is known is missing: true if there is nothing else to wait for. What
 * graphs may lack has arrived a moment after their streams were done, and records of memory are
 * there as soon as their calls return, whatever the devices do. As long as bodies come, so may
 * others. */
static bool has_rest(const tkt_settling *how, progress *p, bool are_graphs_done)
{
    uint64_t bodies = tkt_store_bodies(), now_ns = takt_now_ns();
    tkt_completeness state = p->state = is_complete(how);
    if (state == TKT_COMPLETE && !how->wants_rest)
        return true;
    bool may_be_all = state == TKT_COMPLETE || (state == TKT_LACKS_GRAPHS && are_graphs_done);
    if (!may_be_all || bodies != p->bodies)
        p->complete_ns = 0;
    else if (!p->complete_ns)
        p->complete_ns = now_ns;
    p->bodies = bodies;
    return p->complete_ns && now_ns - p->complete_ns >= REST_NS;
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
    progress p = {.arrived = tkt_store_position(), .since_ns = begin_ns};
    for (uint32_t pause_ms = FIRST_PAUSE_MS;;
         pause_ms = pause_ms * 2 < LAST_PAUSE_MS ? pause_ms * 2 : LAST_PAUSE_MS) {
        /* Asked before the flush that brings what they have done, and only if it matters. */
        bool are_graphs_done =
            p.state == TKT_LACKS_GRAPHS && tkt_graph_streams_are_done(tkt_driver_get());
        if (!tkt_collector_flush(false))
            return GONE;
        tkt_collector_view view = tkt_collector_look(ticket);
        uint64_t now_ns = takt_now_ns();
        if (view.is_settled || has_rest(how, &p, are_graphs_done))
            return COMPLETE;
        if (view.is_broken)
            return BROKEN;
        if (view.is_gone)
            return GONE;
        if (now_ns >= end_ns || is_stalled(&p, view.is_busy))
            return GIVEN_UP;
        uint64_t next_ns = now_ns + pause_ms * UINT64_C(1000000);
        if (p.complete_ns && next_ns > p.complete_ns + REST_NS)
            next_ns = p.complete_ns + REST_NS;
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
    return end == COMPLETE || is_complete(how) == TKT_COMPLETE;
}

/* ======== Captures ======== */

/* Two counters, and each side raises its own before it reads the other. Either the capture sees a
 * waiting thread and lets it finish, or that thread sees the capture and does not wait. This needs
 * sequential consistency on both sides.
 *
 * No callback has told of captures that began before CUPTI was in use. For some time after that
 * Takt asks, at each launch of a kernel, whether its stream is being captured. Where one was, there
 * may be more. */

#define MOST_TURNS 2000u /* of a millisecond each */
#define DOUBT_NS   UINT64_C(10000000000)

static _Atomic(uint32_t) captures;
static _Atomic(uint32_t) holders;
static _Atomic(uint64_t) doubt_until_ns; /* 0: all captures are known */
static _Atomic(bool) is_one_found;

void tkt_capture_begin(void)
{
    atomic_fetch_add(&captures, 1);
    for (uint32_t turn = 0; atomic_load(&holders) > 0 && turn < MOST_TURNS; turn++)
        tkt_thread_pause_ms(1); /* polling will do: captures and waits are rare */
}

void tkt_capture_end(void)
{
    uint32_t count = atomic_load(&captures);
    while (count > 0 && !atomic_compare_exchange_weak(&captures, &count, count - 1))
        ; /* 0: the capture began before callbacks were enabled */
}

void tkt_capture_doubt(void)
{
    atomic_store(&doubt_until_ns, takt_now_ns() + DOUBT_NS);
}

/* Returns `otherwise` where that cannot be asked. */
static bool is_captured(void *stream, bool otherwise)
{
    const tkt_driver *driver = tkt_driver_get();
    int status = 0;
    if (!stream || !driver || !driver->stream_is_capturing)
        return otherwise;
    tkt_driver_call call = tkt_driver_begin(driver);
    bool is_known = driver->stream_is_capturing(stream, &status) == TKT_CUDA_SUCCESS;
    tkt_driver_end(driver, call);
    return is_known ? status != 0 : otherwise;
}

uint32_t tkt_capture_count(void)
{
    return atomic_load(&captures);
}

bool tkt_capture_is_doubtful(void)
{
    return atomic_load_explicit(&doubt_until_ns, memory_order_relaxed) != 0;
}

bool tkt_capture_find(void *stream)
{
    if (takt_now_ns() > atomic_load(&doubt_until_ns))
        atomic_store(&doubt_until_ns, 0);
    bool is_known = atomic_load(&captures) > 0, is_found = is_captured(stream, is_known);
    if (is_found && !is_known)
        atomic_store(&is_one_found, true);
    return is_found;
}

static bool may_be_capturing(void)
{
    return atomic_load(&captures) > 0 ||
           (atomic_load(&is_one_found) && takt_now_ns() < atomic_load(&doubt_until_ns));
}

void tkt_capture_delay(void)
{
    atomic_fetch_add(&holders, 1);
}

bool tkt_capture_hold(void)
{
    tkt_capture_delay();
    if (!may_be_capturing())
        return true;
    tkt_capture_release();
    return false;
}

void tkt_capture_release(void)
{
    atomic_fetch_sub(&holders, 1);
}

/* ======== Whether devices are done ======== */

/* cuCtxRecordEvent() covers all work that a context has been given, on all its streams, and makes
 * no stream wait. Unlike cuCtxSynchronize() it does not block the collector. It would invalidate a
 * capture, so Takt calls it only while no capture is known. */

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

/* ---- Drivers before 12.5 --------------------------------------------------------------------- */

/* They lack cuCtxRecordEvent(), so a thread of its own waits for all contexts. One at a time: a
 * later moment has to wait until it has returned. */

enum {
    NOT_WAITING,
    WAITING,
    WAITED,
    SKIPPED /* because of a capture */
};

static _Atomic(int) waiting;

static void *wait_for_contexts(void *unused)
{
    TKT_OWN_WORK;
    const tkt_driver *driver = tkt_driver_get();
    bool are_idle = driver && tkt_driver_synchronize(driver);
    atomic_store(&waiting, are_idle ? WAITED : SKIPPED);
    return unused;
}

static bool start_waiting(void)
{
    tkt_thread thread;
    if (atomic_load(&waiting) == WAITING)
        return false;
    atomic_store(&waiting, WAITING);
    if (tkt_thread_start(&thread, "takt-cuda-wait", wait_for_contexts, NULL) == TAKT_OK) {
        tkt_thread_detach(thread);
        return true;
    }
    atomic_store(&waiting, NOT_WAITING);
    return false;
}

static bool has_waited(void)
{
    int now = atomic_load(&waiting);
    if (now == SKIPPED)
        start_waiting();
    return now == WAITED;
}

/* ---- Marks ----------------------------------------------------------------------------------- */

/* Finds out whether the current context has failed: then no event can be created. */
static void probe(const tkt_driver *driver, walk *w)
{
    void *event = NULL;
    note(w, driver->event_create(&event, TKT_EVENT_UNTIMED));
    if (event)
        driver->event_destroy(event);
}

/* Finds out whether a mark would spoil a capture in the current context. */
static bool find_near_capture(const tkt_driver *driver, void *user)
{
    walk *w = user;
    w->is_pending = tkt_driver_is_capture_near(driver);
    return w->is_pending;
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
    mark->is_waiting = !driver->context_record && start_waiting();
    if (!driver->context_record)
        return mark->is_waiting ? TKT_IDLE_DONE : TKT_IDLE_NOT_YET;
    if (!tkt_capture_hold())
        return TKT_IDLE_NOT_YET;
    tkt_idle_state result = visit_contexts(driver, mark, find_near_capture);
    if (result == TKT_IDLE_DONE)
        result = visit_contexts(driver, mark, record);
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
    if (mark->is_waiting && !has_waited())
        return TKT_IDLE_NOT_YET;
    mark->is_waiting = false;
    return visit_contexts(driver, mark, look);
}
