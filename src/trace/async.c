#include "trace/async.h"

#include "record/slot.h"
#include "trace/run.h"

static void add_begin(tkt_sealing *sealing, const takt_record *slot, uint64_t begin_ns,
                      uint64_t end_ns, uint64_t id)
{
    tkt_async_spans *async = &sealing->async;
    tkt_async_begin *begin = TKT_ARRAY_ADD(&async->begins);
    uint64_t *index = begin && id ? tkt_map_put(&async->by_id, id) : NULL;
    if (!begin || (id && !index)) {
        sealing->is_out_of_memory = true;
        return;
    }
    *begin = (tkt_async_begin){begin_ns, end_ns, slot[0].ticks, slot[1].ticks};
    if (index)
        *index = async->begins.count;
}

void tkt_async_add(tkt_sealing *sealing, const takt_record *slot)
{
    tkt_slot_kind kind = tkt_slot_kind_of(slot);
    if (kind == TKT_SLOT_SPAN_AT) {
        add_begin(sealing, slot, slot[0].start, slot[1].start, 0);
    } else if (kind == TKT_SLOT_SPAN_BEGIN) {
        add_begin(sealing, slot, tkt_sealing_ns(sealing, slot[0].start), 0, slot[1].start);
    } else {
        tkt_async_end *end = TKT_ARRAY_ADD(&sealing->async.ends);
        if (end)
            *end = (tkt_async_end){tkt_sealing_ns(sealing, slot[0].start), slot[1].start};
        else
            sealing->is_out_of_memory = true;
    }
}

static void match_ends(tkt_sealing *sealing)
{
    tkt_async_spans *async = &sealing->async;
    for (size_t i = 0; i < async->ends.count; i++) {
        const tkt_async_end *end = &async->ends.items[i];
        const uint64_t *index = tkt_map_get(&async->by_id, end->span);
        if (index)
            async->begins.items[*index - 1].end_ns = end->time_ns;
        else if (end->time_ns >= tkt_sealing_ns(sealing, sealing->window->begin_ticks))
            sealing->trace->facts.losses[TAKT_LOSS_UNMATCHED_SPAN]++;
    }
}

/* The track of that name, made at its first span. */
static uint32_t track_of(tkt_sealing *sealing, tkt_map *tracks, uint32_t text)
{
    uint64_t *track = tkt_map_put(tracks, text);
    if (!track)
        return TKT_NO_TRACK;
    if (*track == 0) {
        uint32_t index = tkt_trace_add_track(sealing->trace, TAKT_TRACK_ASYNC,
                                             tkt_sealing_text(sealing, text), 0);
        if (index == TKT_NO_TRACK)
            return TKT_NO_TRACK;
        *track = (uint64_t)index + 1;
    }
    return (uint32_t)(*track - 1);
}

static void place(tkt_sealing *sealing, tkt_map *tracks, const tkt_async_begin *span)
{
    uint64_t from = tkt_sealing_ns(sealing, sealing->window->begin_ticks);
    uint64_t until = tkt_sealing_ns(sealing, sealing->window->end_ticks);
    uint64_t begin = span->begin_ns, end = span->end_ns;
    uint32_t flags = 0;
    if (end == 0 || end > until) {
        end = until;
        flags |= TAKT_SPAN_UNFINISHED;
    }
    if (begin > until || end < from)
        return;
    if (begin < from) {
        begin = from;
        flags |= TAKT_SPAN_BEGUN_BEFORE;
    }
    uint32_t track = track_of(sealing, tracks, span->track);
    uint32_t site = tkt_sealing_site(sealing, span->site);
    tkt_span *out = track == TKT_NO_TRACK
                        ? NULL
                        : TKT_ARRAY_ADD(&sealing->trace->tracks.items[track].spans);
    if (out)
        *out = (tkt_span){begin, end, site << 8 | flags, TKT_NO_SPAN};
    else
        sealing->is_out_of_memory = true;
}

/* tkt_trace_finish() puts the spans in order. */
void tkt_async_finish(tkt_sealing *sealing)
{
    tkt_map tracks = {0};
    match_ends(sealing);
    for (size_t i = 0; i < sealing->async.begins.count; i++)
        place(sealing, &tracks, &sealing->async.begins.items[i]);
    tkt_map_fini(&tracks);
}

void tkt_async_fini(tkt_async_spans *async)
{
    TKT_ARRAY_FREE(&async->begins);
    TKT_ARRAY_FREE(&async->ends);
    tkt_map_fini(&async->by_id);
}
