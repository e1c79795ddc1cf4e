/* The XSpace file: its planes, and the encoding of lines, events and stats. */
#include "export/xplane.h"
#include "base/error.h"
#include "base/file.h"
#include "export/exporter.h"
#include "export/tensorboard.h"
#include "trace/protobuf.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

/* Field numbers of the messages, from xplane.proto of openxla/xla. */
enum {
    SPACE_PLANES = 1,
    SPACE_WARNINGS = 3,
    SPACE_HOSTNAMES = 4,
    PLANE_ID = 1,
    PLANE_NAME = 2,
    PLANE_LINES = 3,
    PLANE_STATS = 6,
    LINE_ID = 1,
    LINE_NAME = 2,
    LINE_EVENTS = 4,
    EVENT_NAME = 1,
    EVENT_OFFSET = 2,
    EVENT_DURATION = 3,
    EVENT_STATS = 4,
    STAT_NAME = 1
};

/* Readers of Protocol Buffers refuse larger messages. */
#define MOST_BYTES INT32_MAX

/* ---- Events ---------------------------------------------------------------------------------- */

static void put(tkt_xplane *x, const char *bytes, size_t size)
{
    if (x->is_counting)
        x->written += size;
    else
        tkt_writer_put(x->writer, bytes, size);
}

void tkt_xplane_stat(tkt_xplane *x, tkt_xstat stat, tkt_xvalue type, uint64_t value)
{
    char text[2 + 3 * TKT_PB_VARINT_MAX];
    char *end = tkt_pb_put_uint(tkt_pb_put_uint(text + 2, STAT_NAME, stat), type, value);
    text[0] = EVENT_STATS << 3 | TKT_PB_BYTES;
    text[1] = (char)(end - text - 2);
    const tkt_message encoded = {.items = text, .count = (size_t)(end - text)};
    tkt_message_append(&x->stats, &encoded);
}

void tkt_xplane_stat_double(tkt_xplane *x, tkt_xstat stat, double value)
{
    size_t mark = tkt_message_begin(&x->stats, EVENT_STATS);
    tkt_message_uint(&x->stats, STAT_NAME, stat);
    tkt_message_double(&x->stats, TKT_XVALUE_DOUBLE, value);
    tkt_message_end(&x->stats, mark);
}

void tkt_xplane_stat_text(tkt_xplane *x, tkt_xstat stat, const char *text)
{
    if (*text)
        tkt_xplane_stat(x, stat, TKT_XVALUE_REF, tkt_xplane_text(x, text, strlen(text)));
}

void tkt_xplane_event(tkt_xplane *x, uint32_t name, uint64_t begin_ps, uint64_t duration_ps)
{
    char body[6 * TKT_PB_VARINT_MAX], head[2 * TKT_PB_VARINT_MAX];
    char *end = tkt_pb_put_uint(body, EVENT_NAME, name);
    end = tkt_pb_put_uint(end, EVENT_OFFSET, begin_ps);
    end = tkt_pb_put_uint(end, EVENT_DURATION, duration_ps);
    size_t size = (size_t)(end - body);
    char *start =
        tkt_pb_put_varint(tkt_pb_put_tag(head, LINE_EVENTS, TKT_PB_BYTES), size + x->stats.count);
    put(x, head, (size_t)(start - head));
    put(x, body, size);
    if (!x->stats.count)
        return;
    put(x, x->stats.items, x->stats.count);
    tkt_message_clear(&x->stats);
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* While counting, notes how long the line is. While writing, writes that first. */
void tkt_xplane_begin_line(tkt_xplane *x, const char *name)
{
    tkt_message *head = &x->message;
    tkt_message_clear(head);
    tkt_message_uint(head, LINE_ID, ++x->line_id);
    tkt_message_string(head, LINE_NAME, name);
    x->line_begin = x->written;
    if (!x->is_counting && x->line < x->line_bytes.count) {
        char *out = tkt_writer_reserve(x->writer, 2 * TKT_PB_VARINT_MAX);
        out = tkt_pb_put_tag(out, PLANE_LINES, TKT_PB_BYTES);
        out = tkt_pb_put_varint(out, x->line_bytes.items[x->line++]);
        tkt_writer_commit(x->writer, out);
    }
    put(x, head->items, head->count);
}

void tkt_xplane_end_line(tkt_xplane *x)
{
    if (!x->is_counting)
        return;
    uint64_t *bytes = TKT_ARRAY_ADD(&x->line_bytes);
    if (!bytes) {
        x->status = TAKT_NO_MEMORY;
        return;
    }
    *bytes = x->written - x->line_begin;
    x->bytes += 1 + tkt_pb_varint_size(*bytes) + *bytes;
}

/* ---- Planes ---------------------------------------------------------------------------------- */

typedef struct plane {
    const char *name;
    uint32_t id;
    tkt_xnames *names;
    void (*lines)(tkt_xplane *x);                       /* may be NULL */
    void (*stats)(tkt_xplane *x, tkt_message *message); /* may be NULL */
} plane;

static void count_lines(tkt_xplane *x, const plane *of)
{
    x->is_counting = true;
    x->line_bytes.count = 0;
    x->bytes = x->written = 0;
    x->line_id = 0;
    if (of->lines)
        of->lines(x);
}

static void write_lines(tkt_xplane *x, const plane *of)
{
    x->is_counting = false;
    x->line = 0;
    x->line_id = 0;
    if (of->lines)
        of->lines(x);
}

/* Everything of the plane except its lines. */
static void make_end(tkt_xplane *x, const plane *of, tkt_message *end)
{
    tkt_message_uint(end, PLANE_ID, of->id);
    tkt_message_string(end, PLANE_NAME, of->name);
    if (of->stats)
        of->stats(x, end);
    tkt_xnames_put(x, of->names, end);
    if (end->is_short || x->message.is_short || x->stats.is_short)
        x->status = TAKT_NO_MEMORY;
}

/* `bytes` are a plane's. */
static bool is_too_large(tkt_xplane *x, uint64_t bytes)
{
    x->total += 1 + tkt_pb_varint_size(bytes) + bytes;
    if (x->total <= MOST_BYTES)
        return false;
    tkt_log(TAKT_LOG_ERROR,
            "xplane: the file would have %" PRIu64 " bytes, but XProf reads at most 2 GiB: record "
            "fewer steps, or export to perfetto",
            x->total);
    x->status = TAKT_UNSUPPORTED;
    return true;
}

static void put_plane(tkt_xplane *x, const plane *of)
{
    tkt_message end = {0};
    x->names = of->names;
    count_lines(x, of);
    if (x->status == TAKT_OK)
        make_end(x, of, &end);
    uint64_t bytes = x->bytes + end.count;
    if (x->status == TAKT_OK && !is_too_large(x, bytes)) {
        char *out = tkt_writer_reserve(x->writer, 2 * TKT_PB_VARINT_MAX);
        out = tkt_pb_put_tag(out, SPACE_PLANES, TKT_PB_BYTES);
        tkt_writer_commit(x->writer, tkt_pb_put_varint(out, bytes));
        write_lines(x, of);
        assert(x->line == x->line_bytes.count);
        tkt_writer_put(x->writer, end.items, end.count);
    }
    TKT_ARRAY_FREE(&end);
}

static void put_device(tkt_xplane *x, const tkt_xdevice *of)
{
    char name[40];
    tkt_xnames names = {0};
    const plane device = {name, of->number, &names, tkt_xplane_device_lines,
                          tkt_xplane_device_stats};
    snprintf(name, sizeof name, "/device:GPU:%u", of->number);
    x->device = of;
    x->status = tkt_xnames_init(&names);
    if (x->status == TAKT_OK)
        put_plane(x, &device);
    tkt_xnames_fini(&names);
}

static void put_environment_stats(tkt_xplane *x, tkt_message *message)
{
    uint64_t offset = (uint64_t)x->trace->facts.realtime_offset_ns;
    tkt_xplane_stat(x, TKT_XSTAT_START, TKT_XVALUE_UINT, x->base_ns + offset);
    tkt_xplane_stat(x, TKT_XSTAT_STOP, TKT_XVALUE_UINT, x->trace->facts.end_ns + offset);
    tkt_xplane_plane_stats(x, message);
}

static void put_environment(tkt_xplane *x)
{
    tkt_xnames names = {0};
    const plane environment = {
        .name = "Task Environment", .names = &names, .stats = put_environment_stats};
    x->status = tkt_xnames_init(&names);
    if (x->status == TAKT_OK)
        put_plane(x, &environment);
    tkt_xnames_fini(&names);
}

/* A plane's stats have another field number than an event's. */
void tkt_xplane_plane_stats(tkt_xplane *x, tkt_message *message)
{
    tkt_pb_reader reader = tkt_pb_read((const uint8_t *)x->stats.items, x->stats.count);
    for (tkt_pb_field field; tkt_pb_next(&reader, &field);) {
        size_t mark = tkt_message_begin(message, PLANE_STATS);
        const tkt_message stat = {.items = (char *)(uintptr_t)field.bytes,
                                  .count = (size_t)field.value};
        tkt_message_append(message, &stat);
        tkt_message_end(message, mark);
    }
    tkt_message_clear(&x->stats);
}

/* ---- The space ------------------------------------------------------------------------------- */

/* XProf shows warnings on its overview page. */
static void put_losses(tkt_xplane *x, tkt_message *space)
{
    char text[160];
    for (int i = 0; i < TAKT_LOSS_COUNT; i++) {
        if (!x->trace->losses[i])
            continue;
        snprintf(text, sizeof text, "Takt lost events: %s %" PRIu64, takt_loss_name((takt_loss)i),
                 x->trace->losses[i]);
        tkt_message_string(space, SPACE_WARNINGS, text);
    }
}

static void put_space(tkt_xplane *x)
{
    char host[TKT_HOST_BYTES];
    tkt_message space = {0};
    tkt_tensorboard_host(x->trace, host);
    tkt_message_string(&space, SPACE_HOSTNAMES, host);
    put_losses(x, &space);
    if (space.is_short)
        x->status = TAKT_NO_MEMORY;
    tkt_writer_put(x->writer, space.items, space.count);
    x->total = space.count;
    TKT_ARRAY_FREE(&space);
}

static takt_status init(tkt_xplane *x)
{
    takt_status status = tkt_xplane_devices_init(x);
    if (status == TAKT_OK)
        status = tkt_xplane_host_init(x);
    return status == TAKT_OK ? tkt_xplane_events_init(x) : status;
}

static void put_host_lines(tkt_xplane *x)
{
    tkt_xplane_steps(x);
    tkt_xplane_host_lines(x);
    tkt_xplane_event_lines(x);
}

static takt_status write_space(const takt_trace *trace, tkt_writer *writer)
{
    tkt_xplane x = {.trace = trace, .writer = writer};
    const plane host = {.name = "/host:CPU", .names = &x.host, .lines = put_host_lines};
    x.base_ns = tkt_earliest_ns(trace);
    x.status = init(&x);
    if (x.status == TAKT_OK)
        put_space(&x);
    if (x.status == TAKT_OK)
        put_plane(&x, &host);
    for (size_t i = 0; i < x.devices.count && x.status == TAKT_OK; i++)
        put_device(&x, &x.devices.items[i]);
    if (x.status == TAKT_OK)
        put_environment(&x);
    tkt_xplane_events_fini(&x);
    tkt_xplane_host_fini(&x);
    tkt_xplane_devices_fini(&x);
    TKT_ARRAY_FREE(&x.line_bytes);
    TKT_ARRAY_FREE(&x.message);
    TKT_ARRAY_FREE(&x.stats);
    return x.status;
}

const tkt_exporter tkt_xplane_exporter = {
    .name = "xplane",
    .suffix = ".xplane.pb",
    .no_gzip = "XProf does not unpack files",
    .needs_spans = true,
    .write = write_space,
    .name_file = tkt_xplane_file_name,
    .remove_folders = tkt_xplane_remove_folders,
};
