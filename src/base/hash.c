/* The hash of bytes is MurmurHash3's 64-bit block step with its finaliser, one word at a time:
 * names are short and must hash quickly, and outputs must not depend on a random seed.
 *
 * The map keeps 16-byte slots, so key 0 cannot be told from an empty slot; it lives in one more
 * slot behind the table, whose key field says whether it is there. Removal moves later entries of
 * the run back (Knuth, 6.4 R) instead of leaving tombstones, so that lookups stay short. */
#include "base/hash.h"

#include "base/alloc.h"

#include <string.h>

#define SMALLEST_CAPACITY 16

struct tkt_map_slot {
    uint64_t key; /* 0: empty; in the slot behind the table: whether key 0 is there */
    uint64_t value;
};

static uint64_t rotated(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

static uint64_t mixed(uint64_t hash, uint64_t word)
{
    word *= UINT64_C(0x87c37b91114253d5);
    hash ^= rotated(word, 31) * UINT64_C(0x4cf5ad432745937f);
    return rotated(hash, 27) * 5 + 0x52dce729;
}

uint64_t tkt_hash_bytes(const void *data, size_t size)
{
    const unsigned char *bytes = data;
    uint64_t hash = size * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t word = 0;
    for (; size >= sizeof word; size -= sizeof word, bytes += sizeof word) {
        memcpy(&word, bytes, sizeof word);
        hash = mixed(hash, word);
    }
    if (size) {
        word = 0;
        memcpy(&word, bytes, size);
        hash = mixed(hash, word);
    }
    return tkt_hash_u64(hash);
}

static size_t home_of(const tkt_map *map, uint64_t key)
{
    return (size_t)tkt_hash_u64(key) & (map->capacity - 1);
}

/* The slot of a key other than 0, or the empty one where it would go. */
static struct tkt_map_slot *find(const tkt_map *map, uint64_t key)
{
    size_t at = home_of(map, key);
    while (map->slots[at].key != 0 && map->slots[at].key != key)
        at = (at + 1) & (map->capacity - 1);
    return &map->slots[at];
}

static bool grow(tkt_map *map)
{
    size_t capacity = map->capacity ? map->capacity * 2 : SMALLEST_CAPACITY;
    if (capacity > SIZE_MAX / 2 / sizeof *map->slots)
        return false;
    tkt_map larger = {.count = map->count, .capacity = capacity};
    larger.slots = tkt_alloc_zeroed((capacity + 1) * sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->slots[i].key)
            *find(&larger, map->slots[i].key) = map->slots[i];
    }
    if (map->capacity)
        larger.slots[capacity] = map->slots[map->capacity];
    tkt_free(map->slots);
    *map = larger;
    return true;
}

uint64_t *tkt_map_get(const tkt_map *map, uint64_t key)
{
    if (!map->capacity)
        return NULL;
    struct tkt_map_slot *slot = key ? find(map, key) : &map->slots[map->capacity];
    return slot->key ? &slot->value : NULL;
}

uint64_t *tkt_map_put(tkt_map *map, uint64_t key)
{
    uint64_t *value = tkt_map_get(map, key);
    if (value)
        return value;
    if (map->count >= map->capacity / 4 * 3 && !grow(map))
        return NULL;
    struct tkt_map_slot *slot = key ? find(map, key) : &map->slots[map->capacity];
    *slot = (struct tkt_map_slot){.key = key ? key : 1};
    map->count++;
    return &slot->value;
}

/* Whether an entry at `at`, whose home is `home`, may move back to `hole` without becoming
 * unreachable: only if its home is not cyclically behind the hole. */
static bool may_fill(size_t hole, size_t home, size_t at)
{
    return hole <= at ? home <= hole || home > at : home <= hole && home > at;
}

static void close_hole(tkt_map *map, size_t hole)
{
    size_t at = hole;
    for (;;) {
        at = (at + 1) & (map->capacity - 1);
        if (map->slots[at].key == 0)
            break;
        if (may_fill(hole, home_of(map, map->slots[at].key), at)) {
            map->slots[hole] = map->slots[at];
            hole = at;
        }
    }
    map->slots[hole] = (struct tkt_map_slot){0};
}

bool tkt_map_remove(tkt_map *map, uint64_t key)
{
    if (!tkt_map_get(map, key))
        return false;
    if (key)
        close_hole(map, (size_t)(find(map, key) - map->slots));
    else
        map->slots[map->capacity] = (struct tkt_map_slot){0};
    map->count--;
    return true;
}

void tkt_map_fini(tkt_map *map)
{
    tkt_free(map->slots);
    *map = (tkt_map){0};
}
