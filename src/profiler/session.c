/* The list of open windows, and what follows from it: what to record, what to keep, and what CUPTI
 * should do. CUPTI is switched without the lock: a thread that does not use devices then never
 * waits for CUPTI. Requests are numbered, and the collector ignores an outdated one. */
#include "profiler/session.h"

#include "base/error.h"
#include "base/lock.h"
#include "base/thread.h"
#include "cuda/timers.h"
#include "record/allocations.h"
#include "record/control.h"
#include "record/log.h"
#include "record/site.h"

#define LEAST_FOLD_BYTES (UINT64_C(16) << 20)
#define LATE_NS          5e9 /* how late devices' waits and memory events may arrive */

static tkt_mutex session_lock = TKT_MUTEX_INIT;
static tkt_window *windows;   /* lock */
static uint32_t memory_holds; /* lock */

/* ---- The union of requests ------------------------------------------------------------------- */

static bool has_open(void)
{
    for (const tkt_window *w = windows; w; w = w->next)
        if (!w->is_ended)
            return true;
    return false;
}

/* With the lock. True if the flight recorder must not overwrite what the window has: another's, or
 * that of an earlier flight, which waits to be saved. Until another window opens, such as the next
 * warm-up, an ended flight may overwrite its own, such as with activities that arrive late. */
static bool is_needed(const tkt_window *window, bool is_any_open)
{
    bool is_ring = (window->wish.modes & TKT_RING) != 0;
    return (window->wish.modes & TKT_KEEP) && (!is_ring || (window->is_ended && is_any_open));
}

/* With the lock: records what the windows request together. Chunks of an ended window are kept
 * until it is closed. Calls are recorded as long too, since some that began in the window return
 * after its end. When memory is used up, the flight recorder drops its oldest chunks. */
static void apply_wishes(void)
{
    uint32_t modes = 0;
    uint64_t mask = 0, max_bytes = 0, ring_until = UINT64_MAX;
    bool are_calls_recorded = false, is_recording = false, is_any_open = has_open();
    for (const tkt_window *w = windows; w; w = w->next) {
        uint32_t mine = w->wish.modes;
        is_recording |= !w->is_ended && (mine & (TKT_KEEP | TKT_FOLD));
        if (w->is_ended)
            mine &= ~TKT_FOLD; /* the window has taken its folds */
        else
            mask |= w->wish.mask;
        are_calls_recorded = are_calls_recorded || w->devices.is_on;
        if (is_needed(w, is_any_open) && w->kept_ticks < ring_until)
            ring_until = w->kept_ticks;
        modes |= mine;
        if (w->wish.max_bytes > max_bytes)
            max_bytes = w->wish.max_bytes;
    }
    __atomic_store_n(&tkt_record_control.ring_until_ticks, ring_until, __ATOMIC_RELAXED);
    max_bytes = max_bytes ? max_bytes : TKT_DEFAULT_MAX_BYTES;
    tkt_pool_limit(max_bytes);
    tkt_fold_limit(max_bytes / 2 > LEAST_FOLD_BYTES ? max_bytes / 2 : LEAST_FOLD_BYTES);
    tkt_site_limit(max_bytes);
    tkt_memory_limit(max_bytes);
    tkt_record_set(modes, mask);
    tkt_devices_record_calls(are_calls_recorded);
    tkt_timers_record(is_recording, windows != NULL);
}

/* With the lock: returns what the windows request of devices together. An ended window needs
 * devices until it is closed, because the activities it launched have to arrive. */
static tkt_cuda_wish unite_devices(uint64_t *ring_until, bool *is_summed)
{
    tkt_cuda_wish all = {.is_on = false, .memory = memory_holds > 0};
    uint64_t needed = UINT64_MAX;
    bool has_ring = false, is_kept = false, is_any_open = has_open();
    for (const tkt_window *w = windows; w; w = w->next) {
        if (!w->devices.is_on)
            continue;
        tkt_devices_unite(&all, &w->wish);
        is_kept = is_kept || (w->wish.modes & TKT_KEEP);
        has_ring = has_ring || (w->wish.modes & TKT_RING);
        uint64_t position = tkt_window_position(w);
        if (is_needed(w, is_any_open) && position < needed)
            needed = position;
    }
    if (all.max_bytes == 0)
        all.max_bytes = TKT_DEFAULT_MAX_BYTES;
    *ring_until = has_ring ? needed : 0;
    *is_summed = all.is_on && !is_kept;
    return all;
}

static bool is_equal(const tkt_cuda_wish *a, const tkt_cuda_wish *b)
{
    return a->is_on == b->is_on && a->is_graph_whole == b->is_graph_whole &&
           a->memory == b->memory && a->filter == b->filter && a->max_bytes == b->max_bytes;
}

/* Skips the collector if the request is unchanged: a timer inside a profiler's window does not wait
 * for it. */
static void switch_devices(void)
{
    static tkt_cuda_wish wanted; /* lock */
    static uint64_t held;        /* lock; the latest generation known to be in effect */
    uint64_t ring_until;
    bool is_summed;
    tkt_mutex_lock(&session_lock);
    tkt_cuda_wish wish = unite_devices(&ring_until, &is_summed);
    tkt_store_sum(is_summed);
    bool is_held = is_equal(&wish, &wanted) && held == wanted.generation;
    wish.generation = wanted.generation + !is_held;
    wanted = wish;
    tkt_mutex_unlock(&session_lock);
    tkt_store_ring(ring_until);
    if (is_held)
        return;
    tkt_cuda_want(&wish);
    tkt_mutex_lock(&session_lock);
    if (wish.generation > held)
        held = wish.generation;
    tkt_mutex_unlock(&session_lock);
}

void tkt_session_hold_memory(bool is_held)
{
    tkt_mutex_lock(&session_lock);
    memory_holds += is_held ? 1u : -1u;
    tkt_mutex_unlock(&session_lock);
    if (!is_held)
        switch_devices();
}

bool tkt_session_is_alone(const tkt_window *window)
{
    bool is_alone = true;
    tkt_mutex_lock(&session_lock);
    for (const tkt_window *w = windows; w; w = w->next)
        is_alone = is_alone && (w == window || !w->devices.is_on);
    tkt_mutex_unlock(&session_lock);
    return is_alone;
}

void tkt_session_release_devices(void)
{
    uint64_t position = tkt_store_position(), ticks = tkt_ticks();
    tkt_mutex_lock(&session_lock);
    for (const tkt_window *w = windows; w; w = w->next) {
        if (!w->devices.is_on || !(w->wish.modes & (TKT_KEEP | TKT_FOLD)))
            continue;
        uint64_t mine = __atomic_load_n(&w->devices.position, __ATOMIC_RELAXED);
        position = mine < position ? mine : position;
        ticks = w->devices.began_ticks < ticks ? w->devices.began_ticks : ticks;
    }
    tkt_mutex_unlock(&session_lock);
    tkt_store_release(position, ticks);
}

/* With the lock: frees the phases inside kernels that no window needs. */
static void release_phases(void)
{
    uint64_t oldest = UINT64_MAX;
    for (const tkt_window *w = windows; w; w = w->next) {
        uint64_t begin_ns = tkt_clock_ns(&w->fit, w->begin_ticks);
        oldest = begin_ns < oldest ? begin_ns : oldest;
    }
    tkt_timers_release(oldest);
}

/* With the lock: since when the windows, and those that open later, need chunks. */
static uint64_t oldest_kept(void)
{
    uint64_t oldest = tkt_ticks();
    for (const tkt_window *w = windows; w; w = w->next)
        if ((w->wish.modes & TKT_KEEP) && w->kept_ticks < oldest)
            oldest = w->kept_ticks;
    return oldest;
}

/* Without the lock, since there may be many: gives back the chunks that no window needs. */
static void release_chunks(uint64_t oldest)
{
    for (tkt_thread_log *log = tkt_log_first(); log; log = tkt_log_next(log))
        tkt_log_release(log, oldest);
}

static bool is_folding(void)
{
    for (const tkt_window *w = windows; w; w = w->next)
        if ((w->wish.modes & TKT_FOLD) && !w->is_ended)
            return true;
    return false;
}

/* The window begins: what it loses is counted from here on. */
static void count_losses_from(tkt_window *window)
{
    tkt_mutex_lock(&session_lock);
    window->number = tkt_record_open(tkt_ticks());
    tkt_mutex_unlock(&session_lock);
    tkt_log_losses(window->losses_before);
    window->excused_before = tkt_record_excused(window->number);
}

/* The window has ended, and what it keeps must stay until it is closed. */
static void settle(tkt_window *window)
{
    tkt_mutex_lock(&session_lock);
    if (window->wish.modes & TKT_KEEP)
        tkt_record_settle(window->settled_ticks = tkt_ticks());
    tkt_mutex_unlock(&session_lock);
}

/* With the lock: a window was closed, and only what the others have must stay. */
static void settle_for_others(void)
{
    uint64_t latest = 0;
    for (const tkt_window *w = windows; w; w = w->next)
        latest = w->settled_ticks > latest ? w->settled_ticks : latest;
    tkt_record_settle(latest);
}

/* Takes the trees that the logs have folded. Sealing would be too late: until then the threads go
 * on, over slots that nobody would fold, and the next window folds into the same trees. */
static void take_folds(tkt_window *window, uint64_t ticks)
{
    if (!window->frames)
        window->frames = tkt_alloc(TKT_MAX_DEPTH * sizeof *window->frames);
    for (tkt_thread_log *log = tkt_log_first(); log; log = tkt_log_next(log)) {
        tkt_fold *fold = window->frames ? tkt_window_add_fold(window) : NULL;
        takt_status status =
            fold ? tkt_log_fold_take(log, ticks, window->frames, fold) : TAKT_NO_MEMORY;
        if (status != TAKT_OK)
            window->folds_status = status;
    }
    if (window->folds.count > 0 && window->folds_status == TAKT_OK)
        tkt_fold_open_tasks(&window->folds.items[0], ticks);
}

static void fold_from(const tkt_window *window, uint64_t ticks)
{
    __atomic_store_n(&tkt_record_control.fold_ns_per_tick, window->fit.ns_per_tick,
                     __ATOMIC_RELAXED);
    __atomic_store_n(&tkt_record_control.fold_from_ticks, ticks, __ATOMIC_RELAXED);
    __atomic_store_n(&tkt_record_control.fold_from_ns, tkt_clock_ns(&window->fit, ticks),
                     __ATOMIC_RELAXED);
    /* release: pairs with the acquire in tkt_fold_begin_now() */
    __atomic_store_n(&tkt_record_control.fold_until_ticks, 0, __ATOMIC_RELEASE);
}

static void reset_folds(void)
{
    for (tkt_thread_log *log = tkt_log_first(); log; log = tkt_log_next(log))
        tkt_log_fold_reset(log);
}

/* Empties the trees before any thread folds. Until the window begins, threads fold nothing. */
static void prepare_fold(void)
{
    __atomic_store_n(&tkt_record_control.fold_until_ticks, TKT_FOLD_NOTHING, __ATOMIC_RELAXED);
    reset_folds();
}

/* The window begins now. */
static void begin_now(tkt_window *window)
{
    window->begin = tkt_record_bound();
    if (window->wish.modes & TKT_FOLD)
        reset_folds();
    window->begin_ticks = tkt_ticks();
    tkt_record_move(window->number, window->begin_ticks);
    if (window->wish.modes & TKT_FOLD)
        fold_from(window, window->begin_ticks);
}

/* ---- The most memory at once ----------------------------------------------------------------- */

/* All windows share one mark in the totals: whoever sets it first saves what the others saw. With
 * the session's lock. */

static tkt_memory_peak higher(tkt_memory_peak a, tkt_memory_peak b)
{
    return b.bytes > a.bytes ? b : a;
}

static void mark_memory(tkt_window *window)
{
    tkt_memory_peak high = tkt_memory_now().high;
    for (tkt_window *open = windows; open; open = open->next)
        open->memory_high = higher(open->memory_high, high);
    tkt_memory_mark();
    window->memory_before = tkt_memory_now();
    window->memory_high = window->memory_before.high;
}

tkt_memory_state tkt_window_memory(const tkt_window *window)
{
    tkt_mutex_lock(&session_lock);
    tkt_memory_state now = tkt_memory_now();
    now.high = higher(window->memory_high, now.high);
    tkt_mutex_unlock(&session_lock);
    return now;
}

/* ---- Windows --------------------------------------------------------------------------------- */

/* Puts the window into the list. False if it must fold while another window folds. */
static bool enlist(tkt_window *window)
{
    tkt_mutex_lock(&session_lock);
    bool folds = (window->wish.modes & TKT_FOLD) != 0;
    bool is_taken = folds && is_folding();
    if (!is_taken) {
        if (folds)
            prepare_fold();
        mark_memory(window);
        window->next = windows;
        windows = window;
        window->kept_ticks = tkt_ticks(); /* records are kept from here; the window begins ... */
        apply_wishes();
        begin_now(window); /* ... once recording is on */
    }
    tkt_mutex_unlock(&session_lock);
    return !is_taken;
}

/* Looks for threads that have ended unnoticed, with scopes that they left open; that costs system calls
 * for each one. A step from window to window does not wait for them: closing the one that has ended does
 * it. */
static void reclaim_logs(void)
{
    tkt_mutex_lock(&session_lock);
    bool is_waiting = false;
    for (const tkt_window *w = windows; w; w = w->next)
        is_waiting |= w->is_ended;
    tkt_mutex_unlock(&session_lock);
    if (!is_waiting)
        tkt_log_reclaim_all();
}

/* Switching CUPTI on takes time: the window begins after it. */
static void begin_devices(tkt_window *window)
{
    switch_devices();
    tkt_mutex_lock(&session_lock);
    if (window->wish.modes & TKT_FOLD)
        prepare_fold();
    mark_memory(window);
    begin_now(window);
    tkt_mutex_unlock(&session_lock);
    tkt_devices_began(&window->devices, &window->wish, &window->fit, window->begin_ticks);
    tkt_session_release_devices();
}

/* True when the window lists a graph's launch as one activity. Without kernels it would not list
 * nodes, so graphs are then taken as a whole. */
static bool are_graphs_whole(const tkt_wish *wish)
{
    return (wish->devices & TAKT_TIMING_GRAPH) &&
           (wish->whole_graphs || !(wish->devices & (TAKT_TIMING_KERNEL | TAKT_TIMING_BUILTIN)));
}

takt_status tkt_window_open(const tkt_wish *wish, tkt_window **out)
{
    TKT_UNCANCELLED;
    if (tkt_process_is_disabled())
        return TAKT_BAD_STATE;
    tkt_options_heeded();
    tkt_window *window = tkt_window_make();
    if (!window)
        return TAKT_NO_MEMORY;
    window->wish = *wish;
    window->wish.whole_graphs = are_graphs_whole(wish);
    window->fit = tkt_clock_fit_now();
    tkt_mutex_init(&window->snapshots);
    reclaim_logs();
    tkt_log_try_again();
    count_losses_from(window);
    if (wish->modes & TKT_MEMORY)
        tkt_memory_watch(true);
    tkt_devices_begin(&window->devices, &window->wish);
    if (!enlist(window)) {
        if (wish->modes & TKT_MEMORY)
            tkt_memory_watch(false);
        tkt_record_close(window->number);
        tkt_window_unmake(window);
        return TAKT_BAD_STATE;
    }
    if (window->devices.is_on)
        begin_devices(window);
    tkt_log_refresh();
    *out = window;
    return TAKT_OK;
}

void tkt_window_end_soon(const tkt_window *window)
{
    if (window && (window->wish.modes & TKT_FOLD) && (window->wish.modes & TKT_KEEP))
        __atomic_store_n(&tkt_record_control.fold_until_ticks, TKT_FOLD_LATER, __ATOMIC_SEQ_CST);
}

void tkt_window_end(tkt_window *window, uint64_t ticks)
{
    if (tkt_process_is_disabled())
        return;
    tkt_mutex_lock(&window->snapshots);
    __atomic_store_n(&window->end_ticks, ticks, __ATOMIC_RELEASE);
    if (window->wish.modes & TKT_FOLD) /* threads fold their full chunks until take_folds() */
        __atomic_store_n(&tkt_record_control.fold_until_ticks, ticks, __ATOMIC_RELAXED);
    window->memory_after = tkt_window_memory(window); /* before all that takes its time */
    settle(window);
    window->losses = tkt_window_losses_now(window);
    tkt_devices_end(&window->devices);
    tkt_mutex_lock(&session_lock);
    if (window->wish.modes & TKT_FOLD) {
        take_folds(window, ticks);
        tkt_devices_take(&window->devices);
    }
    window->end = tkt_record_bound();
    window->is_ended = true;
    window->longest_ticks = tkt_record_longest(window->number);
    tkt_record_close(window->number);
    apply_wishes();
    tkt_mutex_unlock(&session_lock);
    tkt_mutex_unlock(&window->snapshots);
    window->realtime_offset_ns = tkt_clock_realtime_offset_ns();
    window->residual_ns = tkt_clock_residual_ns(&window->fit);
    tkt_mismatch_report();
}

bool tkt_window_has_ended(const tkt_window *window)
{
    tkt_mutex_lock(&session_lock);
    bool has_ended = window->is_ended;
    tkt_mutex_unlock(&session_lock);
    return has_ended;
}

bool tkt_window_is_full(const tkt_window *window)
{
    if (window->wish.modes & TKT_RING)
        return false; /* it overwrites its oldest records */
    return tkt_pool_used_bytes() > tkt_pool_limit_bytes() / 2 ||
           (window->devices.is_on && tkt_store_is_full());
}

void tkt_window_release(tkt_window *window, uint64_t ticks, uint64_t position)
{
    uint64_t late_ticks = (uint64_t)(LATE_NS / tkt_clock_resolution_ns(&window->fit));
    if (tkt_process_is_disabled())
        return;
    if (!tkt_devices_fold_now(&window->devices))
        position = tkt_window_position(window);
    tkt_mutex_lock(&session_lock);
    window->was_released = true;
    window->kept_ticks = ticks;
    uint64_t oldest = oldest_kept();
    __atomic_store_n(&window->devices.position, position, __ATOMIC_RELAXED);
    if (ticks - window->begin_ticks > late_ticks)
        window->devices.began_ticks = ticks - late_ticks;
    tkt_mutex_unlock(&session_lock);
    release_chunks(oldest);
    if (window->devices.is_on)
        tkt_session_release_devices();
}

uint64_t tkt_window_position(const tkt_window *window)
{
    return __atomic_load_n(&window->devices.position, __ATOMIC_RELAXED);
}

bool tkt_window_was_released(const tkt_window *window)
{
    return window->was_released;
}

void tkt_window_close(tkt_window *window)
{
    TKT_UNCANCELLED;
    if (!window || tkt_process_is_disabled())
        return;
    if (!window->is_ended)
        tkt_window_end(window, tkt_ticks());
    tkt_log_reclaim_all();
    tkt_mutex_lock(&session_lock);
    tkt_window **at = &windows;
    while (*at != window)
        at = &(*at)->next;
    *at = window->next;
    settle_for_others();
    apply_wishes();
    uint64_t oldest = oldest_kept();
    release_phases();
    if (!windows)
        tkt_site_forget_values();
    tkt_mutex_unlock(&session_lock);
    release_chunks(oldest);
    if (window->wish.modes & TKT_MEMORY)
        tkt_memory_watch(false);
    if (window->devices.is_on) {
        switch_devices();
        tkt_session_release_devices();
    }
    tkt_window_unmake(window);
}

tkt_seal_window tkt_window_bounds(const tkt_window *window, bool has_ended)
{
    tkt_seal_window bounds = {.begin_ticks = window->begin_ticks,
                              .begin = window->begin,
                              .fit = window->fit,
                              .left_out = window->wish.left_out};
    if (!has_ended)
        bounds.end_now = &window->end_ticks;
    else
        bounds.end = window->end;
    bounds.end_ticks = has_ended ? window->end_ticks : 0;
    return bounds;
}

const tkt_clock_fit *tkt_window_fit(const tkt_window *window)
{
    return &window->fit;
}
