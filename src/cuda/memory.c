/* How much is allocated on each device. Free events are matched with what was seen to be allocated:
 * what was allocated before collection began must not make the sums negative. */
#include "cuda/store.h"

/* The totals of a device, made if they are new; NULL for memory that lives on none. */
static tkt_stored_totals *totals_of(tkt_store *store, const tkt_stored_memory *memory)
{
    bool is_host = memory->kind == TAKT_MEMORY_PINNED || memory->kind == TAKT_MEMORY_PAGEABLE;
    if (is_host || memory->device >= TKT_STORE_DEVICES)
        return NULL;
    while (store->totals.count <= memory->device) {
        tkt_stored_totals *added = TKT_ARRAY_ADD(&store->totals);
        if (!added)
            return NULL;
        *added = (tkt_stored_totals){0};
    }
    return &store->totals.items[memory->device];
}

static void add_allocation(tkt_store *store, tkt_stored_totals *totals,
                           const tkt_stored_memory *memory)
{
    uint64_t *bytes = tkt_map_put(&store->allocated, memory->address);
    totals->allocations++;
    if (!bytes)
        return; /* its free will be unmatched */
    totals->current_bytes += (uint64_t)memory->bytes - *bytes;
    *bytes = (uint64_t)memory->bytes;
    if (totals->current_bytes > totals->peak_bytes) {
        totals->peak_bytes = totals->current_bytes;
        totals->peak_time = memory->time;
    }
}

static void add_free(tkt_store *store, tkt_stored_totals *totals, const tkt_stored_memory *memory)
{
    const uint64_t *bytes = tkt_map_get(&store->allocated, memory->address);
    if (!bytes) {
        totals->unmatched_frees++;
        return;
    }
    totals->frees++;
    totals->current_bytes -= *bytes;
    tkt_map_remove(&store->allocated, memory->address);
}

void tkt_store_total(tkt_store *store, const tkt_stored_memory *memory)
{
    tkt_stored_totals *totals = totals_of(store, memory);
    if (!totals)
        return;
    if (memory->is_pool)
        totals->pool_bytes += (uint64_t)memory->bytes;
    else if (memory->bytes > 0)
        add_allocation(store, totals, memory);
    else
        add_free(store, totals, memory);
}

bool tkt_store_totals(uint32_t device, const tkt_clock_fit *fit, tkt_stored_totals *out)
{
    tkt_clock_map map = {0};
    tkt_store *store = tkt_store_get();
    tkt_mutex_lock(&store->lock);
    bool is_known =
        device < store->totals.count && tkt_clock_map_make(&store->clock, fit, &map) == TAKT_OK;
    if (is_known)
        *out = store->totals.items[device];
    tkt_mutex_unlock(&store->lock);
    if (!is_known)
        return false;
    if (out->peak_time)
        out->peak_time = tkt_clock_map_ns(&map, out->peak_time);
    tkt_clock_map_fini(&map);
    return true;
}
