/* The logs of a process that died: finds the end of each log, and the scopes that were open.
 *
 * A chunk's slots are committed up to the first slot with a tag of 0, or up to an event that lacks
 * one of its slots. The file does not contain the top of the stack, but the top follows from the
 * spans. When a span of depth d ended at time t, the frames below d were open. A frame at d or
 * above is open if its scope began at t or later: had the scope ended, the log would have a later
 * span. So the last span of a log shows which frames are open. The last end that was lost serves as
 * well if it is later, and the chunk's head if the chunk has no span.
 *
 * A coarse clock may show the same time t again. A frame that began exactly at t has ended if the
 * last span of its depth has the same site and begin. If the same site began once more in that
 * tick, its open scope looks like the ended one and is lost. */
#include "trace/recovery.h"

#include "record/mapping.h"
#include "record/slot.h"

#include <stdlib.h>
#include <string.h>

/* A chunk of the file, with its sort keys. */
typedef struct chunk_key {
    uint32_t log;
    uint32_t sequence;
    const tkt_chunk *chunk;
} chunk_key;

typedef struct reading {
    tkt_recovery *r;
    uint32_t known_open;          /* the number of scopes that were open */
    uint64_t known_ticks;         /* at this time */
    tkt_slot_span last[TKT_DEEP]; /* by depth: the last span that ended; site 0: none */
} reading;

static int compare(const void *a, const void *b)
{
    const chunk_key *x = a, *y = b;
    if (x->log != y->log)
        return x->log < y->log ? -1 : 1;
    return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

/* The number of slots of the event that begins with this slot. A call has 1; its span follows. */
static uint32_t slots_of(const takt_record *slot)
{
    switch (tkt_slot_kind_of(slot)) {
    case TKT_SLOT_MEMORY:
        return 3;
    case TKT_SLOT_SPAN:
    case TKT_SLOT_COUNTER:
    case TKT_SLOT_WORK:
    case TKT_SLOT_TASK:
    case TKT_SLOT_SPAN_AT:
    case TKT_SLOT_FLOW_BEGIN:
    case TKT_SLOT_FLOW_END:
    case TKT_SLOT_THREAD:
        return 2;
    default:
        return 1;
    }
}

/* The number of slots of the event at `slot`, including a call's span. `left` slots remain in the
 * chunk; 0 if the event is not complete. */
static uint32_t event_slots(const takt_record *slot, uint32_t left)
{
    if (left == 0 || slot->tag >> 8 == 0)
        return 0;
    if (tkt_slot_is_plain(slot))
        return 1;
    if (tkt_slot_kind_of(slot) == TKT_SLOT_CALL) {
        uint32_t span = event_slots(slot + 1, left - 1);
        bool is_span =
            span && (tkt_slot_is_plain(slot + 1) || tkt_slot_kind_of(slot + 1) == TKT_SLOT_SPAN);
        return is_span ? 1 + span : 0;
    }
    uint32_t count = slots_of(slot);
    for (uint32_t i = 1; i < count; i++)
        if (i >= left || !tkt_slot_is(slot + i, TKT_SLOT_MORE))
            return 0;
    return count;
}

static bool note_span(reading *to, const tkt_slot_span *span)
{
    if (span->end < span->begin)
        return false;
    to->known_open = span->depth < TKT_MAX_DEPTH ? span->depth : TKT_MAX_DEPTH;
    to->known_ticks = span->end;
    if (span->depth < TKT_DEEP)
        to->last[span->depth] = *span;
    tkt_recovery_saw(to->r, span->end);
    return true;
}

/* Updates the open scopes and the last time from an event. False for a damaged event. */
static bool note_event(reading *to, const takt_record *slot)
{
    tkt_slot_span span;
    if (tkt_slot_read_span(slot, &span))
        return note_span(to, &span);
    switch (tkt_slot_kind_of(slot)) {
    case TKT_SLOT_CALL:
        return tkt_slot_read_span(slot + 1, &span) && note_span(to, &span);
    case TKT_SLOT_THREAD:
        to->known_open = 0;
        return true;
    case TKT_SLOT_TASK:
        tkt_recovery_saw(to->r, slot[1].start);
        return true;
    case TKT_SLOT_MARK:
    case TKT_SLOT_COUNTER:
    case TKT_SLOT_MEMORY:
    case TKT_SLOT_FLOW_BEGIN:
    case TKT_SLOT_FLOW_END:
        tkt_recovery_saw(to->r, slot->start);
        return true;
    case TKT_SLOT_STACK:
        return slot->ticks < to->r->source.stacks.count &&
               to->r->source.stacks.items[slot->ticks] != NULL;
    default:
        return tkt_slot_kind_of(slot) != TKT_SLOT_MORE && tkt_slot_kind_of(slot) < TKT_SLOT_KINDS;
    }
}

/* Copies the committed slots of a chunk and returns their number. Leaves out damaged events. */
static uint32_t copy_slots(reading *to, const tkt_chunk *chunk, takt_record *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < TKT_CHUNK_SLOTS;) {
        uint32_t slots = event_slots(&chunk->slots[i], (uint32_t)TKT_CHUNK_SLOTS - i);
        if (slots == 0)
            break;
        if (note_event(to, &chunk->slots[i])) {
            memcpy(out + count, &chunk->slots[i], slots * sizeof *out);
            count += slots;
        }
        i += slots;
    }
    return count;
}

/* Copies a chunk and returns the copy; NULL without memory. */
static tkt_chunk *read_chunk(reading *to, const tkt_chunk *chunk, tkt_log_view *view)
{
    tkt_chunk *copy = tkt_arena_alloc(&to->r->memory, sizeof *copy);
    tkt_log_part *part = copy ? TKT_ARRAY_ADD(&view->parts) : NULL;
    if (!part) {
        to->r->is_short = true;
        return NULL;
    }
    to->known_open = chunk->depth < TKT_MAX_DEPTH ? chunk->depth : TKT_MAX_DEPTH;
    to->known_ticks = chunk->begin_ticks;
    tkt_recovery_saw(to->r, chunk->begin_ticks);
    copy->next = NULL;
    copy->sequence = chunk->sequence;
    copy->count = copy_slots(to, chunk, copy->slots);
    *part = (tkt_log_part){copy->slots, copy->count, chunk->thread, chunk->begin_ticks, false};
    return copy;
}

/* ---- Open scopes ----------------------------------------------------------------------------- */

static bool is_frame(const takt_frame *frames, uint32_t depth)
{
    return tkt_frame_site(&frames[depth]) != 0 && frames[depth].start != 0 &&
           (depth == 0 || frames[depth].start >= frames[depth - 1].start);
}

static bool has_ended(const reading *from, const takt_frame *frames, uint32_t depth)
{
    const tkt_slot_span *last = depth < TKT_DEEP ? &from->last[depth] : NULL;
    return last && last->site == tkt_frame_site(&frames[depth]) &&
           last->begin == frames[depth].start;
}

static uint32_t count_open(const reading *from, const takt_frame *frames)
{
    uint32_t count = 0;
    while (count < from->known_open && is_frame(frames, count))
        count++;
    if (count < from->known_open)
        return count;
    while (count < TKT_MAX_DEPTH && is_frame(frames, count) &&
           frames[count].start >= from->known_ticks && !has_ended(from, frames, count))
        count++;
    return count;
}

static void read_frames(reading *from, uint32_t number, tkt_log_view *view)
{
    tkt_recovery *r = from->r;
    if (number >= r->head.logs.count)
        return;
    const tkt_mapping_log *log = tkt_recovery_item(r, &r->head.logs, number);
    if (!log->is_used)
        return;
    if (log->lost_ticks > from->known_ticks) {
        from->known_ticks = log->lost_ticks;
        from->known_open = log->lost_depth < TKT_MAX_DEPTH ? log->lost_depth : TKT_MAX_DEPTH;
    }
    uint32_t count = count_open(from, log->frames);
    takt_frame *copy = tkt_arena_alloc(&r->memory, (count + 1) * sizeof *copy);
    if (!copy) {
        r->is_short = true;
        return;
    }
    memcpy(copy, log->frames, count * sizeof *copy);
    for (uint32_t i = 0; i < count; i++)
        tkt_recovery_saw(r, copy[i].start);
    view->frames = copy;
    view->frame_count = count;
}

/* ---- All logs -------------------------------------------------------------------------------- */

static size_t find_chunks(const tkt_recovery *r, chunk_key *out)
{
    size_t count = 0;
    for (uint32_t i = 0; i < r->head.chunks.count; i++) {
        const tkt_chunk *chunk = tkt_recovery_item(r, &r->head.chunks, i);
        if (chunk->log != 0 && !(chunk->log & TKT_KEPT_FOLD))
            out[count++] = (chunk_key){chunk->log, chunk->sequence, chunk};
    }
    qsort(out, count, sizeof *out, compare);
    return count;
}

/* Reads the log that the first `count` chunks of the list belong to. */
static void read_log(tkt_recovery *r, const chunk_key *list, size_t count)
{
    reading to = {.r = r};
    tkt_log_view *view = TKT_ARRAY_ADD(&r->source.views);
    tkt_recovered_log *log = view ? TKT_ARRAY_ADD(&r->logs) : NULL;
    if (!log) {
        r->source.views.count -= view != NULL;
        r->is_short = true;
        return;
    }
    *view = (tkt_log_view){.frame_count = 0};
    *log = (tkt_recovered_log){list->log - 1, NULL};
    tkt_chunk **end = &log->first;
    for (size_t i = 0; i < count && !r->is_short; i++) {
        *end = read_chunk(&to, list[i].chunk, view);
        if (*end)
            end = &(*end)->next;
    }
    read_frames(&to, log->number, view);
}

void tkt_recover_logs(tkt_recovery *r)
{
    chunk_key *list = tkt_alloc((r->head.chunks.count + 1) * sizeof *list);
    if (!list) {
        r->is_short = true;
        return;
    }
    size_t count = find_chunks(r, list);
    for (size_t first = 0, end; first < count && !r->is_short; first = end) {
        for (end = first + 1; end < count && list[end].log == list[first].log; end++)
            continue;
        read_log(r, list + first, end - first);
    }
    tkt_free(list);
}
