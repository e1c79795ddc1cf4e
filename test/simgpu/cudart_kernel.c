/* libcudart: what nvcc's code registers, and launching it. */
#include "cudart_face.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct registered_kernel {
    const void *host;
    sim_function *function;
} registered_kernel;

typedef struct registered_symbol {
    const void *host;
    void *memory;
    size_t bytes;
} registered_symbol;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static registered_kernel *kernels;
static size_t kernel_count;
static registered_symbol *symbols;
static size_t symbol_count;

static void *grown(void *items, size_t count, size_t item_bytes)
{
    items = realloc(items, (count + 1) * item_bytes);
    if (!items)
        abort();
    return items;
}

void **__cudaRegisterFatBinary(void *binary)
{
    static void *handle;
    (void)binary;
    return &handle;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}
void __cudaUnregisterFatBinary(void **handle)
{
    (void)handle;
}

char __cudaInitModule(void **handle)
{
    (void)handle;
    return 1;
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int thread_limit, void *tid, void *bid, void *block, void *grid,
                            int *warp_size)
{
    (void)handle, (void)device, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid;
    (void)warp_size;
    registered_kernel kernel = {host, sim_function_of(name)};
    pthread_mutex_lock(&lock);
    kernels = grown(kernels, kernel_count, sizeof *kernels);
    kernels[kernel_count++] = kernel;
    pthread_mutex_unlock(&lock);
}

static void add_symbol(const void *host, void *memory, size_t bytes)
{
    pthread_mutex_lock(&lock);
    symbols = grown(symbols, symbol_count, sizeof *symbols);
    symbols[symbol_count++] = (registered_symbol){host, memory, bytes};
    pthread_mutex_unlock(&lock);
}

/* The host has a shadow of the variable, of its size: it serves as the variable. */
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int is_extern,
                       size_t bytes, int is_constant, int is_global)
{
    (void)handle, (void)device, (void)name, (void)is_extern, (void)is_constant, (void)is_global;
    add_symbol(host, host, bytes);
}

void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes)
{
    (void)handle, (void)name;
    add_symbol(host, host, bytes);
}

/* The host has a pointer to a managed variable. */
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
                              int is_extern, size_t bytes, int is_constant, int is_global)
{
    (void)handle, (void)device, (void)name, (void)is_extern, (void)is_constant, (void)is_global;
    *host = calloc(1, bytes);
    add_symbol(host, *host, bytes);
}

void *runtime_symbol(const void *symbol, size_t bytes, size_t offset)
{
    char *found = NULL;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < symbol_count; i++) {
        if (symbols[i].host == symbol && offset <= symbols[i].bytes &&
            bytes <= symbols[i].bytes - offset)
            found = (char *)symbols[i].memory + offset;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

sim_function *runtime_kernel(const void *function)
{
    sim_function *found = NULL;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < kernel_count && !found; i++) {
        if (kernels[i].host == function || kernels[i].function == function)
            found = kernels[i].function;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

CUDART cudaGetKernel(cudaKernel_t *kernel, const void *function)
{
    sim_function *found = runtime_kernel(function);
    if (kernel)
        *kernel = (cudaKernel_t)found;
    RUNTIME_BARE(cudaGetKernel, found ? cudaSuccess : cudaErrorInvalidDeviceFunction, &kernel);
}

/* Called before anything else is known of the driver, so that it says nothing of it. */
CUDART __cudaGetKernel(cudaKernel_t *kernel, const void *function)
{
    *kernel = (cudaKernel_t)runtime_kernel(function);
    return *kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

/* <<<...>>> pushes its configuration, and the stub of the kernel pops it. */
typedef struct configuration {
    dim3 grid;
    dim3 block;
    size_t shared_bytes;
    cudaStream_t stream;
} configuration;

static __thread configuration pushed[8];
static __thread size_t pushed_count;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                     struct CUstream_st *stream)
{
    if (pushed_count == sizeof pushed / sizeof *pushed)
        return 1;
    pushed[pushed_count++] = (configuration){grid, block, shared_bytes, stream};
    return 0;
}

CUDART __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream)
{
    if (!pushed_count)
        return cudaErrorMissingConfiguration;
    const configuration *top = &pushed[--pushed_count];
    *grid = top->grid;
    *block = top->block;
    *shared_bytes = top->shared_bytes;
    *(cudaStream_t *)stream = top->stream;
    return cudaSuccess;
}

/* Launching -------------------------------------------------------------------------------------
 */

typedef struct launch_params { /* as the functions take them */
    const void *function;
    dim3 grid;
    dim3 block;
    void **args;
    size_t shared_bytes;
    cudaStream_t stream;
} launch_params;

/* The driver's word for a wrong grid is another. */
static int launched(int status)
{
    return status == cudaErrorInvalidValue ? (int)cudaErrorInvalidConfiguration : status;
}

static int launch(const launch_params *params, sim_function *kernel, bool per_thread)
{
    cudaStream_t stream = per_thread ? of_thread(params->stream) : params->stream;
    if (!kernel)
        return cudaErrorInvalidDeviceFunction;
    return launched((int)(per_thread ? cuLaunchKernel_ptsz : cuLaunchKernel)(
        (CUfunction)kernel, params->grid.x, params->grid.y, params->grid.z, params->block.x,
        params->block.y, params->block.z, (unsigned)params->shared_bytes, stream, params->args,
        NULL));
}

static int launch_cooperative(const launch_params *params, sim_function *kernel,
                              cudaStream_t stream)
{
    if (!kernel)
        return cudaErrorInvalidDeviceFunction;
    return launched((int)cuLaunchCooperativeKernel(
        (CUfunction)kernel, params->grid.x, params->grid.y, params->grid.z, params->block.x,
        params->block.y, params->block.z, (unsigned)params->shared_bytes, stream, params->args));
}

CUDART cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **args,
                        size_t shared_bytes, cudaStream_t stream)
{
    launch_params params = {function, grid, block, args, shared_bytes, stream};
    sim_function *kernel = runtime_kernel(function);
    RUNTIME_LAUNCH(cudaLaunchKernel, launch(&params, kernel, false), &params, kernel);
}

CUDART cudaLaunchKernel_ptsz(const void *function, dim3 grid, dim3 block, void **args,
                             size_t shared_bytes, cudaStream_t stream)
{
    launch_params params = {function, grid, block, args, shared_bytes, stream};
    sim_function *kernel = runtime_kernel(function);
    RUNTIME_LAUNCH(cudaLaunchKernel_ptsz, launch(&params, kernel, true), &params, kernel);
}

/* What <<<...>>> calls. CUPTI 13.0 tells of the public function alone. */
static bool is_stub_told(void)
{
    return sim_option_number("launch.nested", 0) != 0;
}

CUDART __cudaLaunchKernel(cudaKernel_t function, dim3 grid, dim3 block, void **args,
                          size_t shared_bytes, cudaStream_t stream)
{
    launch_params params = {function, grid, block, args, shared_bytes, stream};
    if (!is_stub_told())
        return cudaLaunchKernel(function, grid, block, args, shared_bytes, stream);
    RUNTIME_LAUNCH(__cudaLaunchKernel,
                   cudaLaunchKernel(function, grid, block, args, shared_bytes, stream), &params,
                   runtime_kernel(function));
}

CUDART __cudaLaunchKernel_ptsz(cudaKernel_t function, dim3 grid, dim3 block, void **args,
                               size_t shared_bytes, cudaStream_t stream)
{
    launch_params params = {function, grid, block, args, shared_bytes, stream};
    if (!is_stub_told())
        return cudaLaunchKernel_ptsz(function, grid, block, args, shared_bytes, stream);
    RUNTIME_LAUNCH(__cudaLaunchKernel_ptsz,
                   cudaLaunchKernel_ptsz(function, grid, block, args, shared_bytes, stream),
                   &params, runtime_kernel(function));
}

CUDART cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **args,
                                   size_t shared_bytes, cudaStream_t stream)
{
    launch_params params = {function, grid, block, args, shared_bytes, stream};
    sim_function *kernel = runtime_kernel(function);
    RUNTIME_LAUNCH(cudaLaunchCooperativeKernel, launch_cooperative(&params, kernel, stream),
                   &params, kernel);
}

CUDART cudaLaunchCooperativeKernel_ptsz(const void *function, dim3 grid, dim3 block, void **args,
                                        size_t shared_bytes, cudaStream_t stream)
{
    launch_params params = {function, grid, block, args, shared_bytes, stream};
    sim_function *kernel = runtime_kernel(function);
    RUNTIME_LAUNCH(cudaLaunchCooperativeKernel_ptsz,
                   launch_cooperative(&params, kernel, of_thread(stream)), &params, kernel);
}

/* The runtime's attributes are the driver's, bit by bit. */
static int launch_with(const cudaLaunchConfig_t *config, sim_function *kernel, void **args,
                       bool per_thread)
{
    if (!config || !kernel)
        return config ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidValue;
    CUlaunchConfig own = {
        .gridDimX = config->gridDim.x,
        .gridDimY = config->gridDim.y,
        .gridDimZ = config->gridDim.z,
        .blockDimX = config->blockDim.x,
        .blockDimY = config->blockDim.y,
        .blockDimZ = config->blockDim.z,
        .sharedMemBytes = (unsigned)config->dynamicSmemBytes,
        .hStream = config->stream,
        .attrs = (CUlaunchAttribute *)config->attrs,
        .numAttrs = config->numAttrs,
    };
    return launched((int)(per_thread ? cuLaunchKernelEx_ptsz
                                     : cuLaunchKernelEx)(&own, (CUfunction)kernel, args, NULL));
}

CUDART cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **args)
{
    const struct {
        const cudaLaunchConfig_t *config;
        const void *function;
        void **args;
    } params = {config, function, args};
    sim_function *kernel = runtime_kernel(function);
    RUNTIME_LAUNCH(cudaLaunchKernelExC, launch_with(config, kernel, args, false), &params, kernel);
}

CUDART cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *function, void **args)
{
    const struct {
        const cudaLaunchConfig_t *config;
        const void *function;
        void **args;
    } params = {config, function, args};
    sim_function *kernel = runtime_kernel(function);
    RUNTIME_LAUNCH(cudaLaunchKernelExC_ptsz, launch_with(config, kernel, args, true), &params,
                   kernel);
}

RUNTIME_FUNCTION(cudaLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t call, void *data),
                 cuLaunchHostFunc(stream, call, data), &stream)
RUNTIME_FUNCTION(cudaLaunchHostFunc_ptsz, (cudaStream_t stream, cudaHostFn_t call, void *data),
                 cuLaunchHostFunc_ptsz(stream, call, data), &stream)

/* Facts of kernels --------------------------------------------------------------------------------
 */

static int attributes_of(struct cudaFuncAttributes *out, const void *function)
{
    const sim_function *kernel = runtime_kernel(function);
    sim_function_facts facts;
    if (!out || !kernel)
        return out ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidValue;
    sim_function_look(kernel, &facts);
    memset(out, 0, sizeof *out);
    out->sharedSizeBytes = facts.static_shared_bytes;
    out->localSizeBytes = facts.local_bytes;
    out->maxThreadsPerBlock = 1024;
    out->numRegs = (int)facts.registers;
    out->ptxVersion = out->binaryVersion = 89;
    out->maxDynamicSharedSizeBytes = 48 * 1024 - (int)facts.static_shared_bytes;
    return cudaSuccess;
}

RUNTIME_FUNCTION(cudaFuncGetAttributes,
                 (struct cudaFuncAttributes * attributes, const void *function),
                 attributes_of(attributes, function), &attributes)

CUDART cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute, int value)
{
    (void)attribute;
    (void)value;
    RUNTIME(cudaFuncSetAttribute,
            runtime_kernel(function) ? cudaSuccess : cudaErrorInvalidDeviceFunction, &function);
}

static int name_of(const char **name, const void *function)
{
    const sim_function *kernel = runtime_kernel(function);
    if (!name || !kernel)
        return name ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidValue;
    *name = sim_function_name(kernel);
    return cudaSuccess;
}

RUNTIME_FUNCTION(cudaFuncGetName, (const char **name, const void *function),
                 name_of(name, function), &name)

/* Blocks that fit by threads, registers and shared memory; without the rounding of real ones. */
static int occupancy(int *blocks, const void *function, int block_size, size_t shared_bytes)
{
    const sim_function *kernel = runtime_kernel(function);
    int device = 0;
    if (!kernel || !blocks || block_size < 1)
        return kernel ? cudaErrorInvalidValue : cudaErrorInvalidDeviceFunction;
    cudaGetDevice(&device);
    const sim_device_info *info = sim_device_info_of(device);
    sim_function_facts facts;
    sim_function_look(kernel, &facts);
    size_t threads = ((size_t)block_size + 31) / 32 * 32;
    size_t shared = facts.static_shared_bytes + shared_bytes + info->reserved_shared_per_block;
    size_t by_threads = info->max_threads_per_multiprocessor / threads;
    size_t by_registers = info->registers_per_multiprocessor / (threads * facts.registers);
    size_t by_shared = shared ? info->shared_per_multiprocessor / shared : by_threads;
    size_t most = info->max_blocks_per_multiprocessor;
    most = by_threads < most ? by_threads : most;
    most = by_registers < most ? by_registers : most;
    *blocks = (int)(by_shared < most ? by_shared : most);
    return cudaSuccess;
}

RUNTIME_FUNCTION(cudaOccupancyMaxActiveBlocksPerMultiprocessor,
                 (int *blocks, const void *function, int block_size, size_t shared_bytes),
                 occupancy(blocks, function, block_size, shared_bytes), &blocks)

CUDART cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function,
                                                              int block_size, size_t shared_bytes,
                                                              unsigned flags)
{
    (void)flags;
    RUNTIME(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
            occupancy(blocks, function, block_size, shared_bytes), &blocks);
}
