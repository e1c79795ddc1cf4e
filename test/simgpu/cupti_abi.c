/* Holds cupti_abi.h against the headers of a CUDA toolkit: sizes, offsets and values. Compiled, not
 * run, by check_cupti_abi.sh. The lists name what the two sides call alike. */
#include "simgpu/cupti_abi.h"

#include <cupti.h>

#define SAME_SIZE(ours, theirs) _Static_assert(sizeof(ours) == sizeof(theirs), #ours)
#define SAME(ours, theirs, field)                                                                  \
    _Static_assert(offsetof(ours, field) == offsetof(theirs, field) &&                             \
                       sizeof(((ours *)0)->field) == sizeof(((theirs *)0)->field),                 \
                   #ours "." #field)
#define VALUE(ours, theirs) _Static_assert((long long)(ours) == (long long)(theirs), #ours)

#define RESULT(name, value) VALUE(value, CUPTI_##name);
SIM_CUPTI_RESULTS(RESULT)

SAME_SIZE(sim_rec_kernel, CUpti_ActivityKernel10);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, kind);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, cacheConfig);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, sharedMemoryConfig);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, registersPerThread);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, partitionedGlobalCacheRequested);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, partitionedGlobalCacheExecuted);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, start);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, end);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, completed);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, deviceId);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, contextId);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, streamId);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, gridX);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, gridY);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, gridZ);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, blockX);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, blockY);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, blockZ);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, staticSharedMemory);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, dynamicSharedMemory);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, localMemoryPerThread);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, localMemoryTotal);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, correlationId);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, gridId);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, name);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, reserved0);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, queued);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, submitted);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, launchType);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, isSharedMemoryCarveoutRequested);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, sharedMemoryCarveoutRequested);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, sharedMemoryExecuted);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, graphNodeId);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, shmemLimitConfig);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, graphId);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, pAccessPolicyWindow);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, channelID);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, channelType);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, clusterX);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, clusterY);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, clusterZ);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, clusterSchedulingPolicy);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, localMemoryTotal_v2);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, maxPotentialClusterSize);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, maxActiveClusters);
SAME(sim_rec_kernel, CUpti_ActivityKernel10, isDeviceLaunched);

SAME_SIZE(sim_rec_memcpy, CUpti_ActivityMemcpy6);
SAME(sim_rec_memcpy, CUpti_ActivityMemcpy6, kind);
SAME(sim_rec_memcpy, CUpti_ActivityMemcpy6, copyKind);
SAME(sim_rec_memcpy, CUpti_ActivityMemcpy6, srcKind);
SAME(sim_rec_memcpy, CUpti_ActivityMemcpy6, dstKind);
SAME(sim_rec_memcpy, CUpti_ActivityMemcpy6, flags);
SAME(sim_rec_memcpy, CUpti_ActivityMemcpy6, bytes);
SAME(sim_rec_memcpy, CUpti_ActivityMemcpy6, start);
SAME(sim_rec_memcpy, CUpti_ActivityMemcpy6, end);
SAME(sim_rec_memcpy, CUpti_ActivityMemcpy6, deviceId);
SAME(sim_rec_memcpy, CUpti_ActivityMemcpy6, contextId);
SAME(sim_rec_memcpy, CUpti_ActivityMemcpy6, streamId);
SAME(sim_rec_memcpy, CUpti_ActivityMemcpy6, correlationId);
SAME(sim_rec_memcpy, CUpti_ActivityMemcpy6, runtimeCorrelationId);
SAME(sim_rec_memcpy, CUpti_ActivityMemcpy6, reserved0);
SAME(sim_rec_memcpy, CUpti_ActivityMemcpy6, graphNodeId);
SAME(sim_rec_memcpy, CUpti_ActivityMemcpy6, graphId);
SAME(sim_rec_memcpy, CUpti_ActivityMemcpy6, channelID);
SAME(sim_rec_memcpy, CUpti_ActivityMemcpy6, channelType);
SAME(sim_rec_memcpy, CUpti_ActivityMemcpy6, isDeviceLaunched);
SAME(sim_rec_memcpy, CUpti_ActivityMemcpy6, copyCount);

SAME_SIZE(sim_rec_memcpy2, CUpti_ActivityMemcpyPtoP4);
SAME(sim_rec_memcpy2, CUpti_ActivityMemcpyPtoP4, kind);
SAME(sim_rec_memcpy2, CUpti_ActivityMemcpyPtoP4, copyKind);
SAME(sim_rec_memcpy2, CUpti_ActivityMemcpyPtoP4, srcKind);
SAME(sim_rec_memcpy2, CUpti_ActivityMemcpyPtoP4, dstKind);
SAME(sim_rec_memcpy2, CUpti_ActivityMemcpyPtoP4, flags);
SAME(sim_rec_memcpy2, CUpti_ActivityMemcpyPtoP4, bytes);
SAME(sim_rec_memcpy2, CUpti_ActivityMemcpyPtoP4, start);
SAME(sim_rec_memcpy2, CUpti_ActivityMemcpyPtoP4, end);
SAME(sim_rec_memcpy2, CUpti_ActivityMemcpyPtoP4, deviceId);
SAME(sim_rec_memcpy2, CUpti_ActivityMemcpyPtoP4, contextId);
SAME(sim_rec_memcpy2, CUpti_ActivityMemcpyPtoP4, streamId);
SAME(sim_rec_memcpy2, CUpti_ActivityMemcpyPtoP4, srcDeviceId);
SAME(sim_rec_memcpy2, CUpti_ActivityMemcpyPtoP4, srcContextId);
SAME(sim_rec_memcpy2, CUpti_ActivityMemcpyPtoP4, dstDeviceId);
SAME(sim_rec_memcpy2, CUpti_ActivityMemcpyPtoP4, dstContextId);
SAME(sim_rec_memcpy2, CUpti_ActivityMemcpyPtoP4, correlationId);
SAME(sim_rec_memcpy2, CUpti_ActivityMemcpyPtoP4, reserved0);
SAME(sim_rec_memcpy2, CUpti_ActivityMemcpyPtoP4, graphNodeId);
SAME(sim_rec_memcpy2, CUpti_ActivityMemcpyPtoP4, graphId);
SAME(sim_rec_memcpy2, CUpti_ActivityMemcpyPtoP4, channelID);
SAME(sim_rec_memcpy2, CUpti_ActivityMemcpyPtoP4, channelType);

SAME_SIZE(sim_rec_memset, CUpti_ActivityMemset4);
SAME(sim_rec_memset, CUpti_ActivityMemset4, kind);
SAME(sim_rec_memset, CUpti_ActivityMemset4, value);
SAME(sim_rec_memset, CUpti_ActivityMemset4, bytes);
SAME(sim_rec_memset, CUpti_ActivityMemset4, start);
SAME(sim_rec_memset, CUpti_ActivityMemset4, end);
SAME(sim_rec_memset, CUpti_ActivityMemset4, deviceId);
SAME(sim_rec_memset, CUpti_ActivityMemset4, contextId);
SAME(sim_rec_memset, CUpti_ActivityMemset4, streamId);
SAME(sim_rec_memset, CUpti_ActivityMemset4, correlationId);
SAME(sim_rec_memset, CUpti_ActivityMemset4, flags);
SAME(sim_rec_memset, CUpti_ActivityMemset4, memoryKind);
SAME(sim_rec_memset, CUpti_ActivityMemset4, reserved0);
SAME(sim_rec_memset, CUpti_ActivityMemset4, graphNodeId);
SAME(sim_rec_memset, CUpti_ActivityMemset4, graphId);
SAME(sim_rec_memset, CUpti_ActivityMemset4, channelID);
SAME(sim_rec_memset, CUpti_ActivityMemset4, channelType);
SAME(sim_rec_memset, CUpti_ActivityMemset4, isDeviceLaunched);

SAME_SIZE(sim_rec_memory, CUpti_ActivityMemory4);
SAME(sim_rec_memory, CUpti_ActivityMemory4, kind);
SAME(sim_rec_memory, CUpti_ActivityMemory4, memoryOperationType);
SAME(sim_rec_memory, CUpti_ActivityMemory4, memoryKind);
SAME(sim_rec_memory, CUpti_ActivityMemory4, correlationId);
SAME(sim_rec_memory, CUpti_ActivityMemory4, address);
SAME(sim_rec_memory, CUpti_ActivityMemory4, bytes);
SAME(sim_rec_memory, CUpti_ActivityMemory4, timestamp);
SAME(sim_rec_memory, CUpti_ActivityMemory4, PC);
SAME(sim_rec_memory, CUpti_ActivityMemory4, processId);
SAME(sim_rec_memory, CUpti_ActivityMemory4, deviceId);
SAME(sim_rec_memory, CUpti_ActivityMemory4, contextId);
SAME(sim_rec_memory, CUpti_ActivityMemory4, streamId);
SAME(sim_rec_memory, CUpti_ActivityMemory4, name);
SAME(sim_rec_memory, CUpti_ActivityMemory4, isAsync);
SAME(sim_rec_memory, CUpti_ActivityMemory4, memoryPoolConfig);
SAME(sim_rec_memory, CUpti_ActivityMemory4, source);

SAME_SIZE(sim_rec_memory_pool, CUpti_ActivityMemoryPool3);
SAME(sim_rec_memory_pool, CUpti_ActivityMemoryPool3, kind);
SAME(sim_rec_memory_pool, CUpti_ActivityMemoryPool3, memoryPoolOperationType);
SAME(sim_rec_memory_pool, CUpti_ActivityMemoryPool3, memoryPoolType);
SAME(sim_rec_memory_pool, CUpti_ActivityMemoryPool3, correlationId);
SAME(sim_rec_memory_pool, CUpti_ActivityMemoryPool3, processId);
SAME(sim_rec_memory_pool, CUpti_ActivityMemoryPool3, deviceId);
SAME(sim_rec_memory_pool, CUpti_ActivityMemoryPool3, minBytesToKeep);
SAME(sim_rec_memory_pool, CUpti_ActivityMemoryPool3, address);
SAME(sim_rec_memory_pool, CUpti_ActivityMemoryPool3, size);
SAME(sim_rec_memory_pool, CUpti_ActivityMemoryPool3, releaseThreshold);
SAME(sim_rec_memory_pool, CUpti_ActivityMemoryPool3, timestamp);
SAME(sim_rec_memory_pool, CUpti_ActivityMemoryPool3, utilizedSize);
SAME(sim_rec_memory_pool, CUpti_ActivityMemoryPool3, isManagedPool);

SAME_SIZE(sim_rec_api, CUpti_ActivityAPI);
SAME(sim_rec_api, CUpti_ActivityAPI, kind);
SAME(sim_rec_api, CUpti_ActivityAPI, cbid);
SAME(sim_rec_api, CUpti_ActivityAPI, start);
SAME(sim_rec_api, CUpti_ActivityAPI, end);
SAME(sim_rec_api, CUpti_ActivityAPI, processId);
SAME(sim_rec_api, CUpti_ActivityAPI, threadId);
SAME(sim_rec_api, CUpti_ActivityAPI, correlationId);
SAME(sim_rec_api, CUpti_ActivityAPI, returnValue);

SAME_SIZE(sim_rec_device, CUpti_ActivityDevice5);
SAME(sim_rec_device, CUpti_ActivityDevice5, kind);
SAME(sim_rec_device, CUpti_ActivityDevice5, flags);
SAME(sim_rec_device, CUpti_ActivityDevice5, globalMemoryBandwidth);
SAME(sim_rec_device, CUpti_ActivityDevice5, globalMemorySize);
SAME(sim_rec_device, CUpti_ActivityDevice5, constantMemorySize);
SAME(sim_rec_device, CUpti_ActivityDevice5, l2CacheSize);
SAME(sim_rec_device, CUpti_ActivityDevice5, numThreadsPerWarp);
SAME(sim_rec_device, CUpti_ActivityDevice5, coreClockRate);
SAME(sim_rec_device, CUpti_ActivityDevice5, numMemcpyEngines);
SAME(sim_rec_device, CUpti_ActivityDevice5, numMultiprocessors);
SAME(sim_rec_device, CUpti_ActivityDevice5, maxIPC);
SAME(sim_rec_device, CUpti_ActivityDevice5, maxWarpsPerMultiprocessor);
SAME(sim_rec_device, CUpti_ActivityDevice5, maxBlocksPerMultiprocessor);
SAME(sim_rec_device, CUpti_ActivityDevice5, maxSharedMemoryPerMultiprocessor);
SAME(sim_rec_device, CUpti_ActivityDevice5, maxRegistersPerMultiprocessor);
SAME(sim_rec_device, CUpti_ActivityDevice5, maxRegistersPerBlock);
SAME(sim_rec_device, CUpti_ActivityDevice5, maxSharedMemoryPerBlock);
SAME(sim_rec_device, CUpti_ActivityDevice5, maxThreadsPerBlock);
SAME(sim_rec_device, CUpti_ActivityDevice5, maxBlockDimX);
SAME(sim_rec_device, CUpti_ActivityDevice5, maxBlockDimY);
SAME(sim_rec_device, CUpti_ActivityDevice5, maxBlockDimZ);
SAME(sim_rec_device, CUpti_ActivityDevice5, maxGridDimX);
SAME(sim_rec_device, CUpti_ActivityDevice5, maxGridDimY);
SAME(sim_rec_device, CUpti_ActivityDevice5, maxGridDimZ);
SAME(sim_rec_device, CUpti_ActivityDevice5, computeCapabilityMajor);
SAME(sim_rec_device, CUpti_ActivityDevice5, computeCapabilityMinor);
SAME(sim_rec_device, CUpti_ActivityDevice5, id);
SAME(sim_rec_device, CUpti_ActivityDevice5, eccEnabled);
SAME(sim_rec_device, CUpti_ActivityDevice5, uuid);
SAME(sim_rec_device, CUpti_ActivityDevice5, name);
SAME(sim_rec_device, CUpti_ActivityDevice5, isCudaVisible);
SAME(sim_rec_device, CUpti_ActivityDevice5, isMigEnabled);
SAME(sim_rec_device, CUpti_ActivityDevice5, gpuInstanceId);
SAME(sim_rec_device, CUpti_ActivityDevice5, computeInstanceId);
SAME(sim_rec_device, CUpti_ActivityDevice5, migUuid);
SAME(sim_rec_device, CUpti_ActivityDevice5, isNumaNode);
SAME(sim_rec_device, CUpti_ActivityDevice5, numaId);

SAME_SIZE(sim_rec_context, CUpti_ActivityContext3);
SAME(sim_rec_context, CUpti_ActivityContext3, kind);
SAME(sim_rec_context, CUpti_ActivityContext3, contextId);
SAME(sim_rec_context, CUpti_ActivityContext3, deviceId);
SAME(sim_rec_context, CUpti_ActivityContext3, computeApiKind);
SAME(sim_rec_context, CUpti_ActivityContext3, nullStreamId);
SAME(sim_rec_context, CUpti_ActivityContext3, parentContextId);
SAME(sim_rec_context, CUpti_ActivityContext3, isGreenContext);
SAME(sim_rec_context, CUpti_ActivityContext3, numMultiprocessors);
SAME(sim_rec_context, CUpti_ActivityContext3, cigMode);

SAME_SIZE(sim_rec_stream, CUpti_ActivityStream);
SAME(sim_rec_stream, CUpti_ActivityStream, kind);
SAME(sim_rec_stream, CUpti_ActivityStream, contextId);
SAME(sim_rec_stream, CUpti_ActivityStream, streamId);
SAME(sim_rec_stream, CUpti_ActivityStream, priority);
SAME(sim_rec_stream, CUpti_ActivityStream, flag);
SAME(sim_rec_stream, CUpti_ActivityStream, correlationId);

SAME_SIZE(sim_rec_overhead, CUpti_ActivityOverhead3);
SAME(sim_rec_overhead, CUpti_ActivityOverhead3, kind);
SAME(sim_rec_overhead, CUpti_ActivityOverhead3, overheadKind);
SAME(sim_rec_overhead, CUpti_ActivityOverhead3, objectKind);
SAME(sim_rec_overhead, CUpti_ActivityOverhead3, objectId);
SAME(sim_rec_overhead, CUpti_ActivityOverhead3, start);
SAME(sim_rec_overhead, CUpti_ActivityOverhead3, end);
SAME(sim_rec_overhead, CUpti_ActivityOverhead3, correlationId);
SAME(sim_rec_overhead, CUpti_ActivityOverhead3, reserved0);
SAME(sim_rec_overhead, CUpti_ActivityOverhead3, overheadData);

SAME_SIZE(sim_rec_cuda_event, CUpti_ActivityCudaEvent2);
SAME(sim_rec_cuda_event, CUpti_ActivityCudaEvent2, kind);
SAME(sim_rec_cuda_event, CUpti_ActivityCudaEvent2, correlationId);
SAME(sim_rec_cuda_event, CUpti_ActivityCudaEvent2, contextId);
SAME(sim_rec_cuda_event, CUpti_ActivityCudaEvent2, streamId);
SAME(sim_rec_cuda_event, CUpti_ActivityCudaEvent2, eventId);
SAME(sim_rec_cuda_event, CUpti_ActivityCudaEvent2, deviceId);
SAME(sim_rec_cuda_event, CUpti_ActivityCudaEvent2, reserved0);
SAME(sim_rec_cuda_event, CUpti_ActivityCudaEvent2, deviceTimestamp);
SAME(sim_rec_cuda_event, CUpti_ActivityCudaEvent2, cudaEventSyncId);

SAME_SIZE(sim_rec_synchronization, CUpti_ActivitySynchronization2);
SAME(sim_rec_synchronization, CUpti_ActivitySynchronization2, kind);
SAME(sim_rec_synchronization, CUpti_ActivitySynchronization2, type);
SAME(sim_rec_synchronization, CUpti_ActivitySynchronization2, start);
SAME(sim_rec_synchronization, CUpti_ActivitySynchronization2, end);
SAME(sim_rec_synchronization, CUpti_ActivitySynchronization2, correlationId);
SAME(sim_rec_synchronization, CUpti_ActivitySynchronization2, contextId);
SAME(sim_rec_synchronization, CUpti_ActivitySynchronization2, streamId);
SAME(sim_rec_synchronization, CUpti_ActivitySynchronization2, cudaEventId);
SAME(sim_rec_synchronization, CUpti_ActivitySynchronization2, cudaEventSyncId);
SAME(sim_rec_synchronization, CUpti_ActivitySynchronization2, returnValue);

SAME_SIZE(sim_rec_external, CUpti_ActivityExternalCorrelation);
SAME(sim_rec_external, CUpti_ActivityExternalCorrelation, kind);
SAME(sim_rec_external, CUpti_ActivityExternalCorrelation, externalKind);
SAME(sim_rec_external, CUpti_ActivityExternalCorrelation, externalId);
SAME(sim_rec_external, CUpti_ActivityExternalCorrelation, correlationId);

SAME_SIZE(sim_rec_graph_trace, CUpti_ActivityGraphTrace2);
SAME(sim_rec_graph_trace, CUpti_ActivityGraphTrace2, kind);
SAME(sim_rec_graph_trace, CUpti_ActivityGraphTrace2, correlationId);
SAME(sim_rec_graph_trace, CUpti_ActivityGraphTrace2, start);
SAME(sim_rec_graph_trace, CUpti_ActivityGraphTrace2, end);
SAME(sim_rec_graph_trace, CUpti_ActivityGraphTrace2, deviceId);
SAME(sim_rec_graph_trace, CUpti_ActivityGraphTrace2, graphId);
SAME(sim_rec_graph_trace, CUpti_ActivityGraphTrace2, contextId);
SAME(sim_rec_graph_trace, CUpti_ActivityGraphTrace2, streamId);
SAME(sim_rec_graph_trace, CUpti_ActivityGraphTrace2, endDeviceId);
SAME(sim_rec_graph_trace, CUpti_ActivityGraphTrace2, endContextId);

SAME_SIZE(sim_callback_data, CUpti_CallbackData);
SAME(sim_callback_data, CUpti_CallbackData, callbackSite);
SAME(sim_callback_data, CUpti_CallbackData, functionName);
SAME(sim_callback_data, CUpti_CallbackData, functionParams);
SAME(sim_callback_data, CUpti_CallbackData, functionReturnValue);
SAME(sim_callback_data, CUpti_CallbackData, symbolName);
SAME(sim_callback_data, CUpti_CallbackData, context);
SAME(sim_callback_data, CUpti_CallbackData, contextUid);
SAME(sim_callback_data, CUpti_CallbackData, correlationData);
SAME(sim_callback_data, CUpti_CallbackData, correlationId);

SAME_SIZE(sim_resource_data, CUpti_ResourceData);
SAME(sim_resource_data, CUpti_ResourceData, context);
SAME(sim_resource_data, CUpti_ResourceData, resourceDescriptor);

SAME_SIZE(sim_graph_data, CUpti_GraphData);
SAME(sim_graph_data, CUpti_GraphData, graph);
SAME(sim_graph_data, CUpti_GraphData, originalGraph);
SAME(sim_graph_data, CUpti_GraphData, node);
SAME(sim_graph_data, CUpti_GraphData, originalNode);
SAME(sim_graph_data, CUpti_GraphData, nodeType);
SAME(sim_graph_data, CUpti_GraphData, dependency);
SAME(sim_graph_data, CUpti_GraphData, graphExec);

SAME_SIZE(sim_synchronize_data, CUpti_SynchronizeData);
SAME(sim_synchronize_data, CUpti_SynchronizeData, context);
SAME(sim_synchronize_data, CUpti_SynchronizeData, stream);

SAME_SIZE(sim_rec_pool_config, ((CUpti_ActivityMemory4 *)0)->memoryPoolConfig);
_Static_assert(offsetof(sim_resource_data, stream) == offsetof(CUpti_ResourceData, resourceHandle),
               "stream");
SAME_SIZE(sim_state_data, CUpti_StateData);
_Static_assert(offsetof(sim_state_data, message) == offsetof(CUpti_StateData, notification.message),
               "message");
VALUE(SIM_SUBSCRIBER_PARAMS_13_0,
      offsetof(CUpti_SubscriberParams, oldSubscriberSize) + sizeof(size_t));
SAME(sim_subscriber_params, CUpti_SubscriberParams, subscriberName);
SAME(sim_subscriber_params, CUpti_SubscriberParams, oldSubscriberName);
SAME(sim_subscriber_params, CUpti_SubscriberParams, oldSubscriberSize);
VALUE(SIM_SUBSCRIBER_NAME_MAX, CUPTI_SUBSCRIBER_NAME_MAX_LEN);
VALUE(SIM_CUPTI_INVALID_ID, (uint32_t)CUPTI_SYNCHRONIZATION_INVALID_VALUE);

VALUE(SIM_KIND_INVALID, CUPTI_ACTIVITY_KIND_INVALID);
VALUE(SIM_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
VALUE(SIM_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
VALUE(SIM_KIND_KERNEL, CUPTI_ACTIVITY_KIND_KERNEL);
VALUE(SIM_KIND_DRIVER, CUPTI_ACTIVITY_KIND_DRIVER);
VALUE(SIM_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_RUNTIME);
VALUE(SIM_KIND_DEVICE, CUPTI_ACTIVITY_KIND_DEVICE);
VALUE(SIM_KIND_CONTEXT, CUPTI_ACTIVITY_KIND_CONTEXT);
VALUE(SIM_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
VALUE(SIM_KIND_NAME, CUPTI_ACTIVITY_KIND_NAME);
VALUE(SIM_KIND_MARKER, CUPTI_ACTIVITY_KIND_MARKER);
VALUE(SIM_KIND_MARKER_DATA, CUPTI_ACTIVITY_KIND_MARKER_DATA);
VALUE(SIM_KIND_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD);
VALUE(SIM_KIND_CDP_KERNEL, CUPTI_ACTIVITY_KIND_CDP_KERNEL);
VALUE(SIM_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMCPY2);
VALUE(SIM_KIND_MODULE, CUPTI_ACTIVITY_KIND_MODULE);
VALUE(SIM_KIND_DEVICE_ATTRIBUTE, CUPTI_ACTIVITY_KIND_DEVICE_ATTRIBUTE);
VALUE(SIM_KIND_CUDA_EVENT, CUPTI_ACTIVITY_KIND_CUDA_EVENT);
VALUE(SIM_KIND_STREAM, CUPTI_ACTIVITY_KIND_STREAM);
VALUE(SIM_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
VALUE(SIM_KIND_EXTERNAL_CORRELATION, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
VALUE(SIM_KIND_INTERNAL_LAUNCH_API, CUPTI_ACTIVITY_KIND_INTERNAL_LAUNCH_API);
VALUE(SIM_KIND_MEMORY2, CUPTI_ACTIVITY_KIND_MEMORY2);
VALUE(SIM_KIND_MEMORY_POOL, CUPTI_ACTIVITY_KIND_MEMORY_POOL);
VALUE(SIM_KIND_GRAPH_TRACE, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
VALUE(SIM_KIND_DEVICE_GRAPH_TRACE, CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE);

VALUE(SIM_KIND_COUNT, CUPTI_ACTIVITY_KIND_COUNT);
VALUE(SIM_ATTR_DEVICE_BUFFER_SIZE, CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE);
VALUE(SIM_ATTR_DEVICE_BUFFER_POOL_LIMIT, CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT);
VALUE(SIM_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
VALUE(SIM_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE,
      CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE);
VALUE(SIM_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED,
      CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED);
VALUE(SIM_ATTR_PER_THREAD_ACTIVITY_BUFFER, CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER);
VALUE(SIM_ATTR_DEVICE_BUFFER_SIZE_DEVICE_GRAPHS,
      CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_DEVICE_GRAPHS);

VALUE(SIM_DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
VALUE(SIM_DOMAIN_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API);
VALUE(SIM_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_RESOURCE);
VALUE(SIM_DOMAIN_SYNCHRONIZE, CUPTI_CB_DOMAIN_SYNCHRONIZE);
VALUE(SIM_DOMAIN_NVTX, CUPTI_CB_DOMAIN_NVTX);
VALUE(SIM_DOMAIN_STATE, CUPTI_CB_DOMAIN_STATE);
VALUE(SIM_DOMAIN_COUNT, CUPTI_CB_DOMAIN_SIZE);

VALUE(SIM_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
VALUE(SIM_RESOURCE_CONTEXT_DESTROY_STARTING, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
VALUE(SIM_RESOURCE_STREAM_CREATED, CUPTI_CBID_RESOURCE_STREAM_CREATED);
VALUE(SIM_RESOURCE_STREAM_DESTROY_STARTING, CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING);
VALUE(SIM_RESOURCE_CU_INIT_FINISHED, CUPTI_CBID_RESOURCE_CU_INIT_FINISHED);
VALUE(SIM_RESOURCE_MODULE_LOADED, CUPTI_CBID_RESOURCE_MODULE_LOADED);
VALUE(SIM_RESOURCE_MODULE_UNLOAD_STARTING, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
VALUE(SIM_RESOURCE_GRAPH_CREATED, CUPTI_CBID_RESOURCE_GRAPH_CREATED);
VALUE(SIM_RESOURCE_GRAPH_DESTROY_STARTING, CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING);
VALUE(SIM_RESOURCE_GRAPH_CLONED, CUPTI_CBID_RESOURCE_GRAPH_CLONED);
VALUE(SIM_RESOURCE_GRAPHNODE_CREATE_STARTING, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING);
VALUE(SIM_RESOURCE_GRAPHNODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
VALUE(SIM_RESOURCE_GRAPHNODE_DESTROY_STARTING, CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING);
VALUE(SIM_RESOURCE_GRAPHEXEC_CREATE_STARTING, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING);
VALUE(SIM_RESOURCE_GRAPHEXEC_CREATED, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED);
VALUE(SIM_RESOURCE_GRAPHEXEC_DESTROY_STARTING, CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING);
VALUE(SIM_RESOURCE_GRAPHNODE_CLONED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);

VALUE(SIM_SYNCHRONIZE_STREAM, CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED);
VALUE(SIM_SYNCHRONIZE_CONTEXT, CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED);
VALUE(SIM_STATE_FATAL_ERROR, CUPTI_CBID_STATE_FATAL_ERROR);
VALUE(SIM_STATE_WARNING, CUPTI_CBID_STATE_WARNING);
VALUE(SIM_API_EXIT, CUPTI_API_EXIT);
VALUE(SIM_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
VALUE(SIM_THREAD_ID_SYSTEM, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
VALUE(SIM_EXTERNAL_CUSTOM0, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0);
VALUE(SIM_EXTERNAL_COUNT, CUPTI_EXTERNAL_CORRELATION_KIND_SIZE);
