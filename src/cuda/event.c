/* The public events of takt/event.h. What they hold of CUDA is taken when they are first recorded,
 * because only then it is known for which context. */
#include "cuda/event.h"

#include "base/alloc.h"
#include "cuda/cuda.h"

struct takt_event {
    void *handle; /* CUevent; NULL until it is recorded */
    uint64_t context_key;
    bool is_timed;
    bool is_in_graph; /* whose launches record it at any time: not for the pool */
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

/* An event that goes into a graph is a new one: until the graph has run, one from the pool would
 * tell the times that it was recorded at before. */
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

/* A plain record while capturing would only be a dependency between nodes: the event could be
 * neither waited for nor timed. */
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

/* Calls one of the driver's functions that take an event alone. */
static takt_status ask(const takt_event *event, bool may_wait)
{
    const tkt_driver *driver = tkt_driver_get();
    if (!event)
        return TAKT_BAD_ARGUMENT;
    if (!driver || !event->handle)
        return driver ? TAKT_BAD_STATE : TAKT_UNSUPPORTED;
    return tkt_event_status(may_wait ? driver->event_synchronize(event->handle)
                                     : driver->event_query(event->handle));
}

takt_status takt_event_query(takt_event *event)
{
    return ask(event, false);
}

takt_status takt_event_synchronize(takt_event *event)
{
    return ask(event, true);
}

static takt_status elapsed(const takt_event *begin, const takt_event *end, bool may_wait,
                           double *ms)
{
    float between;
    if (!ms)
        return TAKT_BAD_ARGUMENT;
    takt_status status = ask(begin, may_wait);
    if (status == TAKT_OK)
        status = ask(end, may_wait);
    if (status == TAKT_OK)
        status =
            tkt_event_status(tkt_driver_get()->event_elapsed(&between, begin->handle, end->handle));
    if (status == TAKT_OK)
        *ms = (double)between;
    return status;
}

takt_status takt_event_elapsed_ms(takt_event *begin, takt_event *end, double *ms)
{
    return elapsed(begin, end, true, ms);
}

takt_status takt_event_elapsed_now_ms(takt_event *begin, takt_event *end, double *ms)
{
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
