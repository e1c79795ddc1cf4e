/* Planes of devices in an XSpace file: a line for each stream, an event for each activity.
 *
 * XProf counts an event as a kernel if it has kernel_details, takes its launching operation from
 * tf_op, and its step from the call with the same correlation_id. */
#include "cuda/kinds.h"
#include "export/xplane.h"
#include "trace/order.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Activities ------------------------------------------------------------------------------ */

static const tkt_shape *shape_of(const tkt_xplane *x, const tkt_activity *activity)
{
    return activity->shape < x->trace->shapes.count ? &x->trace->shapes.items[activity->shape]
                                                    : NULL;
}

void tkt_xplane_scope(tkt_xplane *x, uint32_t track, uint32_t span)
{
    uint32_t path = x->span_names[x->first[track] + span];
    const tkt_string *text = &x->host.events.items[path];
    if (text->size && text->bytes[text->size - 1] == ':')
        tkt_xplane_stat(x, TKT_XSTAT_TF_OP, TKT_XVALUE_REF,
                        tkt_xplane_text(x, text->bytes, text->size));
}

/* XProf knows copies by these names, in either case. */
static uint32_t name_of(tkt_xplane *x, const tkt_activity *activity, const tkt_shape *shape)
{
    char text[40];
    const char *copy = shape ? tkt_copy_name(shape->copy_kind) : "";
    if (activity->filter == TAKT_TIMING_MEMCPY) {
        snprintf(text, sizeof text, "Memcpy%s", copy);
        return tkt_xplane_name(x, text, strlen(text), (tkt_xname){0});
    }
    if (activity->filter == TAKT_TIMING_MEMSET)
        return tkt_xplane_name(x, "Memset", 6, (tkt_xname){0});
    uint32_t string = shape && shape->name ? shape->name : activity->name;
    const tkt_string *name = &x->trace->strings.items[string];
    return name->size ? tkt_xplane_name(x, name->bytes, name->size, (tkt_xname){0})
                      : tkt_xplane_name(x, "(no name)", 9, (tkt_xname){0});
}

/* XProf counts an event as a kernel if it has this text. */
static void kernel_text(char *out, size_t size, const tkt_shape *shape)
{
    if (!shape || !shape->grid[0]) {
        snprintf(out, size, "launch:unknown");
        return;
    }
    int used = snprintf(out, size,
                        "regs:%u static_shared:%" PRIu32 " dynamic_shared:%" PRIu32 " grid:%" PRIu32
                        ",%" PRIu32 ",%" PRIu32 " block:%" PRIu32 ",%" PRIu32 ",%" PRIu32,
                        shape->registers, shape->static_shared_bytes, shape->dynamic_shared_bytes,
                        shape->grid[0], shape->grid[1], shape->grid[2], shape->block[0],
                        shape->block[1], shape->block[2]);
    if (shape->occupancy)
        snprintf(out + used, size - (size_t)used, " occ_pct:%u.%02u", shape->occupancy / 100u,
                 shape->occupancy % 100u);
}

/* XProf splits at ':' and line feeds and looks for num_bytes. */
static void memory_text(char *out, size_t size, const tkt_shape *shape)
{
    snprintf(out, size, "num_bytes:%" PRIu64 "\nkind_src:%s\nkind_dst:%s", shape ? shape->bytes : 0,
             tkt_memory_name(shape ? shape->source : 0, "unknown"),
             tkt_memory_name(shape ? shape->target : 0, "unknown"));
}

static tkt_xstat kind_of(const tkt_activity *activity)
{
    switch (activity->filter) {
    case TAKT_TIMING_MEMCPY:
        return TKT_XSTAT_MEMCPY;
    case TAKT_TIMING_MEMSET:
        return TKT_XSTAT_MEMSET;
    case TAKT_TIMING_GRAPH:
        return TKT_XSTAT_GRAPH_LAUNCH;
    default:
        return TKT_XSTAT_KERNEL;
    }
}

/* The text of a shape's details, made once for each plane. */
static uint32_t details_of(tkt_xplane *x, tkt_xstat kind, const tkt_shape *shape)
{
    char text[256];
    uint32_t *known =
        &x->shape_texts[shape ? (size_t)(shape - x->trace->shapes.items) : x->trace->shapes.count];
    if (*known && shape)
        return *known;
    if (kind == TKT_XSTAT_KERNEL)
        kernel_text(text, sizeof text, shape);
    else
        memory_text(text, sizeof text, shape);
    return *known = tkt_xplane_text(x, text, strlen(text));
}

static void put_shape(tkt_xplane *x, const tkt_activity *activity, const tkt_shape *shape)
{
    tkt_xstat kind = kind_of(activity);
    if (kind == TKT_XSTAT_GRAPH_LAUNCH)
        tkt_xplane_stat(x, kind, TKT_XVALUE_UINT, shape ? shape->graph : 0);
    else
        tkt_xplane_stat(x, kind, TKT_XVALUE_REF, details_of(x, kind, shape));
    if (shape && shape->occupancy)
        tkt_xplane_stat_double(x, TKT_XSTAT_OCCUPANCY, shape->occupancy / 100.0);
    if (shape && shape->graph_node) {
        tkt_xplane_stat(x, TKT_XSTAT_GRAPH, TKT_XVALUE_UINT, shape->graph);
        tkt_xplane_stat(x, TKT_XSTAT_GRAPH_NODE, TKT_XVALUE_UINT, shape->graph_node);
    }
}

static void put_activity(tkt_xplane *x, const tkt_activity *activity)
{
    const tkt_shape *shape = shape_of(x, activity);
    uint64_t begin_ps = tkt_xplane_ps(x, activity->begin_ns);
    uint64_t link = tkt_xplane_link(activity->call, activity->correlation);
    tkt_xplane_stat(x, TKT_XSTAT_CORRELATION, TKT_XVALUE_UINT, link);
    if (activity->call < x->trace->calls.count)
        tkt_xplane_stat(x, TKT_XSTAT_FLOW, TKT_XVALUE_UINT, tkt_xplane_flow(TKT_XFLOW_IN, link));
    if (activity->track < x->trace->tracks.count && activity->scope != TKT_NO_SPAN)
        tkt_xplane_scope(x, activity->track, activity->scope);
    put_shape(x, activity, shape);
    tkt_xplane_stat(x, TKT_XSTAT_DEVICE, TKT_XVALUE_INT, x->device->number);
    tkt_xplane_stat(x, TKT_XSTAT_CONTEXT, TKT_XVALUE_INT, activity->context);
    tkt_xplane_event(x, name_of(x, activity, shape), begin_ps,
                     tkt_xplane_ps(x, activity->end_ns) - begin_ps);
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* The activities of devices by begin. */
static const tkt_activity *activity_at(const tkt_xplane *x, size_t index)
{
    return &x->trace->activities.items[x->begins ? x->begins[index] : index];
}

/* XProf puts lines with "Compute" in their name first. */
static void begin_line(tkt_xplane *x, const tkt_xline *line)
{
    static const char *const kinds[] = {"Compute", "Memcpy", "Memset"};
    const tkt_stream_key *key = &x->streams.keys.items[line->group];
    bool has[3] = {false, false, false};
    char text[120];
    for (size_t i = 0; i < line->count; i++) {
        uint32_t filter = activity_at(x, x->works.order[line->first + i])->filter;
        has[filter == TAKT_TIMING_MEMCPY ? 1 : filter == TAKT_TIMING_MEMSET ? 2 : 0] = true;
    }
    int used = snprintf(text, sizeof text, "Stream #%" PRIu32, key->stream);
    const char *separator = "(";
    for (int i = 0; i < 3; i++) {
        if (!has[i])
            continue;
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%s", separator, kinds[i]);
        separator = ",";
    }
    snprintf(text + used, sizeof text - (size_t)used, line->lane ? ") lane %" PRIu32 : ")",
             line->lane + 1);
    tkt_xplane_begin_line(x, text);
}

void tkt_xplane_device_lines(tkt_xplane *x)
{
    if (x->is_counting)
        memset(x->shape_texts, 0, (x->trace->shapes.count + 1) * sizeof *x->shape_texts);
    for (size_t i = 0; i < x->works.count && x->status == TAKT_OK; i++) {
        const tkt_xline *line = &x->works.items[i];
        if (x->streams.keys.items[line->group].device != x->device->name)
            continue;
        begin_line(x, line);
        for (size_t k = 0; k < line->count; k++)
            put_activity(x, activity_at(x, x->works.order[line->first + k]));
        tkt_xplane_end_line(x);
    }
}

/* ---- Properties ------------------------------------------------------------------------------ */

static void put_property(tkt_xplane *x, tkt_xstat stat, uint64_t value)
{
    if (value)
        tkt_xplane_stat(x, stat, TKT_XVALUE_UINT, value);
}

void tkt_xplane_device_stats(tkt_xplane *x, tkt_message *plane)
{
    const tkt_device *device = tkt_device_facts(x->trace, x->device->name);
    tkt_xplane_stat_text(x, TKT_XSTAT_VENDOR, "Nvidia");
    if (device) {
        tkt_xplane_stat_text(x, TKT_XSTAT_DEVICE_TYPE, tkt_trace_text(x->trace, device->name));
        tkt_xplane_stat_text(x, TKT_XSTAT_DEVICE_NAME, tkt_trace_text(x->trace, device->name));
        put_property(x, TKT_XSTAT_CLOCK, device->clock_khz);
        put_property(x, TKT_XSTAT_CORES, device->multiprocessors);
        put_property(x, TKT_XSTAT_MEMORY, device->memory_bytes);
        /* Two transfers a cycle, bytes per second, as XLA computes it. */
        put_property(x, TKT_XSTAT_BANDWIDTH,
                     UINT64_C(2) * device->memory_clock_khz * 1000 * (device->memory_bus_bits / 8));
        put_property(x, TKT_XSTAT_MAJOR, device->major);
        if (device->major)
            tkt_xplane_stat(x, TKT_XSTAT_MINOR, TKT_XVALUE_UINT, device->minor);
    }
    tkt_xplane_plane_stats(x, plane);
}

/* ---- Preparing ------------------------------------------------------------------------------- */

static tkt_xslice work_at(const void *user, size_t index)
{
    tkt_xplane *x = (tkt_xplane *)(uintptr_t)user;
    const tkt_activity *activity = activity_at(x, index);
    uint32_t stream = tkt_stream_number(&x->streams, activity);
    if (stream == UINT32_MAX) {
        x->status = TAKT_NO_MEMORY;
        stream = 0;
    }
    return (tkt_xslice){activity->begin_ns, activity->end_ns, stream};
}

static bool is_number_taken(const tkt_xplane *x, uint32_t number)
{
    for (size_t i = 0; i < x->devices.count; i++)
        if (x->devices.items[i].number == number)
            return true;
    return false;
}

/* The ordinal, or the next free number. */
static uint32_t choose_number(const tkt_xplane *x, uint32_t name)
{
    uint32_t number = tkt_device_ordinal(x->trace, name);
    while (is_number_taken(x, number))
        number++;
    return number;
}

static tkt_xdevice *find_device(tkt_xplane *x, uint32_t name)
{
    for (size_t i = 0; i < x->devices.count; i++)
        if (x->devices.items[i].name == name)
            return &x->devices.items[i];
    uint32_t number = choose_number(x, name);
    size_t at = x->devices.count;
    if (!TKT_ARRAY_RESERVE(&x->devices, at + 1))
        return NULL;
    x->devices.count++;
    for (; at > 0 && x->devices.items[at - 1].number > number; at--)
        x->devices.items[at] = x->devices.items[at - 1];
    x->devices.items[at] = (tkt_xdevice){name, number};
    return &x->devices.items[at];
}

static takt_status find_devices(tkt_xplane *x)
{
    for (size_t i = 0; i < x->streams.keys.count; i++)
        if (!find_device(x, x->streams.keys.items[i].device))
            return TAKT_NO_MEMORY;
    size_t count = tkt_device_activity_count(x->trace);
    for (size_t i = 0; i < count; i++) {
        const tkt_activity *activity = &x->trace->activities.items[i];
        if (activity->call < x->trace->calls.count && !x->call_devices[activity->call])
            x->call_devices[activity->call] = find_device(x, activity->device)->number + 1;
    }
    return TAKT_OK;
}

takt_status tkt_xplane_devices_init(tkt_xplane *x)
{
    const takt_trace *trace = x->trace;
    x->call_devices = tkt_alloc_zeroed((trace->calls.count + 1) * sizeof *x->call_devices);
    x->shape_texts = tkt_alloc_zeroed((trace->shapes.count + 1) * sizeof *x->shape_texts);
    if (!x->call_devices || !x->shape_texts)
        return TAKT_NO_MEMORY;
    takt_status status = tkt_trace_begins(trace, &x->begins);
    if (status == TAKT_OK)
        status = tkt_xlines_make(&x->works, tkt_device_activity_count(trace), work_at, x);
    if (status == TAKT_OK)
        status = x->status;
    return status == TAKT_OK ? find_devices(x) : status;
}

void tkt_xplane_devices_fini(tkt_xplane *x)
{
    tkt_xlines_fini(&x->works);
    tkt_streams_fini(&x->streams);
    TKT_ARRAY_FREE(&x->devices);
    tkt_free(x->call_devices);
    tkt_free(x->shape_texts);
}
