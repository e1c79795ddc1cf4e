/* What the stand-in libcupti and its clients agree on: CUPTI's binary interface, declared anew from
 * the facts that are written down about it, so that nothing here needs the CUDA toolkit. Where the
 * toolkit is found, test_cupti_abi holds every size, offset and value below against its headers.
 * src/cuda has declarations of its own: two readings of the same book check each other.
 *
 * Records carry the newest layout that is known, 13.0's. Older libraries write shorter ones, whose
 * fields lie at the same offsets; cupti/layout.c says how short. */
#ifndef SIMGPU_CUPTI_ABI_H
#define SIMGPU_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

/* name, value: what CUPTI returns. 36 and 37 have no string in the library. */
#define SIM_CUPTI_RESULTS(X) \
    X(SUCCESS, 0) \
    X(ERROR_INVALID_PARAMETER, 1) \
    X(ERROR_INVALID_DEVICE, 2) \
    X(ERROR_INVALID_CONTEXT, 3) \
    X(ERROR_INVALID_EVENT_DOMAIN_ID, 4) \
    X(ERROR_INVALID_EVENT_ID, 5) \
    X(ERROR_INVALID_EVENT_NAME, 6) \
    X(ERROR_INVALID_OPERATION, 7) \
    X(ERROR_OUT_OF_MEMORY, 8) \
    X(ERROR_HARDWARE, 9) \
    X(ERROR_PARAMETER_SIZE_NOT_SUFFICIENT, 10) \
    X(ERROR_API_NOT_IMPLEMENTED, 11) \
    X(ERROR_MAX_LIMIT_REACHED, 12) \
    X(ERROR_NOT_READY, 13) \
    X(ERROR_NOT_COMPATIBLE, 14) \
    X(ERROR_NOT_INITIALIZED, 15) \
    X(ERROR_INVALID_METRIC_ID, 16) \
    X(ERROR_INVALID_METRIC_NAME, 17) \
    X(ERROR_QUEUE_EMPTY, 18) \
    X(ERROR_INVALID_HANDLE, 19) \
    X(ERROR_INVALID_STREAM, 20) \
    X(ERROR_INVALID_KIND, 21) \
    X(ERROR_INVALID_EVENT_VALUE, 22) \
    X(ERROR_DISABLED, 23) \
    X(ERROR_INVALID_MODULE, 24) \
    X(ERROR_INVALID_METRIC_VALUE, 25) \
    X(ERROR_HARDWARE_BUSY, 26) \
    X(ERROR_NOT_SUPPORTED, 27) \
    X(ERROR_UM_PROFILING_NOT_SUPPORTED, 28) \
    X(ERROR_UM_PROFILING_NOT_SUPPORTED_ON_DEVICE, 29) \
    X(ERROR_UM_PROFILING_NOT_SUPPORTED_ON_NON_P2P_DEVICES, 30) \
    X(ERROR_UM_PROFILING_NOT_SUPPORTED_WITH_MPS, 31) \
    X(ERROR_CDP_TRACING_NOT_SUPPORTED, 32) \
    X(ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED, 33) \
    X(ERROR_CUDA_COMPILER_NOT_COMPATIBLE, 34) \
    X(ERROR_INSUFFICIENT_PRIVILEGES, 35) \
    X(ERROR_LEGACY_PROFILER_NOT_SUPPORTED, 38) \
    X(ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, 39) \
    X(ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES, 40) \
    X(ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED, 41) \
    X(ERROR_CMP_DEVICE_NOT_SUPPORTED, 42) \
    X(ERROR_MIG_DEVICE_NOT_SUPPORTED, 43) \
    X(ERROR_SLI_DEVICE_NOT_SUPPORTED, 44) \
    X(ERROR_WSL_DEVICE_NOT_SUPPORTED, 45) \
    X(ERROR_INVALID_CHIP_NAME, 46) \
    X(ERROR_UNKNOWN, 999)

typedef enum sim_cupti_result {
#define SIM_CUPTI_RESULT(name, value) SIM_CUPTI_##name = value,
    SIM_CUPTI_RESULTS(SIM_CUPTI_RESULT)
#undef SIM_CUPTI_RESULT
    SIM_CUPTI_RESULT_FORCE_INT = 0x7fffffff
} sim_cupti_result;

/* Kinds of records. */
enum {
    SIM_KIND_INVALID = 0,
    SIM_KIND_MEMCPY = 1,
    SIM_KIND_MEMSET = 2,
    SIM_KIND_KERNEL = 3,
    SIM_KIND_DRIVER = 4,
    SIM_KIND_RUNTIME = 5,
    SIM_KIND_DEVICE = 8,
    SIM_KIND_CONTEXT = 9,
    SIM_KIND_CONCURRENT_KERNEL = 10,
    SIM_KIND_NAME = 11,
    SIM_KIND_MARKER = 12,
    SIM_KIND_MARKER_DATA = 13,
    SIM_KIND_OVERHEAD = 17,
    SIM_KIND_CDP_KERNEL = 18,
    SIM_KIND_MEMCPY2 = 22,
    SIM_KIND_MODULE = 27,
    SIM_KIND_DEVICE_ATTRIBUTE = 28,
    SIM_KIND_CUDA_EVENT = 36,
    SIM_KIND_STREAM = 37,
    SIM_KIND_SYNCHRONIZATION = 38,
    SIM_KIND_EXTERNAL_CORRELATION = 39,
    SIM_KIND_INTERNAL_LAUNCH_API = 48,
    SIM_KIND_MEMORY2 = 49,
    SIM_KIND_MEMORY_POOL = 50,
    SIM_KIND_GRAPH_TRACE = 51,
    SIM_KIND_DEVICE_GRAPH_TRACE = 53,
    SIM_KIND_COUNT = 56
};

/* CUPTI_ACTIVITY_ATTR_ */
enum {
    SIM_ATTR_DEVICE_BUFFER_SIZE = 0,
    SIM_ATTR_DEVICE_BUFFER_POOL_LIMIT = 2,
    SIM_ATTR_ZEROED_OUT_ACTIVITY_BUFFER = 5,
    SIM_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE = 6,
    SIM_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED = 8,
    SIM_ATTR_PER_THREAD_ACTIVITY_BUFFER = 9,
    SIM_ATTR_DEVICE_BUFFER_SIZE_DEVICE_GRAPHS = 10,
    SIM_ATTR_COUNT
};

enum {
    SIM_DOMAIN_DRIVER = 1,
    SIM_DOMAIN_RUNTIME = 2,
    SIM_DOMAIN_RESOURCE = 3,
    SIM_DOMAIN_SYNCHRONIZE = 4,
    SIM_DOMAIN_NVTX = 5,
    SIM_DOMAIN_STATE = 6,
    SIM_DOMAIN_COUNT
};

/* Callback ids of the resource domain. */
enum {
    SIM_RESOURCE_CONTEXT_CREATED = 1,
    SIM_RESOURCE_CONTEXT_DESTROY_STARTING = 2,
    SIM_RESOURCE_STREAM_CREATED = 3,
    SIM_RESOURCE_STREAM_DESTROY_STARTING = 4,
    SIM_RESOURCE_CU_INIT_FINISHED = 5,
    SIM_RESOURCE_MODULE_LOADED = 6,
    SIM_RESOURCE_MODULE_UNLOAD_STARTING = 7,
    SIM_RESOURCE_GRAPH_CREATED = 9,
    SIM_RESOURCE_GRAPH_DESTROY_STARTING = 10,
    SIM_RESOURCE_GRAPH_CLONED = 11,
    SIM_RESOURCE_GRAPHNODE_CREATE_STARTING = 12,
    SIM_RESOURCE_GRAPHNODE_CREATED = 13,
    SIM_RESOURCE_GRAPHNODE_DESTROY_STARTING = 14,
    SIM_RESOURCE_GRAPHEXEC_CREATE_STARTING = 17,
    SIM_RESOURCE_GRAPHEXEC_CREATED = 18,
    SIM_RESOURCE_GRAPHEXEC_DESTROY_STARTING = 19,
    SIM_RESOURCE_GRAPHNODE_CLONED = 20
};

enum { SIM_SYNCHRONIZE_STREAM = 1, SIM_SYNCHRONIZE_CONTEXT = 2 };
enum { SIM_STATE_FATAL_ERROR = 1, SIM_STATE_ERROR = 2, SIM_STATE_WARNING = 3 };
enum { SIM_API_ENTER = 0, SIM_API_EXIT = 1 };
enum { SIM_FLUSH_FORCED = 1 };
enum { SIM_THREAD_ID_DEFAULT = 0, SIM_THREAD_ID_SYSTEM = 1 };
enum { SIM_EXTERNAL_UNKNOWN = 1, SIM_EXTERNAL_CUSTOM0 = 3, SIM_EXTERNAL_COUNT = 6 };

#define SIM_CUPTI_INVALID_ID UINT32_MAX /* no stream, no event */

/* --- records ---------------------------------------------------------------------------------- */

typedef struct sim_rec_kernel {
    uint32_t kind;
    uint8_t cacheConfig;
    uint8_t sharedMemoryConfig;
    uint16_t registersPerThread;
    uint32_t partitionedGlobalCacheRequested;
    uint32_t partitionedGlobalCacheExecuted;
    uint64_t start;
    uint64_t end;
    uint64_t completed;
    uint32_t deviceId;
    uint32_t contextId;
    uint32_t streamId;
    int32_t gridX;
    int32_t gridY;
    int32_t gridZ;
    int32_t blockX;
    int32_t blockY;
    int32_t blockZ;
    int32_t staticSharedMemory;
    int32_t dynamicSharedMemory;
    uint32_t localMemoryPerThread;
    uint32_t localMemoryTotal;
    uint32_t correlationId;
    int64_t gridId;
    const char *name;
    void *reserved0;
    uint64_t queued;
    uint64_t submitted;
    uint8_t launchType;
    uint8_t isSharedMemoryCarveoutRequested;
    uint8_t sharedMemoryCarveoutRequested;
    uint8_t padding;
    uint32_t sharedMemoryExecuted;
    uint64_t graphNodeId;
    uint32_t shmemLimitConfig;
    uint32_t graphId;
    void *pAccessPolicyWindow;
    uint32_t channelID;
    uint32_t channelType;
    uint32_t clusterX;
    uint32_t clusterY;
    uint32_t clusterZ;
    uint32_t clusterSchedulingPolicy;
    uint64_t localMemoryTotal_v2;
    uint32_t maxPotentialClusterSize;
    uint32_t maxActiveClusters;
    uint8_t isDeviceLaunched;
    uint8_t padding3[7];
} sim_rec_kernel;

typedef struct sim_rec_memcpy {
    uint32_t kind;
    uint8_t copyKind;
    uint8_t srcKind;
    uint8_t dstKind;
    uint8_t flags;
    uint64_t bytes;
    uint64_t start;
    uint64_t end;
    uint32_t deviceId;
    uint32_t contextId;
    uint32_t streamId;
    uint32_t correlationId;
    uint32_t runtimeCorrelationId;
    uint32_t pad;
    void *reserved0;
    uint64_t graphNodeId;
    uint32_t graphId;
    uint32_t channelID;
    uint32_t channelType;
    uint8_t isDeviceLaunched;
    uint8_t pad2[3];
    uint64_t copyCount;
} sim_rec_memcpy;

typedef struct sim_rec_memcpy2 {
    uint32_t kind;
    uint8_t copyKind;
    uint8_t srcKind;
    uint8_t dstKind;
    uint8_t flags;
    uint64_t bytes;
    uint64_t start;
    uint64_t end;
    uint32_t deviceId;
    uint32_t contextId;
    uint32_t streamId;
    uint32_t srcDeviceId;
    uint32_t srcContextId;
    uint32_t dstDeviceId;
    uint32_t dstContextId;
    uint32_t correlationId;
    void *reserved0;
    uint64_t graphNodeId;
    uint32_t graphId;
    uint32_t channelID;
    uint32_t channelType;
    uint32_t pad;
} sim_rec_memcpy2;

typedef struct sim_rec_memset {
    uint32_t kind;
    uint32_t value;
    uint64_t bytes;
    uint64_t start;
    uint64_t end;
    uint32_t deviceId;
    uint32_t contextId;
    uint32_t streamId;
    uint32_t correlationId;
    uint16_t flags;
    uint16_t memoryKind;
    uint32_t pad;
    void *reserved0;
    uint64_t graphNodeId;
    uint32_t graphId;
    uint32_t channelID;
    uint32_t channelType;
    uint8_t isDeviceLaunched;
    uint8_t pad2[3];
} sim_rec_memset;

typedef struct sim_rec_pool_config {
    uint32_t memoryPoolType;
    uint32_t pad2;
    uint64_t address;
    uint64_t releaseThreshold;
    uint64_t size;
    uint64_t utilizedSize;
} sim_rec_pool_config;

typedef struct sim_rec_memory {
    uint32_t kind;
    uint32_t memoryOperationType; /* 1 allocation, 2 release */
    uint32_t memoryKind;
    uint32_t correlationId;
    uint64_t address;
    uint64_t bytes;
    uint64_t timestamp;
    uint64_t PC;
    uint32_t processId;
    uint32_t deviceId;
    uint32_t contextId;
    uint32_t streamId;
    const char *name;
    uint32_t isAsync;
    uint32_t pad1;
    sim_rec_pool_config memoryPoolConfig;
    const char *source;
} sim_rec_memory;

typedef struct sim_rec_memory_pool {
    uint32_t kind;
    uint32_t memoryPoolOperationType; /* 1 created, 2 destroyed, 3 trimmed */
    uint32_t memoryPoolType;          /* 1 local */
    uint32_t correlationId;
    uint32_t processId;
    uint32_t deviceId;
    uint64_t minBytesToKeep;
    uint64_t address;
    uint64_t size;
    uint64_t releaseThreshold;
    uint64_t timestamp;
    uint64_t utilizedSize;
    uint8_t isManagedPool;
    uint8_t pad2[7];
} sim_rec_memory_pool;

typedef struct sim_rec_api {
    uint32_t kind;
    uint32_t cbid;
    uint64_t start;
    uint64_t end;
    uint32_t processId;
    uint32_t threadId;
    uint32_t correlationId;
    uint32_t returnValue;
} sim_rec_api;

typedef struct sim_rec_device {
    uint32_t kind;
    uint32_t flags;
    uint64_t globalMemoryBandwidth; /* kB/s */
    uint64_t globalMemorySize;
    uint32_t constantMemorySize;
    uint32_t l2CacheSize;
    uint32_t numThreadsPerWarp;
    uint32_t coreClockRate; /* kHz */
    uint32_t numMemcpyEngines;
    uint32_t numMultiprocessors;
    uint32_t maxIPC;
    uint32_t maxWarpsPerMultiprocessor;
    uint32_t maxBlocksPerMultiprocessor;
    uint32_t maxSharedMemoryPerMultiprocessor;
    uint32_t maxRegistersPerMultiprocessor;
    uint32_t maxRegistersPerBlock;
    uint32_t maxSharedMemoryPerBlock;
    uint32_t maxThreadsPerBlock;
    uint32_t maxBlockDimX;
    uint32_t maxBlockDimY;
    uint32_t maxBlockDimZ;
    uint32_t maxGridDimX;
    uint32_t maxGridDimY;
    uint32_t maxGridDimZ;
    uint32_t computeCapabilityMajor;
    uint32_t computeCapabilityMinor;
    uint32_t id;
    uint32_t eccEnabled;
    uint8_t uuid[16];
    const char *name; /* malloc'ed for each record; whoever reads it frees it */
    uint8_t isCudaVisible;
    uint8_t isMigEnabled;
    uint8_t reserved[6];
    uint32_t gpuInstanceId;
    uint32_t computeInstanceId;
    uint8_t migUuid[16];
    uint32_t isNumaNode;
    uint32_t numaId;
} sim_rec_device;

typedef struct sim_rec_context {
    uint32_t kind;
    uint32_t contextId;
    uint32_t deviceId;
    uint16_t computeApiKind;
    uint16_t nullStreamId;
    uint32_t parentContextId;
    uint8_t isGreenContext;
    uint8_t padding;
    uint16_t numMultiprocessors;
    uint32_t cigMode;
    uint32_t padding2;
} sim_rec_context;

typedef struct sim_rec_stream {
    uint32_t kind;
    uint32_t contextId;
    uint32_t streamId;
    uint32_t priority;
    uint32_t flag; /* 1 default, 2 non-blocking, 3 null */
    uint32_t correlationId;
} sim_rec_stream;

typedef struct sim_rec_overhead {
    uint32_t kind;
    uint32_t overheadKind;
    uint32_t objectKind;
    uint32_t objectId[3]; /* process and thread; or device, context and stream */
    uint64_t start;
    uint64_t end;
    uint32_t correlationId;
    uint32_t reserved0;
    void *overheadData;
} sim_rec_overhead;

typedef struct sim_rec_cuda_event {
    uint32_t kind;
    uint32_t correlationId;
    uint32_t contextId;
    uint32_t streamId;
    uint32_t eventId;
    uint32_t pad;
    uint32_t deviceId;
    uint32_t pad2;
    void *reserved0;
    uint64_t deviceTimestamp;
    uint64_t cudaEventSyncId;
} sim_rec_cuda_event;

typedef struct sim_rec_synchronization {
    uint32_t kind;
    uint32_t type; /* 1 event, 2 stream waits for event, 3 stream, 4 context */
    uint64_t start;
    uint64_t end;
    uint32_t correlationId;
    uint32_t contextId;
    uint32_t streamId;
    uint32_t cudaEventId;
    uint64_t cudaEventSyncId;
    uint32_t returnValue;
    uint32_t pad;
} sim_rec_synchronization;

typedef struct sim_rec_external {
    uint32_t kind;
    uint32_t externalKind;
    uint64_t externalId;
    uint32_t correlationId;
    uint32_t reserved;
} sim_rec_external;

typedef struct sim_rec_graph_trace {
    uint32_t kind;
    uint32_t correlationId;
    uint64_t start;
    uint64_t end;
    uint32_t deviceId;
    uint32_t graphId;
    uint32_t contextId;
    uint32_t streamId;
    void *reserved;
    uint32_t endDeviceId;
    uint32_t endContextId;
} sim_rec_graph_trace;

/* --- what callbacks are given ----------------------------------------------------------------- */

typedef struct sim_callback_data {
    uint32_t callbackSite;
    const char *functionName;
    const void *functionParams;
    void *functionReturnValue;
    const char *symbolName;
    void *context;
    uint32_t contextUid;
    uint64_t *correlationData;
    uint32_t correlationId;
} sim_callback_data;

typedef struct sim_resource_data {
    void *context;
    void *stream;
    void *resourceDescriptor; /* of graphs: sim_graph_data */
} sim_resource_data;

typedef struct sim_graph_data {
    void *graph;
    void *originalGraph;
    void *node;
    void *originalNode;
    uint32_t nodeType;
    void *dependency;
    void *graphExec;
} sim_graph_data;

typedef struct sim_synchronize_data {
    void *context;
    void *stream;
} sim_synchronize_data;

typedef struct sim_state_data {
    uint32_t result;
    const char *message;
} sim_state_data;

/* 13.0 knows the first four fields, 13.2 and later the fifth. */
typedef struct sim_subscriber_params {
    size_t structSize;
    const char *subscriberName;
    char *oldSubscriberName;
    size_t oldSubscriberSize;
    uint8_t allowMultipleSubscribers;
    uint8_t padding[7];
} sim_subscriber_params;

#define SIM_SUBSCRIBER_PARAMS_13_0 offsetof(sim_subscriber_params, allowMultipleSubscribers)
#define SIM_SUBSCRIBER_NAME_MAX 53
#define SIM_SUBSCRIBER_PREFIX "CUPTI for "

typedef struct sim_subscriber *sim_subscriber_handle;
typedef void (*sim_callback_fn)(void *user, uint32_t domain, uint32_t cbid, const void *data);
typedef void (*sim_request_fn)(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void (*sim_complete_fn)(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                                size_t valid_size);
typedef void (*sim_request_v2_fn)(uint8_t **buffer, size_t *size, size_t *max_records, void *info);
typedef void (*sim_complete_v2_fn)(uint8_t *buffer, size_t size, size_t valid_size, void *info);
typedef uint64_t (*sim_timestamp_fn)(void);

/* --- functions -------------------------------------------------------------------------------- */

/* X(name, parameters) for every function of the V1 interface. */
#define SIM_CUPTI_FUNCTIONS(X) \
    X(cuptiGetVersion, (uint32_t * version)) \
    X(cuptiGetResultString, (int32_t result, const char **text)) \
    X(cuptiGetErrorMessage, (int32_t result, const char **text)) \
    X(cuptiGetLastError, (void)) \
    X(cuptiSubscribe, (sim_subscriber_handle * out, sim_callback_fn callback, void *user)) \
    X(cuptiUnsubscribe, (sim_subscriber_handle subscriber)) \
    X(cuptiEnableCallback, \
      (uint32_t enable, sim_subscriber_handle subscriber, uint32_t domain, uint32_t cbid)) \
    X(cuptiEnableDomain, (uint32_t enable, sim_subscriber_handle subscriber, uint32_t domain)) \
    X(cuptiEnableAllDomains, (uint32_t enable, sim_subscriber_handle subscriber)) \
    X(cuptiGetCallbackState, \
      (uint32_t * enable, sim_subscriber_handle subscriber, uint32_t domain, uint32_t cbid)) \
    X(cuptiSupportedDomains, (size_t * count, const uint32_t **domains)) \
    X(cuptiGetCallbackName, (uint32_t domain, uint32_t cbid, const char **name)) \
    X(cuptiActivityRegisterCallbacks, (sim_request_fn request, sim_complete_fn complete)) \
    X(cuptiActivityEnable, (uint32_t kind)) \
    X(cuptiActivityEnableAndDump, (uint32_t kind)) \
    X(cuptiActivityEnableContext, (void *context, uint32_t kind)) \
    X(cuptiActivityDisable, (uint32_t kind)) \
    X(cuptiActivityDisableContext, (void *context, uint32_t kind)) \
    X(cuptiActivityFlush, (void *context, uint32_t stream, uint32_t flag)) \
    X(cuptiActivityFlushAll, (uint32_t flag)) \
    X(cuptiActivityFlushPeriod, (uint32_t ms)) \
    X(cuptiActivityGetNextRecord, (uint8_t * buffer, size_t valid_bytes, uint8_t **record)) \
    X(cuptiActivityGetNumDroppedRecords, (void *context, uint32_t stream, size_t *dropped)) \
    X(cuptiActivityGetAttribute, (uint32_t attribute, size_t *size, void *value)) \
    X(cuptiActivitySetAttribute, (uint32_t attribute, size_t *size, void *value)) \
    X(cuptiActivityPushExternalCorrelationId, (uint32_t kind, uint64_t id)) \
    X(cuptiActivityPopExternalCorrelationId, (uint32_t kind, uint64_t *last)) \
    X(cuptiActivityRegisterTimestampCallback, (sim_timestamp_fn timestamp)) \
    X(cuptiGetTimestamp, (uint64_t * timestamp)) \
    X(cuptiSetThreadIdType, (uint32_t type)) \
    X(cuptiGetThreadIdType, (uint32_t * type)) \
    X(cuptiGetContextId, (void *context, uint32_t *id)) \
    X(cuptiGetStreamId, (void *context, void *stream, uint32_t *id)) \
    X(cuptiGetStreamIdEx, (void *context, void *stream, uint8_t per_thread, uint32_t *id)) \
    X(cuptiGetDeviceId, (void *context, uint32_t *id)) \
    X(cuptiGetGraphId, (void *graph, uint32_t *id)) \
    X(cuptiGetGraphExecId, (void *exec, uint32_t *id)) \
    X(cuptiGetGraphNodeId, (void *node, uint64_t *id)) \
    X(cuptiActivityEnableLatencyTimestamps, (uint8_t enable)) \
    X(cuptiActivityEnableRuntimeApi, (uint32_t cbid, uint8_t enable)) \
    X(cuptiActivityEnableDriverApi, (uint32_t cbid, uint8_t enable)) \
    X(cuptiActivityEnableAllSyncRecords, (uint8_t enable)) \
    X(cuptiActivityEnableHWTrace, (uint8_t enable)) \
    X(cuptiActivityEnableDeviceGraph, (uint8_t enable)) \
    X(cuptiActivityEnableLaunchAttributes, (uint8_t enable)) \
    X(cuptiActivityEnableAllocationSource, (uint8_t enable)) \
    X(cuptiDeviceSupported, (int32_t device, int32_t *supported)) \
    X(cuptiComputeCapabilitySupported, (int32_t major, int32_t minor, int32_t *supported)) \
    X(cuptiFinalize, (void)) \
    X(cuptiNvtxInitialize2, (void *table))

/* Since 13.0. */
#define SIM_CUPTI_FUNCTIONS_13_0(X) \
    X(cuptiSubscribe_v2, (sim_subscriber_handle * out, sim_callback_fn callback, void *user, \
                          sim_subscriber_params *params)) \
    X(cuptiActivityEnableCudaEventDeviceTimestamps, (uint8_t enable))

/* Since 13.3: several subscribers, each with its own kinds, buffers and external ids. `config`
 * selects fields of records; only NULL is known here. */
#define SIM_CUPTI_FUNCTIONS_13_3(X) \
    X(cuptiActivityRegisterCallbacks_v2, \
      (sim_subscriber_handle subscriber, sim_request_v2_fn request, sim_complete_v2_fn complete)) \
    X(cuptiActivityEnable_v2, (sim_subscriber_handle subscriber, uint32_t kind, void *config)) \
    X(cuptiActivityEnableAndDump_v2, \
      (sim_subscriber_handle subscriber, uint32_t kind, void *config)) \
    X(cuptiActivityDisable_v2, (sim_subscriber_handle subscriber, uint32_t kind, void *config)) \
    X(cuptiActivityGetAttribute_v2, \
      (sim_subscriber_handle subscriber, uint32_t attribute, size_t *size, void *value)) \
    X(cuptiActivitySetAttribute_v2, \
      (sim_subscriber_handle subscriber, uint32_t attribute, size_t *size, void *value)) \
    X(cuptiActivityGetNextRecord_v2, (sim_subscriber_handle subscriber, uint8_t *buffer, \
                                      size_t valid_bytes, uint8_t **record)) \
    X(cuptiActivityGetNumDroppedRecords_v2, \
      (sim_subscriber_handle subscriber, void *context, uint32_t stream, size_t *dropped)) \
    X(cuptiActivityPushExternalCorrelationId_v2, \
      (sim_subscriber_handle subscriber, uint32_t kind, uint64_t id)) \
    X(cuptiActivityPopExternalCorrelationId_v2, \
      (sim_subscriber_handle subscriber, uint32_t kind, uint64_t *last)) \
    X(cuptiGetTimestamp_v2, (sim_subscriber_handle subscriber, uint64_t *timestamp)) \
    X(cuptiIsTracingSessionRunning, (uint8_t * running)) \
    X(cuptiActivityGetEnabledKinds, \
      (sim_subscriber_handle subscriber, uint32_t *kinds, uint32_t *size, uint32_t *count)) \
    X(cuptiActivityGetStructSize, (uint32_t kind, uint32_t version, size_t *bytes))

/* They return a sim_cupti_result as int32_t; clients get them with dlsym(). SIM_CUPTI_LIBRARY is
 * defined while the stand-in is built: 12, 13 or 133; each exports the functions of its time and no
 * others. */
#ifdef SIM_CUPTI_LIBRARY
#define SIM_CUPTI_DECLARE(name, parameters) int32_t name parameters;
#pragma GCC visibility push(default)
SIM_CUPTI_FUNCTIONS(SIM_CUPTI_DECLARE)
#if SIM_CUPTI_LIBRARY != 12
SIM_CUPTI_FUNCTIONS_13_0(SIM_CUPTI_DECLARE)
#endif
#if SIM_CUPTI_LIBRARY == 133
SIM_CUPTI_FUNCTIONS_13_3(SIM_CUPTI_DECLARE)
#endif
#pragma GCC visibility pop
#endif

#endif
