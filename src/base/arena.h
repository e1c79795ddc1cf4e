/* Memory that is freed all at once. Blocks never move. */
#ifndef TKT_BASE_ARENA_H
#define TKT_BASE_ARENA_H

#include <stddef.h>

typedef struct tkt_arena {
    struct tkt_arena_block *blocks;
    size_t                  block_bytes; /* of the next block; 0: 16 KiB */
    size_t                  total_bytes; /* handed out */
} tkt_arena; /* starts as {0} */

/* `size` bytes aligned to 16, or NULL. */
void *tkt_arena_alloc(tkt_arena *arena, size_t size);

/* A copy with a NUL behind it. */
char *tkt_arena_copy(tkt_arena *arena, const char *bytes, size_t size);

void tkt_arena_fini(tkt_arena *arena);

#endif
