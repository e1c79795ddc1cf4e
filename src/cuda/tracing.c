/* The process's one CUPTI session: subscribing, enabling kinds, flushing. During a flush CUPTI also
 * calls back on this thread, so no lock is held around a call of CUPTI. */
#include "cuda/collector.h"

#include "base/dynlib.h"
#include "base/error.h"

#include <time.h>

#define LEAST_BUFFER_BYTES (UINT64_C(16) << 20)

static tkt_cupti cupti;
static uint64_t enabled_kinds; /* one bit per kind */
static bool calls_are_on;
static bool had_session;      /* CUPTI was in use before: by another tool, or by an earlier session
                               * of Takt */
static bool is_later_session; /* atomic: of a release that is wrong about graphs then */

bool tkt_cuda_are_graphs_unsure(void)
{
    return __atomic_load_n(&is_later_session, __ATOMIC_RELAXED) && tkt_cuda_launched_graphs() > 0;
}

uint32_t tkt_tracing_version(void)
{
    return cupti.version;
}

static uint64_t read_clock(void)
{
    uint64_t ns = 0;
    struct timespec now;
    if (cupti.timestamp(&ns) == TKT_CUPTI_SUCCESS && ns)
        return ns;
    clock_gettime(CLOCK_REALTIME, &now); /* CUPTI's default clock */
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#define RECENT_NS UINT64_C(60000000000)

static uint64_t sampled_ns; /* time of the last sample */

static void sample_clock(tkt_store *store)
{
    tkt_clock_pair pair = tkt_clock_sample(read_clock);
    sampled_ns = takt_now_ns();
    tkt_mutex_lock(&store->lock);
    tkt_store_add_pair(store, &pair, true);
    tkt_mutex_unlock(&store->lock);
}

/* Sets attributes that may fail without harm: CUPTI then clears buffers itself, numbers threads in
 * its own way, and leaves out polls of unfinished work. Takt registers no timestamp callback;
 * docs/cuda.md says why. */
static void set_preferences(void)
{
    uint8_t are_zeroed = 1;
    size_t bytes = sizeof are_zeroed;
    if (cupti.set_attribute)
        cupti.set_attribute(TKT_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &bytes, &are_zeroed);
    if (cupti.set_all_sync_records)
        cupti.set_all_sync_records(0);
    if (cupti.set_thread_id_type)
        cupti.set_thread_id_type(TKT_THREAD_ID_SYSTEM);
}

/* True for CUPTI from 13.0 Update 1 to 13.1.0. These give graph launches wrong correlation ids in
 * all sessions but the process's first; NVIDIA lists this as fixed in 13.1 Update 1. */
static bool has_one_session(void)
{
    return cupti.version >= TKT_CUPTI_13_0_1 && cupti.version < TKT_CUPTI_13_1_1;
}

static void begin_later_session(void)
{
    if (has_one_session())
        __atomic_store_n(&is_later_session, true, __ATOMIC_RELAXED);
}

/* True if the first session has to last, since the program launches graphs. */
static bool must_stay_on(void)
{
    return has_one_session() && tkt_cuda_launched_graphs() > 0;
}

static void close_tracing(void)
{
    had_session = had_session || enabled_kinds;
    cupti.unsubscribe(cupti.subscriber);
    tkt_whole_forget();
    tkt_graph_streams_forget();
    cupti.subscriber = NULL;
    enabled_kinds = 0;
    calls_are_on = false;
}

/* Loads CUPTI once. Its callbacks may come for the rest of the process, so Takt's code is pinned in
 * memory. */
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
    if (!tkt_cupti_is_measured(&cupti) && !tkt_cupti_measure(&cupti))
        *result = TKT_CUPTI_NOT_COMPATIBLE;
    else
        *result = cupti.register_callbacks(tkt_buffers_request, tkt_buffers_complete);
    /* Without callbacks for captures, Takt's waiting could invalidate one. */
    if (*result == TKT_CUPTI_SUCCESS)
        *result = tkt_callback_watch(&cupti);
    int count;
    if (driver->device_count(&count) != TKT_CUDA_NOT_INITIALIZED)
        tkt_capture_doubt();
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

bool tkt_tracing_touch(const tkt_driver *driver)
{
    char reason[TKT_REASON_BYTES];
    if (!prepare(driver, reason))
        return true; /* tkt_tracing_open() will say why */
    if (has_one_session())
        return false;
    int result = tkt_cupti_subscribe(&cupti, tkt_callback, reason);
    had_session = had_session || result == TKT_CUPTI_TAKEN;
    if (result == TKT_CUPTI_SUCCESS)
        close_tracing();
    return true;
}

#define BIT(kind)    (UINT64_C(1) << TKT_KIND_##kind)
#define MEMORY_KINDS (BIT(MEMORY2) | BIT(MEMORY_POOL))

static uint64_t kinds_for(const tkt_cuda_wish *wish)
{
    uint64_t kinds = wish->memory ? MEMORY_KINDS : 0;
    if (!wish->is_on)
        return kinds;
    kinds |= BIT(SYNCHRONIZATION) | BIT(CUDA_EVENT) | BIT(OVERHEAD) | BIT(JIT);
    if (wish->filter & (TAKT_TIMING_KERNEL | TAKT_TIMING_BUILTIN))
        kinds |= BIT(CONCURRENT_KERNEL);
    if (wish->filter & TAKT_TIMING_MEMCPY)
        kinds |= BIT(MEMCPY); /* includes copies between devices */
    if (wish->filter & TAKT_TIMING_MEMSET)
        kinds |= BIT(MEMSET);
    if (wish->filter & TAKT_TIMING_GRAPH && wish->is_graph_whole && !tkt_whole_is_over())
        kinds |= BIT(GRAPH_TRACE);
    return kinds;
}

/* Adds the kinds that must stay on. Where only the first session is right, there is only one, and
 * enabled kinds stay enabled. Whole launches exclude nodes, and CUPTI does not say what begins a
 * session. So whole launches stay on from the first window until a window wants nodes, and never
 * come back. */
static uint64_t add_kept(uint64_t wanted, bool is_on)
{
    static bool was_on;
    uint64_t kept = enabled_kinds & ~MEMORY_KINDS;
    bool is_first = !kept;
    if (is_on && is_first && was_on)
        begin_later_session();
    was_on |= is_on;
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

/* Logs a failure once, since it is likely to repeat. */
static void say_missing(const char *kinds, int result)
{
    static bool is_said;
    char reason[TKT_REASON_BYTES];
    if (is_said)
        return;
    is_said = true;
    tkt_cupti_explain(reason, result, NULL);
    tkt_log(TAKT_LOG_WARNING, "some kinds of %s are missing: %s", kinds, reason);
}

static int enable_kind(int kind)
{
    return kind == TKT_KIND_GRAPH_TRACE ? tkt_whole_enable(&cupti) : cupti.enable(kind);
}

static void disable_kind(int kind)
{
    if (kind == TKT_KIND_GRAPH_TRACE)
        tkt_whole_disable(&cupti);
    else
        cupti.disable(kind);
}

/* Disables unwanted kinds first: whole graphs and their nodes exclude each other. Returns the first
 * failure. A kind that this CUPTI does not know is a failure only if no kind is left. */
static int switch_kinds(uint64_t wanted)
{
    int first = TKT_CUPTI_SUCCESS, unknown = TKT_CUPTI_SUCCESS;
    for (int kind = 0; kind < (int)TKT_CUPTI_KINDS; kind++)
        if (enabled_kinds & ~wanted & UINT64_C(1) << kind)
            disable_kind(kind);
    enabled_kinds &= wanted;
    for (int kind = 0; kind < (int)TKT_CUPTI_KINDS; kind++) {
        if (!(wanted & ~enabled_kinds & UINT64_C(1) << kind))
            continue;
        int result = enable_kind(kind);
        if (result == TKT_CUPTI_SUCCESS)
            enabled_kinds |= UINT64_C(1) << kind;
        else if (result == TKT_CUPTI_INVALID_KIND || result == TKT_CUPTI_NOT_SUPPORTED)
            unknown = result;
        else if (first == TKT_CUPTI_SUCCESS)
            first = result;
    }
    return first || enabled_kinds ? first : unknown;
}

/* Calls that began before callbacks were enabled may launch while activities are recorded already.
 * The call made here is reported and gets a higher id than they have. */
static void pass_unreported_calls(void)
{
    int version;
    const tkt_driver *driver = tkt_driver_get();
    if (driver)
        driver->driver_version(&version);
}

/* Enables callbacks for calls before activities, and disables them after: an activity with an
 * unreported id would seem to belong to the next window. Activities without calls are in no scope,
 * so if no callback can be enabled this fails, and CUDA events take over. */
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
    pass_unreported_calls();
    return TKT_CUPTI_SUCCESS;
}

/* Memory kinds may stay on: their records never belong to a window. */
static void switch_off(uint64_t kinds)
{
    bool is_any;
    switch_kinds(kinds);
    if (must_stay_on()) /* ids that go unreported would seem to be the next window's */
        return;
    if (calls_are_on)
        tkt_callback_switch_calls(&cupti, false, &is_any);
    calls_are_on = false;
}

/* If CUPTI has to stay on, it also records kinds that no window wants: the store leaves them
 * out. */
static void leave_out(const tkt_cuda_wish *wish)
{
    tkt_store *store = tkt_store_get();
    tkt_mutex_lock(&store->lock);
    store->left_out = wish->is_on ? ~wish->filter : 0;
    for (size_t i = 0; i < store->devices.count && !wish->is_on; i++)
        store->devices.items[i].first_correlation = 0;
    tkt_mutex_unlock(&store->lock);
    tkt_callback_pause(!wish->is_on);
}

bool tkt_tracing_switch(const tkt_cuda_wish *wish, char reason[TKT_REASON_BYTES])
{
    int result = TKT_CUPTI_SUCCESS;
    bool had_memory_kinds = enabled_kinds & MEMORY_KINDS;
    leave_out(wish);
    if (wish->is_on)
        result = switch_on(add_kept(kinds_for(wish), true));
    else
        switch_off(add_kept(kinds_for(wish), false));
    if (!had_memory_kinds && (enabled_kinds & MEMORY_KINDS))
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

/* Divides max_memory between CUPTI's buffers and the store. Each has at least a quarter, so the
 * flight recorder gets new activities however full the store is. LEAST_BUFFER_BYTES come on top,
 * for launches before the collector's next turn. */
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

/* Between windows nobody drains: stamps of records since then must not look far from all readings
 * of the clock. */
void tkt_tracing_drain(const tkt_cuda_wish *wish)
{
    if (takt_now_ns() - sampled_ns > RECENT_NS)
        sample_clock(tkt_store_get());
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

/* Logged once: the loss continues as long as the program launches at this rate. */
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
