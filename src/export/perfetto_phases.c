/* What timers inside kernels recorded. Takt's own messages contain it exactly, in cycles. For
 * viewers each SM has rows below its device, with a slice for each block and the phases inside. */
#include "export/devices.h"
#include "export/perfetto.h"

#include <stdio.h>

/* Names of annotations on the rows of SMs. */
typedef enum phase_key {
    BLOCK = 1,
    LANE,
    CORRELATION,
    LOST,
    ITERATION,
    CYCLES,
    PHASE_KEYS
} phase_key;

static const char *const phase_keys[PHASE_KEYS] = {
    [BLOCK] = "block", [LANE] = "lane",           [CORRELATION] = "correlation",
    [LOST] = "lost",   [ITERATION] = "iteration", [CYCLES] = "cycles",
};

typedef struct writing {
    tkt_perfetto *file;
    const takt_trace *trace;
    tkt_sms sms;
    TKT_ARRAY_OF(tkt_perfetto_lanes) rows; /* by SM */
    tkt_phase_slices slices;
} writing;

/* ---- For Takt -------------------------------------------------------------------------------- */

/* Returns the number of a name, which the first call writes. 0 without memory. */
static uint32_t number_of(writing *w, uint32_t string)
{
    uint64_t *number = tkt_map_put(&w->file->phase_names, string);
    if (!number) {
        tkt_perfetto_no_memory(w->file);
        return 0;
    }
    if (*number)
        return (uint32_t)*number - 1;
    *number = w->file->phase_names.count;
    tkt_message *packet = tkt_perfetto_takt(w->file, TKT_PF_TAKT_PHASE_NAMES);
    tkt_message_string(packet, TKT_PF_PHASE_NAME_TEXT, tkt_trace_text(w->trace, string));
    tkt_perfetto_takt_write(w->file);
    return (uint32_t)*number - 1;
}

/* A reader needs the whole packet in memory; this many records take some 60 KB. */
#define PACKET_RECORDS 4096

static void put_records(writing *w, const tkt_phase_record *records, uint32_t count,
                        uint64_t last_start)
{
    tkt_message *packet = tkt_perfetto_takt(w->file, TKT_PF_TAKT_RECORDS);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t *number = tkt_map_get(&w->file->phase_names, records[i].name);
        tkt_message_varint(packet, number ? *number - 1 : 0);
        tkt_message_varint(packet, records[i].iteration);
        tkt_message_varint(packet, records[i].start_cycles - last_start);
        tkt_message_varint(packet, records[i].cycles);
        last_start = records[i].start_cycles;
    }
    tkt_perfetto_takt_write(w->file);
}

static void put_segment(writing *w, const tkt_phase_segment *segment)
{
    const tkt_phase_record *records = tkt_phase_records(w->trace, segment);
    for (uint32_t i = 0; i < segment->record_count; i++)
        number_of(w, records[i].name);
    tkt_message *packet = tkt_perfetto_takt(w->file, TKT_PF_TAKT_SEGMENTS);
    tkt_perfetto_put_fields(w->file, packet, tkt_pf_segment_fields, segment);
    tkt_perfetto_takt_write(w->file);
    for (uint32_t i = 0; i < segment->record_count; i += PACKET_RECORDS) {
        uint32_t left = segment->record_count - i;
        put_records(w, records + i, left < PACKET_RECORDS ? left : PACKET_RECORDS,
                    i ? records[i - 1].start_cycles : 0);
    }
}

/* ---- For viewers ----------------------------------------------------------------------------- */

static void intern_keys(writing *w, uint32_t row)
{
    tkt_message *packet = tkt_perfetto_packet(w->file, row);
    size_t mark = tkt_message_begin(packet, TKT_PF_PACKET_INTERNED);
    for (uint32_t key = BLOCK; key < PHASE_KEYS; key++)
        tkt_perfetto_put_interned(packet, TKT_PF_INTERNED_ANNOTATION_NAMES, key, phase_keys[key]);
    tkt_message_end(packet, mark);
    tkt_perfetto_packet_write(w->file);
}

/* Returns a free row of the segment's SM, opened if it is new. UINT32_MAX without memory. */
static uint32_t row_of(writing *w, const tkt_phase_segment *segment, const tkt_phase_slice *block)
{
    uint32_t lane, number = tkt_sm_number(&w->sms, segment);
    while (number != UINT32_MAX && w->rows.count <= number) {
        tkt_perfetto_lanes *added = TKT_ARRAY_ADD(&w->rows);
        if (!added)
            return UINT32_MAX;
        *added = (tkt_perfetto_lanes){0};
    }
    if (number == UINT32_MAX)
        return UINT32_MAX;
    tkt_perfetto_lanes *rows = &w->rows.items[number];
    if (!tkt_perfetto_take_lane(w->file, rows, block->begin_ns, block->end_ns, &lane) &&
        lane != UINT32_MAX) {
        char name[32];
        snprintf(name, sizeof name, "SM %u", segment->sm);
        uint32_t row = tkt_perfetto_open_row(
            w->file, &(tkt_takt_half){.kind = TKT_PF_TRACK_OF_SM, .lane = lane, .name = name}, name,
            tkt_perfetto_device_uuid(w->file, segment->device));
        intern_keys(w, row);
        tkt_perfetto_add_lane(w->file, rows, row);
    }
    return lane < rows->rows.count ? rows->rows.items[lane] : UINT32_MAX;
}

static void intern_name(writing *w, uint32_t row, uint32_t string, uint32_t iid)
{
    tkt_perfetto_set *known = &w->file->rows.items[row].sites;
    if (tkt_perfetto_set_has(known, iid))
        return;
    tkt_message *packet = tkt_perfetto_packet(w->file, row);
    size_t mark = tkt_message_begin(packet, TKT_PF_PACKET_INTERNED);
    tkt_perfetto_put_interned(packet, TKT_PF_INTERNED_EVENT_NAMES, iid,
                              tkt_trace_text(w->trace, string));
    tkt_message_end(packet, mark);
    tkt_perfetto_packet_write(w->file);
    if (!tkt_perfetto_set_add(known, iid))
        tkt_perfetto_no_memory(w->file);
}

static void put_uint(writing *w, phase_key key, uint64_t value)
{
    tkt_message *into = &w->file->message;
    size_t mark = tkt_message_begin(into, TKT_PF_EVENT_ANNOTATIONS);
    tkt_message_uint(into, TKT_PF_ANNOTATION_NAME_IID, key);
    tkt_message_uint(into, TKT_PF_ANNOTATION_UINT, value);
    tkt_message_end(into, mark);
}

static void put_begin(writing *w, uint32_t row, const tkt_phase_segment *segment,
                      const tkt_phase_slice *slice)
{
    uint32_t iid = number_of(w, slice->name) + 1;
    intern_name(w, row, slice->name, iid);
    size_t mark = tkt_perfetto_event(w->file, row, TKT_PF_SLICE_BEGIN, slice->begin_ns);
    tkt_message_uint(&w->file->message, TKT_PF_EVENT_NAME_IID, iid);
    put_uint(w, BLOCK, segment->block);
    put_uint(w, LANE, segment->lane);
    if (slice->record) {
        put_uint(w, ITERATION, slice->record->iteration);
        put_uint(w, CYCLES, slice->record->cycles);
    } else {
        put_uint(w, CORRELATION, segment->correlation);
        put_uint(w, CYCLES, tkt_phase_extent(w->trace, segment));
        put_uint(w, LOST, segment->lost_records);
    }
    tkt_perfetto_event_end(w->file, mark);
}

/* Slices are in preorder: those from the last one up to the next one's parent have ended. */
static void put_slices(writing *w, const tkt_phase_segment *segment)
{
    const tkt_phase_slices *slices = &w->slices;
    if (tkt_phase_slices_of(w->trace, segment, &w->slices) != TAKT_OK)
        tkt_perfetto_no_memory(w->file);
    if (slices->count == 0 || w->file->status != TAKT_OK)
        return;
    uint32_t row = row_of(w, segment, &slices->items[0]);
    if (row == UINT32_MAX) {
        tkt_perfetto_no_memory(w->file);
        return;
    }
    for (uint32_t i = 0, open = UINT32_MAX; i <= slices->count; open = i++) {
        uint32_t parent = i < slices->count ? slices->items[i].parent : UINT32_MAX;
        for (; open != parent; open = slices->items[open].parent)
            tkt_perfetto_end(w->file, row, slices->items[open].end_ns);
        if (i < slices->count)
            put_begin(w, row, segment, &slices->items[i]);
    }
}

void tkt_perfetto_blocks(tkt_perfetto *file)
{
    writing w = {.file = file, .trace = file->trace};
    for (size_t i = 0; i < w.trace->phase_segments.count; i++)
        put_segment(&w, &w.trace->phase_segments.items[i]);
}

void tkt_perfetto_phases(tkt_perfetto *file)
{
    writing w = {.file = file, .trace = file->trace};
    tkt_perfetto_blocks(file);
    for (size_t i = 0; i < w.trace->phase_segments.count && file->status == TAKT_OK; i++)
        put_slices(&w, &w.trace->phase_segments.items[i]);
    for (size_t i = 0; i < w.rows.count; i++)
        tkt_perfetto_lanes_fini(&w.rows.items[i]);
    TKT_ARRAY_FREE(&w.rows);
    TKT_ARRAY_FREE(&w.slices);
    tkt_sms_fini(&w.sms);
}
