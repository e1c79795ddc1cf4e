/* Bodies of conditional nodes come after all that a window could miss. It waits for them if they
 * come at all: of graphs that the process had not launched before, nobody knows. */
#include "simgpu/driver.h"
#include "simgpu/profiled.h"

#include "cuda/collector.h"
#include "trace/model.h"

#include "support/test.h"

#include <takt/activity.h>
#include <takt/takt.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static CUcontext context;
static CUmodule module;

static int set_up(void **state)
{
    (void)state;
    use_devices("cupti.version=130101; kernel.one=1000; kernel.slow=20ms", &context, 1, &module);
    return 0;
}

static void launch_on(const char *name, CUstream stream)
{
    launch_from(module, name, 16, stream);
}

/* A graph of one kernel, and then as many of another. */
static CUgraphExec make(CUstream stream, const char *first, const char *others, int count)
{
    CUgraph graph;
    CUgraphExec exec;
    check(cuStreamBeginCapture_v2(stream, 0));
    launch_on(first, stream);
    for (int i = 0; i < count; i++)
        launch_on(others, stream);
    check(cuStreamEndCapture(stream, &graph));
    check(cuGraphInstantiateWithFlags(&exec, graph, 0));
    check(cuGraphDestroy(graph));
    return exec;
}

static uint64_t count_of(const char *name)
{
    uint64_t count = 0;
    for (size_t i = 0; i < last_trace->node_activities.count; i++) {
        const tkt_node_activity *found = &last_trace->node_activities.items[i];
        if (strcmp(tkt_trace_text(last_trace, found->name), name) == 0)
            count += found->stats.count;
    }
    for (size_t i = 0; i < takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES); i++) {
        takt_activity found;
        takt_trace_activity(last_trace, i, &found);
        count += strcmp(found.name, name) == 0;
    }
    return count;
}

static void launch_in_window(CUgraphExec exec, CUstream stream, bool has_bodies)
{
    takt_profiler *profiler =
        start_profiler((takt_profiler_options){.mode = TAKT_MODE_TRACE, .background = TAKT_OFF});
    for (int i = 0; i < 2; i++)
        check(cuGraphLaunch(exec, stream));
    stop_profiler(profiler);
    assert_int_equal(count_of("kernel one"), 2);
    assert_int_equal(count_of("kernel slow_by_device"), has_bodies ? 6 : 0);
}

/* A filter may leave out all nodes of a graph, so nothing lacks; but those in flight must come. */
TEST(a_summary_of_one_kind_waits_for_nodes_in_flight)
{
    CUstream stream;
    check(cuStreamCreate(&stream, 1));
    CUgraphExec exec = make(stream, "slow", "slow", 1);
    for (int i = 0; i < 3; i++) { /* in the first window a wait for bodies may hide it */
        uint32_t filter = i < 2 ? TAKT_TIMING_KERNEL : TAKT_TIMING_MEMSET;
        takt_profiler *profiler = start_profiler((takt_profiler_options){
            .mode = TAKT_MODE_SUMMARY, .filter = filter, .background = TAKT_OFF});
        for (int launch = 0; launch < 3; launch++)
            check(cuGraphLaunch(exec, stream));
        stop_profiler(profiler);
        assert_int_equal(count_of("kernel slow"), i < 2 ? 6 : 0);
        assert_int_equal(loss(TAKT_LOSS_INCOMPLETE) + loss(TAKT_LOSS_NO_ACTIVITY), 0);
    }
    check(cuStreamSynchronize(stream));
    check(cuGraphExecDestroy(exec));
    check(cuStreamDestroy_v2(stream));
}

TEST(a_graph_with_bodies_comes_after_plain_ones)
{
    CUstream stream;
    check(cuStreamCreate(&stream, 1));
    CUgraphExec plain = make(stream, "one", NULL, 0);
    CUgraphExec with_bodies = make(stream, "one", "slow_by_device", 3);
    launch_in_window(plain, stream, false);
    launch_in_window(plain, stream, false);
    launch_in_window(with_bodies, stream, true);
    launch_in_window(plain, stream, false);
    launch_in_window(with_bodies, stream, true);
    check(cuGraphExecDestroy(plain));
    check(cuGraphExecDestroy(with_bodies));
    check(cuStreamDestroy_v2(stream));
}

/* More than are asked: then one of the others may be at work. */
TEST(of_too_many_streams_none_is_taken_for_done)
{
    enum {
        MOST = 256
    };
    const tkt_driver *driver = tkt_driver_get();
    CUstream many[MOST + 1];
    tkt_graph_streams_forget();
    for (int i = 0; i <= MOST; i++) {
        check(cuStreamCreate(&many[i], 1));
        tkt_graph_stream_used(context, many[i], false);
        assert_int_equal(tkt_graph_streams_are_done(driver), i < MOST);
    }
    tkt_graph_streams_forget();
    assert_true(tkt_graph_streams_are_done(driver));
    for (int i = 0; i <= MOST; i++)
        check(cuStreamDestroy_v2(many[i]));
}

/* The records of one launch lie in several buffers, of which the first come back earlier. */
TEST(a_summary_has_all_nodes_of_its_last_launch)
{
    enum {
        NODES = 40000,
        LAUNCHES = 3
    };
    CUstream stream;
    check(cuStreamCreate(&stream, 1));
    CUgraphExec exec = make(stream, "one", "one", NODES - 1);
    for (int i = 0; i < 3; i++) {
        takt_profiler *profiler = start_profiler(
            (takt_profiler_options){.mode = TAKT_MODE_SUMMARY, .background = TAKT_OFF});
        for (int launch = 0; launch < LAUNCHES; launch++)
            check(cuGraphLaunch(exec, stream));
        stop_profiler(profiler);
        assert_int_equal(count_of("kernel one"), LAUNCHES * NODES);
    }
    check(cuGraphExecDestroy(exec));
    check(cuStreamDestroy_v2(stream));
}

TEST_MAIN(set_up, NULL)
