/* Tables that map structs to messages, which the writer and the reader share; and the step from one
 * field of a message to the next, which is too long to be inlined. */
#include "trace/perfetto.h"

#include "trace/model.h"
#include "trace/protobuf.h"

#include <stddef.h>

#define ENTRY(type, member, kind)                                                                  \
    {                                                                                              \
        offsetof(type, member), sizeof(((type *)0)->member), kind                                  \
    }
#define FIELD(type, member)                                                                        \
    ENTRY(type, member, _Generic(((type *)0)->member, bool : TKT_PF_FLAG, default : TKT_PF_NUMBER))
#define TEXT(type, member) ENTRY(type, member, TKT_PF_TEXT)
#define REAL(type, member) ENTRY(type, member, TKT_PF_DOUBLE)
#define OTHER                                                                                      \
    {                                                                                              \
        0, 1, TKT_PF_OTHER                                                                         \
    }
#define END                                                                                        \
    {                                                                                              \
        0, 0, TKT_PF_OTHER                                                                         \
    }
#define TRIPLE(type, member) FIELD(type, member[0]), FIELD(type, member[1]), FIELD(type, member[2])

#define TOTALS(type, before)                                                                       \
    FIELD(type, before window_begin_bytes), FIELD(type, before window_peak_bytes),                 \
        FIELD(type, before window_peak_ns), FIELD(type, before window_allocations),                \
        FIELD(type, before window_frees), FIELD(type, before current_bytes),                       \
        FIELD(type, before peak_bytes), FIELD(type, before peak_ns),                               \
        FIELD(type, before allocations), FIELD(type, before frees),                                \
        FIELD(type, before unmatched_frees)

/* An entry's position is its field number, so new entries go to the end. */
const tkt_pf_field tkt_pf_facts_fields[] = {
    TEXT(takt_trace, name),
    TEXT(takt_trace, backend),
    TEXT(takt_trace, clock),
    FIELD(takt_trace, facts.begin_ns),
    FIELD(takt_trace, facts.end_ns),
    FIELD(takt_trace, facts.realtime_offset_ns),
    FIELD(takt_trace, facts.process_id),
    FIELD(takt_trace, facts.cycle),
    FIELD(takt_trace, facts.is_partial),
    FIELD(takt_trace, facts.has_spans),
    FIELD(takt_trace, with_flops),
    REAL(takt_trace, facts.clock_resolution_ns),
    REAL(takt_trace, facts.clock_uncertainty_ns),
    REAL(takt_trace, facts.cost_ns),
    OTHER, /* losses */
    FIELD(takt_trace, facts.first_step),
    FIELD(takt_trace, facts.step_count),
    FIELD(takt_trace, facts.span_count),
    FIELD(takt_trace, facts.activity_count),
    FIELD(takt_trace, facts.begun_before),
    FIELD(takt_trace, facts.unfinished),
    OTHER, /* memory */
    OTHER, /* all steps */
    OTHER, /* memory of devices */
    REAL(takt_trace, facts.device_uncertainty_ns),
    REAL(takt_trace, facts.device_resolution_ns),
    REAL(takt_trace, device_peak.flops), /* per second, as the next three */
    REAL(takt_trace, device_peak.bandwidth),
    REAL(takt_trace, host_peak.flops),
    REAL(takt_trace, host_peak.bandwidth),
    FIELD(takt_trace, facts.device_uncertainty_is_least),
    REAL(takt_trace, facts.device_shift_ns),
    FIELD(takt_trace, facts.ending), /* if the file ends here */
    FIELD(takt_trace, facts.known_until_ns),
    FIELD(takt_trace, facts.missing_spans),
    FIELD(takt_trace, facts.missing_activities),
    FIELD(takt_trace, stream),
    OTHER, /* in no file */
    OTHER,
    FIELD(takt_trace, facts.rank),
    FIELD(takt_trace, facts.world_size),
    FIELD(takt_trace, facts.has_capture_range),
    FIELD(takt_trace, is_recovered),
    FIELD(takt_trace, facts.process_key),
    REAL(takt_trace, facts.cost_longest_ns),
    END,
};

const tkt_pf_field tkt_pf_site_fields[] = {
    OTHER, /* its number */
    TEXT(tkt_trace_site, name),
    FIELD(tkt_trace_site, kind),
    FIELD(tkt_trace_site, level),
    TEXT(tkt_trace_site, category),
    TEXT(tkt_trace_site, file),
    TEXT(tkt_trace_site, function),
    FIELD(tkt_trace_site, line),
    TEXT(tkt_trace_site, device),
    FIELD(tkt_trace_site, filter),
    END,
};

const tkt_pf_field tkt_pf_memory_fields[] = {
    TOTALS(tkt_memory_totals, ),
    FIELD(tkt_memory_totals, is_of_recording),
    END,
};

const tkt_pf_field tkt_pf_device_memory_fields[] = {
    TOTALS(tkt_device_memory, totals.),
    TEXT(tkt_device_memory, device),
    FIELD(tkt_device_memory, free_bytes),
    FIELD(tkt_device_memory, capacity_bytes),
    FIELD(tkt_device_memory, pool_bytes),
    FIELD(tkt_device_memory, pool_used_bytes),
    END,
};

const tkt_pf_field tkt_pf_device_fields[] = {
    FIELD(tkt_device, ordinal),
    TEXT(tkt_device, label),
    TEXT(tkt_device, name),
    FIELD(tkt_device, major),
    FIELD(tkt_device, minor),
    FIELD(tkt_device, multiprocessors),
    FIELD(tkt_device, warp_size),
    FIELD(tkt_device, max_threads_per_block),
    FIELD(tkt_device, max_threads_per_multiprocessor),
    FIELD(tkt_device, max_blocks_per_multiprocessor),
    FIELD(tkt_device, registers_per_block),
    FIELD(tkt_device, registers_per_multiprocessor),
    FIELD(tkt_device, shared_per_block),
    FIELD(tkt_device, shared_per_block_optin),
    FIELD(tkt_device, shared_per_multiprocessor),
    FIELD(tkt_device, reserved_shared_per_block),
    FIELD(tkt_device, clock_khz),
    FIELD(tkt_device, memory_clock_khz),
    FIELD(tkt_device, memory_bus_bits),
    FIELD(tkt_device, memory_bytes),
    FIELD(tkt_device, fp64_slowdown),
    FIELD(tkt_device, earlier_until_ns),
    END,
};

const tkt_pf_field tkt_pf_shape_fields[] = {
    TEXT(tkt_shape, label),
    TEXT(tkt_shape, name),
    FIELD(tkt_shape, filter),
    FIELD(tkt_shape, bytes),
    FIELD(tkt_shape, graph),
    FIELD(tkt_shape, graph_node),
    TRIPLE(tkt_shape, grid),
    TRIPLE(tkt_shape, block),
    TRIPLE(tkt_shape, cluster),
    FIELD(tkt_shape, static_shared_bytes),
    FIELD(tkt_shape, dynamic_shared_bytes),
    FIELD(tkt_shape, local_bytes),
    FIELD(tkt_shape, registers),
    FIELD(tkt_shape, occupancy),
    FIELD(tkt_shape, limiter),
    FIELD(tkt_shape, copy_kind),
    FIELD(tkt_shape, source),
    FIELD(tkt_shape, target),
    FIELD(tkt_shape, graph_node_count),
    END,
};

const tkt_pf_field tkt_pf_frame_fields[] = {
    TEXT(tkt_frame, module),
    FIELD(tkt_frame, offset),
    TEXT(tkt_frame, function),
    TEXT(tkt_frame, file),
    FIELD(tkt_frame, line),
    FIELD(tkt_frame, is_inline),
    END,
};

const tkt_pf_field tkt_pf_segment_fields[] = {
    FIELD(tkt_phase_segment, begin_ns),
    TEXT(tkt_phase_segment, timers),
    FIELD(tkt_phase_segment, correlation),
    TEXT(tkt_phase_segment, device),
    FIELD(tkt_phase_segment, block),
    FIELD(tkt_phase_segment, lane),
    FIELD(tkt_phase_segment, sm),
    FIELD(tkt_phase_segment, lost_records),
    TEXT(tkt_phase_segment, kernel_name),
    FIELD(tkt_phase_segment, ns_per_cycle), /* the bits of the double */
    FIELD(tkt_phase_segment, launch),
    END,
};

const tkt_pf_field tkt_pf_counter_fields[] = {
    TEXT(tkt_folded_counter, name),
    FIELD(tkt_folded_counter, is_mixed),
    FIELD(tkt_folded_counter, samples),
    FIELD(tkt_folded_counter, held.sum),
    FIELD(tkt_folded_counter, held.weight),
    FIELD(tkt_folded_counter, first_time),
    FIELD(tkt_folded_counter, last_time),
    FIELD(tkt_folded_counter, first),
    FIELD(tkt_folded_counter, last),
    FIELD(tkt_folded_counter, min),
    FIELD(tkt_folded_counter, max),
    FIELD(tkt_folded_counter, held.large),
    END,
};

const tkt_pf_field tkt_pf_run_step_fields[] = {
    FIELD(tkt_run_step, number),
    FIELD(tkt_run_step, duration_ns),
    END,
};

const tkt_pf_field tkt_pf_run_window_fields[] = {
    FIELD(tkt_run_window, first),
    FIELD(tkt_run_window, last),
    FIELD(tkt_run_window, recorded),
    END,
};

bool tkt_pb_next(tkt_pb_reader *reader, tkt_pb_field *field)
{
    if (reader->at == reader->end)
        return false;
    uint64_t tag;
    const uint8_t *at = tkt_pb_get_varint(reader->at, reader->end, &tag);
    if (at && tag <= UINT32_MAX && tag >> 3 != 0) {
        field->number = (uint32_t)tag >> 3;
        field->wire = (tkt_pb_wire)(tag & 7);
        at = tkt_pb_get_value(at, reader->end, field);
        if (at) {
            reader->at = at;
            return true;
        }
    }
    reader->is_bad = true;
    return false;
}
