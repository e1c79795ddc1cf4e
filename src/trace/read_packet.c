/* Reads packets: their sequence, their time, and the rows, sites and keys that they describe. */
#include "trace/read.h"

#include "base/file.h"

#include <stddef.h>

typedef struct packet_fields {
    uint64_t timestamp;
    uint64_t clock; /* 0: the sequence's own */
    uint64_t sequence;
    bool has_timestamp;
    tkt_pb_field event; /* this and the next three: number 0 if the packet has none */
    tkt_pb_field snapshot;
    tkt_pb_field takt;
    tkt_pb_field packed;
} packet_fields;

/* ---- Clocks ---------------------------------------------------------------------------------- */

static bool read_clock(tkt_read *read, const tkt_pb_field *clock, uint64_t *id, uint64_t *time_ns)
{
    tkt_pb_reader message = tkt_pb_inside(clock);
    tkt_pb_field field;
    while (tkt_pb_next(&message, &field)) {
        if (field.number == TKT_PF_CLOCK_ID)
            *id = field.value;
        else if (field.number == TKT_PF_CLOCK_TIMESTAMP)
            *time_ns = field.value;
    }
    return tkt_read_done(read, &message);
}

/* Sets a row's clock; adds the row if the sequence is new. Sequences count up from 1. */
static bool start_row(tkt_read *read, uint64_t sequence, uint64_t time_ns)
{
    if (sequence == read->rows.count + 1) {
        tkt_read_row *added = TKT_ARRAY_ADD(&read->rows);
        if (!added)
            return tkt_read_no_memory(read);
        *added = (tkt_read_row){0};
    }
    tkt_read_row *row = tkt_read_row_of(read, sequence);
    if (row)
        row->last_ns = time_ns;
    return true;
}

static bool read_snapshot(tkt_read *read, const packet_fields *packet)
{
    tkt_pb_reader message = tkt_pb_inside(&packet->snapshot);
    tkt_pb_field field;
    while (tkt_pb_next(&message, &field)) {
        uint64_t id = 0;
        uint64_t time_ns = 0;
        if (field.number != TKT_PF_SNAPSHOT_CLOCKS || field.wire != TKT_PB_BYTES)
            continue;
        if (!read_clock(read, &field, &id, &time_ns))
            return false;
        if (id == TKT_PF_DELTA_CLOCK && !start_row(read, packet->sequence, time_ns))
            return false;
    }
    return tkt_read_done(read, &message);
}

/* ---- Tracks ---------------------------------------------------------------------------------- */

typedef struct track_half {
    uint64_t kind;
    uint64_t index;
    uint64_t lane;
    uint64_t thread_id;
    uint64_t context;
    uint64_t stream;
    uint64_t memory_kind;
    uint32_t name;
} track_half;

#define HALF(member, kind)                                                                         \
    {                                                                                              \
        offsetof(track_half, member), sizeof(((track_half *)0)->member), kind                      \
    }
static const tkt_pf_field half_fields[] = {
    HALF(kind, TKT_PF_NUMBER),   HALF(index, TKT_PF_NUMBER),       HALF(lane, TKT_PF_NUMBER),
    HALF(name, TKT_PF_TEXT),     HALF(thread_id, TKT_PF_NUMBER),   HALF(context, TKT_PF_NUMBER),
    HALF(stream, TKT_PF_NUMBER), HALF(memory_kind, TKT_PF_NUMBER), {0, 0, TKT_PF_OTHER},
};

/* Makes a sequence the row of a new track, or a further lane of a known track. */
static bool add_track(tkt_read *read, tkt_read_row *row, const track_half *half, const uint8_t *at)
{
    takt_trace *trace = read->trace;
    takt_track_kind kind = half->kind == TKT_PF_TRACK_ASYNC ? TAKT_TRACK_ASYNC : TAKT_TRACK_THREAD;
    if (row->kind == (tkt_pf_track_kind)half->kind && half->lane == 0 &&
        row->track == half->index) { /* a stream repeats the track when it has a name */
        trace->tracks.items[row->track].name = half->name;
        return true;
    }
    if (row->kind != TKT_PF_TRACK_NONE)
        return tkt_read_bad(read, at, "a sequence is described twice");
    if (half->lane == 0 && half->index == trace->tracks.count) {
        if (tkt_trace_add_track(trace, kind, half->name, (uint32_t)half->thread_id) == TKT_NO_TRACK)
            return tkt_read_no_memory(read);
    } else if (half->lane == 0 || half->index >= trace->tracks.count ||
               trace->tracks.items[half->index].kind != kind) {
        return tkt_read_bad(read, at, "a track's number does not follow the previous one");
    }
    row->track = (uint32_t)half->index;
    row->kind = (tkt_pf_track_kind)half->kind;
    return true;
}

static bool add_counter(tkt_read *read, tkt_map *map, const track_half *half, uint64_t value)
{
    uint64_t *place = tkt_map_put(map, half->index);
    if (!place)
        return tkt_read_no_memory(read);
    *place = value;
    return true;
}

/* Makes a sequence a row without a track. */
static bool set_row(tkt_read *read, tkt_read_row *row, const track_half *half, const uint8_t *at)
{
    if (row->kind != TKT_PF_TRACK_NONE)
        return tkt_read_bad(read, at, "a sequence is described twice");
    row->kind = (tkt_pf_track_kind)half->kind;
    row->track = TKT_NO_TRACK;
    row->stream = (uint32_t)half->stream;
    row->context = (uint32_t)half->context;
    row->device = half->name;
    return true;
}

static bool read_track(tkt_read *read, uint64_t sequence, const tkt_pb_field *track)
{
    track_half half = {0};
    if (!tkt_read_fields(read, track, half_fields, &half))
        return false;
    tkt_read_row *row = tkt_read_row_of(read, sequence);
    if (!row)
        return tkt_read_bad(read, track->bytes, "a track is on a sequence without a clock");
    switch (half.kind) {
    case TKT_PF_TRACK_OF_THREAD:
    case TKT_PF_TRACK_ASYNC:
        return add_track(read, row, &half, track->bytes);
    case TKT_PF_TRACK_OF_STEPS:
    case TKT_PF_TRACK_OF_STREAM:
    case TKT_PF_TRACK_OF_WAITS:
    case TKT_PF_TRACK_OF_OVERHEADS:
    case TKT_PF_TRACK_OF_EVENTS:
        return set_row(read, row, &half, track->bytes);
    case TKT_PF_TRACK_OF_COUNTER:
        return add_counter(read, &read->counters, &half, half.name);
    case TKT_PF_TRACK_OF_MEMORY:
        return add_counter(read, &read->memories, &half, 0);
    case TKT_PF_TRACK_OF_DEVICE_MEMORY:
        return add_counter(read, &read->memories, &half,
                           half.name ? (uint64_t)half.name << 32 | (uint32_t)half.memory_kind : 0);
    default:
        return true;
    }
}

/* ---- Sites and keys -------------------------------------------------------------------------- */

static bool read_site(tkt_read *read, const tkt_pb_field *from)
{
    tkt_trace_site site = {0};
    if (!tkt_read_fields(read, from, tkt_pf_site_fields, &site))
        return false;
    uint64_t iid = 0;
    tkt_pb_reader message = tkt_pb_inside(from);
    tkt_pb_field field;
    while (tkt_pb_next(&message, &field))
        if (field.number == TKT_PF_SITE_IID)
            iid = field.value;
    if (site.kind > TAKT_SITE_CALL)
        site.kind = TAKT_SITE_SCOPE;
    if (iid != read->sites.count + 1)
        return tkt_read_bad(read, from->bytes, "a site's number does not follow the previous one");
    uint32_t index = tkt_trace_site_index(read->trace, &site);
    uint32_t *place = TKT_ARRAY_ADD(&read->sites);
    if (index == UINT32_MAX || !place)
        return tkt_read_no_memory(read);
    *place = index;
    return true;
}

static bool read_key(tkt_read *read, const tkt_pb_field *from)
{
    uint32_t name = 0;
    uint64_t iid = 0;
    tkt_pb_reader message = tkt_pb_inside(from);
    tkt_pb_field field;
    while (tkt_pb_next(&message, &field)) {
        if (field.number == TKT_PF_KEY_IID)
            iid = field.value;
        else if (field.number == TKT_PF_KEY_NAME && !tkt_read_text(read, &field, &name))
            return false;
    }
    if (!tkt_read_done(read, &message))
        return false;
    if (iid != read->keys.count + TKT_PF_KEY_FIRST)
        return tkt_read_bad(read, from->bytes, "a key's number does not follow the previous one");
    uint32_t *place = TKT_ARRAY_ADD(&read->keys);
    if (!place)
        return tkt_read_no_memory(read);
    *place = name;
    return true;
}

/* ---- Packets --------------------------------------------------------------------------------- */

static bool read_takt_field(tkt_read *read, uint64_t sequence, const tkt_pb_field *field)
{
    if (field->number == TKT_PF_TAKT_FORMAT)
        return tkt_read_bad(read, field->bytes, "a second trace begins");
    if (field->number == TKT_PF_TAKT_FOLD_END)
        return tkt_read_fold_end(read, field->value);
    if (field->number == TKT_PF_TAKT_HAS_LISTS)
        return tkt_read_has_lists(read, field->value != 0);
    if (field->number == TKT_PF_TAKT_STOPPED && field->wire == TKT_PB_VARINT) {
        read->trace->stopped_by = field->value < 128 ? (uint32_t)field->value : TKT_FILE_NOT_WHOLE;
        return true;
    }
    if (field->number == TKT_PF_TAKT_END) {
        read->is_complete = true;
        return true;
    }
    if (field->wire != TKT_PB_BYTES)
        return true;
    switch (field->number) {
    case TKT_PF_TAKT_FACTS:
        return tkt_read_facts(read, field);
    case TKT_PF_TAKT_TRACK:
        return read_track(read, sequence, field);
    case TKT_PF_TAKT_SITES:
        return read_site(read, field);
    case TKT_PF_TAKT_KEYS:
        return read_key(read, field);
    case TKT_PF_TAKT_NODES:
        return tkt_read_node(read, field);
    case TKT_PF_TAKT_COUNTERS:
        return tkt_read_counter(read, field);
    case TKT_PF_TAKT_TASKS:
        return tkt_read_task(read, field);
    case TKT_PF_TAKT_THREADS:
        return tkt_read_thread(read, field);
    case TKT_PF_TAKT_DEVICES:
        return tkt_read_device(read, field);
    case TKT_PF_TAKT_SHAPES:
        return tkt_read_shape(read, field);
    case TKT_PF_TAKT_NODE_ACTIVITIES:
        return tkt_read_node_activity(read, field);
    case TKT_PF_TAKT_FRAMES:
        return tkt_read_frame(read, field);
    case TKT_PF_TAKT_STACKS:
        return tkt_read_stack(read, field);
    case TKT_PF_TAKT_RUN:
        return tkt_read_run(read, field);
    case TKT_PF_TAKT_PHASE_NAMES:
        return tkt_read_phase_name(read, field);
    case TKT_PF_TAKT_SEGMENTS:
        return tkt_read_segment(read, field);
    case TKT_PF_TAKT_RECORDS:
        return tkt_read_records(read, field);
    default:
        return true;
    }
}

static bool read_takt(tkt_read *read, const packet_fields *packet)
{
    tkt_pb_reader message = tkt_pb_inside(&packet->takt);
    tkt_pb_field field;
    while (tkt_pb_next(&message, &field)) {
        if (!read_takt_field(read, packet->sequence, &field))
            return false;
    }
    return tkt_read_done(read, &message);
}

/* Reads an event. Skips events of sequences that are not Takt's, and of clocks that Takt does not
 * use. */
static bool read_event(tkt_read *read, const packet_fields *packet)
{
    tkt_read_row *row = tkt_read_row_of(read, packet->sequence);
    if (!row || !packet->has_timestamp)
        return true;
    uint64_t time_ns = packet->timestamp;
    if (packet->clock == 0 || packet->clock == TKT_PF_DELTA_CLOCK)
        row->last_ns = time_ns += row->last_ns;
    else if (packet->clock != TKT_PF_MONOTONIC)
        return true;
    return tkt_read_timed_event(read, row, time_ns, &packet->event);
}

static void set_field(packet_fields *packet, const tkt_pb_field *field)
{
    switch (field->number) {
    case TKT_PF_PACKET_TIMESTAMP:
        packet->timestamp = field->value;
        packet->has_timestamp = true;
        break;
    case TKT_PF_PACKET_SEQUENCE:
        packet->sequence = field->value;
        break;
    case TKT_PF_PACKET_CLOCK:
        packet->clock = field->value;
        break;
    case TKT_PF_PACKET_TRACK_EVENT:
        packet->event = *field;
        break;
    case TKT_PF_PACKET_CLOCK_SNAPSHOT:
        packet->snapshot = *field;
        break;
    case TKT_PF_PACKET_TAKT:
        packet->takt = *field;
        break;
    case TKT_PF_PACKET_COMPRESSED:
        packet->packed = *field;
        break;
    default:
        break;
    }
}

static bool is_message(const tkt_pb_field *field)
{
    return field->number && field->wire == TKT_PB_BYTES;
}

bool tkt_read_other_packet(tkt_read *read, const tkt_pb_field *from)
{
    packet_fields packet = {0};
    tkt_pb_reader message = tkt_pb_inside(from);
    tkt_pb_field field;
    while (tkt_pb_next(&message, &field))
        set_field(&packet, &field);
    if (!tkt_read_done(read, &message))
        return false;
    if (is_message(&packet.packed) && !tkt_read_packed(read, &packet.packed))
        return false;
    if (is_message(&packet.snapshot) && !read_snapshot(read, &packet))
        return false;
    if (is_message(&packet.takt) && !read_takt(read, &packet))
        return false;
    return !is_message(&packet.event) || read_event(read, &packet);
}
