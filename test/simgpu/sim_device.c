/* Devices and contexts. */
#include "sim_core.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sim_device devices[SIM_MAX_DEVICES];
static int device_count;
static atomic_bool is_initialised;
static uint32_t last_context_id;

/* What differs between the generations that can be asked for; NVIDIA's published limits. */
static const struct {
    uint32_t major, minor, threads, blocks, shared_kib;
} generations[] = {
    {7, 5, 1024, 16, 64},  {8, 0, 2048, 32, 164}, {8, 6, 1536, 16, 100},
    {8, 9, 1536, 24, 100}, {9, 0, 2048, 32, 228}, {10, 0, 2048, 32, 228},
};

static void fill_limits(sim_device_info *info, int64_t capability)
{
    info->major = (uint32_t)(capability / 10);
    info->minor = (uint32_t)(capability % 10);
    size_t i = sizeof generations / sizeof *generations - 1;
    while (i > 0 && generations[i].major * 10 + generations[i].minor > capability)
        i--;
    info->max_threads_per_multiprocessor = generations[i].threads;
    info->max_blocks_per_multiprocessor = generations[i].blocks;
    info->shared_per_multiprocessor = generations[i].shared_kib * 1024;
    info->reserved_shared_per_block = info->major >= 8 ? 1024 : 0;
    info->shared_per_block_optin =
        info->shared_per_multiprocessor - info->reserved_shared_per_block;
}

static void fill_device(sim_device_info *info, int device)
{
    const char *name = sim_option("device.name");
    snprintf(info->name, sizeof info->name, "%s %d", name ? name : "Takt simulated GPU", device);
    memcpy(info->uuid, "takt simulated", 14);
    info->uuid[15] = (uint8_t)device;
    snprintf(info->pci_bus_id, sizeof info->pci_bus_id, "0000:%02X:00.0", (device + 1) & 0xFFu);
    fill_limits(info, sim_option_on("device.capability", device, 89));
    info->multiprocessors = (uint32_t)sim_option_on("device.multiprocessors", device, 128);
    info->warp_size = 32;
    info->max_threads_per_block = 1024;
    info->registers_per_block = info->registers_per_multiprocessor = 65536;
    info->shared_per_block = 48 * 1024;
    info->constant_bytes = 64 * 1024;
    info->l2_bytes = 64 << 20;
    info->clock_khz = (uint32_t)sim_option_on("device.clock", device, 2520000);
    info->memory_clock_khz = (uint32_t)sim_option_on("device.memory_clock", device, 10501000);
    info->memory_bus_bits = 384;
    info->copy_engines = 2;
    memcpy(info->max_block, (const uint32_t[]){1024, 1024, 64}, sizeof info->max_block);
    memcpy(info->max_grid, (const uint32_t[]){0x7FFFFFFF, 65535, 65535}, sizeof info->max_grid);
    info->memory_bytes = (uint64_t)sim_option_on("device.memory", device, 24ll << 30);
    info->memory_bandwidth_kb = 2ull * info->memory_clock_khz * info->memory_bus_bits / 8;
}

static void make_devices(void)
{
    int64_t count = sim_option_number("devices", 1);
    device_count = count < 0 ? 0 : count > SIM_MAX_DEVICES ? SIM_MAX_DEVICES : (int)count;
    for (int i = 0; i < device_count; i++)
        fill_device(&devices[i].info, i);
}

static void inject(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    if (!path || !*path || strcmp(path, "none") == 0)
        return;
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    union {
        void *symbol;
        int (*call)(void);
    } initialise = {.symbol = library ? dlsym(library, "InitializeInjection") : NULL};
    if (initialise.symbol)
        initialise.call();
}

static void initialise_once(void)
{
    make_devices();
    inject();
    /* release: pairs with the acquire in sim_is_initialised() */
    atomic_store_explicit(&is_initialised, device_count > 0, memory_order_release);
    if (device_count > 0)
        sim_add_resource(&(sim_resource){.kind = SIM_INIT_FINISHED});
}

static bool is_forked; /* in a child of a process that has called cuInit() */

static void forget_in_child(void)
{
    sim_unlock();
    is_forked = sim_is_initialised();
    atomic_store_explicit(&is_initialised, false, memory_order_release);
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(sim_lock, sim_unlock, forget_in_child);
}

int sim_initialise(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (is_forked)
        return SIM_NOT_INITIALIZED;
    pthread_once(&once, initialise_once);
    return device_count ? SIM_OK : SIM_NO_DEVICE;
}

bool sim_is_initialised(void)
{
    return atomic_load_explicit(&is_initialised, memory_order_acquire);
}

int sim_device_count(void)
{
    return device_count;
}

sim_device *sim_device_of(int device)
{
    return device >= 0 && device < device_count ? &devices[device] : NULL;
}

const sim_device_info *sim_device_info_of(int device)
{
    const sim_device *found = sim_device_of(device);
    return found ? &found->info : NULL;
}

/* Contexts --------------------------------------------------------------------------------------
 */

static sim_context *create(int device)
{
    sim_context *context = sim_new(sizeof *context);
    context->id = ++last_context_id;
    context->device = (uint32_t)device;
    context->next_stream_id = SIM_NULL_STREAM_ID;
    sim_stream *legacy = sim_new(sizeof *legacy);
    legacy->context = context;
    legacy->id = context->next_stream_id;
    legacy->is_default = true;
    context->next_stream_id = 13;
    context->legacy = legacy;
    context->streams = sim_grow(NULL, 0, sizeof *context->streams);
    context->streams[context->stream_count++] = legacy;
    sim_born(legacy, SIM_A_STREAM);
    sim_born(context, SIM_A_CONTEXT);
    sim_add_resource(&(sim_resource){.kind = SIM_CONTEXT_CREATED, .context = context});
    return context;
}

static void forget_event(void *handle, void *context)
{
    if (((sim_event *)handle)->context == context)
        ((sim_event *)handle)->context = NULL;
}

/* Everything of the context dies with it; its streams' handles are not alive any more. */
static void destroy(sim_context *context)
{
    sim_add_resource(&(sim_resource){.kind = SIM_CONTEXT_DESTROY_STARTING, .context = context});
    sim_tell();
    sim_lock();
    while (context->stream_count)
        sim_stream_kill(context->streams[context->stream_count - 1]);
    sim_memory_forget(context);
    sim_each(SIM_AN_EVENT, forget_event, context);
    sim_died(context);
    sim_unlock();
    free(context->streams);
    free(context);
}

int sim_context_create(int device, sim_context **out)
{
    if (!sim_device_of(device))
        return SIM_INVALID_DEVICE;
    sim_lock();
    *out = create(device);
    sim_unlock();
    return sim_context_push(*out);
}

int sim_context_destroy(sim_context *context)
{
    sim_lock();
    bool is_ours = sim_is(context, SIM_A_CONTEXT) && !context->is_primary;
    uint64_t ready_ns = is_ours ? sim_context_ready(context) : 0;
    sim_unlock();
    if (!is_ours)
        return SIM_INVALID_CONTEXT;
    sim_wait_until(ready_ns);
    sim_thread *thread = sim_this_thread();
    if (thread->context_count && thread->contexts[thread->context_count - 1] == context)
        thread->context_count--;
    destroy(context);
    return SIM_OK;
}

/* A context that has died is not current any more, on any thread. */
sim_context *sim_context_here(void)
{
    const sim_thread *thread = sim_this_thread();
    if (!thread->context_count)
        return NULL;
    sim_context *context = thread->contexts[thread->context_count - 1];
    return sim_is(context, SIM_A_CONTEXT) ? context : NULL;
}

sim_context *sim_context_get(void)
{
    sim_lock();
    sim_context *context = sim_context_here();
    sim_unlock();
    return context;
}

void *sim_current_context(void)
{
    return sim_context_get();
}

int sim_context_set(sim_context *context)
{
    sim_thread *thread = sim_this_thread();
    if (!thread->context_count)
        thread->context_count = 1;
    thread->contexts[thread->context_count - 1] = context;
    return SIM_OK;
}

int sim_context_push(sim_context *context)
{
    sim_thread *thread = sim_this_thread();
    if (thread->context_count == sizeof thread->contexts / sizeof *thread->contexts)
        return SIM_INVALID_VALUE;
    thread->contexts[thread->context_count++] = context;
    return SIM_OK;
}

int sim_context_pop(sim_context **out)
{
    sim_thread *thread = sim_this_thread();
    if (!thread->context_count)
        return SIM_INVALID_CONTEXT;
    sim_context *context = thread->contexts[--thread->context_count];
    if (out)
        *out = context;
    return SIM_OK;
}

int sim_context_device(sim_context *context, int *device)
{
    context = context ? context : sim_context_get();
    sim_lock();
    bool is_alive = sim_is(context, SIM_A_CONTEXT);
    if (is_alive)
        *device = (int)context->device;
    sim_unlock();
    return is_alive ? SIM_OK : SIM_INVALID_CONTEXT;
}

uint64_t sim_context_ready(const sim_context *context)
{
    uint64_t ready_ns = context->ready_ns;
    for (size_t i = 0; i < context->stream_count; i++) {
        if (context->streams[i]->ready_ns > ready_ns)
            ready_ns = context->streams[i]->ready_ns;
    }
    return ready_ns;
}

int sim_context_synchronize(sim_context *context)
{
    uint64_t begin_ns = sim_time_ns();
    context = context ? context : sim_context_get();
    sim_lock();
    int status = sim_is(context, SIM_A_CONTEXT) ? sim_capture_refuse(context) : SIM_INVALID_CONTEXT;
    uint64_t ready_ns = status ? 0 : sim_context_ready(context);
    sim_unlock();
    if (status)
        return status;
    sim_wait_until(ready_ns);
    sim_lock();
    sim_pools_rest(context->device);
    sim_unlock();
    sim_wait_record(4, begin_ns, context->id, SIM_NO_STREAM, SIM_NO_STREAM, 0);
    return SIM_OK;
}

static sim_profiling profiling; /* with the lock */

int sim_profiling_switch(bool is_on)
{
    sim_context *context = sim_context_get();
    sim_lock();
    bool is_alive = sim_is(context, SIM_A_CONTEXT);
    if (is_alive)
        context->is_profiled = is_on;
    *(is_on ? &profiling.starts : &profiling.stops) += is_alive;
    sim_unlock();
    return is_alive ? SIM_OK : SIM_INVALID_CONTEXT;
}

sim_profiling sim_profiling_now(void)
{
    sim_context *context = sim_context_get();
    sim_lock();
    sim_profiling now = profiling;
    now.is_on = sim_is(context, SIM_A_CONTEXT) && context->is_profiled;
    sim_unlock();
    return now;
}

int sim_primary_retain(int device, sim_context **out)
{
    sim_device *found = sim_device_of(device);
    if (!found)
        return SIM_INVALID_DEVICE;
    sim_lock();
    if (!found->primary) {
        found->primary = create(device);
        found->primary->is_primary = true;
    }
    found->primary_users++;
    *out = found->primary;
    sim_unlock();
    return SIM_OK;
}

static int reset_primary(int device, bool only_last)
{
    sim_device *found = sim_device_of(device);
    if (!found)
        return SIM_INVALID_DEVICE;
    sim_lock();
    sim_context *context = found->primary;
    if (only_last && found->primary_users > 0 && --found->primary_users > 0)
        context = NULL;
    int status = context ? sim_capture_refuse(context) : SIM_OK;
    uint64_t ready_ns = context ? sim_context_ready(context) : 0;
    if (context && !status) {
        found->primary = NULL;
        found->primary_users = 0;
    }
    sim_unlock();
    if (!context || status)
        return status;
    sim_wait_until(ready_ns);
    destroy(context);
    return SIM_OK;
}

int sim_primary_release(int device)
{
    return reset_primary(device, true);
}
int sim_primary_reset(int device)
{
    sim_mend();
    return reset_primary(device, false);
}

int sim_primary_is_active(int device, bool *is_active)
{
    const sim_device *found = sim_device_of(device);
    if (!found)
        return SIM_INVALID_DEVICE;
    sim_lock();
    *is_active = found->primary != NULL;
    sim_unlock();
    return SIM_OK;
}

/* What the sink asks for --------------------------------------------------------------------- */

static void describe(const sim_context *context, sim_context_info *out)
{
    *out = (sim_context_info){
        .handle = (void *)(uintptr_t)context,
        .id = context->id,
        .device = context->device,
        .null_stream_id = SIM_NULL_STREAM_ID,
    };
}

bool sim_context_of(void *context, sim_context_info *out)
{
    context = context ? context : sim_context_get();
    sim_lock();
    bool is_alive = sim_is(context, SIM_A_CONTEXT);
    if (is_alive)
        describe(context, out);
    sim_unlock();
    return is_alive;
}

typedef struct sim_contexts {
    sim_context_info *items;
    size_t count;
} sim_contexts;

static void add_context(void *handle, void *data)
{
    sim_contexts *contexts = data;
    contexts->items = sim_grow(contexts->items, contexts->count, sizeof *contexts->items);
    describe(handle, &contexts->items[contexts->count++]);
}

static int by_id(const void *a, const void *b)
{
    const sim_context_info *first = a;
    const sim_context_info *second = b;
    return (first->id > second->id) - (first->id < second->id);
}

void sim_each_context(void (*visit)(const sim_context_info *context, void *data), void *data)
{
    sim_contexts contexts = {NULL, 0};
    sim_lock();
    sim_each(SIM_A_CONTEXT, add_context, &contexts);
    sim_unlock();
    if (contexts.count)
        qsort(contexts.items, contexts.count, sizeof *contexts.items, by_id);
    for (size_t i = 0; i < contexts.count; i++)
        visit(&contexts.items[i], data);
    free(contexts.items);
}
