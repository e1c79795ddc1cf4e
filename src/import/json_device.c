/* Events of devices, and the list of devices. */
#include "import/json.h"

#include "base/text.h"
#include "cuda/kinds.h"
#include "export/devices.h"
#include "trace/devices.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- Devices --------------------------------------------------------------------------------- */

static uint32_t number_of(const imp_object *object, const char *key)
{
    int64_t value;
    return imp_integer(imp_find(object, key), &value) && value > 0 && value <= UINT32_MAX
               ? (uint32_t)value
               : 0;
}

static void take_device(imp_json *json, const imp_object *object)
{
    int64_t id, bytes = 0, earlier_ns = 0;
    if (!imp_integer(imp_find(object, "id"), &id) || id < 0)
        return;
    tkt_device *device = imp_build_device(&json->build, (uint64_t)id);
    if (!device)
        return;
    imp_integer(imp_find(object, "totalGlobalMem"), &bytes);
    device->name = imp_json_string(json, imp_find(object, "name"));
    device->major = number_of(object, "computeMajor");
    device->minor = number_of(object, "computeMinor");
    device->multiprocessors = number_of(object, "numSms");
    device->warp_size = number_of(object, "warpSize");
    device->max_threads_per_block = number_of(object, "maxThreadsPerBlock");
    device->max_threads_per_multiprocessor = number_of(object, "maxThreadsPerMultiprocessor");
    device->registers_per_block = number_of(object, "regsPerBlock");
    device->registers_per_multiprocessor = number_of(object, "regsPerMultiprocessor");
    device->shared_per_block = number_of(object, "sharedMemPerBlock");
    device->shared_per_block_optin = number_of(object, "sharedMemPerBlockOptin");
    device->shared_per_multiprocessor = number_of(object, "sharedMemPerMultiprocessor");
    device->memory_bytes = bytes > 0 ? (uint64_t)bytes : 0;
    if (imp_integer(imp_find(object, "taktEarlierNs"), &earlier_ns) && earlier_ns >= 0)
        device->earlier_until_ns = (uint64_t)earlier_ns + 1; /* from 1 ns before the begin, which
                                                              * comes later */
    /* Files of ROCm have numbers of AMD's devices as capabilities. */
    if (strncmp(tkt_trace_text(json->build.trace, device->name), "NVIDIA ", 7) == 0)
        imp_build_capability(device);
}

/* Reads a value of the list: strictly, or else loosely. */
static bool next_item(const uint8_t **at, const uint8_t *end, imp_value *item)
{
    const uint8_t *begin = *at;
    if (imp_scan_value(at, end, IMP_QUOTES_STRICT, item) == IMP_DONE)
        return true;
    *at = begin;
    return imp_scan_value(at, end, IMP_QUOTES_LOOSE, item) == IMP_DONE;
}

void imp_json_take_devices(imp_json *json, const imp_value *list)
{
    if (list->kind != IMP_ARRAY)
        return;
    const uint8_t *at = list->bytes + 1, *end = list->bytes + list->size;
    imp_value item;
    imp_object object;
    while (next_item(&at, end, &item)) {
        if (imp_scan_inside(&item, &object))
            take_device(json, &object);
        at = imp_skip_space(at, end);
        if (at == end || *at++ != ',')
            return;
    }
}

/* ---- Activities ------------------------------------------------------------------------------ */

/* Reads the number of a stream: an argument, or in the row "stream 7". False if it is neither. */
static bool read_stream(const imp_json *json, const imp_event *event, int64_t *number)
{
    const imp_value *own = json->is_takt ? imp_json_arg(json, TKT_CHROME_STREAM_NUMBER) : NULL;
    const imp_value *stream = own && own->kind ? own : imp_json_arg(json, "stream");
    if (stream->kind && imp_integer(stream, number))
        return true;
    imp_value row = event->thread;
    if (row.size > 7 && memcmp(row.bytes, "stream ", 7) == 0) {
        row.bytes += 7;
        row.size -= 7;
    }
    return imp_integer(&row, number) && *number >= 0;
}

static uint32_t stream_of(imp_json *json, uint64_t number)
{
    return json->is_takt ? (uint32_t)number : imp_build_stream(&json->build, number);
}

/* Takt knows a stream by context and number. Files of AMD's devices name no context: then there is
 * one of each device. */
static void set_stream(imp_json *json, const imp_event *event, imp_work *work)
{
    int64_t number;
    work->context = (uint32_t)imp_json_uint(json, "context");
    if (!read_stream(json, event, &number))
        return;
    if (!work->context && !json->is_takt)
        work->context = work->device + 1;
    work->stream = number < 0 ? UINT32_MAX : stream_of(json, (uint64_t)number);
}

/* The device is an argument, or else the number of the row's process. False if it is neither. */
static bool set_device(imp_json *json, const imp_event *event, imp_work *work)
{
    const imp_value *device = imp_json_arg(json, "device");
    imp_value process = event->process;
    int64_t number;
    if (event->rank.kind) {
        const uint8_t *end = process.bytes + process.size;
        process.bytes = imp_skip_space(event->rank.bytes + event->rank.size + 1, end);
        process.size = (size_t)(end - process.bytes);
    }
    if (!imp_integer(device->kind ? device : &process, &number) || number < 0 ||
        number >= TKT_MOST_DEVICES)
        return false;
    work->process = imp_json_caller(json, event);
    work->device = imp_build_ordinal(&json->build, work->process, (uint32_t)number);
    return work->device != IMP_NOTHING;
}

static bool begin_work(imp_json *json, const imp_event *event, uint32_t filter, imp_work *work)
{
    *work = (imp_work){.begin_ns = event->begin_ns,
                       .end_ns = event->end_ns,
                       .correlation = imp_json_id(imp_json_arg(json, "correlation")),
                       .operator_id =
                           json->is_takt ? 0 : imp_json_id(imp_json_arg(json, "External id"))};
    work->shape.filter = filter;
    if (!set_device(json, event, work))
        return false;
    set_stream(json, event, work);
    return true;
}

static void take_triple(const imp_json *json, const char *key, uint32_t out[3])
{
    int64_t numbers[3];
    if (imp_integers(imp_json_arg(json, key), numbers, 3) != 3)
        return;
    for (int i = 0; i < 3; i++)
        out[i] = numbers[i] > 0 ? (uint32_t)numbers[i] : 0;
}

static void read_limiter(const imp_value *name, tkt_shape *shape)
{
    for (uint8_t i = TAKT_LIMIT_WARPS; i <= TAKT_LIMIT_BLOCKS && name->kind; i++)
        if (imp_is(name, tkt_limiter_name(i)))
            shape->limiter = i;
}

/* Takt writes the whole launch of a graph as a kernel, for want of a category. */
static bool take_graph(imp_json *json, const imp_event *event)
{
    imp_work work;
    if (!begin_work(json, event, TAKT_TIMING_GRAPH, &work))
        return false;
    work.shape.graph = (uint32_t)imp_json_uint(json, "graph id");
    work.shape.graph_node_count = (uint32_t)imp_json_uint(json, "nodes of the graph");
    imp_build_work(&json->build, &work);
    return true;
}

bool imp_json_take_kernel(imp_json *json, const imp_event *event)
{
    imp_work work;
    if (json->is_takt && imp_json_uint(json, "graph id") && !imp_json_uint(json, "graph node id"))
        return take_graph(json, event);
    double percent;
    if (!begin_work(json, event, TAKT_TIMING_KERNEL, &work))
        return false;
    tkt_shape *shape = &work.shape;
    shape->name = imp_json_string(json, &event->name);
    take_triple(json, "grid", shape->grid);
    take_triple(json, "block", shape->block);
    take_triple(json, "cluster", shape->cluster);
    shape->registers = (uint16_t)imp_json_uint(json, "registers per thread");
    shape->static_shared_bytes = (uint32_t)imp_json_uint(json, "static shared memory");
    shape->dynamic_shared_bytes = imp_json_arg(json, "dynamic shared memory")->kind
                                      ? (uint32_t)imp_json_uint(json, "dynamic shared memory")
                                      : (uint32_t)imp_json_uint(json, "shared memory");
    shape->local_bytes = (uint32_t)imp_json_uint(json, "local memory per thread");
    shape->graph = (uint32_t)imp_json_uint(json, "graph id");
    shape->graph_node = imp_json_uint(json, "graph node id");
    if (imp_real(imp_json_arg(json, "theoretical occupancy %"), &percent) && percent > 0 &&
        percent <= 100)
        shape->occupancy = (uint16_t)(percent * 100 + 0.5);
    read_limiter(imp_json_arg(json, "limited by"), shape);
    imp_build_work(&json->build, &work);
    return true;
}

static bool has_word(imp_text text, const char *word)
{
    return memmem(text.bytes, text.size, word, strlen(word)) != NULL;
}

/* "Pageable", "Pinned" ... from "Memcpy HtoD (Pageable -> Device)". "Device Static" comes before
 * "Device". */
static uint8_t memory_of(imp_text text)
{
    for (uint8_t kind = TAKT_MEMORY_MANAGED_STATIC; kind > TAKT_MEMORY_UNKNOWN; kind--)
        if (has_word(text, tkt_memory_kind_name(kind)))
            return kind;
    return TAKT_MEMORY_UNKNOWN;
}

static void read_copy(imp_text name, tkt_shape *shape)
{
    const char *arrow = memmem(name.bytes, name.size, "->", 2);
    for (uint8_t kind = 1; kind <= TAKT_COPY_PTOP; kind++)
        if (has_word(name, tkt_copy_name(kind)))
            shape->copy_kind = kind;
    if (!arrow)
        return;
    size_t before = (size_t)(arrow - name.bytes);
    shape->source = memory_of((imp_text){name.bytes, before});
    shape->target = memory_of((imp_text){arrow, name.size - before});
}

bool imp_json_take_memcpy(imp_json *json, const imp_event *event)
{
    imp_work work;
    if (!begin_work(json, event, TAKT_TIMING_MEMCPY, &work))
        return false;
    work.shape.bytes = imp_json_uint(json, "bytes");
    read_copy(imp_json_text(json, &event->name), &work.shape);
    imp_build_work(&json->build, &work);
    return true;
}

bool imp_json_take_memset(imp_json *json, const imp_event *event)
{
    imp_work work;
    if (!begin_work(json, event, TAKT_TIMING_MEMSET, &work))
        return false;
    work.shape.bytes = imp_json_uint(json, "bytes");
    work.shape.target = memory_of(imp_json_text(json, &event->name));
    imp_build_work(&json->build, &work);
    return true;
}

/* ---- Devices as processes -------------------------------------------------------------------- */

/* TensorFlow and JAX name their devices "/device:GPU:0", "/device:TPU:0". Torch named all of them
 * "CUDA functions" until 2020, Huawei's profiler for torch names them "Ascend Hardware". */
void imp_json_name_process(imp_json *json, imp_process *process, imp_text name)
{
    char text[32];
    unsigned ordinal = 0;
    snprintf(text, sizeof text, "%.*s", (int)(name.size < sizeof text ? name.size : 31),
             name.bytes);
    bool is_old = strcmp(text, "CUDA functions") == 0;
    bool is_gpu = is_old || sscanf(text, "/device:GPU:%4u", &ordinal) == 1;
    bool is_other = imp_begins(name, "/device:") && !imp_begins(name, "/device:CPU");
    if (!is_gpu && !is_other && strcmp(text, "Ascend Hardware") != 0)
        return;
    json->has_foreign = true;
    process->is_device = true;
    process->is_gpu = is_gpu;
    process->ordinal = is_old ? IMP_NOTHING : ordinal;
}

/* False for rows such as "XLA Modules", which show the work of the streams again. A row without a
 * name has its number as name, or none. */
static bool is_stream(imp_json *json, const imp_event *event)
{
    const imp_row *row = imp_json_row(json, event);
    const char *name = row && row->name ? tkt_trace_text(json->build.trace, row->name) : "";
    return row && (!isalpha((unsigned char)name[0]) || tkt_begins_with(name, "Stream"));
}

bool imp_json_take_foreign(imp_json *json, const imp_event *event, const imp_process *process)
{
    char number[12];
    imp_event work = *event;
    imp_text name = imp_json_text(json, &event->name);
    if (!process->is_gpu || !is_stream(json, event))
        return false;
    if (process->ordinal == IMP_NOTHING)
        work.process = event->thread;
    else
        work.process = (imp_value){
            .bytes = (const uint8_t *)number,
            .size = (size_t)snprintf(number, sizeof number, "%u", (unsigned)process->ordinal),
            .kind = IMP_WORD};
    if (imp_begins(name, "Memcpy"))
        return imp_json_take_memcpy(json, &work);
    if (imp_begins(name, "Memset"))
        return imp_json_take_memset(json, &work);
    return imp_json_take_kernel(json, &work);
}

/* ---- What belongs to devices ----------------------------------------------------------------- */

bool imp_json_take_annotation(imp_json *json, const imp_event *event)
{
    imp_work work;
    char name[64];
    if (!begin_work(json, event, 0, &work))
        return false;
    if (!imp_build_has_time(&json->build, work.begin_ns, work.end_ns))
        return true;
    const tkt_device *device = imp_build_device(&json->build, work.device);
    if (!device)
        return false;
    int size = snprintf(name, sizeof name, "%s annotations",
                        tkt_trace_text(json->build.trace, device->label));
    imp_what what = {.name = imp_json_string(json, &event->name), .kind = TAKT_SITE_SCOPE};
    imp_build_async(&json->build, imp_build_string(&json->build, name, (size_t)size), &what,
                    event->begin_ns, event->end_ns);
    return true;
}

bool imp_json_take_wait(imp_json *json, const imp_event *event)
{
    imp_work of = {.process = IMP_NOTHING};
    int64_t record = 0;
    set_device(json, event, &of);
    set_stream(json, event, &of);
    tkt_wait wait = {.begin_ns = event->begin_ns,
                     .end_ns = event->end_ns,
                     .correlation = imp_json_id(imp_json_arg(json, "correlation")),
                     .context = of.context,
                     .event = (uint32_t)imp_json_uint(json, "wait_on_cuda_event_id")};
    for (uint32_t kind = TAKT_WAIT_EVENT; kind <= TAKT_WAIT_CONTEXT; kind++)
        if (imp_is(&event->name, tkt_wait_name(kind)))
            wait.kind = kind;
    wait.stream = wait.kind == TAKT_WAIT_CONTEXT ? UINT32_MAX : of.stream;
    imp_integer(imp_json_arg(json, "wait_on_cuda_event_record_corr_id"), &record);
    wait.record_correlation = record > 0 ? (uint32_t)record : 0;
    wait.record_stream = record > 0 ? stream_of(json, imp_json_uint(json, "wait_on_stream")) : 0;
    imp_build_wait(&json->build, &wait, of.process);
    return true;
}

bool imp_json_take_overhead(imp_json *json, const imp_event *event)
{
    char name[64];
    imp_text text = imp_json_text(json, &event->name);
    size_t size = text.size < sizeof name - 1 ? text.size : sizeof name - 1;
    memcpy(name, text.bytes, size);
    name[size] = '\0';
    imp_build_overhead(&json->build, name, (uint32_t)imp_json_uint(json, "thread"), event->begin_ns,
                       event->end_ns);
    return true;
}

bool imp_json_take_memory(imp_json *json, const imp_event *event)
{
    imp_memory memory = {.time_ns = event->begin_ns, .total_bytes = -1};
    int64_t total = -1, address = 0, device = 0;
    if (!imp_integer(imp_json_arg(json, "Bytes"), &memory.bytes))
        return false;
    if (imp_integer(imp_json_arg(json, "Total Allocated"), &total) && total >= 0)
        memory.total_bytes = total;
    imp_integer(imp_json_arg(json, "Addr"), &address);
    if (imp_json_uint(json, "Device Type")) {
        imp_integer(imp_json_arg(json, "Device Id"), &device);
        uint32_t number = device < 0 || device >= TKT_MOST_DEVICES ? IMP_NOTHING : (uint32_t)device;
        if (number != IMP_NOTHING)
            number = imp_build_ordinal(&json->build, imp_json_caller(json, event), number);
        const tkt_device *on = imp_build_device(&json->build, number);
        if (!on)
            return false;
        memory.device = on->label;
    }
    imp_build_memory(&json->build, imp_json_row(json, event), &memory, (uint64_t)address);
    return true;
}
