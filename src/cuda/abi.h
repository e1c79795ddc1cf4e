/* CUDA's and CUPTI's binary interfaces, as far as Takt uses them: numbers, offsets of fields in
 * CUPTI's records, and functions. New versions only append fields to records, so Takt may read a
 * field from any record that is long enough. Where a toolkit is installed, test/compile/abi.cpp
 * compares all of this with its headers; nothing else needs them. */
#ifndef TKT_CUDA_ABI_H
#define TKT_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

/* Size of tables indexed by CUPTI_ACTIVITY_KIND_; 13.0 has 56 kinds, later releases a few more. */
#define TKT_CUPTI_KINDS 64u

/* CUpti_ActivityKind: name, number. */
#define TKT_CUPTI_KIND_LIST(X)                                                                     \
    X(MEMCPY, 1)                                                                                   \
    X(MEMSET, 2)                                                                                   \
    X(KERNEL, 3)                                                                                   \
    X(DRIVER, 4)                                                                                   \
    X(RUNTIME, 5)                                                                                  \
    X(DEVICE, 8)                                                                                   \
    X(CONTEXT, 9)                                                                                  \
    X(CONCURRENT_KERNEL, 10)                                                                       \
    X(OVERHEAD, 17)                                                                                \
    X(MEMCPY2, 22)                                                                                 \
    X(CUDA_EVENT, 36)                                                                              \
    X(SYNCHRONIZATION, 38)                                                                         \
    X(EXTERNAL_CORRELATION, 39)                                                                    \
    X(MEMORY2, 49)                                                                                 \
    X(MEMORY_POOL, 50)                                                                             \
    X(GRAPH_TRACE, 51)                                                                             \
    X(JIT, 52)

enum {
#define TKT_KIND_ENUM(name, number) TKT_KIND_##name = (number),
    TKT_CUPTI_KIND_LIST(TKT_KIND_ENUM)
#undef TKT_KIND_ENUM
};

/* Decoded records: constant, kind, struct of the 13.0 headers, its bytes there. */
#define TKT_CUPTI_RECORD_LIST(X)                                                                   \
    X(KERNEL, CONCURRENT_KERNEL, CUpti_ActivityKernel10, 216)                                      \
    X(MEMCPY, MEMCPY, CUpti_ActivityMemcpy6, 96)                                                   \
    X(MEMCPY2, MEMCPY2, CUpti_ActivityMemcpyPtoP4, 96)                                             \
    X(MEMSET, MEMSET, CUpti_ActivityMemset4, 88)                                                   \
    X(MEMORY, MEMORY2, CUpti_ActivityMemory4, 128)                                                 \
    X(POOL, MEMORY_POOL, CUpti_ActivityMemoryPool3, 80)                                            \
    X(GRAPH, GRAPH_TRACE, CUpti_ActivityGraphTrace2, 56)                                           \
    X(SYNC, SYNCHRONIZATION, CUpti_ActivitySynchronization2, 56)                                   \
    X(EVENT, CUDA_EVENT, CUpti_ActivityCudaEvent2, 56)                                             \
    X(OVERHEAD, OVERHEAD, CUpti_ActivityOverhead3, 56)                                             \
    X(JIT, JIT, CUpti_ActivityJit2, 72)                                                            \
    X(CONTEXT, CONTEXT, CUpti_ActivityContext3, 32)                                                \
    X(DEVICE, DEVICE, CUpti_ActivityDevice5, 184)

/* Fields of these records: constant TKT_AT_..., struct, member, offset, bytes. Every record begins
 * with its kind, 4 bytes. */
#define TKT_CUPTI_FIELD_LIST(X)                                                                    \
    X(KERNEL_REGISTERS, CUpti_ActivityKernel10, registersPerThread, 6, 2)                          \
    X(KERNEL_START, CUpti_ActivityKernel10, start, 16, 8)                                          \
    X(KERNEL_END, CUpti_ActivityKernel10, end, 24, 8)                                              \
    X(KERNEL_DEVICE, CUpti_ActivityKernel10, deviceId, 40, 4)                                      \
    X(KERNEL_CONTEXT, CUpti_ActivityKernel10, contextId, 44, 4)                                    \
    X(KERNEL_STREAM, CUpti_ActivityKernel10, streamId, 48, 4)                                      \
    X(KERNEL_GRID_X, CUpti_ActivityKernel10, gridX, 52, 4)                                         \
    X(KERNEL_GRID_Y, CUpti_ActivityKernel10, gridY, 56, 4)                                         \
    X(KERNEL_GRID_Z, CUpti_ActivityKernel10, gridZ, 60, 4)                                         \
    X(KERNEL_BLOCK_X, CUpti_ActivityKernel10, blockX, 64, 4)                                       \
    X(KERNEL_BLOCK_Y, CUpti_ActivityKernel10, blockY, 68, 4)                                       \
    X(KERNEL_BLOCK_Z, CUpti_ActivityKernel10, blockZ, 72, 4)                                       \
    X(KERNEL_STATIC_SHARED, CUpti_ActivityKernel10, staticSharedMemory, 76, 4)                     \
    X(KERNEL_DYNAMIC_SHARED, CUpti_ActivityKernel10, dynamicSharedMemory, 80, 4)                   \
    X(KERNEL_LOCAL, CUpti_ActivityKernel10, localMemoryPerThread, 84, 4)                           \
    X(KERNEL_CORRELATION, CUpti_ActivityKernel10, correlationId, 92, 4)                            \
    X(KERNEL_NAME, CUpti_ActivityKernel10, name, 104, 8)                                           \
    X(KERNEL_SHARED_EXECUTED, CUpti_ActivityKernel10, sharedMemoryExecuted, 140, 4)                \
    X(KERNEL_GRAPH_NODE, CUpti_ActivityKernel10, graphNodeId, 144, 8)                              \
    X(KERNEL_GRAPH, CUpti_ActivityKernel10, graphId, 156, 4)                                       \
    X(KERNEL_CLUSTER_X, CUpti_ActivityKernel10, clusterX, 176, 4)                                  \
    X(KERNEL_CLUSTER_Y, CUpti_ActivityKernel10, clusterY, 180, 4)                                  \
    X(KERNEL_CLUSTER_Z, CUpti_ActivityKernel10, clusterZ, 184, 4)                                  \
    X(MEMCPY_COPY_KIND, CUpti_ActivityMemcpy6, copyKind, 4, 1)                                     \
    X(MEMCPY_SOURCE, CUpti_ActivityMemcpy6, srcKind, 5, 1)                                         \
    X(MEMCPY_TARGET, CUpti_ActivityMemcpy6, dstKind, 6, 1)                                         \
    X(MEMCPY_BYTES, CUpti_ActivityMemcpy6, bytes, 8, 8)                                            \
    X(MEMCPY_START, CUpti_ActivityMemcpy6, start, 16, 8)                                           \
    X(MEMCPY_END, CUpti_ActivityMemcpy6, end, 24, 8)                                               \
    X(MEMCPY_DEVICE, CUpti_ActivityMemcpy6, deviceId, 32, 4)                                       \
    X(MEMCPY_CONTEXT, CUpti_ActivityMemcpy6, contextId, 36, 4)                                     \
    X(MEMCPY_STREAM, CUpti_ActivityMemcpy6, streamId, 40, 4)                                       \
    X(MEMCPY_CORRELATION, CUpti_ActivityMemcpy6, correlationId, 44, 4)                             \
    X(MEMCPY_GRAPH_NODE, CUpti_ActivityMemcpy6, graphNodeId, 64, 8)                                \
    X(MEMCPY_GRAPH, CUpti_ActivityMemcpy6, graphId, 72, 4)                                         \
    X(MEMCPY2_COPY_KIND, CUpti_ActivityMemcpyPtoP4, copyKind, 4, 1)                                \
    X(MEMCPY2_SOURCE, CUpti_ActivityMemcpyPtoP4, srcKind, 5, 1)                                    \
    X(MEMCPY2_TARGET, CUpti_ActivityMemcpyPtoP4, dstKind, 6, 1)                                    \
    X(MEMCPY2_BYTES, CUpti_ActivityMemcpyPtoP4, bytes, 8, 8)                                       \
    X(MEMCPY2_START, CUpti_ActivityMemcpyPtoP4, start, 16, 8)                                      \
    X(MEMCPY2_END, CUpti_ActivityMemcpyPtoP4, end, 24, 8)                                          \
    X(MEMCPY2_DEVICE, CUpti_ActivityMemcpyPtoP4, deviceId, 32, 4)                                  \
    X(MEMCPY2_CONTEXT, CUpti_ActivityMemcpyPtoP4, contextId, 36, 4)                                \
    X(MEMCPY2_STREAM, CUpti_ActivityMemcpyPtoP4, streamId, 40, 4)                                  \
    X(MEMCPY2_SOURCE_DEVICE, CUpti_ActivityMemcpyPtoP4, srcDeviceId, 44, 4)                        \
    X(MEMCPY2_TARGET_DEVICE, CUpti_ActivityMemcpyPtoP4, dstDeviceId, 52, 4)                        \
    X(MEMCPY2_CORRELATION, CUpti_ActivityMemcpyPtoP4, correlationId, 60, 4)                        \
    X(MEMCPY2_GRAPH_NODE, CUpti_ActivityMemcpyPtoP4, graphNodeId, 72, 8)                           \
    X(MEMCPY2_GRAPH, CUpti_ActivityMemcpyPtoP4, graphId, 80, 4)                                    \
    X(MEMSET_VALUE, CUpti_ActivityMemset4, value, 4, 4)                                            \
    X(MEMSET_BYTES, CUpti_ActivityMemset4, bytes, 8, 8)                                            \
    X(MEMSET_START, CUpti_ActivityMemset4, start, 16, 8)                                           \
    X(MEMSET_END, CUpti_ActivityMemset4, end, 24, 8)                                               \
    X(MEMSET_DEVICE, CUpti_ActivityMemset4, deviceId, 32, 4)                                       \
    X(MEMSET_CONTEXT, CUpti_ActivityMemset4, contextId, 36, 4)                                     \
    X(MEMSET_STREAM, CUpti_ActivityMemset4, streamId, 40, 4)                                       \
    X(MEMSET_CORRELATION, CUpti_ActivityMemset4, correlationId, 44, 4)                             \
    X(MEMSET_TARGET, CUpti_ActivityMemset4, memoryKind, 50, 2)                                     \
    X(MEMSET_GRAPH_NODE, CUpti_ActivityMemset4, graphNodeId, 64, 8)                                \
    X(MEMSET_GRAPH, CUpti_ActivityMemset4, graphId, 72, 4)                                         \
    X(MEMORY_OPERATION, CUpti_ActivityMemory4, memoryOperationType, 4, 4)                          \
    X(MEMORY_MEMORY_KIND, CUpti_ActivityMemory4, memoryKind, 8, 4)                                 \
    X(MEMORY_CORRELATION, CUpti_ActivityMemory4, correlationId, 12, 4)                             \
    X(MEMORY_ADDRESS, CUpti_ActivityMemory4, address, 16, 8)                                       \
    X(MEMORY_BYTES, CUpti_ActivityMemory4, bytes, 24, 8)                                           \
    X(MEMORY_TIME, CUpti_ActivityMemory4, timestamp, 32, 8)                                        \
    X(MEMORY_DEVICE, CUpti_ActivityMemory4, deviceId, 52, 4)                                       \
    X(MEMORY_CONTEXT, CUpti_ActivityMemory4, contextId, 56, 4)                                     \
    X(MEMORY_STREAM, CUpti_ActivityMemory4, streamId, 60, 4)                                       \
    X(MEMORY_POOL_TYPE, CUpti_ActivityMemory4, memoryPoolConfig.memoryPoolType, 80, 4)             \
    X(MEMORY_POOL_ADDRESS, CUpti_ActivityMemory4, memoryPoolConfig.address, 88, 8)                 \
    X(MEMORY_POOL_SIZE, CUpti_ActivityMemory4, memoryPoolConfig.pool.size, 104, 8)                 \
    X(MEMORY_POOL_USED, CUpti_ActivityMemory4, memoryPoolConfig.utilizedSize, 112, 8)              \
    X(POOL_OPERATION, CUpti_ActivityMemoryPool3, memoryPoolOperationType, 4, 4)                    \
    X(POOL_TYPE, CUpti_ActivityMemoryPool3, memoryPoolType, 8, 4)                                  \
    X(POOL_CORRELATION, CUpti_ActivityMemoryPool3, correlationId, 12, 4)                           \
    X(POOL_DEVICE, CUpti_ActivityMemoryPool3, deviceId, 20, 4)                                     \
    X(POOL_ADDRESS, CUpti_ActivityMemoryPool3, address, 32, 8)                                     \
    X(POOL_SIZE, CUpti_ActivityMemoryPool3, size, 40, 8)                                           \
    X(POOL_TIME, CUpti_ActivityMemoryPool3, timestamp, 56, 8)                                      \
    X(POOL_USED, CUpti_ActivityMemoryPool3, utilizedSize, 64, 8)                                   \
    X(GRAPH_CORRELATION, CUpti_ActivityGraphTrace2, correlationId, 4, 4)                           \
    X(GRAPH_START, CUpti_ActivityGraphTrace2, start, 8, 8)                                         \
    X(GRAPH_END, CUpti_ActivityGraphTrace2, end, 16, 8)                                            \
    X(GRAPH_DEVICE, CUpti_ActivityGraphTrace2, deviceId, 24, 4)                                    \
    X(GRAPH_GRAPH, CUpti_ActivityGraphTrace2, graphId, 28, 4)                                      \
    X(GRAPH_CONTEXT, CUpti_ActivityGraphTrace2, contextId, 32, 4)                                  \
    X(GRAPH_STREAM, CUpti_ActivityGraphTrace2, streamId, 36, 4)                                    \
    X(GRAPH_END_DEVICE, CUpti_ActivityGraphTrace2, endDeviceId, 48, 4)                             \
    X(GRAPH_END_CONTEXT, CUpti_ActivityGraphTrace2, endContextId, 52, 4)                           \
    X(SYNC_TYPE, CUpti_ActivitySynchronization2, type, 4, 4)                                       \
    X(SYNC_START, CUpti_ActivitySynchronization2, start, 8, 8)                                     \
    X(SYNC_END, CUpti_ActivitySynchronization2, end, 16, 8)                                        \
    X(SYNC_CORRELATION, CUpti_ActivitySynchronization2, correlationId, 24, 4)                      \
    X(SYNC_CONTEXT, CUpti_ActivitySynchronization2, contextId, 28, 4)                              \
    X(SYNC_STREAM, CUpti_ActivitySynchronization2, streamId, 32, 4)                                \
    X(SYNC_EVENT, CUpti_ActivitySynchronization2, cudaEventId, 36, 4)                              \
    X(SYNC_SYNC_ID, CUpti_ActivitySynchronization2, cudaEventSyncId, 40, 8)                        \
    X(SYNC_RESULT, CUpti_ActivitySynchronization2, returnValue, 48, 4)                             \
    X(EVENT_CORRELATION, CUpti_ActivityCudaEvent2, correlationId, 4, 4)                            \
    X(EVENT_CONTEXT, CUpti_ActivityCudaEvent2, contextId, 8, 4)                                    \
    X(EVENT_STREAM, CUpti_ActivityCudaEvent2, streamId, 12, 4)                                     \
    X(EVENT_EVENT, CUpti_ActivityCudaEvent2, eventId, 16, 4)                                       \
    X(EVENT_SYNC_ID, CUpti_ActivityCudaEvent2, cudaEventSyncId, 48, 8)                             \
    X(OVERHEAD_OVERHEAD_KIND, CUpti_ActivityOverhead3, overheadKind, 4, 4)                         \
    X(OVERHEAD_OBJECT_KIND, CUpti_ActivityOverhead3, objectKind, 8, 4)                             \
    X(OVERHEAD_PROCESS, CUpti_ActivityOverhead3, objectId.pt.processId, 12, 4)                     \
    X(OVERHEAD_THREAD, CUpti_ActivityOverhead3, objectId.pt.threadId, 16, 4)                       \
    X(OVERHEAD_START, CUpti_ActivityOverhead3, start, 24, 8)                                       \
    X(OVERHEAD_END, CUpti_ActivityOverhead3, end, 32, 8)                                           \
    X(JIT_ENTRY, CUpti_ActivityJit2, jitEntryType, 4, 4)                                           \
    X(JIT_OPERATION, CUpti_ActivityJit2, jitOperationType, 8, 4)                                   \
    X(JIT_START, CUpti_ActivityJit2, start, 16, 8)                                                 \
    X(JIT_END, CUpti_ActivityJit2, end, 24, 8)                                                     \
    X(JIT_THREAD, CUpti_ActivityJit2, threadId, 68, 4)                                             \
    X(DEVICE_MEMORY_BYTES, CUpti_ActivityDevice5, globalMemorySize, 16, 8)                         \
    X(DEVICE_WARP_SIZE, CUpti_ActivityDevice5, numThreadsPerWarp, 32, 4)                           \
    X(DEVICE_CLOCK, CUpti_ActivityDevice5, coreClockRate, 36, 4)                                   \
    X(DEVICE_MULTIPROCESSORS, CUpti_ActivityDevice5, numMultiprocessors, 44, 4)                    \
    X(DEVICE_MAX_WARPS, CUpti_ActivityDevice5, maxWarpsPerMultiprocessor, 52, 4)                   \
    X(DEVICE_MAX_BLOCKS, CUpti_ActivityDevice5, maxBlocksPerMultiprocessor, 56, 4)                 \
    X(DEVICE_SHARED, CUpti_ActivityDevice5, maxSharedMemoryPerMultiprocessor, 60, 4)               \
    X(DEVICE_REGISTERS, CUpti_ActivityDevice5, maxRegistersPerMultiprocessor, 64, 4)               \
    X(DEVICE_BLOCK_REGISTERS, CUpti_ActivityDevice5, maxRegistersPerBlock, 68, 4)                  \
    X(DEVICE_BLOCK_SHARED, CUpti_ActivityDevice5, maxSharedMemoryPerBlock, 72, 4)                  \
    X(DEVICE_BLOCK_THREADS, CUpti_ActivityDevice5, maxThreadsPerBlock, 76, 4)                      \
    X(DEVICE_MAJOR, CUpti_ActivityDevice5, computeCapabilityMajor, 104, 4)                         \
    X(DEVICE_MINOR, CUpti_ActivityDevice5, computeCapabilityMinor, 108, 4)                         \
    X(DEVICE_ID, CUpti_ActivityDevice5, id, 112, 4)                                                \
    X(DEVICE_NAME, CUpti_ActivityDevice5, name, 136, 8)                                            \
    X(DEVICE_IS_VISIBLE, CUpti_ActivityDevice5, isCudaVisible, 144, 1)

enum {
#define TKT_RECORD_ENUM(name, kind, type, bytes) TKT_RECORD_##name##_BYTES = (bytes),
    TKT_CUPTI_RECORD_LIST(TKT_RECORD_ENUM)
#undef TKT_RECORD_ENUM
#define TKT_FIELD_ENUM(name, type, member, offset, bytes) TKT_AT_##name = (offset),
    TKT_CUPTI_FIELD_LIST(TKT_FIELD_ENUM)
#undef TKT_FIELD_ENUM
};

/* Other numbers: constant, the toolkit's name, value. */
#define TKT_CUPTI_NUMBER_LIST(X)                                                                   \
    X(TKT_CUPTI_SUCCESS, CUPTI_SUCCESS, 0)                                                         \
    X(TKT_CUPTI_INVALID_DEVICE, CUPTI_ERROR_INVALID_DEVICE, 2)                                     \
    X(TKT_CUPTI_OUT_OF_MEMORY, CUPTI_ERROR_OUT_OF_MEMORY, 8)                                       \
    X(TKT_CUPTI_MAX_LIMIT_REACHED, CUPTI_ERROR_MAX_LIMIT_REACHED, 12)                              \
    X(TKT_CUPTI_NOT_COMPATIBLE, CUPTI_ERROR_NOT_COMPATIBLE, 14)                                    \
    X(TKT_CUPTI_NOT_INITIALIZED, CUPTI_ERROR_NOT_INITIALIZED, 15)                                  \
    X(TKT_CUPTI_INVALID_KIND, CUPTI_ERROR_INVALID_KIND, 21)                                        \
    X(TKT_CUPTI_DISABLED, CUPTI_ERROR_DISABLED, 23)                                                \
    X(TKT_CUPTI_NOT_SUPPORTED, CUPTI_ERROR_NOT_SUPPORTED, 27)                                      \
    X(TKT_CUPTI_VIRTUALIZED, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED, 33)                     \
    X(TKT_CUPTI_INSUFFICIENT_PRIVILEGES, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, 35)                  \
    X(TKT_CUPTI_TAKEN, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, 39)                         \
    X(TKT_CUPTI_VIRTUALIZED_PRIVILEGES, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES,    \
      40)                                                                                          \
    X(TKT_CUPTI_CONFIDENTIAL, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED, 41)                \
    X(TKT_CUPTI_CMP_DEVICE, CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED, 42)                              \
    X(TKT_CUPTI_MIG_DEVICE, CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED, 43)                              \
    X(TKT_CUPTI_SLI_DEVICE, CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED, 44)                              \
    X(TKT_CUPTI_WSL_DEVICE, CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED, 45)                              \
    X(TKT_CUPTI_UNKNOWN, CUPTI_ERROR_UNKNOWN, 999)                                                 \
    X(TKT_DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API, 1)                                            \
    X(TKT_DOMAIN_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API, 2)                                          \
    X(TKT_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_RESOURCE, 3)                                            \
    X(TKT_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_CREATED, 1)                                 \
    X(TKT_CONTEXT_DESTROY_STARTING, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, 2)               \
    X(TKT_CU_INIT_FINISHED, CUPTI_CBID_RESOURCE_CU_INIT_FINISHED, 5)                               \
    X(TKT_GRAPH_EXEC_CREATED, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, 18)                           \
    X(TKT_GRAPH_EXEC_DESTROY_STARTING, CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING, 19)         \
    X(TKT_API_ENTER, CUPTI_API_ENTER, 0)                                                           \
    X(TKT_API_EXIT, CUPTI_API_EXIT, 1)                                                             \
    X(TKT_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, 5)      \
    X(TKT_THREAD_ID_SYSTEM, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM, 1)                               \
    X(TKT_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED, 1)                                       \
    X(TKT_MEMORY_ALLOCATION, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION, 1)                   \
    X(TKT_MEMORY_RELEASE, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE, 2)                         \
    X(TKT_POOL_CREATED, CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED, 1)                      \
    X(TKT_POOL_DESTROYED, CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED, 2)                  \
    X(TKT_POOL_TRIMMED, CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED, 3)                      \
    X(TKT_POOL_LOCAL, CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL, 1)                                    \
    X(TKT_POOL_IMPORTED, CUPTI_ACTIVITY_MEMORY_POOL_TYPE_IMPORTED, 2)                              \
    X(TKT_OBJECT_THREAD, CUPTI_ACTIVITY_OBJECT_THREAD, 2)                                          \
    X(TKT_JIT_NVVM, CUPTI_ACTIVITY_JIT_ENTRY_NVVM_IR_TO_PTX, 2)

enum {
#define TKT_NUMBER_ENUM(name, theirs, value) name = (value),
    TKT_CUPTI_NUMBER_LIST(TKT_NUMBER_ENUM)
#undef TKT_NUMBER_ENUM
};

/* CUpti_CallbackData: the argument of a callback for a call of the runtime or the driver. */
typedef struct tkt_callback_data {
    int32_t     site; /* TKT_API_ */
    const char *function_name;
    const void *parameters;
    void       *result; /* at EXIT: points to a cudaError_t or CUresult */
    const char *symbol_name;
    void       *context;
    uint32_t    context_id;
    uint64_t   *correlation_data; /* shared by ENTER and EXIT of one call */
    uint32_t    correlation;
} tkt_callback_data;

/* CUpti_ResourceData */
typedef struct tkt_resource_data {
    void *context;
    void *stream;
    void *descriptor; /* of graphs: tkt_graph_data */
} tkt_resource_data;

/* CUpti_GraphData */
typedef struct tkt_graph_data {
    void    *graph;
    void    *original_graph;
    void    *node;
    void    *original_node;
    uint32_t node_type;
    void    *dependency;
    void    *executable;
} tkt_graph_data;

/* CUpti_SubscriberParams as of 13.0; later ones are longer, and `bytes` tells CUPTI which one this
 * is. */
typedef struct tkt_subscriber_params {
    size_t      bytes;
    const char *name;     /* at most 53 bytes */
    char       *old_name; /* out: the current subscriber; at least 64 bytes */
    size_t      old_name_bytes;
} tkt_subscriber_params;

typedef void (*tkt_cupti_callback)(void *user, int domain, uint32_t id, const void *data);
typedef void (*tkt_cupti_requested)(uint8_t **buffer, size_t *bytes, size_t *max_records);
typedef void (*tkt_cupti_completed)(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
                                    size_t valid_bytes);

/* CUPTI's functions: member, symbol, whether required, parameters. All return a CUptiResult. */
#define TKT_CUPTI_FUNCTION_LIST(X)                                                                 \
    X(get_version, cuptiGetVersion, 1, (uint32_t *))                                               \
    X(subscribe, cuptiSubscribe, 1, (void **, tkt_cupti_callback, void *))                         \
    X(subscribe_v2, cuptiSubscribe_v2, 0,                                                          \
      (void **, tkt_cupti_callback, void *, tkt_subscriber_params *))                              \
    X(unsubscribe, cuptiUnsubscribe, 1, (void *))                                                  \
    X(enable_callback, cuptiEnableCallback, 1, (uint32_t, void *, int, uint32_t))                  \
    X(callback_name, cuptiGetCallbackName, 1, (int, uint32_t, const char **))                      \
    X(set_thread_id_type, cuptiSetThreadIdType, 0, (int))                                          \
    X(set_attribute, cuptiActivitySetAttribute, 0, (int, size_t *, void *))                        \
    X(set_all_sync_records, cuptiActivityEnableAllSyncRecords, 0, (uint8_t))                       \
    X(register_callbacks, cuptiActivityRegisterCallbacks, 1,                                       \
      (tkt_cupti_requested, tkt_cupti_completed))                                                  \
    X(enable, cuptiActivityEnable, 1, (int))                                                       \
    X(disable, cuptiActivityDisable, 1, (int))                                                     \
    X(flush_all, cuptiActivityFlushAll, 1, (uint32_t))                                             \
    X(next_record, cuptiActivityGetNextRecord, 1, (uint8_t *, size_t, void **))                    \
    X(dropped, cuptiActivityGetNumDroppedRecords, 1, (void *, uint32_t, size_t *))                 \
    X(timestamp, cuptiGetTimestamp, 1, (uint64_t *))

/* The driver's attributes of devices (CUdevice_attribute): field of tkt_device, name, number. */
#define TKT_DEVICE_ATTRIBUTE_LIST(X)                                                               \
    X(max_threads_per_block, MAX_THREADS_PER_BLOCK, 1)                                             \
    X(shared_per_block, MAX_SHARED_MEMORY_PER_BLOCK, 8)                                            \
    X(warp_size, WARP_SIZE, 10)                                                                    \
    X(registers_per_block, MAX_REGISTERS_PER_BLOCK, 12)                                            \
    X(clock_khz, CLOCK_RATE, 13)                                                                   \
    X(multiprocessors, MULTIPROCESSOR_COUNT, 16)                                                   \
    X(memory_clock_khz, MEMORY_CLOCK_RATE, 36)                                                     \
    X(memory_bus_bits, GLOBAL_MEMORY_BUS_WIDTH, 37)                                                \
    X(max_threads_per_multiprocessor, MAX_THREADS_PER_MULTIPROCESSOR, 39)                          \
    X(major, COMPUTE_CAPABILITY_MAJOR, 75)                                                         \
    X(minor, COMPUTE_CAPABILITY_MINOR, 76)                                                         \
    X(shared_per_multiprocessor, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 81)                         \
    X(registers_per_multiprocessor, MAX_REGISTERS_PER_MULTIPROCESSOR, 82)                          \
    X(fp64_slowdown, SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, 87)                                    \
    X(shared_per_block_optin, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97)                               \
    X(max_blocks_per_multiprocessor, MAX_BLOCKS_PER_MULTIPROCESSOR, 106)                           \
    X(reserved_shared_per_block, RESERVED_SHARED_MEMORY_PER_BLOCK, 111)

/* The driver's functions: member, exported symbol, whether required, parameters. All return a
 * CUresult; contexts, events and streams are pointers, devices are ints. */
#define TKT_DRIVER_FUNCTION_LIST(X)                                                                \
    X(driver_version, cuDriverGetVersion, 1, (int *))                                              \
    X(device_count, cuDeviceGetCount, 1, (int *))                                                  \
    X(device_get, cuDeviceGet, 1, (int *, int))                                                    \
    X(device_name, cuDeviceGetName, 1, (char *, int, int))                                         \
    X(device_attribute, cuDeviceGetAttribute, 1, (int *, int, int))                                \
    X(device_memory, cuDeviceTotalMem_v2, 0, (size_t *, int))                                      \
    X(primary_state, cuDevicePrimaryCtxGetState, 1, (int, unsigned *, int *))                      \
    X(primary_retain, cuDevicePrimaryCtxRetain, 1, (void **, int))                                 \
    X(primary_release, cuDevicePrimaryCtxRelease_v2, 1, (int))                                     \
    X(context_current, cuCtxGetCurrent, 1, (void **))                                              \
    X(context_push, cuCtxPushCurrent_v2, 1, (void *))                                              \
    X(context_pop, cuCtxPopCurrent_v2, 1, (void **))                                               \
    X(context_device, cuCtxGetDevice, 1, (int *))                                                  \
    X(context_synchronize, cuCtxSynchronize, 1, (void))                                            \
    X(memory_info, cuMemGetInfo_v2, 0, (size_t *, size_t *))                                       \
    X(profiler_start, cuProfilerStart, 0, (void))                                                  \
    X(profiler_stop, cuProfilerStop, 0, (void))                                                    \
    X(capture_mode, cuThreadExchangeStreamCaptureMode, 0, (int *))                                 \
    X(context_id, cuCtxGetId, 0, (void *, unsigned long long *))                                   \
    X(stream_context, cuStreamGetCtx, 0, (void *, void **))                                        \
    X(stream_create, cuStreamCreate, 0, (void **, unsigned))                                       \
    X(stream_destroy, cuStreamDestroy_v2, 0, (void *))                                             \
    X(stream_is_capturing, cuStreamIsCapturing, 0, (void *, int *))                                \
    X(stream_query, cuStreamQuery, 0, (void *))                                                    \
    X(context_record, cuCtxRecordEvent, 0, (void *, void *))                                       \
    X(event_create, cuEventCreate, 0, (void **, unsigned))                                         \
    X(event_record, cuEventRecord, 0, (void *, void *))                                            \
    X(event_record_with_flags, cuEventRecordWithFlags, 0, (void *, void *, unsigned))              \
    X(event_query, cuEventQuery, 0, (void *))                                                      \
    X(event_synchronize, cuEventSynchronize, 0, (void *))                                          \
    X(event_elapsed, cuEventElapsedTime, 0, (float *, void *, void *))                             \
    X(event_destroy, cuEventDestroy_v2, 0, (void *))                                               \
    X(memory_alloc, cuMemAlloc_v2, 0, (uint64_t *, size_t))                                        \
    X(memory_free, cuMemFree_v2, 0, (uint64_t))                                                    \
    X(memory_zero, cuMemsetD8Async, 0, (uint64_t, unsigned char, size_t, void *))                  \
    X(pinned_alloc, cuMemAllocHost_v2, 0, (void **, size_t))                                       \
    X(pinned_free, cuMemFreeHost, 0, (void *))                                                     \
    X(copy_to_host, cuMemcpyDtoHAsync_v2, 0, (void *, uint64_t, size_t, void *))                   \
    X(copy_on_device, cuMemcpyDtoDAsync_v2, 0, (uint64_t, uint64_t, size_t, void *))

/* CUDA's numbers: constant, the toolkit's name, value. */
#define TKT_CUDA_NUMBER_LIST(X)                                                                    \
    X(TKT_CUDA_SUCCESS, CUDA_SUCCESS, 0)                                                           \
    X(TKT_CUDA_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY, 2)                                         \
    X(TKT_CUDA_NOT_INITIALIZED, CUDA_ERROR_NOT_INITIALIZED, 3)                                     \
    X(TKT_CUDA_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE, 1)                                         \
    X(TKT_CUDA_INVALID_HANDLE, CUDA_ERROR_INVALID_HANDLE, 400)                                     \
    X(TKT_CUDA_ILLEGAL_STATE, CUDA_ERROR_ILLEGAL_STATE, 401)                                       \
    X(TKT_CUDA_NOT_READY, CUDA_ERROR_NOT_READY, 600)                                               \
    X(TKT_CUDA_CAPTURE_UNSUPPORTED, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 900)                    \
    X(TKT_CUDA_CAPTURE_UNMATCHED, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, 903)                        \
    X(TKT_CUDA_CAPTURE_IMPLICIT, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, 906)                          \
    X(TKT_CUDA_CAPTURE_WRONG_THREAD, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, 908)                  \
    X(TKT_CAPTURE_MODE_RELAXED, CU_STREAM_CAPTURE_MODE_RELAXED, 2)                                 \
    X(TKT_CAPTURE_STATUS_NONE, CU_STREAM_CAPTURE_STATUS_NONE, 0)                                   \
    X(TKT_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING, 1)                                          \
    X(TKT_EVENT_UNTIMED, CU_EVENT_DISABLE_TIMING, 2)                                               \
    X(TKT_EVENT_RECORD_EXTERNAL, CU_EVENT_RECORD_EXTERNAL, 1)                                      \
    X(TKT_ATTRIBUTE_CLOCK_RATE, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 13)

enum {
#define TKT_CUDA_NUMBER_ENUM(name, theirs, value) name = (value),
    TKT_CUDA_NUMBER_LIST(TKT_CUDA_NUMBER_ENUM)
#undef TKT_CUDA_NUMBER_ENUM
};

#endif
