/* Rare operations on the tables: growing, removing from the middle of a run, and operations on all
 * tables. Removal moves later entries of a run back (Knuth, 6.4 R) instead of leaving tombstones,
 * so a table stays fast however long a program runs. */
#include "record/allocations.h"

#include "base/alloc.h"
#include "base/containers.h"
#include "record/control.h"

#include <string.h>

#define LEAST_BITS      7u
#define ADDRESS_BYTES   32u /* each, on average of tables about to grow and just grown */
#define LEAST_ADDRESSES (UINT64_C(1) << 15)

_Static_assert(sizeof(tkt_address_table) == 64, "one cache line each");

tkt_address_table tkt_address_tables[TKT_ADDRESS_TABLES];

static uint64_t most_addresses = UINT64_C(1) << 21; /* atomic; of all tables */

static uint64_t capacity_of(const tkt_address_table *table)
{
    return table->slots ? (UINT64_MAX >> table->shift) + 1 : 0;
}

/* With the lock: the table grows at three quarters, and is full at its share of the limit. */
static void set_most(tkt_address_table *table)
{
    uint64_t share = __atomic_load_n(&most_addresses, __ATOMIC_RELAXED) / TKT_ADDRESS_TABLES;
    uint64_t room = capacity_of(table) / 4 * 3;
    table->most = share < room ? share : room;
}

static bool enlarge(tkt_address_table *table)
{
    tkt_address_table larger = *table;
    uint64_t before = capacity_of(table);
    larger.shift = table->slots ? table->shift - 1 : 64 - LEAST_BITS;
    larger.slots = tkt_alloc_zeroed((size_t)1 << (64 - larger.shift) << 4);
    if (!larger.slots)
        return false;
    for (uint64_t i = 0; i < before; i++) {
        uint64_t address = table->slots[i].address;
        if (address)
            *tkt_address_find(&larger, address, tkt_address_hash(address)) = table->slots[i];
    }
    tkt_free(table->slots);
    table->shift = larger.shift;
    table->slots = larger.slots;
    set_most(table);
    return true;
}

bool tkt_address_grow(tkt_address_table *table)
{
    tkt_record_watch_forks();
    set_most(table);
    uint64_t share = __atomic_load_n(&most_addresses, __ATOMIC_RELAXED) / TKT_ADDRESS_TABLES;
    return table->count < table->most || (table->count < share && enlarge(table));
}

void tkt_address_close(tkt_address_table *table, uint64_t hole)
{
    tkt_address *slots = table->slots;
    for (uint64_t at = tkt_address_after(table, hole); slots[at].address != 0;
         at = tkt_address_after(table, at)) {
        uint64_t home = tkt_address_home(table, tkt_address_hash(slots[at].address));
        if (tkt_may_fill(hole, home, at)) {
            slots[hole] = slots[at];
            hole = at;
        }
    }
    slots[hole] = (tkt_address){0};
}

/* ---- All tables ------------------------------------------------------------------------------ */

void tkt_address_limit(uint64_t max_bytes)
{
    uint64_t most = max_bytes / ADDRESS_BYTES;
    if (most < LEAST_ADDRESSES)
        most = LEAST_ADDRESSES;
    if (__atomic_exchange_n(&most_addresses, most, __ATOMIC_RELAXED) == most)
        return;
    uint64_t was = tkt_address_lock_all();
    for (uint32_t i = 0; i < TKT_ADDRESS_TABLES; i++)
        set_most(&tkt_address_tables[i]);
    tkt_address_unlock_all(was);
}

uint64_t tkt_address_lock_all(void)
{
    uint64_t was = tkt_busy_begin();
    for (uint32_t i = 0; i < TKT_ADDRESS_TABLES; i++)
        tkt_spin_lock(&tkt_address_tables[i].lock);
    return was;
}

void tkt_address_unlock_all(uint64_t was)
{
    for (uint32_t i = 0; i < TKT_ADDRESS_TABLES; i++)
        tkt_spin_unlock(&tkt_address_tables[i].lock);
    tkt_busy_end(was);
}

static void store(uint64_t *count, uint64_t value)
{
    __atomic_store_n(count, value, __ATOMIC_RELAXED);
}

void tkt_address_forget_all(void)
{
    for (uint32_t i = 0; i < TKT_ADDRESS_TABLES; i++) {
        tkt_address_table *table = &tkt_address_tables[i];
        tkt_free(table->slots);
        table->slots = NULL;
        table->count = table->most = 0;
        store(&table->allocations, 0);
        store(&table->frees, 0);
        store(&table->unmatched_frees, 0);
    }
}
