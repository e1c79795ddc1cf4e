/* The devices of a window. A correlation id identifies a launch. The launching call is recorded
 * with it as a span of its thread; the activity arrives much later with the same id; sealing joins
 * both. A window therefore only needs its begin, in the store and in the sequence of ids. At its
 * end it waits until the store is complete.
 *
 * Where no spans are kept, a thread of the window joins calls and activities all the time: neither
 * has to be remembered for long. */
#include "profiler/session.h"

#include "base/lock.h"
#include "base/own.h"
#include "base/thread.h"
#include "record/control.h"
#include "record/scope.h"
#include "trace/devices.h"

#define LEAST_BYTES (UINT64_C(1) << 20) /* for buffers of some threads, and activities */
#define FOLD_MS     25u

/* Kinds of nodes in graphs. */
#define NODES (TAKT_TIMING_KERNEL | TAKT_TIMING_BUILTIN | TAKT_TIMING_MEMCPY | TAKT_TIMING_MEMSET)

/* ---- Calls ----------------------------------------------------------------------------------- */

static bool are_calls_recorded; /* atomic */

static void record_call(const tkt_cuda_call *call)
{
    if (!__atomic_load_n(&are_calls_recorded, __ATOMIC_RELAXED))
        return;
    const tkt_call recorded = {
        .name = call->name,
        .category = call->is_driver ? "cuda_driver" : "cuda_runtime",
        .begin_ticks = call->begin_ticks,
        .end_ticks = call->end_ticks,
        .correlation = call->correlation,
        .result = call->result,
        .is_capturing = call->is_capturing,
        .caller = call->caller,
    };
    tkt_record_call(&recorded);
}

static void set_call_hook(void)
{
    tkt_cuda_on_call(record_call);
}

void tkt_devices_record_calls(bool are_recorded)
{
    __atomic_store_n(&are_calls_recorded, are_recorded, __ATOMIC_RELAXED);
}

void tkt_devices_unite(tkt_cuda_wish *all, const tkt_wish *wish)
{
    all->is_graph_whole = wish->whole_graphs && (all->is_graph_whole || !all->is_on);
    all->is_on = true;
    all->memory = all->memory || (wish->modes & TKT_MEMORY);
    all->filter |= wish->devices | (wish->whole_graphs ? NODES : 0);
    uint64_t max_bytes =
        wish->max_bytes && wish->max_bytes < LEAST_BYTES ? LEAST_BYTES : wish->max_bytes;
    if (max_bytes > all->max_bytes)
        all->max_bytes = max_bytes;
}

/* ---- Folding while recording ----------------------------------------------------------------- */

typedef struct tkt_device_folder {
    tkt_device_part *part;
    bool are_kept; /* the window also keeps spans, which need the activities */
    tkt_thread thread;
    tkt_mutex lock;
    tkt_condition changed;
    bool is_ended; /* lock */
} tkt_device_folder;

static void take_calls(tkt_device_part *part, bool is_last)
{
    for (tkt_thread_log *log = tkt_log_first(); log; log = tkt_log_next(log)) {
        tkt_folded_calls calls = {0};
        if (is_last)
            tkt_log_fold_last_calls(log, &calls);
        else if (tkt_log_fold_calls(log, &calls) != TAKT_OK)
            continue;
        tkt_device_fold_calls(part->fold, log->number, &calls);
        TKT_ARRAY_FREE(&calls);
    }
}

static bool wait_for_round(tkt_device_folder *folder)
{
    tkt_mutex_lock(&folder->lock);
    if (!folder->is_ended)
        tkt_condition_wait_for(&folder->changed, &folder->lock, FOLD_MS);
    bool is_ended = folder->is_ended;
    tkt_mutex_unlock(&folder->lock);
    return !is_ended;
}

static uint64_t fold_with_lock(tkt_device_part *part)
{
    take_calls(part, false);
    uint32_t last = tkt_devices_last_correlation(part);
    return tkt_device_fold_update(part->fold, tkt_store_get(), last);
}

bool tkt_devices_fold_now(tkt_device_part *part)
{
    if (!part->fold)
        return true;
    tkt_mutex_lock(&part->rounds);
    bool goes_on = __atomic_load_n(&part->last_call, __ATOMIC_RELAXED) == UINT64_MAX;
    if (goes_on)
        fold_with_lock(part);
    tkt_mutex_unlock(&part->rounds);
    return goes_on;
}

static void *fold_all_the_time(void *argument)
{
    TKT_OWN_WORK;
    tkt_device_folder *folder = argument;
    tkt_device_part *part = folder->part;
    while (wait_for_round(folder)) {
        tkt_mutex_lock(&part->rounds);
        uint64_t position = fold_with_lock(part);
        tkt_mutex_unlock(&part->rounds);
        if (folder->are_kept)
            continue;
        __atomic_store_n(&part->position, position, __ATOMIC_RELAXED);
        tkt_session_release_devices();
    }
    return NULL;
}

static void start_folder(tkt_device_part *part, bool are_kept)
{
    tkt_device_folder *folder = tkt_alloc_zeroed(sizeof *folder);
    if (!folder)
        return;
    folder->part = part;
    folder->are_kept = are_kept;
    tkt_mutex_init(&folder->lock);
    folder->changed = (tkt_condition)TKT_CONDITION_INIT;
    part->folder = folder;
    if (tkt_thread_start(&folder->thread, "takt-fold", fold_all_the_time, folder) == TAKT_OK)
        return;
    part->folder = NULL; /* without the thread, everything is folded at the end, if memory lasts */
    tkt_free(folder);
}

static void stop_folder(tkt_device_part *part)
{
    tkt_device_folder *folder = part->folder;
    if (!folder)
        return;
    tkt_mutex_lock(&folder->lock);
    folder->is_ended = true;
    tkt_condition_wake_all(&folder->changed);
    tkt_mutex_unlock(&folder->lock);
    tkt_thread_join(folder->thread);
    tkt_free(folder);
    part->folder = NULL;
}

/* ---- A window's life ------------------------------------------------------------------------- */

static tkt_cuda_losses losses_now(void)
{
    tkt_store *store = tkt_store_get();
    tkt_mutex_lock(&store->lock);
    tkt_cuda_losses losses = store->losses;
    tkt_mutex_unlock(&store->lock);
    return losses;
}

void tkt_devices_begin(tkt_device_part *part, const tkt_wish *wish)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    tkt_mutex_init(&part->rounds);
    part->is_wanted = wish->devices != 0;
    if (!wish->devices || !tkt_cuda_is_used())
        return;
    pthread_once(&once, set_call_hook);
    part->is_on = true;
    part->position = tkt_store_position();
    part->began_ticks = tkt_ticks();
}

void tkt_devices_began(tkt_device_part *part, const tkt_wish *wish, const tkt_clock_fit *fit,
                       uint64_t begin_ticks)
{
    part->losses = losses_now();
    part->first_call = tkt_cuda_last_call();
    part->last_call = UINT64_MAX; /* until the part ends */
    if (!(wish->modes & TKT_FOLD))
        return;
    if (tkt_device_fold_create(part->position, (uint32_t)part->first_call, wish->devices,
                               &part->fold) != TAKT_OK)
        return;
    tkt_device_fold_bound(part->fold, fit, tkt_clock_ns(fit, begin_ticks), 0);
    if (wish->whole_graphs)
        tkt_device_fold_whole_graphs(part->fold);
    start_folder(part, (wish->modes & TKT_KEEP) != 0);
}

void tkt_devices_end(tkt_device_part *part)
{
    if (!part->is_on)
        return;
    part->end_losses = losses_now();
    /* release: pairs with the acquire in tkt_devices_losses() */
    __atomic_store_n(&part->last_call, tkt_cuda_end_calls(), __ATOMIC_RELEASE);
    stop_folder(part);
}

uint32_t tkt_devices_first_correlation(const tkt_device_part *part)
{
    uint64_t last = __atomic_load_n(&part->last_call, __ATOMIC_RELAXED);
    if (last == UINT64_MAX)
        last = tkt_cuda_last_call();
    return (uint32_t)(last - part->first_call > TKT_CALLS_BACK ? last - TKT_CALLS_BACK
                                                               : part->first_call);
}

/* Without a call since the window began there can be no activity. If activities arrive all the
 * same, CUPTI does not call back. */
uint32_t tkt_devices_last_correlation(const tkt_device_part *part)
{
    if (tkt_cuda_last_call() == part->first_call)
        return TKT_NO_CALL_HEARD;
    uint64_t last = __atomic_load_n(&part->last_call, __ATOMIC_RELAXED);
    return last == UINT64_MAX ? TKT_ANY_LATER_CALL : (uint32_t)last;
}

void tkt_devices_take(tkt_device_part *part)
{
    if (!part->fold)
        return;
    tkt_mutex_lock(&part->rounds); /* a stream may fold */
    take_calls(part, true);
    tkt_device_fold_forget(part->fold, tkt_devices_last_correlation(part),
                           tkt_cuda_last_correlation());
    tkt_mutex_unlock(&part->rounds);
}

static tkt_join join_of(const tkt_device_part *part, const tkt_join *join)
{
    tkt_join mine = *join;
    mine.position = __atomic_load_n(&part->position, __ATOMIC_RELAXED);
    mine.first_correlation = tkt_devices_first_correlation(part);
    mine.last_correlation = tkt_devices_last_correlation(part);
    return mine;
}

/* ---- Settling -------------------------------------------------------------------------------- */

typedef struct settling {
    tkt_device_part *part;
    const tkt_device_wait *how;
    tkt_arrivals arrivals; /* for a window that keeps spans */
    bool has_spans;
    bool may_graphs_have_more; /* bodies, or nodes that nobody counts */
} settling;

static tkt_completeness look_at_fold(settling *s)
{
    tkt_device_fold *fold = s->part->fold;
    tkt_device_fold_update(fold, tkt_store_get(), tkt_devices_last_correlation(s->part));
    tkt_fold_losses losses = tkt_device_fold_losses(fold);
    if (losses.missing + losses.missing_marks)
        return TKT_LACKING;
    return losses.missing_graphs + losses.silent ? TKT_LACKS_GRAPHS : TKT_COMPLETE;
}

static tkt_completeness what_has_arrived(void *user)
{
    settling *s = user;
    tkt_completeness folded = s->part->fold ? look_at_fold(s) : TKT_COMPLETE;
    tkt_completeness kept =
        s->has_spans ? tkt_arrivals_look(&s->arrivals, tkt_store_get()) : TKT_COMPLETE;
    tkt_completeness all = s->may_graphs_have_more ? TKT_LACKS_GRAPHS : TKT_COMPLETE;
    all = folded < all ? folded : all;
    return kept < all ? kept : all;
}

static bool is_alone(void *user)
{
    const settling *s = user;
    return tkt_session_is_alone(s->how->window);
}

/* True if the window has a call of such a name. */
static bool has_call(const takt_trace *trace, bool (*is_such)(const char *name))
{
    bool has = false;
    for (size_t i = 0; i < trace->sites.count; i++) {
        const tkt_trace_site *site = &trace->sites.items[i];
        has |= site->kind == TAKT_SITE_CALL && is_such(tkt_trace_text(trace, site->name));
    }
    return has;
}

static bool launches_graph(const char *name)
{
    return (tkt_launched_by(name) & TAKT_TIMING_GRAPH) != 0;
}

static uint32_t awaited_graphs; /* atomic: tkt_cuda_launched_graphs() of the last window that waited
                                 * for bodies */

/* Bodies of the window's graphs may come after all nodes. Until the first comes, only graphs may
 * have some for which no window has waited yet. */
static bool awaits_bodies(bool has_graphs, uint32_t launched)
{
    return has_graphs && (__atomic_load_n(&awaited_graphs, __ATOMIC_RELAXED) != launched ||
                          tkt_store_bodies() > 0);
}

takt_status tkt_devices_settle(tkt_device_part *part, const tkt_join *join,
                               const tkt_device_wait *how, const takt_trace *trace,
                               tkt_device_end *out)
{
    settling s = {.part = part, .how = how, .has_spans = join->filter != 0};
    *out = (tkt_device_end){.is_settled = true};
    if (!part->is_on)
        return TAKT_OK;
    tkt_join mine = join_of(part, join);
    takt_status status = s.has_spans ? tkt_arrivals_init(&s.arrivals, trace, &mine) : TAKT_OK;
    if (status != TAKT_OK)
        return status;
    bool has_graphs = (s.has_spans && has_call(trace, launches_graph)) ||
                      (part->fold && tkt_device_fold_has_graphs(part->fold));
    if (part->fold)
        tkt_device_fold_bound(part->fold, &join->fit, tkt_clock_ns(&join->fit, join->begin_ticks),
                              tkt_clock_ns(&join->fit, join->end_ticks));
    uint32_t launched = tkt_cuda_launched_graphs();
    bool awaits = how->synchronize && awaits_bodies(has_graphs, launched);
    /* Nobody knows how many nodes a summary's launches have. */
    s.may_graphs_have_more = awaits || (has_graphs && !s.has_spans);
    s.arrivals.calls = how->calls;
    s.arrivals.call_count = how->call_count;
    out->is_settled = tkt_cuda_settle(&(tkt_settling){
        .synchronize = how->synchronize,
        .wants_rest = s.has_spans && has_call(trace, tkt_call_changes_memory),
        .timeout_ms = how->timeout_ms,
        /* Records that were given back do not tell what is missing. */
        .is_complete = tkt_window_was_released(how->window) ? NULL : what_has_arrived,
        .may_force = is_alone,
        .user = &s});
    if (awaits)
        __atomic_store_n(&awaited_graphs, launched, __ATOMIC_RELAXED);
    /* Nothing is missing: what CUPTI has lost since the end was others'. But names are looked up
     * when records arrive. */
    tkt_cuda_losses now = losses_now();
    if (what_has_arrived(&s) != TKT_COMPLETE || tkt_cuda_status_now().backend != TKT_BACKEND_CUPTI)
        part->end_losses = now;
    part->end_losses.more_names = now.more_names;
    out->has_strays = s.arrivals.strays != 0;
    out->is_call_under_way = s.arrivals.has_call;
    out->known_until = s.arrivals.position;
    if (s.has_spans)
        tkt_arrivals_fini(&s.arrivals);
    if (part->fold)
        tkt_device_fold_finish(part->fold, tkt_store_get(), tkt_cuda_is_late);
    return TAKT_OK;
}

void tkt_devices_fini(tkt_device_part *part)
{
    stop_folder(part);
    tkt_device_fold_destroy(part->fold);
    part->fold = NULL;
}

/* ---- The sealed trace ------------------------------------------------------------------------ */

/* Explains launches without an activity. If records were dropped, these are among them. Otherwise,
 * after waiting for all work, the launch had no activity; without waiting, it had not finished. A
 * mark always has an activity: if it is missing, the mark failed or had not finished. */
static void count_missing(const tkt_joined *joined, uint64_t dropped, bool is_settled,
                          uint64_t *losses)
{
    uint64_t marks = joined->missing_marks > dropped ? joined->missing_marks - dropped : 0;
    dropped -= joined->missing_marks - marks;
    uint64_t missing = joined->missing + (is_settled ? 0 : joined->missing_nodes);
    uint64_t rest = missing > dropped ? missing - dropped : 0;
    losses[TAKT_LOSS_INCOMPLETE] += marks;
    losses[is_settled ? TAKT_LOSS_NO_ACTIVITY : TAKT_LOSS_INCOMPLETE] += rest;
}

uint64_t tkt_devices_losses(const tkt_device_part *part, uint64_t *losses)
{
    bool goes_on = __atomic_load_n(&part->last_call, __ATOMIC_ACQUIRE) == UINT64_MAX;
    tkt_cuda_losses now = goes_on ? losses_now() : part->end_losses;
    uint64_t dropped =
        now.dropped - part->losses.dropped + now.store_full - part->losses.store_full;
    uint64_t overwritten = now.overwritten - part->losses.overwritten;
    losses[TAKT_LOSS_DEVICE_DROPPED] += dropped;
    losses[TAKT_LOSS_BUFFER_FULL] += now.others_full - part->losses.others_full;
    losses[TAKT_LOSS_OVERWRITTEN] += overwritten;
    losses[TAKT_LOSS_MORE_NAMES] += now.more_names - part->losses.more_names;
    losses[TAKT_LOSS_BAD_TIME] += now.bad_time - part->losses.bad_time;
    losses[TAKT_LOSS_UNKNOWN_RECORD] += now.unknown - part->losses.unknown;
    return dropped + overwritten;
}

static void count_losses(const tkt_device_part *part, const tkt_joined *joined, bool is_settled,
                         uint64_t *losses)
{
    uint64_t dropped = tkt_devices_losses(part, losses);
    losses[TAKT_LOSS_INCOMPLETE] += joined->incomplete;
    losses[TAKT_LOSS_BAD_TIME] += joined->bad_time;
    count_missing(joined, dropped, is_settled, losses);
}

static uint32_t ordinal_of(const takt_trace *trace, uint32_t label)
{
    uint32_t device = 0;
    while (device < trace->devices.count && trace->devices.items[device].label != label)
        device++;
    return device;
}

uint64_t tkt_devices_begin_bytes(const tkt_clock_fit *fit, const takt_trace *trace, uint32_t label)
{
    tkt_stored_totals begin = {0};
    tkt_store_totals(ordinal_of(trace, label), fit, trace->facts.begin_ns, trace->facts.end_ns,
                     &begin);
    return begin.begin_bytes;
}

/* The join counts from 0 at the window's begin. This adds the bytes allocated before, and the
 * totals since Takt began to collect. */
void tkt_devices_fill_memory(const tkt_clock_fit *fit, const takt_trace *trace,
                             uint64_t begin_bytes, tkt_device_memory *memory)
{
    tkt_stored_totals end = {0};
    tkt_memory_totals *totals = &memory->totals;
    uint64_t end_ns = trace->facts.end_ns;
    tkt_store_totals(ordinal_of(trace, memory->device), fit, end_ns + 1, end_ns, &end);
    totals->window_begin_bytes = begin_bytes;
    totals->window_peak_bytes += begin_bytes;
    totals->current_bytes += begin_bytes;
    memory->pool_bytes = end.begin_pool_bytes;
    memory->pool_used_bytes = end.begin_pool_used_bytes;
    if (memory->pool_used_bytes > memory->pool_bytes) /* the pool's size could not be stored */
        memory->pool_used_bytes = memory->pool_bytes;
    bool is_highest = totals->window_peak_bytes > end.peak_bytes; /* with memory from before */
    totals->peak_bytes = is_highest ? totals->window_peak_bytes : end.peak_bytes;
    totals->peak_ns = is_highest ? totals->window_peak_ns : end.peak_time;
    totals->allocations = end.allocations;
    totals->frees = end.frees;
    totals->unmatched_frees = end.unmatched_frees;
}

void tkt_devices_ask_memory(const takt_trace *trace, tkt_device_memory *memory)
{
    tkt_cuda_memory(ordinal_of(trace, memory->device), &memory->free_bytes,
                    &memory->capacity_bytes);
}

/* Without spans the join has seen no activities, so the fold has the counts. */
static void add_fold_losses(const tkt_device_fold *fold, bool is_settled, tkt_joined *joined,
                            uint64_t *losses)
{
    tkt_fold_losses lost = tkt_device_fold_losses(fold);
    bool are_graphs_sure = is_settled && lost.unattributed == 0;
    joined->missing = lost.missing + (are_graphs_sure ? 0 : lost.missing_graphs);
    joined->missing_marks = lost.missing_marks;
    joined->incomplete = lost.incomplete;
    joined->bad_time = lost.bad_time;
    losses[TAKT_LOSS_UNATTRIBUTED] += lost.unattributed;
    losses[TAKT_LOSS_DEVICE_DROPPED] += lost.no_memory;
}

/* CUDA that came after the window began, as with a plugin, is not recorded: at least one loss. */
static void note_late_cuda(const tkt_device_part *part, uint64_t *losses)
{
    if (part->is_wanted && !part->is_on && tkt_cuda_has_context())
        losses[TAKT_LOSS_NO_ACTIVITY]++;
}

void tkt_devices_progress(const tkt_device_part *part, uint64_t *losses)
{
    tkt_joined joined = {0};
    note_late_cuda(part, losses);
    tkt_devices_losses(part, losses);
    if (!part->fold)
        return;
    add_fold_losses(part->fold, false, &joined, losses); /* missing activities may still arrive */
    losses[TAKT_LOSS_INCOMPLETE] += joined.incomplete;
    losses[TAKT_LOSS_BAD_TIME] += joined.bad_time;
}

takt_status tkt_devices_fill(const tkt_device_part *part, const tkt_join *join,
                             const tkt_device_end *end, takt_trace *trace)
{
    tkt_joined joined;
    note_late_cuda(part, trace->losses);
    if (!part->is_on)
        return TAKT_OK;
    tkt_join mine = join_of(part, join);
    mine.known_until = end->known_until;
    mine.is_settled = end->is_settled;
    takt_status status = tkt_trace_join(trace, tkt_store_get(), &mine, &joined);
    if (status != TAKT_OK)
        return status;
    trace->facts.device_uncertainty_ns = joined.skew.uncertainty_ns;
    trace->facts.device_uncertainty_is_least = joined.skew.is_least;
    trace->facts.device_shift_ns = (double)joined.skew.shift_ns;
    if (part->fold && join->filter == 0)
        add_fold_losses(part->fold, end->is_settled, &joined, trace->losses);
    count_losses(part, &joined, end->is_settled, trace->losses);
    for (size_t i = 0; i < trace->device_memory.count; i++) {
        tkt_device_memory *memory = &trace->device_memory.items[i];
        uint64_t begin_bytes = tkt_devices_begin_bytes(&join->fit, trace, memory->device);
        tkt_devices_fill_memory(&join->fit, trace, begin_bytes, memory);
        tkt_devices_ask_memory(trace, memory);
    }
    return TAKT_OK;
}
