/* Chunks of slots: a bounded number of them, taken and given back without a lock. */
#ifndef TKT_RECORD_POOL_H
#define TKT_RECORD_POOL_H

#include "base/thread.h"

#include <takt/scope.h>

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

#endif
