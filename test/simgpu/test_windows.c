/* Windows, timings, timers and profilers over the stand-ins: what they say devices did is what the
 * script says, to the nanosecond. check_flavours.sh runs this with each release of CUPTI. */
#include "simgpu/driver.h"
#include "simgpu/profiled.h"
#include "simgpu/sim.h"

#include "summary/device.h"
#include "trace/model.h"

#include "support/sanitized.h"
#include "support/test.h"

#include <takt/takt.h>

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static takt_profiler *start_in_foreground(takt_profiler_options options)
{
    options.background = TAKT_OFF;
    return start_profiler(options);
}

#define MANY 300 /* launches, more than a chunk of a log holds */

/* ---- A program ------------------------------------------------------------------------------- */

static CUcontext contexts[2];
static CUmodule module;
static CUdeviceptr from_before; /* on the second device */

#define BYTES_BEFORE (8u << 20)

static int set_up_device(void **state)
{
    (void)state;
    use_devices("devices=2; kernel=1us; memcpy=3us; memset=2us", contexts, 2, &module);
    check(cuCtxSetCurrent(contexts[1]));
    check(cuMemAlloc_v2(&from_before, BYTES_BEFORE));
    return 0;
}

static int use_first_device(void **state)
{
    (void)state;
    check(cuCtxSetCurrent(contexts[0]));
    return 0;
}

static void launch_on(const char *name, unsigned blocks, CUstream stream)
{
    launch_from(module, name, blocks, stream);
}

static void launch(const char *name)
{
    launch_on(name, 16, NULL);
}

/* ---- What Takt says -------------------------------------------------------------------------- */

static uint64_t ns_of(const takt_activity *activity)
{
    return activity->end_ns - activity->begin_ns;
}

/* "name ns, name ns"; in issue order. */
static void list(const takt_timing *timing, char *out, size_t size)
{
    *out = '\0';
    for (size_t i = 0; i < takt_timing_count(timing); i++) {
        const takt_activity *activity = takt_timing_at(timing, i);
        size_t used = strlen(out);
        snprintf(out + used, size - used, "%s%s %lu", i ? ", " : "", activity->name,
                 (unsigned long)ns_of(activity));
    }
}

static takt_timing *begin_timing(uint32_t filter)
{
    const takt_timing_options options = {.struct_size = sizeof options, .filter = filter};
    takt_timing *timing;
    assert_int_equal(takt_timing_begin(&options, &timing), TAKT_OK);
    return timing;
}

static void assert_lists(takt_timing *timing, const char *expected)
{
    char text[1000];
    assert_int_equal(takt_timing_end(timing), TAKT_OK);
    list(timing, text, sizeof text);
    assert_string_equal(text, expected);
    takt_timing_free(timing);
}

/* Of the activities launched directly in the scope; "" is none. */
typedef struct work {
    uint64_t count;
    uint64_t ns;
} work;

static work work_of(const takt_trace *trace, const char *scope)
{
    work sum = {0};
    for (size_t i = 0; i < takt_trace_count(trace, TAKT_TRACE_ACTIVITIES); i++) {
        takt_activity activity;
        assert_int_equal(takt_trace_activity(trace, i, &activity), TAKT_OK);
        if (strcmp(activity.scope ? activity.scope : "", scope) != 0)
            continue;
        sum.count++;
        sum.ns += ns_of(&activity);
    }
    return sum;
}

static void assert_work(const takt_trace *trace, const char *scope, uint64_t count, uint64_t ns)
{
    work sum = work_of(trace, scope);
    assert_int_equal(sum.count, count);
    assert_int_equal(sum.ns, ns);
}

static void assert_no_losses(const takt_trace *trace)
{
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        if (takt_trace_loss(trace, (takt_loss)i) != 0)
            fail_msg("%lu %s", (unsigned long)takt_trace_loss(trace, (takt_loss)i),
                     takt_loss_name((takt_loss)i));
}

/* ---- Timings --------------------------------------------------------------------------------- */

TEST_WITH(a_timing_lists_what_was_launched_in_order, use_first_device, NULL)
{
    CUdeviceptr memory;
    sim_script("kernel.alpha=12345; kernel.beta=777; memset=21504; memcpy.DtoH=2455520");
    check(cuMemAlloc_v2(&memory, 4096));
    launch("before");
    takt_timing *timing = begin_timing(TAKT_TIMING_ALL);
    char bytes[64];
    check(cuMemsetD8Async(memory, 0, 4096, NULL));
    launch("alpha");
    launch("beta");
    launch("alpha");
    check(cuMemcpyDtoH_v2(bytes, memory, sizeof bytes));
    assert_lists(timing, "memset 21504, kernel alpha 12345, kernel beta 777, kernel alpha 12345, "
                         "memcpy DtoH 2455520");
    check(cuMemFree_v2(memory));
}

TEST_WITH(nested_timings_each_get_what_they_ask_for, use_first_device, NULL)
{
    CUdeviceptr memory;
    sim_script("kernel.a=100; kernel.b=200; kernel.c=300; memset=50");
    check(cuMemAlloc_v2(&memory, 64));
    takt_timing *outer = begin_timing(TAKT_TIMING_ALL);
    launch("a");
    takt_timing *sets = begin_timing(TAKT_TIMING_MEMSET);
    takt_timing *inner = begin_timing(TAKT_TIMING_ALL);
    launch("b");
    check(cuMemsetD8Async(memory, 0, 64, NULL));
    assert_lists(inner, "kernel b 200, memset 50");
    launch("c");
    assert_lists(sets, "memset 50");
    assert_lists(outer, "kernel a 100, kernel b 200, memset 50, kernel c 300");
    check(cuMemFree_v2(memory));
}

TEST_WITH(what_is_launched_in_a_window_is_its_own_when_it_ends_later, use_first_device, NULL)
{
    sim_script("kernel.long=20ms; kernel.next=5us");
    takt_timing *first = begin_timing(TAKT_TIMING_ALL);
    launch("long");
    takt_timing *second = begin_timing(TAKT_TIMING_ALL);
    launch("next");
    assert_lists(second, "kernel next 5000");
    assert_lists(first, "kernel long 20000000, kernel next 5000");
}

TEST_WITH(host_and_device_stand_in_one_order, use_first_device, NULL)
{
    sim_script("kernel=1000");
    takt_timing *timing = begin_timing(TAKT_TIMING_ALL);
    launch("first");
    {
        TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, "second");
        launch("third");
    }
    launch("fourth");
    assert_int_equal(takt_timing_end(timing), TAKT_OK);
    assert_int_equal(takt_timing_count(timing), 4);
    assert_string_equal(takt_timing_at(timing, 0)->name, "kernel first");
    assert_string_equal(takt_timing_at(timing, 1)->name, "kernel second");
    assert_string_equal(takt_timing_at(timing, 2)->name, "kernel third");
    assert_string_equal(takt_timing_at(timing, 2)->scope, "second");
    assert_string_equal(takt_timing_at(timing, 3)->name, "kernel fourth");
    takt_timing_free(timing);
}

/* ---- Profilers ------------------------------------------------------------------------------- */

TEST_WITH(work_belongs_to_the_scope_that_launched_it, use_first_device, NULL)
{
    CUdeviceptr memory;
    sim_script("kernel.solve=9000; kernel.smooth=70; memcpy.HtoD=1234");
    check(cuMemAlloc_v2(&memory, 64));
    takt_profiler *profiler = start_in_foreground((takt_profiler_options){0});
    for (int i = 0; i < MANY; i++) {
        TAKT_SCOPE("step");
        check(cuMemcpyHtoDAsync_v2(memory, "123", 4, NULL));
        {
            TAKT_SCOPE("solver");
            launch("solve");
            {
                TAKT_SCOPE("multigrid");
                launch("smooth");
                launch("smooth");
            }
        }
    }
    launch("solve");
    stop_profiler(profiler);
    assert_work(last_trace, "step", MANY, MANY * 1234);
    assert_work(last_trace, "solver", MANY, MANY * 9000);
    assert_work(last_trace, "multigrid", 2 * MANY, 2 * MANY * 70);
    assert_work(last_trace, "", 1, 9000);
    assert_no_losses(last_trace);
    check(cuMemFree_v2(memory));
}

/* More than a buffer of CUPTI's holds: its own thread hands over those that are full. */
TEST_WITH(many_buffers_come_back_in_time, use_first_device, NULL)
{
    sim_script("kernel=1000");
    takt_profiler *profiler = start_in_foreground((takt_profiler_options){0});
    for (int i = 0; i < 60 * MANY; i++) {
        TAKT_SCOPE("step");
        launch("k");
    }
    stop_profiler(profiler);
    assert_work(last_trace, "step", 60 * MANY, 60 * MANY * 1000);
    assert_no_losses(last_trace);
}

enum {
    THREADS = 4
};

static void *launch_on_own_stream(void *argument)
{
    const char *name = argument;
    CUstream stream;
    check(cuCtxSetCurrent(contexts[0]));
    check(cuStreamCreate(&stream, 1));
    for (int i = 0; i < MANY; i++) {
        takt_begin(name);
        launch_on(name, 8, stream);
        takt_end();
    }
    check(cuStreamSynchronize(stream));
    check(cuStreamDestroy_v2(stream));
    return NULL;
}

TEST_WITH(four_threads_have_their_own, use_first_device, NULL)
{
    static const char *const names[THREADS] = {"t0", "t1", "t2", "t3"};
    pthread_t threads[THREADS];
    sim_script("kernel.t0=1000; kernel.t1=2000; kernel.t2=3001; kernel.t3=4005");
    takt_profiler *profiler = start_in_foreground((takt_profiler_options){0});
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, launch_on_own_stream, (void *)(uintptr_t)names[i]),
            0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    stop_profiler(profiler);
    assert_work(last_trace, "t0", MANY, MANY * 1000);
    assert_work(last_trace, "t1", MANY, MANY * 2000);
    assert_work(last_trace, "t2", MANY, MANY * 3001);
    assert_work(last_trace, "t3", MANY, MANY * 4005);
    assert_no_losses(last_trace);
}

TEST_WITH(gaps_and_overlaps_are_the_devices, use_first_device, NULL)
{
    CUstream streams[2];
    sim_script("kernel.left=40ms; kernel.right=30ms");
    for (int i = 0; i < 2; i++)
        check(cuStreamCreate(&streams[i], 1));
    takt_timing *timing = begin_timing(TAKT_TIMING_ALL);
    sim_hold(true);
    launch_on("left", 1, streams[0]);
    launch_on("left", 1, streams[0]);
    launch_on("right", 1, streams[1]);
    sim_hold(false);
    assert_int_equal(takt_timing_end(timing), TAKT_OK);
    assert_int_equal(takt_timing_count(timing), 3);
    const takt_activity *a = takt_timing_at(timing, 0), *b = takt_timing_at(timing, 1);
    const takt_activity *c = takt_timing_at(timing, 2);
    assert_int_equal(b->begin_ns - a->end_ns, 0);
    assert_true(c->begin_ns < b->begin_ns);
    assert_int_equal(ns_of(a) + ns_of(b) + ns_of(c), 110000000);
    takt_timing_free(timing);
    for (int i = 0; i < 2; i++)
        check(cuStreamDestroy_v2(streams[i]));
}

TEST_WITH(two_devices_with_clocks_of_their_own, use_first_device, NULL)
{
    sim_script("kernel@0=5000; kernel@1=7000; clock.offset@1=40us");
    takt_profiler *profiler = start_in_foreground((takt_profiler_options){0});
    for (int i = 0; i < MANY; i++) {
        check(cuCtxSetCurrent(contexts[i % 2]));
        takt_begin(i % 2 ? "odd" : "even");
        launch("k");
        takt_end();
    }
    stop_profiler(profiler);
    assert_work(last_trace, "even", MANY / 2, MANY / 2 * 5000);
    assert_work(last_trace, "odd", MANY / 2, MANY / 2 * 7000);
    assert_no_losses(last_trace);
    takt_activity activity;
    takt_trace_activity(last_trace, 0, &activity);
    assert_string_equal(activity.device, "cuda:0");
    takt_trace_activity(last_trace, 1, &activity);
    assert_string_equal(activity.device, "cuda:1");
}

/* Twenty parts in a million: a tenth of a nanosecond in each kernel, rounded by CUPTI. */
TEST_WITH(a_clock_that_drifts_changes_no_duration, use_first_device, NULL)
{
    sim_script("kernel=5000; clock.drift@0=20000; clock.drift@1=-20000");
    takt_timing *timing = begin_timing(TAKT_TIMING_ALL);
    for (int i = 0; i < MANY; i++) {
        check(cuCtxSetCurrent(contexts[i % 2]));
        launch("k");
    }
    assert_int_equal(takt_timing_end(timing), TAKT_OK);
    assert_int_equal(takt_timing_count(timing), MANY);
    for (int i = 0; i < MANY; i++) {
        assert_true(llabs((long long)ns_of(takt_timing_at(timing, (size_t)i)) - 5000) <= 1);
        assert_string_equal(takt_timing_at(timing, (size_t)i)->device, i % 2 ? "cuda:1" : "cuda:0");
    }
    takt_timing_free(timing);
}

/* Three kernels and a set; launched twice. */
static void run_graph(void)
{
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr memory;
    check(cuMemAlloc_v2(&memory, 64));
    check(cuStreamCreate(&stream, 1));
    check(cuStreamBeginCapture_v2(stream, 0));
    launch_on("one", 1, stream);
    launch_on("two", 1, stream);
    check(cuMemsetD8Async(memory, 0, 64, stream));
    launch_on("one", 1, stream);
    check(cuStreamEndCapture(stream, &graph));
    check(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 2; i++) {
        TAKT_SCOPE("replay");
        check(cuGraphLaunch(exec, stream));
    }
    check(cuStreamSynchronize(stream));
    check(cuGraphExecDestroy(exec));
    check(cuGraphDestroy(graph));
    check(cuStreamDestroy_v2(stream));
    check(cuMemFree_v2(memory));
}

TEST_WITH(graphs_are_their_nodes, use_first_device, NULL)
{
    sim_script("kernel.one=1000; kernel.two=2000; memset=500");
    takt_profiler *profiler = start_in_foreground((takt_profiler_options){0});
    run_graph();
    stop_profiler(profiler);
    assert_work(last_trace, "replay", 8, 2 * (1000 + 2000 + 500 + 1000));
    assert_int_equal(takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES), 8);
    assert_no_losses(last_trace);
}

TEST_WITH(graphs_are_one_activity_if_asked, use_first_device, NULL)
{
    sim_script("kernel.one=1000; kernel.two=2000; memset=500");
    takt_profiler *profiler =
        start_in_foreground((takt_profiler_options){.graph = TAKT_GRAPH_LAUNCH});
    run_graph();
    stop_profiler(profiler);
    work sum = work_of(last_trace, "replay");
    assert_int_equal(sum.count, 2);
    assert_int_equal(takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES), 2);
    takt_activity activity;
    takt_trace_activity(last_trace, 0, &activity);
    assert_int_equal(activity.filter, TAKT_TIMING_GRAPH);
    assert_true(sum.ns >= 2 * (1000 + 2000 + 500 + 1000));
}

TEST_WITH(a_filter_leaves_the_rest_out, use_first_device, NULL)
{
    CUdeviceptr memory;
    sim_script("kernel=1000; memset=500");
    check(cuMemAlloc_v2(&memory, 64));
    takt_profiler *profiler =
        start_in_foreground((takt_profiler_options){.filter = TAKT_TIMING_MEMSET});
    launch("k");
    check(cuMemsetD8Async(memory, 0, 64, NULL));
    stop_profiler(profiler);
    assert_work(last_trace, "", 1, 500);
    assert_no_losses(last_trace);
    check(cuMemFree_v2(memory));
}

TEST_WITH(without_devices_there_is_no_word_of_them, use_first_device, NULL)
{
    takt_profiler *profiler =
        start_in_foreground((takt_profiler_options){.activities = TAKT_ACTIVITIES_CPU});
    {
        TAKT_SCOPE("step");
        launch("k");
    }
    stop_profiler(profiler);
    assert_int_equal(takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES), 0);
    assert_int_equal(takt_trace_facts(last_trace)->span_count, 1);
    assert_string_equal(takt_trace_facts(last_trace)->backend, "none");
}

TEST_WITH(the_facts_name_the_backend, use_first_device, NULL)
{
    const char *version = getenv("TEST_CUPTI_VERSION");
    takt_profiler *profiler = start_in_foreground((takt_profiler_options){0});
    launch("k");
    stop_profiler(profiler);
    const takt_facts *facts = takt_trace_facts(last_trace);
    if (strncmp(facts->backend, "CUPTI ", 6) != 0 ||
        !strstr(facts->backend, version ? version : ""))
        fail_msg("the backend is '%s'", facts->backend);
    assert_true(facts->device_uncertainty_ns > 0);
    assert_true(isnan(facts->device_resolution_ns)); /* of one kernel */
}

/* Without kernels nobody knows whether a graph has anything to record: it lacks nothing. */
TEST_WITH(a_graph_of_which_a_filter_leaves_nothing_is_no_loss, use_first_device, NULL)
{
    static const uint32_t modes[] = {TAKT_MODE_TRACE, TAKT_MODE_SUMMARY};
    for (size_t i = 0; i < 2; i++) {
        takt_profiler *profiler = start_in_foreground(
            (takt_profiler_options){.filter = TAKT_TIMING_MEMCPY, .mode = modes[i]});
        run_graph();
        stop_profiler(profiler);
        assert_no_losses(last_trace);
    }
}

/* What was not recorded is no idle time. */
TEST_WITH(a_filter_is_named_with_the_backend, use_first_device, NULL)
{
    static const struct {
        uint32_t filter;
        const char *without;
        bool is_known;
    } cases[] = {{TAKT_TIMING_MEMCPY, ", without kernel builtin memset", false},
                 {TAKT_TIMING_ALL, NULL, true},
                 {TAKT_TIMING_ALL & ~TAKT_TIMING_GRAPH, NULL, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        takt_profiler *profiler =
            start_in_foreground((takt_profiler_options){.filter = cases[i].filter});
        launch("k");
        stop_profiler(profiler);
        const char *without = strstr(takt_trace_facts(last_trace)->backend, ", without");
        assert_int_equal(!without, !cases[i].without);
        if (without)
            assert_string_equal(without, cases[i].without);
        assert_int_equal(tkt_device_idle_is_known(last_trace), cases[i].is_known);
    }
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* Each step launches as many kernels as its number says, which last long after it. */
TEST_WITH(a_cycle_has_what_its_steps_launched, use_first_device, NULL)
{
    sim_script("kernel.step=200us");
    takt_profiler_options options = {0};
    options.schedule = (takt_schedule){.wait = 1, .warmup = 2, .active = 2, .repeat = 2};
    takt_profiler *profiler = start_in_foreground(options);
    uint64_t launched = 0;
    for (unsigned step = 0; step < 10; step++) {
        for (unsigned i = 0; i <= step; i++)
            launch("step");
        takt_action action = takt_profiler_action(profiler);
        launched +=
            action == TAKT_ACTION_RECORD || action == TAKT_ACTION_RECORD_AND_SAVE ? step + 1 : 0;
        assert_int_equal(takt_profiler_step(profiler), TAKT_OK);
        if (step == 4 || step == 9) {
            assert_work(last_trace, "", launched, launched * 200000);
            assert_no_losses(last_trace);
            launched = 0;
        }
    }
    stop_profiler(profiler);
}

static void add_activities(const takt_trace *trace, void *counts)
{
    const takt_facts *facts = takt_trace_facts(trace);
    ((uint64_t *)counts)[facts->cycle] = facts->activity_count;
}

/* Work goes on through cycles that launch nothing themselves. */
TEST_WITH(a_cycle_without_launches_has_no_work_of_others, use_first_device, NULL)
{
    for (int streams = 0; streams < 2; streams++) {
        uint64_t counts[4] = {0};
        takt_profiler *profiler;
        takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
        options.schedule = (takt_schedule){.active = 1, .repeat = 4};
        options.on_trace = add_activities;
        options.user = counts;
        options.device_wait_ms = 600000;
        options.stream = streams;
        options.directory = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
        sim_script("kernel.slow=2ms");
        assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
        assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
        for (int i = 0; i < 6; i++)
            launch("slow");
        for (int i = 0; i < 4; i++) {
            assert_int_equal(takt_profiler_step(profiler), TAKT_OK);
            usleep(2000);
        }
        assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
        takt_profiler_destroy(profiler);
        assert_int_equal(counts[0], 6);
        for (int i = 1; i < 4; i++)
            assert_int_equal(counts[i], 0);
    }
}

/* Records more than the memory holds, so that a stream gives memory back. */
static void fill_memory(void)
{
    for (int i = 0; i < 20; i++) {
        for (int k = 0; k < 300; k++) {
            TAKT_SCOPE("small");
        }
        usleep(2000);
    }
}

/* Records a step, in which the device may still work for the step before. Returns when it is surely
 * at work for that. */
static uint64_t record_after_launch(takt_profiler_options options, uint64_t ns)
{
    char script[64];
    snprintf(script, sizeof script, "kernel.long=%lluns", (unsigned long long)ns);
    sim_script(script);
    options.schedule = (takt_schedule){.warmup = 1, .active = 1, .repeat = 1};
    takt_profiler *profiler = start_in_foreground(options);
    uint64_t launched_ns = takt_now_ns();
    launch("long");
    assert_int_equal(takt_profiler_step(profiler), TAKT_OK);
    if (options.stream)
        fill_memory();
    launch("long");
    assert_int_equal(takt_profiler_step(profiler), TAKT_OK);
    stop_profiler(profiler);
    return launched_ns + ns;
}

/* The host launches ahead: by more, where the machine was too busy. */
static void assert_busy_for_earlier_launches(takt_profiler_options options)
{
    tkt_device_uses uses;
    uint64_t ns = 200000000;
    while (record_after_launch(options, ns) <= takt_trace_facts(last_trace)->begin_ns)
        ns *= 4;
    const takt_facts *facts = takt_trace_facts(last_trace);
    uint64_t until_ns = last_trace->devices.items[0].earlier_until_ns;
    assert_in_range(until_ns, facts->begin_ns + 1, facts->end_ns);
    assert_int_equal(tkt_device_uses_of(last_trace, &uses), TAKT_OK);
    assert_int_equal(uses.count, 1);
    assert_int_equal(uses.items[0].count, 1);
    assert_true(uses.items[0].busy_ns >= until_ns - facts->begin_ns);
    if (until_ns == facts->end_ns) /* unless the recorded step took longer */
        assert_int_equal(uses.items[0].busy_ns, facts->end_ns - facts->begin_ns);
    assert_work(last_trace, "", 1, ns);
    TKT_ARRAY_FREE(&uses);
}

TEST_WITH(a_device_that_works_for_earlier_launches_is_busy, use_first_device, NULL)
{
    assert_busy_for_earlier_launches((takt_profiler_options){.stream = false});
}

TEST_WITH(a_device_that_works_for_earlier_launches_is_busy_in_a_stream, use_first_device, NULL)
{
    assert_busy_for_earlier_launches((takt_profiler_options){
        .stream = true,
        .max_memory_bytes = 64 << 10,
        .directory = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
    });
}

TEST_WITH(a_stream_waits_for_launches_that_it_has_written, use_first_device, NULL)
{
    sim_script("kernel.long=200ms");
    takt_profiler *profiler = start_in_foreground((takt_profiler_options){
        .stream = true,
        .max_memory_bytes = 64 << 10,
        .directory = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
    });
    launch("long");
    fill_memory();
    stop_profiler(profiler);
    assert_work(last_trace, "", 1, 200000000);
    assert_int_equal(loss(TAKT_LOSS_NO_ACTIVITY), 0);
}

/* ---- In bounded memory ----------------------------------------------------------------------- */

static const tkt_node_activity *node_activity(const takt_trace *trace, const char *scope,
                                              const char *name)
{
    for (size_t i = 0; i < trace->node_activities.count; i++) {
        const tkt_node_activity *found = &trace->node_activities.items[i];
        uint32_t site = trace->fold.items[found->node].site;
        if (strcmp(tkt_trace_text(trace, trace->sites.items[site].name), scope) == 0 &&
            strcmp(tkt_trace_text(trace, found->name), name) == 0)
            return found;
    }
    fail_msg("no activity %s of %s", name, scope);
    return NULL;
}

TEST_WITH(a_summary_adds_up_while_recording, use_first_device, NULL)
{
    enum {
        ROUNDS = 20
    };
    sim_script("kernel.force=1000,3000; kernel.move=250");
    takt_profiler *profiler =
        start_in_foreground((takt_profiler_options){.mode = TAKT_MODE_SUMMARY});
    for (int i = 0; i < ROUNDS * MANY; i++) {
        TAKT_SCOPE("step");
        {
            TAKT_SCOPE("forces");
            launch("force");
            launch("force");
        }
        launch("move");
    }
    stop_profiler(profiler);
    assert_false(takt_trace_facts(last_trace)->has_spans);
    const tkt_node_activity *force = node_activity(last_trace, "forces", "kernel force");
    const tkt_node_activity *move = node_activity(last_trace, "step", "kernel move");
    assert_int_equal(force->stats.count, 2 * ROUNDS * MANY);
    assert_int_equal(force->stats.total_ns, ROUNDS * MANY * 4000);
    assert_int_equal(force->stats.min_ns, 1000);
    assert_int_equal(force->stats.max_ns, 3000);
    assert_int_equal(move->stats.count, ROUNDS * MANY);
    assert_int_equal(move->stats.total_ns, ROUNDS * MANY * 250);
    assert_no_losses(last_trace);
}

TEST_WITH(a_trace_with_a_summary_has_both, use_first_device, NULL)
{
    sim_script("kernel=1500");
    takt_profiler *profiler = start_in_foreground((takt_profiler_options){.mode = TAKT_MODE_BOTH});
    for (int i = 0; i < MANY; i++) {
        TAKT_SCOPE("step");
        launch("k");
    }
    stop_profiler(profiler);
    assert_work(last_trace, "step", MANY, MANY * 1500);
    assert_int_equal(node_activity(last_trace, "step", "kernel k")->stats.count, MANY);
    assert_int_equal(node_activity(last_trace, "step", "kernel k")->stats.total_ns, MANY * 1500);
    assert_no_losses(last_trace);
}

static atomic_bool is_over;

static void *launch_until_it_is_over(void *argument)
{
    (void)argument;
    check(cuCtxSetCurrent(contexts[0]));
    while (!atomic_load(&is_over)) {
        launch("k");
        check(cuCtxSynchronize());
    }
    return NULL;
}

static uint64_t phantoms;

static void count_phantoms(const takt_trace *trace, void *user)
{
    (void)user;
    phantoms += takt_trace_loss(trace, TAKT_LOSS_NO_ACTIVITY);
}

TEST_WITH(launches_between_summaries_are_missing_in_none, use_first_device, NULL)
{
    pthread_t thread;
    takt_profiler *profiler;
    const takt_profiler_options options = {.struct_size = sizeof options,
                                           .mode = TAKT_MODE_SUMMARY,
                                           .schedule = {.active = 1},
                                           .on_trace = count_phantoms};
    const int rounds = FEWER(30, 300);
    sim_script("kernel=1000");
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    assert_int_equal(pthread_create(&thread, NULL, launch_until_it_is_over, NULL), 0);
    for (int i = 0; i < rounds; i++) {
        launch("k");
        assert_int_equal(takt_profiler_step(profiler), TAKT_OK);
    }
    atomic_store(&is_over, true);
    pthread_join(thread, NULL);
    takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
    assert_int_equal(phantoms, 0);
}

/* ---- Timed blocks and memory ----------------------------------------------------------------- */

TEST_WITH(a_timed_block_knows_its_devices_time, use_first_device, NULL)
{
    sim_script("kernel.warm=5us; kernel.work=10us,20us,60us");
    takt_timed result;
    int round = 0;
    TAKT_TIMED(&result, .repeat = 3, .warmup = 1) {
        if (round++ == 0) {
            launch("warm");
        } else {
            launch("work");
            launch("warm");
        }
    }
    assert_int_equal(result.count, 3);
    assert_int_equal(result.device_activities, 6);
    assert_true(result.device_min_ns == 15000 && result.device_max_ns == 65000);
    assert_true(result.device_median_ns == 25000 && result.device_mean_ns == 35000);
}

TEST_WITH(a_timed_block_can_leave_devices_alone, use_first_device, NULL)
{
    takt_timed result;
    TAKT_TIMED(&result, .activities = TAKT_ACTIVITIES_CPU) {
        launch("k");
    }
    assert_int_equal(result.device_activities, 0);
    assert_true(result.device_mean_ns == 0);
}

TEST_WITH(memory_of_a_device_at_any_time, use_first_device, NULL)
{
    CUdeviceptr a, b;
    takt_memory before, now;
    takt_profiler *profiler = start_in_foreground((takt_profiler_options){0});
    assert_int_equal(takt_memory_query("cuda:0", &before), TAKT_OK);
    check(cuMemAlloc_v2(&a, 1 << 20));
    check(cuMemAlloc_v2(&b, 3 << 20));
    check(cuMemFree_v2(a));
    stop_profiler(profiler);
    assert_int_equal(takt_memory_query("cuda:0", &now), TAKT_OK);
    assert_int_equal(now.current_bytes - before.current_bytes, 3 << 20);
    assert_int_equal(now.allocations - before.allocations, 2);
    assert_int_equal(now.frees - before.frees, 1);
    assert_true(now.peak_bytes >= 4 << 20);
    assert_int_equal(before.free_bytes - now.free_bytes, 3 << 20);
    assert_int_equal(now.capacity_bytes, before.capacity_bytes);
    const takt_facts *facts = takt_trace_facts(last_trace);
    assert_true(now.peak_time_ns >= facts->begin_ns && now.peak_time_ns <= facts->end_ns);
    assert_int_equal(last_trace->device_memory.count, 1);
    const tkt_device_memory *memory = &last_trace->device_memory.items[0];
    assert_int_equal(memory->totals.window_begin_bytes, before.current_bytes);
    assert_int_equal(memory->totals.window_peak_bytes, before.current_bytes + (4 << 20));
    assert_int_equal(memory->totals.current_bytes, now.current_bytes);
    assert_int_equal(memory->free_bytes, now.free_bytes);
    check(cuMemFree_v2(b));
    assert_int_equal(takt_memory_query("cuda:7", &now), TAKT_NOT_FOUND);
    assert_int_equal(takt_memory_query("cuda:", &now), TAKT_NOT_FOUND);
    assert_int_equal(takt_memory_query("cuda:0x", &now), TAKT_NOT_FOUND);
}

/* Only its free tells of memory that was allocated before Takt collected. */
TEST_WITH(memory_from_before_counts_in_the_peak, use_first_device, NULL)
{
    CUdeviceptr memory;
    takt_profiler *profiler = start_in_foreground((takt_profiler_options){0});
    check(cuCtxSetCurrent(contexts[1]));
    check(cuMemAlloc_v2(&memory, 1000));
    check(cuMemFree_v2(from_before));
    check(cuMemFree_v2(memory));
    stop_profiler(profiler);
    assert_int_equal(last_trace->device_memory.count, 1);
    const tkt_memory_totals *totals = &last_trace->device_memory.items[0].totals;
    assert_true(totals->window_peak_bytes >= BYTES_BEFORE + 1000);
    assert_true(totals->peak_bytes >= totals->window_peak_bytes);
}

TEST_MAIN(set_up_device, NULL)
