/* Call stacks in Takt's own message: frames, then stacks of those. */
#include "trace/read.h"

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
