/* The driver's functions, found with dlsym, and walks over all live contexts. These are the active
 * primary contexts of devices, and the contexts whose creation a callback reported. */
#include "cuda/driver.h"
#include "cuda/collector.h"

#include "base/dynlib.h"
#include "base/thread.h"

#include <takt/scope.h>

#include <stdatomic.h>
#include <string.h>

#define MAX_CONTEXTS 128

static tkt_mutex driver_lock = TKT_MUTEX_INIT; /* held while loading only */
static tkt_driver driver_table;
static _Atomic(const tkt_driver *) the_driver;
static bool is_forgotten; /* set while there is only one thread */
static _Atomic(void *) known_contexts[MAX_CONTEXTS];
static _Atomic(uint32_t) visitors; /* threads in tkt_driver_visit() */

static bool look_up(void *library)
{
#define PLACE(member, symbol, is_required, parameters)                                             \
    {#symbol, is_required, offsetof(tkt_driver, member)},
    static const struct {
        char symbol[35]; /* no pointers, which would need relocating */
        bool is_required;
        uint16_t offset;
    } places[] = {TKT_DRIVER_FUNCTION_LIST(PLACE)};
#undef PLACE
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        void *address = tkt_library_symbol(library, places[i].symbol);
        if (!address && places[i].is_required)
            return false;
        memcpy((char *)&driver_table + places[i].offset, &address, sizeof address);
    }
    return true;
}

const tkt_driver *tkt_driver_get(void)
{
    /* acquire: pairs with the release below */
    const tkt_driver *driver = atomic_load_explicit(&the_driver, memory_order_acquire);
    if (driver || is_forgotten)
        return driver;
    void *library = tkt_library_open("libcuda.so.1");
    if (!library)
        return NULL;
    tkt_mutex_lock(&driver_lock);
    driver = atomic_load_explicit(&the_driver, memory_order_relaxed);
    if (!driver && look_up(library)) {
        driver = &driver_table;
        /* release: pairs with the acquire above */
        atomic_store_explicit(&the_driver, driver, memory_order_release);
    }
    tkt_mutex_unlock(&driver_lock);
    return driver;
}

void tkt_driver_forget(void)
{
    is_forgotten = true;
    atomic_store_explicit(&the_driver, NULL, memory_order_relaxed);
}

tkt_driver_call tkt_driver_begin(const tkt_driver *driver)
{
    tkt_driver_call call = {takt_thread_hot_v1.device_call, TKT_CAPTURE_MODE_RELAXED};
    takt_thread_hot_v1.device_call |= TKT_OWN_CALL;
    if (!driver->capture_mode || driver->capture_mode(&call.capture_mode) != TKT_CUDA_SUCCESS)
        call.capture_mode = -1;
    return call;
}

void tkt_driver_end(const tkt_driver *driver, tkt_driver_call call)
{
    if (call.capture_mode >= 0)
        driver->capture_mode(&call.capture_mode);
    takt_thread_hot_v1.device_call = call.outer_call;
}

bool tkt_driver_device(const tkt_driver *driver, uint32_t ordinal, int *handle)
{
    int count = 0;
    driver->device_count(&count);
    return ordinal < (uint32_t)count &&
           driver->device_get(handle, (int)ordinal) == TKT_CUDA_SUCCESS;
}

void tkt_driver_read_device(const tkt_driver *driver, int device, tkt_device *out)
{
#define ATTRIBUTE(field, name, number) {number, offsetof(tkt_device, field)},
    static const struct {
        int attribute;
        uint32_t offset;
    } fields[] = {TKT_DEVICE_ATTRIBUTE_LIST(ATTRIBUTE)};
#undef ATTRIBUTE
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        int value;
        if (driver->device_attribute(&value, fields[i].attribute, device) == TKT_CUDA_SUCCESS)
            memcpy((char *)out + fields[i].offset, &value, sizeof value);
    }
    size_t bytes;
    if (driver->device_memory && driver->device_memory(&bytes, device) == TKT_CUDA_SUCCESS)
        out->memory_bytes = bytes;
}

/* The decoder may have added this device already: its ordinal and label stay. */
static void store_device(tkt_store *store, uint32_t ordinal, const tkt_device *facts,
                         const char *name)
{
    tkt_mutex_lock(&store->lock);
    tkt_device *device = tkt_store_device(store, ordinal);
    uint32_t name_id = tkt_strtab_intern_text(&store->strings, name);
    if (device) {
        uint32_t label = device->label;
        *device = *facts;
        device->ordinal = ordinal;
        device->label = label;
        device->name = name_id == TKT_STRTAB_FULL ? 0 : name_id;
    }
    tkt_mutex_unlock(&store->lock);
}

int tkt_driver_read_devices(const tkt_driver *driver, tkt_store *store)
{
    int count, handle;
    for (uint32_t i = 0; tkt_driver_device(driver, i, &handle); i++) {
        char name[128] = "";
        tkt_device device = {0};
        driver->device_name(name, sizeof name - 1, handle);
        tkt_driver_read_device(driver, handle, &device);
        store_device(store, i, &device, name);
    }
    return driver->device_count(&count);
}

#define MOST_TURNS 1000u /* of a millisecond each */

/* A walk counts itself before it loads a handle, and this takes the handle away before it looks for
 * walks: both with sequential consistency. A walk may itself destroy a context that it was the last
 * to retain. */
void tkt_driver_replace_context(void *old, void *new)
{
    bool is_replaced = false;
    for (size_t i = 0; !is_replaced && i < MAX_CONTEXTS; i++) {
        void *expected = old;
        is_replaced = atomic_compare_exchange_strong(&known_contexts[i], &expected, new);
    }
    bool is_visitor = (takt_thread_hot_v1.device_call & TKT_OWN_CALL) != 0;
    for (uint32_t turn = 0; old && !is_visitor && atomic_load(&visitors) > 0 && turn < MOST_TURNS;
         turn++)
        tkt_thread_pause_ms(1);
}

/* By cuda.h these are a kernel's illegal address, time-out, assertion, stack, instruction,
 * alignment, address space, program counter, unspecified failure; and CUDA_ERROR_UNKNOWN. */
bool tkt_driver_is_sticky(int status)
{
    return status == 700 || status == 702 || status == 710 || (status >= 714 && status <= 719) ||
           status == 999;
}

typedef struct context_walk {
    const tkt_driver *driver;
    tkt_context_visitor visitor;
    void *user;
    bool is_end;
    bool is_broken; /* a call had a sticky error */
} context_walk;

static bool succeeded(context_walk *w, int status)
{
    w->is_broken |= tkt_driver_is_sticky(status);
    return status == TKT_CUDA_SUCCESS;
}

static void visit(context_walk *w, void *context)
{
    if (!context || !succeeded(w, w->driver->context_push(context)))
        return;
    w->is_end = w->visitor(w->driver, w->user);
    w->driver->context_pop(&context);
}

/* Retains the primary context meanwhile. It is active, so this initialises nothing. */
static void visit_primary(context_walk *w, int device)
{
    unsigned flags;
    int is_active = 0;
    void *context;
    int status = w->driver->primary_state(device, &flags, &is_active);
    if (is_active)
        status = w->driver->primary_retain(&context, device);
    if (!succeeded(w, status) || !is_active)
        return;
    visit(w, context);
    w->driver->primary_release(device);
}

bool tkt_driver_visit(const tkt_driver *driver, tkt_context_visitor visitor, void *user)
{
    context_walk w = {.driver = driver, .visitor = visitor, .user = user};
    tkt_driver_call call = tkt_driver_begin(driver);
    int device;
    atomic_fetch_add(&visitors, 1);
    for (uint32_t i = 0; !w.is_end && tkt_driver_device(driver, i, &device); i++)
        visit_primary(&w, device);
    for (size_t i = 0; !w.is_end && i < MAX_CONTEXTS; i++)
        visit(&w, atomic_load(&known_contexts[i]));
    atomic_fetch_sub(&visitors, 1);
    tkt_driver_end(driver, call);
    return !w.is_broken;
}

bool tkt_driver_is_capture_near(const tkt_driver *driver)
{
    int status;
    return driver->stream_is_capturing &&
           driver->stream_is_capturing(NULL, &status) == TKT_CUDA_CAPTURE_IMPLICIT;
}

static bool synchronize_context(const tkt_driver *driver, void *user)
{
    bool *are_idle = user;
    bool is_held = tkt_capture_hold(), may_wait = is_held && !tkt_driver_is_capture_near(driver);
    if (may_wait)
        driver->context_synchronize();
    if (is_held)
        tkt_capture_release();
    *are_idle &= may_wait;
    return false;
}

bool tkt_driver_synchronize(const tkt_driver *driver)
{
    bool are_idle = true;
    tkt_driver_visit(driver, synchronize_context, &are_idle);
    return are_idle;
}

typedef struct profiling_switch {
    bool is_on;
    bool is_done; /* in one context at least */
} profiling_switch;

/* The driver's functions act on the current context only. */
static bool switch_profiling(const tkt_driver *driver, void *user)
{
    profiling_switch *wanted = user;
    int status = wanted->is_on ? driver->profiler_start() : driver->profiler_stop();
    wanted->is_done = wanted->is_done || status == TKT_CUDA_SUCCESS;
    return false;
}

bool tkt_driver_profiling(const tkt_driver *driver, bool is_on)
{
    profiling_switch wanted = {is_on, false};
    if (driver->profiler_start && driver->profiler_stop)
        tkt_driver_visit(driver, switch_profiling, &wanted);
    return wanted.is_done;
}

static bool is_one(const tkt_driver *driver, void *has_one)
{
    (void)driver;
    return *(bool *)has_one = true;
}

bool tkt_cuda_has_context(void)
{
    const tkt_driver *driver = tkt_cuda_is_used() ? tkt_driver_get() : NULL;
    bool has_one = false;
    if (driver)
        tkt_driver_visit(driver, is_one, &has_one);
    return has_one;
}

typedef struct memory_question {
    int device;
    size_t free_bytes;
    size_t total_bytes;
} memory_question;

static bool ask_memory(const tkt_driver *driver, void *user)
{
    memory_question *question = user;
    int device;
    return driver->context_device(&device) == TKT_CUDA_SUCCESS && device == question->device &&
           driver->memory_info(&question->free_bytes, &question->total_bytes) == TKT_CUDA_SUCCESS;
}

bool tkt_driver_memory(const tkt_driver *driver, uint32_t device, uint64_t *free_bytes,
                       uint64_t *total_bytes)
{
    memory_question question = {0};
    if (driver->memory_info && tkt_driver_device(driver, device, &question.device))
        tkt_driver_visit(driver, ask_memory, &question);
    if (!question.total_bytes)
        return false;
    *free_bytes = question.free_bytes;
    *total_bytes = question.total_bytes;
    return true;
}
