/* Reads events: spans, arguments, marks, counters, flows, memory, steps. */
#define TKT_ARRAY_INLINE
#include "trace/read.h"

typedef struct track_event {
    const tkt_pb_field *from;
    uint64_t time_ns;
    bool is_late; /* later events of its row came before */
    uint64_t type;
    uint64_t site_iid;  /* 0: none */
    uint64_t stack_iid; /* 0: none */
    uint64_t uuid;      /* of a counter's track */
    uint64_t flow;
    double value;
    bool has_flow;
    bool is_flow_end;
    bool has_annotations;
} track_event;

static void set_field(track_event *event, const tkt_pb_field *field)
{
    switch (field->number) {
    case TKT_PF_EVENT_TYPE:
        event->type = field->value;
        break;
    case TKT_PF_EVENT_NAME_IID:
        event->site_iid = field->value;
        break;
    case TKT_PF_EVENT_STACK_IID:
        event->stack_iid = field->value;
        break;
    case TKT_PF_EVENT_TRACK_UUID:
        event->uuid = field->value;
        break;
    case TKT_PF_EVENT_COUNTER_DOUBLE:
        event->value = tkt_pb_double(field);
        break;
    case TKT_PF_EVENT_FLOWS:
    case TKT_PF_EVENT_ENDING_FLOWS:
        event->flow = field->value;
        event->has_flow = true;
        event->is_flow_end = field->number == TKT_PF_EVENT_ENDING_FLOWS;
        break;
    case TKT_PF_EVENT_ANNOTATIONS:
        event->has_annotations = true;
        break;
    default:
        break;
    }
}

/* ---- Annotations ----------------------------------------------------------------------------- */

typedef struct annotation {
    uint64_t key;
    tkt_pb_field value;
} annotation;

static bool read_annotation(tkt_read *read, const tkt_pb_field *from, annotation *out)
{
    *out = (annotation){.value = {.bytes = from->bytes}};
    tkt_pb_reader message = tkt_pb_inside(from);
    tkt_pb_field field;
    while (tkt_pb_next(&message, &field)) {
        if (field.number == TKT_PF_ANNOTATION_NAME_IID)
            out->key = field.value;
        else if (field.number <= TKT_PF_ANNOTATION_POINTER)
            out->value = field;
    }
    return tkt_read_done(read, &message);
}

/* Reads the next annotation of an event; false at the end of the event or on failure. */
static bool next_annotation(tkt_read *read, tkt_pb_reader *message, annotation *out)
{
    tkt_pb_field field;
    while (tkt_pb_next(message, &field)) {
        if (field.number == TKT_PF_EVENT_ANNOTATIONS && field.wire == TKT_PB_BYTES)
            return read_annotation(read, &field, out);
    }
    return false;
}

static bool set_value(tkt_read *read, const tkt_pb_field *from, tkt_arg *arg)
{
    switch (from->number) {
    case TKT_PF_ANNOTATION_BOOL:
        arg->type = TKT_ARG_BOOL;
        arg->value.b = from->value != 0;
        return true;
    case TKT_PF_ANNOTATION_UINT:
        arg->type = TKT_ARG_UINT;
        arg->value.u = from->value;
        return true;
    case TKT_PF_ANNOTATION_DOUBLE:
        arg->type = TKT_ARG_DOUBLE;
        arg->value.d = tkt_pb_double(from);
        return true;
    case TKT_PF_ANNOTATION_STRING:
        arg->type = TKT_ARG_STRING;
        return tkt_read_text(read, from, &arg->value.string);
    default:
        arg->type = TKT_ARG_INT;
        arg->value.i = (int64_t)from->value;
        return true;
    }
}

static bool add_arg(tkt_read *read, tkt_track *track, uint32_t span, const annotation *from)
{
    uint64_t number = from->key - TKT_PF_KEY_FIRST;
    if (number >= read->keys.count)
        return tkt_read_bad(read, from->value.bytes, "an argument's key is unknown");
    tkt_arg arg = {.span = span, .key = read->keys.items[number]};
    if (!set_value(read, &from->value, &arg))
        return false;
    tkt_arg *added = TKT_ARRAY_ADD(&track->args);
    if (!added)
        return tkt_read_no_memory(read);
    *added = arg;
    return true;
}

static bool add_work(tkt_read *read, tkt_track *track, uint32_t span, uint64_t key, double value)
{
    tkt_works *works = &track->works;
    if (works->count == 0 || works->items[works->count - 1].span != span) {
        tkt_work *added = TKT_ARRAY_ADD(works);
        if (!added)
            return tkt_read_no_memory(read);
        *added = (tkt_work){.span = span};
    }
    tkt_work *work = &works->items[works->count - 1];
    if (key == TKT_PF_KEY_FLOPS)
        work->flops += value;
    else
        work->bytes += value;
    return true;
}

/* Sets the correlation id or result of a span's call. The first of them adds the call. */
static bool add_call(tkt_read *read, tkt_track *track, uint32_t span, const annotation *from)
{
    uint32_t number = (uint32_t)(track - read->trace->tracks.items);
    size_t count = read->trace->calls.count;
    tkt_call_info *call = count ? &read->trace->calls.items[count - 1] : NULL;
    if (!call || call->track != number || call->span != span) {
        call = TKT_ARRAY_ADD(&read->trace->calls);
        if (!call)
            return tkt_read_no_memory(read);
        *call = (tkt_call_info){.track = number, .span = span};
        track->spans.items[span].site_flags |= TAKT_SPAN_CALL;
    }
    if (from->key == TKT_PF_KEY_CORRELATION)
        call->correlation = (uint32_t)from->value.value;
    else
        call->result = (int32_t)from->value.value;
    return true;
}

static bool annotate(tkt_read *read, tkt_track *track, uint32_t span, const annotation *from)
{
    if (from->key >= TKT_PF_KEY_FIRST)
        return add_arg(read, track, span, from);
    switch (from->key) {
    case TKT_PF_KEY_BEGUN_BEFORE:
        track->spans.items[span].site_flags |= TAKT_SPAN_BEGUN_BEFORE;
        return true;
    case TKT_PF_KEY_UNFINISHED:
        track->spans.items[span].site_flags |= TAKT_SPAN_UNFINISHED;
        return true;
    case TKT_PF_KEY_NO_ACTIVITY:
        track->spans.items[span].site_flags |=
            from->value.value ? TAKT_SPAN_NO_ACTIVITY : TAKT_SPAN_CAPTURING;
        return true;
    case TKT_PF_KEY_FLOPS:
    case TKT_PF_KEY_BYTES:
        return add_work(read, track, span, from->key, tkt_pb_double(&from->value));
    case TKT_PF_KEY_CORRELATION:
    case TKT_PF_KEY_RESULT:
        return add_call(read, track, span, from);
    default:
        return true;
    }
}

static bool annotate_span(tkt_read *read, tkt_track *track, uint32_t span, const track_event *event)
{
    tkt_pb_reader message = tkt_pb_inside(event->from);
    annotation next;
    while (event->has_annotations && next_annotation(read, &message, &next)) {
        if (!annotate(read, track, span, &next))
            return false;
    }
    return read->status == TAKT_OK;
}

/* Sets *value to the value of the annotation with this key, or to `otherwise`. */
static bool find_annotation(tkt_read *read, const track_event *event, tkt_pf_key key,
                            uint64_t otherwise, uint64_t *value)
{
    tkt_pb_reader message = tkt_pb_inside(event->from);
    annotation next;
    *value = otherwise;
    while (event->has_annotations && next_annotation(read, &message, &next)) {
        if (next.key == (uint64_t)key)
            *value = next.value.value;
    }
    return read->status == TAKT_OK;
}

/* ---- Spans ----------------------------------------------------------------------------------- */

static uint32_t innermost(const tkt_read_row *row)
{
    return row->open.count ? row->open.items[row->open.count - 1] : TKT_NO_SPAN;
}

static bool find_site(tkt_read *read, const track_event *event, uint32_t *site)
{
    if (event->site_iid - 1 >= read->sites.count)
        return tkt_read_bad(read, event->from->bytes, "an event's site is unknown");
    *site = read->sites.items[event->site_iid - 1];
    return true;
}

static bool add_stack(tkt_read *read, tkt_track *track, uint32_t span, const track_event *event)
{
    if (event->stack_iid > read->trace->stacks.count)
        return tkt_read_bad(read, event->from->bytes, "an event's call stack is unknown");
    tkt_span_stack *added = TKT_ARRAY_ADD(&track->stacks);
    if (!added)
        return tkt_read_no_memory(read);
    *added = (tkt_span_stack){span, (uint32_t)event->stack_iid - 1};
    return true;
}

static bool begin_span(tkt_read *read, tkt_read_row *row, const track_event *event)
{
    tkt_track *track = &read->trace->tracks.items[row->track];
    uint32_t index = (uint32_t)track->spans.count;
    if (!tkt_read_begin_span(read, row, event->time_ns, event->site_iid, event->from->bytes))
        return false;
    if (event->stack_iid && !add_stack(read, track, index, event))
        return false;
    return annotate_span(read, track, index, event);
}

static bool end_span(tkt_read *read, tkt_read_row *row, const track_event *event)
{
    uint32_t index;
    if (!tkt_read_end_span(read, row, event->time_ns, event->from->bytes, &index))
        return false;
    return index == TKT_NO_SPAN ||
           annotate_span(read, &read->trace->tracks.items[row->track], index, event);
}

/* ---- Other events ---------------------------------------------------------------------------- */

static bool add_mark(tkt_read *read, const tkt_read_row *row, const track_event *event)
{
    uint32_t site = 0;
    if (!find_site(read, event, &site))
        return false;
    tkt_mark *mark = TKT_ARRAY_ADD(&read->trace->marks);
    if (!mark)
        return tkt_read_no_memory(read);
    *mark = (tkt_mark){.time_ns = event->time_ns, .track = row->track, .site = site};
    return true;
}

/* Finds the span of an event: the span that the event names, or else the innermost one. For a late
 * event, the innermost one is known only at the end of the file. */
static bool find_owner(tkt_read *read, const tkt_read_row *row, const track_event *event,
                       uint32_t *span)
{
    uint64_t owner;
    uint32_t otherwise = event->is_late ? TKT_READ_SPAN_BY_TIME : innermost(row);
    if (!find_annotation(read, event, TKT_PF_KEY_SPAN, otherwise, &owner))
        return false;
    *span = owner < TKT_NO_SPAN ? (uint32_t)owner : TKT_NO_SPAN;
    return true;
}

static bool add_flow(tkt_read *read, const tkt_read_row *row, const track_event *event)
{
    uint32_t span;
    if (!find_owner(read, row, event, &span))
        return false;
    tkt_flow *flow = TKT_ARRAY_ADD(&read->trace->flows);
    if (!flow)
        return tkt_read_no_memory(read);
    *flow = (tkt_flow){.time_ns = event->time_ns,
                       .id = event->flow,
                       .track = row->track,
                       .span = span,
                       .is_end = event->is_flow_end};
    return true;
}

/* `of` has the device in its upper half and the kind of memory in its lower half. */
static bool add_memory(tkt_read *read, const tkt_read_row *row, const track_event *event,
                       uint64_t of)
{
    uint32_t span;
    uint64_t address;
    uint64_t bytes;
    if (!find_owner(read, row, event, &span) ||
        !find_annotation(read, event, TKT_PF_KEY_ADDRESS, 0, &address) ||
        !find_annotation(read, event, TKT_PF_KEY_SIZE, 0, &bytes))
        return false;
    tkt_memory_event *memory = TKT_ARRAY_ADD(&read->trace->memory_events);
    if (!memory)
        return tkt_read_no_memory(read);
    *memory = (tkt_memory_event){.time_ns = event->time_ns,
                                 .address = address,
                                 .bytes = (int64_t)bytes,
                                 .track = row->track,
                                 .span = span,
                                 .device = (uint32_t)(of >> 32),
                                 .kind = (uint32_t)of};
    return true;
}

static bool add_counter(tkt_read *read, const tkt_read_row *row, const track_event *event)
{
    const uint64_t *memory = tkt_map_get(&read->memories, event->uuid);
    if (memory)
        return add_memory(read, row, event, *memory);
    const uint64_t *name = tkt_map_get(&read->counters, event->uuid);
    if (!name || row->track == TKT_NO_TRACK)
        return true;
    tkt_counter *counter = TKT_ARRAY_ADD(&read->trace->counters);
    if (!counter)
        return tkt_read_no_memory(read);
    *counter = (tkt_counter){.time_ns = event->time_ns,
                             .value = event->value,
                             .name = (uint32_t)*name,
                             .track = row->track};
    return true;
}

/* Steps are on a row of their own and do not overlap. */
static bool read_step(tkt_read *read, const track_event *event)
{
    takt_trace *trace = read->trace;
    if (event->type == TKT_PF_SLICE_END && read->has_step) {
        tkt_step *step = &trace->steps.items[trace->steps.count - 1];
        if (event->time_ns < step->begin_ns)
            return tkt_read_bad(read, event->from->bytes, "a step ends before it begins");
        step->end_ns = event->time_ns;
        read->has_step = false;
    }
    if (event->type != TKT_PF_SLICE_BEGIN || read->has_step)
        return true;
    uint64_t number;
    if (!find_annotation(read, event, TKT_PF_KEY_STEP, trace->steps.count, &number))
        return false;
    tkt_step *step = TKT_ARRAY_ADD(&trace->steps);
    if (!step)
        return tkt_read_no_memory(read);
    *step = (tkt_step){.number = number, .begin_ns = event->time_ns};
    read->has_step = true;
    return true;
}

static bool place_event(tkt_read *read, tkt_read_row *row, const track_event *event)
{
    switch (event->type) {
    case TKT_PF_SLICE_BEGIN:
        return begin_span(read, row, event);
    case TKT_PF_SLICE_END:
        return end_span(read, row, event);
    case TKT_PF_INSTANT:
        if (event->has_flow)
            return add_flow(read, row, event);
        return event->site_iid == 0 || add_mark(read, row, event);
    case TKT_PF_COUNTER:
        return add_counter(read, row, event);
    default:
        return true;
    }
}

bool tkt_read_event(tkt_read *read, tkt_read_row *row, uint64_t time_ns, bool is_late,
                    const tkt_pb_field *from)
{
    track_event event = {.from = from, .time_ns = time_ns, .is_late = is_late};
    tkt_pb_reader message = tkt_pb_inside(from);
    tkt_pb_field field;
    while (tkt_pb_next(&message, &field))
        set_field(&event, &field);
    if (!tkt_read_done(read, &message))
        return false;
    if (row->kind == TKT_PF_TRACK_OF_STEPS)
        return read_step(read, &event);
    if (row->kind == TKT_PF_TRACK_OF_EVENTS)
        return event.type != TKT_PF_COUNTER || add_counter(read, row, &event);
    return place_event(read, row, &event);
}
