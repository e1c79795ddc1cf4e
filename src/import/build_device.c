/* Devices, their activities, waits, overheads and memory. */
#include "import/build.h"

#include "cuda/kernel.h"
#include "cuda/kinds.h"
#include "export/devices.h"
#include "trace/devices.h"
#include "trace/order.h"

#include <stdio.h>
#include <string.h>

tkt_device *imp_build_device(imp_build *build, uint64_t ordinal)
{
    takt_trace *trace = build->trace;
    char label[32];
    size_t at = 0;
    if (ordinal >= TKT_MOST_DEVICES)
        return NULL;
    while (at < trace->devices.count && trace->devices.items[at].ordinal < ordinal)
        at++;
    if (at < trace->devices.count && trace->devices.items[at].ordinal == ordinal)
        return &trace->devices.items[at];
    snprintf(label, sizeof label, "cuda:%u", (unsigned)ordinal);
    uint32_t string = imp_build_string(build, label, strlen(label));
    tkt_device *device = TKT_ARRAY_ADD(&trace->devices);
    if (!device) {
        build->is_short = true;
        return NULL;
    }
    device = &trace->devices.items[at];
    memmove(device + 1, device, (trace->devices.count - 1 - at) * sizeof *device);
    *device = (tkt_device){.ordinal = (uint32_t)ordinal, .label = string};
    return device;
}

/* ---- Devices of several ranks ---------------------------------------------------------------- */

static bool is_used(const imp_build *build, uint32_t ordinal)
{
    for (size_t i = 0; i < build->rank_devices.count; i++)
        if (build->rank_devices.items[i].ordinal == ordinal)
            return true;
    return false;
}

uint32_t imp_build_ordinal(imp_build *build, uint32_t process, uint32_t number)
{
    if (process == IMP_NOTHING)
        return number;
    for (size_t i = 0; i < build->rank_devices.count; i++) {
        const imp_rank_device *known = &build->rank_devices.items[i];
        if (known->process == process && known->number == number)
            return known->ordinal;
    }
    uint32_t ordinal = is_used(build, number) ? 0 : number;
    while (ordinal < TKT_MOST_DEVICES && is_used(build, ordinal))
        ordinal++;
    imp_rank_device *added =
        ordinal < TKT_MOST_DEVICES ? TKT_ARRAY_ADD(&build->rank_devices) : NULL;
    build->is_short |= ordinal < TKT_MOST_DEVICES && !added;
    if (!added)
        return IMP_NOTHING;
    *added = (imp_rank_device){process, number, ordinal};
    return ordinal;
}

/* Copies what is known of the rank's device from `known`, and names the rank. */
static void describe(imp_build *build, const imp_rank_device *of, const tkt_device *known)
{
    char name[300];
    tkt_device *device = imp_build_device(build, of->ordinal);
    if (!device)
        return;
    uint32_t label = device->label;
    if (known)
        *device = *known;
    const char *of_device = tkt_trace_text(build->trace, known ? known->name : 0);
    snprintf(name, sizeof name, "%.150s%srank %.100s", of_device, of_device[0] ? ", " : "",
             tkt_trace_text(build->trace, build->processes.items[of->process].name));
    device->ordinal = of->ordinal;
    device->label = label;
    device->name = imp_build_string(build, name, strlen(name));
}

takt_status imp_finish_devices(imp_build *build)
{
    size_t count = build->trace->devices.count;
    tkt_device *known = build->rank_devices.count ? tkt_alloc((count + 1) * sizeof *known) : NULL;
    build->is_short |= build->rank_devices.count && !known;
    if (known && count)
        memcpy(known, build->trace->devices.items, count * sizeof *known);
    for (size_t i = 0; i < build->rank_devices.count && known; i++) {
        const imp_rank_device *of = &build->rank_devices.items[i];
        size_t at = 0;
        while (at < count && known[at].ordinal != of->number)
            at++;
        describe(build, of, at < count ? &known[at] : NULL);
    }
    tkt_free(known);
    return build->is_short ? TAKT_NO_MEMORY : TAKT_OK;
}

/* ---- Streams --------------------------------------------------------------------------------- */

uint32_t imp_build_stream(imp_build *build, uint64_t number)
{
    if (number < IMP_LARGE_STREAM)
        return (uint32_t)number;
    uint64_t *known = tkt_map_put(&build->large_streams, number);
    build->is_short |= !known;
    if (known && !*known)
        *known = IMP_LARGE_STREAM + build->large_streams.count - 1;
    return known ? (uint32_t)*known : 0;
}

/* ---- Activities ------------------------------------------------------------------------------ */

/* Kernels of one name have the same label, and are all a library's or none is. */
static void set_kernel_label(imp_build *build, tkt_shape *shape)
{
    char label[512];
    uint64_t *known = tkt_map_put(&build->kernel_labels, shape->name);
    build->is_short |= !known;
    if (!known)
        return;
    if (!*known) {
        uint64_t filter =
            tkt_name_classify(tkt_trace_text(build->trace, shape->name), label, sizeof label);
        *known = filter << 32 | imp_build_string(build, label, strlen(label));
    }
    shape->filter = (uint32_t)(*known >> 32);
    shape->label = (uint32_t)*known;
}

static void set_label(imp_build *build, tkt_shape *shape)
{
    char label[512];
    if (shape->filter == TAKT_TIMING_KERNEL) {
        set_kernel_label(build, shape);
        return;
    }
    if (shape->filter == TAKT_TIMING_GRAPH)
        tkt_graph_label(label, shape->graph, shape->graph_node_count ? " from nodes" : "");
    else
        tkt_activity_label(label, sizeof label, shape->filter,
                           shape->filter == TAKT_TIMING_MEMCPY ? tkt_copy_name(shape->copy_kind)
                                                               : "");
    shape->label = imp_build_string(build, label, strlen(label));
}

/* The index of this shape. Equal shapes without labels have equal labels, so labels are made once a
 * shape. */
static uint32_t shape_of(imp_build *build, const tkt_shape *shape)
{
    for (uint64_t key = tkt_hash_bytes(shape, sizeof *shape);; key++) {
        uint64_t *index = tkt_map_put(&build->shape_index, key);
        if (!index)
            break;
        if (*index) {
            tkt_shape known = build->trace->shapes.items[*index - 1];
            known.label = 0;
            known.filter = known.filter == TAKT_TIMING_BUILTIN ? TAKT_TIMING_KERNEL : known.filter;
            if (memcmp(&known, shape, sizeof known) == 0)
                return (uint32_t)*index - 1;
            continue;
        }
        tkt_shape *added = TKT_ARRAY_ADD(&build->trace->shapes);
        if (!added)
            break;
        *index = build->trace->shapes.count;
        *added = *shape;
        set_label(build, added);
        return (uint32_t)*index - 1;
    }
    build->is_short = true;
    return IMP_NOTHING;
}

void imp_build_work(imp_build *build, const imp_work *work)
{
    const tkt_device *device = imp_build_device(build, work->device);
    uint32_t label = device ? device->label : 0;
    uint32_t shape = device ? shape_of(build, &work->shape) : IMP_NOTHING;
    tkt_activity *activity = shape == IMP_NOTHING ? NULL : TKT_ARRAY_ADD(&build->trace->activities);
    if (!device)
        build->trace->losses[TAKT_LOSS_SKIPPED_EVENTS]++;
    else
        build->is_short |= !activity;
    if (!activity)
        return;
    const tkt_shape *of = &build->trace->shapes.items[shape];
    *activity = (tkt_activity){.begin_ns = work->begin_ns,
                               .end_ns = work->end_ns,
                               .name = of->label,
                               .device = label,
                               .filter = of->filter,
                               .track = TKT_NO_TRACK,
                               .span = TKT_NO_SPAN,
                               .scope = work->operator_id ? work->operator_id : TKT_NO_SPAN,
                               .call = TKT_NO_CALL,
                               .shape = shape,
                               .stream = work->stream,
                               .context = work->context,
                               .correlation = work->correlation,
                               .reserved = work->process + 1};
    if (build->has_own_times)
        imp_build_extend(build, work->begin_ns, work->end_ns);
}

bool imp_build_has_time(imp_build *build, uint64_t begin_ns, uint64_t end_ns)
{
    bool has_time = begin_ns || end_ns || build->has_own_times;
    build->trace->losses[TAKT_LOSS_BAD_TIME] += !has_time;
    return has_time;
}

void imp_build_wait(imp_build *build, const tkt_wait *wait, uint32_t process)
{
    if (!imp_build_has_time(build, wait->begin_ns, wait->end_ns))
        return;
    tkt_wait *added = TKT_ARRAY_ADD(&build->trace->waits);
    build->is_short |= !added;
    if (!added)
        return;
    *added = *wait;
    added->call_number = process + 1;
    imp_build_extend(build, wait->begin_ns, wait->end_ns);
}

void imp_build_overhead(imp_build *build, const char *name, uint32_t thread, uint64_t begin_ns,
                        uint64_t end_ns)
{
    uint32_t kind = strcmp(name, tkt_overhead_name(1)) == 0 ? 1 : 0;
    for (uint32_t i = 1; i < 16 && !kind; i++)
        if (strcmp(name, tkt_overhead_name(i << 16)) == 0)
            kind = i << 16;
    tkt_overhead *overhead = TKT_ARRAY_ADD(&build->trace->overheads);
    build->is_short |= !overhead;
    if (overhead)
        *overhead = (tkt_overhead){begin_ns, end_ns, kind, thread};
    imp_build_extend(build, begin_ns, end_ns);
}

/* The toolkit's cuda_occupancy.h (13.0): the blocks that a multiprocessor can have at once; 0:
 * unknown. */
static uint32_t blocks_of(uint32_t major, uint32_t minor)
{
    static const uint8_t table[][2] = {{70, 32},  {72, 32},  {75, 16}, {80, 32},  {86, 16},
                                       {87, 16},  {89, 24},  {90, 32}, {100, 32}, {103, 32},
                                       {110, 24}, {120, 24}, {121, 24}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i][0] == major * 10 + minor)
            return table[i][1];
    return 0;
}

void imp_build_capability(tkt_device *device)
{
    if (!device->max_blocks_per_multiprocessor)
        device->max_blocks_per_multiprocessor = blocks_of(device->major, device->minor);
    /* CUDA C++ Programming Guide: from capability 8.0 on, the system takes 1 KiB of each block. */
    device->reserved_shared_per_block = device->major >= 8 ? 1024 : 0;
}

/* ---- Grids and occupancy --------------------------------------------------------------------- */

void imp_build_grid(imp_build *build, uint32_t correlation, const imp_grid *grid)
{
    uint64_t *index = tkt_map_put(&build->grid_index, correlation);
    imp_grid *known = index && *index ? &build->grids.items[*index - 1] : NULL;
    imp_grid *added = known ? known : index ? TKT_ARRAY_ADD(&build->grids) : NULL;
    build->is_short |= !added;
    if (!added)
        return;
    bool is_of_two = known && known->process != grid->process;
    *added = is_of_two ? (imp_grid){.process = IMP_NOTHING} : *grid;
    *index = (uint64_t)(added - build->grids.items) + 1;
}

/* The grid of the kernel's call; NULL if the kernel has one, or none is known. */
static const imp_grid *grid_of(const imp_build *build, const tkt_activity *activity)
{
    if (build->grids.count == 0 || build->trace->shapes.items[activity->shape].grid[0])
        return NULL;
    const uint64_t *index = tkt_map_get(&build->grid_index, activity->correlation);
    return index ? &build->grids.items[*index - 1] : NULL;
}

/* The shape, completed. */
static uint32_t complete(imp_build *build, const tkt_activity *activity, const imp_grid *grid)
{
    tkt_shape shape = build->trace->shapes.items[activity->shape];
    if (grid) {
        memcpy(shape.grid, grid->grid, sizeof shape.grid);
        memcpy(shape.block, grid->block, sizeof shape.block);
    }
    const tkt_device *device = tkt_device_facts(build->trace, activity->device);
    if (!shape.occupancy && device)
        tkt_occupancy_fill(&shape, device);
    shape.label = 0;
    shape.filter = TAKT_TIMING_KERNEL;
    return shape_of(build, &shape);
}

takt_status imp_finish_kernels(imp_build *build)
{
    takt_trace *trace = build->trace;
    tkt_map completed = {0}; /* device << 32 | shape -> shape + 1 */
    for (size_t i = 0; i < trace->activities.count && !build->is_short; i++) {
        tkt_activity *activity = &trace->activities.items[i];
        if (!(activity->filter & (TAKT_TIMING_KERNEL | TAKT_TIMING_BUILTIN)))
            continue;
        const imp_grid *grid = grid_of(build, activity);
        uint64_t none = 0, key = (uint64_t)activity->device << 32 | activity->shape;
        uint64_t *known = grid ? &none : tkt_map_put(&completed, key);
        build->is_short |= !known;
        if (known && !*known)
            *known = (uint64_t)complete(build, activity, grid) + 1;
        if (!build->is_short)
            activity->shape = (uint32_t)*known - 1;
    }
    tkt_map_fini(&completed);
    return build->is_short ? TAKT_NO_MEMORY : TAKT_OK;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

void imp_build_memory(imp_build *build, imp_row *row, const imp_memory *memory, uint64_t address)
{
    tkt_memory_event *event = TKT_ARRAY_ADD(&build->trace->memory_events);
    imp_memory *added = event ? TKT_ARRAY_ADD(&build->memory) : NULL;
    build->is_short |= !added;
    if (!added)
        return;
    *added = *memory;
    *event = (tkt_memory_event){.time_ns = memory->time_ns,
                                .address = address,
                                .bytes = memory->bytes,
                                .track = row ? row->track : TKT_NO_TRACK,
                                .span = TKT_NO_SPAN,
                                .device = memory->device,
                                .kind = memory->device ? TAKT_MEMORY_DEVICE : 0};
    imp_build_extend(build, memory->time_ns, memory->time_ns);
}

static tkt_memory_totals *totals_of(takt_trace *trace, uint32_t device)
{
    if (!device)
        return &trace->memory;
    tkt_device_memory *memory = tkt_trace_device_memory(trace, device);
    return memory ? &memory->totals : NULL;
}

/* What the file says is allocated is more than the sum of the events: it knows of memory from
 * before the recording. */
static void add_up(tkt_memory_totals *totals, const imp_memory *memory)
{
    uint64_t bytes = (uint64_t)memory->bytes;
    if (memory->total_bytes >= 0)
        totals->current_bytes = (uint64_t)memory->total_bytes - bytes;
    if (totals->window_allocations + totals->window_frees == 0) {
        bool is_known = (int64_t)totals->current_bytes > 0;
        totals->is_of_recording = 1;
        totals->window_begin_bytes = is_known ? totals->current_bytes : 0;
        totals->window_peak_bytes = totals->window_begin_bytes;
    }
    tkt_memory_totals_add(totals, memory->time_ns, memory->bytes);
}

takt_status imp_finish_memory(imp_build *build)
{
    takt_status status = tkt_order_by_time(TKT_ORDER_ITEMS(&build->memory, 0));
    for (size_t i = 0; i < build->memory.count && status == TAKT_OK; i++) {
        tkt_memory_totals *totals = totals_of(build->trace, build->memory.items[i].device);
        if (!totals)
            return TAKT_NO_MEMORY;
        add_up(totals, &build->memory.items[i]);
    }
    return status;
}
