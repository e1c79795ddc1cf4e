/* From what the simulator says happened to the records that a session has enabled. */
#include "simgpu/cupti/cupti.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CHANNEL_COMPUTE         1u
#define CHANNEL_COPY            2u
#define OBJECT_THREAD           2u
#define OVERHEAD_BUFFER_REQUEST (7u << 16)
#define UNKNOWN_KIND            57u
#define WRONG_ID                9999u
/* Kernels have no stamps with a clock of the client's: NVIDIA says from 12.6 Update 2 until 13.1,
 * but with 13.0 Update 1 they have some on an H200. */
#define ZERO_STAMPS_SINCE 24u
#define ZERO_STAMPS_UNTIL 130001u

/* A record of any kind, as long as the longest layout that a library here has. */
typedef union any_record {
    uint32_t kind;
    sim_rec_kernel kernel;
    sim_rec_memcpy copy;
    sim_rec_memcpy2 copy2;
    sim_rec_memset set;
    sim_rec_memory memory;
    sim_rec_memory_pool pool;
    sim_rec_api api;
    sim_rec_device device;
    sim_rec_context context;
    sim_rec_stream stream;
    sim_rec_overhead overhead;
    sim_rec_cuda_event event;
    sim_rec_synchronization synchronization;
    sim_rec_external external;
    sim_rec_graph_trace graph;
    uint8_t bytes[256];
} any_record;

/* --- stamps -------------------------------------------------------------------------------------
 */

bool simc_is_device_work(uint32_t kind)
{
    return kind == SIM_KIND_KERNEL || kind == SIM_KIND_CONCURRENT_KERNEL ||
           kind == SIM_KIND_MEMCPY || kind == SIM_KIND_MEMCPY2 || kind == SIM_KIND_MEMSET ||
           kind == SIM_KIND_GRAPH_TRACE;
}

static size_t start_offset(uint32_t kind)
{
    if (kind == SIM_KIND_OVERHEAD)
        return offsetof(sim_rec_overhead, start);
    if (kind == SIM_KIND_GRAPH_TRACE || kind == SIM_KIND_SYNCHRONIZATION)
        return offsetof(sim_rec_graph_trace, start);
    return offsetof(sim_rec_kernel, start);
}

static bool loses_kernel_stamps(uint32_t kind)
{
    return (kind == SIM_KIND_KERNEL || kind == SIM_KIND_CONCURRENT_KERNEL) &&
           simc_has_own_clock() && simc_option.version >= ZERO_STAMPS_SINCE &&
           simc_option.version < ZERO_STAMPS_UNTIL;
}

/* "cupti.stamps" */
static void spoil(uint64_t stamps[2])
{
    static atomic_uint stamped;
    if (simc_option.stamps == SIMC_STAMPS_RIGHT || !simc_option.stamps_every ||
        ++stamped % simc_option.stamps_every)
        return;
    if (simc_option.stamps == SIMC_STAMPS_ZERO) {
        stamps[0] = stamps[1] = 0;
    } else if (simc_option.stamps == SIMC_STAMPS_REVERSED) {
        uint64_t first = stamps[0];
        stamps[0] = stamps[1] + 1;
        stamps[1] = first;
    } else {
        stamps[0] = 0x7fffffffffffff00u;
        stamps[1] = 0xfffffffffffffff0u;
    }
}

/* "cupti.zero_graphs_after": nodes of graphs, once so many have been stamped. */
static bool loses_graph_stamps(const uint8_t *bytes)
{
    static atomic_uint nodes;
    any_record record;
    memcpy(&record, bytes, simc_record_bytes(((const any_record *)(const void *)bytes)->kind));
    uint32_t graph = 0;
    if (record.kind == SIM_KIND_KERNEL || record.kind == SIM_KIND_CONCURRENT_KERNEL)
        graph = record.kernel.graphId;
    else if (record.kind == SIM_KIND_MEMCPY)
        graph = record.copy.graphId;
    else if (record.kind == SIM_KIND_MEMSET)
        graph = record.set.graphId;
    return graph && nodes++ >= simc_option.zero_graphs_after;
}

void simc_stamp(uint8_t *record, int32_t device, uint64_t begin_ns, uint64_t end_ns)
{
    uint32_t kind;
    memcpy(&kind, record, sizeof kind);
    uint64_t begin = simc_time(device, begin_ns);
    uint64_t end = begin + (simc_time(device, end_ns) - begin);
    uint64_t stamps[2] = {begin, end};
    if (loses_kernel_stamps(kind) || loses_graph_stamps(record))
        stamps[0] = stamps[1] = 0;
    else if (simc_is_device_work(kind))
        spoil(stamps);
    memcpy(record + start_offset(kind), stamps, sizeof stamps);
}

/* --- writing ------------------------------------------------------------------------------------
 */

/* "cupti.unknown_every": before each n-th record comes one of a kind of the future. */
static void write_unknown(simc_session *session)
{
    static atomic_uint written;
    if (!simc_option.unknown_every || ++written % simc_option.unknown_every)
        return;
    any_record record;
    memset(&record, 0x5a, sizeof record);
    record.kind = UNKNOWN_KIND;
    simc_write(session, &record, simc_record_bytes(UNKNOWN_KIND), 1, NULL);
}

/* The part of the record that is longer than what is known of it is filled with something. */
static void write_record(simc_session *session, any_record *record, const simc_pending *pending)
{
    size_t bytes = simc_record_bytes(record->kind);
    size_t known = record->kind == SIM_KIND_CONCURRENT_KERNEL || record->kind == SIM_KIND_KERNEL
                       ? sizeof record->kernel
                       : bytes;
    if (bytes > known)
        memset(record->bytes + known, 0xa5, bytes - known);
    write_unknown(session);
    simc_write(session, record, bytes, 1, pending);
}

static void write_timed(simc_session *session, any_record *record, const sim_record *from,
                        int32_t device)
{
    simc_pending pending = {.begin_ns = from->begin_ns, .end_ns = from->end_ns, .device = device};
    write_record(session, record, &pending);
}

void simc_overhead(simc_session *session, uint64_t begin_ns, uint64_t end_ns)
{
    if (!session->kinds[SIM_KIND_OVERHEAD])
        return;
    any_record r = {.overhead = {
                        .kind = SIM_KIND_OVERHEAD,
                        .overheadKind = OVERHEAD_BUFFER_REQUEST,
                        .objectKind = OBJECT_THREAD,
                        .objectId = {(uint32_t)getpid(), (uint32_t)syscall(SYS_gettid)},
                        .start = simc_time(-1, begin_ns),
                        .end = simc_time(-1, end_ns),
                    }};
    write_record(session, &r, NULL);
}

/* --- work of the device -------------------------------------------------------------------------
 */

static uint32_t context_of(const sim_record *from)
{
    return simc_option.wrong_context ? WRONG_ID : from->context;
}

static uint32_t device_of(const sim_record *from)
{
    return simc_option.wrong_context ? WRONG_ID : from->device;
}

static uint64_t blocks_of(const sim_record *from)
{
    return (uint64_t)from->grid[0] * from->grid[1] * from->grid[2];
}

static void write_kernel(simc_session *session, const sim_record *from)
{
    uint64_t threads = (uint64_t)from->block[0] * from->block[1] * from->block[2];
    uint64_t local = from->local_bytes * threads * blocks_of(from);
    any_record r = {
        .kernel = {
            .kind = session->kinds[SIM_KIND_KERNEL] ? SIM_KIND_KERNEL : SIM_KIND_CONCURRENT_KERNEL,
            .registersPerThread = from->registers,
            .deviceId = device_of(from),
            .contextId = context_of(from),
            .streamId = from->stream,
            .gridX = (int32_t)from->grid[0],
            .gridY = (int32_t)from->grid[1],
            .gridZ = (int32_t)from->grid[2],
            .blockX = (int32_t)from->block[0],
            .blockY = (int32_t)from->block[1],
            .blockZ = (int32_t)from->block[2],
            .staticSharedMemory = (int32_t)from->static_shared_bytes,
            .dynamicSharedMemory = (int32_t)from->dynamic_shared_bytes,
            .localMemoryPerThread = from->local_bytes,
            .localMemoryTotal = (uint32_t)local,
            .correlationId = from->correlation,
            .gridId = (int64_t)from->grid_id,
            .name = from->name,
            .launchType = from->launch_type,
            .sharedMemoryExecuted = 32768,
            .graphNodeId = from->graph_node,
            .graphId = from->graph,
            .channelID = 8,
            .channelType = CHANNEL_COMPUTE,
            .clusterX = from->cluster[0],
            .clusterY = from->cluster[1],
            .clusterZ = from->cluster[2],
            .localMemoryTotal_v2 = local,
            .maxPotentialClusterSize = 8,
            .maxActiveClusters = 16,
        }};
    const sim_call *call = sim_current_call();
    if (simc_latency && call) {
        r.kernel.queued = simc_time(-1, call->begin_ns);
        r.kernel.submitted = simc_time(-1, from->begin_ns);
    }
    write_timed(session, &r, from, (int32_t)from->device);
}

/* Copies between devices are a kind of their own, which V1 turns on with the other copies. */
static void write_peer_copy(simc_session *session, const sim_record *from)
{
    any_record r = {.copy2 = {
                        .kind = SIM_KIND_MEMCPY2,
                        .copyKind = from->copy_kind,
                        .srcKind = from->source_kind,
                        .dstKind = from->target_kind,
                        .flags = from->is_async,
                        .bytes = from->bytes,
                        .deviceId = device_of(from),
                        .contextId = context_of(from),
                        .streamId = from->stream,
                        .srcDeviceId = from->source_device,
                        .srcContextId = from->source_context,
                        .dstDeviceId = from->target_device,
                        .dstContextId = from->target_context,
                        .correlationId = from->correlation,
                        .graphNodeId = from->graph_node,
                        .graphId = from->graph,
                        .channelID = 9,
                        .channelType = CHANNEL_COPY,
                    }};
    write_timed(session, &r, from, (int32_t)from->device);
}

static void write_copy(simc_session *session, const sim_record *from)
{
    any_record r = {.copy = {
                        .kind = SIM_KIND_MEMCPY,
                        .copyKind = from->copy_kind,
                        .srcKind = from->source_kind,
                        .dstKind = from->target_kind,
                        .flags = from->is_async,
                        .bytes = from->bytes,
                        .deviceId = device_of(from),
                        .contextId = context_of(from),
                        .streamId = from->stream,
                        .correlationId = from->correlation,
                        .runtimeCorrelationId = from->correlation,
                        .graphNodeId = from->graph_node,
                        .graphId = from->graph,
                        .channelID = 9,
                        .channelType = CHANNEL_COPY,
                        .copyCount = 1,
                    }};
    write_timed(session, &r, from, (int32_t)from->device);
}

static void write_set(simc_session *session, const sim_record *from)
{
    any_record r = {.set = {
                        .kind = SIM_KIND_MEMSET,
                        .value = from->value,
                        .bytes = from->bytes,
                        .deviceId = device_of(from),
                        .contextId = context_of(from),
                        .streamId = from->stream,
                        .correlationId = from->correlation,
                        .flags = from->is_async,
                        .memoryKind = from->target_kind,
                        .graphNodeId = from->graph_node,
                        .graphId = from->graph,
                        .channelID = 8,
                        .channelType = CHANNEL_COMPUTE,
                    }};
    write_timed(session, &r, from, (int32_t)from->device);
}

static void write_graph(simc_session *session, const sim_record *from)
{
    any_record r = {.graph = {
                        .kind = SIM_KIND_GRAPH_TRACE,
                        .correlationId = from->correlation,
                        .deviceId = device_of(from),
                        .graphId = from->graph,
                        .contextId = context_of(from),
                        .streamId = from->stream,
                        .endDeviceId = device_of(from),
                        .endContextId = context_of(from),
                    }};
    write_timed(session, &r, from, (int32_t)from->device);
}

/* --- memory, waits, events ----------------------------------------------------------------------
 */

static void write_memory(simc_session *session, const sim_record *from)
{
    any_record r = {.memory = {
                        .kind = SIM_KIND_MEMORY2,
                        .memoryOperationType = from->operation,
                        .memoryKind = from->source_kind,
                        .correlationId = from->correlation,
                        .address = from->address,
                        .bytes = from->bytes,
                        .timestamp = simc_time(-1, from->begin_ns),
                        .processId = (uint32_t)getpid(),
                        .deviceId = from->device,
                        .contextId = from->context,
                        .streamId = from->is_async ? from->stream : SIM_CUPTI_INVALID_ID,
                        .isAsync = from->is_async,
                    }};
    if (from->pool_address)
        r.memory.memoryPoolConfig = (sim_rec_pool_config){
            .memoryPoolType = 1,
            .address = from->pool_address,
            .releaseThreshold = from->pool_threshold,
            .size = from->pool_size,
            .utilizedSize = from->pool_used,
        };
    write_record(session, &r, NULL);
}

static void write_pool(simc_session *session, const sim_record *from)
{
    any_record r = {.pool = {
                        .kind = SIM_KIND_MEMORY_POOL,
                        .memoryPoolOperationType = from->operation,
                        .memoryPoolType = 1,
                        .correlationId = from->correlation,
                        .processId = (uint32_t)getpid(),
                        .deviceId = from->device,
                        .address = from->pool_address,
                        .size = from->pool_size,
                        .releaseThreshold = from->pool_threshold,
                        .timestamp = simc_time(-1, from->begin_ns),
                        .utilizedSize = from->pool_used,
                    }};
    write_record(session, &r, NULL);
}

static void write_wait(simc_session *session, const sim_record *from)
{
    any_record r = {.synchronization = {
                        .kind = SIM_KIND_SYNCHRONIZATION,
                        .type = from->sync_type,
                        .correlationId = from->correlation,
                        .contextId = from->context,
                        .streamId = from->stream,
                        .cudaEventId = from->event,
                        .cudaEventSyncId = from->sync_id,
                        .returnValue = (uint32_t)from->result,
                    }};
    write_timed(session, &r, from, -1);
}

static void write_overhead(simc_session *session, const sim_record *from)
{
    any_record r = {.overhead = {
                        .kind = SIM_KIND_OVERHEAD,
                        .overheadKind = from->overhead_kind,
                        .objectKind = OBJECT_THREAD,
                        .objectId = {(uint32_t)getpid(), from->thread},
                        .correlationId = from->correlation,
                    }};
    write_timed(session, &r, from, -1);
}

static void write_event(simc_session *session, const sim_record *from)
{
    any_record r = {
        .event = {
            .kind = SIM_KIND_CUDA_EVENT,
            .correlationId = from->correlation,
            .contextId = from->context,
            .streamId = from->stream,
            .eventId = from->event,
            .deviceId = from->device,
            .cudaEventSyncId = from->sync_id,
            .deviceTimestamp = simc_event_times ? simc_time((int)from->device, from->end_ns) : 0,
        }};
    write_record(session, &r, NULL);
}

/* A graph that was made executable while graphs were traced as a whole. */
static bool is_whole(const simc_session *session, uint32_t graph)
{
    return session->kinds[SIM_KIND_GRAPH_TRACE] && session->whole_graphs[(uint16_t)graph];
}

static void write_work(simc_session *session, const sim_record *record)
{
    const _Atomic bool *kinds = session->kinds;
    if (record->graph && is_whole(session, record->graph))
        return;
    bool is_peer = record->kind == SIM_MEMCPY && record->copy_kind == 10;
    if (record->kind == SIM_KERNEL && (kinds[SIM_KIND_CONCURRENT_KERNEL] || kinds[SIM_KIND_KERNEL]))
        write_kernel(session, record);
    else if (is_peer && (kinds[SIM_KIND_MEMCPY2] || kinds[SIM_KIND_MEMCPY]))
        write_peer_copy(session, record);
    else if (record->kind == SIM_MEMCPY && !is_peer && kinds[SIM_KIND_MEMCPY])
        write_copy(session, record);
    else if (record->kind == SIM_MEMSET && kinds[SIM_KIND_MEMSET])
        write_set(session, record);
}

static void write_for(simc_session *session, const sim_record *record)
{
    static const struct {
        uint8_t kind;
        void (*write)(simc_session *session, const sim_record *record);
    } others[] = {
        [SIM_MEMORY] = {SIM_KIND_MEMORY2, write_memory},
        [SIM_POOL] = {SIM_KIND_MEMORY_POOL, write_pool},
        [SIM_SYNC] = {SIM_KIND_SYNCHRONIZATION, write_wait},
        [SIM_OVERHEAD] = {SIM_KIND_OVERHEAD, write_overhead},
        [SIM_CUDA_EVENT] = {SIM_KIND_CUDA_EVENT, write_event},
    };
    if (record->kind == SIM_GRAPH) {
        if (is_whole(session, record->graph))
            write_graph(session, record);
    } else if (record->kind < SIM_GRAPH) {
        write_work(session, record);
    } else if (session->kinds[others[record->kind].kind]) {
        others[record->kind].write(session, record);
    }
}

/* "cupti.graph_ids": the fault of releases from 130001 to before 130101. */
static uint32_t graph_correlation(simc_session *session, uint32_t right)
{
    if (!session->is_later) {
        session->graph_launch = right;
        return right;
    }
    if (simc_option.graph_ids == SIMC_IDS_STALE)
        return session->graph_launch;
    return simc_option.graph_ids == SIMC_IDS_SHIFTED ? right - 1 : right;
}

/* Nodes that a device launches itself, such as the body of a condition, have no call. */
static bool is_by_device(const sim_record *record)
{
    return record->is_by_device || (record->name && strstr(record->name, "by_device"));
}

#define FIRST_BODY_WRITER 0x70000000u /* no thread has such a number */

static uint32_t writer_of_bodies(void)
{
    static _Atomic uint32_t bodies;
    uint32_t buffers = simc_option.body_buffers;
    return buffers ? FIRST_BODY_WRITER + atomic_fetch_add(&bodies, 1) % buffers : 0;
}

void simc_on_record(const sim_record *record)
{
    if (record->graph && is_by_device(record))
        simc_device_writer = writer_of_bodies();
    for (int n = 0; n < SIMC_SESSIONS; n++) {
        sim_record written = *record;
        if (record->graph)
            written.correlation = is_by_device(record)
                                      ? 0
                                      : graph_correlation(simc_session_at(n), record->correlation);
        write_for(simc_session_at(n), &written);
    }
    simc_device_writer = 0;
    if (record->kind == SIM_SYNC)
        simc_synchronized(record);
}

/* --- calls --------------------------------------------------------------------------------------
 */

/* The external ids that this thread has pushed go right before the record of the call. */
static void write_api(int n, const sim_call *call, uint32_t kind)
{
    simc_session *session = simc_session_at(n);
    any_record r = {.api = {
                        .kind = kind,
                        .cbid = call->cbid,
                        .start = simc_time(-1, call->begin_ns),
                        .end = simc_time(-1, call->end_ns),
                        .processId = (uint32_t)getpid(),
                        .threadId = simc_thread_id_type == SIM_THREAD_ID_SYSTEM
                                        ? call->thread
                                        : (uint32_t)(uintptr_t)pthread_self(),
                        .correlationId = call->correlation,
                        .returnValue = (uint32_t)call->result,
                    }};
    uint8_t unit[SIM_EXTERNAL_COUNT * sizeof(sim_rec_external) + sizeof r.api];
    size_t bytes = 0, count = 0;
    uint64_t id;
    for (uint32_t external = 1; external < SIM_EXTERNAL_COUNT; external++) {
        if (!session->kinds[SIM_KIND_EXTERNAL_CORRELATION] || !simc_external(n, external, &id))
            continue;
        sim_rec_external e = {SIM_KIND_EXTERNAL_CORRELATION, external, id, call->correlation, 0};
        memcpy(unit + bytes, &e, sizeof e);
        bytes += sizeof e;
        count++;
    }
    memcpy(unit + bytes, &r.api, sizeof r.api);
    write_unknown(session);
    simc_write(session, unit, bytes + sizeof r.api, count + 1, NULL);
}

void simc_on_api(const sim_call *call)
{
    uint32_t kind = call->domain == SIM_RUNTIME ? SIM_KIND_RUNTIME : SIM_KIND_DRIVER;
    if (call->cbid >= SIMC_CBIDS)
        return;
    for (int n = 0; n < SIMC_SESSIONS; n++) {
        const simc_session *session = simc_session_at(n);
        if (session->kinds[kind] && !session->is_quiet[call->domain][call->cbid])
            write_api(n, call, kind);
    }
}

/* --- things -------------------------------------------------------------------------------------
 */

static void write_device(simc_session *session, int device)
{
    const sim_device_info *d = sim_device_info_of(device);
    any_record r = {
        .device = {
            .kind = SIM_KIND_DEVICE,
            .flags = 1, /* kernels run concurrently */
            .globalMemoryBandwidth = d->memory_bandwidth_kb,
            .globalMemorySize = d->memory_bytes,
            .constantMemorySize = d->constant_bytes,
            .l2CacheSize = d->l2_bytes,
            .numThreadsPerWarp = d->warp_size,
            .coreClockRate = d->clock_khz,
            .numMemcpyEngines = d->copy_engines,
            .numMultiprocessors = d->multiprocessors,
            .maxIPC = 4,
            .maxWarpsPerMultiprocessor = d->max_threads_per_multiprocessor / d->warp_size,
            .maxBlocksPerMultiprocessor = d->max_blocks_per_multiprocessor,
            .maxSharedMemoryPerMultiprocessor = d->shared_per_multiprocessor,
            .maxRegistersPerMultiprocessor = d->registers_per_multiprocessor,
            .maxRegistersPerBlock = d->registers_per_block,
            .maxSharedMemoryPerBlock = d->shared_per_block,
            .maxThreadsPerBlock = d->max_threads_per_block,
            .maxBlockDimX = d->max_block[0],
            .maxBlockDimY = d->max_block[1],
            .maxBlockDimZ = d->max_block[2],
            .maxGridDimX = d->max_grid[0],
            .maxGridDimY = d->max_grid[1],
            .maxGridDimZ = d->max_grid[2],
            .computeCapabilityMajor = d->major,
            .computeCapabilityMinor = d->minor,
            .id = (uint32_t)device,
            .name = strdup(d->name),
            .isCudaVisible = 1,
        }};
    memcpy(r.device.uuid, d->uuid, sizeof r.device.uuid);
    write_record(session, &r, NULL);
}

static void write_context(const sim_context_info *context, void *session)
{
    any_record r = {.context = {
                        .kind = SIM_KIND_CONTEXT,
                        .contextId = context->id,
                        .deviceId = context->device,
                        .computeApiKind = 1,
                        .nullStreamId = (uint16_t)context->null_stream_id,
                        .parentContextId = SIM_CUPTI_INVALID_ID,
                        .numMultiprocessors =
                            (uint16_t)sim_device_info_of((int)context->device)->multiprocessors,
                    }};
    write_record(session, &r, NULL);
}

static void write_stream(const sim_stream_info *stream, void *session)
{
    const sim_call *call = sim_current_call();
    any_record r = {.stream = {
                        .kind = SIM_KIND_STREAM,
                        .contextId = stream->context_id,
                        .streamId = stream->id,
                        .priority = (uint32_t)stream->priority,
                        .flag = stream->is_default        ? 3
                                : stream->is_non_blocking ? 2
                                                          : 1,
                        .correlationId = call ? call->correlation : 0,
                    }};
    write_record(session, &r, NULL);
}

static void dump_devices(simc_session *session)
{
    for (int device = 0; device < sim_device_count(); device++)
        write_device(session, device);
}

/* Nothing that exists before the driver is initialised. */
void simc_dump(simc_session *session, uint32_t kind)
{
    if (!sim_is_initialised())
        return;
    if (kind == SIM_KIND_DEVICE)
        dump_devices(session);
    else if (kind == SIM_KIND_CONTEXT)
        sim_each_context(write_context, session);
    else if (kind == SIM_KIND_STREAM)
        sim_each_stream(write_stream, session);
}

void simc_on_resource_record(const sim_resource *resource)
{
    sim_context_info context;
    sim_stream_info stream;
    for (int n = 0; n < SIMC_SESSIONS; n++) {
        simc_session *session = simc_session_at(n);
        if (resource->kind == SIM_INIT_FINISHED && session->kinds[SIM_KIND_DEVICE])
            dump_devices(session);
        if (resource->kind == SIM_CONTEXT_CREATED && session->kinds[SIM_KIND_CONTEXT] &&
            sim_context_of(resource->context, &context))
            write_context(&context, session);
        if (resource->kind == SIM_STREAM_CREATED && session->kinds[SIM_KIND_STREAM] &&
            sim_stream_of(resource->context, resource->stream, false, &stream))
            write_stream(&stream, session);
        uint32_t exec =
            resource->kind == SIM_GRAPH_EXEC_CREATED ? sim_graph_exec_id(resource->graph_exec) : 0;
        if (exec && session->kinds[SIM_KIND_GRAPH_TRACE])
            session->whole_graphs[(uint16_t)exec] = true;
    }
}
