/* Activities in a store that came without usable times. */
#ifndef TEST_LOST_H
#define TEST_LOST_H

#include "cuda/store.h"

static inline uint64_t count_lost(const tkt_store *store, uint32_t loss)
{
    uint64_t count = 0;
    for (const tkt_store_chunk *chunk = store->first; chunk; chunk = chunk->next)
        for (uint32_t i = 0; i < chunk->count; i++)
            count += tkt_stored_loss(&chunk->items[i]) == loss;
    return count;
}

#endif
