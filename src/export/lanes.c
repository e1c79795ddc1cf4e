/* Rows of a viewer: lanes for what may overlap, and numbers of streams. */
#include "export/lanes.h"

/* ---- Lanes ---- */

/* Two heaps: of the busy lanes by end and of the free ones by number. */

static bool push_free(tkt_lanes *lanes, uint32_t lane)
{
    uint32_t *place = TKT_ARRAY_ADD(&lanes->free);
    if (!place)
        return false;
    uint32_t *heap = lanes->free.items;
    size_t at = lanes->free.count - 1;
    for (; at && heap[(at - 1) / 2] > lane; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = lane;
    return true;
}

static uint32_t pop_free(tkt_lanes *lanes)
{
    uint32_t *heap = lanes->free.items;
    uint32_t least = heap[0];
    uint32_t last = heap[--lanes->free.count];
    size_t count = lanes->free.count;
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && heap[child + 1] < heap[child];
        if (last <= heap[child])
            break;
        heap[at] = heap[child];
    }
    heap[at] = last;
    return least;
}

static bool push_busy(tkt_lanes *lanes, tkt_busy_lane busy)
{
    tkt_busy_lane *place = TKT_ARRAY_ADD(&lanes->busy);
    if (!place)
        return false;
    tkt_busy_lane *heap = lanes->busy.items;
    size_t at = lanes->busy.count - 1;
    for (; at && heap[(at - 1) / 2].end_ns > busy.end_ns; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = busy;
    return true;
}

static tkt_busy_lane pop_busy(tkt_lanes *lanes)
{
    tkt_busy_lane *heap = lanes->busy.items;
    tkt_busy_lane least = heap[0];
    tkt_busy_lane last = heap[--lanes->busy.count];
    size_t count = lanes->busy.count;
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && heap[child + 1].end_ns < heap[child].end_ns;
        if (last.end_ns <= heap[child].end_ns)
            break;
        heap[at] = heap[child];
    }
    heap[at] = last;
    return least;
}

uint32_t tkt_lanes_take(tkt_lanes *lanes, uint64_t begin_ns, uint64_t end_ns)
{
    while (lanes->busy.count && lanes->busy.items[0].end_ns <= begin_ns)
        if (!push_free(lanes, pop_busy(lanes).lane))
            return UINT32_MAX;
    if (!lanes->free.count && !push_free(lanes, lanes->count++))
        return UINT32_MAX;
    uint32_t lane = pop_free(lanes);
    return push_busy(lanes, (tkt_busy_lane){end_ns, lane}) ? lane : UINT32_MAX;
}

void tkt_lanes_fini(tkt_lanes *lanes)
{
    TKT_ARRAY_FREE(&lanes->busy);
    TKT_ARRAY_FREE(&lanes->free);
}

/* ---- Streams ---- */

static bool add(tkt_streams *streams, const tkt_activity *activity, uint64_t *place)
{
    tkt_stream_key *key = TKT_ARRAY_ADD(&streams->keys);
    if (!key)
        return false;
    *key = (tkt_stream_key){activity->device, activity->context, activity->stream};
    *place = streams->keys.count;
    return true;
}

/* Streams of equal hash take the next one that is free. */
uint32_t tkt_stream_number(tkt_streams *streams, const tkt_activity *activity)
{
    uint64_t hash =
        tkt_hash_u64((uint64_t)activity->context << 32 | activity->stream) + activity->device;
    for (;; hash++) {
        uint64_t *place = tkt_map_put(&streams->index, hash);
        if (!place)
            return UINT32_MAX;
        if (*place == 0 && !add(streams, activity, place)) {
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
