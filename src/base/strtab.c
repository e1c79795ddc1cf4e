/* Strings by content. A slot holds the upper half of the string's hash beside its id, so that most
 * wrong candidates are told apart without touching their bytes and growing need not hash again. */
#include "base/strtab.h"

#include <string.h>

#define SMALLEST_TABLE 64

static size_t home_of(const tkt_strtab *strings, uint32_t hash)
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

/* The slot of these bytes, or the empty one where they would go. */
static uint64_t *find(const tkt_strtab *strings, uint32_t hash, const char *bytes, size_t size)
{
    size_t at = home_of(strings, hash);
    while (strings->slots[at] && !is_same(strings, strings->slots[at], hash, bytes, size))
        at = (at + 1) & (strings->slot_count - 1);
    return &strings->slots[at];
}

static void move_slots(tkt_strtab *strings, const uint64_t *old, size_t old_count)
{
    for (size_t i = 0; i < old_count; i++) {
        if (!old[i])
            continue;
        size_t at = home_of(strings, (uint32_t)(old[i] >> 32));
        while (strings->slots[at])
            at = (at + 1) & (strings->slot_count - 1);
        strings->slots[at] = old[i];
    }
}

/* Room for one more string, at a load of three quarters at most. */
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
    *find(strings, hash, bytes, size) = (uint64_t)hash << 32 | (id + 1);
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

uint32_t tkt_strtab_intern(tkt_strtab *strings, const char *bytes, size_t size)
{
    uint32_t hash = (uint32_t)(tkt_hash_bytes(bytes, size) >> 32);
    if (strings->slot_count) {
        uint64_t slot = *find(strings, hash, bytes, size);
        if (slot)
            return (uint32_t)slot - 1;
    }
    return add(strings, hash, bytes, size);
}

uint32_t tkt_strtab_intern_text(tkt_strtab *strings, const char *text)
{
    if (!text)
        text = "(null)";
    return tkt_strtab_intern(strings, text, strlen(text));
}
