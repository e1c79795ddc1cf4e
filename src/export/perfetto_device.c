/* Activities of devices. A device is a group of rows, one for each stream, with several lanes if
 * activities overlap, as the nodes of a graph may. Activities of the same shape have the same name
 * and annotations, which are encoded once. The shape's number is also the name's number in
 * Perfetto's tables.
 *
 * Each row of a stream is a packet sequence of its own. So numbers of annotation names may have
 * another meaning there than on the rows of threads. */
#include "cuda/kinds.h"
#include "export/devices.h"
#include "export/perfetto.h"

#include <stdio.h>

#define DEVICES_RANK 1000 /* sorts devices below threads */

/* Names of annotations on the rows of streams. */
typedef enum work_key {
    WORK_KERNEL = TKT_PF_KEY_RESULT + 1,
    WORK_GRID,
    WORK_BLOCK,
    WORK_CLUSTER,
    WORK_REGISTERS,
    WORK_STATIC_SHARED,
    WORK_DYNAMIC_SHARED,
    WORK_LOCAL,
    WORK_OCCUPANCY,
    WORK_LIMITER,
    WORK_BYTES,
    WORK_SOURCE,
    WORK_TARGET,
    WORK_BANDWIDTH,
    WORK_GRAPH,
    WORK_GRAPH_NODE,
    WORK_GRAPH_NODES,
    WORK_KEYS
} work_key;

static const char *const work_keys[] = {"kernel",
                                        "grid",
                                        "block",
                                        "cluster",
                                        "registers per thread",
                                        "static shared memory",
                                        "dynamic shared memory",
                                        "local memory per thread",
                                        "theoretical occupancy %",
                                        "limited by",
                                        "bytes",
                                        "from",
                                        "to",
                                        "GB/s",
                                        "graph",
                                        "graph node",
                                        "nodes of the graph"};
_Static_assert(sizeof work_keys / sizeof *work_keys == WORK_KEYS - WORK_KERNEL, "one each");

static const char *text(const tkt_perfetto *file, uint32_t string)
{
    return tkt_trace_text(file->trace, string);
}

void tkt_perfetto_forget_shapes(tkt_perfetto *file)
{
    for (size_t i = 0; i < file->shapes.count; i++)
        TKT_ARRAY_FREE(&file->shapes.items[i]);
    TKT_ARRAY_FREE(&file->shapes);
    file->first_shape += file->shape_count;
    file->shape_count = 0;
}

void tkt_perfetto_devices_fini(tkt_perfetto *file)
{
    for (size_t i = 0; i < file->stream_rows.count; i++)
        tkt_perfetto_lanes_fini(&file->stream_rows.items[i]);
    TKT_ARRAY_FREE(&file->stream_rows);
    tkt_streams_fini(&file->streams);
    tkt_perfetto_forget_shapes(file);
    TKT_ARRAY_FREE(&file->memories);
    tkt_perfetto_lanes_fini(&file->waits);
    tkt_perfetto_lanes_fini(&file->overheads);
    tkt_map_fini(&file->device_uuids);
}

/* ---- Devices and streams --------------------------------------------------------------------- */

static void put_takt_struct(tkt_perfetto *file, uint32_t field, const tkt_pf_field *fields,
                            const void *from)
{
    tkt_message *packet = tkt_perfetto_takt(file, field);
    tkt_perfetto_put_fields(file, packet, fields, from);
    tkt_perfetto_takt_write(file);
}

/* "cuda:0 NVIDIA H100". Devices stand in order of their ordinals, not of their first activity. */
static void open_device(tkt_perfetto *file, uint32_t device, uint64_t uuid)
{
    const tkt_device *facts = tkt_device_facts(file->trace, device);
    const char *product = facts ? text(file, facts->name) : "";
    char name[256];
    snprintf(name, sizeof name, "%s%s%s", text(file, device), product[0] ? " " : "", product);
    uint32_t ordinal = tkt_device_ordinal(file->trace, device) % TKT_CHROME_ORDINALS;
    tkt_perfetto_group(file, uuid, name, DEVICES_RANK + (int32_t)ordinal);
}

uint64_t tkt_perfetto_device_uuid(tkt_perfetto *file, uint32_t device)
{
    uint64_t *uuid = tkt_map_put(&file->device_uuids, device);
    if (!uuid) {
        tkt_perfetto_no_memory(file);
        return TKT_PERFETTO_PROCESS_UUID;
    }
    if (*uuid)
        return *uuid;
    uint64_t made = *uuid = ++file->last_uuid;
    open_device(file, device, made);
    return made;
}

uint32_t tkt_perfetto_stream_of(tkt_perfetto *file, const tkt_activity *activity)
{
    uint32_t number = tkt_stream_number(&file->streams, activity);
    while (number != UINT32_MAX && file->stream_rows.count <= number) {
        tkt_perfetto_lanes *added = TKT_ARRAY_ADD(&file->stream_rows);
        if (!added)
            number = UINT32_MAX;
        else
            *added = (tkt_perfetto_lanes){0};
    }
    if (number == UINT32_MAX)
        tkt_perfetto_no_memory(file);
    return number;
}

static void intern_keys(tkt_perfetto *file, uint32_t row)
{
    tkt_message *packet = tkt_perfetto_packet(file, row);
    size_t mark = tkt_message_begin(packet, TKT_PF_PACKET_INTERNED);
    tkt_perfetto_put_interned(packet, TKT_PF_INTERNED_ANNOTATION_NAMES, TKT_PF_KEY_CORRELATION,
                              "correlation");
    for (uint32_t key = WORK_KERNEL; key < WORK_KEYS; key++)
        tkt_perfetto_put_interned(packet, TKT_PF_INTERNED_ANNOTATION_NAMES, key,
                                  work_keys[key - WORK_KERNEL]);
    tkt_message_end(packet, mark);
    tkt_perfetto_packet_write(file);
}

static uint32_t open_stream(tkt_perfetto *file, uint32_t number, uint32_t lane)
{
    const tkt_stream_key stream = file->streams.keys.items[number];
    char name[48];
    snprintf(name, sizeof name, "stream %u", stream.stream);
    uint64_t device = tkt_perfetto_device_uuid(file, stream.device);
    uint32_t row = tkt_perfetto_open_row(file,
                                         &(tkt_takt_half){.kind = TKT_PF_TRACK_OF_STREAM,
                                                          .name = text(file, stream.device),
                                                          .context = stream.context,
                                                          .stream = stream.stream,
                                                          .lane = lane},
                                         name, device);
    intern_keys(file, row);
    return row;
}

/* Returns the row of a free lane, opened if it is new. UINT32_MAX without memory. */
static uint32_t row_of(tkt_perfetto *file, uint32_t number, const tkt_activity *activity)
{
    if (number >= file->stream_rows.count)
        return UINT32_MAX;
    tkt_perfetto_lanes *rows = &file->stream_rows.items[number];
    uint32_t lane;
    if (!tkt_perfetto_take_lane(file, rows, activity->begin_ns, activity->end_ns, &lane) &&
        lane != UINT32_MAX)
        tkt_perfetto_add_lane(file, rows, open_stream(file, number, lane));
    return lane < rows->rows.count ? rows->rows.items[lane] : UINT32_MAX;
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

static void put_uint(tkt_message *into, work_key key, uint32_t field, uint64_t value)
{
    if (value == 0)
        return;
    size_t mark = tkt_message_begin(into, TKT_PF_EVENT_ANNOTATIONS);
    tkt_message_uint(into, TKT_PF_ANNOTATION_NAME_IID, key);
    tkt_message_uint(into, field, value);
    tkt_message_end(into, mark);
}

static void put_double(tkt_message *into, work_key key, double value)
{
    size_t mark = tkt_message_begin(into, TKT_PF_EVENT_ANNOTATIONS);
    tkt_message_uint(into, TKT_PF_ANNOTATION_NAME_IID, key);
    tkt_message_double(into, TKT_PF_ANNOTATION_DOUBLE, value);
    tkt_message_end(into, mark);
}

static void put_text(tkt_message *into, work_key key, const char *value)
{
    size_t mark = tkt_message_begin(into, TKT_PF_EVENT_ANNOTATIONS);
    tkt_message_uint(into, TKT_PF_ANNOTATION_NAME_IID, key);
    tkt_message_string(into, TKT_PF_ANNOTATION_STRING, value);
    tkt_message_end(into, mark);
}

static void put_triple(tkt_message *into, work_key key, const uint32_t values[3])
{
    if (values[0] == 0)
        return;
    size_t mark = tkt_message_begin(into, TKT_PF_EVENT_ANNOTATIONS);
    tkt_message_uint(into, TKT_PF_ANNOTATION_NAME_IID, key);
    for (int i = 0; i < 3; i++) {
        size_t item = tkt_message_begin(into, TKT_PF_ANNOTATION_ARRAY);
        tkt_message_uint(into, TKT_PF_ANNOTATION_UINT, values[i]);
        tkt_message_end(into, item);
    }
    tkt_message_end(into, mark);
}

static void put_kernel(tkt_message *into, const tkt_shape *shape, uint32_t number)
{
    if (shape->name)
        put_uint(into, WORK_KERNEL, TKT_PF_ANNOTATION_STRING_IID, number);
    put_triple(into, WORK_GRID, shape->grid);
    put_triple(into, WORK_BLOCK, shape->block);
    put_triple(into, WORK_CLUSTER, shape->cluster);
    put_uint(into, WORK_REGISTERS, TKT_PF_ANNOTATION_UINT, shape->registers);
    put_uint(into, WORK_STATIC_SHARED, TKT_PF_ANNOTATION_UINT, shape->static_shared_bytes);
    put_uint(into, WORK_DYNAMIC_SHARED, TKT_PF_ANNOTATION_UINT, shape->dynamic_shared_bytes);
    put_uint(into, WORK_LOCAL, TKT_PF_ANNOTATION_UINT, shape->local_bytes);
    if (shape->occupancy)
        put_double(into, WORK_OCCUPANCY, (double)shape->occupancy / 100);
    if (shape->limiter)
        put_text(into, WORK_LIMITER, tkt_limiter_name(shape->limiter));
}

static void put_shape(tkt_message *into, const tkt_shape *shape, uint32_t number)
{
    put_kernel(into, shape, number);
    put_uint(into, WORK_BYTES, TKT_PF_ANNOTATION_UINT, shape->bytes);
    if (shape->source)
        put_text(into, WORK_SOURCE, tkt_memory_kind_name(shape->source));
    if (shape->target)
        put_text(into, WORK_TARGET, tkt_memory_kind_name(shape->target));
    put_uint(into, WORK_GRAPH, TKT_PF_ANNOTATION_UINT, shape->graph);
    put_uint(into, WORK_GRAPH_NODE, TKT_PF_ANNOTATION_UINT, shape->graph_node);
    put_uint(into, WORK_GRAPH_NODES, TKT_PF_ANNOTATION_UINT, shape->graph_node_count);
}

/* The number of a shape among the file's interned names. */
static uint32_t iid_of(const tkt_perfetto *file, uint32_t shape)
{
    return file->first_shape + shape + 1;
}

/* Returns a shape's annotations. The first call writes the shape, and all shapes before it. */
static const tkt_message *annotations_of(tkt_perfetto *file, uint32_t index)
{
    for (; file->shape_count <= index; file->shape_count++) {
        const tkt_shape *shape = &file->trace->shapes.items[file->shape_count];
        tkt_message *added = TKT_ARRAY_ADD(&file->shapes);
        if (!added) {
            tkt_perfetto_no_memory(file);
            return NULL;
        }
        *added = (tkt_message){0};
        put_takt_struct(file, TKT_PF_TAKT_SHAPES, tkt_pf_shape_fields, shape);
        put_shape(added, shape, iid_of(file, file->shape_count));
    }
    return &file->shapes.items[index];
}

static void intern_shape(tkt_perfetto *file, uint32_t row, uint32_t index)
{
    const tkt_shape *shape = &file->trace->shapes.items[index];
    tkt_message *packet = tkt_perfetto_packet(file, row);
    size_t mark = tkt_message_begin(packet, TKT_PF_PACKET_INTERNED);
    tkt_perfetto_put_interned(packet, TKT_PF_INTERNED_EVENT_NAMES, iid_of(file, index),
                              text(file, shape->label));
    if (shape->name)
        tkt_perfetto_put_interned(packet, TKT_PF_INTERNED_STRINGS, iid_of(file, index),
                                  text(file, shape->name));
    tkt_message_end(packet, mark);
    tkt_perfetto_packet_write(file);
    if (!tkt_perfetto_set_add(&file->rows.items[row].sites, iid_of(file, index)))
        tkt_perfetto_no_memory(file);
}

void tkt_perfetto_devices(tkt_perfetto *file)
{
    for (size_t i = 0; i < file->trace->devices.count; i++)
        put_takt_struct(file, TKT_PF_TAKT_DEVICES, tkt_pf_device_fields,
                        &file->trace->devices.items[i]);
    if (file->trace->shapes.count)
        annotations_of(file, (uint32_t)file->trace->shapes.count - 1);
}

/* ---- Activities ------------------------------------------------------------------------------ */

static void put_activity(tkt_perfetto *file, uint32_t row, const tkt_activity *activity,
                         const tkt_message *annotations)
{
    const tkt_shape *shape = &file->trace->shapes.items[activity->shape];
    size_t mark = tkt_perfetto_event(file, row, TKT_PF_SLICE_BEGIN, activity->begin_ns);
    tkt_message *into = &file->message;
    tkt_message_uint(into, TKT_PF_EVENT_NAME_IID, iid_of(file, activity->shape));
    if (activity->call != TKT_NO_CALL)
        tkt_message_fixed64(into, TKT_PF_EVENT_FLOWS, TKT_PERFETTO_FLOW + activity->correlation);
    put_uint(into, (work_key)TKT_PF_KEY_CORRELATION, TKT_PF_ANNOTATION_UINT, activity->correlation);
    uint64_t duration_ns = activity->end_ns - activity->begin_ns;
    if (shape->bytes && duration_ns)
        put_double(into, WORK_BANDWIDTH, (double)shape->bytes / (double)duration_ns);
    tkt_message_append(into, annotations);
    tkt_perfetto_event_end(file, mark);
    tkt_perfetto_end(file, row, activity->end_ns);
}

void tkt_perfetto_activity(tkt_perfetto *file, uint32_t stream, const tkt_activity *activity)
{
    const tkt_message *annotations = annotations_of(file, activity->shape);
    uint32_t row = row_of(file, stream, activity);
    if (row == UINT32_MAX || !annotations)
        return;
    if (!tkt_perfetto_set_has(&file->rows.items[row].sites, iid_of(file, activity->shape)))
        intern_shape(file, row, activity->shape);
    put_activity(file, row, activity, annotations);
}

/* ---- Waits, overheads, memory without a thread ----------------------------------------------- */

static void put_slice(tkt_perfetto *file, uint32_t row, const char *name, uint64_t begin_ns,
                      uint64_t end_ns)
{
    size_t mark = tkt_perfetto_event(file, row, TKT_PF_SLICE_BEGIN, begin_ns);
    tkt_message_string(&file->message, TKT_PF_EVENT_NAME, name);
    tkt_perfetto_event_end(file, mark);
    tkt_perfetto_end(file, row, end_ns);
}

/* Returns a free row for a slice, opened if it is new. UINT32_MAX without memory. */
static uint32_t row_among(tkt_perfetto *file, tkt_perfetto_lanes *rows, const tkt_takt_half *half,
                          uint64_t begin_ns, uint64_t end_ns)
{
    uint32_t lane;
    if (!tkt_perfetto_take_lane(file, rows, begin_ns, end_ns, &lane) && lane != UINT32_MAX)
        tkt_perfetto_add_lane(
            file, rows, tkt_perfetto_open_row(file, half, half->name, TKT_PERFETTO_PROCESS_UUID));
    return lane < rows->rows.count ? rows->rows.items[lane] : UINT32_MAX;
}

static void annotate(tkt_perfetto *file, uint32_t row, tkt_pf_key key, uint64_t value)
{
    if (value)
        tkt_perfetto_annotate(file, row, key, TKT_PF_ANNOTATION_UINT, value);
}

void tkt_perfetto_wait(tkt_perfetto *file, const tkt_wait *wait)
{
    const tkt_takt_half half = {.kind = TKT_PF_TRACK_OF_WAITS, .name = "waits for devices"};
    uint32_t row = row_among(file, &file->waits, &half, wait->begin_ns, wait->end_ns);
    if (row == UINT32_MAX)
        return;
    annotate(file, row, TKT_PF_KEY_KIND, wait->kind);
    annotate(file, row, TKT_PF_KEY_CORRELATION, wait->correlation);
    annotate(file, row, TKT_PF_KEY_CONTEXT, wait->context);
    annotate(file, row, TKT_PF_KEY_STREAM, wait->stream);
    annotate(file, row, TKT_PF_KEY_EVENT, wait->event);
    annotate(file, row, TKT_PF_KEY_RECORD_CORRELATION, wait->record_correlation);
    annotate(file, row, TKT_PF_KEY_RECORD_STREAM, wait->record_stream);
    put_slice(file, row, tkt_wait_name(wait->kind), wait->begin_ns, wait->end_ns);
}

void tkt_perfetto_overhead(tkt_perfetto *file, const tkt_overhead *overhead)
{
    const tkt_takt_half half = {.kind = TKT_PF_TRACK_OF_OVERHEADS, .name = "CUPTI overhead"};
    uint32_t row = row_among(file, &file->overheads, &half, overhead->begin_ns, overhead->end_ns);
    if (row == UINT32_MAX)
        return;
    annotate(file, row, TKT_PF_KEY_KIND, overhead->kind);
    annotate(file, row, TKT_PF_KEY_THREAD, overhead->thread_id);
    put_slice(file, row, tkt_overhead_name(overhead->kind), overhead->begin_ns, overhead->end_ns);
}

uint32_t tkt_perfetto_events_row(tkt_perfetto *file)
{
    if (!file->events_row)
        file->events_row = tkt_perfetto_open_row(
            file, &(tkt_takt_half){.kind = TKT_PF_TRACK_OF_EVENTS, .name = ""}, "device memory",
            TKT_PERFETTO_PROCESS_UUID);
    return file->events_row;
}

/* ---- The folded form ------------------------------------------------------------------------- */

void tkt_perfetto_node_activities(tkt_perfetto *file)
{
    for (size_t i = 0; i < file->trace->node_activities.count; i++) {
        const tkt_node_activity *from = &file->trace->node_activities.items[i];
        tkt_message *packet = tkt_perfetto_takt(file, TKT_PF_TAKT_NODE_ACTIVITIES);
        tkt_message_uint_if(packet, TKT_PF_NODE_ACTIVITY_NODE, from->node);
        tkt_message_string_if(packet, TKT_PF_NODE_ACTIVITY_NAME, text(file, from->name));
        tkt_message_string_if(packet, TKT_PF_NODE_ACTIVITY_DEVICE, text(file, from->device));
        tkt_message_uint_if(packet, TKT_PF_NODE_ACTIVITY_FILTER, from->filter);
        tkt_perfetto_put_stats(packet, TKT_PF_NODE_ACTIVITY_STATS, &from->stats, from->histogram);
        tkt_perfetto_takt_write(file);
    }
}
