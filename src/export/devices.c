/* The earliest time of a trace, its devices, bytes in use, lanes for slices that may overlap, and
 * numbers of streams. */
#include "export/devices.h"

#include "trace/order.h"

#include <stdlib.h>
#include <string.h>

/* ======== Devices and times ======== */

const tkt_device *tkt_device_facts(const takt_trace *trace, uint32_t label)
{
    for (size_t i = 0; i < trace->devices.count; i++)
        if (trace->devices.items[i].label == label)
            return &trace->devices.items[i];
    return NULL;
}

uint32_t tkt_device_ordinal(const takt_trace *trace, uint32_t label)
{
    const tkt_device *facts = tkt_device_facts(trace, label);
    const char *colon = strchr(tkt_trace_text(trace, label), ':');
    return facts   ? facts->ordinal
           : colon ? (uint32_t)strtoul(colon + 1, NULL, 10) % TKT_CHROME_ORDINALS
                   : 0;
}

/* Item `i` of an array that has one, or of a sorted array its first. */
#define FIND_EARLIER(array, i, member)                                                             \
    if ((i) < (array).count && (array).items[i].member < first_ns)                                 \
    first_ns = (array).items[i].member

uint64_t tkt_earliest_ns(const takt_trace *trace)
{
    uint64_t first_ns = trace->facts.begin_ns;
    for (size_t i = 0; i < trace->tracks.count; i++)
        FIND_EARLIER(trace->tracks.items[i].spans, 0, begin_ns);
    size_t activities = tkt_device_activity_count(trace); /* those of the host are in their spans */
    for (size_t i = 0; i < activities; i++)
        FIND_EARLIER(trace->activities, i, begin_ns);
    FIND_EARLIER(trace->steps, 0, begin_ns);
    FIND_EARLIER(trace->marks, 0, time_ns);
    FIND_EARLIER(trace->counters, 0, time_ns);
    FIND_EARLIER(trace->flows, 0, time_ns);
    FIND_EARLIER(trace->memory_events, 0, time_ns);
    FIND_EARLIER(trace->waits, 0, begin_ns);
    FIND_EARLIER(trace->overheads, 0, begin_ns);
    FIND_EARLIER(trace->phase_segments, 0, begin_ns);
    return first_ns;
}

/* ======== Memory ======== */

static uint64_t bytes_at_begin(const takt_trace *trace, uint32_t device, uint32_t kind)
{
    if (device == 0)
        return trace->memory.window_begin_bytes;
    for (size_t i = 0; i < trace->device_memory.count; i++)
        if (trace->device_memory.items[i].device == device &&
            (kind == TAKT_MEMORY_DEVICE || kind == TKT_ALL_MEMORY))
            return trace->device_memory.items[i].totals.window_begin_bytes;
    return 0;
}

uint64_t *tkt_memory_sum(tkt_memory_sums *sums, const takt_trace *trace, uint32_t device,
                         uint32_t kind)
{
    for (size_t i = 0; i < sums->count; i++)
        if (sums->items[i].device == device && sums->items[i].kind == kind)
            return &sums->items[i].bytes;
    tkt_memory_bytes *added = TKT_ARRAY_ADD(sums);
    if (!added)
        return NULL;
    *added = (tkt_memory_bytes){device, kind, bytes_at_begin(trace, device, kind)};
    return &added->bytes;
}

/* ======== Lanes ======== */

static bool add_free(tkt_lanes *lanes, uint32_t lane)
{
    return tkt_heap_add(&lanes->free, lane, lane);
}

uint32_t tkt_lanes_hold(tkt_lanes *lanes, uint64_t begin_ns)
{
    while (lanes->busy.count && lanes->busy.items[0].key <= begin_ns)
        if (!add_free(lanes, tkt_heap_take(&lanes->busy).value))
            return UINT32_MAX;
    if (!lanes->free.count && !add_free(lanes, lanes->count++))
        return UINT32_MAX;
    return tkt_heap_take(&lanes->free).value;
}

bool tkt_lanes_free(tkt_lanes *lanes, uint32_t lane, uint64_t end_ns)
{
    return tkt_heap_add(&lanes->busy, end_ns, lane);
}

uint32_t tkt_lanes_take(tkt_lanes *lanes, uint64_t begin_ns, uint64_t end_ns)
{
    uint32_t lane = tkt_lanes_hold(lanes, begin_ns);
    return lane != UINT32_MAX && tkt_lanes_free(lanes, lane, end_ns) ? lane : UINT32_MAX;
}

void tkt_lanes_fini(tkt_lanes *lanes)
{
    TKT_ARRAY_FREE(&lanes->busy);
    TKT_ARRAY_FREE(&lanes->free);
}

/* ======== Streams ======== */

uint32_t tkt_stream_number(tkt_streams *streams, const tkt_activity *activity)
{
    const tkt_stream_key key = {activity->device, activity->context, activity->stream};
    uint64_t hash = tkt_hash_u64((uint64_t)key.context << 32 | key.stream) + key.device;
    uint64_t *place =
        tkt_map_find(&streams->index, hash, streams->keys.items, sizeof key, NULL, &key);
    if (place && *place)
        return (uint32_t)*place - 1;
    tkt_stream_key *added = place ? TKT_ARRAY_ADD(&streams->keys) : NULL;
    if (!added)
        return UINT32_MAX;
    *added = key;
    *place = streams->keys.count;
    return (uint32_t)*place - 1;
}

void tkt_streams_fini(tkt_streams *streams)
{
    TKT_ARRAY_FREE(&streams->keys);
    tkt_map_fini(&streams->index);
}
