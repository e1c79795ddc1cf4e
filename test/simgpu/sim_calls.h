/* Every function of the runtime and the driver that the stand-ins have, with its callback id in
 * CUPTI's numbering; of the runtime also the release that its callback's name ends with. A new
 * function begins with a line here; the README says how it goes on. */
#ifndef SIM_CALLS_H
#define SIM_CALLS_H

/* X(NAME, CBID, RELEASE) */
#define SIM_RUNTIME_CALLS(X) \
    X(cudaDriverGetVersion, 1, v3020) \
    X(cudaRuntimeGetVersion, 2, v3020) \
    X(cudaGetDeviceCount, 3, v3020) \
    X(cudaGetDeviceProperties, 440, v12000) \
    X(cudaGetLastError, 10, v3020) \
    X(cudaPeekAtLastError, 11, v3020) \
    X(cudaGetErrorString, 12, v3020) \
    X(cudaGetErrorName, 209, v6050) \
    X(cudaFuncGetAttributes, 15, v3020) \
    X(cudaFuncSetAttribute, 273, v9000) \
    X(cudaFuncGetName, 451, v12030) \
    X(cudaSetDevice, 16, v3020) \
    X(cudaGetDevice, 17, v3020) \
    X(cudaInitDevice, 444, v12000) \
    X(cudaMalloc, 20, v3020) \
    X(cudaFree, 22, v3020) \
    X(cudaMallocHost, 25, v3020) \
    X(cudaFreeHost, 26, v3020) \
    X(cudaHostAlloc, 27, v3020) \
    X(cudaHostGetDevicePointer, 28, v3020) \
    X(cudaHostRegister, 152, v4000) \
    X(cudaHostUnregister, 153, v4000) \
    X(cudaMallocManaged, 206, v6000) \
    X(cudaMemGetInfo, 30, v3020) \
    X(cudaMallocAsync, 373, v11020) \
    X(cudaMallocAsync_ptsz, 374, v11020) \
    X(cudaFreeAsync, 375, v11020) \
    X(cudaFreeAsync_ptsz, 376, v11020) \
    X(cudaMallocFromPoolAsync, 391, v11020) \
    X(cudaMallocFromPoolAsync_ptsz, 392, v11020) \
    X(cudaDeviceGetDefaultMemPool, 372, v11020) \
    X(cudaDeviceGetMemPool, 386, v11020) \
    X(cudaDeviceSetMemPool, 385, v11020) \
    X(cudaMemPoolCreate, 383, v11020) \
    X(cudaMemPoolDestroy, 384, v11020) \
    X(cudaMemPoolSetAttribute, 378, v11020) \
    X(cudaMemPoolGetAttribute, 379, v11020) \
    X(cudaMemPoolTrimTo, 377, v11020) \
    X(cudaMemcpy, 31, v3020) \
    X(cudaMemcpy_ptds, 215, v7000) \
    X(cudaMemcpyAsync, 41, v3020) \
    X(cudaMemcpyAsync_ptsz, 225, v7000) \
    X(cudaMemcpyPeer, 160, v4000) \
    X(cudaMemcpyPeerAsync, 161, v4000) \
    X(cudaMemcpyToSymbol, 39, v3020) \
    X(cudaMemcpyToSymbol_ptds, 223, v7000) \
    X(cudaMemcpyToSymbolAsync, 47, v3020) \
    X(cudaMemcpyToSymbolAsync_ptsz, 231, v7000) \
    X(cudaMemcpyFromSymbol, 40, v3020) \
    X(cudaMemcpyFromSymbol_ptds, 224, v7000) \
    X(cudaMemcpyFromSymbolAsync, 48, v3020) \
    X(cudaMemcpyFromSymbolAsync_ptsz, 232, v7000) \
    X(cudaMemcpy2DAsync, 44, v3020) \
    X(cudaMemcpy2DAsync_ptsz, 228, v7000) \
    X(cudaGetSymbolAddress, 53, v3020) \
    X(cudaMemset, 49, v3020) \
    X(cudaMemset_ptds, 233, v7000) \
    X(cudaMemsetAsync, 51, v3020) \
    X(cudaMemsetAsync_ptsz, 235, v7000) \
    X(cudaPointerGetAttributes, 151, v4000) \
    X(cudaMemPrefetchAsync, 449, v12020) \
    X(cudaMemPrefetchAsync_ptsz, 450, v12020) \
    X(cudaStreamCreate, 129, v3020) \
    X(cudaStreamCreateWithFlags, 198, v5000) \
    X(cudaStreamCreateWithPriority, 202, v5050) \
    X(cudaStreamDestroy, 201, v5050) \
    X(cudaStreamSynchronize, 131, v3020) \
    X(cudaStreamSynchronize_ptsz, 239, v7000) \
    X(cudaStreamQuery, 132, v3020) \
    X(cudaStreamQuery_ptsz, 240, v7000) \
    X(cudaStreamWaitEvent, 147, v3020) \
    X(cudaStreamWaitEvent_ptsz, 247, v7000) \
    X(cudaStreamGetPriority, 203, v5050) \
    X(cudaStreamGetFlags, 204, v5050) \
    X(cudaStreamGetDevice, 480, v12080) \
    X(cudaStreamBeginCapture, 315, v10000) \
    X(cudaStreamBeginCapture_ptsz, 316, v10000) \
    X(cudaStreamEndCapture, 319, v10000) \
    X(cudaStreamEndCapture_ptsz, 320, v10000) \
    X(cudaStreamIsCapturing, 317, v10000) \
    X(cudaStreamIsCapturing_ptsz, 318, v10000) \
    X(cudaStreamGetCaptureInfo, 461, v12030) \
    X(cudaStreamGetCaptureInfo_ptsz, 462, v12030) \
    X(cudaThreadExchangeStreamCaptureMode, 327, v10010) \
    X(cudaDeviceGetStreamPriorityRange, 205, v5050) \
    X(cudaEventCreate, 133, v3020) \
    X(cudaEventCreateWithFlags, 134, v3020) \
    X(cudaEventDestroy, 136, v3020) \
    X(cudaEventRecord, 135, v3020) \
    X(cudaEventRecord_ptsz, 242, v7000) \
    X(cudaEventRecordWithFlags, 370, v11010) \
    X(cudaEventRecordWithFlags_ptsz, 371, v11010) \
    X(cudaEventQuery, 138, v3020) \
    X(cudaEventSynchronize, 137, v3020) \
    X(cudaEventElapsedTime, 486, v12080) \
    X(cudaLaunchKernel, 211, v7000) \
    X(cudaLaunchKernel_ptsz, 214, v7000) \
    X(cudaLaunchKernelExC, 430, v11060) \
    X(cudaLaunchKernelExC_ptsz, 431, v11060) \
    X(cudaLaunchCooperativeKernel, 269, v9000) \
    X(cudaLaunchCooperativeKernel_ptsz, 270, v9000) \
    X(cudaLaunchHostFunc, 284, v10000) \
    X(cudaLaunchHostFunc_ptsz, 285, v10000) \
    X(cudaGetKernel, 439, v12000) \
    X(__cudaLaunchKernel, 505, v13000) \
    X(__cudaLaunchKernel_ptsz, 506, v13000) \
    X(cudaGraphCreate, 286, v10000) \
    X(cudaGraphAddKernelNode, 289, v10000) \
    X(cudaGraphAddMemcpyNode1D, 352, v11010) \
    X(cudaGraphAddMemsetNode, 293, v10000) \
    X(cudaGraphAddHostNode, 296, v10000) \
    X(cudaGraphAddChildGraphNode, 298, v10000) \
    X(cudaGraphAddEmptyNode, 300, v10000) \
    X(cudaGraphAddEventRecordNode, 362, v11010) \
    X(cudaGraphAddEventWaitNode, 365, v11010) \
    X(cudaGraphAddDependencies, 458, v12030) \
    X(cudaGraphAddNode, 460, v12030) \
    X(cudaGraphConditionalHandleCreate, 454, v12030) \
    X(cudaStreamBeginCaptureToGraph, 452, v12030) \
    X(cudaStreamBeginCaptureToGraph_ptsz, 453, v12030) \
    X(cudaGraphGetNodes, 322, v10000) \
    X(cudaGraphGetRootNodes, 304, v10000) \
    X(cudaGraphNodeGetType, 303, v10000) \
    X(cudaGraphClone, 301, v10000) \
    X(cudaGraphInstantiate, 443, v12000) \
    X(cudaGraphInstantiateWithFlags, 418, v11040) \
    X(cudaGraphUpload, 348, v10000) \
    X(cudaGraphUpload_ptsz, 349, v10000) \
    X(cudaGraphLaunch, 311, v10000) \
    X(cudaGraphLaunch_ptsz, 312, v10000) \
    X(cudaGraphExecUpdate, 335, v10020) \
    X(cudaGraphExecDestroy, 313, v10000) \
    X(cudaGraphDestroy, 314, v10000) \
    X(cudaDeviceReset, 164, v3020) \
    X(cudaDeviceSynchronize, 165, v3020) \
    X(cudaDeviceGetAttribute, 200, v5000) \
    X(cudaDeviceGetPCIBusId, 174, v4010) \
    X(cudaDeviceCanAccessPeer, 154, v4000) \
    X(cudaDeviceEnablePeerAccess, 155, v4000) \
    X(cudaOccupancyMaxActiveBlocksPerMultiprocessor, 210, v6050) \
    X(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 251, v7000) \
    X(cudaProfilerStart, 171, v4000) \
    X(cudaProfilerStop, 172, v4000)

/* X(NAME, CBID) */
#define SIM_DRIVER_CALLS(X) \
    X(cuInit, 1) \
    X(cuDriverGetVersion, 2) \
    X(cuDeviceGetCount, 4) \
    X(cuDeviceGet, 3) \
    X(cuDeviceGetName, 5) \
    X(cuDeviceGetUuid, 482) \
    X(cuDeviceGetUuid_v2, 647) \
    X(cuDeviceGetAttribute, 9) \
    X(cuDeviceTotalMem_v2, 259) \
    X(cuDeviceGetPCIBusId, 332) \
    X(cuDevicePrimaryCtxRetain, 386) \
    X(cuDevicePrimaryCtxRelease_v2, 544) \
    X(cuDevicePrimaryCtxGetState, 392) \
    X(cuDevicePrimaryCtxReset_v2, 545) \
    X(cuCtxCreate_v2, 235) \
    X(cuCtxCreate_v4, 757) \
    X(cuCtxDestroy_v2, 322) \
    X(cuCtxGetCurrent, 304) \
    X(cuCtxSetCurrent, 303) \
    X(cuCtxGetDevice, 16) \
    X(cuCtxGetDevice_v2, 795) \
    X(cuCtxGetId, 695) \
    X(cuCtxPushCurrent_v2, 323) \
    X(cuCtxPopCurrent_v2, 324) \
    X(cuCtxSynchronize, 17) \
    X(cuCtxSynchronize_v2, 800) \
    X(cuProfilerStart, 308) \
    X(cuProfilerStop, 309) \
    X(cuMemGetInfo_v2, 242) \
    X(cuMemAlloc_v2, 243) \
    X(cuMemFree_v2, 245) \
    X(cuMemAllocManaged, 371) \
    X(cuMemAllocHost_v2, 294) \
    X(cuMemHostAlloc, 39) \
    X(cuMemFreeHost, 38) \
    X(cuMemAllocAsync, 598) \
    X(cuMemAllocAsync_ptsz, 599) \
    X(cuMemFreeAsync, 600) \
    X(cuMemFreeAsync_ptsz, 601) \
    X(cuMemAllocFromPoolAsync, 611) \
    X(cuMemAllocFromPoolAsync_ptsz, 612) \
    X(cuMemcpy, 305) \
    X(cuMemcpyAsync, 306) \
    X(cuMemcpyAsync_ptsz, 418) \
    X(cuMemcpyHtoD_v2, 276) \
    X(cuMemcpyDtoH_v2, 278) \
    X(cuMemcpyDtoD_v2, 280) \
    X(cuMemcpyHtoDAsync_v2, 277) \
    X(cuMemcpyHtoDAsync_v2_ptsz, 421) \
    X(cuMemcpyDtoHAsync_v2, 279) \
    X(cuMemcpyDtoHAsync_v2_ptsz, 422) \
    X(cuMemcpyDtoDAsync_v2, 281) \
    X(cuMemcpyDtoDAsync_v2_ptsz, 423) \
    X(cuMemcpyPeerAsync, 319) \
    X(cuMemsetD8_v2, 249) \
    X(cuMemsetD32_v2, 251) \
    X(cuMemsetD8Async, 216) \
    X(cuMemsetD8Async_ptsz, 428) \
    X(cuMemsetD32Async, 220) \
    X(cuMemsetD32Async_ptsz, 430) \
    X(cuStreamCreate, 124) \
    X(cuStreamCreateWithPriority, 367) \
    X(cuStreamDestroy_v2, 326) \
    X(cuStreamSynchronize, 126) \
    X(cuStreamSynchronize_ptsz, 440) \
    X(cuStreamQuery, 125) \
    X(cuStreamQuery_ptsz, 439) \
    X(cuStreamWaitEvent, 295) \
    X(cuStreamWaitEvent_ptsz, 436) \
    X(cuStreamGetCtx, 483) \
    X(cuStreamGetCtx_ptsz, 484) \
    X(cuStreamBeginCapture_v2, 539) \
    X(cuStreamBeginCapture_v2_ptsz, 540) \
    X(cuStreamEndCapture, 497) \
    X(cuStreamEndCapture_ptsz, 498) \
    X(cuStreamIsCapturing, 499) \
    X(cuStreamIsCapturing_ptsz, 500) \
    X(cuThreadExchangeStreamCaptureMode, 541) \
    X(cuEventCreate, 118) \
    X(cuEventDestroy_v2, 325) \
    X(cuEventRecord, 119) \
    X(cuEventRecord_ptsz, 441) \
    X(cuEventRecordWithFlags, 587) \
    X(cuEventRecordWithFlags_ptsz, 588) \
    X(cuCtxRecordEvent, 755) \
    X(cuEventQuery, 120) \
    X(cuEventSynchronize, 121) \
    X(cuEventElapsedTime, 123) \
    X(cuEventElapsedTime_v2, 780) \
    X(cuLaunchKernel, 307) \
    X(cuLaunchKernel_ptsz, 442) \
    X(cuLaunchKernelEx, 652) \
    X(cuLaunchKernelEx_ptsz, 653) \
    X(cuLaunchCooperativeKernel, 477) \
    X(cuLaunchCooperativeKernelMultiDevice, 480) \
    X(cuLaunchHostFunc, 527) \
    X(cuLaunchHostFunc_ptsz, 528) \
    X(cuStreamBeginCaptureToGraph, 720) \
    X(cuStreamBeginCaptureToGraph_ptsz, 721) \
    X(cuGraphInstantiateWithFlags, 643) \
    X(cuGraphLaunch, 514) \
    X(cuGraphLaunch_ptsz, 515) \
    X(cuGraphExecUpdate_v2, 696) \
    X(cuGraphExecDestroy, 516) \
    X(cuGraphDestroy, 517) \
    X(cuModuleLoadData, 19) \
    X(cuModuleUnload, 22) \
    X(cuModuleGetFunction, 23) \
    X(cuFuncGetName, 718) \
    X(cuGetErrorName, 373) \
    X(cuGetErrorString, 372) \
    X(cuGetProcAddress, 626) \
    X(cuGetProcAddress_v2, 677)

#define SIM_RUNTIME_ID(name, cbid, release) SIM_##name,
#define SIM_DRIVER_ID(name, cbid)           SIM_##name,

typedef enum sim_function_id {
    SIM_RUNTIME_CALLS(SIM_RUNTIME_ID)
    SIM_DRIVER_CALLS(SIM_DRIVER_ID)
    SIM_FUNCTIONS
} sim_function_id;

#endif
