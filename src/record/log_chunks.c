/* The chunks of a log: where its events go when the newest chunk is full, and the losses when there
 * is no room. */
#include "record/log.h"

#include "base/clock.h"
#include "base/lock.h"
#include "record/control.h"
#include "record/mapping.h"
#include "record/slot.h"

#include <string.h>

/* A summary folds so many at once: no event waits for longer than that takes, 1 us, nor does the
 * step that ends a cycle wait longer for each thread. */
#define PIECE_SLOTS 127

static uint64_t losses_without_log[TAKT_LOSS_COUNT];
static bool has_lost; /* atomic; since the losses were read; or is about to: see expect_loss() */

/* ---- Losses ---------------------------------------------------------------------------------- */

static void lose(tkt_thread_log *log, takt_loss loss, uint64_t events)
{
    uint64_t *count = log ? &log->losses[loss] : &losses_without_log[loss];
    uint64_t now = __atomic_add_fetch(count, events, __ATOMIC_SEQ_CST);
    tkt_mapping_head *head = log ? NULL : tkt_mapping();
    uint64_t *kept = head ? head->losses : log && log->mapped ? log->mapped->losses : NULL;
    if (kept)
        __atomic_store_n(&kept[loss], now, __ATOMIC_RELAXED);
    if (!__atomic_load_n(&has_lost, __ATOMIC_SEQ_CST)) /* behind the count: it is in the next sum */
        __atomic_store_n(&has_lost, true, __ATOMIC_SEQ_CST);
}

/* Before a thread looks whether it may drop events of before: whoever then reads the losses either
 * sees this, and takes the thread's lock, or had said before what must stay. */
static void expect_loss(void)
{
    __atomic_store_n(&has_lost, true, __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* pairs with the one in tkt_log_losses() */
}

void tkt_log_lose(tkt_thread_log *log, takt_loss loss)
{
    lose(log, loss, 1);
}

void tkt_log_lose_end(tkt_thread_log *log, uint32_t depth, uint64_t end_ticks)
{
    if (!log->mapped)
        return;
    log->mapped->lost_depth = depth;
    tkt_mapping_barrier();
    __atomic_store_n(&log->mapped->lost_ticks, end_ticks, __ATOMIC_RELEASE);
}

static void sum_losses(uint64_t losses[TAKT_LOSS_COUNT])
{
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        losses[i] = __atomic_load_n(&losses_without_log[i], __ATOMIC_RELAXED);
    for (tkt_thread_log *log = tkt_log_first(); log; log = tkt_log_next(log)) {
        uint64_t was = tkt_busy_lock(&log->lock); /* see drop_newest() */
        for (int i = 0; i < TAKT_LOSS_COUNT; i++)
            losses[i] += __atomic_load_n(&log->losses[i], __ATOMIC_RELAXED);
        tkt_busy_unlock(&log->lock, was);
    }
}

/* A step from window to window asks the logs of all threads only if something was lost. */
void tkt_log_losses(uint64_t losses[TAKT_LOSS_COUNT])
{
    static tkt_mutex lock = TKT_MUTEX_INIT;
    static uint64_t sums[TAKT_LOSS_COUNT]; /* lock */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    uint64_t was = tkt_busy_lock(&lock);
    if (__atomic_exchange_n(&has_lost, false, __ATOMIC_SEQ_CST))
        sum_losses(sums);
    memcpy(losses, sums, sizeof sums);
    tkt_busy_unlock(&lock, was);
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

void tkt_log_publish(tkt_thread_log *log, takt_record *end)
{
    /* release: pairs with the acquire in tkt_thread_peek(), which tkt_log_locate() calls */
    __atomic_store_n(&log->thread->cursor, end, __ATOMIC_RELEASE);
}

/* A chunk of the crash-safe file belongs to no log while it is cleared: no slot is committed. */
static void clear_slots(tkt_chunk *chunk)
{
    __atomic_store_n(&chunk->log, 0, __ATOMIC_RELEASE);
    tkt_mapping_barrier();
    memset(chunk->slots, 0, sizeof chunk->slots);
}

static takt_record *next_fold(const tkt_thread_log *log, takt_record *cursor)
{
    bool is_piece = tkt_record_has(TKT_FOLD) && log->chunk_end - cursor > PIECE_SLOTS;
    return is_piece ? cursor + PIECE_SLOTS : log->chunk_end;
}

void tkt_log_begin_chunk(tkt_thread_log *log, tkt_chunk *chunk)
{
    bool is_mapped = tkt_pool_is_mapped(chunk);
    tkt_mapping_head *head = is_mapped ? NULL : tkt_mapping();
    if (is_mapped)
        clear_slots(chunk);
    else if (head)
        __atomic_fetch_add(&head->chunks_lost, 1, __ATOMIC_RELAXED);
    chunk->begin_ticks = tkt_ticks();
    chunk->end_ticks = 0;
    chunk->count = 0;
    chunk->thread = log->mark;
    chunk->sequence = log->chunk_count++;
    chunk->depth = log->thread ? tkt_log_depth(log) : 0;
    tkt_mapping_barrier();
    if (is_mapped)
        __atomic_store_n(&chunk->log, log->number + 1, __ATOMIC_RELEASE);
    log->tail = chunk;
    log->chunk_end = chunk->slots + TKT_CHUNK_SLOTS;
    log->fold_at = next_fold(log, chunk->slots);
}

static void append_chunk(tkt_thread_log *log, tkt_chunk *chunk)
{
    tkt_chunk *full = log->tail;
    full->count = (uint32_t)(log->thread->cursor - full->slots);
    full->end_ticks = tkt_ticks();
    __atomic_store_n(&chunk->next, NULL, __ATOMIC_RELAXED);
    tkt_log_begin_chunk(log, chunk);
    /* release: pairs with the acquire in tkt_chunk_after() */
    __atomic_store_n(&full->next, chunk, __ATOMIC_RELEASE);
    tkt_log_publish(log, chunk->slots);
}

/* Returns how many of the chunk's events from slot `first` on end at `from` or later. One without a
 * time counts with the event before it, one whose time is not in ticks always. */
static uint32_t count_from(const tkt_chunk *chunk, uint32_t first, uint64_t from)
{
    uint32_t count = 0;
    bool is_later = true;
    for (uint32_t i = first; i < chunk->count; i++) {
        const takt_record *slot = &chunk->slots[i];
        if (tkt_slot_is_plain(slot)) {
            is_later = slot->start + slot->ticks >= from;
            count += is_later;
            continue;
        }
        if (tkt_slot_is(slot, TKT_SLOT_SPAN) || tkt_slot_is(slot, TKT_SLOT_TASK))
            is_later = slot[1].start >= from;
        else if (tkt_slot_is_moment(slot))
            is_later = slot->start >= from;
        else if (!tkt_slot_is_event(slot))
            continue;
        count += is_later || tkt_slot_is(slot, TKT_SLOT_SPAN_AT);
    }
    return count;
}

/* Returns how many events of this recording the chunk holds; its first ones may be older. */
static uint32_t count_events(const tkt_chunk *chunk)
{
    return count_from(chunk, 0, __atomic_load_n(&tkt_record_control.began_ticks, __ATOMIC_RELAXED));
}

/* Returns the chunk's first slot that the stream of a window has not read. */
static uint32_t first_unread(const tkt_log_reading *read, const tkt_chunk *chunk,
                             uint64_t begin_ticks)
{
    bool has_read = read->begin_ticks == begin_ticks && read->ticks >= chunk->begin_ticks &&
                    tkt_chunk_holds(chunk, read->until);
    return has_read ? (uint32_t)(read->until - chunk->slots) : 0;
}

/* The chunk's events are lost. Counts those that are no loss of a window. */
static void excuse(const tkt_thread_log *log, const tkt_chunk *chunk, uint32_t events,
                   takt_loss loss)
{
    tkt_control *control = &tkt_record_control;
    uint64_t began = __atomic_load_n(&control->began_ticks, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < TKT_PLACES; i++) {
        uint64_t from = __atomic_load_n(&control->open_ticks[i], __ATOMIC_RELAXED);
        uint32_t first = from ? first_unread(&log->reads[i], chunk, from) : 0;
        tkt_excused *of = &control->excused[i];
        if (first == 0 && from <= began)
            continue;
        from = from > began ? from : began;
        uint32_t unread = count_from(chunk, first, from);
        uint32_t mine = first > 0 ? count_from(chunk, 0, from) : unread;
        __atomic_fetch_add(loss == TAKT_LOSS_OVERWRITTEN ? &of->overwritten : &of->dropped,
                           events - mine, __ATOMIC_RELAXED);
        __atomic_fetch_add(loss == TAKT_LOSS_OVERWRITTEN ? &of->overwritten_read
                                                         : &of->dropped_read,
                           mine - unread, __ATOMIC_RELAXED);
    }
    if (loss == TAKT_LOSS_BUFFER_FULL && tkt_record_has(TKT_FOLD))
        __atomic_fetch_add(&control->folded, events, __ATOMIC_RELAXED);
}

/* With the lock: the chunk's events are lost. */
static void lose_events(tkt_thread_log *log, const tkt_chunk *chunk, takt_loss loss)
{
    uint32_t events = count_events(chunk);
    excuse(log, chunk, events, loss);
    lose(log, loss, events);
}

tkt_chunk *tkt_log_unlink_head(tkt_thread_log *log)
{
    tkt_chunk *head = log->head;
    log->head = tkt_chunk_after(head);
    if (log->unfolded == head) {
        log->unfolded = log->head;
        log->unfolded_slot = 0;
    }
    return head;
}

/* True if a crash-safe recording has begun and the tail is not in its file yet. */
static bool has_chunk_elsewhere(const tkt_thread_log *log)
{
    return tkt_mapping() && !tkt_pool_is_mapped(log->tail);
}

/* What folding a piece costs at most, so that a thread that had to wait for a processor meanwhile
 * does not count that. */
#define MOST_SLOT_NS 100  /* for a slot */
#define MOST_NEW_NS  3000 /* for a new path, or a histogram */

/* With the lock: how many slots that is, unless chunks wait to be folded. */
static uint64_t count_unfolded(const tkt_thread_log *log)
{
    const takt_record *from = log->tail->slots + log->unfolded_slot;
    return log->unfolded == log->tail ? (uint64_t)(log->thread->cursor - from) : TKT_CHUNK_SLOTS;
}

/* With the lock: folds the log, and measures what that takes. */
static void fold_and_measure(tkt_thread_log *log)
{
    uint64_t slots = count_unfolded(log);
    const tkt_fold *fold = &log->fold;
    uint64_t paths = fold->count, bytes = fold->histograms.total_bytes, begin = tkt_ticks();
    tkt_online_fold(log, log->thread->cursor, log->frames, tkt_log_depth(log), 0);
    uint64_t rate = __atomic_load_n(&tkt_record_control.fold_ns_per_tick, __ATOMIC_RELAXED);
    uint64_t ns = tkt_clock_duration_ns(rate, tkt_ticks() - begin);
    uint64_t made =
        fold->count - paths + (fold->histograms.total_bytes - bytes) / sizeof(tkt_histogram);
    uint64_t most_ns = slots * MOST_SLOT_NS + made * MOST_NEW_NS;
    log->fold.cost_ns += ns < most_ns ? ns : most_ns;
}

void tkt_log_fold_piece(tkt_thread_log *log)
{
    uint64_t begin = tkt_ticks();
    log->fold_at = next_fold(log, log->thread->cursor);
    if (!tkt_record_has(TKT_FOLD) || !tkt_mutex_try(&log->lock))
        return;
    fold_and_measure(log);
    tkt_mutex_unlock(&log->lock);
    tkt_record_note_own(begin);
}

/* With the lock: folds the log. If nobody wants to keep its chunks, returns them to the pool,
 * restarts the tail, and returns true. */
static bool fold_and_reuse(tkt_thread_log *log)
{
    if (tkt_record_has(TKT_FOLD))
        fold_and_measure(log);
    if (tkt_record_has(TKT_KEEP) || log->pins || has_chunk_elsewhere(log) ||
        !tkt_mapping_keep_fold(log))
        return false;
    while (log->head != log->tail)
        tkt_pool_give(tkt_log_unlink_head(log));
    tkt_log_begin_chunk(log, log->tail);
    log->unfolded = log->tail;
    log->unfolded_slot = 0;
    tkt_log_publish(log, log->tail->slots);
    return true;
}

/* With the lock: true if the flight recorder may reuse the log's oldest chunk. A timer that runs at
 * the same time needs all events since it began. */
static bool may_overwrite(const tkt_thread_log *log)
{
    if (!tkt_record_has(TKT_RING))
        return false;
    expect_loss();
    uint64_t until = __atomic_load_n(&tkt_record_control.ring_until_ticks, __ATOMIC_RELAXED);
    return !log->pins && log->head != log->tail && log->head->end_ticks < until;
}

/* With the lock: takes the oldest chunk, and counts its events as lost. Only after
 * may_overwrite(). */
static tkt_chunk *overwrite_oldest(tkt_thread_log *log)
{
    tkt_chunk *chunk = tkt_log_unlink_head(log);
    lose_events(log, chunk, TAKT_LOSS_OVERWRITTEN);
    return chunk;
}

/* True if a window that is not closed ended after the chunk's begin. */
static bool has_settled(const tkt_chunk *chunk)
{
    return chunk->begin_ticks <=
           __atomic_load_n(&tkt_record_control.settled_ticks, __ATOMIC_RELAXED);
}

/* By how many chunks the limit is higher for this thread. A thread that comes after others have
 * used it up may have only chunks that it can neither overwrite nor drop: one that recorded in a
 * window that waits to be sealed. Then it gets another one, or all its events would be lost from
 * then on. */
static uint32_t extra_chunks(const tkt_thread_log *log, bool has_old)
{
    if (tkt_record_has(TKT_RING))
        return has_old ? 0 : 2 * tkt_log_count();
    bool is_stuck = has_settled(log->tail) && !tkt_mapping(); /* its file has no others */
    return is_stuck ? tkt_log_count() : 0;
}

static void begin_gap(tkt_thread_log *log, uint64_t since)
{
    if (!log->gap_ticks)
        __atomic_store_n(&log->gap_ticks, since, __ATOMIC_RELAXED);
}

/* With the lock, when there is no memory: restarts the tail. So events are lost a chunk at a time,
 * and cost no more than recorded ones. Only if no window that waits to be sealed has some of them.
 * Whoever reads the losses takes the lock, and so finds each loss in the window that it belongs to.
 */
static bool drop_newest(tkt_thread_log *log)
{
    tkt_chunk *tail = log->tail;
    expect_loss();
    if (log->pins || has_settled(tail))
        return false;
    tail->count = (uint32_t)(log->thread->cursor - tail->slots);
    bool is_in_gap = tail->count > 0 && tkt_slot_is(tail->slots, TKT_SLOT_GAP);
    uint64_t since = is_in_gap ? tail->slots[0].start : tail->begin_ticks;
    lose_events(log, tail, TAKT_LOSS_BUFFER_FULL);
    tkt_log_begin_chunk(log, tail);
    if (log->unfolded == tail)
        log->unfolded_slot = 0;
    tkt_log_publish(log, tail->slots);
    begin_gap(log, since);
    return true;
}

/* Never waits: while somebody reads this log, it takes a chunk from the pool instead of reusing the
 * log's own. */
static bool change_chunk(tkt_thread_log *log)
{
    bool is_locked = tkt_mutex_try(&log->lock);
    bool is_done = is_locked && fold_and_reuse(log);
    if (!is_done) {
        bool has_old = is_locked && may_overwrite(log);
        tkt_chunk *chunk = tkt_pool_take(extra_chunks(log, has_old));
        if (!chunk && has_old)
            chunk = overwrite_oldest(log);
        if (chunk)
            append_chunk(log, chunk);
        is_done = chunk || (is_locked && drop_newest(log));
    }
    if (is_locked)
        tkt_mutex_unlock(&log->lock);
    return is_done;
}

bool tkt_log_next_chunk(tkt_thread_log *log)
{
    uint64_t begin = tkt_ticks();
    bool has_room = change_chunk(log);
    tkt_record_note_own(begin);
    return has_room;
}

void tkt_log_place_chunk(tkt_thread_log *log)
{
    if (has_chunk_elsewhere(log))
        tkt_log_next_chunk(log);
}

/* Marks the place where events were dropped: later ones may lack their parents, and earlier ones
 * the scope that they belong to. */
static void write_gap(tkt_thread_log *log)
{
    takt_record *slot = log->thread->cursor;
    tkt_slot_write(slot, (takt_record){log->gap_ticks, 0, tkt_slot_tag(TKT_SLOT_GAP, 0)});
    tkt_log_publish(log, slot + 1);
    __atomic_store_n(&log->gap_ticks, 0, __ATOMIC_RELAXED);
}

takt_record *tkt_log_reserve(tkt_thread_log *log, uint32_t count)
{
    takt_thread_v1 *thread = log->thread;
    if ((size_t)(log->chunk_end - thread->cursor) < count + (log->gap_ticks != 0) &&
        !tkt_log_next_chunk(log)) {
        begin_gap(log, tkt_ticks());
        tkt_log_lose(log, TAKT_LOSS_BUFFER_FULL);
        return NULL;
    }
    if (log->gap_ticks)
        write_gap(log);
    return thread->cursor;
}
