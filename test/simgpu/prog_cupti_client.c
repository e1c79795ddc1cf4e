/* A tracer as small as one can be, over a fixed program: it subscribes, enables what its arguments
 * say, runs the program, flushes, and prints what it was told, in an order that does not depend on
 * time.
 *
 *     prog_cupti_client LIBRARY [OPTION]...
 *
 *     kinds=1,2,10   enables these kinds; with + before the number, and dumps what exists
 *     calls          hears calls of the runtime and the driver
 *     resources      hears of contexts, streams and graphs
 *     external       pushes an external id around a part of the program
 *     buffer=N       bytes of a buffer (65536); threads=N threads that launch (0)
 *     shared         one buffer for all threads; dirty, zeroed: says that it gives zeroed ones
 *     flush=0|1      how it flushes at the end (0); early: flushes before the work is done
 *     clock          registers a clock of its own; v2: subscribes beside others
 *     more           pools and events as well; quiet=N: no record for this callback of the runtime
 *     attributes     reads attributes; old: launches a graph that was made before it subscribed
 *     lock           flushes while it holds a mutex; refuse: gives no buffers
 *     second         subscribes a second time; fork: flushes in a child */
#include "simgpu/cupti_client.h"
#include "simgpu/cudart.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_LINES   4096
#define LINE_BYTES  224
#define MAX_BUFFERS 1024

static cupti_client cupti;
static sim_subscriber_handle subscriber;
static char lines[MAX_LINES][LINE_BYTES];
static atomic_int line_count;
static atomic_int requests, completions, records, wrong_steps;
static uint8_t *kept[MAX_BUFFERS]; /* for ever: a buffer may be completed again */
static atomic_uint kept_count;
static _Atomic(pthread_t) flusher;
static atomic_int completed_by_flusher;

/* --- options ------------------------------------------------------------------------------------
 */

static char **options;

static const char *option(const char *name)
{
    size_t size = strlen(name);
    for (char **at = options; *at; at++) {
        if (!strncmp(*at, name, size) && (!(*at)[size] || (*at)[size] == '='))
            return (*at)[size] ? *at + size + 1 : "";
    }
    return NULL;
}

static long number(const char *name, long otherwise)
{
    const char *text = option(name);
    return text ? strtol(text, NULL, 10) : otherwise;
}

#define SAY(...)                                                                                   \
    do {                                                                                           \
        int at_ = line_count++;                                                                    \
        if (at_ < MAX_LINES)                                                                       \
            snprintf(lines[at_], LINE_BYTES, __VA_ARGS__);                                         \
    } while (0)

static void expect(const char *what, int32_t status)
{
    if (status)
        SAY("status %s: %d", what, (int)status);
}
#define CALL(function, ...) expect(#function, cupti.function(__VA_ARGS__))

/* --- records ------------------------------------------------------------------------------------
 */

static const char *took(char out[32], uint64_t start, uint64_t end)
{
    if (!start && !end)
        return "no stamps";
    if (end < start)
        return "reversed";
    snprintf(out, 32, "%llu ns", (unsigned long long)(end - start));
    return out;
}

static void say_kernel(const sim_rec_kernel *k)
{
    char time[32];
    SAY("kernel #%u d%u c%u s%u %s grid %d,%d,%d block %d,%d,%d shared %d+%d regs %u local %u "
        "type %u graph %u.%s %s",
        k->correlationId, k->deviceId, k->contextId, k->streamId, k->name, (int)k->gridX,
        (int)k->gridY, (int)k->gridZ, (int)k->blockX, (int)k->blockY, (int)k->blockZ,
        (int)k->staticSharedMemory, (int)k->dynamicSharedMemory, k->registersPerThread,
        k->localMemoryPerThread, k->launchType, k->graphId, k->graphNodeId ? "node" : "0",
        took(time, k->start, k->end));
}

static void say_copy(const sim_rec_memcpy *c)
{
    char time[32];
    SAY("memcpy #%u d%u c%u s%u kind %u from %u to %u flags %u bytes %llu graph %u.%s %s",
        c->correlationId, c->deviceId, c->contextId, c->streamId, c->copyKind, c->srcKind,
        c->dstKind, c->flags, (unsigned long long)c->bytes, c->graphId,
        c->graphNodeId ? "node" : "0", took(time, c->start, c->end));
}

static void say_peer_copy(const sim_rec_memcpy2 *c)
{
    char time[32];
    SAY("memcpy2 #%u d%u c%u s%u kind %u from d%u c%u to d%u c%u bytes %llu %s", c->correlationId,
        c->deviceId, c->contextId, c->streamId, c->copyKind, c->srcDeviceId, c->srcContextId,
        c->dstDeviceId, c->dstContextId, (unsigned long long)c->bytes,
        took(time, c->start, c->end));
}

static void say_set(const sim_rec_memset *m)
{
    char time[32];
    SAY("memset #%u d%u c%u s%u value %u kind %u flags %u bytes %llu graph %u.%s %s",
        m->correlationId, m->deviceId, m->contextId, m->streamId, m->value, m->memoryKind, m->flags,
        (unsigned long long)m->bytes, m->graphId, m->graphNodeId ? "node" : "0",
        took(time, m->start, m->end));
}

static void say_graph(const sim_rec_graph_trace *g)
{
    char time[32];
    SAY("graph #%u d%u c%u s%u graph %u %s", g->correlationId, g->deviceId, g->contextId,
        g->streamId, g->graphId, took(time, g->start, g->end));
}

static void say_api(const sim_rec_api *a)
{
    const char *name = "?";
    uint32_t domain = a->kind == SIM_KIND_RUNTIME ? SIM_DOMAIN_RUNTIME : SIM_DOMAIN_DRIVER;
    cupti.cuptiGetCallbackName(domain, a->cbid, &name);
    SAY("api #%u %s = %u%s%s", a->correlationId, name, a->returnValue,
        a->end < a->start ? " reversed" : "", a->processId == (uint32_t)getpid() ? "" : " foreign");
}

static void say_memory(const sim_rec_memory *m)
{
    SAY("memory #%u %s d%u kind %u bytes %llu async %u pool %u", m->correlationId,
        m->memoryOperationType == 1 ? "allocated" : "freed", m->deviceId, m->memoryKind,
        (unsigned long long)m->bytes, m->isAsync, m->memoryPoolConfig.memoryPoolType);
}

static void say_wait(const sim_rec_synchronization *w)
{
    SAY("wait #%u type %u c%u s%d%s", w->correlationId, w->type, w->contextId, (int)w->streamId,
        w->end < w->start ? " reversed" : "");
}

static void say_device(const sim_rec_device *d)
{
    SAY("device %u %s cc %u.%u sms %u", d->id, d->name, d->computeCapabilityMajor,
        d->computeCapabilityMinor, d->numMultiprocessors);
    free((void *)(uintptr_t)d->name);
}

static void say_thing(const uint8_t *record, uint32_t kind)
{
    const sim_rec_context *c = (const void *)record;
    const sim_rec_stream *s = (const void *)record;
    const sim_rec_external *e = (const void *)record;
    const sim_rec_memory_pool *p = (const void *)record;
    const sim_rec_cuda_event *v = (const void *)record;
    const sim_rec_overhead *o = (const void *)record;
    if (kind == SIM_KIND_CONTEXT)
        SAY("context %u d%u null stream %u", c->contextId, c->deviceId, c->nullStreamId);
    else if (kind == SIM_KIND_STREAM)
        SAY("stream c%u s%u flag %u", s->contextId, s->streamId, s->flag);
    else if (kind == SIM_KIND_EXTERNAL_CORRELATION)
        SAY("external #%u kind %u id %llu", e->correlationId, e->externalKind,
            (unsigned long long)e->externalId);
    else if (kind == SIM_KIND_MEMORY_POOL)
        SAY("pool #%u operation %u d%u", p->correlationId, p->memoryPoolOperationType, p->deviceId);
    else if (kind == SIM_KIND_CUDA_EVENT)
        SAY("event #%u d%u c%u s%u%s", v->correlationId, v->deviceId, v->contextId, v->streamId,
            v->deviceTimestamp ? " stamped" : "");
    else if (kind == SIM_KIND_OVERHEAD)
        SAY("overhead kind %u of %s%s", o->overheadKind >> 16,
            o->objectId[0] == (uint32_t)getpid() ? "ours" : "others",
            o->end < o->start ? " reversed" : "");
    else
        SAY("kind %u", kind);
}

static void say_record(const uint8_t *record)
{
    uint32_t kind;
    memcpy(&kind, record, sizeof kind);
    switch (kind) {
    case SIM_KIND_KERNEL:
    case SIM_KIND_CONCURRENT_KERNEL:
        say_kernel((const void *)record);
        break;
    case SIM_KIND_MEMCPY:
        say_copy((const void *)record);
        break;
    case SIM_KIND_MEMCPY2:
        say_peer_copy((const void *)record);
        break;
    case SIM_KIND_MEMSET:
        say_set((const void *)record);
        break;
    case SIM_KIND_GRAPH_TRACE:
        say_graph((const void *)record);
        break;
    case SIM_KIND_RUNTIME:
    case SIM_KIND_DRIVER:
        say_api((const void *)record);
        break;
    case SIM_KIND_MEMORY2:
        say_memory((const void *)record);
        break;
    case SIM_KIND_SYNCHRONIZATION:
        say_wait((const void *)record);
        break;
    case SIM_KIND_DEVICE:
        say_device((const void *)record);
        break;
    default:
        say_thing(record, kind);
    }
}

/* An external correlation is right before the record of its call. */
static void check_order(const uint8_t *before, const uint8_t *record)
{
    const sim_rec_external *external = (const void *)before;
    const sim_rec_api *api = (const void *)record;
    if (external->kind == SIM_KIND_EXTERNAL_CORRELATION &&
        api->kind != SIM_KIND_EXTERNAL_CORRELATION &&
        ((api->kind != SIM_KIND_RUNTIME && api->kind != SIM_KIND_DRIVER) ||
         api->correlationId != external->correlationId))
        wrong_steps++;
}

static int32_t next_record(uint8_t *buffer, size_t valid_bytes, uint8_t **record)
{
    return option("v2")
               ? cupti.cuptiActivityGetNextRecord_v2(subscriber, buffer, valid_bytes, record)
               : cupti.cuptiActivityGetNextRecord(buffer, valid_bytes, record);
}

static void read_buffer(uint8_t *buffer, size_t valid_bytes)
{
    uint8_t *record = NULL, *before = NULL;
    int32_t status;
    while (!(status = next_record(buffer, valid_bytes, &record))) {
        if (before)
            check_order(before, record);
        before = record;
        records++;
        say_record(record);
    }
    if (status != SIM_CUPTI_ERROR_MAX_LIMIT_REACHED)
        SAY("status of iteration: %d", (int)status);
}

/* --- callbacks ----------------------------------------------------------------------------------
 */

static void on_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
    requests++;
    *size = (size_t)number("buffer", 65536);
    *max_records = (size_t)number("records", 0);
    *buffer = option("refuse") ? NULL : calloc(1, *size);
    kept[kept_count++ % MAX_BUFFERS] = *buffer;
    if (option("dirty") && *buffer)
        (*buffer)[*size / 2] = 1;
    if (option("slow"))
        usleep(20000);
}

static void on_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                        size_t valid_bytes)
{
    (void)context, (void)stream, (void)size;
    if (pthread_equal(pthread_self(), flusher))
        completed_by_flusher++;
    if (option("reenter"))
        SAY("flush in completion: %d", (int)cupti.cuptiActivityFlushAll(0));
    read_buffer(buffer, valid_bytes);
    completions++; /* last: who waits for it wants the records, too */
}

static void on_request_v2(uint8_t **buffer, size_t *size, size_t *max_records, void *info)
{
    (void)info;
    on_request(buffer, size, max_records);
}

static void on_complete_v2(uint8_t *buffer, size_t size, size_t valid_bytes, void *info)
{
    (void)info;
    on_complete(NULL, 0, buffer, size, valid_bytes);
}

static void on_api(uint32_t domain, const sim_callback_data *data)
{
    const char *site = data->callbackSite == SIM_API_ENTER ? "enter" : "exit";
    if (data->callbackSite == SIM_API_ENTER)
        *data->correlationData = 1000 + data->correlationId;
    SAY("%s #%u %s %s%s%s c%u%s", site, data->correlationId,
        domain == SIM_DOMAIN_RUNTIME ? "runtime" : "driver", data->functionName,
        data->symbolName ? " of " : "", data->symbolName ? data->symbolName : "", data->contextUid,
        *data->correlationData == 1000 + data->correlationId ? "" : " other data");
    if (data->callbackSite == SIM_API_EXIT && *(int32_t *)data->functionReturnValue)
        SAY("failed #%u %d", data->correlationId, (int)*(int32_t *)data->functionReturnValue);
}

static void on_resource(uint32_t cbid, const sim_resource_data *data)
{
    uint32_t id = 0;
    if (cbid == SIM_RESOURCE_CONTEXT_CREATED || cbid == SIM_RESOURCE_CONTEXT_DESTROY_STARTING)
        CALL(cuptiGetContextId, data->context, &id);
    if (cbid == SIM_RESOURCE_STREAM_CREATED)
        CALL(cuptiGetStreamIdEx, data->context, data->stream, 0, &id);
    if (cbid == SIM_RESOURCE_GRAPHEXEC_CREATED)
        CALL(cuptiGetGraphExecId, ((const sim_graph_data *)data->resourceDescriptor)->graphExec,
             &id);
    SAY("resource %u id %u", cbid, id);
}

static void on_callback(void *user, uint32_t domain, uint32_t cbid, const void *data)
{
    if (user != &subscriber)
        SAY("a foreign pointer");
    if (domain == SIM_DOMAIN_RUNTIME || domain == SIM_DOMAIN_DRIVER)
        on_api(domain, data);
    else if (domain == SIM_DOMAIN_RESOURCE)
        on_resource(cbid, data);
    else if (domain == SIM_DOMAIN_STATE)
        SAY("state %u", cbid);
    else
        SAY("domain %u id %u", domain, cbid);
}

static uint64_t own_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* --- the program --------------------------------------------------------------------------------
 */

static const char density, forces; /* addresses that stand for kernels */

static void check_cuda(const char *what, int status)
{
    if (status)
        SAY("cuda %s: %d", what, status);
}
#define CUDA(call) check_cuda(#call, (int)(call))

static void launch(const void *kernel, cudaStream_t stream, dim3 grid, dim3 block, size_t shared)
{
    void *arguments[] = {NULL};
    check_cuda("launch", (int)cudaLaunchKernel(kernel, grid, block, arguments, shared, stream));
}

static void run_streams(void)
{
    void *memory = NULL, *host = NULL;
    cudaStream_t stream;
    CUDA(cudaMalloc(&memory, 4096));
    CUDA(cudaMallocHost(&host, 4096));
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaMemcpyAsync(memory, host, 4096, cudaMemcpyHostToDevice, stream));
    launch(&density, stream, (dim3){2, 3, 4}, (dim3){32, 2, 1}, 128);
    CUDA(cudaMemsetAsync(memory, 7, 1024, stream));
    if (option("early"))
        CALL(cuptiActivityFlushAll, (uint32_t)number("early", 0));
    launch(&forces, NULL, (dim3){1, 1, 1}, (dim3){64, 1, 1}, 0);
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(host, memory, 2048, cudaMemcpyDeviceToHost));
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaFreeHost(host));
    CUDA(cudaFree(memory));
}

static void run_graph(void)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    void *memory = NULL;
    CUDA(cudaMalloc(&memory, 64));
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    launch(&density, stream, (dim3){8, 1, 1}, (dim3){16, 1, 1}, 0);
    CUDA(cudaMemsetAsync(memory, 1, 64, stream));
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaFree(memory));
}

static cudaGraphExec_t old_graph; /* made before anybody listens */

static void make_old_graph(void)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    launch(&forces, stream, (dim3){1, 1, 1}, (dim3){64, 1, 1}, 0);
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&old_graph, graph, 0));
}

static void run_old_graph(void)
{
    CUDA(cudaGraphLaunch(old_graph, NULL));
    CUDA(cudaDeviceSynchronize());
}

static void run_peers(void)
{
    int devices = 0;
    void *here = NULL, *there = NULL;
    CUDA(cudaGetDeviceCount(&devices));
    if (devices < 2)
        return;
    CUDA(cudaMalloc(&here, 256));
    CUDA(cudaSetDevice(1));
    CUDA(cudaMalloc(&there, 256));
    launch(&forces, NULL, (dim3){1, 1, 1}, (dim3){64, 1, 1}, 0);
    CUDA(cudaMemcpyPeerAsync(there, 1, here, 0, 256, NULL));
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaSetDevice(0));
}

static void run_more(void)
{
    void *memory = NULL;
    cudaMemPool_t pool;
    cudaEvent_t event;
    CUDA(cudaMallocAsync(&memory, 512, NULL));
    CUDA(cudaFreeAsync(memory, NULL));
    CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
    CUDA(cudaMemPoolTrimTo(pool, 0));
    CUDA(cudaEventCreate(&event));
    CUDA(cudaEventRecord(event, NULL));
    CUDA(cudaEventSynchronize(event));
    CUDA(cudaEventDestroy(event));
}

static void check_attributes(void)
{
    uint64_t value = 0;
    size_t size = 1;
    SAY("too short: %d", (int)cupti.cuptiActivityGetAttribute(0, &size, &value));
    size = sizeof value;
    CALL(cuptiActivityGetAttribute, SIM_ATTR_DEVICE_BUFFER_SIZE, &size, &value);
    SAY("device buffer %llu in %zu", (unsigned long long)value, size);
    SAY("no attribute: %d", (int)cupti.cuptiActivityGetAttribute(99, &size, &value));
    value = 0;
    CALL(cuptiActivityGetAttribute, SIM_ATTR_PER_THREAD_ACTIVITY_BUFFER, &size, &value);
    SAY("per thread %llu in %zu", (unsigned long long)value, size);
}

static void *run_thread(void *argument)
{
    (void)argument;
    for (int i = 0; i < 100; i++)
        launch(&forces, NULL, (dim3){1, 1, 1}, (dim3){64, 1, 1}, 0);
    CUDA(cudaDeviceSynchronize());
    return NULL;
}

static void run_threads(int count)
{
    pthread_t threads[16];
    for (int i = 0; i < count && i < 16; i++)
        pthread_create(&threads[i], NULL, run_thread, NULL);
    for (int i = 0; i < count && i < 16; i++)
        pthread_join(threads[i], NULL);
}

/* --- the tracer ---------------------------------------------------------------------------------
 */

static void subscribe(void)
{
    char other[64] = "";
    sim_subscriber_params params = {.structSize =
                                        option("v2") ? sizeof params : SIM_SUBSCRIBER_PARAMS_13_0,
                                    .subscriberName = "client",
                                    .oldSubscriberName = other,
                                    .oldSubscriberSize = sizeof other,
                                    .allowMultipleSubscribers = option("v2") != NULL};
    int32_t status = cupti.cuptiSubscribe_v2
                         ? cupti.cuptiSubscribe_v2(&subscriber, on_callback, &subscriber, &params)
                         : cupti.cuptiSubscribe(&subscriber, on_callback, &subscriber);
    expect("cuptiSubscribe", status);
    if (*other)
        SAY("owner %s", other);
}

static void subscribe_again(void)
{
    sim_subscriber_handle second = NULL;
    char other[64] = "";
    sim_subscriber_params params = {sizeof params, "second", other, sizeof other, 1, {0}};
    SAY("second: %d", (int)cupti.cuptiSubscribe(&second, on_callback, NULL));
    if (cupti.cuptiSubscribe_v2) {
        SAY("second: %d", (int)cupti.cuptiSubscribe_v2(&second, on_callback, NULL, &params));
        SAY("owner '%s'", other);
        SAY("a function of V1: %d", (int)cupti.cuptiActivityDisable(SIM_KIND_MEMCPY));
    }
}

static void set_attribute(uint32_t attribute, uint8_t value)
{
    size_t size = 1;
    if (option("v2"))
        CALL(cuptiActivitySetAttribute_v2, subscriber, attribute, &size, &value);
    else
        CALL(cuptiActivitySetAttribute, attribute, &size, &value);
}

static void enable(uint32_t kind, int dump)
{
    int32_t status;
    if (option("v2"))
        status = dump ? cupti.cuptiActivityEnableAndDump_v2(subscriber, kind, NULL)
                      : cupti.cuptiActivityEnable_v2(subscriber, kind, NULL);
    else
        status = dump ? cupti.cuptiActivityEnableAndDump(kind) : cupti.cuptiActivityEnable(kind);
    if (status)
        SAY("kind %u: %d", kind, (int)status);
}

static void enable_kinds(const char *kinds)
{
    while (kinds && *kinds) {
        int dump = *kinds == '+';
        char *end;
        enable((uint32_t)strtoul(kinds + dump, &end, 10), dump);
        kinds = *end ? end + 1 : end;
    }
}

static void start(void)
{
    CALL(cuptiSetThreadIdType, SIM_THREAD_ID_SYSTEM);
    if (option("shared"))
        set_attribute(SIM_ATTR_PER_THREAD_ACTIVITY_BUFFER, 0);
    if (option("zeroed") || option("dirty"))
        set_attribute(SIM_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, 1);
    if (option("clock"))
        CALL(cuptiActivityRegisterTimestampCallback, own_clock);
    if (option("v2"))
        CALL(cuptiActivityRegisterCallbacks_v2, subscriber, on_request_v2, on_complete_v2);
    else
        CALL(cuptiActivityRegisterCallbacks, on_request, on_complete);
    CALL(cuptiEnableDomain, 1, subscriber, SIM_DOMAIN_STATE);
    if (option("calls")) {
        CALL(cuptiEnableDomain, 1, subscriber, SIM_DOMAIN_RUNTIME);
        CALL(cuptiEnableDomain, 1, subscriber, SIM_DOMAIN_DRIVER);
    }
    if (option("attributes"))
        check_attributes();
    if (option("quiet"))
        CALL(cuptiActivityEnableRuntimeApi, (uint32_t)number("quiet", 0), 0);
    if (option("resources"))
        CALL(cuptiEnableDomain, 1, subscriber, SIM_DOMAIN_RESOURCE);
    if (option("waits"))
        CALL(cuptiEnableDomain, 1, subscriber, SIM_DOMAIN_SYNCHRONIZE);
    enable_kinds(option("kinds"));
}

static void flush(uint32_t flag)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    flusher = pthread_self();
    if (option("lock"))
        pthread_mutex_lock(&lock);
    CALL(cuptiActivityFlushAll, flag);
    if (option("lock"))
        pthread_mutex_unlock(&lock);
}

static void finish(void)
{
    size_t dropped = 0;
    flush((uint32_t)number("flush", 0));
    if (option("v2"))
        CALL(cuptiActivityGetNumDroppedRecords_v2, subscriber, NULL, 0, &dropped);
    else
        CALL(cuptiActivityGetNumDroppedRecords, NULL, 0, &dropped);
    if (dropped)
        SAY("dropped %zu", dropped);
    while (option("wait") && completions < requests) /* what comes later, from other threads */
        usleep(1000);
    if (!option("keep"))
        CALL(cuptiUnsubscribe, subscriber);
}

static void push_external(uint32_t kind, uint64_t id)
{
    if (option("v2"))
        CALL(cuptiActivityPushExternalCorrelationId_v2, subscriber, kind, id);
    else
        CALL(cuptiActivityPushExternalCorrelationId, kind, id);
}

static void run(void)
{
    uint64_t last = 0;
    if (option("external")) {
        push_external(SIM_EXTERNAL_CUSTOM0, 77);
        push_external(SIM_EXTERNAL_CUSTOM0 + 1, 78);
    }
    run_streams();
    if (option("external") && !option("v2")) {
        CALL(cuptiActivityPopExternalCorrelationId, SIM_EXTERNAL_CUSTOM0, &last);
        CALL(cuptiActivityPopExternalCorrelationId, SIM_EXTERNAL_CUSTOM0 + 1, &last);
        SAY("pop %d", (int)cupti.cuptiActivityPopExternalCorrelationId(SIM_EXTERNAL_CUSTOM0, NULL));
    }
    run_graph();
    if (old_graph)
        run_old_graph();
    run_peers();
    run_threads((int)number("threads", 0));
    if (option("more"))
        run_more();
}

static void flush_in_child(void)
{
    pid_t child = fork();
    if (child == 0) {
        alarm(1); /* it hangs */
        cupti.cuptiActivityFlushAll(0);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    SAY("child ended by signal %d", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

/* Lines in the order of their texts with the correlation first: equal runs print equal lines. */
static int compare(const void *a, const void *b)
{
    const char *left = strchr(a, '#'), *right = strchr(b, '#');
    long first = left ? strtol(left + 1, NULL, 10) : -1;
    long second = right ? strtol(right + 1, NULL, 10) : -1;
    return first != second ? (first > second) - (first < second) : strcmp(a, b);
}

static void print_lines(void)
{
    int count = line_count < MAX_LINES ? line_count : MAX_LINES;
    qsort(lines, (size_t)count, LINE_BYTES, compare);
    for (int i = 0; i < count; i++)
        puts(lines[i]);
    if (option("counts"))
        printf("records %d requests %d completions %d by flusher %d\n", records, requests,
               completions, completed_by_flusher);
    if (wrong_steps)
        printf("%d external correlations not before their calls\n", wrong_steps);
}

int main(int argc, char **argv)
{
    options = argv + 2;
    if (argc < 2 || !cupti_client_open(&cupti, argv[1])) {
        fprintf(stderr, "usage: prog_cupti_client LIBRARY [OPTION]...\n");
        return 2;
    }
    sim_register_kernel(&density, "_Z7densityPfi");
    sim_register_kernel(&forces, "_Z6forcesPf");
    if (option("late"))
        run_streams();
    if (option("old"))
        make_old_graph();
    subscribe();
    if (subscriber)
        start();
    if (option("second"))
        subscribe_again();
    run();
    if (option("fork"))
        flush_in_child();
    if (subscriber)
        finish();
    if (option("exit")) /* the stand-in completes buffers after this */
        atexit(print_lines);
    else
        print_lines();
    return 0;
}
