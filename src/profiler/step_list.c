/* The steps of a cycle. */
#include "profiler/step_list.h"

#include <stddef.h>

_Static_assert(sizeof(tkt_step_block) <= sizeof((tkt_chunk *)0)->slots, "a block fits");

static tkt_chunk *chunk_of(tkt_step_block *block)
{
    return (tkt_chunk *)((char *)block - offsetof(tkt_chunk, slots));
}

static tkt_step_block *add_block(tkt_step_list *list)
{
    tkt_chunk *chunk = tkt_pool_take_aside();
    if (!chunk)
        return NULL;
    tkt_step_block *added = (tkt_step_block *)chunk->slots;
    added->next = NULL;
    added->count = 0;
    if (list->last)
        list->last->next = added;
    else
        list->first = added;
    return list->last = added;
}

tkt_step *tkt_step_list_add(tkt_step_list *list)
{
    tkt_step_block *to = list->last;
    if (!to || to->count == TKT_BLOCK_STEPS)
        to = add_block(list);
    list->count += to != NULL;
    return to ? &to->steps[to->count++] : NULL;
}

uint32_t tkt_step_list_drop(tkt_step_list *list)
{
    tkt_step_block *oldest = list->first;
    uint32_t count = oldest->count;
    list->first = oldest->next;
    if (!list->first)
        list->last = NULL;
    list->count -= count;
    tkt_pool_give_aside(chunk_of(oldest));
    return count;
}

void tkt_step_list_fini(tkt_step_list *list)
{
    while (list->first)
        tkt_step_list_drop(list);
}
