/* Host memory that the program reports: its addresses, and what the trace wants of it. */
#ifndef TKT_RECORD_ALLOCATIONS_H
#define TKT_RECORD_ALLOCATIONS_H

#include "base/thread.h"

#include <stdbool.h>
#include <stdint.h>

/* ======== Addresses ======== */

/* The addresses of memory that the program reports, each with its size: in tables with locks of
 * their own, chosen by address, so that threads seldom meet. A table is an open one with linear
 * probing. Code that runs for each report stands here, to be inlined; rare code is in addresses.c.
 *
 * The lock of a table is a spin: whoever takes it is busy, see src/base/thread.h. */

#define TKT_ADDRESS_BITS   6u
#define TKT_ADDRESS_TABLES (1u << TKT_ADDRESS_BITS)

typedef struct tkt_address {
    uint64_t address; /* 0: the slot is free */
    uint64_t bytes;
} tkt_address;

typedef struct __attribute__((aligned(64))) tkt_address_table {
    tkt_spin     lock;
    uint32_t     shift; /* 64 less the bits of an index */
    tkt_address *slots; /* lock; NULL: none yet */
    uint64_t     count; /* lock */
    uint64_t     most;  /* lock; with so many it grows, or is full */
    uint64_t     allocations; /* written with the lock, atomic; and so are these: */
    uint64_t     frees;
    uint64_t     unmatched_frees;
} tkt_address_table;

extern tkt_address_table tkt_address_tables[TKT_ADDRESS_TABLES];

/* The bits of the product that count are the upper ones: the first of them choose the table, the
 * next ones the slot. Addresses at equal distances are spread evenly (Knuth, 6.4: golden ratio). */
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

/* With the lock, where there are slots: the address' slot, or the free one where it would go. */
static inline tkt_address *tkt_address_find(const tkt_address_table *table, uint64_t address,
                                            uint64_t hash)
{
    uint64_t at = tkt_address_home(table, hash);
    while (table->slots[at].address != address && table->slots[at].address != 0)
        at = tkt_address_after(table, at);
    return &table->slots[at];
}

/* With the lock: room for one more address. False when there is no memory, or may not be more. */
bool tkt_address_grow(tkt_address_table *table);

/* With the lock: frees the slot at `at`, behind which others may follow. */
void tkt_address_close(tkt_address_table *table, uint64_t at);

/* With the lock: the slot of an address, if need be a new one with 0 bytes; NULL if there is no
 * room for it. */
static inline tkt_address *tkt_address_put(tkt_address_table *table, uint64_t address,
                                           uint64_t hash)
{
    tkt_address *slot = table->slots ? tkt_address_find(table, address, hash) : NULL;
    if (slot && slot->address == address)
        return slot;
    if (TAKT_UNLIKELY(table->count >= table->most)) {
        if (!tkt_address_grow(table))
            return NULL;
        slot = tkt_address_find(table, address, hash);
    }
    table->count++;
    *slot = (tkt_address){address, 0};
    return slot;
}

/* With the lock: takes an address out, and tells its size. False when it is not there. */
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

/* How many addresses may be remembered in all: as many as find room in so many bytes. */
void tkt_address_limit(uint64_t max_bytes);

/* Locks all tables, for what must not meet any report; the calling thread is busy until they are
 * unlocked. Unlocking wants what locking returned. */
uint64_t tkt_address_lock_all(void);
void tkt_address_unlock_all(uint64_t was);

/* With all locks, or when nobody reports any more: forgets all addresses and counts. */
void tkt_address_forget_all(void);

/* ---- Memory that the program reports ---- */

/* Host memory that the program reports, as the trace wants it. */

typedef struct tkt_memory_state {
    uint64_t current_bytes;
    uint64_t peak_bytes;
    uint64_t peak_ticks;
    uint64_t allocations;
    uint64_t frees;
    uint64_t unmatched_frees;
    bool     is_since_start; /* false: since somebody began to watch, as totals are left off */
} tkt_memory_state;

tkt_memory_state tkt_memory_now(void);

/* A recording that wants to know of memory begins or ends: before it, and after it. */
void tkt_memory_watch(bool is_watching);

/* How much memory there is: addresses beyond a quarter of it are not remembered, and counted. */
void tkt_memory_limit(uint64_t max_bytes);

#endif
