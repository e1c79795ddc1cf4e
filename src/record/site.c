/* Sites and texts are looked up under one lock, which a site takes at its first hit only. Readers
 * need no lock: ids index blocks of pointers, which never move once they are published. */
#include "record/site.h"

#include "base/alloc.h"
#include "base/containers.h"
#include "base/dynlib.h"
#include "record/control.h"
#include "record/log.h"
#include "record/mapping.h"
#include "record/slot.h"

#include <string.h>

#define LEAST_BYTES (UINT64_C(256) << 10) /* for names and for values, however low the limit is */
#define BLOCK_BITS  12
#define BLOCK_SIZE  (1u << BLOCK_BITS)
#define BLOCKS      ((TKT_SITE_MAX >> BLOCK_BITS) + 1)

TKT_MARK_INSTANCE(takt_scope_begin_v1);

/* Items by number; grows without moving them. */
typedef struct table {
    void **blocks[BLOCKS];
    uint32_t count;
} table;

static tkt_mutex registry_lock = TKT_MUTEX_INIT;
static tkt_arena registry_memory;
static tkt_map site_ids;
static table sites;
static uint64_t limit_bytes = UINT64_C(64) << 20; /* atomic; for run-time names, and for values */
static uint64_t name_bytes;                       /* of run-time names */

/* Texts by number, and numbers by text. */
typedef struct text_list {
    tkt_map ids;
    table texts;
    tkt_arena memory;
    uint64_t bytes;      /* including overhead */
    uint32_t generation; /* atomic; how often it was emptied */
} text_list;

static text_list names;  /* stay: the program and its threads refer to them */
static text_list values; /* of arguments; only chunks refer to them */
static tkt_text category_names[TKT_CATEGORIES];
static uint32_t category_count = 1;

static uint64_t lock_registry(void)
{
    tkt_record_watch_forks();
    return tkt_busy_lock(&registry_lock);
}

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

/* The number of the category. All that come too late share the last one. */
__attribute__((cold)) static uint32_t category_index(const char *name)
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

/* The id of a text as other files know it. */
static uint32_t id_of(const text_list *list, uint32_t index)
{
    if (list == &names)
        return index;
    uint32_t generation = __atomic_load_n(&list->generation, __ATOMIC_RELAXED);
    return TKT_VALUE | (generation << TKT_VALUE_BITS & ~TKT_VALUE) | index;
}

#define ENTRY_BYTES 96u /* about the overhead of a text */

static uint32_t find_text(text_list *list, const char *text)
{
    size_t size = strlen(text);
    for (uint64_t key = tkt_hash_bytes(text, size);; key++) {
        uint64_t *id = tkt_map_put(&list->ids, key);
        if (!id)
            return 0;
        if (*id == 0) {
            tkt_text *copy = tkt_arena_alloc(&list->memory, sizeof *copy);
            const char *bytes = copy ? tkt_arena_copy(&list->memory, text, size) : NULL;
            if (bytes) {
                *copy = (tkt_text){bytes, size};
                *id = table_add(&list->texts, copy);
                list->bytes += size + ENTRY_BYTES;
            }
            if (*id)
                tkt_mapping_add_text(id_of(list, (uint32_t)*id), *copy);
        }
        if (*id == 0) {
            tkt_map_remove(&list->ids, key);
            return 0;
        }
        const tkt_text *known = table_get(&list->texts, (uint32_t)*id);
        if (strcmp(known->bytes, text) == 0)
            return (uint32_t)*id;
    }
}

/* The text that stands for all texts for which there was no room. */
#define MORE_NAMES "(more names)"

static bool is_known_text(const text_list *list, const char *text)
{
    size_t size = strlen(text);
    for (uint64_t key = tkt_hash_bytes(text, size);; key++) {
        const uint64_t *id = tkt_map_get(&list->ids, key);
        if (!id)
            return false;
        const tkt_text *known = table_get((table *)(uintptr_t)&list->texts, (uint32_t)*id);
        if (strcmp(known->bytes, text) == 0)
            return true;
    }
}

/* False, and counts the loss, when the limit does not allow that many more bytes, or `of` is nearly
 * full. */
static bool has_room(uint64_t bytes, size_t size, const table *of)
{
    if (bytes + size + ENTRY_BYTES <= __atomic_load_n(&limit_bytes, __ATOMIC_RELAXED) &&
        of->count < TKT_SITE_MAX - 1)
        return true;
    tkt_log_lose(takt_thread_hot_v1.log, TAKT_LOSS_MORE_NAMES);
    return false;
}

__attribute__((cold)) static uint32_t add_site(const takt_site *site)
{
    tkt_site *copy = tkt_arena_alloc(&registry_memory, sizeof *copy);
    if (!copy)
        return 0;
    *copy = (tkt_site){
        .line = site->line, .filter = site->filter, .kind = site->kind, .level = site->level};
    copy->name_id = find_text(&names, site->name ? site->name : "(null)");
    copy->name = tkt_text_get(copy->name_id);
    if (copy->name_id == 0 || !copy_text(&copy->file, site->file, "") ||
        !copy_text(&copy->category, site->category, "") ||
        !copy_text(&copy->function, site->function, "") ||
        !copy_text(&copy->device, site->device, ""))
        return 0;
    copy->bits = bits_of(category_index(site->category), site->level);
    uint32_t id = table_add(&sites, copy);
    if (id)
        tkt_mapping_add_site(id, copy);
    return id;
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

/* The site with the names that traces show; they stay until the lock is released. */
static takt_site named_for_traces(const takt_site *site)
{
    static char function[1024];
    takt_site shown = {.kind = site->kind,
                       .level = site->level,
                       .name = site->name,
                       .category = site->category,
                       .file = site->file,
                       .function = site->function,
                       .device = site->device,
                       .line = site->line};
    uint32_t filter = __atomic_load_n(&site->filter, __ATOMIC_RELAXED);
    bool is_colored = site->kind == TAKT_SITE_SCOPE && filter >> 24 == 0xFF;
    if (site->kind == TAKT_SITE_ACTIVITY || is_colored) /* otherwise an END keeps its begin there */
        shown.filter = filter;
    if (site->function && tkt_signature_name(function, sizeof function, site->function) > 0) {
        shown.function = function;
        if (site->name == site->function)
            shown.name = function;
    }
    return shown;
}

__attribute__((cold)) uint32_t tkt_site_register(takt_site *site)
{
    uint64_t begin = tkt_ticks(), was = lock_registry();
    takt_site shown = named_for_traces(site);
    uint32_t id = find_site(&shown);
    if (id != 0) {
        __atomic_store_n(&site->bits, tkt_site_get(id)->bits, __ATOMIC_RELAXED);
        /* release: whoever sees the tag finds the site in the table, see table_get() */
        uint32_t flag = site->kind == TAKT_SITE_PHASE ? TAKT_FRAME_PHASE : 0;
        __atomic_store_n(&site->tag, id << 8 | flag, __ATOMIC_RELEASE);
    }
    tkt_busy_unlock(&registry_lock, was);
    tkt_record_note_own(begin);
    return id;
}

/* True if there is a site of that hash already; a false alarm only exceeds the limit by one
 * site. */
static bool is_known_site(const takt_site *site)
{
    return tkt_map_get(&site_ids, hash_site(site)) != NULL;
}

uint32_t tkt_site_named(const char *name, takt_site_kind kind)
{
    takt_site site = {.kind = (uint8_t)kind, .level = TAKT_LEVEL_NORMAL, .name = name};
    size_t size = sizeof(tkt_site) + (name ? strlen(name) : 0);
    uint64_t was = lock_registry();
    bool is_known = is_known_site(&site);
    if (!is_known && !has_room(name_bytes, size, &sites)) {
        site.name = MORE_NAMES;
        is_known = true;
    }
    uint32_t id = find_site(&site);
    name_bytes += is_known ? 0 : size + 2 * ENTRY_BYTES;
    tkt_busy_unlock(&registry_lock, was);
    return id;
}

static uint32_t *place_of_twin(uint32_t scope, takt_site_kind kind)
{
    tkt_site *site = table_get(&sites, scope);
    return kind == TAKT_SITE_MARK ? &site->mark : &site->counter;
}

uint32_t tkt_site_known_twin(uint32_t scope, takt_site_kind kind)
{
    return __atomic_load_n(place_of_twin(scope, kind), __ATOMIC_ACQUIRE);
}

uint32_t tkt_site_twin(uint32_t scope, takt_site_kind kind)
{
    uint32_t id = tkt_site_known_twin(scope, kind);
    if (id == 0) {
        id = tkt_site_named(tkt_site_get(scope)->name.bytes, kind);
        __atomic_store_n(place_of_twin(scope, kind), id, __ATOMIC_RELEASE);
    }
    return id;
}

const tkt_site *tkt_site_get(uint32_t id)
{
    return table_get(&sites, id);
}

/* Interns a run-time text; the limit applies to `bytes`. */
static uint32_t intern(text_list *list, uint64_t *bytes, const char *text, bool *is_own)
{
    if (!text)
        text = "(null)";
    bool is_known = is_known_text(list, text);
    size_t size = strlen(text);
    *is_own = is_known || has_room(*bytes, size, &list->texts);
    if (!*is_own) {
        text = MORE_NAMES;
        is_known = true;
    }
    uint32_t id = find_text(list, text);
    if (bytes != &list->bytes && !is_known)
        *bytes += size + ENTRY_BYTES;
    return id;
}

uint32_t tkt_text_intern(const char *text)
{
    bool is_own;
    uint64_t was = lock_registry();
    uint32_t id = intern(&names, &name_bytes, text, &is_own);
    tkt_busy_unlock(&registry_lock, was);
    return id;
}

uint32_t tkt_text_intern_value(const char *text, bool *is_own)
{
    uint64_t was = lock_registry();
    uint32_t id = intern(&values, &values.bytes, text, is_own);
    id = id ? id_of(&values, id) : 0;
    tkt_busy_unlock(&registry_lock, was);
    return id;
}

uint32_t tkt_value_generation(void)
{
    return __atomic_load_n(&values.generation, __ATOMIC_RELAXED);
}

tkt_text tkt_text_get(uint32_t id)
{
    const tkt_text *text = NULL;
    if (id & TKT_VALUE) {
        uint32_t index = TKT_VALUE_INDEX(id);
        if (id == id_of(&values, index))
            text = table_get(&values.texts, index);
    } else if (id) {
        text = table_get(&names.texts, id);
    }
    return text ? *text : (tkt_text){"", 0};
}

__attribute__((cold)) void tkt_site_visit(void (*site)(uint32_t id, const tkt_site *site),
                                          void (*text)(uint32_t id, tkt_text text))
{
    uint64_t was = lock_registry();
    for (uint32_t id = 1; id <= sites.count; id++)
        site(id, table_get(&sites, id));
    for (uint32_t id = 1; id <= names.texts.count; id++)
        text(id, tkt_text_get(id));
    for (uint32_t i = 1; i <= values.texts.count; i++)
        text(id_of(&values, i), tkt_text_get(id_of(&values, i)));
    tkt_busy_unlock(&registry_lock, was);
}

__attribute__((cold)) uint64_t tkt_site_mask(uint32_t level, const takt_category_switch *switches,
                                             size_t count)
{
    uint64_t levels = (UINT64_C(1) << (level > 4 ? 4 : level)) - 1;
    uint64_t mask = levels * UINT64_C(0x0111111111111111);
    uint64_t was = lock_registry();
    for (size_t i = 0; i < count; i++)
        if (!switches[i].is_on)
            mask &= ~(UINT64_C(15) << (category_index(switches[i].name) * 4));
    tkt_busy_unlock(&registry_lock, was);
    return mask;
}

static void free_table(table *of)
{
    for (uint32_t i = 0; i < BLOCKS && of->blocks[i]; i++) {
        tkt_free(of->blocks[i]);
        of->blocks[i] = NULL;
    }
    of->count = 0;
}

static void free_texts(text_list *list)
{
    free_table(&list->texts);
    tkt_map_fini(&list->ids);
    tkt_arena_fini(&list->memory);
    list->bytes = 0;
    __atomic_fetch_add(&list->generation, 1, __ATOMIC_RELAXED);
}

void tkt_site_limit(uint64_t max_bytes)
{
    uint64_t bytes = max_bytes / 4;
    __atomic_store_n(&limit_bytes, bytes < LEAST_BYTES ? LEAST_BYTES : bytes, __ATOMIC_RELAXED);
}

__attribute__((cold)) void tkt_site_forget_values(void)
{
    uint64_t was = lock_registry();
    if (values.texts.count > 0)
        free_texts(&values);
    tkt_busy_unlock(&registry_lock, was);
}

__attribute__((cold)) void tkt_site_free_all(void)
{
    free_table(&sites);
    tkt_map_fini(&site_ids);
    free_texts(&names);
    free_texts(&values);
    tkt_arena_fini(&registry_memory);
    category_count = 1;
    name_bytes = 0;
}
