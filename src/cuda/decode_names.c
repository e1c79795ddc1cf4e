/* Names of activities. Kernels are found by the address of their name, and the text is compared
 * too, because a module may be unloaded and another name loaded at its address. */
#include "cuda/decode.h"

#include "base/alloc.h"
#include "cuda/kernel.h"
#include "cuda/kinds.h"

#include <takt/trace.h>

#include <string.h>

/* Keys of names other than kernels': small numbers, which are no addresses. */
enum {
    KEY_MEMCPY = 1, /* plus the copy kind */
    KEY_MEMSET = 32,
    KEY_UNNAMED, /* a kernel without a name */
    KEY_MORE     /* kernels whose names have no room */
};

/* Key of a kernel's name by its string id; no address either. */
#define KEY_TEXT (UINT64_C(1) << 63)

/* Adds a name with this label; NULL without room. */
static tkt_stored_name *add_name(tkt_store *store, const char *name, const char *label,
                                 uint32_t filter)
{
    uint32_t name_id = tkt_store_string(store, name);
    uint32_t label_id = tkt_store_string(store, label);
    if (name_id == TKT_STRTAB_FULL || label_id == TKT_STRTAB_FULL)
        return NULL;
    tkt_stored_name *added = tkt_store_add_name(store);
    if (!added)
        return NULL;
    added->text = NULL;
    added->name = name_id;
    added->label = label_id;
    added->filter = filter;
    return added;
}

static tkt_stored_name *name_at(tkt_store *store, uint64_t key)
{
    const uint64_t *index = tkt_map_get(&store->name_index, key);
    return index ? &store->names.items[*index - 1] : NULL;
}

/* Files a name under a key. `name` may be NULL. */
static tkt_stored_name *enter(tkt_store *store, uint64_t key, tkt_stored_name *name)
{
    uint64_t *index = name ? tkt_map_put(&store->name_index, key) : NULL;
    if (!index)
        return NULL;
    *index = (uint64_t)(name - store->names.items) + 1;
    return name;
}

/* Adds a kernel with this name, whose string id is `text_id`. */
static tkt_stored_name *add_kernel(tkt_store *store, const char *text, uint32_t text_id)
{
    char label[512];
    char *demangled = tkt_name_demangle(text);
    if (!demangled)
        return NULL;
    uint32_t filter = tkt_name_classify(demangled, label, sizeof label);
    tkt_stored_name *name = add_name(store, demangled, label, filter);
    if (name)
        name->text = tkt_strtab_text(&store->strings, text_id);
    tkt_free(demangled);
    return name;
}

static tkt_stored_name *other_name(tkt_store *store, uint64_t key, const char *text,
                                   uint32_t filter)
{
    char label[32];
    tkt_stored_name *name = name_at(store, key);
    if (name)
        return name;
    tkt_activity_label(label, sizeof label, filter, text);
    return enter(store, key, add_name(store, "", label, filter));
}

/* Equal names from different modules are one name: programs may load and unload modules for
 * ever. */
static tkt_stored_name *find_kernel(tkt_store *store, const char *text)
{
    bool is_known = tkt_strtab_find(&store->strings, text, strlen(text)) != TKT_STRTAB_FULL;
    if (!is_known && !tkt_store_may_name(store)) {
        store->losses.more_names++;
        return other_name(store, KEY_MORE, TKT_MORE_KERNELS, TAKT_TIMING_KERNEL);
    }
    uint32_t text_id = tkt_store_string(store, text);
    if (text_id == TKT_STRTAB_FULL)
        return NULL;
    tkt_stored_name *name = name_at(store, KEY_TEXT | text_id);
    return name ? name : enter(store, KEY_TEXT | text_id, add_kernel(store, text, text_id));
}

tkt_stored_name *tkt_decode_kernel_name(tkt_store *store, const char *text)
{
    uint64_t key = (uintptr_t)text;
    if (!text)
        return other_name(store, KEY_UNNAMED, "(unnamed)", TAKT_TIMING_KERNEL);
    tkt_stored_name *name = name_at(store, key);
    if (name && strcmp(name->text, text) == 0)
        return name;
    name = find_kernel(store, text);
    return name && name->text ? enter(store, key, name) : name;
}

tkt_stored_name *tkt_decode_copy_name(tkt_store *store, uint8_t kind)
{
    const char *way = tkt_copy_name(kind);
    return other_name(store, KEY_MEMCPY + (*way ? kind : 0), way, TAKT_TIMING_MEMCPY);
}

tkt_stored_name *tkt_decode_set_name(tkt_store *store)
{
    return other_name(store, KEY_MEMSET, "", TAKT_TIMING_MEMSET);
}
