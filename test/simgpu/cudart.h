/* The runtime API as far as the stand-in has it, for C programs of the tests: they need no toolkit
 * and run unchanged with the real libcudart. Where the toolkit is found, test/compile checks this
 * against its headers: with SIM_WITH_TOOLKIT the types are the toolkit's, the functions are
 * declared a second time and the values below become assertions. */
#ifndef SIM_CUDART_H
#define SIM_CUDART_H

#include <stddef.h>

#define SIM_EXPORT __attribute__((visibility("default")))

/* V(NAME, VALUE) */
#define SIM_CUDA_ERRORS(V)                                                                         \
    V(cudaSuccess, 0)                                                                              \
    V(cudaErrorInvalidValue, 1)                                                                    \
    V(cudaErrorMemoryAllocation, 2)                                                                \
    V(cudaErrorInitializationError, 3)                                                             \
    V(cudaErrorInvalidConfiguration, 9)                                                            \
    V(cudaErrorInvalidSymbol, 13)                                                                  \
    V(cudaErrorInvalidMemcpyDirection, 21)                                                         \
    V(cudaErrorStubLibrary, 34)                                                                    \
    V(cudaErrorInsufficientDriver, 35)                                                             \
    V(cudaErrorMissingConfiguration, 52)                                                           \
    V(cudaErrorInvalidDeviceFunction, 98)                                                          \
    V(cudaErrorNoDevice, 100)                                                                      \
    V(cudaErrorInvalidDevice, 101)                                                                 \
    V(cudaErrorDeviceUninitialized, 201)                                                           \
    V(cudaErrorInvalidResourceHandle, 400)                                                         \
    V(cudaErrorIllegalState, 401)                                                                  \
    V(cudaErrorSymbolNotFound, 500)                                                                \
    V(cudaErrorNotReady, 600)                                                                      \
    V(cudaErrorIllegalAddress, 700)                                                                \
    V(cudaErrorHostMemoryAlreadyRegistered, 712)                                                   \
    V(cudaErrorLaunchFailure, 719)                                                                 \
    V(cudaErrorNotSupported, 801)                                                                  \
    V(cudaErrorStreamCaptureUnsupported, 900)                                                      \
    V(cudaErrorStreamCaptureInvalidated, 901)                                                      \
    V(cudaErrorStreamCaptureMerge, 902)                                                            \
    V(cudaErrorStreamCaptureUnmatched, 903)                                                        \
    V(cudaErrorStreamCaptureUnjoined, 904)                                                         \
    V(cudaErrorStreamCaptureIsolation, 905)                                                        \
    V(cudaErrorStreamCaptureImplicit, 906)                                                         \
    V(cudaErrorCapturedEvent, 907)                                                                 \
    V(cudaErrorStreamCaptureWrongThread, 908)                                                      \
    V(cudaErrorUnknown, 999)

#define SIM_CUDA_COPIES(V)                                                                         \
    V(cudaMemcpyHostToHost, 0)                                                                     \
    V(cudaMemcpyHostToDevice, 1)                                                                   \
    V(cudaMemcpyDeviceToHost, 2)                                                                   \
    V(cudaMemcpyDeviceToDevice, 3)                                                                 \
    V(cudaMemcpyDefault, 4)

#define SIM_CUDA_MEMORY_TYPES(V)                                                                   \
    V(cudaMemoryTypeUnregistered, 0)                                                               \
    V(cudaMemoryTypeHost, 1)                                                                       \
    V(cudaMemoryTypeDevice, 2)                                                                     \
    V(cudaMemoryTypeManaged, 3)

#define SIM_CUDA_CAPTURE_MODES(V)                                                                  \
    V(cudaStreamCaptureModeGlobal, 0)                                                              \
    V(cudaStreamCaptureModeThreadLocal, 1)                                                         \
    V(cudaStreamCaptureModeRelaxed, 2)

#define SIM_CUDA_CAPTURE_STATES(V)                                                                 \
    V(cudaStreamCaptureStatusNone, 0)                                                              \
    V(cudaStreamCaptureStatusActive, 1)                                                            \
    V(cudaStreamCaptureStatusInvalidated, 2)

#define SIM_CUDA_NODE_TYPES(V)                                                                     \
    V(cudaGraphNodeTypeKernel, 0)                                                                  \
    V(cudaGraphNodeTypeMemcpy, 1)                                                                  \
    V(cudaGraphNodeTypeMemset, 2)                                                                  \
    V(cudaGraphNodeTypeHost, 3)                                                                    \
    V(cudaGraphNodeTypeGraph, 4)                                                                   \
    V(cudaGraphNodeTypeEmpty, 5)                                                                   \
    V(cudaGraphNodeTypeWaitEvent, 6)                                                               \
    V(cudaGraphNodeTypeEventRecord, 7)                                                             \
    V(cudaGraphNodeTypeMemAlloc, 10)                                                               \
    V(cudaGraphNodeTypeMemFree, 11)                                                                \
    V(cudaGraphNodeTypeConditional, 13)

#define SIM_CUDA_CONDITIONS(V)                                                                     \
    V(cudaGraphCondTypeIf, 0)                                                                      \
    V(cudaGraphCondTypeWhile, 1)

#define SIM_CUDA_ATTRIBUTES(V)                                                                     \
    V(cudaDevAttrMaxThreadsPerBlock, 1)                                                            \
    V(cudaDevAttrWarpSize, 10)                                                                     \
    V(cudaDevAttrClockRate, 13)                                                                    \
    V(cudaDevAttrMultiProcessorCount, 16)                                                          \
    V(cudaDevAttrMemoryClockRate, 36)                                                              \
    V(cudaDevAttrGlobalMemoryBusWidth, 37)                                                         \
    V(cudaDevAttrMaxThreadsPerMultiProcessor, 39)                                                  \
    V(cudaDevAttrComputeCapabilityMajor, 75)                                                       \
    V(cudaDevAttrComputeCapabilityMinor, 76)                                                       \
    V(cudaDevAttrMemoryPoolsSupported, 115)

#define SIM_CUDA_POOL_ATTRIBUTES(V)                                                                \
    V(cudaMemPoolAttrReleaseThreshold, 4)                                                          \
    V(cudaMemPoolAttrReservedMemCurrent, 5)                                                        \
    V(cudaMemPoolAttrReservedMemHigh, 6)                                                           \
    V(cudaMemPoolAttrUsedMemCurrent, 7)                                                            \
    V(cudaMemPoolAttrUsedMemHigh, 8)

#define SIM_CUDA_FUNCTION_ATTRIBUTES(V)                                                            \
    V(cudaFuncAttributeMaxDynamicSharedMemorySize, 8)                                              \
    V(cudaFuncAttributePreferredSharedMemoryCarveout, 9)

#define SIM_CUDA_LAUNCH_ATTRIBUTES(V)                                                              \
    V(cudaLaunchAttributeCooperative, 2)                                                           \
    V(cudaLaunchAttributeClusterDimension, 4)

#define SIM_CUDA_LOCATIONS(V)                                                                      \
    V(cudaMemLocationTypeInvalid, 0)                                                               \
    V(cudaMemLocationTypeDevice, 1)

#define SIM_CUDA_ALLOCATIONS(V)                                                                    \
    V(cudaMemAllocationTypeInvalid, 0)                                                             \
    V(cudaMemAllocationTypePinned, 1)

#define SIM_CUDA_ALL_VALUES(V)                                                                     \
    SIM_CUDA_ERRORS(V)                                                                             \
    SIM_CUDA_COPIES(V)                                                                             \
    SIM_CUDA_MEMORY_TYPES(V)                                                                       \
    SIM_CUDA_CAPTURE_MODES(V)                                                                      \
    SIM_CUDA_CAPTURE_STATES(V)                                                                     \
    SIM_CUDA_NODE_TYPES(V)                                                                         \
    SIM_CUDA_CONDITIONS(V)                                                                         \
    SIM_CUDA_ATTRIBUTES(V)                                                                         \
    SIM_CUDA_POOL_ATTRIBUTES(V)                                                                    \
    SIM_CUDA_FUNCTION_ATTRIBUTES(V)                                                                \
    SIM_CUDA_LAUNCH_ATTRIBUTES(V)                                                                  \
    SIM_CUDA_LOCATIONS(V)                                                                          \
    SIM_CUDA_ALLOCATIONS(V)

#ifdef SIM_WITH_TOOLKIT
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#else

#define SIM_CUDA_VALUE(name, value) name = value,
typedef enum cudaError { SIM_CUDA_ERRORS(SIM_CUDA_VALUE) } cudaError_t;
enum cudaMemcpyKind { SIM_CUDA_COPIES(SIM_CUDA_VALUE) };
enum cudaMemoryType { SIM_CUDA_MEMORY_TYPES(SIM_CUDA_VALUE) };
enum cudaStreamCaptureMode { SIM_CUDA_CAPTURE_MODES(SIM_CUDA_VALUE) };
enum cudaStreamCaptureStatus { SIM_CUDA_CAPTURE_STATES(SIM_CUDA_VALUE) };
enum cudaGraphNodeType { SIM_CUDA_NODE_TYPES(SIM_CUDA_VALUE) };
enum cudaGraphConditionalNodeType { SIM_CUDA_CONDITIONS(SIM_CUDA_VALUE) };
enum cudaDeviceAttr { SIM_CUDA_ATTRIBUTES(SIM_CUDA_VALUE) };
enum cudaMemPoolAttr { SIM_CUDA_POOL_ATTRIBUTES(SIM_CUDA_VALUE) };
enum cudaFuncAttribute { SIM_CUDA_FUNCTION_ATTRIBUTES(SIM_CUDA_VALUE) };
typedef enum cudaLaunchAttributeID {
    SIM_CUDA_LAUNCH_ATTRIBUTES(SIM_CUDA_VALUE)
} cudaLaunchAttributeID;
enum cudaMemLocationType { SIM_CUDA_LOCATIONS(SIM_CUDA_VALUE) };
enum cudaMemAllocationType { SIM_CUDA_ALLOCATIONS(SIM_CUDA_VALUE) };

#define cudaStreamNonBlocking    0x01
#define cudaStreamLegacy         ((cudaStream_t)0x1)
#define cudaStreamPerThread      ((cudaStream_t)0x2)
#define cudaEventBlockingSync    0x01
#define cudaEventDisableTiming   0x02
#define cudaEventRecordExternal  0x01
#define cudaGraphCondAssignDefault 1
#define cudaEventWaitExternal    0x01
#define cudaHostAllocPortable    0x01
#define cudaMemAttachGlobal      0x01

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphNode_st *cudaGraphNode_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct cudaGraphExecUpdateResultInfo_st {
    int result;
    cudaGraphNode_t at;
    cudaGraphNode_t from;
} cudaGraphExecUpdateResultInfo;
typedef struct CUkern_st *cudaKernel_t;
typedef struct CUmemPoolHandle_st *cudaMemPool_t;
typedef struct cudaArray *cudaArray_t;
typedef void (*cudaHostFn_t)(void *data);

typedef struct dim3 {
    unsigned x, y, z;
} dim3;

#ifndef SIM_UUID
#define SIM_UUID
struct CUuuid_st {
    char bytes[16];
};
#endif
typedef struct CUuuid_st cudaUUID_t;

struct cudaDeviceProp {
    char         name[256];
    cudaUUID_t   uuid;
    char         luid[8];
    unsigned     luidDeviceNodeMask;
    size_t       totalGlobalMem;
    size_t       sharedMemPerBlock;
    int          regsPerBlock;
    int          warpSize;
    size_t       memPitch;
    int          maxThreadsPerBlock;
    int          maxThreadsDim[3];
    int          maxGridSize[3];
    size_t       totalConstMem;
    int          major;
    int          minor;
    size_t       textureAlignment;
    size_t       texturePitchAlignment;
    int          multiProcessorCount;
    int          integrated;
    int          canMapHostMemory;
    int          textures[38]; /* limits of textures and surfaces */
    size_t       surfaceAlignment;
    int          concurrentKernels;
    int          ECCEnabled;
    int          pciBusID;
    int          pciDeviceID;
    int          pciDomainID;
    int          tccDriver;
    int          asyncEngineCount;
    int          unifiedAddressing;
    int          memoryBusWidth;
    int          l2CacheSize;
    int          persistingL2CacheMaxSize;
    int          maxThreadsPerMultiProcessor;
    int          streamPrioritiesSupported;
    int          globalL1CacheSupported;
    int          localL1CacheSupported;
    size_t       sharedMemPerMultiprocessor;
    int          regsPerMultiprocessor;
    int          managedMemory;
    int          isMultiGpuBoard;
    int          multiGpuBoardGroupID;
    int          hostNativeAtomicSupported;
    int          pageableMemoryAccess;
    int          concurrentManagedAccess;
    int          computePreemptionSupported;
    int          canUseHostPointerForRegisteredMem;
    int          cooperativeLaunch;
    size_t       sharedMemPerBlockOptin;
    int          pageableMemoryAccessUsesHostPageTables;
    int          directManagedMemAccessFromHost;
    int          maxBlocksPerMultiProcessor;
    int          accessPolicyMaxWindowSize;
    size_t       reservedSharedMemPerBlock;
    int          rest[76]; /* flags that are 0 here */
};

struct cudaFuncAttributes {
    size_t sharedSizeBytes;
    size_t constSizeBytes;
    size_t localSizeBytes;
    int    maxThreadsPerBlock;
    int    numRegs;
    int    ptxVersion;
    int    binaryVersion;
    int    cacheModeCA;
    int    maxDynamicSharedSizeBytes;
    int    preferredShmemCarveout;
    int    clusterDimMustBeSet;
    int    requiredClusterWidth;
    int    requiredClusterHeight;
    int    requiredClusterDepth;
    int    clusterSchedulingPolicyPreference;
    int    nonPortableClusterSizeAllowed;
    int    reserved[16];
};

struct cudaPointerAttributes {
    enum cudaMemoryType type;
    int   device;
    void *devicePointer;
    void *hostPointer;
    long  reserved[8];
};

struct cudaMemLocation {
    enum cudaMemLocationType type;
    int id;
};

struct cudaMemPoolProps {
    enum cudaMemAllocationType allocType;
    int handleTypes;
    struct cudaMemLocation location;
    void *win32SecurityAttributes;
    size_t maxSize;
    unsigned short usage;
    unsigned char reserved[54];
};

typedef struct cudaLaunchAttribute_st {
    cudaLaunchAttributeID id;
    char pad[8 - sizeof(cudaLaunchAttributeID)];
    union {
        char pad[64];
        int  cooperative;
        struct {
            unsigned x, y, z;
        } clusterDim;
    } val;
} cudaLaunchAttribute;

typedef struct cudaLaunchConfig_st {
    dim3 gridDim;
    dim3 blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
} cudaLaunchConfig_t;

struct cudaKernelNodeParams {
    void *func;
    dim3 gridDim;
    dim3 blockDim;
    unsigned sharedMemBytes;
    void **kernelParams;
    void **extra;
};

struct cudaMemsetParams {
    void *dst;
    size_t pitch;
    unsigned value;
    unsigned elementSize;
    size_t width;
    size_t height;
};

struct cudaHostNodeParams {
    cudaHostFn_t fn;
    void *userData;
};

typedef struct cudaGraphEdgeData_st {
    unsigned char from_port;
    unsigned char to_port;
    unsigned char type;
    unsigned char reserved[5];
} cudaGraphEdgeData;

typedef unsigned long long cudaGraphConditionalHandle;
struct cudaConditionalNodeParams {
    cudaGraphConditionalHandle handle;
    enum cudaGraphConditionalNodeType type;
    unsigned size;
    cudaGraph_t *phGraph_out;
};
struct cudaGraphNodeParams { /* of conditions alone */
    enum cudaGraphNodeType type;
    int reserved0[3];
    union {
        long long reserved1[29];
        struct cudaConditionalNodeParams conditional;
    };
    long long reserved2;
};

#endif

#define CUDART SIM_EXPORT cudaError_t

/* Devices, errors */
CUDART cudaDriverGetVersion(int *version);
CUDART cudaRuntimeGetVersion(int *version);
CUDART cudaGetDeviceCount(int *count);
CUDART cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device);
CUDART cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device);
CUDART cudaDeviceGetPCIBusId(char *id, int size, int device);
CUDART cudaDeviceCanAccessPeer(int *can, int device, int peer);
CUDART cudaDeviceEnablePeerAccess(int peer, unsigned flags);
CUDART cudaSetDevice(int device);
CUDART cudaGetDevice(int *device);
CUDART cudaInitDevice(int device, unsigned device_flags, unsigned flags);
CUDART cudaDeviceReset(void);
CUDART cudaDeviceSynchronize(void);
CUDART cudaGetLastError(void);
CUDART cudaPeekAtLastError(void);
SIM_EXPORT const char *cudaGetErrorName(cudaError_t error);
SIM_EXPORT const char *cudaGetErrorString(cudaError_t error);
CUDART cudaProfilerStart(void);
CUDART cudaProfilerStop(void);

/* Memory */
CUDART cudaMalloc(void **out, size_t bytes);
CUDART cudaFree(void *memory);
CUDART cudaMallocHost(void **out, size_t bytes);
CUDART cudaHostAlloc(void **out, size_t bytes, unsigned flags);
CUDART cudaFreeHost(void *memory);
CUDART cudaHostRegister(void *memory, size_t bytes, unsigned flags);
CUDART cudaHostUnregister(void *memory);
CUDART cudaHostGetDevicePointer(void **out, void *host, unsigned flags);
CUDART cudaMallocManaged(void **out, size_t bytes, unsigned flags);
CUDART cudaMallocAsync(void **out, size_t bytes, cudaStream_t stream);
CUDART cudaFreeAsync(void *memory, cudaStream_t stream);
CUDART cudaMallocFromPoolAsync(void **out, size_t bytes, cudaMemPool_t pool, cudaStream_t stream);
CUDART cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device);
CUDART cudaDeviceGetMemPool(cudaMemPool_t *pool, int device);
CUDART cudaDeviceSetMemPool(int device, cudaMemPool_t pool);
CUDART cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *properties);
CUDART cudaMemPoolDestroy(cudaMemPool_t pool);
CUDART cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value);
CUDART cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value);
CUDART cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep_bytes);
CUDART cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes);
CUDART cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *memory);
CUDART cudaMemPrefetchAsync(const void *memory, size_t bytes, struct cudaMemLocation location,
                            unsigned flags, cudaStream_t stream);

/* Copies and sets */
CUDART cudaMemcpy(void *target, const void *source, size_t bytes, enum cudaMemcpyKind kind);
CUDART cudaMemcpyAsync(void *target, const void *source, size_t bytes, enum cudaMemcpyKind kind,
                       cudaStream_t stream);
CUDART cudaMemcpy2DAsync(void *target, size_t target_pitch, const void *source,
                         size_t source_pitch, size_t width, size_t height,
                         enum cudaMemcpyKind kind, cudaStream_t stream);
CUDART cudaMemcpyPeer(void *target, int target_device, const void *source, int source_device,
                      size_t bytes);
CUDART cudaMemcpyPeerAsync(void *target, int target_device, const void *source, int source_device,
                           size_t bytes, cudaStream_t stream);
CUDART cudaMemcpyToSymbol(const void *symbol, const void *source, size_t bytes, size_t offset,
                          enum cudaMemcpyKind kind);
CUDART cudaMemcpyToSymbolAsync(const void *symbol, const void *source, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind, cudaStream_t stream);
CUDART cudaMemcpyFromSymbol(void *target, const void *symbol, size_t bytes, size_t offset,
                            enum cudaMemcpyKind kind);
CUDART cudaMemcpyFromSymbolAsync(void *target, const void *symbol, size_t bytes, size_t offset,
                                 enum cudaMemcpyKind kind, cudaStream_t stream);
CUDART cudaGetSymbolAddress(void **out, const void *symbol);
CUDART cudaMemset(void *target, int value, size_t bytes);
CUDART cudaMemsetAsync(void *target, int value, size_t bytes, cudaStream_t stream);

/* Streams and events */
CUDART cudaStreamCreate(cudaStream_t *stream);
CUDART cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
CUDART cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority);
CUDART cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
CUDART cudaStreamDestroy(cudaStream_t stream);
CUDART cudaStreamSynchronize(cudaStream_t stream);
CUDART cudaStreamQuery(cudaStream_t stream);
CUDART cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
CUDART cudaStreamGetFlags(cudaStream_t stream, unsigned *flags);
CUDART cudaStreamGetPriority(cudaStream_t stream, int *priority);
CUDART cudaStreamGetDevice(cudaStream_t stream, int *device);
CUDART cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
CUDART cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                     const cudaGraphNode_t *after,
                                     const cudaGraphEdgeData *edges, size_t after_count,
                                     enum cudaStreamCaptureMode mode);
CUDART cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
CUDART cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status);
CUDART cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                unsigned long long *id, cudaGraph_t *graph,
                                const cudaGraphNode_t **nodes, const cudaGraphEdgeData **edges,
                                size_t *count);
CUDART cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode);
CUDART cudaEventCreate(cudaEvent_t *event);
CUDART cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
CUDART cudaEventDestroy(cudaEvent_t event);
CUDART cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
CUDART cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags);
CUDART cudaEventQuery(cudaEvent_t event);
CUDART cudaEventSynchronize(cudaEvent_t event);
CUDART cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end);

/* Kernels */
CUDART cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **args,
                        size_t shared_bytes, cudaStream_t stream);
CUDART cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **args);
CUDART cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **args,
                                   size_t shared_bytes, cudaStream_t stream);
CUDART cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t call, void *data);
CUDART cudaGetKernel(cudaKernel_t *kernel, const void *function);
CUDART cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *function);
CUDART cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute, int value);
CUDART cudaFuncGetName(const char **name, const void *function);
CUDART cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function,
                                                     int block_size, size_t shared_bytes);
CUDART cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function,
                                                              int block_size, size_t shared_bytes,
                                                              unsigned flags);

/* Graphs */
CUDART cudaGraphCreate(cudaGraph_t *graph, unsigned flags);
CUDART cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph,
                              const cudaGraphNode_t *after, size_t after_count,
                              const struct cudaKernelNodeParams *params);
CUDART cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
                                const cudaGraphNode_t *after, size_t after_count, void *target,
                                const void *source, size_t bytes, enum cudaMemcpyKind kind);
CUDART cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph,
                              const cudaGraphNode_t *after, size_t after_count,
                              const struct cudaMemsetParams *params);
CUDART cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph,
                            const cudaGraphNode_t *after, size_t after_count,
                            const struct cudaHostNodeParams *params);
CUDART cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                  const cudaGraphNode_t *after, size_t after_count,
                                  cudaGraph_t child);
CUDART cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                             const cudaGraphNode_t *after, size_t after_count);
CUDART cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t after_count,
                                   cudaEvent_t event);
CUDART cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                 const cudaGraphNode_t *after, size_t after_count,
                                 cudaEvent_t event);
CUDART cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                const cudaGraphNode_t *to, const cudaGraphEdgeData *edges,
                                size_t count);
CUDART cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                        const cudaGraphEdgeData *edges, size_t after_count,
                        struct cudaGraphNodeParams *params);
CUDART cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *handle, cudaGraph_t graph,
                                        unsigned value, unsigned flags);
CUDART cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count);
CUDART cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count);
CUDART cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type);
CUDART cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph);
CUDART cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags);
CUDART cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
                                     unsigned long long flags);
CUDART cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream);
CUDART cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
CUDART cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                           cudaGraphExecUpdateResultInfo *info);
CUDART cudaGraphExecDestroy(cudaGraphExec_t exec);
CUDART cudaGraphDestroy(cudaGraph_t graph);

/* The same for programs compiled with per-thread default streams. */
CUDART cudaMallocAsync_ptsz(void **out, size_t bytes, cudaStream_t stream);
CUDART cudaFreeAsync_ptsz(void *memory, cudaStream_t stream);
CUDART cudaMallocFromPoolAsync_ptsz(void **out, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream);
CUDART cudaMemcpy_ptds(void *target, const void *source, size_t bytes, enum cudaMemcpyKind kind);
CUDART cudaMemcpyAsync_ptsz(void *target, const void *source, size_t bytes,
                            enum cudaMemcpyKind kind, cudaStream_t stream);
CUDART cudaMemcpy2DAsync_ptsz(void *target, size_t target_pitch, const void *source,
                              size_t source_pitch, size_t width, size_t height,
                              enum cudaMemcpyKind kind, cudaStream_t stream);
CUDART cudaMemcpyToSymbol_ptds(const void *symbol, const void *source, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind);
CUDART cudaMemcpyToSymbolAsync_ptsz(const void *symbol, const void *source, size_t bytes,
                                    size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream);
CUDART cudaMemcpyFromSymbol_ptds(void *target, const void *symbol, size_t bytes, size_t offset,
                                 enum cudaMemcpyKind kind);
CUDART cudaMemcpyFromSymbolAsync_ptsz(void *target, const void *symbol, size_t bytes,
                                      size_t offset, enum cudaMemcpyKind kind,
                                      cudaStream_t stream);
CUDART cudaMemset_ptds(void *target, int value, size_t bytes);
CUDART cudaMemsetAsync_ptsz(void *target, int value, size_t bytes, cudaStream_t stream);
CUDART cudaMemPrefetchAsync_ptsz(const void *memory, size_t bytes, struct cudaMemLocation location,
                                 unsigned flags, cudaStream_t stream);
CUDART cudaStreamSynchronize_ptsz(cudaStream_t stream);
CUDART cudaStreamQuery_ptsz(cudaStream_t stream);
CUDART cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event, unsigned flags);
CUDART cudaStreamBeginCapture_ptsz(cudaStream_t stream, enum cudaStreamCaptureMode mode);
CUDART cudaStreamBeginCaptureToGraph_ptsz(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t *after,
                                          const cudaGraphEdgeData *edges, size_t after_count,
                                          enum cudaStreamCaptureMode mode);
CUDART cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t *graph);
CUDART cudaStreamIsCapturing_ptsz(cudaStream_t stream, enum cudaStreamCaptureStatus *status);
CUDART cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                     unsigned long long *id, cudaGraph_t *graph,
                                     const cudaGraphNode_t **nodes,
                                     const cudaGraphEdgeData **edges, size_t *count);
CUDART cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream);
CUDART cudaEventRecordWithFlags_ptsz(cudaEvent_t event, cudaStream_t stream, unsigned flags);
CUDART cudaLaunchKernel_ptsz(const void *function, dim3 grid, dim3 block, void **args,
                             size_t shared_bytes, cudaStream_t stream);
CUDART cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *function,
                                void **args);
CUDART cudaLaunchCooperativeKernel_ptsz(const void *function, dim3 grid, dim3 block, void **args,
                                        size_t shared_bytes, cudaStream_t stream);
CUDART cudaLaunchHostFunc_ptsz(cudaStream_t stream, cudaHostFn_t call, void *data);
CUDART cudaGraphUpload_ptsz(cudaGraphExec_t exec, cudaStream_t stream);
CUDART cudaGraphLaunch_ptsz(cudaGraphExec_t exec, cudaStream_t stream);

/* What nvcc's code calls. */
SIM_EXPORT void **__cudaRegisterFatBinary(void *binary);
SIM_EXPORT void __cudaRegisterFatBinaryEnd(void **handle);
SIM_EXPORT void __cudaUnregisterFatBinary(void **handle);
SIM_EXPORT char __cudaInitModule(void **handle);
SIM_EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *device,
                                       const char *name, int thread_limit, void *tid, void *bid,
                                       void *block, void *grid, int *warp_size);
SIM_EXPORT void __cudaRegisterVar(void **handle, char *host, char *address, const char *name,
                                  int is_extern, size_t bytes, int is_constant, int is_global);
SIM_EXPORT void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes);
SIM_EXPORT void __cudaRegisterManagedVar(void **handle, void **host, char *address,
                                         const char *name, int is_extern, size_t bytes,
                                         int is_constant, int is_global);
#ifndef SIM_WITH_TOOLKIT
SIM_EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                                struct CUstream_st *stream);
CUDART __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream);
CUDART __cudaGetKernel(cudaKernel_t *kernel, const void *function);
#endif
CUDART __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                          size_t shared_bytes, cudaStream_t stream);
CUDART __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                               size_t shared_bytes, cudaStream_t stream);

/* Makes `host`, any address, a kernel of this mangled name, as nvcc's constructors do. */
static inline void sim_register_kernel(const void *host, const char *name)
{
    void **handle = __cudaRegisterFatBinary(NULL);
    __cudaRegisterFunction(handle, (const char *)host, (char *)(size_t)name, name, -1, NULL, NULL,
                           NULL, NULL, NULL);
    __cudaRegisterFatBinaryEnd(handle);
}

#endif
