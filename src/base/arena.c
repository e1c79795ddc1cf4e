/* A list of blocks, each used from its front to its end. What does not fit well into a block gets
 * one of its own, behind the first, so that the rest of the first is not wasted. Blocks double, so
 * that small arenas stay small and large ones make few calls. */
#include "base/arena.h"

#include "base/alloc.h"

#include <stdint.h>
#include <string.h>

#define ALIGNMENT     16
#define FIRST_BLOCK   ((size_t)16 << 10)
#define LARGEST_BLOCK ((size_t)1 << 20)

struct tkt_arena_block {
    struct tkt_arena_block *next;
    size_t used;
    size_t size; /* of data */
    size_t reserved;
    unsigned char data[];
};

_Static_assert(sizeof(struct tkt_arena_block) % ALIGNMENT == 0, "data must be aligned");

static size_t aligned(size_t size, size_t alignment)
{
    return (size + alignment - 1) & ~(alignment - 1);
}

static struct tkt_arena_block *block_of(size_t size)
{
    struct tkt_arena_block *block = tkt_alloc(sizeof *block + size);
    if (!block)
        return NULL;
    *block = (struct tkt_arena_block){.size = size};
    return block;
}

/* Puts a new block in front; later allocations go there. */
static struct tkt_arena_block *add_block(tkt_arena *arena, size_t size)
{
    struct tkt_arena_block *block = block_of(size);
    if (!block)
        return NULL;
    block->next = arena->blocks;
    arena->blocks = block;
    if (arena->block_bytes < LARGEST_BLOCK)
        arena->block_bytes *= 2;
    return block;
}

/* A block of its own for something large. */
static struct tkt_arena_block *add_behind(tkt_arena *arena, size_t size)
{
    struct tkt_arena_block *first = arena->blocks;
    if (!first)
        return add_block(arena, size);
    struct tkt_arena_block *block = block_of(size);
    if (!block)
        return NULL;
    block->next = first->next;
    first->next = block;
    return block;
}

static struct tkt_arena_block *block_with_room(tkt_arena *arena, size_t size, size_t alignment)
{
    struct tkt_arena_block *block = arena->blocks;
    if (block && aligned(block->used, alignment) <= block->size &&
        size <= block->size - aligned(block->used, alignment))
        return block;
    if (!arena->block_bytes)
        arena->block_bytes = FIRST_BLOCK;
    if (size > arena->block_bytes / 4)
        return add_behind(arena, size);
    return add_block(arena, arena->block_bytes);
}

static void *take(tkt_arena *arena, size_t size, size_t alignment)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    struct tkt_arena_block *block = block_with_room(arena, size, alignment);
    if (!block)
        return NULL;
    size_t begin = aligned(block->used, alignment);
    block->used = begin + size;
    arena->total_bytes += size;
    return block->data + begin;
}

void *tkt_arena_alloc(tkt_arena *arena, size_t size)
{
    return take(arena, size ? size : 1, ALIGNMENT);
}

char *tkt_arena_copy(tkt_arena *arena, const char *bytes, size_t size)
{
    if (size == SIZE_MAX)
        return NULL;
    char *copy = take(arena, size + 1, 1);
    if (!copy)
        return NULL;
    if (size)
        memcpy(copy, bytes, size);
    copy[size] = 0;
    return copy;
}

void tkt_arena_fini(tkt_arena *arena)
{
    struct tkt_arena_block *block = arena->blocks;
    while (block) {
        struct tkt_arena_block *next = block->next;
        tkt_free(block);
        block = next;
    }
    *arena = (tkt_arena){0};
}
