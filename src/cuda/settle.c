/* Activities come when CUPTI gives a buffer back: when it is full and complete, or at a flush if it
 * is complete. So the end of a window flushes at once, then less and less often, down to the pace
 * at which the collector flushes anyway; in between it looks at what came by itself. The program's
 * threads notice nothing of it.
 *
 * A forced flush would bring what has finished in a buffer with unfinished records, and throw those
 * away: of a later window, of an open timer, of this window. It is the last resort, when the time
 * is over and nobody else waits, or when a device has failed and nothing will finish any more. */
#include "cuda/settle.h"

#include "cuda/collector.h"
#include "cuda/store.h"

#include <takt/base.h>

#define FIRST_PAUSE_MS 1u
#define LAST_PAUSE_MS  150u /* the collector flushes as often while it collects */
#define STALLED_NS     UINT64_C(5000000000)

/* What has become of devices' work so far. */
typedef struct progress {
    uint64_t arrived; /* position of the store */
    uint64_t since_ns;
} progress;

/* True if devices have not got on for so long that waiting is no use. Where the last one who waited
 * saw just that, and nothing has come since, it takes less: many windows may end one by one. */
static bool is_stalled(progress *p)
{
    static uint64_t stalled_at = UINT64_MAX; /* atomic: position of the store */
    uint64_t arrived = tkt_store_position(), now_ns = takt_now_ns();
    if (arrived != p->arrived)
        *p = (progress){arrived, now_ns};
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

/* Looks until it is time for another flush. True: nothing is missing. */
static bool look_around(const tkt_settling *how, uint64_t until_ns)
{
    for (uint64_t now_ns; (now_ns = takt_now_ns()) < until_ns;) {
        uint64_t turns = tkt_collector_look(0).turns;
        if (is_complete(how))
            return true;
        tkt_collector_wait(turns, (uint32_t)((until_ns - now_ns) / 1000000 + 1));
    }
    return false;
}

typedef enum outcome {
    COMPLETE,
    GIVEN_UP,
    BROKEN,
    GONE /* nobody to ask any more */
} outcome;

static outcome wait_for_devices(const tkt_settling *how, uint64_t ticket)
{
    uint64_t begin_ns = takt_now_ns(), end_ns = begin_ns + how->timeout_ms * UINT64_C(1000000);
    progress p = {tkt_store_position(), begin_ns};
    for (uint32_t pause_ms = FIRST_PAUSE_MS;;
         pause_ms = pause_ms * 2 < LAST_PAUSE_MS ? pause_ms * 2 : LAST_PAUSE_MS) {
        if (!tkt_collector_flush(false))
            return GONE;
        tkt_collector_view view = tkt_collector_look(ticket);
        if (is_complete(how) || view.is_settled)
            return COMPLETE;
        uint64_t now_ns = takt_now_ns(), next_ns = now_ns + pause_ms * UINT64_C(1000000);
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
