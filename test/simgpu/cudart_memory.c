/* libcudart: memory, copies, sets. */
#include "cudart_face.h"

#include <string.h>

static int allocate(void **out, size_t bytes)
{
    CUdeviceptr memory = 0;
    if (!out)
        return cudaErrorInvalidValue;
    int status = bytes ? (int)cuMemAlloc_v2(&memory, bytes) : cudaSuccess;
    if (!status)
        *out = (void *)(size_t)memory;
    return status;
}

CUDART cudaMalloc(void **out, size_t bytes)
{
    struct {
        void **out;
        size_t bytes;
    } params = {out, bytes};
    RUNTIME(cudaMalloc, allocate(out, bytes), &params);
}

RUNTIME_FUNCTION(cudaFree, (void *memory), memory ? cuMemFree_v2(address(memory)) : cudaSuccess,
                 &memory)
RUNTIME_FUNCTION(cudaMallocHost, (void **out, size_t bytes),
                 out ? cuMemAllocHost_v2(out, bytes) : cudaErrorInvalidValue, &out)
RUNTIME_FUNCTION(cudaHostAlloc, (void **out, size_t bytes, unsigned flags),
                 out ? cuMemHostAlloc(out, bytes, flags) : cudaErrorInvalidValue, &out)
RUNTIME_FUNCTION(cudaFreeHost, (void *memory), cuMemFreeHost(memory), &memory)

CUDART cudaHostRegister(void *memory, size_t bytes, unsigned flags)
{
    (void)flags;
    RUNTIME(cudaHostRegister, sim_register(memory, bytes), &memory);
}

RUNTIME_FUNCTION(cudaHostUnregister, (void *memory), sim_free(memory, true), &memory)

static int device_pointer(void **out, void *host)
{
    sim_allocation allocation;
    if (!out || !sim_allocation_of(host, &allocation) || allocation.kind != SIM_PINNED)
        return cudaErrorInvalidValue;
    *out = host;
    return cudaSuccess;
}

CUDART cudaHostGetDevicePointer(void **out, void *host, unsigned flags)
{
    (void)flags;
    RUNTIME(cudaHostGetDevicePointer, device_pointer(out, host), &out);
}

static int allocate_managed(void **out, size_t bytes, unsigned flags)
{
    CUdeviceptr memory = 0;
    if (!out || !bytes)
        return cudaErrorInvalidValue;
    int status = (int)cuMemAllocManaged(&memory, bytes, flags);
    if (!status)
        *out = (void *)(size_t)memory;
    return status;
}

RUNTIME_FUNCTION(cudaMallocManaged, (void **out, size_t bytes, unsigned flags),
                 allocate_managed(out, bytes, flags), &out)

static int allocate_async(void **out, size_t bytes, cudaMemPool_t pool, cudaStream_t stream)
{
    CUdeviceptr memory = 0;
    if (!out)
        return cudaErrorInvalidValue;
    int status = (int)(pool ? cuMemAllocFromPoolAsync(&memory, bytes, pool, stream)
                            : cuMemAllocAsync(&memory, bytes, stream));
    if (!status)
        *out = (void *)(size_t)memory;
    return status;
}

RUNTIME_FUNCTION(cudaMallocAsync, (void **out, size_t bytes, cudaStream_t stream),
                 allocate_async(out, bytes, NULL, stream), &out)
RUNTIME_FUNCTION(cudaMallocAsync_ptsz, (void **out, size_t bytes, cudaStream_t stream),
                 allocate_async(out, bytes, NULL, of_thread(stream)), &out)
RUNTIME_FUNCTION(cudaMallocFromPoolAsync,
                 (void **out, size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
                 pool ? allocate_async(out, bytes, pool, stream) : cudaErrorInvalidValue, &out)
RUNTIME_FUNCTION(cudaMallocFromPoolAsync_ptsz,
                 (void **out, size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
                 pool ? allocate_async(out, bytes, pool, of_thread(stream)) : cudaErrorInvalidValue,
                 &out)
RUNTIME_FUNCTION(cudaFreeAsync, (void *memory, cudaStream_t stream),
                 cuMemFreeAsync(address(memory), stream), &memory)
RUNTIME_FUNCTION(cudaFreeAsync_ptsz, (void *memory, cudaStream_t stream),
                 cuMemFreeAsync(address(memory), of_thread(stream)), &memory)
RUNTIME_FUNCTION(cudaMemGetInfo, (size_t * free_bytes, size_t *total_bytes),
                 cuMemGetInfo_v2(free_bytes, total_bytes), &free_bytes)

static int describe(struct cudaPointerAttributes *out, const void *memory)
{
    static const enum cudaMemoryType types[] = {
        [SIM_PINNED] = cudaMemoryTypeHost,
        [SIM_DEVICE] = cudaMemoryTypeDevice,
        [SIM_MANAGED] = cudaMemoryTypeManaged,
    };
    if (!out)
        return cudaErrorInvalidValue;
    memset(out, 0, sizeof *out);
    sim_allocation allocation;
    bool is_known = sim_allocation_of(memory, &allocation);
    void *pointer = (void *)(size_t)memory;
    out->type = is_known ? types[allocation.kind] : cudaMemoryTypeUnregistered;
    out->device = is_known ? (int)allocation.device : -2;
    out->devicePointer = is_known ? pointer : NULL;
    out->hostPointer = is_known && allocation.kind == SIM_DEVICE ? NULL : pointer;
    return cudaSuccess;
}

RUNTIME_FUNCTION(cudaPointerGetAttributes,
                 (struct cudaPointerAttributes * attributes, const void *memory),
                 describe(attributes, memory), &attributes)

CUDART cudaMemPrefetchAsync(const void *memory, size_t bytes, struct cudaMemLocation location,
                            unsigned flags, cudaStream_t stream)
{
    (void)memory, (void)bytes, (void)location, (void)flags, (void)stream;
    RUNTIME(cudaMemPrefetchAsync, cudaSuccess, &memory);
}

CUDART cudaMemPrefetchAsync_ptsz(const void *memory, size_t bytes, struct cudaMemLocation location,
                                 unsigned flags, cudaStream_t stream)
{
    (void)memory, (void)bytes, (void)location, (void)flags, (void)stream;
    RUNTIME(cudaMemPrefetchAsync_ptsz, cudaSuccess, &memory);
}

/* Pools --------------------------------------------------------------------------------------- */

RUNTIME_FUNCTION(cudaDeviceGetDefaultMemPool, (cudaMemPool_t * pool, int device),
                 sim_pool_default(device, (sim_pool **)pool), &pool)
RUNTIME_FUNCTION(cudaDeviceGetMemPool, (cudaMemPool_t * pool, int device),
                 sim_pool_current(device, (sim_pool **)pool), &pool)
RUNTIME_FUNCTION(cudaDeviceSetMemPool, (int device, cudaMemPool_t pool),
                 sim_pool_choose(device, (sim_pool *)pool), &device)
RUNTIME_FUNCTION(cudaMemPoolCreate,
                 (cudaMemPool_t * pool, const struct cudaMemPoolProps *properties),
                 pool &&properties && properties->location.type == cudaMemLocationTypeDevice
                     ? sim_pool_create(properties->location.id, (sim_pool **)pool)
                     : (int)cudaErrorInvalidValue,
                 &pool)
RUNTIME_FUNCTION(cudaMemPoolDestroy, (cudaMemPool_t pool), sim_pool_destroy((sim_pool *)pool),
                 &pool)
RUNTIME_FUNCTION(cudaMemPoolTrimTo, (cudaMemPool_t pool, size_t keep_bytes),
                 sim_pool_trim((sim_pool *)pool, keep_bytes), &pool)
RUNTIME_FUNCTION(cudaMemPoolSetAttribute,
                 (cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value),
                 !value ? (int)cudaErrorInvalidValue
                 : attribute == cudaMemPoolAttrReleaseThreshold
                     ? sim_pool_threshold((sim_pool *)pool, *(unsigned long long *)value)
                     : SIM_OK,
                 &pool)

static int pool_attribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
                          unsigned long long *value)
{
    sim_pool_facts facts;
    int status = value ? sim_pool_look((sim_pool *)pool, &facts) : (int)cudaErrorInvalidValue;
    if (status)
        return status;
    switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold:
        *value = facts.threshold;
        break;
    case cudaMemPoolAttrReservedMemCurrent:
        *value = facts.reserved;
        break;
    case cudaMemPoolAttrReservedMemHigh:
        *value = facts.reserved_high;
        break;
    case cudaMemPoolAttrUsedMemCurrent:
        *value = facts.used;
        break;
    case cudaMemPoolAttrUsedMemHigh:
        *value = facts.used_high;
        break;
    default:
        return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

RUNTIME_FUNCTION(cudaMemPoolGetAttribute,
                 (cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value),
                 pool_attribute(pool, attribute, value), &pool)

/* Copies -------------------------------------------------------------------------------------- */

typedef struct copy_params { /* as the functions take them */
    void *target;
    const void *source;
    size_t bytes;
    enum cudaMemcpyKind kind;
    cudaStream_t stream;
} copy_params;

/* The driver has a function for each direction. */
static int copy_async(const copy_params *params, cudaStream_t stream)
{
    switch (params->kind) {
    case cudaMemcpyHostToDevice:
        return (int)cuMemcpyHtoDAsync_v2(address(params->target), params->source, params->bytes,
                                         stream);
    case cudaMemcpyDeviceToHost:
        return (int)cuMemcpyDtoHAsync_v2(params->target, address(params->source), params->bytes,
                                         stream);
    case cudaMemcpyDeviceToDevice:
        return (int)cuMemcpyDtoDAsync_v2(address(params->target), address(params->source),
                                         params->bytes, stream);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
        return (int)cuMemcpyAsync(address(params->target), address(params->source), params->bytes,
                                  stream);
    }
    return cudaErrorInvalidMemcpyDirection;
}

/* On a thread's own default stream it waits for that only. */
static int copy(const copy_params *params, bool per_thread)
{
    if (per_thread) {
        int status = copy_async(params, cudaStreamPerThread);
        return status ? status : (int)cuStreamSynchronize(cudaStreamPerThread);
    }
    switch (params->kind) {
    case cudaMemcpyHostToDevice:
        return (int)cuMemcpyHtoD_v2(address(params->target), params->source, params->bytes);
    case cudaMemcpyDeviceToHost:
        return (int)cuMemcpyDtoH_v2(params->target, address(params->source), params->bytes);
    case cudaMemcpyDeviceToDevice:
        return (int)cuMemcpyDtoD_v2(address(params->target), address(params->source),
                                    params->bytes);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
        return (int)cuMemcpy(address(params->target), address(params->source), params->bytes);
    }
    return cudaErrorInvalidMemcpyDirection;
}

CUDART cudaMemcpy(void *target, const void *source, size_t bytes, enum cudaMemcpyKind kind)
{
    copy_params params = {target, source, bytes, kind, NULL};
    RUNTIME(cudaMemcpy, copy(&params, false), &params);
}

CUDART cudaMemcpy_ptds(void *target, const void *source, size_t bytes, enum cudaMemcpyKind kind)
{
    copy_params params = {target, source, bytes, kind, NULL};
    RUNTIME(cudaMemcpy_ptds, copy(&params, true), &params);
}

CUDART cudaMemcpyAsync(void *target, const void *source, size_t bytes, enum cudaMemcpyKind kind,
                       cudaStream_t stream)
{
    copy_params params = {target, source, bytes, kind, stream};
    RUNTIME(cudaMemcpyAsync, copy_async(&params, stream), &params);
}

CUDART cudaMemcpyAsync_ptsz(void *target, const void *source, size_t bytes,
                            enum cudaMemcpyKind kind, cudaStream_t stream)
{
    copy_params params = {target, source, bytes, kind, stream};
    RUNTIME(cudaMemcpyAsync_ptsz, copy_async(&params, of_thread(stream)), &params);
}

static int copy_rows(void *target, size_t target_pitch, const void *source, size_t source_pitch,
                     size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    sim_work work = {.type = SIM_WORK_COPY, .is_async = true};
    work.is.copy.target = target;
    work.is.copy.source = source;
    work.is.copy.bytes = width;
    work.is.copy.rows = height;
    work.is.copy.target_pitch = target_pitch;
    work.is.copy.source_pitch = source_pitch;
    work.is.copy.direction = (int)kind;
    return width && height ? sim_submit(STREAM(stream), &work) : SIM_OK;
}

RUNTIME_FUNCTION(cudaMemcpy2DAsync,
                 (void *target, size_t target_pitch, const void *source, size_t source_pitch,
                  size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
                 copy_rows(target, target_pitch, source, source_pitch, width, height, kind, stream),
                 WORDS(WORD(target), WORD(target_pitch), WORD(source), WORD(source_pitch),
                       WORD(width), WORD(height), WORD(kind), WORD(stream)))
RUNTIME_FUNCTION(cudaMemcpy2DAsync_ptsz,
                 (void *target, size_t target_pitch, const void *source, size_t source_pitch,
                  size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
                 copy_rows(target, target_pitch, source, source_pitch, width, height, kind,
                           of_thread(stream)),
                 WORDS(WORD(target), WORD(target_pitch), WORD(source), WORD(source_pitch),
                       WORD(width), WORD(height), WORD(kind), WORD(stream)))

CUDART cudaMemcpyPeer(void *target, int target_device, const void *source, int source_device,
                      size_t bytes)
{
    RUNTIME(
        cudaMemcpyPeer, cuMemcpyDtoD_v2(address(target), address(source), bytes),
        WORDS(WORD(target), WORD(target_device), WORD(source), WORD(source_device), WORD(bytes)));
}

CUDART cudaMemcpyPeerAsync(void *target, int target_device, const void *source, int source_device,
                           size_t bytes, cudaStream_t stream)
{
    RUNTIME(cudaMemcpyPeerAsync,
            cuMemcpyPeerAsync(address(target), NULL, address(source), NULL, bytes, stream),
            WORDS(WORD(target), WORD(target_device), WORD(source), WORD(source_device), WORD(bytes),
                  WORD(stream)));
}

static int to_symbol(const void *symbol, const void *source, size_t bytes, size_t offset,
                     enum cudaMemcpyKind kind, cudaStream_t stream, bool is_async)
{
    copy_params params = {runtime_symbol(symbol, bytes, offset), source, bytes, kind, stream};
    if (!params.target)
        return cudaErrorInvalidSymbol;
    return is_async ? copy_async(&params, stream) : copy(&params, stream != NULL);
}

static int from_symbol(void *target, const void *symbol, size_t bytes, size_t offset,
                       enum cudaMemcpyKind kind, cudaStream_t stream, bool is_async)
{
    copy_params params = {target, runtime_symbol(symbol, bytes, offset), bytes, kind, stream};
    if (!params.source)
        return cudaErrorInvalidSymbol;
    return is_async ? copy_async(&params, stream) : copy(&params, stream != NULL);
}

RUNTIME_FUNCTION(cudaMemcpyToSymbol,
                 (const void *symbol, const void *source, size_t bytes, size_t offset,
                  enum cudaMemcpyKind kind),
                 to_symbol(symbol, source, bytes, offset, kind, NULL, false),
                 WORDS(WORD(symbol), WORD(source), WORD(bytes), WORD(offset), WORD(kind)))
RUNTIME_FUNCTION(cudaMemcpyToSymbol_ptds,
                 (const void *symbol, const void *source, size_t bytes, size_t offset,
                  enum cudaMemcpyKind kind),
                 to_symbol(symbol, source, bytes, offset, kind, cudaStreamPerThread, false),
                 WORDS(WORD(symbol), WORD(source), WORD(bytes), WORD(offset), WORD(kind)))
RUNTIME_FUNCTION(cudaMemcpyToSymbolAsync,
                 (const void *symbol, const void *source, size_t bytes, size_t offset,
                  enum cudaMemcpyKind kind, cudaStream_t stream),
                 to_symbol(symbol, source, bytes, offset, kind, stream, true),
                 WORDS(WORD(symbol), WORD(source), WORD(bytes), WORD(offset), WORD(kind),
                       WORD(stream)))
RUNTIME_FUNCTION(cudaMemcpyToSymbolAsync_ptsz,
                 (const void *symbol, const void *source, size_t bytes, size_t offset,
                  enum cudaMemcpyKind kind, cudaStream_t stream),
                 to_symbol(symbol, source, bytes, offset, kind, of_thread(stream), true),
                 WORDS(WORD(symbol), WORD(source), WORD(bytes), WORD(offset), WORD(kind),
                       WORD(stream)))
RUNTIME_FUNCTION(cudaMemcpyFromSymbol,
                 (void *target, const void *symbol, size_t bytes, size_t offset,
                  enum cudaMemcpyKind kind),
                 from_symbol(target, symbol, bytes, offset, kind, NULL, false),
                 WORDS(WORD(target), WORD(symbol), WORD(bytes), WORD(offset), WORD(kind)))
RUNTIME_FUNCTION(cudaMemcpyFromSymbol_ptds,
                 (void *target, const void *symbol, size_t bytes, size_t offset,
                  enum cudaMemcpyKind kind),
                 from_symbol(target, symbol, bytes, offset, kind, cudaStreamPerThread, false),
                 WORDS(WORD(target), WORD(symbol), WORD(bytes), WORD(offset), WORD(kind)))
RUNTIME_FUNCTION(cudaMemcpyFromSymbolAsync,
                 (void *target, const void *symbol, size_t bytes, size_t offset,
                  enum cudaMemcpyKind kind, cudaStream_t stream),
                 from_symbol(target, symbol, bytes, offset, kind, stream, true),
                 WORDS(WORD(target), WORD(symbol), WORD(bytes), WORD(offset), WORD(kind),
                       WORD(stream)))
RUNTIME_FUNCTION(cudaMemcpyFromSymbolAsync_ptsz,
                 (void *target, const void *symbol, size_t bytes, size_t offset,
                  enum cudaMemcpyKind kind, cudaStream_t stream),
                 from_symbol(target, symbol, bytes, offset, kind, of_thread(stream), true),
                 WORDS(WORD(target), WORD(symbol), WORD(bytes), WORD(offset), WORD(kind),
                       WORD(stream)))

static int symbol_address(void **out, const void *symbol)
{
    void *found = runtime_symbol(symbol, 0, 0);
    if (!out || !found)
        return out ? cudaErrorInvalidSymbol : cudaErrorInvalidValue;
    *out = found;
    return cudaSuccess;
}

RUNTIME_FUNCTION(cudaGetSymbolAddress, (void **out, const void *symbol),
                 symbol_address(out, symbol), &out)

/* Sets ---------------------------------------------------------------------------------------- */

typedef struct set_params { /* as the functions take them */
    void *target;
    int value;
    size_t bytes;
    cudaStream_t stream;
} set_params;

CUDART cudaMemset(void *target, int value, size_t bytes)
{
    set_params params = {target, value, bytes, NULL};
    RUNTIME(cudaMemset, cuMemsetD8_v2(address(target), (unsigned char)value, bytes), &params);
}

CUDART cudaMemset_ptds(void *target, int value, size_t bytes)
{
    set_params params = {target, value, bytes, NULL};
    RUNTIME(cudaMemset_ptds,
            cuMemsetD8Async(address(target), (unsigned char)value, bytes, cudaStreamPerThread),
            &params);
}

CUDART cudaMemsetAsync(void *target, int value, size_t bytes, cudaStream_t stream)
{
    set_params params = {target, value, bytes, stream};
    RUNTIME(cudaMemsetAsync, cuMemsetD8Async(address(target), (unsigned char)value, bytes, stream),
            &params);
}

CUDART cudaMemsetAsync_ptsz(void *target, int value, size_t bytes, cudaStream_t stream)
{
    set_params params = {target, value, bytes, stream};
    RUNTIME(cudaMemsetAsync_ptsz,
            cuMemsetD8Async(address(target), (unsigned char)value, bytes, of_thread(stream)),
            &params);
}
