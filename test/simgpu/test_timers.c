/* Timers, and windows beside a profiler's, over the stand-ins: what is waited for, what is left
 * alone, and what is kept when memory is short. */
#include "simgpu/driver.h"
#include "simgpu/profiled.h"
#include "simgpu/sim.h"

#include "base/alloc.h"
#include "cuda/cuda.h"
#include "trace/model.h"
#include "support/test.h"
#include "support/settle.h"

#include <takt/takt.h>

#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static CUcontext context;
static CUmodule module;

static int set_up_device(void **state)
{
    (void)state;
    use_devices("devices=2", &context, 1, &module);
    return 0;
}

static void launch(const char *name)
{
    CUfunction function;
    check(cuModuleGetFunction(&function, module, name));
    check(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
}

static bool is_idle(void)
{
    return cuStreamQuery(NULL) == 0;
}

static bool second_device_sleeps(void)
{
    unsigned flags;
    int is_active;
    check(cuDevicePrimaryCtxGetState(1, &flags, &is_active));
    return !is_active;
}

/* ---- Timers ---------------------------------------------------------------------------------- */

TEST(a_timer_that_synchronizes_begins_and_ends_idle)
{
    double ms = 0;
    sim_script("kernel=20ms");
    launch("before");
    TAKT_TIMER_BEGIN(timer, "sync", .silent = true, .synchronize = true, .elapsed_ms = &ms);
    assert_true(is_idle());
    launch("inside");
    TAKT_TIMER_END(timer);
    assert_true(is_idle());
    assert_true(ms >= 20);
    assert_true(second_device_sleeps());
}

/* ---- Timed blocks: what declared work is divided by ------------------------------------------ */

static bool is_about(double value, double expected)
{
    return value > expected * (1 - 1e-9) && value < expected * (1 + 1e-9);
}

/* 100 MFLOP in 1 ms of kernels. Launching took microseconds, and the copy is no computing. */
TEST(rates_divide_by_the_time_of_kernels)
{
    takt_timed result;
    CUdeviceptr memory;
    char bytes[64] = "";
    sim_script("kernel.first=700us; kernel.second=300us; memcpy.HtoD=5ms");
    check(cuMemAlloc_v2(&memory, sizeof bytes));
    TAKT_TIMED(&result, .repeat = 3, .warmup = 1) {
        TAKT_WORK(1e8, 4e6);
        check(cuMemcpyHtoDAsync_v2(memory, bytes, sizeof bytes, NULL));
        launch("first");
        launch("second");
    }
    check(cuMemFree_v2(memory));
    assert_true(result.is_device_work && result.work_ns == 1e6);
    assert_true(is_about(result.flops_per_second, 1e11));
    assert_true(is_about(result.bytes_per_second, 4e9));
}

TEST(bytes_alone_divide_by_the_time_of_copies)
{
    takt_timed result;
    CUdeviceptr memory;
    char bytes[64] = "";
    sim_script("memcpy.HtoD=2ms");
    check(cuMemAlloc_v2(&memory, sizeof bytes));
    TAKT_TIMED(&result, .repeat = 2) {
        TAKT_WORK(0, 6e6);
        check(cuMemcpyHtoDAsync_v2(memory, bytes, sizeof bytes, NULL));
    }
    check(cuMemFree_v2(memory));
    assert_true(result.is_device_work && result.work_ns == 2e6);
    assert_true(is_about(result.bytes_per_second, 3e9) && result.flops_per_second == 0);
}

/* A set of 1 us beside it must not make the host look a thousand times faster. */
TEST(work_of_the_host_divides_by_its_own_time)
{
    takt_timed result;
    CUdeviceptr memory;
    sim_script("memset=1us");
    check(cuMemAlloc_v2(&memory, 64));
    TAKT_TIMED(&result, .repeat = 2) {
        TAKT_WORK(1e6, 0);
        check(cuMemsetD8Async(memory, 0, 64, NULL));
    }
    check(cuMemFree_v2(memory));
    assert_int_equal(result.device_activities, 2);
    assert_true(!result.is_device_work && result.work_ns == result.mean_ns);
    assert_true(is_about(result.flops_per_second, 1e6 / result.mean_ns * 1e9));
}

TEST(timed_blocks_that_synchronize_begin_and_end_idle)
{
    takt_timed result;
    sim_script("kernel=2ms");
    launch("before");
    TAKT_TIMED(&result, .repeat = 2, .warmup = 1, .synchronize = true) {
        assert_true(is_idle());
        launch("inside");
    }
    assert_true(is_idle());
    assert_true(result.min_ns >= 2e6); /* launching alone takes microseconds */
    assert_true(result.device_max_ns == 2e6);
}

/* As programs compiled with the first release's header. */
static takt_timed_options options_of_old_programs(void)
{
    return (takt_timed_options){.struct_size = offsetof(takt_timed_options, reports), .repeat = 2};
}

/* True if the device is idle at each begin and at the end. It stands still but for what is waited
 * for. */
static bool waits(const takt_timed_options *options)
{
    takt_timed result;
    bool is_waiting = true;
    sim_hold(true);
    launch("inside");
    takt_timed_loop loop = takt_timed_begin(&result, sizeof result, options);
    while (takt_timed_next(&loop)) {
        is_waiting = is_waiting && is_idle();
        launch("inside");
    }
    is_waiting = is_waiting && is_idle();
    sim_hold(false);
    takt_timed_end(&loop);
    check(cuCtxSynchronize());
    return is_waiting;
}

TEST(timed_blocks_wait_for_devices_unless_told_otherwise)
{
    takt_timed_options options = {.struct_size = sizeof options, .repeat = 2};
    sim_script("kernel=2ms");
    assert_true(waits(&options));
    options.activities = TAKT_ACTIVITIES_CPU;
    assert_true(waits(&options));
    options.no_synchronize = true;
    assert_false(waits(&options));
    options.synchronize = true;
    assert_true(waits(&options));
    options = options_of_old_programs();
    assert_false(waits(&options));
    options.synchronize = true;
    assert_true(waits(&options));
    assert_false(waits(NULL));
}

static double longest_beside_a_kernel(void)
{
    takt_timed result;
    bool was_idle = true;
    TAKT_TIMED(&result, .repeat = 1, .warmup = 1) {
        if (was_idle)
            launch("only once");
        was_idle = false;
    }
    return result.max_ns;
}

/* Another thread's kernel may run as long as it likes: this block has nothing to do with it. A busy
 * machine may be away for longer than that. */
TEST(rounds_without_cuda_do_not_wait)
{
    sim_script("kernel=20ms");
    while (longest_beside_a_kernel() >= 10e6)
        ;
}

static int let_go(void **state)
{
    (void)state;
    sim_hold(false);
    return 0;
}

TEST_WITH(rounds_that_do_not_wait_have_the_time_of_the_host, NULL, let_go)
{
    takt_timed result;
    const takt_timed_options options = {
        .struct_size = sizeof options, .repeat = 1, .no_synchronize = true};
    sim_script("kernel=20ms");
    sim_hold(true);
    uint64_t begin_ns = takt_now_ns();
    takt_timed_loop loop = takt_timed_begin(&result, sizeof result, &options);
    while (takt_timed_next(&loop))
        launch("long");
    uint64_t end_ns = takt_now_ns();
    assert_false(is_idle());
    sim_hold(false);
    takt_timed_end(&loop);
    assert_true(result.max_ns <= (double)(end_ns - begin_ns) + 10e3); /* two readings differ so */
    assert_true(result.device_max_ns == 20e6);
}

/* ---- Timed blocks: peak, memory, reports ----------------------------------------------------- */

/* The stand-in: 128 multiprocessors with 128 lanes each, at 2.52 GHz. */
#define PEAK_FLOPS (2.0 * 128 * 128 * 2.52e9)

TEST(declared_work_is_compared_with_the_peak)
{
    takt_timed result;
    sim_script("kernel=1ms");
    TAKT_TIMED(&result, .repeat = 2) {
        TAKT_WORK(PEAK_FLOPS / 1000 / 4, 0); /* a quarter of what fits into the kernel's time */
        launch("k");
    }
    assert_true(is_about(result.peak_flops, PEAK_FLOPS) && is_about(result.utilization, 0.25));
    assert_true(is_about(result.flops, PEAK_FLOPS / 4000) && result.precision[0] == '\0');
    TAKT_TIMED(&result, .precision = "fp64", .peak_flops = PEAK_FLOPS / 64) {
        TAKT_WORK(PEAK_FLOPS / 1000 / 4, 0);
        launch("k");
    }
    assert_true(is_about(result.utilization, 16)); /* that cannot be */
    assert_string_equal(result.precision, "fp64");
    TAKT_TIMED(&result, .precision = "a name that is too long", .peak_flops = 1) {
    }
    assert_string_equal(result.precision, "a name that is ");
    assert_true(result.utilization == 0 && result.flops == 0);
}

/* The stand-in computes 64 times slower in double precision. */
TEST(the_peak_is_that_of_the_declared_precision)
{
    static const struct {
        const char *precision;
        double peak_flops;
    } known[] = {{"", PEAK_FLOPS}, {"fp32", PEAK_FLOPS}, {"fp64", PEAK_FLOPS / 64}, {"bf16", 0}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        takt_timed result;
        TAKT_TIMED(&result, .precision = known[i].precision) {
            TAKT_WORK(1e6, 0);
            launch("k");
        }
        assert_true(known[i].peak_flops > 0 ? is_about(result.peak_flops, known[i].peak_flops)
                                            : result.peak_flops == 0);
        assert_true((result.utilization > 0) == (known[i].peak_flops > 0));
    }
}

TEST(a_timed_block_knows_the_memory_of_its_device)
{
    enum {
        MIB = 1 << 20
    };
    takt_timed result;
    CUdeviceptr first, second, pooled;
    size_t free_bytes, total_bytes;
    sim_script("kernel=3ms");
    uint64_t begin_ns = sim_time_ns();
    TAKT_TIMED(&result) {
        launch("before the peak");
        check(cuCtxSynchronize());
        check(cuMemAlloc_v2(&first, 5 * MIB));
        check(cuMemAlloc_v2(&second, 2 * MIB));
        check(cuMemFree_v2(first));
        check(cuMemAllocAsync(&pooled, 8 * MIB, NULL));
        check(cuMemGetInfo_v2(&free_bytes, &total_bytes));
    }
    assert_true(result.device_peak_bytes - result.device_current_bytes <= 5 * MIB);
    assert_true(result.device_peak_at_ns >= 3e6);
    assert_true(result.device_peak_at_ns < (double)(sim_time_ns() - begin_ns));
    assert_int_equal(result.device_free_bytes, free_bytes);
    assert_int_equal(result.device_capacity_bytes, total_bytes);
    assert_true(result.device_reserved_bytes >= 8 * MIB);
    double unused = (double)(result.device_reserved_bytes - 8 * MIB);
    assert_true(result.device_fragmentation ==
                1 - (double)(8 * MIB) / (double)result.device_reserved_bytes);
    assert_true(unused >= 0 && result.device_fragmentation < 1);
    check(cuMemFree_v2(second));
    check(cuMemFreeAsync(pooled, NULL));
    check(cuCtxSynchronize());
}

/* ---- Timers with a filter -------------------------------------------------------------------- */

typedef struct seen {
    int calls;
    char names[200];
    uint64_t ns;
    const char *indent; /* the one that it is to have */
} seen;

static void look(const takt_timing *results, const char *indent, void *user)
{
    seen *all = user;
    all->calls++;
    assert_string_equal(indent, all->indent);
    for (size_t i = 0; i < takt_timing_count(results); i++) {
        const takt_activity *activity = takt_timing_at(results, i);
        size_t used = strlen(all->names);
        snprintf(all->names + used, sizeof all->names - used, "%s;", activity->name);
        all->ns += activity->end_ns - activity->begin_ns;
    }
}

/* Without .synchronize the clock is read first; the list is complete all the same. */
TEST(a_timer_with_a_filter_lists_all_that_it_launched)
{
    seen outer = {.indent = ""}, inner = {.indent = "    "};
    sim_script("kernel.a=30ms; kernel.b=2ms; kernel.c=1ms");
    TAKT_TIMER_BEGIN(first, "outer", .filter = TAKT_TIMING_ALL, .report = look, .user = &outer);
    launch("a");
    TAKT_TIMER_BEGIN(second, "inner", .silent = true, .filter = TAKT_TIMING_ALL);
    launch("b");
    TAKT_TIMER_END(second);
    TAKT_TIMER_BEGIN(third, "memory", .filter = TAKT_TIMING_MEMCPY, .report = look, .user = &inner);
    launch("c");
    TAKT_TIMER_END(third);
    TAKT_TIMER_END(first);
    assert_int_equal(outer.calls, 1);
    assert_string_equal(outer.names, "kernel a;kernel b;kernel c;");
    assert_int_equal(outer.ns, 33000000);
    assert_int_equal(inner.calls, 1);
    assert_string_equal(inner.names, "");
}

/* ---- Beside a profiler ----------------------------------------------------------------------- */

TEST(timings_work_while_a_profiler_waits)
{
    takt_timing *timing;
    takt_profiler_options options = {.schedule = {.wait = 5, .active = 1, .repeat = 1}};
    sim_script("kernel=5us");
    takt_profiler *profiler = start_profiler(options);
    launch("before");
    assert_int_equal(takt_timing_begin(NULL, &timing), TAKT_OK);
    launch("inside");
    assert_int_equal(takt_timing_end(timing), TAKT_OK);
    assert_int_equal(takt_timing_count(timing), 1);
    assert_string_equal(takt_timing_at(timing, 0)->name, "kernel inside");
    takt_timing_free(timing);
    uint64_t position = tkt_store_position();
    launch("after");
    settle_devices(true);
    assert_int_equal(tkt_store_position(), position);
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK); /* it gives no trace */
    takt_profiler_destroy(profiler);
}

TEST(steps_begin_idle_if_asked)
{
    takt_profiler_options options = {.synchronize = true, .activities = TAKT_ACTIVITIES_CPU};
    sim_script("kernel=15ms");
    launch("before");
    takt_profiler *profiler = start_profiler(options);
    assert_true(is_idle());
    for (int i = 0; i < 3; i++) {
        launch("step");
        assert_int_equal(takt_profiler_step(profiler), TAKT_OK);
        assert_true(is_idle());
    }
    stop_profiler(profiler);
    assert_true(second_device_sleeps());
}

/* While a stream is captured nothing may wait for the device. */
TEST(a_capture_is_not_disturbed)
{
    CUstream stream;
    CUgraph graph;
    takt_timing *timing;
    sim_script("kernel=5us");
    check(cuStreamCreate(&stream, 1));
    check(cuStreamBeginCapture_v2(stream, 0));
    assert_int_equal(takt_timing_begin(NULL, &timing), TAKT_OK);
    TAKT_TIMER_BEGIN(timer, "capture", .silent = true, .synchronize = true);
    CUfunction function;
    check(cuModuleGetFunction(&function, module, "captured"));
    check(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    TAKT_TIMER_END(timer);
    assert_int_equal(takt_timing_end(timing), TAKT_OK);
    assert_int_equal(takt_timing_count(timing), 0);
    takt_timing_free(timing);
    check(cuStreamEndCapture(stream, &graph));
    check(cuGraphDestroy(graph));
    check(cuStreamDestroy_v2(stream));
}

/* A stream that is not captured cannot end the capture of another. */
TEST(an_end_that_fails_ends_no_capture)
{
    CUstream streams[2];
    CUgraph graph;
    takt_timing *timing;
    for (int i = 0; i < 2; i++)
        check(cuStreamCreate(&streams[i], 1));
    assert_int_equal(takt_timing_begin(NULL, &timing), TAKT_OK);
    check(cuStreamBeginCapture_v2(streams[0], 2));
    assert_int_equal(cuStreamEndCapture(streams[1], &graph), 401);
    TAKT_TIMER_BEGIN(timer, "capture", .silent = true, .synchronize = true);
    TAKT_TIMER_END(timer);
    check(cuStreamEndCapture(streams[0], &graph));
    check(cuGraphDestroy(graph));
    assert_int_equal(takt_timing_end(timing), TAKT_OK);
    takt_timing_free(timing);
    for (int i = 0; i < 2; i++)
        check(cuStreamDestroy_v2(streams[i]));
}

static void ignore_line(takt_log_level level, const char *line, void *user)
{
    (void)level, (void)line, (void)user;
}

/* ---- Memory is short ------------------------------------------------------------------------- */

enum {
    FLOOD = 40000
};

static void flood(takt_mode mode, unsigned times)
{
    takt_profiler *profiler =
        start_profiler((takt_profiler_options){.mode = mode, .max_memory_bytes = times << 20});
    launch("first");
    for (unsigned i = 0; i < times * FLOOD; i++)
        launch("between");
    launch("last");
    stop_profiler(profiler);
}

static bool has(const char *name)
{
    for (size_t i = 0; i < takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES); i++) {
        takt_activity activity;
        assert_int_equal(takt_trace_activity(last_trace, i, &activity), TAKT_OK);
        if (strcmp(activity.name, name) == 0)
            return true;
    }
    return false;
}

TEST(a_trace_keeps_the_first_and_counts_the_rest)
{
    sim_script("kernel=200");
    flood(TAKT_MODE_TRACE, 1);
    assert_true(has("kernel first") && !has("kernel last"));
    assert_true(loss(TAKT_LOSS_DEVICE_DROPPED) > 0);
    assert_int_equal(loss(TAKT_LOSS_OVERWRITTEN), 0);
    assert_int_equal(takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES) +
                         loss(TAKT_LOSS_DEVICE_DROPPED),
                     FLOOD + 2);
}

TEST(the_flight_recorder_keeps_the_last)
{
    sim_script("kernel=200");
    flood(TAKT_MODE_FLIGHT, 1);
    assert_true(!has("kernel first") && has("kernel last"));
    assert_true(loss(TAKT_LOSS_OVERWRITTEN) > 0);
    assert_int_equal(loss(TAKT_LOSS_DEVICE_DROPPED), 0);
}

TEST(a_summary_has_them_all)
{
    sim_script("kernel=200");
    flood(TAKT_MODE_SUMMARY, 8);
    for (int i = 0; i < TAKT_LOSS_COUNT; i++) {
        /* A machine that lets the adding thread wait may forget the path of a launch, or drop its
         * activity. */
        bool may_be = i == TAKT_LOSS_UNATTRIBUTED || i == TAKT_LOSS_DEVICE_DROPPED ||
                      (i == TAKT_LOSS_NO_ACTIVITY && loss(TAKT_LOSS_DEVICE_DROPPED) > 0);
        if (!may_be && loss((takt_loss)i) != 0)
            fail_msg("%lu %s", (unsigned long)loss((takt_loss)i), takt_loss_name((takt_loss)i));
    }
    uint64_t count = 0;
    for (size_t i = 0; i < last_trace->node_activities.count; i++)
        count += last_trace->node_activities.items[i].stats.count;
    assert_int_equal(count + loss(TAKT_LOSS_DEVICE_DROPPED), 8 * FLOOD + 2);
}

/* Whichever allocation fails, the program goes on, and so does Takt when there is memory again. */
TEST(without_memory_nothing_breaks)
{
    static const takt_mode modes[] = {TAKT_MODE_TRACE, TAKT_MODE_SUMMARY};
    sim_script("kernel=200");
    takt_set_log(ignore_line, NULL);
    for (uint64_t after = 0; after < 400; after++) {
        takt_profiler_options options = {.struct_size = sizeof options, .mode = modes[after % 2]};
        takt_profiler *profiler = NULL;
        takt_timing *timing = NULL;
        tkt_alloc_fail(after, after % 4 == 3 ? UINT64_MAX : 1);
        takt_profiler_create(&options, &profiler);
        if (profiler)
            takt_profiler_start(profiler);
        takt_timing_begin(NULL, &timing);
        for (int i = 0; i < 20; i++) {
            TAKT_SCOPE("step");
            launch("k");
        }
        if (timing)
            takt_timing_end(timing);
        takt_timing_free(timing);
        takt_profiler_destroy(profiler);
        tkt_alloc_fail(0, 0);
    }
    takt_set_log(NULL, NULL);
    takt_profiler *profiler = start_profiler((takt_profiler_options){0});
    launch("again");
    stop_profiler(profiler);
    assert_true(has("kernel again"));
    assert_int_equal(takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES), 1);
}

/* ---- A device that hangs --------------------------------------------------------------------- */

/* Sealing gives up when its time is over, takes what has finished, and says what has not. */
TEST(what_does_not_finish_is_incomplete)
{
    sim_script("kernel.endless=100ms; kernel.short=5us");
    takt_profiler *profiler = start_profiler((takt_profiler_options){.device_wait_ms = 200});
    sim_hold(true);
    launch("short");
    check(cuCtxSynchronize()); /* the rest stands still */
    launch("endless");
    launch("short");
    stop_profiler(profiler);
    sim_hold(false);
    assert_false(has("kernel endless"));
    assert_true(has("kernel short"));
    assert_int_equal(loss(TAKT_LOSS_INCOMPLETE), 2); /* the last one waited behind it */
    assert_int_equal(takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES), 1);
    check(cuCtxSynchronize());
    while (!settle_devices(true)) /* the collector comes back, too */
        sched_yield();
}

TEST_MAIN(set_up_device, NULL)
