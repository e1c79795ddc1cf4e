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

/* ---- Room ------------------------------------------------------------------------------------ */

void tkt_log_lose(tkt_thread_log *log, takt_loss loss)
{
    uint64_t *count = log ? &log->losses[loss] : &losses_without_log[loss];
    __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

void tkt_log_publish(tkt_thread_log *log, takt_record *end)
{
    /* release: pairs with the acquire in read_cursor() of log_read.c */
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
    /* release: pairs with the acquire in tkt_chunk_after() */
    __atomic_store_n(&full->next, chunk, __ATOMIC_RELEASE);
    tkt_log_publish(log, chunk->slots);
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

/* With the lock: folds what is full, and says whether the tail may be written again from its
 * start, because nobody wants to keep it. */
static bool fold_and_reuse(tkt_thread_log *log)
{
    if (tkt_record_has(TKT_FOLD))
        tkt_online_fold(log, log->thread->cursor, log->frames, tkt_log_depth(log), 0);
    if (tkt_record_has(TKT_KEEP) || log->pins)
        return false;
    while (log->head != log->tail)
        tkt_pool_give(tkt_log_unlink_head(log));
    begin_chunk(log, log->tail);
    log->unfolded = log->tail;
    log->unfolded_slot = 0;
    tkt_log_publish(log, log->tail->slots);
    return true;
}

/* With the lock: whether the flight recorder may write where the log's oldest events are. A timer
 * beside it wants all that came since it began. */
static bool may_overwrite(const tkt_thread_log *log)
{
    uint64_t until = __atomic_load_n(&tkt_record_control.ring_until_ticks, __ATOMIC_RELAXED);
    return tkt_record_has(TKT_RING) && !log->pins && log->head != log->tail &&
           log->head->end_ticks < until;
}

/* With the lock, where it may: the oldest chunk. */
static tkt_chunk *overwrite_oldest(tkt_thread_log *log)
{
    tkt_chunk *chunk = tkt_log_unlink_head(log);
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
        /* A thread that comes when others have taken all there is gets a second chunk beyond it:
         * with one alone it could only drop what is newest. */
        bool has_old = is_locked && may_overwrite(log);
        uint32_t logs = __atomic_load_n(&log_count, __ATOMIC_RELAXED);
        tkt_chunk *chunk = tkt_pool_take(tkt_record_has(TKT_RING) && !has_old ? 2 * logs : 0);
        if (!chunk && has_old)
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

/* ---- A thread's log -------------------------------------------------------------------------- */

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
    log->number = log_count;
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

/* Says in the log that another thread goes on. Where there is no room for that, the next chunk's
 * head says it, and nothing of this thread goes into the old one. */
static void write_thread_mark(tkt_thread_log *log)
{
    size_t room = (size_t)(log->chunk_end - log->thread->cursor);
    if (room < 2u + log->has_gap) {
        if (!next_chunk(log))
            log->chunk_end = log->thread->cursor;
        return;
    }
    takt_record *slot = tkt_log_reserve(log, 2);
    slot[0] =
        (takt_record){log->mark.serial, log->mark.thread_id, tkt_slot_tag(TKT_SLOT_THREAD, 0)};
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

/* The child's thread has another id. Its end must not give back what it has not. */
void tkt_log_detach(void)
{
    takt_thread_v1 *thread = &takt_thread_hot_v1;
    tkt_thread_log *log = thread->log;
    if (!log)
        return;
    log->rest = thread->cursor;
    log->thread = NULL;
    log->is_taken = false;
    *thread = (takt_thread_v1){0};
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
    bool is_inline = tkt_clock_is_inline() && !tkt_record_has(TKT_STACKS);
    thread->limit = is_inline ? log->chunk_end : thread->cursor;
    thread->top_limit = is_inline && end > thread->top ? end : thread->top;
    thread->is_busy = 0;
}

void tkt_log_refresh(void)
{
    tkt_thread_log *log = takt_thread_hot_v1.log ? tkt_log_enter() : NULL;
    if (log)
        tkt_log_leave(log);
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

/* ---- All logs -------------------------------------------------------------------------------- */

tkt_thread_log *tkt_log_first(void)
{
    return __atomic_load_n(&all_logs, __ATOMIC_ACQUIRE);
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
