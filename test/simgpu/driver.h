/* The driver API as far as the stand-in has it, declared by hand so that nothing here needs the
 * toolkit. Where that is found, test/compile checks these declarations against its cuda.h: with
 * SIM_WITH_TOOLKIT the types are the toolkit's and the functions are declared a second time. */
#ifndef SIM_DRIVER_H
#define SIM_DRIVER_H

#include <stddef.h>

#define SIM_EXPORT __attribute__((visibility("default")))

#ifdef SIM_WITH_TOOLKIT
#include <cuda.h>
#include <cudaProfiler.h>
#else

typedef int CUresult;
typedef int CUdevice;
typedef int CUdevice_attribute;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUgraphExecUpdateResultInfo_st {
    int result;
    CUgraphNode at;
    CUgraphNode from;
} CUgraphExecUpdateResultInfo;
typedef struct CUmemPoolHandle_st *CUmemoryPool;
typedef void (*CUhostFn)(void *data);
typedef int CUstreamCaptureMode;
typedef int CUstreamCaptureStatus;
typedef int CUdriverProcAddressQueryResult;
typedef unsigned long long cuuint64_t;

#ifndef SIM_UUID
#define SIM_UUID
struct CUuuid_st {
    char bytes[16];
};
#endif
typedef struct CUuuid_st CUuuid;

typedef struct CUlaunchAttribute_st {
    int  id; /* 2 cooperative, 4 cluster dimension */
    char pad[4];
    union {
        char pad[64];
        int  cooperative;
        struct {
            unsigned x, y, z;
        } clusterDim;
    } value;
} CUlaunchAttribute;

typedef struct CUlaunchConfig_st {
    unsigned gridDimX, gridDimY, gridDimZ;
    unsigned blockDimX, blockDimY, blockDimZ;
    unsigned sharedMemBytes;
    CUstream hStream;
    CUlaunchAttribute *attrs;
    unsigned numAttrs;
} CUlaunchConfig;

typedef struct CUDA_LAUNCH_PARAMS_st {
    CUfunction function;
    unsigned gridDimX, gridDimY, gridDimZ;
    unsigned blockDimX, blockDimY, blockDimZ;
    unsigned sharedMemBytes;
    CUstream hStream;
    void **kernelParams;
} CUDA_LAUNCH_PARAMS;

typedef struct CUctxCreateParams_st CUctxCreateParams;
typedef struct CUgraphEdgeData_st CUgraphEdgeData;

#endif

#define CUAPI SIM_EXPORT CUresult

CUAPI cuInit(unsigned flags);
CUAPI cuDriverGetVersion(int *version);
CUAPI cuDeviceGetCount(int *count);
CUAPI cuDeviceGet(CUdevice *device, int ordinal);
CUAPI cuDeviceGetName(char *name, int size, CUdevice device);
CUAPI cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device);
CUAPI cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device);
CUAPI cuDeviceTotalMem_v2(size_t *bytes, CUdevice device);
CUAPI cuDeviceGetPCIBusId(char *id, int size, CUdevice device);
CUAPI cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
CUAPI cuDevicePrimaryCtxRelease_v2(CUdevice device);
CUAPI cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active);
CUAPI cuDevicePrimaryCtxReset_v2(CUdevice device);
CUAPI cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *params, unsigned flags,
                     CUdevice device);
CUAPI cuCtxDestroy_v2(CUcontext context);
CUAPI cuCtxGetCurrent(CUcontext *context);
CUAPI cuCtxSetCurrent(CUcontext context);
CUAPI cuCtxGetDevice(CUdevice *device);
CUAPI cuCtxGetDevice_v2(CUdevice *device, CUcontext context);
CUAPI cuCtxGetId(CUcontext context, unsigned long long *id);
CUAPI cuCtxPushCurrent_v2(CUcontext context);
CUAPI cuCtxPopCurrent_v2(CUcontext *context);
CUAPI cuCtxSynchronize(void);
CUAPI cuCtxSynchronize_v2(CUcontext context);
CUAPI cuProfilerStart(void);
CUAPI cuProfilerStop(void);

CUAPI cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes);
CUAPI cuMemAlloc_v2(CUdeviceptr *out, size_t bytes);
CUAPI cuMemFree_v2(CUdeviceptr memory);
CUAPI cuMemAllocManaged(CUdeviceptr *out, size_t bytes, unsigned flags);
CUAPI cuMemAllocHost_v2(void **out, size_t bytes);
CUAPI cuMemHostAlloc(void **out, size_t bytes, unsigned flags);
CUAPI cuMemFreeHost(void *memory);
CUAPI cuMemAllocAsync(CUdeviceptr *out, size_t bytes, CUstream stream);
CUAPI cuMemFreeAsync(CUdeviceptr memory, CUstream stream);
CUAPI cuMemAllocFromPoolAsync(CUdeviceptr *out, size_t bytes, CUmemoryPool pool, CUstream stream);

CUAPI cuMemcpy(CUdeviceptr target, CUdeviceptr source, size_t bytes);
CUAPI cuMemcpyAsync(CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream);
CUAPI cuMemcpyHtoD_v2(CUdeviceptr target, const void *source, size_t bytes);
CUAPI cuMemcpyDtoH_v2(void *target, CUdeviceptr source, size_t bytes);
CUAPI cuMemcpyDtoD_v2(CUdeviceptr target, CUdeviceptr source, size_t bytes);
CUAPI cuMemcpyHtoDAsync_v2(CUdeviceptr target, const void *source, size_t bytes, CUstream stream);
CUAPI cuMemcpyDtoHAsync_v2(void *target, CUdeviceptr source, size_t bytes, CUstream stream);
CUAPI cuMemcpyDtoDAsync_v2(CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream);
CUAPI cuMemcpyPeerAsync(CUdeviceptr target, CUcontext target_context, CUdeviceptr source,
                        CUcontext source_context, size_t bytes, CUstream stream);
CUAPI cuMemsetD8_v2(CUdeviceptr target, unsigned char value, size_t count);
CUAPI cuMemsetD32_v2(CUdeviceptr target, unsigned value, size_t count);
CUAPI cuMemsetD8Async(CUdeviceptr target, unsigned char value, size_t count, CUstream stream);
CUAPI cuMemsetD32Async(CUdeviceptr target, unsigned value, size_t count, CUstream stream);

CUAPI cuStreamCreate(CUstream *stream, unsigned flags);
CUAPI cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority);
CUAPI cuStreamDestroy_v2(CUstream stream);
CUAPI cuStreamSynchronize(CUstream stream);
CUAPI cuStreamQuery(CUstream stream);
CUAPI cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags);
CUAPI cuStreamGetCtx(CUstream stream, CUcontext *context);
CUAPI cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode);
CUAPI cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode *after,
                                  const CUgraphEdgeData *edges, size_t after_count,
                                  CUstreamCaptureMode mode);
CUAPI cuStreamEndCapture(CUstream stream, CUgraph *graph);
CUAPI cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status);
CUAPI cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode);
CUAPI cuEventCreate(CUevent *event, unsigned flags);
CUAPI cuEventDestroy_v2(CUevent event);
CUAPI cuEventRecord(CUevent event, CUstream stream);
CUAPI cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags);
CUAPI cuCtxRecordEvent(CUcontext context, CUevent event);
CUAPI cuEventQuery(CUevent event);
CUAPI cuEventSynchronize(CUevent event);
CUAPI cuEventElapsedTime_v2(float *ms, CUevent begin, CUevent end);

CUAPI cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                     unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                     CUstream stream, void **params, void **extra);
CUAPI cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                unsigned grid_z, unsigned block_x, unsigned block_y,
                                unsigned block_z, unsigned shared_bytes, CUstream stream,
                                void **params);
CUAPI cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *list, unsigned count,
                                           unsigned flags);
CUAPI cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **params,
                       void **extra);
CUAPI cuLaunchHostFunc(CUstream stream, CUhostFn call, void *data);
CUAPI cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags);
CUAPI cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info);
CUAPI cuGraphLaunch(CUgraphExec exec, CUstream stream);
CUAPI cuGraphExecDestroy(CUgraphExec exec);
CUAPI cuGraphDestroy(CUgraph graph);

CUAPI cuModuleLoadData(CUmodule *module, const void *image);
CUAPI cuModuleUnload(CUmodule module);
CUAPI cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name);
CUAPI cuFuncGetName(const char **name, CUfunction function);
CUAPI cuGetErrorName(CUresult error, const char **name);
CUAPI cuGetErrorString(CUresult error, const char **text);
#if !defined(SIM_WITH_TOOLKIT) || !defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
CUAPI cuGetProcAddress_v2(const char *symbol, void **function, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult *status);
#endif

/* The same for programs compiled with per-thread default streams. */
CUAPI cuMemAllocAsync_ptsz(CUdeviceptr *out, size_t bytes, CUstream stream);
CUAPI cuMemFreeAsync_ptsz(CUdeviceptr memory, CUstream stream);
CUAPI cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *out, size_t bytes, CUmemoryPool pool,
                                   CUstream stream);
CUAPI cuMemcpyAsync_ptsz(CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream);
CUAPI cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr target, const void *source, size_t bytes,
                                CUstream stream);
CUAPI cuMemcpyDtoHAsync_v2_ptsz(void *target, CUdeviceptr source, size_t bytes, CUstream stream);
CUAPI cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr target, CUdeviceptr source, size_t bytes,
                                CUstream stream);
CUAPI cuMemsetD8Async_ptsz(CUdeviceptr target, unsigned char value, size_t count, CUstream stream);
CUAPI cuMemsetD32Async_ptsz(CUdeviceptr target, unsigned value, size_t count, CUstream stream);
CUAPI cuStreamSynchronize_ptsz(CUstream stream);
CUAPI cuStreamQuery_ptsz(CUstream stream);
CUAPI cuStreamWaitEvent_ptsz(CUstream stream, CUevent event, unsigned flags);
CUAPI cuStreamGetCtx_ptsz(CUstream stream, CUcontext *context);
CUAPI cuStreamBeginCapture_v2_ptsz(CUstream stream, CUstreamCaptureMode mode);
CUAPI cuStreamBeginCaptureToGraph_ptsz(CUstream stream, CUgraph graph, const CUgraphNode *after,
                                       const CUgraphEdgeData *edges, size_t after_count,
                                       CUstreamCaptureMode mode);
CUAPI cuStreamEndCapture_ptsz(CUstream stream, CUgraph *graph);
CUAPI cuStreamIsCapturing_ptsz(CUstream stream, CUstreamCaptureStatus *status);
CUAPI cuEventRecord_ptsz(CUevent event, CUstream stream);
CUAPI cuEventRecordWithFlags_ptsz(CUevent event, CUstream stream, unsigned flags);
CUAPI cuLaunchKernel_ptsz(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                          unsigned block_x, unsigned block_y, unsigned block_z,
                          unsigned shared_bytes, CUstream stream, void **params, void **extra);
CUAPI cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction function, void **params,
                            void **extra);
CUAPI cuLaunchHostFunc_ptsz(CUstream stream, CUhostFn call, void *data);
CUAPI cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream);

/* Versions that newer headers leave out and programs still ask for. */
#ifndef SIM_WITH_TOOLKIT
CUAPI cuDeviceGetUuid(CUuuid *uuid, CUdevice device);
CUAPI cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device);
CUAPI cuEventElapsedTime(float *ms, CUevent begin, CUevent end);
CUAPI cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t flags);
#endif

#endif
