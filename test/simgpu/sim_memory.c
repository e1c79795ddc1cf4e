/* Memory: all of it is the host's, so that copies can copy. Allocations are kept by address. A pool
 * reserves memory of its device in large pieces and gives back what is free when something waits
 * for the device, down to its threshold. */
#include "sim_core.h"

#include <stdlib.h>
#include <string.h>

#define POOL_PIECE (32ull << 20)

static sim_allocation *allocations; /* by address */
static size_t allocation_count;

/* The index of the first allocation that begins after this address. */
static size_t position_of(const void *memory)
{
    size_t low = 0;
    size_t high = allocation_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (allocations[middle].begin <= (const char *)memory)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const sim_allocation *sim_allocation_find(const void *memory)
{
    size_t i = position_of(memory);
    if (!i || (const char *)memory >= allocations[i - 1].begin + allocations[i - 1].bytes)
        return NULL;
    return &allocations[i - 1];
}

bool sim_allocation_of(const void *memory, sim_allocation *out)
{
    sim_lock();
    const sim_allocation *found = sim_allocation_find(memory);
    if (found)
        *out = *found;
    sim_unlock();
    return found != NULL;
}

static void keep(const sim_allocation *allocation)
{
    size_t i = position_of(allocation->begin);
    allocations = sim_grow(allocations, allocation_count, sizeof *allocations);
    memmove(&allocations[i + 1], &allocations[i], (allocation_count - i) * sizeof *allocations);
    allocations[i] = *allocation;
    allocation_count++;
}

static void forget(const sim_allocation *allocation)
{
    size_t i = (size_t)(allocation - allocations);
    allocation_count--;
    memmove(&allocations[i], &allocations[i + 1], (allocation_count - i) * sizeof *allocations);
}

/* Operations of memory and pools: 1 allocated or created, 2 freed or destroyed, 3 trimmed. */
static void tell_memory(const sim_allocation *allocation, uint32_t operation, uint32_t stream)
{
    sim_record record = {
        .kind = SIM_MEMORY,
        .begin_ns = sim_time_ns(),
        .device = allocation->device,
        .context = allocation->context ? allocation->context->id : 0,
        .stream = stream,
        .is_async = stream != SIM_NO_STREAM,
        .bytes = allocation->bytes,
        .source_kind = (uint8_t)allocation->kind,
        .operation = operation,
        .address = (uintptr_t)allocation->begin,
    };
    record.end_ns = record.begin_ns;
    if (allocation->pool) {
        record.pool_address = (uintptr_t)allocation->pool;
        record.pool_size = allocation->pool->facts.reserved;
        record.pool_used = allocation->pool->facts.used;
        record.pool_threshold = allocation->pool->facts.threshold;
    }
    sim_add_record(&record);
}

static void tell_pool(const sim_pool *pool, uint32_t operation, uint64_t keep_bytes)
{
    uint64_t now_ns = sim_time_ns();
    sim_add_record(&(sim_record){
        .kind = SIM_POOL,
        .begin_ns = now_ns,
        .end_ns = now_ns,
        .device = pool->device,
        .bytes = keep_bytes,
        .operation = operation,
        .address = (uintptr_t)pool,
        .pool_address = (uintptr_t)pool,
        .pool_size = pool->facts.reserved,
        .pool_used = pool->facts.used,
        .pool_threshold = pool->facts.threshold,
    });
}

static bool takes_device_memory(int kind)
{
    return kind == SIM_DEVICE || kind == SIM_MANAGED;
}

int sim_allocate(int kind, size_t bytes, void **out)
{
    if (!bytes) {
        *out = NULL;
        return SIM_OK;
    }
    sim_lock();
    sim_context *context = sim_context_here();
    int status = context ? sim_capture_refuse(NULL) : SIM_INVALID_CONTEXT;
    sim_device *device = status ? NULL : sim_device_of((int)context->device);
    if (device && takes_device_memory(kind) &&
        bytes > device->info.memory_bytes - device->used_bytes)
        status = SIM_OUT_OF_MEMORY;
    char *memory = status ? NULL : calloc(1, bytes);
    if (memory) {
        sim_allocation allocation = {.begin = memory,
                                     .bytes = bytes,
                                     .kind = kind,
                                     .device = context->device,
                                     .context = context};
        device->used_bytes += takes_device_memory(kind) ? bytes : 0;
        keep(&allocation);
        tell_memory(&allocation, 1, SIM_NO_STREAM);
        *out = memory;
    }
    sim_unlock();
    return !status && !memory ? SIM_OUT_OF_MEMORY : status;
}

int sim_register(void *memory, size_t bytes)
{
    if (!memory || !bytes)
        return SIM_INVALID_VALUE;
    sim_lock();
    sim_context *context = sim_context_here();
    int status = sim_allocation_find(memory) ? 712 /* cudaErrorHostMemoryAlreadyRegistered */
                 : context                   ? SIM_OK
                                             : SIM_INVALID_CONTEXT;
    if (!status)
        keep(&(sim_allocation){.begin = memory,
                               .bytes = bytes,
                               .kind = SIM_PINNED,
                               .device = context->device,
                               .context = context,
                               .is_registered = true});
    sim_unlock();
    return status;
}

static void pool_grow(sim_pool *pool, size_t bytes)
{
    sim_pool_facts *facts = &pool->facts;
    facts->used += bytes;
    facts->used_high = facts->used > facts->used_high ? facts->used : facts->used_high;
    if (facts->used > facts->reserved) {
        uint64_t reserved = (facts->used + POOL_PIECE - 1) / POOL_PIECE * POOL_PIECE;
        sim_device_of((int)pool->device)->used_bytes += reserved - facts->reserved;
        facts->reserved = reserved;
    }
    if (facts->reserved > facts->reserved_high)
        facts->reserved_high = facts->reserved;
}

/* Gives back to the device what the pool can spare. */
static void pool_shrink(sim_pool *pool, uint64_t keep_bytes)
{
    uint64_t least = pool->facts.used > keep_bytes ? pool->facts.used : keep_bytes;
    uint64_t reserved = (least + POOL_PIECE - 1) / POOL_PIECE * POOL_PIECE;
    if (reserved >= pool->facts.reserved)
        return;
    sim_device_of((int)pool->device)->used_bytes -= pool->facts.reserved - reserved;
    pool->facts.reserved = reserved;
    tell_pool(pool, 3, keep_bytes);
}

/* Takes the allocation away; with the lock. The memory is the caller's to free. */
static void give_back(const sim_allocation *allocation, uint32_t stream)
{
    sim_allocation gone = *allocation;
    forget(allocation);
    if (gone.pool)
        gone.pool->facts.used -= gone.bytes;
    else if (takes_device_memory(gone.kind))
        sim_device_of((int)gone.device)->used_bytes -= gone.bytes;
    if (!gone.is_registered)
        tell_memory(&gone, 2, stream);
}

int sim_free(void *memory, bool is_host)
{
    if (!memory)
        return SIM_OK;
    sim_lock();
    const sim_allocation *found = sim_allocation_find(memory);
    bool is_ours = found && found->begin == memory && (found->kind == SIM_PINNED) == is_host;
    int status = is_ours ? sim_capture_refuse(NULL) : SIM_INVALID_VALUE;
    uint64_t ready_ns = status || !found->context ? 0 : sim_context_ready(found->context);
    sim_unlock();
    if (status)
        return status;
    sim_wait_until(ready_ns);
    sim_lock();
    found = sim_allocation_find(memory);
    bool is_registered = found->is_registered;
    give_back(found, SIM_NO_STREAM);
    sim_unlock();
    if (!is_registered)
        free(memory);
    return SIM_OK;
}

/* Pools --------------------------------------------------------------------------------------- */

static sim_pool *make_pool(int device, bool is_default)
{
    sim_pool *pool = sim_new(sizeof *pool);
    pool->device = (uint32_t)device;
    pool->is_default = is_default;
    sim_born(pool, SIM_A_POOL);
    tell_pool(pool, 1, 0);
    return pool;
}

static sim_pool *default_pool(int device)
{
    sim_device *found = sim_device_of(device);
    if (found && !found->default_pool)
        found->default_pool = make_pool(device, true);
    return found ? found->default_pool : NULL;
}

int sim_pool_default(int device, sim_pool **out)
{
    sim_lock();
    sim_pool *pool = default_pool(device);
    sim_unlock();
    if (!pool)
        return SIM_INVALID_DEVICE;
    *out = pool;
    return SIM_OK;
}

int sim_pool_current(int device, sim_pool **out)
{
    sim_lock();
    sim_device *found = sim_device_of(device);
    sim_pool *pool = found && found->pool ? found->pool : default_pool(device);
    sim_unlock();
    if (!pool)
        return SIM_INVALID_DEVICE;
    *out = pool;
    return SIM_OK;
}

int sim_pool_choose(int device, sim_pool *pool)
{
    sim_lock();
    sim_device *found = sim_device_of(device);
    bool is_right = found && sim_is(pool, SIM_A_POOL) && pool->device == (uint32_t)device;
    if (is_right)
        found->pool = pool;
    sim_unlock();
    return is_right ? SIM_OK : SIM_INVALID_VALUE;
}

int sim_pool_create(int device, sim_pool **out)
{
    if (!sim_device_of(device))
        return SIM_INVALID_DEVICE;
    sim_lock();
    *out = make_pool(device, false);
    sim_unlock();
    return SIM_OK;
}

int sim_pool_destroy(sim_pool *pool)
{
    sim_lock();
    bool is_ours = sim_is(pool, SIM_A_POOL) && !pool->is_default && !pool->facts.used;
    if (is_ours) {
        sim_device *device = sim_device_of((int)pool->device);
        if (device->pool == pool)
            device->pool = NULL;
        device->used_bytes -= pool->facts.reserved;
        pool->facts.reserved = 0;
        tell_pool(pool, 2, 0);
        sim_died(pool);
    }
    sim_unlock();
    if (!is_ours)
        return SIM_INVALID_VALUE;
    free(pool);
    return SIM_OK;
}

int sim_pool_trim(sim_pool *pool, size_t keep_bytes)
{
    sim_lock();
    bool is_pool = sim_is(pool, SIM_A_POOL);
    if (is_pool)
        pool_shrink(pool, keep_bytes);
    sim_unlock();
    return is_pool ? SIM_OK : SIM_INVALID_VALUE;
}

int sim_pool_threshold(sim_pool *pool, uint64_t bytes)
{
    sim_lock();
    bool is_pool = sim_is(pool, SIM_A_POOL);
    if (is_pool)
        pool->facts.threshold = bytes;
    sim_unlock();
    return is_pool ? SIM_OK : SIM_INVALID_VALUE;
}

int sim_pool_look(sim_pool *pool, sim_pool_facts *out)
{
    sim_lock();
    bool is_pool = sim_is(pool, SIM_A_POOL);
    if (is_pool)
        *out = pool->facts;
    sim_unlock();
    return is_pool ? SIM_OK : SIM_INVALID_VALUE;
}

static void rest_one(void *handle, void *device)
{
    sim_pool *pool = handle;
    if (pool->device == *(const uint32_t *)device)
        pool_shrink(pool, pool->facts.threshold);
}

void sim_pools_rest(uint32_t device)
{
    sim_each(SIM_A_POOL, rest_one, &device);
}

static int allocate_in(sim_stream *stream, sim_pool *pool, size_t bytes, void **out)
{
    const sim_device *device = sim_device_of((int)pool->device);
    uint64_t spare = pool->facts.reserved - pool->facts.used;
    if (bytes > spare && bytes - spare > device->info.memory_bytes - device->used_bytes)
        return SIM_OUT_OF_MEMORY;
    char *memory = calloc(1, bytes ? bytes : 1);
    if (!memory)
        return SIM_OUT_OF_MEMORY;
    sim_allocation allocation = {.begin = memory,
                                 .bytes = bytes ? bytes : 1,
                                 .kind = SIM_DEVICE,
                                 .device = pool->device,
                                 .context = stream->context,
                                 .pool = pool};
    pool_grow(pool, allocation.bytes);
    keep(&allocation);
    if (!stream->capture)
        tell_memory(&allocation, 1, stream->id);
    *out = memory;
    return stream->capture
               ? sim_capture_add(stream,
                                 &(sim_work){.type = SIM_WORK_ALLOCATE, .is.memory = memory}, NULL)
               : SIM_OK;
}

int sim_allocate_async(sim_pool *pool, size_t bytes, sim_stream *handle, void **out)
{
    int device = 0;
    if (!pool) {
        int status = sim_context_device(NULL, &device);
        if (!status)
            status = sim_pool_current(device, &pool);
        if (status)
            return status;
    }
    sim_lock();
    sim_stream *stream = sim_stream_resolve(handle);
    int status = !stream                     ? SIM_INVALID_HANDLE
                 : !sim_is(pool, SIM_A_POOL) ? SIM_INVALID_VALUE
                                             : sim_capture_implicit(stream);
    if (!status)
        status = allocate_in(stream, pool, bytes, out);
    sim_unlock();
    return status;
}

int sim_free_async(void *memory, sim_stream *handle)
{
    sim_lock();
    sim_stream *stream = sim_stream_resolve(handle);
    const sim_allocation *found = sim_allocation_find(memory);
    int status = !stream ? SIM_INVALID_HANDLE
                 : !found || found->begin != memory || found->kind != SIM_DEVICE
                     ? SIM_INVALID_VALUE
                     : sim_capture_implicit(stream);
    bool is_captured = !status && stream->capture;
    if (is_captured)
        status =
            sim_capture_add(stream, &(sim_work){.type = SIM_WORK_FREE, .is.memory = memory}, NULL);
    else if (!status)
        give_back(found, stream->id);
    sim_unlock();
    if (!status && !is_captured)
        free(memory);
    return status;
}

int sim_memory_info(size_t *free_bytes, size_t *total_bytes)
{
    sim_lock();
    const sim_context *context = sim_context_here();
    if (context) {
        const sim_device *device = sim_device_of((int)context->device);
        *free_bytes = device->info.memory_bytes - device->used_bytes;
        *total_bytes = device->info.memory_bytes;
    }
    sim_unlock();
    return context ? SIM_OK : SIM_INVALID_CONTEXT;
}

/* The memory of a context that goes. */
void sim_memory_forget(const sim_context *context)
{
    for (size_t i = allocation_count; i-- > 0;) {
        if (allocations[i].context != context)
            continue;
        char *memory = allocations[i].is_registered ? NULL : allocations[i].begin;
        if (allocations[i].pool)
            allocations[i].pool->facts.used -= allocations[i].bytes;
        else if (takes_device_memory(allocations[i].kind))
            sim_device_of((int)allocations[i].device)->used_bytes -= allocations[i].bytes;
        forget(&allocations[i]);
        free(memory);
    }
}
