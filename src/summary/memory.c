/* The largest allocations.
 *
 * A loop that allocates the same buffer in each step would fill the list, so equal allocations
 * share a row. The list is sorted and holds only the requested number of rows: a larger allocation
 * pushes the smallest out. A row that was pushed out never returns, because the smallest kept size
 * only grows. Therefore every count in the list is complete. */
#include "summary/memory.h"

#include "summary/owners.h"

/* Returns the index for a new row: larger rows come first, then older ones. */
static size_t place_of(const tkt_memory_jumps *jumps, uint64_t bytes)
{
    size_t place = jumps->count;
    while (place > 0 && jumps->items[place - 1].bytes < bytes)
        place--;
    return place;
}

static tkt_memory_jump *find_jump(tkt_memory_jumps *jumps, const tkt_memory_jump *like)
{
    for (size_t i = place_of(jumps, like->bytes);
         i-- > 0 && jumps->items[i].bytes == like->bytes;) {
        if (jumps->items[i].site == like->site && jumps->items[i].device == like->device &&
            jumps->items[i].is_pinned == like->is_pinned)
            return &jumps->items[i];
    }
    return NULL;
}

static void insert(tkt_memory_jumps *jumps, size_t most, const tkt_memory_jump *jump)
{
    size_t place = place_of(jumps, jump->bytes);
    if (place == most)
        return;
    if (jumps->count < most)
        jumps->count++;
    for (size_t i = jumps->count - 1; i > place; i--)
        jumps->items[i] = jumps->items[i - 1];
    jumps->items[place] = *jump;
}

uint32_t tkt_site_around(const takt_trace *trace, uint32_t track, uint32_t span)
{
    const tkt_track *on = track == TKT_NO_TRACK ? NULL : &trace->tracks.items[track];
    uint32_t scope = on ? tkt_scope_of(on, span) : TKT_NO_SPAN;
    return scope == TKT_NO_SPAN ? 0 : tkt_span_site(&on->spans.items[scope]);
}

static const char *thread_of(const takt_trace *trace, const tkt_memory_event *event)
{
    if (event->track == TKT_NO_TRACK)
        return "";
    return tkt_trace_text(trace, trace->tracks.items[event->track].name);
}

static void add_event(const takt_trace *trace, size_t most, const tkt_memory_event *event,
                      tkt_memory_jumps *jumps)
{
    bool is_full = jumps->count == most;
    if (is_full && (uint64_t)event->bytes < jumps->items[most - 1].bytes)
        return; /* finding its site is what takes time */
    tkt_memory_jump jump = {.bytes = (uint64_t)event->bytes,
                            .count = 1,
                            .first_ns = event->time_ns,
                            .device = event->device,
                            .is_pinned = event->device != 0 && tkt_memory_is_host(event),
                            .site = tkt_site_around(trace, event->track, event->span)};
    tkt_memory_jump *known = find_jump(jumps, &jump);
    if (known) {
        known->count++;
        return;
    }
    jump.scope = tkt_trace_text(trace, trace->sites.items[jump.site].name);
    jump.thread = thread_of(trace, event);
    insert(jumps, most, &jump);
}

takt_status tkt_memory_jumps_of(const takt_trace *trace, size_t most, tkt_memory_jumps *out)
{
    if (!trace->facts.has_spans)
        return TAKT_NO_SPANS;
    tkt_memory_jumps jumps = {0};
    if (!TKT_ARRAY_RESERVE(&jumps, most))
        return TAKT_NO_MEMORY;
    for (size_t i = 0; i < trace->memory_events.count; i++) {
        const tkt_memory_event *event = &trace->memory_events.items[i];
        if (event->bytes > 0 && !(event->kind & TKT_MEMORY_POOL))
            add_event(trace, most, event, &jumps);
    }
    *out = jumps;
    return TAKT_OK;
}
