/* Containers: arenas, arrays, heaps, maps, interned strings. */
#include "base/containers.h"

#include "base/alloc.h"

#include <stdint.h>
#include <string.h>

/* ======== Arenas ======== */

/* An arena is a list of blocks, each used from front to end. Something large gets a separate block
 * behind the first one, so the rest of the first is not wasted. Block sizes double: small arenas
 * stay small, and large ones make few calls. */

#define ALIGNMENT     16
#define FIRST_BLOCK   ((size_t)16 << 10)
#define LARGEST_BLOCK ((size_t)1 << 20)

struct tkt_arena_block {
    struct tkt_arena_block *next;
    size_t used;
    size_t size; /* of data */
    size_t reserved;
    unsigned char data[];
};

_Static_assert(sizeof(struct tkt_arena_block) % ALIGNMENT == 0, "data must be aligned");

static size_t aligned(size_t size, size_t alignment)
{
    return (size + alignment - 1) & ~(alignment - 1);
}

static struct tkt_arena_block *block_of(size_t size)
{
    struct tkt_arena_block *block = tkt_alloc(sizeof *block + size);
    if (!block)
        return NULL;
    *block = (struct tkt_arena_block){.size = size};
    return block;
}

/* Puts a new block in front; later allocations go there. */
static struct tkt_arena_block *add_block(tkt_arena *arena, size_t size)
{
    struct tkt_arena_block *block = block_of(size);
    if (!block)
        return NULL;
    block->next = arena->blocks;
    arena->blocks = block;
    if (arena->block_bytes < LARGEST_BLOCK)
        arena->block_bytes *= 2;
    return block;
}

/* Adds a separate block for something large. */
static struct tkt_arena_block *add_behind(tkt_arena *arena, size_t size)
{
    struct tkt_arena_block *first = arena->blocks;
    if (!first)
        return add_block(arena, size);
    struct tkt_arena_block *block = block_of(size);
    if (!block)
        return NULL;
    block->next = first->next;
    first->next = block;
    return block;
}

/* The next spare block goes in front, if it has room for `size` bytes. */
static struct tkt_arena_block *take_spare(tkt_arena *arena, size_t size)
{
    struct tkt_arena_block *block = arena->spares;
    if (!block || size > block->size)
        return NULL;
    arena->spares = block->next;
    block->next = arena->blocks;
    return arena->blocks = block;
}

static struct tkt_arena_block *block_with_room(tkt_arena *arena, size_t size, size_t alignment)
{
    struct tkt_arena_block *block = arena->blocks;
    if (block && aligned(block->used, alignment) <= block->size &&
        size <= block->size - aligned(block->used, alignment))
        return block;
    if ((block = take_spare(arena, size)))
        return block;
    if (!arena->block_bytes)
        arena->block_bytes = FIRST_BLOCK;
    if (size > arena->block_bytes / 4)
        return add_behind(arena, size);
    return add_block(arena, arena->block_bytes);
}

static void *allocate(tkt_arena *arena, size_t size, size_t alignment)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    struct tkt_arena_block *block = block_with_room(arena, size, alignment);
    if (!block)
        return NULL;
    size_t begin = aligned(block->used, alignment);
    block->used = begin + size;
    arena->total_bytes += size;
    return block->data + begin;
}

void *tkt_arena_alloc(tkt_arena *arena, size_t size)
{
    return allocate(arena, size ? size : 1, ALIGNMENT);
}

char *tkt_arena_copy(tkt_arena *arena, const char *bytes, size_t size)
{
    if (size == SIZE_MAX)
        return NULL;
    char *copy = allocate(arena, size + 1, 1);
    if (!copy)
        return NULL;
    if (size)
        memcpy(copy, bytes, size);
    copy[size] = 0;
    return copy;
}

void tkt_arena_clear(tkt_arena *arena)
{
    while (arena->blocks) {
        struct tkt_arena_block *block = arena->blocks;
        arena->blocks = block->next;
        block->used = 0;
        block->next = arena->spares;
        arena->spares = block; /* in the end, in the order in which they came */
    }
    arena->total_bytes = 0;
}

void tkt_arena_fini(tkt_arena *arena)
{
    tkt_arena_clear(arena);
    struct tkt_arena_block *block = arena->spares;
    while (block) {
        struct tkt_arena_block *next = block->next;
        tkt_free(block);
        block = next;
    }
    *arena = (tkt_arena){0};
}

/* ======== Arrays ======== */

/* tkt_array_reserve() does not know the type of the items, and C forbids accessing their pointer as
 * a void pointer. Therefore memcpy reads and writes it. */

#define SMALLEST_CAPACITY 8

static size_t grown(size_t capacity, size_t count)
{
    size_t half_more = capacity + capacity / 2;
    if (half_more < SMALLEST_CAPACITY)
        half_more = SMALLEST_CAPACITY;
    return count > half_more ? count : half_more;
}

bool tkt_array_reserve(void *items, size_t *capacity, size_t count, size_t item_size)
{
    if (count <= *capacity)
        return true;
    size_t wanted = grown(*capacity, count);
    if (wanted > SIZE_MAX / 2 / item_size)
        return false;
    void *old;
    memcpy(&old, items, sizeof old);
    void *moved = tkt_resize(old, wanted * item_size);
    if (!moved)
        return false;
    memcpy(items, &moved, sizeof moved);
    *capacity = wanted;
    return true;
}

void *tkt_array_add(void *items, size_t item_size)
{
    TKT_ARRAY_OF(char) array;
    memcpy(&array, items, sizeof array);
    if (array.count == array.capacity &&
        !tkt_array_reserve(&array.items, &array.capacity, array.count + 1, item_size))
        return NULL;
    array.count++;
    memcpy(items, &array, sizeof array);
    return array.items + (array.count - 1) * item_size;
}

/* ======== Heaps ======== */

bool tkt_heap_add(tkt_heap *heap, uint64_t key, uint32_t value)
{
    size_t at = heap->count;
    if (!TKT_ARRAY_RESERVE(heap, at + 1))
        return false;
    heap->count++;
    tkt_heap_item *items = heap->items;
    for (; at > 0 && items[(at - 1) / 2].key > key; at = (at - 1) / 2)
        items[at] = items[(at - 1) / 2];
    items[at] = (tkt_heap_item){key, value};
    return true;
}

tkt_heap_item tkt_heap_take(tkt_heap *heap)
{
    tkt_heap_item *items = heap->items;
    tkt_heap_item least = items[0];
    tkt_heap_item last = items[--heap->count];
    size_t count = heap->count;
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && items[child + 1].key < items[child].key;
        if (last.key <= items[child].key)
            break;
        items[at] = items[child];
    }
    items[at] = last;
    return least;
}

/* ======== Hashes and maps ======== */

/* The hash of bytes is MurmurHash3's 64-bit block step with its finaliser, one word at a time.
 * Names are short and must hash quickly, and outputs must not depend on a random seed.
 *
 * The map has slots of 16 bytes, in which key 0 means empty. The value of key 0 itself lives in an
 * extra slot behind the table, whose key field tells whether it is there. Removal moves later
 * entries of the run back (Knuth, 6.4 R) instead of leaving tombstones, so lookups stay short. */

#define SMALLEST_MAP 16

struct tkt_map_slot {
    uint64_t key; /* 0: empty; in the extra slot: 1 if key 0 is in the map */
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

static size_t home_of_key(const tkt_map *map, uint64_t key)
{
    return (size_t)tkt_hash_u64(key) & (map->capacity - 1);
}

/* The slot of a key other than 0, or the empty slot for it. */
static struct tkt_map_slot *find_key(const tkt_map *map, uint64_t key)
{
    size_t at = home_of_key(map, key);
    while (map->slots[at].key != 0 && map->slots[at].key != key)
        at = (at + 1) & (map->capacity - 1);
    return &map->slots[at];
}

static bool grow(tkt_map *map)
{
    size_t capacity = map->capacity ? map->capacity * 2 : SMALLEST_MAP;
    if (capacity > SIZE_MAX / 2 / sizeof *map->slots)
        return false;
    tkt_map larger = {.count = map->count, .capacity = capacity};
    larger.slots = tkt_alloc_zeroed((capacity + 1) * sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->slots[i].key)
            *find_key(&larger, map->slots[i].key) = map->slots[i];
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
    struct tkt_map_slot *slot = key ? find_key(map, key) : &map->slots[map->capacity];
    return slot->key ? &slot->value : NULL;
}

uint64_t *tkt_map_put(tkt_map *map, uint64_t key)
{
    uint64_t *value = tkt_map_get(map, key);
    if (value)
        return value;
    if (map->count >= map->capacity / 4 * 3 && !grow(map))
        return NULL;
    struct tkt_map_slot *slot = key ? find_key(map, key) : &map->slots[map->capacity];
    *slot = (struct tkt_map_slot){.key = key ? key : 1};
    map->count++;
    return &slot->value;
}

uint64_t *tkt_map_find(tkt_map *map, uint64_t hash, const void *items, size_t item_size,
                       bool (*is_equal)(const void *item, const void *wanted), const void *wanted)
{
    for (;; hash++) {
        uint64_t *place = tkt_map_put(map, hash);
        if (!place || *place == 0)
            return place;
        const char *item = (const char *)items + (*place - 1) * item_size;
        if (is_equal ? is_equal(item, wanted) : memcmp(item, wanted, item_size) == 0)
            return place;
    }
}

static void close_hole(tkt_map *map, size_t hole)
{
    size_t at = hole;
    for (;;) {
        at = (at + 1) & (map->capacity - 1);
        if (map->slots[at].key == 0)
            break;
        if (tkt_may_fill(hole, home_of_key(map, map->slots[at].key), at)) {
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
        close_hole(map, (size_t)(find_key(map, key) - map->slots));
    else
        map->slots[map->capacity] = (struct tkt_map_slot){0};
    map->count--;
    return true;
}

void tkt_map_clear(tkt_map *map)
{
    if (map->slots)
        memset(map->slots, 0, (map->capacity + 1) * sizeof *map->slots);
    map->count = 0;
}

void tkt_map_fini(tkt_map *map)
{
    tkt_free(map->slots);
    *map = (tkt_map){0};
}

/* ======== Interned strings ======== */

/* A slot holds the upper half of the string's hash next to its id. So most wrong candidates are
 * rejected without reading their bytes, and growing need not hash again. */

#define SMALLEST_TABLE 64

static size_t home_of_text(const tkt_strtab *strings, uint32_t hash)
{
    return hash & (strings->slot_count - 1);
}

static bool is_same(const tkt_strtab *strings, uint64_t slot, uint32_t hash, const char *bytes,
                    size_t size)
{
    if (slot >> 32 != hash)
        return false;
    const tkt_string *string = &strings->items[(uint32_t)slot - 1];
    return string->size == size && (size == 0 || memcmp(string->bytes, bytes, size) == 0);
}

/* The slot of these bytes, or the empty slot for them. */
static uint64_t *find_text(const tkt_strtab *strings, uint32_t hash, const char *bytes, size_t size)
{
    size_t at = home_of_text(strings, hash);
    while (strings->slots[at] && !is_same(strings, strings->slots[at], hash, bytes, size))
        at = (at + 1) & (strings->slot_count - 1);
    return &strings->slots[at];
}

static void move_slots(tkt_strtab *strings, const uint64_t *old, size_t old_count)
{
    for (size_t i = 0; i < old_count; i++) {
        if (!old[i])
            continue;
        size_t at = home_of_text(strings, (uint32_t)(old[i] >> 32));
        while (strings->slots[at])
            at = (at + 1) & (strings->slot_count - 1);
        strings->slots[at] = old[i];
    }
}

/* Makes room for one more string, at a load of at most three quarters. */
static bool reserve_slot(tkt_strtab *strings)
{
    if (strings->count < strings->slot_count / 4 * 3)
        return true;
    size_t count = strings->slot_count ? strings->slot_count * 2 : SMALLEST_TABLE;
    uint64_t *slots = tkt_alloc_zeroed(count * sizeof *slots);
    if (!slots)
        return false;
    uint64_t *old = strings->slots;
    size_t old_count = strings->slot_count;
    strings->slots = slots;
    strings->slot_count = count;
    move_slots(strings, old, old_count);
    tkt_free(old);
    return true;
}

static uint32_t add(tkt_strtab *strings, uint32_t hash, const char *bytes, size_t size)
{
    if (strings->count >= TKT_STRTAB_FULL - 1 || !reserve_slot(strings) ||
        !TKT_ARRAY_RESERVE(strings, strings->count + 1))
        return TKT_STRTAB_FULL;
    const char *copy = tkt_arena_copy(&strings->bytes, bytes, size);
    if (!copy)
        return TKT_STRTAB_FULL;
    uint32_t id = (uint32_t)strings->count++;
    strings->items[id] = (tkt_string){copy, size};
    *find_text(strings, hash, bytes, size) = (uint64_t)hash << 32 | (id + 1);
    return id;
}

takt_status tkt_strtab_init(tkt_strtab *strings)
{
    *strings = (tkt_strtab){0};
    if (tkt_strtab_intern(strings, "", 0) == 0)
        return TAKT_OK;
    tkt_strtab_fini(strings);
    return TAKT_NO_MEMORY;
}

void tkt_strtab_fini(tkt_strtab *strings)
{
    tkt_arena_fini(&strings->bytes);
    TKT_ARRAY_FREE(strings);
    tkt_free(strings->slots);
    *strings = (tkt_strtab){0};
}

static uint32_t find_hashed(const tkt_strtab *strings, uint32_t hash, const char *bytes, size_t size)
{
    uint64_t slot = strings->slot_count ? *find_text(strings, hash, bytes, size) : 0;
    return slot ? (uint32_t)slot - 1 : TKT_STRTAB_FULL;
}

static uint32_t hash_of(const char *bytes, size_t size)
{
    return (uint32_t)(tkt_hash_bytes(bytes, size) >> 32);
}

uint32_t tkt_strtab_find(const tkt_strtab *strings, const char *bytes, size_t size)
{
    return find_hashed(strings, hash_of(bytes, size), bytes, size);
}

uint32_t tkt_strtab_intern(tkt_strtab *strings, const char *bytes, size_t size)
{
    uint32_t hash = hash_of(bytes, size), id = find_hashed(strings, hash, bytes, size);
    return id != TKT_STRTAB_FULL ? id : add(strings, hash, bytes, size);
}

uint32_t tkt_strtab_intern_text(tkt_strtab *strings, const char *text)
{
    if (!text)
        text = "(null)";
    return tkt_strtab_intern(strings, text, strlen(text));
}
