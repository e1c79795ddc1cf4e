/* The log of one thread: a list of chunks that it appends to, and the stack of its open scopes.
 *
 * Who may touch what. The thread writes its cursor, stack and tail chunk without a lock. Everybody
 * else - sealing, folding, releasing chunks - holds `lock` for a moment and sees what the thread
 * has published with release stores, in this order: a scope's end stores its record, then the
 * cursor, then the top of the stack. A reader that finds the same cursor before and after copying
 * the stack has a consistent picture: frames change only after the cursor has moved on, except by
 * pushes above the top that it read. A frame may still stand on the stack whose record is the last
 * one before the cursor; tkt_log_view_open() leaves such a frame out.
 *
 * Chunks go back to the pool under `lock`, never the tail, and never while a reader has pinned the
 * log. When a thread ends, its log is taken over by the next new thread, which goes on in the same
 * chunk behind a TKT_SLOT_THREAD: thousands of short threads need no more memory than run at
 * once. */
#ifndef TKT_RECORD_LOG_H
#define TKT_RECORD_LOG_H

#include "base/containers.h"
#include "base/thread.h"
#include "record/fold.h"

#include <takt/scope.h>
#include <takt/trace.h>

/* ======== The pool of chunks ======== */

/* Chunks of slots: a bounded number of them, taken and given back without a lock. */

#define TKT_CHUNK_BYTES 8192u
#define TKT_CHUNK_SLOTS ((TKT_CHUNK_BYTES - 64u) / sizeof(takt_record))

/* Which thread's events a chunk begins with. */
typedef struct tkt_thread_mark {
    uint64_t serial; /* counts threads as they appear; 0: none */
    uint32_t thread_id;
    uint32_t name; /* text id */
} tkt_thread_mark;

/* Its owner writes everything but `next_free`; `count` and `end_ticks` before `next` is published
 * with release, which pairs with the acquire of whoever walks the log. */
typedef struct tkt_chunk {
    struct tkt_chunk *next;
    uint64_t          begin_ticks; /* when it was begun */
    uint64_t          end_ticks;   /* when it was full */
    tkt_thread_mark   thread;      /* at its beginning */
    uint32_t          count;       /* slots used */
    uint32_t          index;       /* its number in the pool */
    uint32_t          next_free;   /* of a free chunk: the number of the next */
    uint32_t          log;       /* in the crash-safe file: its log's number + 1, stored last; 0: free */
    uint32_t          sequence;  /* counts the chunks of its log */
    uint32_t          depth;     /* scopes that were open when it was begun */
    takt_record       slots[TKT_CHUNK_SLOTS];
} tkt_chunk;

/* A free chunk, made if the limit allows; NULL otherwise. `extra` chunks are allowed beyond the
 * limit. Any thread; wait-free but for a new slab's allocation. */
tkt_chunk *tkt_pool_take(uint32_t extra);

void tkt_pool_give(tkt_chunk *chunk);

/* From now on chunks are taken from these zeroed ones, tkt_pool_round() of them, at most `most` but
 * for extra ones; others only when all of these are in use. Once; NULL takes it back in a child. */
void tkt_pool_map(tkt_chunk *chunks, uint32_t count, uint32_t most);
bool tkt_pool_is_mapped(const tkt_chunk *chunk);

/* The next number of chunks that tkt_pool_map() takes. */
uint64_t tkt_pool_round(uint64_t count);

/* Whether less than half of what may be in use is. */
bool tkt_pool_is_roomy(void);

/* Sets how many bytes the chunks in use may take in all. */
void tkt_pool_limit(uint64_t bytes);

uint64_t tkt_pool_limit_bytes(void);

/* Wakes the condition, without its mutex, whenever a chunk is taken while so many bytes are in use.
 * NULL: nobody. */
void tkt_pool_watch(tkt_condition *condition, uint64_t bytes);

/* Makes sure that so many bytes of chunks are there and touched, up to the limit. */
void tkt_pool_prefault(uint64_t bytes);

/* Frees them all, when nobody uses one. */
void tkt_pool_free_all(void);

/* Bytes of chunks that are in use, and that exist. */
uint64_t tkt_pool_used_bytes(void);
uint64_t tkt_pool_total_bytes(void);

/* ======== Logs ======== */

#define TKT_YOUTH       32u
#define TKT_MAX_DEPTH   8191u
#define TKT_NAME_BITS   8u
#define TKT_TEXT_BITS   9u
#define TKT_VALUES_BITS 6u

/* A name given at run time, found by its address or by its content: see record/site.h. */
typedef struct tkt_cached_name {
    const char *address;
    const char *text; /* the site's */
    uint32_t    site;
    uint32_t    kind; /* takt_site_kind */
} tkt_cached_name;

typedef struct tkt_cached_text {
    const char *text; /* the site's */
    uint32_t    site; /* 0: none yet */
    uint32_t    kind;
} tkt_cached_text;

/* A call of a device's library that was folded. */
typedef struct tkt_folded_call {
    uint32_t correlation;
    uint32_t node; /* of the scope that made it; 0: none was open */
    uint32_t site; /* the call's; 0: it launched nothing */
} tkt_folded_call;

typedef TKT_ARRAY_OF(tkt_folded_call) tkt_folded_calls;

#define TKT_FOLDED_CALLS (1u << 17) /* the most that a log keeps; further ones are left out */

/* The text of an argument, as it came. */
typedef struct tkt_cached_value {
    uint32_t id; /* 0: none yet */
    uint32_t generation; /* of values, before it got its id */
    char     text[24];
} tkt_cached_value;

typedef struct tkt_thread_log {
    struct tkt_thread_log *next; /* in the list of all logs, which only grows */
    uint32_t        number; /* counts the logs */
    bool            is_taken;
    bool            is_placed; /* frames and chunks lie where they are to lie: see place_log() */

    tkt_mutex       lock;
    takt_thread_v1 *thread;   /* lock; NULL while no thread lives here; see tkt_log_locate() */
    takt_record    *rest;     /* atomic; its cursor when the library last looked */
    takt_frame     *rest_top; /* atomic; and the top of its stack */
    tkt_chunk      *head;     /* lock */
    uint32_t        pins;     /* lock */
    tkt_fold        fold;     /* lock; what has been folded since tkt_log_fold_reset() */
    tkt_chunk      *unfolded; /* lock; the first slot that is not in `fold` */
    uint32_t        unfolded_slot;
    uint32_t       *path;     /* lock; room for the root, and a node at each depth */
    tkt_folded_calls folded_calls; /* lock; of `fold`, since they were taken */
    tkt_folded_calls taken_calls;  /* lock; of the fold that was taken last */

    /* The rest is its thread's. */
    tkt_chunk      *tail;
    takt_record    *chunk_end; /* the tail's; thread->limit may be less */
    takt_frame     *frames;    /* TKT_MAX_DEPTH, and a sentinel before and behind them */
    uint64_t        busy_at_rest; /* the thread's, outside of the library */
    bool            has_gap;  /* events were dropped since the last one written */
    uint32_t        youth;    /* atomic; visits of the library's before the fast paths open */
    bool            is_ending; /* atomic; it came to a thread that had begun to end */
    uint32_t        unpushed; /* TAKT_BEGINs that found the stack full */
    uint32_t        chunk_count; /* chunks begun */
    takt_frame     *frames_before; /* until they moved there; NULL: they did not */
    struct tkt_mapping_log *mapped; /* its place in the crash-safe file; NULL: none; these with it: */
    tkt_chunk      *kept_fold;      /* see record/mapping.h */
    uint32_t        kept_pieces;
    uint32_t        kept_sequence;
    tkt_thread_mark mark;
    tkt_map         unmatched_ends; /* END site -> recording epoch */
    tkt_cached_name names[2u << TKT_NAME_BITS];
    tkt_cached_text texts[1u << TKT_TEXT_BITS];
    tkt_cached_value values[1u << TKT_VALUES_BITS];
    struct tkt_stack_memory *stacks; /* of record/stack.c; NULL: it has recorded none */
    uint64_t        losses[TAKT_LOSS_COUNT]; /* atomic, relaxed; and so are these: */
    double          flops;                   /* declared work since the process began */
    double          bytes;
} tkt_thread_log;

/* The calling thread's log, made at its first event. NULL when there is no memory, in a forked
 * child, and when it is called from inside itself: by the host's instrumented allocator, or by a
 * signal handler, whose event is counted as lost. A call that returns a log must be followed by
 * tkt_log_leave(). */
tkt_thread_log *tkt_log_enter(void);

/* The same for what ends an event, the loss of which was counted at its begin. */
tkt_thread_log *tkt_log_enter_for_end(void);

/* Whether the calling thread may not record now: it is inside the library already, or nobody may.
 * The second counts an event that is lost for that. */
bool tkt_log_is_refused(void);
bool tkt_log_refuses(void);

/* The calling thread has no log any more: its hot state is as it was at first, but busy. */
void tkt_log_forget_thread(void);

/* In a forked child in which recording goes on: its one thread is another one, and gets a log when
 * it needs one. Its open scopes are forgotten. */
void tkt_log_detach(void);

/* In a forked child that records nothing: scopes that are open keep their hands off the parent's
 * crash-safe file. */
void tkt_log_shut(void);

/* Where the thread of a log is. */
typedef struct tkt_log_place {
    takt_record *cursor;
    takt_frame  *top;
} tkt_log_place;

/* With the lock. True when the thread tells where it is. A thread that ended unseen may have taken
 * its hot state along: then the place is the one where it last was in the library. */
bool tkt_log_locate(const tkt_thread_log *log, tkt_log_place *place);

/* Sees to it that the log is given back when the calling thread ends; false without memory. */
bool tkt_log_watch_thread(tkt_thread_log *log);

/* Takes logs back whose threads may have ended unseen, and have. */
void tkt_log_reclaim_all(void);

/* A recording begins: threads that got no memory for a log ask for it again. */
void tkt_log_try_again(void);

/* With the lock of the list: closes what a thread that is gone, and of which nobody has told, has
 * left open in the log. False where the thread lives. */
bool tkt_log_reclaim(tkt_thread_log *log);

/* Gives a log to the next thread that needs one. */
void tkt_log_give(tkt_thread_log *log);

/* Opens the fast paths again as far as they may be. */
void tkt_log_leave(tkt_thread_log *log);

/* Whatever comes next comes to the library: what ends or stands alone, because there is no room for
 * it; what begins, because the thread stays TKT_BUSY_SHUT. Notes where the thread is, in case that it
 * ends unseen. */
static inline void tkt_log_shut_fast_paths(tkt_thread_log *log)
{
    takt_thread_v1 *thread = log->thread;
    thread->limit = thread->cursor;
    __atomic_store_n(&log->rest, thread->cursor, __ATOMIC_RELAXED);
    __atomic_store_n(&log->rest_top, thread->top, __ATOMIC_RELAXED);
}

/* Lets the calling thread's limits follow the modes at once. */
void tkt_log_refresh(void);

/* Room for `count` slots behind the cursor, in one chunk; NULL, and the loss is counted, when there
 * is none. Publish with tkt_log_publish(). */
takt_record *tkt_log_reserve(tkt_thread_log *log, uint32_t count);
void tkt_log_publish(tkt_thread_log *log, takt_record *end);

void tkt_log_lose(tkt_thread_log *log, takt_loss loss);

/* Notes that the scope at `depth` ends without a record, which was counted. */
void tkt_log_lose_end(tkt_thread_log *log, uint32_t depth, uint64_t end_ticks);

/* The site's id, registered if need be; 0, and the loss is counted, when there is none left. */
uint32_t tkt_log_site(tkt_thread_log *log, takt_site *site);

/* How many scopes the thread has open, phases included. */
static inline uint32_t tkt_log_depth(const tkt_thread_log *log)
{
    return (uint32_t)(log->thread->top - log->frames);
}

/* With the lock: takes the oldest chunk out of the list. It must not be the tail. */
tkt_chunk *tkt_log_unlink_head(tkt_thread_log *log);

static inline tkt_chunk *tkt_chunk_after(const tkt_chunk *chunk)
{
    /* acquire: pairs with the release in append_chunk() of log.c */
    return __atomic_load_n(&chunk->next, __ATOMIC_ACQUIRE);
}

/* Frees all logs, when no thread is going to record any more. */
void tkt_log_free_all(void);

/* The list of all logs. */
tkt_thread_log *tkt_log_first(void);
static inline tkt_thread_log *tkt_log_next(const tkt_thread_log *log)
{
    return __atomic_load_n(&log->next, __ATOMIC_ACQUIRE);
}

/* ---- For readers ----------------------------------------------------------------------------- */

typedef struct tkt_log_part {
    const takt_record *slots;
    uint32_t           count;
    tkt_thread_mark    thread; /* whose slots it begins with */
    uint64_t           begun_ticks; /* tells it from what stood in the same chunk before */
} tkt_log_part;

/* What a log holds at one moment. Its slots stay until the view is closed. */
typedef struct tkt_log_view {
    TKT_ARRAY_OF(tkt_log_part) parts; /* oldest first; frames belong to the last one's thread */
    takt_frame *frames;               /* a copy, outermost first */
    uint32_t    frame_count;
} tkt_log_view;

/* Leaves out chunks that were full before `from_ticks`. */
takt_status tkt_log_view_open(tkt_thread_log *log, uint64_t from_ticks, tkt_log_view *view);
void tkt_log_view_close(tkt_thread_log *log, tkt_log_view *view);

/* Gives chunks back that were full before `ticks`. */
void tkt_log_release(tkt_thread_log *log, uint64_t ticks);

/* Summary mode: forgets the folded form and what is recorded so far; and moves the folded form of
 * everything recorded up to `until_ticks` into *out, open scopes included up to that moment. */
void tkt_log_fold_reset(tkt_thread_log *log);
takt_status tkt_log_fold_take(tkt_thread_log *log, uint64_t until_ticks, tkt_fold *out);

/* The same as a copy; recording and folding go on. */
takt_status tkt_log_fold_copy(tkt_thread_log *log, uint64_t until_ticks, tkt_fold *out);

/* Moves the calls that have been folded into *out, which the caller frees. The first folds what is
 * recorded up to now; nodes are those of the fold that tkt_log_fold_take() is going to give. The
 * second gives what the take before left over. */
takt_status tkt_log_fold_calls(tkt_thread_log *log, tkt_folded_calls *out);
void tkt_log_fold_last_calls(tkt_thread_log *log, tkt_folded_calls *out);

/* Losses of all logs and of events that had no log, since the process began. */
void tkt_log_losses(uint64_t losses[TAKT_LOSS_COUNT]);

/* Declared work of all threads since the process began. */
void tkt_log_work(double *flops, double *bytes);

/* ======== Folding while the program runs ======== */

/* Folding a log's slots into its call tree while the program runs. */

/* Folds what stands between the first unfolded slot and `cursor`, after which `frames` were open;
 * the caller holds the log's lock. With `until_ticks` spans are cut off there and the open scopes
 * count as calls up to there; with 0 they are left for later. */
takt_status tkt_online_fold(tkt_thread_log *log, const takt_record *cursor,
                            const takt_frame *frames, uint32_t frame_count, uint64_t until_ticks);

/* The same for a window that is not this process's: from those ticks on. */
takt_status tkt_online_fold_from(tkt_thread_log *log, const takt_record *cursor,
                                 const takt_frame *frames, uint32_t frame_count,
                                 uint64_t from_ticks, uint64_t until_ticks, uint64_t ns_per_tick);

#endif
