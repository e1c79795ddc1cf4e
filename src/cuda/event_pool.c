/* Creating an event costs more than recording one, so events go back to a pool of their context.
 * The lock is never held across a call into the driver. */
#include "cuda/event.h"

#include "base/containers.h"
#include "base/thread.h"

#include <math.h>

#define POOL_KEEPS (2 * TKT_MARKS)

/* Streams up to this one are names, not objects: the default one, CU_STREAM_LEGACY and
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

/* A primary context may come back at its old address after a reset: its number does not. */
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

bool tkt_event_between(const tkt_driver *driver, void *begin, void *end, int64_t *ns)
{
    float ms;
    if (driver->event_elapsed(&ms, begin, end) != 0)
        return false;
    *ns = llround((double)ms * 1e6);
    return true;
}
