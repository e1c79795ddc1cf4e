/* Lanes for slices that may overlap, and numbers of streams. */
#include "export/devices.h"

/* ======== Lanes ======== */

static bool add_free(tkt_lanes *lanes, uint32_t lane)
{
    return tkt_heap_add(&lanes->free, lane, lane);
}

uint32_t tkt_lanes_take(tkt_lanes *lanes, uint64_t begin_ns, uint64_t end_ns)
{
    while (lanes->busy.count && lanes->busy.items[0].key <= begin_ns)
        if (!add_free(lanes, tkt_heap_take(&lanes->busy).value))
            return UINT32_MAX;
    if (!lanes->free.count && !add_free(lanes, lanes->count++))
        return UINT32_MAX;
    uint32_t lane = tkt_heap_take(&lanes->free).value;
    return tkt_heap_add(&lanes->busy, end_ns, lane) ? lane : UINT32_MAX;
}

void tkt_lanes_fini(tkt_lanes *lanes)
{
    TKT_ARRAY_FREE(&lanes->busy);
    TKT_ARRAY_FREE(&lanes->free);
}

/* ======== Streams ======== */

static bool add_stream(tkt_streams *streams, const tkt_activity *activity, uint64_t *place)
{
    tkt_stream_key *key = TKT_ARRAY_ADD(&streams->keys);
    if (!key)
        return false;
    *key = (tkt_stream_key){activity->device, activity->context, activity->stream};
    *place = streams->keys.count;
    return true;
}

/* Streams with the same hash use the next free key. */
uint32_t tkt_stream_number(tkt_streams *streams, const tkt_activity *activity)
{
    uint64_t hash =
        tkt_hash_u64((uint64_t)activity->context << 32 | activity->stream) + activity->device;
    for (;; hash++) {
        uint64_t *place = tkt_map_put(&streams->index, hash);
        if (!place)
            return UINT32_MAX;
        if (*place == 0 && !add_stream(streams, activity, place)) {
            tkt_map_remove(&streams->index, hash);
            return UINT32_MAX;
        }
        const tkt_stream_key *key = &streams->keys.items[*place - 1];
        if (key->device == activity->device && key->context == activity->context &&
            key->stream == activity->stream)
            return (uint32_t)*place - 1;
    }
}

void tkt_streams_fini(tkt_streams *streams)
{
    TKT_ARRAY_FREE(&streams->keys);
    tkt_map_fini(&streams->index);
}
