/* Reading logs from other threads, and threads that end. */
#include "record/log.h"

#include "base/clock.h"
#include "base/lock.h"
#include "base/sanitizers.h"
#include "base/thread.h"
#include "record/control.h"
#include "record/fold.h"
#include "record/scope.h"
#include "record/slot.h"

#include <string.h>

/* ======== Reading ======== */

/* Views of a log, releasing its chunks to the pool, and its fold. Each function holds the lock for
 * a moment; the log's thread never waits for it. */

/* ---- The thread's hot state ------------------------------------------------------------------ */

/* ThreadSanitizer sees no order in the kernel's copies, so under it, published fields are read
 * again. */
static void read_published(takt_thread_v1 *out, const takt_thread_v1 *thread)
{
#ifdef TKT_THREAD_SANITIZER
    out->cursor = __atomic_load_n(&thread->cursor, __ATOMIC_ACQUIRE);
    out->top = __atomic_load_n(&thread->top, __ATOMIC_ACQUIRE);
#else
    (void)out;
    (void)thread;
#endif
}

#define PROOF_NS UINT64_C(1000000000)

/* With the lock, when a reader has the cursor from the thread's state: notes what is_grown() asks
 * for. */
static void look_for_proof(tkt_thread_log *log, const takt_record *cursor)
{
    tkt_thread_proof *proof = &log->proof;
    if (proof->serial != log->mark.serial)
        *proof = (tkt_thread_proof){.serial = log->mark.serial, .since_ns = takt_now_ns()};
    else if (!proof->cursor)
        proof->cursor = takt_now_ns() - proof->since_ns >= PROOF_NS ? cursor : NULL;
    else if (proof->cursor != cursor)
        proof->is_grown = true;
}

/* With the lock: true if the thread is there, and cannot end without giving its log back, because it
 * has recorded more than a second after its first event: it was not in its last destructors then. So
 * its memory stays, and the kernel need not copy it, which may wait for a lock of the process's
 * memory that a thread of low priority holds. One that ended by the bare system call is gone. */
static bool is_grown(const tkt_thread_log *log)
{
#ifdef TKT_THREAD_SANITIZER
    (void)log;
    return false; /* it knows nothing of the order of such reads */
#else
    return log->proof.is_grown && log->proof.serial == log->mark.serial &&
           __atomic_load_n(&log->youth, __ATOMIC_RELAXED) == 0 &&
           !__atomic_load_n(&log->is_ending, __ATOMIC_RELAXED) &&
           !tkt_thread_is_gone(log->mark.thread_id);
#endif
}

/* Copies the hot state of the log's thread. False when its memory is gone, or is being cleared for
 * another thread. */
static bool peek(const tkt_thread_log *log, takt_thread_v1 *out)
{
    if (log->thread == &takt_thread_hot_v1)
        *out = *log->thread;
    else if (is_grown(log))
        tkt_thread_copy(out, log->thread, sizeof *out);
    else if (!tkt_thread_peek(out, log->thread, sizeof *out))
        return false;
    else
        read_published(out, log->thread);
    /* A thread's memory may be cleared for a new thread while it is copied. */
    return out->log == log && out->cursor && out->top >= log->frames &&
           out->top <= log->frames + TKT_MAX_DEPTH;
}

/* With the lock: the id of the thread's current call into a device's library, or 0. */
static uint32_t call_under_way(const tkt_thread_log *log)
{
    takt_thread_v1 seen;
    return log->thread && peek(log, &seen) ? (uint32_t)seen.device_call : 0;
}

/* ---- Views ----------------------------------------------------------------------------------- */

static takt_status add_part(tkt_log_view *view, const tkt_log_part *part)
{
    tkt_log_part *added = TKT_ARRAY_ADD(&view->parts);
    if (!added)
        return TAKT_NO_MEMORY;
    *added = *part;
    return TAKT_OK;
}

static takt_status add_chunk(tkt_log_view *view, const tkt_chunk *chunk, uint32_t count,
                             bool is_earlier)
{
    return add_part(view, &(tkt_log_part){chunk->slots, count, chunk->thread, chunk->begin_ticks,
                                          is_earlier});
}

/* True if the log may have tasks with given times that end later than `ticks`, or later than now. *ns
 * is then that time. */
static bool has_ahead(const tkt_thread_log *log, uint64_t ticks, uint64_t *ns)
{
    uint64_t ahead_ns = __atomic_load_n(&log->ahead_ns, __ATOMIC_RELAXED), now = tkt_ticks();
    if (!ahead_ns)
        return false;
    const tkt_clock_fit fit = tkt_clock_fit_now();
    *ns = tkt_clock_ns(&fit, ticks < now ? ticks : now);
    return ahead_ns > *ns;
}

static takt_status copy_parts(const tkt_thread_log *log, uint64_t from_ticks,
                              const takt_record *cursor, tkt_log_view *view)
{
    takt_status status = TAKT_OK;
    const tkt_chunk *chunk = log->head;
    uint64_t ns;
    bool with_earlier = has_ahead(log, from_ticks, &ns);
    if (with_earlier && log->ahead.count)
        status = add_part(view, &(tkt_log_part){.slots = log->ahead.items,
                                                .count = (uint32_t)log->ahead.count,
                                                .is_earlier = true});
    for (; status == TAKT_OK && !tkt_chunk_holds(chunk, cursor); chunk = tkt_chunk_after(chunk))
        if (with_earlier || chunk->end_ticks >= from_ticks)
            status = add_chunk(view, chunk, chunk->count, chunk->end_ticks < from_ticks);
    if (status == TAKT_OK)
        status = add_chunk(view, chunk, (uint32_t)(cursor - chunk->slots), false);
    return status;
}

static void unpin(tkt_thread_log *log)
{
    uint64_t was = tkt_busy_lock(&log->lock);
    log->pins--;
    tkt_busy_unlock(&log->lock, was);
}

/* The lock is held for a moment, however long the log is: full chunks do not change, and those of a
 * pinned log stay. */
takt_status tkt_log_view_open(tkt_thread_log *log, uint64_t from_ticks, tkt_log_view *view)
{
    *view = (tkt_log_view){0};
    takt_frame *frames = tkt_alloc(TKT_MAX_DEPTH * sizeof *frames);
    if (!frames)
        return TAKT_NO_MEMORY;
    uint64_t was = tkt_busy_lock(&log->lock);
    view->gap_ticks = __atomic_load_n(&log->gap_ticks, __ATOMIC_RELAXED);
    takt_record *cursor = tkt_log_moment(log, frames, &view->frame_count);
    if (!view->gap_ticks)
        view->gap_ticks = __atomic_load_n(&log->gap_ticks, __ATOMIC_RELAXED);
    log->pins++;
    tkt_busy_unlock(&log->lock, was);
    takt_status status = copy_parts(log, from_ticks, cursor, view);
    if (status != TAKT_OK) {
        unpin(log);
        TKT_ARRAY_FREE(&view->parts);
        tkt_free(frames);
        return status;
    }
    view->frames = frames;
    return TAKT_OK;
}

void tkt_log_note_read(tkt_thread_log *log, uint64_t begin_ticks, uint64_t ticks,
                       const takt_record *until)
{
    uint64_t was = tkt_busy_lock(&log->lock);
    for (uint32_t i = 0; i < TKT_PLACES; i++)
        if (__atomic_load_n(&tkt_record_control.open_ticks[i], __ATOMIC_RELAXED) == begin_ticks)
            log->reads[i] = (tkt_log_reading){begin_ticks, ticks, until};
    tkt_busy_unlock(&log->lock, was);
}

void tkt_log_view_close(tkt_thread_log *log, tkt_log_view *view)
{
    unpin(log);
    TKT_ARRAY_FREE(&view->parts);
    tkt_free(view->frames);
}

static bool ends_after(const takt_record *slot, uint64_t ns)
{
    return tkt_slot_is(slot, TKT_SLOT_SPAN_AT) && slot[1].start > ns;
}

/* With the lock, before the chunk goes: keeps its tasks that end later, for windows to come. */
__attribute__((cold)) static void keep_ahead(tkt_thread_log *log, const tkt_chunk *chunk,
                                             uint64_t ns)
{
    for (uint32_t i = 0; i + 1 < chunk->count; i++) {
        size_t count = log->ahead.count + 2;
        if (!ends_after(&chunk->slots[i], ns))
            continue;
        if (count > 2 * TKT_FOLD_MAX_AHEAD || !TKT_ARRAY_RESERVE(&log->ahead, count)) {
            tkt_log_lose(log, TAKT_LOSS_NO_MEMORY);
            continue;
        }
        memcpy(log->ahead.items + log->ahead.count, &chunk->slots[i], 2 * sizeof(takt_record));
        log->ahead.count = count;
    }
}

/* With the lock: forgets tasks that no window to come has. */
static void forget_ahead(tkt_thread_log *log, uint64_t ns)
{
    size_t left = 0;
    for (size_t i = 0; i < log->ahead.count; i += 2)
        if (ends_after(&log->ahead.items[i], ns)) {
            memmove(log->ahead.items + left, log->ahead.items + i, 2 * sizeof(takt_record));
            left += 2;
        }
    log->ahead.count = left;
}

#define MOST_RELEASED 32 /* chunks while the lock is held: the thread that steps may wait for it */

/* True if there may be more. */
static bool release_some(tkt_thread_log *log, uint64_t ticks)
{
    uint64_t ns = UINT64_MAX, was = tkt_busy_lock(&log->lock);
    bool is_ahead = has_ahead(log, ticks, &ns);
    int count = 0;
    if (log->pins == 0)
        forget_ahead(log, ns);
    /* A chunk that became full while somebody held the lock is not folded yet. */
    const tkt_chunk *stop = tkt_record_has(TKT_FOLD) ? log->unfolded : NULL;
    if (stop && log->mapped) /* the file may lack the fold of chunks that are folded */
        stop = log->head;
    while (log->pins == 0 && log->head != stop && tkt_chunk_after(log->head) &&
           log->head->end_ticks < ticks && count < MOST_RELEASED) {
        if (is_ahead)
            keep_ahead(log, log->head, ns);
        tkt_pool_give(tkt_log_unlink_head(log));
        count++;
    }
    tkt_busy_unlock(&log->lock, was);
    return count == MOST_RELEASED;
}

void tkt_log_release(tkt_thread_log *log, uint64_t ticks)
{
    while (release_some(log, ticks))
        continue;
}

/* ---- The fold -------------------------------------------------------------------------------- */

void tkt_log_fold_reset(tkt_thread_log *log)
{
    uint64_t was = tkt_busy_lock(&log->lock);
    tkt_fold_clear(&log->fold);
    log->folded_calls.count = 0;
    tkt_log_place place;
    if (tkt_log_locate(log, &place))
        look_for_proof(log, place.cursor);
    log->unfolded = tkt_log_chunk_of(log, place.cursor);
    log->unfolded_slot = (uint32_t)(place.cursor - log->unfolded->slots);
    log->fold_from = (tkt_fold_place){place.cursor, tkt_ticks()};
    tkt_busy_unlock(&log->lock, was);
}

/* With the lock: folds everything recorded up to now. */
static takt_status fold_now(tkt_thread_log *log, takt_frame *frames)
{
    uint32_t count;
    takt_record *cursor = tkt_log_moment(log, frames, &count);
    return tkt_online_fold(log, cursor, frames, count, 0);
}

static void move_calls(tkt_folded_calls *from, tkt_folded_calls *out)
{
    *out = *from;
    *from = (tkt_folded_calls){0};
}

/* Adds the call that was under way before the fold, unless the fold has its record. It is in the
 * innermost open scope. */
static void add_call_under_way(tkt_thread_log *log, uint32_t call, const takt_frame *frames,
                               uint32_t count)
{
    tkt_folded_calls *calls = &log->folded_calls;
    uint32_t node = 0;
    for (size_t i = calls->count; i-- > 0;)
        if (calls->items[i].correlation == call)
            return;
    for (uint32_t i = 0; i < count; i++)
        node = tkt_fold_child(&log->fold, node, tkt_frame_site(&frames[i]));
    tkt_folded_call *added = node == TKT_NO_NODE ? NULL : TKT_ARRAY_ADD(calls);
    if (added)
        *added = (tkt_folded_call){call, node, 0};
}

/* With the lock. */
static takt_status fold_last(tkt_thread_log *log, takt_frame *frames, uint64_t until_ticks)
{
    uint32_t count, call = call_under_way(log); /* before the records: it is missed in neither */
    takt_record *cursor = tkt_log_moment(log, frames, &count);
    takt_status status = tkt_online_fold(log, cursor, frames, count, until_ticks);
    if (status == TAKT_OK && call)
        add_call_under_way(log, call, frames, count);
    return status;
}

takt_status tkt_log_fold_take(tkt_thread_log *log, uint64_t until_ticks, takt_frame *frames,
                              tkt_fold *out)
{
    uint64_t was = tkt_busy_lock(&log->lock);
    takt_status status = fold_last(log, frames, until_ticks);
    tkt_fold_end_thread(&log->fold);
    tkt_fold taken = log->fold;
    log->fold = *out;
    tkt_fold_hand_on(&taken, &log->fold);
    *out = taken;
    out->log = log->number;
    out->from = log->fold_from;
    out->until = (tkt_fold_place){log->unfolded->slots + log->unfolded_slot, tkt_ticks()};
    tkt_folded_calls room = log->taken_calls;
    log->taken_calls = log->folded_calls;
    log->folded_calls = room;
    log->folded_calls.count = 0;
    tkt_busy_unlock(&log->lock, was);
    return status;
}

/* Copies an array to an empty one; see tkt_array_add(). False without memory. */
static bool copy_items(const void *from, void *out, size_t item_size)
{
    TKT_ARRAY_OF(char) array, copy = {0};
    memcpy(&array, from, sizeof array);
    if (!tkt_array_reserve(&copy.items, &copy.capacity, array.count, item_size))
        return false;
    copy.count = array.count;
    if (array.count > 0)
        memcpy(copy.items, array.items, array.count * item_size);
    memcpy(out, &copy, sizeof copy);
    return true;
}

#define COPY(list) copy_items(&from->list.items, &out->list.items, sizeof *out->list.items)

/* Copies what the fold has besides the tree. */
static takt_status copy_lists(const tkt_fold *from, tkt_fold *out)
{
    bool has_memory = COPY(threads) && COPY(parts) && COPY(before) && COPY(ahead);
    for (size_t i = 0; has_memory && i < from->counters.count; i++)
        has_memory = tkt_fold_add_counter(out, &from->counters.items[i]);
    for (size_t i = 0; has_memory && i < from->tasks.count; i++)
        has_memory = tkt_fold_add_task(out, &from->tasks.items[i]);
    if (!has_memory)
        return TAKT_NO_MEMORY;
    out->thread = from->thread;
    out->thread_has_events = from->thread_has_events;
    out->lists_no_threads = from->lists_no_threads;
    return TAKT_OK;
}

/* The copy has the same numbers of nodes, since calls refer to them. */
static takt_status copy_fold(const tkt_fold *from, tkt_fold *out)
{
    takt_status status = tkt_fold_copy_tree(out, from);
    return status == TAKT_OK ? copy_lists(from, out) : status;
}

/* With the lock: folds, and copies the fold. Open scopes go into the copy only. */
static takt_status fold_into_copy(tkt_thread_log *log, takt_frame *frames, uint64_t until_ticks,
                                  tkt_fold *copy)
{
    uint32_t count;
    takt_record *cursor = tkt_log_moment(log, frames, &count);
    takt_status status = tkt_online_fold(log, cursor, frames, count, 0);
    if (status == TAKT_OK)
        status = copy_fold(&log->fold, copy);
    if (status != TAKT_OK)
        return status;
    tkt_fold live = log->fold;
    log->fold = *copy;
    status = tkt_online_fold(log, cursor, frames, count, until_ticks);
    tkt_fold_end_thread(&log->fold);
    *copy = log->fold;
    log->fold = live;
    return status;
}

takt_status tkt_log_fold_copy(tkt_thread_log *log, uint64_t until_ticks, tkt_fold *out)
{
    takt_frame *frames = tkt_alloc(TKT_MAX_DEPTH * sizeof *frames);
    tkt_fold_fini(out);
    if (!frames)
        return TAKT_NO_MEMORY;
    uint64_t was = tkt_busy_lock(&log->lock);
    takt_status status = fold_into_copy(log, frames, until_ticks, out);
    out->log = log->number;
    out->from = log->fold_from;
    tkt_busy_unlock(&log->lock, was);
    tkt_free(frames);
    return status;
}

takt_status tkt_log_fold_calls(tkt_thread_log *log, tkt_folded_calls *out)
{
    takt_frame *frames = tkt_alloc(TKT_MAX_DEPTH * sizeof *frames);
    if (!frames)
        return TAKT_NO_MEMORY;
    uint64_t was = tkt_busy_lock(&log->lock);
    takt_status status = fold_now(log, frames);
    if (status == TAKT_OK)
        move_calls(&log->folded_calls, out);
    tkt_busy_unlock(&log->lock, was);
    tkt_free(frames);
    return status;
}

void tkt_log_fold_last_calls(tkt_thread_log *log, tkt_folded_calls *out)
{
    uint64_t was = tkt_busy_lock(&log->lock);
    move_calls(&log->taken_calls, out);
    tkt_busy_unlock(&log->lock, was);
}

/* ======== Threads that end ======== */

/* The destructor of a pthread key notices the end of most threads, and gives the log to the next
 * thread. But destructors run in rounds, and there is a last round. If one of the host's
 * destructors records after that, the thread gets a log that it never gives back. So Takt never
 * assumes that a log's thread exists. Readers ask the kernel for a copy of its hot state, and a
 * thread that needs a log looks for logs whose threads are gone.
 *
 * A thread that has begun to end takes the slow path for each event, which notes cursor and stack
 * top in the log. So no event of it is lost with its hot state. A new thread takes the slow path at
 * first, too: for all that Takt knows, it is ending already. */

bool tkt_log_locate(const tkt_thread_log *log, tkt_log_place *place)
{
    takt_thread_v1 seen;
    bool is_there = log->thread && peek(log, &seen);
    bool is_own = log->thread == &takt_thread_hot_v1;
    if (is_there)
        *place = (tkt_log_place){seen.cursor, seen.top, (seen.busy & TKT_BUSY_INSIDE) && !is_own};
    else
        *place = (tkt_log_place){__atomic_load_n(&log->rest, __ATOMIC_ACQUIRE),
                                 __atomic_load_n(&log->rest_top, __ATOMIC_ACQUIRE), false};
    return is_there;
}

size_t tkt_log_calls_under_way(uint32_t *out, size_t most)
{
    size_t count = 0;
    for (tkt_thread_log *log = tkt_log_first(); log && count < most; log = tkt_log_next(log)) {
        uint64_t was = tkt_busy_lock(&log->lock);
        uint32_t call = call_under_way(log);
        tkt_busy_unlock(&log->lock, was);
        if (call)
            out[count++] = call;
    }
    return count;
}

/* Closes the scopes that `thread` has left open in the log, and takes the thread out of it. */
static void leave_log(tkt_thread_log *log, const takt_thread_v1 *thread)
{
    tkt_scope_unwind(log, 0, tkt_ticks(), TKT_OPEN_AT_EXIT);
    tkt_mutex_lock(&log->lock);
    log->rest = thread->cursor;
    log->rest_top = log->frames;
    log->thread = NULL;
    tkt_mutex_unlock(&log->lock);
}

static void on_thread_exit(void *value)
{
    tkt_thread_log *log = value;
    takt_thread_v1 *thread = &takt_thread_hot_v1;
    if (tkt_process_is_disabled() || thread->log != log)
        return;
    tkt_busy_begin();
    leave_log(log, thread);
    tkt_log_forget_thread();
    tkt_log_give(log);
    tkt_busy_end(TAKT_BUSY | TKT_BUSY_ENDING);
}

bool tkt_log_watch_thread(tkt_thread_log *log)
{
    return tkt_thread_at_exit(on_thread_exit, log) == TAKT_OK;
}

bool tkt_log_reclaim(tkt_thread_log *log)
{
    tkt_log_place place;
    tkt_mutex_lock(&log->lock);
    bool is_gone =
        log->thread && (!tkt_log_locate(log, &place) || tkt_thread_is_gone(log->mark.thread_id));
    takt_thread_v1 ghost = {.log = log};
    if (is_gone) {
        ghost.cursor = place.cursor;
        ghost.top = place.top;
        log->thread = &ghost;
    }
    tkt_mutex_unlock(&log->lock);
    if (is_gone)
        leave_log(log, &ghost);
    return is_gone;
}
