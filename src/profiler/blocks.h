/* Data of a cycle, in blocks of the recorder's memory, which is touched before it is needed: a step
 * that grew an array, or copied one, would wait for the allocator and the kernel. */
#ifndef TKT_PROFILER_BLOCKS_H
#define TKT_PROFILER_BLOCKS_H

#include "record/log.h"

#define TKT_BLOCK_BYTES (TKT_CHUNK_SLOTS * sizeof(takt_record) - 2 * sizeof(void *))

typedef struct tkt_block {
    struct tkt_block *next;
    size_t            bytes; /* in use */
    unsigned char     data[TKT_BLOCK_BYTES];
} tkt_block;

typedef struct tkt_blocks { /* starts as {0} */
    tkt_block *first;       /* the oldest */
    tkt_block *last;
    size_t     bytes;
} tkt_blocks;

/* Adds room for an item, aligned for any type if the sizes of all items are. NULL without memory. */
void *tkt_blocks_add(tkt_blocks *blocks, size_t bytes);

/* Adds a copy of data of any size. False without memory. */
bool tkt_blocks_copy(tkt_blocks *blocks, const void *data, size_t bytes);

/* Takes data that was copied out again, from the oldest on. There must be so much. */
void tkt_blocks_take(tkt_blocks *blocks, void *data, size_t bytes);

/* Forgets the oldest block of blocks that are not empty. Returns how many bytes that were. */
size_t tkt_blocks_drop(tkt_blocks *blocks);

void tkt_blocks_fini(tkt_blocks *blocks);

#endif
