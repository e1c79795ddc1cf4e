/* Graphs on the simulated devices: captured or built by hand, launched, timed; and what must not be
 * done while a stream is captured. */
#include "recorder.h"

#include "simgpu/driver.h"
#include "simgpu/machine.h"
#include "support/test.h"

#include <stdlib.h>

static cudaStream_t new_stream(void)
{
    cudaStream_t stream = NULL;
    assert_ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

static cudaGraphExec_t instantiate(cudaGraph_t graph)
{
    cudaGraphExec_t exec = NULL;
    assert_ok(cudaGraphInstantiate(&exec, graph, 0));
    return exec;
}

static void expect_types(cudaGraph_t graph, const int *types, size_t count)
{
    cudaGraphNode_t nodes[16];
    size_t found = 16;
    assert_ok(cudaGraphGetNodes(graph, nodes, &found));
    assert_int_equal(found, count);
    for (size_t i = 0; i < count; i++) {
        enum cudaGraphNodeType type;
        assert_ok(cudaGraphNodeGetType(nodes[i], &type));
        assert_int_equal(type, types[i]);
    }
}

TEST(captured_work_runs_when_the_graph_is_launched)
{
    record_with("kernel.advance=7us; kernel.reduce=9us; memset=2us; graph.gap=100");
    cudaStream_t stream = new_stream();
    cudaGraph_t graph;
    unsigned char *memory;
    assert_ok(cudaMallocManaged((void **)&memory, 64, cudaMemAttachGlobal));
    assert_ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    assert_ok(launch(&kernel_a, stream));
    assert_ok(cudaMemsetAsync(memory, 5, 64, stream));
    assert_ok(launch(&kernel_b, stream));
    assert_ok(cudaStreamEndCapture(stream, &graph));
    assert_int_equal(kept.record_count, 1); /* the allocation */
    assert_int_equal(memory[0], 0);
    expect_types(graph, (int[]){0, 2, 0}, 3);

    cudaGraphExec_t exec = instantiate(graph);
    for (int i = 0; i < 2; i++)
        assert_ok(cudaGraphLaunch(exec, stream));
    assert_int_equal(memory[63], 5);
    assert_int_equal(records_of(SIM_KERNEL), 4);
    const sim_record *first = record_of(SIM_KERNEL, 0);
    const sim_record *set = record_of(SIM_MEMSET, 0);
    const sim_record *last = record_of(SIM_KERNEL, 1);
    const sim_record *whole = record_of(SIM_GRAPH, 0);
    assert_int_equal(duration_of(first), 7000);
    assert_int_equal(set->begin_ns, first->end_ns + 100);
    assert_int_equal(last->begin_ns, set->end_ns + 100);
    assert_int_equal(whole->begin_ns, first->begin_ns);
    assert_int_equal(whole->end_ns, last->end_ns);
    assert_int_equal(first->correlation, last->correlation);
    assert_int_equal(first->correlation, whole->correlation);
    assert_int_equal(first->graph, sim_graph_exec_id(exec));
    assert_int_not_equal(first->graph_node, last->graph_node);
    assert_int_equal(record_of(SIM_KERNEL, 2)->graph_node, first->graph_node);
    assert_int_equal(record_of(SIM_KERNEL, 2)->correlation, first->correlation + 1);
    assert_true(record_of(SIM_GRAPH, 1)->begin_ns >= whole->end_ns);

    assert_ok(cudaGraphExecDestroy(exec));
    assert_int_equal(cudaGraphLaunch(exec, stream), cudaErrorInvalidResourceHandle);
    assert_ok(cudaGraphDestroy(graph));
    assert_ok(cudaStreamDestroy(stream));
    assert_ok(cudaFree(memory));
}

TEST(nodes_of_executable_graphs_are_clones)
{
    record_with("");
    cudaStream_t stream = new_stream();
    cudaGraph_t graph;
    assert_ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    assert_ok(launch(&kernel_a, stream));
    assert_ok(launch(&kernel_b, stream));
    assert_ok(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t exec = instantiate(graph);
    resource_of(SIM_GRAPH_CREATED, 0);
    resource_of(SIM_GRAPH_EXEC_CREATED, 0);
    for (size_t i = 0; i < 2; i++) {
        const sim_resource *created = resource_of(SIM_GRAPH_NODE_CREATED, i);
        const sim_resource *cloned = resource_of(SIM_GRAPH_NODE_CLONED, i);
        assert_ptr_equal(created->graph, graph);
        assert_ptr_equal(cloned->original_node, created->node);
        assert_int_not_equal(sim_graph_node_id(cloned->node), sim_graph_node_id(created->node));
    }
    assert_ptr_equal(resource_of(SIM_GRAPH_NODE_CREATED, 1)->dependency,
                     resource_of(SIM_GRAPH_NODE_CREATED, 0)->node);
    assert_ok(cudaGraphLaunch(exec, stream));
    assert_int_equal(record_of(SIM_KERNEL, 1)->graph_node,
                     sim_graph_node_id(resource_of(SIM_GRAPH_NODE_CLONED, 1)->node));
    assert_ok(cudaGraphDestroy(graph));
    assert_ok(cudaGraphExecDestroy(exec));
    resource_of(SIM_GRAPH_DESTROY_STARTING, 0);
    resource_of(SIM_GRAPH_EXEC_DESTROY_STARTING, 0);
    assert_ok(cudaStreamDestroy(stream));
}

TEST(branches_run_beside_each_other)
{
    record_with("kernel=20ms");
    cudaStream_t origin = new_stream();
    cudaStream_t branch = new_stream();
    cudaEvent_t fork;
    cudaEvent_t join;
    cudaGraph_t graph;
    assert_ok(cudaEventCreate(&fork));
    assert_ok(cudaEventCreate(&join));
    assert_ok(cudaStreamBeginCapture(origin, cudaStreamCaptureModeGlobal));
    assert_ok(launch(&kernel_a, origin));
    assert_ok(cudaEventRecord(fork, origin));
    assert_ok(cudaStreamWaitEvent(branch, fork, 0));
    assert_ok(launch(&kernel_a, origin));
    assert_ok(launch(&kernel_b, branch));
    assert_ok(cudaEventRecord(join, branch));
    assert_ok(cudaStreamWaitEvent(origin, join, 0));
    assert_ok(launch(&kernel_b, origin));
    assert_int_equal(cudaEventQuery(fork), cudaErrorCapturedEvent);
    assert_ok(cudaStreamEndCapture(origin, &graph));
    cudaGraphExec_t exec = instantiate(graph);
    assert_ok(cudaGraphLaunch(exec, origin));

    const sim_record *records[4];
    for (size_t i = 0; i < 4; i++)
        records[i] = record_of(SIM_KERNEL, i);
    assert_int_equal(records[1]->begin_ns, records[0]->end_ns);
    assert_int_equal(records[2]->begin_ns, records[0]->end_ns);
    assert_int_equal(records[3]->begin_ns, records[1]->end_ns);
    assert_int_equal(records[1]->stream, records[0]->stream);
    assert_int_equal(records[3]->stream, records[0]->stream);
    assert_int_not_equal(records[2]->stream, records[0]->stream);
    assert_int_equal(duration_of(record_of(SIM_GRAPH, 0)), 60000000);
    assert_ok(cudaGraphExecDestroy(exec));
    assert_ok(cudaGraphDestroy(graph));
    assert_ok(cudaEventDestroy(fork));
    assert_ok(cudaEventDestroy(join));
    assert_ok(cudaStreamDestroy(branch));
    assert_ok(cudaStreamDestroy(origin));
    cudaGetLastError();
}

TEST(events_in_a_graph_measure_it)
{
    record_with("kernel.advance=1500us; kernel.reduce=20ms");
    cudaStream_t stream = new_stream();
    cudaEvent_t events[2];
    cudaGraph_t graph;
    float ms = 0;
    for (int i = 0; i < 2; i++)
        assert_ok(cudaEventCreate(&events[i]));
    assert_ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    assert_ok(launch(&kernel_b, stream));
    assert_ok(cudaEventRecordWithFlags(events[0], stream, cudaEventRecordExternal));
    assert_ok(launch(&kernel_a, stream));
    assert_ok(cudaEventRecordWithFlags(events[1], stream, cudaEventRecordExternal));
    assert_ok(cudaStreamEndCapture(stream, &graph));
    expect_types(graph, (int[]){0, 7, 0, 7}, 4);
    cudaGraphExec_t exec = instantiate(graph);
    assert_ok(cudaGraphLaunch(exec, stream));
    assert_ok(cudaStreamSynchronize(stream));
    assert_ok(cudaEventElapsedTime(&ms, events[0], events[1]));
    assert_true(ms == 1.5f);
    assert_ok(cudaGraphExecDestroy(exec));
    assert_ok(cudaGraphDestroy(graph));
    assert_ok(cudaStreamDestroy(stream));
    for (int i = 0; i < 2; i++)
        assert_ok(cudaEventDestroy(events[i]));
}

/* b after a, c after b, added in the order c, a, b; a child graph of two kernels behind c. */
TEST(graphs_are_built_by_hand)
{
    record_with("kernel.advance=5us; kernel.reduce=6us; memcpy.HtoD=7us; graph.gap=0");
    cudaGraph_t graph;
    cudaGraph_t child;
    cudaGraphNode_t nodes[4];
    cudaGraphNode_t inner[2];
    char host[32] = "copied";
    char *memory;
    struct cudaKernelNodeParams kernel = {
        .func = (void *)(uintptr_t)&kernel_a, .gridDim = {2, 1, 1}, .blockDim = {32, 1, 1}};
    assert_ok(cudaMalloc((void **)&memory, 32));
    assert_ok(cudaGraphCreate(&graph, 0));
    assert_ok(cudaGraphCreate(&child, 0));
    assert_ok(cudaGraphAddKernelNode(&nodes[2], graph, NULL, 0, &kernel));
    struct cudaMemsetParams set = {.dst = memory, .elementSize = 1, .width = 32, .height = 1};
    assert_ok(cudaGraphAddMemsetNode(&nodes[0], graph, NULL, 0, &set));
    assert_ok(cudaGraphAddMemcpyNode1D(&nodes[1], graph, &nodes[0], 1, memory, host, sizeof host,
                                       cudaMemcpyHostToDevice));
    assert_ok(cudaGraphAddDependencies(graph, &nodes[1], &nodes[2], NULL, 1));
    kernel.func = (void *)(uintptr_t)&kernel_b;
    assert_ok(cudaGraphAddKernelNode(&inner[0], child, NULL, 0, &kernel));
    assert_ok(cudaGraphAddKernelNode(&inner[1], child, &inner[0], 1, &kernel));
    assert_ok(cudaGraphAddChildGraphNode(&nodes[3], graph, &nodes[2], 1, child));
    cudaGraphExec_t exec = instantiate(graph);
    assert_ok(cudaGraphLaunch(exec, NULL));

    assert_int_equal(record_of(SIM_MEMCPY, 0)->begin_ns, record_of(SIM_MEMSET, 0)->end_ns);
    assert_int_equal(record_of(SIM_KERNEL, 0)->begin_ns, record_of(SIM_MEMCPY, 0)->end_ns);
    assert_int_equal(record_of(SIM_KERNEL, 1)->begin_ns, record_of(SIM_KERNEL, 0)->end_ns);
    assert_int_equal(record_of(SIM_KERNEL, 2)->begin_ns, record_of(SIM_KERNEL, 1)->end_ns);
    assert_int_equal(duration_of(record_of(SIM_KERNEL, 2)), 6000);
    assert_int_equal(record_of(SIM_GRAPH, 0)->end_ns, record_of(SIM_KERNEL, 2)->end_ns);
    assert_string_equal(memory, "copied");

    assert_ok(cudaGraphAddDependencies(graph, &nodes[2], &nodes[0], NULL, 1)); /* a cycle */
    assert_int_equal(cudaGraphInstantiate(&exec, graph, 0), cudaErrorInvalidValue);
    assert_int_equal(cudaGraphAddEmptyNode(&nodes[3], graph, &inner[0], 1), cudaErrorInvalidValue);
    assert_ok(cudaGraphDestroy(graph));
    assert_ok(cudaGraphDestroy(child));
    assert_ok(cudaFree(memory));
    cudaGetLastError();
}

TEST(waiting_for_a_device_spoils_its_captures)
{
    record_with("");
    cudaStream_t stream = new_stream();
    cudaGraph_t graph = (cudaGraph_t)&stream;
    enum cudaStreamCaptureStatus status;
    assert_ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    assert_ok(launch(&kernel_a, stream));
    assert_ok(cudaStreamIsCapturing(stream, &status));
    assert_int_equal(status, cudaStreamCaptureStatusActive);
    assert_int_equal(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
    assert_ok(cudaStreamIsCapturing(stream, &status));
    assert_int_equal(status, cudaStreamCaptureStatusInvalidated);
    assert_int_equal(launch(&kernel_a, stream), cudaErrorStreamCaptureInvalidated);
    assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    assert_null(graph);
    assert_ok(cudaStreamIsCapturing(stream, &status));
    assert_int_equal(status, cudaStreamCaptureStatusNone);
    assert_ok(cudaDeviceSynchronize());
    assert_ok(launch(&kernel_a, stream));
    assert_ok(cudaStreamDestroy(stream));
    cudaGetLastError();
}

/* Each of these, done during a capture of that mode, says 900 and spoils it, or is allowed. */
static cudaError_t do_unsafe(int which, cudaStream_t captured, cudaEvent_t event)
{
    void *memory = NULL;
    cudaError_t status = cudaSuccess;
    switch (which) {
    case 0:
        return cudaStreamSynchronize(captured);
    case 1:
        return cudaStreamQuery(captured);
    case 2:
        return cudaEventQuery(event);
    case 3:
        return cudaEventSynchronize(event);
    case 4:
        status = cudaMalloc(&memory, 16);
        return status ? status : cudaFree(memory);
    default:
        return cudaDeviceSynchronize();
    }
}

TEST(what_is_unsafe_depends_on_the_mode)
{
    record_with("");
    cudaEvent_t event;
    assert_ok(cudaEventCreate(&event));
    assert_ok(cudaEventRecord(event, NULL));
    assert_ok(cudaEventSynchronize(event));
    for (int mode = 0; mode <= 2; mode++) {
        for (int which = 0; which <= 5; which++) {
            bool is_refused = mode != cudaStreamCaptureModeRelaxed || which < 2 || which == 5;
            cudaStream_t stream = new_stream();
            cudaGraph_t graph = NULL;
            assert_ok(cudaStreamBeginCapture(stream, (enum cudaStreamCaptureMode)mode));
            assert_int_equal(do_unsafe(which, stream, event),
                             is_refused ? cudaErrorStreamCaptureUnsupported : cudaSuccess);
            assert_int_equal(cudaStreamEndCapture(stream, &graph),
                             is_refused ? cudaErrorStreamCaptureInvalidated : cudaSuccess);
            if (graph)
                assert_ok(cudaGraphDestroy(graph));
            assert_ok(cudaStreamDestroy(stream));
        }
    }
    assert_ok(cudaEventDestroy(event));
    cudaGetLastError();
}

static void *query_elsewhere(void *event)
{
    return (void *)(uintptr_t)cudaEventQuery(*(cudaEvent_t *)event);
}

static void *query_elsewhere_relaxed(void *event)
{
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    cudaThreadExchangeStreamCaptureMode(&mode);
    return query_elsewhere(event);
}

TEST(a_global_capture_forbids_other_threads_what_is_unsafe)
{
    record_with("");
    static const struct {
        enum cudaStreamCaptureMode mode;
        void *(*elsewhere)(void *event);
        cudaError_t status;
    } cases[] = {
        {cudaStreamCaptureModeGlobal, query_elsewhere, cudaErrorStreamCaptureUnsupported},
        {cudaStreamCaptureModeGlobal, query_elsewhere_relaxed, cudaSuccess},
        {cudaStreamCaptureModeThreadLocal, query_elsewhere, cudaSuccess},
    };
    cudaEvent_t event;
    assert_ok(cudaEventCreate(&event));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cudaStream_t stream = new_stream();
        cudaGraph_t graph = NULL;
        pthread_t thread;
        void *status;
        assert_ok(cudaStreamBeginCapture(stream, cases[i].mode));
        assert_int_equal(pthread_create(&thread, NULL, cases[i].elsewhere, &event), 0);
        pthread_join(thread, &status);
        assert_int_equal((uintptr_t)status, cases[i].status);
        assert_int_equal(cudaStreamEndCapture(stream, &graph),
                         cases[i].status ? cudaErrorStreamCaptureInvalidated : cudaSuccess);
        if (graph)
            assert_ok(cudaGraphDestroy(graph));
        assert_ok(cudaStreamDestroy(stream));
    }
    assert_ok(cudaEventDestroy(event));
    cudaGetLastError();
}

TEST(the_legacy_stream_cannot_be_used_beside_a_blocking_capture)
{
    record_with("");
    cudaStream_t stream;
    cudaGraph_t graph = NULL;
    enum cudaStreamCaptureStatus status;
    assert_ok(cudaStreamCreate(&stream));
    assert_int_equal(cudaStreamBeginCapture(NULL, cudaStreamCaptureModeGlobal),
                     cudaErrorStreamCaptureUnsupported);
    assert_ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    assert_int_equal(cudaStreamIsCapturing(NULL, &status), cudaErrorStreamCaptureImplicit);
    assert_ok(launch(&kernel_a, stream)); /* not spoiled yet */
    assert_int_equal(launch(&kernel_a, NULL), cudaErrorStreamCaptureImplicit);
    assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    assert_ok(cudaStreamDestroy(stream));

    stream = new_stream();
    assert_ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    assert_ok(launch(&kernel_a, NULL));
    assert_ok(cudaStreamEndCapture(stream, &graph));
    assert_ok(cudaGraphDestroy(graph));
    assert_ok(cudaStreamDestroy(stream));
    cudaGetLastError();
}

TEST(branches_must_be_joined_and_stay_inside)
{
    record_with("");
    cudaStream_t origin = new_stream();
    cudaStream_t branch = new_stream();
    cudaEvent_t event;
    cudaEvent_t outside;
    cudaGraph_t graph = NULL;
    assert_ok(cudaEventCreate(&event));
    assert_ok(cudaEventCreate(&outside));
    assert_ok(cudaEventRecord(outside, branch));
    assert_ok(cudaStreamBeginCapture(origin, cudaStreamCaptureModeRelaxed));
    assert_ok(cudaEventRecord(event, origin));
    assert_ok(cudaStreamWaitEvent(branch, event, 0));
    assert_ok(launch(&kernel_a, branch));
    assert_int_equal(cudaStreamEndCapture(branch, &graph), cudaErrorStreamCaptureUnmatched);
    assert_int_equal(cudaStreamEndCapture(origin, &graph), cudaErrorStreamCaptureUnjoined);
    assert_null(graph);
    assert_ok(launch(&kernel_a, branch)); /* captured no more */

    assert_ok(cudaStreamBeginCapture(origin, cudaStreamCaptureModeRelaxed));
    assert_int_equal(cudaStreamWaitEvent(origin, outside, 0), cudaErrorStreamCaptureIsolation);
    assert_int_equal(cudaStreamEndCapture(origin, &graph), cudaErrorStreamCaptureInvalidated);
    assert_int_equal(cudaStreamEndCapture(origin, &graph), cudaErrorIllegalState);
    assert_ok(cudaEventDestroy(event));
    assert_ok(cudaEventDestroy(outside));
    assert_ok(cudaStreamDestroy(branch));
    assert_ok(cudaStreamDestroy(origin));
    cudaGetLastError();
}

/* What the kernel does: adds a number to an array. */
static void add_number(const sim_work *launch)
{
    int *array = *(int **)launch->is.kernel.args[0];
    int number = *(int *)launch->is.kernel.args[1];
    for (uint32_t i = 0; i < launch->is.kernel.block[0]; i++)
        array[i] += number;
}

TEST(kernels_can_do_work)
{
    record_with("");
    static const size_t sizes[] = {sizeof(int *), sizeof(int)};
    sim_kernel_work("_Z7advancePfi", add_number, sizes, 2);
    int *array;
    int number = 3;
    cudaStream_t stream = new_stream();
    cudaGraph_t graph;
    assert_ok(cudaMallocManaged((void **)&array, 8 * sizeof *array, cudaMemAttachGlobal));
    void *args[] = {&array, &number};
    assert_ok(cudaLaunchKernel(&kernel_a, (dim3){1, 1, 1}, (dim3){8, 1, 1}, args, 0, stream));
    assert_int_equal(array[7], 3);
    number = 10;
    assert_ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    assert_ok(cudaLaunchKernel(&kernel_a, (dim3){1, 1, 1}, (dim3){8, 1, 1}, args, 0, stream));
    assert_ok(cudaStreamEndCapture(stream, &graph));
    assert_int_equal(array[7], 3);
    number = 1000; /* the graph has a copy of the argument */
    cudaGraphExec_t exec = instantiate(graph);
    assert_ok(cudaGraphDestroy(graph));
    for (int i = 0; i < 3; i++)
        assert_ok(cudaGraphLaunch(exec, stream));
    assert_int_equal(array[7], 33);
    sim_kernel_work("_Z7advancePfi", NULL, NULL, 0);
    assert_ok(cudaGraphExecDestroy(exec));
    assert_ok(cudaStreamDestroy(stream));
    assert_ok(cudaFree(array));
}

int main(void)
{
    register_kernels();
    return run_all_tests(NULL, NULL);
}
