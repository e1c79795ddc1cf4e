/* Windows that ask for graphs have one row for each launch: from CUPTI's record of the whole launch
 * where that comes, otherwise put together from the launch's nodes. The last gap of each graph
 * makes a launch longer than its nodes. */
#include "simgpu/driver.h"
#include "simgpu/profiled.h"
#include "simgpu/sim.h"

#include "cuda/store.h"
#include "record/log.h"
#include "trace/model.h"

#include "support/test.h"

#include <takt/takt.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static takt_profiler *start_in_foreground(takt_profiler_options options)
{
    options.background = TAKT_OFF;
    return start_profiler(options);
}

static void stop_without_losses(takt_profiler *profiler)
{
    stop_profiler(profiler);
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        if (loss((takt_loss)i) != 0)
            fail_msg("%lu %s", (unsigned long)loss((takt_loss)i), takt_loss_name((takt_loss)i));
}

#define GAP       100
#define LAUNCH_NS (1000 + GAP + 500 + GAP + 2000 + GAP + 700) /* one, memset, two, memcpy */
#define NODES     4

static CUcontext context;
static CUmodule module;
static CUdeviceptr memory;
static char host[8][64]; /* graphs that run at once have a row each */

/* A release without the fault of 13.0 Update 1, see prog_graph_ids.c. */
static int set_up(void **state)
{
    (void)state;
    use_stand_in("cupti.version=130101; kernel.one=1000; kernel.two=2000; "
                 "kernel.by_device=2000; kernel.plain=300; "
                 "kernel.slow=20ms; kernel.slower=200ms; "
                 "memset=500; memcpy=700; graph.gap=100");
    check(cuInit(0));
    check(cuDevicePrimaryCtxRetain(&context, 0));
    check(cuCtxSetCurrent(context));
    check(cuModuleLoadData(&module, "none"));
    check(cuMemAlloc_v2(&memory, sizeof host));
    return 0;
}

static void launch_on(const char *name, CUstream stream)
{
    launch_from(module, name, 16, stream);
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

typedef struct replay {
    CUstream stream;
    CUgraphExec exec;
    unsigned id;
    char row[32]; /* "graph 5" */
    const char *second;
} replay;

static const char *second = "two"; /* kernel of the graphs that are made */

static replay make_of(bool is_empty)
{
    replay made;
    CUgraph graph;
    check(cuStreamCreate(&made.stream, 1));
    check(cuStreamBeginCapture_v2(made.stream, 0));
    if (!is_empty) {
        launch_on("one", made.stream);
        static unsigned made_before;
        unsigned row = made_before++ % 8;
        check(cuMemsetD8Async(memory + row * sizeof host[0], 0, sizeof host[0], made.stream));
        launch_on(second, made.stream);
        check(cuMemcpyDtoHAsync_v2(host[row], memory + row * sizeof host[0], sizeof host[0],
                                   made.stream));
    }
    check(cuStreamEndCapture(made.stream, &graph));
    check(cuGraphInstantiateWithFlags(&made.exec, graph, 0));
    check(cuGraphDestroy(graph));
    made.id = sim_graph_exec_id(made.exec);
    snprintf(made.row, sizeof made.row, "graph %u", made.id);
    made.second = second;
    return made;
}

/* The row of launches that are put together: graphs of the same nodes have the number of the first
 * that was, as of the first that is asked for. */
static const char *composed_of(const char *nodes, unsigned id)
{
    static struct {
        const char *nodes;
        char row[32];
    } rows[8];
    size_t i = 0;
    while (rows[i].nodes && strcmp(rows[i].nodes, nodes) != 0)
        i++;
    if (!rows[i].nodes)
        snprintf(rows[i].row, sizeof rows[i].row, "graph %u from nodes", id);
    rows[i].nodes = nodes;
    return rows[i].row;
}

static const char *composed(const replay *made)
{
    return composed_of(made->second, made->id);
}

static replay make(void)
{
    return make_of(false);
}

static void run(const replay *made, int times)
{
    for (int i = 0; i < times; i++)
        check(cuGraphLaunch(made->exec, made->stream));
}

static void unmake(const replay *made)
{
    check(cuStreamSynchronize(made->stream));
    check(cuGraphExecDestroy(made->exec));
    check(cuStreamDestroy_v2(made->stream));
}

/* ---- What Takt says -------------------------------------------------------------------------- */

static takt_timing *begin_timing(uint32_t filter)
{
    const takt_timing_options options = {.struct_size = sizeof options, .filter = filter};
    takt_timing *timing;
    assert_int_equal(takt_timing_begin(&options, &timing), TAKT_OK);
    return timing;
}

/* Its rows of that name, all of which last that long and are put together from so many nodes. */
static size_t rows_of(const takt_timing *timing, const char *name, uint64_t ns, uint32_t nodes)
{
    size_t count = 0;
    for (size_t i = 0; i < takt_timing_count(timing); i++) {
        const takt_activity *activity = takt_timing_at(timing, i);
        if (strcmp(activity->name, name) != 0)
            continue;
        assert_int_equal(activity->end_ns - activity->begin_ns, ns);
        assert_int_equal(activity->graph_node_count, nodes);
        count++;
    }
    return count;
}

static void assert_rows(const takt_timing *timing, const char *name, uint32_t nodes, size_t count)
{
    assert_int_equal(rows_of(timing, name, LAUNCH_NS, nodes), count);
}

static takt_timing *end_timing(takt_timing *timing, size_t count)
{
    assert_int_equal(takt_timing_end(timing), TAKT_OK);
    assert_int_equal(takt_timing_count(timing), count);
    return timing;
}

/* Activities of the last trace with this name that this scope launched; NULL: any. */
static size_t traced(const char *name, const char *scope)
{
    size_t count = 0;
    for (size_t i = 0; i < takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES); i++) {
        takt_activity activity;
        assert_int_equal(takt_trace_activity(last_trace, i, &activity), TAKT_OK);
        bool is_there = !scope || (activity.scope && strcmp(activity.scope, scope) == 0);
        count += is_there && strcmp(activity.name, name) == 0;
    }
    return count;
}

/* ---- Timings --------------------------------------------------------------------------------- */

TEST(a_timing_of_graphs_lists_one_made_inside)
{
    takt_timing *timing = begin_timing(TAKT_TIMING_GRAPH);
    replay made = make();
    run(&made, 3);
    launch_on("plain", NULL);
    end_timing(timing, 3);
    assert_rows(timing, made.row, 0, 3);
    assert_int_equal(takt_timing_at(timing, 0)->filter, TAKT_TIMING_GRAPH);
    assert_int_equal(takt_timing_at(timing, 0)->graph, made.id);
    takt_timing_free(timing);
    unmake(&made);
}

TEST(an_empty_graph_has_a_row_if_it_was_made_inside)
{
    takt_timing *timing = begin_timing(TAKT_TIMING_GRAPH);
    replay made = make_of(true);
    run(&made, 2);
    end_timing(timing, 2);
    assert_int_equal(rows_of(timing, made.row, 0, 0), 2);
    takt_timing_free(timing);
    unmake(&made);
}

/* The timer comes first, so that the profiler switches whole records off while it is open. */
TEST(a_profiler_of_nodes_in_a_timer_of_graphs)
{
    takt_timing *timing = begin_timing(TAKT_TIMING_GRAPH);
    replay made = make();
    run(&made, 1);
    takt_profiler *profiler = start_in_foreground((takt_profiler_options){0});
    run(&made, 2);
    stop_without_losses(profiler);
    end_timing(timing, 3);
    assert_rows(timing, made.row, 0, 1);
    assert_rows(timing, composed(&made), NODES, 2);
    takt_timing_free(timing);
    assert_int_equal(takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES), 2 * NODES);
    unmake(&made);
}

/* CUPTI would crash in the launch of a graph from before it recorded whole launches. With the first
 * such launch all launches are recorded node by node, until the process ends: the tests from here
 * on see no whole launches any more. */
TEST(a_graph_from_before_makes_all_launches_nodes)
{
    replay before = make();
    takt_profiler *profiler =
        start_in_foreground((takt_profiler_options){.graph = TAKT_GRAPH_LAUNCH});
    replay inside = make();
    for (int i = 0; i < 5; i++) {
        TAKT_SCOPE("step");
        run(&inside, 2);
        launch_on("plain", NULL);
        run(&before, 1);
    }
    stop_without_losses(profiler);
    assert_int_equal(traced(composed(&before), "step"), 5 + 8); /* the same nodes */
    assert_int_equal(traced(inside.row, "step"), 2);
    assert_int_equal(traced("kernel plain", "step"), 5);
    assert_int_equal(takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES), 20);
    unmake(&before);
    unmake(&inside);
}

TEST(a_timing_of_graphs_lists_one_made_before)
{
    replay made = make();
    takt_timing *timing = begin_timing(TAKT_TIMING_GRAPH);
    run(&made, 3);
    launch_on("plain", NULL);
    end_timing(timing, 3);
    assert_rows(timing, composed(&made), NODES, 3);
    const takt_activity *first = takt_timing_at(timing, 0);
    assert_int_equal(first->filter, TAKT_TIMING_GRAPH);
    assert_int_equal(first->graph, made.id);
    assert_int_equal(first->graph_node, 0);
    assert_string_equal(first->launch, "cuGraphLaunch");
    assert_true(first->end_ns <= takt_timing_at(timing, 1)->begin_ns);
    takt_timing_free(timing);
    unmake(&made);
}

TEST(copies_beside_graphs_are_not_those_inside)
{
    replay made = make();
    takt_timing *timing = begin_timing(TAKT_TIMING_GRAPH | TAKT_TIMING_MEMCPY);
    run(&made, 2);
    check(cuMemcpyDtoH_v2(host, memory, sizeof host));
    end_timing(timing, 3);
    assert_rows(timing, composed(&made), NODES, 2);
    assert_int_equal(rows_of(timing, "memcpy DtoH", 700, 0), 1);
    takt_timing_free(timing);
    unmake(&made);
}

TEST(with_kernels_graphs_are_their_nodes)
{
    replay made = make();
    takt_timing *timing = begin_timing(TAKT_TIMING_GRAPH | TAKT_TIMING_KERNEL);
    run(&made, 2);
    end_timing(timing, 4);
    assert_int_equal(rows_of(timing, "kernel one", 1000, 0), 2);
    assert_int_equal(rows_of(timing, "kernel two", 2000, 0), 2);
    takt_timing_free(timing);
    unmake(&made);
}

/* Also where a node's kind is left out. */
TEST(graphs_can_be_whole_beside_kernels)
{
    replay made = make();
    const takt_timing_options options = {.struct_size = sizeof options,
                                         .filter = TAKT_TIMING_GRAPH | TAKT_TIMING_KERNEL,
                                         .graph = TAKT_GRAPH_LAUNCH};
    takt_timing *timing, *nodes = begin_timing(TAKT_TIMING_ALL);
    assert_int_equal(takt_timing_begin(&options, &timing), TAKT_OK);
    run(&made, 2);
    launch_on("plain", NULL);
    check(cuMemcpyDtoH_v2(host, memory, sizeof host));
    end_timing(timing, 3);
    end_timing(nodes, 2 * NODES + 2);
    assert_rows(timing, composed(&made), NODES, 2);
    assert_int_equal(rows_of(timing, "kernel plain", 300, 0), 1);
    takt_timing_free(timing);
    takt_timing_free(nodes);
    unmake(&made);
}

static void count_graphs(const takt_timing *timing, const char *indent, void *user)
{
    replay *made = user;
    (void)indent;
    assert_int_equal(takt_timing_count(timing), 2);
    assert_rows(timing, composed(made), NODES, 1);
    assert_int_equal(rows_of(timing, "kernel plain", 300, 0), 1);
    made->id = 0;
}

TEST(a_timer_can_have_graphs_whole_beside_kernels)
{
    replay made = make();
    TAKT_TIMER_BEGIN(timer, "both", .filter = TAKT_TIMING_ALL, .graph = TAKT_GRAPH_LAUNCH,
                     .report = count_graphs, .user = &made);
    run(&made, 1);
    launch_on("plain", NULL);
    TAKT_TIMER_END(timer);
    assert_int_equal(made.id, 0);
    unmake(&made);
}

TEST(an_empty_graph_has_no_nodes_to_make_a_row_of)
{
    replay made = make_of(true);
    takt_timing *timing = begin_timing(TAKT_TIMING_GRAPH);
    run(&made, 2);
    end_timing(timing, 0);
    takt_timing_free(timing);
    unmake(&made);
}

/* ---- Profilers ------------------------------------------------------------------------------- */

TEST(a_profiler_of_graphs_alone)
{
    replay before = make();
    takt_profiler *profiler =
        start_in_foreground((takt_profiler_options){.filter = TAKT_TIMING_GRAPH});
    run(&before, 4);
    stop_without_losses(profiler);
    assert_int_equal(traced(composed(&before), NULL), 4);
    assert_int_equal(takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES), 4);
    unmake(&before);
}

/* A profiler that wants nodes decides what is recorded; the timer makes its rows of that. */
TEST(a_timer_of_graphs_in_a_profiler_of_nodes)
{
    takt_profiler *profiler = start_in_foreground(
        (takt_profiler_options){.filter = TAKT_TIMING_KERNEL | TAKT_TIMING_GRAPH});
    replay made = make();
    run(&made, 1);
    takt_timing *timing = begin_timing(TAKT_TIMING_GRAPH);
    run(&made, 2);
    end_timing(timing, 2);
    assert_rows(timing, composed(&made), NODES, 2);
    takt_timing_free(timing);
    run(&made, 1);
    stop_without_losses(profiler);
    assert_int_equal(traced("kernel one", NULL), 4);
    assert_int_equal(traced("kernel two", NULL), 4);
    assert_int_equal(takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES), 8);
    unmake(&made);
}

enum {
    THREADS = 4,
    LAUNCHES = 50
};

static void *replay_on_own_stream(void *argument)
{
    const replay *made = argument;
    check(cuCtxSetCurrent(context));
    for (int i = 0; i < LAUNCHES; i++) {
        takt_begin(made->row);
        check(cuGraphLaunch(made->exec, made->stream));
        takt_end();
    }
    return NULL;
}

TEST(graphs_of_several_threads_are_told_apart)
{
    pthread_t threads[THREADS];
    replay made[THREADS];
    char row[32];
    for (int i = 0; i < THREADS; i++)
        made[i] = make();
    takt_timing *timing = begin_timing(TAKT_TIMING_GRAPH);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, replay_on_own_stream, &made[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(takt_timing_end(timing), TAKT_OK);
    assert_int_equal(takt_timing_count(timing), THREADS * LAUNCHES);
    for (size_t i = 0; i < THREADS * LAUNCHES; i++) {
        const takt_activity *activity = takt_timing_at(timing, i);
        assert_int_equal(activity->graph_node_count, NODES);
        snprintf(row, sizeof row, "graph %u", activity->graph);
        assert_string_equal(row, activity->scope);
        assert_string_equal(activity->name, composed(&made[0])); /* the same nodes */
    }
    takt_timing_free(timing);
    for (int i = 0; i < THREADS; i++)
        unmake(&made[i]);
}

/* ---- In bounded memory ----------------------------------------------------------------------- */

static void assert_sum(const char *scope, const char *name, uint64_t count, uint64_t total_ns)
{
    for (size_t i = 0; i < last_trace->node_activities.count; i++) {
        const tkt_node_activity *found = &last_trace->node_activities.items[i];
        uint32_t site = last_trace->fold.items[found->node].site;
        if (strcmp(tkt_trace_text(last_trace, last_trace->sites.items[site].name), scope) != 0 ||
            strcmp(tkt_trace_text(last_trace, found->name), name) != 0)
            continue;
        assert_int_equal(found->filter, TAKT_TIMING_GRAPH);
        assert_int_equal(found->stats.count, count);
        assert_int_equal(found->stats.total_ns, total_ns);
        return;
    }
    fail_msg("no %s of %s", name, scope);
}

TEST(a_summary_has_the_same_rows)
{
    enum {
        ROUNDS = 400
    };
    replay before = make();
    takt_profiler *profiler = start_in_foreground(
        (takt_profiler_options){.mode = TAKT_MODE_SUMMARY, .graph = TAKT_GRAPH_LAUNCH});
    replay inside = make();
    for (int i = 0; i < ROUNDS; i++) {
        TAKT_SCOPE("step");
        run(&before, 2);
        {
            TAKT_SCOPE("inner");
            run(&before, 1);
        }
        TAKT_SCOPE("other");
        run(&inside, 1);
    }
    stop_without_losses(profiler);
    assert_sum("step", composed(&before), 2 * ROUNDS, (uint64_t)2 * ROUNDS * LAUNCH_NS);
    assert_sum("inner", composed(&before), ROUNDS, (uint64_t)ROUNDS * LAUNCH_NS);
    assert_int_equal(last_trace->node_activities.count, 3);
    unmake(&before);
    unmake(&inside);
}

/* ---- Nodes that a device launches itself ----------------------------------------------------- */

/* Of all scopes. */
static uint64_t count_of(const char *name)
{
    uint64_t count = 0;
    for (size_t i = 0; i < last_trace->activities.count; i++)
        count +=
            strcmp(tkt_trace_text(last_trace, last_trace->activities.items[i].name), name) == 0;
    for (size_t i = 0; i < last_trace->node_activities.count; i++) {
        const tkt_node_activity *found = &last_trace->node_activities.items[i];
        bool is_it = strcmp(tkt_trace_text(last_trace, found->name), name) == 0;
        count += is_it && last_trace->activities.count == 0 ? found->stats.count : 0;
    }
    return count;
}

/* Time of all with this name. */
static uint64_t total_ns_of(const char *name)
{
    uint64_t total = 0;
    for (size_t i = 0; i < last_trace->activities.count; i++) {
        const tkt_activity *found = &last_trace->activities.items[i];
        bool is_it = strcmp(tkt_trace_text(last_trace, found->name), name) == 0;
        total += is_it ? found->end_ns - found->begin_ns : 0;
    }
    for (size_t i = 0; i < last_trace->node_activities.count; i++) {
        const tkt_node_activity *found = &last_trace->node_activities.items[i];
        bool is_it = strcmp(tkt_trace_text(last_trace, found->name), name) == 0;
        total += is_it && last_trace->activities.count == 0 ? found->stats.total_ns : 0;
    }
    return total;
}

/* In that scope. */
static uint64_t count_in(const char *scope, const char *name)
{
    uint64_t count = 0;
    for (size_t i = 0; i < last_trace->activities.count; i++) {
        takt_activity found;
        assert_int_equal(takt_trace_activity(last_trace, i, &found), TAKT_OK);
        count += strcmp(found.name, name) == 0 && found.scope && strcmp(found.scope, scope) == 0;
    }
    for (size_t i = 0; i < last_trace->node_activities.count && !last_trace->activities.count;
         i++) {
        const tkt_node_activity *found = &last_trace->node_activities.items[i];
        count += strcmp(tkt_trace_text(last_trace, found->name), name) == 0 &&
                         strcmp(tkt_node_name(last_trace, &last_trace->fold.items[found->node]),
                                scope) == 0
                     ? found->stats.count
                     : 0;
    }
    return count;
}

/* The first activity that is still there. */
static uint64_t first_position(void)
{
    tkt_store *store = tkt_store_get();
    tkt_mutex_lock(&store->lock);
    uint64_t first = store->first ? store->first->first : store->next_sequence;
    tkt_mutex_unlock(&store->lock);
    return first;
}

/* Fills half of the memory until the stream has freed what it has written: only then it has to know
 * whose the bodies are. The other half is for what has not arrived. */
static void fill_memory(CUstream stream)
{
    uint64_t begin = tkt_store_position(), launched = 0;
    for (bool is_full = false; is_full || first_position() <= begin;) {
        is_full = tkt_store_is_full() || tkt_pool_used_bytes() > tkt_pool_limit_bytes() / 2;
        if (is_full || tkt_store_position() - begin + 1000 < launched) {
            usleep(1000);
            continue;
        }
        for (int i = 0; i < 100; i++)
            launch_on("plain", stream);
        launched += 100;
        check(cuStreamSynchronize(stream));
    }
}

#define LITTLE_MEMORY ((uint64_t)1 << 20)

/* Two kinds of graphs, in windows of all kinds. */
TEST(graphs_made_again_and_again_have_a_row_for_each_set_of_nodes)
{
    const takt_mode modes[] = {TAKT_MODE_TRACE, TAKT_MODE_SUMMARY, TAKT_MODE_BOTH};
    for (size_t i = 0; i < 3; i++) {
        takt_profiler *profiler = start_in_foreground(
            (takt_profiler_options){.mode = modes[i], .graph = TAKT_GRAPH_LAUNCH});
        for (int k = 0; k < 20; k++) {
            TAKT_SCOPE("step");
            second = k % 2 ? "plain" : "two";
            replay made = make();
            run(&made, 1 + k % 2);
            assert_non_null(composed(&made));
            unmake(&made);
        }
        second = "two";
        stop_without_losses(profiler);
        assert_int_equal(count_of(composed_of("two", 0)), 10);
        assert_int_equal(count_of(composed_of("plain", 0)), 20);
    }
}

/* Its launches before and after are told apart by their nodes. */
TEST(an_updated_graph_launches_other_nodes)
{
    const takt_graph levels[] = {TAKT_GRAPH_NODE, TAKT_GRAPH_LAUNCH};
    CUgraph graph;
    for (size_t i = 0; i < 2; i++) {
        replay made = make();
        takt_profiler *profiler = start_in_foreground((takt_profiler_options){.graph = levels[i]});
        run(&made, 3);
        check(cuStreamBeginCapture_v2(made.stream, 0));
        launch_on("one", made.stream);
        check(cuMemsetD8Async(memory, 0, sizeof host[0], made.stream));
        launch_on("plain", made.stream);
        check(cuMemcpyDtoHAsync_v2(host[0], memory, sizeof host[0], made.stream));
        check(cuStreamEndCapture(made.stream, &graph));
        check(cuGraphExecUpdate_v2(made.exec, graph, NULL));
        check(cuGraphDestroy(graph));
        run(&made, 2);
        stop_without_losses(profiler);
        if (levels[i] == TAKT_GRAPH_NODE) {
            assert_int_equal(count_of("kernel two"), 3);
            assert_int_equal(count_of("kernel plain"), 2);
            assert_int_equal(count_of("kernel one"), 5);
        } else {
            assert_int_equal(count_of(composed_of("two", 0)), 3);
            assert_int_equal(count_of(composed_of("plain", 0)), 2);
        }
        unmake(&made);
    }
}

/* They have the id of no call. */
TEST(bodies_of_conditions_belong_to_the_launch_of_their_graph)
{
    const takt_mode modes[] = {TAKT_MODE_TRACE, TAKT_MODE_SUMMARY, TAKT_MODE_FLIGHT,
                               TAKT_MODE_TRACE};
    char folder[] = "/tmp/takt-graphs-XXXXXX", command[64];
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < 4; i++) {
        second = "by_device";
        replay made = make(), other = make();
        second = "two";
        run(&made, 1); /* before the window */
        check(cuStreamSynchronize(made.stream));
        takt_profiler *profiler = start_in_foreground(
            (takt_profiler_options){.mode = modes[i],
                                    .graph = TAKT_GRAPH_NODE,
                                    .directory = folder,
                                    .stream = i == 3,
                                    .max_memory_bytes = i == 3 ? LITTLE_MEMORY : 0});
        for (int round = 0; round < 3; round++) {
            if (i == 3)
                fill_memory(other.stream);
            {
                TAKT_SCOPE("scope a");
                run(&made, 1);
                run(&other, 1);
            }
            TAKT_SCOPE("scope b");
            run(&made, 2);
        }
        check(cuStreamSynchronize(made.stream));
        check(cuStreamSynchronize(other.stream));
        stop_profiler(profiler);
        assert_int_equal(count_of("kernel one"), 12);
        assert_int_equal(count_of("kernel by_device"), 12);
        assert_int_equal(count_in("scope a", "kernel by_device"), 6);
        assert_int_equal(count_in("scope b", "kernel by_device"), 6);
        assert_int_equal(loss(TAKT_LOSS_UNATTRIBUTED), 0);
        assert_int_equal(loss(TAKT_LOSS_INCOMPLETE), 0);
        unmake(&made);
        unmake(&other);
    }
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* The window ends long before them, when the launch's own node has arrived. */
TEST(the_end_of_a_window_waits_for_bodies)
{
    const takt_mode modes[] = {TAKT_MODE_TRACE, TAKT_MODE_SUMMARY, TAKT_MODE_TRACE};
    char folder[] = "/tmp/takt-graphs-XXXXXX", command[64];
    CUgraph graph;
    CUgraphExec exec;
    CUstream stream;
    assert_non_null(mkdtemp(folder));
    check(cuStreamCreate(&stream, 1));
    check(cuStreamBeginCapture_v2(stream, 0));
    launch_on("one", stream);
    for (int i = 0; i < 3; i++)
        launch_on("slow_by_device", stream);
    check(cuStreamEndCapture(stream, &graph));
    check(cuGraphInstantiateWithFlags(&exec, graph, 0));
    check(cuGraphDestroy(graph));
    for (size_t i = 0; i < 3; i++) {
        takt_profiler *profiler = start_in_foreground(
            (takt_profiler_options){.mode = modes[i],
                                    .directory = folder,
                                    .stream = i == 2,
                                    .max_memory_bytes = i == 2 ? LITTLE_MEMORY : 0});
        if (i == 2)
            fill_memory(NULL);
        {
            TAKT_SCOPE("step");
            check(cuGraphLaunch(exec, stream));
        }
        stop_profiler(profiler);
        assert_int_equal(count_in("step", "kernel slow_by_device"), 3);
        assert_int_equal(loss(TAKT_LOSS_UNATTRIBUTED), 0);
    }
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    check(cuGraphExecDestroy(exec));
    check(cuStreamDestroy_v2(stream));
}

/* A graph that has nothing else than a body. */
static CUgraphExec make_of_bodies(CUstream stream)
{
    CUgraph graph;
    CUgraphExec exec;
    check(cuStreamBeginCapture_v2(stream, 0));
    launch_on("by_device", stream);
    check(cuStreamEndCapture(stream, &graph));
    check(cuGraphInstantiateWithFlags(&exec, graph, 0));
    check(cuGraphDestroy(graph));
    return exec;
}

TEST(bodies_of_unknown_launches_belong_to_the_window_in_which_they_began)
{
    CUstream stream;
    check(cuStreamCreate(&stream, 1));
    CUgraphExec exec = make_of_bodies(stream);
    for (int i = 0; i < 2; i++) {
        takt_profiler *profiler = start_in_foreground(
            (takt_profiler_options){.mode = i ? TAKT_MODE_SUMMARY : TAKT_MODE_TRACE});
        for (int launch = 0; launch < 3; launch++)
            check(cuGraphLaunch(exec, stream));
        check(cuStreamSynchronize(stream));
        stop_profiler(profiler);
        assert_int_equal(count_of("kernel by_device"), 3);
        assert_int_equal(loss(TAKT_LOSS_UNATTRIBUTED), 3);
    }
    check(cuGraphExecDestroy(exec));
    check(cuStreamDestroy_v2(stream));
}

/* It began before the window: that it still runs tells nothing about bodies. */
TEST(a_kernel_from_before_that_runs_on_takes_no_bodies)
{
    const takt_mode modes[] = {TAKT_MODE_TRACE, TAKT_MODE_SUMMARY};
    takt_timing_options without_wait = TAKT_TIMING_OPTIONS_INIT;
    without_wait.no_synchronize = true;
    CUstream stream, other;
    check(cuStreamCreate(&stream, 1));
    check(cuStreamCreate(&other, 1));
    CUgraphExec exec = make_of_bodies(stream);
    for (int i = 0; i < 2; i++) {
        takt_timing *before;
        assert_int_equal(takt_timing_begin(&without_wait, &before), TAKT_OK);
        launch_on("slow", other);
        assert_int_equal(takt_timing_end(before), TAKT_OK);
        takt_timing_free(before);
        takt_profiler *profiler = start_in_foreground((takt_profiler_options){.mode = modes[i]});
        for (int launch = 0; launch < 3; launch++)
            check(cuGraphLaunch(exec, stream));
        check(cuStreamSynchronize(stream));
        check(cuStreamSynchronize(other));
        stop_profiler(profiler);
        assert_int_equal(count_of("kernel by_device"), 3);
    }
    check(cuGraphExecDestroy(exec));
    check(cuStreamDestroy_v2(stream));
    check(cuStreamDestroy_v2(other));
}

/* Other work of the window runs around them, though none begins as late. */
TEST(bodies_that_begin_after_the_window_are_its_own)
{
    const takt_mode modes[] = {TAKT_MODE_TRACE, TAKT_MODE_SUMMARY};
    CUstream stream, other;
    check(cuStreamCreate(&stream, 1));
    check(cuStreamCreate(&other, 1));
    CUgraphExec exec = make_of_bodies(stream);
    for (int i = 0; i < 2; i++) {
        takt_profiler *profiler = start_in_foreground((takt_profiler_options){.mode = modes[i]});
        launch_on("slower", other);
        launch_on("slow", stream);
        for (int launch = 0; launch < 3; launch++)
            check(cuGraphLaunch(exec, stream));
        stop_profiler(profiler);
        assert_int_equal(count_of("kernel by_device"), 3);
        profiler = start_in_foreground((takt_profiler_options){.mode = modes[i]});
        launch_on("slow", stream);
        check(cuStreamSynchronize(stream));
        check(cuStreamSynchronize(other));
        stop_profiler(profiler);
        assert_int_equal(count_of("kernel by_device"), 0);
    }
    check(cuGraphExecDestroy(exec));
    check(cuStreamDestroy_v2(stream));
    check(cuStreamDestroy_v2(other));
}

/* From nodes and bodies, whether the profiler wants kernels or not; bodies of a graph without other
 * nodes are kernels. */
TEST(all_modes_put_the_same_launches_together)
{
    const takt_mode modes[] = {TAKT_MODE_TRACE, TAKT_MODE_SUMMARY, TAKT_MODE_TRACE};
    char folder[] = "/tmp/takt-graphs-XXXXXX", command[64];
    CUstream stream;
    CUgraph graph;
    CUgraphExec execs[2]; /* the second has nothing but a body */
    assert_non_null(mkdtemp(folder));
    check(cuStreamCreate(&stream, 1));
    for (int i = 0; i < 2; i++) {
        check(cuStreamBeginCapture_v2(stream, 0));
        if (i == 0)
            launch_on("one", stream);
        launch_on("by_device", stream);
        check(cuStreamEndCapture(stream, &graph));
        check(cuGraphInstantiateWithFlags(&execs[i], graph, 0));
        check(cuGraphDestroy(graph));
    }
    const char *row = composed_of("one", sim_graph_exec_id(execs[0]));
    for (int with_kernels = 0; with_kernels < 2; with_kernels++) {
        for (size_t i = 0; i < 3; i++) {
            uint32_t filter = TAKT_TIMING_GRAPH | (with_kernels ? TAKT_TIMING_KERNEL : 0);
            takt_profiler *profiler = start_in_foreground(
                (takt_profiler_options){.mode = modes[i],
                                        .graph = TAKT_GRAPH_LAUNCH,
                                        .filter = filter,
                                        .directory = folder,
                                        .stream = i == 2,
                                        .max_memory_bytes = i == 2 ? LITTLE_MEMORY : 0});
            if (i == 2)
                fill_memory(stream);
            for (int launch = 0; launch < 5; launch++)
                check(cuGraphLaunch(execs[launch % 2], stream));
            check(cuStreamSynchronize(stream));
            stop_profiler(profiler);
            assert_int_equal(count_of(row), 3);
            assert_int_equal(total_ns_of(row), 3 * (1000 + GAP + 2000));
            assert_int_equal(count_of("kernel one"), 0);
            assert_int_equal(count_of("kernel by_device"), with_kernels ? 2 : 0);
        }
    }
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    for (int i = 0; i < 2; i++)
        check(cuGraphExecDestroy(execs[i]));
    check(cuStreamDestroy_v2(stream));
}

TEST(captured_calls_lack_no_activity_in_a_file)
{
    char folder[] = "/tmp/takt-graphs-XXXXXX", command[64];
    assert_non_null(mkdtemp(folder));
    takt_profiler *profiler =
        start_in_foreground((takt_profiler_options){.mode = TAKT_MODE_TRACE,
                                                    .directory = folder,
                                                    .stream = true,
                                                    .max_memory_bytes = LITTLE_MEMORY});
    replay made = make();
    run(&made, 2);
    fill_memory(made.stream);
    stop_profiler(profiler);
    assert_int_equal(count_of("kernel one"), 2);
    assert_int_equal(loss(TAKT_LOSS_NO_ACTIVITY), 0);
    unmake(&made);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* While a body waits for the launch that follows, a stream puts launches together for seconds, or
 * for one if there are so many. */
TEST(a_stream_that_holds_a_body_loses_none_of_many_launches)
{
    enum {
        MANY = 100000
    };
    const char *const kernels[] = {"one", "plain"};
    char folder[] = "/tmp/takt-graphs-XXXXXX", command[64];
    const char *rows[2];
    CUstream stream;
    CUgraph graph;
    CUgraphExec execs[2]; /* the first has a body */
    assert_non_null(mkdtemp(folder));
    check(cuStreamCreate(&stream, 1));
    for (int i = 0; i < 2; i++) {
        check(cuStreamBeginCapture_v2(stream, 0));
        launch_on(kernels[i], stream);
        launch_on(i == 0 ? "by_device" : "two", stream);
        check(cuStreamEndCapture(stream, &graph));
        check(cuGraphInstantiateWithFlags(&execs[i], graph, 0));
        check(cuGraphDestroy(graph));
        rows[i] = composed_of(i == 0 ? kernels[0] : "plain two", sim_graph_exec_id(execs[i]));
    }
    takt_profiler *profiler =
        start_in_foreground((takt_profiler_options){.mode = TAKT_MODE_TRACE,
                                                    .graph = TAKT_GRAPH_LAUNCH,
                                                    .filter = TAKT_TIMING_GRAPH,
                                                    .directory = folder,
                                                    .stream = true,
                                                    .max_memory_bytes = 16 * LITTLE_MEMORY});
    check(cuGraphLaunch(execs[0], stream));
    for (int launch = 0; launch < MANY; launch++)
        check(cuGraphLaunch(execs[1], stream));
    check(cuStreamSynchronize(stream));
    stop_profiler(profiler);
    assert_int_equal(count_of(rows[0]), 1);
    assert_int_equal(total_ns_of(rows[0]), 1000 + GAP + 2000);
    assert_int_equal(count_of(rows[1]), MANY);
    assert_int_equal(total_ns_of(rows[1]), MANY * (300 + GAP + 2000));
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    for (int i = 0; i < 2; i++)
        check(cuGraphExecDestroy(execs[i]));
    check(cuStreamDestroy_v2(stream));
}

TEST_MAIN(set_up, NULL)
