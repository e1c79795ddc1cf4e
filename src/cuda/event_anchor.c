/* Where the events of a context lie in time. An event that is recorded on an idle stream is done
 * within some microseconds, and its time lies between the clock readings around it. All other
 * events are placed by their distance from such an anchor.
 *
 * CUDA tells distances as a float of milliseconds, so anchors must be near: they are renewed each
 * second. A new one takes over the time that the old one gives it as long as that lies in its own
 * bracket: so activities do not jump at each renewal, and errors do not add up. */
#include "cuda/event.h"

#define RENEW_NS UINT64_C(1000000000)
#define RETRY_NS UINT64_C(50000000) /* while there is none at all */
#define WAIT_NS  UINT64_C(2000000)
#define FAR_NS                                                                                     \
    INT64_C(4000000000) /* from here on a float of milliseconds has no half microsecond */
#define TRIES 8

/* Ticks around an event that was recorded and done between them. */
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

/* The narrowest of some brackets; events[0] is its event. A device that is too busy to answer may
 * do so next time. */
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
    if (!old->event || !tkt_event_between(driver, old->event, event, &since) || since > FAR_NS)
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
