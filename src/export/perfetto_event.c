/* Events of a Perfetto file, and messages within messages. */
#include "base/text.h"
#include "export/perfetto.h"
#include "trace/protobuf.h"

#include <string.h>

/* ======== Events ======== */

/* The most common event, begin or end of a slice without annotations, is written directly to the
 * writer's buffer with a copied track_event. It takes 11 to 15 bytes for the times of a simulator.
 * The time comes last, behind bytes that repeat themselves: they then compress by a tenth better.
 * All other events are built as messages. */

#define EVENT_ROOM 64 /* a packet without annotations has at most 2 + 11 + 8 + 24 bytes */

#define END_EVENT_BYTES 4
static const char end_event[TKT_PERFETTO_EVENT_BYTES] = {
    TKT_PF_PACKET_TRACK_EVENT << 3 | TKT_PB_BYTES, END_EVENT_BYTES - 2,
    TKT_PF_EVENT_TYPE << 3 | TKT_PB_VARINT, TKT_PF_SLICE_END};

/* Writes the packet's time: the difference to the row's last event. If time went backwards, writes
 * the absolute time, which leaves the row's clock unchanged. */
static void put_time(tkt_message *packet, tkt_perfetto_row *row, uint64_t time_ns)
{
    if (time_ns >= row->last_ns) {
        tkt_message_uint(packet, TKT_PF_PACKET_TIMESTAMP, time_ns - row->last_ns);
        row->last_ns = time_ns;
        return;
    }
    tkt_message_uint(packet, TKT_PF_PACKET_TIMESTAMP, time_ns);
    tkt_message_uint(packet, TKT_PF_PACKET_CLOCK, TKT_PF_MONOTONIC);
}

size_t tkt_perfetto_event(tkt_perfetto *file, uint32_t row, uint32_t type, uint64_t time_ns)
{
    tkt_message *packet = tkt_perfetto_packet(file, row);
    put_time(packet, &file->rows.items[row], time_ns);
    size_t mark = tkt_message_begin(packet, TKT_PF_PACKET_TRACK_EVENT);
    tkt_message_uint(packet, TKT_PF_EVENT_TYPE, type);
    return mark;
}

void tkt_perfetto_event_end(tkt_perfetto *file, size_t mark)
{
    tkt_message_append(&file->message, &file->annotations);
    file->annotations.is_short = false;
    tkt_message_clear(&file->annotations);
    tkt_message_end(&file->message, mark);
    tkt_perfetto_packet_write(file);
}

static void put_site(tkt_perfetto *file, const tkt_perfetto_site *site, uint32_t index)
{
    const tkt_trace_site *from = &file->trace->sites.items[index];
    if (from->category)
        tkt_message_uint(&file->message, TKT_PF_EVENT_CATEGORY_IIDS, site->iid);
    tkt_message_uint(&file->message, TKT_PF_EVENT_NAME_IID, site->iid);
    if (from->file)
        tkt_message_uint(&file->message, TKT_PF_EVENT_LOCATION_IID, site->iid);
}

static void put_short_event(tkt_perfetto *file, tkt_perfetto_row *row, uint64_t time_ns,
                            const char *event, size_t size)
{
    char *packet = tkt_writer_reserve(file->writer, EVENT_ROOM);
    char *out = packet + 2;
    memcpy(out, row->head, sizeof row->head);
    out += row->head_size;
    memcpy(out, event, TKT_PERFETTO_EVENT_BYTES);
    out += size;
    *out++ = TKT_PF_PACKET_TIMESTAMP << 3 | TKT_PB_VARINT;
    out = tkt_pb_put_varint(out, time_ns - row->last_ns);
    packet[0] = TKT_PF_TRACE_PACKET << 3 | TKT_PB_BYTES;
    packet[1] = (char)(out - packet - 2);
    tkt_writer_commit(file->writer, out);
    row->last_ns = time_ns;
}

static bool is_short(const tkt_perfetto *file, const tkt_perfetto_row *row, uint64_t time_ns)
{
    return __builtin_expect(
        time_ns >= row->last_ns && file->annotations.count == 0 && !file->annotations.is_short, 1);
}

void tkt_perfetto_begin(tkt_perfetto *file, uint32_t row, uint32_t site, uint64_t time_ns)
{
    const tkt_perfetto_site *known = tkt_perfetto_site_on(file, row, site);
    if (!known)
        return;
    tkt_perfetto_row *on = &file->rows.items[row];
    if (is_short(file, on, time_ns)) {
        put_short_event(file, on, time_ns, known->event, known->size);
        return;
    }
    size_t mark = tkt_perfetto_event(file, row, TKT_PF_SLICE_BEGIN, time_ns);
    put_site(file, known, site);
    tkt_perfetto_event_end(file, mark);
}

void tkt_perfetto_end(tkt_perfetto *file, uint32_t row, uint64_t time_ns)
{
    tkt_perfetto_row *on = &file->rows.items[row];
    if (is_short(file, on, time_ns))
        put_short_event(file, on, time_ns, end_event, END_EVENT_BYTES);
    else
        tkt_perfetto_event_end(file, tkt_perfetto_event(file, row, TKT_PF_SLICE_END, time_ns));
}

void tkt_perfetto_mark(tkt_perfetto *file, uint32_t row, uint32_t site, uint64_t time_ns)
{
    const tkt_perfetto_site *known = tkt_perfetto_site_on(file, row, site);
    if (!known)
        return;
    size_t mark = tkt_perfetto_event(file, row, TKT_PF_INSTANT, time_ns);
    put_site(file, known, site);
    tkt_perfetto_event_end(file, mark);
}

void tkt_perfetto_counter(tkt_perfetto *file, uint32_t row, const tkt_counter *counter)
{
    uint64_t uuid = tkt_perfetto_counter_uuid(file, counter->name);
    size_t mark = tkt_perfetto_event(file, row, TKT_PF_COUNTER, counter->time_ns);
    tkt_message_uint(&file->message, TKT_PF_EVENT_TRACK_UUID, uuid);
    tkt_message_double(&file->message, TKT_PF_EVENT_COUNTER_DOUBLE, counter->value);
    tkt_perfetto_event_end(file, mark);
}

/* The end of an arrow is an instant of its own, which keeps its time. */
void tkt_perfetto_flow(tkt_perfetto *file, uint32_t row, const tkt_flow *flow)
{
    size_t mark = tkt_perfetto_event(file, row, TKT_PF_INSTANT, flow->time_ns);
    tkt_message_string(&file->message, TKT_PF_EVENT_NAME, "flow");
    tkt_message_fixed64(&file->message,
                        flow->is_end ? TKT_PF_EVENT_ENDING_FLOWS : TKT_PF_EVENT_FLOWS, flow->id);
    tkt_perfetto_event_end(file, mark);
}

/* ---- Annotations ----------------------------------------------------------------------------- */

static size_t begin_annotation(tkt_perfetto *file, uint32_t key)
{
    size_t mark = tkt_message_begin(&file->annotations, TKT_PF_EVENT_ANNOTATIONS);
    tkt_message_uint(&file->annotations, TKT_PF_ANNOTATION_NAME_IID, key);
    return mark;
}

void tkt_perfetto_annotate(tkt_perfetto *file, uint32_t row, tkt_pf_key key, uint32_t field,
                           uint64_t value)
{
    tkt_perfetto_use_key(file, row, key);
    size_t mark = begin_annotation(file, key);
    tkt_message_uint(&file->annotations, field, value);
    tkt_message_end(&file->annotations, mark);
}

static void annotate_double(tkt_perfetto *file, uint32_t row, tkt_pf_key key, double value)
{
    tkt_perfetto_use_key(file, row, key);
    size_t mark = begin_annotation(file, key);
    tkt_message_double(&file->annotations, TKT_PF_ANNOTATION_DOUBLE, value);
    tkt_message_end(&file->annotations, mark);
}

static void put_value(tkt_perfetto *file, const tkt_arg *arg)
{
    tkt_message *into = &file->annotations;
    switch (arg->type) {
    case TKT_ARG_INT:
        tkt_message_int(into, TKT_PF_ANNOTATION_INT, arg->value.i);
        break;
    case TKT_ARG_UINT:
        tkt_message_uint(into, TKT_PF_ANNOTATION_UINT, arg->value.u);
        break;
    case TKT_ARG_DOUBLE:
        tkt_message_double(into, TKT_PF_ANNOTATION_DOUBLE, arg->value.d);
        break;
    case TKT_ARG_BOOL:
        tkt_message_uint(into, TKT_PF_ANNOTATION_BOOL, arg->value.b);
        break;
    case TKT_ARG_STRING:
        tkt_message_string(into, TKT_PF_ANNOTATION_STRING,
                           tkt_trace_text(file->trace, arg->value.string));
        break;
    }
}

void tkt_perfetto_arg(tkt_perfetto *file, uint32_t row, const tkt_arg *arg)
{
    uint32_t key = tkt_perfetto_arg_key(file, row, arg->key);
    size_t mark = begin_annotation(file, key);
    put_value(file, arg);
    tkt_message_end(&file->annotations, mark);
}

void tkt_perfetto_text_arg(tkt_perfetto *file, uint32_t row, uint32_t key, const char *text)
{
    size_t mark = begin_annotation(file, tkt_perfetto_arg_key(file, row, key));
    tkt_message_string(&file->annotations, TKT_PF_ANNOTATION_STRING, text);
    tkt_message_end(&file->annotations, mark);
}

void tkt_perfetto_work(tkt_perfetto *file, uint32_t row, const tkt_work *work)
{
    annotate_double(file, row, TKT_PF_KEY_FLOPS, work->flops);
    annotate_double(file, row, TKT_PF_KEY_BYTES, work->bytes);
}

void tkt_perfetto_flags(tkt_perfetto *file, uint32_t row, uint32_t span_flags)
{
    if (span_flags & TAKT_SPAN_BEGUN_BEFORE)
        tkt_perfetto_annotate(file, row, TKT_PF_KEY_BEGUN_BEFORE, TKT_PF_ANNOTATION_BOOL, true);
    if (span_flags & TAKT_SPAN_UNFINISHED)
        tkt_perfetto_annotate(file, row, TKT_PF_KEY_UNFINISHED, TKT_PF_ANNOTATION_BOOL, true);
    if (span_flags & (TAKT_SPAN_NO_ACTIVITY | TAKT_SPAN_CAPTURING))
        tkt_perfetto_annotate(file, row, TKT_PF_KEY_NO_ACTIVITY, TKT_PF_ANNOTATION_BOOL,
                              !(span_flags & TAKT_SPAN_CAPTURING));
}

void tkt_perfetto_call(tkt_perfetto *file, uint32_t row, const tkt_call_info *call, bool has_work)
{
    if (has_work)
        tkt_message_fixed64(&file->annotations, TKT_PF_EVENT_FLOWS,
                            TKT_PERFETTO_FLOW + call->correlation);
    tkt_perfetto_annotate(file, row, TKT_PF_KEY_CORRELATION, TKT_PF_ANNOTATION_UINT,
                          call->correlation);
    if (call->result)
        tkt_perfetto_annotate(file, row, TKT_PF_KEY_RESULT, TKT_PF_ANNOTATION_INT,
                              (uint64_t)(int64_t)call->result);
}

/* TKT_NO_SPAN is written as -1. */
void tkt_perfetto_owner(tkt_perfetto *file, uint32_t row, uint32_t span)
{
    int64_t index = span == TKT_NO_SPAN ? -1 : (int64_t)span;
    tkt_perfetto_annotate(file, row, TKT_PF_KEY_SPAN, TKT_PF_ANNOTATION_INT, (uint64_t)index);
}

/* ---- Events that consist of annotations ------------------------------------------------------ */

void tkt_perfetto_step(tkt_perfetto *file, const tkt_step *step)
{
    uint32_t row = tkt_perfetto_steps_row(file);
    tkt_perfetto_annotate(file, row, TKT_PF_KEY_STEP, TKT_PF_ANNOTATION_UINT, step->number);

    char name[40] = "ProfilerStep#"; /* torch's name for steps */
    char *end = tkt_put_u64(name + strlen(name), step->number);
    size_t mark = tkt_perfetto_event(file, row, TKT_PF_SLICE_BEGIN, step->begin_ns);
    tkt_message_text(&file->message, TKT_PF_EVENT_NAME, name, (size_t)(end - name));
    tkt_perfetto_event_end(file, mark);
    tkt_perfetto_end(file, row, step->end_ns);
}

void tkt_perfetto_memory(tkt_perfetto *file, uint32_t row, const tkt_memory_event *event,
                         uint64_t current_bytes)
{
    uint64_t uuid = tkt_perfetto_memory_uuid(file, event->device, event->kind);
    tkt_perfetto_annotate(file, row, TKT_PF_KEY_ADDRESS, TKT_PF_ANNOTATION_POINTER, event->address);
    tkt_perfetto_annotate(file, row, TKT_PF_KEY_SIZE, TKT_PF_ANNOTATION_INT,
                          (uint64_t)event->bytes);
    size_t mark = tkt_perfetto_event(file, row, TKT_PF_COUNTER, event->time_ns);
    tkt_message_uint(&file->message, TKT_PF_EVENT_TRACK_UUID, uuid);
    tkt_message_uint(&file->message, TKT_PF_EVENT_COUNTER_INT, current_bytes);
    tkt_perfetto_event_end(file, mark);
}

/* ======== Nested messages ======== */

/* The size comes before the content of a nested message. When the message is complete, the content
 * is moved to make space for the size; these messages are small and rare. */

/* Makes space for `size` bytes at the end. NULL without memory. */
static char *reserve(tkt_message *message, size_t size)
{
    if (!message->is_short && !TKT_ARRAY_RESERVE(message, message->count + size))
        message->is_short = true;
    return message->is_short ? NULL : message->items + message->count;
}

static void commit(tkt_message *message, const char *end)
{
    message->count = (size_t)(end - message->items);
}

void tkt_message_uint(tkt_message *message, uint32_t field, uint64_t value)
{
    char *out = reserve(message, 2 * TKT_PB_VARINT_MAX);
    if (out)
        commit(message, tkt_pb_put_uint(out, field, value));
}

void tkt_message_int(tkt_message *message, uint32_t field, int64_t value)
{
    tkt_message_uint(message, field, (uint64_t)value);
}

void tkt_message_fixed64(tkt_message *message, uint32_t field, uint64_t value)
{
    char *out = reserve(message, TKT_PB_VARINT_MAX + sizeof value);
    if (out)
        commit(message, tkt_pb_put_fixed64(out, field, value));
}

void tkt_message_double(tkt_message *message, uint32_t field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    tkt_message_fixed64(message, field, bits);
}

void tkt_message_varint(tkt_message *message, uint64_t value)
{
    char *out = reserve(message, TKT_PB_VARINT_MAX);
    if (out)
        commit(message, tkt_pb_put_varint(out, value));
}

void tkt_message_text(tkt_message *message, uint32_t field, const char *bytes, size_t size)
{
    size_t mark = tkt_message_begin(message, field);
    size_t capacity = 3 * size + 1; /* U+FFFD, the replacement, has three bytes */
    char *out = reserve(message, capacity);
    if (out)
        commit(message, out + tkt_utf8_clean(out, capacity, bytes, size));
    tkt_message_end(message, mark);
}

void tkt_message_string(tkt_message *message, uint32_t field, const char *text)
{
    tkt_message_text(message, field, text, strlen(text));
}

void tkt_message_append(tkt_message *message, const tkt_message *fields)
{
    message->is_short |= fields->is_short;
    char *out = fields->count ? reserve(message, fields->count) : NULL;
    if (!out)
        return;
    memcpy(out, fields->items, fields->count);
    commit(message, out + fields->count);
}

size_t tkt_message_begin(tkt_message *message, uint32_t field)
{
    char *out = reserve(message, TKT_PB_VARINT_MAX);
    if (out)
        commit(message, tkt_pb_put_tag(out, field, TKT_PB_BYTES));
    return message->count;
}

void tkt_message_end(tkt_message *message, size_t mark)
{
    if (!reserve(message, TKT_PB_VARINT_MAX))
        return;
    char *content = message->items + mark;
    size_t size = message->count - mark;
    size_t shift = tkt_pb_varint_size(size);
    memmove(content + shift, content, size);
    tkt_pb_put_varint(content, size);
    message->count += shift;
}

void tkt_message_uint_if(tkt_message *message, uint32_t field, uint64_t value)
{
    if (value)
        tkt_message_uint(message, field, value);
}

void tkt_message_double_if(tkt_message *message, uint32_t field, double value)
{
    if (value != 0)
        tkt_message_double(message, field, value);
}

void tkt_message_string_if(tkt_message *message, uint32_t field, const char *text)
{
    if (text[0])
        tkt_message_string(message, field, text);
}
