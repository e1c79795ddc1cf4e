/* Host memory that the program reports: a table of its addresses, and totals for the trace. */
#ifndef TKT_RECORD_ALLOCATIONS_H
#define TKT_RECORD_ALLOCATIONS_H

#include "base/lock.h"

#include <stdbool.h>
#include <stdint.h>

/* ======== Addresses ======== */

/* The addresses of memory that the program reports, each with its size. The address chooses one of
 * several open hash tables with linear probing; each has its own lock, so threads seldom meet. Code
 * that runs for each report is inline here; rare work is in addresses.c.
 *
 * The lock of a table is a spin lock, and its holder is busy: see base/thread.h. */

#define TKT_ADDRESS_BITS   6u
#define TKT_ADDRESS_TABLES (1u << TKT_ADDRESS_BITS)

typedef struct tkt_address {
    uint64_t address; /* 0: the slot is free */
    uint64_t bytes;
} tkt_address;

typedef struct __attribute__((aligned(64))) tkt_address_table {
    tkt_spin     lock;
    uint32_t     shift; /* 64 minus the bits of an index */
    tkt_address *slots; /* lock; NULL: none yet */
    uint64_t     count; /* lock */
    uint64_t     most;  /* lock; at this count the table must grow, or is full */
    uint64_t     allocations; /* atomic, written with the lock, as the next two */
    uint64_t     frees;
    uint64_t     unmatched_frees;
} tkt_address_table;

extern tkt_address_table tkt_address_tables[TKT_ADDRESS_TABLES];

/* Only the upper bits of the product are used: the first of them choose the table, the next ones
 * the slot. This spreads addresses at equal distances evenly (Knuth, 6.4: golden ratio). */
static inline uint64_t tkt_address_hash(uint64_t address)
{
    return address * UINT64_C(0x9e3779b97f4a7c15);
}

static inline tkt_address_table *tkt_address_table_of(uint64_t hash)
{
    return &tkt_address_tables[hash >> (64 - TKT_ADDRESS_BITS)];
}

static inline uint64_t tkt_address_home(const tkt_address_table *table, uint64_t hash)
{
    return hash << TKT_ADDRESS_BITS >> table->shift;
}

static inline uint64_t tkt_address_after(const tkt_address_table *table, uint64_t at)
{
    return (at + 1) & (UINT64_MAX >> table->shift);
}

/* With the lock; the table has slots. Returns the slot of the address, or the free one for it. */
static inline tkt_address *tkt_address_find(const tkt_address_table *table, uint64_t address,
                                            uint64_t hash)
{
    uint64_t at = tkt_address_home(table, hash);
    while (table->slots[at].address != address && table->slots[at].address != 0)
        at = tkt_address_after(table, at);
    return &table->slots[at];
}

/* With the lock: makes room for one more address. False without memory, or when the limit is
 * reached. */
bool tkt_address_grow(tkt_address_table *table);

/* With the lock: frees the slot at `at`, and moves back entries after it. */
void tkt_address_close(tkt_address_table *table, uint64_t at);

/* With the lock, so there is only one writer: counts one allocation or free. */
static inline void tkt_address_count(uint64_t *count)
{
    __atomic_store_n(count, *count + 1, __ATOMIC_RELAXED);
}

/* With the lock: returns the slot of an address, if necessary a new one with 0 bytes; NULL if there
 * is no room. A block that is there was freed, though nobody reported that: counts its free. */
static inline tkt_address *tkt_address_put(tkt_address_table *table, uint64_t address,
                                           uint64_t hash)
{
    tkt_address *slot = table->slots ? tkt_address_find(table, address, hash) : NULL;
    if (TAKT_UNLIKELY(slot && slot->address == address)) {
        tkt_address_count(&table->frees);
        return slot;
    }
    if (TAKT_UNLIKELY(table->count >= table->most)) {
        if (!tkt_address_grow(table))
            return NULL;
        slot = tkt_address_find(table, address, hash);
    }
    table->count++;
    *slot = (tkt_address){address, 0};
    return slot;
}

/* With the lock: removes an address, and returns its size in *bytes. False if it is not there. */
static inline bool tkt_address_take(tkt_address_table *table, uint64_t address, uint64_t hash,
                                    uint64_t *bytes)
{
    tkt_address *slot = table->slots ? tkt_address_find(table, address, hash) : NULL;
    if (!slot || slot->address != address)
        return false;
    *bytes = slot->bytes;
    table->count--;
    uint64_t at = (uint64_t)(slot - table->slots);
    if (TAKT_LIKELY(table->slots[tkt_address_after(table, at)].address == 0))
        slot->address = 0;
    else
        tkt_address_close(table, at);
    return true;
}

/* Limits the addresses of all tables to those that fit into `max_bytes`. */
void tkt_address_limit(uint64_t max_bytes);

/* Locks all tables, to shut out every report. The calling thread is busy until it unlocks them with
 * the value that locking returned. */
uint64_t tkt_address_lock_all(void);
void tkt_address_unlock_all(uint64_t was);

/* Forgets all addresses and counts. With all locks, or when nobody reports any more. */
void tkt_address_forget_all(void);

/* ---- Totals ---- */

/* Totals of the host memory that the program reports. */

typedef struct tkt_memory_peak {
    uint64_t bytes;
    uint64_t ticks;
} tkt_memory_peak;

typedef struct tkt_memory_state {
    uint64_t current_bytes;
    tkt_memory_peak peak;
    tkt_memory_peak high; /* since the last mark */
    uint64_t allocations;
    uint64_t frees;
    uint64_t unmatched_frees;
    bool     is_since_start; /* false: totals were off at first, or for a while */
} tkt_memory_state;

tkt_memory_state tkt_memory_now(void);

/* From now on, `high` starts anew with what is allocated. */
void tkt_memory_mark(void);

/* Call with true before a recording with memory events begins, and with false after it ends. */
void tkt_memory_watch(bool is_watching);

/* Lets addresses take a quarter of `max_bytes`; reports of further ones count as lost. */
void tkt_memory_limit(uint64_t max_bytes);

#endif
