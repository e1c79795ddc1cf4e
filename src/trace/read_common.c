/* Reads what most of a file consists of, in the form in which Takt writes it: packets with the
 * begin or the end of a span or of a device's activity. Everything else, and any other form of
 * these, goes to the general functions of the other files. There are tens of millions of these
 * packets, so only this file of the reader is compiled for speed. */
#include "trace/read.h"

#define VARINT(field) ((field) << 3 | TKT_PB_VARINT)
#define BYTES(field)  ((field) << 3 | TKT_PB_BYTES)

/* The two bytes of a tag from 16 to 2047. */
#define TAG_LOW(field, wire) (((field) << 3 & 0x7F) | 0x80 | (wire))
#define TAG_HIGH(field)      ((field) >> 4)

/* tkt_pb_get_varint() of up to four bytes at once, without branches: times have two or three, and
 * the processor cannot predict how many. */
static const uint8_t *get_long(const uint8_t *at, const uint8_t *end, uint64_t *value)
{
    uint32_t word;
    if (end - at < (ptrdiff_t)sizeof word)
        return tkt_pb_get_varint(at, end, value);
    memcpy(&word, at, sizeof word);
    uint32_t last = ~word & 0x80808080u;
    if (!last)
        return tkt_pb_get_varint(at, end, value);
    word &= last ^ (last - 1); /* its bytes up to the first one without the upper bit */
    *value =
        (word & 0x7F) | (word >> 1 & 0x3F80) | (word >> 2 & 0x1FC000) | (word >> 3 & 0xFE00000);
    return at + (__builtin_ctz(last) + 1) / 8;
}

static inline const uint8_t *get(const uint8_t *at, const uint8_t *end, uint64_t *value)
{
    if (at == end || *at >= 0x80)
        return get_long(at, end, value);
    *value = *at;
    return at + 1;
}

/* ---- Spans ----------------------------------------------------------------------------------- */

bool tkt_read_begin_span(tkt_read *read, tkt_read_row *row, uint64_t time_ns, uint64_t site_iid,
                         const uint8_t *at)
{
    tkt_track *track = &read->trace->tracks.items[row->track];
    if (site_iid - 1 >= read->sites.count)
        return tkt_read_bad(read, at, "an event's site is unknown");
    if (track->spans.count == TKT_NO_SPAN)
        return tkt_read_bad(read, at, "a track has too many spans");
    uint32_t index = (uint32_t)track->spans.count;
    tkt_span *span = TKT_ARRAY_ADD(&track->spans);
    uint32_t *top = TKT_ARRAY_ADD(&row->open);
    if (!span || !top)
        return tkt_read_no_memory(read);
    *top = index;
    *span = (tkt_span){.begin_ns = time_ns,
                       .end_ns = time_ns,
                       .site_flags = read->sites.items[site_iid - 1] << 8,
                       .parent = TKT_NO_SPAN};
    if (row->kind == TKT_PF_TRACK_OF_THREAD && row->open.count > 1)
        span->parent = row->open.items[row->open.count - 2];
    return true;
}

/* Takt's writer never writes an end without a begin. The reader counts one as if the program had
 * recorded it. */
bool tkt_read_end_span(tkt_read *read, tkt_read_row *row, uint64_t time_ns, const uint8_t *at,
                       uint32_t *index)
{
    *index = TKT_NO_SPAN;
    if (row->open.count == 0) {
        read->trace->losses[TAKT_LOSS_MISMATCH]++;
        return true;
    }
    *index = row->open.items[--row->open.count];
    tkt_span *span = &read->trace->tracks.items[row->track].spans.items[*index];
    if (time_ns < span->begin_ns)
        return tkt_read_bad(read, at, "a span ends before it begins");
    span->end_ns = time_ns;
    return true;
}

/* The site of a span's begin without annotations. 0 for any other event. */
static uint64_t span_begin(const uint8_t *at, const uint8_t *end)
{
    uint64_t iid = 0;
    uint64_t other;
    if (end - at < 4 || at[0] != VARINT(TKT_PF_EVENT_TYPE) || at[1] != TKT_PF_SLICE_BEGIN)
        return 0;
    at += 2;
    if (*at == VARINT(TKT_PF_EVENT_CATEGORY_IIDS))
        at = get(at + 1, end, &other);
    if (at && at < end && *at == VARINT(TKT_PF_EVENT_NAME_IID))
        at = get(at + 1, end, &iid);
    if (at && end - at > 2 && at[0] == TAG_LOW(TKT_PF_EVENT_LOCATION_IID, TKT_PB_VARINT) &&
        at[1] == TAG_HIGH(TKT_PF_EVENT_LOCATION_IID))
        at = get(at + 2, end, &other);
    return at == end ? iid : 0;
}

/* ---- Activities ------------------------------------------------------------------------------ */

bool tkt_read_begin_activity(tkt_read *read, tkt_read_row *row, uint64_t time_ns,
                             uint64_t shape_iid, uint32_t correlation, const uint8_t *at)
{
    takt_trace *trace = read->trace;
    size_t index = trace->activities.count;
    if (index == TKT_NO_SPAN)
        return tkt_read_bad(read, at, "the file has too many activities");
    if (shape_iid - 1 >= trace->shapes.count)
        return tkt_read_bad(read, at, "an activity's shape is unknown");
    tkt_activity *activity = TKT_ARRAY_ADD(&trace->activities);
    uint32_t *top = TKT_ARRAY_ADD(&row->open);
    if (!activity || !top)
        return tkt_read_no_memory(read);
    *top = (uint32_t)index;
    const tkt_shape *shape = &trace->shapes.items[shape_iid - 1];
    *activity = (tkt_activity){.begin_ns = time_ns,
                               .end_ns = time_ns,
                               .name = shape->label,
                               .device = row->device,
                               .filter = shape->filter,
                               .track = TKT_NO_TRACK,
                               .span = TKT_NO_SPAN,
                               .scope = TKT_NO_SPAN,
                               .call = TKT_NO_CALL,
                               .shape = (uint32_t)shape_iid - 1,
                               .stream = row->stream,
                               .context = row->context,
                               .correlation = correlation};
    return true;
}

/* Skips annotations of less than 128 bytes. */
static const uint8_t *skip_annotations(const uint8_t *at, const uint8_t *end)
{
    while (end - at >= 2 && at[0] == BYTES(TKT_PF_EVENT_ANNOTATIONS) && at[1] < end - at - 1 &&
           at[1] < 0x80)
        at += 2 + at[1];
    return at;
}

/* The shape of an activity's begin, and its correlation, 0 if it has none. Returns 0 for any other
 * event. All annotations but the correlation repeat the shape. */
static uint64_t activity_begin(const uint8_t *at, const uint8_t *end, uint64_t *correlation)
{
    uint64_t iid;
    *correlation = 0;
    if (end - at < 4 || at[0] != VARINT(TKT_PF_EVENT_TYPE) || at[1] != TKT_PF_SLICE_BEGIN ||
        at[2] != VARINT(TKT_PF_EVENT_NAME_IID))
        return 0;
    at = get(at + 3, end, &iid);
    if (at && end - at >= 10 && at[0] == TAG_LOW(TKT_PF_EVENT_FLOWS, TKT_PB_FIXED64) &&
        at[1] == TAG_HIGH(TKT_PF_EVENT_FLOWS))
        at += 10;
    if (at && end - at > 5 && at[0] == BYTES(TKT_PF_EVENT_ANNOTATIONS) &&
        at[2] == VARINT(TKT_PF_ANNOTATION_NAME_IID) && at[3] == TKT_PF_KEY_CORRELATION &&
        at[4] == VARINT(TKT_PF_ANNOTATION_UINT)) {
        const uint8_t *inner_end = at + 2 + at[1];
        if (at[1] >= 0x80 || inner_end > end)
            return 0;
        at = get(at + 5, inner_end, correlation);
        if (at != inner_end)
            return 0;
    }
    return at && skip_annotations(at, end) == end ? iid : 0;
}

/* ---- Packets --------------------------------------------------------------------------------- */

static bool is_end(const tkt_pb_field *event)
{
    return event->value == 2 && event->bytes[0] == VARINT(TKT_PF_EVENT_TYPE) &&
           event->bytes[1] == TKT_PF_SLICE_END;
}

static bool read_on_stream(tkt_read *read, tkt_read_row *row, uint64_t time_ns,
                           const tkt_pb_field *event)
{
    uint64_t correlation;
    uint64_t shape = activity_begin(event->bytes, event->bytes + event->value, &correlation);
    if (shape)
        return tkt_read_begin_activity(read, row, time_ns, shape, (uint32_t)correlation,
                                       event->bytes);
    return is_end(event) ? tkt_read_end_on_device(read, row, time_ns, event->bytes)
                         : tkt_read_device_event(read, row, time_ns, event);
}

static bool read_on_track(tkt_read *read, tkt_read_row *row, uint64_t time_ns, bool is_late,
                          const tkt_pb_field *event)
{
    uint32_t ended;
    if (is_end(event))
        return tkt_read_end_span(read, row, time_ns, event->bytes, &ended);
    uint64_t site = span_begin(event->bytes, event->bytes + event->value);
    return site ? tkt_read_begin_span(read, row, time_ns, site, event->bytes)
                : tkt_read_event(read, row, time_ns, is_late, event);
}

bool tkt_read_timed_event(tkt_read *read, tkt_read_row *row, uint64_t time_ns,
                          const tkt_pb_field *event)
{
    if (row->kind == TKT_PF_TRACK_NONE)
        return true;
    bool is_late = time_ns < row->latest_ns;
    if (!is_late)
        row->latest_ns = time_ns;
    if (time_ns > read->latest_ns)
        read->latest_ns = time_ns;
    if (row->kind == TKT_PF_TRACK_OF_STREAM)
        return read_on_stream(read, row, time_ns, event);
    if (tkt_read_is_device_row(row))
        return tkt_read_device_event(read, row, time_ns, event);
    return row->track != TKT_NO_TRACK ? read_on_track(read, row, time_ns, is_late, event)
                                      : tkt_read_event(read, row, time_ns, is_late, event);
}

typedef struct timed {
    uint64_t sequence;
    uint64_t ticks; /* ns since the row's previous event */
    tkt_pb_field event;
} timed;

/* The bytes of the field at `at`; NULL if another one is there, or if it has more than 127 bytes.
 */
static inline const uint8_t *get_event(const uint8_t *at, const uint8_t *end, tkt_pb_field *event)
{
    if (end - at < 2 || at[0] != BYTES(TKT_PF_PACKET_TRACK_EVENT) || at[1] >= 0x80 ||
        at[1] > end - at - 2)
        return NULL;
    *event = (tkt_pb_field){TKT_PF_PACKET_TRACK_EVENT, TKT_PB_BYTES, at[1], at + 2};
    return at + 2 + at[1];
}

/* False for all packets but those with a sequence, and an event before or after its time. Bytes up
 * to `readable` may be loaded. */
static inline bool is_timed(const tkt_pb_field *packet, const uint8_t *readable, timed *out)
{
    const uint8_t *at = packet->bytes;
    const uint8_t *end = at + packet->value;
    if (at == end || *at != VARINT(TKT_PF_PACKET_SEQUENCE))
        return false;
    at = get(at + 1, readable, &out->sequence);
    if (!at || at >= end)
        return false;
    if (*at == VARINT(TKT_PF_PACKET_TIMESTAMP)) {
        at = get(at + 1, readable, &out->ticks);
        return at && at < end && get_event(at, end, &out->event) == end;
    }
    at = get_event(at, end, &out->event);
    return at && at < end && *at == VARINT(TKT_PF_PACKET_TIMESTAMP) &&
           get(at + 1, readable, &out->ticks) == end;
}

bool tkt_read_packet(tkt_read *read, const tkt_pb_field *packet, const uint8_t *readable)
{
    timed found;
    if (!is_timed(packet, readable, &found))
        return tkt_read_other_packet(read, packet);
    tkt_read_row *row = tkt_read_row_of(read, found.sequence);
    if (!row)
        return true;
    row->last_ns += found.ticks;
    return tkt_read_timed_event(read, row, row->last_ns, &found.event);
}

/* Reads the next field, which is usually a packet. */
static inline bool next_packet(tkt_pb_reader *packets, tkt_pb_field *packet)
{
    const uint8_t *at = packets->at;
    if (packets->end - at < 2 || *at != BYTES(TKT_PF_TRACE_PACKET) || at[1] >= 0x80 ||
        at[1] > packets->end - at - 2)
        return tkt_pb_next(packets, packet);
    *packet = (tkt_pb_field){TKT_PF_TRACE_PACKET, TKT_PB_BYTES, at[1], at + 2};
    packets->at = at + 2 + at[1];
    return true;
}

bool tkt_read_packets(tkt_read *read, tkt_pb_reader *packets)
{
    tkt_pb_field packet;
    while (!read->is_complete && next_packet(packets, &packet)) {
        if (packet.number != TKT_PF_TRACE_PACKET || packet.wire != TKT_PB_BYTES)
            return tkt_read_bad(read, packet.bytes, "not a trace packet");
        if (!tkt_read_packet(read, &packet, packets->end))
            return false;
    }
    return tkt_read_done(read, packets);
}
