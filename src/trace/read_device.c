/* Reads the work of devices: shapes, devices, rows of streams, waits and overheads, and sums by
 * path. */
#define TKT_ARRAY_INLINE
#include "trace/read.h"

#include <string.h>

/* ---- Structs --------------------------------------------------------------------------------- */

static const tkt_pf_field *find_field(const tkt_pf_field *fields, uint32_t number)
{
    for (uint32_t i = 1; fields->size; fields++, i++)
        if (i == number)
            return fields;
    return NULL;
}

bool tkt_read_fields(tkt_read *read, const tkt_pb_field *from, const tkt_pf_field *fields,
                     void *out)
{
    tkt_pb_reader message = tkt_pb_inside(from);
    tkt_pb_field field;
    while (tkt_pb_next(&message, &field)) {
        const tkt_pf_field *member = find_field(fields, field.number);
        if (!member || member->kind == TKT_PF_OTHER)
            continue;
        uint64_t value = member->kind == TKT_PF_FLAG ? field.value != 0 : field.value;
        uint32_t string = 0;
        if (member->kind == TKT_PF_TEXT) {
            if (!tkt_read_text(read, &field, &string))
                return false;
            value = string;
        }
        memcpy((char *)out + member->offset, &value, member->size);
    }
    return tkt_read_done(read, &message);
}

bool tkt_read_device(tkt_read *read, const tkt_pb_field *from)
{
    tkt_device device = {0};
    if (!tkt_read_fields(read, from, tkt_pf_device_fields, &device))
        return false;
    for (size_t i = 0; i < read->trace->devices.count; i++) {
        if (read->trace->devices.items[i].label != device.label)
            continue;
        read->trace->devices.items[i] = device; /* a stream writes a device again with more facts */
        return true;
    }
    if (read->trace->devices.count == TKT_MOST_DEVICES)
        return tkt_read_bad(read, from->bytes, "too many devices");
    tkt_device *added = TKT_ARRAY_ADD(&read->trace->devices);
    if (!added)
        return tkt_read_no_memory(read);
    *added = device;
    return true;
}

bool tkt_read_shape(tkt_read *read, const tkt_pb_field *from)
{
    tkt_shape shape = {0};
    if (!tkt_read_fields(read, from, tkt_pf_shape_fields, &shape))
        return false;
    tkt_shape *added = TKT_ARRAY_ADD(&read->trace->shapes);
    if (!added)
        return tkt_read_no_memory(read);
    *added = shape;
    return true;
}

/* ---- Events ---------------------------------------------------------------------------------- */

typedef struct device_event {
    const uint8_t *at;
    uint64_t time_ns;
    uint64_t type;
    uint64_t iid;
    uint64_t values[TKT_PF_KEYS]; /* of annotations, by key */
} device_event;

static bool read_annotation(tkt_read *read, const tkt_pb_field *from, device_event *event)
{
    uint64_t key = 0, value = 0;
    tkt_pb_reader message = tkt_pb_inside(from);
    tkt_pb_field field;
    while (tkt_pb_next(&message, &field)) {
        if (field.number == TKT_PF_ANNOTATION_NAME_IID)
            key = field.value;
        else
            value = field.value;
    }
    if (key < TKT_PF_KEYS)
        event->values[key] = value;
    return tkt_read_done(read, &message);
}

/* Reads only the first annotation of an activity; the others repeat its shape. */
static bool read_fields(tkt_read *read, const tkt_pb_field *from, bool is_activity,
                        device_event *event)
{
    tkt_pb_reader message = tkt_pb_inside(from);
    tkt_pb_field field;
    bool has_annotation = false;
    while (tkt_pb_next(&message, &field)) {
        if (field.number == TKT_PF_EVENT_TYPE)
            event->type = field.value;
        else if (field.number == TKT_PF_EVENT_NAME_IID)
            event->iid = field.value;
        if (field.number != TKT_PF_EVENT_ANNOTATIONS || field.wire != TKT_PB_BYTES ||
            (is_activity && has_annotation))
            continue;
        has_annotation = true;
        if (!read_annotation(read, &field, event))
            return false;
    }
    return tkt_read_done(read, &message);
}

static bool begin_wait(tkt_read *read, const device_event *event)
{
    tkt_wait *added = TKT_ARRAY_ADD(&read->trace->waits);
    if (!added)
        return tkt_read_no_memory(read);
    *added =
        (tkt_wait){.begin_ns = event->time_ns,
                   .end_ns = event->time_ns,
                   .correlation = (uint32_t)event->values[TKT_PF_KEY_CORRELATION],
                   .context = (uint32_t)event->values[TKT_PF_KEY_CONTEXT],
                   .stream = (uint32_t)event->values[TKT_PF_KEY_STREAM],
                   .kind = (uint32_t)event->values[TKT_PF_KEY_KIND],
                   .event = (uint32_t)event->values[TKT_PF_KEY_EVENT],
                   .record_correlation = (uint32_t)event->values[TKT_PF_KEY_RECORD_CORRELATION],
                   .record_stream = (uint32_t)event->values[TKT_PF_KEY_RECORD_STREAM]};
    return true;
}

static bool begin_overhead(tkt_read *read, const device_event *event)
{
    tkt_overhead *added = TKT_ARRAY_ADD(&read->trace->overheads);
    if (!added)
        return tkt_read_no_memory(read);
    *added = (tkt_overhead){.begin_ns = event->time_ns,
                            .end_ns = event->time_ns,
                            .kind = (uint32_t)event->values[TKT_PF_KEY_KIND],
                            .thread_id = (uint32_t)event->values[TKT_PF_KEY_THREAD]};
    return true;
}

static size_t *count_of(takt_trace *trace, const tkt_read_row *row)
{
    if (row->kind == TKT_PF_TRACK_OF_STREAM)
        return &trace->activities.count;
    return row->kind == TKT_PF_TRACK_OF_WAITS ? &trace->waits.count : &trace->overheads.count;
}

/* The begin and end of item `index` of the row's list: both are the first members of its struct. */
static uint64_t *times_of(takt_trace *trace, const tkt_read_row *row, uint32_t index)
{
    if (row->kind == TKT_PF_TRACK_OF_STREAM)
        return &trace->activities.items[index].begin_ns;
    return row->kind == TKT_PF_TRACK_OF_WAITS ? &trace->waits.items[index].begin_ns
                                              : &trace->overheads.items[index].begin_ns;
}

static bool begin(tkt_read *read, tkt_read_row *row, const device_event *event)
{
    if (row->kind == TKT_PF_TRACK_OF_STREAM)
        return tkt_read_begin_activity(read, row, event->time_ns, event->iid,
                                       (uint32_t)event->values[TKT_PF_KEY_CORRELATION], event->at);
    size_t count = *count_of(read->trace, row);
    uint32_t *open = TKT_ARRAY_ADD(&row->open);
    if (!open)
        return tkt_read_no_memory(read);
    *open = (uint32_t)count;
    if (count == TKT_NO_SPAN)
        return tkt_read_bad(read, event->at, "the file has too many activities");
    return row->kind == TKT_PF_TRACK_OF_WAITS ? begin_wait(read, event)
                                              : begin_overhead(read, event);
}

bool tkt_read_end_on_device(tkt_read *read, tkt_read_row *row, uint64_t time_ns, const uint8_t *at)
{
    if (row->open.count == 0) {
        read->trace->losses[TAKT_LOSS_MISMATCH]++;
        return true;
    }
    uint64_t *times = times_of(read->trace, row, row->open.items[--row->open.count]);
    if (time_ns < times[0])
        return tkt_read_bad(read, at, "an activity ends before it begins");
    times[1] = time_ns;
    return true;
}

bool tkt_read_device_event(tkt_read *read, tkt_read_row *row, uint64_t time_ns,
                           const tkt_pb_field *from)
{
    device_event event = {.at = from->bytes, .time_ns = time_ns};
    if (!read_fields(read, from, row->kind == TKT_PF_TRACK_OF_STREAM, &event))
        return false;
    if (event.type == TKT_PF_SLICE_BEGIN)
        return begin(read, row, &event);
    return event.type != TKT_PF_SLICE_END ||
           tkt_read_end_on_device(read, row, time_ns, from->bytes);
}

/* Open items are at the end of their list: in Takt's own files, an end directly follows its
 * begin. */
void tkt_read_close_device_row(tkt_read *read, tkt_read_row *row)
{
    size_t *count = count_of(read->trace, row);
    while (row->open.count)
        *count -= row->open.items[--row->open.count] + (size_t)1 == *count;
}

/* ---- The folded form ------------------------------------------------------------------------- */

static bool read_node_field(tkt_read *read, const tkt_pb_field *field, tkt_node_activity *to)
{
    switch (field->number) {
    case TKT_PF_NODE_ACTIVITY_NODE:
        to->node = (uint32_t)field->value;
        return field->value < read->trace->fold.count ||
               tkt_read_bad(read, field->bytes, "an activity's node is unknown");
    case TKT_PF_NODE_ACTIVITY_NAME:
        return tkt_read_text(read, field, &to->name);
    case TKT_PF_NODE_ACTIVITY_DEVICE:
        return tkt_read_text(read, field, &to->device);
    case TKT_PF_NODE_ACTIVITY_FILTER:
        to->filter = (uint32_t)field->value;
        return true;
    case TKT_PF_NODE_ACTIVITY_STATS:
        return tkt_read_stats(read, field, &to->stats, &to->histogram);
    default:
        return true;
    }
}

bool tkt_read_node_activity(tkt_read *read, const tkt_pb_field *from)
{
    tkt_node_activity activity = {0};
    tkt_stats_init(&activity.stats);
    tkt_pb_reader message = tkt_pb_inside(from);
    tkt_pb_field field;
    while (tkt_pb_next(&message, &field))
        if (!read_node_field(read, &field, &activity))
            return false;
    if (!tkt_read_done(read, &message))
        return false;
    tkt_node_activity *added = TKT_ARRAY_ADD(&read->trace->node_activities);
    if (!added)
        return tkt_read_no_memory(read);
    *added = activity;
    return true;
}
