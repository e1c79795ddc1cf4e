/* The store: decoded activities that a window still needs. One thread, the decoder, fills it; the
 * threads that seal read it. Times are nanoseconds of CUPTI's clock (or of CUDA events):
 * cuda/clock.h maps them to Takt's. */
#ifndef TKT_CUDA_STORE_H
#define TKT_CUDA_STORE_H

#include "base/containers.h"
#include "base/lock.h"
#include "cuda/clock.h"
#include "cuda/resolution.h"

#include <takt/activity.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ======== Devices ======== */

/* Properties of a CUDA device; 0 means unknown. */
typedef struct tkt_device {
    uint32_t ordinal; /* N of "cuda:N" in this process */
    uint32_t label;   /* string, "cuda:0"; see tkt_shape */
    uint32_t name;    /* string, the product's name */
    uint32_t major;   /* compute capability */
    uint32_t minor;
    uint32_t multiprocessors;
    uint32_t warp_size;
    uint32_t max_threads_per_block;
    uint32_t max_threads_per_multiprocessor;
    uint32_t max_blocks_per_multiprocessor;
    uint32_t registers_per_block;
    uint32_t registers_per_multiprocessor;
    uint32_t shared_per_block; /* bytes, as in the next three */
    uint32_t shared_per_block_optin;
    uint32_t shared_per_multiprocessor;
    uint32_t reserved_shared_per_block;
    uint32_t clock_khz;
    uint32_t memory_clock_khz;
    uint32_t memory_bus_bits;
    uint32_t fp64_slowdown; /* single-precision rate / double-precision rate */
    uint64_t memory_bytes;
    uint64_t earlier_until_ns; /* a trace: in the recording it worked until this moment for launches
                                * before it; 0: whether it did is not known */
    uint32_t first_correlation; /* the store: of the earliest launch with an activity; 0: none */
    uint32_t reserved;
} tkt_device;

/* ======== Shapes ======== */

/* The properties that many activities share: a kernel with its grid, a copy of a certain size.
 * Shapes are interned, which keeps activities small. Strings are ids in the table of the shape's
 * owner: the store while recording, the trace afterwards. */

/* Compared as bytes, so unused fields and `reserved` must be 0. */
typedef struct tkt_shape {
    uint64_t bytes;      /* memcpy, memset */
    uint64_t graph_node; /* 0: none */
    uint32_t graph;      /* executable graph; 0: not launched by one */
    uint32_t name;       /* string: a kernel's full demangled name; "" for other activities */
    uint32_t label;      /* string: as tables print it, "kernel inc_loop" */
    uint32_t filter;     /* one TAKT_TIMING_ bit */
    uint32_t grid[3];    /* kernels: blocks in x, y, z */
    uint32_t block[3];
    uint32_t cluster[3];
    uint32_t static_shared_bytes; /* per block */
    uint32_t dynamic_shared_bytes;
    uint32_t local_bytes; /* per thread */
    uint16_t registers;   /* per thread */
    uint16_t occupancy;   /* theoretical, in 1/10000; 0: unknown */
    uint8_t  limiter;     /* takt_occupancy_limit */
    uint8_t  copy_kind;   /* takt_copy_kind */
    uint8_t  source;      /* takt_memory_kind; of a memset 0 */
    uint8_t  target;      /* takt_memory_kind */
    uint32_t graph_node_count; /* for a launch assembled from its nodes, see trace/devices.h */
    uint32_t reserved;
} tkt_shape;

/* Writes the label that tables print for an activity to `out`, cut to fit: "kernel density",
 * "builtin kernel x", "memcpy HtoD". Returns out. */
const char *tkt_activity_label(char *out, size_t size, uint32_t filter, const char *name);

/* ======== Crash-safe memory ======== */

/* Memory for activities that survives the process. A crash-safe recording gives the store a keeper.
 * The store calls it with its lock held. */

struct tkt_store_chunk;

typedef enum tkt_keeper_note {
    TKT_KEEP_STRING, /* number: id; data: the text with its NUL */
    TKT_KEEP_SHAPE,  /* number: index; data: tkt_shape */
    TKT_KEEP_PAIR,   /* number: 1 for CUPTI's clock; data: tkt_clock_pair */
    TKT_KEEP_ANEW    /* shapes are numbered from 0 again, for the `number`th time */
} tkt_keeper_note;

typedef struct tkt_store_keeper {
    /* Returns a chunk with count 0; NULL if none is left. */
    struct tkt_store_chunk *(*take)(void);
    /* Takes back a chunk with count 0. False if the chunk is not the keeper's. */
    bool (*give)(struct tkt_store_chunk *chunk);
    /* Saves data that activities refer to. */
    void (*note)(tkt_keeper_note kind, uint32_t number, const void *data, size_t size);
} tkt_store_keeper;

/* Sets the keeper of the process's store, once, and passes it all strings, shapes and clock pairs
 * so far. Takes the lock. */
void tkt_store_keep(const tkt_store_keeper *keeper);

/* ======== The store ======== */

#define TKT_STORE_CHUNK 512u

/* A kernel, copy, set or graph launch. Its times may be lost. */
typedef struct tkt_stored_activity {
    uint64_t begin;
    uint64_t end; /* 0: the times are lost, and `begin` is the takt_loss that says why */
    uint32_t correlation;
    uint32_t device; /* ordinal */
    uint32_t context;
    uint32_t stream;
    uint32_t shape; /* index of `shapes` */
    uint32_t graph; /* executable graph that it is a node of; 0: none. Its shape may lack this
                     * number */
} tkt_stored_activity;

/* True for what a graph launched on the device itself, see trace/devices.h: it has the graph but
 * the id of no call. */
static inline bool tkt_is_body(const tkt_stored_activity *activity)
{
    return activity->graph && !activity->correlation;
}

static inline void tkt_stored_lose(tkt_stored_activity *activity, uint32_t loss)
{
    activity->begin = loss;
    activity->end = 0;
}

/* Returns the takt_loss that cost the activity its times, or 0. */
static inline uint32_t tkt_stored_loss(const tkt_stored_activity *activity)
{
    return activity->end ? 0 : (uint32_t)activity->begin;
}

/* An allocation or a free of device, managed or pinned memory. */
typedef struct tkt_stored_memory {
    uint64_t time;
    uint64_t address;
    int64_t  bytes; /* negative: freed */
    uint32_t correlation;
    uint32_t device;
    uint32_t kind;  /* takt_memory_kind */
    uint16_t is_pool; /* 1: a pool's reservation grew or shrank; 0: an allocation or a free */
    uint16_t is_from_pool;
    uint64_t sequence; /* the store numbers memory events, waits and overheads as they arrive */
} tkt_stored_memory;

/* A wait for the device: CUpti_ActivitySynchronization. Its times are CUPTI's, unlike a
 * tkt_wait's. */
typedef struct tkt_stored_wait {
    uint64_t begin;
    uint64_t end;
    uint32_t correlation;
    uint32_t context;
    uint32_t stream; /* UINT32_MAX: all */
    uint32_t kind;   /* takt_wait_kind: 1 event, 2 stream waits for event, 3 stream, 4 context */
    uint32_t event;  /* CUPTI's number; 0: no event */
    uint64_t sync_id; /* that of the event's record; 0: unknown */
    uint64_t sequence;
} tkt_stored_wait;

/* An event was recorded: CUpti_ActivityCudaEvent, which has no time. */
typedef struct tkt_stored_record {
    uint64_t sync_id; /* also in the waits for this record; 0: unknown */
    uint64_t position; /* tkt_store_position() when it arrived: it is from before that */
    uint32_t correlation;
    uint32_t context;
    uint32_t stream;
    uint32_t event;
} tkt_stored_record;

/* Overhead that CUPTI and the driver report: CUpti_ActivityOverhead, with its kinds, which are 1
 * and multiples of 65536. CUpti_ActivityJit is stored as one too, with kinds of Takt's own. */
typedef struct tkt_stored_overhead {
    uint64_t begin;
    uint64_t end;
    uint32_t kind;
    uint32_t thread; /* 0: unknown */
    uint64_t sequence;
} tkt_stored_overhead;

/* Kinds of CUpti_ActivityOverheadKind. */
#define TKT_OVERHEAD_COMPILING      1u
#define TKT_OVERHEAD_LOADING        (4u << 16) /* a module */
#define TKT_OVERHEAD_LOADING_LAZILY (5u << 16) /* a function's module */

#define TKT_OVERHEAD_JIT      0x100u /* a bit, next to the CUpti_ActivityJitOperationType */
#define TKT_OVERHEAD_JIT_NVVM 0x010u /* a bit: from NVVM-IR to PTX, not from PTX to machine code */

/* True if an overhead of this kind compiled or loaded device code: by the driver's compiler, with a
 * module, lazily with its function, just in time. */
static inline bool tkt_overhead_is_loading(uint32_t kind)
{
    return kind == TKT_OVERHEAD_COMPILING || kind == TKT_OVERHEAD_LOADING ||
           kind == TKT_OVERHEAD_LOADING_LAZILY || (kind & TKT_OVERHEAD_JIT);
}

/* Memory allocated on a device since CUPTI began to report allocations. */
typedef struct tkt_stored_totals {
    uint64_t current_bytes;
    uint64_t peak_bytes;
    uint64_t peak_time;
    uint64_t allocations;
    uint64_t frees;
    uint64_t unmatched_frees; /* frees of memory allocated before that */
    uint64_t pool_bytes;      /* reserved by pools */
    uint64_t pool_used_bytes; /* allocated in pools */
    uint64_t begin_bytes;     /* allocated at the moment that the caller asked for */
    uint64_t begin_pool_bytes;
    uint64_t begin_pool_used_bytes;
} tkt_stored_totals;

#define TKT_RECENT_SHAPES 4u

typedef struct tkt_recent_shape {
    tkt_shape shape; /* without occupancy */
    uint32_t  device;
    uint32_t  index; /* UINT32_MAX: none, or the shapes were released */
} tkt_recent_shape;

/* A name of activities, as the decoder keeps it: of a kernel, a kind of copy, or sets. `recent`
 * holds shapes last seen with this name; the next activity usually has one of them. */
typedef struct tkt_stored_name {
    const char *text;  /* copy of CUPTI's text; NULL unless it is a kernel's name */
    uint32_t    name;  /* this and the next two: as in tkt_shape */
    uint32_t    label;
    uint32_t    filter;
    uint32_t    reserved;
    tkt_recent_shape recent[TKT_RECENT_SHAPES];
} tkt_stored_name;

typedef struct tkt_store_chunk {
    struct tkt_store_chunk *next;
    uint64_t first; /* sequence number of items[0] */
    uint32_t count;
    tkt_stored_activity items[TKT_STORE_CHUNK];
} tkt_store_chunk;

/* Records that could not be used, since the process began. A reader subtracts its own earlier
 * values. */
typedef struct tkt_cuda_losses {
    uint64_t dropped;     /* records that CUPTI dropped or had no buffer for, and marks that found
                           * no free slot */
    uint64_t store_full;  /* decoded activities that did not fit into max_bytes */
    uint64_t others_full; /* memory events, waits and overheads that did not fit into max_bytes */
    uint64_t bad_time;    /* zero, reversed or absurd time stamps of other records; activities with
                           * such times are kept */
    uint64_t unknown;     /* records of unknown kind or size; truncated buffers */
    uint64_t overwritten; /* records that made room for later ones, see ring_until */
    uint64_t more_names;  /* kernels whose names had no room, and are TKT_MORE_KERNELS */
    uint64_t failed_marks; /* marks (TAKT_LAUNCH and the like) whose times CUDA could not measure */
} tkt_cuda_losses;

typedef struct tkt_store {
    tkt_mutex        lock;
    const tkt_store_keeper *keeper; /* NULL: none */
    tkt_strtab       strings;
    tkt_map          shape_index; /* hash -> index + 1; a collision takes the next hash */
    TKT_ARRAY_OF(tkt_shape) shapes;
    size_t shapes_kept;               /* when unused ones were last looked for */
    uint32_t numberings;              /* how often shapes were numbered anew */
    TKT_ARRAY_OF(tkt_device) devices; /* by ordinal */
    tkt_store_chunk *first; /* chunks of activities, in order of arrival */
    tkt_store_chunk *last;
    tkt_store_chunk *spare;
    uint64_t         next_sequence;
    bool             has_nodes;  /* an activity was a node of a graph; stays, like the next one */
    uint64_t         bodies;     /* how many were tkt_is_body(), since the process began */
    uint64_t         next_other; /* sequence number of the next memory event, wait or overhead */
    uint64_t         max_bytes; /* limit for all of the store's memory */
    uint64_t         used_bytes;
    uint64_t         ring_until; /* when memory is short, activities before this position may be
                                  * overwritten */
    TKT_ARRAY_OF(tkt_stored_memory) memory;
    TKT_ARRAY_OF(tkt_stored_wait) waits;
    TKT_ARRAY_OF(tkt_stored_record) records;
    TKT_ARRAY_OF(tkt_stored_overhead) overheads;
    bool             has_no_window; /* no window is open: only the totals of memory are needed */
    uint32_t         left_out; /* TAKT_TIMING_ bits that no window needs; 0: none */
    bool is_summed;            /* atomic; see tkt_store_sum() */
    TKT_ARRAY_OF(tkt_stored_totals) totals; /* by ordinal; complete even when max_bytes is used
                                             * up */
    TKT_ARRAY_OF(tkt_stored_memory) unsummed; /* events not yet in the totals: earlier ones may
                                               * still arrive */
    uint64_t         summed_until; /* time of the latest event in the totals */
    tkt_map allocated;             /* address of device memory -> device << 48 | bytes */
    tkt_cuda_clock   clock;
    tkt_durations   *durations; /* of activities of any device; NULL: nobody asks for their step */
    tkt_cuda_losses  losses;
    bool             is_forced_flush; /* the buffer being decoded came from a forced flush: it may
                                       * have unfinished records */
    bool             has_said_zero_nodes;
    tkt_map graph_sets; /* set of a tkt_graph_launch -> the first executable graph with it + 1 */
    TKT_ARRAY_OF(tkt_stored_name) names; /* this and the next two: for the decoder only */
    tkt_map          name_index; /* address of a kernel's name, or another key -> index + 1 */
    tkt_map          pools;      /* address of a memory pool -> its bytes */
    tkt_map pool_times;          /* ... -> when it had them */
} tkt_store;

/* The limit of a store until somebody sets max_bytes. */
#define TKT_STORE_DEFAULT_BYTES ((uint64_t)64 << 20)

/* Device ordinals must be below this; higher ones are taken for garbage. */
#define TKT_STORE_DEVICES 1024u

/* Returns the store of the process. To read it, hold `lock` for as long as copying takes. */
tkt_store *tkt_store_get(void);

/* The step of devices' times; NAN: unknown. Takes the lock. */
double tkt_store_step_ns(tkt_store *store);

/* Sets up a separate store, for tests and recordings. TAKT_NO_MEMORY. */
takt_status tkt_store_init(tkt_store *store);
void tkt_store_fini(tkt_store *store);

/* Returns the sequence number of the next activity to arrive. A window remembers it when it
 * opens. */
uint64_t tkt_store_position(void);

/* Returns how many bodies have arrived since the process began. */
uint64_t tkt_store_bodies(void);

/* Frees full chunks of activities and records of events before `position`, and memory events, waits
 * and overheads from before `before_ticks`. Once no activity is left, shapes are renumbered, so
 * nobody may keep an index of a shape without the lock. Strings and devices are never renumbered. */
void tkt_store_release(uint64_t position, uint64_t before_ticks);

/* True when more than half of max_bytes is used. */
bool tkt_store_is_full(void);

/* Lets new activities overwrite the oldest ones before `position` when memory is short; 0: none. */
void tkt_store_ring(uint64_t position);

/* Sets whether only summaries need the activities: then their shapes have no grids and bytes, and
 * waits, records of events and overheads other than loading are not kept. Takes no lock. */
void tkt_store_sum(bool is_summed);

/* Returns the memory allocated on a device at `until_ns`, and at `begin_ns` as far as the store
 * goes back. Counts records that have arrived; later events count too if an earlier call asked for
 * a later time. Both times and that of the peak are ns of the fit. False if nothing was allocated
 * on the device. */
bool tkt_store_totals(uint32_t device, const tkt_clock_fit *fit, uint64_t begin_ns,
                      uint64_t until_ns, tkt_stored_totals *out);

/* The rest needs the lock. The decoder calls it, and other threads that add to the store. */

/* These return false, and count the loss, when there is no room; see tkt_store_sum(), too. */
bool tkt_store_add(tkt_store *store, const tkt_stored_activity *activity);
bool tkt_store_add_memory(tkt_store *store, const tkt_stored_memory *memory);
bool tkt_store_add_wait(tkt_store *store, const tkt_stored_wait *wait);
bool tkt_store_add_record(tkt_store *store, const tkt_stored_record *record);
bool tkt_store_add_overhead(tkt_store *store, const tkt_stored_overhead *overhead);

/* tkt_store_total() enters a memory event for the totals; tkt_store_add_memory() calls it.
 * tkt_store_sum_up() adds all entered events to the totals, in order of time. */
void tkt_store_total(tkt_store *store, const tkt_stored_memory *memory);
void tkt_store_sum_up(tkt_store *store);

/* Restarts the totals, after a time in which CUPTI did not report allocations. Takes the lock. */
void tkt_store_forget_memory(tkt_store *store);

/* tkt_store_string() returns a string's id in the store, or TKT_STRTAB_FULL without room.
 * tkt_store_add_name() returns a new name: without recent shapes, otherwise uninitialised. NULL
 * without room. */
uint32_t tkt_store_string(tkt_store *store, const char *text);
tkt_stored_name *tkt_store_add_name(tkt_store *store);

/* Names of kernels take at most a quarter of max_bytes: they stay for the process's life, so a
 * program that makes names without end (run-time compilation) would leave no room for activities.
 * Further kernels have this name. */
#define TKT_MORE_KERNELS "(more names)"
bool tkt_store_may_name(const tkt_store *store);

/* Writes the label of an executable graph: "graph 7". Programs that never stop making graphs would
 * make labels without end, so all graphs from TKT_MOST_GRAPHS on have one: "graph 4096+". */
#define TKT_GRAPH_LABEL_BYTES 40u
#define TKT_MOST_GRAPHS       4096u
const char *tkt_graph_label(char out[TKT_GRAPH_LABEL_BYTES], uint32_t graph, const char *suffix);

/* Adds a reading of CUPTI's clock, or of the clock that CUDA events use. */
void tkt_store_add_pair(tkt_store *store, const tkt_clock_pair *pair, bool is_cupti);

/* Returns the index of this shape, adding it if it is new; UINT32_MAX without room. All shapes may
 * get new indexes. */
uint32_t tkt_store_shape(tkt_store *store, const tkt_shape *shape);

/* store_room.c. The first forgets the oldest records of a flight recorder until `bytes` fit into
 * max_bytes; false if they do not fit. The second forgets shapes that no activity refers to, when
 * there are many. */
bool tkt_store_make_room(tkt_store *store, uint64_t bytes);
void tkt_store_limit_shapes(tkt_store *store);

/* Frees the oldest chunk, which must exist. */
void tkt_store_free_first(tkt_store *store);

/* The first forgets the indexes of shapes; the second makes the index anew. */
void tkt_store_number_anew(tkt_store *store);
void tkt_store_index_shapes(tkt_store *store);

/* Returns the device with this ordinal, adding it with its label if it is new. The device of every
 * activity must exist. Valid until another device is added. NULL without memory, and for ordinals
 * from TKT_STORE_DEVICES on. */
tkt_device *tkt_store_device(tkt_store *store, uint32_t ordinal);

#endif
