/* Faults of CUPTI's stamps: a clock of the client's that devices do not follow because a context
 * was there first, and nodes of graphs without times after many of them. */
#include "simgpu/driver.h"
#include "simgpu/sim.h"
#include "simgpu/profiled.h"
#include "support/test.h"

#include <takt/takt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GOOD_NODES 6u

static CUcontext context;
static CUmodule module;
static char log_text[4000];

static void hear(takt_log_level level, const char *text, void *user)
{
    (void)level, (void)user;
    size_t used = strlen(log_text);
    snprintf(log_text + used, sizeof log_text - used, "%s\n", text);
}

static int set_up_device(void **state)
{
    (void)state;
    use_devices("cupti.version=130200; cupti.zero_graphs_after=6; kernel=1us; memset=500", &context,
                1, &module);
    takt_set_log(hear, NULL);
    return 0;
}

static void launch_on(CUstream stream)
{
    CUfunction function;
    check(cuModuleGetFunction(&function, module, "k"));
    check(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
}

/* Records what `work` does; returns the trace's facts. */
static const takt_facts *record(void (*work)(void))
{
    takt_profiler *profiler;
    takt_profiler_options options = {
        .struct_size = sizeof options, .on_trace = keep_trace, .background = TAKT_OFF};
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    work();
    check(cuCtxSynchronize());
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    takt_profiler_destroy(profiler);
    return takt_trace_facts(last_trace);
}

static void launch_ten(void)
{
    for (int i = 0; i < 10; i++)
        launch_on(NULL);
}

/* The context is older than the first window, as in nearly all programs. */
TEST(a_clock_after_the_context_loses_nothing)
{
    const takt_facts *facts = record(launch_ten);
    assert_non_null(strstr(facts->backend, "130200"));
    assert_int_equal(takt_trace_loss(last_trace, TAKT_LOSS_BAD_TIME), 0);
    assert_int_equal(takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES), 10);
    for (size_t i = 0; i < 10; i++) {
        takt_activity activity;
        assert_int_equal(takt_trace_activity(last_trace, i, &activity), TAKT_OK);
        assert_int_equal(activity.end_ns - activity.begin_ns, 1000);
        assert_true(activity.begin_ns >= facts->begin_ns);
    }
}

/* Where another family of CUPTI's functions is in use, this one fails. */
TEST(a_clock_that_cupti_does_not_tell_is_known_all_the_same)
{
    sim_script("fault=cuptiGetTimestamp=14");
    const takt_facts *facts = record(launch_ten);
    sim_script("");
    assert_true(facts->device_uncertainty_ns < 1e9);
    assert_int_equal(takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES), 10);
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        assert_int_equal(takt_trace_loss(last_trace, (takt_loss)i), 0);
}

/* Twice two kernels, a set, and another kernel. */
static void launch_graphs(void)
{
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr memory;
    check(cuMemAlloc_v2(&memory, 64));
    check(cuStreamCreate(&stream, 1));
    check(cuStreamBeginCapture_v2(stream, 0));
    launch_on(stream);
    launch_on(stream);
    check(cuMemsetD8Async(memory, 0, 64, stream));
    launch_on(stream);
    check(cuStreamEndCapture(stream, &graph));
    check(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 2; i++)
        check(cuGraphLaunch(exec, stream));
    check(cuStreamSynchronize(stream));
    check(cuGraphExecDestroy(exec));
    check(cuGraphDestroy(graph));
    check(cuStreamDestroy_v2(stream));
    check(cuMemFree_v2(memory));
}

static size_t times_heard(const char *text)
{
    size_t count = 0;
    for (const char *at = log_text; (at = strstr(at, text)) != NULL; at += strlen(text))
        count++;
    return count;
}

TEST(nodes_without_times_are_named)
{
    record(launch_graphs);
    assert_int_equal(takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES), GOOD_NODES);
    assert_int_equal(takt_trace_loss(last_trace, TAKT_LOSS_BAD_TIME), 8 - GOOD_NODES);
    assert_int_equal(takt_trace_loss(last_trace, TAKT_LOSS_INCOMPLETE), 0);
    assert_int_equal(times_heard("without times"), 1);
    assert_int_equal(times_heard("graph: launch"), 1);
    record(launch_graphs);
    assert_int_equal(takt_trace_loss(last_trace, TAKT_LOSS_BAD_TIME), 8);
    assert_int_equal(times_heard("without times"), 1);
}

TEST_MAIN(set_up_device, NULL)
