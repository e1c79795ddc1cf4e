/* Call stacks: their frames once in the file for Takt, and on each row that uses a stack as
 * Perfetto's interned call stacks, which ui.perfetto.dev shows with the slice. Frames, stacks and
 * the objects that code is in have the trace's numbers, from 1 on. */
#include "export/perfetto_file.h"
#include "summary/frame_text.h"

#include <string.h>

#define NAME_BYTES 1024

/* What has been interned on a row is in one set. */
typedef enum interned_kind {
    STACK,
    FRAME,
    MAPPING,
    KINDS
} interned_kind;

/* Whether it is new on the row, and known from now on. */
static bool is_new(tkt_perfetto *file, uint32_t row, interned_kind kind, uint32_t number)
{
    tkt_perfetto_set *known = &file->rows.items[row].stacks;
    uint32_t key = number * KINDS + kind;
    if (tkt_perfetto_set_has(known, key))
        return false;
    if (!tkt_perfetto_set_add(known, key))
        tkt_perfetto_no_memory(file);
    return true;
}

void tkt_perfetto_stacks(tkt_perfetto *file)
{
    const takt_trace *trace = file->trace;
    for (size_t i = file->frame_count; i < trace->frames.count; i++) {
        tkt_message *packet = tkt_perfetto_packet(file, 0);
        size_t takt = tkt_message_begin(packet, TKT_PF_PACKET_TAKT);
        size_t mark = tkt_message_begin(packet, TKT_PF_TAKT_FRAMES);
        tkt_perfetto_put_fields(file, packet, tkt_pf_frame_fields, &trace->frames.items[i]);
        tkt_message_end(packet, mark);
        tkt_message_end(packet, takt);
        tkt_perfetto_packet_write(file);
    }
    for (size_t i = file->stack_count; i < trace->stacks.count; i++) {
        const tkt_stack *stack = &trace->stacks.items[i];
        tkt_message *packet = tkt_perfetto_packet(file, 0);
        size_t takt = tkt_message_begin(packet, TKT_PF_PACKET_TAKT);
        size_t mark = tkt_message_begin(packet, TKT_PF_TAKT_STACKS);
        size_t frames = tkt_message_begin(packet, TKT_PF_TAKT_STACK_FRAMES);
        for (uint32_t f = 0; f < stack->frame_count; f++)
            tkt_message_varint(packet, trace->stack_frames.items[stack->first_frame + f]);
        tkt_message_end(packet, frames);
        tkt_message_end(packet, mark);
        tkt_message_end(packet, takt);
        tkt_perfetto_packet_write(file);
    }
    file->frame_count = trace->frames.count;
    file->stack_count = trace->stacks.count;
}

/* An object has the number of the first frame in it, which is among the first ones. Returns that,
 * or 0 where no object is known. */
static uint32_t intern_mapping(tkt_perfetto *file, uint32_t row, uint32_t module)
{
    uint32_t index = 0;
    if (module == 0)
        return 0;
    while (file->trace->frames.items[index].module != module)
        index++;
    if (!is_new(file, row, MAPPING, index))
        return index + 1;
    tkt_message *packet = &file->message;
    tkt_perfetto_put_interned(packet, TKT_PF_INTERNED_MAPPING_PATHS, index + 1,
                              tkt_trace_text(file->trace, module));
    size_t mark = tkt_message_begin(packet, TKT_PF_INTERNED_MAPPINGS);
    tkt_message_uint(packet, TKT_PF_INTERNED_IID, index + 1);
    tkt_message_uint(packet, TKT_PF_MAPPING_PATHS, index + 1);
    tkt_message_end(packet, mark);
    return index + 1;
}

static void intern_frame(tkt_perfetto *file, uint32_t row, uint32_t index)
{
    if (!is_new(file, row, FRAME, index))
        return;
    const tkt_frame *frame = &file->trace->frames.items[index];
    tkt_message *packet = &file->message;
    char name[NAME_BYTES];
    uint32_t mapping = intern_mapping(file, row, frame->module);
    tkt_perfetto_put_interned(packet, TKT_PF_INTERNED_FUNCTIONS, index + 1,
                              tkt_frame_function(name, sizeof name, file->trace, frame));
    if (frame->file)
        tkt_perfetto_put_interned(packet, TKT_PF_INTERNED_SOURCES, index + 1,
                                  tkt_trace_text(file->trace, frame->file));
    size_t mark = tkt_message_begin(packet, TKT_PF_INTERNED_FRAMES);
    tkt_message_uint(packet, TKT_PF_INTERNED_IID, index + 1);
    tkt_message_uint(packet, TKT_PF_FRAME_FUNCTION, index + 1);
    tkt_message_uint_if(packet, TKT_PF_FRAME_MAPPING, mapping);
    tkt_message_uint(packet, TKT_PF_FRAME_OFFSET, frame->offset);
    if (frame->file)
        tkt_message_uint(packet, TKT_PF_FRAME_SOURCE, index + 1);
    tkt_message_uint_if(packet, TKT_PF_FRAME_LINE, frame->line);
    tkt_message_end(packet, mark);
}

/* Perfetto has the outermost frame first. */
static void intern_stack(tkt_perfetto *file, uint32_t row, uint32_t index)
{
    const takt_trace *trace = file->trace;
    const tkt_stack *stack = &trace->stacks.items[index];
    tkt_message *packet = tkt_perfetto_packet(file, row);
    size_t interned = tkt_message_begin(packet, TKT_PF_PACKET_INTERNED);
    for (uint32_t f = 0; f < stack->frame_count; f++)
        intern_frame(file, row, trace->stack_frames.items[stack->first_frame + f]);
    size_t mark = tkt_message_begin(packet, TKT_PF_INTERNED_STACKS);
    tkt_message_uint(packet, TKT_PF_INTERNED_IID, index + 1);
    for (uint32_t f = stack->frame_count; f-- > 0;)
        tkt_message_uint(packet, TKT_PF_STACK_FRAMES,
                         trace->stack_frames.items[stack->first_frame + f] + 1);
    tkt_message_end(packet, mark);
    tkt_message_end(packet, interned);
    tkt_perfetto_packet_write(file);
}

void tkt_perfetto_stack(tkt_perfetto *file, uint32_t row, uint32_t stack)
{
    if (is_new(file, row, STACK, stack))
        intern_stack(file, row, stack);
    tkt_message_uint(&file->annotations, TKT_PF_EVENT_STACK_IID, stack + 1);
}
