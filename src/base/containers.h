/* Containers: arenas, growable arrays, heaps, a hash map, interned strings. */
#ifndef TKT_BASE_CONTAINERS_H
#define TKT_BASE_CONTAINERS_H

#include "base/alloc.h"

#include <takt/base.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ======== Arenas ======== */

/* Memory that is freed all at once. Blocks never move. */

typedef struct tkt_arena {
    struct tkt_arena_block *blocks;
    struct tkt_arena_block *spares;      /* of tkt_arena_clear() */
    size_t                  block_bytes; /* size of the next block; 0: 16 KiB */
    size_t                  total_bytes; /* allocated from it so far */
} tkt_arena; /* starts as {0} */

/* Returns `size` bytes aligned to 16, or NULL. */
void *tkt_arena_alloc(tkt_arena *arena, size_t size);

/* Copies bytes and adds a NUL; NULL without memory. */
char *tkt_arena_copy(tkt_arena *arena, const char *bytes, size_t size);

void tkt_arena_fini(tkt_arena *arena);

/* Frees all memory, but keeps it for later. */
void tkt_arena_clear(tkt_arena *arena);

/* ======== Arrays ======== */

/* A growable array of one type:
 *
 *     struct { TKT_ARRAY(tkt_step); } steps = {0};     or    TKT_ARRAY_OF(tkt_step) steps = {0};
 *     tkt_step *step = TKT_ARRAY_ADD(&steps);            NULL when there is no memory
 *     for (size_t i = 0; i < steps.count; i++) use(&steps.items[i]);
 *     TKT_ARRAY_FREE(&steps);
 *
 * Items move when the array grows. */

#define TKT_ARRAY(type)                                                                            \
    type  *items;                                                                                  \
    size_t count;                                                                                  \
    size_t capacity
#define TKT_ARRAY_OF(type)                                                                         \
    struct {                                                                                       \
        TKT_ARRAY(type);                                                                           \
    }

/* Makes room for `count` items in all, growing by half at least. `items` points to the array's
 * pointer. False without memory. */
bool tkt_array_reserve(void *items, size_t *capacity, size_t count, size_t item_size);

/* Adds an item. `items` points to the array's pointer, which its count and capacity follow. */
void *tkt_array_add(void *items, size_t item_size);

#define TKT_ARRAY_RESERVE(array, count)                                                            \
    tkt_array_reserve(&(array)->items, &(array)->capacity, (count), sizeof *(array)->items)

/* A new uninitialised item at the end; NULL without memory. Where code is compiled for size, a
 * function does it, unless a file that adds items all the time defines TKT_ARRAY_INLINE. */
#if defined(__OPTIMIZE_SIZE__) && !defined(TKT_ARRAY_INLINE)
#define TKT_ARRAY_ADD(array)                                                                       \
    ((__typeof__((array)->items))tkt_array_add(&(array)->items, sizeof *(array)->items))
#else
#define TKT_ARRAY_ADD(array)                                                                       \
    (((array)->count < (array)->capacity || TKT_ARRAY_RESERVE(array, (array)->count + 1))          \
         ? &(array)->items[(array)->count++]                                                       \
         : NULL)
#endif

#define TKT_ARRAY_FREE(array)                                                                      \
    (tkt_free((array)->items), (array)->items = NULL, (array)->count = (array)->capacity = 0)

/* ======== Heaps ======== */

/* A binary heap; the least key comes first. */

typedef struct tkt_heap_item {
    uint64_t key;
    uint32_t value;
} tkt_heap_item;

typedef struct tkt_heap {
    TKT_ARRAY(tkt_heap_item); /* items[0] has the least key */
} tkt_heap; /* starts as {0}; free it like an array */

/* False without memory. */
bool tkt_heap_add(tkt_heap *heap, uint64_t key, uint32_t value);

/* Removes and returns the item with the least key. The heap must not be empty. */
tkt_heap_item tkt_heap_take(tkt_heap *heap);

/* ======== Hashes and maps ======== */

/* Hashing, and a map from 64-bit keys to 64-bit values (open addressing, linear probing). */

uint64_t tkt_hash_bytes(const void *data, size_t size);

/* Mixes the bits of one word well (the finaliser of MurmurHash3). */
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

/* Points to the value for `key`, added with value 0 if the key is new; NULL without memory. Valid
 * until the next call that adds or removes. */
uint64_t *tkt_map_put(tkt_map *map, uint64_t key);

/* For a list whose items have the value index + 1 under their hash. Points to the value of the item
 * that equals `wanted`, or to a new value of 0: the caller adds the item, and sets it. Items of the
 * same hash use the following keys. is_equal NULL: all bytes are compared. NULL without memory. */
uint64_t *tkt_map_find(tkt_map *map, uint64_t hash, const void *items, size_t item_size,
                       bool (*is_equal)(const void *item, const void *wanted), const void *wanted);

/* Points to the value for `key`, or NULL. */
uint64_t *tkt_map_get(const tkt_map *map, uint64_t key);

/* Removes all keys, and keeps the memory. */
void tkt_map_clear(tkt_map *map);

/* True if the key was in the map. */
bool tkt_map_remove(tkt_map *map, uint64_t key);

/* For tables that probe the next places, when `hole` becomes free. True if an entry at `at`, whose
 * own place is `home`, may move back there: its home must not lie cyclically between the two. */
static inline bool tkt_may_fill(uint64_t hole, uint64_t home, uint64_t at)
{
    return hole <= at ? home <= hole || home > at : home <= hole && home > at;
}

void tkt_map_fini(tkt_map *map);

/* ======== Interned strings ======== */

/* Equal bytes get equal ids, and pointers stay valid until fini. Id 0 is "". There is no lock: one
 * thread at a time. */

typedef struct tkt_string {
    const char *bytes; /* NUL-terminated; may also contain NUL */
    size_t      size;
} tkt_string;

typedef struct tkt_strtab {
    tkt_arena bytes;
    TKT_ARRAY(tkt_string);
    uint64_t *slots; /* upper half of the hash << 32 | id + 1; open addressing */
    size_t    slot_count;
} tkt_strtab;

#define TKT_STRTAB_FULL UINT32_MAX

takt_status tkt_strtab_init(tkt_strtab *strings);
void tkt_strtab_fini(tkt_strtab *strings); /* accepts a zeroed one */

/* Returns the id of these bytes, or TKT_STRTAB_FULL without memory. */
uint32_t tkt_strtab_intern(tkt_strtab *strings, const char *bytes, size_t size);

/* The same, or TKT_STRTAB_FULL if it is not there. */
uint32_t tkt_strtab_find(const tkt_strtab *strings, const char *bytes, size_t size);

/* Interns a C string; NULL reads as "(null)". */
uint32_t tkt_strtab_intern_text(tkt_strtab *strings, const char *text);

static inline const char *tkt_strtab_text(const tkt_strtab *strings, uint32_t id)
{
    return strings->items[id].bytes;
}

#endif
