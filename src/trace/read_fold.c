/* Reads the folded form of a recording. */
#include "trace/read.h"

/* ---- Statistics ------------------------------------------------------------------------------ */

/* Packed pairs: the distance from the last bucket, and the bucket's count. */
bool tkt_read_histogram(tkt_read *read, const tkt_pb_field *from, tkt_histogram *histogram)
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

bool tkt_read_stats_fields(tkt_read *read, const tkt_pb_field *from, tkt_stats *stats,
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
        case TKT_PF_STATS_PIECES:
            stats->pieces = field.value;
            break;
        case TKT_PF_STATS_PIECES_NS:
            stats->pieces_ns = field.value;
            break;
        default:
            break;
        }
    }
    if (stats->pieces > stats->count || stats->pieces_ns > stats->total_ns)
        stats->pieces = stats->pieces_ns = 0;
    if (tkt_stats_whole(stats) == 0)
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
    return fold->items || tkt_trace_begin_fold(read->trace) == TAKT_OK || tkt_read_no_memory(read);
}

/* The same before an item of a list: so a file without its end has the lists as far as it goes. */
static bool start_list(tkt_read *read)
{
    if (!start_fold(read))
        return false;
    read->trace->fold.has_lists = true;
    return true;
}

bool tkt_read_stats(tkt_read *read, const tkt_pb_field *from, tkt_stats *stats,
                    tkt_histogram **histogram)
{
    tkt_pb_field buckets = {0};
    if (!from->number || from->wire != TKT_PB_BYTES)
        return true;
    if (!tkt_read_stats_fields(read, from, stats, &buckets))
        return false;
    if (!stats->count || !buckets.number || buckets.wire != TKT_PB_BYTES)
        return true;
    *histogram = tkt_fold_new_histogram(&read->trace->fold);
    if (!*histogram)
        return tkt_read_no_memory(read);
    return tkt_read_histogram(read, &buckets, *histogram);
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

bool tkt_read_counter(tkt_read *read, const tkt_pb_field *from)
{
    tkt_folded_counter counter = {0};
    if (!start_list(read) || !tkt_read_fields(read, from, tkt_pf_counter_fields, &counter))
        return false;
    return tkt_fold_add_counter(&read->trace->fold, &counter) || tkt_read_no_memory(read);
}

bool tkt_read_task(tkt_read *read, const tkt_pb_field *from)
{
    tkt_folded_task task = {0};
    tkt_pb_field field, stats = {0};
    tkt_pb_reader message = tkt_pb_inside(from);
    tkt_stats_init(&task.stats);
    while (tkt_pb_next(&message, &field)) {
        if (field.number == TKT_PF_TASK_NAME && !tkt_read_text(read, &field, &task.name))
            return false;
        if (field.number == TKT_PF_TASK_TRACK && !tkt_read_text(read, &field, &task.track))
            return false;
        if (field.number == TKT_PF_TASK_STATS)
            stats = field;
    }
    if (!tkt_read_done(read, &message) || !start_list(read) ||
        !tkt_read_stats(read, &stats, &task.stats, &task.histogram))
        return false;
    return tkt_fold_add_task(&read->trace->fold, &task) || tkt_read_no_memory(read);
}

static bool read_parts(tkt_read *read, const tkt_pb_field *from)
{
    tkt_fold *fold = &read->trace->fold;
    const uint8_t *at = from->bytes, *end = at + from->value;
    while (at && at < end) {
        tkt_thread_node part;
        at = tkt_pb_get_varint(at, end, &part.node);
        at = at ? tkt_pb_get_varint(at, end, &part.count) : NULL;
        at = at ? tkt_pb_get_varint(at, end, &part.total_ns) : NULL;
        if (!at || part.node == 0 || part.node >= fold->count)
            return tkt_read_bad(read, from->bytes, "a thread's part of a node is malformed");
        tkt_thread_node *added = TKT_ARRAY_ADD(&fold->parts);
        if (!added)
            return tkt_read_no_memory(read);
        *added = part;
    }
    return true;
}

bool tkt_read_thread(tkt_read *read, const tkt_pb_field *from)
{
    tkt_folded_thread thread = {0};
    tkt_pb_reader message = tkt_pb_inside(from);
    tkt_pb_field field;
    if (!start_list(read))
        return false;
    while (tkt_pb_next(&message, &field)) {
        if (field.number == TKT_PF_FOLDED_THREAD_NAME && !tkt_read_text(read, &field, &thread.name))
            return false;
        if (field.number == TKT_PF_FOLDED_THREAD_ID)
            thread.thread_id = (uint32_t)field.value;
        if (field.number == TKT_PF_FOLDED_THREAD_PARTS && field.wire == TKT_PB_BYTES &&
            !read_parts(read, &field))
            return false;
    }
    tkt_folded_thread *added =
        tkt_read_done(read, &message) ? TKT_ARRAY_ADD(&read->trace->fold.threads) : NULL;
    if (!added)
        return read->status == TAKT_OK ? tkt_read_no_memory(read) : false;
    thread.end = read->trace->fold.parts.count;
    *added = thread;
    return true;
}

bool tkt_read_has_lists(tkt_read *read, bool has_lists)
{
    if (!start_fold(read))
        return false;
    read->trace->fold.has_lists = has_lists;
    return true;
}

bool tkt_read_fold_end(tkt_read *read, uint64_t other_count)
{
    if (!start_fold(read))
        return false;
    read->trace->fold.other_count = other_count;
    return true;
}
