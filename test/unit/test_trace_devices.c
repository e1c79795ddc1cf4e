/* Activities find the scope that launched them: through recorded calls, the store and the join, in
 * the full form and in the folded one. */

#include "base/clock.h"
#include "record/scope.h"
#include "record/control.h"
#include "trace/devices.h"
#include "trace/seal.h"

#include "support/all_durations.h"
#include "support/test.h"

#include <takt/takt.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t ticks = 1000000; /* atomic; a tick is a nanosecond */

static uint64_t fake_clock(void)
{
    return __atomic_add_fetch(&ticks, 1, __ATOMIC_RELAXED);
}

static const char launch[] = "cudaLaunchKernel";
static const char graph_launch[] = "cudaGraphLaunch";

/* Records a call of so many ticks that ends now; returns when it began. */
static bool is_capturing;

static uint64_t call(const char *name, uint32_t correlation, uint64_t duration, int32_t result)
{
    uint64_t begin = fake_clock();
    __atomic_add_fetch(&ticks, duration, __ATOMIC_RELAXED);
    tkt_record_call(&(tkt_call){name, "cuda_runtime", begin, begin + duration, correlation, result,
                                is_capturing, NULL});
    return begin;
}

/* ---- A window and a store -------------------------------------------------------------------- */

typedef struct world {
    tkt_store store;
    tkt_seal_window window;
    tkt_join join;
} world;

static void begin(world *w, uint32_t modes)
{
    *w = (world){0};
    assert_int_equal(tkt_store_init(&w->store), TAKT_OK);
    tkt_pool_limit(UINT64_C(64) << 20);
    tkt_record_set(0, 0);
    for (tkt_thread_log *log = tkt_log_first(); log; log = tkt_log_next(log)) {
        tkt_log_release(log, UINT64_MAX);
        tkt_log_fold_reset(log);
    }
    w->window.fit = tkt_clock_fit_now();
    __atomic_store_n(&tkt_record_control.fold_ns_per_tick, w->window.fit.ns_per_tick,
                     __ATOMIC_RELAXED);
    w->window.begin_ticks = fake_clock();
    __atomic_store_n(&tkt_record_control.fold_from_ticks, w->window.begin_ticks, __ATOMIC_RELAXED);
    tkt_record_set(modes, TAKT_NORMAL_BIT);
    w->join = (tkt_join){.position = 0,
                         .filter = TAKT_TIMING_ALL,
                         .begin_ticks = w->window.begin_ticks,
                         .fit = w->window.fit};
}

static void end(world *w, uint32_t last_correlation)
{
    w->join.end_ticks = w->window.end_ticks = fake_clock();
    w->join.last_correlation = last_correlation;
    tkt_record_set(0, 0);
}

static takt_trace *seal(world *w, tkt_joined *joined)
{
    takt_trace *trace;
    w->window.with_spans = true;
    assert_int_equal(tkt_seal(&w->window, &trace), TAKT_OK);
    trace->facts.has_spans = true;
    assert_int_equal(tkt_trace_join(trace, &w->store, &w->join, joined), TAKT_OK);
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    return trace;
}

static uint32_t text(world *w, const char *bytes)
{
    return tkt_strtab_intern_text(&w->store.strings, bytes);
}

static void add(world *w, const char *label, uint32_t filter, uint32_t correlation, uint32_t device,
                uint32_t stream, uint64_t begin_ns, uint64_t end_ns)
{
    assert_non_null(tkt_store_device(&w->store, device));
    tkt_shape shape = {.label = text(w, label), .filter = filter};
    const tkt_stored_activity activity = {.begin = begin_ns,
                                          .end = end_ns,
                                          .correlation = correlation,
                                          .device = device,
                                          .context = device + 1,
                                          .stream = stream,
                                          .shape = tkt_store_shape(&w->store, &shape)};
    assert_true(tkt_store_add(&w->store, &activity));
}

/* A node of a graph; the store had no room for the graph's number in the shape. */
static void add_node(world *w, uint32_t graph, uint32_t correlation, uint32_t device,
                     uint32_t stream, uint64_t begin_ns, uint64_t end_ns)
{
    assert_non_null(tkt_store_device(&w->store, device));
    tkt_shape shape = {.label = text(w, "kernel node"), .filter = TAKT_TIMING_KERNEL};
    const tkt_stored_activity activity = {.begin = begin_ns,
                                          .end = end_ns,
                                          .correlation = correlation,
                                          .device = device,
                                          .context = device + 1,
                                          .stream = stream,
                                          .shape = tkt_store_shape(&w->store, &shape),
                                          .graph = graph};
    assert_true(tkt_store_add(&w->store, &activity));
}

static const char *name_of(const takt_trace *trace, uint32_t track, uint32_t span)
{
    if (track == TKT_NO_TRACK || span == TKT_NO_SPAN)
        return "";
    const tkt_span *at = &trace->tracks.items[track].spans.items[span];
    return tkt_trace_text(trace, trace->sites.items[tkt_span_site(at)].name);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static void check_call(const takt_trace *trace, size_t index, const char *name, const char *scope,
                       uint32_t correlation, int32_t result, uint64_t duration)
{
    const tkt_call_info *info = &trace->calls.items[index];
    const tkt_span *span = &trace->tracks.items[info->track].spans.items[info->span];
    assert_string_equal(name_of(trace, info->track, info->span), name);
    assert_string_equal(name_of(trace, info->track, span->parent), scope);
    assert_int_equal(info->correlation, correlation);
    assert_int_equal(info->result, result);
    assert_int_equal(span->end_ns - span->begin_ns, duration);
    assert_int_equal(tkt_span_flags(span) & ~TAKT_SPAN_NO_ACTIVITY, TAKT_SPAN_CALL);
}

static void nest_and_call(int depth)
{
    takt_begin("deep");
    if (depth > 1)
        nest_and_call(depth - 1);
    else
        call("cudaMalloc", 5, 10, 2);
    takt_end();
}

TEST(calls_are_spans_below_the_open_scope)
{
    world w;
    tkt_joined joined;
    begin(&w, TKT_KEEP);
    takt_begin("outer");
    call(launch, 1, 100, 0);
    takt_begin("inner");
    call(launch, 2, UINT64_C(1) << 33, -7); /* longer than a plain record holds */
    takt_end();
    call(launch, 3, 0, 0);
    takt_end();
    call("cudaFree", UINT32_MAX, 30, INT32_MIN);
    nest_and_call(300); /* deeper than a tag can say */
    end(&w, UINT32_MAX);
    takt_trace *trace = seal(&w, &joined);
    assert_int_equal(trace->calls.count, 5);
    check_call(trace, 0, launch, "outer", 1, 0, 100);
    check_call(trace, 1, launch, "inner", 2, -7, UINT64_C(1) << 33);
    check_call(trace, 2, launch, "outer", 3, 0, 0);
    check_call(trace, 3, "cudaFree", "", UINT32_MAX, INT32_MIN, 30);
    check_call(trace, 4, "cudaMalloc", "deep", 5, 2, 10);
    takt_trace_release(trace);
    tkt_store_fini(&w.store);
}

/* A filter of all kinds of nodes leaves nothing out, whether or not it asks for whole graphs. */
TEST(what_calls_must_launch_depends_on_the_filter)
{
    const uint32_t nodes =
        TAKT_TIMING_KERNEL | TAKT_TIMING_BUILTIN | TAKT_TIMING_MEMCPY | TAKT_TIMING_MEMSET;
    uint32_t of_graph = tkt_launched_by(graph_launch);
    assert_int_equal(tkt_must_launch(of_graph, nodes), TKT_LAUNCHES_WORK);
    assert_int_equal(tkt_must_launch(of_graph, nodes | TAKT_TIMING_GRAPH), TKT_LAUNCHES_WORK);
    assert_int_equal(tkt_must_launch(of_graph, nodes & ~TAKT_TIMING_MEMSET), TKT_LAUNCHES_PERHAPS);
    assert_int_equal(tkt_must_launch(tkt_launched_by(launch), TAKT_TIMING_MEMSET),
                     TKT_LAUNCHES_NOTHING);
}

TEST(calls_outside_of_the_window_are_none)
{
    world w;
    tkt_joined joined;
    begin(&w, TKT_KEEP);
    call(launch, 1, 10, 0);
    w.window.begin_ticks = w.join.begin_ticks = fake_clock();
    call(launch, 2, 10, 0);
    end(&w, 2);
    tkt_record_set(TKT_KEEP, TAKT_NORMAL_BIT);
    call(launch, 3, 10, 0);
    takt_trace *trace = seal(&w, &joined);
    assert_int_equal(trace->calls.count, 1);
    assert_int_equal(trace->calls.items[0].correlation, 2);
    tkt_record_set(0, 0);
    call(launch, 4, 10, 0); /* nobody records */
    takt_trace_release(trace);
    tkt_store_fini(&w.store);
}

/* ---- The join -------------------------------------------------------------------------------- */

static void check_work(const takt_trace *trace, size_t index, const char *name, const char *scope,
                       uint64_t begin_ns, uint64_t duration_ns)
{
    const tkt_activity *activity = &trace->activities.items[index];
    assert_string_equal(tkt_trace_text(trace, activity->name), name);
    assert_string_equal(name_of(trace, activity->track, activity->scope), scope);
    assert_int_equal(activity->begin_ns, begin_ns);
    assert_int_equal(activity->end_ns - activity->begin_ns, duration_ns);
    assert_int_equal(activity->span, TKT_NO_SPAN);
}

TEST(activities_belong_to_the_scopes_that_launched_them)
{
    world w;
    tkt_joined joined;
    begin(&w, TKT_KEEP);
    takt_begin("step");
    uint64_t a = call(launch, 11, 5, 0);
    takt_begin("forces");
    uint64_t b = call(graph_launch, 12, 5, 0);
    takt_end();
    uint64_t c = call("cudaMemcpyAsync", 13, 5, 0);
    takt_end();
    call(launch, 14, 5, 0);   /* of which nothing arrives */
    call(launch, 15, 5, 700); /* which failed */
    call("cudaLaunchHostFunc", 16, 5, 0);
    call("cudaGraphInstantiate", 17, 5, 0);
    call("cudaMemsetAsync", 18, 5, 0); /* nothing either */
    w.join.first_correlation = 10;
    end(&w, 20);
    /* in the order in which they might arrive */
    add(&w, "memcpy HtoD", TAKT_TIMING_MEMCPY, 13, 1, 9, c + 50, c + 57);
    add(&w, "kernel y", TAKT_TIMING_KERNEL, 12, 0, 8, b + 30, b + 40);
    add(&w, "kernel x", TAKT_TIMING_KERNEL, 12, 0, 7, b + 20, b + 90);
    add(&w, "kernel early", TAKT_TIMING_KERNEL, 10, 0, 7, a + 1, a + 2); /* before the window */
    add(&w, "kernel late", TAKT_TIMING_KERNEL, 21, 0, 7, c + 1, c + 2);  /* after it */
    add(&w, "kernel ?", TAKT_TIMING_KERNEL, 19, 0, 7, a + 2, a + 3);     /* by whom? */
    add(&w, "kernel first", TAKT_TIMING_KERNEL, 11, 0, 7, c + 100, c + 110);
    takt_trace *trace = seal(&w, &joined);
    assert_int_equal(joined.activities, 5);
    assert_int_equal(joined.unattributed, 1);
    assert_int_equal(joined.missing, 2);
    assert_int_equal(trace->losses[TAKT_LOSS_UNATTRIBUTED], 1);
    assert_int_equal(trace->activities.count, 5);
    check_work(trace, 0, "kernel first", "step", c + 100, 10);
    check_work(trace, 1, "kernel ?", "", a + 2, 1);
    check_work(trace, 2, "kernel x", "forces", b + 20, 70);
    check_work(trace, 3, "kernel y", "forces", b + 30, 10);
    check_work(trace, 4, "memcpy HtoD", "step", c + 50, 7);
    assert_int_equal(trace->activities.items[1].call, TKT_NO_CALL);
    assert_string_equal(tkt_trace_text(trace, trace->activities.items[4].device), "cuda:1");
    assert_int_equal(trace->devices.count, 2);
    assert_int_equal(trace->shapes.count, 5);
    takt_trace_release(trace);
    tkt_store_fini(&w.store);
}

TEST(a_filter_and_a_position_leave_out_the_others)
{
    world w;
    tkt_joined joined;
    begin(&w, TKT_KEEP);
    uint64_t a = call(launch, 1, 5, 0);
    uint64_t b = call("cudaMemcpy", 2, 5, 0);
    is_capturing = true;
    call(launch, 3, 5, 0); /* no activity comes of it, and none is missed */
    is_capturing = false;
    end(&w, 3);
    add(&w, "kernel old", TAKT_TIMING_KERNEL, 1, 0, 7, a, a + 1);
    w.join.position = w.store.next_sequence;
    add(&w, "kernel x", TAKT_TIMING_KERNEL, 1, 0, 7, a + 10, a + 11);
    add(&w, "memcpy HtoD", TAKT_TIMING_MEMCPY, 2, 0, 7, b + 10, b + 11);
    w.join.filter = TAKT_TIMING_KERNEL;
    takt_trace *trace = seal(&w, &joined);
    assert_int_equal(trace->activities.count, 1);
    check_work(trace, 0, "kernel x", "", a + 10, 1);
    assert_int_equal(joined.missing, 0);
    takt_trace_release(trace);
    tkt_store_fini(&w.store);
}

/* A call that began after the window may have an id of the window, and its activity may arrive
 * while the call is under way: then neither the calls nor the late calls have it. */
TEST(activities_that_arrive_after_the_calls_are_known_need_one)
{
    world w;
    tkt_joined joined;
    begin(&w, TKT_KEEP);
    call(launch, 1, 10, 0);
    end(&w, 3);
    add(&w, "known", TAKT_TIMING_KERNEL, 1, 0, 7, ticks, ticks + 10);
    add(&w, "stray", TAKT_TIMING_KERNEL, 2, 0, 7, ticks, ticks + 10);
    w.join.known_until = w.store.next_sequence;
    add(&w, "later", TAKT_TIMING_KERNEL, 3, 0, 7, ticks, ticks + 10);
    add(&w, "known, later", TAKT_TIMING_KERNEL, 1, 0, 7, ticks, ticks + 10);
    takt_trace *trace = seal(&w, &joined);
    assert_int_equal(joined.activities, 3);
    assert_int_equal(joined.unattributed, 1);
    assert_int_equal(takt_trace_loss(trace, TAKT_LOSS_UNATTRIBUTED), 1);
    takt_trace_release(trace);
    tkt_store_fini(&w.store);
}

TEST(memory_waits_and_overheads_come_with_them)
{
    world w;
    tkt_joined joined;
    begin(&w, TKT_KEEP);
    takt_begin("setup");
    uint64_t a = call("cudaMalloc", 1, 5, 0);
    takt_end();
    uint64_t b = call("cudaFree", 2, 5, 0);
    end(&w, 2);
    assert_non_null(tkt_store_device(&w.store, 0));
    const tkt_stored_memory memory[] = {
        {b + 3, 64, -100, 2, 0, TAKT_MEMORY_DEVICE, 0, 0, 0}, /* out of order */
        {a + 3, 64, 100, 1, 0, TAKT_MEMORY_DEVICE, 0, 0, 0},
        {a + 4, 99, 7, 77, 0, TAKT_MEMORY_PINNED, 0, 0, 0},
        {a + 4, 65, 50, 1, 0, TAKT_MEMORY_DEVICE, 0, 0, 0},
        {a + 4, 11, 4096, 1, 0, TAKT_MEMORY_DEVICE, 1, 0, 0},
        {w.join.end_ticks + 9, 1, 1, 2, 0, TAKT_MEMORY_DEVICE, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        assert_true(tkt_store_add_memory(&w.store, &memory[i]));
    assert_true(tkt_store_add_wait(&w.store, &(tkt_stored_wait){b, b + 4, 2, 1, 7, 3, 0, 0, 0}));
    assert_true(tkt_store_add_wait(&w.store, &(tkt_stored_wait){1, 2, 2, 1, 7, 3, 0, 0, 0}));
    assert_true(tkt_store_add_overhead(&w.store, &(tkt_stored_overhead){a, a + 2, 1 << 16, 42, 0}));
    takt_trace *trace = seal(&w, &joined);
    assert_int_equal(trace->memory_events.count, 5);
    assert_int_equal(trace->memory_events.items[0].time_ns, a + 3);
    const tkt_memory_event *first = &trace->memory_events.items[0];
    assert_string_equal(name_of(trace, first->track, first->span), "setup");
    assert_int_equal(trace->device_memory.count, 1);
    const tkt_device_memory *totals = &trace->device_memory.items[0];
    assert_int_equal(totals->totals.window_peak_bytes, 150);
    assert_int_equal(totals->totals.window_peak_ns, a + 4);
    assert_int_equal(totals->totals.current_bytes, 50);
    assert_int_equal(totals->totals.window_allocations, 2);
    assert_int_equal(totals->totals.window_frees, 1);
    assert_int_equal(totals->pool_bytes, 4096);
    assert_int_equal(trace->waits.count, 1);
    assert_int_equal(trace->waits.items[0].begin_ns, b);
    assert_int_equal(trace->overheads.count, 1);
    assert_int_equal(trace->overheads.items[0].thread_id, 42);
    takt_trace_release(trace);
    tkt_store_fini(&w.store);
}

static void check_numbers(const takt_activity *is)
{
    /* clang-format off */
    const uint64_t numbers[] = {
        is->filter, is->stream, is->context, is->correlation, is->bytes, is->copy_kind,
        is->source_memory, is->target_memory, is->grid[0], is->grid[1], is->grid[2],
        is->block[0], is->block[1], is->block[2], is->cluster[0], is->cluster[1], is->cluster[2],
        is->registers, is->static_shared_bytes, is->dynamic_shared_bytes, is->local_bytes,
        is->graph, is->graph_node};
    const uint64_t wanted[] = {
        1, 17, 16, 1, 1, 2,
        3, 2, 3, 4, 5,
        6, 7, 8, 9, 10, 11,
        15, 12, 13, 14,
        2, UINT64_C(1) << 40};
    /* clang-format on */
    assert_int_equal(sizeof numbers, sizeof wanted);
    assert_memory_equal(numbers, wanted, sizeof wanted);
}

TEST(programs_see_every_field)
{
    world w;
    tkt_joined joined;
    begin(&w, TKT_KEEP);
    takt_begin("scope");
    uint64_t a = call(graph_launch, 1, 5, 0);
    takt_end();
    end(&w, 1);
    assert_non_null(tkt_store_device(&w.store, 3));
    const tkt_shape shape = {.bytes = 1,
                             .graph_node = UINT64_C(1) << 40,
                             .graph = 2,
                             .name = text(&w, "void k<int>()"),
                             .label = text(&w, "kernel k"),
                             .filter = TAKT_TIMING_KERNEL,
                             .grid = {3, 4, 5},
                             .block = {6, 7, 8},
                             .cluster = {9, 10, 11},
                             .static_shared_bytes = 12,
                             .dynamic_shared_bytes = 13,
                             .local_bytes = 14,
                             .registers = 15,
                             .occupancy = 7500,
                             .limiter = TAKT_LIMIT_REGISTERS,
                             .copy_kind = TAKT_COPY_DTOH,
                             .source = TAKT_MEMORY_DEVICE,
                             .target = TAKT_MEMORY_PINNED};
    assert_true(tkt_store_add(&w.store,
                              &(tkt_stored_activity){.begin = a + 100,
                                                     .end = a + 1100,
                                                     .correlation = 1,
                                                     .device = 3,
                                                     .context = 16,
                                                     .stream = 17,
                                                     .shape = tkt_store_shape(&w.store, &shape)}));
    takt_trace *trace = seal(&w, &joined);
    takt_activity is;
    assert_int_equal(takt_trace_activity(trace, 0, &is), TAKT_OK);
    assert_string_equal(is.device, "cuda:3");
    assert_string_equal(is.name, "kernel k");
    assert_string_equal(is.full_name, "void k<int>()");
    assert_string_equal(is.scope, "scope");
    assert_string_equal(is.launch, graph_launch);
    assert_true(is.elapsed_ms == 0.001);
    assert_int_equal(is.launch_begin_ns, a);
    assert_int_equal(is.launch_end_ns, a + 5);
    assert_int_equal(is.begin_ns, a + 100);
    assert_int_equal(is.end_ns, a + 1100);
    assert_true(is.thread != 0);
    check_numbers(&is);
    assert_true(is.occupancy == 0.75);
    assert_int_equal(is.occupancy_limit, TAKT_LIMIT_REGISTERS);
    takt_device_info device;
    size_t devices = takt_trace_count(trace, TAKT_TRACE_DEVICES);
    assert_int_equal(takt_trace_device(trace, devices - 1, &device), TAKT_OK);
    assert_string_equal(device.device, "cuda:3");
    assert_int_equal(takt_trace_device(trace, devices, &device), TAKT_BAD_ARGUMENT);
    takt_trace_release(trace);
    tkt_store_fini(&w.store);
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

static void check_launch(const takt_trace *trace, size_t index, const char *name,
                         const char *device, uint32_t stream, uint64_t begin_ns, uint64_t end_ns,
                         uint32_t nodes)
{
    takt_activity is;
    assert_int_equal(takt_trace_activity(trace, index, &is), TAKT_OK);
    assert_string_equal(is.name, name);
    assert_string_equal(is.device, device);
    assert_int_equal(is.filter, TAKT_TIMING_GRAPH);
    assert_int_equal(is.stream, stream);
    assert_int_equal(is.begin_ns, begin_ns);
    assert_int_equal(is.end_ns, end_ns);
    assert_int_equal(is.graph_node_count, nodes);
}

static void begin_whole_graphs(world *w)
{
    begin(w, TKT_KEEP);
    w->join.filter = TAKT_TIMING_GRAPH;
    w->join.whole_graphs = true;
}

/* Buffers may come back in any order. */
TEST(graphs_of_the_same_nodes_have_the_number_of_the_one_launched_first)
{
    world w;
    tkt_joined joined;
    begin_whole_graphs(&w);
    uint64_t t = call(graph_launch, 1, 5, 0);
    call(graph_launch, 2, 5, 0);
    call(graph_launch, 3, 5, 0);
    end(&w, 3);
    for (uint32_t i = 3; i > 0; i--)
        for (uint32_t node = 0; node < 2; node++)
            add_node(&w, 6 + i, i, 0, 5, t + 100 * i + 10 * node, t + 100 * i + 10 * node + 5);
    takt_trace *trace = seal(&w, &joined);
    assert_int_equal(joined.activities, 3);
    for (uint32_t i = 0; i < 3; i++)
        check_launch(trace, i, "graph 7 from nodes", "cuda:0", 5, t + 100 * (i + 1),
                     t + 100 * (i + 1) + 15, 2);
    takt_trace_release(trace);
    tkt_store_fini(&w.store);
}

/* Two launches whose nodes arrive in turns, of which one ends on another device, and a kernel. */
TEST(nodes_become_launches_where_graphs_are_wanted)
{
    world w;
    tkt_joined joined;
    begin_whole_graphs(&w);
    takt_begin("a");
    uint64_t t = call(graph_launch, 1, 5, 0);
    call(launch, 2, 5, 0);
    takt_end();
    takt_begin("b");
    call(graph_launch, 3, 5, 0);
    takt_end();
    end(&w, 3);
    add_node(&w, 7, 1, 0, 9, t + 300, t + 400);
    add_node(&w, 8, 3, 0, 5, t + 500, t + 501);
    add_node(&w, 7, 1, 1, 8, t + 350, t + 900);
    add_node(&w, 7, 1, 0, 8, t + 300, t + 310);
    add_node(&w, 8, 3, 0, 5, t + 490, t + 500);
    add(&w, "kernel plain", TAKT_TIMING_KERNEL, 2, 0, 8, t + 1000, t + 1001);
    takt_trace *trace = seal(&w, &joined);
    assert_int_equal(joined.activities, 2);
    assert_int_equal(joined.unattributed, 0);
    assert_int_equal(joined.missing, 0);
    assert_int_equal(takt_trace_count(trace, TAKT_TRACE_ACTIVITIES), 2);
    check_launch(trace, 0, "graph 7 from nodes", "cuda:0", 8, t + 300, t + 900, 3);
    check_launch(trace, 1, "graph 8 from nodes", "cuda:0", 5, t + 490, t + 501, 2);
    assert_string_equal(
        name_of(trace, trace->activities.items[0].track, trace->activities.items[0].scope), "a");
    takt_trace_release(trace);
    tkt_store_fini(&w.store);
}

/* Some releases of CUPTI give graphs' work the ids of other calls. */
TEST(work_of_graphs_is_of_no_other_call)
{
    world w;
    tkt_joined joined;
    for (int whole = 0; whole < 2; whole++) {
        begin(&w, TKT_KEEP);
        w.join.whole_graphs = whole != 0;
        takt_begin("a");
        uint64_t t = call(launch, 1, 5, 0);
        call(graph_launch, 2, 5, 0);
        takt_end();
        end(&w, 2);
        add_node(&w, 7, 1, 0, 8, t + 300, t + 400);
        add_node(&w, 7, 1, 0, 8, t + 400, t + 450);
        takt_trace *trace = seal(&w, &joined);
        assert_int_equal(joined.activities, whole ? 1 : 2);
        assert_int_equal(joined.unattributed, whole ? 1 : 2);
        assert_int_equal(trace->activities.items[0].call, TKT_NO_CALL);
        assert_int_equal(trace->activities.items[0].scope, TKT_NO_SPAN);
        takt_trace_release(trace);
        tkt_store_fini(&w.store);
    }
}

/* Whichever allocation fails, nothing is broken, and the next try has all. */
TEST(without_memory_the_join_says_so)
{
    world w;
    begin(&w, TKT_KEEP);
    takt_begin("a");
    for (uint32_t i = 1; i < 100; i++)
        call(launch, i, 5, 0);
    takt_end();
    end(&w, 99);
    for (uint32_t i = 99; i > 0; i--) {
        char label[16];
        snprintf(label, sizeof label, "kernel %u", i);
        add(&w, label, TAKT_TIMING_KERNEL, i, i % 2, i % 3, 2 * i, 2 * i + 1);
    }
    assert_true(tkt_store_add_wait(&w.store,
                                   &(tkt_stored_wait){w.join.begin_ticks, 9, 2, 1, 7, 3, 0, 0, 0}));
    assert_true(tkt_store_add_memory(&w.store, &(tkt_stored_memory){w.join.begin_ticks, 1, 1, 1, 0,
                                                                    TAKT_MEMORY_DEVICE, 0, 0, 0}));
    takt_status status = TAKT_NO_MEMORY;
    uint64_t tries = 0;
    for (; status != TAKT_OK; tries++) {
        takt_trace *trace;
        tkt_joined joined;
        w.window.with_spans = true;
        assert_int_equal(tkt_seal(&w.window, &trace), TAKT_OK);
        trace->facts.has_spans = true;
        tkt_alloc_fail(tries, 1);
        status = tkt_trace_join(trace, &w.store, &w.join, &joined);
        tkt_alloc_fail(0, 0);
        if (status == TAKT_OK) {
            assert_int_equal(joined.activities, 99);
            assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
            assert_non_null(tkt_trace_fold(trace));
        }
        takt_trace_release(trace);
    }
    assert_true(tries > 15);
    tkt_store_fini(&w.store);
}

/* ---- The folded form ------------------------------------------------------------------------- */

enum {
    THREADS = 3,
    ROUNDS = 4000,
    NAMES = 5
};

static uint32_t last_correlation;

typedef struct expected {
    uint64_t count;
    uint64_t total_ns;
} expected;

/* By thread's path: "a", "a/b", none; then by name of the kernel. */
static expected truth[3][NAMES];

typedef struct thread_state {
    uint64_t chance;
    uint32_t *calls; /* correlation << 2 | path */
    uint32_t count;
} thread_state;

static uint32_t draw(thread_state *t, uint32_t below)
{
    t->chance = t->chance * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(t->chance >> 33) % below;
}

static void random_call(thread_state *t, uint32_t path)
{
    uint32_t correlation = __atomic_add_fetch(&last_correlation, 1, __ATOMIC_RELAXED);
    t->calls[t->count++] = correlation << 2 | path;
    call(launch, correlation, 3, 0);
}

static void *run(void *argument)
{
    thread_state *t = argument;
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t path = draw(t, 3);
        if (path < 2)
            takt_begin("a");
        if (path == 1)
            takt_begin("b");
        random_call(t, path);
        if (path == 1)
            takt_end();
        if (path < 2)
            takt_end();
    }
    return NULL;
}

static void run_threads(thread_state *threads)
{
    pthread_t ids[THREADS];
    for (int i = 0; i < THREADS; i++) {
        threads[i] =
            (thread_state){.chance = (uint64_t)i + 1, .calls = malloc(ROUNDS * sizeof(uint32_t))};
        pthread_create(&ids[i], NULL, run, &threads[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
}

/* What the calls launched: up to two kernels each. */
static void fill_store(world *w, thread_state *threads)
{
    memset(truth, 0, sizeof truth);
    for (int i = 0; i < THREADS; i++) {
        for (uint32_t k = 0; k < threads[i].count; k++) {
            uint32_t made = threads[i].calls[k];
            for (uint32_t n = draw(&threads[i], 3); n > 0; n--) {
                uint32_t name = draw(&threads[i], NAMES);
                uint64_t duration = draw(&threads[i], 1000);
                char label[16];
                snprintf(label, sizeof label, "kernel %u", name);
                add(w, label, TAKT_TIMING_KERNEL, made >> 2, 0, 7, 5, 5 + duration);
                truth[made & 3][name].count++;
                truth[made & 3][name].total_ns += duration;
            }
        }
        free(threads[i].calls);
    }
}

static uint32_t path_of(const takt_trace *trace, uint32_t node)
{
    const tkt_fold *fold = tkt_trace_fold(trace);
    if (node == 0)
        return 2;
    const char *name = tkt_trace_text(trace, trace->sites.items[fold->items[node].site].name);
    bool is_b = strcmp(name, "b") == 0;
    assert_int_equal(fold->items[node].parent > 0, is_b); /* "b" is always in "a" */
    return is_b ? 1 : 0;
}

static void check_node_activities(const takt_trace *trace)
{
    size_t wanted = 0;
    for (int path = 0; path < 3; path++)
        for (int name = 0; name < NAMES; name++)
            wanted += truth[path][name].count > 0;
    assert_int_equal(trace->node_activities.count, wanted);
    for (size_t i = 0; i < wanted; i++) {
        const tkt_node_activity *entry = &trace->node_activities.items[i];
        const char *label = tkt_trace_text(trace, entry->name);
        const expected *is = &truth[path_of(trace, entry->node)][label[7] - '0'];
        assert_int_equal(entry->stats.count, is->count);
        assert_int_equal(entry->stats.total_ns, is->total_ns);
        const tkt_histogram durations = all_durations(&entry->stats, entry->histogram);
        assert_int_equal(tkt_histogram_count(&durations), is->count);
        assert_int_equal(entry->histogram != NULL, is->count > TKT_MOST_EXTREMES);
        assert_string_equal(tkt_trace_text(trace, entry->device), "cuda:0");
        assert_int_equal(entry->filter, TAKT_TIMING_KERNEL);
    }
}

/* Begins a summary of the calls after this one. */
static tkt_device_fold *begin_folds(world *w, uint32_t first_correlation)
{
    tkt_device_fold *sums;
    begin(w, TKT_FOLD);
    assert_int_equal(tkt_device_fold_create(0, first_correlation, TAKT_TIMING_ALL, &sums), TAKT_OK);
    return sums;
}

static void bring_calls(tkt_device_fold *sums)
{
    for (tkt_thread_log *log = tkt_log_first(); log; log = tkt_log_next(log)) {
        tkt_folded_calls calls;
        assert_int_equal(tkt_log_fold_calls(log, &calls), TAKT_OK);
        tkt_device_fold_calls(sums, log->number, &calls);
        TKT_ARRAY_FREE(&calls);
    }
}

static uint32_t late_call;

static bool is_late(uint32_t correlation)
{
    return late_call && correlation == late_call;
}

static takt_trace *seal_folds(world *w, tkt_device_fold *sums)
{
    static takt_frame frames[TKT_MAX_DEPTH];
    tkt_fold folds[64] = {{0}};
    for (tkt_thread_log *log = tkt_log_first(); log; log = tkt_log_next(log)) {
        tkt_folded_calls calls;
        tkt_fold *fold = &folds[w->window.fold_count++];
        assert_int_equal(tkt_log_fold_take(log, w->window.end_ticks, frames, fold), TAKT_OK);
        tkt_log_fold_last_calls(log, &calls);
        tkt_device_fold_calls(sums, log->number, &calls);
        TKT_ARRAY_FREE(&calls);
    }
    tkt_device_fold_update(sums, &w->store, w->join.last_correlation);
    tkt_device_fold_finish(sums, &w->store, is_late);
    w->window.with_spans = false;
    w->window.with_fold = true;
    w->window.folds = folds;
    w->window.device_fold = sums;
    takt_trace *trace;
    assert_int_equal(tkt_seal(&w->window, &trace), TAKT_OK);
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    for (size_t i = 0; i < w->window.fold_count; i++)
        tkt_fold_fini(&folds[i]);
    return trace;
}

static void end_folds(world *w, tkt_device_fold *sums, takt_trace *trace)
{
    tkt_device_fold_destroy(sums);
    takt_trace_release(trace);
    tkt_store_fini(&w->store);
}

TEST(activities_are_added_up_by_path)
{
    thread_state threads[THREADS];
    world w;
    tkt_joined joined;
    begin(&w, TKT_KEEP | TKT_FOLD);
    last_correlation = 0;
    run_threads(threads);
    end(&w, last_correlation);
    fill_store(&w, threads);
    takt_trace *full = seal(&w, &joined);
    assert_non_null(tkt_trace_fold(full));
    check_node_activities(full);
    assert_int_equal(joined.unattributed, 0);
    takt_trace_release(full);

    tkt_device_fold *sums;
    assert_int_equal(tkt_device_fold_create(0, 0, TAKT_TIMING_ALL, &sums), TAKT_OK);
    takt_trace *folded = seal_folds(&w, sums);
    check_node_activities(folded);
    assert_int_equal(tkt_device_fold_losses(sums).unattributed, 0);
    assert_int_equal(tkt_device_fold_losses(sums).no_memory, 0);
    end_folds(&w, sums, folded);
}

/* Calls and activities come in turns, each before the other. */
TEST(what_comes_early_waits)
{
    world w;
    tkt_device_fold *sums = begin_folds(&w, 5);
    takt_begin("a");
    add(&w, "kernel 0", 1, 4, 0, 7, 5, 6);   /* before the window */
    add(&w, "kernel 1", 1, 6, 0, 7, 5, 15);  /* its call comes later */
    add(&w, "kernel 2", 1, 7, 0, 7, 5, 105); /* its call never comes */
    assert_int_equal(tkt_device_fold_update(sums, &w.store, UINT32_MAX), 3);
    call(launch, 6, 5, 0);
    bring_calls(sums);
    tkt_device_fold_update(sums, &w.store, UINT32_MAX);
    assert_int_equal(tkt_device_fold_losses(sums).unattributed, 0); /* it waits */
    takt_begin("b");
    call(launch, 8, 5, 0);
    takt_end();
    add(&w, "kernel 1", 1, 8, 0, 7, 5, 1005);
    add(&w, "kernel 1", 1, 9, 0, 7, 5, 9995); /* after the window */
    takt_end();
    end(&w, 8);
    takt_trace *trace = seal_folds(&w, sums);
    memset(truth, 0, sizeof truth);
    truth[0][1] = (expected){1, 10};
    truth[2][2] = (expected){1, 100};
    truth[1][1] = (expected){1, 1000};
    check_node_activities(trace);
    assert_int_equal(tkt_device_fold_losses(sums).unattributed, 1);
    assert_int_equal(tkt_device_fold_losses(sums).no_memory, 0);
    end_folds(&w, sums, trace);
}

/* Of the calls that had not returned when the window ended, one began before the end and one after
 * it, with an id of the window. A third one is not known. */
TEST(calls_may_be_under_way_at_the_end)
{
    world w;
    tkt_device_fold *sums = begin_folds(&w, 0);
    takt_begin("a");
    call(launch, 1, 5, 0);
    takt_begin("b");
    takt_thread_hot_v1.device_call = UINT64_C(3) << 32 | 2;
    end(&w, 4);
    late_call = 3;
    for (uint32_t i = 1; i <= 4; i++) {
        char label[16];
        snprintf(label, sizeof label, "kernel %u", i);
        add(&w, label, TAKT_TIMING_KERNEL, i, 0, 7, 5, 5 + 10 * i);
    }
    takt_trace *trace = seal_folds(&w, sums);
    takt_thread_hot_v1.device_call = 0;
    late_call = 0;
    takt_end();
    takt_end();
    memset(truth, 0, sizeof truth);
    truth[0][1] = (expected){1, 10};
    truth[1][2] = (expected){1, 20};
    truth[2][4] = (expected){1, 40};
    check_node_activities(trace);
    assert_int_equal(tkt_device_fold_losses(sums).unattributed, 1);
    assert_int_equal(tkt_device_fold_losses(sums).missing, 0);
    end_folds(&w, sums, trace);
}

/* A call's record is folded before the thread says that the call is over. */
TEST(a_call_that_was_folded_may_still_be_under_way)
{
    world w;
    tkt_device_fold *sums = begin_folds(&w, 0);
    takt_begin("a");
    call(launch, 1, 5, 0);
    bring_calls(sums);
    takt_thread_hot_v1.device_call = UINT64_C(3) << 32 | 1;
    end(&w, 1);
    takt_trace *trace = seal_folds(&w, sums);
    takt_thread_hot_v1.device_call = 0;
    takt_end();
    assert_int_equal(tkt_device_fold_losses(sums).missing, 1);
    add(&w, "kernel 1", TAKT_TIMING_KERNEL, 1, 0, 7, 5, 15);
    tkt_device_fold_update(sums, &w.store, 1);
    assert_int_equal(tkt_device_fold_losses(sums).missing, 0);
    assert_int_equal(tkt_device_fold_losses(sums).unattributed, 0);
    end_folds(&w, sums, trace);
}

/* Ids wrap around within the window. One activity is of an earlier call, one of a later one, and of
 * one nobody knows the call. */
TEST(ids_may_wrap_around)
{
    enum {
        CALLS = 20,
        FIRST = UINT32_MAX - 10
    };
    world w;
    tkt_joined joined;
    tkt_device_fold *sums;
    begin(&w, TKT_KEEP | TKT_FOLD);
    w.join.first_correlation = FIRST;
    assert_int_equal(tkt_device_fold_create(0, FIRST, TAKT_TIMING_ALL, &sums), TAKT_OK);
    for (uint32_t i = 1; i <= CALLS; i++) {
        uint32_t id = FIRST + i;
        uint64_t begin_ns = id ? call(launch, id, 5, 0) : 0;
        if (id)
            add(&w, "kernel", TAKT_TIMING_KERNEL, id, 0, 7, begin_ns + 10, begin_ns + 20);
    }
    end(&w, FIRST + CALLS + 1);
    uint64_t late = fake_clock();
    add(&w, "kernel", TAKT_TIMING_KERNEL, FIRST - 1, 0, 7, late, late + 1);
    add(&w, "kernel", TAKT_TIMING_KERNEL, FIRST + CALLS + 1, 0, 7, late, late + 1);
    add(&w, "kernel", TAKT_TIMING_KERNEL, FIRST + CALLS + 2, 0, 7, late, late + 1);
    takt_trace *trace = seal(&w, &joined);
    assert_int_equal(joined.activities, CALLS - 1 + 1);
    assert_int_equal(joined.unattributed, 1);
    assert_int_equal(joined.missing, 0);
    takt_trace_release(trace);

    trace = seal_folds(&w, sums);
    assert_int_equal(tkt_device_fold_losses(sums).missing, 0);
    assert_int_equal(tkt_device_fold_losses(sums).unattributed, 1);
    uint64_t count = 0;
    for (size_t i = 0; i < trace->node_activities.count; i++)
        count += trace->node_activities.items[i].stats.count;
    assert_int_equal(count, CALLS - 1 + 1);
    end_folds(&w, sums, trace);
}

/* The first id follows, so that it is never half of all ids away. */
TEST(a_summary_may_go_on_for_longer_than_all_ids_last)
{
    world w;
    tkt_device_fold *sums = begin_folds(&w, 0);
    for (uint64_t id = 1; id < UINT64_C(3) << 32; id += UINT32_C(1) << 28) {
        call(launch, (uint32_t)id, 5, 0);
        bring_calls(sums);
        add(&w, "kernel", TAKT_TIMING_KERNEL, (uint32_t)id, 0, 7, 5, 15);
        tkt_device_fold_update(sums, &w.store, TKT_ANY_LATER_CALL);
        assert_int_equal(tkt_device_fold_losses(sums).missing, 0);
    }
    end(&w, 1);
    takt_trace *trace = seal_folds(&w, sums);
    assert_int_equal(trace->node_activities.count, 1);
    assert_int_equal(trace->node_activities.items[0].stats.count, 48);
    end_folds(&w, sums, trace);
}

/* More launches than are put together at a time, with nodes that come in two rounds. */
TEST(launches_of_graphs_are_added_up)
{
    enum {
        LAUNCHES = 70000
    };
    world w;
    tkt_device_fold *sums;
    begin(&w, TKT_FOLD);
    w.store.max_bytes = UINT64_C(64) << 20;
    assert_int_equal(tkt_device_fold_create(0, 0, TAKT_TIMING_GRAPH, &sums), TAKT_OK);
    tkt_device_fold_whole_graphs(sums);
    takt_begin("b");
    for (uint32_t i = 1; i <= LAUNCHES; i++)
        call(graph_launch, i, 5, 0);
    takt_end();
    call(launch, LAUNCHES + 1, 5, 0);
    for (uint32_t i = 1; i <= LAUNCHES; i++) {
        add_node(&w, 7, i, 0, 8, 1000, 1010);
        if (i % 20000 == 0) {
            tkt_device_fold_update(sums, &w.store, UINT32_MAX);
            bring_calls(sums);
        }
        add_node(&w, 7, i, 0, 8, 1020, 1030 + i % 2);
    }
    add_node(&w, 7, LAUNCHES + 1, 0, 8, 1000, 1500); /* of a call that launches no graph */
    end(&w, LAUNCHES + 1);
    takt_trace *trace = seal_folds(&w, sums);
    assert_int_equal(trace->node_activities.count, 2);
    for (size_t i = 0; i < 2; i++) {
        const tkt_node_activity *entry = &trace->node_activities.items[i];
        bool is_known = entry->node != 0;
        assert_string_equal(tkt_trace_text(trace, entry->name), "graph 7 from nodes");
        assert_int_equal(entry->filter, TAKT_TIMING_GRAPH);
        assert_int_equal(entry->stats.count, is_known ? LAUNCHES : 1);
        assert_int_equal(entry->stats.total_ns, is_known ? LAUNCHES * 30 + LAUNCHES / 2 : 500);
    }
    assert_int_equal(tkt_device_fold_losses(sums).unattributed, 1);
    assert_int_equal(tkt_device_fold_losses(sums).no_memory, 0);
    end_folds(&w, sums, trace);
}

TEST(what_there_is_no_memory_to_add_up_is_counted)
{
    world w;
    tkt_device_fold *sums = begin_folds(&w, 5);
    takt_begin("a");
    call(launch, 6, 5, 0);
    takt_end();
    bring_calls(sums);
    add(&w, "kernel 1", 1, 6, 0, 7, 5, 15);
    add(&w, "kernel 1", 1, 7, 0, 7, 5, 25); /* its call is not known */
    tkt_alloc_fail(0, UINT64_MAX);
    tkt_device_fold_update(sums, &w.store, UINT32_MAX);
    tkt_alloc_fail(0, 0);
    assert_int_equal(tkt_device_fold_losses(sums).no_memory, 2);
    end(&w, 7);
    tkt_device_fold_destroy(sums);
    tkt_store_fini(&w.store);
}

TEST(what_was_added_up_is_not_left_out_of_a_trace_in_silence)
{
    world w;
    takt_trace *trace;
    tkt_device_fold *sums = begin_folds(&w, 5);
    call(launch, 6, 5, 0);
    bring_calls(sums);
    add(&w, "kernel 1", TAKT_TIMING_KERNEL, 6, 0, 7, 5, 15);
    tkt_device_fold_update(sums, &w.store, UINT32_MAX);
    assert_int_equal(tkt_trace_create(&trace), TAKT_OK);
    tkt_alloc_fail(0, UINT64_MAX);
    takt_status status = tkt_device_fold_into(sums, NULL, 0, trace);
    tkt_alloc_fail(0, 0);
    assert_int_equal(status, TAKT_NO_MEMORY);
    assert_int_equal(tkt_device_fold_into(sums, NULL, 0, trace), TAKT_OK);
    assert_int_equal(trace->node_activities.count, 1);
    end(&w, 6);
    end_folds(&w, sums, trace);
}

/* More launches than are combined at a time, each with a body that is held. */
TEST(a_launch_that_is_combined_counts_once)
{
    enum {
        MANY = 70000
    };
    world w;
    tkt_device_fold *sums = begin_folds(&w, 4);
    tkt_device_fold_whole_graphs(sums);
    takt_begin("a");
    for (uint32_t i = 0; i < MANY; i++)
        call(graph_launch, 5 + i, 3, 0);
    takt_end();
    bring_calls(sums);
    for (uint32_t i = 0; i < MANY; i++) {
        add_node(&w, 1, 5 + i, 0, 7, 100 + i * 100, 110 + i * 100);
        add_node(&w, 1, 0, 0, 9, 120 + i * 100, 130 + i * 100);
        if (i % 1000 == 999)
            tkt_device_fold_update(sums, &w.store, UINT32_MAX);
    }
    end(&w, 5 + MANY);
    takt_trace *trace = seal_folds(&w, sums);
    assert_int_equal(trace->node_activities.count, 1);
    assert_int_equal(trace->node_activities.items[0].stats.count, MANY);
    assert_int_equal(trace->node_activities.items[0].stats.total_ns, MANY * 30);
    assert_int_equal(tkt_device_fold_losses(sums).incomplete, 0);
    end_folds(&w, sums, trace);
}

/* Of a graph that has nothing else. The window's own work goes on after its end. */
TEST(bodies_of_unknown_launches_are_summed_by_one_window)
{
    const tkt_clock_fit fit = {.ns_per_tick = 1};
    world w;
    tkt_device_fold *sums = begin_folds(&w, 4);
    takt_begin("a");
    call(graph_launch, 5, 3, 0);
    takt_end();
    bring_calls(sums);
    add_node(&w, 1, 4, 0, 7, 500, 2000); /* of before the window, and goes on in it */
    add_node(&w, 1, 5, 0, 7, 2100, 5500);
    const uint64_t begins[] = {900, 1900, 2500, 4900, 5400, 5600}; /* the first and last: others' */
    for (uint32_t i = 0; i < 6; i++)
        add_node(&w, 2, 0, 0, 9, begins[i], begins[i] + 10);
    tkt_device_fold_bound(sums, &fit, 1000, 0);
    tkt_device_fold_update(sums, &w.store, UINT32_MAX);
    tkt_device_fold_bound(sums, &fit, 1000, 5000);
    end(&w, 5);
    takt_trace *trace = seal_folds(&w, sums);
    uint64_t count = 0;
    for (size_t i = 0; i < trace->node_activities.count; i++)
        count += trace->node_activities.items[i].stats.count;
    assert_int_equal(count, 1 + 4);
    assert_int_equal(tkt_device_fold_losses(sums).unattributed, 4);
    end_folds(&w, sums, trace);
}

/* Ids of calls wrap around. */
TEST(waits_find_the_latest_record_before_them)
{
    tkt_store store;
    tkt_records records;
    const tkt_stored_wait wait = {.event = 77, .correlation = 1};
    assert_int_equal(tkt_store_init(&store), TAKT_OK);
    assert_true(tkt_store_add_wait(&store, &wait));
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t ids[] = {UINT32_MAX - 5, UINT32_MAX, 3};
        const tkt_stored_record record = {.event = 77, .correlation = ids[i], .stream = i};
        assert_true(tkt_store_add_record(&store, &record));
    }
    assert_int_equal(tkt_records_init(&records, &store), TAKT_OK);
    assert_int_equal(tkt_records_find(&records, &wait)->stream, 1);
    tkt_records_fini(&records);
    tkt_store_fini(&store);
}

int main(void)
{
    tkt_clock_fake(fake_clock);
    return run_all_tests(NULL, NULL);
}
