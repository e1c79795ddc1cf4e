/* What a thread's log holds at one moment, as another thread sees it: the cursor, and the scopes
 * that are open. The thread goes on meanwhile. */
#include "record/log.h"

#include "base/thread.h"
#include "record/slot.h"

tkt_chunk *tkt_log_chunk_of(const tkt_thread_log *log, const takt_record *cursor)
{
    tkt_chunk *chunk = log->head;
    while (!tkt_chunk_holds(chunk, cursor))
        chunk = tkt_chunk_after(chunk);
    return chunk;
}

/* Copies the stack; the copy is consistent if the cursor is unchanged afterwards. */
static uint32_t copy_frames(const tkt_thread_log *log, takt_frame *out)
{
    tkt_log_place place;
    tkt_log_locate(log, &place);
    uint32_t count = (uint32_t)(place.top - log->frames);
    for (uint32_t i = 0; i < count; i++) {
        out[i].start = __atomic_load_n(&log->frames[i].start, __ATOMIC_ACQUIRE);
        out[i].tag = __atomic_load_n(&log->frames[i].tag, __ATOMIC_ACQUIRE);
        out[i].depth = i;
    }
    return count;
}

typedef enum top_frame {
    TOP_IS_OPEN,
    TOP_IS_CLOSED, /* its record is the last one, see the top of log.h */
    TOP_IS_EITHER
} top_frame;

/* What the last record tells about the top frame. If that record begins and ends in one tick of the
 * counter, its scope may be closed, and the frame may belong to another scope of the same tick. */
static top_frame look_at_top(const tkt_thread_log *log, const takt_frame *frames, uint32_t count,
                             const takt_record *cursor)
{
    tkt_slot_span span;
    if (count == 0)
        return TOP_IS_OPEN;
    const takt_record *first = tkt_log_chunk_of(log, cursor)->slots;
    if (cursor == first)
        return TOP_IS_OPEN;
    const takt_record *last = cursor - 1;
    if (tkt_slot_is(last, TKT_SLOT_MORE) && last > first)
        last--;
    if (!tkt_slot_read_span(last, &span) || span.depth != count - 1 ||
        span.begin != frames[count - 1].start)
        return TOP_IS_OPEN;
    return span.begin < span.end ? TOP_IS_CLOSED : TOP_IS_EITHER;
}

/* The records from `from` to `to` were written while the stack was copied. Just after the last one
 * of least depth, exactly the scopes below that depth were open, and they have been since `from`:
 * that moment takes the place of the one at `from`. False if the records are not in one chunk. */
static bool cut_back(const tkt_thread_log *log, takt_record *from, const takt_record *to,
                     takt_record **cursor, uint32_t *frame_count)
{
    uint32_t least = UINT32_MAX;
    *cursor = from;
    if (to < from || tkt_log_chunk_of(log, from) != tkt_log_chunk_of(log, to))
        return false;
    for (takt_record *slot = from; slot < to;) {
        tkt_slot_span span = {.depth = UINT32_MAX};
        if (!tkt_slot_read_span(slot, &span) && tkt_slot_is(slot, TKT_SLOT_THREAD))
            span.depth = 0;
        do
            slot++;
        while (slot < to && tkt_slot_is(slot, TKT_SLOT_MORE));
        if (span.depth <= *frame_count && span.depth <= least) {
            least = span.depth;
            *cursor = slot;
        }
    }
    *frame_count = least < *frame_count ? least : *frame_count;
    return true;
}

/* Leaves those of the copied frames that were open at one moment, and returns its cursor: a frame
 * that is on the stack again or still, with the start that it had, was there all the time. */
static takt_record *keep_steady(const tkt_thread_log *log, const takt_frame *frames,
                                uint32_t *frame_count)
{
    tkt_log_place place;
    tkt_log_locate(log, &place);
    uint32_t open = (uint32_t)(place.top - log->frames), count = 0;
    while (count < open && count < *frame_count &&
           __atomic_load_n(&log->frames[count].start, __ATOMIC_ACQUIRE) == frames[count].start &&
           __atomic_load_n(&log->frames[count].tag, __ATOMIC_ACQUIRE) == frames[count].tag)
        count++;
    *frame_count = count - (look_at_top(log, frames, count, place.cursor) == TOP_IS_CLOSED);
    return place.cursor;
}

#define MOST_TRIES  200
#define MOST_YIELDS 20 /* then longer pauses; 50 ms in all */
#define MOST_PAUSES 70

/* Copies cursor and stack of one moment. What the thread records meanwhile tells how far to go
 * back. If it records into another chunk, or scopes end without a record, this tries again, and at
 * last leaves out scopes that begin and end all the time.
 *
 * A thread is busy until it has popped the frame whose record it wrote. So if the thread was seen
 * outside after the last record, the top frame is open. If it is still inside, it may have lost its
 * processor just before the pop, so this function waits for the thread. The wait has a bound: the
 * thread may be inside for another reason, and for longer. */
takt_record *tkt_log_moment(const tkt_thread_log *log, takt_frame *frames, uint32_t *frame_count)
{
    const takt_record *outside_at = NULL; /* the cursor with which the thread was seen outside */
    int pauses = 0;
    for (int tries = 0; tries < MOST_TRIES; tries++) {
        tkt_log_place before, after;
        uint32_t unwritten = __atomic_load_n(&log->unwritten, __ATOMIC_ACQUIRE);
        tkt_log_locate(log, &before);
        *frame_count = copy_frames(log, frames);
        tkt_log_locate(log, &after);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (unwritten % 2 || __atomic_load_n(&log->unwritten, __ATOMIC_RELAXED) != unwritten)
            continue;
        top_frame top = look_at_top(log, frames, *frame_count, before.cursor);
        *frame_count -= top == TOP_IS_CLOSED;
        takt_record *cursor = before.cursor;
        if (after.cursor != before.cursor) {
            if (cut_back(log, before.cursor, after.cursor, &cursor, frame_count))
                return cursor;
            continue;
        }
        if (top != TOP_IS_EITHER || outside_at == cursor || pauses == MOST_PAUSES)
            return cursor;
        outside_at = after.is_inside ? NULL : cursor;
        if (after.is_inside)
            tkt_thread_pause_ms(pauses++ >= MOST_YIELDS);
    }
    return keep_steady(log, frames, frame_count);
}
