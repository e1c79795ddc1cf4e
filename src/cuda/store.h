/* What has been decoded and is still wanted by a window. Filled by one thread, the decoder; read by
 * those who seal. Times are CUPTI's nanoseconds (or those of the backend): cuda/clock.h maps them. */
#ifndef TKT_CUDA_STORE_H
#define TKT_CUDA_STORE_H

#include "base/array.h"
#include "base/hash.h"
#include "base/strtab.h"
#include "base/thread.h"
#include "cuda/clock.h"
#include "cuda/device.h"
#include "cuda/shape.h"

#define TKT_STORE_CHUNK 4096u

/* A kernel, copy, set or graph launch that is complete. */
typedef struct tkt_stored_activity {
    uint64_t begin;
    uint64_t end;
    uint32_t correlation;
    uint32_t device; /* ordinal */
    uint32_t context;
    uint32_t stream;
    uint32_t shape; /* index of `shapes` */
    uint32_t reserved;
} tkt_stored_activity;

/* An allocation or a free of device, managed or pinned memory. */
typedef struct tkt_stored_memory {
    uint64_t time;
    uint64_t address;
    int64_t  bytes; /* negative: freed */
    uint32_t correlation;
    uint32_t device;
    uint32_t kind;  /* takt_memory_kind */
    uint32_t is_pool; /* 1: a pool grew or shrank; the reservation, not an allocation in it */
} tkt_stored_memory;

/* A wait for the device: CUpti_ActivitySynchronization. */
typedef struct tkt_stored_wait {
    uint64_t begin;
    uint64_t end;
    uint32_t correlation;
    uint32_t context;
    uint32_t stream; /* UINT32_MAX: all */
    uint32_t kind;   /* 1 event, 2 stream waits for event, 3 stream, 4 context */
} tkt_stored_wait;

/* Time that CUPTI and the driver say they cost: CUpti_ActivityOverhead, its kinds. */
typedef struct tkt_stored_overhead {
    uint64_t begin;
    uint64_t end;
    uint32_t kind;
    uint32_t thread; /* 0: unknown */
} tkt_stored_overhead;

typedef struct tkt_store_chunk {
    struct tkt_store_chunk *next;
    uint64_t first; /* sequence number of items[0] */
    uint32_t count;
    tkt_stored_activity items[TKT_STORE_CHUNK];
} tkt_store_chunk;

/* What could not be used, since the process began. */
typedef struct tkt_cuda_losses {
    uint64_t dropped;     /* records that CUPTI dropped, or for which the pool had no buffer */
    uint64_t store_full;  /* decoded, but max_bytes was used up */
    uint64_t incomplete;  /* kernels that had not finished when they were asked for */
    uint64_t bad_time;    /* zero, reversed or absurd timestamps */
    uint64_t unknown;     /* records of kinds, or with sizes, that nobody knows; cut buffers */
} tkt_cuda_losses;

typedef struct tkt_store {
    tkt_mutex        lock;
    tkt_strtab       strings;
    tkt_map          shape_index; /* hash -> index + 1, chained by probing the next hash */
    TKT_ARRAY_OF(tkt_shape) shapes;
    TKT_ARRAY_OF(tkt_device) devices; /* by ordinal */
    tkt_store_chunk *first; /* activities in the order in which they arrived */
    tkt_store_chunk *last;
    tkt_store_chunk *spare;
    uint64_t         next_sequence;
    uint64_t         max_bytes; /* of chunks */
    uint64_t         used_bytes;
    TKT_ARRAY_OF(tkt_stored_memory) memory;
    TKT_ARRAY_OF(tkt_stored_wait) waits;
    TKT_ARRAY_OF(tkt_stored_overhead) overheads;
    tkt_cuda_clock   clock;
    tkt_cuda_losses  losses;
} tkt_store;

/* The process has one. Take `lock` to read it, for as long as copying takes. */
tkt_store *tkt_store_get(void);

/* Sequence number of the next activity that arrives: what a window remembers when it opens. */
uint64_t tkt_store_position(void);

/* Forgets activities before `position`, and other events whose time (mapped) is before
 * `before_ticks`. */
void tkt_store_release(uint64_t position, uint64_t before_ticks);

/* With the lock, by the decoder. False, and the loss is counted, when there is no room. */
bool tkt_store_add(tkt_store *store, const tkt_stored_activity *activity);

/* The index of this shape, added if it is new; UINT32_MAX without memory. */
uint32_t tkt_store_shape(tkt_store *store, const tkt_shape *shape);

#endif
