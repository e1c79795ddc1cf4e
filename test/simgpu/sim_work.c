/* What devices do: kernels, copies, sets. Planning work says when it begins and ends; doing it
 * moves the bytes, at once, on the thread that asked. */
#include "sim_core.h"

#include <stdlib.h>
#include <string.h>

static sim_function **functions;
static size_t function_count;
static uint64_t last_grid_id;

sim_function *sim_function_of(const char *name)
{
    sim_function *found = NULL;
    sim_lock();
    for (size_t i = 0; name && !found && i < function_count; i++) {
        if (strcmp(functions[i]->name, name) == 0)
            found = functions[i];
    }
    if (name && !found) {
        found = sim_new(sizeof *found);
        found->name = strcpy(sim_new(strlen(name) + 1), name);
        functions = sim_grow(functions, function_count, sizeof *functions);
        functions[function_count++] = found;
    }
    sim_unlock();
    return found;
}

const char *sim_function_name(const sim_function *function)
{
    return function ? function->name : NULL;
}

void sim_function_look(const sim_function *function, sim_function_facts *out)
{
    *out = (sim_function_facts){
        .registers = (uint32_t)sim_option_of_kernel("registers", function->name, 32),
        .static_shared_bytes = (uint32_t)sim_option_of_kernel("shared", function->name, 0),
        .local_bytes = (uint32_t)sim_option_of_kernel("local", function->name, 0),
    };
}

void sim_kernel_work(const char *name, void (*work)(const sim_work *launch), const size_t *sizes,
                     size_t count)
{
    sim_function *function = sim_function_of(name);
    sim_lock();
    function->work = work;
    function->arg_bytes = sizes;
    function->arg_count = count;
    sim_unlock();
}

/* Copies -------------------------------------------------------------------------------------- */

typedef struct sim_end {
    int kind;
    uint32_t device;
    uint32_t context;
} sim_end;

static sim_end end_of(const void *memory, uint32_t device, uint32_t context)
{
    const sim_allocation *allocation = sim_allocation_find(memory);
    if (!allocation || allocation->kind == SIM_PINNED)
        return (sim_end){allocation ? SIM_PINNED : SIM_PAGEABLE, device, context};
    return (sim_end){allocation->kind, allocation->device,
                     allocation->context ? allocation->context->id : context};
}

static bool is_on_device(const sim_end *end)
{
    return end->kind == SIM_DEVICE || end->kind == SIM_MANAGED;
}

/* As CUpti_ActivityMemcpyKind. */
static uint8_t copy_kind(int direction, const sim_end *source, const sim_end *target)
{
    static const uint8_t kinds[] = {9, 1, 2, 8};
    bool from_device = is_on_device(source);
    bool to_device = is_on_device(target);
    if (direction == SIM_BY_ADDRESS)
        direction = 2 * from_device + to_device;
    if (direction == SIM_DEVICE_TO_DEVICE && source->device != target->device)
        return 10;
    return kinds[direction];
}

static bool fits(const void *memory, size_t bytes, bool must_be_host)
{
    const sim_allocation *allocation = sim_allocation_find(memory);
    if (!allocation)
        return memory != NULL || bytes == 0;
    if (must_be_host && allocation->kind == SIM_DEVICE)
        return false;
    return bytes <= (size_t)(allocation->begin + allocation->bytes - (const char *)memory);
}

static size_t span(size_t rows, size_t pitch, size_t bytes)
{
    return rows ? (rows - 1) * pitch + bytes : 0;
}

static int check_kernel(const sim_work *work)
{
    const uint32_t *grid = work->is.kernel.grid;
    const uint32_t *block = work->is.kernel.block;
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    if (!work->is.kernel.function)
        return SIM_INVALID_HANDLE;
    bool is_empty = !threads || !grid[0] || !grid[1] || !grid[2];
    return is_empty || threads > 1024 || grid[1] > 65535 || grid[2] > 65535 ? SIM_INVALID_VALUE
                                                                            : SIM_OK;
}

int sim_work_check(const sim_work *work)
{
    int direction = work->is.copy.direction;
    switch (work->type) {
    case SIM_WORK_KERNEL:
        return check_kernel(work);
    case SIM_WORK_COPY:
        if (direction < 0 || direction > SIM_BY_ADDRESS)
            return 21; /* cudaErrorInvalidMemcpyDirection */
        return fits(work->is.copy.target,
                    span(work->is.copy.rows, work->is.copy.target_pitch, work->is.copy.bytes),
                    direction == SIM_DEVICE_TO_HOST || direction == SIM_HOST_TO_HOST) &&
                       fits(work->is.copy.source,
                            span(work->is.copy.rows, work->is.copy.source_pitch,
                                 work->is.copy.bytes),
                            direction == SIM_HOST_TO_DEVICE || direction == SIM_HOST_TO_HOST)
                   ? SIM_OK
                   : SIM_INVALID_VALUE;
    case SIM_WORK_SET:
        return fits(work->is.set.target, work->is.set.count * work->is.set.element_bytes, false)
                   ? SIM_OK
                   : SIM_INVALID_VALUE;
    case SIM_WORK_RECORD:
    case SIM_WORK_WAIT:
        return sim_is(work->is.event, SIM_AN_EVENT) ? SIM_OK : SIM_INVALID_VALUE;
    default:
        return SIM_OK;
    }
}

/* Planning ------------------------------------------------------------------------------------ */

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static sim_record record_at(sim_kind kind, const sim_place *place)
{
    return (sim_record){
        .kind = kind,
        .device = place->stream->context->device,
        .context = place->stream->context->id,
        .stream = place->stream_id,
        .graph = place->graph,
        .graph_node = place->graph_node,
        .is_by_device = place->is_by_device,
    };
}

/* The first launch of a function loads it, while the program waits. */
static void load(sim_function *function)
{
    uint64_t ns = sim_option_duration("overhead", "load", 0, 0);
    if (function->is_loaded || !ns)
        return;
    function->is_loaded = true;
    sim_record record = {
        .kind = SIM_OVERHEAD, .begin_ns = sim_time_ns(), .overhead_kind = 5u << 16};
    sim_wait_until(record.begin_ns + ns);
    record.end_ns = sim_time_ns();
    sim_add_record(&record);
}

static void plan_kernel(const sim_work *work, const sim_place *place, sim_record *record)
{
    sim_function *function = work->is.kernel.function;
    load(function);
    *record = record_at(SIM_KERNEL, place);
    record->begin_ns = place->earliest_ns;
    record->end_ns = record->begin_ns +
                     sim_option_duration("kernel", function->name, (int)record->device, 10000);
    int error = (int)sim_option_of_kernel("error", function->name, 0);
    if (error)
        sim_break(record->begin_ns, error);
    sim_function_facts facts;
    sim_function_look(function, &facts);
    record->name = function->name;
    memcpy(record->grid, work->is.kernel.grid, sizeof record->grid);
    memcpy(record->block, work->is.kernel.block, sizeof record->block);
    memcpy(record->cluster, work->is.kernel.cluster, sizeof record->cluster);
    record->static_shared_bytes = facts.static_shared_bytes;
    record->dynamic_shared_bytes = work->is.kernel.dynamic_shared_bytes;
    record->local_bytes = facts.local_bytes;
    record->registers = (uint16_t)facts.registers;
    record->launch_type = work->is.kernel.is_cooperative;
    record->grid_id = ++last_grid_id;
    record->is_async = true;
}

/* Host to device uses one engine of the device, device to host and to another device the other. */
static sim_engine *engine_for(const sim_record *record)
{
    sim_device *device = sim_device_of((int)record->device);
    if (record->copy_kind == 1)
        return &device->copy_in;
    if (record->copy_kind == 2)
        return &device->copy_out;
    return record->copy_kind == 10 ? &sim_device_of((int)record->source_device)->copy_out : NULL;
}

static void plan_copy(const sim_work *work, const sim_place *place, sim_record *record)
{
    static const char *const names[] = {
        [1] = "HtoD", [2] = "DtoH", [8] = "DtoD", [9] = "HtoH", [10] = "PtoP"};
    *record = record_at(SIM_MEMCPY, place);
    sim_end source = end_of(work->is.copy.source, record->device, record->context);
    sim_end target = end_of(work->is.copy.target, record->device, record->context);
    record->bytes = work->is.copy.bytes * work->is.copy.rows;
    record->copy_kind = copy_kind(work->is.copy.direction, &source, &target);
    record->source_kind = (uint8_t)source.kind;
    record->target_kind = (uint8_t)target.kind;
    record->source_device = source.device;
    record->source_context = source.context;
    record->target_device = target.device;
    record->target_context = target.context;
    record->is_async = work->is_async;
    uint64_t ns = sim_option_duration("memcpy", names[record->copy_kind], (int)record->device,
                                      1500 + record->bytes / 12);
    sim_engine *engine = engine_for(record);
    record->begin_ns = later(place->earliest_ns, engine ? engine->ready_ns : 0);
    record->end_ns = record->begin_ns + ns;
    if (engine)
        engine->ready_ns = record->end_ns;
}

static void plan_set(const sim_work *work, const sim_place *place, sim_record *record)
{
    *record = record_at(SIM_MEMSET, place);
    sim_end target = end_of(work->is.set.target, record->device, record->context);
    record->bytes = work->is.set.count * work->is.set.element_bytes;
    record->value = work->is.set.value;
    record->target_kind = (uint8_t)target.kind;
    record->is_async = work->is_async;
    record->begin_ns = place->earliest_ns;
    record->end_ns = record->begin_ns + sim_option_duration("memset", "", (int)record->device,
                                                            1000 + record->bytes / 400);
}

static uint64_t plan_event(const sim_work *work, const sim_place *place)
{
    sim_event *event = work->is.event;
    if (!sim_is(event, SIM_AN_EVENT))
        return place->earliest_ns;
    if (work->type == SIM_WORK_WAIT)
        return later(place->earliest_ns, event->is_recorded ? event->time_ns : 0);
    event->is_recorded = true;
    event->is_captured = false;
    event->time_ns = place->earliest_ns;
    return event->time_ns;
}

uint64_t sim_plan(const sim_work *work, const sim_place *place, uint64_t *begin_ns)
{
    sim_record record = {.end_ns = 0};
    switch (work->type) {
    case SIM_WORK_KERNEL:
        plan_kernel(work, place, &record);
        break;
    case SIM_WORK_COPY:
        plan_copy(work, place, &record);
        break;
    case SIM_WORK_SET:
        plan_set(work, place, &record);
        break;
    case SIM_WORK_RECORD:
    case SIM_WORK_WAIT:
        record.begin_ns = record.end_ns = plan_event(work, place);
        break;
    default:
        record.begin_ns = record.end_ns = place->earliest_ns;
        break;
    }
    if (work->type == SIM_WORK_KERNEL || work->type == SIM_WORK_COPY || work->type == SIM_WORK_SET)
        sim_add_record(&record);
    *begin_ns = record.begin_ns;
    return record.end_ns;
}

/* Doing --------------------------------------------------------------------------------------- */

static void do_copy(const sim_work *work)
{
    char *target = work->is.copy.target;
    const char *source = work->is.copy.source;
    for (size_t row = 0; work->is.copy.bytes && row < work->is.copy.rows; row++)
        memmove(target + row * work->is.copy.target_pitch,
                source + row * work->is.copy.source_pitch, work->is.copy.bytes);
}

static void do_set(const sim_work *work)
{
    size_t bytes = work->is.set.element_bytes;
    char *target = work->is.set.target;
    if (bytes == 1 && work->is.set.count)
        memset(target, (int)work->is.set.value, work->is.set.count);
    for (size_t i = 0; bytes > 1 && i < work->is.set.count; i++)
        memcpy(target + i * bytes, &work->is.set.value, bytes); /* little endian */
}

void sim_do(const sim_work *work)
{
    switch (work->type) {
    case SIM_WORK_KERNEL:
        if (work->is.kernel.function->work)
            work->is.kernel.function->work(work);
        break;
    case SIM_WORK_COPY:
        do_copy(work);
        break;
    case SIM_WORK_SET:
        do_set(work);
        break;
    case SIM_WORK_HOST:
        work->is.host.call(work->is.host.data);
        break;
    default:
        break;
    }
}

static int submit(sim_stream *stream, const sim_work *work, bool *is_captured, uint64_t *end_ns)
{
    int status = sim_work_check(work);
    if (!status)
        status = sim_capture_implicit(stream);
    if (status)
        return status;
    *is_captured = stream->capture != NULL;
    if (stream->capture && !work->is_async)
        return sim_capture_refuse_on(stream);
    if (stream->capture)
        return sim_capture_add(stream, work, NULL);
    if (!work->is_async && (status = sim_capture_refuse(NULL)))
        return status;
    uint64_t begin_ns;
    uint64_t launched_ns = sim_device_time_ns() + (uint64_t)sim_option_number("latency", 1000);
    sim_place place = {.stream = stream,
                       .stream_id = stream->id,
                       .earliest_ns = later(launched_ns, sim_stream_ready(stream))};
    stream->ready_ns = *end_ns = sim_plan(work, &place, &begin_ns);
    return SIM_OK;
}

int sim_submit(sim_stream *handle, const sim_work *work)
{
    bool is_captured = false;
    uint64_t end_ns = 0;
    sim_lock();
    sim_stream *stream = sim_stream_resolve(handle);
    int status = stream ? submit(stream, work, &is_captured, &end_ns) : SIM_INVALID_HANDLE;
    sim_unlock();
    if (status || is_captured)
        return status;
    sim_do(work);
    if (!work->is_async)
        sim_wait_until(end_ns);
    return SIM_OK;
}
