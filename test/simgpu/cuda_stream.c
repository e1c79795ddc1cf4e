/* libcuda: streams, events, capture, launches and graphs. */
#include "cuda_face.h"

#include <string.h>

CUAPI cuStreamCreate(CUstream *stream, unsigned flags)
{
    DRIVER(cuStreamCreate, sim_stream_create(flags, 0, (sim_stream **)stream), &stream);
}

CUAPI cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority)
{
    DRIVER(cuStreamCreateWithPriority, sim_stream_create(flags, priority, (sim_stream **)stream),
           &stream);
}

CUAPI cuStreamDestroy_v2(CUstream stream)
{
    DRIVER(cuStreamDestroy_v2, sim_stream_destroy(STREAM(stream)), &stream);
}

CUAPI cuStreamSynchronize(CUstream stream)
{
    DRIVER(cuStreamSynchronize, sim_stream_synchronize(STREAM(stream)), &stream);
}

CUAPI cuStreamSynchronize_ptsz(CUstream stream)
{
    DRIVER(cuStreamSynchronize_ptsz, sim_stream_synchronize(STREAM(of_thread(stream))), &stream);
}

CUAPI cuStreamQuery(CUstream stream)
{
    DRIVER(cuStreamQuery, sim_stream_query(STREAM(stream)), &stream);
}

CUAPI cuStreamQuery_ptsz(CUstream stream)
{
    DRIVER(cuStreamQuery_ptsz, sim_stream_query(STREAM(of_thread(stream))), &stream);
}

CUAPI cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    DRIVER(cuStreamWaitEvent, sim_stream_wait(STREAM(stream), (sim_event *)event, flags), &stream);
}

CUAPI cuStreamWaitEvent_ptsz(CUstream stream, CUevent event, unsigned flags)
{
    DRIVER(cuStreamWaitEvent_ptsz,
           sim_stream_wait(STREAM(of_thread(stream)), (sim_event *)event, flags), &stream);
}

CUAPI cuStreamGetCtx(CUstream stream, CUcontext *context)
{
    DRIVER(cuStreamGetCtx, sim_stream_context(STREAM(stream), (sim_context **)context), &stream);
}

CUAPI cuStreamGetCtx_ptsz(CUstream stream, CUcontext *context)
{
    DRIVER(cuStreamGetCtx_ptsz,
           sim_stream_context(STREAM(of_thread(stream)), (sim_context **)context), &stream);
}

/* Capture ------------------------------------------------------------------------------------- */

CUAPI cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode)
{
    DRIVER(cuStreamBeginCapture_v2, sim_capture_begin(STREAM(stream), (int)mode), &stream);
}

CUAPI cuStreamBeginCapture_v2_ptsz(CUstream stream, CUstreamCaptureMode mode)
{
    DRIVER(cuStreamBeginCapture_v2_ptsz, sim_capture_begin(STREAM(of_thread(stream)), (int)mode),
           &stream);
}

CUAPI cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    DRIVER(cuStreamEndCapture, sim_capture_end(STREAM(stream), (sim_graph **)graph), &stream);
}

CUAPI cuStreamEndCapture_ptsz(CUstream stream, CUgraph *graph)
{
    DRIVER(cuStreamEndCapture_ptsz, sim_capture_end(STREAM(of_thread(stream)), (sim_graph **)graph),
           &stream);
}

static int is_capturing(CUstream stream, CUstreamCaptureStatus *out)
{
    sim_capture_state state;
    int status = sim_capture_look(STREAM(stream), &state);
    if (!status)
        *out = (CUstreamCaptureStatus)state.status;
    return status;
}

CUAPI cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    DRIVER(cuStreamIsCapturing, is_capturing(stream, status), &stream);
}

CUAPI cuStreamIsCapturing_ptsz(CUstream stream, CUstreamCaptureStatus *status)
{
    DRIVER(cuStreamIsCapturing_ptsz, is_capturing(of_thread(stream), status), &stream);
}

static int exchange(CUstreamCaptureMode *mode)
{
    int value = (int)*mode;
    int status = sim_capture_mode(&value);
    *mode = (CUstreamCaptureMode)value;
    return status;
}

CUAPI cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    DRIVER(cuThreadExchangeStreamCaptureMode, exchange(mode), &mode);
}

/* Events -------------------------------------------------------------------------------------- */

CUAPI cuEventCreate(CUevent *event, unsigned flags)
{
    DRIVER(cuEventCreate, sim_event_create(flags, (sim_event **)event), &event);
}

CUAPI cuEventDestroy_v2(CUevent event)
{
    DRIVER(cuEventDestroy_v2, sim_event_destroy((sim_event *)event), &event);
}

CUAPI cuEventRecord(CUevent event, CUstream stream)
{
    DRIVER(cuEventRecord, sim_event_record((sim_event *)event, STREAM(stream), 0), &event);
}

CUAPI cuEventRecord_ptsz(CUevent event, CUstream stream)
{
    DRIVER(cuEventRecord_ptsz, sim_event_record((sim_event *)event, STREAM(of_thread(stream)), 0),
           &event);
}

CUAPI cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags)
{
    DRIVER(cuEventRecordWithFlags, sim_event_record((sim_event *)event, STREAM(stream), flags),
           &event);
}

CUAPI cuEventRecordWithFlags_ptsz(CUevent event, CUstream stream, unsigned flags)
{
    DRIVER(cuEventRecordWithFlags_ptsz,
           sim_event_record((sim_event *)event, STREAM(of_thread(stream)), flags), &event);
}

CUAPI cuCtxRecordEvent(CUcontext context, CUevent event)
{
    DRIVER(cuCtxRecordEvent,
           sim_event_record_context((sim_event *)event, (sim_context *)context), &context);
}

CUAPI cuEventQuery(CUevent event)
{
    DRIVER(cuEventQuery, sim_event_query((sim_event *)event), &event);
}

CUAPI cuEventSynchronize(CUevent event)
{
    DRIVER(cuEventSynchronize, sim_event_synchronize((sim_event *)event), &event);
}

CUAPI cuEventElapsedTime(float *ms, CUevent begin, CUevent end)
{
    DRIVER(cuEventElapsedTime, sim_event_elapsed(ms, (sim_event *)begin, (sim_event *)end), &ms);
}

CUAPI cuEventElapsedTime_v2(float *ms, CUevent begin, CUevent end)
{
    DRIVER(cuEventElapsedTime_v2, sim_event_elapsed(ms, (sim_event *)begin, (sim_event *)end), &ms);
}

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

CUAPI cuLaunchHostFunc(CUstream stream, CUhostFn call, void *data)
{
    DRIVER(cuLaunchHostFunc, call_host(stream, call, data), &stream);
}

CUAPI cuLaunchHostFunc_ptsz(CUstream stream, CUhostFn call, void *data)
{
    DRIVER(cuLaunchHostFunc_ptsz, call_host(of_thread(stream), call, data), &stream);
}

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

CUAPI cuGraphExecDestroy(CUgraphExec exec)
{
    DRIVER(cuGraphExecDestroy, sim_exec_destroy((sim_exec *)exec), &exec);
}

CUAPI cuGraphDestroy(CUgraph graph)
{
    DRIVER(cuGraphDestroy, sim_graph_destroy((sim_graph *)graph), &graph);
}
