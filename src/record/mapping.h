/* The file of a crash-safe recording: a shared mapping of everything that a process records, which
 * stays when the process dies at any instant. docs/formats.md describes the file;
 * takt_trace_recover() reads it. The page cache keeps stores in the order of the instructions, so
 * compiler barriers are enough to order them.
 *
 * The process's private memory dies with it: cursors, stack tops, ids of names. Therefore a slot
 * counts as written when its tag is not 0, and the tag is stored last. A chunk names its log and
 * its position in the log. Each site, text and call stack is written to the file when it gets its
 * id. The frames and the last record show which scopes were open: see trace/recover_log.c. */
#ifndef TKT_RECORD_MAPPING_H
#define TKT_RECORD_MAPPING_H

#include "base/clock.h"
#include "record/log.h"
#include "record/site.h"
#include "record/scope.h"

#define TKT_MAPPING_MAGIC      UINT64_C(0x45464153544B4154) /* "TAKTSAFE" in the file */
#define TKT_MAPPING_VERSION    5u
#define TKT_MAPPING_WINDOWS    128u /* more than can be open or unsaved */
#define TKT_MAPPING_LOSSES     32u
#define TKT_MAPPING_STEPS      65536u
#define TKT_MAPPING_TASKS      4096u
#define TKT_MAPPING_NAME_BYTES (UINT64_C(8) << 20)
#define TKT_BACKEND_SIZE       128u

typedef enum tkt_mapping_state {
    TKT_MAPPING_NO_WINDOW,
    TKT_MAPPING_RECORDING,
    TKT_MAPPING_ENDED /* but not saved yet */
} tkt_mapping_state;

/* A cycle that has begun and is not saved yet. */
typedef struct tkt_mapping_window {
    uint32_t      state; /* stored last */
    uint32_t      cycle;
    uint32_t      modes;
    uint32_t      with_flops;
    uint32_t      devices; /* TAKT_TIMING_ bits */
    uint32_t      first_correlation; /* ids of later calls are larger */
    uint32_t      whole_graphs;
    uint32_t      rank;
    uint32_t      world_size;
    uint32_t      run; /* number of its profiler's run; 0: the file does not have that run */
    char backend[TKT_BACKEND_SIZE]; /* that timed devices; "": none */
    uint64_t      begin_ticks;
    uint64_t      end_ticks;
    tkt_clock_fit fit;
    int64_t       realtime_offset_ns;
    uint64_t      first_step;
    uint64_t      fold_from_ticks; /* in summary mode */
    uint64_t      memory_bytes; /* allocated at its begin, as the program reported */
    double        peaks[4];     /* flops and bandwidth of a device, then of the host */
    uint64_t      losses[TKT_MAPPING_LOSSES]; /* before its begin */
} tkt_mapping_window;

/* The part of a log that is not in its chunks. */
typedef struct tkt_mapping_log {
    uint64_t   losses[TKT_MAPPING_LOSSES];
    uint64_t   lost_ticks; /* when a scope last ended without a record; stored last */
    uint32_t   lost_depth; /* its depth */
    uint32_t   is_used;
    uint32_t   fold_generation; /* of its complete fold, see TKT_KEPT_FOLD */
    uint8_t    reserved[4096 - 16 - TKT_MAPPING_LOSSES * 8 - 20];
    takt_frame sentinel;
    takt_frame frames[TKT_MAX_DEPTH + 1]; /* the last one is a sentinel, too */
} tkt_mapping_log;

typedef struct tkt_mapping_step {
    uint64_t begin_ticks;
    uint64_t end_ticks;
    uint64_t number; /* + 1; stored last */
} tkt_mapping_step;

/* The kind of an entry in the part of names. The payload follows the entry: */
typedef enum tkt_mapping_kind {
    TKT_MAPPING_END,
    TKT_MAPPING_SITE,  /* tkt_mapping_site, five texts, each with its NUL */
    TKT_MAPPING_TEXT,  /* id in 8 bytes, text with its NUL */
    TKT_MAPPING_STACK, /* tkt_mapping_stack, then `count` of tkt_mapping_place */
    TKT_MAPPING_RUN,   /* name of the run, with its NUL */
    TKT_MAPPING_DEVICE, /* tkt_mapping_note, then data: see cuda/keeper.h */
    TKT_MAPPING_VALUE  /* like TKT_MAPPING_TEXT, for the value of an argument */
} tkt_mapping_kind;

typedef struct tkt_mapping_entry {
    uint32_t kind;  /* stored last */
    uint32_t bytes; /* including this struct; a multiple of 8 */
} tkt_mapping_entry;

typedef struct tkt_mapping_site {
    uint32_t id;
    uint32_t line;
    uint32_t filter;
    uint8_t  kind;
    uint8_t  level;
    uint16_t reserved;
} tkt_mapping_site;

typedef struct tkt_mapping_stack {
    uint32_t number;
    uint32_t count;
} tkt_mapping_stack;

typedef struct tkt_mapping_place {
    uint64_t address;
    uint64_t base;
    uint32_t object; /* text id */
    uint32_t reserved;
} tkt_mapping_place;

typedef struct tkt_mapping_note {
    uint32_t kind; /* tkt_keeper_note */
    uint32_t number;
    uint64_t size; /* of the data after it */
} tkt_mapping_note;

/* A part of the file: `count` items of `item_bytes` each. */
typedef struct tkt_mapping_part {
    uint64_t at;
    uint32_t item_bytes;
    uint32_t count;
} tkt_mapping_part;

typedef struct tkt_mapping_head {
    uint64_t magic; /* stored last */
    uint32_t version;
    uint32_t head_bytes;
    uint64_t file_bytes;
    tkt_mapping_part windows;
    tkt_mapping_part tasks; /* open spans of tracks; their sites are stored last */
    tkt_mapping_part steps; /* a ring */
    tkt_mapping_part logs;
    tkt_mapping_part names; /* of bytes */
    tkt_mapping_part chunks;
    tkt_mapping_part devices; /* chunks of cuda/store.h; a count of 0: not in use */
    uint32_t slot_bytes;
    uint32_t frame_bytes;
    uint32_t max_depth;
    uint32_t process_id;
    char     clock[16];
    uint64_t next_step;    /* atomic */
    uint64_t names_used;   /* bytes */
    uint64_t names_lost;   /* entries for which there was no room */
    uint64_t logs_lost;    /* logs that have no place here: their open scopes are unknown */
    uint64_t chunks_lost;  /* chunks that are not in the file */
    uint64_t folds_lost;   /* folds of summaries for which there was no room */
    uint64_t losses[TKT_MAPPING_LOSSES]; /* of events without a log */
    tkt_mapping_part run; /* two copies of the steps of a run: trace/recovery.h */
    uint64_t whole_run;   /* number of the copy that is whole, + 1; 0: neither */
    uint64_t numbering;   /* how often shapes of devices' activities were numbered anew */
} tkt_mapping_head;

/* The mapping that this process writes to; NULL: none. Read it with tkt_mapping(). */
extern tkt_mapping_head *tkt_mapping_active;

static inline tkt_mapping_head *tkt_mapping(void)
{
    /* acquire: pairs with the release in tkt_mapping_create() */
    return __atomic_load_n(&tkt_mapping_active, __ATOMIC_ACQUIRE);
}

/* Makes the file PATH.crash, or PATH-2.crash and so on, with room for `bytes` of chunks. From now
 * on the recorder puts everything into it; `devices` is the extra part for devices, `run_bytes` the
 * size of a run. Call it once per process. The file is removed at exit, unless a cycle is not
 * saved. If the process has a file already, that stays in use: returns TAKT_OK, and logs a warning
 * if it has less room. */
takt_status tkt_mapping_create(const char *path, uint64_t bytes, const tkt_mapping_part *devices,
                               size_t run_bytes, const char *name, takt_error *error);

/* Gives memory to a part of the file before its first store; false if none is left. Chunks and
 * those of devices need it, the rest has it from the start. */
bool tkt_mapping_ready(void *at, size_t bytes);

/* The memory of devices' chunks, and their number; NULL: there is no file. */
void *tkt_mapping_devices(uint32_t *count);

/* Writes an entry that devices' activities refer to. Notes and values together use at most half of
 * the part of names. */
void tkt_mapping_add_note(uint32_t kind, uint32_t number, const void *data, size_t size);

/* The file's path; "" before there is one. */
const char *tkt_mapping_path(void);

/* For a forked child: writes nothing more to the file, which is the parent's. */
void tkt_mapping_leave(void);

/* Removes the file, if all is saved, and unmaps it. Nobody may record any more. */
void tkt_mapping_free(void);

/* The log's place in the file; NULL, and counts the log, when there is none left. */
tkt_mapping_log *tkt_mapping_log_at(uint32_t number);

void tkt_mapping_add_site(uint32_t id, const tkt_site *site);
void tkt_mapping_add_text(uint32_t id, tkt_text text);
void tkt_mapping_add_stack(const tkt_call_stack *stack);

/* Sets the open span of that number; NULL: it has ended. */
void tkt_mapping_set_task(uint64_t number, const tkt_task *task);

/* Notes a cycle. Returns the number of its window, or UINT32_MAX when no more fit. */
uint32_t tkt_mapping_begin_window(const tkt_mapping_window *window);
void tkt_mapping_end_window(uint32_t number, uint64_t end_ticks);
void tkt_mapping_close_window(uint32_t number); /* it is saved, or unwanted */

void tkt_mapping_add_step(uint64_t number, uint64_t begin_ticks, uint64_t end_ticks);

/* A copy of the run, 0 or 1; NULL: there is no file. One copy at a time is changed, and then declared
 * whole, so the process may die at any instant. */
void *tkt_mapping_run(uint32_t copy);
void tkt_mapping_run_is_whole(uint32_t copy);

/* Keeps the order of stores before and after it: in the file, not for other threads. */
static inline void tkt_mapping_barrier(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* ======== Summaries ======== */

/* Summary mode in a crash-safe recording. A thread reuses chunks that it has folded, and their fold
 * is in private memory. Therefore it first writes the fold to the file, into separate chunks. That
 * takes time and room, so it keeps folded chunks until they are several times as many as the chunks
 * of the fold. */

/* This bit in tkt_chunk.log marks a piece of a fold: `sequence` counts the pieces, `depth` is the
 * fold's generation. The pieces in sequence hold a tkt_kept_fold; then for each node a
 * tkt_kept_node and its buckets that are not 0. */
#define TKT_KEPT_FOLD 0x80000000u

typedef struct tkt_kept_fold {
    uint64_t from_ticks;    /* of the window */
    uint64_t reserved;
    uint64_t lost_count;
    uint32_t next_sequence; /* the fold lacks the log's chunks from this number on */
    uint32_t node_count;
} tkt_kept_fold;

typedef struct tkt_kept_node {
    tkt_stats stats;
    double    flops;
    double    bytes;
    uint64_t  errors;
    uint32_t  site;
    uint32_t  parent;
    uint32_t  bucket_count;
    uint32_t  reserved;
} tkt_kept_node;

typedef struct tkt_kept_bucket {
    uint32_t index;
    uint32_t count;
} tkt_kept_bucket;

/* With the lock, by the log's thread, when all its chunks are folded. True if the thread may reuse
 * them, because the fold is in the file or cannot be. */
bool tkt_mapping_keep_fold(tkt_thread_log *log);

#endif
