/* Run-time names, and values of arguments. */
#include "record/site.h"

#include "base/alloc.h"
#include "base/containers.h"

#include <stdbool.h>
#include <string.h>

/* A hash of both ends and the size, which are enough to tell most texts apart. */
static uint64_t hash_of_ends(const char *text, size_t size)
{
    uint64_t first = 0, last = 0;
    if (size >= sizeof first) {
        memcpy(&first, text, sizeof first);
        memcpy(&last, text + size - sizeof last, sizeof last);
    } else {
        memcpy(&first, text, size);
    }
    return tkt_hash_u64((first ^ last << 1) + size);
}

/* The place of a name by content. Programs build names in buffers, so one address may have many. */
static tkt_cached_text *place_of(tkt_thread_log *log, const char *name, takt_site_kind kind)
{
    uint64_t hash = hash_of_ends(name, strlen(name)) + kind;
    return &log->texts[hash & ((1u << TKT_TEXT_BITS) - 1)];
}

/* Remembers the first name of an address only: if that changes, the address is a buffer, and its
 * names are found by content. */
static void remember_address(tkt_thread_log *log, tkt_cached_name entry)
{
    tkt_cached_name *at = tkt_name_places(log, entry.address);
    if (at[0].address == entry.address || at[1].address == entry.address)
        return;
    at[1] = at[0];
    at[0] = entry;
}

uint32_t tkt_name_recent(tkt_thread_log *log, const char *name, takt_site_kind kind)
{
    const tkt_cached_text *known = place_of(log, name, kind);
    if (known->site == 0 || known->kind != kind || strcmp(known->text, name) != 0)
        return 0;
    remember_address(log, (tkt_cached_name){name, known->text, known->site, kind});
    return known->site;
}

uint32_t tkt_name_site(tkt_thread_log *log, const char *name, takt_site_kind kind)
{
    if (!name)
        name = "(null)";
    uint32_t id = tkt_name_at(log, name, kind);
    if (!id)
        id = tkt_name_recent(log, name, kind);
    if (id)
        return id;
    id = tkt_site_named(name, kind);
    if (!id) {
        tkt_log_lose(log, TAKT_LOSS_TOO_MANY_SITES);
        return 0;
    }
    const char *text = tkt_site_get(id)->name.bytes;
    remember_address(log, (tkt_cached_name){name, text, id, kind});
    *place_of(log, name, kind) = (tkt_cached_text){text, id, kind};
    return id;
}

takt_name takt_name_make(const char *text, size_t size)
{
    takt_name name = {0};
    tkt_thread_log *log = text ? tkt_log_enter() : NULL;
    if (!log)
        return name;
    char *copy = tkt_alloc(size + 1);
    takt_loss loss = copy ? TAKT_LOSS_TOO_MANY_SITES : TAKT_LOSS_NO_MEMORY;
    if (copy) {
        memcpy(copy, text, size);
        copy[size] = '\0';
        name.id = tkt_site_named(copy, TAKT_SITE_SCOPE);
        tkt_free(copy);
    }
    if (!name.id)
        tkt_log_lose(log, loss);
    tkt_log_leave(log);
    return name;
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* The place where a text of `size` bytes is remembered; NULL: it is too long. */
static tkt_cached_value *place_of_value(tkt_thread_log *log, const char *text, size_t size)
{
    if (size >= sizeof log->values->text)
        return NULL;
    return &log->values[hash_of_ends(text, size) & ((1u << TKT_VALUES_BITS) - 1)];
}

uint32_t tkt_text_recent(tkt_thread_log *log, const char *text)
{
    size_t size = strlen(text);
    const tkt_cached_value *at = place_of_value(log, text, size);
    if (!at || memcmp(at->text, text, size + 1) != 0)
        return 0;
    return at->generation == tkt_value_generation() ? at->id : 0;
}

uint32_t tkt_text_of_value(tkt_thread_log *log, const char *text)
{
    if (!text)
        text = "(null)";
    uint32_t id = tkt_text_recent(log, text);
    if (id)
        return id;
    uint32_t generation = tkt_value_generation();
    bool is_own;
    id = tkt_text_intern_value(text, &is_own);
    size_t size = strlen(text);
    tkt_cached_value *at = id && is_own ? place_of_value(log, text, size) : NULL;
    if (at) {
        memcpy(at->text, text, size + 1);
        at->id = id;
        at->generation = generation;
    }
    return id;
}
