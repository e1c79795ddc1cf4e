/* cuCtxRecordEvent() captures all that a context has been given, on all its streams, and adds
 * nothing that a stream would have to wait for. Unlike cuCtxSynchronize() it lets the collector go
 * on meanwhile. It spoils captures, so it is only called while none is known to be under way. */
#include "cuda/idle.h"

#include "cuda/capture.h"

/* True for errors after which cuda.h says that the process cannot use CUDA any more: a kernel's
 * illegal address, time-out, assertion, stack, instruction, alignment, address space, program
 * counter, unspecified failure; and CUDA_ERROR_UNKNOWN. */
static bool is_sticky(int status)
{
    static const int16_t errors[] = {700, 702, 710, 714, 715, 716, 717, 718, 719, 999};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        if (errors[i] == status)
            return true;
    }
    return false;
}

typedef struct walk {
    tkt_idle_mark *mark;
    tkt_idle_state result;
} walk;

static void note(walk *w, int status)
{
    if (is_sticky(status))
        w->result = TKT_IDLE_BROKEN;
    else if (status == TKT_CUDA_NOT_READY && w->result == TKT_IDLE_DONE)
        w->result = TKT_IDLE_NOT_YET;
}

/* With the context current. */
static bool record(const tkt_driver *driver, void *user)
{
    walk *w = user;
    tkt_event_context context;
    if (w->mark->count == TKT_IDLE_CONTEXTS || !tkt_event_context_of(driver, NULL, &context))
        return false;
    void *event = tkt_event_take(driver, &context, false);
    if (!event)
        return false;
    int status = driver->context_record(context.handle, event);
    if (status == TKT_CUDA_SUCCESS) {
        w->mark->items[w->mark->count].context = context;
        w->mark->items[w->mark->count++].event = event;
        return false;
    }
    tkt_event_give(driver, context.key, false, event);
    note(w, status);
    return false;
}

tkt_idle_state tkt_idle_begin(const tkt_driver *driver, tkt_idle_mark *mark)
{
    walk w = {.mark = mark, .result = TKT_IDLE_DONE};
    mark->count = 0;
    if (!driver->context_record)
        return tkt_driver_synchronize(driver) ? TKT_IDLE_DONE : TKT_IDLE_NOT_YET;
    if (!tkt_capture_hold())
        return TKT_IDLE_NOT_YET;
    tkt_driver_visit(driver, record, &w);
    tkt_capture_release();
    return w.result;
}

/* Asks the events of the current context and lets go of those that are reached. */
static bool look(const tkt_driver *driver, void *user)
{
    walk *w = user;
    tkt_event_context context;
    if (!tkt_event_context_of(driver, NULL, &context))
        return false;
    for (uint32_t i = 0; i < w->mark->count; i++) {
        if (w->mark->items[i].context.key != context.key || !w->mark->items[i].event)
            continue;
        int status = driver->event_query(w->mark->items[i].event);
        note(w, status);
        if (status == TKT_CUDA_NOT_READY)
            continue;
        tkt_event_give(driver, context.key, false, w->mark->items[i].event);
        w->mark->items[i].event = NULL;
    }
    return false;
}

tkt_idle_state tkt_idle_look(const tkt_driver *driver, tkt_idle_mark *mark)
{
    walk w = {.mark = mark, .result = TKT_IDLE_DONE};
    if (mark->count)
        tkt_driver_visit(driver, look, &w);
    return w.result;
}
