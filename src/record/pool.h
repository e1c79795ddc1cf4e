/* Chunks of slots: a bounded number of them, taken and given back without a lock. */
#ifndef TKT_RECORD_POOL_H
#define TKT_RECORD_POOL_H

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
    uint32_t          reserved[3]; /* slots begin on a cache line */
    takt_record       slots[TKT_CHUNK_SLOTS];
} tkt_chunk;

/* A free chunk, made if the limit allows; NULL otherwise. `extra` chunks are allowed beyond the
 * limit. Any thread; wait-free but for a new slab's allocation. */
tkt_chunk *tkt_pool_take(uint32_t extra);

void tkt_pool_give(tkt_chunk *chunk);

/* Sets how many bytes the chunks in use may take in all. */
void tkt_pool_limit(uint64_t bytes);

/* Makes sure that so many bytes of chunks are there and touched, up to the limit. */
void tkt_pool_prefault(uint64_t bytes);

/* Bytes of chunks that are in use, and that exist. */
uint64_t tkt_pool_used_bytes(void);
uint64_t tkt_pool_total_bytes(void);

#endif
