/* The cause of a gap is whatever the next activity waited for. The launch tells when the host
 * handed it over. A wait for other work is not recorded anywhere, but two facts point to one: the
 * stream had to wait for an event, or an activity of another stream ended just before. */
#include "summary/gap_cause.h"

#include "trace/devices.h"

/* ---- Waits for events ------------------------------------------------------------------------ */

static uint64_t stream_key(uint32_t context, uint32_t stream)
{
    return (uint64_t)context << 32 | stream;
}

/* Inserts from last to first, so each list starts with its earliest wait. */
static takt_status fill_lists(tkt_wait_lists *lists)
{
    for (size_t i = lists->trace->waits.count; i-- > 0;) {
        const tkt_wait *wait = &lists->trace->waits.items[i];
        if (wait->kind != TAKT_WAIT_STREAM_EVENT)
            continue;
        uint64_t *first = tkt_map_put(&lists->first, stream_key(wait->context, wait->stream));
        if (!first)
            return TAKT_NO_MEMORY;
        lists->next[i] = (uint32_t)*first;
        *first = i + 1;
    }
    return TAKT_OK;
}

takt_status tkt_wait_lists_init(tkt_wait_lists *lists, const takt_trace *trace)
{
    *lists = (tkt_wait_lists){.trace = trace};
    if (trace->waits.count == 0)
        return TAKT_OK;
    lists->next = tkt_alloc(trace->waits.count * sizeof *lists->next);
    return lists->next ? fill_lists(lists) : TAKT_NO_MEMORY;
}

void tkt_wait_lists_fini(tkt_wait_lists *lists)
{
    tkt_map_fini(&lists->first);
    tkt_free(lists->next);
}

uint32_t tkt_wait_first(const tkt_wait_lists *lists, uint32_t context, uint32_t stream)
{
    const uint64_t *first =
        lists->next ? tkt_map_get(&lists->first, stream_key(context, stream)) : NULL;
    return first ? (uint32_t)*first : 0;
}

/* Ids of calls tell the order across the whole process, so no clocks have to be compared. */
bool tkt_wait_pass(const tkt_wait_lists *lists, uint32_t *wait, const tkt_activity *activity)
{
    bool has_passed = false;
    while (*wait && tkt_is_later_call(activity->correlation,
                                      lists->trace->waits.items[*wait - 1].correlation)) {
        has_passed = true;
        *wait = lists->next[*wait - 1];
    }
    return has_passed;
}

/* ---- Ends of other work ---------------------------------------------------------------------- */

static void note_latest(tkt_endings *endings, tkt_heap_item ending)
{
    if (endings->latest[0].value != ending.value)
        endings->latest[1] = endings->latest[0];
    endings->latest[0] = ending;
}

void tkt_endings_pass(tkt_endings *endings, uint64_t now_ns)
{
    while (endings->running.count > 0 && endings->running.items[0].key <= now_ns)
        note_latest(endings, tkt_heap_take(&endings->running));
}

bool tkt_endings_add(tkt_endings *endings, uint64_t end_ns, uint32_t stream)
{
    return tkt_heap_add(&endings->running, end_ns, stream);
}

bool tkt_endings_other(const tkt_endings *endings, uint32_t stream, uint64_t since_ns)
{
    const tkt_heap_item *other = &endings->latest[endings->latest[0].value == stream];
    return other->key > since_ns;
}

/* ---- Causes ---------------------------------------------------------------------------------- */

/* Upper limit for the uncertainty between host and device clocks. A recording with few blocking
 * waits gives only a loose bound, but real errors are a few microseconds. */
#define MOST_UNCERTAINTY_NS 20000u

static uint64_t uncertainty_ns(const takt_trace *trace)
{
    double ns = trace->facts.device_uncertainty_ns; /* read from a file: may have any value */
    if (!(ns > 0 && ns < 1e15))
        return 0;
    return ns < MOST_UNCERTAINTY_NS ? (uint64_t)(ns + 0.5) : MOST_UNCERTAINTY_NS;
}

uint64_t tkt_launched_ns(const takt_trace *trace, const tkt_activity *activity)
{
    uint64_t ns = activity->begin_ns;
    if (activity->call != TKT_NO_CALL)
        ns = tkt_call_span(trace, activity->call)->begin_ns;
    return ns < activity->begin_ns ? ns : activity->begin_ns;
}

tkt_gap_parts tkt_gap_parts_of(const takt_trace *trace, const tkt_activity *before,
                               uint64_t begin_ns, const tkt_activity *after, bool waited)
{
    tkt_gap_parts parts = {begin_ns, TKT_IDLE_OTHER, false};
    uint64_t end_ns = after->begin_ns;
    if (after->call == TKT_NO_CALL)
        return parts;
    if (after->call == before->call) {
        parts.rest = TKT_IDLE_GRAPH;
        return parts;
    }
    const tkt_span *call = tkt_call_span(trace, after->call);
    bool has_returned = call->end_ns <= end_ns;
    uint64_t handed_ns = has_returned ? call->end_ns : call->begin_ns;
    parts.is_late = handed_ns > begin_ns + uncertainty_ns(trace);
    if (parts.is_late)
        parts.host_until_ns = has_returned ? handed_ns : end_ns;
    if (end_ns - parts.host_until_ns >= TKT_SHORT_GAP_NS)
        parts.rest = waited ? TKT_IDLE_WAIT : TKT_IDLE_OTHER;
    else if (parts.is_late)
        parts.host_until_ns = end_ns;
    else
        parts.rest = TKT_IDLE_SHORT;
    return parts;
}
