/* Reads the facts of the recording, and its call stacks. */
#include "trace/read.h"

#include <string.h>

/* ---- Facts ----------------------------------------------------------------------------------- */

/* Files have the names of causes, so the list of causes may change. */
static bool read_loss(tkt_read *read, const tkt_pb_field *from)
{
    tkt_pb_field name = {0};
    uint64_t count = 0;
    tkt_pb_reader message = tkt_pb_inside(from);
    tkt_pb_field field;
    while (tkt_pb_next(&message, &field)) {
        if (field.number == TKT_PF_LOSS_NAME)
            name = field;
        else if (field.number == TKT_PF_LOSS_COUNT)
            count = field.value;
    }
    for (int i = 0; i < TAKT_LOSS_COUNT; i++) {
        const char *known = takt_loss_name((takt_loss)i);
        if (name.number && name.wire == TKT_PB_BYTES && name.value == strlen(known) &&
            memcmp(name.bytes, known, name.value) == 0)
            read->trace->losses[i] = count;
    }
    return tkt_read_done(read, &message);
}

static bool read_memory(tkt_read *read, const tkt_pb_field *from)
{
    read->trace->memory = (tkt_memory_totals){0};
    return tkt_read_fields(read, from, tkt_pf_memory_fields, &read->trace->memory);
}

static bool read_device_memory(tkt_read *read, const tkt_pb_field *from)
{
    tkt_device_memory memory = {0};
    if (!tkt_read_fields(read, from, tkt_pf_device_memory_fields, &memory))
        return false;
    tkt_device_memory *added = TKT_ARRAY_ADD(&read->trace->device_memory);
    if (!added)
        return tkt_read_no_memory(read);
    *added = memory;
    return true;
}

static bool read_all_steps(tkt_read *read, const tkt_pb_field *from)
{
    tkt_all_steps *steps = &read->trace->all_steps;
    tkt_pb_field histogram = {0};
    *steps = (tkt_all_steps){0};
    tkt_stats_init(&steps->stats);
    tkt_pb_reader message = tkt_pb_inside(from);
    tkt_pb_field field;
    while (tkt_pb_next(&message, &field)) {
        if (field.number == TKT_PF_ALL_STEPS_SIMULATED_SECONDS)
            steps->simulated_seconds = tkt_pb_double(&field);
        if (field.number == TKT_PF_ALL_STEPS_STATS && field.wire == TKT_PB_BYTES &&
            !tkt_read_stats_fields(read, &field, &steps->stats, &histogram))
            return false;
    }
    if (!tkt_read_done(read, &message))
        return false;
    return !histogram.number || histogram.wire != TKT_PB_BYTES ||
           tkt_read_histogram(read, &histogram, &steps->histogram);
}

/* Fields that are messages. */
static bool read_long_fact(tkt_read *read, const tkt_pb_field *field)
{
    switch (field->number) {
    case TKT_PF_FACTS_LOSSES:
        return read_loss(read, field);
    case TKT_PF_FACTS_MEMORY:
        return read_memory(read, field);
    case TKT_PF_FACTS_ALL_STEPS:
        return read_all_steps(read, field);
    case TKT_PF_FACTS_DEVICE_MEMORY:
        return read_device_memory(read, field);
    default:
        return true;
    }
}

bool tkt_read_facts(tkt_read *read, const tkt_pb_field *from)
{
    takt_trace *trace = read->trace;
    trace->facts = (takt_facts){0};
    memset(trace->losses, 0, sizeof trace->losses);
    trace->name = trace->backend = trace->clock = 0;
    trace->with_flops = false;
    trace->is_recovered = false;
    trace->stream = 0;
    trace->device_peak = trace->host_peak = (takt_peak){0};
    trace->device_memory.count = 0;
    read->has_facts = true;
    read->are_facts_late = read->latest_ns != 0;

    if (!tkt_read_fields(read, from, tkt_pf_facts_fields, trace))
        return false;
    tkt_pb_reader message = tkt_pb_inside(from);
    tkt_pb_field field;
    while (tkt_pb_next(&message, &field))
        if (field.wire == TKT_PB_BYTES && !read_long_fact(read, &field))
            return false;
    if (trace->facts.ending > TAKT_ENDING_STOPPED)
        trace->facts.ending = TAKT_ENDING_CUT;
    if (tkt_read_done(read, &message) && trace->facts.end_ns &&
        trace->facts.end_ns < trace->facts.begin_ns)
        return tkt_read_bad(read, from->bytes, "the recording ends before it begins");
    return read->status == TAKT_OK;
}

/* ======== Call stacks ======== */

/* Call stacks in Takt's own message: first frames, then stacks of these frames. */

bool tkt_read_frame(tkt_read *read, const tkt_pb_field *from)
{
    tkt_frame frame = {0};
    if (!tkt_read_fields(read, from, tkt_pf_frame_fields, &frame))
        return false;
    tkt_frame *added = TKT_ARRAY_ADD(&read->trace->frames);
    if (!added)
        return tkt_read_no_memory(read);
    *added = frame;
    return true;
}

static bool read_numbers(tkt_read *read, const tkt_pb_field *from, tkt_stack *stack)
{
    takt_trace *trace = read->trace;
    const uint8_t *at = from->bytes;
    const uint8_t *end = at + from->value;
    while (at < end) {
        uint64_t number;
        at = tkt_pb_get_varint(at, end, &number);
        if (!at || number >= trace->frames.count)
            return tkt_read_bad(read, from->bytes, "a call stack's frame is unknown");
        uint32_t *added = TKT_ARRAY_ADD(&trace->stack_frames);
        if (!added)
            return tkt_read_no_memory(read);
        *added = (uint32_t)number;
        stack->frame_count++;
    }
    return true;
}

bool tkt_read_stack(tkt_read *read, const tkt_pb_field *from)
{
    tkt_stack stack = {(uint32_t)read->trace->stack_frames.count, 0};
    tkt_pb_reader message = tkt_pb_inside(from);
    tkt_pb_field field;
    while (tkt_pb_next(&message, &field)) {
        if (field.number == TKT_PF_TAKT_STACK_FRAMES && field.wire == TKT_PB_BYTES &&
            !read_numbers(read, &field, &stack))
            return false;
    }
    if (!tkt_read_done(read, &message))
        return false;
    tkt_stack *added = TKT_ARRAY_ADD(&read->trace->stacks);
    if (!added)
        return tkt_read_no_memory(read);
    *added = stack;
    return true;
}
