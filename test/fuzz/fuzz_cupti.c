/* Any bytes as a recording of CUPTI's buffers: any sizes of records, any records, any readings of
 * the clock. The decoder trusts CUPTI's pointers, as it must; reading a recording leaves only
 * pointers to its own texts in the records that the decoder will look at, because both step over
 * them with the same function. Whatever is in the store then has to fit together. */
#include "support/recording.h"

#include <takt/trace.h>

#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((uint64_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check(bool is_true)
{
    if (!is_true)
        abort();
}

/* The demangler is the C++ library's, and not what is tested here. */
static void keep_from_demangler(const cupti_recording *recording)
{
    for (size_t i = 0; i < recording->texts.count; i++) {
        if (recording->texts.items[i][0] == '_')
            recording->texts.items[i][0] = '-';
    }
}

static void check_shapes(const tkt_store *store)
{
    for (size_t i = 0; i < store->shapes.count; i++) {
        const tkt_shape *shape = &store->shapes.items[i];
        check(shape->name < store->strings.count && shape->label < store->strings.count);
        check(store->strings.items[shape->label].size > 0);
        check(shape->filter && (shape->filter & (shape->filter - 1)) == 0);
        check(shape->occupancy <= 10000 && shape->limiter <= TAKT_LIMIT_BLOCKS);
        check(shape->reserved == 0);
    }
}

static void check_activities(const tkt_store *store)
{
    uint64_t count = 0;
    for (const tkt_store_chunk *chunk = store->first; chunk; chunk = chunk->next) {
        check(chunk->first == count && chunk->count <= TKT_STORE_CHUNK);
        count += chunk->count;
        for (uint32_t i = 0; i < chunk->count; i++) {
            check(chunk->items[i].shape < store->shapes.count);
            check(chunk->items[i].device < store->devices.count);
            if (tkt_stored_loss(&chunk->items[i]))
                check(tkt_stored_loss(&chunk->items[i]) < TAKT_LOSS_COUNT);
            else
                check(chunk->items[i].end >= chunk->items[i].begin && chunk->items[i].begin > 0);
        }
    }
    check(count == store->next_sequence);
}

static void check_devices(const tkt_store *store)
{
    check(store->devices.count <= TKT_STORE_DEVICES);
    for (size_t i = 0; i < store->devices.count; i++) {
        check(store->devices.items[i].ordinal == i);
        check(store->devices.items[i].name < store->strings.count);
        check(store->devices.items[i].label < store->strings.count);
    }
}

static void check_map(const tkt_cuda_clock *clock)
{
    const tkt_clock_fit identity = {.ns_per_tick = UINT64_C(1) << 32};
    tkt_clock_map map;
    check(tkt_clock_map_make(clock, &identity, &map) == TAKT_OK);
    check(map.segments.count > 0 && map.segments.items[0].from_cupti_ns == 0);
    for (size_t i = 0; i < map.segments.count; i++) {
        uint64_t from = map.segments.items[i].from_cupti_ns;
        check(i == 0 || from > map.segments.items[i - 1].from_cupti_ns);
        check(tkt_clock_map_ns(&map, from) == from + (uint64_t)map.segments.items[i].offset_ns);
    }
    tkt_clock_map_fini(&map);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    cupti_recording recording;
    tkt_store store;
    takt_status status = recording_read(bytes, size, &recording);
    if (status != TAKT_OK) {
        check(status == TAKT_BAD_TRACE);
        return 0;
    }
    keep_from_demangler(&recording);
    check(tkt_store_init(&store) == TAKT_OK);
    store.max_bytes = MAX_BYTES;
    recording_replay(&recording, &store);
    recording_fini(&recording);
    check(store.used_bytes <= MAX_BYTES + 4096);
    check_shapes(&store);
    check_activities(&store);
    check_devices(&store);
    check_map(&store.clock);
    tkt_store_fini(&store);
    return 0;
}
