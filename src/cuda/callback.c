/* Calls into CUDA, as CUPTI reports them on the calling thread, at ENTER and at EXIT. ENTER stores
 * the time in the word that both share; EXIT reports the call.
 *
 * Calls contain calls: the runtime calls the driver, and in some toolkits one function of the
 * runtime calls another. Only the outermost call is recorded; ENTER stores no time for an inner
 * one. The thread remembers its current call by correlation id, and by how often callbacks had been
 * switched. This makes a lost EXIT harmless. An EXIT is lost when callbacks are switched between
 * ENTER and EXIT; a call remembered from before a switch does not count.
 *
 * An inner call may have a correlation id of its own, and activities may carry it. The id is then
 * noted as an alias of the outermost call's (collector.h). */
#include "cuda/collector.h"

#include "cuda/timers.h"

#include "base/clock.h"
#include "base/containers.h"

#include <takt/scope.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#define UNREPORTED 1u    /* stored instead of the begin time while reports are paused */
#define RESET_MS   1000u /* longest wait for the activities of a context to be destroyed */

static _Atomic(void (*)(const tkt_cuda_call *)) call_hook;
static _Atomic(uint64_t) last_call;
static _Atomic(bool) is_paused;          /* only remember ids */
static _Atomic(uint64_t) switches = 1;   /* how often callbacks were switched */
static _Atomic(uint64_t) ended_call;     /* the last one of the window that ended last */
static _Atomic(uint32_t) late_calls[64]; /* by the lowest bits of the id */
static _Atomic(uint64_t) graph_bits[64]; /* a bit for the hash of each that was launched */
static _Atomic(uint32_t) graph_count;    /* of these bits */

void tkt_cuda_on_call(void (*on_call)(const tkt_cuda_call *call))
{
    /* release: pairs with the acquire in tkt_callback_report() */
    atomic_store_explicit(&call_hook, on_call, memory_order_release);
}

uint64_t tkt_cuda_last_call(void)
{
    return atomic_load_explicit(&last_call, memory_order_relaxed);
}

uint32_t tkt_cuda_last_correlation(void)
{
    return (uint32_t)tkt_cuda_last_call();
}

uint64_t tkt_cuda_end_calls(void)
{
    uint64_t last = tkt_cuda_last_call();
    atomic_store_explicit(&ended_call, last, memory_order_relaxed);
    return last;
}

static _Atomic(uint32_t) *late_place(uint32_t correlation)
{
    return &late_calls[correlation % (sizeof late_calls / sizeof *late_calls)];
}

bool tkt_cuda_is_late(uint32_t correlation)
{
    return correlation &&
           atomic_load_explicit(late_place(correlation), memory_order_relaxed) == correlation;
}

void tkt_callback_pause(bool pause)
{
    atomic_store_explicit(&is_paused, pause, memory_order_relaxed);
}

void tkt_callback_void_calls(void)
{
    atomic_fetch_add_explicit(&switches, 1, memory_order_relaxed);
}

uint32_t tkt_cuda_launched_graphs(void)
{
    return atomic_load_explicit(&graph_count, memory_order_relaxed);
}

/* How many calls later than `call` the one with this id is; negative: earlier. */
static int32_t distance(uint64_t call, uint32_t correlation)
{
    return (int32_t)(correlation - (uint32_t)call);
}

/* Keeps the highest id. Ids grow, but threads arrive here in any order, and ids wrap around. */
static void remember_correlation(uint32_t correlation)
{
    uint64_t last = tkt_cuda_last_call();
    int32_t later;
    while ((later = distance(last, correlation)) > 0 &&
           !atomic_compare_exchange_weak_explicit(&last_call, &last, last + (uint32_t)later,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}

void tkt_callback_continue_from(uint32_t correlation)
{
    uint64_t last = tkt_cuda_last_call();
    last += (uint64_t)(int64_t)distance(last, correlation);
    atomic_store_explicit(&last_call, last, memory_order_relaxed);
}

void tkt_callback_report(const tkt_cuda_call *call)
{
    /* acquire: pairs with the release in tkt_cuda_on_call() */
    void (*hook)(const tkt_cuda_call *) = atomic_load_explicit(&call_hook, memory_order_acquire);
    remember_correlation(call->correlation);
    tkt_timers_launched(call->name, call->is_capturing ? 0 : call->correlation);
    if (hook)
        hook(call);
}

/* Where the parameters of copies and sets have their extent, each a size_t: by
 * generated_cuda_runtime_api_meta.h, generated_cuda_meta.h, and the structs of driver_types.h and
 * cuda.h to which a lone parameter points. */
typedef struct extent {
    char function[18]; /* without "cuda" or "cu", and without "Async" */
    uint8_t at;
    uint8_t count;
    bool is_pointed_to;
} extent;

static const extent runtime_extents[] = {
    {"cpy", 16, 1, false},
    {"cpyToSymbol", 16, 1, false},
    {"cpyFromSymbol", 16, 1, false},
    {"cpyPeer", 32, 1, false},
    {"cpyToArray", 32, 1, false},
    {"cpyFromArray", 32, 1, false},
    {"cpy2D", 32, 2, false},
    {"cpy2DToArray", 40, 2, false},
    {"cpy2DFromArray", 40, 2, false},
    {"cpy2DArrayToArray", 48, 2, false},
    {"cpy3D", 128, 3, true},
    {"cpy3DPeer", 144, 3, true},
    {"set", 16, 1, false},
    {"set2D", 24, 2, false},
    {"set3D", 40, 3, false},
};

static const extent driver_extents[] = {
    {"cpy", 16, 1, false},      {"cpyHtoD", 16, 1, false},   {"cpyDtoH", 16, 1, false},
    {"cpyDtoD", 16, 1, false},  {"cpyAtoD", 24, 1, false},   {"cpyDtoA", 24, 1, false},
    {"cpyHtoA", 24, 1, false},  {"cpyAtoH", 24, 1, false},   {"cpyAtoA", 32, 1, false},
    {"cpyPeer", 32, 1, false},  {"cpy2D", 112, 2, true},     {"cpy2DUnaligned", 112, 2, true},
    {"cpy3D", 176, 3, true},    {"cpy3DPeer", 176, 3, true}, {"setD8", 16, 1, false},
    {"setD16", 16, 1, false},   {"setD32", 16, 1, false},    {"setD2D8", 24, 2, false},
    {"setD2D16", 24, 2, false}, {"setD2D32", 24, 2, false},
};

/* NULL for other functions. */
static const extent *extent_of(const char *name, bool is_driver)
{
    const extent *at = is_driver ? driver_extents : runtime_extents;
    const extent *end =
        at + (is_driver ? sizeof driver_extents : sizeof runtime_extents) / sizeof *at;
    const char *function = name + (is_driver ? 2 : 4);
    for (; strncmp(function, "Mem", 3) == 0 && at < end; at++) {
        size_t size = 3 + strlen(at->function);
        if (strncmp(function + 3, at->function, size - 3) == 0 &&
            (!function[size] || strcmp(function + size, "Async") == 0))
            return at;
    }
    return NULL;
}

/* True for a copy or set of nothing, which never reaches a device. */
static bool is_empty(const char *name, bool is_driver, const void *parameters)
{
    const extent *known = parameters ? extent_of(name, is_driver) : NULL;
    const char *at = parameters;
    if (known && known->is_pointed_to)
        memcpy(&at, parameters, sizeof at);
    for (int i = 0; known && at && i < known->count; i++) {
        size_t size;
        memcpy(&size, at + known->at + i * sizeof size, sizeof size);
        if (size == 0)
            return true;
    }
    return false;
}

static bool launches_graph(const char *name)
{
    return name[-1] == TKT_CLASS_GRAPH || name[-1] == TKT_CLASS_GRAPH_OWN;
}

/* Returns the stream of a launch, or NULL. The layouts are in the same headers. */
static void *stream_of(const char *name, bool is_driver, const void *parameters)
{
    void *stream = NULL;
    const char *at = parameters;
    const char *function = name + (is_driver ? 2 : 4);
    bool has_config = strncmp(function, "LaunchKernelEx", 14) == 0;
    bool is_of_many = strstr(function, "MultiDevice") != NULL; /* a list of launches: no stream */
    bool is_of_graph = launches_graph(name);
    if (!parameters || is_of_many ||
        (!is_of_graph && strncmp(function, "LaunchKernel", 12) != 0 &&
         strncmp(function, "LaunchCooperativeKernel", 23) != 0))
        return NULL;
    if (has_config)
        memcpy(&at, parameters, sizeof at);
    size_t place = is_of_graph ? 8 : has_config ? 32 : is_driver ? 40 : 48;
    if (at)
        memcpy(&stream, at + place, sizeof stream);
    return stream;
}

/* True if the call has ended a capture: also one that was invalid. */
static bool has_ended_capture(int32_t result)
{
    return result != TKT_CUDA_INVALID_VALUE && result != TKT_CUDA_INVALID_HANDLE &&
           result != TKT_CUDA_ILLEGAL_STATE && result != TKT_CUDA_CAPTURE_UNMATCHED &&
           result != TKT_CUDA_CAPTURE_WRONG_THREAD;
}

/* Notes a call that begins after a window with an id of it. */
static inline void note_late(uint32_t correlation)
{
    uint64_t ended = atomic_load_explicit(&ended_call, memory_order_relaxed);
    if (TAKT_UNLIKELY(distance(ended, correlation) <= 0))
        atomic_store_explicit(late_place(correlation), correlation, memory_order_relaxed);
}

/* Not inlined: most calls are inner ones, and without this code they save no registers. A capture
 * that could not begin counts as ended. */
static __attribute__((noinline)) void on_exit_of(const char *name, bool is_driver,
                                                 const tkt_callback_data *data, const void *caller)
{
    int32_t result = data->result ? *(const int32_t *)data->result : 0;
    if (name[-1] == TKT_CLASS_CAPTURE_END ? has_ended_capture(result)
                                          : name[-1] == TKT_CLASS_CAPTURE_BEGIN && result != 0)
        tkt_capture_end();
    if (!tkt_call_is_recorded(name) || *data->correlation_data == UNREPORTED)
        return;
    bool is_capturing = tkt_capture_count() > 0;
    if (result == 0 && (is_capturing || tkt_capture_is_doubtful()))
        is_capturing = tkt_capture_find(stream_of(name, is_driver, data->parameters));
    tkt_callback_report(&(tkt_cuda_call){
        .name = name,
        .begin_ticks = *data->correlation_data,
        .end_ticks = tkt_ticks(),
        .correlation = data->correlation,
        .result = result,
        .is_driver = is_driver,
        .is_capturing = is_capturing || is_empty(name, is_driver, data->parameters),
        .caller = caller,
    });
}

/* Notes a call inside a recorded one. Its id counts as used, so that no other code takes it for a
 * future one. */
static __attribute__((noinline)) void note_inner(uint32_t correlation, uint32_t outer)
{
    tkt_alias_add(correlation, outer);
    remember_correlation(correlation);
}

/* Functions that launch a graph have it as their first parameter, and the stream as the second. */
static void note_graph(const char *name, const tkt_callback_data *data)
{
    void *none[2] = {NULL, NULL}, *const *given = data->parameters ? data->parameters : none;
    tkt_whole_launched(given[0]);
    tkt_graph_stream_used(data->context, given[1], name[-1] == TKT_CLASS_GRAPH_OWN);
    uint64_t hash = tkt_hash_u64((uintptr_t)given[0]);
    uint64_t bit = UINT64_C(1) << hash % 64;
    _Atomic(uint64_t) *word = &graph_bits[hash / 64 % 64];
    if (!(atomic_load_explicit(word, memory_order_relaxed) & bit) &&
        !(atomic_fetch_or_explicit(word, bit, memory_order_relaxed) & bit))
        atomic_fetch_add_explicit(&graph_count, 1, memory_order_relaxed);
}

static __attribute__((noinline)) void prepare(const char *name, const tkt_callback_data *data)
{
    if (name[-1] == TKT_CLASS_CAPTURE_BEGIN) {
        tkt_capture_begin();
    } else if (launches_graph(name)) {
        note_graph(name, data);
    } else if (name[-1] == TKT_CLASS_STREAM_END) {
        tkt_graph_stream_ends(data->parameters ? *(void *const *)data->parameters : NULL);
    } else if (name[-1] == TKT_CLASS_END) {
        tkt_cuda_settle(
            &(tkt_settling){.synchronize = true, .timeout_ms = tkt_patience_ms(RESET_MS)});
        tkt_graph_streams_forget();
    }
}

static __attribute__((noinline)) void on_enter(int domain, uint32_t id,
                                               const tkt_callback_data *data, uint64_t *inside)
{
    if (*inside & TKT_OWN_CALL) {
        *data->correlation_data = 0;
        return;
    }
    const char *name = tkt_callback_name_of(domain, id);
    bool is_inner = (uint32_t)*inside == data->correlation; /* of a call from before the switch */
    if (name && name[-1] != TKT_CLASS_WORK && (!is_inner || launches_graph(name)))
        prepare(name, data);
    remember_correlation(data->correlation); /* now, since the call may return after the window's
                                              * end */
    uint64_t count = atomic_load_explicit(&switches, memory_order_relaxed);
    *inside = count << 32 | data->correlation;
    bool is_unreported = atomic_load_explicit(&is_paused, memory_order_relaxed);
    *data->correlation_data = is_unreported ? UNREPORTED : tkt_ticks();
    note_late(data->correlation);
}

static void on_api(int domain, uint32_t id, const tkt_callback_data *data, const void *caller)
{
    uint64_t *inside = &takt_thread_hot_v1.device_call, within = *inside;
    if (data->site == TKT_API_ENTER) {
        if (within >> 32 != atomic_load_explicit(&switches, memory_order_relaxed)) {
            on_enter(domain, id, data, inside);
            return;
        }
        *data->correlation_data = 0;
        if ((uint32_t)within != data->correlation)
            note_inner(data->correlation, (uint32_t)within);
    } else if ((uint32_t)within == data->correlation && *data->correlation_data != 0) {
        const char *name = tkt_callback_name_of(domain, id);
        if (name)
            on_exit_of(name, domain == TKT_DOMAIN_DRIVER, data, caller);
        /* release: a reader that finds the call ended finds its record, too */
        __atomic_store_n(inside, 0, __ATOMIC_RELEASE);
    }
}

static void on_resource(uint32_t id, const tkt_resource_data *data)
{
    const tkt_graph_data *graph = data->descriptor;
    if (id == TKT_CONTEXT_CREATED)
        tkt_driver_replace_context(NULL, data->context);
    else if (id == TKT_CONTEXT_DESTROY_STARTING)
        tkt_driver_replace_context(data->context, NULL);
    else if (id == TKT_CU_INIT_FINISHED)
        tkt_collector_leave_at_exit();
    else if (id == TKT_GRAPH_EXEC_CREATED)
        tkt_whole_made(graph->executable);
    else if (id == TKT_GRAPH_EXEC_DESTROY_STARTING)
        tkt_whole_destroyed(graph->executable);
}

void tkt_callback(void *user, int domain, uint32_t id, const void *data)
{
    (void)user;
    if (domain == TKT_DOMAIN_RUNTIME || domain == TKT_DOMAIN_DRIVER)
        on_api(domain, id, data, __builtin_return_address(0));
    else if (domain == TKT_DOMAIN_RESOURCE)
        on_resource(id, data);
}

/* ======== Ids of inner calls ======== */

/* A table indexed by the lowest bits of the inner id, one word per entry. Untouched pages cost no
 * memory, so without aliases it is free. A new alias overwrites an old one in its place: an
 * activity with the old id then counts as one without a scope. */

#define ALIASES (1u << 18) /* as many as the calls that summary mode remembers */

static _Atomic(uint64_t) aliases[ALIASES]; /* inner << 32 | outer */
static _Atomic(bool) is_used;

/* Relaxed: the activity arrives through CUPTI's buffers, which order it after this store. */
void tkt_alias_add(uint32_t inner, uint32_t outer)
{
    uint64_t alias = (uint64_t)inner << 32 | outer;
    atomic_store_explicit(&aliases[inner % ALIASES], alias, memory_order_relaxed);
    if (!atomic_load_explicit(&is_used, memory_order_relaxed))
        atomic_store_explicit(&is_used, true, memory_order_relaxed);
}

uint32_t tkt_alias_outer(uint32_t correlation)
{
    if (!atomic_load_explicit(&is_used, memory_order_relaxed))
        return correlation;
    uint64_t alias = atomic_load_explicit(&aliases[correlation % ALIASES], memory_order_relaxed);
    return alias >> 32 == correlation ? (uint32_t)alias : correlation;
}
