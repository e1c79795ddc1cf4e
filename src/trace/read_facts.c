/* Reads the facts of the recording, its folded form, and its call stacks. */
#include "trace/read.h"

#include <string.h>

/* ---- Statistics ------------------------------------------------------------------------------ */

/* Reads packed pairs: the distance from the last bucket, and the bucket's count. */
static bool read_histogram(tkt_read *read, const tkt_pb_field *from, tkt_histogram *histogram)
{
    const uint8_t *at = from->bytes;
    const uint8_t *end = at + from->value;
    uint64_t bucket = 0;
    while (at && at < end) {
        uint64_t step;
        uint64_t count;
        at = tkt_pb_get_varint(at, end, &step);
        at = at ? tkt_pb_get_varint(at, end, &count) : NULL;
        if (!at || step >= TKT_HISTOGRAM_BUCKETS || (bucket += step) >= TKT_HISTOGRAM_BUCKETS)
            return tkt_read_bad(read, from->bytes, "a histogram is malformed");
        histogram->buckets[bucket] = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
    }
    return true;
}

/* Sets *histogram to the field with the histogram, if the message has one. */
static bool read_stats(tkt_read *read, const tkt_pb_field *from, tkt_stats *stats,
                       tkt_pb_field *histogram)
{
    tkt_pb_reader message = tkt_pb_inside(from);
    tkt_pb_field field;
    stats->min_ns = 0; /* the file leaves out fields that are 0 */
    while (tkt_pb_next(&message, &field)) {
        switch (field.number) {
        case TKT_PF_STATS_COUNT:
            stats->count = field.value;
            break;
        case TKT_PF_STATS_TOTAL_NS:
            stats->total_ns = field.value;
            break;
        case TKT_PF_STATS_SELF_NS:
            stats->self_ns = field.value;
            break;
        case TKT_PF_STATS_MIN_NS:
            stats->min_ns = field.value;
            break;
        case TKT_PF_STATS_MAX_NS:
            stats->max_ns = field.value;
            break;
        case TKT_PF_STATS_SUM_SQUARES:
            stats->sum_squares = tkt_pb_double(&field);
            break;
        case TKT_PF_STATS_HISTOGRAM:
            *histogram = field;
            break;
        default:
            break;
        }
    }
    if (stats->count == 0)
        stats->min_ns = UINT64_MAX;
    return tkt_read_done(read, &message);
}

/* ---- The folded form ------------------------------------------------------------------------- */

typedef struct node_fields {
    uint64_t site;
    uint64_t parent;
    double flops;
    double bytes;
    uint64_t errors;
    tkt_pb_field stats;
} node_fields;

static bool read_node_fields(tkt_read *read, const tkt_pb_field *from, node_fields *node)
{
    tkt_pb_reader message = tkt_pb_inside(from);
    tkt_pb_field field;
    while (tkt_pb_next(&message, &field)) {
        switch (field.number) {
        case TKT_PF_NODE_SITE:
            node->site = field.value;
            break;
        case TKT_PF_NODE_PARENT:
            node->parent = field.value;
            break;
        case TKT_PF_NODE_STATS:
            node->stats = field;
            break;
        case TKT_PF_NODE_FLOPS:
            node->flops = tkt_pb_double(&field);
            break;
        case TKT_PF_NODE_BYTES:
            node->bytes = tkt_pb_double(&field);
            break;
        case TKT_PF_NODE_ERRORS:
            node->errors = field.value;
            break;
        default:
            break;
        }
    }
    return tkt_read_done(read, &message);
}

static bool start_fold(tkt_read *read)
{
    tkt_fold *fold = &read->trace->fold;
    return fold->items || tkt_fold_init(fold) == TAKT_OK || tkt_read_no_memory(read);
}

bool tkt_read_stats(tkt_read *read, const tkt_pb_field *from, tkt_stats *stats,
                    tkt_histogram **histogram)
{
    tkt_pb_field buckets = {0};
    if (!from->number || from->wire != TKT_PB_BYTES)
        return true;
    if (!read_stats(read, from, stats, &buckets))
        return false;
    if (!stats->count || !buckets.number || buckets.wire != TKT_PB_BYTES)
        return true;
    *histogram = tkt_arena_alloc(&read->trace->fold.histograms, sizeof **histogram);
    if (!*histogram)
        return tkt_read_no_memory(read);
    **histogram = (tkt_histogram){{0}};
    return read_histogram(read, &buckets, *histogram);
}

bool tkt_read_node(tkt_read *read, const tkt_pb_field *from)
{
    node_fields fields = {0};
    if (!read_node_fields(read, from, &fields) || !start_fold(read))
        return false;
    tkt_fold *fold = &read->trace->fold;
    if (fields.parent >= fold->count || fields.site > read->sites.count)
        return tkt_read_bad(read, from->bytes, "a node's parent or site is unknown");
    uint32_t number = (uint32_t)fold->count;
    uint32_t site = fields.site ? read->sites.items[fields.site - 1] : TKT_SITE_OTHER;
    uint32_t node = tkt_fold_find_child(fold, (uint32_t)fields.parent, site);
    if (node == TKT_NO_NODE)
        return tkt_read_no_memory(read);
    if (node != number)
        return tkt_read_bad(read, from->bytes, "a node of the call tree occurs twice");
    fold->items[node].flops = fields.flops;
    fold->items[node].bytes = fields.bytes;
    fold->items[node].errors = fields.errors;
    return tkt_read_stats(read, &fields.stats, &fold->items[node].stats,
                          &fold->items[node].histogram);
}

bool tkt_read_fold_end(tkt_read *read, uint64_t other_count)
{
    if (!start_fold(read))
        return false;
    read->trace->fold.other_count = other_count;
    return true;
}

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
            !read_stats(read, &field, &steps->stats, &histogram))
            return false;
    }
    if (!tkt_read_done(read, &message))
        return false;
    return !histogram.number || histogram.wire != TKT_PB_BYTES ||
           read_histogram(read, &histogram, &steps->histogram);
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
    case TKT_PF_FACTS_DEVICE_UNCERTAINTY_IS_LEAST:
        facts->device_uncertainty_is_least = field->value != 0;
        break;
    case TKT_PF_FACTS_STREAM:
        trace->stream = (uint32_t)field->value;
        break;
    case TKT_PF_FACTS_ENDING:
        facts->ending =
            field->value < TAKT_ENDING_CUT ? (takt_ending)field->value : TAKT_ENDING_CUT;
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
