/* The log of one thread: a list of chunks that the thread appends to, and the stack of its open
 * scopes. This header also has the pool that chunks come from, and online folding.
 *
 * Who may touch what. The thread writes its cursor, stack and tail chunk without a lock. All others
 * (sealing, folding, releasing chunks) hold `lock` for a moment, and read what the thread publishes
 * with release stores. The end of a scope stores its record first, then the cursor, then the top of
 * the stack. A reader that finds the same cursor before and after copying the stack has a
 * consistent picture: the thread changes those frames only after it has moved the cursor, or while
 * `unwritten` is odd. Pushes do no harm, since they write above the top that the reader saw. The
 * record of the topmost frame may already be the last one before the cursor; the reader leaves such
 * a frame out. If the counter stood still during that scope, the reader cannot tell at once, see
 * log_moment.c.
 *
 * Chunks return to the pool under `lock`: never the tail, and none while a reader has pinned the
 * log. When a thread ends, the next new thread takes over its log. It continues in the same chunk,
 * after a TKT_SLOT_THREAD. So thousands of short threads need only as many logs as run at once. */
#ifndef TKT_RECORD_LOG_H
#define TKT_RECORD_LOG_H

#include "base/containers.h"
#include "base/lock.h"
#include "record/control.h"
#include "record/fold.h"

#include <takt/scope.h>
#include <takt/trace.h>

/* ======== The pool of chunks ======== */

/* A bounded number of chunks of slots. Threads take and return them without a lock. */

#define TKT_CHUNK_BYTES 8192u
#define TKT_CHUNK_SLOTS ((TKT_CHUNK_BYTES - 64u) / sizeof(takt_record))

/* The owner writes every field but `next_free`. It writes `count` and `end_ticks` before it
 * publishes `next` with release, which pairs with the acquire in tkt_chunk_after(). */
typedef struct tkt_chunk {
    struct tkt_chunk *next;
    uint64_t          begin_ticks; /* when the owner began it */
    uint64_t          end_ticks;   /* when it was full */
    tkt_thread_mark   thread;      /* whose events it begins with */
    uint32_t          count;       /* slots used */
    uint32_t          index;       /* its number in the pool */
    uint32_t          next_free;   /* in a free chunk: the number of the next free one */
    uint32_t          log;       /* crash-safe file: its log's number + 1, stored last; 0: free */
    uint32_t          sequence;  /* counts the chunks of its log */
    uint32_t          depth;     /* open scopes when it was begun */
    takt_record       slots[TKT_CHUNK_SLOTS];
} tkt_chunk;

/* Returns a free chunk, or a new one if the limit allows it; NULL otherwise. For this call the
 * limit is higher by `extra` chunks. Any thread; takes a lock only for new memory
 * of the crash-safe file. */
tkt_chunk *tkt_pool_take(uint32_t extra);

void tkt_pool_give(tkt_chunk *chunk);

/* The same beside the limit, for what is not events: not of the crash-safe file. */
tkt_chunk *tkt_pool_take_aside(void);
void tkt_pool_give_aside(tkt_chunk *chunk);

/* From now on tkt_pool_take() hands out these `count` zeroed chunks first, and others only when all
 * of them are in use. `count` comes from tkt_pool_round(); the first `ready` have memory, the others
 * get it by tkt_mapping_ready(). tkt_pool_limit() then allows at most `most` chunks. Call it once;
 * NULL undoes it in a forked child. */
void tkt_pool_map(tkt_chunk *chunks, uint32_t count, uint32_t most, uint32_t ready);
bool tkt_pool_is_mapped(const tkt_chunk *chunk);

/* `count` rounded up to a number that tkt_pool_map() accepts. */
uint64_t tkt_pool_round(uint64_t count);

/* True while less than half of the limit is in use. */
bool tkt_pool_is_roomy(void);

/* Limits the bytes of all chunks in use. */
void tkt_pool_limit(uint64_t bytes);

uint64_t tkt_pool_limit_bytes(void);

/* Wakes the condition, without its mutex, while at least `bytes` are in use: at each look of the
 * thread that keeps memory ready, or at each tkt_pool_take() if it could look too late. NULL: wakes
 * nobody. */
void tkt_pool_watch(tkt_condition *condition, uint64_t bytes);

/* Allocates and touches chunks until there are `bytes` of them, or as many as the limit allows. */
void tkt_pool_prefault(uint64_t bytes);

/* What a thread remembers that fills the pool; starts as {0}. */
typedef struct tkt_pool_filling {
    uint32_t ahead; /* chunks that are to be ready */
    uint32_t used;  /* at the last look */
} tkt_pool_filling;

/* Allocates and touches chunks ahead of their use, and wakes who watches the pool. True if any have
 * been used since the last call. For a thread that calls it every few milliseconds; with
 * tkt_pool_keep(true) the others rely on that. */
bool tkt_pool_fill(tkt_pool_filling *filling);
void tkt_pool_keep(bool is_kept);

/* Frees all chunks. Nobody may use one any more. */
void tkt_pool_free_all(void);

/* Bytes that are ready to be taken, new ones of the crash-safe file if there is one. */
uint64_t tkt_pool_ready_bytes(void);

/* Bytes of the chunks in use, and of all chunks. */
uint64_t tkt_pool_used_bytes(void);
uint64_t tkt_pool_total_bytes(void);

/* ======== Logs ======== */

#define TKT_YOUTH       32u
#define TKT_MAX_DEPTH   8191u
#define TKT_NAME_BITS   8u
#define TKT_TEXT_BITS   9u
#define TKT_VALUES_BITS 6u

/* A name given at run time; threads find it by its address, see record/site.h. */
typedef struct tkt_cached_name {
    const char *address;
    const char *text; /* the site's */
    uint32_t    site;
    uint32_t    kind; /* takt_site_kind */
} tkt_cached_name;

/* The same, found by its content. */
typedef struct tkt_cached_text {
    const char *text; /* the site's */
    uint32_t    site; /* 0: none yet */
    uint32_t    kind;
} tkt_cached_text;

/* A folded call into a device's library. */
typedef struct tkt_folded_call {
    uint32_t correlation;
    uint32_t node; /* of the scope that made the call; 0: none was open */
    uint32_t site; /* the call's; 0: it launched nothing */
} tkt_folded_call;

typedef TKT_ARRAY_OF(tkt_folded_call) tkt_folded_calls;

#define TKT_FOLDED_CALLS (1u << 17) /* the most that a log keeps; it drops further ones */

/* The text of an argument. */
typedef struct tkt_cached_value {
    uint32_t id; /* 0: none yet */
    uint32_t generation; /* of the values, read before the text got its id */
    char     text[24];
} tkt_cached_value;

/* What the stream of a window has read. */
typedef struct tkt_log_reading {
    uint64_t begin_ticks;     /* of the window */
    uint64_t ticks;           /* when it read last, */
    const takt_record *until; /* and up to where */
} tkt_log_reading;

/* Calls of takt_begin() while nothing was recorded, with `depth` scopes open. */
typedef struct tkt_skipped {
    uint32_t depth;
    uint32_t begins;
} tkt_skipped;

#define TKT_SKIPPED 4u

/* What readers have seen of a log's thread; see is_grown() in log_read.c. */
typedef struct tkt_thread_proof {
    uint64_t serial;           /* of the thread */
    uint64_t since_ns;         /* when it was seen first */
    const takt_record *cursor; /* once it has been there for long; NULL before */
    bool is_grown;             /* it has recorded since */
} tkt_thread_proof;

typedef struct tkt_thread_log {
    struct tkt_thread_log *next; /* in the list of all logs, which only grows */
    struct tkt_thread_log *next_free; /* while no thread uses the log */
    uint32_t        number; /* counts the logs */
    bool            is_taken;
    bool            is_placed; /* frames and chunks need not move to the crash-safe file any more */

    tkt_mutex       lock;
    takt_thread_v1 *thread;   /* lock; NULL while no thread uses the log; see tkt_log_locate() */
    takt_record    *rest;     /* atomic; the cursor when the thread last left the library */
    takt_frame     *rest_top; /* atomic; and the top of its stack */
    tkt_chunk      *head;     /* lock */
    uint32_t        pins;     /* lock */
    tkt_fold        fold;     /* lock; of everything since tkt_log_fold_reset() */
    tkt_fold_place  fold_from; /* lock; where `fold` began */
    tkt_chunk      *unfolded; /* lock; the first slot that is not in `fold` */
    uint32_t unfolded_slot;
    uint32_t       *path;     /* lock; scratch space: the root, and a node at each depth */
    tkt_folded_calls folded_calls; /* lock; of `fold`, since they were last taken */
    tkt_folded_calls taken_calls;  /* lock; of the fold that was taken last */
    TKT_ARRAY_OF(takt_record) ahead; /* lock; tasks that end later than their chunk could go */
    uint64_t         ahead_ns;     /* atomic, relaxed; the latest end of a task with given times */

    /* Only the thread of the log touches the rest. */
    tkt_chunk      *tail;
    takt_record    *chunk_end; /* the tail's; thread->limit may be less */
    takt_record    *fold_at;   /* the same, or less: where a summary folds next */
    takt_frame     *frames;    /* TKT_MAX_DEPTH of them between two sentinels */
    uint64_t        busy_at_rest; /* the thread's `busy` while it is outside the library */
    uint64_t gap_ticks;       /* atomic, relaxed; since when events were dropped, after the last one
                               * written; 0: none */
    uint32_t        youth;    /* atomic; visits to the library left before the fast paths open */
    bool is_ending;           /* atomic; the thread had begun to end before it got the log */
    uint64_t fiber; /* the takt_span of takt/compat/tracy.h's fiber; 0: none */
    uint32_t        unwritten; /* atomic; odd while a frame changes without a record of its scope */
    uint32_t        unpushed; /* TAKT_BEGINs that found the stack full */
    uint32_t        stray;    /* depth of a stray phase + 1; 0: none. See scope.c */
    tkt_skipped     skipped[TKT_SKIPPED]; /* see pair.c; the innermost last */
    uint32_t        skipped_count;
    uint32_t        chunk_count; /* chunks begun */
    uint64_t        boundary;    /* of the last TKT_SLOT_BOUNDARY; 0: none yet */
    takt_frame     *frames_before; /* before they moved to the crash-safe file; NULL: not moved */
    struct tkt_mapping_log *mapped; /* its place in the crash-safe file; NULL: none */
    tkt_chunk      *kept_fold;      /* of tkt_mapping_keep_fold(), like the next two */
    uint32_t        kept_pieces;
    uint32_t        kept_sequence;
    tkt_thread_mark mark;      /* the thread changes with the lock */
    tkt_map         unmatched_ends; /* site of an END without begin -> recording epoch */
    tkt_cached_name names[2u << TKT_NAME_BITS];
    tkt_cached_text texts[1u << TKT_TEXT_BITS];
    tkt_cached_value values[1u << TKT_VALUES_BITS];
    struct tkt_stack_memory *stacks; /* of record/stack.c; NULL: no call stack yet */
    uint64_t        losses[TAKT_LOSS_COUNT]; /* atomic, relaxed, as the next two */
    double          flops;                   /* work that was declared while somebody wanted sums */
    double          bytes;
    tkt_log_reading reads[TKT_PLACES]; /* lock; by window */
    tkt_thread_proof proof;    /* lock */
} tkt_thread_log;

/* Returns the calling thread's log, made at its first event. NULL when there is no memory, in a
 * disabled forked child, and when the thread is already inside the library: then the host's
 * instrumented allocator or a signal handler called. The signal handler's event counts as lost.
 * After a call that returns a log, call tkt_log_leave(). */
tkt_thread_log *tkt_log_enter(void);

/* The same for the end of an event, whose loss was counted at its begin. */
tkt_thread_log *tkt_log_enter_for_end(void);

/* True if the calling thread may not record now: it is inside the library already, or the process
 * is disabled. The second function also counts the event of a signal handler as lost. */
bool tkt_log_is_refused(void);
bool tkt_log_refuses(void);

/* Resets the calling thread's hot state: it has no log, and stays busy. */
void tkt_log_forget_thread(void);

/* For a forked child that goes on recording: its one thread leaves the parent's log, and gets a new
 * one at its next event. Its open scopes are forgotten. */
void tkt_log_detach(void);

/* For a forked child that records nothing: closes the fast paths, so that scopes that are open do
 * not write to the parent's crash-safe file. */
void tkt_log_shut(void);

/* The cursor and stack top of a log's thread. */
typedef struct tkt_log_place {
    takt_record *cursor;
    takt_frame  *top;
    bool         is_inside; /* it is another thread, between takt_enter() and takt_leave() */
} tkt_log_place;

/* With the lock. True when *place comes from the thread's hot state. A thread that ended unnoticed
 * may have taken that along; then *place is where the thread last left the library. */
bool tkt_log_locate(const tkt_thread_log *log, tkt_log_place *place);

/* With the lock: copies the scopes that are open at one moment into `frames`, which has room for
 * TKT_MAX_DEPTH, and returns the cursor of that moment. */
takt_record *tkt_log_moment(const tkt_thread_log *log, takt_frame *frames, uint32_t *frame_count);

/* With the lock: the chunk with this cursor. */
tkt_chunk *tkt_log_chunk_of(const tkt_thread_log *log, const takt_record *cursor);

/* Arranges that the calling thread gives the log back when it ends; false without memory. */
bool tkt_log_watch_thread(tkt_thread_log *log);

/* Takes back the logs of threads that have ended unnoticed. */
void tkt_log_reclaim_all(void);

/* A recording begins: threads whose log could not be allocated try again. */
void tkt_log_try_again(void);

/* With the lock of the list. If the log's thread has ended unnoticed, closes its open scopes in the
 * log and returns true. False while the thread lives. */
bool tkt_log_reclaim(tkt_thread_log *log);

/* Makes a few logs ready for threads that have none yet: their first event then neither asks for
 * memory nor looks for a log. */
void tkt_log_keep_spares(void);

/* Makes the log available to the next thread that needs one. */
void tkt_log_give(tkt_thread_log *log);

/* True while the library must see each event: something is to end that only it can end. */
static inline bool tkt_log_is_watched(const tkt_thread_log *log)
{
    return log->stray || log->skipped_count;
}

/* Ends tkt_log_enter(): opens the fast paths again if the thread may record inline. */
void tkt_log_leave(tkt_thread_log *log);

/* Sends the thread's next event to the library. Without room, ends and single events call it;
 * begins do while the thread is TKT_BUSY_SHUT. Also notes cursor and stack top, in case the
 * thread ends unnoticed. */
static inline void tkt_log_shut_fast_paths(tkt_thread_log *log)
{
    takt_thread_v1 *thread = log->thread;
    thread->limit = thread->cursor;
    __atomic_store_n(&log->rest, thread->cursor, __ATOMIC_RELAXED);
    __atomic_store_n(&log->rest_top, thread->top, __ATOMIC_RELAXED);
}

/* Applies the current modes to the calling thread at once. */
void tkt_log_refresh(void);

/* Returns room for `count` slots at the cursor, in one chunk. NULL, and counts the loss, when there
 * is none. Write the slots, then call tkt_log_publish(). */
takt_record *tkt_log_reserve(tkt_thread_log *log, uint32_t count);
void tkt_log_publish(tkt_thread_log *log, takt_record *end);

void tkt_log_lose(tkt_thread_log *log, takt_loss loss);

/* Notes that the scope at `depth` ends without a record; the caller has counted the loss. */
void tkt_log_lose_end(tkt_thread_log *log, uint32_t depth, uint64_t end_ticks);

/* Returns the site's id, registering it if necessary; 0, and counts the loss, when ids ran out. */
uint32_t tkt_log_site(tkt_thread_log *log, takt_site *site);

/* The number of open scopes of the thread, phases included. */
static inline uint32_t tkt_log_depth(const tkt_thread_log *log)
{
    return (uint32_t)(log->thread->top - log->frames);
}

/* Makes `chunk` the tail, which the thread writes to. */
void tkt_log_begin_chunk(tkt_thread_log *log, tkt_chunk *chunk);

/* The tail is full: continues in another chunk, or in the same one again. False without room. */
bool tkt_log_next_chunk(tkt_thread_log *log);

/* While a summary records: folds what has come since the last time, if nobody else uses the log. */
void tkt_log_fold_piece(tkt_thread_log *log);

/* Continues in a chunk of the crash-safe file, if the tail is not in that file yet. */
void tkt_log_place_chunk(tkt_thread_log *log);

/* With the lock: removes the oldest chunk from the list. It must not be the tail. */
tkt_chunk *tkt_log_unlink_head(tkt_thread_log *log);

static inline tkt_chunk *tkt_chunk_after(const tkt_chunk *chunk)
{
    /* acquire: pairs with the release in append_chunk() of log_chunks.c */
    return __atomic_load_n(&chunk->next, __ATOMIC_ACQUIRE);
}

/* True if the cursor is in the chunk, or at its end. */
static inline bool tkt_chunk_holds(const tkt_chunk *chunk, const takt_record *cursor)
{
    return cursor >= chunk->slots && cursor <= chunk->slots + TKT_CHUNK_SLOTS;
}

/* Frees all logs. No thread may record any more. */
void tkt_log_free_all(void);

/* The list of all logs, and their number. */
uint32_t tkt_log_count(void);
tkt_thread_log *tkt_log_first(void);
static inline tkt_thread_log *tkt_log_next(const tkt_thread_log *log)
{
    return __atomic_load_n(&log->next, __ATOMIC_ACQUIRE);
}

/* Finds the calls into devices' libraries that threads are in, and writes their correlation ids to
 * `out`, at most `most`. Returns how many. They reach the logs when they return. */
size_t tkt_log_calls_under_way(uint32_t *out, size_t most);

/* ---- For readers ----------------------------------------------------------------------------- */

typedef struct tkt_log_part {
    const takt_record *slots;
    uint32_t           count;
    tkt_thread_mark    thread; /* whose slots it begins with */
    uint64_t           begun_ticks; /* tells it from earlier contents of the same chunk */
    bool               is_earlier; /* only tasks with given times may end in the window */
} tkt_log_part;

/* The content of a log at one moment. Its slots stay until the view is closed. */
typedef struct tkt_log_view {
    TKT_ARRAY_OF(tkt_log_part) parts; /* oldest first; frames belong to the last one's thread */
    takt_frame *frames;               /* a copy, outermost first */
    uint32_t    frame_count;
    uint64_t gap_ticks; /* since when events are missing at the end; 0: none */
} tkt_log_view;

/* Leaves out what cannot concern a window from `from_ticks` on: chunks that became full before, but
 * for tasks with given times that end later. */
takt_status tkt_log_view_open(tkt_thread_log *log, uint64_t from_ticks, tkt_log_view *view);
void tkt_log_view_close(tkt_thread_log *log, tkt_log_view *view);

/* Notes that the stream of the window that began at `begin_ticks` read the log up to `until`, at
 * the moment `ticks`. */
void tkt_log_note_read(tkt_thread_log *log, uint64_t begin_ticks, uint64_t ticks,
                       const takt_record *until);

/* Returns chunks that became full before `ticks` to the pool. */
void tkt_log_release(tkt_thread_log *log, uint64_t ticks);

/* Summary mode. The first forgets the fold and everything recorded so far. The second moves the fold
 * of everything recorded into *out; open scopes count as calls that end at `until_ticks`. The log
 * gets the empty fold that was there. `frames` is room for TKT_MAX_DEPTH. */
void tkt_log_fold_reset(tkt_thread_log *log);
takt_status tkt_log_fold_take(tkt_thread_log *log, uint64_t until_ticks, takt_frame *frames,
                              tkt_fold *out);

/* The same, but *out, an empty fold, becomes a copy: recording and folding go on. */
takt_status tkt_log_fold_copy(tkt_thread_log *log, uint64_t until_ticks, tkt_fold *out);

/* Both move folded calls into *out, which the caller frees. The first folds all records up to now;
 * its nodes are those of the fold that tkt_log_fold_take() will return. The second returns the
 * calls that belong to the fold taken last. */
takt_status tkt_log_fold_calls(tkt_thread_log *log, tkt_folded_calls *out);
void tkt_log_fold_last_calls(tkt_thread_log *log, tkt_folded_calls *out);

/* Losses of all logs and of events that had no log, since the process began. */
void tkt_log_losses(uint64_t losses[TAKT_LOSS_COUNT]);

/* Declared work of all threads since the process began. */
void tkt_log_work(double *flops, double *bytes);

/* ======== Folding while the program runs ======== */

/* Folding a log's slots into its call tree, with the lock of the log. */

/* Folds the slots from the first unfolded one up to `cursor`; `frames` are the scopes that are open
 * there. With `until_ticks`, spans are cut off at that time, and open scopes count as calls that
 * end then. With 0, open scopes are left for later. */
takt_status tkt_online_fold(tkt_thread_log *log, const takt_record *cursor,
                            const takt_frame *frames, uint32_t frame_count, uint64_t until_ticks);

/* The begin of a window, and its clock. */
typedef struct tkt_fold_begin {
    uint64_t ticks;
    uint64_t ns;
    uint64_t ns_per_tick; /* see tkt_clock_fit */
    uint64_t until_ticks; /* the window's end; 0: it goes on */
    bool     is_own;      /* of this process, whose sites are known */
} tkt_fold_begin;

/* The bounds of the window that this process folds. */
tkt_fold_begin tkt_fold_begin_now(void);

/* The same for another process's window. */
takt_status tkt_online_fold_from(tkt_thread_log *log, const takt_record *cursor,
                                 const takt_frame *frames, uint32_t frame_count,
                                 const tkt_fold_begin *from, uint64_t until_ticks);

/* Adds the open spans of tracks, cut off at `until_ticks`. */
void tkt_fold_open_tasks(tkt_fold *fold, uint64_t until_ticks);

#endif
