/* libcuda: streams, events, capture, launches and graphs. */
#include "cuda_face.h"

#include <string.h>

DRIVER_FUNCTION(cuStreamCreate, (CUstream * stream, unsigned flags),
                sim_stream_create(flags, 0, (sim_stream **)stream), &stream)
DRIVER_FUNCTION(cuStreamCreateWithPriority, (CUstream * stream, unsigned flags, int priority),
                sim_stream_create(flags, priority, (sim_stream **)stream), &stream)
DRIVER_FUNCTION(cuStreamDestroy_v2, (CUstream stream), sim_stream_destroy(STREAM(stream)), &stream)
DRIVER_FUNCTION(cuStreamSynchronize, (CUstream stream), sim_stream_synchronize(STREAM(stream)),
                &stream)
DRIVER_FUNCTION(cuStreamSynchronize_ptsz, (CUstream stream),
                sim_stream_synchronize(STREAM(of_thread(stream))), &stream)
DRIVER_FUNCTION(cuStreamQuery, (CUstream stream), sim_stream_query(STREAM(stream)), &stream)
DRIVER_FUNCTION(cuStreamQuery_ptsz, (CUstream stream), sim_stream_query(STREAM(of_thread(stream))),
                &stream)
DRIVER_FUNCTION(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags),
                sim_stream_wait(STREAM(stream), (sim_event *)event, flags), &stream)
DRIVER_FUNCTION(cuStreamWaitEvent_ptsz, (CUstream stream, CUevent event, unsigned flags),
                sim_stream_wait(STREAM(of_thread(stream)), (sim_event *)event, flags), &stream)
DRIVER_FUNCTION(cuStreamGetCtx, (CUstream stream, CUcontext *context),
                sim_stream_context(STREAM(stream), (sim_context **)context), &stream)
DRIVER_FUNCTION(cuStreamGetCtx_ptsz, (CUstream stream, CUcontext *context),
                sim_stream_context(STREAM(of_thread(stream)), (sim_context **)context), &stream)

/* Capture ------------------------------------------------------------------------------------- */

DRIVER_FUNCTION(cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode),
                sim_capture_begin(STREAM(stream), (int)mode), &stream)
DRIVER_FUNCTION(cuStreamBeginCapture_v2_ptsz, (CUstream stream, CUstreamCaptureMode mode),
                sim_capture_begin(STREAM(of_thread(stream)), (int)mode), &stream)
DRIVER_FUNCTION(cuStreamEndCapture, (CUstream stream, CUgraph *graph),
                sim_capture_end(STREAM(stream), (sim_graph **)graph), &stream)
DRIVER_FUNCTION(cuStreamEndCapture_ptsz, (CUstream stream, CUgraph *graph),
                sim_capture_end(STREAM(of_thread(stream)), (sim_graph **)graph), &stream)

static int capture_to(CUstream stream, CUgraph graph, const CUgraphNode *after, size_t after_count,
                      CUstreamCaptureMode mode)
{
    return sim_capture_begin_in(STREAM(stream), (sim_graph *)graph, (sim_node *const *)after,
                                after_count, (int)mode);
}

DRIVER_FUNCTION(cuStreamBeginCaptureToGraph,
                (CUstream stream, CUgraph graph, const CUgraphNode *after,
                 const CUgraphEdgeData *edges, size_t after_count, CUstreamCaptureMode mode),
                ((void)edges, capture_to(stream, graph, after, after_count, mode)), &stream)
DRIVER_FUNCTION(cuStreamBeginCaptureToGraph_ptsz,
                (CUstream stream, CUgraph graph, const CUgraphNode *after,
                 const CUgraphEdgeData *edges, size_t after_count, CUstreamCaptureMode mode),
                ((void)edges, capture_to(of_thread(stream), graph, after, after_count, mode)),
                &stream)

static int is_capturing(CUstream stream, CUstreamCaptureStatus *out)
{
    sim_capture_state state;
    int status = sim_capture_look(STREAM(stream), &state);
    if (!status)
        *out = (CUstreamCaptureStatus)state.status;
    return status;
}

DRIVER_FUNCTION(cuStreamIsCapturing, (CUstream stream, CUstreamCaptureStatus *status),
                is_capturing(stream, status), &stream)
DRIVER_FUNCTION(cuStreamIsCapturing_ptsz, (CUstream stream, CUstreamCaptureStatus *status),
                is_capturing(of_thread(stream), status), &stream)

static int exchange(CUstreamCaptureMode *mode)
{
    int value = (int)*mode;
    int status = sim_capture_mode(&value);
    *mode = (CUstreamCaptureMode)value;
    return status;
}

DRIVER_FUNCTION(cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode * mode), exchange(mode),
                &mode)

/* Events -------------------------------------------------------------------------------------- */

DRIVER_FUNCTION(cuEventCreate, (CUevent * event, unsigned flags),
                sim_event_create(flags, (sim_event **)event), &event)
DRIVER_FUNCTION(cuEventDestroy_v2, (CUevent event), sim_event_destroy((sim_event *)event), &event)
DRIVER_FUNCTION(cuEventRecord, (CUevent event, CUstream stream),
                sim_event_record((sim_event *)event, STREAM(stream), 0), &event)
DRIVER_FUNCTION(cuEventRecord_ptsz, (CUevent event, CUstream stream),
                sim_event_record((sim_event *)event, STREAM(of_thread(stream)), 0), &event)
DRIVER_FUNCTION(cuEventRecordWithFlags, (CUevent event, CUstream stream, unsigned flags),
                sim_event_record((sim_event *)event, STREAM(stream), flags), &event)
DRIVER_FUNCTION(cuEventRecordWithFlags_ptsz, (CUevent event, CUstream stream, unsigned flags),
                sim_event_record((sim_event *)event, STREAM(of_thread(stream)), flags), &event)
DRIVER_FUNCTION(cuCtxRecordEvent, (CUcontext context, CUevent event),
                sim_event_record_context((sim_event *)event, (sim_context *)context), &context)
DRIVER_FUNCTION(cuEventQuery, (CUevent event), sim_event_query((sim_event *)event), &event)
DRIVER_FUNCTION(cuEventSynchronize, (CUevent event), sim_event_synchronize((sim_event *)event),
                &event)
DRIVER_FUNCTION(cuEventElapsedTime, (float *ms, CUevent begin, CUevent end),
                sim_event_elapsed(ms, (sim_event *)begin, (sim_event *)end), &ms)
DRIVER_FUNCTION(cuEventElapsedTime_v2, (float *ms, CUevent begin, CUevent end),
                sim_event_elapsed(ms, (sim_event *)begin, (sim_event *)end), &ms)

/* Launches --------------------------------------------------------------------------------------
 */

#define KERNEL(handle) ((sim_function *)(handle))

/* As the functions take them. */
typedef struct launch_params {
    CUfunction function;
    unsigned grid[3];
    unsigned block[3];
    unsigned shared_bytes;
    CUstream stream;
    void **args;
    void **extra;
} launch_params;

static int launch(const launch_params *params, const unsigned *cluster, bool is_cooperative)
{
    sim_work work = {.type = SIM_WORK_KERNEL, .is_async = true};
    work.is.kernel.function = (sim_function *)params->function;
    memcpy(work.is.kernel.grid, params->grid, sizeof params->grid);
    memcpy(work.is.kernel.block, params->block, sizeof params->block);
    if (cluster)
        memcpy(work.is.kernel.cluster, cluster, sizeof work.is.kernel.cluster);
    work.is.kernel.dynamic_shared_bytes = params->shared_bytes;
    work.is.kernel.is_cooperative = is_cooperative;
    work.is.kernel.args = params->args;
    return sim_submit(STREAM(params->stream), &work);
}

CUAPI cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                     unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                     CUstream stream, void **params, void **extra)
{
    launch_params all = {function,
                         {grid_x, grid_y, grid_z},
                         {block_x, block_y, block_z},
                         shared_bytes,
                         stream,
                         params,
                         extra};
    DRIVER_LAUNCH(cuLaunchKernel, launch(&all, NULL, false), &all, KERNEL(function));
}

CUAPI cuLaunchKernel_ptsz(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                          unsigned block_x, unsigned block_y, unsigned block_z,
                          unsigned shared_bytes, CUstream stream, void **params, void **extra)
{
    launch_params all = {function,     {grid_x, grid_y, grid_z}, {block_x, block_y, block_z},
                         shared_bytes, of_thread(stream),        params,
                         extra};
    DRIVER_LAUNCH(cuLaunchKernel_ptsz, launch(&all, NULL, false), &all, KERNEL(function));
}

CUAPI cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                unsigned grid_z, unsigned block_x, unsigned block_y,
                                unsigned block_z, unsigned shared_bytes, CUstream stream,
                                void **params)
{
    launch_params all = {function,
                         {grid_x, grid_y, grid_z},
                         {block_x, block_y, block_z},
                         shared_bytes,
                         stream,
                         params,
                         NULL};
    DRIVER_LAUNCH(cuLaunchCooperativeKernel, launch(&all, NULL, true), &all, KERNEL(function));
}

static int launch_each(const CUDA_LAUNCH_PARAMS *list, unsigned count)
{
    int status = list && count ? SIM_OK : SIM_INVALID_VALUE;
    for (unsigned i = 0; !status && i < count; i++) {
        const CUDA_LAUNCH_PARAMS *at = &list[i];
        const launch_params all = {at->function,
                                   {at->gridDimX, at->gridDimY, at->gridDimZ},
                                   {at->blockDimX, at->blockDimY, at->blockDimZ},
                                   at->sharedMemBytes,
                                   at->hStream,
                                   at->kernelParams,
                                   NULL};
        status = launch(&all, NULL, true);
    }
    return status;
}

CUAPI cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *list, unsigned count, unsigned flags)
{
    const struct {
        CUDA_LAUNCH_PARAMS *list;
        unsigned count;
        unsigned flags;
    } all = {list, count, flags};
    DRIVER_LAUNCH(cuLaunchCooperativeKernelMultiDevice, launch_each(list, count), &all,
                  KERNEL(list ? list->function : NULL));
}

static int launch_with(const CUlaunchConfig *config, CUfunction function, CUstream stream,
                       void **params)
{
    if (!config)
        return SIM_INVALID_VALUE;
    launch_params all = {function,
                         {config->gridDimX, config->gridDimY, config->gridDimZ},
                         {config->blockDimX, config->blockDimY, config->blockDimZ},
                         config->sharedMemBytes,
                         stream,
                         params,
                         NULL};
    unsigned cluster[3] = {0, 0, 0};
    bool is_cooperative = false;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttribute *attribute = &config->attrs[i];
        if (attribute->id == 2)
            is_cooperative = attribute->value.cooperative != 0;
        if (attribute->id == 4)
            memcpy(cluster, &attribute->value.clusterDim, sizeof cluster);
    }
    return launch(&all, cluster, is_cooperative);
}

CUAPI cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **params,
                       void **extra)
{
    const struct {
        const CUlaunchConfig *config;
        CUfunction function;
        void **params;
        void **extra;
    } all = {config, function, params, extra};
    DRIVER_LAUNCH(cuLaunchKernelEx,
                  launch_with(config, function, config ? config->hStream : NULL, params), &all,
                  KERNEL(function));
}

CUAPI cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction function, void **params,
                            void **extra)
{
    const struct {
        const CUlaunchConfig *config;
        CUfunction function;
        void **params;
        void **extra;
    } all = {config, function, params, extra};
    DRIVER_LAUNCH(cuLaunchKernelEx_ptsz,
                  launch_with(config, function, of_thread(config ? config->hStream : NULL), params),
                  &all, KERNEL(function));
}

static int call_host(CUstream stream, CUhostFn call, void *data)
{
    sim_work work = {.type = SIM_WORK_HOST, .is_async = true};
    work.is.host.call = call;
    work.is.host.data = data;
    return call ? sim_submit(STREAM(stream), &work) : SIM_INVALID_VALUE;
}

DRIVER_FUNCTION(cuLaunchHostFunc, (CUstream stream, CUhostFn call, void *data),
                call_host(stream, call, data), &stream)
DRIVER_FUNCTION(cuLaunchHostFunc_ptsz, (CUstream stream, CUhostFn call, void *data),
                call_host(of_thread(stream), call, data), &stream)

/* Graphs -------------------------------------------------------------------------------------- */

CUAPI cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    (void)flags;
    DRIVER(cuGraphInstantiateWithFlags,
           sim_graph_instantiate((sim_graph *)graph, (sim_exec **)exec), &exec);
}

CUAPI cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    const struct {
        CUgraphExec exec;
        CUstream stream;
    } params = {exec, stream};
    DRIVER(cuGraphLaunch, sim_graph_launch((sim_exec *)exec, STREAM(stream)), &params);
}

CUAPI cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream)
{
    const struct {
        CUgraphExec exec;
        CUstream stream;
    } params = {exec, stream};
    DRIVER(cuGraphLaunch_ptsz, sim_graph_launch((sim_exec *)exec, STREAM(of_thread(stream))),
           &params);
}

CUAPI cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info)
{
    const struct {
        CUgraphExec exec;
        CUgraph graph;
        CUgraphExecUpdateResultInfo *info;
    } params = {exec, graph, info};
    DRIVER(cuGraphExecUpdate_v2, sim_exec_update((sim_exec *)exec, (sim_graph *)graph), &params);
}

DRIVER_FUNCTION(cuGraphExecDestroy, (CUgraphExec exec), sim_exec_destroy((sim_exec *)exec), &exec)
DRIVER_FUNCTION(cuGraphDestroy, (CUgraph graph), sim_graph_destroy((sim_graph *)graph), &graph)
