/* libcudart: streams, events, capture. */
#include "cudart_face.h"

CUDART cudaStreamCreate(cudaStream_t *stream)
{
    RUNTIME(cudaStreamCreate, stream ? cuStreamCreate(stream, 0) : cudaErrorInvalidValue, &stream);
}

CUDART cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    RUNTIME(cudaStreamCreateWithFlags,
            stream ? cuStreamCreate(stream, flags) : cudaErrorInvalidValue, &stream);
}

CUDART cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
    RUNTIME(cudaStreamCreateWithPriority,
            stream ? cuStreamCreateWithPriority(stream, flags, priority) : cudaErrorInvalidValue,
            &stream);
}

CUDART cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5;
    RUNTIME(cudaDeviceGetStreamPriorityRange, cudaSuccess, &least);
}

CUDART cudaStreamDestroy(cudaStream_t stream)
{
    RUNTIME(cudaStreamDestroy, cuStreamDestroy_v2(stream), &stream);
}

CUDART cudaStreamSynchronize(cudaStream_t stream)
{
    RUNTIME(cudaStreamSynchronize, cuStreamSynchronize(stream), &stream);
}

CUDART cudaStreamSynchronize_ptsz(cudaStream_t stream)
{
    RUNTIME(cudaStreamSynchronize_ptsz, cuStreamSynchronize_ptsz(stream), &stream);
}

CUDART cudaStreamQuery(cudaStream_t stream)
{
    RUNTIME(cudaStreamQuery, cuStreamQuery(stream), &stream);
}

CUDART cudaStreamQuery_ptsz(cudaStream_t stream)
{
    RUNTIME(cudaStreamQuery_ptsz, cuStreamQuery_ptsz(stream), &stream);
}

CUDART cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    RUNTIME(cudaStreamWaitEvent, cuStreamWaitEvent(stream, event, flags), &stream);
}

CUDART cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    RUNTIME(cudaStreamWaitEvent_ptsz, cuStreamWaitEvent_ptsz(stream, event, flags), &stream);
}

static int look(cudaStream_t stream, unsigned *flags, int *priority, int *device)
{
    sim_stream_info info;
    sim_context_info context;
    if (!sim_stream_of(NULL, stream, false, &info) || !sim_context_of(info.context, &context))
        return cudaErrorInvalidResourceHandle;
    if (flags)
        *flags = info.is_non_blocking;
    if (priority)
        *priority = info.priority;
    if (device)
        *device = (int)context.device;
    return cudaSuccess;
}

CUDART cudaStreamGetFlags(cudaStream_t stream, unsigned *flags)
{
    RUNTIME(cudaStreamGetFlags, look(stream, flags, NULL, NULL), &stream);
}

CUDART cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    RUNTIME(cudaStreamGetPriority, look(stream, NULL, priority, NULL), &stream);
}

CUDART cudaStreamGetDevice(cudaStream_t stream, int *device)
{
    RUNTIME(cudaStreamGetDevice, look(stream, NULL, NULL, device), &stream);
}

/* Capture ------------------------------------------------------------------------------------- */

CUDART cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    RUNTIME(cudaStreamBeginCapture, cuStreamBeginCapture_v2(stream, (int)mode), &stream);
}

CUDART cudaStreamBeginCapture_ptsz(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    RUNTIME(cudaStreamBeginCapture_ptsz, cuStreamBeginCapture_v2_ptsz(stream, (int)mode), &stream);
}

CUDART cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    RUNTIME(cudaStreamEndCapture, graph ? cuStreamEndCapture(stream, graph) : cudaErrorInvalidValue,
            &stream);
}

CUDART cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t *graph)
{
    RUNTIME(cudaStreamEndCapture_ptsz,
            graph ? cuStreamEndCapture_ptsz(stream, graph) : cudaErrorInvalidValue, &stream);
}

static int capture_info(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                        unsigned long long *id, cudaGraph_t *graph, const cudaGraphNode_t **nodes,
                        const cudaGraphEdgeData **edges, size_t *count)
{
    sim_capture_state state;
    int result = sim_capture_look(STREAM(stream), &state);
    if (result)
        return result;
    *status = (enum cudaStreamCaptureStatus)state.status;
    if (id)
        *id = state.id;
    if (graph)
        *graph = (cudaGraph_t)state.graph;
    if (nodes)
        *nodes = (const cudaGraphNode_t *)state.nodes;
    if (edges)
        *edges = NULL;
    if (count)
        *count = state.node_count;
    return cudaSuccess;
}

CUDART cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    RUNTIME(cudaStreamIsCapturing, capture_info(stream, status, NULL, NULL, NULL, NULL, NULL),
            &stream);
}

CUDART cudaStreamIsCapturing_ptsz(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    RUNTIME(cudaStreamIsCapturing_ptsz,
            capture_info(of_thread(stream), status, NULL, NULL, NULL, NULL, NULL), &stream);
}

CUDART cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                unsigned long long *id, cudaGraph_t *graph,
                                const cudaGraphNode_t **nodes, const cudaGraphEdgeData **edges,
                                size_t *count)
{
    RUNTIME(cudaStreamGetCaptureInfo, capture_info(stream, status, id, graph, nodes, edges, count),
            &stream);
}

CUDART cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                     unsigned long long *id, cudaGraph_t *graph,
                                     const cudaGraphNode_t **nodes, const cudaGraphEdgeData **edges,
                                     size_t *count)
{
    RUNTIME(cudaStreamGetCaptureInfo_ptsz,
            capture_info(of_thread(stream), status, id, graph, nodes, edges, count), &stream);
}

static int exchange(enum cudaStreamCaptureMode *mode)
{
    int value = (int)*mode;
    int status = sim_capture_mode(&value);
    *mode = (enum cudaStreamCaptureMode)value;
    return status;
}

CUDART cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    RUNTIME(cudaThreadExchangeStreamCaptureMode, exchange(mode), &mode);
}

/* Events -------------------------------------------------------------------------------------- */

CUDART cudaEventCreate(cudaEvent_t *event)
{
    RUNTIME(cudaEventCreate, event ? cuEventCreate(event, 0) : cudaErrorInvalidValue, &event);
}

CUDART cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    RUNTIME(cudaEventCreateWithFlags, event ? cuEventCreate(event, flags) : cudaErrorInvalidValue,
            &event);
}

CUDART cudaEventDestroy(cudaEvent_t event)
{
    RUNTIME(cudaEventDestroy, cuEventDestroy_v2(event), &event);
}

CUDART cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    RUNTIME(cudaEventRecord, cuEventRecord(event, stream), &event);
}

CUDART cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream)
{
    RUNTIME(cudaEventRecord_ptsz, cuEventRecord_ptsz(event, stream), &event);
}

CUDART cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    RUNTIME(cudaEventRecordWithFlags, cuEventRecordWithFlags(event, stream, flags), &event);
}

CUDART cudaEventRecordWithFlags_ptsz(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    RUNTIME(cudaEventRecordWithFlags_ptsz, cuEventRecordWithFlags_ptsz(event, stream, flags),
            &event);
}

CUDART cudaEventQuery(cudaEvent_t event)
{
    RUNTIME(cudaEventQuery, cuEventQuery(event), &event);
}

CUDART cudaEventSynchronize(cudaEvent_t event)
{
    RUNTIME(cudaEventSynchronize, cuEventSynchronize(event), &event);
}

CUDART cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end)
{
    RUNTIME(cudaEventElapsedTime,
            ms ? cuEventElapsedTime_v2(ms, begin, end) : cudaErrorInvalidValue, &ms);
}
