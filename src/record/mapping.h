/* The file of a crash-safe recording: what a process records, mapped shared, so that it stays when
 * the process dies at any instant. docs/formats.md describes the file, takt_trace_recover() reads
 * it. The page cache keeps what was stored, in the order of the instructions; so compiler barriers
 * are all that the order needs.
 *
 * What the process keeps in its own memory dies with it: the cursor, the top of the stack, ids of
 * names. So a slot is committed when its tag is not 0, which is stored last; a chunk names its log
 * and its place in that; and each site, text and call stack is written as it gets its id. Which
 * scopes were open follows from the frames and the last record, see trace/recover_log.c. */
#ifndef TKT_RECORD_MAPPING_H
#define TKT_RECORD_MAPPING_H

#include "base/clock.h"
#include "record/log.h"
#include "record/site.h"
#include "record/scope.h"

#define TKT_MAPPING_MAGIC      UINT64_C(0x45464153544B4154) /* "TAKTSAFE" where bytes are in order */
#define TKT_MAPPING_VERSION    2u
#define TKT_MAPPING_WINDOWS    16u
#define TKT_MAPPING_LOSSES     32u
#define TKT_MAPPING_STEPS      65536u
#define TKT_MAPPING_TASKS      4096u
#define TKT_MAPPING_NAME_BYTES (UINT64_C(8) << 20)

typedef enum tkt_mapping_state {
    TKT_MAPPING_NO_WINDOW,
    TKT_MAPPING_RECORDING,
    TKT_MAPPING_ENDED /* and not saved yet */
} tkt_mapping_state;

/* A cycle that has begun and is not saved. */
typedef struct tkt_mapping_window {
    uint32_t      state; /* stored last */
    uint32_t      cycle;
    uint32_t      modes;
    uint32_t      with_flops;
    uint32_t      devices; /* TAKT_TIMING_ bits */
    uint32_t      first_correlation; /* ids of calls before it */
    uint32_t      whole_graphs;
    uint32_t      rank;
    uint32_t      world_size;
    uint32_t      reserved;
    char          backend[128]; /* what timed devices; "": nothing */
    uint64_t      begin_ticks;
    uint64_t      end_ticks;
    tkt_clock_fit fit;
    int64_t       realtime_offset_ns;
    uint64_t      first_step;
    uint64_t      fold_from_ticks; /* of a summary */
    uint64_t      memory_bytes; /* that the program had reported as allocated */
    double        peaks[4];     /* flops and bandwidth of a device, then of the host */
    uint64_t      losses[TKT_MAPPING_LOSSES]; /* before it */
} tkt_mapping_window;

/* What a log has in the file beside its chunks. */
typedef struct tkt_mapping_log {
    uint64_t   losses[TKT_MAPPING_LOSSES];
    uint64_t   lost_ticks; /* when a scope last ended without a record, stored behind */
    uint32_t   lost_depth; /* its depth */
    uint32_t   is_used;
    uint32_t   fold_generation; /* which of its folds is complete, see mapping.h */
    uint8_t    reserved[4096 - 16 - TKT_MAPPING_LOSSES * 8 - 20];
    takt_frame sentinel;
    takt_frame frames[TKT_MAX_DEPTH + 1]; /* a sentinel behind them, too */
} tkt_mapping_log;

typedef struct tkt_mapping_step {
    uint64_t begin_ticks;
    uint64_t end_ticks;
    uint64_t number; /* + 1; stored last */
} tkt_mapping_step;

/* An entry of the names: the payload follows. */
typedef enum tkt_mapping_kind {
    TKT_MAPPING_END,
    TKT_MAPPING_SITE,  /* tkt_mapping_site, five texts, each with its NUL */
    TKT_MAPPING_TEXT,  /* id in 8 bytes, text with its NUL */
    TKT_MAPPING_STACK, /* tkt_mapping_stack, then so many tkt_mapping_place */
    TKT_MAPPING_RUN,   /* name of the run, with its NUL */
    TKT_MAPPING_DEVICE, /* tkt_mapping_note, then what cuda/keeper.h says */
    TKT_MAPPING_VALUE  /* as TKT_MAPPING_TEXT: of an argument */
} tkt_mapping_kind;

typedef struct tkt_mapping_entry {
    uint32_t kind;  /* stored last */
    uint32_t bytes; /* with this head; a multiple of 8 */
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
    uint64_t size; /* of what follows */
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
    uint64_t logs_lost;    /* logs without one here: their open scopes are not known */
    uint64_t chunks_lost;  /* chunks that are not in the file */
    uint64_t folds_lost;   /* folds of summaries for which there was no room */
    uint64_t losses[TKT_MAPPING_LOSSES]; /* of events that had no log */
} tkt_mapping_head;

/* The mapping that this process writes to; NULL: none. */
extern tkt_mapping_head *tkt_mapping_active;

static inline tkt_mapping_head *tkt_mapping(void)
{
    /* acquire: pairs with the release in tkt_mapping_create() */
    return __atomic_load_n(&tkt_mapping_active, __ATOMIC_ACQUIRE);
}

/* Makes the file, named PATH.crash or PATH-2.crash and so on, with room for `bytes` of chunks, and
 * lets all that is recorded from now on lie in it; `devices` says what is wanted besides. Once in a process; the file is removed when the
 * process exits, unless something is not saved. A file that is there already stays in use: TAKT_OK,
 * and a warning where it has less room. */
takt_status tkt_mapping_create(const char *path, uint64_t bytes, const tkt_mapping_part *devices,
                               const char *run, takt_error *error);

/* The memory of devices' chunks, as many as were asked for; NULL: there is no file. */
void *tkt_mapping_devices(uint32_t *count);

/* Writes what devices' activities refer to; they and values leave half of the room to
 * others. */
void tkt_mapping_add_note(uint32_t kind, uint32_t number, const void *data, size_t size);

/* In a forked child: nothing more goes into the file, which is the parent's. */
void tkt_mapping_leave(void);

/* Gives all back, when nobody records any more. */
void tkt_mapping_free(void);

/* The log's place; NULL, and it is counted, where there is none left. */
tkt_mapping_log *tkt_mapping_log_at(uint32_t number);

void tkt_mapping_add_site(uint32_t id, const tkt_site *site);
void tkt_mapping_add_text(uint32_t id, tkt_text text);
void tkt_mapping_add_stack(const tkt_call_stack *stack);

/* Sets what the open span of that number is; NULL: it has ended. */
void tkt_mapping_set_task(uint64_t number, const tkt_task *task);

/* Notes a cycle; the number of its window, or UINT32_MAX where no more fit. */
uint32_t tkt_mapping_begin_window(const tkt_mapping_window *window);
void tkt_mapping_end_window(uint32_t number, uint64_t end_ticks);
void tkt_mapping_close_window(uint32_t number); /* it is saved, or not wanted */

void tkt_mapping_add_step(uint64_t number, uint64_t begin_ticks, uint64_t end_ticks);

/* Says what is stored before stays before what is stored after: for the file, not for threads. */
static inline void tkt_mapping_barrier(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* ======== Summaries ======== */

/* Summary mode in a crash-safe recording. A chunk that has been folded is written again, and its
 * fold is in the process' memory; so before that the fold is written to the file, into chunks of
 * its own. Because that takes time and room, chunks are kept until they are several times as many
 * as the fold needs. */

/* In tkt_chunk.log: the chunk is a piece of a fold; `sequence` counts the pieces, `depth` is the
 * fold's generation. The pieces hold one after another a tkt_kept_fold, and for each node a
 * tkt_kept_node and its buckets that are not 0. */
#define TKT_KEPT_FOLD 0x80000000u

typedef struct tkt_kept_fold {
    uint64_t from_ticks;    /* of the window */
    uint64_t other_count;
    uint64_t lost_count;
    uint32_t next_sequence; /* chunks of the log from this one on are not in it */
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

/* With the lock, by the log's thread, when all its chunks are folded: true if they may be written
 * again, because the fold is in the file or cannot be. */
bool tkt_mapping_keep_fold(tkt_thread_log *log);

#endif
