#include "record/log.h"

#include "base/clock.h"
#include "base/file.h"
#include "record/control.h"
#include "record/online.h"
#include "record/scope.h"
#include "record/site.h"
#include "record/slot.h"

#include <string.h>

__thread takt_thread_v1 takt_thread_hot_v1;

static tkt_mutex list_lock = TKT_MUTEX_INIT;
static tkt_thread_log *all_logs;
static uint32_t log_count;
static uint64_t last_serial;
static uint64_t losses_without_log[TAKT_LOSS_COUNT];

/* ---- Room ------------------------------------------------------------------------------------- */

void tkt_log_lose(tkt_thread_log *log, takt_loss loss)
{
    uint64_t *count = log ? &log->losses[loss] : &losses_without_log[loss];
    __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

void tkt_log_publish(tkt_thread_log *log, takt_record *end)
{
    /* release: pairs with the acquire in read_cursor() */
    __atomic_store_n(&log->thread->cursor, end, __ATOMIC_RELEASE);
}

/* Makes `chunk` the one that is written to. */
static void begin_chunk(tkt_thread_log *log, tkt_chunk *chunk)
{
    chunk->begin_ticks = tkt_ticks();
    chunk->end_ticks = 0;
    chunk->count = 0;
    chunk->thread = log->mark;
    log->tail = chunk;
    log->chunk_end = chunk->slots + TKT_CHUNK_SLOTS;
}

static void append_chunk(tkt_thread_log *log, tkt_chunk *chunk)
{
    tkt_chunk *full = log->tail;
    full->count = (uint32_t)(log->thread->cursor - full->slots);
    full->end_ticks = tkt_ticks();
    __atomic_store_n(&chunk->next, NULL, __ATOMIC_RELAXED);
    begin_chunk(log, chunk);
    /* release: pairs with the acquire in chunk_after() */
    __atomic_store_n(&full->next, chunk, __ATOMIC_RELEASE);
    tkt_log_publish(log, chunk->slots);
}

static tkt_chunk *chunk_after(const tkt_chunk *chunk)
{
    return __atomic_load_n(&chunk->next, __ATOMIC_ACQUIRE);
}

/* How many events the chunk holds of this recording; its first ones may be older. */
static uint32_t count_events(const tkt_chunk *chunk)
{
    uint64_t began = __atomic_load_n(&tkt_record_control.began_ticks, __ATOMIC_RELAXED);
    uint32_t count = 0;
    for (uint32_t i = 0; i < chunk->count; i++) {
        tkt_slot_span span;
        if (tkt_slot_read_span(&chunk->slots[i], &span))
            count += span.end >= began;
        else
            count += tkt_slot_is_event(&chunk->slots[i]);
    }
    return count;
}

/* Takes the oldest chunk out of the list; under the lock. */
static tkt_chunk *unlink_head(tkt_thread_log *log)
{
    tkt_chunk *head = log->head;
    log->head = chunk_after(head);
    if (log->unfolded == head) {
        log->unfolded = log->head;
        log->unfolded_slot = 0;
    }
    return head;
}

/* With the lock: folds what is full, and says whether the tail may be written again from its
 * start, because nobody wants to keep it. */
static bool fold_and_reuse(tkt_thread_log *log)
{
    if (tkt_record_has(TKT_FOLD))
        tkt_online_fold(log, log->thread->cursor, log->frames, tkt_log_depth(log), 0);
    if (tkt_record_has(TKT_KEEP) || log->pins)
        return false;
    while (log->head != log->tail)
        tkt_pool_give(unlink_head(log));
    begin_chunk(log, log->tail);
    log->unfolded = log->tail;
    log->unfolded_slot = 0;
    tkt_log_publish(log, log->tail->slots);
    return true;
}

/* With the lock: the flight recorder's own oldest chunk, if it has another one. */
static tkt_chunk *overwrite_oldest(tkt_thread_log *log)
{
    if (!tkt_record_has(TKT_RING) || log->pins || log->head == log->tail)
        return NULL;
    tkt_chunk *chunk = unlink_head(log);
    __atomic_fetch_add(&log->losses[TAKT_LOSS_OVERWRITTEN], count_events(chunk), __ATOMIC_RELAXED);
    return chunk;
}

/* The tail has no room: another chunk, or the same one again. Never waits: while somebody reads
 * this log, it takes a chunk from the pool instead. */
static bool next_chunk(tkt_thread_log *log)
{
    bool is_locked = tkt_mutex_try(&log->lock);
    bool is_done = is_locked && fold_and_reuse(log);
    if (!is_done) {
        uint32_t extra = tkt_record_has(TKT_RING) ? 2 * __atomic_load_n(&log_count, __ATOMIC_RELAXED) : 0;
        tkt_chunk *chunk = tkt_pool_take(extra);
        if (!chunk && is_locked)
            chunk = overwrite_oldest(log);
        if (chunk)
            append_chunk(log, chunk);
        is_done = chunk != NULL;
    }
    if (is_locked)
        tkt_mutex_unlock(&log->lock);
    return is_done;
}

/* Where events were dropped a gap is marked, because what comes next may lack its parents. */
static void write_gap(tkt_thread_log *log)
{
    takt_record *slot = log->thread->cursor;
    *slot = (takt_record){tkt_ticks(), 0, tkt_slot_tag(TKT_SLOT_GAP, 0)};
    tkt_log_publish(log, slot + 1);
    log->has_gap = false;
}

takt_record *tkt_log_reserve(tkt_thread_log *log, uint32_t count)
{
    takt_thread_v1 *thread = log->thread;
    if ((size_t)(log->chunk_end - thread->cursor) < count + log->has_gap && !next_chunk(log)) {
        log->has_gap = true;
        tkt_log_lose(log, TAKT_LOSS_BUFFER_FULL);
        return NULL;
    }
    if (log->has_gap)
        write_gap(log);
    return thread->cursor;
}

/* ---- A thread's log --------------------------------------------------------------------------- */

static tkt_thread_log *create_log(void)
{
    tkt_thread_log *log = tkt_alloc_zeroed(sizeof *log);
    takt_frame *frames = tkt_alloc((TKT_MAX_DEPTH + 1) * sizeof *frames);
    uint32_t *path = tkt_alloc(TKT_MAX_DEPTH * sizeof *path);
    tkt_chunk *chunk = log && frames && path ? tkt_pool_take(UINT32_MAX / 2) : NULL;
    if (!chunk) {
        tkt_free(path);
        tkt_free(frames);
        tkt_free(log);
        return NULL;
    }
    tkt_mutex_init(&log->lock);
    frames[0] = (takt_frame){0};
    log->frames = frames + 1;
    for (uint32_t i = 0; i < TKT_DEEP; i++)
        log->frames[i].depth = i;
    log->path = path;
    __atomic_store_n(&chunk->next, NULL, __ATOMIC_RELAXED);
    begin_chunk(log, chunk);
    log->head = log->unfolded = chunk;
    log->rest = chunk->slots;
    return log;
}

/* A log that no thread uses, or a new one. */
static tkt_thread_log *take_log(void)
{
    tkt_mutex_lock(&list_lock);
    tkt_thread_log *log = all_logs;
    while (log && log->is_taken)
        log = log->next;
    if (log)
        log->is_taken = true;
    tkt_mutex_unlock(&list_lock);
    if (log)
        return log;
    log = create_log();
    if (!log)
        return NULL;
    log->is_taken = true;
    tkt_mutex_lock(&list_lock);
    log->next = all_logs;
    /* release: pairs with the acquire in tkt_log_first() */
    __atomic_store_n(&all_logs, log, __ATOMIC_RELEASE);
    __atomic_fetch_add(&log_count, 1, __ATOMIC_RELAXED);
    tkt_mutex_unlock(&list_lock);
    return log;
}

static void give_log(tkt_thread_log *log)
{
    tkt_mutex_lock(&list_lock);
    log->is_taken = false;
    tkt_mutex_unlock(&list_lock);
}

/* The name that a thread has of itself: "main", or what the operating system calls it. */
static uint32_t name_of_thread(uint32_t thread_id)
{
    if (thread_id == tkt_process_id())
        return tkt_text_intern("main");
    char name[16];
    tkt_thread_os_name(name);
    const char *program = tkt_program_name();
    return strncmp(name, program, 15) == 0 ? 0 : tkt_text_intern(name);
}

/* Says in the log that another thread goes on. */
static void write_thread_mark(tkt_thread_log *log)
{
    if (log->thread->cursor == log->tail->slots) {
        log->tail->thread = log->mark;
        return;
    }
    uint64_t serial = log->tail->thread.serial;
    takt_record *slot = tkt_log_reserve(log, 2);
    if (!slot || (slot == log->tail->slots && log->tail->thread.serial != serial))
        return; /* the new chunk's head says it */
    slot[0] = (takt_record){log->mark.serial, log->mark.thread_id, tkt_slot_tag(TKT_SLOT_THREAD, 0)};
    slot[1] = (takt_record){0, log->mark.name, tkt_slot_tag(TKT_SLOT_MORE, 0)};
    tkt_log_publish(log, slot + 2);
}

static void on_thread_exit(void *value)
{
    tkt_thread_log *log = value;
    takt_thread_v1 *thread = &takt_thread_hot_v1;
    if (tkt_record_is_disabled() || thread->log != log)
        return;
    tkt_scope_unwind(log, 0, tkt_ticks(), TKT_OPEN_AT_EXIT);
    tkt_mutex_lock(&log->lock);
    log->rest = thread->cursor;
    log->thread = NULL;
    tkt_mutex_unlock(&log->lock);
    *thread = (takt_thread_v1){0};
    give_log(log);
}

/* Gives the calling thread a log. */
static tkt_thread_log *attach(takt_thread_v1 *thread)
{
    tkt_thread_log *log = take_log();
    if (log && tkt_thread_at_exit(on_thread_exit, log) != TAKT_OK) {
        give_log(log);
        log = NULL;
    }
    if (!log)
        return NULL;
    uint32_t thread_id = tkt_thread_id();
    log->mark = (tkt_thread_mark){__atomic_add_fetch(&last_serial, 1, __ATOMIC_RELAXED), thread_id,
                                  name_of_thread(thread_id)};
    tkt_mutex_lock(&log->lock);
    thread->log = log;
    __atomic_store_n(&thread->cursor, log->rest, __ATOMIC_RELAXED);
    __atomic_store_n(&thread->top, log->frames, __ATOMIC_RELAXED);
    log->thread = thread;
    if (log->rest == log->tail->slots)
        log->tail->thread = log->mark;
    tkt_mutex_unlock(&log->lock);
    if (log->rest != log->tail->slots)
        write_thread_mark(log);
    return log;
}

tkt_thread_log *tkt_log_enter(void)
{
    takt_thread_v1 *thread = &takt_thread_hot_v1;
    if (thread->is_busy || tkt_record_is_disabled())
        return NULL;
    thread->is_busy = 1;
    tkt_thread_log *log = thread->log ? thread->log : attach(thread);
    if (!log) {
        thread->is_busy = 0;
        tkt_log_lose(NULL, TAKT_LOSS_NO_MEMORY);
    }
    return log;
}

void tkt_log_leave(tkt_thread_log *log)
{
    takt_thread_v1 *thread = log->thread;
    takt_frame *end = log->frames + TKT_DEEP;
    bool is_inline = tkt_clock_is_inline();
    thread->limit = is_inline ? log->chunk_end : thread->cursor;
    thread->top_limit = is_inline && end > thread->top ? end : thread->top;
    thread->is_busy = 0;
}

uint32_t tkt_log_site(tkt_thread_log *log, takt_site *site)
{
    uint32_t id = __atomic_load_n(&site->id, __ATOMIC_RELAXED);
    if (id == 0)
        id = tkt_site_register(site);
    if (id == 0)
        tkt_log_lose(log, TAKT_LOSS_TOO_MANY_SITES);
    return id;
}

/* ---- Readers ---------------------------------------------------------------------------------- */

tkt_thread_log *tkt_log_first(void)
{
    return __atomic_load_n(&all_logs, __ATOMIC_ACQUIRE);
}

static takt_record *read_cursor(const tkt_thread_log *log)
{
    return log->thread ? __atomic_load_n(&log->thread->cursor, __ATOMIC_ACQUIRE) : log->rest;
}

static bool holds(const tkt_chunk *chunk, const takt_record *cursor)
{
    return cursor >= chunk->slots && cursor <= chunk->slots + TKT_CHUNK_SLOTS;
}

/* Copies the stack; consistent when the cursor is still `cursor` afterwards. */
static uint32_t copy_frames(const tkt_thread_log *log, takt_frame *out)
{
    takt_frame *top = __atomic_load_n(&log->thread->top, __ATOMIC_ACQUIRE);
    uint32_t count = (uint32_t)(top - log->frames);
    for (uint32_t i = 0; i < count; i++) {
        out[i].start = __atomic_load_n(&log->frames[i].start, __ATOMIC_ACQUIRE);
        out[i].site = __atomic_load_n(&log->frames[i].site, __ATOMIC_ACQUIRE);
        out[i].depth = i;
    }
    return count;
}

/* A frame whose record is already there is no longer open, see the top of log.h. */
static uint32_t without_closed(const takt_frame *frames, uint32_t count, const takt_record *first,
                               const takt_record *cursor)
{
    tkt_slot_span span;
    if (count == 0 || cursor == first)
        return count;
    const takt_record *last = cursor - 1;
    if (!tkt_slot_is_plain(last) && tkt_slot_kind_of(last) == TKT_SLOT_MORE && last > first)
        last--;
    bool is_closed = tkt_slot_read_span(last, &span) && span.depth == count - 1 &&
                     span.begin == frames[count - 1].start;
    return is_closed ? count - 1 : count;
}

/* Takes cursor and stack of one moment. Retries while the thread is at it: its scopes would have to
 * end exactly in between each time, so a bound is enough; the last picture is taken as it is. */
static takt_record *copy_moment(const tkt_thread_log *log, takt_frame *frames, uint32_t *frame_count)
{
    *frame_count = 0;
    takt_record *cursor = read_cursor(log);
    for (int tries = 0; log->thread && tries < 1000; tries++) {
        *frame_count = copy_frames(log, frames);
        takt_record *after = read_cursor(log);
        if (after == cursor)
            break;
        cursor = after;
    }
    return cursor;
}

static takt_status add_part(tkt_log_view *view, const tkt_chunk *chunk, uint32_t count)
{
    tkt_log_part *part = TKT_ARRAY_ADD(&view->parts);
    if (!part)
        return TAKT_NO_MEMORY;
    *part = (tkt_log_part){chunk->slots, count, chunk->thread};
    return TAKT_OK;
}

static takt_status copy_parts(const tkt_thread_log *log, uint64_t from_ticks, const takt_record *cursor,
                              tkt_log_view *view)
{
    takt_status status = TAKT_OK;
    const tkt_chunk *chunk = log->head;
    for (; status == TAKT_OK && !holds(chunk, cursor); chunk = chunk_after(chunk))
        if (chunk->end_ticks >= from_ticks)
            status = add_part(view, chunk, chunk->count);
    if (status == TAKT_OK)
        status = add_part(view, chunk, (uint32_t)(cursor - chunk->slots));
    return status;
}

takt_status tkt_log_view_open(tkt_thread_log *log, uint64_t from_ticks, tkt_log_view *view)
{
    *view = (tkt_log_view){0};
    takt_frame *frames = tkt_alloc(TKT_MAX_DEPTH * sizeof *frames);
    if (!frames)
        return TAKT_NO_MEMORY;
    tkt_mutex_lock(&log->lock);
    takt_record *cursor = copy_moment(log, frames, &view->frame_count);
    takt_status status = copy_parts(log, from_ticks, cursor, view);
    if (status == TAKT_OK)
        log->pins++;
    tkt_mutex_unlock(&log->lock);
    if (status != TAKT_OK) {
        TKT_ARRAY_FREE(&view->parts);
        tkt_free(frames);
        return status;
    }
    view->frames = frames;
    const tkt_log_part *last = &view->parts.items[view->parts.count - 1];
    view->frame_count = without_closed(frames, view->frame_count, last->slots, cursor);
    return TAKT_OK;
}

void tkt_log_view_close(tkt_thread_log *log, tkt_log_view *view)
{
    tkt_mutex_lock(&log->lock);
    log->pins--;
    tkt_mutex_unlock(&log->lock);
    TKT_ARRAY_FREE(&view->parts);
    tkt_free(view->frames);
}

void tkt_log_release(tkt_thread_log *log, uint64_t ticks)
{
    tkt_mutex_lock(&log->lock);
    while (log->pins == 0 && chunk_after(log->head) && log->head->end_ticks < ticks)
        tkt_pool_give(unlink_head(log));
    tkt_mutex_unlock(&log->lock);
}

/* ---- The folded form -------------------------------------------------------------------------- */

void tkt_log_fold_reset(tkt_thread_log *log)
{
    tkt_mutex_lock(&log->lock);
    tkt_fold_fini(&log->fold);
    takt_record *cursor = read_cursor(log);
    tkt_chunk *chunk = log->head;
    while (!holds(chunk, cursor))
        chunk = chunk_after(chunk);
    log->unfolded = chunk;
    log->unfolded_slot = (uint32_t)(cursor - chunk->slots);
    tkt_mutex_unlock(&log->lock);
}

takt_status tkt_log_fold_take(tkt_thread_log *log, uint64_t until_ticks, tkt_fold *out)
{
    takt_frame *frames = tkt_alloc(TKT_MAX_DEPTH * sizeof *frames);
    if (!frames)
        return TAKT_NO_MEMORY;
    tkt_mutex_lock(&log->lock);
    uint32_t count;
    takt_record *cursor = copy_moment(log, frames, &count);
    tkt_chunk *chunk = log->head;
    while (!holds(chunk, cursor))
        chunk = chunk_after(chunk);
    count = without_closed(frames, count, chunk->slots, cursor);
    takt_status status = tkt_online_fold(log, cursor, frames, count, until_ticks);
    *out = log->fold;
    log->fold = (tkt_fold){0};
    tkt_mutex_unlock(&log->lock);
    tkt_free(frames);
    return status;
}

void tkt_log_losses(uint64_t losses[TAKT_LOSS_COUNT])
{
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        losses[i] = __atomic_load_n(&losses_without_log[i], __ATOMIC_RELAXED);
    for (tkt_thread_log *log = tkt_log_first(); log; log = tkt_log_next(log))
        for (int i = 0; i < TAKT_LOSS_COUNT; i++)
            losses[i] += __atomic_load_n(&log->losses[i], __ATOMIC_RELAXED);
}

void tkt_log_work(double *flops, double *bytes)
{
    *flops = *bytes = 0;
    for (tkt_thread_log *log = tkt_log_first(); log; log = tkt_log_next(log)) {
        double value;
        __atomic_load(&log->flops, &value, __ATOMIC_RELAXED);
        *flops += value;
        __atomic_load(&log->bytes, &value, __ATOMIC_RELAXED);
        *bytes += value;
    }
}
