/* Recovers everything but logs: names, summaries, and the activities of devices. */
#include "trace/recovery.h"

#include "record/fold.h"
#include "record/mapping.h"
#include "record/log.h"
#include "record/slot.h"

#include <stdlib.h>
#include <string.h>

/* ======== Names ======== */

/* The file has names in the order in which they got their ids. */

/* The unread rest of an entry's payload. */
typedef struct rest {
    const char *at;
    size_t size;
} rest;

static bool take_bytes(rest *from, void *into, size_t size)
{
    if (from->size < size)
        return false;
    memcpy(into, from->at, size);
    from->at += size;
    from->size -= size;
    return true;
}

static bool take_text(rest *from, tkt_text *out)
{
    const char *end = memchr(from->at, 0, from->size);
    if (!end)
        return false;
    *out = (tkt_text){from->at, (size_t)(end - from->at)};
    from->size -= out->size + 1;
    from->at = end + 1;
    return true;
}

/* Extends an array up to item `index`, with zeros. Refuses an index that is larger than the number
 * of entries that the names can contain: ids count up. */
#define REACH(r, array, index) ((index) <= (r)->head.names.count / 16 && reach_(r, (array), index))
#define reach_(r, array, index)                                                                    \
    ((index) < (array)->count ||                                                                   \
     (TKT_ARRAY_RESERVE(array, (size_t)(index) + 1)                                                \
          ? (memset((array)->items + (array)->count, 0,                                            \
                    ((size_t)(index) + 1 - (array)->count) * sizeof *(array)->items),              \
             (array)->count = (size_t)(index) + 1, true)                                           \
          : ((r)->is_short = true, false)))

static void read_site(tkt_recovery *r, rest from)
{
    tkt_mapping_site facts;
    tkt_site site = {.name = {NULL, 0}};
    if (!take_bytes(&from, &facts, sizeof facts) || facts.id == 0 || facts.id > TKT_SITE_MAX ||
        facts.kind > TAKT_SITE_CALL || !take_text(&from, &site.name) ||
        !take_text(&from, &site.category) || !take_text(&from, &site.file) ||
        !take_text(&from, &site.function) || !take_text(&from, &site.device))
        return;
    site.line = facts.line;
    site.filter = facts.filter;
    site.kind = facts.kind;
    site.level = facts.level;
    if (REACH(r, &r->source.sites, facts.id))
        r->source.sites.items[facts.id] = site;
}

static void read_text(tkt_recovery *r, rest from)
{
    uint64_t id;
    tkt_text text;
    if (take_bytes(&from, &id, sizeof id) && take_text(&from, &text) && id && id <= TKT_SITE_MAX &&
        REACH(r, &r->source.texts, id))
        r->source.texts.items[id] = text;
}

/* Keeps only the latest generation: the logs to be recovered do not refer to earlier ones. */
static void read_value(tkt_recovery *r, rest from)
{
    uint64_t id;
    tkt_text text;
    if (!take_bytes(&from, &id, sizeof id) || !take_text(&from, &text) || id > UINT32_MAX)
        return;
    uint32_t index = TKT_VALUE_INDEX((uint32_t)id);
    if (TKT_VALUE_GENERATION((uint32_t)id) != TKT_VALUE_GENERATION(r->source.generation))
        r->source.values.count = 0;
    r->source.generation = (uint32_t)id;
    if (REACH(r, &r->source.values, index))
        r->source.values.items[index] = text;
}

static void read_stack(tkt_recovery *r, rest from)
{
    tkt_mapping_stack facts;
    if (!take_bytes(&from, &facts, sizeof facts) || facts.number == 0 ||
        facts.count > TKT_STACK_FRAMES || from.size < facts.count * sizeof(tkt_mapping_place) ||
        !REACH(r, &r->source.stacks, facts.number))
        return;
    tkt_call_stack *stack =
        tkt_arena_alloc(&r->memory, sizeof *stack + facts.count * sizeof *stack->addresses);
    tkt_stack_place *places =
        tkt_arena_alloc(&r->memory, (facts.count + 1) * sizeof *stack->places);
    if (!stack || !places) {
        r->is_short = true;
        return;
    }
    *stack = (tkt_call_stack){facts.number, facts.count, places};
    for (uint32_t i = 0; i < facts.count; i++) {
        tkt_mapping_place place = {0};
        take_bytes(&from, &place, sizeof place);
        stack->addresses[i] = (uintptr_t)place.address;
        places[i] = (tkt_stack_place){place.object, (uintptr_t)place.base};
    }
    r->source.stacks.items[facts.number] = stack;
}

static void read_note(tkt_recovery *r, rest from)
{
    tkt_mapping_note note;
    if (take_bytes(&from, &note, sizeof note) && note.size <= from.size)
        tkt_recover_note(r, &note, from.at);
}

static void read_entry(tkt_recovery *r, uint32_t kind, rest payload)
{
    switch (kind) {
    case TKT_MAPPING_SITE:
        read_site(r, payload);
        break;
    case TKT_MAPPING_TEXT:
        read_text(r, payload);
        break;
    case TKT_MAPPING_VALUE:
        read_value(r, payload);
        break;
    case TKT_MAPPING_STACK:
        read_stack(r, payload);
        break;
    case TKT_MAPPING_RUN:
        take_text(&payload, &r->run);
        break;
    case TKT_MAPPING_DEVICE:
        read_note(r, payload);
        break;
    default: /* from a later version */
        break;
    }
}

void tkt_recover_names(tkt_recovery *r)
{
    rest names = {tkt_recovery_item(r, &r->head.names, 0), r->head.names.count};
    tkt_mapping_entry entry;
    while (take_bytes(&names, &entry, sizeof entry)) {
        size_t payload = entry.bytes - sizeof entry;
        if (entry.kind == TKT_MAPPING_END || entry.bytes < sizeof entry || payload > names.size)
            break;
        read_entry(r, entry.kind, (rest){names.at, payload});
        names.at += payload;
        names.size -= payload;
    }
}

/* ======== Summaries ======== */

/* The summary of a process that died has two parts for each log: the last complete fold in the
 * file, and the events after it, which recovery folds now. */

/* Reads the pieces of a fold in order. */
typedef struct reader {
    TKT_ARRAY_OF(const tkt_chunk *) pieces;
    size_t piece;
    size_t used;
} reader;

static int compare_folds(const void *a, const void *b)
{
    const tkt_chunk *const *x = a, *const *y = b;
    return (*x)->sequence < (*y)->sequence ? -1 : (*x)->sequence > (*y)->sequence;
}

static bool read_bytes(reader *from, void *into, size_t size)
{
    char *to = into;
    while (size && from->piece < from->pieces.count) {
        const tkt_chunk *chunk = from->pieces.items[from->piece];
        size_t room = sizeof chunk->slots - from->used;
        size_t part = size < room ? size : room;
        memcpy(to, (const char *)chunk->slots + from->used, part);
        to += part;
        size -= part;
        from->used += part;
        if (from->used == sizeof chunk->slots) {
            from->used = 0;
            from->piece++;
        }
    }
    return size == 0;
}

static void find_pieces(tkt_recovery *r, uint32_t number, uint32_t generation, reader *out)
{
    for (uint32_t i = 0; i < r->head.chunks.count; i++) {
        const tkt_chunk *chunk = tkt_recovery_item(r, &r->head.chunks, i);
        if (chunk->log != (TKT_KEPT_FOLD | (number + 1)) || chunk->depth != generation)
            continue;
        const tkt_chunk **piece = TKT_ARRAY_ADD(&out->pieces);
        if (piece)
            *piece = chunk;
        else
            r->is_short = true;
    }
    if (out->pieces.count)
        qsort(out->pieces.items, out->pieces.count, sizeof *out->pieces.items, compare_folds);
}

static bool read_histogram(reader *from, const tkt_kept_node *kept, tkt_fold *fold, tkt_node *node)
{
    tkt_kept_bucket bucket;
    if (kept->bucket_count == 0)
        return true;
    if (kept->bucket_count > TKT_HISTOGRAM_BUCKETS)
        return false;
    node->histogram = tkt_arena_alloc(&fold->histograms, sizeof *node->histogram);
    if (node->histogram)
        memset(node->histogram, 0, sizeof *node->histogram);
    for (uint32_t i = 0; i < kept->bucket_count; i++) {
        if (!read_bytes(from, &bucket, sizeof bucket) || bucket.index >= TKT_HISTOGRAM_BUCKETS)
            return false;
        if (node->histogram)
            node->histogram->buckets[bucket.index] = bucket.count;
    }
    return true;
}

/* Reads a node. It must get the same number again. */
static bool read_node(reader *from, uint32_t number, tkt_fold *fold)
{
    tkt_kept_node kept;
    if (!read_bytes(from, &kept, sizeof kept) || kept.site > TKT_SITE_MAX)
        return false;
    if (number &&
        (kept.parent >= number || tkt_fold_find_child(fold, kept.parent, kept.site) != number))
        return false;
    tkt_node *node = &fold->items[number];
    node->stats = kept.stats;
    node->flops = kept.flops;
    node->bytes = kept.bytes;
    node->errors = kept.errors;
    return read_histogram(from, &kept, fold, node);
}

/* Reads the fold from the file. Sets *next to the sequence of the first chunk that the fold does
 * not contain. */
static bool read_fold(reader *from, uint64_t from_ticks, tkt_fold *fold, uint32_t *next)
{
    tkt_kept_fold head;
    if (!read_bytes(from, &head, sizeof head) || head.from_ticks != from_ticks)
        return false;
    for (uint32_t i = 0; i < head.node_count; i++)
        if (!read_node(from, i, fold))
            return false;
    fold->lost_count = head.lost_count;
    *next = head.next_sequence;
    return true;
}

static void read_kept(tkt_recovery *r, uint32_t number, uint64_t from_ticks, tkt_fold *fold,
                      uint32_t *next)
{
    reader pieces = {.piece = 0};
    *next = 0;
    if (number >= r->head.logs.count)
        return;
    const tkt_mapping_log *log = tkt_recovery_item(r, &r->head.logs, number);
    if (log->fold_generation)
        find_pieces(r, number, log->fold_generation, &pieces);
    if (pieces.pieces.count && !read_fold(&pieces, from_ticks, fold, next)) {
        tkt_fold_fini(fold);
        r->is_short |= tkt_fold_init(fold) != TAKT_OK;
        *next = 0;
    }
    TKT_ARRAY_FREE(&pieces.pieces);
}

/* Folds the rest of a log, from `first` on, with a temporary thread log of the copied chunks. */
static void fold_rest(tkt_recovery *r, const tkt_log_view *view, tkt_chunk *first,
                      const tkt_mapping_window *window, uint64_t until_ticks, tkt_fold *fold)
{
    const tkt_chunk *last = first;
    while (last && last->next)
        last = last->next;
    tkt_thread_log *log = tkt_alloc_zeroed(sizeof *log);
    uint32_t *path = tkt_alloc((TKT_MAX_DEPTH + 1) * sizeof *path);
    const tkt_fold_begin from = {.ticks = window->fold_from_ticks,
                                 .ns = tkt_clock_ns(&window->fit, window->fold_from_ticks),
                                 .ns_per_tick = window->fit.ns_per_tick};
    if (log && path && last) {
        log->fold = *fold;
        log->path = path;
        log->unfolded = first;
        r->is_short |= tkt_online_fold_from(log, last->slots + last->count, view->frames,
                                            view->frame_count, &from, until_ticks) != TAKT_OK;
        *fold = log->fold;
        TKT_ARRAY_FREE(&log->folded_calls);
    } else {
        r->is_short |= !log || !path;
    }
    tkt_free(path);
    tkt_free(log);
}

void tkt_recover_folds(tkt_recovery *r, const tkt_mapping_window *window, uint64_t until_ticks)
{
    for (size_t i = 0; i < r->source.views.count && !r->is_short; i++) {
        uint32_t next;
        tkt_fold *fold = TKT_ARRAY_ADD(&r->source.folds);
        if (!fold || tkt_fold_init(fold) != TAKT_OK) {
            r->source.folds.count -= fold != NULL;
            r->is_short = true;
            return;
        }
        read_kept(r, r->logs.items[i].number, window->fold_from_ticks, fold, &next);
        tkt_chunk *first = r->logs.items[i].first;
        while (first && first->sequence < next)
            first = first->next;
        fold_rest(r, &r->source.views.items[i], first, window, until_ticks, fold);
        fold->log = (uint32_t)i;
    }
}

/* ======== Devices ======== */

/* Reads the activities that had been decoded when the process died into a separate store. The join
 * treats it like the store of this process. */

#define MOST_MISSING 4096u /* largest gap between ids: the file has only strings of activities */

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
    *empty = 0; /* id 0 is "" in every store */
    r->store = store;
    return true;
}

static void number_anew(tkt_store *store, uint32_t numbering)
{
    store->shapes.count = 0;
    store->numberings = numbering;
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
        number_anew(r->store, note->number);
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
    if (r->store->numberings != r->head.numbering) /* there was no room for the note */
        number_anew(r->store, (uint32_t)r->head.numbering);
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
