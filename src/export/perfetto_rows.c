/* Rows and what is said once on each of them: which track it is, where its clock starts, and the
 * names and sources that its events refer to by number. Numbers are given by first use in the whole
 * file, so that a reader can check them; Perfetto wants the texts repeated on each sequence. */
#include "export/perfetto_file.h"

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
    tkt_writer_put(file->writer, head, (size_t)(end - head));
    tkt_writer_put(file->writer, message->items, message->count);
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

/* Takt's times are those of CLOCK_MONOTONIC. A sequence may have clocks of its own; this one says
 * how much time has passed since the event before. */
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

/* Takt's half of a track's description. */
typedef struct takt_half {
    tkt_pf_track_kind kind;
    uint64_t index; /* of the track in the trace; of a counter: its uuid */
    uint32_t lane;
    uint32_t thread_id;
    const char *name;
} takt_half;

static void put_takt_half(tkt_message *packet, const takt_half *half)
{
    size_t takt = tkt_message_begin(packet, TKT_PF_PACKET_TAKT);
    size_t mark = tkt_message_begin(packet, TKT_PF_TAKT_TRACK);
    tkt_message_uint(packet, TKT_PF_TAKT_TRACK_KIND, half->kind);
    tkt_message_uint_if(packet, TKT_PF_TAKT_TRACK_INDEX, half->index);
    tkt_message_uint_if(packet, TKT_PF_TAKT_TRACK_LANE, half->lane);
    tkt_message_string_if(packet, TKT_PF_TAKT_TRACK_NAME, half->name);
    tkt_message_uint_if(packet, TKT_PF_TAKT_TRACK_THREAD_ID, half->thread_id);
    tkt_message_end(packet, mark);
    tkt_message_end(packet, takt);
}

static void put_child(tkt_message *packet, uint64_t uuid, const char *name)
{
    tkt_message_uint(packet, TKT_PF_TRACK_UUID, uuid);
    tkt_message_uint(packet, TKT_PF_TRACK_PARENT, TKT_PERFETTO_PROCESS_UUID);
    tkt_message_string(packet, TKT_PF_TRACK_NAME, name);
}

/* Perfetto takes all tracks with one thread id for one thread, and id 0 for the idle one. The
 * system gives ids again, so a further track of the same id becomes an ordinary row. */
static bool is_new_thread(tkt_perfetto *file, uint32_t thread_id)
{
    uint64_t *tracks = thread_id ? tkt_map_put(&file->thread_ids, thread_id) : NULL;
    if (thread_id && !tracks)
        tkt_perfetto_no_memory(file);
    return tracks && (*tracks)++ == 0;
}

static void put_thread(tkt_perfetto *file, uint64_t uuid, const takt_half *half)
{
    tkt_message *packet = &file->message;
    if (!is_new_thread(file, half->thread_id)) {
        char made[32];
        snprintf(made, sizeof made, "thread %u", half->thread_id);
        put_child(packet, uuid, half->name[0] ? half->name : made);
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

/* A row and the description of its track. */
static uint32_t open_row(tkt_perfetto *file, const takt_half *half)
{
    uint64_t uuid = ++file->last_uuid;
    uint32_t row = tkt_perfetto_add_row(file, uuid);
    tkt_message *packet = tkt_perfetto_packet(file, row);
    size_t mark = tkt_message_begin(packet, TKT_PF_PACKET_TRACK);
    if (half->kind == TKT_PF_TRACK_OF_THREAD)
        put_thread(file, uuid, half);
    else
        put_child(packet, uuid, half->name);
    if (half->kind == TKT_PF_TRACK_OF_STEPS) {
        tkt_message_int(packet, TKT_PF_TRACK_RANK, -1);
        tkt_message_uint(packet, TKT_PF_TRACK_MERGE, 2);
    }
    tkt_message_end(packet, mark);
    put_takt_half(packet, half);
    tkt_perfetto_packet_write(file);
    return row;
}

static uint32_t open_track(tkt_perfetto *file, uint32_t number, uint32_t lane)
{
    const tkt_track *track = &file->trace->tracks.items[number];
    bool is_async = track->kind == TAKT_TRACK_ASYNC;
    return open_row(file,
                    &(takt_half){.kind = is_async ? TKT_PF_TRACK_ASYNC : TKT_PF_TRACK_OF_THREAD,
                                 .index = number,
                                 .lane = lane,
                                 .thread_id = track->thread_id,
                                 .name = tkt_trace_text(file->trace, track->name)});
}

uint32_t tkt_perfetto_track(tkt_perfetto *file, uint32_t track)
{
    while (file->tracks.count <= track) {
        tkt_perfetto_track_rows *rows = TKT_ARRAY_ADD(&file->tracks);
        if (!rows) {
            tkt_perfetto_no_memory(file);
            return 0;
        }
        *rows = (tkt_perfetto_track_rows){.lane_count = 1};
        rows->row = open_track(file, (uint32_t)file->tracks.count - 1, 0);
    }
    return file->tracks.items[track].row;
}

uint32_t tkt_perfetto_steps_row(tkt_perfetto *file)
{
    if (!file->steps_row)
        file->steps_row =
            open_row(file, &(takt_half){.kind = TKT_PF_TRACK_OF_STEPS, .name = "steps"});
    return file->steps_row;
}

/* ---- Lanes ----------------------------------------------------------------------------------- */

static void sift_down(tkt_perfetto_lane *lanes, size_t count)
{
    for (size_t at = 0, child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && lanes[child + 1].free_ns < lanes[child].free_ns)
            child++;
        if (lanes[at].free_ns <= lanes[child].free_ns)
            return;
        tkt_perfetto_lane moved = lanes[at];
        lanes[at] = lanes[child];
        lanes[child] = moved;
    }
}

static void sift_up(tkt_perfetto_lane *lanes, size_t at)
{
    for (size_t parent; at > 0; at = parent) {
        parent = (at - 1) / 2;
        if (lanes[parent].free_ns <= lanes[at].free_ns)
            return;
        tkt_perfetto_lane moved = lanes[at];
        lanes[at] = lanes[parent];
        lanes[parent] = moved;
    }
}

uint32_t tkt_perfetto_lane_for(tkt_perfetto *file, uint32_t track, uint64_t begin_ns,
                               uint64_t end_ns)
{
    uint32_t row = tkt_perfetto_track(file, track);
    if (track >= file->tracks.count)
        return 0;
    tkt_perfetto_track_rows *rows = &file->tracks.items[track];
    if (rows->lanes.count && rows->lanes.items[0].free_ns <= begin_ns) {
        row = rows->lanes.items[0].row;
        rows->lanes.items[0].free_ns = end_ns;
        sift_down(rows->lanes.items, rows->lanes.count);
        return row;
    }
    if (rows->lanes.count)
        row = open_track(file, track, rows->lane_count++);
    tkt_perfetto_lane *lane = TKT_ARRAY_ADD(&rows->lanes);
    if (!lane) {
        tkt_perfetto_no_memory(file);
        return row;
    }
    *lane = (tkt_perfetto_lane){end_ns, row};
    sift_up(rows->lanes.items, rows->lanes.count - 1);
    return row;
}

/* ---- Counters' tracks ------------------------------------------------------------------------ */

static uint64_t open_counter(tkt_perfetto *file, tkt_pf_track_kind kind, const char *name)
{
    uint64_t uuid = ++file->last_uuid;
    tkt_message *packet = tkt_perfetto_packet(file, 0);
    size_t mark = tkt_message_begin(packet, TKT_PF_PACKET_TRACK);
    put_child(packet, uuid, name);
    size_t counter = tkt_message_begin(packet, TKT_PF_TRACK_COUNTER);
    if (kind == TKT_PF_TRACK_OF_MEMORY)
        tkt_message_uint(packet, TKT_PF_COUNTER_UNIT, TKT_PF_UNIT_BYTES);
    tkt_message_end(packet, counter);
    tkt_message_end(packet, mark);
    put_takt_half(packet, &(takt_half){.kind = kind, .index = uuid, .name = name});
    tkt_perfetto_packet_write(file);
    return uuid;
}

uint64_t tkt_perfetto_counter_uuid(tkt_perfetto *file, uint32_t name)
{
    uint64_t *uuid = tkt_map_put(&file->counters, name);
    if (!uuid) {
        tkt_perfetto_no_memory(file);
        return 0;
    }
    if (*uuid == 0)
        *uuid = open_counter(file, TKT_PF_TRACK_OF_COUNTER, tkt_trace_text(file->trace, name));
    return *uuid;
}

uint64_t tkt_perfetto_memory_uuid(tkt_perfetto *file)
{
    if (!file->memory_uuid)
        file->memory_uuid = open_counter(file, TKT_PF_TRACK_OF_MEMORY, "host memory");
    return file->memory_uuid;
}
