#include "trace/async.h"

#include "record/slot.h"
#include "record/task.h"
#include "trace/recovery.h"
#include "trace/run.h"

/* The track of that name, made at its first span. */
static uint32_t track_of(tkt_sealing *sealing, uint32_t text)
{
    uint64_t *track = tkt_map_put(&sealing->async_tracks, text);
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

/* Cuts the span to the window and puts it on its track. end_ns 0: it has not ended. */
static void place(tkt_sealing *sealing, uint32_t track_text, uint32_t record_site,
                  uint64_t begin_ns, uint64_t end_ns)
{
    uint64_t from = tkt_sealing_ns(sealing, sealing->window->begin_ticks);
    uint64_t until = tkt_sealing_ns(sealing, sealing->window->end_ticks);
    uint32_t flags = 0;
    if (end_ns == 0 || end_ns > until) {
        end_ns = until;
        flags |= TAKT_SPAN_UNFINISHED;
    }
    if (begin_ns > until || end_ns < from || end_ns < begin_ns) /* as damaged files may have it */
        return;
    if (begin_ns < from) {
        begin_ns = from;
        flags |= TAKT_SPAN_BEGUN_BEFORE;
    }
    uint32_t track = track_of(sealing, track_text);
    uint32_t site = tkt_sealing_site(sealing, record_site);
    tkt_span *span =
        track == TKT_NO_TRACK ? NULL : TKT_ARRAY_ADD(&sealing->trace->tracks.items[track].spans);
    if (span)
        *span = (tkt_span){begin_ns, end_ns, site << 8 | flags, TKT_NO_SPAN};
    else
        sealing->is_out_of_memory = true;
}

void tkt_async_add(tkt_sealing *sealing, const takt_record *slot)
{
    if (tkt_slot_kind_of(slot) == TKT_SLOT_SPAN_AT)
        place(sealing, slot[1].ticks, slot[0].ticks, slot[0].start, slot[1].start);
    else
        place(sealing, slot[1].ticks, slot[0].ticks, tkt_sealing_ns(sealing, slot[0].start),
              tkt_sealing_ns(sealing, slot[1].start));
}

static void add_open(void *user, const tkt_task *task)
{
    tkt_sealing *sealing = user;
    place(sealing, task->track, task->site, tkt_sealing_ns(sealing, task->begin_ticks), 0);
}

void tkt_async_add_open(tkt_sealing *sealing)
{
    const tkt_seal_source *source = sealing->window->source;
    for (size_t i = 0; source && i < source->tasks.count; i++)
        add_open(sealing, &source->tasks.items[i]);
    if (!source)
        tkt_task_visit(add_open, sealing);
}
