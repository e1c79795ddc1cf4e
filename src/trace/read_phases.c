/* Reads what timers inside kernels recorded: names of phases, then segments, each followed by its
 * records. The slices on the rows of SMs repeat that for viewers; the reader skips them. */
#include "trace/read.h"

bool tkt_read_phase_name(tkt_read *read, const tkt_pb_field *from)
{
    uint32_t name = 0;
    tkt_pb_reader message = tkt_pb_inside(from);
    tkt_pb_field field;
    while (tkt_pb_next(&message, &field))
        if (field.number == TKT_PF_PHASE_NAME_TEXT && !tkt_read_text(read, &field, &name))
            return false;
    if (!tkt_read_done(read, &message))
        return false;
    uint32_t *added = TKT_ARRAY_ADD(&read->phases);
    if (!added)
        return tkt_read_no_memory(read);
    *added = name;
    return true;
}

bool tkt_read_segment(tkt_read *read, const tkt_pb_field *from)
{
    takt_trace *trace = read->trace;
    tkt_phase_segment segment = {.activity = TKT_NO_ACTIVITY,
                                 .first_record = (uint32_t)trace->phase_records.count};
    if (!tkt_read_fields(read, from, tkt_pf_segment_fields, &segment))
        return false;
    if (trace->phase_segments.count >= UINT32_MAX - 1)
        return tkt_read_bad(read, from->bytes, "the file has too many blocks of kernels");
    tkt_phase_segment *added = TKT_ARRAY_ADD(&trace->phase_segments);
    if (!added)
        return tkt_read_no_memory(read);
    *added = segment;
    read->phase_start = 0;
    return true;
}

/* Returns the place behind the record, or NULL if it is malformed. */
static const uint8_t *read_record(tkt_read *read, const uint8_t *at, const uint8_t *end,
                                  tkt_phase_record *record)
{
    uint64_t values[4]; /* name, iteration, distance, cycles */
    for (int i = 0; i < 4 && at; i++)
        at = tkt_pb_get_varint(at, end, &values[i]);
    if (!at || values[0] >= read->phases.count)
        return NULL;
    read->phase_start += values[2];
    *record = (tkt_phase_record){read->phase_start, values[3], read->phases.items[values[0]],
                                 (uint32_t)values[1]};
    return at;
}

bool tkt_read_records(tkt_read *read, const tkt_pb_field *from)
{
    takt_trace *trace = read->trace;
    const uint8_t *at = from->bytes;
    const uint8_t *end = at + from->value;
    if (trace->phase_segments.count == 0)
        return tkt_read_bad(read, at, "a phase belongs to no block");
    tkt_phase_segment *segment = &trace->phase_segments.items[trace->phase_segments.count - 1];
    while (at < end) {
        tkt_phase_record record;
        at = read_record(read, at, end, &record);
        if (!at)
            return tkt_read_bad(read, from->bytes, "a phase is malformed");
        if (trace->phase_records.count >= UINT32_MAX - 1)
            return tkt_read_bad(read, from->bytes, "the file has too many phases");
        tkt_phase_record *added = TKT_ARRAY_ADD(&trace->phase_records);
        if (!added)
            return tkt_read_no_memory(read);
        *added = record;
        segment->record_count++;
    }
    return true;
}
