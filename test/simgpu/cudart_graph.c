/* libcudart: graphs. */
#include "cudart_face.h"

#include <string.h>

static int add(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
               size_t after_count, const sim_work *work)
{
    if (!node || (after_count && !after))
        return cudaErrorInvalidValue;
    return sim_graph_add((sim_graph *)graph, (sim_node *const *)after, after_count, work,
                         (sim_node **)node);
}

RUNTIME_FUNCTION(cudaGraphCreate, (cudaGraph_t * graph, unsigned flags),
                 graph && !flags ? sim_graph_create((sim_graph **)graph)
                                 : (int)cudaErrorInvalidValue,
                 &graph)

static int add_kernel(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                      size_t after_count, const struct cudaKernelNodeParams *params)
{
    if (!params)
        return cudaErrorInvalidValue;
    sim_work work = {.type = SIM_WORK_KERNEL, .is_async = true};
    work.is.kernel.function = runtime_kernel(params->func);
    memcpy(work.is.kernel.grid, &params->gridDim, sizeof work.is.kernel.grid);
    memcpy(work.is.kernel.block, &params->blockDim, sizeof work.is.kernel.block);
    work.is.kernel.dynamic_shared_bytes = params->sharedMemBytes;
    work.is.kernel.args = params->kernelParams;
    if (!work.is.kernel.function)
        return cudaErrorInvalidDeviceFunction;
    return add(node, graph, after, after_count, &work);
}

RUNTIME_FUNCTION(cudaGraphAddKernelNode,
                 (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *after,
                  size_t after_count, const struct cudaKernelNodeParams *params),
                 add_kernel(node, graph, after, after_count, params), &node)

CUDART cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
                                const cudaGraphNode_t *after, size_t after_count, void *target,
                                const void *source, size_t bytes, enum cudaMemcpyKind kind)
{
    sim_work work = {.type = SIM_WORK_COPY, .is_async = true};
    work.is.copy.target = target;
    work.is.copy.source = source;
    work.is.copy.bytes = bytes;
    work.is.copy.rows = 1;
    work.is.copy.direction = (int)kind;
    RUNTIME(cudaGraphAddMemcpyNode1D, add(node, graph, after, after_count, &work), &node);
}

/* Rows with a pitch are not simulated. */
static int add_set(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                   size_t after_count, const struct cudaMemsetParams *params)
{
    if (!params || params->height > 1)
        return params ? cudaErrorNotSupported : cudaErrorInvalidValue;
    sim_work work = {.type = SIM_WORK_SET, .is_async = true};
    work.is.set.target = params->dst;
    work.is.set.value = params->value;
    work.is.set.element_bytes = params->elementSize;
    work.is.set.count = params->width;
    return add(node, graph, after, after_count, &work);
}

RUNTIME_FUNCTION(cudaGraphAddMemsetNode,
                 (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *after,
                  size_t after_count, const struct cudaMemsetParams *params),
                 add_set(node, graph, after, after_count, params), &node)

static int add_host(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                    size_t after_count, const struct cudaHostNodeParams *params)
{
    if (!params || !params->fn)
        return cudaErrorInvalidValue;
    sim_work work = {.type = SIM_WORK_HOST, .is_async = true};
    work.is.host.call = params->fn;
    work.is.host.data = params->userData;
    return add(node, graph, after, after_count, &work);
}

RUNTIME_FUNCTION(cudaGraphAddHostNode,
                 (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *after,
                  size_t after_count, const struct cudaHostNodeParams *params),
                 add_host(node, graph, after, after_count, params), &node)

CUDART cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                  const cudaGraphNode_t *after, size_t after_count,
                                  cudaGraph_t child)
{
    sim_work work = {.type = SIM_WORK_GRAPH, .is_async = true};
    work.is.graph = (sim_graph *)child;
    RUNTIME(cudaGraphAddChildGraphNode, add(node, graph, after, after_count, &work), &node);
}

CUDART cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                             size_t after_count)
{
    sim_work work = {.type = SIM_WORK_EMPTY, .is_async = true};
    RUNTIME(cudaGraphAddEmptyNode, add(node, graph, after, after_count, &work), &node);
}

CUDART cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t after_count,
                                   cudaEvent_t event)
{
    sim_work work = {.type = SIM_WORK_RECORD, .is_async = true};
    work.is.event = (sim_event *)event;
    RUNTIME(cudaGraphAddEventRecordNode, add(node, graph, after, after_count, &work), &node);
}

CUDART cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                 const cudaGraphNode_t *after, size_t after_count,
                                 cudaEvent_t event)
{
    sim_work work = {.type = SIM_WORK_WAIT, .is_async = true};
    work.is.event = (sim_event *)event;
    RUNTIME(cudaGraphAddEventWaitNode, add(node, graph, after, after_count, &work), &node);
}

/* The handle is the value that each launch begins with, in a number that is not 0. */
static int make_handle(cudaGraphConditionalHandle *handle, cudaGraph_t graph, unsigned value,
                       unsigned flags)
{
    bool is_set = flags == cudaGraphCondAssignDefault;
    if (!handle || !graph || (flags && !is_set))
        return cudaErrorInvalidValue;
    *handle = 1ull << 32 | (is_set ? value : 0);
    return cudaSuccess;
}

RUNTIME_FUNCTION(cudaGraphConditionalHandleCreate,
                 (cudaGraphConditionalHandle * handle, cudaGraph_t graph, unsigned value,
                  unsigned flags),
                 make_handle(handle, graph, value, flags), &handle)

/* Conditions alone. No kernel sets one: a body runs as often as the option says, or not at all. */
static int add_any(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                   size_t after_count, struct cudaGraphNodeParams *params)
{
    if (!params)
        return cudaErrorInvalidValue;
    struct cudaConditionalNodeParams *condition = &params->conditional;
    if (params->type != cudaGraphNodeTypeConditional || condition->size != 1 ||
        condition->type > cudaGraphCondTypeWhile)
        return cudaErrorNotSupported;
    bool is_true = (uint32_t)condition->handle, is_loop = condition->type == cudaGraphCondTypeWhile;
    sim_work work = {.type = SIM_WORK_CONDITION, .is_async = true};
    work.rounds = !is_true ? 0 : is_loop ? (uint32_t)sim_option_number("condition.rounds", 3) : 1;
    int status = add(node, graph, after, after_count, &work);
    if (!status)
        condition->phGraph_out = (cudaGraph_t *)sim_node_bodies((sim_node *)*node);
    return status;
}

RUNTIME_FUNCTION(cudaGraphAddNode,
                 (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *after,
                  const cudaGraphEdgeData *edges, size_t after_count,
                  struct cudaGraphNodeParams *params),
                 ((void)edges, add_any(node, graph, after, after_count, params)), &node)

CUDART cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                const cudaGraphNode_t *to, const cudaGraphEdgeData *edges,
                                size_t count)
{
    (void)edges;
    RUNTIME(cudaGraphAddDependencies,
            sim_graph_connect((sim_graph *)graph, (sim_node *const *)from, (sim_node *const *)to,
                              count),
            &graph);
}

RUNTIME_FUNCTION(cudaGraphGetNodes, (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count),
                 count ? sim_graph_list((sim_graph *)graph, false, (sim_node **)nodes, count)
                       : (int)cudaErrorInvalidValue,
                 &graph)
RUNTIME_FUNCTION(cudaGraphGetRootNodes, (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count),
                 count ? sim_graph_list((sim_graph *)graph, true, (sim_node **)nodes, count)
                       : (int)cudaErrorInvalidValue,
                 &graph)

static int type_of(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
    int found = 0;
    int status = type ? sim_node_type((sim_node *)node, &found) : (int)cudaErrorInvalidValue;
    if (!status)
        *type = (enum cudaGraphNodeType)found;
    return status;
}

RUNTIME_FUNCTION(cudaGraphNodeGetType, (cudaGraphNode_t node, enum cudaGraphNodeType *type),
                 type_of(node, type), &node)
RUNTIME_FUNCTION(cudaGraphClone, (cudaGraph_t * clone, cudaGraph_t graph),
                 sim_graph_clone((sim_graph *)graph, (sim_graph **)clone), &clone)

CUDART cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    struct {
        cudaGraphExec_t *exec;
        cudaGraph_t graph;
        unsigned long long flags;
    } params = {exec, graph, flags};
    RUNTIME(cudaGraphInstantiate,
            exec ? cuGraphInstantiateWithFlags(exec, graph, flags) : cudaErrorInvalidValue,
            &params);
}

CUDART cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
                                     unsigned long long flags)
{
    struct {
        cudaGraphExec_t *exec;
        cudaGraph_t graph;
        unsigned long long flags;
    } params = {exec, graph, flags};
    RUNTIME(cudaGraphInstantiateWithFlags,
            exec ? cuGraphInstantiateWithFlags(exec, graph, flags) : cudaErrorInvalidValue,
            &params);
}

CUDART cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
    (void)stream;
    RUNTIME(cudaGraphUpload, exec ? cudaSuccess : cudaErrorInvalidValue, &exec);
}

CUDART cudaGraphUpload_ptsz(cudaGraphExec_t exec, cudaStream_t stream)
{
    (void)stream;
    RUNTIME(cudaGraphUpload_ptsz, exec ? cudaSuccess : cudaErrorInvalidValue, &exec);
}

CUDART cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    struct {
        cudaGraphExec_t exec;
        cudaStream_t stream;
    } params = {exec, stream};
    RUNTIME(cudaGraphLaunch, cuGraphLaunch(exec, stream), &params);
}

CUDART cudaGraphLaunch_ptsz(cudaGraphExec_t exec, cudaStream_t stream)
{
    struct {
        cudaGraphExec_t exec;
        cudaStream_t stream;
    } params = {exec, stream};
    RUNTIME(cudaGraphLaunch_ptsz, cuGraphLaunch_ptsz(exec, stream), &params);
}

CUDART cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                           cudaGraphExecUpdateResultInfo *info)
{
    struct {
        cudaGraphExec_t exec;
        cudaGraph_t graph;
        cudaGraphExecUpdateResultInfo *info;
    } params = {exec, graph, info};
    RUNTIME(cudaGraphExecUpdate,
            cuGraphExecUpdate_v2(exec, graph, (CUgraphExecUpdateResultInfo *)info), &params);
}

RUNTIME_FUNCTION(cudaGraphExecDestroy, (cudaGraphExec_t exec), cuGraphExecDestroy(exec), &exec)
RUNTIME_FUNCTION(cudaGraphDestroy, (cudaGraph_t graph), cuGraphDestroy(graph), &graph)
