/* What has been decoded and is still wanted by a window. Filled by one thread, the decoder; read by
 * those who seal. Times are CUPTI's nanoseconds (or the backend's): cuda/clock.h maps them. */
#ifndef TKT_CUDA_STORE_H
#define TKT_CUDA_STORE_H

#include "base/containers.h"
#include "base/thread.h"
#include "cuda/clock.h"

#include <takt/activity.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ======== Devices ======== */

/* What is known of a CUDA device. */

/* Fields that nobody could tell are 0. */
typedef struct tkt_device {
    uint32_t ordinal; /* of the process: N of "cuda:N" */
    uint32_t label;   /* string, "cuda:0"; see tkt_shape */
    uint32_t name;    /* string, the product's */
    uint32_t major;   /* compute capability */
    uint32_t minor;
    uint32_t multiprocessors;
    uint32_t warp_size;
    uint32_t max_threads_per_block;
    uint32_t max_threads_per_multiprocessor;
    uint32_t max_blocks_per_multiprocessor;
    uint32_t registers_per_block;
    uint32_t registers_per_multiprocessor;
    uint32_t shared_per_block; /* bytes, and so are these: */
    uint32_t shared_per_block_optin;
    uint32_t shared_per_multiprocessor;
    uint32_t reserved_shared_per_block;
    uint32_t clock_khz;
    uint32_t memory_clock_khz;
    uint32_t memory_bus_bits;
    uint32_t reserved;
    uint64_t memory_bytes;
} tkt_device;

/* ======== Shapes ======== */

/* What activities have in common that are launched again and again: a kernel with its grid, a copy
 * of so many bytes. Shapes are interned, so that an activity itself stays small. The strings are
 * ids in the table of whoever holds the shape: cuda/store.h while recording, the trace
 * afterwards. */

/* What limits how many blocks of a kernel fit on a multiprocessor. */
typedef enum tkt_limiter {
    TKT_LIMITER_UNKNOWN,
    TKT_LIMITER_WARPS,
    TKT_LIMITER_REGISTERS,
    TKT_LIMITER_SHARED_MEMORY,
    TKT_LIMITER_BLOCKS
} tkt_limiter;

/* Compared as bytes: unused fields and `reserved` are 0. */
typedef struct tkt_shape {
    uint64_t bytes;      /* memcpy, memset */
    uint64_t graph_node; /* 0: none */
    uint32_t graph;      /* executable graph; 0: not launched by one */
    uint32_t name;       /* string: a kernel's whole demangled name; "" where the label says all */
    uint32_t label;      /* string: as tables print it, "kernel inc_loop" */
    uint32_t filter;     /* one TAKT_TIMING_ bit */
    uint32_t grid[3];    /* of kernels: blocks; threads; blocks per cluster, 0 without clusters */
    uint32_t block[3];
    uint32_t cluster[3];
    uint32_t static_shared_bytes; /* per block */
    uint32_t dynamic_shared_bytes;
    uint32_t local_bytes; /* per thread */
    uint16_t registers;   /* per thread */
    uint16_t occupancy;   /* theoretical, in 1/10000; 0: unknown */
    uint8_t  limiter;     /* tkt_limiter */
    uint8_t  copy_kind;   /* takt_copy_kind */
    uint8_t  source;      /* takt_memory_kind; of a memset 0 */
    uint8_t  target;      /* takt_memory_kind */
    uint32_t graph_node_count; /* of a launch put together from its nodes, see trace/devices.h */
    uint32_t reserved;
} tkt_shape;

/* What tables print for an activity: "kernel density", "builtin kernel x", "memcpy HtoD"; written
 * to `out`, cut to fit. Returns out. */
const char *tkt_activity_label(char *out, size_t size, uint32_t filter, const char *name);

/* ======== Crash-safe memory ======== */

/* Where the store's activities lie so that they survive the process; who makes a crash-safe recording
 * gives the store one. All is called with the store's lock held. */

struct tkt_store_chunk;

typedef enum tkt_keeper_note {
    TKT_KEEP_STRING, /* number: id; a text with its NUL */
    TKT_KEEP_SHAPE,  /* number: index; tkt_shape */
    TKT_KEEP_PAIR,   /* number: 1 if it is of CUPTI's clock; tkt_clock_pair */
    TKT_KEEP_ANEW    /* shapes are numbered anew from 0 */
} tkt_keeper_note;

typedef struct tkt_store_keeper {
    /* A chunk of count 0; NULL: there is none left. */
    struct tkt_store_chunk *(*take)(void);
    /* Takes a chunk back, whose count is 0; false if it is none of its own. */
    bool (*give)(struct tkt_store_chunk *chunk);
    /* Notes what activities refer to. */
    void (*note)(tkt_keeper_note kind, uint32_t number, const void *data, size_t size);
} tkt_store_keeper;

/* Gives the process' store a keeper, and notes what it holds; NULL takes it back. Takes the lock. */
void tkt_store_keep(const tkt_store_keeper *keeper);

/* ======== The store ======== */

#define TKT_STORE_CHUNK 512u

/* A kernel, copy, set or graph launch: complete, or one that came without usable times. */
typedef struct tkt_stored_activity {
    uint64_t begin;
    uint64_t end; /* 0: its times are lost; then `begin` is the takt_loss that took them */
    uint32_t correlation;
    uint32_t device; /* ordinal */
    uint32_t context;
    uint32_t stream;
    uint32_t shape; /* index of `shapes` */
    uint32_t graph; /* executable graph that it is a node of; 0: none. Shapes may lack it */
} tkt_stored_activity;

static inline void tkt_stored_lose(tkt_stored_activity *activity, uint32_t loss)
{
    activity->begin = loss;
    activity->end = 0;
}

/* 0, or the takt_loss that took the times. */
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
    uint16_t is_pool; /* 1: a pool grew or shrank; the reservation, not an allocation in it */
    uint16_t is_from_pool;
    uint64_t sequence; /* the store's: counts these, waits and overheads as they come */
} tkt_stored_memory;

/* A wait for the device: CUpti_ActivitySynchronization. Unlike those of a tkt_wait, its times are by
 * the clock of CUPTI. */
typedef struct tkt_stored_wait {
    uint64_t begin;
    uint64_t end;
    uint32_t correlation;
    uint32_t context;
    uint32_t stream; /* UINT32_MAX: all */
    uint32_t kind;   /* 1 event, 2 stream waits for event, 3 stream, 4 context */
    uint64_t sequence;
} tkt_stored_wait;

/* Time that CUPTI and the driver say they cost: CUpti_ActivityOverhead, its kinds. */
typedef struct tkt_stored_overhead {
    uint64_t begin;
    uint64_t end;
    uint32_t kind;
    uint32_t thread; /* 0: unknown */
    uint64_t sequence;
} tkt_stored_overhead;

/* What is allocated on a device, since CUPTI began to tell of it. */
typedef struct tkt_stored_totals {
    uint64_t current_bytes;
    uint64_t peak_bytes;
    uint64_t peak_time;
    uint64_t allocations;
    uint64_t frees;
    uint64_t unmatched_frees; /* of what was allocated before */
    uint64_t pool_bytes;      /* reserved by pools, */
    uint64_t pool_used_bytes; /* and allocated in them */
    uint64_t begin_bytes;     /* allocated at the moment that was asked for, */
    uint64_t begin_pool_bytes;
    uint64_t begin_pool_used_bytes;
} tkt_stored_totals;

#define TKT_RECENT_SHAPES 4u

typedef struct tkt_recent_shape {
    tkt_shape shape; /* without occupancy */
    uint32_t  device;
    uint32_t  index; /* UINT32_MAX: none, as after a release of the shapes */
} tkt_recent_shape;

/* What the decoder keeps of a name that activities have: a kernel, a direction of copies, sets.
 * `recent` are shapes that were seen with it last, which are most often the next ones too. */
typedef struct tkt_stored_name {
    const char *text;  /* a copy of what CUPTI has; NULL where it is no kernel's */
    uint32_t    name;  /* strings, and a TAKT_TIMING_ bit: fields of tkt_shape */
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

/* What could not be used, since the process began. Who reads it keeps the values of before. */
typedef struct tkt_cuda_losses {
    uint64_t dropped;     /* records that CUPTI dropped, or for which the pool had no buffer */
    uint64_t store_full;  /* activities that were decoded, but max_bytes was used up */
    uint64_t others_full; /* the same of memory events, waits and overheads */
    uint64_t bad_time;    /* zero, reversed or absurd timestamps; not of activities, which stay */
    uint64_t unknown;     /* records of kinds, or with sizes, that nobody knows; cut buffers */
    uint64_t overwritten; /* activities that made room for later ones, see ring_until */
    uint64_t failed_marks; /* TAKT_LAUNCH and the like, for which CUDA tells no times */
} tkt_cuda_losses;

typedef struct tkt_store {
    tkt_mutex        lock;
    const tkt_store_keeper *keeper; /* NULL: none */
    tkt_strtab       strings;
    tkt_map          shape_index; /* hash -> index + 1, chained by probing the next hash */
    TKT_ARRAY_OF(tkt_shape) shapes;
    TKT_ARRAY_OF(tkt_device) devices; /* by ordinal */
    tkt_store_chunk *first; /* activities in the order in which they arrived */
    tkt_store_chunk *last;
    tkt_store_chunk *spare;
    uint64_t         next_sequence;
    uint64_t         next_other; /* sequence of the next memory event, wait or overhead */
    uint64_t         max_bytes; /* of all that grows */
    uint64_t         used_bytes;
    uint64_t         ring_until; /* without room, older activities than this position may go */
    TKT_ARRAY_OF(tkt_stored_memory) memory;
    TKT_ARRAY_OF(tkt_stored_wait) waits;
    TKT_ARRAY_OF(tkt_stored_overhead) overheads;
    bool             has_no_window; /* of memory only the totals are wanted, of the rest nothing */
    uint32_t         left_out; /* TAKT_TIMING_ bits that no window wants; 0: none */
    TKT_ARRAY_OF(tkt_stored_totals) totals; /* by ordinal; whether or not there was room */
    TKT_ARRAY_OF(tkt_stored_memory) unsummed; /* events that earlier ones may still follow */
    uint64_t         summed_until; /* time of the last one in the totals */
    tkt_map          allocated; /* address of device memory -> bytes */
    tkt_cuda_clock   clock;
    tkt_cuda_losses  losses;
    bool             is_forced_flush; /* what is decoded came by a forced flush: it may be unfinished */
    bool             has_said_zero_nodes;
    TKT_ARRAY_OF(tkt_stored_name) names; /* these are the decoder's own */
    tkt_map          name_index; /* address of a kernel's name, and others -> index + 1 */
    tkt_map          pools;      /* address of a memory pool -> its bytes */
} tkt_store;

/* Bytes that a store may use until somebody sets max_bytes. */
#define TKT_STORE_DEFAULT_BYTES ((uint64_t)64 << 20)

/* Higher ordinals than this are taken for nonsense. */
#define TKT_STORE_DEVICES 1024u

/* The process has one. Take `lock` to read it, for as long as copying takes. */
tkt_store *tkt_store_get(void);

/* A store of one's own, for tests and recordings. TAKT_NO_MEMORY. */
takt_status tkt_store_init(tkt_store *store);
void tkt_store_fini(tkt_store *store);

/* Sequence number of the next activity that arrives: what a window remembers when it opens. */
uint64_t tkt_store_position(void);

/* Forgets activities before `position`, as far as they fill chunks, and what else was decoded and
 * happened before `before_ticks`. Shapes are renumbered when no activity is left: nobody keeps an
 * index of one without the lock. Strings and devices are never renumbered. */
void tkt_store_release(uint64_t position, uint64_t before_ticks);

/* True when more than half of max_bytes is used. */
bool tkt_store_is_full(void);

/* Lets the oldest activities before `position` go when there is no room for new ones; 0: none. */
void tkt_store_ring(uint64_t position);

/* What is allocated on a device by all that has arrived and happened up to `until_ns`, unless
 * somebody has asked for later already; and at `begin_ns`, as far as the store goes back. These and
 * the time of the peak are ns of the fit. False where nothing was. */
bool tkt_store_totals(uint32_t device, const tkt_clock_fit *fit, uint64_t begin_ns,
                      uint64_t until_ns, tkt_stored_totals *out);

/* With the lock, these: by the decoder and by those who feed the store otherwise. */

/* False, and the loss is counted, when there is no room. */
bool tkt_store_add(tkt_store *store, const tkt_stored_activity *activity);
bool tkt_store_add_memory(tkt_store *store, const tkt_stored_memory *memory);
bool tkt_store_add_wait(tkt_store *store, const tkt_stored_wait *wait);
bool tkt_store_add_overhead(tkt_store *store, const tkt_stored_overhead *overhead);

/* Adds a memory event to the totals: tkt_store_add_memory() does. The second adds up all that have
 * arrived, in the order of their times. */
void tkt_store_total(tkt_store *store, const tkt_stored_memory *memory);
void tkt_store_sum_up(tkt_store *store);

/* Begins the totals anew, after a time of which nobody told what was allocated and freed. Takes the
 * lock. */
void tkt_store_forget_memory(tkt_store *store);

/* The id of a string of the store, and a name of it without recent shapes, otherwise uninitialised;
 * TKT_STRTAB_FULL and NULL when there is no room. */
uint32_t tkt_store_string(tkt_store *store, const char *text);
tkt_stored_name *tkt_store_add_name(tkt_store *store);

/* Adds a reading of CUPTI's clock, or of what stands for it. */
void tkt_store_add_pair(tkt_store *store, const tkt_clock_pair *pair, bool is_cupti);

/* The index of this shape, added if it is new; UINT32_MAX without room. */
uint32_t tkt_store_shape(tkt_store *store, const tkt_shape *shape);

/* The device of this ordinal, made with its label if it is new; every activity's has to be there.
 * Valid until the next one is made. NULL without memory, and for ordinals beyond all reason. */
tkt_device *tkt_store_device(tkt_store *store, uint32_t ordinal);

#endif
