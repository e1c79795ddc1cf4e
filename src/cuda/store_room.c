/* What the store forgets: what no window needs any more. In a flight recorder, when max_memory is
 * used up, also the oldest records of whatever takes the most memory. And a program whose launches
 * never look the same (each with its own grid, or copies of ever new sizes) makes shapes without
 * end: those that no activity refers to go. */
#include "cuda/store.h"

#include <string.h>

/* ---- Records --------------------------------------------------------------------------------- */

/* One of the store's arrays, without its type. */
typedef struct ring_array {
    void *items;
    size_t *count;
    size_t item_bytes;
} ring_array;

#define RING_ARRAY(array) ((ring_array){(array)->items, &(array)->count, sizeof *(array)->items})

static uint64_t chunk_bytes(const tkt_store *store)
{
    uint64_t positions = store->last->first + TKT_STORE_CHUNK - store->first->first;
    return positions / TKT_STORE_CHUNK * sizeof(tkt_store_chunk);
}

/* True if the oldest chunk is older than all that a window beside the flight recorder needs. */
static bool may_forget_chunk(const tkt_store *store)
{
    const tkt_store_chunk *oldest = store->first;
    return oldest && oldest->first + oldest->count <= store->ring_until;
}

static void forget_chunk(tkt_store *store)
{
    store->losses.overwritten += store->first->count;
    tkt_store_free_first(store);
}

static void forget_half(tkt_store *store, const ring_array *array)
{
    size_t gone = (*array->count + 1) / 2;
    store->losses.overwritten += gone;
    store->used_bytes -= gone * array->item_bytes;
    *array->count -= gone;
    memmove(array->items, (char *)array->items + gone * array->item_bytes,
            *array->count * array->item_bytes);
}

/* Forgets the oldest of what takes the most memory; false if there is nothing to forget. */
static bool forget_oldest(tkt_store *store)
{
    const ring_array arrays[] = {RING_ARRAY(&store->memory), RING_ARRAY(&store->waits),
                                 RING_ARRAY(&store->records), RING_ARRAY(&store->overheads)};
    uint64_t chunks = may_forget_chunk(store) ? chunk_bytes(store) : 0, most = 0;
    const ring_array *largest = NULL;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        if (*arrays[i].count * arrays[i].item_bytes > most) {
            most = *arrays[i].count * arrays[i].item_bytes;
            largest = &arrays[i];
        }
    }
    if (chunks >= most && chunks)
        forget_chunk(store);
    else if (largest)
        forget_half(store, largest);
    return chunks || largest;
}

bool tkt_store_make_room(tkt_store *store, uint64_t bytes)
{
    while (store->used_bytes + bytes > store->max_bytes) {
        if (!store->ring_until || !forget_oldest(store))
            return false;
    }
    return true;
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

static uint64_t shape_bytes(const tkt_store *store)
{
    return store->shapes.count * sizeof *store->shapes.items;
}

/* Gives the shapes that activities refer to their new numbers; the others keep UINT32_MAX. Returns
 * how many are left. */
static uint32_t number_used(const tkt_store *store, uint32_t *numbers)
{
    uint32_t kept = 0;
    memset(numbers, 0xff, store->shapes.count * sizeof *numbers);
    for (const tkt_store_chunk *chunk = store->first; chunk; chunk = chunk->next) {
        for (uint32_t i = 0; i < chunk->count; i++)
            numbers[chunk->items[i].shape] = 0;
    }
    for (size_t i = 0; i < store->shapes.count; i++) {
        if (numbers[i] == 0)
            numbers[i] = kept++;
    }
    return kept;
}

static void renumber(tkt_store *store, const uint32_t *numbers, uint32_t kept)
{
    for (size_t i = 0; i < store->shapes.count; i++) {
        if (numbers[i] != UINT32_MAX)
            store->shapes.items[numbers[i]] = store->shapes.items[i];
    }
    for (tkt_store_chunk *chunk = store->first; chunk; chunk = chunk->next) {
        for (uint32_t i = 0; i < chunk->count; i++)
            chunk->items[i].shape = numbers[chunk->items[i].shape];
    }
    store->used_bytes -= (store->shapes.count - kept) * sizeof *store->shapes.items;
    store->shapes.count = kept;
}

/* Frees the shapes that no activity refers to. A crash-safe file without the new numbers has no
 * shapes, rather than wrong ones. */
static void forget_unused_shapes(tkt_store *store)
{
    uint32_t *numbers = tkt_alloc(store->shapes.count * sizeof *numbers);
    tkt_store_number_anew(store);
    if (numbers)
        renumber(store, numbers, number_used(store, numbers));
    tkt_free(numbers);
    tkt_store_index_shapes(store);
}

static void forget_half_of_chunks(tkt_store *store)
{
    uint64_t until = (store->first->first + store->next_sequence) / 2;
    while (may_forget_chunk(store) && store->first->first < until)
        forget_chunk(store);
}

/* In a flight recorder: when shapes take half of the memory. Otherwise when they take an eighth,
 * and again whenever they have doubled. Looking at all activities for each new shape would take too
 * long. */
static bool is_due(const tkt_store *store)
{
    size_t count = store->shapes.count, more = count - store->shapes_kept;
    if (store->ring_until)
        return shape_bytes(store) > store->max_bytes / 2 && more >= count / 8;
    return shape_bytes(store) > store->max_bytes / 8 && more >= count / 2;
}

void tkt_store_limit_shapes(tkt_store *store)
{
    if (!is_due(store))
        return;
    forget_unused_shapes(store);
    while (store->ring_until && shape_bytes(store) > store->max_bytes / 8 * 3 &&
           may_forget_chunk(store)) {
        forget_half_of_chunks(store);
        forget_unused_shapes(store);
    }
    store->shapes_kept = store->shapes.count;
}

/* ---- What no window needs -------------------------------------------------------------------- */

static void release_chunks(tkt_store *store, uint64_t position)
{
    while (store->first && store->first->first + store->first->count <= position) {
        tkt_store_chunk *chunk = store->first;
        if (store->spare) {
            tkt_store_free_first(store);
            continue;
        }
        store->first = chunk->next;
        store->spare = chunk;
        chunk->count = 0;
    }
    if (!store->first)
        store->last = NULL;
}

/* Call when no activity refers to a shape. Programs that keep making graphs also keep making
 * shapes. */
static void release_shapes(tkt_store *store)
{
    store->used_bytes -= store->shapes.count * sizeof *store->shapes.items;
    TKT_ARRAY_FREE(&store->shapes);
    store->shapes_kept = 0;
    tkt_store_number_anew(store);
}

/* Keeps the items with a time from `from` on, in order. */
#define KEEP_FROM(store, array, time, from)                                                        \
    do {                                                                                           \
        size_t kept_ = 0;                                                                          \
        for (size_t i_ = 0; i_ < (array)->count; i_++) {                                           \
            if ((array)->items[i_].time >= (from))                                                 \
                (array)->items[kept_++] = (array)->items[i_];                                      \
        }                                                                                          \
        (store)->used_bytes -= ((array)->count - kept_) * sizeof *(array)->items;                  \
        (array)->count = kept_;                                                                    \
        if (!kept_)                                                                                \
            TKT_ARRAY_FREE(array);                                                                 \
    } while (0)

/* Frees clock pairs that no later moment needs. Returns CUPTI's time at `before_ticks`, or an
 * earlier one: the lowest in any later pair, because the clock may have been set back. */
static uint64_t release_pairs(tkt_cuda_clock *clock, uint64_t before_ticks)
{
    size_t first = 0;
    uint64_t earliest = UINT64_MAX;
    if (!clock->pairs.count || clock->pairs.items[0].ticks > before_ticks)
        return 0;
    while (first + 1 < clock->pairs.count && clock->pairs.items[first + 1].ticks <= before_ticks)
        first++;
    clock->pairs.count -= first;
    memmove(clock->pairs.items, clock->pairs.items + first,
            clock->pairs.count * sizeof *clock->pairs.items);
    for (size_t i = 0; i < clock->pairs.count; i++) {
        if (clock->pairs.items[i].cupti_ns < earliest)
            earliest = clock->pairs.items[i].cupti_ns;
    }
    return earliest;
}

/* What a window with spans has left behind while a summary goes on. */
static void release_unsummed(tkt_store *store)
{
    size_t kept = 0, most = store->max_bytes / 2 / sizeof *store->memory.items;
    if (store->memory.count > most) {
        store->losses.others_full += store->memory.count - most;
        store->used_bytes -= (store->memory.count - most) * sizeof *store->memory.items;
        store->memory.count = most;
    }
    store->used_bytes -= store->waits.count * sizeof *store->waits.items;
    TKT_ARRAY_FREE(&store->waits);
    for (size_t i = 0; i < store->overheads.count; i++)
        if (tkt_overhead_is_loading(store->overheads.items[i].kind))
            store->overheads.items[kept++] = store->overheads.items[i];
    store->used_bytes -= (store->overheads.count - kept) * sizeof *store->overheads.items;
    store->overheads.count = kept;
}

void tkt_store_release(uint64_t position, uint64_t before_ticks)
{
    tkt_store *store = tkt_store_get();
    tkt_mutex_lock(&store->lock);
    if (__atomic_load_n(&store->is_summed, __ATOMIC_RELAXED))
        release_unsummed(store);
    release_chunks(store, position);
    if (!store->first)
        release_shapes(store);
    uint64_t from = release_pairs(&store->clock, before_ticks);
    KEEP_FROM(store, &store->memory, time, from);
    KEEP_FROM(store, &store->waits, end, from);
    KEEP_FROM(store, &store->records, position, position);
    KEEP_FROM(store, &store->overheads, end, from);
    tkt_mutex_unlock(&store->lock);
}
