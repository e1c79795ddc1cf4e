/* What the simulator of launches.c consists of: scopes, calls, kernels and transfers, call stacks,
 * threads and devices. */
#include "launches.h"

#include <stdio.h>

#define FRAMES 12u /* of a stack */

static uint32_t add_site(launches_builder *b, const char *name, takt_site_kind kind)
{
    const tkt_trace_site site = {.name = tkt_trace_string_of(b->trace, name),
                                 .kind = (uint8_t)kind,
                                 .level = TAKT_LEVEL_NORMAL};
    return tkt_trace_site_index(b->trace, &site);
}

static void add_sites(launches_builder *b)
{
    static const char *const scopes[SCOPES] = {"neighbours", "density",  "forces",
                                               "integrate",  "collide",  "boundary",
                                               "solve",      "exchange", "step"};
    static const char *const calls[CALLS] = {
        "cudaLaunchKernel",      "cudaGraphLaunch", "cudaMemcpyAsync",
        "cudaMemsetAsync",       "cudaEventRecord", "cudaStreamWaitEvent",
        "cudaStreamSynchronize", "cudaMallocAsync", "cudaFreeAsync"};
    for (size_t i = 0; i < SCOPES; i++)
        b->scope_sites[i] = add_site(b, scopes[i], TAKT_SITE_SCOPE);
    for (size_t i = 0; i < CALLS; i++)
        b->call_sites[i] = add_site(b, calls[i], TAKT_SITE_CALL);
    b->argument = tkt_trace_string_of(b->trace, "iteration");
}

static uint32_t add_shape(launches_builder *b, const char *name, const tkt_shape *values)
{
    char label[96];
    tkt_shape *shape = TKT_ARRAY_ADD(&b->trace->shapes);
    if (!shape)
        return TKT_NO_SHAPE;
    *shape = *values;
    shape->name = values->filter == TAKT_TIMING_KERNEL ? tkt_trace_string_of(b->trace, name) : 0;
    shape->label = tkt_trace_string_of(
        b->trace, tkt_activity_label(label, sizeof label, values->filter, name));
    return (uint32_t)b->trace->shapes.count - 1;
}

static void add_kernels(launches_builder *b, uint32_t phase)
{
    for (uint32_t i = 0; i < KERNELS * GRIDS; i++) {
        char name[64];
        snprintf(name, sizeof name, "phase_%u_kernel_%u", phase, i / GRIDS);
        b->kernels[phase][i / GRIDS][i % GRIDS] =
            add_shape(b, name,
                      &(tkt_shape){.filter = TAKT_TIMING_KERNEL,
                                   .grid = {64u << i % GRIDS, 1, 1},
                                   .block = {256, 1, 1},
                                   .registers = 40,
                                   .occupancy = 7500});
    }
}

static void add_nodes_and_transfers(launches_builder *b)
{
    for (uint32_t i = 0; i < NODES; i++) {
        char name[64];
        snprintf(name, sizeof name, "solve_node_%u", i);
        b->nodes[i] = add_shape(
            b, name,
            &(tkt_shape){.filter = TAKT_TIMING_KERNEL, .graph = 1, .graph_node = i + UINT64_C(1)});
    }
    b->transfers[TO_HOST] = add_shape(b, "DtoH",
                                      &(tkt_shape){.filter = TAKT_TIMING_MEMCPY,
                                                   .bytes = 65536,
                                                   .copy_kind = TAKT_COPY_DTOH,
                                                   .source = TAKT_MEMORY_DEVICE,
                                                   .target = TAKT_MEMORY_PINNED});
    b->transfers[TO_DEVICE] = add_shape(b, "HtoD",
                                        &(tkt_shape){.filter = TAKT_TIMING_MEMCPY,
                                                     .bytes = 65536,
                                                     .copy_kind = TAKT_COPY_HTOD,
                                                     .source = TAKT_MEMORY_PAGEABLE,
                                                     .target = TAKT_MEMORY_DEVICE});
    b->transfers[SET] = add_shape(
        b, "",
        &(tkt_shape){.filter = TAKT_TIMING_MEMSET, .bytes = 65536, .target = TAKT_MEMORY_DEVICE});
}

/* Stack i goes from function i of the program's outwards, over the next ones. */
static bool add_stacks(launches_builder *b)
{
    takt_trace *trace = b->trace;
    for (uint32_t i = 0; i < SCOPES * PLACES + FRAMES; i++) {
        char name[64];
        snprintf(name, sizeof name, "function_%u", i);
        tkt_frame *frame = TKT_ARRAY_ADD(&trace->frames);
        uint32_t *number = TKT_ARRAY_ADD(&trace->stack_frames);
        tkt_stack *stack = TKT_ARRAY_ADD(&trace->stacks);
        if (!frame || !number || !stack)
            return false;
        *frame = (tkt_frame){.offset = UINT64_C(64) * i,
                             .module = tkt_trace_string_of(trace, "/usr/bin/fluid"),
                             .function = tkt_trace_string_of(trace, name)};
        *number = i;
        *stack = (tkt_stack){.first_frame = i, .frame_count = FRAMES};
    }
    trace->stacks.count = SCOPES * PLACES;
    return true;
}

static bool add_devices(launches_builder *b)
{
    for (uint32_t i = 0; i < DEVICES; i++) {
        char label[16];
        snprintf(label, sizeof label, "cuda:%u", i);
        b->devices[i] = tkt_trace_string_of(b->trace, label);
        tkt_device *device = TKT_ARRAY_ADD(&b->trace->devices);
        if (!device || !tkt_trace_device_memory(b->trace, b->devices[i]))
            return false;
        *device = (tkt_device){.ordinal = i, .label = b->devices[i], .major = 9};
    }
    return true;
}

static bool add_threads(launches_builder *b)
{
    for (uint32_t i = 0; i < THREADS; i++) {
        char name[32];
        snprintf(name, sizeof name, "worker %u", i);
        uint32_t text = tkt_trace_string_of(b->trace, name);
        if (tkt_trace_add_track(b->trace, TAKT_TRACK_THREAD, text, 1000 + i) == TKT_NO_TRACK)
            return false;
    }
    return true;
}

static void set_facts(takt_trace *trace)
{
    trace->name = tkt_trace_string_of(trace, "fluid");
    trace->backend = tkt_trace_string_of(trace, "cuda");
    trace->clock = tkt_trace_string_of(trace, "tsc");
    trace->facts.has_spans = true;
}

bool bench_launches_prepare(launches_builder *b)
{
    set_facts(b->trace);
    add_sites(b);
    for (uint32_t i = 0; i < PHASES; i++)
        add_kernels(b, i);
    add_nodes_and_transfers(b);
    return add_threads(b) && add_devices(b) && add_stacks(b);
}
