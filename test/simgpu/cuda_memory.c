/* libcuda: memory, copies, sets. */
#include "cuda_face.h"

static int allocate(int kind, size_t bytes, CUdeviceptr *out)
{
    void *memory = NULL;
    if (!out || !bytes)
        return SIM_INVALID_VALUE;
    int status = sim_allocate(kind, bytes, &memory);
    if (!status)
        *out = (uintptr_t)memory;
    return status;
}

DRIVER_FUNCTION(cuMemGetInfo_v2, (size_t * free_bytes, size_t *total_bytes),
                sim_memory_info(free_bytes, total_bytes), &free_bytes)

CUAPI cuMemAlloc_v2(CUdeviceptr *out, size_t bytes)
{
    struct {
        CUdeviceptr *out;
        size_t bytes;
    } params = {out, bytes};
    DRIVER(cuMemAlloc_v2, allocate(SIM_DEVICE, bytes, out), &params);
}

DRIVER_FUNCTION(cuMemFree_v2, (CUdeviceptr memory), sim_free(pointer(memory), false), &memory)

CUAPI cuMemAllocManaged(CUdeviceptr *out, size_t bytes, unsigned flags)
{
    (void)flags;
    DRIVER(cuMemAllocManaged, allocate(SIM_MANAGED, bytes, out), &out);
}

DRIVER_FUNCTION(cuMemAllocHost_v2, (void **out, size_t bytes), sim_allocate(SIM_PINNED, bytes, out),
                &out)

CUAPI cuMemHostAlloc(void **out, size_t bytes, unsigned flags)
{
    (void)flags;
    DRIVER(cuMemHostAlloc, sim_allocate(SIM_PINNED, bytes, out), &out);
}

DRIVER_FUNCTION(cuMemFreeHost, (void *memory), sim_free(memory, true), &memory)

static int allocate_async(sim_pool *pool, size_t bytes, CUstream stream, CUdeviceptr *out)
{
    void *memory = NULL;
    int status = sim_allocate_async(pool, bytes, STREAM(stream), &memory);
    if (!status)
        *out = (uintptr_t)memory;
    return status;
}

DRIVER_FUNCTION(cuMemAllocAsync, (CUdeviceptr * out, size_t bytes, CUstream stream),
                allocate_async(NULL, bytes, stream, out), &out)
DRIVER_FUNCTION(cuMemAllocAsync_ptsz, (CUdeviceptr * out, size_t bytes, CUstream stream),
                allocate_async(NULL, bytes, of_thread(stream), out), &out)
DRIVER_FUNCTION(cuMemAllocFromPoolAsync,
                (CUdeviceptr * out, size_t bytes, CUmemoryPool pool, CUstream stream),
                allocate_async((sim_pool *)pool, bytes, stream, out), &out)
DRIVER_FUNCTION(cuMemAllocFromPoolAsync_ptsz,
                (CUdeviceptr * out, size_t bytes, CUmemoryPool pool, CUstream stream),
                allocate_async((sim_pool *)pool, bytes, of_thread(stream), out), &out)
DRIVER_FUNCTION(cuMemFreeAsync, (CUdeviceptr memory, CUstream stream),
                sim_free_async(pointer(memory), STREAM(stream)), &memory)
DRIVER_FUNCTION(cuMemFreeAsync_ptsz, (CUdeviceptr memory, CUstream stream),
                sim_free_async(pointer(memory), STREAM(of_thread(stream))), &memory)

/* Copies. What returns before the copy is done is asynchronous; a synchronous copy within the
 * device is, too. */
static int copy(void *target, const void *source, size_t bytes, int direction, CUstream stream,
                bool is_async)
{
    sim_work work = {.type = SIM_WORK_COPY, .is_async = is_async};
    work.is.copy.target = target;
    work.is.copy.source = source;
    work.is.copy.bytes = bytes;
    work.is.copy.rows = 1;
    work.is.copy.direction = direction;
    return bytes ? sim_submit(STREAM(stream), &work) : SIM_OK;
}

DRIVER_FUNCTION(cuMemcpy, (CUdeviceptr target, CUdeviceptr source, size_t bytes),
                copy(pointer(target), pointer(source), bytes, SIM_BY_ADDRESS, NULL, false),
                WORDS(WORD(target), WORD(source), WORD(bytes)))
DRIVER_FUNCTION(cuMemcpyHtoD_v2, (CUdeviceptr target, const void *source, size_t bytes),
                copy(pointer(target), source, bytes, SIM_HOST_TO_DEVICE, NULL, false),
                WORDS(WORD(target), WORD(source), WORD(bytes)))
DRIVER_FUNCTION(cuMemcpyDtoH_v2, (void *target, CUdeviceptr source, size_t bytes),
                copy(target, pointer(source), bytes, SIM_DEVICE_TO_HOST, NULL, false),
                WORDS(WORD(target), WORD(source), WORD(bytes)))
DRIVER_FUNCTION(cuMemcpyDtoD_v2, (CUdeviceptr target, CUdeviceptr source, size_t bytes),
                copy(pointer(target), pointer(source), bytes, SIM_DEVICE_TO_DEVICE, NULL, true),
                WORDS(WORD(target), WORD(source), WORD(bytes)))
DRIVER_FUNCTION(cuMemcpyAsync,
                (CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream),
                copy(pointer(target), pointer(source), bytes, SIM_BY_ADDRESS, stream, true),
                WORDS(WORD(target), WORD(source), WORD(bytes), WORD(stream)))
DRIVER_FUNCTION(cuMemcpyAsync_ptsz,
                (CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream),
                copy(pointer(target), pointer(source), bytes, SIM_BY_ADDRESS, of_thread(stream),
                     true),
                WORDS(WORD(target), WORD(source), WORD(bytes), WORD(stream)))
DRIVER_FUNCTION(cuMemcpyHtoDAsync_v2,
                (CUdeviceptr target, const void *source, size_t bytes, CUstream stream),
                copy(pointer(target), source, bytes, SIM_HOST_TO_DEVICE, stream, true),
                WORDS(WORD(target), WORD(source), WORD(bytes), WORD(stream)))
DRIVER_FUNCTION(cuMemcpyHtoDAsync_v2_ptsz,
                (CUdeviceptr target, const void *source, size_t bytes, CUstream stream),
                copy(pointer(target), source, bytes, SIM_HOST_TO_DEVICE, of_thread(stream), true),
                WORDS(WORD(target), WORD(source), WORD(bytes), WORD(stream)))
DRIVER_FUNCTION(cuMemcpyDtoHAsync_v2,
                (void *target, CUdeviceptr source, size_t bytes, CUstream stream),
                copy(target, pointer(source), bytes, SIM_DEVICE_TO_HOST, stream, true),
                WORDS(WORD(target), WORD(source), WORD(bytes), WORD(stream)))
DRIVER_FUNCTION(cuMemcpyDtoHAsync_v2_ptsz,
                (void *target, CUdeviceptr source, size_t bytes, CUstream stream),
                copy(target, pointer(source), bytes, SIM_DEVICE_TO_HOST, of_thread(stream), true),
                WORDS(WORD(target), WORD(source), WORD(bytes), WORD(stream)))
DRIVER_FUNCTION(cuMemcpyDtoDAsync_v2,
                (CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream),
                copy(pointer(target), pointer(source), bytes, SIM_DEVICE_TO_DEVICE, stream, true),
                WORDS(WORD(target), WORD(source), WORD(bytes), WORD(stream)))
DRIVER_FUNCTION(cuMemcpyDtoDAsync_v2_ptsz,
                (CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream),
                copy(pointer(target), pointer(source), bytes, SIM_DEVICE_TO_DEVICE,
                     of_thread(stream), true),
                WORDS(WORD(target), WORD(source), WORD(bytes), WORD(stream)))

CUAPI cuMemcpyPeerAsync(CUdeviceptr target, CUcontext target_context, CUdeviceptr source,
                        CUcontext source_context, size_t bytes, CUstream stream)
{
    (void)target_context;
    (void)source_context;
    DRIVER(cuMemcpyPeerAsync,
           copy(pointer(target), pointer(source), bytes, SIM_DEVICE_TO_DEVICE, stream, true),
           WORDS(WORD(target), WORD(target_context), WORD(source), WORD(source_context),
                 WORD(bytes), WORD(stream)));
}

static int set(CUdeviceptr target, unsigned value, unsigned element_bytes, size_t count,
               CUstream stream)
{
    sim_work work = {.type = SIM_WORK_SET, .is_async = true};
    work.is.set.target = pointer(target);
    work.is.set.value = value;
    work.is.set.element_bytes = element_bytes;
    work.is.set.count = count;
    return count ? sim_submit(STREAM(stream), &work) : SIM_OK;
}

DRIVER_FUNCTION(cuMemsetD8_v2, (CUdeviceptr target, unsigned char value, size_t count),
                set(target, value, 1, count, NULL), WORDS(WORD(target), WORD(value), WORD(count)))
DRIVER_FUNCTION(cuMemsetD32_v2, (CUdeviceptr target, unsigned value, size_t count),
                set(target, value, 4, count, NULL), WORDS(WORD(target), WORD(value), WORD(count)))
DRIVER_FUNCTION(cuMemsetD8Async,
                (CUdeviceptr target, unsigned char value, size_t count, CUstream stream),
                set(target, value, 1, count, stream),
                WORDS(WORD(target), WORD(value), WORD(count), WORD(stream)))
DRIVER_FUNCTION(cuMemsetD8Async_ptsz,
                (CUdeviceptr target, unsigned char value, size_t count, CUstream stream),
                set(target, value, 1, count, of_thread(stream)),
                WORDS(WORD(target), WORD(value), WORD(count), WORD(stream)))
DRIVER_FUNCTION(cuMemsetD32Async,
                (CUdeviceptr target, unsigned value, size_t count, CUstream stream),
                set(target, value, 4, count, stream),
                WORDS(WORD(target), WORD(value), WORD(count), WORD(stream)))
DRIVER_FUNCTION(cuMemsetD32Async_ptsz,
                (CUdeviceptr target, unsigned value, size_t count, CUstream stream),
                set(target, value, 4, count, of_thread(stream)),
                WORDS(WORD(target), WORD(value), WORD(count), WORD(stream)))
