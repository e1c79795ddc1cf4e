/* Room for events, the log of each thread, and the list of all logs: see log.h. */
#include "record/log.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/thread.h"
#include "record/control.h"
#include "record/fold.h"
#include "record/mapping.h"
#include "record/scope.h"
#include "record/site.h"
#include "record/slot.h"

#include <string.h>

/* The stack of a thread without a log: no scope is open, and there is no room for one. */
static const takt_frame no_stack[2] = {{0, TAKT_NO_SCOPE, TAKT_SLOW}, {0, 0, TAKT_SLOW}};

#define NO_LOG                                                                                     \
    {                                                                                              \
        .top = (takt_frame *)no_stack + 1, .busy = TAKT_BUSY | TKT_BUSY_SHUT                       \
    }
__thread takt_thread_v1 takt_thread_hot_v1 = NO_LOG;

static tkt_mutex list_lock = TKT_MUTEX_INIT;
static tkt_thread_log *all_logs;
static uint32_t log_count;
static uint64_t last_serial;
static uint64_t losses_without_log[TAKT_LOSS_COUNT];

/* ---- Room ------------------------------------------------------------------------------------ */

static void lose(tkt_thread_log *log, takt_loss loss, uint64_t events)
{
    uint64_t *count = log ? &log->losses[loss] : &losses_without_log[loss];
    uint64_t now = __atomic_add_fetch(count, events, __ATOMIC_RELAXED);
    tkt_mapping_head *head = log ? NULL : tkt_mapping();
    uint64_t *kept = head ? head->losses : log && log->mapped ? log->mapped->losses : NULL;
    if (kept)
        __atomic_store_n(&kept[loss], now, __ATOMIC_RELAXED);
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

/* Makes `chunk` the tail, which the thread writes to. */
static void begin_chunk(tkt_thread_log *log, tkt_chunk *chunk)
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

/* Returns how many events of this recording the chunk holds; its first ones may be older. */
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

/* True if a crash-safe recording has begun and the tail is not in its file yet. */
static bool has_chunk_elsewhere(const tkt_thread_log *log)
{
    return tkt_mapping() && !tkt_pool_is_mapped(log->tail);
}

/* With the lock: folds the log. If nobody wants to keep its chunks, returns them to the pool,
 * restarts the tail, and returns true. */
static bool fold_and_reuse(tkt_thread_log *log)
{
    if (tkt_record_has(TKT_FOLD))
        tkt_online_fold(log, log->thread->cursor, log->frames, tkt_log_depth(log), 0);
    if (tkt_record_has(TKT_KEEP) || log->pins || has_chunk_elsewhere(log) ||
        !tkt_mapping_keep_fold(log))
        return false;
    while (log->head != log->tail)
        tkt_pool_give(tkt_log_unlink_head(log));
    begin_chunk(log, log->tail);
    log->unfolded = log->tail;
    log->unfolded_slot = 0;
    tkt_log_publish(log, log->tail->slots);
    return true;
}

/* With the lock: true if the flight recorder may reuse the log's oldest chunk. A timer that runs at
 * the same time needs all events since it began. */
static bool may_overwrite(const tkt_thread_log *log)
{
    uint64_t until = __atomic_load_n(&tkt_record_control.ring_until_ticks, __ATOMIC_RELAXED);
    return tkt_record_has(TKT_RING) && !log->pins && log->head != log->tail &&
           log->head->end_ticks < until;
}

/* With the lock: takes the oldest chunk, and counts its events as lost. Only after
 * may_overwrite(). */
static tkt_chunk *overwrite_oldest(tkt_thread_log *log)
{
    tkt_chunk *chunk = tkt_log_unlink_head(log);
    lose(log, TAKT_LOSS_OVERWRITTEN, count_events(chunk));
    return chunk;
}

/* With the lock, when there is no memory: restarts the tail. So events are lost a chunk at a time,
 * and cost no more than recorded ones. Only if the whole tail is newer than the last time that a
 * window began, ended or was read. Whoever reads the losses takes the lock, and so finds each loss
 * in the window that it belongs to. In a crash-safe recording, written events stay. */
static bool drop_newest(tkt_thread_log *log)
{
    tkt_chunk *tail = log->tail;
    uint64_t settled = __atomic_load_n(&tkt_record_control.settled_ticks, __ATOMIC_RELAXED);
    if (log->pins || log->mapped || tkt_record_has(TKT_RING) || tail->begin_ticks <= settled)
        return false;
    tail->count = (uint32_t)(log->thread->cursor - tail->slots);
    lose(log, TAKT_LOSS_BUFFER_FULL, count_events(tail));
    begin_chunk(log, tail);
    if (log->unfolded == tail)
        log->unfolded_slot = 0;
    tkt_log_publish(log, tail->slots);
    log->has_gap = true;
    return true;
}

/* The tail is full: continues in another chunk, or in the same one again. Never waits: while
 * somebody reads this log, it takes a chunk from the pool instead. */
static bool next_chunk(tkt_thread_log *log)
{
    bool is_locked = tkt_mutex_try(&log->lock);
    bool is_done = is_locked && fold_and_reuse(log);
    if (!is_done) {
        /* A thread that comes after others have used up the limit gets a second chunk beyond it:
         * with only one it could only drop the newest events. */
        bool has_old = is_locked && may_overwrite(log);
        uint32_t logs = __atomic_load_n(&log_count, __ATOMIC_RELAXED);
        tkt_chunk *chunk = tkt_pool_take(tkt_record_has(TKT_RING) && !has_old ? 2 * logs : 0);
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

/* Marks the place where events were dropped, because later events may lack their parents. */
static void write_gap(tkt_thread_log *log)
{
    takt_record *slot = log->thread->cursor;
    tkt_slot_write(slot, (takt_record){tkt_ticks(), 0, tkt_slot_tag(TKT_SLOT_GAP, 0)});
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

/* Returns the first frame, after a sentinel; in the crash-safe file if there is one. NULL without
 * memory. */
static takt_frame *create_frames(tkt_thread_log *log)
{
    log->mapped = tkt_mapping_log_at(log->number);
    takt_frame *frames =
        log->mapped ? &log->mapped->sentinel : tkt_alloc((TKT_MAX_DEPTH + 2) * sizeof *frames);
    if (!frames)
        return NULL;
    frames[0] = no_stack[0];
    for (uint32_t i = 0; i < TKT_DEEP; i++)
        frames[1 + i].depth = i;
    frames[1 + TKT_DEEP].depth = TAKT_SLOW | TKT_DEEP;
    return frames + 1;
}

static tkt_thread_log *create_log(void)
{
    tkt_thread_log *log = tkt_alloc_zeroed(sizeof *log);
    if (!log)
        return NULL;
    log->number = __atomic_fetch_add(&log_count, 1, __ATOMIC_RELAXED);
    log->is_placed = tkt_mapping() != NULL;
    log->frames = create_frames(log);
    uint32_t *path = tkt_alloc((TKT_MAX_DEPTH + 1) * sizeof *path);
    tkt_chunk *chunk = log->frames && path ? tkt_pool_take(UINT32_MAX / 2) : NULL;
    if (!chunk) {
        tkt_free(path);
        if (log->frames && !log->mapped)
            tkt_free(log->frames - 1);
        tkt_free(log);
        return NULL;
    }
    tkt_mutex_init(&log->lock);
    log->path = path;
    __atomic_store_n(&chunk->next, NULL, __ATOMIC_RELAXED);
    begin_chunk(log, chunk);
    log->head = log->unfolded = chunk;
    log->rest = chunk->slots;
    log->rest_top = log->frames;
    return log;
}

/* Returns a log that no thread uses, or a new one; NULL without memory. */
static tkt_thread_log *take_log(void)
{
    tkt_record_watch_forks();
    tkt_mutex_lock(&list_lock);
    tkt_thread_log *log = all_logs;
    while (log && log->is_taken)
        log = log->next;
    if (!log)
        for (log = all_logs; log && !tkt_log_reclaim(log); log = log->next)
            continue;
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
    tkt_mutex_unlock(&list_lock);
    return log;
}

void tkt_log_reclaim_all(void)
{
    uint64_t was = tkt_busy_lock(&list_lock);
    for (tkt_thread_log *log = all_logs; log; log = log->next)
        if (log->is_taken && (__atomic_load_n(&log->youth, __ATOMIC_RELAXED) ||
                              __atomic_load_n(&log->is_ending, __ATOMIC_RELAXED)))
            log->is_taken = !tkt_log_reclaim(log);
    tkt_busy_unlock(&list_lock, was);
}

void tkt_log_give(tkt_thread_log *log)
{
    tkt_mutex_lock(&list_lock);
    log->is_taken = false;
    tkt_mutex_unlock(&list_lock);
}

/* The name that the thread has: "main", or the operating system's; 0 if that is the program's. */
static uint32_t name_of_thread(uint32_t thread_id)
{
    if (thread_id == tkt_process_id())
        return tkt_text_intern("main");
    char name[16];
    tkt_thread_os_name(name);
    const char *program = tkt_program_name();
    return strncmp(name, program, 15) == 0 ? 0 : tkt_text_intern(name);
}

/* Notes in the log that another thread continues it. If there is no room for that, the next chunk's
 * head notes it, and this thread writes nothing into the old chunk. */
static void write_thread_mark(tkt_thread_log *log)
{
    size_t room = (size_t)(log->chunk_end - log->thread->cursor);
    if (room < 2u + log->has_gap) {
        if (!next_chunk(log))
            log->chunk_end = log->thread->cursor;
        return;
    }
    takt_record *slot = tkt_log_reserve(log, 2);
    tkt_slot_write(slot, (takt_record){log->mark.serial, log->mark.thread_id,
                                       tkt_slot_tag(TKT_SLOT_THREAD, 0)});
    tkt_slot_write(slot + 1, (takt_record){0, log->mark.name, tkt_slot_tag(TKT_SLOT_MORE, 0)});
    tkt_log_publish(log, slot + 2);
}

void tkt_log_forget_thread(void)
{
    takt_thread_hot_v1 = (takt_thread_v1)NO_LOG;
    takt_thread_hot_v1.busy |= TKT_BUSY_INSIDE;
}

/* The child's thread has another id. When it ends, it must not give the parent's log back. */
void tkt_log_detach(void)
{
    takt_thread_v1 *thread = &takt_thread_hot_v1;
    tkt_thread_log *log = thread->log;
    if (!log)
        return;
    log->rest = thread->cursor;
    log->rest_top = log->frames;
    log->thread = NULL;
    log->is_taken = false;
    *thread = (takt_thread_v1)NO_LOG;
    if (!tkt_mapping())
        return;
    tkt_mapping_leave();
    tkt_pool_map(NULL, 0, 0);
    all_logs = NULL; /* their chunks and frames are in the parent's file */
}

void tkt_log_shut(void)
{
    takt_thread_v1 *thread = &takt_thread_hot_v1;
    tkt_thread_log *log = thread->log;
    thread->limit = thread->cursor;
    thread->busy |= TAKT_BUSY | TKT_BUSY_SHUT;
    if (log)
        log->busy_at_rest |= TAKT_BUSY | TKT_BUSY_SHUT;
    tkt_mapping_leave();
}

/* Gives the calling thread a log; NULL without memory. */
static tkt_thread_log *attach(takt_thread_v1 *thread)
{
    tkt_thread_log *log = take_log();
    if (log && !tkt_log_watch_thread(log)) {
        tkt_log_give(log);
        log = NULL;
    }
    if (!log)
        return NULL;
    uint32_t thread_id = tkt_thread_id();
    log->mark = (tkt_thread_mark){__atomic_add_fetch(&last_serial, 1, __ATOMIC_RELAXED), thread_id,
                                  name_of_thread(thread_id)};
    tkt_mutex_lock(&log->lock);
    thread->log = log;
    __atomic_store_n(&log->youth, TKT_YOUTH, __ATOMIC_RELAXED);
    __atomic_store_n(&log->is_ending, thread->busy & TKT_BUSY_ENDING, __ATOMIC_RELAXED);
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

/* A failed attempt to allocate a log takes hundreds of microseconds, and each event of a thread
 * without a log would make one. So each further failure doubles the number of events that do not
 * try. */
static struct {
    uint32_t failures; /* in a row; both are atomic */
    uint32_t to_skip;
} attempts;

static tkt_thread_log *try_to_attach(takt_thread_v1 *thread)
{
    enum {
        MOST = 10
    };
    uint32_t to_skip = __atomic_load_n(&attempts.to_skip, __ATOMIC_RELAXED);
    if (to_skip > 0) {
        __atomic_store_n(&attempts.to_skip, to_skip - 1, __ATOMIC_RELAXED);
        return NULL;
    }
    tkt_thread_log *log = attach(thread);
    uint32_t failures = log ? 0 : __atomic_load_n(&attempts.failures, __ATOMIC_RELAXED) + 1;
    uint32_t exponent = failures < MOST ? failures : MOST;
    __atomic_store_n(&attempts.failures, failures, __ATOMIC_RELAXED);
    __atomic_store_n(&attempts.to_skip, failures ? (1u << (exponent - 1)) - 1 : 0,
                     __ATOMIC_RELAXED);
    return log;
}

void tkt_log_try_again(void)
{
    __atomic_store_n(&attempts.failures, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&attempts.to_skip, 0, __ATOMIC_RELAXED);
}

/* Moves a log that was made before the crash-safe recording began into its file: its chunk at once,
 * its frames when no scope is open. */
static __attribute__((noinline)) void place_log(tkt_thread_log *log)
{
    takt_frame *before = log->frames;
    if (has_chunk_elsewhere(log))
        next_chunk(log);
    if (tkt_log_depth(log) > 0 || !tkt_mutex_try(&log->lock))
        return;
    log->frames = create_frames(log);
    if (log->mapped) {
        for (int i = 0; i < TAKT_LOSS_COUNT; i++)
            log->mapped->losses[i] = log->losses[i];
        __atomic_store_n(&log->rest_top, log->frames, __ATOMIC_RELAXED);
        __atomic_store_n(&log->thread->top, log->frames, __ATOMIC_RELEASE);
        log->frames_before = before; /* an interrupted event may still read them */
    } else {
        if (log->frames)
            tkt_free(log->frames - 1);
        log->frames = before;
    }
    log->is_placed = true;
    tkt_mutex_unlock(&log->lock);
}

/* Moves the log into the crash-safe file if need be. The thread is busy. */
static inline tkt_thread_log *placed(tkt_thread_log *log)
{
    if (TAKT_UNLIKELY(!log->is_placed) && tkt_mapping())
        place_log(log);
    return log;
}

bool tkt_log_is_refused(void)
{
    uint64_t inside = TKT_BUSY_INSIDE | TKT_BUSY_HOST;
    return (takt_thread_hot_v1.busy & inside) || tkt_process_is_disabled();
}

/* Events inside the host's allocator are ignored. Besides the allocator, only signal handlers call
 * from inside the library. */
bool tkt_log_refuses(void)
{
    const takt_thread_v1 *thread = &takt_thread_hot_v1;
    bool is_refused = tkt_log_is_refused();
    if (is_refused && (thread->busy & TKT_BUSY_INSIDE) && !(thread->busy & TKT_BUSY_HOST))
        tkt_log_lose(thread->log, TAKT_LOSS_IN_SIGNAL);
    return is_refused;
}

/* The first event of a thread, an event of a thread that is ending, or a refused one. */
static __attribute__((noinline)) tkt_thread_log *enter_slowly(takt_thread_v1 *thread, bool is_event)
{
    if (is_event ? tkt_log_refuses() : tkt_log_is_refused())
        return NULL;
    uint64_t was = tkt_busy_begin();
    tkt_thread_log *log = thread->log ? thread->log : try_to_attach(thread);
    if (!log) {
        tkt_busy_end(was);
        tkt_log_lose(NULL, TAKT_LOSS_NO_MEMORY);
        return NULL;
    }
    return placed(log);
}

static inline tkt_thread_log *enter(bool is_event)
{
    static const uint64_t SHUT = TAKT_BUSY | TKT_BUSY_SHUT;
    takt_thread_v1 *thread = &takt_thread_hot_v1;
    tkt_thread_log *log = thread->log;
    if (TAKT_UNLIKELY((thread->busy & ~SHUT) || !log || tkt_process_is_disabled()))
        return enter_slowly(thread, is_event);
    takt_enter(thread);
    return placed(log);
}

tkt_thread_log *tkt_log_enter(void)
{
    return enter(true);
}

tkt_thread_log *tkt_log_enter_for_end(void)
{
    return enter(false);
}

/* True if the thread may record without calling the library. While nothing is recorded it may not,
 * so that it notices when recording begins. */
static bool may_record_inline(const tkt_thread_log *log)
{
    return __atomic_load_n(&log->youth, __ATOMIC_RELAXED) == 0 && !tkt_record_has(TKT_STACKS) &&
           __atomic_load_n(&takt_switch_hot_v1.mask, __ATOMIC_RELAXED) && tkt_clock_is_inline();
}

void tkt_log_leave(tkt_thread_log *log)
{
    takt_thread_v1 *thread = log->thread;
    uint32_t youth = __atomic_load_n(&log->youth, __ATOMIC_RELAXED);
    if (TAKT_UNLIKELY(youth > 0))
        __atomic_store_n(&log->youth, youth - 1, __ATOMIC_RELAXED);
    tkt_log_shut_fast_paths(log);
    uint64_t busy = thread->busy & TKT_BUSY_ENDING;
    if (may_record_inline(log))
        thread->limit = log->chunk_end;
    else
        busy |= TKT_BUSY_SHUT;
    log->busy_at_rest = busy ? TAKT_BUSY | busy : 0;
    tkt_busy_end(log->busy_at_rest);
}

void tkt_log_refresh(void)
{
    tkt_thread_log *log = takt_thread_hot_v1.log ? tkt_log_enter() : NULL;
    if (log)
        tkt_log_leave(log);
}

uint32_t tkt_log_site(tkt_thread_log *log, takt_site *site)
{
    uint32_t tag = __atomic_load_n(&site->tag, __ATOMIC_RELAXED);
    uint32_t id = tag == TAKT_SLOW ? tkt_site_register(site) : tkt_tag_site(tag);
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
    for (tkt_thread_log *log = tkt_log_first(); log; log = tkt_log_next(log)) {
        uint64_t was = tkt_busy_lock(&log->lock); /* see drop_newest() */
        for (int i = 0; i < TAKT_LOSS_COUNT; i++)
            losses[i] += __atomic_load_n(&log->losses[i], __ATOMIC_RELAXED);
        tkt_busy_unlock(&log->lock, was);
    }
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

void tkt_log_free_all(void)
{
    for (tkt_thread_log *log = all_logs, *next; log; log = next) {
        next = log->next;
        tkt_mutex_fini(&log->lock);
        tkt_fold_fini(&log->fold);
        TKT_ARRAY_FREE(&log->folded_calls);
        TKT_ARRAY_FREE(&log->taken_calls);
        tkt_map_fini(&log->unmatched_ends);
        tkt_free(log->stacks);
        tkt_free(log->path);
        takt_frame *frames = log->mapped ? log->frames_before : log->frames;
        if (frames)
            tkt_free(frames - 1);
        tkt_free(log);
    }
    all_logs = NULL;
    log_count = 0;
}
