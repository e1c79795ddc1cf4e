/* What programs mark with TAKT_LAUNCH and TAKT_STREAM_SCOPE is the same with CUPTI and without it:
 * in windows that follow each other, with warm-ups, on several threads, streams and devices.
 * check_backends.sh runs this without CUPTI, too, and while another tool holds it.
 *
 * Work is launched while the devices' time stands still, and without latency: then a mark lasts as
 * long as its kernel, to the nanosecond. */
#include "simgpu/driver.h"
#include "simgpu/sim.h"
#include "simgpu/stand_in.h"

#include "cuda/collector.h"
#include "cuda/event.h"
#include "profiler/session.h"
#include "trace/model.h"
#include "support/counted_memory.h"
#include "support/test.h"
#include "support/windows.h"
#include "support/skip.h"

#include <takt/event.h>
#include <takt/takt.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCRIPT                                                                                     \
    "latency=0; memset=1500; kernel.alpha=1000; kernel.beta=20000; kernel.gamma=300; "             \
    "kernel.new_=777; kernel.long=300ms; "

static CUcontext contexts[2];
static CUstream streams[2][2]; /* of each device */
static CUmodule modules[2];
static CUdeviceptr memory;
static bool is_taken; /* another tool holds CUPTI */
static bool has_cupti;

static const char *script(void)
{
    return is_taken ? SCRIPT "cupti.owner=another tool" : SCRIPT;
}

static void check(CUresult result)
{
    assert_int_equal(result, 0);
}

static void use_device(int device)
{
    check(cuCtxSetCurrent(contexts[device]));
}

static void prepare_device(int device)
{
    check(cuDevicePrimaryCtxRetain(&contexts[device], device));
    use_device(device);
    check(cuModuleLoadData(&modules[device], "none"));
    for (int i = 0; i < 2; i++)
        check(cuStreamCreate(&streams[device][i], 1));
}

/* ---- A program that marks -------------------------------------------------------------------- */

#define SITE(text)                                                                                 \
    {                                                                                              \
        .tag = TAKT_SLOW, .kind = TAKT_SITE_SCOPE, .level = TAKT_LEVEL_NORMAL,                     \
        .bits = ~UINT64_C(0), .name = (text), .file = "marks", .function = "main"                  \
    }

static takt_site alpha = SITE("alpha");
static takt_site beta = SITE("beta");
static takt_site gamma_site = SITE("gamma");
static takt_site long_site = SITE("long");

static void launch_plain(const char *name, int device, CUstream stream)
{
    CUfunction function;
    check(cuModuleGetFunction(&function, modules[device], name));
    check(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, stream, NULL, NULL));
}

/* As TAKT_LAUNCH does, which has a site of its own for each place in the source. */
static void launch_on(takt_site *site, int device, CUstream stream)
{
    takt_stream_mark mark = takt_stream_open(site, TAKT_TIMING_KERNEL, stream);
    launch_plain(site->name, device, stream);
    takt_stream_close(&mark);
}

static void launch(takt_site *site)
{
    launch_on(site, 0, streams[0][0]);
}

/* ---- What Takt says -------------------------------------------------------------------------- */

typedef struct sum {
    const char *device;
    const char *name;
    uint64_t count;
    uint64_t ns;
} sum;

enum {
    MOST_SUMS = 64
};

static int by_name(const void *a, const void *b)
{
    const sum *x = a, *y = b;
    int order = strcmp(x->device, y->device);
    return order ? order : strcmp(x->name, y->name);
}

static void add(sum *sums, size_t *count, const sum *more)
{
    size_t i = 0;
    while (i < *count && by_name(&sums[i], more) != 0)
        i++;
    assert_true(i < MOST_SUMS);
    if (i == *count)
        sums[(*count)++] = (sum){more->device, more->name, 0, 0};
    sums[i].count += more->count;
    sums[i].ns += more->ns;
}

static size_t sums_of_list(const takt_trace *trace, sum *sums)
{
    size_t count = 0;
    for (size_t i = 0; i < takt_trace_count(trace, TAKT_TRACE_ACTIVITIES); i++) {
        takt_activity activity;
        assert_int_equal(takt_trace_activity(trace, i, &activity), TAKT_OK);
        add(sums, &count,
            &(sum){activity.device, activity.name, 1, activity.end_ns - activity.begin_ns});
    }
    return count;
}

static size_t sums_of_summary(const takt_trace *trace, sum *sums)
{
    size_t count = 0;
    for (size_t i = 0; i < trace->node_activities.count; i++) {
        const tkt_node_activity *from = &trace->node_activities.items[i];
        add(sums, &count,
            &(sum){tkt_trace_text(trace, from->device), tkt_trace_text(trace, from->name),
                   from->stats.count, from->stats.total_ns});
    }
    return count;
}

/* Traces are made by another thread, which may wait for the device while the next step launches.
 * Then time does not stand still, and marks may last longer than their kernels. */
static bool is_background;

/* "DEVICE NAME COUNT NS; ..." of all activities, sorted; the first device is left out. */
static void describe(const takt_trace *trace, char *out, size_t size)
{
    sum sums[MOST_SUMS];
    size_t count = takt_trace_facts(trace)->has_spans ? sums_of_list(trace, sums)
                                                      : sums_of_summary(trace, sums);
    qsort(sums, count, sizeof *sums, by_name);
    *out = '\0';
    for (size_t i = 0; i < count; i++) {
        size_t used = strlen(out);
        bool is_first = strcmp(sums[i].device, "cuda:0") == 0;
        snprintf(out + used, size - used, "%s%s%s%s %lu %lu", i ? "; " : "",
                 is_first ? "" : sums[i].device, is_first ? "" : " ", sums[i].name,
                 (unsigned long)sums[i].count, is_background ? 0 : (unsigned long)sums[i].ns);
    }
}

static uint64_t losses_of(const takt_trace *trace)
{
    uint64_t losses = 0;
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        losses += takt_trace_loss(trace, (takt_loss)i);
    return losses;
}

static uint64_t loss(const takt_trace *trace, takt_loss which)
{
    return takt_trace_loss(trace, which);
}

/* No other losses than so many of this kind. */
static void assert_trace_with(const takt_trace *trace, const char *expected, takt_loss which,
                              uint64_t losses)
{
    char text[2000];
    assert_non_null(trace);
    describe(trace, text, sizeof text);
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        if (i != (int)which && takt_trace_loss(trace, (takt_loss)i) != 0)
            print_error("%lu %s\n", (unsigned long)takt_trace_loss(trace, (takt_loss)i),
                        takt_loss_name((takt_loss)i));
    assert_string_equal(text, expected);
    assert_int_equal(loss(trace, which), losses);
    assert_int_equal(losses_of(trace), losses);
    bool is_by_events = strcmp(takt_trace_facts(trace)->backend, "CUDA events") == 0;
    assert_int_equal(is_by_events, !has_cupti);
}

static void assert_trace(const takt_trace *trace, const char *expected)
{
    assert_trace_with(trace, expected, TAKT_LOSS_INCOMPLETE, 0);
}

enum {
    MOST_TRACES = 32
};

static const takt_trace *traces[MOST_TRACES];
static size_t trace_count;

static void keep_trace(const takt_trace *trace, void *user)
{
    (void)user;
    assert_true(trace_count < MOST_TRACES);
    traces[trace_count++] = takt_trace_retain(trace);
}

static void forget_traces(void)
{
    while (trace_count)
        takt_trace_release(traces[--trace_count]);
}

static takt_profiler *start(takt_profiler_options options)
{
    takt_profiler *profiler;
    options.struct_size = sizeof options;
    options.on_trace = keep_trace;
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    return profiler;
}

/* What was launched is done when time stands still again. */
static void step(takt_profiler *profiler)
{
    sim_hold(false);
    assert_int_equal(takt_profiler_step(profiler), TAKT_OK);
    for (int i = 0; i < 4; i++)
        check(cuStreamSynchronize(streams[i / 2][i % 2]));
    sim_hold(true);
}

static void stop(takt_profiler *profiler)
{
    sim_hold(false);
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    takt_profiler_destroy(profiler);
    sim_hold(true);
}

/* Without CUPTI the first activity of a context waits for its place in time, for which the device
 * must not stand still. */
static void wait_for_anchor(int device)
{
    size_t count = 0;
    use_device(device);
    sim_hold(false);
    for (int i = 0; i < 100 && count == 0; i++) {
        takt_timing *timing;
        assert_int_equal(takt_timing_begin(NULL, &timing), TAKT_OK);
        launch_on(&gamma_site, device, streams[device][0]);
        assert_int_equal(takt_timing_end(timing), TAKT_OK);
        count = takt_timing_count(timing);
        takt_timing_free(timing);
    }
    assert_int_equal(count, 1);
    sim_hold(true);
}

static int set_up_devices(void **state)
{
    (void)state;
    assert_int_equal(takt_set_allocator(&counted_memory), TAKT_OK);
    use_stand_in("devices=2");
    is_taken = getenv("TEST_OTHER_TOOL") != NULL;
    sim_script(script());
    const char *library = getenv("TAKT_CUPTI_LIBRARY");
    has_cupti = !is_taken && (!library || strcmp(library, "none") != 0);
    check(cuInit(0));
    for (int i = 2; i-- > 0;)
        prepare_device(i);
    check(cuMemAlloc_v2(&memory, 64));
    for (int i = 2; i-- > 0;)
        wait_for_anchor(i);
    return 0;
}

static int begin_test(void **state)
{
    (void)state;
    is_background = false;
    sim_script(script());
    use_device(0);
    sim_hold(true);
    return 0;
}

static int end_test(void **state)
{
    (void)state;
    sim_hold(false);
    forget_traces();
    return 0;
}

/* ---- Windows that follow each other ---------------------------------------------------------- */

static const takt_schedule three_cycles = {.wait = 1, .warmup = 1, .active = 2, .repeat = 3};

TEST_WITH(one_launch_in_a_loop_with_a_warm_up, begin_test, end_test)
{
    for (int round = 0; round < 2; round++) {
        is_background = round == 1;
        takt_profiler *profiler = start((takt_profiler_options){
            .schedule = three_cycles, .background = is_background ? TAKT_ON : TAKT_OFF});
        for (int i = 0; i < 12; i++) {
            TAKT_LAUNCH(streams[0][0], TAKT_TIMING_KERNEL, "alpha") {
                launch_plain("alpha", 0, streams[0][0]);
            }
            step(profiler);
        }
        stop(profiler);
        assert_int_equal(trace_count, 3);
        for (int i = 0; i < 3; i++)
            assert_trace(traces[i], is_background ? "kernel alpha 2 0" : "kernel alpha 2 2000");
        forget_traces();
    }
}

/* The labels' order is another one in each window. */
TEST_WITH(labels_keep_to_their_launches, begin_test, end_test)
{
    takt_site *const orders[3][3] = {
        {&alpha, &beta, &gamma_site}, {&gamma_site, &alpha, &alpha}, {&beta, &gamma_site, &alpha}};
    const char *const expected[3] = {
        "kernel alpha 2 2000; kernel beta 2 40000; kernel gamma 2 600",
        "kernel alpha 4 4000; kernel gamma 2 600",
        "kernel alpha 2 2000; kernel beta 2 40000; kernel gamma 2 600"};
    takt_profiler *profiler =
        start((takt_profiler_options){.schedule = three_cycles, .background = TAKT_OFF});
    for (int i = 0; i < 12; i++) {
        for (int k = 0; k < 3; k++)
            launch(orders[i / 4][k]);
        step(profiler);
    }
    stop(profiler);
    assert_int_equal(trace_count, 3);
    for (int i = 0; i < 3; i++)
        assert_trace(traces[i], expected[i]);
}

static void list(const takt_timing *results, const char *indent, void *user)
{
    char *out = user;
    (void)indent;
    for (size_t i = 0; i < takt_timing_count(results); i++) {
        const takt_activity *activity = takt_timing_at(results, i);
        size_t used = strlen(out);
        snprintf(out + used, 1000 - used, "%s %lu;", activity->name,
                 (unsigned long)(activity->end_ns - activity->begin_ns));
    }
}

TEST_WITH(timers_in_a_row_list_what_they_launched, begin_test, end_test)
{
    takt_site *const sites[4] = {&alpha, &beta, &alpha, &gamma_site};
    const char *const expected[4] = {"kernel alpha 1000;", "kernel beta 20000;",
                                     "kernel alpha 1000;", "kernel gamma 300;"};
    for (int i = 0; i < 4; i++) {
        char text[1000] = "";
        sim_hold(true);
        TAKT_TIMER_BEGIN(timer, "row", .filter = TAKT_TIMING_ALL, .report = list, .user = text);
        launch(sites[i]);
        sim_hold(false);
        TAKT_TIMER_END(timer);
        assert_string_equal(text, expected[i]);
    }
}

TEST_WITH(timings_get_the_kinds_that_they_ask_for, begin_test, end_test)
{
    for (int i = 0; i < 2; i++) {
        char text[1000] = "";
        const takt_timing_options options = {.struct_size = sizeof options,
                                             .filter = TAKT_TIMING_MEMSET};
        takt_timing *sets, *all;
        sim_hold(true);
        assert_int_equal(takt_timing_begin(NULL, &all), TAKT_OK);
        launch(i ? &beta : &alpha);
        assert_int_equal(takt_timing_begin(&options, &sets), TAKT_OK);
        launch(i ? &alpha : &beta);
        TAKT_LAUNCH(streams[0][0], TAKT_TIMING_MEMSET, "") {
            check(cuMemsetD8Async(memory, 0, 64, streams[0][0]));
        }
        sim_hold(false);
        assert_int_equal(takt_timing_end(sets), TAKT_OK);
        list(sets, "", text);
        assert_string_equal(text, "memset 1500;");
        takt_timing_free(sets);
        assert_int_equal(takt_timing_end(all), TAKT_OK);
        text[0] = '\0';
        list(all, "", text);
        assert_string_equal(text, i ? "kernel beta 20000;kernel alpha 1000;memset 1500;"
                                    : "kernel alpha 1000;kernel beta 20000;memset 1500;");
        takt_timing_free(all);
    }
}

/* CUPTI sees the kernels; without it the scope is what is known. */
TEST_WITH(stream_scopes_last_as_long_as_what_is_in_them, begin_test, end_test)
{
    takt_profiler *profiler =
        start((takt_profiler_options){.schedule = three_cycles, .background = TAKT_OFF});
    for (int i = 0; i < 12; i++) {
        {
            TAKT_STREAM_SCOPE(streams[0][1], "both");
            launch_plain("alpha", 0, streams[0][1]);
            launch_plain("beta", 0, streams[0][1]);
        }
        step(profiler);
    }
    stop(profiler);
    assert_int_equal(trace_count, 3);
    for (int i = 0; i < 3; i++)
        assert_trace(traces[i], has_cupti ? "kernel alpha 2 2000; kernel beta 2 40000"
                                          : "stream scope both 2 42000");
}

/* Each of the steps of a cycle is the only one that is recorded. */
TEST_WITH(the_names_of_each_cycle_are_new, begin_test, end_test)
{
    enum {
        CYCLES = 30
    };
    static takt_site sites[CYCLES];
    static char names[CYCLES][16];
    uint64_t bytes = 0;
    takt_profiler *profiler = start(
        (takt_profiler_options){.schedule = {.wait = 1, .warmup = 1, .active = 1, .repeat = CYCLES},
                                .background = TAKT_OFF});
    for (int i = 0; i < CYCLES; i++) {
        char expected[64];
        snprintf(names[i], sizeof names[i], "new_%d", i);
        sites[i] = (takt_site)SITE(names[i]);
        for (int k = 0; k < 3; k++) {
            launch(&sites[i]);
            launch(&alpha);
            step(profiler);
        }
        assert_int_equal(trace_count, 1);
        snprintf(expected, sizeof expected, "kernel alpha 1 1000; kernel new_%d 1 777", i);
        assert_trace(traces[0], expected);
        forget_traces();
        if (i == CYCLES / 2)
            bytes = atomic_load(&now_bytes);
    }
    /* A kernel's name, and what is known of it, stay: less than a kilobyte each. */
    assert_in_range(atomic_load(&now_bytes), 0, bytes + CYCLES / 2 * 1024);
    stop(profiler);
}

/* ---- Marks at a window's end ------------------------------------------------------------------
 */

/* Opened in a step that is recorded, closed in the next one, when the trace has been made. With
 * CUPTI the kernel is known; without it the mark is not complete. */
TEST_WITH(a_mark_may_outlive_its_window, begin_test, end_test)
{
    takt_stream_mark mark = {0};
    takt_profiler *profiler = start((takt_profiler_options){
        .schedule = {.wait = 1, .active = 1, .repeat = 4}, .background = TAKT_OFF});
    for (int i = 0; i < 8; i++) {
        launch(&alpha);
        launch(i % 4 == 1 ? &beta : &gamma_site);
        mark = takt_stream_open(&beta, TAKT_TIMING_KERNEL, streams[0][1]);
        launch_plain("beta", 0, streams[0][1]);
        step(profiler);
        takt_stream_close(&mark);
    }
    stop(profiler);
    assert_int_equal(trace_count, 4);
    for (int i = 0; i < 4; i++) {
        static const char *const with[2] = {"kernel alpha 1 1000; kernel beta 2 40000",
                                            "kernel alpha 1 1000; kernel beta 1 20000; "
                                            "kernel gamma 1 300"};
        static const char *const without[2] = {"kernel alpha 1 1000; kernel beta 1 20000",
                                               "kernel alpha 1 1000; kernel gamma 1 300"};
        assert_trace_with(traces[i], (has_cupti ? with : without)[i % 2], TAKT_LOSS_INCOMPLETE,
                          has_cupti ? 0 : 1);
    }
}

static const tkt_wish without_waiting = {
    .modes = TKT_KEEP, .mask = TAKT_NORMAL_BIT, .devices = TAKT_TIMING_ALL, .no_synchronize = true};

static tkt_window *open_window(void)
{
    return window_with(&without_waiting);
}

/* Ends it, and closes it, but does not wait for the device. */

/* One stream goes on after the windows' ends: what has finished elsewhere is in the trace, what has
 * not is counted, once and in the window that launched it. */
TEST_WITH(a_window_may_end_while_the_device_works, begin_test, end_test)
{
    if (has_cupti)
        SKIP_CASE("CUPTI holds its buffers back");
    tkt_window *all = open_window(), *one = open_window();
    sim_hold(false);
    launch_on(&long_site, 0, streams[0][1]);
    launch_on(&long_site, 0, streams[0][1]);
    for (int i = 0; i < 5; i++)
        launch(&alpha);
    check(cuStreamSynchronize(streams[0][0]));
    takt_trace *trace = end_and_seal(one);
    assert_int_equal(takt_trace_count(trace, TAKT_TRACE_ACTIVITIES), 5);
    assert_int_equal(loss(trace, TAKT_LOSS_INCOMPLETE), 2);
    assert_int_equal(losses_of(trace), 2);
    takt_trace_release(trace);

    /* The next one has nothing to do with them, */
    one = open_window();
    launch(&beta);
    check(cuStreamSynchronize(streams[0][0]));
    trace = end_and_seal(one);
    assert_int_equal(takt_trace_count(trace, TAKT_TRACE_ACTIVITIES), 1);
    assert_int_equal(losses_of(trace), 0);
    takt_trace_release(trace);

    /* and for the one around both they come in time. */
    check(cuStreamSynchronize(streams[0][1]));
    trace = end_and_seal(all);
    assert_int_equal(takt_trace_count(trace, TAKT_TRACE_ACTIVITIES), 8);
    assert_int_equal(losses_of(trace), 0);
    takt_trace_release(trace);
}

TEST_WITH(marks_that_are_open_when_recording_begins_are_not_marked, begin_test, end_test)
{
    for (int i = 0; i < 2; i++) {
        takt_stream_mark mark = takt_stream_open(&beta, TAKT_TIMING_KERNEL, streams[0][1]);
        takt_profiler *profiler = start((takt_profiler_options){.background = TAKT_OFF});
        launch(&alpha);
        takt_stream_close(&mark);
        launch(&gamma_site);
        stop(profiler);
        assert_int_equal(trace_count, 1);
        assert_trace(traces[0], "kernel alpha 1 1000; kernel gamma 1 300");
        forget_traces();
    }
}

/* More than wait for the device at most: with CUPTI all are known. */
TEST_WITH(launches_are_activities_or_losses, begin_test, end_test)
{
    for (int i = 0; i < 2; i++) {
        takt_profiler *profiler = start((takt_profiler_options){.background = TAKT_OFF});
        for (unsigned k = 0; k < TKT_MARKS + 100; k++)
            launch(&gamma_site);
        stop(profiler);
        assert_int_equal(trace_count, 1);
        if (has_cupti)
            assert_trace(traces[0], "kernel gamma 16484 4945200");
        else
            assert_trace_with(traces[0], "kernel gamma 16384 4915200", TAKT_LOSS_DEVICE_DROPPED,
                              100);
        forget_traces();
    }
}

/* ---- Threads, devices, streams ----------------------------------------------------------------
 */

enum {
    THREADS = 4,
    ROUNDS = 40
};

/* Without CUPTI the inner marks count and the outer one is a scope only. */
static void *mark_on_one_stream(void *argument)
{
    int number = (int)(uintptr_t)argument;
    int device = number % 2;
    CUstream stream = streams[device][number / 2];
    use_device(device);
    for (int i = 0; i < ROUNDS; i++) {
        TAKT_STREAM_SCOPE(stream, "outer");
        launch_on(number < 2 ? &alpha : &beta, device, stream);
        TAKT_LAUNCH(stream, TAKT_TIMING_KERNEL, "gamma") {
            launch_plain("gamma", device, stream);
        }
    }
    return NULL;
}

static void *launch_alpha(void *unused)
{
    use_device(0);
    launch(&alpha);
    return unused;
}

/* It is not part of what this thread launches in its mark, though it takes its time. */
TEST_WITH(another_threads_mark_is_not_an_inner_one, begin_test, end_test)
{
    pthread_t thread;
    takt_profiler *profiler = start((takt_profiler_options){.background = TAKT_OFF});
    takt_stream_mark mark = takt_stream_open(&beta, TAKT_TIMING_KERNEL, streams[0][0]);
    launch_plain("beta", 0, streams[0][0]);
    assert_int_equal(pthread_create(&thread, NULL, launch_alpha, NULL), 0);
    pthread_join(thread, NULL);
    takt_stream_close(&mark);
    stop(profiler);
    assert_int_equal(trace_count, 1);
    assert_trace(traces[0], has_cupti ? "kernel alpha 1 1000; kernel beta 1 20000"
                                      : "kernel alpha 1 1000; kernel beta 1 21000");
}

static void mark_on_threads(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, mark_on_one_stream, (void *)(uintptr_t)i), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

#define OF_THREADS                                                                                 \
    "kernel alpha 40 40000; kernel beta 40 800000; kernel gamma 80 24000; cuda:1 kernel alpha 40 " \
    "40000; cuda:1 kernel beta 40 800000; cuda:1 kernel gamma 80 24000"

TEST_WITH(threads_mark_on_two_devices, begin_test, end_test)
{
    takt_profiler *profiler =
        start((takt_profiler_options){.schedule = three_cycles, .background = TAKT_OFF});
    for (int i = 0; i < 12; i++) {
        if (i % 4 == 3) /* CUPTI takes a buffer for each new thread, and has not many */
            mark_on_threads();
        else
            launch(&gamma_site);
        step(profiler);
    }
    stop(profiler);
    assert_int_equal(trace_count, 3);
    for (int i = 0; i < 3; i++)
        assert_trace(traces[i],
                     "kernel alpha 40 40000; kernel beta 40 800000; kernel gamma 81 24300; cuda:1 "
                     "kernel alpha 40 40000; cuda:1 kernel beta 40 800000; cuda:1 kernel gamma 80 "
                     "24000");
}

/* A program that makes its context anew in each cycle. */
TEST_WITH(a_device_may_be_reset_between_cycles, begin_test, end_test)
{
    takt_profiler *profiler = start((takt_profiler_options){
        .schedule = {.wait = 1, .warmup = 1, .active = 1, .repeat = 3}, .background = TAKT_OFF});
    for (int i = 0; i < 9; i++) {
        if (i % 3 == 0) {
            sim_hold(false);
            check(cuDevicePrimaryCtxReset_v2(1));
            prepare_device(1);
            wait_for_anchor(1);
        }
        for (int device = 0; device < 2; device++) {
            use_device(device);
            launch_on(i / 3 == device ? &alpha : &beta, device, streams[device][1]);
        }
        step(profiler);
    }
    stop(profiler);
    assert_int_equal(trace_count, 3);
    assert_trace(traces[0], "kernel alpha 1 1000; cuda:1 kernel beta 1 20000");
    assert_trace(traces[1], "kernel beta 1 20000; cuda:1 kernel alpha 1 1000");
    assert_trace(traces[2], "kernel beta 1 20000; cuda:1 kernel beta 1 20000");
}

/* Marks in a capture are scopes only; the launch of the graph can be marked. */
TEST_WITH(captured_launches_are_not_marked, begin_test, end_test)
{
    CUgraph graph;
    CUgraphExec launchable;
    CUstream stream = streams[0][0];
    takt_profiler *profiler =
        start((takt_profiler_options){.schedule = three_cycles, .background = TAKT_OFF});
    for (int i = 0; i < 12; i++) {
        check(cuStreamBeginCapture_v2(stream, 0));
        launch(&alpha);
        launch(&gamma_site);
        check(cuStreamEndCapture(stream, &graph));
        check(cuGraphInstantiateWithFlags(&launchable, graph, 0));
        check(cuGraphDestroy(graph));
        launch(&beta);
        TAKT_LAUNCH(stream, TAKT_TIMING_GRAPH, "both") {
            check(cuGraphLaunch(launchable, stream));
        }
        step(profiler);
        check(cuGraphExecDestroy(launchable));
    }
    stop(profiler);
    assert_int_equal(trace_count, 3);
    for (int i = 0; i < 3; i++)
        assert_trace(traces[i], has_cupti
                                    ? "kernel alpha 2 2000; kernel beta 2 40000; kernel gamma 2 600"
                                    : "graph both 2 2600; kernel beta 2 40000");
}

/* Without CUPTI nobody tells Takt of captures. Even in relaxed mode, asking whether the device has
 * done all its work would end them. */
TEST_WITH(windows_that_end_leave_a_capture_alone, begin_test, end_test)
{
    CUgraph graph;
    CUstream stream = streams[0][1];
    takt_profiler *profiler =
        start((takt_profiler_options){.schedule = three_cycles, .background = TAKT_OFF});
    sim_hold(false);
    for (int i = 0; i < 12; i++) {
        launch(&beta);
        check(cuStreamBeginCapture_v2(stream, 2));
        assert_int_equal(takt_profiler_step(profiler), TAKT_OK);
        launch_plain("gamma", 0, stream);
        check(cuStreamEndCapture(stream, &graph));
        check(cuGraphDestroy(graph));
    }
    stop(profiler);
    assert_int_equal(trace_count, 3);
}

/* ---- Modes ------------------------------------------------------------------------------------
 */

TEST_WITH(summaries_have_the_same_sums, begin_test, end_test)
{
    takt_profiler *profiler = start((takt_profiler_options){
        .mode = TAKT_MODE_SUMMARY, .schedule = three_cycles, .background = TAKT_OFF});
    for (int i = 0; i < 12; i++) {
        TAKT_SCOPE("step");
        if (i % 4 == 2)
            mark_on_threads();
        launch(i < 4 ? &alpha : &gamma_site);
        step(profiler);
    }
    stop(profiler);
    assert_int_equal(trace_count, 3);
    assert_trace(traces[0],
                 "kernel alpha 42 42000; kernel beta 40 800000; kernel gamma 80 24000; cuda:1 "
                 "kernel alpha 40 40000; cuda:1 kernel beta 40 800000; cuda:1 kernel gamma 80 "
                 "24000");
    for (int i = 1; i < 3; i++)
        assert_trace(traces[i],
                     "kernel alpha 40 40000; kernel beta 40 800000; kernel gamma 82 24600; cuda:1 "
                     "kernel alpha 40 40000; cuda:1 kernel beta 40 800000; cuda:1 kernel gamma 80 "
                     "24000");
}

TEST_WITH(the_flight_recorder_has_the_last_marks, begin_test, end_test)
{
    for (int i = 0; i < 2; i++) {
        takt_profiler *profiler =
            start((takt_profiler_options){.mode = TAKT_MODE_FLIGHT, .background = TAKT_OFF});
        mark_on_threads();
        stop(profiler);
        assert_int_equal(trace_count, 1);
        assert_trace(traces[0], OF_THREADS);
        forget_traces();
    }
}

TEST_WITH(streamed_cycles_have_all_marks, begin_test, end_test)
{
    static const char *const outputs[] = {"perfetto"};
    char folder[] = "/tmp/takt-marks-XXXXXX", command[64];
    assert_non_null(mkdtemp(folder));
    is_background = true;
    takt_profiler *profiler = start((takt_profiler_options){.schedule = three_cycles,
                                                            .stream = true,
                                                            .name = "marks",
                                                            .directory = folder,
                                                            .traces = outputs,
                                                            .trace_count = 1});
    for (int i = 0; i < 12; i++) {
        launch(i % 2 ? &alpha : &beta);
        step(profiler);
    }
    stop(profiler);
    assert_int_equal(trace_count, 3);
    for (int i = 0; i < 3; i++)
        assert_trace(traces[i], "kernel alpha 1 0; kernel beta 1 0");
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* ---- Another tool that holds CUPTI for a while -------------------------------------------------
 */

/* CUPTI's own ids may be lower than those that marks had meanwhile, and what has not finished when
 * CUPTI comes back is no later window's. The last test: CUPTI does not go away again. */
TEST_WITH(cupti_may_come_back, begin_test, end_test)
{
    if (!is_taken)
        SKIP_CASE("no other tool holds CUPTI in this run");
    tkt_window *window = open_window();
    launch(&alpha);
    launch_on(&long_site, 0, streams[0][1]);
    takt_stream_mark open = takt_stream_open(&beta, TAKT_TIMING_KERNEL, streams[0][0]);
    sim_hold(false);
    check(cuStreamSynchronize(streams[0][0]));
    takt_trace *trace = end_and_seal(window);
    assert_int_equal(takt_trace_count(trace, TAKT_TRACE_ACTIVITIES), 1);
    assert_int_equal(loss(trace, TAKT_LOSS_INCOMPLETE), 2);
    takt_trace_release(trace);

    tkt_callback_continue_from(1u << 30); /* as if so many launches had been marked */
    is_taken = false;
    has_cupti = true;
    sim_script(script());
    for (int i = 0; i < 2; i++) {
        sim_hold(true);
        takt_profiler *profiler = start((takt_profiler_options){
            .mode = i ? TAKT_MODE_TRACE : TAKT_MODE_SUMMARY, .background = TAKT_OFF});
        launch(&gamma_site);
        if (i == 1)
            takt_stream_close(&open);
        launch_plain("beta", 0, streams[0][0]);
        stop(profiler);
        assert_int_equal(trace_count, 1);
        assert_trace(traces[0], "kernel beta 1 20000; kernel gamma 1 300");
        forget_traces();
    }
}

TEST_MAIN(set_up_devices, NULL)
