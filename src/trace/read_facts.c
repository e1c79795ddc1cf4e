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

/* Fields that are messages or texts. */
static bool read_long_fact(tkt_read *read, const tkt_pb_field *field)
{
    takt_trace *trace = read->trace;
    switch (field->number) {
    case TKT_PF_FACTS_NAME:
        return tkt_read_text(read, field, &trace->name);
    case TKT_PF_FACTS_BACKEND:
        return tkt_read_text(read, field, &trace->backend);
    case TKT_PF_FACTS_CLOCK:
        return tkt_read_text(read, field, &trace->clock);
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

/* The place for a field that is a double; NULL for other fields. */
static double *measure_of(takt_trace *trace, uint32_t number)
{
    takt_facts *facts = &trace->facts;
    switch (number) {
    case TKT_PF_FACTS_CLOCK_RESOLUTION_NS:
        return &facts->clock_resolution_ns;
    case TKT_PF_FACTS_CLOCK_UNCERTAINTY_NS:
        return &facts->clock_uncertainty_ns;
    case TKT_PF_FACTS_DEVICE_UNCERTAINTY_NS:
        return &facts->device_uncertainty_ns;
    case TKT_PF_FACTS_DEVICE_RESOLUTION_NS:
        return &facts->device_resolution_ns;
    case TKT_PF_FACTS_DEVICE_SHIFT_NS:
        return &facts->device_shift_ns;
    case TKT_PF_FACTS_PEAK_FLOPS:
        return &trace->device_peak.flops;
    case TKT_PF_FACTS_PEAK_BANDWIDTH:
        return &trace->device_peak.bandwidth;
    case TKT_PF_FACTS_HOST_PEAK_FLOPS:
        return &trace->host_peak.flops;
    case TKT_PF_FACTS_HOST_PEAK_BANDWIDTH:
        return &trace->host_peak.bandwidth;
    case TKT_PF_FACTS_COST_NS:
        return &facts->cost_ns;
    default:
        return NULL;
    }
}

static void set_fact(takt_trace *trace, const tkt_pb_field *field)
{
    takt_facts *facts = &trace->facts;
    double *measure = measure_of(trace, field->number);
    switch (field->number) {
    case TKT_PF_FACTS_BEGIN_NS:
        facts->begin_ns = field->value;
        break;
    case TKT_PF_FACTS_END_NS:
        facts->end_ns = field->value;
        break;
    case TKT_PF_FACTS_REALTIME_OFFSET_NS:
        facts->realtime_offset_ns = (int64_t)field->value;
        break;
    case TKT_PF_FACTS_PROCESS_ID:
        facts->process_id = (uint32_t)field->value;
        break;
    case TKT_PF_FACTS_CYCLE:
        facts->cycle = (uint32_t)field->value;
        break;
    case TKT_PF_FACTS_RANK:
        facts->rank = (uint32_t)field->value;
        break;
    case TKT_PF_FACTS_WORLD_SIZE:
        facts->world_size = (uint32_t)field->value;
        break;
    case TKT_PF_FACTS_HAS_CAPTURE_RANGE:
        facts->has_capture_range = field->value != 0;
        break;
    case TKT_PF_FACTS_IS_PARTIAL:
        facts->is_partial = field->value != 0;
        break;
    case TKT_PF_FACTS_HAS_SPANS:
        facts->has_spans = field->value != 0;
        break;
    case TKT_PF_FACTS_WITH_FLOPS:
        trace->with_flops = field->value != 0;
        break;
    case TKT_PF_FACTS_IS_RECOVERED:
        trace->is_recovered = field->value != 0;
        break;
    case TKT_PF_FACTS_DEVICE_UNCERTAINTY_IS_LEAST:
        facts->device_uncertainty_is_least = field->value != 0;
        break;
    case TKT_PF_FACTS_STREAM:
        trace->stream = (uint32_t)field->value;
        break;
    case TKT_PF_FACTS_ENDING:
        facts->ending =
            field->value <= TAKT_ENDING_STOPPED ? (takt_ending)field->value : TAKT_ENDING_CUT;
        break;
    case TKT_PF_FACTS_KNOWN_UNTIL_NS:
        facts->known_until_ns = field->value;
        break;
    case TKT_PF_FACTS_MISSING_SPANS:
        facts->missing_spans = field->value;
        break;
    case TKT_PF_FACTS_MISSING_ACTIVITIES:
        facts->missing_activities = field->value;
        break;
    case TKT_PF_FACTS_FIRST_STEP:
        facts->first_step = field->value;
        break;
    case TKT_PF_FACTS_STEP_COUNT:
        facts->step_count = field->value;
        break;
    case TKT_PF_FACTS_SPAN_COUNT:
        facts->span_count = field->value;
        break;
    case TKT_PF_FACTS_ACTIVITY_COUNT:
        facts->activity_count = field->value;
        break;
    case TKT_PF_FACTS_BEGUN_BEFORE:
        facts->begun_before = field->value;
        break;
    case TKT_PF_FACTS_UNFINISHED:
        facts->unfinished = field->value;
        break;
    default:
        if (measure)
            *measure = tkt_pb_double(field);
        break;
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

    tkt_pb_reader message = tkt_pb_inside(from);
    tkt_pb_field field;
    while (tkt_pb_next(&message, &field)) {
        set_fact(trace, &field);
        if (field.wire == TKT_PB_BYTES && !read_long_fact(read, &field))
            return false;
    }
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
