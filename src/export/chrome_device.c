/* Activities of devices, named like Kineto names them. A device is a process whose id is its
 * ordinal; a stream is one of its threads. Calls are linked to their activities twice: by the
 * argument "correlation", which TensorBoard and Holistic Trace Analysis read, and by arrows, which
 * viewers draw. */
#include "cuda/kinds.h"
#include "export/chrome.h"
#include "export/devices.h"
#include "trace/devices.h"
#include "trace/order.h"

#include <stddef.h>
#include <stdlib.h>

/* CUPTI's number of the default stream. Holistic Trace Analysis takes 0 for no stream, but AMD's
 * devices have a stream 0: it gets the first number from here on that no other stream has. */
#define DEFAULT_STREAM 7u

void tkt_chrome_devices_fini(tkt_chrome *chrome)
{
    for (size_t i = 0; i < chrome->devices.count; i++)
        tkt_chrome_lanes_fini(&chrome->devices.items[i].waits);
    for (size_t i = 0; i < chrome->stream_rows.count; i++)
        tkt_chrome_lanes_fini(&chrome->stream_rows.items[i].lanes);
    tkt_chrome_lanes_fini(&chrome->overheads);
    TKT_ARRAY_FREE(&chrome->devices);
    TKT_ARRAY_FREE(&chrome->stream_rows);
    TKT_ARRAY_FREE(&chrome->works);
    TKT_ARRAY_FREE(&chrome->memories);
    tkt_streams_fini(&chrome->streams);
    tkt_map_fini(&chrome->contexts);
    tkt_free(chrome->arrows);
    tkt_free(chrome->launchers);
}

static uint32_t stream_of(const tkt_chrome *chrome, uint32_t context, uint32_t stream)
{
    return stream ? stream : context ? chrome->zero_stream : DEFAULT_STREAM;
}

/* So that Takt reads the number back. */
static void put_own_number(tkt_writer *writer, uint32_t context, uint32_t stream)
{
    if (context && !stream)
        tkt_writer_text(writer, ",\"" TKT_CHROME_STREAM_NUMBER "\":0");
}

/* ---- Devices and streams --------------------------------------------------------------------- */

uint32_t tkt_chrome_device_index(tkt_chrome *chrome, uint32_t name)
{
    for (size_t i = 0; i < chrome->devices.count; i++)
        if (chrome->devices.items[i].name == name)
            return (uint32_t)i;
    uint32_t pid = tkt_device_ordinal(chrome->trace, name);
    tkt_chrome_device *added = TKT_ARRAY_ADD(&chrome->devices);
    if (!added) {
        chrome->status = TAKT_NO_MEMORY;
        return UINT32_MAX;
    }
    *added = (tkt_chrome_device){
        .name = name, .pid = pid, .waits = {.title = "waits for the device", .pid = pid}};
    return (uint32_t)chrome->devices.count - 1;
}

/* True if the number cannot be a row's id. Streams of two contexts may have the same number; then
 * the rows of the second one get other ids. */
static bool is_taken(const tkt_chrome *chrome, uint32_t device, uint32_t stream)
{
    for (size_t i = 0; i < chrome->stream_rows.count; i++)
        if (chrome->stream_rows.items[i].device == device &&
            chrome->stream_rows.items[i].lanes.stream == stream)
            return true;
    return stream >= TKT_CHROME_FIRST_ROW_ID;
}

static bool add_stream(tkt_chrome *chrome, const tkt_activity *activity)
{
    uint32_t device = tkt_chrome_device_index(chrome, activity->device);
    uint32_t stream = stream_of(chrome, activity->context, activity->stream);
    bool has_own = device != UINT32_MAX && !is_taken(chrome, device, stream);
    tkt_chrome_stream *added = device == UINT32_MAX ? NULL : TKT_ARRAY_ADD(&chrome->stream_rows);
    if (!added)
        return false;
    *added = (tkt_chrome_stream){
        .device = device,
        .lanes = {.stream = stream,
                  .pid = chrome->devices.items[device].pid,
                  .tid = has_own ? stream : 0},
    };
    return true;
}

static tkt_chrome_stream *find_stream(tkt_chrome *chrome, const tkt_activity *activity)
{
    uint32_t number = tkt_stream_number(&chrome->streams, activity);
    if (number == UINT32_MAX ||
        (number == chrome->stream_rows.count && !add_stream(chrome, activity))) {
        chrome->status = TAKT_NO_MEMORY;
        return NULL;
    }
    tkt_chrome_stream *stream = &chrome->stream_rows.items[number];
    tkt_chrome_announce_device(chrome, &chrome->devices.items[stream->device]);
    return stream;
}

/* ---- Activities ------------------------------------------------------------------------------ */

/* False without memory. */
static bool note_context(tkt_chrome *chrome, const tkt_activity *activity)
{
    uint64_t *device = tkt_map_put(&chrome->contexts, activity->context);
    if (device && !*device)
        *device = activity->device;
    return device != NULL;
}

takt_status tkt_chrome_find_works(tkt_chrome *chrome)
{
    const takt_trace *trace = chrome->trace;
    chrome->arrows = tkt_alloc_zeroed((trace->calls.count + 1) * sizeof *chrome->arrows);
    if (!chrome->arrows)
        return TAKT_NO_MEMORY;
    size_t count = tkt_device_activity_count(trace);
    uint64_t taken = 0; /* bit n: the n-th number from DEFAULT_STREAM on */
    for (size_t i = 0; i < count; i++) {
        const tkt_activity *activity = &trace->activities.items[i];
        uint32_t above = activity->stream - DEFAULT_STREAM;
        taken |= above < 63 ? UINT64_C(1) << above : 0;
        if (chrome->only && !note_context(chrome, activity))
            return TAKT_NO_MEMORY;
        if (chrome->only && activity->device != chrome->only)
            continue;
        tkt_chrome_work *work = TKT_ARRAY_ADD(&chrome->works);
        if (!work)
            return TAKT_NO_MEMORY;
        *work = (tkt_chrome_work){activity->begin_ns, i};
    }
    chrome->zero_stream = DEFAULT_STREAM + (uint32_t)__builtin_ctzll(~taken);
    return tkt_order_by_time(TKT_ORDER_ITEMS(&chrome->works, 0));
}

static void mark_launcher(tkt_chrome *chrome, uint32_t track, uint32_t span)
{
    uint64_t id = tkt_chrome_external_id(chrome, track, span);
    chrome->launchers[id / 64] |= UINT64_C(1) << id % 64;
}

/* torch's plugin gives a scope the calls with its "External id", and each call the work with its
 * "correlation" (NodeParserMixin.parse_nodes). Scopes without calls need no id. Calls outside of
 * all scopes have 0, since the plugin would give those without an id to any scope without one. */
takt_status tkt_chrome_find_launchers(tkt_chrome *chrome)
{
    const takt_trace *trace = chrome->trace;
    uint64_t count = 0;
    for (size_t i = 0; i < trace->tracks.count; i++) {
        chrome->tracks[i].first = count;
        count += trace->tracks.items[i].spans.count;
    }
    if (!trace->calls.count && !chrome->works.count)
        return TAKT_OK;
    chrome->launchers = tkt_alloc_zeroed((count / 64 + 1) * sizeof *chrome->launchers);
    if (!chrome->launchers)
        return TAKT_NO_MEMORY;
    for (uint32_t i = 0; i < trace->calls.count; i++)
        mark_launcher(chrome, trace->calls.items[i].track, tkt_call_scope(trace, i));
    for (size_t i = 0; i < chrome->works.count; i++) {
        const tkt_activity *activity = &trace->activities.items[chrome->works.items[i].activity];
        mark_launcher(chrome, activity->track, activity->scope);
    }
    return TAKT_OK;
}

/* Kineto's categories. */
static const char *work_category(uint32_t filter)
{
    switch (filter) {
    case TAKT_TIMING_MEMCPY:
        return "gpu_memcpy";
    case TAKT_TIMING_MEMSET:
        return "gpu_memset";
    default:
        return "kernel";
    }
}

/* Kernels have their full names, as in Kineto's files; activity->name is a shortened one. */
static void put_name(tkt_chrome *chrome, const tkt_activity *activity, const tkt_shape *shape)
{
    if (shape && activity->filter == TAKT_TIMING_MEMCPY && shape->copy_kind)
        tkt_writer_format(chrome->writer, "\"Memcpy %s (%s -> %s)\"",
                          tkt_copy_name(shape->copy_kind), tkt_memory_kind_name(shape->source),
                          tkt_memory_kind_name(shape->target));
    else if (shape && activity->filter == TAKT_TIMING_MEMSET)
        tkt_writer_format(chrome->writer, "\"Memset (%s)\"", tkt_memory_kind_name(shape->target));
    else
        tkt_chrome_put_string(chrome, shape && shape->name ? shape->name : activity->name);
}

static void put_key(tkt_writer *writer, const char *key)
{
    tkt_writer_text(writer, ",\"");
    tkt_writer_text(writer, key);
    tkt_writer_text(writer, "\":");
}

static void put_uint(tkt_writer *writer, const char *key, uint64_t value)
{
    put_key(writer, key);
    tkt_chrome_put_u64(writer, value);
}

static void put_double(tkt_writer *writer, const char *key, double value)
{
    put_key(writer, key);
    tkt_chrome_put_double(writer, value);
}

static void put_triple(tkt_writer *writer, const char *key, const uint32_t values[3])
{
    put_key(writer, key);
    tkt_writer_format(writer, "[%u,%u,%u]", values[0], values[1], values[2]);
}

static double product(const uint32_t values[3])
{
    return (double)values[0] * values[1] * values[2];
}

/* How much of the device a launch can fill: the occupancy, or less if there are too few blocks. */
static void put_load(tkt_writer *writer, const tkt_shape *shape, const tkt_device *device)
{
    double blocks = product(shape->grid) / device->multiprocessors;
    double warp = device->warp_size ? device->warp_size : 32;
    double warps_per_block = (double)(uint64_t)((product(shape->block) + warp - 1) / warp);
    put_double(writer, "blocks per SM", blocks);
    put_double(writer, "warps per SM", blocks * warps_per_block);
    if (!shape->occupancy || !device->max_threads_per_multiprocessor)
        return;
    double filled = blocks * warps_per_block * warp / device->max_threads_per_multiprocessor;
    double fits = shape->occupancy / 10000.0;
    put_uint(writer, "est. achieved occupancy %",
             (uint64_t)((filled < fits ? filled : fits) * 100 + 0.5));
}

static void put_kernel(tkt_writer *writer, const tkt_shape *shape, const tkt_device *device)
{
    put_uint(writer, "registers per thread", shape->registers);
    put_uint(writer, "shared memory",
             (uint64_t)shape->static_shared_bytes + shape->dynamic_shared_bytes);
    put_uint(writer, "static shared memory", shape->static_shared_bytes);
    put_uint(writer, "dynamic shared memory", shape->dynamic_shared_bytes);
    put_uint(writer, "local memory per thread", shape->local_bytes);
    put_triple(writer, "grid", shape->grid);
    put_triple(writer, "block", shape->block);
    if (shape->cluster[0])
        put_triple(writer, "cluster", shape->cluster);
    if (device && device->multiprocessors)
        put_load(writer, shape, device);
    if (shape->occupancy)
        put_double(writer, "theoretical occupancy %", shape->occupancy / 100.0);
    if (shape->limiter) {
        put_key(writer, "limited by");
        tkt_writer_format(writer, "\"%s\"", tkt_limiter_name(shape->limiter));
    }
}

static void put_shape(tkt_writer *writer, const tkt_shape *shape, const tkt_device *device,
                      uint64_t duration_ns)
{
    if (shape->grid[0])
        put_kernel(writer, shape, device);
    if (shape->filter & (TAKT_TIMING_MEMCPY | TAKT_TIMING_MEMSET)) {
        put_uint(writer, "bytes", shape->bytes);
        if (duration_ns)
            put_double(writer, "memory bandwidth (GB/s)",
                       (double)shape->bytes / (double)duration_ns);
    }
    if (shape->graph) {
        put_uint(writer, "graph id", shape->graph);
        put_uint(writer, "graph node id", shape->graph_node);
    }
    if (shape->graph_node_count)
        put_uint(writer, "nodes of the graph", shape->graph_node_count);
}

static void put_work(tkt_chrome *chrome, const tkt_activity *activity, const tkt_chrome_row *row)
{
    const takt_trace *trace = chrome->trace;
    const tkt_shape *shape =
        activity->shape < trace->shapes.count ? &trace->shapes.items[activity->shape] : NULL;
    tkt_writer *writer = chrome->writer;
    tkt_writer_format(writer,
                      "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":", work_category(activity->filter));
    put_name(chrome, activity, shape);
    tkt_writer_format(writer, ",\"pid\":%u,\"tid\":", row->pid);
    tkt_writer_put(writer, row->text, row->text_size);
    tkt_chrome_put_times(chrome, activity->begin_ns, activity->end_ns);
    tkt_writer_format(
        writer,
        ",\"args\":{\"External id\":%llu,\"device\":%u,\"context\":%u,"
        "\"stream\":%u,\"correlation\":%u",
        (unsigned long long)tkt_chrome_external_id(chrome, activity->track, activity->scope),
        row->pid, activity->context, row->stream, activity->correlation);
    put_own_number(writer, activity->context, activity->stream);
    if (shape)
        put_shape(writer, shape, tkt_device_facts(trace, activity->device),
                  activity->end_ns - activity->begin_ns);
    tkt_writer_text(writer, "}},\n");
}

static void put_arrow(tkt_chrome *chrome, const char *phase, uint64_t id, const tkt_chrome_row *row,
                      uint64_t time_ns)
{
    tkt_writer_format(chrome->writer,
                      "{\"ph\":\"%s\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":%llu,\"pid\":%u,"
                      "\"tid\":%u,\"ts\":",
                      phase, (unsigned long long)id, row->pid, row->tid);
    tkt_chrome_put_ts(chrome, time_ns);
    tkt_writer_text(chrome->writer, "},\n");
}

/* Kineto's arrows, with the correlation as id. But several arrows may lead from the launch of a
 * graph, and chrome://tracing ends an id's arrow only once. So later arrows have their number in
 * the upper 32 bits. */
static void put_arrows(tkt_chrome *chrome, const tkt_activity *activity, const tkt_chrome_row *row)
{
    const takt_trace *trace = chrome->trace;
    if (activity->call >= trace->calls.count)
        return;
    const tkt_call_info *call = &trace->calls.items[activity->call];
    tkt_chrome_row *from = &chrome->tracks[call->track].row;
    uint64_t id = (uint64_t)chrome->arrows[activity->call]++ << 32 | activity->correlation;
    /* If two activities touch, chrome://tracing would end the arrow at the earlier one. */
    uint64_t inside_ns = activity->begin_ns + (activity->end_ns - activity->begin_ns > 1);
    tkt_chrome_announce(chrome, from);
    put_arrow(chrome, "s", id, from,
              trace->tracks.items[call->track].spans.items[call->span].begin_ns);
    put_arrow(chrome, "f\",\"bp\":\"e", id, row, inside_ns);
}

void tkt_chrome_device_works(tkt_chrome *chrome, uint64_t last_ns)
{
    for (; chrome->work < chrome->works.count; chrome->work++) {
        const tkt_chrome_work *work = &chrome->works.items[chrome->work];
        const tkt_activity *activity = &chrome->trace->activities.items[work->activity];
        if (work->begin_ns > last_ns || !tkt_chrome_fits(chrome))
            return;
        tkt_chrome_stream *stream = find_stream(chrome, activity);
        tkt_chrome_row *row = stream ? tkt_chrome_find_row(chrome, &stream->lanes,
                                                           activity->begin_ns, activity->end_ns)
                                     : NULL;
        if (!row)
            return;
        put_work(chrome, activity, row);
        put_arrows(chrome, activity, row);
    }
}

/* ---- Waits and overheads --------------------------------------------------------------------- */

/* True for a wait of another device's context, if only one device is written. */
static bool is_left_out(const tkt_chrome *chrome, const tkt_wait *wait)
{
    const uint64_t *device = tkt_map_get(&chrome->contexts, wait->context);
    return device && *device != chrome->only;
}

/* Returns the device of a context, known from its activities, or else the first device. */
static tkt_chrome_device *device_of(tkt_chrome *chrome, uint32_t context)
{
    for (size_t i = 0; i < chrome->streams.keys.count; i++)
        if (chrome->streams.keys.items[i].context == context)
            return &chrome->devices.items[chrome->stream_rows.items[i].device];
    uint32_t first = chrome->trace->devices.count ? chrome->trace->devices.items[0].label : 0;
    first = chrome->only ? chrome->only : first;
    uint32_t index = tkt_chrome_device_index(chrome, first);
    return index == UINT32_MAX ? NULL : &chrome->devices.items[index];
}

static void put_slice(tkt_chrome *chrome, const char *category, const char *name,
                      const tkt_chrome_row *row, uint64_t begin_ns, uint64_t end_ns)
{
    tkt_writer *writer = chrome->writer;
    tkt_writer_format(writer,
                      "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":%u,\"tid\":", category,
                      name, row->pid);
    tkt_writer_put(writer, row->text, row->text_size);
    tkt_chrome_put_times(chrome, begin_ns, end_ns);
}

static int stream_of_wait(const tkt_chrome *chrome, const tkt_wait *wait, uint32_t stream)
{
    return stream == UINT32_MAX ? -1 : (int)stream_of(chrome, wait->context, stream);
}

/* Holistic Trace Analysis finds with these fields what ran on another stream before a wait was
 * over: CriticalPathAnalysis joins the record's correlation with the call cudaEventRecord, and the
 * wait's own with cudaStreamWaitEvent. -1: unknown. */
static void put_event(tkt_chrome *chrome, const tkt_wait *wait)
{
    bool is_known = wait->record_correlation != 0;
    tkt_writer_format(chrome->writer,
                      ",\"wait_on_stream\":%d,\"wait_on_cuda_event_record_corr_id\":%lld,"
                      "\"wait_on_cuda_event_id\":%u",
                      is_known ? stream_of_wait(chrome, wait, wait->record_stream) : -1,
                      is_known ? (long long)wait->record_correlation : -1LL, wait->event);
}

void tkt_chrome_waits(tkt_chrome *chrome, uint64_t last_ns)
{
    for (; chrome->wait < chrome->trace->waits.count; chrome->wait++) {
        const tkt_wait *wait = &chrome->trace->waits.items[chrome->wait];
        if (wait->begin_ns > last_ns || !tkt_chrome_fits(chrome))
            return;
        if (is_left_out(chrome, wait))
            continue;
        tkt_chrome_device *device = device_of(chrome, wait->context);
        if (!device)
            return;
        tkt_chrome_announce_device(chrome, device);
        const tkt_chrome_row *row =
            tkt_chrome_find_row(chrome, &device->waits, wait->begin_ns, wait->end_ns);
        if (!row)
            return;
        put_slice(chrome, "cuda_sync", tkt_wait_name(wait->kind), row, wait->begin_ns,
                  wait->end_ns);
        tkt_writer_format(chrome->writer,
                          ",\"args\":{\"cuda_sync_kind\":\"%s\",\"device\":%u,\"context\":%u,"
                          "\"stream\":%d,\"correlation\":%u",
                          tkt_wait_name(wait->kind), row->pid, wait->context,
                          stream_of_wait(chrome, wait, wait->stream), wait->correlation);
        put_own_number(chrome->writer, wait->context, wait->stream);
        if (wait->kind == TAKT_WAIT_EVENT || wait->kind == TAKT_WAIT_STREAM_EVENT)
            put_event(chrome, wait);
        tkt_writer_text(chrome->writer, "}},\n");
    }
}

void tkt_chrome_overheads(tkt_chrome *chrome, uint64_t last_ns)
{
    for (; chrome->overhead < chrome->trace->overheads.count; chrome->overhead++) {
        const tkt_overhead *overhead = &chrome->trace->overheads.items[chrome->overhead];
        if (overhead->begin_ns > last_ns || !tkt_chrome_fits(chrome))
            return;
        const tkt_chrome_row *row =
            tkt_chrome_find_row(chrome, &chrome->overheads, overhead->begin_ns, overhead->end_ns);
        if (!row)
            return;
        put_slice(chrome, "overhead", tkt_overhead_name(overhead->kind), row, overhead->begin_ns,
                  overhead->end_ns);
        tkt_writer_format(chrome->writer, ",\"args\":{\"thread\":%u}},\n", overhead->thread_id);
    }
}

/* ---- The header ------------------------------------------------------------------------------ */

static void put_device(tkt_chrome *chrome, const tkt_device *device)
{
    tkt_writer *writer = chrome->writer;
    tkt_writer_format(writer, "{\"id\": %u, \"name\": ", device->ordinal);
    tkt_chrome_put_string(chrome, device->name);
    put_uint(writer, "totalGlobalMem", device->memory_bytes);
    put_uint(writer, "computeMajor", device->major);
    put_uint(writer, "computeMinor", device->minor);
    put_uint(writer, "maxThreadsPerBlock", device->max_threads_per_block);
    put_uint(writer, "maxThreadsPerMultiprocessor", device->max_threads_per_multiprocessor);
    put_uint(writer, "regsPerBlock", device->registers_per_block);
    put_uint(writer, "warpSize", device->warp_size);
    put_uint(writer, "sharedMemPerBlock", device->shared_per_block);
    put_uint(writer, "numSms", device->multiprocessors);
    put_uint(writer, "regsPerMultiprocessor", device->registers_per_multiprocessor);
    put_uint(writer, "sharedMemPerBlockOptin", device->shared_per_block_optin);
    put_uint(writer, "sharedMemPerMultiprocessor", device->shared_per_multiprocessor);
    uint64_t begin_ns = chrome->trace->facts.begin_ns, earlier_ns = device->earlier_until_ns;
    if (earlier_ns)
        put_uint(writer, "taktEarlierNs", earlier_ns > begin_ns ? earlier_ns - begin_ns : 0);
    tkt_writer_text(writer, "}");
}

void tkt_chrome_device_properties(tkt_chrome *chrome)
{
    for (size_t i = 0; i < chrome->trace->devices.count; i++) {
        tkt_writer_text(chrome->writer, i ? ",\n" : "\n");
        put_device(chrome, &chrome->trace->devices.items[i]);
    }
}

/* ======== Names ======== */

/* Kineto's names where they exist, because its readers know them. */

#define NAME_OF(names, number)                                                                     \
    ((number) < sizeof(names) / sizeof *(names) ? (names)[number] : (names)[0])

const char *tkt_memory_kind_name(uint32_t kind)
{
    static const char *const names[] = {"Unknown", "Pageable", "Pinned",        "Device",
                                        "Array",   "Managed",  "Device Static", "Managed Static"};
    return NAME_OF(names, kind);
}

const char *tkt_limiter_name(uint32_t limiter)
{
    static const char *const names[] = {"", "warps", "registers", "shared memory", "blocks"};
    return NAME_OF(names, limiter);
}

const char *tkt_wait_name(uint32_t kind)
{
    static const char *const names[] = {"Sync", "Event Sync", "Stream Wait Event", "Stream Sync",
                                        "Context Sync"};
    return NAME_OF(names, kind);
}
