/* Folding while the program runs. */
#include "record/log.h"

#include "base/clock.h"
#include "base/own.h"
#include "record/control.h"
#include "record/site.h"
#include "record/slot.h"

#include <string.h>

/* A log holds spans in the order of their ends, children before parents. That is the wrong order
 * for a call tree: a child's path is known only when its parent is. So the slots are read
 * backwards, from the scopes that are open now. Then a parent comes before its children, and the
 * path of a span at depth d consists of the nodes last seen at depths 0 to d - 1. */

typedef struct walk {
    tkt_fold *fold;
    tkt_folded_calls *calls;
    uint32_t *above; /* the node above each depth: the root, and those last seen at 0, 1, ... */
    uint32_t known;  /* depths that `above` is valid for */
    uint64_t from;   /* ticks; spans are cut to from..until */
    uint64_t until;
    uint64_t from_ns;
    uint64_t ns_per_tick;
    bool has_sites;  /* the sites are known */
    uint32_t inside; /* so many open scopes may be in the window where the walk is */
    bool is_named;   /* the thread's last name is known */
} walk;

/* Where the record of a level was dropped, the nearest node above takes its place. */
static void fill_up_to(walk *w, uint32_t depth)
{
    for (; w->known < depth; w->known++)
        w->above[w->known + 1] = w->above[w->known];
}

/* Returns the node of `site` at `depth`, below the nodes last seen above it. `depth` is less than
 * TKT_MAX_DEPTH. */
static inline uint32_t enter(walk *w, uint32_t depth, uint32_t site)
{
    if (TAKT_UNLIKELY(depth > w->known))
        fill_up_to(w, depth);
    uint32_t node = tkt_fold_child(w->fold, w->above[depth], site);
    w->above[depth + 1] = node;
    w->known = depth + 1;
    return node;
}

/* Cuts what overlaps the window to it, and counts the cuts. Returns the duration in ns. */
static uint64_t cut(walk *w, uint64_t begin, uint64_t end)
{
    w->fold->begun_before += begin < w->from;
    w->fold->unfinished += end > w->until;
    begin = begin < w->from ? w->from : begin;
    end = end > w->until ? w->until : end;
    return tkt_clock_duration_ns(w->ns_per_tick, end - begin);
}

/* Backwards, all is before the window from a span on that ended before it. But a span that began
 * after the window lies in others that may have begun in it. */
static void leave_window(walk *w, uint32_t depth, uint64_t begin)
{
    bool has_begun = w->until >= w->from;
    w->inside = has_begun && begin > w->until ? depth : 0;
}

/* A span that need not be entirely in the window. */
static __attribute__((noinline)) void fold_overlap(walk *w, uint32_t node,
                                                   const tkt_slot_span *span)
{
    if (!tkt_slot_overlaps(span, w->from, w->until)) {
        leave_window(w, span->depth, span->begin);
        return;
    }
    w->inside = TKT_MAX_DEPTH;
    if (node == TKT_NO_NODE)
        return;
    if (span->begin < w->from || span->end > w->until)
        tkt_stats_add_piece(&w->fold->items[node].stats, cut(w, span->begin, span->end));
    else
        tkt_fold_add(w->fold, node, cut(w, span->begin, span->end));
}

static void fold_span(walk *w, const tkt_slot_span *span)
{
    uint32_t depth = span->depth < TKT_MAX_DEPTH ? span->depth : TKT_MAX_DEPTH - 1;
    fold_overlap(w, enter(w, depth, span->site), span);
}

/* The common span: of one slot, and usually entirely in the window. */
static inline void fold_plain(walk *w, const takt_record *slot)
{
    uint64_t end = slot->start + slot->ticks;
    uint32_t node = enter(w, tkt_slot_depth(slot), tkt_tag_site(slot->tag));
    if (TAKT_LIKELY(slot->start >= w->from && end <= w->until)) {
        w->inside = TKT_MAX_DEPTH;
        tkt_fold_add(w->fold, node, tkt_clock_duration_ns(w->ns_per_tick, slot->ticks));
    } else {
        fold_overlap(w, node, &(tkt_slot_span){slot->start, end, 0, tkt_slot_depth(slot)});
    }
}

/* The record has no time of its own: it lies in a span that was folded before. */
static void fold_work(walk *w, const takt_record *slot)
{
    uint32_t open = tkt_slot_depth(slot);
    if (open == 0 || open > w->known || open > w->inside || w->above[open] == TKT_NO_NODE)
        return;
    tkt_node *node = &w->fold->items[w->above[open]];
    node->flops += tkt_slot_double(slot[0].start);
    node->bytes += tkt_slot_double(slot[1].start);
}

/* Counts a failed call. Its span, the slot after it, has just been folded. */
static void fold_error(walk *w, const takt_record *slot, uint32_t depth)
{
    tkt_slot_span span;
    uint32_t node = depth < w->known ? w->above[depth + 1] : TKT_NO_NODE;
    if (node != TKT_NO_NODE && tkt_slot_read_span(slot + 1, &span) &&
        tkt_slot_overlaps(&span, w->from, w->until))
        w->fold->items[node].errors++;
}

/* The site of a call that may have launched something; otherwise 0. */
static uint32_t launching_site(const takt_record *slot)
{
    tkt_slot_span span;
    bool has_failed = slot->start >> 32 != 0;
    if (has_failed || slot->ticks & TKT_SLOT_CAPTURING || !tkt_slot_read_span(slot + 1, &span))
        return 0;
    return span.site;
}

/* On the path, the scope that made the call is above the call. */
static void fold_call(walk *w, const takt_record *slot)
{
    uint32_t depth = slot->ticks & ~TKT_SLOT_CAPTURING;
    if (slot->start >> 32)
        fold_error(w, slot, depth);
    uint32_t node = depth <= w->known ? w->above[depth] : 0;
    if (node == TKT_NO_NODE || (uint32_t)slot->start == 0 || w->calls->count == TKT_FOLDED_CALLS)
        return;
    tkt_folded_call *call = TKT_ARRAY_ADD(w->calls);
    if (call)
        *call = (tkt_folded_call){(uint32_t)slot->start, node, launching_site(slot)};
}

/* Notes an event of the thread that is no scope. Sites of one name sample one counter. */
static void fold_event(walk *w, const takt_record *slot)
{
    if (slot->start < w->from || slot->start > w->until)
        return;
    w->fold->thread_has_events = true;
    w->fold->passed += tkt_slot_kind_of(slot) != TKT_SLOT_COUNTER;
    if (tkt_slot_kind_of(slot) == TKT_SLOT_COUNTER && w->has_sites)
        tkt_fold_sample(w->fold, tkt_site_get(slot->ticks)->name_id, slot->start,
                        tkt_slot_double(slot[1].start));
}

static void fold_task(walk *w, const takt_record *slot)
{
    uint64_t begin = slot[0].start, end = slot[1].start;
    const tkt_slot_span span = {.begin = begin, .end = end};
    if (end >= begin && tkt_slot_overlaps(&span, w->from, w->until))
        tkt_fold_task(w->fold, slot[0].ticks, slot[1].ticks, cut(w, begin, end),
                      begin < w->from || end > w->until);
}

/* The same time on the time line of takt_now_ns(). */
static uint64_t ns_of(const walk *w, uint64_t ticks)
{
    return w->from_ns + tkt_clock_duration_ns(w->ns_per_tick, ticks - w->from);
}

static void fold_timed_task(walk *w, const takt_record *slot)
{
    const tkt_timed_task task = {slot[0].ticks, slot[1].ticks, slot[0].start, slot[1].start};
    if (w->until < w->from) /* the window has not begun */
        tkt_fold_task_so_far(w->fold, &task, UINT64_MAX, takt_now_ns());
    else if (w->until < UINT64_MAX)
        tkt_fold_task_at_end(w->fold, &task, w->from_ns, ns_of(w, w->until));
    else
        tkt_fold_task_so_far(w->fold, &task, w->from_ns, ns_of(w, tkt_ticks()));
}

/* The thread has a new name, unless it got a later one. */
static void fold_name(walk *w, const takt_record *slot)
{
    if (!w->is_named)
        w->fold->thread.name = slot->ticks;
    w->is_named = true;
}

static void fold_slots(walk *w, const takt_record *first, const takt_record *end)
{
    tkt_slot_span span;
    for (const takt_record *slot = end; slot-- > first;) {
        if (tkt_slot_is_plain(slot))
            fold_plain(w, slot);
        else if (tkt_slot_read_span(slot, &span))
            fold_span(w, &span);
        else if (tkt_slot_kind_of(slot) == TKT_SLOT_WORK)
            fold_work(w, slot);
        else if (tkt_slot_kind_of(slot) == TKT_SLOT_CALL)
            fold_call(w, slot);
        else if (tkt_slot_is_moment(slot))
            fold_event(w, slot);
        else if (tkt_slot_kind_of(slot) == TKT_SLOT_TASK)
            fold_task(w, slot);
        else if (tkt_slot_kind_of(slot) == TKT_SLOT_SPAN_AT)
            fold_timed_task(w, slot);
        else if (tkt_slot_kind_of(slot) == TKT_SLOT_NAME)
            fold_name(w, slot);
        else if (tkt_slot_kind_of(slot) == TKT_SLOT_THREAD)
            w->known = 0;
        else if (tkt_slot_kind_of(slot) != TKT_SLOT_BOUNDARY)
            w->fold->passed++;
    }
}

static void fold_frames(walk *w, const takt_frame *frames, uint32_t count, uint64_t until_ticks)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = enter(w, i, tkt_frame_site(&frames[i]));
        if (frames[i].start > w->until && w->inside > i)
            leave_window(w, i, frames[i].start);
        if (!until_ticks || frames[i].start > until_ticks)
            continue;
        uint64_t ns = cut(w, frames[i].start, until_ticks);
        w->fold->unfinished++;
        if (node != TKT_NO_NODE)
            tkt_stats_add_piece(&w->fold->items[node].stats, ns);
    }
}

typedef TKT_ARRAY_OF(tkt_chunk *) chunk_list;

/* The chunks from the first unfolded one to the one that holds the cursor. */
static takt_status list_chunks(const tkt_thread_log *log, const takt_record *cursor,
                               chunk_list *list)
{
    tkt_chunk *chunk = log->unfolded;
    for (;;) {
        tkt_chunk **item = TKT_ARRAY_ADD(list);
        if (!item)
            return TAKT_NO_MEMORY;
        *item = chunk;
        if (tkt_chunk_holds(chunk, cursor))
            return TAKT_OK;
        chunk = tkt_chunk_after(chunk);
    }
}

static void fold_chunks(walk *w, const chunk_list *list, uint32_t first_slot,
                        const takt_record *cursor)
{
    for (size_t i = list->count; i-- > 0;) {
        const tkt_chunk *chunk = list->items[i];
        const takt_record *end = i + 1 == list->count ? cursor : chunk->slots + chunk->count;
        fold_slots(w, chunk->slots + (i == 0 ? first_slot : 0), end);
    }
}

/* Skips a chunk that is folded to its end, so that usually only one is left. Not if the cursor was
 * still there: the thread may have taken another chunk since. */
static void skip_folded_chunk(tkt_thread_log *log, const takt_record *cursor)
{
    tkt_chunk *after = tkt_chunk_after(log->unfolded);
    if (!after || log->unfolded_slot != log->unfolded->count ||
        tkt_chunk_holds(log->unfolded, cursor))
        return;
    log->unfolded = after;
    log->unfolded_slot = 0;
}

/* Folds slots of one thread. */
static takt_status fold_part(tkt_thread_log *log, const takt_record *cursor,
                             const takt_frame *frames, uint32_t frame_count,
                             const tkt_fold_begin *from, uint64_t until_ticks)
{
    uint64_t end_ticks = until_ticks ? until_ticks : from->until_ticks;
    walk w = {
        .fold = &log->fold,
        .calls = &log->folded_calls,
        .above = log->path,
        .from = from->ticks,
        .until = end_ticks ? end_ticks : UINT64_MAX,
        .from_ns = from->ns,
        .ns_per_tick = from->ns_per_tick,
        .has_sites = from->is_own,
        .inside = TKT_MAX_DEPTH,
    };
    skip_folded_chunk(log, cursor);
    tkt_chunk *only = log->unfolded;
    chunk_list list = {0};
    bool is_one = tkt_chunk_holds(only, cursor);
    if (!is_one && list_chunks(log, cursor, &list) != TAKT_OK) {
        TKT_ARRAY_FREE(&list);
        return TAKT_NO_MEMORY; /* the next fold begins at the same slot */
    }
    if (until_ticks)
        tkt_fold_end_tasks(&log->fold, w.from_ns, ns_of(&w, until_ticks));
    w.above[0] = 0;
    log->fold.walk++;
    fold_frames(&w, frames, frame_count, until_ticks);
    if (is_one)
        fold_slots(&w, only->slots + log->unfolded_slot, cursor);
    else
        fold_chunks(&w, &list, log->unfolded_slot, cursor);
    if (!is_one)
        log->unfolded = list.items[list.count - 1];
    tkt_fold_end_samples(&log->fold);
    log->unfolded_slot = (uint32_t)(cursor - log->unfolded->slots);
    TKT_ARRAY_FREE(&list);
    return TAKT_OK;
}

/* ---- Several threads ------------------------------------------------------------------------- */

/* Where another thread continues the log, no scope is open. So each thread's slots are a piece of
 * their own. */

static tkt_thread_mark mark_at(const takt_record *slot)
{
    return (tkt_thread_mark){slot[0].start, slot[0].ticks, slot[1].ticks};
}

/* The thread that wrote the chunk's slot `end`, or will write it. */
static tkt_thread_mark writer_of(const tkt_chunk *chunk, uint32_t end)
{
    tkt_thread_mark thread = chunk->thread;
    for (const takt_record *slot = chunk->slots; slot < chunk->slots + end; slot++) {
        if (tkt_slot_is(slot, TKT_SLOT_THREAD))
            thread = mark_at(slot);
        else if (tkt_slot_is(slot, TKT_SLOT_NAME))
            thread.name = slot->ticks;
    }
    return thread;
}

static void change_thread(tkt_fold *fold, tkt_thread_mark thread)
{
    if (fold->thread.serial == thread.serial)
        return;
    tkt_fold_end_thread(fold);
    fold->thread = thread;
}

/* Folds the slots before `place`, where `next` continues the log, unless it wrote them too. */
static takt_status hand_over(tkt_thread_log *log, const takt_record *place, tkt_thread_mark next,
                             const tkt_fold_begin *from, uint64_t until_ticks)
{
    if (next.serial == log->fold.thread.serial)
        return TAKT_OK;
    takt_status status = fold_part(log, place, NULL, 0, from, until_ticks);
    if (status == TAKT_OK)
        change_thread(&log->fold, next);
    return status;
}

/* Folds the slots of all threads but the one that writes at `cursor`. */
static takt_status fold_past_threads(tkt_thread_log *log, const takt_record *cursor,
                                     const tkt_fold_begin *from, uint64_t until_ticks)
{
    const tkt_chunk *chunk = log->unfolded;
    const takt_record *slot = chunk->slots + log->unfolded_slot;
    change_thread(&log->fold, writer_of(chunk, log->unfolded_slot));
    takt_status status = TAKT_OK;
    while (status == TAKT_OK) {
        bool is_last = tkt_chunk_holds(chunk, cursor);
        const takt_record *end = is_last ? cursor : chunk->slots + chunk->count;
        for (; slot < end && status == TAKT_OK; slot++)
            if (tkt_slot_is(slot, TKT_SLOT_THREAD))
                status = hand_over(log, slot, mark_at(slot), from, until_ticks);
        if (is_last)
            break;
        chunk = tkt_chunk_after(chunk);
        slot = chunk->slots;
        if (status == TAKT_OK)
            status = hand_over(log, slot, chunk->thread, from, until_ticks);
    }
    return status;
}

/* Keeps what another fold has handed on. */
static takt_status begin_fold(tkt_fold *fold)
{
    tkt_fold handed = *fold;
    takt_status status = tkt_fold_init(fold);
    memcpy(&fold->ahead, &handed.ahead, sizeof fold->ahead);
    fold->lost_count = handed.lost_count;
    return status;
}

static takt_status fold_all(tkt_thread_log *log, const takt_record *cursor,
                            const takt_frame *frames, uint32_t frame_count,
                            const tkt_fold_begin *from, uint64_t until_ticks, bool is_live)
{
    TKT_OWN_WORK;
    if (!log->fold.items && begin_fold(&log->fold) != TAKT_OK)
        return TAKT_NO_MEMORY;
    log->fold.is_live = is_live;
    takt_status status = TAKT_OK;
    if (log->fold.thread.serial != log->mark.serial)
        status = fold_past_threads(log, cursor, from, until_ticks);
    return status == TAKT_OK ? fold_part(log, cursor, frames, frame_count, from, until_ticks)
                             : status;
}

takt_status tkt_online_fold_from(tkt_thread_log *log, const takt_record *cursor,
                                 const takt_frame *frames, uint32_t frame_count,
                                 const tkt_fold_begin *from, uint64_t until_ticks)
{
    return fold_all(log, cursor, frames, frame_count, from, until_ticks, false);
}

tkt_fold_begin tkt_fold_begin_now(void)
{
    /* acquire: pairs with the release in session.c; with this end the begin is the window's */
    uint64_t until_ticks = __atomic_load_n(&tkt_record_control.fold_until_ticks, __ATOMIC_ACQUIRE);
    return (tkt_fold_begin){
        .ticks = __atomic_load_n(&tkt_record_control.fold_from_ticks, __ATOMIC_RELAXED),
        .ns = __atomic_load_n(&tkt_record_control.fold_from_ns, __ATOMIC_RELAXED),
        .ns_per_tick = __atomic_load_n(&tkt_record_control.fold_ns_per_tick, __ATOMIC_RELAXED),
        .until_ticks = until_ticks,
        .is_own = true};
}

/* True while a window may have its place but not its begin yet, or is about to end: then full
 * chunks wait, as they are kept. */
static bool is_folded_later(const tkt_fold_begin *from)
{
    return (from->until_ticks == TKT_FOLD_NOTHING || from->until_ticks == TKT_FOLD_LATER) &&
           tkt_record_has(TKT_KEEP);
}

takt_status tkt_online_fold(tkt_thread_log *log, const takt_record *cursor,
                            const takt_frame *frames, uint32_t frame_count, uint64_t until_ticks)
{
    const tkt_fold_begin from = tkt_fold_begin_now();
    if (!until_ticks && is_folded_later(&from))
        return TAKT_OK;
    return fold_all(log, cursor, frames, frame_count, &from, until_ticks, true);
}
