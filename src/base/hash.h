/* Hashing, and a map from 64-bit keys to 64-bit values (open addressing, linear probing). */
#ifndef TKT_BASE_HASH_H
#define TKT_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint64_t tkt_hash_bytes(const void *data, size_t size);

/* A good mix of one word (the finaliser of MurmurHash3). */
static inline uint64_t tkt_hash_u64(uint64_t key)
{
    key ^= key >> 33;
    key *= UINT64_C(0xff51afd7ed558ccd);
    key ^= key >> 33;
    key *= UINT64_C(0xc4ceb9fe1a85ec53);
    return key ^ key >> 33;
}

typedef struct tkt_map {
    struct tkt_map_slot *slots;
    size_t               count;
    size_t               capacity; /* a power of two, or 0 */
} tkt_map; /* starts as {0} */

/* The place of the value for `key`, made with value 0 if it is new; NULL when there is no memory.
 * Valid until the next call that adds or removes. */
uint64_t *tkt_map_put(tkt_map *map, uint64_t key);

/* The place of its value, or NULL. */
uint64_t *tkt_map_get(const tkt_map *map, uint64_t key);

/* Whether it was there. */
bool tkt_map_remove(tkt_map *map, uint64_t key);

void tkt_map_fini(tkt_map *map);

#endif
