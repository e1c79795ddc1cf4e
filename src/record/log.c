/* The log of each thread, and the list of all logs: see log.h. */
#include "record/log.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/own.h"
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
/* Aligned, so that it is one cache line. */
__thread takt_thread_v1 takt_thread_hot_v1 __attribute__((aligned(64))) = NO_LOG;

static tkt_mutex list_lock = TKT_MUTEX_INIT;
static tkt_thread_log *all_logs;
static tkt_thread_log *free_logs; /* lock; those that no thread uses */
static tkt_thread_log *spare_logs; /* lock; not complete, and not in the list */
static tkt_thread_log *looked_at; /* lock; see look_for_ended() */
static uint32_t log_count;
static uint64_t last_serial;

/* ---- A thread's log -------------------------------------------------------------------------- */

/* Returns the first frame, after a sentinel. */
static takt_frame *init_frames(takt_frame *frames)
{
    frames[0] = no_stack[0];
    for (uint32_t i = 0; i < TKT_DEEP; i++)
        frames[1 + i].depth = i;
    frames[1 + TKT_DEEP].depth = TAKT_SLOW | TKT_DEEP;
    return frames + 1;
}

/* Its frames in the crash-safe file; NULL if that has no place for the log. */
static takt_frame *mapped_frames(tkt_thread_log *log)
{
    log->mapped = tkt_mapping_log_at(log->number);
    return log->mapped ? init_frames(&log->mapped->sentinel) : NULL;
}

/* A log without a number and a chunk, so that one that waits for a thread takes nothing from the
 * others; NULL without memory. */
static tkt_thread_log *make_log(void)
{
    tkt_thread_log *log = tkt_alloc_zeroed(sizeof *log);
    uint32_t *path = tkt_alloc((TKT_MAX_DEPTH + 1) * sizeof *path);
    takt_frame *frames = tkt_alloc((TKT_MAX_DEPTH + 2) * sizeof *frames);
    if (!log || !path || !frames) {
        tkt_free(frames);
        tkt_free(path);
        tkt_free(log);
        return NULL;
    }
    tkt_mutex_init(&log->lock);
    log->path = path;
    log->frames = init_frames(frames);
    return log;
}

static void free_log(tkt_thread_log *log)
{
    if (!log)
        return;
    tkt_fold_fini(&log->fold);
    TKT_ARRAY_FREE(&log->folded_calls);
    TKT_ARRAY_FREE(&log->taken_calls);
    TKT_ARRAY_FREE(&log->ahead);
    tkt_map_fini(&log->unmatched_ends);
    tkt_free(log->stacks);
    tkt_free(log->path);
    takt_frame *frames = log->mapped ? log->frames_before : log->frames;
    if (frames)
        tkt_free(frames - 1);
    tkt_free(log);
}

/* Gives a log what it lacks. False without memory. */
static bool complete(tkt_thread_log *log)
{
    tkt_chunk *chunk = tkt_pool_take(UINT32_MAX / 2);
    if (!chunk) /* a failed attempt takes no number, and no place in the crash-safe file */
        return false;
    log->number = __atomic_fetch_add(&log_count, 1, __ATOMIC_RELAXED);
    log->is_placed = tkt_mapping() != NULL;
    takt_frame *mapped = log->is_placed ? mapped_frames(log) : NULL;
    if (mapped) {
        log->frames_before = log->frames;
        log->frames = mapped;
    }
    __atomic_store_n(&chunk->next, NULL, __ATOMIC_RELAXED);
    tkt_log_begin_chunk(log, chunk);
    log->head = log->unfolded = chunk;
    log->rest = chunk->slots;
    log->rest_top = log->frames;
    return true;
}

/* With the lock. */
static void give(tkt_thread_log *log)
{
    log->is_taken = false;
    log->next_free = free_logs;
    free_logs = log;
}

#define MOST_LOOKS 8u

/* With the lock: looks for a thread that has ended unnoticed. Each look costs system calls, so each
 * new thread looks at a few logs only, where the one before it stopped. One in eight logs at most
 * then belongs to no thread. */
static void look_for_ended(void)
{
    for (uint32_t i = 0; i < MOST_LOOKS && i < tkt_log_count() && !free_logs; i++) {
        looked_at = looked_at && looked_at->next ? looked_at->next : all_logs;
        if (looked_at && tkt_log_reclaim(looked_at))
            give(looked_at);
    }
}

/* With the lock: takes the first log of a list; NULL if it is empty. */
static tkt_thread_log *take_ready(tkt_thread_log **list)
{
    tkt_thread_log *log = *list;
    if (log)
        *list = log->next_free;
    return log;
}

/* Returns a log that no thread uses, or a new one; NULL without memory. */
static tkt_thread_log *take_log(void)
{
    tkt_record_watch_forks();
    tkt_mutex_lock(&list_lock);
    if (!spare_logs)
        look_for_ended();
    tkt_thread_log *log = take_ready(&free_logs);
    if (log)
        log->is_taken = true;
    tkt_thread_log *made = log ? NULL : take_ready(&spare_logs);
    tkt_mutex_unlock(&list_lock);
    if (log)
        return log;
    log = made ? made : make_log();
    if (!log || !complete(log)) {
        free_log(log);
        return NULL;
    }
    log->is_taken = true;
    tkt_mutex_lock(&list_lock);
    log->next = all_logs;
    /* release: pairs with the acquire in tkt_log_first() */
    __atomic_store_n(&all_logs, log, __ATOMIC_RELEASE);
    tkt_mutex_unlock(&list_lock);
    return log;
}

#define SPARES     8u
#define LEAST_PAGE 4096u

/* With memory that was touched. */
static tkt_thread_log *make_spare(void)
{
    tkt_thread_log *log = make_log();
    volatile char *bytes = (volatile char *)log;
    for (size_t at = 0; log && at < sizeof *log; at += LEAST_PAGE)
        bytes[at] = bytes[at];
    if (log)
        log->path[0] = 0;
    return log;
}

static bool has_spares(void)
{
    uint32_t count = 0;
    tkt_mutex_lock(&list_lock);
    for (const tkt_thread_log *log = spare_logs; log; log = log->next_free)
        count++;
    tkt_mutex_unlock(&list_lock);
    return count >= SPARES;
}

__attribute__((cold)) void tkt_log_keep_spares(void)
{
    while (!has_spares()) {
        tkt_thread_log *log = make_spare();
        if (!log)
            return;
        tkt_mutex_lock(&list_lock);
        log->next_free = spare_logs;
        spare_logs = log;
        tkt_mutex_unlock(&list_lock);
    }
}

__attribute__((cold)) void tkt_log_reclaim_all(void)
{
    uint64_t was = tkt_busy_lock(&list_lock);
    for (tkt_thread_log *log = all_logs; log; log = log->next)
        if (log->is_taken &&
            (__atomic_load_n(&log->youth, __ATOMIC_RELAXED) ||
             __atomic_load_n(&log->is_ending, __ATOMIC_RELAXED)) &&
            tkt_log_reclaim(log))
            give(log);
    tkt_busy_unlock(&list_lock, was);
}

void tkt_log_give(tkt_thread_log *log)
{
    tkt_mutex_lock(&list_lock);
    give(log);
    tkt_mutex_unlock(&list_lock);
}

/* The name that the thread has: "main", or the operating system's; 0 if that is the program's or its
 * first thread's. */
static uint32_t name_of_thread(uint32_t thread_id)
{
    if (thread_id == tkt_process_id())
        return tkt_text_intern("main");
    TKT_UNCANCELLED;
    char name[16];
    tkt_thread_os_name(name);
    const char *program = tkt_program_name();
    bool has_own = strncmp(name, program, 15) != 0 && !tkt_is_first_thread_name(name);
    return has_own ? tkt_text_intern(name) : 0;
}

/* Notes in the log that another thread continues it. If there is no room for that, the next chunk's
 * head notes it, and this thread writes nothing into the old chunk. */
static void write_thread_mark(tkt_thread_log *log)
{
    size_t room = (size_t)(log->chunk_end - log->thread->cursor);
    if (room < 2u + (log->gap_ticks != 0)) {
        if (!tkt_log_next_chunk(log))
            log->chunk_end = log->fold_at = log->thread->cursor;
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
    if (log) {
        log->rest = thread->cursor;
        log->rest_top = log->frames;
        log->thread = NULL;
        give(log);
        *thread = (takt_thread_v1)NO_LOG;
    }
    if (!tkt_mapping())
        return;
    tkt_mapping_leave();
    tkt_pool_map(NULL, 0, 0, 0);
    /* Their chunks and frames are in the parent's file. */
    all_logs = free_logs = looked_at = NULL;
}

void tkt_log_shut(void)
{
    takt_thread_v1 *thread = &takt_thread_hot_v1;
    tkt_thread_log *log = thread->log;
    thread->limit = thread->cursor;
    thread->busy |= TAKT_BUSY | TKT_BUSY_SHUT;
    if (log) {
        log->busy_at_rest |= TAKT_BUSY | TKT_BUSY_SHUT;
        /* No room: the chunk may be in the parent's file. */
        log->chunk_end = log->fold_at = thread->cursor;
    }
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
    tkt_thread_mark mark = {__atomic_add_fetch(&last_serial, 1, __ATOMIC_RELAXED), thread_id,
                            name_of_thread(thread_id)};
    tkt_mutex_lock(&log->lock);
    log->mark = mark;
    thread->log = log;
    __atomic_store_n(&log->youth, TKT_YOUTH, __ATOMIC_RELAXED);
    __atomic_store_n(&log->is_ending, thread->busy & TKT_BUSY_ENDING, __ATOMIC_RELAXED);
    __atomic_store_n(&thread->cursor, log->rest, __ATOMIC_RELAXED);
    __atomic_store_n(&thread->top, log->frames, __ATOMIC_RELAXED);
    log->thread = thread;
    log->fiber = 0;
    log->unpushed = 0;
    log->stray = 0;
    log->skipped_count = 0;
    bool is_empty = log->rest == log->tail->slots && !log->pins; /* else somebody may read it */
    if (is_empty)
        log->tail->thread = log->mark;
    tkt_mutex_unlock(&log->lock);
    if (!is_empty)
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
    uint64_t begin = tkt_ticks();
    tkt_thread_log *log = attach(thread);
    tkt_record_note_own(begin);
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
    tkt_log_place_chunk(log);
    if (tkt_log_depth(log) > 0 || !tkt_mutex_try(&log->lock))
        return;
    takt_frame *mapped = mapped_frames(log);
    if (mapped) {
        log->frames = mapped;
        for (int i = 0; i < TAKT_LOSS_COUNT; i++)
            log->mapped->losses[i] = log->losses[i];
        __atomic_store_n(&log->rest_top, log->frames, __ATOMIC_RELAXED);
        __atomic_store_n(&log->thread->top, log->frames, __ATOMIC_RELEASE);
        log->frames_before = before; /* an interrupted event may still read them */
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
static __attribute__((noinline, cold)) tkt_thread_log *enter_slowly(takt_thread_v1 *thread,
                                                                    bool is_event)
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
    return __atomic_load_n(&log->youth, __ATOMIC_RELAXED) == 0 && !tkt_log_is_watched(log) &&
           !tkt_record_has(TKT_STACKS) &&
           __atomic_load_n(&takt_switch_hot_v1.mask, __ATOMIC_RELAXED) && tkt_clock_is_inline();
}

void tkt_log_leave(tkt_thread_log *log)
{
    takt_thread_v1 *thread = log->thread;
    if (thread->cursor >= log->fold_at && thread->cursor < log->chunk_end)
        tkt_log_fold_piece(log);
    uint32_t youth = __atomic_load_n(&log->youth, __ATOMIC_RELAXED);
    if (TAKT_UNLIKELY(youth > 0))
        __atomic_store_n(&log->youth, youth - 1, __ATOMIC_RELAXED);
    tkt_log_shut_fast_paths(log);
    uint64_t busy = thread->busy & TKT_BUSY_ENDING;
    if (may_record_inline(log))
        thread->limit = log->fold_at;
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

uint32_t tkt_log_count(void)
{
    return __atomic_load_n(&log_count, __ATOMIC_RELAXED);
}

tkt_thread_log *tkt_log_first(void)
{
    return __atomic_load_n(&all_logs, __ATOMIC_ACQUIRE);
}

void tkt_log_work(double *flops, double *bytes)
{
    TKT_OWN_WORK;
    *flops = *bytes = 0;
    for (tkt_thread_log *log = tkt_log_first(); log; log = tkt_log_next(log)) {
        double value;
        __atomic_load(&log->flops, &value, __ATOMIC_RELAXED);
        *flops += value;
        __atomic_load(&log->bytes, &value, __ATOMIC_RELAXED);
        *bytes += value;
    }
}

__attribute__((cold)) void tkt_log_free_all(void)
{
    for (tkt_thread_log *log = all_logs, *next; log; log = next) {
        next = log->next;
        free_log(log);
    }
    for (tkt_thread_log *log = spare_logs, *next; log; log = next) {
        next = log->next_free;
        free_log(log);
    }
    spare_logs = NULL;
    all_logs = free_logs = looked_at = NULL;
    log_count = 0;
}
