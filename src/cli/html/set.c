/* A set of byte strings, numbered in order of first use: texts, sites, shapes. A hash table with
 * open addressing, at most half full. */
#include "cli/html/html.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(const uint8_t *bytes, size_t size)
{
    uint64_t hash = size;
    for (; size > 0; bytes += 8, size = size > 8 ? size - 8 : 0) {
        uint64_t word = 0;
        memcpy(&word, bytes, size < 8 ? size : 8);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return hash;
}

const void *html_set_at(const html_set *set, uint32_t index, size_t *size)
{
    const size_t *ends = (const void *)set->ends.data;
    size_t begin = index > 0 ? ends[index - 1] : 0;
    *size = ends[index] - begin;
    static const uint8_t nothing[1]; /* all items may be empty */
    return set->bytes.data ? set->bytes.data + begin : nothing;
}

/* Returns the slot that holds the item, or the empty slot where it belongs. */
static size_t find_slot(const html_set *set, const void *item, size_t size)
{
    size_t mask = set->slot_count - 1, slot = hash_of(item, size) & mask;
    for (; set->slots[slot]; slot = (slot + 1) & mask) {
        size_t other_size;
        const void *other = html_set_at(set, set->slots[slot] - 1, &other_size);
        if (other_size == size && (size == 0 || memcmp(other, item, size) == 0))
            break;
    }
    return slot;
}

static bool grow(html_set *set)
{
    size_t count = set->slot_count ? 2 * set->slot_count : 256;
    uint32_t *slots = calloc(count, sizeof *slots);
    if (!slots)
        return false;
    free(set->slots);
    set->slots = slots;
    set->slot_count = count;
    for (uint32_t i = 0; i < set->count; i++) {
        size_t size;
        const void *item = html_set_at(set, i, &size);
        slots[find_slot(set, item, size)] = i + 1;
    }
    return true;
}

uint32_t html_set_add(html_set *set, const void *item, size_t size)
{
    if (2 * (size_t)set->count >= set->slot_count && !grow(set))
        set->bytes.has_failed = true;
    if (html_set_has_failed(set))
        return 0;
    size_t slot = find_slot(set, item, size);
    if (set->slots[slot])
        return set->slots[slot] - 1;
    html_put(&set->bytes, size ? item : "", size);
    html_put(&set->ends, &set->bytes.used, sizeof set->bytes.used);
    if (html_set_has_failed(set))
        return 0;
    set->slots[slot] = ++set->count;
    return set->count - 1;
}

bool html_set_has_failed(const html_set *set)
{
    return set->bytes.has_failed || set->ends.has_failed;
}

void html_set_free(html_set *set)
{
    free(set->bytes.data);
    free(set->ends.data);
    free(set->slots);
    *set = (html_set){.count = 0};
}
