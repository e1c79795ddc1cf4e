/* Sites and texts are looked up under one lock, which is taken at a site's first hit only. Readers
 * need no lock: ids index blocks of pointers that never move once they are published. */
#include "record/site.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/hash.h"
#include "base/thread.h"
#include "record/slot.h"

#include <string.h>

#define BLOCK_BITS 12
#define BLOCK_SIZE (1u << BLOCK_BITS)
#define BLOCKS     ((TKT_SITE_MAX >> BLOCK_BITS) + 1)

/* A table of things by number that grows without moving. */
typedef struct table {
    void **blocks[BLOCKS];
    uint32_t count;
} table;

static tkt_mutex registry_lock = TKT_MUTEX_INIT;
static tkt_arena registry_memory;
static tkt_map site_ids;
static tkt_map text_ids;
static table sites;
static table texts;
static tkt_text category_names[TKT_CATEGORIES];
static uint32_t category_count = 1;

static void *table_get(table *of, uint32_t index)
{
    /* acquire: pairs with the release in table_add() */
    void **block = __atomic_load_n(&of->blocks[index >> BLOCK_BITS], __ATOMIC_ACQUIRE);
    return block ? __atomic_load_n(&block[index & (BLOCK_SIZE - 1)], __ATOMIC_ACQUIRE) : NULL;
}

/* Returns the new index, or 0 when there is no room. Index 0 is never given out. */
static uint32_t table_add(table *of, void *item)
{
    uint32_t index = of->count + 1;
    if (index > TKT_SITE_MAX)
        return 0;
    void **block = of->blocks[index >> BLOCK_BITS];
    if (!block) {
        block = tkt_alloc_zeroed(BLOCK_SIZE * sizeof *block);
        if (!block)
            return 0;
        __atomic_store_n(&of->blocks[index >> BLOCK_BITS], block, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&block[index & (BLOCK_SIZE - 1)], item, __ATOMIC_RELEASE);
    of->count = index;
    return index;
}

static bool copy_text(tkt_text *out, const char *text, const char *if_null)
{
    if (!text)
        text = if_null;
    out->size = strlen(text);
    out->bytes = tkt_arena_copy(&registry_memory, text, out->size);
    return out->bytes != NULL;
}

static bool is_text(const tkt_text *text, const char *bytes, const char *if_null)
{
    return strcmp(text->bytes, bytes ? bytes : if_null) == 0;
}

static bool is_site(const tkt_site *known, const takt_site *site)
{
    return known->line == site->line && known->kind == site->kind && known->level == site->level &&
           known->filter == site->filter && is_text(&known->name, site->name, "(null)") &&
           is_text(&known->file, site->file, "") && is_text(&known->category, site->category, "") &&
           is_text(&known->function, site->function, "") &&
           is_text(&known->device, site->device, "");
}

static uint64_t hash_site(const takt_site *site)
{
    uint64_t hash = (uint64_t)site->line << 16 | (uint64_t)site->kind << 8 | site->level;
    const char *parts[] = {site->name ? site->name : "(null)", site->file, site->category,
                           site->function, site->device};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        hash = tkt_hash_u64(hash + (parts[i] ? tkt_hash_bytes(parts[i], strlen(parts[i])) : 0));
    return hash;
}

/* The number of the category; the last one is shared by all that come too late. */
static uint32_t category_index(const char *name)
{
    if (!name || !*name)
        return 0;
    for (uint32_t i = 1; i < category_count; i++)
        if (strcmp(category_names[i].bytes, name) == 0)
            return i;
    if (category_count == TKT_CATEGORIES || !copy_text(&category_names[category_count], name, ""))
        return TKT_CATEGORIES - 1;
    return category_count++;
}

static uint64_t bits_of(uint32_t category, uint32_t level)
{
    uint32_t index = level < TAKT_LEVEL_COARSE ? 0 : level > TAKT_LEVEL_DETAIL ? 3 : level - 1;
    return UINT64_C(1) << (category * 4 + index);
}

static uint32_t find_text(const char *text)
{
    size_t size = strlen(text);
    for (uint64_t key = tkt_hash_bytes(text, size);; key++) {
        uint64_t *id = tkt_map_put(&text_ids, key);
        if (!id)
            return 0;
        if (*id == 0) {
            tkt_text *copy = tkt_arena_alloc(&registry_memory, sizeof *copy);
            if (copy && copy_text(copy, text, ""))
                *id = table_add(&texts, copy);
        }
        if (*id == 0) {
            tkt_map_remove(&text_ids, key);
            return 0;
        }
        if (strcmp(tkt_text_get((uint32_t)*id).bytes, text) == 0)
            return (uint32_t)*id;
    }
}

static uint32_t add_site(const takt_site *site)
{
    tkt_site *copy = tkt_arena_alloc(&registry_memory, sizeof *copy);
    if (!copy)
        return 0;
    *copy = (tkt_site){
        .line = site->line, .filter = site->filter, .kind = site->kind, .level = site->level};
    copy->name_id = find_text(site->name ? site->name : "(null)");
    copy->name = tkt_text_get(copy->name_id);
    if (copy->name_id == 0 || !copy_text(&copy->file, site->file, "") ||
        !copy_text(&copy->category, site->category, "") ||
        !copy_text(&copy->function, site->function, "") ||
        !copy_text(&copy->device, site->device, ""))
        return 0;
    copy->bits = bits_of(category_index(site->category), site->level);
    return table_add(&sites, copy);
}

/* Finds or adds a site. Different sites of equal hash take the next free key. */
static uint32_t find_site(const takt_site *site)
{
    for (uint64_t key = hash_site(site);; key++) {
        uint64_t *id = tkt_map_put(&site_ids, key);
        if (!id)
            return 0;
        if (*id == 0)
            *id = add_site(site);
        if (*id == 0) {
            tkt_map_remove(&site_ids, key);
            return 0;
        }
        if (is_site(tkt_site_get((uint32_t)*id), site))
            return (uint32_t)*id;
    }
}

uint32_t tkt_site_register(takt_site *site)
{
    tkt_mutex_lock(&registry_lock);
    uint32_t id = find_site(site);
    if (id != 0) {
        __atomic_store_n(&site->bits, tkt_site_get(id)->bits, __ATOMIC_RELAXED);
        /* release: whoever sees the id finds the site in the table, see table_get() */
        __atomic_store_n(&site->id, id, __ATOMIC_RELEASE);
    }
    tkt_mutex_unlock(&registry_lock);
    return id;
}

uint32_t tkt_site_named(const char *name, takt_site_kind kind)
{
    const takt_site site = {.kind = (uint8_t)kind, .level = TAKT_LEVEL_NORMAL, .name = name};
    tkt_mutex_lock(&registry_lock);
    uint32_t id = find_site(&site);
    tkt_mutex_unlock(&registry_lock);
    return id;
}

const tkt_site *tkt_site_get(uint32_t id)
{
    return table_get(&sites, id);
}

uint32_t tkt_text_intern(const char *text)
{
    tkt_mutex_lock(&registry_lock);
    uint32_t id = find_text(text ? text : "(null)");
    tkt_mutex_unlock(&registry_lock);
    return id;
}

tkt_text tkt_text_get(uint32_t id)
{
    const tkt_text *text = id ? table_get(&texts, id) : NULL;
    return text ? *text : (tkt_text){"", 0};
}

uint64_t tkt_site_mask(uint32_t level, const takt_category_switch *switches, size_t count)
{
    uint64_t levels = (UINT64_C(1) << (level > 4 ? 4 : level)) - 1;
    uint64_t mask = levels * UINT64_C(0x0111111111111111);
    tkt_mutex_lock(&registry_lock);
    for (size_t i = 0; i < count; i++)
        if (!switches[i].is_on)
            mask &= ~(UINT64_C(15) << (category_index(switches[i].name) * 4));
    tkt_mutex_unlock(&registry_lock);
    return mask;
}
