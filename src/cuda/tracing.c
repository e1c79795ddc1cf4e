/* The one CUPTI session of the process: subscribing, the kinds that are on, flushing. CUPTI calls
 * back on this thread too while it flushes, so no lock is held around any call of it. */
#include "cuda/collector.h"

#include "base/dynlib.h"
#include "base/error.h"

#define LEAST_BUFFER_BYTES (UINT64_C(16) << 20)

static tkt_cupti cupti;
static uint64_t enabled_kinds; /* bit: kind */
static bool calls_are_on;
static bool had_session;       /* CUPTI was another tool's, or gave up on us, before */
static bool are_graphs_unsure; /* atomic */

bool tkt_cuda_are_graphs_unsure(void)
{
    return __atomic_load_n(&are_graphs_unsure, __ATOMIC_RELAXED);
}

uint32_t tkt_tracing_version(void)
{
    return cupti.version;
}

static uint64_t read_clock(void)
{
    uint64_t ns = 0;
    cupti.timestamp(&ns);
    return ns;
}

static void sample_clock(tkt_store *store)
{
    tkt_clock_pair pair = tkt_clock_sample(read_clock);
    tkt_mutex_lock(&store->lock);
    tkt_store_add_pair(store, &pair, true);
    tkt_mutex_unlock(&store->lock);
}

/* What may fail without harm: CUPTI clears buffers itself then, and numbers threads otherwise. No
 * timestamp callback is registered; docs/cuda.md says why. */
static void set_preferences(void)
{
    uint8_t are_zeroed = 1;
    size_t bytes = sizeof are_zeroed;
    if (cupti.set_attribute)
        cupti.set_attribute(TKT_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &bytes, &are_zeroed);
    if (cupti.set_thread_id_type)
        cupti.set_thread_id_type(TKT_THREAD_ID_SYSTEM);
}

/* From 13.0 Update 1 to 13.1.0 what graphs launch has wrong correlation ids in all sessions but a
 * process' first one; NVIDIA lists it as fixed in 13.1 Update 1. */
static bool must_stay_on(void)
{
    return cupti.version >= TKT_CUPTI_13_0_1 && cupti.version < TKT_CUPTI_13_1_1;
}

static void begin_later_session(void)
{
    if (must_stay_on())
        __atomic_store_n(&are_graphs_unsure, true, __ATOMIC_RELAXED);
}

static void close_tracing(void)
{
    had_session = had_session || enabled_kinds;
    cupti.unsubscribe(cupti.subscriber);
    cupti.subscriber = NULL;
    enabled_kinds = 0;
    calls_are_on = false;
}

/* Callbacks may come for as long as the process lives, so the code that they run has to stay. */
static bool prepare(const tkt_driver *driver, char reason[TKT_REASON_BYTES])
{
    static bool is_prepared;
    if (is_prepared)
        return true;
    if (!tkt_cupti_load(&cupti, driver, reason))
        return false;
    tkt_library_pin(&cupti);
    int result = tkt_callback_setup(&cupti);
    if (result == TKT_CUPTI_SUCCESS &&
        !tkt_buffers_setup(&cupti.sizes, cupti.version >= TKT_CUPTI_12_9))
        result = TKT_CUPTI_OUT_OF_MEMORY;
    is_prepared = result == TKT_CUPTI_SUCCESS;
    if (!is_prepared)
        tkt_cupti_explain(reason, result, NULL);
    return is_prepared;
}

bool tkt_tracing_open(const tkt_driver *driver, int *result, char reason[TKT_REASON_BYTES])
{
    *result = TKT_CUPTI_SUCCESS;
    if (!prepare(driver, reason))
        return false;
    *result = tkt_cupti_subscribe(&cupti, tkt_callback, reason);
    had_session = had_session || *result == TKT_CUPTI_TAKEN;
    if (*result != TKT_CUPTI_SUCCESS)
        return false;
    if (had_session)
        begin_later_session();
    set_preferences();
    *result = cupti.register_callbacks(tkt_buffers_request, tkt_buffers_complete);
    /* Without knowing of captures, waiting could break one. */
    if (*result == TKT_CUPTI_SUCCESS)
        *result = tkt_callback_watch(&cupti);
    if (*result == TKT_CUPTI_NOT_COMPATIBLE && tkt_cupti_go_back(&cupti)) {
        close_tracing();
        return tkt_tracing_open(driver, result, reason);
    }
    if (*result != TKT_CUPTI_SUCCESS) {
        tkt_cupti_explain(reason, *result, NULL);
        close_tracing();
        return false;
    }
    sample_clock(tkt_store_get());
    return true;
}

#define BIT(kind)    (UINT64_C(1) << TKT_KIND_##kind)
#define MEMORY_KINDS (BIT(MEMORY2) | BIT(MEMORY_POOL))

static uint64_t kinds_for(const tkt_cuda_wish *wish)
{
    uint64_t kinds = wish->memory ? MEMORY_KINDS : 0;
    if (!wish->is_on)
        return kinds;
    kinds |= BIT(SYNCHRONIZATION) | BIT(OVERHEAD);
    if (wish->filter & (TAKT_TIMING_KERNEL | TAKT_TIMING_BUILTIN))
        kinds |= BIT(CONCURRENT_KERNEL);
    if (wish->filter & TAKT_TIMING_MEMCPY)
        kinds |= BIT(MEMCPY); /* between devices, too */
    if (wish->filter & TAKT_TIMING_MEMSET)
        kinds |= BIT(MEMSET);
    if (wish->filter & TAKT_TIMING_GRAPH && wish->is_graph_whole)
        kinds |= BIT(GRAPH_TRACE);
    return kinds;
}

/* Where only the first session is right there is only one: what is on stays on. CUPTI does not tell
 * what begins a session, so that whole launches, which exclude nodes, are recorded if the first
 * window wants them, until one wants nodes, and never again. */
static uint64_t add_kept(uint64_t wanted, bool is_on)
{
    uint64_t kept = enabled_kinds & ~MEMORY_KINDS;
    bool is_first = !kept;
    if (!must_stay_on())
        return wanted;
    if (is_on && kept & ~wanted & BIT(GRAPH_TRACE)) {
        kept &= ~BIT(GRAPH_TRACE);
        begin_later_session();
    } else if (!is_first && !(kept & BIT(GRAPH_TRACE))) {
        wanted &= ~BIT(GRAPH_TRACE);
    }
    return wanted | kept;
}

/* Said once, since what fails is likely to fail every time. */
static void say_missing(const char *what, int result)
{
    static bool is_said;
    char reason[TKT_REASON_BYTES];
    if (is_said)
        return;
    is_said = true;
    tkt_cupti_explain(reason, result, NULL);
    tkt_log(TAKT_LOG_WARNING, "some kinds of %s are missing: %s", what, reason);
}

/* What goes is switched off first: whole graphs and their nodes exclude each other. Returns the
 * first failure; a kind that this CUPTI does not know is not worth a word, unless none is left. */
static int switch_kinds(uint64_t wanted)
{
    int first = TKT_CUPTI_SUCCESS, unknown = TKT_CUPTI_SUCCESS;
    for (int kind = 0; kind < (int)TKT_CUPTI_KINDS; kind++)
        if (enabled_kinds & ~wanted & UINT64_C(1) << kind)
            cupti.disable(kind);
    enabled_kinds &= wanted;
    for (int kind = 0; kind < (int)TKT_CUPTI_KINDS; kind++) {
        if (!(wanted & ~enabled_kinds & UINT64_C(1) << kind))
            continue;
        int result = cupti.enable(kind);
        if (result == TKT_CUPTI_SUCCESS)
            enabled_kinds |= UINT64_C(1) << kind;
        else if (result == TKT_CUPTI_INVALID_KIND || result == TKT_CUPTI_NOT_SUPPORTED)
            unknown = result;
        else if (first == TKT_CUPTI_SUCCESS)
            first = result;
    }
    return first || enabled_kinds ? first : unknown;
}

/* Calls that began before anybody heard them may launch when activities are recorded already. Their
 * ids are lower than that of a call which is made now, and heard. */
static void pass_unheard_calls(void)
{
    int version;
    const tkt_driver *driver = tkt_driver_get();
    if (driver)
        driver->driver_version(&version);
}

/* Calls are heard before activities are recorded, and for longer: the id of an activity that nobody
 * heard of would seem to be one of the next window's. Activities without their calls are in no
 * scope: where that is so of all, CUDA events tell more. */
static int switch_on(uint64_t kinds)
{
    if (!calls_are_on) {
        int result = tkt_callback_switch_calls(&cupti, true, &calls_are_on);
        if (!calls_are_on)
            return result;
        if (result != TKT_CUPTI_SUCCESS)
            say_missing("calls", result);
    }
    int result = switch_kinds(kinds);
    if (!enabled_kinds)
        return result;
    if (result != TKT_CUPTI_SUCCESS)
        say_missing("activities", result);
    pass_unheard_calls();
    return TKT_CUPTI_SUCCESS;
}

/* But for kinds whose records nobody takes for a window's. */
static void switch_off(uint64_t kinds)
{
    bool is_any;
    switch_kinds(kinds);
    if (must_stay_on()) /* and ids that nobody hears of would seem to be the next window's */
        return;
    if (calls_are_on)
        tkt_callback_switch_calls(&cupti, false, &is_any);
    calls_are_on = false;
}

/* Where CUPTI stays on it records kinds that no window wants. */
static void leave_out(const tkt_cuda_wish *wish)
{
    tkt_store *store = tkt_store_get();
    tkt_mutex_lock(&store->lock);
    store->left_out = wish->is_on ? ~wish->filter : 0;
    tkt_mutex_unlock(&store->lock);
    tkt_callback_pause(!wish->is_on);
}

bool tkt_tracing_switch(const tkt_cuda_wish *wish, char reason[TKT_REASON_BYTES])
{
    int result = TKT_CUPTI_SUCCESS;
    bool was_told_of_memory = enabled_kinds & MEMORY_KINDS;
    leave_out(wish);
    if (wish->is_on)
        result = switch_on(add_kept(kinds_for(wish), true));
    else
        switch_off(add_kept(kinds_for(wish), false));
    if (!was_told_of_memory && (enabled_kinds & MEMORY_KINDS))
        tkt_store_forget_memory(tkt_store_get());
    if (result == TKT_CUPTI_NOT_COMPATIBLE && tkt_cupti_go_back(&cupti)) {
        close_tracing();
        return tkt_tracing_open(tkt_driver_get(), &result, reason) &&
               tkt_tracing_switch(wish, reason);
    }
    if (result != TKT_CUPTI_SUCCESS) {
        tkt_cupti_explain(reason, result, NULL);
        close_tracing();
    }
    return result == TKT_CUPTI_SUCCESS;
}

static void decode(const void *buffer, size_t valid_bytes)
{
    tkt_decode(tkt_store_get(), &cupti.sizes, buffer, valid_bytes);
}

/* Buffers and what was decoded from them share the memory: a quarter is always the buffers', and a
 * quarter the store's, so that in the flight recorder new activities arrive however full the store
 * is. LEAST_BUFFER_BYTES come on top, for what a program launches until the collector has a turn.
 */
static void share_memory(const tkt_cuda_wish *wish)
{
    tkt_store *store = tkt_store_get();
    uint64_t quarter = wish->max_bytes / 4, buffers = tkt_buffers_bytes();
    uint64_t taken = buffers > LEAST_BUFFER_BYTES ? buffers - LEAST_BUFFER_BYTES : 0;
    taken = taken < quarter ? quarter : taken > 3 * quarter ? 3 * quarter : taken;
    tkt_mutex_lock(&store->lock);
    uint64_t used = store->used_bytes;
    store->max_bytes = wish->max_bytes - taken;
    tkt_mutex_unlock(&store->lock);
    uint64_t left = wish->max_bytes > used ? wish->max_bytes - used : 0;
    tkt_buffers_limit((left > quarter ? left : quarter) + LEAST_BUFFER_BYTES);
    tkt_buffers_trim(LEAST_BUFFER_BYTES / 2);
}

void tkt_tracing_drain(const tkt_cuda_wish *wish)
{
    share_memory(wish);
    tkt_buffers_drain(decode);
    share_memory(wish);
}

static void set_forced(bool is_forced)
{
    tkt_store *store = tkt_store_get();
    tkt_mutex_lock(&store->lock);
    store->is_forced_flush = is_forced;
    tkt_mutex_unlock(&store->lock);
}

/* Said once: it goes on for as long as the program launches as much. */
static void say_refused(const tkt_cuda_wish *wish)
{
    static bool is_said;
    if (is_said)
        return;
    is_said = true;
    tkt_log(TAKT_LOG_WARNING,
            "activities are lost, because max_memory (%llu KiB) is used up: raise "
            "profiling.max_memory, record fewer steps, or use profiling.mode: summary",
            (unsigned long long)(wish->max_bytes >> 10));
}

void tkt_tracing_flush(const tkt_cuda_wish *wish, bool is_forced)
{
    tkt_store *store = tkt_store_get();
    set_forced(is_forced);
    cupti.flush_all(is_forced ? TKT_FLUSH_FORCED : 0);
    tkt_tracing_drain(wish);
    set_forced(false);
    size_t dropped = 0;
    cupti.dropped(NULL, 0, &dropped);
    tkt_buffer_losses losses = tkt_buffers_take_losses();
    if (losses.refused)
        say_refused(wish);
    tkt_mutex_lock(&store->lock);
    store->losses.dropped += dropped + losses.records;
    store->losses.unknown += losses.foreign;
    tkt_mutex_unlock(&store->lock);
    sample_clock(store);
}
