/* libcudart: streams, events, capture. */
#include "cudart_face.h"

RUNTIME_FUNCTION(cudaStreamCreate, (cudaStream_t * stream),
                 stream ? cuStreamCreate(stream, 0) : cudaErrorInvalidValue, &stream)
RUNTIME_FUNCTION(cudaStreamCreateWithFlags, (cudaStream_t * stream, unsigned flags),
                 stream ? cuStreamCreate(stream, flags) : cudaErrorInvalidValue, &stream)
RUNTIME_FUNCTION(cudaStreamCreateWithPriority,
                 (cudaStream_t * stream, unsigned flags, int priority),
                 stream ? cuStreamCreateWithPriority(stream, flags, priority)
                        : cudaErrorInvalidValue,
                 &stream)

CUDART cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5;
    RUNTIME(cudaDeviceGetStreamPriorityRange, cudaSuccess, &least);
}

RUNTIME_FUNCTION(cudaStreamDestroy, (cudaStream_t stream), cuStreamDestroy_v2(stream), &stream)
RUNTIME_FUNCTION(cudaStreamSynchronize, (cudaStream_t stream), cuStreamSynchronize(stream), &stream)
RUNTIME_FUNCTION(cudaStreamSynchronize_ptsz, (cudaStream_t stream),
                 cuStreamSynchronize_ptsz(stream), &stream)
RUNTIME_FUNCTION(cudaStreamQuery, (cudaStream_t stream), cuStreamQuery(stream), &stream)
RUNTIME_FUNCTION(cudaStreamQuery_ptsz, (cudaStream_t stream), cuStreamQuery_ptsz(stream), &stream)
RUNTIME_FUNCTION(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned flags),
                 cuStreamWaitEvent(stream, event, flags), &stream)
RUNTIME_FUNCTION(cudaStreamWaitEvent_ptsz, (cudaStream_t stream, cudaEvent_t event, unsigned flags),
                 cuStreamWaitEvent_ptsz(stream, event, flags), &stream)

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

RUNTIME_FUNCTION(cudaStreamGetFlags, (cudaStream_t stream, unsigned *flags),
                 look(stream, flags, NULL, NULL), &stream)
RUNTIME_FUNCTION(cudaStreamGetPriority, (cudaStream_t stream, int *priority),
                 look(stream, NULL, priority, NULL), &stream)
RUNTIME_FUNCTION(cudaStreamGetDevice, (cudaStream_t stream, int *device),
                 look(stream, NULL, NULL, device), &stream)

/* Capture ------------------------------------------------------------------------------------- */

RUNTIME_FUNCTION(cudaStreamBeginCapture, (cudaStream_t stream, enum cudaStreamCaptureMode mode),
                 cuStreamBeginCapture_v2(stream, (int)mode), &stream)
RUNTIME_FUNCTION(cudaStreamBeginCapture_ptsz,
                 (cudaStream_t stream, enum cudaStreamCaptureMode mode),
                 cuStreamBeginCapture_v2_ptsz(stream, (int)mode), &stream)
RUNTIME_FUNCTION(cudaStreamBeginCaptureToGraph,
                 (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *after,
                  const cudaGraphEdgeData *edges, size_t count, enum cudaStreamCaptureMode mode),
                 cuStreamBeginCaptureToGraph(stream, graph, after, (const CUgraphEdgeData *)edges,
                                             count, (int)mode),
                 &stream)
RUNTIME_FUNCTION(cudaStreamBeginCaptureToGraph_ptsz,
                 (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *after,
                  const cudaGraphEdgeData *edges, size_t count, enum cudaStreamCaptureMode mode),
                 cuStreamBeginCaptureToGraph_ptsz(stream, graph, after,
                                                  (const CUgraphEdgeData *)edges, count, (int)mode),
                 &stream)
RUNTIME_FUNCTION(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t *graph),
                 graph ? cuStreamEndCapture(stream, graph) : cudaErrorInvalidValue, &stream)
RUNTIME_FUNCTION(cudaStreamEndCapture_ptsz, (cudaStream_t stream, cudaGraph_t *graph),
                 graph ? cuStreamEndCapture_ptsz(stream, graph) : cudaErrorInvalidValue, &stream)

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

RUNTIME_FUNCTION(cudaStreamIsCapturing, (cudaStream_t stream, enum cudaStreamCaptureStatus *status),
                 capture_info(stream, status, NULL, NULL, NULL, NULL, NULL), &stream)
RUNTIME_FUNCTION(cudaStreamIsCapturing_ptsz,
                 (cudaStream_t stream, enum cudaStreamCaptureStatus *status),
                 capture_info(of_thread(stream), status, NULL, NULL, NULL, NULL, NULL), &stream)
RUNTIME_FUNCTION(cudaStreamGetCaptureInfo,
                 (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
                  cudaGraph_t *graph, const cudaGraphNode_t **nodes,
                  const cudaGraphEdgeData **edges, size_t *count),
                 capture_info(stream, status, id, graph, nodes, edges, count), &stream)
RUNTIME_FUNCTION(cudaStreamGetCaptureInfo_ptsz,
                 (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
                  cudaGraph_t *graph, const cudaGraphNode_t **nodes,
                  const cudaGraphEdgeData **edges, size_t *count),
                 capture_info(of_thread(stream), status, id, graph, nodes, edges, count), &stream)

static int exchange(enum cudaStreamCaptureMode *mode)
{
    int value = (int)*mode;
    int status = sim_capture_mode(&value);
    *mode = (enum cudaStreamCaptureMode)value;
    return status;
}

RUNTIME_FUNCTION(cudaThreadExchangeStreamCaptureMode, (enum cudaStreamCaptureMode * mode),
                 exchange(mode), &mode)

/* Events -------------------------------------------------------------------------------------- */

RUNTIME_FUNCTION(cudaEventCreate, (cudaEvent_t * event),
                 event ? cuEventCreate(event, 0) : cudaErrorInvalidValue, &event)
RUNTIME_FUNCTION(cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned flags),
                 event ? cuEventCreate(event, flags) : cudaErrorInvalidValue, &event)
RUNTIME_FUNCTION(cudaEventDestroy, (cudaEvent_t event), cuEventDestroy_v2(event), &event)
RUNTIME_FUNCTION(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream),
                 cuEventRecord(event, stream), &event)
RUNTIME_FUNCTION(cudaEventRecord_ptsz, (cudaEvent_t event, cudaStream_t stream),
                 cuEventRecord_ptsz(event, stream), &event)
RUNTIME_FUNCTION(cudaEventRecordWithFlags, (cudaEvent_t event, cudaStream_t stream, unsigned flags),
                 cuEventRecordWithFlags(event, stream, flags), &event)
RUNTIME_FUNCTION(cudaEventRecordWithFlags_ptsz,
                 (cudaEvent_t event, cudaStream_t stream, unsigned flags),
                 cuEventRecordWithFlags_ptsz(event, stream, flags), &event)
RUNTIME_FUNCTION(cudaEventQuery, (cudaEvent_t event), cuEventQuery(event), &event)
RUNTIME_FUNCTION(cudaEventSynchronize, (cudaEvent_t event), cuEventSynchronize(event), &event)
RUNTIME_FUNCTION(cudaEventElapsedTime, (float *ms, cudaEvent_t begin, cudaEvent_t end),
                 ms ? cuEventElapsedTime_v2(ms, begin, end) : cudaErrorInvalidValue, &ms)
