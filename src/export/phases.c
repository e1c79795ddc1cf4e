/* Phases inside kernels as slices for viewers. Takt knows the time of a block's attach and counts
 * cycles from there on; a viewer needs times, and slices that nest. */
#include "export/devices.h"

/* Keeps absurd numbers of a file from overflowing: 292 years. */
#define MOST_NS 9.2e18

static uint64_t time_of(const tkt_phase_segment *segment, uint64_t cycles)
{
    double ns = (double)cycles * segment->ns_per_cycle;
    uint64_t whole = ns < MOST_NS ? (uint64_t)ns : (uint64_t)MOST_NS;
    return segment->begin_ns + whole < whole ? UINT64_MAX : segment->begin_ns + whole;
}

/* Adds a phase below the innermost slice that has not ended. The phase is cut at the
 * end of that slice. */
static bool add_phase(tkt_phase_slices *out, const tkt_phase_segment *segment,
                      const tkt_phase_record *record)
{
    uint32_t parent = (uint32_t)out->count - 1;
    while (parent && tkt_phase_end(out->items[parent].record) <= record->start_cycles)
        parent = out->items[parent].parent;
    uint64_t end_ns = time_of(segment, tkt_phase_end(record));
    tkt_phase_slice *added = TKT_ARRAY_ADD(out);
    if (!added)
        return false;
    if (end_ns > out->items[parent].end_ns)
        end_ns = out->items[parent].end_ns;
    *added = (tkt_phase_slice){time_of(segment, record->start_cycles), end_ns, record->name, parent,
                               record};
    return true;
}

takt_status tkt_phase_slices_of(const takt_trace *trace, const tkt_phase_segment *segment,
                                tkt_phase_slices *out)
{
    out->count = 0;
    if (!(segment->ns_per_cycle > 0))
        return TAKT_OK;
    tkt_phase_slice *block = TKT_ARRAY_ADD(out);
    if (!block)
        return TAKT_NO_MEMORY;
    *block = (tkt_phase_slice){
        .begin_ns = segment->begin_ns,
        .end_ns = time_of(segment, tkt_phase_extent(trace, segment)),
        .name = segment->kernel_name ? segment->kernel_name : segment->timers,
        .parent = UINT32_MAX,
    };
    for (uint32_t i = 0; i < segment->record_count; i++)
        if (!add_phase(out, segment, &trace->phase_records.items[segment->first_record + i]))
            return TAKT_NO_MEMORY;
    return TAKT_OK;
}

uint32_t tkt_sm_number(tkt_sms *sms, const tkt_phase_segment *segment)
{
    uint64_t *number = tkt_map_put(&sms->index, (uint64_t)segment->device << 32 | segment->sm);
    if (number && *number == 0) {
        tkt_sm_key *added = TKT_ARRAY_ADD(&sms->keys);
        if (!added)
            return UINT32_MAX;
        *added = (tkt_sm_key){segment->device, segment->sm};
        *number = sms->keys.count;
    }
    return number ? (uint32_t)*number - 1 : UINT32_MAX;
}

void tkt_sms_fini(tkt_sms *sms)
{
    TKT_ARRAY_FREE(&sms->keys);
    tkt_map_fini(&sms->index);
}
