/* Data of a cycle, in blocks. */
#include "profiler/blocks.h"

#include <stddef.h>
#include <string.h>

_Static_assert(sizeof(tkt_block) <= sizeof((tkt_chunk *)0)->slots, "a block fits");

static tkt_chunk *chunk_of(tkt_block *block)
{
    return (tkt_chunk *)((char *)block - offsetof(tkt_chunk, slots));
}

static tkt_block *add_block(tkt_blocks *blocks)
{
    tkt_chunk *chunk = tkt_pool_take_aside();
    if (!chunk)
        return NULL;
    tkt_block *added = (tkt_block *)chunk->slots;
    added->next = NULL;
    added->bytes = 0;
    if (blocks->last)
        blocks->last->next = added;
    else
        blocks->first = added;
    return blocks->last = added;
}

void *tkt_blocks_add(tkt_blocks *blocks, size_t bytes)
{
    tkt_block *to = blocks->last;
    if (!to || to->bytes + bytes > sizeof to->data)
        to = add_block(blocks);
    if (!to)
        return NULL;
    void *item = to->data + to->bytes;
    to->bytes += bytes;
    blocks->bytes += bytes;
    return item;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

bool tkt_blocks_copy(tkt_blocks *blocks, const void *data, size_t bytes)
{
    for (size_t done = 0, part; done < bytes; done += part) {
        size_t room = blocks->last ? sizeof blocks->last->data - blocks->last->bytes : 0;
        part = least(bytes - done, room ? room : sizeof blocks->last->data);
        void *to = tkt_blocks_add(blocks, part);
        if (!to)
            return false;
        memcpy(to, (const char *)data + done, part);
    }
    return true;
}

void tkt_blocks_take(tkt_blocks *blocks, void *data, size_t bytes)
{
    for (size_t done = 0, part; done < bytes; done += part) {
        tkt_block *from = blocks->first;
        part = least(bytes - done, from->bytes);
        memcpy((char *)data + done, from->data, part);
        from->bytes -= part;
        blocks->bytes -= part;
        memmove(from->data, from->data + part, from->bytes);
        if (from->bytes == 0)
            tkt_blocks_drop(blocks);
    }
}

size_t tkt_blocks_drop(tkt_blocks *blocks)
{
    tkt_block *oldest = blocks->first;
    size_t bytes = oldest->bytes;
    blocks->first = oldest->next;
    if (!blocks->first)
        blocks->last = NULL;
    blocks->bytes -= bytes;
    tkt_pool_give_aside(chunk_of(oldest));
    return bytes;
}

void tkt_blocks_fini(tkt_blocks *blocks)
{
    while (blocks->first)
        tkt_blocks_drop(blocks);
}
