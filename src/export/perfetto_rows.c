/* Rows, and everything that is written once for each: its track, and the start of its clock. Also
 * the lanes of rows, and the tracks of counters and the values of those of memory. */
#include "export/devices.h"
#include "export/perfetto.h"

#include <stdio.h>
#include <string.h>

void tkt_perfetto_no_memory(tkt_perfetto *file)
{
    file->status = TAKT_NO_MEMORY;
}

bool tkt_perfetto_set_add(tkt_perfetto_set *set, uint32_t number)
{
    if (!TKT_ARRAY_RESERVE(set, (number >> 6) + (size_t)1))
        return false;
    while (set->count <= number >> 6)
        set->items[set->count++] = 0;
    set->items[number >> 6] |= UINT64_C(1) << (number & 63);
    return true;
}

tkt_message *tkt_perfetto_packet(tkt_perfetto *file, uint32_t row)
{
    tkt_message_clear(&file->message);
    tkt_message_uint(&file->message, TKT_PF_PACKET_SEQUENCE, row + 1);
    return &file->message;
}

void tkt_perfetto_packet_write(tkt_perfetto *file)
{
    const tkt_message *message = &file->message;
    if (message->is_short) {
        tkt_perfetto_no_memory(file);
        file->message.is_short = false;
        return;
    }
    char head[2 * TKT_PB_VARINT_MAX];
    char *end = tkt_pb_put_tag(head, TKT_PF_TRACE_PACKET, TKT_PB_BYTES);
    end = tkt_pb_put_varint(end, message->count);
    tkt_writer_put_both(file->writer, head, (size_t)(end - head), message->items, message->count);
}

tkt_message *tkt_perfetto_takt(tkt_perfetto *file, uint32_t field)
{
    tkt_message *packet = tkt_perfetto_packet(file, 0);
    file->takt_mark = tkt_message_begin(packet, TKT_PF_PACKET_TAKT);
    file->field_mark = tkt_message_begin(packet, field);
    return packet;
}

void tkt_perfetto_takt_write(tkt_perfetto *file)
{
    tkt_message_end(&file->message, file->field_mark);
    tkt_message_end(&file->message, file->takt_mark);
    tkt_perfetto_packet_write(file);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void put_clock(tkt_message *packet, uint32_t clock, uint64_t time_ns, bool is_incremental)
{
    size_t mark = tkt_message_begin(packet, TKT_PF_SNAPSHOT_CLOCKS);
    tkt_message_uint(packet, TKT_PF_CLOCK_ID, clock);
    tkt_message_uint(packet, TKT_PF_CLOCK_TIMESTAMP, time_ns);
    tkt_message_uint_if(packet, TKT_PF_CLOCK_IS_INCREMENTAL, is_incremental);
    tkt_message_end(packet, mark);
}

/* Takt's times are those of CLOCK_MONOTONIC. A sequence may define clocks; this one counts the time
 * since the previous event. */
static void put_clocks(tkt_message *packet, uint64_t base_ns)
{
    size_t mark = tkt_message_begin(packet, TKT_PF_PACKET_CLOCK_SNAPSHOT);
    put_clock(packet, TKT_PF_MONOTONIC, base_ns, false);
    put_clock(packet, TKT_PF_DELTA_CLOCK, base_ns, true);
    tkt_message_uint(packet, TKT_PF_SNAPSHOT_PRIMARY, TKT_PF_MONOTONIC);
    tkt_message_end(packet, mark);
}

static void put_defaults(tkt_message *packet, uint64_t uuid)
{
    size_t mark = tkt_message_begin(packet, TKT_PF_PACKET_DEFAULTS);
    tkt_message_uint(packet, TKT_PF_DEFAULTS_CLOCK, TKT_PF_DELTA_CLOCK);
    size_t event = tkt_message_begin(packet, TKT_PF_DEFAULTS_TRACK_EVENT);
    tkt_message_uint(packet, TKT_PF_EVENT_TRACK_UUID, uuid);
    tkt_message_end(packet, event);
    tkt_message_end(packet, mark);
}

uint32_t tkt_perfetto_add_row(tkt_perfetto *file, uint64_t uuid)
{
    tkt_perfetto_row *row = TKT_ARRAY_ADD(&file->rows);
    if (!row) {
        tkt_perfetto_no_memory(file);
        return 0;
    }
    uint32_t number = (uint32_t)file->rows.count - 1;
    *row = (tkt_perfetto_row){.last_ns = file->base_ns};
    char *end = tkt_pb_put_uint(row->head, TKT_PF_PACKET_SEQUENCE, number + 1);
    row->head_size = (uint8_t)(end - row->head);

    tkt_message *packet = tkt_perfetto_packet(file, number);
    tkt_message_uint(packet, TKT_PF_PACKET_FLAGS, TKT_PF_STATE_CLEARED);
    tkt_message_uint(packet, TKT_PF_PACKET_IS_FIRST, true);
    put_defaults(packet, uuid);
    put_clocks(packet, file->base_ns);
    tkt_perfetto_packet_write(file);
    return number;
}

static void put_takt_half(tkt_message *packet, const tkt_takt_half *half)
{
    size_t takt = tkt_message_begin(packet, TKT_PF_PACKET_TAKT);
    size_t mark = tkt_message_begin(packet, TKT_PF_TAKT_TRACK);
    tkt_message_uint(packet, TKT_PF_TAKT_TRACK_KIND, half->kind);
    tkt_message_uint_if(packet, TKT_PF_TAKT_TRACK_INDEX, half->index);
    tkt_message_uint_if(packet, TKT_PF_TAKT_TRACK_LANE, half->lane);
    tkt_message_string_if(packet, TKT_PF_TAKT_TRACK_NAME, half->name);
    tkt_message_uint_if(packet, TKT_PF_TAKT_TRACK_THREAD_ID, half->thread_id);
    tkt_message_uint_if(packet, TKT_PF_TAKT_TRACK_CONTEXT, half->context);
    tkt_message_uint_if(packet, TKT_PF_TAKT_TRACK_STREAM, half->stream);
    tkt_message_uint_if(packet, TKT_PF_TAKT_TRACK_MEMORY_KIND, half->memory_kind);
    tkt_message_end(packet, mark);
    tkt_message_end(packet, takt);
}

static void put_child(tkt_message *packet, uint64_t uuid, uint64_t parent, const char *name)
{
    tkt_message_uint(packet, TKT_PF_TRACK_UUID, uuid);
    tkt_message_uint(packet, TKT_PF_TRACK_PARENT, parent);
    tkt_message_string(packet, TKT_PF_TRACK_NAME, name);
}

/* Perfetto merges all tracks with the same thread id, and takes id 0 for the idle thread. Systems
 * reuse ids, so another track with the same id becomes an ordinary row. */
static bool is_new_thread(tkt_perfetto *file, uint32_t thread_id)
{
    uint64_t *tracks = thread_id ? tkt_map_put(&file->thread_ids, thread_id) : NULL;
    if (thread_id && !tracks)
        tkt_perfetto_no_memory(file);
    return tracks && (*tracks)++ == 0;
}

static void put_thread(tkt_perfetto *file, uint64_t uuid, const tkt_takt_half *half)
{
    tkt_message *packet = &file->message;
    if (!is_new_thread(file, half->thread_id)) {
        char made[32];
        snprintf(made, sizeof made, "thread %u", half->thread_id);
        put_child(packet, uuid, TKT_PERFETTO_PROCESS_UUID, half->name[0] ? half->name : made);
        return;
    }
    uint32_t pid = file->trace->facts.process_id;
    tkt_message_uint(packet, TKT_PF_TRACK_UUID, uuid);
    size_t mark = tkt_message_begin(packet, TKT_PF_TRACK_THREAD);
    tkt_message_uint(packet, TKT_PF_THREAD_PID, pid ? pid : 1);
    tkt_message_uint(packet, TKT_PF_THREAD_TID, half->thread_id);
    tkt_message_string_if(packet, TKT_PF_THREAD_NAME, half->name);
    tkt_message_end(packet, mark);
}

uint32_t tkt_perfetto_open_row(tkt_perfetto *file, const tkt_takt_half *half, const char *name,
                               uint64_t parent)
{
    uint64_t uuid = ++file->last_uuid;
    uint32_t row = tkt_perfetto_add_row(file, uuid);
    tkt_message *packet = tkt_perfetto_packet(file, row);
    size_t mark = tkt_message_begin(packet, TKT_PF_PACKET_TRACK);
    if (half->kind == TKT_PF_TRACK_OF_THREAD)
        put_thread(file, uuid, half);
    else
        put_child(packet, uuid, parent, name);
    if (half->kind == TKT_PF_TRACK_OF_STEPS) {
        tkt_message_int(packet, TKT_PF_TRACK_RANK, -1);
        tkt_message_uint(packet, TKT_PF_TRACK_MERGE, 2);
    }
    tkt_message_end(packet, mark);
    put_takt_half(packet, half);
    tkt_perfetto_packet_write(file);
    return row;
}

void tkt_perfetto_group(tkt_perfetto *file, uint64_t uuid, const char *name, int32_t rank)
{
    tkt_message *packet = tkt_perfetto_packet(file, 0);
    size_t mark = tkt_message_begin(packet, TKT_PF_PACKET_TRACK);
    put_child(packet, uuid, TKT_PERFETTO_PROCESS_UUID, name);
    tkt_message_int(packet, TKT_PF_TRACK_RANK, rank);
    tkt_message_end(packet, mark);
    tkt_perfetto_packet_write(file);
}

static tkt_takt_half half_of(const tkt_perfetto *file, uint32_t number, uint32_t lane)
{
    const tkt_track *track = &file->trace->tracks.items[number];
    bool is_async = track->kind == TAKT_TRACK_ASYNC;
    return (tkt_takt_half){.kind = is_async ? TKT_PF_TRACK_ASYNC : TKT_PF_TRACK_OF_THREAD,
                           .index = number,
                           .lane = lane,
                           .thread_id = track->thread_id,
                           .name = tkt_trace_text(file->trace, track->name)};
}

static uint32_t open_track(tkt_perfetto *file, uint32_t number, uint32_t lane)
{
    const tkt_takt_half half = half_of(file, number, lane);
    return tkt_perfetto_open_row(file, &half, half.name, TKT_PERFETTO_PROCESS_UUID);
}

void tkt_perfetto_rename(tkt_perfetto *file, uint32_t track)
{
    const tkt_takt_half half = half_of(file, track, 0);
    put_takt_half(tkt_perfetto_packet(file, tkt_perfetto_track(file, track)), &half);
    tkt_perfetto_packet_write(file);
}

uint32_t tkt_perfetto_track(tkt_perfetto *file, uint32_t track)
{
    while (file->tracks.count <= track) {
        tkt_perfetto_lanes *rows = TKT_ARRAY_ADD(&file->tracks);
        if (!rows) {
            tkt_perfetto_no_memory(file);
            return 0;
        }
        *rows = (tkt_perfetto_lanes){0};
        tkt_perfetto_add_lane(file, rows, open_track(file, (uint32_t)file->tracks.count - 1, 0));
    }
    const tkt_perfetto_lanes *rows = &file->tracks.items[track];
    return rows->rows.count ? rows->rows.items[0] : 0;
}

uint32_t tkt_perfetto_steps_row(tkt_perfetto *file)
{
    if (!file->steps_row)
        file->steps_row = tkt_perfetto_open_row(
            file, &(tkt_takt_half){.kind = TKT_PF_TRACK_OF_STEPS, .name = "steps"}, "steps",
            TKT_PERFETTO_PROCESS_UUID);
    return file->steps_row;
}

/* ---- Lanes ----------------------------------------------------------------------------------- */

bool tkt_perfetto_take_lane(tkt_perfetto *file, tkt_perfetto_lanes *rows, uint64_t begin_ns,
                            uint64_t end_ns, uint32_t *lane)
{
    *lane = tkt_lanes_take(&rows->lanes, begin_ns, end_ns);
    if (*lane == UINT32_MAX)
        tkt_perfetto_no_memory(file);
    return *lane < rows->rows.count;
}

void tkt_perfetto_add_lane(tkt_perfetto *file, tkt_perfetto_lanes *rows, uint32_t row)
{
    uint32_t *added = TKT_ARRAY_ADD(&rows->rows);
    if (added)
        *added = row;
    else
        tkt_perfetto_no_memory(file);
}

void tkt_perfetto_lanes_fini(tkt_perfetto_lanes *rows)
{
    tkt_lanes_fini(&rows->lanes);
    TKT_ARRAY_FREE(&rows->rows);
}

uint32_t tkt_perfetto_hold_lane(tkt_perfetto *file, uint32_t track, uint64_t begin_ns,
                                uint32_t *lane)
{
    uint32_t first = tkt_perfetto_track(file, track);
    *lane = UINT32_MAX;
    if (track >= file->tracks.count)
        return 0;
    *lane = tkt_lanes_hold(&file->tracks.items[track].lanes, begin_ns);
    if (*lane == UINT32_MAX) {
        tkt_perfetto_no_memory(file);
        return first;
    }
    if (*lane < file->tracks.items[track].rows.count)
        return file->tracks.items[track].rows.items[*lane];
    uint32_t row = open_track(file, track, *lane);
    tkt_perfetto_add_lane(file, &file->tracks.items[track], row);
    return row;
}

void tkt_perfetto_free_lane(tkt_perfetto *file, uint32_t track, uint32_t lane, uint64_t end_ns)
{
    if (lane != UINT32_MAX && !tkt_lanes_free(&file->tracks.items[track].lanes, lane, end_ns))
        tkt_perfetto_no_memory(file);
}

uint32_t tkt_perfetto_lane_for(tkt_perfetto *file, uint32_t track, uint64_t begin_ns,
                               uint64_t end_ns)
{
    uint32_t lane, row = tkt_perfetto_hold_lane(file, track, begin_ns, &lane);
    tkt_perfetto_free_lane(file, track, lane, end_ns);
    return row;
}

/* ---- Counters' tracks ------------------------------------------------------------------------ */

/* Takt identifies a counter's track by its uuid. */
static uint64_t open_counter(tkt_perfetto *file, tkt_takt_half half, const char *name,
                             uint64_t parent)
{
    half.index = ++file->last_uuid;
    tkt_message *packet = tkt_perfetto_packet(file, 0);
    size_t mark = tkt_message_begin(packet, TKT_PF_PACKET_TRACK);
    put_child(packet, half.index, parent, name);
    size_t counter = tkt_message_begin(packet, TKT_PF_TRACK_COUNTER);
    if (half.kind != TKT_PF_TRACK_OF_COUNTER)
        tkt_message_uint(packet, TKT_PF_COUNTER_UNIT, TKT_PF_UNIT_BYTES);
    tkt_message_end(packet, counter);
    tkt_message_end(packet, mark);
    put_takt_half(packet, &half);
    tkt_perfetto_packet_write(file);
    return half.index;
}

uint64_t tkt_perfetto_counter_uuid(tkt_perfetto *file, uint32_t name)
{
    uint64_t *uuid = tkt_map_put(&file->counters, name);
    if (!uuid) {
        tkt_perfetto_no_memory(file);
        return 0;
    }
    const char *text = tkt_trace_text(file->trace, name);
    if (*uuid == 0)
        *uuid = open_counter(file, (tkt_takt_half){.kind = TKT_PF_TRACK_OF_COUNTER, .name = text},
                             text, TKT_PERFETTO_PROCESS_UUID);
    return *uuid;
}

static uint64_t open_memory(tkt_perfetto *file, uint32_t device, uint32_t kind)
{
    if (device == 0)
        return open_counter(file,
                            (tkt_takt_half){.kind = TKT_PF_TRACK_OF_MEMORY, .name = "host memory"},
                            "host memory", TKT_PERFETTO_PROCESS_UUID);
    const char *label = tkt_trace_text(file->trace, device);
    char name[64];
    snprintf(name, sizeof name, "%s memory%s", tkt_memory_kind_name(kind & ~TKT_MEMORY_POOL),
             kind & TKT_MEMORY_POOL ? " pools" : "");
    return open_counter(
        file,
        (tkt_takt_half){.kind = TKT_PF_TRACK_OF_DEVICE_MEMORY, .name = label, .memory_kind = kind},
        name, tkt_perfetto_device_uuid(file, device));
}

uint64_t tkt_perfetto_memory_uuid(tkt_perfetto *file, uint32_t device, uint32_t kind)
{
    for (size_t i = 0; i < file->memories.count; i++) {
        const tkt_perfetto_memory_track *known = &file->memories.items[i];
        if (known->device == device && known->kind == kind)
            return known->uuid;
    }
    tkt_perfetto_memory_track *added = TKT_ARRAY_ADD(&file->memories);
    if (!added) {
        tkt_perfetto_no_memory(file);
        return 0;
    }
    *added = (tkt_perfetto_memory_track){device, kind, 0};
    uint64_t uuid = open_memory(file, device, kind);
    file->memories.items[file->memories.count - 1].uuid = uuid;
    return uuid;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

bool tkt_perfetto_memory_after(const takt_trace *trace, uint64_t **out)
{
    const tkt_memory_event *events = trace->memory_events.items;
    size_t count = trace->memory_events.count;
    tkt_memory_sums sums = {0};
    uint64_t *after = count ? tkt_alloc(count * sizeof *after) : NULL;
    bool is_ok = after || !count;
    for (size_t i = 0; i < count && is_ok; i++) {
        uint64_t *sum = tkt_memory_sum(&sums, trace, events[i].device, events[i].kind);
        is_ok = sum != NULL;
        if (is_ok)
            after[i] = *sum += (uint64_t)events[i].bytes;
    }
    TKT_ARRAY_FREE(&sums);
    *out = after;
    return is_ok;
}
