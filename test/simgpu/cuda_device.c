/* libcuda: devices, contexts, modules, errors, and finding functions. */
#include "cuda_face.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CUAPI cuInit(unsigned flags)
{
    sim_call call;
    int status = sim_enter(&call, SIM_cuInit, &flags);
    if (!status)
        status = flags ? SIM_INVALID_VALUE : sim_initialise();
    return sim_leave(&call, status);
}

static int driver_version(int *version)
{
    if (!version)
        return SIM_INVALID_VALUE;
    *version = (int)sim_option_number("driver.version", 13000);
    return SIM_OK;
}

CUAPI cuDriverGetVersion(int *version)
{
    sim_call call;
    int status = sim_enter(&call, SIM_cuDriverGetVersion, &version);
    return sim_leave(&call, status ? status : driver_version(version));
}

static int give_int(int *out, int value)
{
    if (!out)
        return SIM_INVALID_VALUE;
    *out = value;
    return SIM_OK;
}

DRIVER_FUNCTION(cuDeviceGetCount, (int *count), give_int(count, sim_device_count()), &count)
DRIVER_FUNCTION(cuDeviceGet, (CUdevice * device, int ordinal),
                sim_device_info_of(ordinal) ? give_int(device, ordinal) : SIM_INVALID_DEVICE,
                &device)

static int give_text(char *out, int size, const char *text)
{
    if (!out || size < 1)
        return SIM_INVALID_VALUE;
    snprintf(out, (size_t)size, "%s", text);
    return SIM_OK;
}

CUAPI cuDeviceGetName(char *name, int size, CUdevice device)
{
    const sim_device_info *info = sim_device_info_of(device);
    DRIVER(cuDeviceGetName, info ? give_text(name, size, info->name) : SIM_INVALID_DEVICE, &name);
}

CUAPI cuDeviceGetPCIBusId(char *id, int size, CUdevice device)
{
    const sim_device_info *info = sim_device_info_of(device);
    DRIVER(cuDeviceGetPCIBusId, info ? give_text(id, size, info->pci_bus_id) : SIM_INVALID_DEVICE,
           &id);
}

static int give_uuid(CUuuid *uuid, int device)
{
    const sim_device_info *info = sim_device_info_of(device);
    if (!info || !uuid)
        return info ? SIM_INVALID_VALUE : SIM_INVALID_DEVICE;
    memcpy(uuid->bytes, info->uuid, sizeof uuid->bytes);
    return SIM_OK;
}

DRIVER_FUNCTION(cuDeviceGetUuid, (CUuuid * uuid, CUdevice device), give_uuid(uuid, device), &uuid)
DRIVER_FUNCTION(cuDeviceGetUuid_v2, (CUuuid * uuid, CUdevice device), give_uuid(uuid, device),
                &uuid)

CUAPI cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    const sim_device_info *info = sim_device_info_of(device);
    if (info && bytes)
        *bytes = info->memory_bytes;
    DRIVER(cuDeviceTotalMem_v2,
           !info    ? SIM_INVALID_DEVICE
           : !bytes ? SIM_INVALID_VALUE
                    : SIM_OK,
           &bytes);
}

/* Numbers of CUdevice_attribute. What is not listed is 0, except that ids beyond them are wrong. */
static int attribute_of(const sim_device_info *info, int device, int attribute)
{
    switch (attribute) {
    case 1:
        return (int)info->max_threads_per_block;
    case 2:
        return (int)info->max_block[0];
    case 3:
        return (int)info->max_block[1];
    case 4:
        return (int)info->max_block[2];
    case 5:
        return (int)info->max_grid[0];
    case 6:
        return (int)info->max_grid[1];
    case 7:
        return (int)info->max_grid[2];
    case 8:
        return (int)info->shared_per_block;
    case 9:
        return (int)info->constant_bytes;
    case 10:
        return (int)info->warp_size;
    case 12:
        return (int)info->registers_per_block;
    case 13:
        return (int)info->clock_khz;
    case 16:
        return (int)info->multiprocessors;
    case 15:  /* overlap of copies */
    case 19:  /* mapped host memory */
    case 31:  /* concurrent kernels */
    case 41:  /* unified addressing */
    case 78:  /* stream priorities */
    case 83:  /* managed memory */
    case 89:  /* concurrent managed access */
    case 95:  /* cooperative launch */
    case 115: /* memory pools */
        return 1;
    case 33:
        return device + 1; /* PCI bus */
    case 36:
        return (int)info->memory_clock_khz;
    case 37:
        return (int)info->memory_bus_bits;
    case 38:
        return (int)info->l2_bytes;
    case 39:
        return (int)info->max_threads_per_multiprocessor;
    case 40:
        return (int)info->copy_engines;
    case 75:
        return (int)info->major;
    case 76:
        return (int)info->minor;
    case 81:
        return (int)info->shared_per_multiprocessor;
    case 82:
        return (int)info->registers_per_multiprocessor;
    case 87:
        return 64; /* single to double precision */
    case 97:
        return (int)info->shared_per_block_optin;
    case 106:
        return (int)info->max_blocks_per_multiprocessor;
    case 111:
        return (int)info->reserved_shared_per_block;
    case 120:
        return info->major >= 9; /* clusters */
    default:
        return 0;
    }
}

CUAPI cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    const sim_device_info *info = sim_device_info_of(device);
    int found = info ? attribute_of(info, device, (int)attribute) : 0;
    DRIVER(cuDeviceGetAttribute,
           !info                                        ? SIM_INVALID_DEVICE
           : (int)attribute < 1 || (int)attribute > 200 ? SIM_INVALID_VALUE
                                                        : give_int(value, found),
           &value);
}

/* Contexts ------------------------------------------------------------------------------------ */

DRIVER_FUNCTION(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device),
                sim_primary_retain(device, (sim_context **)context), &context)
DRIVER_FUNCTION(cuDevicePrimaryCtxRelease_v2, (CUdevice device), sim_primary_release(device),
                &device)
DRIVER_FUNCTION(cuDevicePrimaryCtxReset_v2, (CUdevice device), sim_primary_reset(device), &device)

static int primary_state(int device, unsigned *flags, int *active)
{
    bool is_active = false;
    int status = sim_primary_is_active(device, &is_active);
    if (!status && flags)
        *flags = 0;
    if (!status && active)
        *active = is_active;
    return status;
}

DRIVER_FUNCTION(cuDevicePrimaryCtxGetState, (CUdevice device, unsigned *flags, int *active),
                primary_state(device, flags, active), &device)

CUAPI cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device)
{
    (void)flags;
    DRIVER(cuCtxCreate_v2, sim_context_create(device, (sim_context **)context), &context);
}

CUAPI cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *params, unsigned flags, CUdevice device)
{
    (void)params;
    (void)flags;
    DRIVER(cuCtxCreate_v4, sim_context_create(device, (sim_context **)context), &context);
}

DRIVER_FUNCTION(cuCtxDestroy_v2, (CUcontext context), sim_context_destroy((sim_context *)context),
                &context)

static int give_current(CUcontext *context)
{
    if (!context)
        return SIM_INVALID_VALUE;
    *context = (CUcontext)sim_context_get();
    return SIM_OK;
}

DRIVER_FUNCTION(cuCtxGetCurrent, (CUcontext * context), give_current(context), &context)
DRIVER_FUNCTION(cuCtxSetCurrent, (CUcontext context), sim_context_set((sim_context *)context),
                &context)
DRIVER_FUNCTION(cuCtxGetDevice, (CUdevice * device), sim_context_device(NULL, device), &device)
DRIVER_FUNCTION(cuCtxGetDevice_v2, (CUdevice * device, CUcontext context),
                sim_context_device((sim_context *)context, device), &device)

static int give_id(CUcontext context, unsigned long long *id)
{
    sim_context_info info;
    if (!sim_context_of(context, &info))
        return SIM_INVALID_CONTEXT;
    *id = info.id;
    return SIM_OK;
}

DRIVER_FUNCTION(cuCtxGetId, (CUcontext context, unsigned long long *id), give_id(context, id),
                &context)
DRIVER_FUNCTION(cuCtxPushCurrent_v2, (CUcontext context), sim_context_push((sim_context *)context),
                &context)
DRIVER_FUNCTION(cuCtxPopCurrent_v2, (CUcontext * context), sim_context_pop((sim_context **)context),
                &context)
DRIVER_FUNCTION(cuCtxSynchronize, (void), sim_context_synchronize(NULL), NULL)
DRIVER_FUNCTION(cuCtxSynchronize_v2, (CUcontext context),
                sim_context_synchronize((sim_context *)context), &context)
DRIVER_FUNCTION(cuProfilerStart, (void), sim_profiling_switch(true), NULL)
DRIVER_FUNCTION(cuProfilerStop, (void), sim_profiling_switch(false), NULL)

/* Modules: a name is enough to be a kernel here. ------------------------------------------------
 */

CUAPI cuModuleLoadData(CUmodule *module, const void *image)
{
    static char a_module;
    if (module)
        *module = (CUmodule)&a_module;
    DRIVER(cuModuleLoadData, module && image ? SIM_OK : SIM_INVALID_VALUE, &module);
}

DRIVER_FUNCTION(cuModuleUnload, (CUmodule module), module ? SIM_OK : SIM_INVALID_HANDLE, &module)

CUAPI cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    if (function && name)
        *function = (CUfunction)sim_function_of(name);
    DRIVER(cuModuleGetFunction, function && module && name ? SIM_OK : SIM_INVALID_VALUE, &function);
}

CUAPI cuFuncGetName(const char **name, CUfunction function)
{
    if (name)
        *name = sim_function_name((sim_function *)function);
    DRIVER(cuFuncGetName, name && function ? SIM_OK : SIM_INVALID_VALUE, &name);
}

/* Errors: those that the simulator returns by itself, and those that scripts like. ------------- */

static const struct {
    int code;
    const char *name;
    const char *text;
} errors[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {34, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {401, "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {600, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"},
    {905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
     "dependency created on uncaptured work in another stream"},
    {906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {907, "CUDA_ERROR_CAPTURED_EVENT",
     "operation not permitted on an event last recorded in a capturing stream"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

static size_t error_index(int code)
{
    size_t count = sizeof errors / sizeof *errors;
    size_t i = 0;
    while (i < count && errors[i].code != code)
        i++;
    return i < count ? i : count - 1;
}

CUAPI cuGetErrorName(CUresult error, const char **name)
{
    *name = errors[error_index((int)error)].name;
    return SIM_OK;
}

CUAPI cuGetErrorString(CUresult error, const char **text)
{
    *text = errors[error_index((int)error)].text;
    return SIM_OK;
}

/* Finding functions ---------------------------------------------------------------------------- */

/* This library, however it was loaded. */
static void *self(void)
{
    Dl_info info;
    return dladdr(errors, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

/* The newest version of a name, as the real one finds it for a caller of a new version; with
 * `flags` 2 the variant for per-thread default streams comes first. */
static void *find(const char *symbol, unsigned long long flags)
{
    static const char *const endings[] = {"_v2_ptsz", "_ptsz", "_v4", "_v2", ""};
    void *library = self();
    void *found = NULL;
    char name[128];
    for (size_t i = flags & 2 ? 0 : 2; !found && i < sizeof endings / sizeof *endings; i++) {
        snprintf(name, sizeof name, "%s%s", symbol, endings[i]);
        found = library ? dlsym(library, name) : NULL;
    }
    if (library)
        dlclose(library);
    return found;
}

CUAPI cuGetProcAddress_v2(const char *symbol, void **function, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult *status)
{
    (void)version;
    *function = find(symbol, flags);
    if (status)
        *status = *function ? 0 : 1;
    return *function ? SIM_OK : SIM_NOT_FOUND;
}

CUAPI cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t flags)
{
    return cuGetProcAddress_v2(symbol, function, version, flags, NULL);
}
