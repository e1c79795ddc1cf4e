/* Timers inside kernels on simulated devices. Kernels compute nothing there, so the tests write
 * what a kernel's lanes would: the memory of simulated devices is the host's. What is tested is the
 * way from there to the trace: copies on the program's stream, launches, clocks and losses. */
#include "base/alloc.h"
#include "simgpu/driver.h"
#include "simgpu/kernel_lanes.h"
#include "simgpu/machine.h"
#include "simgpu/profiled.h"
#include "simgpu/sim.h"
#include "support/test.h"
#include "trace/model.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCKS = 8,
    RECORDS = 4
};

enum {
    FIRST,
    SECOND
};

static CUcontext context;
static CUmodule module;
static CUstream stream;
static takt_device_timers *timers;

static int set_up(void **state)
{
    (void)state;
    use_devices("kernel.slow=100ms; kernel.solve=5ms; kernel=20us", &context, 1, &module);
    check(cuStreamCreate(&stream, 1));
    return 0;
}

static takt_device_timers_options small(void)
{
    takt_device_timers_options options = TAKT_DEVICE_TIMERS_OPTIONS_INIT;
    options.name = "solver";
    options.blocks = BLOCKS;
    options.records = RECORDS;
    options.stream = stream;
    return options;
}

static void make_timers(takt_device_timers_options options)
{
    static const char *const names[] = {"first", "second"};
    assert_int_equal(takt_device_timers_create(names, 2, &options, &timers), TAKT_OK);
}

static void launch(const char *kernel)
{
    CUfunction function;
    check(cuModuleGetFunction(&function, module, kernel));
    check(cuLaunchKernel(function, 4, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
}

/* ---- The recording --------------------------------------------------------------------------- */

static const tkt_phase_segment *segment_of(uint32_t block)
{
    for (size_t i = 0; i < last_trace->phase_segments.count; i++)
        if (last_trace->phase_segments.items[i].block == block)
            return &last_trace->phase_segments.items[i];
    fail_msg("no segment of block %u", block);
    return NULL;
}

static const tkt_activity *kernel_named(const char *label, size_t which)
{
    for (size_t i = 0; i < last_trace->activities.count; i++) {
        const tkt_activity *activity = &last_trace->activities.items[i];
        if (strcmp(tkt_trace_text(last_trace, activity->name), label) == 0 && which-- == 0)
            return activity;
    }
    fail_msg("no activity %s", label);
    return NULL;
}

static takt_profiler *start(void)
{
    return start_profiler((takt_profiler_options){.background = TAKT_OFF});
}

static CUgraphExec graph_of_other(void)
{
    CUgraph graph;
    CUgraphExec exec;
    check(cuStreamBeginCapture_v2(stream, 0));
    launch("other");
    check(cuStreamEndCapture(stream, &graph));
    check(cuGraphInstantiateWithFlags(&exec, graph, 0));
    check(cuGraphDestroy(graph));
    return exec;
}

/* Lanes whose clock has nothing to do with the host's are placed by their kernel. A graph that the
 * program launches after it has asked for the view does not get it. */
TEST(lanes_lie_in_the_kernel_that_their_view_went_to)
{
    make_timers(small());
    CUgraphExec graph = graph_of_other();
    takt_profiler *profiler = start();
    launch("other");
    takt_device_view view = takt_device_timers_view(timers);
    check(cuGraphLaunch(graph, stream));
    launch("solve");
    launch("other");
    uint64_t global = UINT64_C(5000000000000000000);
    takt_device_segment *late = attach(view, 3, global + 700);
    takt_device_segment *early = attach(view, 2, global);
    end_phase(view, late, SECOND, 30, 40, 0);
    end_phase(view, early, FIRST, 10, 20, 7);
    end_phase(view, early, SECOND, 30, 5, 8);
    assert_int_equal(takt_device_timers_read(timers, stream), TAKT_OK);
    assert_true(view.pool->base == 2 && view.pool->taken == 2);
    stop_profiler(profiler);

    const tkt_activity *kernel = kernel_named("kernel solve", 0);
    assert_int_equal(last_trace->phase_segments.count, 2);
    const tkt_phase_segment *first = segment_of(2), *second = segment_of(3);
    assert_ptr_equal(&last_trace->activities.items[first->activity], kernel);
    assert_int_equal(first->begin_ns, kernel->begin_ns);
    assert_int_equal(second->begin_ns, kernel->begin_ns + 700);
    assert_int_equal(first->correlation, kernel->correlation);
    assert_string_equal(tkt_trace_text(last_trace, first->timers), "solver");
    assert_string_equal(tkt_trace_text(last_trace, first->device), "cuda:0");
    assert_int_equal(first->sm, 0);
    assert_true(first->ns_per_cycle > 0.1 && first->ns_per_cycle < 10);
    assert_int_equal(first->record_count, 2);
    const tkt_phase_record *records = &last_trace->phase_records.items[first->first_record];
    assert_string_equal(tkt_trace_text(last_trace, records[1].name), "second");
    assert_int_equal(records[0].start_cycles, 10);
    assert_int_equal(records[0].cycles, 20);
    assert_int_equal(records[0].iteration, 7);
    check(cuGraphExecDestroy(graph));
    takt_device_timers_destroy(timers);
}

/* A lane of a kernel that runs for milliseconds, far enough from another on its SM. */
TEST(two_lanes_of_one_sm_give_the_rate_of_its_clock)
{
    make_timers(small());
    takt_profiler *profiler = start();
    takt_device_view view = takt_device_timers_view(timers);
    launch("solve");
    attach(view, 0, 1000)->clock = 50;
    attach(view, 1, 90000)->clock = 7; /* of another SM */
    attach(view, 2, 1001000)->clock = 50 + 800000;
    takt_device_timers_read(timers, stream);
    stop_profiler(profiler);
    assert_true(segment_of(1)->ns_per_cycle > 1.2499 && segment_of(1)->ns_per_cycle < 1.2501);
    takt_device_timers_destroy(timers);
}

/* Each step reads; nobody waits. */
TEST(steps_read_on_the_programs_stream)
{
    takt_device_timers_options options = small();
    options.at_step = true;
    make_timers(options);
    takt_profiler *profiler = start();
    for (uint32_t i = 0; i < 3; i++) {
        takt_device_view view = takt_device_timers_view(timers);
        launch("other");
        end_phase(view, attach(view, i, unix_ns()), FIRST, 0, i, 0);
        check(cuStreamSynchronize(stream));
        assert_int_equal(takt_profiler_step(profiler), TAKT_OK);
    }
    stop_profiler(profiler);
    assert_int_equal(last_trace->phase_segments.count, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_ptr_equal(&last_trace->activities.items[segment_of(i)->activity],
                         kernel_named("kernel other", i));
    assert_int_equal(loss(TAKT_LOSS_PHASE_BLOCKS) + loss(TAKT_LOSS_UNATTRIBUTED), 0);
    takt_device_timers_destroy(timers);
}

/* A lane with fewer records than the one that had its place before. */
TEST(a_read_leaves_no_records_behind)
{
    uint64_t cycles[2 * 4];
    takt_device_timers_options options = small();
    options.always = true;
    make_timers(options);
    takt_device_view view = takt_device_timers_view(timers);
    for (uint32_t count = 3; count > 0; count--) {
        takt_device_segment *segment = attach(view, 0, unix_ns());
        for (uint32_t i = 0; i < count; i++)
            end_phase(view, segment, SECOND, 0, 10 * count, i);
        assert_int_equal(takt_device_timers_read(timers, stream), TAKT_OK);
        check(cuStreamSynchronize(stream));
        assert_int_equal(takt_device_timers_copy(timers, 0, 4, cycles), TAKT_OK);
        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(cycles[SECOND * 4 + i], i < count ? 10 * count : 0);
    }
    takt_device_timers_destroy(timers);
}

static int let_go(void **state)
{
    (void)state;
    sim_hold(false);
    return 0;
}

/* A busy stream: reads beyond two do nothing, and what they would have copied stays. The device
 * stands still but for what is waited for. */
TEST_WITH(reads_never_wait_and_lose_nothing, NULL, let_go)
{
    uint64_t cycles[2];
    make_timers(small());
    takt_profiler *profiler = start();
    sim_hold(true);
    launch("slow");
    assert_int_equal(takt_device_timers_copy(timers, 0, 1, cycles), TAKT_NOT_READY);
    for (uint32_t i = 0; i < 4; i++) {
        takt_device_view view = takt_device_timers_view(timers);
        launch("other");
        end_phase(view, attach(view, i, unix_ns()), FIRST, 0, 10 + i, 0);
        assert_int_equal(takt_device_timers_read(timers, stream), i < 2 ? TAKT_OK : TAKT_NOT_READY);
    }
    assert_int_equal(cuStreamQuery(stream), SIM_NOT_READY);
    sim_hold(false);
    check(cuStreamSynchronize(stream));
    assert_int_equal(takt_device_timers_read(timers, stream), TAKT_OK);
    check(cuStreamSynchronize(stream));
    assert_int_equal(takt_device_timers_copy(timers, 3, 1, cycles), TAKT_OK);
    assert_int_equal(cycles[FIRST], 13);
    assert_int_equal(takt_device_timers_copy(timers, 0, 1, cycles), TAKT_NOT_FOUND);
    stop_profiler(profiler);
    assert_int_equal(last_trace->phase_segments.count, 4);
    assert_int_equal(loss(TAKT_LOSS_PHASE_BLOCKS), 0);
    takt_device_timers_destroy(timers);
}

TEST(what_has_no_room_is_counted)
{
    make_timers(small());
    takt_profiler *profiler = start();
    takt_device_view view = takt_device_timers_view(timers);
    launch("solve");
    for (uint32_t i = 0; i < BLOCKS + 3; i++) {
        takt_device_segment *segment = attach(view, i, unix_ns());
        assert_true((segment != NULL) == (i < BLOCKS));
        if (i == 0)
            for (uint32_t n = 0; n < RECORDS + 5; n++)
                end_phase(view, segment, n == 1 ? 77 : SECOND, n, 1, n);
        if (i == 1)
            segment->ticket = 0; /* its lane had not begun to write */
        if (i == 2)
            segment->count = UINT32_MAX;
    }
    takt_device_timers_read(timers, stream);
    stop_profiler(profiler);
    assert_int_equal(loss(TAKT_LOSS_PHASE_BLOCKS), 3 + 1);
    assert_int_equal(loss(TAKT_LOSS_PHASES), 5 + (uint64_t)UINT32_MAX - RECORDS);
    assert_int_equal(segment_of(0)->lost_records, 5);
    assert_int_equal(segment_of(0)->record_count, RECORDS - 1);
    assert_true(loss(TAKT_LOSS_PHASE_NUMBER) >= 1);
    takt_device_timers_destroy(timers);
}

/* What one read brings takes more memory than all of them may, 64 MiB: with what found no room on
 * the device, all lanes are lost. */
TEST(lanes_that_windows_have_no_room_for_are_counted)
{
    takt_device_timers_options options = small();
    options.blocks = 4;
    options.records = (64 << 20) / 4 / sizeof(takt_device_record);
    make_timers(options);
    takt_profiler *profiler = start();
    takt_device_view view = takt_device_timers_view(timers);
    launch("solve");
    for (uint32_t i = 0; i < 4 + 3; i++) {
        takt_device_segment *segment = attach(view, i, unix_ns());
        if (segment)
            segment->count = options.records + 1; /* it has written all, and one more */
    }
    takt_device_timers_read(timers, stream);
    stop_profiler(profiler);
    assert_int_equal(loss(TAKT_LOSS_PHASE_BLOCKS), 3 + 4);
    assert_int_equal(last_trace->phase_segments.count, 0);
    takt_device_timers_destroy(timers);
}

/* ---- One view, several launches -------------------------------------------------------------- */

#define LASTING 40000000u /* cycles, about 20 ms; the kernel "slow" takes 100 ms */

/* Attaches a lane for each of three launches of "slow", of the graph unless it is NULL. Returns
 * false if the machine was so busy that a lane may have missed its kernel. */
static bool launch_three(takt_device_view view, CUgraphExec graph)
{
    bool is_in_time = true;
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t before = unix_ns();
        if (graph)
            check(cuGraphLaunch(graph, stream));
        else
            launch("slow");
        uint64_t inside = unix_ns() + 1000000;
        end_phase(view, attach(view, i, inside), FIRST, 0, LASTING, 0);
        is_in_time = is_in_time && inside - before < 60000000;
        check(cuStreamSynchronize(stream));
    }
    return is_in_time;
}

static void lanes_are_in_their_kernels(void)
{
    assert_int_equal(last_trace->phase_segments.count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        const tkt_activity *kernel = kernel_named("kernel slow", i);
        const tkt_phase_segment *segment = segment_of(i);
        assert_int_equal(segment->launch, TKT_LAUNCH_KNOWN);
        assert_ptr_equal(&last_trace->activities.items[segment->activity], kernel);
        assert_true(segment->begin_ns >= kernel->begin_ns && segment->begin_ns <= kernel->end_ns);
    }
}

static CUgraphExec capture(takt_device_view *view)
{
    CUgraph graph;
    CUgraphExec exec;
    check(cuStreamBeginCapture_v2(stream, 0));
    *view = takt_device_timers_view(timers);
    launch("slow");
    assert_int_equal(takt_device_timers_read(timers, stream), TAKT_BAD_STATE);
    check(cuStreamEndCapture(stream, &graph));
    check(cuGraphInstantiateWithFlags(&exec, graph, 0));
    check(cuGraphDestroy(graph));
    return exec;
}

/* A view that was captured stands for every launch of the graph: its kernels are told apart by
 * time. No read may become part of a graph. */
TEST(each_launch_of_a_graph_has_its_lanes)
{
    bool is_in_time;
    do {
        takt_device_view view;
        make_timers(small());
        takt_profiler *profiler = start();
        CUgraphExec exec = capture(&view);
        is_in_time = launch_three(view, exec);
        takt_device_timers_read(timers, stream);
        stop_profiler(profiler);
        if (is_in_time)
            lanes_are_in_their_kernels();
        check(cuGraphExecDestroy(exec));
        takt_device_timers_destroy(timers);
    } while (!is_in_time);
}

/* The first launch has the view's number, the others are found by time and name. */
TEST(a_view_of_several_launches_has_lanes_in_each)
{
    bool is_in_time;
    do {
        make_timers(small());
        takt_profiler *profiler = start();
        is_in_time = launch_three(takt_device_timers_view(timers), NULL);
        takt_device_timers_read(timers, stream);
        stop_profiler(profiler);
        if (is_in_time)
            lanes_are_in_their_kernels();
        takt_device_timers_destroy(timers);
    } while (!is_in_time);
}

/* A graph from before the recording may have been launched before it, too: until a read says
 * which lanes are new, theirs may be of launches that nobody recorded. */
TEST(a_read_in_the_recording_tells_the_lanes_of_an_earlier_graph)
{
    bool is_in_time;
    for (int reads = 0; reads < 2; reads += is_in_time) {
        takt_device_view view;
        takt_device_timers_options options = small();
        options.always = true;
        make_timers(options);
        CUgraphExec exec = capture(&view);
        takt_profiler *profiler = start();
        if (reads)
            takt_device_timers_read(timers, stream);
        uint64_t before = unix_ns();
        check(cuGraphLaunch(exec, stream));
        uint64_t inside = unix_ns();
        is_in_time = inside - before < 60000000;
        attach(view, 0, inside);
        takt_device_timers_read(timers, stream);
        stop_profiler(profiler);
        assert_int_equal(segment_of(0)->launch, reads ? TKT_LAUNCH_KNOWN : TKT_LAUNCH_UNCERTAIN);
        if (is_in_time)
            assert_int_equal(segment_of(0)->activity != TKT_NO_ACTIVITY, reads);
        check(cuGraphExecDestroy(exec));
        takt_device_timers_destroy(timers);
    }
}

/* ---- Captures of other threads --------------------------------------------------------------- */

typedef struct other_capture {
    unsigned stream_flags;
    int mode;
    pthread_barrier_t begun, acted;
    CUresult result; /* of its end */
} other_capture;

static void *capture_a_launch(void *user)
{
    other_capture *other = user;
    CUstream captured;
    CUfunction function;
    CUgraph graph;
    check(cuCtxSetCurrent(context));
    check(cuModuleGetFunction(&function, module, "solve"));
    check(cuStreamCreate(&captured, other->stream_flags));
    check(cuStreamBeginCapture_v2(captured, other->mode));
    pthread_barrier_wait(&other->begun);
    pthread_barrier_wait(&other->acted);
    cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, captured, NULL, NULL);
    other->result = cuStreamEndCapture(captured, &graph);
    if (other->result == 0)
        cuGraphDestroy(graph);
    check(cuStreamDestroy_v2(captured));
    return NULL;
}

/* Calls `act` while another thread captures a stream. */
static void act_beside_capture(void (*act)(void), unsigned stream_flags, int mode)
{
    other_capture other = {.stream_flags = stream_flags, .mode = mode};
    pthread_t thread;
    pthread_barrier_init(&other.begun, NULL, 2);
    pthread_barrier_init(&other.acted, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, capture_a_launch, &other), 0);
    pthread_barrier_wait(&other.begun);
    act();
    pthread_barrier_wait(&other.acted);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&other.begun);
    pthread_barrier_destroy(&other.acted);
    assert_int_equal(other.result, 0);
}

static takt_profiler *stepping;

static void take_step(void)
{
    takt_profiler_step(stepping);
}

/* Steps ask whether earlier reads are done, which a global capture forbids other threads. */
TEST(reads_leave_captures_of_other_threads_alone)
{
    takt_device_timers_options options = small();
    options.at_step = true;
    stepping = start();
    make_timers(options);
    launch("slow");
    take_step();
    act_beside_capture(take_step, 1, 0);
    stop_profiler(stepping);
    takt_device_timers_destroy(timers);
}

static void make_small_timers(void)
{
    make_timers(small());
}

/* The legacy stream cannot be used beside a capture of a blocking stream. */
TEST(creating_leaves_captures_of_other_threads_alone)
{
    act_beside_capture(make_small_timers, 0, 2);
    takt_device_timers_destroy(timers);
}

TEST(without_a_context_or_memory_there_are_no_timers)
{
    static const char *const names[] = {"first"};
    takt_device_timers_options options = small();
    takt_device_timers *none = NULL;
    check(cuCtxSetCurrent(NULL));
    assert_int_equal(takt_device_timers_create(names, 1, &options, &none), TAKT_BAD_STATE);
    check(cuCtxSetCurrent(context));
    options.blocks = 1u << 21;
    options.records = 200; /* over 4 GiB */
    assert_int_equal(takt_device_timers_create(names, 1, &options, &none), TAKT_BAD_ARGUMENT);
    assert_null(none);
}

/* Each allocation fails once, also those of the device's timers. */
TEST(creating_without_memory_leaves_nothing)
{
    static const char *const names[] = {"first", "second"};
    for (int on_host = 0; on_host < 2; on_host++) {
        takt_device_timers_options options = small();
        options.on_host = on_host;
        takt_status status = TAKT_NO_MEMORY;
        for (uint64_t after = 0; status != TAKT_OK; after++) {
            tkt_alloc_fail(after, 1);
            status = takt_device_timers_create(names, 2, &options, &timers);
            tkt_alloc_fail(0, 0);
            assert_true(status == TAKT_OK || status == TAKT_NO_MEMORY);
        }
        takt_device_timers_destroy(timers);
    }
}

TEST(a_read_without_memory_is_counted_by_the_next)
{
    takt_device_timers_options options = small();
    options.on_host = true;
    make_timers(options);
    takt_profiler *profiler = start();
    takt_device_view view = takt_device_timers_view(timers);
    attach(view, 1, takt_now_ns());
    tkt_alloc_fail(0, 1);
    takt_device_timers_read(timers, NULL);
    tkt_alloc_fail(0, 0);
    attach(view, 2, takt_now_ns());
    takt_device_timers_read(timers, NULL);
    stop_profiler(profiler);
    assert_int_equal(loss(TAKT_LOSS_PHASE_BLOCKS), 1);
    assert_int_equal(last_trace->phase_segments.count, 1);
    takt_device_timers_destroy(timers);
}

static uint32_t failed_calls;

static void count_failed(sim_call *call)
{
    failed_calls += call->result != 0;
}

/* compute-sanitizer and others report calls that fail, whoever made them. The last test: CUPTI's
 * stand-in hears of no calls any more. */
TEST(timers_and_questions_make_no_call_that_fails)
{
    static const sim_sink sink = {.on_exit = count_failed};
    takt_cuda_device_info device;
    sim_set_sink(&sink);
    make_timers(small());
    takt_device_timers_destroy(timers);
    assert_int_equal(takt_cuda_device(0, &device), TAKT_OK);
    assert_int_equal(takt_cuda_device(1, &device), TAKT_NOT_FOUND);
    sim_set_sink(NULL);
    assert_int_equal(failed_calls, 0);
}

TEST_MAIN(set_up, NULL)
