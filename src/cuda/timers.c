/* Timers inside kernels: their memory, and views for launches.
 *
 * A view carries a number. The thread that makes it remembers the number until its next launch,
 * whose correlation id then belongs to the view. Both are in a table indexed by the lowest bits
 * of the number: a batch is collected soon after its launches, long before the entry is used again.
 * The number in an entry tells if it was. */
#include "cuda/timers.h"

#include "base/error.h"
#include "base/lock.h"
#include "base/own.h"
#include "base/thread.h"
#include "cuda/cuda.h"

#include <takt/scope.h>

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_BLOCKS  1024u
#define DEFAULT_RECORDS 64u
#define MOST_BYTES      ((uint64_t)1 << 32)
#define VIEWS           16384u /* untouched pages of the table cost nothing */

typedef struct view_entry {
    _Atomic(uint64_t) made_ns;
    _Atomic(uint64_t) heard;  /* tkt_calls_heard() when it was made */
    _Atomic(uint64_t) launch; /* number << 32 | correlation */
} view_entry;

static view_entry views[VIEWS];
static _Atomic(uint32_t) last_view;
static _Thread_local uint32_t waiting_view; /* for this thread's next launch; 0: none */

static tkt_mutex list_lock = TKT_MUTEX_INIT;
takt_device_timers *tkt_timers_all; /* list_lock; newest first */
static uint64_t last_id;            /* list_lock */

/* ---- Views ----------------------------------------------------------------------------------- */

uint64_t tkt_calls_heard(void)
{
    uint32_t last = tkt_cuda_last_correlation();
    return last && tkt_timers_are_recording() ? (uint64_t)1 << 32 | last : 0;
}

static uint32_t new_view(void)
{
    uint32_t number;
    do
        number = atomic_fetch_add_explicit(&last_view, 1, memory_order_relaxed) + 1;
    while (number == 0);
    view_entry *entry = &views[number % VIEWS];
    atomic_store_explicit(&entry->made_ns, takt_now_ns(), memory_order_relaxed);
    atomic_store_explicit(&entry->heard, tkt_calls_heard(), memory_order_relaxed);
    /* release: pairs with the acquire in tkt_view_launch() */
    atomic_store_explicit(&entry->launch, (uint64_t)number << 32, memory_order_release);
    return number;
}

takt_device_view takt_device_timers_view(takt_device_timers *timers)
{
    takt_device_view view = {0};
    bool is_recording = tkt_timers_are_recording();
    if (!timers || !__atomic_load_n(&timers->is_enabled, __ATOMIC_RELAXED) ||
        !(is_recording || timers->options.always))
        return view;
    view.pool = timers->pool;
    view.records = timers->options.records;
    view.segments = timers->options.blocks;
    view.lanes = timers->options.lanes;
    view.every = timers->options.every;
    view.number = new_view();
    if (is_recording && !timers->options.on_host)
        waiting_view = view.number;
    return view;
}

/* True for calls that launch one kernel, by CUDA's names and for marks: see tkt_cuda_call. */
static bool launches_kernel(const char *call)
{
    return !strstr(call, "Graph") && (strstr(call, "Launch") || strstr(call, "LAUNCH"));
}

void tkt_timers_launched(const char *call, uint32_t correlation)
{
    uint32_t number = waiting_view;
    if (number == 0 || !launches_kernel(call))
        return;
    waiting_view = 0;
    uint64_t expected = (uint64_t)number << 32;
    /* release: pairs with the acquire in tkt_view_launch() */
    atomic_compare_exchange_strong_explicit(&views[number % VIEWS].launch, &expected,
                                            expected | correlation, memory_order_release,
                                            memory_order_relaxed);
}

void tkt_view_launch(uint32_t view, tkt_phase_lane *lane)
{
    view_entry *entry = &views[view % VIEWS];
    /* acquire: pairs with the releases above */
    uint64_t launch = atomic_load_explicit(&entry->launch, memory_order_acquire);
    if (launch >> 32 != view || view == 0)
        return;
    uint64_t made_ns = atomic_load_explicit(&entry->made_ns, memory_order_relaxed);
    uint64_t heard = atomic_load_explicit(&entry->heard, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&entry->launch, memory_order_relaxed) >> 32 != view)
        return; /* another view has its place now */
    lane->view_ns = made_ns;
    lane->after = heard;
    lane->correlation = (uint32_t)launch;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static takt_status host_pool(takt_device_timers *timers)
{
    timers->pool = tkt_alloc_zeroed(timers->bytes);
    return timers->pool ? TAKT_OK : TAKT_NO_MEMORY;
}

static bool has_functions(const tkt_driver *driver)
{
#define AT(member) offsetof(tkt_driver, member)
    static const uint16_t needed[] = {AT(memory_alloc),   AT(memory_free),       AT(pinned_alloc),
                                      AT(pinned_free),    AT(memory_zero),       AT(copy_to_host),
                                      AT(copy_on_device), AT(event_create),      AT(event_record),
                                      AT(event_query),    AT(event_synchronize), AT(event_destroy),
                                      AT(stream_create),  AT(stream_destroy)};
#undef AT
    for (size_t i = 0; driver && i < sizeof needed / sizeof *needed; i++) {
        void *function;
        memcpy(&function, (const char *)driver + needed[i], sizeof function);
        if (!function)
            return false;
    }
    return driver != NULL;
}

/* Clears the pool on a stream of its own. The legacy stream cannot be used while another thread
 * captures, and kernels on some streams would not wait for it. */
static int clear(const tkt_driver *driver, takt_device_timers *timers)
{
    void *stream = NULL, *event = timers->reads[0].event;
    int result = driver->stream_create(&stream, TKT_STREAM_NON_BLOCKING);
    if (result == TKT_CUDA_SUCCESS)
        result = driver->memory_zero((uintptr_t)timers->pool, 0, timers->bytes, stream);
    if (result == TKT_CUDA_SUCCESS)
        result = driver->event_record(event, stream);
    if (result == TKT_CUDA_SUCCESS)
        result = driver->event_synchronize(event);
    if (stream)
        driver->stream_destroy(stream);
    return result;
}

/* With the timers' context current. */
static int allocate(const tkt_driver *driver, takt_device_timers *timers)
{
    uint64_t address = 0;
    int result = driver->memory_alloc(&address, timers->bytes);
    timers->pool = (takt_device_pool *)(uintptr_t)address;
    for (uint32_t i = 0; i < TKT_TIMER_READS && result == TKT_CUDA_SUCCESS; i++) {
        result = driver->pinned_alloc(&timers->reads[i].memory, timers->bytes);
        timers->reads[i].event = tkt_event_take(driver, &timers->context, false);
        if (!timers->reads[i].event)
            result = TKT_CUDA_OUT_OF_MEMORY;
    }
    return result == TKT_CUDA_SUCCESS ? clear(driver, timers) : result;
}

static takt_status device_pool(takt_device_timers *timers)
{
    int device, khz = 0, handle;
    const tkt_driver *driver = tkt_cuda_is_used() ? tkt_driver_get() : NULL;
    if (!has_functions(driver))
        return TAKT_UNSUPPORTED;
    if (!tkt_event_context_of(driver, NULL, &timers->context) ||
        driver->context_device(&device) != TKT_CUDA_SUCCESS)
        return TAKT_BAD_STATE;
    for (uint32_t i = 0; tkt_driver_device(driver, i, &handle); i++)
        if (handle == device)
            timers->ordinal = i;
    driver->device_attribute(&khz, TKT_ATTRIBUTE_CLOCK_RATE, device);
    timers->ns_per_cycle = khz > 0 ? 1e6 / khz : 1.0;
    tkt_driver_call call = tkt_driver_begin(driver);
    int result = allocate(driver, timers);
    tkt_driver_end(driver, call);
    return tkt_event_status(result);
}

static void free_device_pool(takt_device_timers *timers)
{
    const tkt_driver *driver = tkt_driver_get();
    void *current;
    if (!driver || !tkt_event_context_push(driver, &timers->context))
        return; /* the context, and the memory with it, is gone */
    tkt_driver_call call = tkt_driver_begin(driver);
    if (timers->pool)
        driver->memory_free((uintptr_t)timers->pool);
    for (uint32_t i = 0; i < TKT_TIMER_READS; i++) {
        if (timers->reads[i].memory)
            driver->pinned_free(timers->reads[i].memory);
        tkt_event_give(driver, timers->context.key, false, timers->reads[i].event);
    }
    tkt_driver_end(driver, call);
    driver->context_pop(&current);
}

/* ---- Timers ---------------------------------------------------------------------------------- */

static takt_status copy_names(takt_device_timers *timers, const char *const *names, uint32_t count)
{
    const char *name = timers->options.name;
    timers->options.name = tkt_copy_string(name ? name : "phases");
    timers->phases = tkt_alloc_zeroed(count * sizeof *timers->phases);
    if (!timers->options.name || !timers->phases)
        return TAKT_NO_MEMORY;
    timers->phase_count = count;
    for (uint32_t i = 0; i < count; i++)
        if (!(timers->phases[i] = tkt_copy_string(names[i])))
            return TAKT_NO_MEMORY;
    return TAKT_OK;
}

/* Returns what is wrong with the names and options; NULL if nothing is. */
static const char *fault_of(const char *const *names, uint32_t count,
                            const takt_device_timers_options *options)
{
    for (uint32_t i = 0; i < count; i++)
        if (!names[i])
            return "a phase has no name";
    if (options->lanes > TAKT_DEVICE_THREADS)
        return "lanes is none of takt_device_lanes";
    if (!(options->ns_per_cycle >= 0 && options->ns_per_cycle <= 1e9))
        return "ns_per_cycle must be above 0 and at most 1e9, or 0 for a measured rate";
    return NULL;
}

/* Fills in defaults. False for sizes that no device has. */
static bool set_size(takt_device_timers *timers)
{
    takt_device_timers_options *options = &timers->options;
    options->blocks = options->blocks ? options->blocks : DEFAULT_BLOCKS;
    options->records = options->records ? options->records : DEFAULT_RECORDS;
    uint64_t stride =
        sizeof(takt_device_segment) + (uint64_t)options->records * sizeof(takt_device_record);
    if (stride > MOST_BYTES / options->blocks)
        return false;
    timers->bytes = sizeof(takt_device_pool) + (size_t)(options->blocks * stride);
    return true;
}

static void free_timers(takt_device_timers *timers)
{
    for (uint32_t i = 0; i < timers->phase_count; i++)
        tkt_free(timers->phases[i]);
    tkt_free(timers->phases);
    tkt_free((void *)(uintptr_t)timers->options.name);
    tkt_free(timers);
}

static void free_pool(takt_device_timers *timers)
{
    if (timers->options.on_host)
        tkt_free(timers->pool);
    else
        free_device_pool(timers);
    timers->pool = NULL;
}

static void enlist(takt_device_timers *timers)
{
    tkt_mutex_lock(&list_lock);
    timers->id = ++last_id;
    timers->next = tkt_timers_all;
    __atomic_store_n(&tkt_timers_all, timers, __ATOMIC_RELAXED);
    tkt_mutex_unlock(&list_lock);
}

static takt_status create(const char *const *names, uint32_t count, takt_device_timers *timers)
{
    timers->references = 1;
    timers->is_enabled = true;
    timers->created_ns = takt_now_ns();
    timers->created_ticks = takt_ticks();
    const char *fault = fault_of(names, count, &timers->options);
    if (!fault && !set_size(timers))
        fault = "no device has blocks * (64 + 16 * records) bytes";
    if (fault) {
        tkt_log(TAKT_LOG_ERROR, "no timers inside kernels: %s", fault);
        timers->options.name = NULL; /* the caller's */
        return TAKT_BAD_ARGUMENT;
    }
    takt_status status = copy_names(timers, names, count);
    if (status == TAKT_OK)
        status = timers->options.on_host ? host_pool(timers) : device_pool(timers);
    return status;
}

takt_status takt_device_timers_create(const char *const *names, uint32_t count,
                                      const takt_device_timers_options *options,
                                      takt_device_timers **out)
{
    TKT_OWN_WORK;
    if (!names || count == 0 || count > TAKT_DEVICE_PHASES || !out)
        return TAKT_BAD_ARGUMENT;
    if (tkt_process_is_disabled())
        return TAKT_BAD_STATE;
    takt_device_timers *timers = tkt_alloc_zeroed(sizeof *timers);
    if (!timers)
        return TAKT_NO_MEMORY;
    takt_status status = tkt_options_read(&timers->options, sizeof timers->options, options,
                                          "TAKT_DEVICE_TIMERS_OPTIONS_INIT");
    if (status == TAKT_OK)
        status = create(names, count, timers);
    else
        timers->options.name = NULL;
    if (status != TAKT_OK) {
        free_pool(timers);
        free_timers(timers);
        return status;
    }
    enlist(timers);
    *out = timers;
    return TAKT_OK;
}

void takt_device_timers_enable(takt_device_timers *timers, bool enable)
{
    if (timers)
        __atomic_store_n(&timers->is_enabled, enable, __ATOMIC_RELAXED);
}

void takt_device_timers_destroy(takt_device_timers *timers)
{
    if (!timers || tkt_process_is_disabled())
        return;
    tkt_mutex_lock(&list_lock);
    takt_device_timers **at = &tkt_timers_all;
    while (*at != timers)
        at = &(*at)->next;
    __atomic_store_n(at, timers->next, __ATOMIC_RELAXED);
    tkt_mutex_unlock(&list_lock);
    tkt_timers_end_reads(timers);
    free_pool(timers);
    tkt_timers_forget_latest(timers);
    tkt_timers_drop(timers);
}

void tkt_timers_hold(takt_device_timers *timers)
{
    __atomic_fetch_add(&timers->references, 1, __ATOMIC_RELAXED);
}

void tkt_timers_drop(takt_device_timers *timers)
{
    /* acq_rel: the last thread sees what the others did */
    if (__atomic_sub_fetch(&timers->references, 1, __ATOMIC_ACQ_REL) == 0)
        free_timers(timers);
}

takt_device_timers *tkt_timers_next(takt_device_timers *last)
{
    takt_device_timers *next = NULL;
    if (!last && !tkt_timers_exist())
        return NULL;
    tkt_mutex_lock(&list_lock);
    for (takt_device_timers *t = tkt_timers_all; t && (!last || t->id > last->id); t = t->next)
        next = t;
    if (next)
        tkt_timers_hold(next);
    tkt_mutex_unlock(&list_lock);
    if (last)
        tkt_timers_drop(last);
    return next;
}
