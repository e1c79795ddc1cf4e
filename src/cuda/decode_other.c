/* Records other than activities: memory, waits, CUDA events, overheads, compilation, devices. */
#include "cuda/decode.h"

#include <takt/trace.h>

static bool is_time(tkt_decoder *d, uint64_t time)
{
    bool is_near = time >= d->earliest && time <= d->latest;
    d->store->losses.bad_time += !is_near;
    return is_near;
}

/* Counts implausible times. */
static bool is_good_period(tkt_decoder *d, uint64_t begin, uint64_t end)
{
    bool is_good = tkt_is_period(d, begin, end);
    d->store->losses.bad_time += !is_good;
    return is_good;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* A pool has grown or shrunk by the difference from its last reported size. Records come in any
 * order: older ones than the latest say nothing about the size. */
static void note_pool(tkt_store *store, tkt_stored_memory event, uint64_t pool, uint64_t size)
{
    uint64_t *at = tkt_map_put(&store->pool_times, pool);
    uint64_t *known = at && event.time >= *at ? tkt_map_put(&store->pools, pool) : NULL;
    if (!known)
        return;
    *at = event.time;
    event.bytes = (int64_t)(size - *known);
    event.address = pool;
    event.kind = TAKT_MEMORY_DEVICE;
    event.is_pool = 1;
    event.is_from_pool = 0;
    *known = size;
    if (!size)
        tkt_map_remove(&store->pools, pool);
    if (event.bytes)
        tkt_store_add_memory(store, &event);
}

void tkt_decode_memory(tkt_decoder *d, tkt_record at)
{
    uint32_t operation = tkt_get32(at, TKT_AT_MEMORY_OPERATION);
    int64_t bytes = (int64_t)tkt_get64(at, TKT_AT_MEMORY_BYTES);
    tkt_stored_memory event = {
        .time = tkt_get64(at, TKT_AT_MEMORY_TIME),
        .address = tkt_get64(at, TKT_AT_MEMORY_ADDRESS),
        .bytes = operation == TKT_MEMORY_RELEASE ? -bytes : bytes,
        .correlation = tkt_get32(at, TKT_AT_MEMORY_CORRELATION),
        .device = tkt_get32(at, TKT_AT_MEMORY_DEVICE),
        .kind = tkt_get32(at, TKT_AT_MEMORY_MEMORY_KIND),
        .is_from_pool = tkt_get32(at, TKT_AT_MEMORY_POOL_TYPE) == TKT_POOL_LOCAL,
    };
    bool is_known = operation == TKT_MEMORY_ALLOCATION || operation == TKT_MEMORY_RELEASE;
    if (!is_known || bytes < 0)
        d->store->losses.unknown++;
    else if (is_time(d, event.time) && tkt_decode_is_device(d, event.device) &&
             tkt_store_add_memory(d->store, &event) && event.is_from_pool)
        note_pool(d->store, event, tkt_get64(at, TKT_AT_MEMORY_POOL_ADDRESS),
                  tkt_get64(at, TKT_AT_MEMORY_POOL_SIZE));
}

__attribute__((cold)) void tkt_decode_pool(tkt_decoder *d, tkt_record at)
{
    tkt_stored_memory event = {
        .time = tkt_get64(at, TKT_AT_POOL_TIME),
        .correlation = tkt_get32(at, TKT_AT_POOL_CORRELATION),
        .device = tkt_get32(at, TKT_AT_POOL_DEVICE),
    };
    bool is_gone = tkt_get32(at, TKT_AT_POOL_OPERATION) == TKT_POOL_DESTROYED;
    /* Records of allocations come in other buffers, perhaps before that of the pool's creation,
     * which has a size of 0. */
    if (tkt_get32(at, TKT_AT_POOL_OPERATION) == TKT_POOL_CREATED &&
        tkt_map_get(&d->store->pools, tkt_get64(at, TKT_AT_POOL_ADDRESS)))
        return;
    if (tkt_get32(at, TKT_AT_POOL_TYPE) == TKT_POOL_LOCAL && is_time(d, event.time) &&
        tkt_decode_is_device(d, event.device))
        note_pool(d->store, event, tkt_get64(at, TKT_AT_POOL_ADDRESS),
                  is_gone ? 0 : tkt_get64(at, TKT_AT_POOL_SIZE));
}

/* ---- Other records --------------------------------------------------------------------------- */

void tkt_decode_wait(tkt_decoder *d, tkt_record at)
{
    tkt_stored_wait wait = {
        .begin = tkt_get64(at, TKT_AT_SYNC_START),
        .end = tkt_get64(at, TKT_AT_SYNC_END),
        .correlation = tkt_get32(at, TKT_AT_SYNC_CORRELATION),
        .context = tkt_get32(at, TKT_AT_SYNC_CONTEXT),
        .stream = tkt_get32(at, TKT_AT_SYNC_STREAM),
        .kind = tkt_get32(at, TKT_AT_SYNC_TYPE),
    };
    if (wait.kind == TAKT_WAIT_EVENT || wait.kind == TAKT_WAIT_STREAM_EVENT) {
        wait.event = tkt_get32(at, TKT_AT_SYNC_EVENT);
        wait.sync_id = tkt_get64(at, TKT_AT_SYNC_SYNC_ID);
    }
    bool is_poll = tkt_get32(at, TKT_AT_SYNC_RESULT) == TKT_CUDA_NOT_READY;
    if (!is_poll && is_good_period(d, wait.begin, wait.end))
        tkt_store_add_wait(d->store, &wait);
}

/* CUPTI before 12.8 gives no sync id: 0. */
void tkt_decode_event(tkt_decoder *d, tkt_record at)
{
    tkt_store_add_record(d->store, &(tkt_stored_record){
                                       .sync_id = tkt_get64(at, TKT_AT_EVENT_SYNC_ID),
                                       .correlation = tkt_get32(at, TKT_AT_EVENT_CORRELATION),
                                       .context = tkt_get32(at, TKT_AT_EVENT_CONTEXT),
                                       .stream = tkt_get32(at, TKT_AT_EVENT_STREAM),
                                       .event = tkt_get32(at, TKT_AT_EVENT_EVENT),
                                   });
}

void tkt_decode_overhead(tkt_decoder *d, tkt_record at)
{
    bool is_thread = tkt_get32(at, TKT_AT_OVERHEAD_OBJECT_KIND) == TKT_OBJECT_THREAD;
    tkt_stored_overhead overhead = {
        .begin = tkt_get64(at, TKT_AT_OVERHEAD_START),
        .end = tkt_get64(at, TKT_AT_OVERHEAD_END),
        .kind = tkt_get32(at, TKT_AT_OVERHEAD_OVERHEAD_KIND),
        .thread = is_thread ? tkt_get32(at, TKT_AT_OVERHEAD_THREAD) : 0,
    };
    if (is_good_period(d, overhead.begin, overhead.end))
        tkt_store_add_overhead(d->store, &overhead);
}

/* Stored among the overheads: it is time on the host, as the driver's compiler is. */
__attribute__((cold)) void tkt_decode_jit(tkt_decoder *d, tkt_record at)
{
    bool is_nvvm = tkt_get32(at, TKT_AT_JIT_ENTRY) == TKT_JIT_NVVM;
    tkt_stored_overhead overhead = {
        .begin = tkt_get64(at, TKT_AT_JIT_START),
        .end = tkt_get64(at, TKT_AT_JIT_END),
        .kind = TKT_OVERHEAD_JIT | (is_nvvm ? TKT_OVERHEAD_JIT_NVVM : 0) |
                (tkt_get32(at, TKT_AT_JIT_OPERATION) & 15),
        .thread = tkt_get32(at, TKT_AT_JIT_THREAD),
    };
    if (is_good_period(d, overhead.begin, overhead.end))
        tkt_store_add_overhead(d->store, &overhead);
}

static void fill(uint32_t *field, uint32_t value)
{
    if (!*field)
        *field = value;
}

/* Fills in what the driver has not told, as for recordings. CUPTI hands over the name's memory to
 * the reader of the record; Takt does not free it: there is one for each device and process, and in
 * recordings it points elsewhere. */
__attribute__((cold)) void tkt_decode_device(tkt_decoder *d, tkt_record at)
{
    bool is_hidden = !at[TKT_AT_DEVICE_IS_VISIBLE];
    uint32_t ordinal = tkt_get32(at, TKT_AT_DEVICE_ID);
    if (is_hidden || !tkt_decode_is_device(d, ordinal))
        return;
    tkt_device *device = &d->store->devices.items[ordinal];
    const char *name = tkt_get_text(at, TKT_AT_DEVICE_NAME);
    uint32_t name_id = name ? tkt_store_string(d->store, name) : TKT_STRTAB_FULL;
    uint32_t warp_size = tkt_get32(at, TKT_AT_DEVICE_WARP_SIZE);
    fill(&device->name, name_id == TKT_STRTAB_FULL ? 0 : name_id);
    fill(&device->major, tkt_get32(at, TKT_AT_DEVICE_MAJOR));
    fill(&device->minor, tkt_get32(at, TKT_AT_DEVICE_MINOR));
    fill(&device->multiprocessors, tkt_get32(at, TKT_AT_DEVICE_MULTIPROCESSORS));
    fill(&device->warp_size, warp_size);
    fill(&device->max_threads_per_block, tkt_get32(at, TKT_AT_DEVICE_BLOCK_THREADS));
    fill(&device->max_threads_per_multiprocessor,
         tkt_get32(at, TKT_AT_DEVICE_MAX_WARPS) * warp_size);
    fill(&device->max_blocks_per_multiprocessor, tkt_get32(at, TKT_AT_DEVICE_MAX_BLOCKS));
    fill(&device->registers_per_block, tkt_get32(at, TKT_AT_DEVICE_BLOCK_REGISTERS));
    fill(&device->registers_per_multiprocessor, tkt_get32(at, TKT_AT_DEVICE_REGISTERS));
    fill(&device->shared_per_block, tkt_get32(at, TKT_AT_DEVICE_BLOCK_SHARED));
    fill(&device->shared_per_multiprocessor, tkt_get32(at, TKT_AT_DEVICE_SHARED));
    /* CUDA C++ Programming Guide: from capability 8.0 on, the system takes 1 KiB of each block. */
    fill(&device->reserved_shared_per_block, device->major >= 8 ? 1024 : 0);
    fill(&device->clock_khz, tkt_get32(at, TKT_AT_DEVICE_CLOCK));
    if (!device->memory_bytes)
        device->memory_bytes = tkt_get64(at, TKT_AT_DEVICE_MEMORY_BYTES);
}
