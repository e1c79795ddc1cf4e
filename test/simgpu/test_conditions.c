/* Conditional nodes: their bodies run on the device as often as it says, by the id of no call, and
 * belong to the launch of their graph. */
#include "simgpu/cudart.h"
#include "simgpu/driver.h"
#include "simgpu/profiled.h"

#include "support/test.h"

#include <takt/activity.h>
#include <takt/takt.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define ROUNDS 3

static CUcontext context;
static CUmodule module;

static int set_up(void **state)
{
    (void)state;
    use_devices("cupti.version=130101; condition.rounds=3; kernel.first=1000; kernel.body=2000; "
                "kernel.inner=500; kernel.slow=20ms",
                &context, 1, &module);
    return 0;
}

static void launch_on(const char *name, CUstream stream)
{
    launch_from(module, name, 16, stream);
}

/* Adds a condition behind `after`, if there is one; its empty body is returned. */
static cudaGraph_t add_condition(cudaGraph_t graph, cudaGraphNode_t *after,
                                 enum cudaGraphConditionalNodeType type, bool is_true)
{
    cudaGraphNode_t node;
    struct cudaGraphNodeParams params = {.type = cudaGraphNodeTypeConditional};
    params.conditional.type = type;
    params.conditional.size = 1;
    check(cudaGraphConditionalHandleCreate(&params.conditional.handle, graph, is_true,
                                           cudaGraphCondAssignDefault));
    check(cudaGraphAddNode(&node, graph, after, NULL, after ? 1 : 0, &params));
    enum cudaGraphNodeType found;
    check(cudaGraphNodeGetType(node, &found));
    assert_int_equal(found, cudaGraphNodeTypeConditional);
    return params.conditional.phGraph_out[0];
}

static void capture_to(cudaGraph_t graph, CUstream stream, const char *kernel)
{
    cudaGraph_t same = NULL;
    check(
        cudaStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, cudaStreamCaptureModeRelaxed));
    launch_on(kernel, stream);
    check(cudaStreamEndCapture(stream, &same));
    assert_ptr_equal(same, graph);
}

typedef struct form {
    const char *first; /* kernel before the condition; NULL: none */
    enum cudaGraphConditionalNodeType type;
    bool is_true;
    bool has_inner; /* a condition in the body, too */
    const char *body;
    unsigned bodies, inners; /* of one launch */
} form;

static const form forms[] = {
    {"first", cudaGraphCondTypeIf, true, false, "body", 1, 0},
    {"first", cudaGraphCondTypeIf, false, false, "body", 0, 0},
    {"first", cudaGraphCondTypeWhile, true, false, "body", ROUNDS, 0},
    {"first", cudaGraphCondTypeWhile, true, true, "body", ROUNDS, ROUNDS},
    {"first", cudaGraphCondTypeWhile, true, false, "slow", ROUNDS, 0},
    {NULL, cudaGraphCondTypeIf, true, false, "body", 1, 0},
    {NULL, cudaGraphCondTypeIf, false, false, "body", 0, 0},
};
#define FORMS (sizeof forms / sizeof *forms)

static CUgraphExec make(const form *wanted, CUstream stream)
{
    cudaGraph_t graph;
    CUgraphExec exec;
    cudaGraphNode_t first;
    size_t count = 1;
    check(cudaGraphCreate(&graph, 0));
    if (wanted->first) {
        capture_to(graph, stream, wanted->first);
        check(cudaGraphGetNodes(graph, &first, &count));
    }
    cudaGraph_t body =
        add_condition(graph, wanted->first ? &first : NULL, wanted->type, wanted->is_true);
    capture_to(body, stream, wanted->body);
    if (wanted->has_inner) {
        check(cudaGraphGetNodes(body, &first, &count));
        capture_to(add_condition(body, &first, cudaGraphCondTypeIf, true), stream, "inner");
    }
    check(cuGraphInstantiateWithFlags(&exec, graph, 0));
    check(cudaGraphDestroy(graph));
    return exec;
}

static uint64_t count_in(const char *scope, const char *name)
{
    uint64_t count = 0;
    for (size_t i = 0; i < takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES); i++) {
        takt_activity found;
        takt_trace_activity(last_trace, i, &found);
        count += strcmp(found.name, name) == 0 && found.scope && strcmp(found.scope, scope) == 0;
    }
    return count;
}

static takt_profiler *start(takt_graph level)
{
    return start_profiler(
        (takt_profiler_options){.mode = TAKT_MODE_TRACE, .graph = level, .background = TAKT_OFF});
}

static void launch_in(const char *scope, CUgraphExec exec, CUstream stream, int times)
{
    takt_begin(scope);
    for (int i = 0; i < times; i++)
        check(cuGraphLaunch(exec, stream));
    takt_end();
}

/* The window ends without a wait of the program's. */
TEST(bodies_are_in_the_scope_that_launched_their_graph)
{
    CUstream stream;
    check(cuStreamCreate(&stream, 1));
    for (size_t i = 0; i < FORMS; i++) {
        if (!forms[i].first)
            continue;
        char body[32];
        snprintf(body, sizeof body, "kernel %s", forms[i].body);
        CUgraphExec exec = make(&forms[i], stream);
        takt_profiler *profiler = start(TAKT_GRAPH_NODE);
        launch_in("a", exec, stream, 2);
        launch_in("b", exec, stream, 3);
        stop_profiler(profiler);
        const char *const scopes[] = {"a", "b"};
        for (unsigned k = 0; k < 2; k++) {
            assert_int_equal(count_in(scopes[k], "kernel first"), 2 + k);
            assert_int_equal(count_in(scopes[k], body), (2 + k) * forms[i].bodies);
            assert_int_equal(count_in(scopes[k], "kernel inner"), (2 + k) * forms[i].inners);
        }
        for (int k = 0; k < TAKT_LOSS_COUNT; k++)
            assert_int_equal(loss((takt_loss)k), 0);
        check(cuGraphExecDestroy(exec));
    }
    check(cuStreamDestroy_v2(stream));
}

/* Of a graph that is nothing but a condition no record tells which launch ran its body: it is kept,
 * and both are counted. */
TEST(a_graph_of_a_condition_alone_keeps_its_bodies)
{
    CUstream stream;
    check(cuStreamCreate(&stream, 1));
    for (size_t i = 0; i < FORMS; i++) {
        if (forms[i].first)
            continue;
        CUgraphExec exec = make(&forms[i], stream);
        takt_profiler *profiler = start(TAKT_GRAPH_NODE);
        launch_in("a", exec, stream, 3);
        check(cuStreamSynchronize(stream));
        stop_profiler(profiler);
        assert_int_equal(takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES), 3 * forms[i].bodies);
        assert_int_equal(loss(TAKT_LOSS_UNATTRIBUTED), 3 * forms[i].bodies);
        assert_int_equal(loss(TAKT_LOSS_NO_ACTIVITY), 3 * forms[i].bodies);
        assert_int_equal(loss(TAKT_LOSS_INCOMPLETE), 0);
        check(cuGraphExecDestroy(exec));
    }
    check(cuStreamDestroy_v2(stream));
}

/* By CUPTI's record of the whole, and from nodes: the body ends the launch. */
TEST(a_whole_launch_has_its_bodies)
{
    CUstream stream;
    check(cuStreamCreate(&stream, 1));
    for (int is_early = 0; is_early < 2; is_early++) {
        CUgraphExec exec = is_early ? make(&forms[2], stream) : NULL;
        takt_profiler *profiler = start(TAKT_GRAPH_LAUNCH);
        if (!is_early)
            exec = make(&forms[2], stream);
        launch_in("a", exec, stream, 4);
        stop_profiler(profiler);
        assert_int_equal(takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES), 4);
        for (size_t i = 0; i < 4; i++) {
            takt_activity found;
            takt_trace_activity(last_trace, i, &found);
            assert_int_equal(found.filter, TAKT_TIMING_GRAPH);
            assert_int_equal(found.end_ns - found.begin_ns, 1000 + ROUNDS * 2000);
        }
        check(cuGraphExecDestroy(exec));
    }
    check(cuStreamDestroy_v2(stream));
}

TEST_MAIN(set_up, NULL)
