/* Prints how the structs of cudart.h and driver.h are laid out, or with SIM_WITH_TOOLKIT the
 * toolkit's: check_cuda_abi.sh compares the two. */
#include "cudart.h"
#include "driver.h"

#include <stdio.h>

#define SIZE(type) printf("%s %zu\n", #type, sizeof(type))
#define FIELD(type, field)                                                                         \
    printf("%s.%s %zu %zu\n", #type, #field, offsetof(type, field), sizeof(((type *)0)->field))

static void properties(void)
{
    SIZE(struct cudaDeviceProp);
    FIELD(struct cudaDeviceProp, name);
    FIELD(struct cudaDeviceProp, uuid);
    FIELD(struct cudaDeviceProp, luid);
    FIELD(struct cudaDeviceProp, luidDeviceNodeMask);
    FIELD(struct cudaDeviceProp, totalGlobalMem);
    FIELD(struct cudaDeviceProp, sharedMemPerBlock);
    FIELD(struct cudaDeviceProp, regsPerBlock);
    FIELD(struct cudaDeviceProp, warpSize);
    FIELD(struct cudaDeviceProp, memPitch);
    FIELD(struct cudaDeviceProp, maxThreadsPerBlock);
    FIELD(struct cudaDeviceProp, maxThreadsDim);
    FIELD(struct cudaDeviceProp, maxGridSize);
    FIELD(struct cudaDeviceProp, totalConstMem);
    FIELD(struct cudaDeviceProp, major);
    FIELD(struct cudaDeviceProp, minor);
    FIELD(struct cudaDeviceProp, textureAlignment);
    FIELD(struct cudaDeviceProp, texturePitchAlignment);
    FIELD(struct cudaDeviceProp, multiProcessorCount);
    FIELD(struct cudaDeviceProp, integrated);
    FIELD(struct cudaDeviceProp, canMapHostMemory);
    FIELD(struct cudaDeviceProp, surfaceAlignment);
    FIELD(struct cudaDeviceProp, concurrentKernels);
    FIELD(struct cudaDeviceProp, ECCEnabled);
    FIELD(struct cudaDeviceProp, pciBusID);
    FIELD(struct cudaDeviceProp, pciDeviceID);
    FIELD(struct cudaDeviceProp, pciDomainID);
    FIELD(struct cudaDeviceProp, tccDriver);
    FIELD(struct cudaDeviceProp, asyncEngineCount);
    FIELD(struct cudaDeviceProp, unifiedAddressing);
    FIELD(struct cudaDeviceProp, memoryBusWidth);
    FIELD(struct cudaDeviceProp, l2CacheSize);
    FIELD(struct cudaDeviceProp, persistingL2CacheMaxSize);
    FIELD(struct cudaDeviceProp, maxThreadsPerMultiProcessor);
    FIELD(struct cudaDeviceProp, streamPrioritiesSupported);
    FIELD(struct cudaDeviceProp, globalL1CacheSupported);
    FIELD(struct cudaDeviceProp, localL1CacheSupported);
    FIELD(struct cudaDeviceProp, sharedMemPerMultiprocessor);
    FIELD(struct cudaDeviceProp, regsPerMultiprocessor);
    FIELD(struct cudaDeviceProp, managedMemory);
    FIELD(struct cudaDeviceProp, isMultiGpuBoard);
    FIELD(struct cudaDeviceProp, multiGpuBoardGroupID);
    FIELD(struct cudaDeviceProp, hostNativeAtomicSupported);
    FIELD(struct cudaDeviceProp, pageableMemoryAccess);
    FIELD(struct cudaDeviceProp, concurrentManagedAccess);
    FIELD(struct cudaDeviceProp, computePreemptionSupported);
    FIELD(struct cudaDeviceProp, canUseHostPointerForRegisteredMem);
    FIELD(struct cudaDeviceProp, cooperativeLaunch);
    FIELD(struct cudaDeviceProp, sharedMemPerBlockOptin);
    FIELD(struct cudaDeviceProp, pageableMemoryAccessUsesHostPageTables);
    FIELD(struct cudaDeviceProp, directManagedMemAccessFromHost);
    FIELD(struct cudaDeviceProp, maxBlocksPerMultiProcessor);
    FIELD(struct cudaDeviceProp, accessPolicyMaxWindowSize);
    FIELD(struct cudaDeviceProp, reservedSharedMemPerBlock);
}

static void functions_and_memory(void)
{
    SIZE(struct cudaFuncAttributes);
    FIELD(struct cudaFuncAttributes, sharedSizeBytes);
    FIELD(struct cudaFuncAttributes, localSizeBytes);
    FIELD(struct cudaFuncAttributes, maxThreadsPerBlock);
    FIELD(struct cudaFuncAttributes, numRegs);
    FIELD(struct cudaFuncAttributes, ptxVersion);
    FIELD(struct cudaFuncAttributes, binaryVersion);
    FIELD(struct cudaFuncAttributes, maxDynamicSharedSizeBytes);
    FIELD(struct cudaFuncAttributes, reserved);
    SIZE(struct cudaPointerAttributes);
    FIELD(struct cudaPointerAttributes, type);
    FIELD(struct cudaPointerAttributes, device);
    FIELD(struct cudaPointerAttributes, devicePointer);
    FIELD(struct cudaPointerAttributes, hostPointer);
    SIZE(struct cudaMemLocation);
    FIELD(struct cudaMemLocation, type);
    FIELD(struct cudaMemLocation, id);
    SIZE(struct cudaMemPoolProps);
    FIELD(struct cudaMemPoolProps, allocType);
    FIELD(struct cudaMemPoolProps, handleTypes);
    FIELD(struct cudaMemPoolProps, location);
    FIELD(struct cudaMemPoolProps, maxSize);
}

static void launches_and_graphs(void)
{
    SIZE(dim3);
    SIZE(cudaLaunchConfig_t);
    FIELD(cudaLaunchConfig_t, gridDim);
    FIELD(cudaLaunchConfig_t, blockDim);
    FIELD(cudaLaunchConfig_t, dynamicSmemBytes);
    FIELD(cudaLaunchConfig_t, stream);
    FIELD(cudaLaunchConfig_t, attrs);
    FIELD(cudaLaunchConfig_t, numAttrs);
    SIZE(cudaLaunchAttribute);
    FIELD(cudaLaunchAttribute, id);
    FIELD(cudaLaunchAttribute, val);
    FIELD(cudaLaunchAttribute, val.cooperative);
    FIELD(cudaLaunchAttribute, val.clusterDim);
    SIZE(struct cudaKernelNodeParams);
    FIELD(struct cudaKernelNodeParams, func);
    FIELD(struct cudaKernelNodeParams, gridDim);
    FIELD(struct cudaKernelNodeParams, blockDim);
    FIELD(struct cudaKernelNodeParams, sharedMemBytes);
    FIELD(struct cudaKernelNodeParams, kernelParams);
    FIELD(struct cudaKernelNodeParams, extra);
    SIZE(struct cudaMemsetParams);
    FIELD(struct cudaMemsetParams, dst);
    FIELD(struct cudaMemsetParams, pitch);
    FIELD(struct cudaMemsetParams, value);
    FIELD(struct cudaMemsetParams, elementSize);
    FIELD(struct cudaMemsetParams, width);
    FIELD(struct cudaMemsetParams, height);
    SIZE(struct cudaHostNodeParams);
    SIZE(cudaGraphEdgeData);
    SIZE(struct cudaConditionalNodeParams);
    FIELD(struct cudaConditionalNodeParams, phGraph_out);
    SIZE(struct cudaGraphNodeParams);
    FIELD(struct cudaGraphNodeParams, conditional);
    SIZE(CUlaunchConfig);
    FIELD(CUlaunchConfig, gridDimX);
    FIELD(CUlaunchConfig, blockDimX);
    FIELD(CUlaunchConfig, sharedMemBytes);
    FIELD(CUlaunchConfig, hStream);
    FIELD(CUlaunchConfig, attrs);
    FIELD(CUlaunchConfig, numAttrs);
    SIZE(CUlaunchAttribute);
    FIELD(CUlaunchAttribute, id);
    FIELD(CUlaunchAttribute, value);
    SIZE(CUuuid);
    SIZE(CUdeviceptr);
    SIZE(CUresult);
}

int main(void)
{
    properties();
    functions_and_memory();
    launches_and_graphs();
    return 0;
}
