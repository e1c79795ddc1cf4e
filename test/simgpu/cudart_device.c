/* libcudart: beginning, devices, errors. */
#include "cudart_face.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static __thread cudaError_t last_error;
static __thread int this_device;

static int init_status;

static void init_once(void)
{
    init_status = (int)cuInit(0);
}

int runtime_init(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, init_once);
    if (!init_status && !sim_is_initialised())
        return cudaErrorInitializationError; /* in a forked child */
    return init_status;
}

/* Makes the device's primary context current. The runtime keeps it for good: until a reset. */
static int use_device(int device)
{
    bool is_active = false;
    CUcontext context = NULL;
    int status = sim_primary_is_active(device, &is_active);
    if (status)
        return status;
    status = (int)cuDevicePrimaryCtxRetain(&context, device);
    if (!status && is_active)
        cuDevicePrimaryCtxRelease_v2(device); /* one reference for the whole runtime */
    return status ? status : (int)cuCtxSetCurrent(context);
}

/* A context that the program has made current itself is used. */
int runtime_context(void)
{
    int status = runtime_init();
    if (status || sim_context_get())
        return status;
    return use_device(this_device);
}

cudaError_t runtime_leave(sim_call *call, int status)
{
    sim_leave(call, status);
    if (status && status != cudaErrorNotReady)
        last_error = (cudaError_t)status;
    return (cudaError_t)status;
}

static int give(int *out, int value)
{
    if (!out)
        return cudaErrorInvalidValue;
    *out = value;
    return cudaSuccess;
}

CUDART cudaRuntimeGetVersion(int *version)
{
    sim_call call;
    int status = sim_enter(&call, SIM_cudaRuntimeGetVersion, &version);
    return runtime_leave(&call, status ? status : give(version, 13000));
}

/* Version 0 where there is no driver. */
CUDART cudaDriverGetVersion(int *version)
{
    sim_call call;
    int status = sim_enter(&call, SIM_cudaDriverGetVersion, &version);
    int found = 0;
    if (!status && version && runtime_init() != cudaErrorInsufficientDriver)
        status = (int)cuDriverGetVersion(&found);
    return runtime_leave(&call, status ? status : give(version, found));
}

CUDART cudaGetDeviceCount(int *count)
{
    if (count)
        *count = 0;
    RUNTIME_BARE(cudaGetDeviceCount, give(count, sim_device_count()), &count);
}

CUDART cudaSetDevice(int device)
{
    int old = this_device;
    sim_call call;
    int status = sim_enter(&call, SIM_cudaSetDevice, &device);
    if (!status)
        status = runtime_init();
    if (!status)
        status = use_device(device);
    this_device = status ? old : device;
    return runtime_leave(&call, status);
}

CUDART cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
    (void)device_flags;
    (void)flags;
    RUNTIME_BARE(cudaInitDevice, use_device(device), &device);
}

static int current_device(int *device)
{
    if (!device)
        return cudaErrorInvalidValue;
    if (sim_context_device(NULL, device))
        *device = this_device;
    return cudaSuccess;
}

CUDART cudaGetDevice(int *device)
{
    RUNTIME_BARE(cudaGetDevice, current_device(device), &device);
}

static int reset(void)
{
    int device = 0;
    int status = current_device(&device);
    return status ? status : (int)cuDevicePrimaryCtxReset_v2(device);
}

CUDART cudaDeviceReset(void)
{
    RUNTIME_BARE(cudaDeviceReset, reset(), NULL);
}

RUNTIME_FUNCTION(cudaDeviceSynchronize, (void), cuCtxSynchronize(), NULL)

static void fill_limits(struct cudaDeviceProp *out, const sim_device_info *info)
{
    out->totalGlobalMem = info->memory_bytes;
    out->sharedMemPerBlock = info->shared_per_block;
    out->regsPerBlock = (int)info->registers_per_block;
    out->warpSize = (int)info->warp_size;
    out->maxThreadsPerBlock = (int)info->max_threads_per_block;
    for (int i = 0; i < 3; i++) {
        out->maxThreadsDim[i] = (int)info->max_block[i];
        out->maxGridSize[i] = (int)info->max_grid[i];
    }
    out->totalConstMem = info->constant_bytes;
    out->maxThreadsPerMultiProcessor = (int)info->max_threads_per_multiprocessor;
    out->sharedMemPerMultiprocessor = info->shared_per_multiprocessor;
    out->regsPerMultiprocessor = (int)info->registers_per_multiprocessor;
    out->sharedMemPerBlockOptin = info->shared_per_block_optin;
    out->maxBlocksPerMultiProcessor = (int)info->max_blocks_per_multiprocessor;
    out->reservedSharedMemPerBlock = info->reserved_shared_per_block;
}

static int fill(struct cudaDeviceProp *out, int device)
{
    const sim_device_info *info = sim_device_info_of(device);
    if (!out || !info)
        return out ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "%s", info->name);
    memcpy(out->uuid.bytes, info->uuid, sizeof out->uuid.bytes);
    fill_limits(out, info);
    out->major = (int)info->major;
    out->minor = (int)info->minor;
    out->multiProcessorCount = (int)info->multiprocessors;
    out->canMapHostMemory = 1;
    out->concurrentKernels = 1;
    out->pciBusID = device + 1;
    out->asyncEngineCount = (int)info->copy_engines;
    out->unifiedAddressing = 1;
    out->memoryBusWidth = (int)info->memory_bus_bits;
    out->l2CacheSize = (int)info->l2_bytes;
    out->streamPrioritiesSupported = 1;
    out->managedMemory = 1;
    out->concurrentManagedAccess = 1;
    out->cooperativeLaunch = 1;
    return cudaSuccess;
}

CUDART cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    RUNTIME_BARE(cudaGetDeviceProperties, fill(properties, device), &properties);
}

/* The numbers are the driver's. */
CUDART cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    RUNTIME_BARE(cudaDeviceGetAttribute, cuDeviceGetAttribute(value, (int)attribute, device),
                 &value);
}

CUDART cudaDeviceGetPCIBusId(char *id, int size, int device)
{
    RUNTIME_BARE(cudaDeviceGetPCIBusId, cuDeviceGetPCIBusId(id, size, device), &id);
}

static bool are_devices(int a, int b)
{
    return sim_device_info_of(a) && sim_device_info_of(b);
}

CUDART cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    RUNTIME_BARE(cudaDeviceCanAccessPeer,
                 are_devices(device, peer) ? give(can, device != peer) : cudaErrorInvalidDevice,
                 &can);
}

RUNTIME_FUNCTION(cudaDeviceEnablePeerAccess, (int peer, unsigned flags),
                 flags                     ? cudaErrorInvalidValue
                 : are_devices(peer, peer) ? cudaSuccess
                                           : cudaErrorInvalidDevice,
                 &peer)

RUNTIME_FUNCTION(cudaProfilerStart, (void), cuProfilerStart(), NULL)
RUNTIME_FUNCTION(cudaProfilerStop, (void), cuProfilerStop(), NULL)

/* Errors -------------------------------------------------------------------------------------- */

CUDART cudaGetLastError(void)
{
    sim_call call;
    sim_enter(&call, SIM_cudaGetLastError, NULL);
    cudaError_t error = last_error;
    last_error = cudaSuccess;
    sim_leave(&call, (int)error);
    return error;
}

CUDART cudaPeekAtLastError(void)
{
    sim_call call;
    sim_enter(&call, SIM_cudaPeekAtLastError, NULL);
    sim_leave(&call, (int)last_error);
    return last_error;
}

const char *cudaGetErrorName(cudaError_t error)
{
    switch (error) {
#define NAME_OF(name, value)                                                                       \
    case name:                                                                                     \
        return #name;
        SIM_CUDA_ERRORS(NAME_OF)
    }
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
    const char *text;
    switch (error) {
    case cudaErrorInvalidConfiguration:
        return "invalid configuration argument";
    case cudaErrorInvalidSymbol:
        return "invalid device symbol";
    case cudaErrorInvalidMemcpyDirection:
        return "invalid copy direction for memcpy";
    case cudaErrorInsufficientDriver:
        return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorInvalidDeviceFunction:
        return "invalid device function";
    default:
        cuGetErrorString((int)error, &text); /* the others are the driver's */
        return text;
    }
}
