/* The store. Activities live in chunks: chunks that no window needs are freed as a whole, and
 * activities never move. One chunk is kept in reserve for the next window. All memory counts
 * against one budget; when it is used up, new records are refused and counted. */
#include "cuda/store.h"

#include "base/own.h"
#include "base/thread.h"
#include "cuda/collector.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static tkt_durations the_durations; /* in no file, unlike the store, whose first values are there */
static tkt_store the_store = {.lock = TKT_MUTEX_INIT,
                              .max_bytes = TKT_STORE_DEFAULT_BYTES,
                              .durations = &the_durations};

/* For the child: the thread that held the lock does not exist there. */
static void free_lock(void)
{
    tkt_mutex_init(&the_store.lock);
    if (the_store.keeper) /* the crash-safe file belongs to the parent */
        the_store.first = the_store.last = the_store.spare = NULL;
    the_store.keeper = NULL;
}

tkt_store *tkt_store_get(void)
{
    static atomic_flag is_watched = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set_explicit(&is_watched, memory_order_relaxed))
        tkt_at_fork(free_lock);
    return &the_store;
}

takt_status tkt_store_init(tkt_store *store)
{
    *store = (tkt_store){.max_bytes = TKT_STORE_DEFAULT_BYTES};
    tkt_mutex_init(&store->lock);
    return tkt_strtab_init(&store->strings);
}

static void note(const tkt_store *store, tkt_keeper_note kind, uint32_t number, const void *data,
                 size_t size)
{
    if (store->keeper)
        store->keeper->note(kind, number, data, size);
}

static void free_chunk(const tkt_store *store, tkt_store_chunk *chunk)
{
    chunk->count = 0; /* the keeper's file then shows an empty chunk */
    if (!store->keeper || !store->keeper->give(chunk))
        tkt_free(chunk);
}

static void free_chunks(tkt_store_chunk *chunk)
{
    while (chunk) {
        tkt_store_chunk *next = chunk->next;
        tkt_free(chunk);
        chunk = next;
    }
}

__attribute__((cold)) void tkt_store_fini(tkt_store *store)
{
    free_chunks(store->first);
    tkt_free(store->spare);
    tkt_strtab_fini(&store->strings);
    tkt_map_fini(&store->shape_index);
    tkt_map_fini(&store->name_index);
    tkt_map_fini(&store->graph_sets);
    tkt_map_fini(&store->pools);
    tkt_map_fini(&store->pool_times);
    tkt_map_fini(&store->allocated);
    TKT_ARRAY_FREE(&store->totals);
    TKT_ARRAY_FREE(&store->unsummed);
    TKT_ARRAY_FREE(&store->shapes);
    TKT_ARRAY_FREE(&store->devices);
    TKT_ARRAY_FREE(&store->memory);
    TKT_ARRAY_FREE(&store->waits);
    TKT_ARRAY_FREE(&store->records);
    TKT_ARRAY_FREE(&store->overheads);
    TKT_ARRAY_FREE(&store->names);
    TKT_ARRAY_FREE(&store->clock.pairs);
}

uint64_t tkt_store_position(void)
{
    tkt_store *store = tkt_store_get();
    tkt_mutex_lock(&store->lock);
    uint64_t position = store->next_sequence;
    tkt_mutex_unlock(&store->lock);
    return position;
}

__attribute__((cold)) uint64_t tkt_store_bodies(void)
{
    tkt_store *store = tkt_store_get();
    tkt_mutex_lock(&store->lock);
    uint64_t bodies = store->bodies;
    tkt_mutex_unlock(&store->lock);
    return bodies;
}

__attribute__((cold)) bool tkt_store_is_full(void)
{
    tkt_store *store = tkt_store_get();
    tkt_mutex_lock(&store->lock);
    bool is_full = store->used_bytes > store->max_bytes / 2;
    tkt_mutex_unlock(&store->lock);
    return is_full;
}

void tkt_store_ring(uint64_t position)
{
    tkt_store *store = tkt_store_get();
    tkt_mutex_lock(&store->lock);
    store->ring_until = position;
    tkt_mutex_unlock(&store->lock);
}

void tkt_store_sum(bool is_summed)
{
    __atomic_store_n(&tkt_store_get()->is_summed, is_summed, __ATOMIC_RELAXED);
}

static bool refuse(tkt_store *store)
{
    store->losses.store_full++;
    return false;
}

/* Returns a chunk for the next activity, or NULL. */
static tkt_store_chunk *new_chunk(tkt_store *store)
{
    tkt_store_chunk *chunk = store->spare;
    store->spare = NULL;
    if (!chunk && tkt_store_make_room(store, sizeof *chunk)) {
        chunk = store->keeper ? store->keeper->take() : NULL;
        if (!chunk)
            chunk = tkt_alloc(sizeof *chunk);
        store->used_bytes += chunk ? sizeof *chunk : 0;
    }
    if (!chunk)
        return NULL;
    chunk->count = 0;
    __atomic_signal_fence(__ATOMIC_RELEASE);
    chunk->next = NULL;
    chunk->first = store->next_sequence;
    if (store->last)
        store->last->next = chunk;
    else
        store->first = chunk;
    return store->last = chunk;
}

bool tkt_store_add(tkt_store *store, const tkt_stored_activity *activity)
{
    tkt_store_chunk *chunk = store->last;
    if (!chunk || chunk->count == TKT_STORE_CHUNK)
        chunk = new_chunk(store);
    if (!chunk)
        return refuse(store);
    tkt_stored_activity *added = &chunk->items[chunk->count];
    *added = *activity;
    added->correlation = tkt_alias_outer(activity->correlation);
    if (TAKT_UNLIKELY(activity->graph)) {
        store->has_nodes = true;
        store->bodies += tkt_is_body(activity);
    }
    __atomic_signal_fence(__ATOMIC_RELEASE); /* in a crash-safe file, the count makes the activity
                                              * valid */
    chunk->count++;
    store->next_sequence++;
    return true;
}

static bool is_summed(const tkt_store *store)
{
    return __atomic_load_n(&store->is_summed, __ATOMIC_RELAXED);
}

/* Returns room for one more item, uninitialised and counted as used; NULL, with the loss counted,
 * if there is none. */
#define ADD(store, array, refused)                                                                 \
    (tkt_store_make_room(store, sizeof *(array)->items) &&                                         \
             TKT_ARRAY_RESERVE(array, (array)->count + 1)                                          \
         ? ((store)->used_bytes += sizeof *(array)->items, &(array)->items[(array)->count++])      \
         : ((store)->losses.refused++, NULL))

bool tkt_store_add_memory(tkt_store *store, const tkt_stored_memory *memory)
{
    tkt_store_total(store, memory);
    if (store->has_no_window)
        return true;
    /* Summaries go on for days and free activities all the time, but not this. */
    size_t bytes = (store->memory.count + 1) * sizeof *memory;
    if (is_summed(store) && bytes > store->max_bytes / 2) {
        store->losses.others_full++;
        return false;
    }
    tkt_stored_memory *added = ADD(store, &store->memory, others_full);
    if (added) {
        *added = *memory;
        added->correlation = tkt_alias_outer(memory->correlation);
        added->sequence = store->next_other++;
    }
    return added != NULL;
}

bool tkt_store_add_wait(tkt_store *store, const tkt_stored_wait *wait)
{
    if (is_summed(store))
        return true;
    tkt_stored_wait *added = ADD(store, &store->waits, others_full);
    if (added) {
        *added = *wait;
        added->correlation = tkt_alias_outer(wait->correlation);
        added->sequence = store->next_other++;
    }
    return added != NULL;
}

bool tkt_store_add_record(tkt_store *store, const tkt_stored_record *record)
{
    if (is_summed(store))
        return true;
    tkt_stored_record *added = ADD(store, &store->records, others_full);
    if (added) {
        *added = *record;
        added->correlation = tkt_alias_outer(record->correlation);
        added->position = store->next_sequence;
    }
    return added != NULL;
}

bool tkt_store_add_overhead(tkt_store *store, const tkt_stored_overhead *overhead)
{
    if (is_summed(store) && !tkt_overhead_is_loading(overhead->kind))
        return true;
    tkt_stored_overhead *added = ADD(store, &store->overheads, others_full);
    if (added) {
        *added = *overhead;
        added->sequence = store->next_other++;
    }
    return added != NULL;
}

static void forget_recent(tkt_stored_name *name)
{
    for (size_t i = 0; i < TKT_RECENT_SHAPES; i++)
        name->recent[i].index = UINT32_MAX;
}

__attribute__((cold)) tkt_stored_name *tkt_store_add_name(tkt_store *store)
{
    if (!tkt_store_make_room(store, sizeof *store->names.items))
        return NULL;
    tkt_stored_name *added = TKT_ARRAY_ADD(&store->names);
    if (!added)
        return NULL;
    store->used_bytes += sizeof *added;
    forget_recent(added);
    return added;
}

uint32_t tkt_store_string(tkt_store *store, const char *text)
{
    size_t size = strlen(text);
    size_t count = store->strings.count;
    if (!tkt_store_make_room(store, size) ||
        (!count && tkt_strtab_init(&store->strings) != TAKT_OK))
        return TKT_STRTAB_FULL;
    uint32_t id = tkt_strtab_intern(&store->strings, text, size);
    if (store->strings.count > count) {
        store->used_bytes += size + sizeof *store->strings.items;
        note(store, TKT_KEEP_STRING, id, text, size + 1);
    }
    return id;
}

bool tkt_store_may_name(const tkt_store *store)
{
    return store->names.count * sizeof *store->names.items + store->strings.bytes.total_bytes <
           store->max_bytes / 4;
}

const char *tkt_graph_label(char out[TKT_GRAPH_LABEL_BYTES], uint32_t graph, const char *suffix)
{
    bool is_late = graph >= TKT_MOST_GRAPHS;
    snprintf(out, TKT_GRAPH_LABEL_BYTES, "graph %u%s%s", is_late ? TKT_MOST_GRAPHS : graph,
             is_late ? "+" : "", suffix);
    return out;
}

/* Puts a shape into the index; false without memory. Among equal hashes, the later shape takes the
 * next free number. */
static bool index_shape(tkt_store *store, size_t number)
{
    const tkt_shape *shape = &store->shapes.items[number];
    uint64_t hash = tkt_hash_bytes(shape, sizeof *shape);
    uint64_t *index = tkt_map_put(&store->shape_index, hash);
    while (index && *index)
        index = tkt_map_put(&store->shape_index, ++hash);
    if (!index)
        return false;
    *index = number + 1;
    note(store, TKT_KEEP_SHAPE, (uint32_t)number, shape, sizeof *shape);
    return true;
}

uint32_t tkt_store_shape(tkt_store *store, const tkt_shape *shape)
{
    tkt_store_limit_shapes(store);
    uint64_t hash = tkt_hash_bytes(shape, sizeof *shape);
    uint64_t *index = tkt_map_get(&store->shape_index, hash);
    while (index && memcmp(&store->shapes.items[*index - 1], shape, sizeof *shape) != 0)
        index = tkt_map_get(&store->shape_index, ++hash);
    if (index)
        return (uint32_t)*index - 1;
    tkt_shape *added = ADD(store, &store->shapes, store_full);
    if (!added)
        return UINT32_MAX;
    *added = *shape;
    if (!index_shape(store, store->shapes.count - 1)) {
        store->shapes.count--;
        store->used_bytes -= sizeof *added;
        refuse(store);
        return UINT32_MAX;
    }
    return (uint32_t)store->shapes.count - 1;
}

__attribute__((cold)) void tkt_store_number_anew(tkt_store *store)
{
    note(store, TKT_KEEP_ANEW, ++store->numberings, NULL, 0);
    tkt_map_fini(&store->shape_index);
    for (size_t i = 0; i < store->names.count; i++)
        forget_recent(&store->names.items[i]);
}

void tkt_store_index_shapes(tkt_store *store)
{
    for (size_t i = 0; i < store->shapes.count; i++)
        index_shape(store, i); /* without memory, an equal shape is added again */
}

static bool add_device(tkt_store *store)
{
    char text[16];
    uint32_t ordinal = (uint32_t)store->devices.count;
    snprintf(text, sizeof text, "cuda:%u", ordinal);
    uint32_t label = tkt_store_string(store, text);
    tkt_device *device = label == TKT_STRTAB_FULL ? NULL : TKT_ARRAY_ADD(&store->devices);
    if (device)
        *device = (tkt_device){.ordinal = ordinal, .label = label};
    return device != NULL;
}

__attribute__((cold)) tkt_device *tkt_store_device(tkt_store *store, uint32_t ordinal)
{
    if (ordinal >= TKT_STORE_DEVICES)
        return NULL;
    while (store->devices.count <= ordinal) {
        if (!add_device(store))
            return NULL;
    }
    return &store->devices.items[ordinal];
}

void tkt_store_free_first(tkt_store *store)
{
    tkt_store_chunk *chunk = store->first;
    store->first = chunk->next;
    if (!store->first)
        store->last = NULL;
    store->used_bytes -= sizeof *chunk;
    free_chunk(store, chunk);
}

void tkt_store_add_pair(tkt_store *store, const tkt_clock_pair *pair, bool is_cupti)
{
    TKT_OWN_WORK;
    tkt_cuda_clock_add(&store->clock, pair);
    store->clock.is_cupti = store->clock.is_cupti || is_cupti;
    note(store, TKT_KEEP_PAIR, store->clock.is_cupti, pair, sizeof *pair);
}

__attribute__((cold)) void tkt_store_keep(const tkt_store_keeper *keeper)
{
    tkt_store *store = tkt_store_get();
    tkt_mutex_lock(&store->lock);
    store->keeper = keeper;
    if (store->spare) {
        tkt_free(store->spare);
        store->spare = NULL;
        store->used_bytes -= sizeof *store->spare;
    }
    note(store, TKT_KEEP_ANEW, store->numberings, NULL, 0);
    for (size_t i = 0; i < store->strings.count; i++)
        note(store, TKT_KEEP_STRING, (uint32_t)i, store->strings.items[i].bytes,
             store->strings.items[i].size + 1);
    for (size_t i = 0; i < store->shapes.count; i++)
        note(store, TKT_KEEP_SHAPE, (uint32_t)i, &store->shapes.items[i], sizeof(tkt_shape));
    for (size_t i = 0; i < store->clock.pairs.count; i++)
        note(store, TKT_KEEP_PAIR, store->clock.is_cupti, &store->clock.pairs.items[i],
             sizeof(tkt_clock_pair));
    tkt_mutex_unlock(&store->lock);
}

double tkt_store_step_ns(tkt_store *store)
{
    tkt_durations durations = {.count = 0};
    tkt_mutex_lock(&store->lock);
    if (store->durations)
        durations = *store->durations;
    tkt_mutex_unlock(&store->lock);
    return tkt_durations_step_ns(&durations);
}
