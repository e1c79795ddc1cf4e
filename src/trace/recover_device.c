/* What devices did, as far as it had been decoded when the process died: a store of its own, which
 * is joined with the calls as that of this process is. */
#include "trace/recovery.h"

#include <stdlib.h>
#include <string.h>

#define MOST_MISSING 4096u /* ids between two strings: not all are of activities */

static void read_string(tkt_recovery *r, uint32_t id, const char *text, size_t size)
{
    if (id > r->store_strings.count + MOST_MISSING || size == 0 || text[size - 1])
        return;
    while (id >= r->store_strings.count) {
        uint32_t *added = TKT_ARRAY_ADD(&r->store_strings);
        if (!added) {
            r->is_short = true;
            return;
        }
        *added = 0;
    }
    uint32_t known = tkt_store_string(r->store, text);
    r->is_short |= known == TKT_STRTAB_FULL;
    r->store_strings.items[id] = known;
}

static bool map_string(const tkt_recovery *r, uint32_t *id)
{
    if (*id >= r->store_strings.count)
        return false;
    *id = r->store_strings.items[*id];
    return true;
}

static void read_shape(tkt_recovery *r, uint32_t index, const char *data, size_t size)
{
    tkt_shape shape;
    if (index != r->store->shapes.count || size != sizeof shape)
        return;
    memcpy(&shape, data, size);
    if (!map_string(r, &shape.name) || !map_string(r, &shape.label))
        return;
    tkt_shape *added = TKT_ARRAY_ADD(&r->store->shapes);
    if (added)
        *added = shape;
    else
        r->is_short = true;
}

static void read_pair(tkt_recovery *r, bool is_cupti, const char *data, size_t size)
{
    tkt_clock_pair pair;
    if (size != sizeof pair)
        return;
    memcpy(&pair, data, size);
    tkt_store_add_pair(r->store, &pair, is_cupti);
}

static bool has_store(tkt_recovery *r)
{
    if (r->store)
        return true;
    tkt_store *store = tkt_alloc(sizeof *store);
    uint32_t *empty = TKT_ARRAY_ADD(&r->store_strings);
    if (!store || !empty || tkt_store_init(store) != TAKT_OK) {
        tkt_free(store);
        r->is_short = true;
        return false;
    }
    store->max_bytes = UINT64_MAX;
    *empty = 0; /* "" is there from the start */
    r->store = store;
    return true;
}

void tkt_recover_note(tkt_recovery *r, const tkt_mapping_note *note, const char *data)
{
    if (!has_store(r))
        return;
    if (note->kind == TKT_KEEP_STRING)
        read_string(r, note->number, data, note->size);
    else if (note->kind == TKT_KEEP_SHAPE)
        read_shape(r, note->number, data, note->size);
    else if (note->kind == TKT_KEEP_PAIR)
        read_pair(r, note->number != 0, data, note->size);
    else if (note->kind == TKT_KEEP_ANEW)
        r->store->shapes.count = 0;
}

static int compare(const void *a, const void *b)
{
    const tkt_store_chunk *const *x = a, *const *y = b;
    return (*x)->first < (*y)->first ? -1 : (*x)->first > (*y)->first;
}

static void add_activity(tkt_recovery *r, const tkt_stored_activity *activity)
{
    bool is_good =
        activity->end == 0 ? activity->begin < TAKT_LOSS_COUNT : activity->end >= activity->begin;
    if (!is_good || activity->shape >= r->store->shapes.count ||
        !tkt_store_device(r->store, activity->device))
        return;
    r->is_short |= !tkt_store_add(r->store, activity);
}

void tkt_recover_activities(tkt_recovery *r)
{
    size_t count = 0;
    if (!has_store(r))
        return;
    const tkt_store_chunk **chunks = tkt_alloc((r->head.devices.count + 1) * sizeof *chunks);
    for (uint32_t i = 0; chunks && i < r->head.devices.count; i++) {
        const tkt_store_chunk *chunk = tkt_recovery_item(r, &r->head.devices, i);
        if (chunk->count > 0 && chunk->count <= TKT_STORE_CHUNK)
            chunks[count++] = chunk;
    }
    r->is_short |= !chunks;
    if (count)
        qsort(chunks, count, sizeof *chunks, compare);
    for (size_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < chunks[i]->count && !r->is_short; k++)
            add_activity(r, &chunks[i]->items[k]);
    tkt_free(chunks);
}
