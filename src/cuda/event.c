/* CUDA events: the public ones of takt/event.h, the pool, and their positions in time. */
#include "cuda/event.h"

#include "base/alloc.h"
#include "base/containers.h"
#include "base/lock.h"
#include "base/own.h"
#include "cuda/cuda.h"

#include <math.h>

/* ======== The public events ======== */

/* The public events of takt/event.h. An event gets its CUevent when it is first recorded, because
 * only then its context is known. */

struct takt_event {
    void *handle; /* CUevent; NULL until it is recorded */
    uint64_t context_key;
    bool is_timed;
    bool is_in_graph; /* a graph may record it at any time, so it must not go to the pool */
};

takt_status takt_event_create(takt_event_kind kind, takt_event **out)
{
    if (!out)
        return TAKT_BAD_ARGUMENT;
    if (!tkt_cuda_is_used() || !tkt_driver_get())
        return TAKT_UNSUPPORTED;
    takt_event *event = tkt_alloc_zeroed(sizeof *event);
    if (!event)
        return TAKT_NO_MEMORY;
    event->is_timed = kind == TAKT_EVENT_TIMED;
    *out = event;
    return TAKT_OK;
}

/* Makes the CUevent, if there is none yet. An event inside a graph needs a new one: until the graph
 * has run, one from the pool would still have the times of its earlier use. */
static takt_status give_handle(const tkt_driver *driver, takt_event *event, void *stream,
                               bool is_captured)
{
    tkt_event_context context;
    if (event->handle)
        return TAKT_OK;
    if (!tkt_event_context_of(driver, stream, &context))
        return TAKT_BAD_STATE;
    event->handle =
        (is_captured ? tkt_event_new : tkt_event_take)(driver, &context, event->is_timed);
    event->context_key = context.key;
    return event->handle ? TAKT_OK : TAKT_NO_MEMORY;
}

/* Records an external event node. A plain record during a capture would only be a dependency
 * between nodes, and the program could neither wait for the event nor time it. */
static takt_status record_in_graph(const tkt_driver *driver, takt_event *event, void *stream)
{
    if (!driver->event_record_with_flags)
        return TAKT_UNSUPPORTED;
    event->is_in_graph = true;
    return tkt_event_status(
        driver->event_record_with_flags(event->handle, stream, TKT_EVENT_RECORD_EXTERNAL));
}

takt_status takt_event_record(takt_event *event, void *stream)
{
    const tkt_driver *driver = tkt_driver_get();
    if (!event)
        return TAKT_BAD_ARGUMENT;
    if (!driver)
        return TAKT_UNSUPPORTED;
    tkt_capture capture = tkt_event_capture(driver, stream);
    takt_status status = capture == TKT_CAPTURE_FORBIDS
                             ? TAKT_BAD_STATE
                             : give_handle(driver, event, stream, capture == TKT_CAPTURE_YES);
    if (status != TAKT_OK)
        return status;
    if (capture == TKT_CAPTURE_YES)
        return record_in_graph(driver, event, stream);
    return tkt_event_status(driver->event_record(event->handle, stream));
}

/* Queries the event, or waits for it. */
static takt_status query_or_wait(const takt_event *event, bool may_wait)
{
    const tkt_driver *driver = tkt_driver_get();
    if (!event)
        return TAKT_BAD_ARGUMENT;
    if (!driver || !event->handle)
        return driver ? TAKT_BAD_STATE : TAKT_UNSUPPORTED;
    int mode = TKT_CAPTURE_MODE_RELAXED; /* or it would end captures, also of other threads */
    bool is_set = driver->capture_mode && driver->capture_mode(&mode) == TKT_CUDA_SUCCESS;
    int result =
        may_wait ? driver->event_synchronize(event->handle) : driver->event_query(event->handle);
    if (is_set)
        driver->capture_mode(&mode);
    return tkt_event_status(result);
}

takt_status takt_event_query(takt_event *event)
{
    return query_or_wait(event, false);
}

takt_status takt_event_synchronize(takt_event *event)
{
    return query_or_wait(event, true);
}

static takt_status elapsed(const takt_event *begin, const takt_event *end, bool may_wait,
                           double *ms)
{
    float between;
    if (!ms)
        return TAKT_BAD_ARGUMENT;
    takt_status status = query_or_wait(begin, may_wait);
    if (status == TAKT_OK)
        status = query_or_wait(end, may_wait);
    if (status == TAKT_OK)
        status =
            tkt_event_status(tkt_driver_get()->event_elapsed(&between, begin->handle, end->handle));
    if (status == TAKT_OK)
        *ms = (double)between;
    return status;
}

takt_status takt_event_elapsed_ms(takt_event *begin, takt_event *end, double *ms)
{
    TKT_OWN_WORK;
    return elapsed(begin, end, true, ms);
}

takt_status takt_event_elapsed_now_ms(takt_event *begin, takt_event *end, double *ms)
{
    TKT_OWN_WORK;
    return elapsed(begin, end, false, ms);
}

void takt_event_destroy(takt_event *event)
{
    const tkt_driver *driver = tkt_driver_get();
    if (!event)
        return;
    if (driver && event->handle && event->is_in_graph)
        driver->event_destroy(event->handle);
    else if (driver)
        tkt_event_give(driver, event->context_key, event->is_timed, event->handle);
    tkt_free(event);
}

/* ======== The pool ======== */

/* Creating an event costs more than recording one, so events go back to a pool of their context.
 * The lock is never held across a call into the driver. */

#define POOL_KEEPS (2 * TKT_MARKS)

/* Streams up to this number are fixed handles, not objects: the default one, CU_STREAM_LEGACY and
 * CU_STREAM_PER_THREAD. */
#define LAST_NAMED_STREAM 2

typedef struct pool {
    uint64_t context;
    bool is_timed;
    TKT_ARRAY_OF(void *) events;
} pool;

static tkt_mutex pool_lock = TKT_MUTEX_INIT;
static TKT_ARRAY_OF(pool) pools;

takt_status tkt_event_status(int result)
{
    switch (result) {
    case TKT_CUDA_SUCCESS:
        return TAKT_OK;
    case TKT_CUDA_OUT_OF_MEMORY:
        return TAKT_NO_MEMORY;
    case TKT_CUDA_NOT_READY:
        return TAKT_NOT_READY;
    default:
        return TAKT_BAD_STATE;
    }
}

/* Returns the context's id where the driver has one. After a reset a primary context may come back
 * at its old address, but with a new id. */
static uint64_t key_of(const tkt_driver *driver, void *context)
{
    unsigned long long id;
    if (driver->context_id && driver->context_id(context, &id) == 0)
        return id;
    return (uintptr_t)context;
}

bool tkt_event_context_of(const tkt_driver *driver, void *stream, tkt_event_context *out)
{
    void *context = NULL;
    if ((uintptr_t)stream > LAST_NAMED_STREAM && driver->stream_context &&
        driver->stream_context(stream, &context) != 0)
        context = NULL;
    if (!context && driver->context_current(&context) != 0)
        context = NULL;
    if (!context)
        return false;
    *out = (tkt_event_context){context, key_of(driver, context)};
    return true;
}

bool tkt_event_context_push(const tkt_driver *driver, const tkt_event_context *context)
{
    tkt_event_context now;
    if (!context->handle || driver->context_push(context->handle) != TKT_CUDA_SUCCESS)
        return false;
    if (tkt_event_context_of(driver, NULL, &now) && now.handle == context->handle &&
        now.key == context->key)
        return true;
    driver->context_pop(&now.handle);
    return false;
}

tkt_capture tkt_event_capture(const tkt_driver *driver, void *stream)
{
    int status = 0;
    if (driver->stream_is_capturing && driver->stream_is_capturing(stream, &status) != 0)
        return TKT_CAPTURE_FORBIDS;
    return status ? TKT_CAPTURE_YES : TKT_CAPTURE_NO;
}

static pool *find_pool(uint64_t context, bool is_timed)
{
    for (size_t i = pools.count; i-- > 0;)
        if (pools.items[i].context == context && pools.items[i].is_timed == is_timed)
            return &pools.items[i];
    return NULL;
}

static void *take_pooled(uint64_t context, bool is_timed)
{
    tkt_mutex_lock(&pool_lock);
    pool *from = find_pool(context, is_timed);
    void *event = from && from->events.count ? from->events.items[--from->events.count] : NULL;
    tkt_mutex_unlock(&pool_lock);
    return event;
}

void *tkt_event_new(const tkt_driver *driver, const tkt_event_context *context, bool is_timed)
{
    void *event = NULL, *current = NULL;
    driver->context_current(&current);
    bool is_other = current != context->handle;
    if (is_other && driver->context_push(context->handle) != 0)
        return NULL;
    if (driver->event_create(&event, is_timed ? 0 : TKT_EVENT_UNTIMED) != 0)
        event = NULL;
    if (is_other)
        driver->context_pop(&current);
    return event;
}

void *tkt_event_take(const tkt_driver *driver, const tkt_event_context *context, bool is_timed)
{
    void *event = take_pooled(context->key, is_timed);
    return event ? event : tkt_event_new(driver, context, is_timed);
}

static bool give_pooled(uint64_t context, bool is_timed, void *event)
{
    pool *to = find_pool(context, is_timed);
    if (!to && (to = TKT_ARRAY_ADD(&pools)))
        *to = (pool){.context = context, .is_timed = is_timed};
    void **place = to && to->events.count < POOL_KEEPS ? TKT_ARRAY_ADD(&to->events) : NULL;
    if (place)
        *place = event;
    return place;
}

void tkt_event_give(const tkt_driver *driver, uint64_t context_key, bool is_timed, void *event)
{
    if (!event)
        return;
    tkt_mutex_lock(&pool_lock);
    bool is_pooled = give_pooled(context_key, is_timed, event);
    tkt_mutex_unlock(&pool_lock);
    if (!is_pooled)
        driver->event_destroy(event);
}

int tkt_event_between(const tkt_driver *driver, void *begin, void *end, int64_t *ns)
{
    float ms = 0;
    int result = driver->event_elapsed(&ms, begin, end);
    *ns = llround((double)ms * 1e6);
    return result;
}

/* ======== Where events lie in time ======== */

/* Finds where a context's events lie in time. An event recorded on an idle stream is done within
 * some microseconds, so its time lies between the clock readings around it: it is an anchor. All
 * other events are placed by their distance from the anchor.
 *
 * CUDA gives distances as a float of milliseconds, so the anchor must be near: it is renewed each
 * second. A new anchor keeps the time that the old one predicts for it, as long as this lies in its
 * bracket. Activities then do not jump at each renewal, and errors do not add up. */

#define RENEW_NS UINT64_C(1000000000)
#define RETRY_NS UINT64_C(50000000) /* while there is no anchor */
#define WAIT_NS  UINT64_C(2000000)
#define FAR_NS                                                                                     \
    INT64_C(4000000000) /* from here on a float of milliseconds is coarser than half a             \
                         * microsecond */
#define TRIES 8

/* Ticks before an event was recorded, and after it was done. */
typedef struct bracket {
    uint64_t begin;
    uint64_t end;
} bracket;

static bool try_bracket(const tkt_driver *driver, void *stream, void *event, uint64_t wait_ticks,
                        bracket *out)
{
    int result;
    out->begin = tkt_ticks();
    if (driver->event_record(event, stream) != TKT_CUDA_SUCCESS)
        return false;
    do {
        result = driver->event_query(event);
        out->end = tkt_ticks();
    } while (result == TKT_CUDA_NOT_READY && out->end - out->begin < wait_ticks);
    return result == TKT_CUDA_SUCCESS;
}

/* Finds the narrowest of some brackets; events[0] is its event. False if the device was too busy to
 * finish an event in time; the next attempt may succeed. */
static bool find_bracket(const tkt_driver *driver, void *stream, void *events[2],
                         uint64_t wait_ticks, bracket *best)
{
    *best = (bracket){0, UINT64_MAX};
    for (int i = 0; i < TRIES; i++) {
        bracket next;
        if (!try_bracket(driver, stream, events[1], wait_ticks, &next))
            break;
        if (next.end - next.begin >= best->end - best->begin)
            continue;
        void *event = events[0];
        events[0] = events[1];
        events[1] = event;
        *best = next;
    }
    return best->end != UINT64_MAX;
}

static uint64_t time_of(const tkt_driver *driver, const tkt_anchor *old, void *event,
                        const bracket *at, const tkt_clock_fit *fit)
{
    uint64_t earliest = tkt_clock_ns(fit, at->begin), latest = tkt_clock_ns(fit, at->end);
    int64_t since;
    if (!old->event || tkt_event_between(driver, old->event, event, &since) != TKT_CUDA_SUCCESS ||
        since > FAR_NS)
        return earliest + (latest - earliest) / 2;
    uint64_t ns = old->ns + (uint64_t)since;
    return ns < earliest ? earliest : ns > latest ? latest : ns;
}

static tkt_clock_pair pair_of(const bracket *at, const tkt_clock_fit *fit)
{
    uint64_t width = at->end - at->begin;
    uint64_t middle = at->begin + width / 2;
    return (tkt_clock_pair){.ticks = middle,
                            .cupti_ns = tkt_clock_ns(fit, middle),
                            .bracket_ticks = width < UINT32_MAX ? (uint32_t)width : UINT32_MAX};
}

bool tkt_anchor_is_due(const tkt_anchor *anchor, const tkt_clock_fit *fit)
{
    uint64_t pause_ns = anchor->event ? RENEW_NS : RETRY_NS;
    return tkt_clock_ns(fit, tkt_ticks()) - anchor->tried_ns >= pause_ns;
}

bool tkt_anchor_renew(const tkt_driver *driver, const tkt_event_context *context,
                      const tkt_clock_fit *fit, tkt_anchor *anchor, tkt_clock_pair *pair)
{
    uint64_t wait_ticks = (uint64_t)(((tkt_int128)WAIT_NS << 32) / (tkt_int128)fit->ns_per_tick);
    bracket at;
    anchor->tried_ns = tkt_clock_ns(fit, tkt_ticks());
    if (!anchor->stream &&
        driver->stream_create(&anchor->stream, TKT_STREAM_NON_BLOCKING) != TKT_CUDA_SUCCESS)
        return false;
    void *events[2] = {tkt_event_take(driver, context, true),
                       tkt_event_take(driver, context, true)};
    bool is_new =
        events[0] && events[1] && find_bracket(driver, anchor->stream, events, wait_ticks, &at);
    if (is_new) {
        uint64_t ns = time_of(driver, anchor, events[0], &at, fit);
        void *old = anchor->event;
        anchor->event = events[0];
        anchor->ns = ns;
        *pair = pair_of(&at, fit);
        events[0] = old;
    }
    tkt_event_give(driver, context->key, true, events[0]);
    tkt_event_give(driver, context->key, true, events[1]);
    return is_new;
}
