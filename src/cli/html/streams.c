/* Columns of activities, by stream, and their launch shapes. */
#include "cli/html/html.h"

#include <takt/activity.h>

#include <stdlib.h>
#include <string.h>

/* ======== Streams ======== */

/* Columns of activities, by stream. The activities themselves show which streams exist. Activities
 * are in order of issue; those of one stream are therefore nearly in order of begin. */

enum {
    BEGIN,
    DURATION,
    SHAPE,
    DEPTH,
    TRACK,
    LAUNCH,
    SCOPE,
    SCOPE_NAME,
    CORRELATION,
    COLUMNS
};

/* Identifies a stream. No padding, because keys are compared as bytes. */
typedef struct stream_key {
    const char *device;
    uint32_t context;
    uint32_t stream;
} stream_key;

typedef struct stream {
    stream_key key;
    uint32_t number; /* in order of the streams' first activities */
    uint64_t hidden;
} stream;

/* An activity to write. */
typedef struct order {
    uint64_t begin_ns;
    uint32_t stream;
    uint32_t index;
} order;

typedef struct stream_writer {
    html_writer *writer;
    html_packed *out;
    html_set keys;
    html_bytes streams; /* array of stream */
    html_bytes orders;
    html_bytes columns[COLUMNS];
    html_lanes lanes;
    uint64_t last_ns;
    int64_t last[COLUMNS]; /* the previous value of columns of differences */
} stream_writer;

static stream *stream_of(stream_writer *to, const takt_activity *activity)
{
    const stream_key key = {activity->device, activity->context, activity->stream};
    uint32_t number = html_set_add(&to->keys, &key, sizeof key);
    if (to->streams.used / sizeof(stream) < to->keys.count)
        html_put(&to->streams, &(stream){.key = key, .number = number}, sizeof(stream));
    return to->streams.has_failed || html_set_has_failed(&to->keys)
               ? NULL
               : (stream *)(void *)to->streams.data + number;
}

static void collect(stream_writer *to)
{
    takt_activity activity;

    for (size_t i = 0; takt_trace_activity(to->writer->trace, i, &activity) == TAKT_OK; i++) {
        if (!html_is_of_device(&activity))
            continue;
        stream *of = stream_of(to, &activity);
        if (!of)
            return;
        const order at = {activity.begin_ns, of->number, (uint32_t)i};
        if (html_limit_keeps(&to->writer->limit, activity.end_ns - activity.begin_ns))
            html_put(&to->orders, &at, sizeof at);
        else
            of->hidden++;
    }
}

static int compare_orders(const void *a, const void *b)
{
    const order *first = a, *second = b;
    if (first->stream != second->stream)
        return first->stream < second->stream ? -1 : 1;
    if (first->begin_ns != second->begin_ns)
        return first->begin_ns < second->begin_ns ? -1 : 1;
    return first->index < second->index ? -1 : first->index > second->index;
}

/* Shorter names come first: cuda:2 before cuda:10. */
static int compare_streams(const void *a, const void *b)
{
    const stream_key *first = &((const stream *)a)->key, *second = &((const stream *)b)->key;
    size_t length = strlen(first->device), other = strlen(second->device);
    int devices = strcmp(first->device, second->device);
    if (length != other || devices)
        return length != other ? (length < other ? -1 : 1) : devices;
    if (first->context != second->context)
        return first->context < second->context ? -1 : 1;
    return first->stream < second->stream ? -1 : first->stream > second->stream;
}

/* Returns a span's index in the page + 1; 0: the page does not have it. */
static uint64_t place_of(const html_writer *writer, size_t track, size_t span)
{
    if (track >= writer->host_count || span == SIZE_MAX)
        return 0;
    const uint32_t *places = writer->tracks[track].places;
    return places ? places[span] : span + 1;
}

/* Writes the difference to the previous value. */
static void put_difference(stream_writer *to, int column, uint64_t value)
{
    html_put_zigzag(&to->columns[column], (int64_t)value - to->last[column]);
    to->last[column] = (int64_t)value;
}

static void put_activity(stream_writer *to, html_track *track, const takt_activity *activity)
{
    html_bytes *columns = to->columns;
    html_writer *writer = to->writer;
    uint32_t lane = html_lane(&to->lanes, activity->begin_ns, activity->end_ns);

    html_put_varint(&columns[BEGIN], activity->begin_ns - to->last_ns);
    html_put_varint(&columns[DURATION], activity->end_ns - activity->begin_ns);
    html_put_varint(&columns[SHAPE], html_shape(writer, activity));
    html_put_varint(&columns[DEPTH], lane);
    html_put_varint(&columns[TRACK],
                    activity->track < writer->host_count ? activity->track + 1 : 0);
    put_difference(to, LAUNCH, place_of(writer, activity->track, activity->launch_span));
    put_difference(to, SCOPE, place_of(writer, activity->track, activity->scope_span));
    html_put_varint(&columns[SCOPE_NAME], activity->scope ? html_text(writer, activity->scope) : 0);
    put_difference(to, CORRELATION, activity->correlation);
    to->last_ns = activity->begin_ns;
    track->rows = lane + 1 > track->rows ? lane + 1 : track->rows;
    track->count++;
}

static void write_stream(stream_writer *to, const stream *of, html_track *track)
{
    const order *orders = (const void *)to->orders.data;
    size_t count = to->orders.used / sizeof *orders, first = 0;
    takt_activity activity;

    *track = (html_track){.kind = "stream",
                          .name = "",
                          .group = of->key.device,
                          .context = of->key.context,
                          .stream = of->key.stream,
                          .hidden = of->hidden};
    to->last_ns = to->writer->origin_ns;
    memset(to->last, 0, sizeof to->last);
    to->lanes.count = 0;
    for (size_t end = count; first < end;) {
        size_t middle = first + (end - first) / 2;
        if (orders[middle].stream < of->number)
            first = middle + 1;
        else
            end = middle;
    }
    for (; first < count && orders[first].stream == of->number; first++)
        if (takt_trace_activity(to->writer->trace, orders[first].index, &activity) == TAKT_OK)
            put_activity(to, track, &activity);
    for (size_t i = 0; i < COLUMNS; i++)
        html_packed_column(to->out, &to->columns[i]);
}

static void write_all(stream_writer *to)
{
    html_writer *writer = to->writer;
    size_t count = to->streams.used / sizeof(stream);
    html_track *tracks = realloc(writer->tracks, (writer->host_count + count) * sizeof *tracks);

    writer->has_failed |= !tracks;
    if (!tracks)
        return;
    writer->tracks = tracks;
    writer->track_count = writer->host_count + count;
    qsort(to->orders.data, to->orders.used / sizeof(order), sizeof(order), compare_orders);
    qsort(to->streams.data, count, sizeof(stream), compare_streams);
    for (size_t i = 0; i < count; i++)
        write_stream(to, (const stream *)(void *)to->streams.data + i,
                     &tracks[writer->host_count + i]);
}

void html_write_streams(html_writer *writer, html_packed *out)
{
    stream_writer to = {.writer = writer, .out = out};

    collect(&to);
    writer->has_failed |=
        to.streams.has_failed || to.orders.has_failed || html_set_has_failed(&to.keys);
    if (!writer->has_failed && to.streams.used)
        write_all(&to);
    html_set_free(&to.keys);
    free(to.streams.data);
    free(to.orders.data);
    for (size_t i = 0; i < COLUMNS; i++)
        free(to.columns[i].data);
}

/* ======== Shapes ======== */

/* The properties that activities share: thousands of launches of a kernel differ only in their
 * times. */

/* No padding, because shapes are compared as bytes. */
typedef struct shape {
    const char *name;
    const char *full_name;
    double occupancy;
    uint64_t bytes;
    uint64_t graph_node;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t cluster[3];
    uint32_t filter;
    uint32_t registers;
    uint32_t static_shared_bytes;
    uint32_t dynamic_shared_bytes;
    uint32_t local_bytes;
    uint32_t copy_kind;
    uint32_t source_memory;
    uint32_t target_memory;
    uint32_t graph;
    uint32_t graph_node_count;
    uint32_t reserved; /* always 0 */
} shape;

_Static_assert(sizeof(shape) == 3 * 8 + 2 * 8 + 20 * 4, "a shape has padding");

uint32_t html_shape(html_writer *writer, const takt_activity *activity)
{
    shape key = {.name = activity->name,
                 .full_name = activity->full_name,
                 .occupancy = activity->occupancy,
                 .bytes = activity->bytes,
                 .graph_node = activity->graph_node,
                 .filter = activity->filter,
                 .registers = activity->registers,
                 .static_shared_bytes = activity->static_shared_bytes,
                 .dynamic_shared_bytes = activity->dynamic_shared_bytes,
                 .local_bytes = activity->local_bytes,
                 .copy_kind = activity->copy_kind,
                 .source_memory = activity->source_memory,
                 .target_memory = activity->target_memory,
                 .graph = activity->graph,
                 .graph_node_count = activity->graph_node_count};
    memcpy(key.grid, activity->grid, sizeof key.grid);
    memcpy(key.block, activity->block, sizeof key.block);
    memcpy(key.cluster, activity->cluster, sizeof key.cluster);
    return html_set_add(&writer->shapes, &key, sizeof key);
}

static void put_number(html_bytes *out, const char *key, uint64_t number)
{
    if (number)
        html_print(out, ",\"%s\":%llu", key, (unsigned long long)number);
}

static void put_size(html_bytes *out, const char *key, const uint32_t size[3])
{
    if (size[0])
        html_print(out, ",\"%s\":[%u,%u,%u]", key, size[0], size[1], size[2]);
}

void html_put_shape(html_bytes *out, const html_set *shapes, uint32_t index)
{
    size_t size;
    shape at;

    memcpy(&at, html_set_at(shapes, index, &size), sizeof at);
    html_print(out, "{\"name\":");
    html_put_json(out, at.name, strlen(at.name));
    put_number(out, "filter", at.filter);
    if (at.full_name[0]) {
        html_print(out, ",\"full_name\":");
        html_put_json(out, at.full_name, strlen(at.full_name));
    }
    put_size(out, "grid", at.grid);
    put_size(out, "block", at.block);
    put_size(out, "cluster", at.cluster);
    put_number(out, "registers", at.registers);
    put_number(out, "static_shared_bytes", at.static_shared_bytes);
    put_number(out, "dynamic_shared_bytes", at.dynamic_shared_bytes);
    put_number(out, "local_bytes", at.local_bytes);
    if (at.occupancy > 0)
        html_print(out, ",\"occupancy\":%.4g", at.occupancy);
    put_number(out, "bytes", at.bytes);
    put_number(out, "copy_kind", at.copy_kind);
    put_number(out, "source_memory", at.source_memory);
    put_number(out, "target_memory", at.target_memory);
    put_number(out, "graph", at.graph);
    put_number(out, "graph_node", at.graph_node);
    put_number(out, "graph_node_count", at.graph_node_count);
    html_print(out, "}");
}
