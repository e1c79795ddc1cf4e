#include "profiler/session.h"

#include "base/error.h"
#include "base/file.h"
#include "base/thread.h"
#include "record/log.h"
#include "record/mismatch.h"
#include "trace/order.h"
#include "trace/seal.h"

#include <string.h>

#define DEFAULT_MAX_BYTES (UINT64_C(256) << 20)

struct tkt_window {
    tkt_window      *next; /* in the list of open windows */
    tkt_wish         wish;
    bool             is_ended;
    uint64_t         begin_ticks;
    uint64_t         end_ticks;
    tkt_clock_fit    fit;
    uint64_t         losses[TAKT_LOSS_COUNT]; /* when it began, and while it lasted when it has ended */
    tkt_memory_state memory_before;
    tkt_memory_state memory_after;
    int64_t          realtime_offset_ns;
    double           residual_ns;
    TKT_ARRAY_OF(tkt_fold) folds; /* of the logs, when it has ended */
    takt_status      folds_status;
};

static tkt_mutex session_lock = TKT_MUTEX_INIT;
static tkt_window *windows; /* lock */

/* ---- The union of wishes --------------------------------------------------------------------- */

/* With the lock: records what the windows want together. An ended window's chunks are kept until it
 * is closed. The flight recorder's oldest go when memory is used up, but none that another needs. */
static void apply_wishes(void)
{
    uint32_t modes = 0;
    uint64_t mask = 0, max_bytes = 0, ring_until = UINT64_MAX;
    for (const tkt_window *w = windows; w; w = w->next) {
        uint32_t mine = w->wish.modes;
        if (w->is_ended)
            mine &= ~TKT_FOLD; /* it has taken what was folded */
        else
            mask |= w->wish.mask;
        if ((mine & (TKT_KEEP | TKT_RING)) == TKT_KEEP && w->begin_ticks < ring_until)
            ring_until = w->begin_ticks;
        modes |= mine;
        if (w->wish.max_bytes > max_bytes)
            max_bytes = w->wish.max_bytes;
    }
    __atomic_store_n(&tkt_record_control.ring_until_ticks, ring_until, __ATOMIC_RELAXED);
    tkt_pool_limit(max_bytes ? max_bytes : DEFAULT_MAX_BYTES);
    tkt_record_set(modes, mask);
}

/* With the lock: gives back the chunks that no window reaches. */
static void release_chunks(void)
{
    uint64_t oldest = UINT64_MAX;
    for (const tkt_window *w = windows; w; w = w->next)
        if ((w->wish.modes & TKT_KEEP) && w->begin_ticks < oldest)
            oldest = w->begin_ticks;
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

/* Takes what the logs have folded. Not left to sealing, which may come much later: until then the
 * threads go on, over slots that nobody would fold, and the next window folds into the same trees. */
static void take_folds(tkt_window *window, uint64_t ticks)
{
    for (tkt_thread_log *log = tkt_log_first(); log; log = tkt_log_next(log)) {
        tkt_fold *fold = TKT_ARRAY_ADD(&window->folds);
        takt_status status = TAKT_NO_MEMORY;
        if (fold) {
            *fold = (tkt_fold){0};
            status = tkt_log_fold_take(log, ticks, fold);
        }
        if (status != TAKT_OK)
            window->folds_status = status;
    }
}

static void free_window(tkt_window *window)
{
    for (size_t i = 0; i < window->folds.count; i++)
        tkt_fold_fini(&window->folds.items[i]);
    TKT_ARRAY_FREE(&window->folds);
    tkt_free(window);
}

/* Folding starts with empty trees, before anybody folds. */
static void prepare_fold(const tkt_window *window)
{
    __atomic_store_n(&tkt_record_control.fold_ns_per_tick, window->fit.ns_per_tick,
                     __ATOMIC_RELAXED);
    __atomic_store_n(&tkt_record_control.fold_from_ticks, tkt_ticks(), __ATOMIC_RELAXED);
    for (tkt_thread_log *log = tkt_log_first(); log; log = tkt_log_next(log))
        tkt_log_fold_reset(log);
}

/* ---- Windows --------------------------------------------------------------------------------- */

takt_status tkt_window_open(const tkt_wish *wish, tkt_window **out)
{
    if (tkt_record_is_disabled())
        return TAKT_BAD_STATE;
    tkt_window *window = tkt_alloc_zeroed(sizeof *window);
    if (!window)
        return TAKT_NO_MEMORY;
    window->wish = *wish;
    window->fit = tkt_clock_fit_now();
    tkt_log_losses(window->losses);
    window->memory_before = tkt_memory_now();
    tkt_mutex_lock(&session_lock);
    bool is_taken = (wish->modes & TKT_FOLD) && is_folding();
    if (!is_taken) {
        if (wish->modes & TKT_FOLD)
            prepare_fold(window);
        window->next = windows;
        windows = window;
        window->begin_ticks = tkt_ticks(); /* what must be kept; what is looked at begins ... */
        apply_wishes();
        window->begin_ticks = tkt_ticks(); /* ... when all is on */
    }
    tkt_mutex_unlock(&session_lock);
    if (is_taken) {
        tkt_free(window);
        return TAKT_BAD_STATE;
    }
    *out = window;
    return TAKT_OK;
}

void tkt_window_end(tkt_window *window, uint64_t ticks)
{
    if (tkt_record_is_disabled())
        return;
    window->end_ticks = ticks;
    tkt_mutex_lock(&session_lock);
    if (window->wish.modes & TKT_FOLD)
        take_folds(window, ticks);
    window->is_ended = true;
    apply_wishes();
    tkt_mutex_unlock(&session_lock);
    uint64_t losses[TAKT_LOSS_COUNT];
    tkt_log_losses(losses);
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        window->losses[i] = losses[i] - window->losses[i];
    window->memory_after = tkt_memory_now();
    window->realtime_offset_ns = tkt_clock_realtime_offset_ns();
    window->residual_ns = tkt_clock_residual_ns(&window->fit);
    tkt_mismatch_report();
}

void tkt_window_close(tkt_window *window)
{
    if (!window || tkt_record_is_disabled())
        return;
    if (!window->is_ended)
        tkt_window_end(window, tkt_ticks());
    tkt_mutex_lock(&session_lock);
    tkt_window **at = &windows;
    while (*at != window)
        at = &(*at)->next;
    *at = window->next;
    apply_wishes();
    release_chunks();
    tkt_mutex_unlock(&session_lock);
    free_window(window);
}

uint64_t tkt_window_begin_ticks(const tkt_window *window)
{
    return window->begin_ticks;
}

const tkt_clock_fit *tkt_window_fit(const tkt_window *window)
{
    return &window->fit;
}

/* ---- Sealing --------------------------------------------------------------------------------- */

/* What one reading of the clock costs, in ns, measured once. */
static double clock_cost_ns(const tkt_clock_fit *fit)
{
    static double cost; /* racing threads store about the same */
    double known;
    __atomic_load(&cost, &known, __ATOMIC_RELAXED);
    if (known > 0)
        return known;
    enum { READINGS = 256 };
    uint64_t begin = tkt_ticks(), last = begin;
    for (int i = 0; i < READINGS; i++)
        last = tkt_ticks();
    known = (double)(last - begin) * tkt_clock_resolution_ns(fit) / READINGS;
    __atomic_store(&cost, &known, __ATOMIC_RELAXED);
    return known;
}

/* How many clock readings a trace took: two a span, one a phase. */
static double count_readings(const takt_trace *trace)
{
    double readings = 0;
    for (size_t t = 0; t < trace->tracks.count; t++) {
        const tkt_spans *spans = &trace->tracks.items[t].spans;
        for (size_t i = 0; i < spans->count; i++)
            readings += tkt_span_flags(&spans->items[i]) & TAKT_SPAN_PHASE ? 1 : 2;
    }
    if (trace->facts.has_spans)
        return readings;
    for (size_t i = 0; i < trace->fold.count; i++) {
        uint8_t kind = trace->sites.items[trace->fold.items[i].site].kind;
        uint64_t count = trace->fold.items[i].stats.count;
        readings += (double)count * (kind == TAKT_SITE_PHASE ? 1 : 2);
    }
    return readings;
}

/* The most that was allocated at once, and when: as the events say, or the total peak if it came
 * inside the window, which is all that is known when events were not recorded. */
static void find_peak(const tkt_window *window, takt_trace *trace)
{
    tkt_memory_totals *memory = &trace->memory;
    uint64_t now = memory->window_begin_bytes;
    memory->window_peak_bytes = now;
    memory->window_peak_ns = trace->facts.begin_ns;
    for (size_t i = 0; i < trace->memory_events.count; i++) {
        const tkt_memory_event *event = &trace->memory_events.items[i];
        now += (uint64_t)event->bytes;
        if ((int64_t)now > (int64_t)memory->window_peak_bytes) {
            memory->window_peak_bytes = now;
            memory->window_peak_ns = event->time_ns;
        }
    }
    uint64_t ticks = window->memory_after.peak_ticks;
    if (ticks >= window->begin_ticks && ticks <= window->end_ticks) {
        memory->window_peak_bytes = memory->peak_bytes;
        memory->window_peak_ns = memory->peak_ns;
    }
}

static takt_status fill_memory(const tkt_window *window, takt_trace *trace)
{
    const tkt_memory_state *before = &window->memory_before, *after = &window->memory_after;
    tkt_memory_totals *memory = &trace->memory;
    memory->window_begin_bytes = before->current_bytes;
    memory->window_allocations = after->allocations - before->allocations;
    memory->window_frees = after->frees - before->frees;
    memory->current_bytes = after->current_bytes;
    memory->peak_bytes = after->peak_bytes;
    memory->peak_ns = after->peak_ticks ? tkt_clock_ns(&window->fit, after->peak_ticks) : 0;
    memory->allocations = after->allocations;
    memory->frees = after->frees;
    memory->unmatched_frees = after->unmatched_frees;
    takt_status status = tkt_order_by_time(
        TKT_ORDER_ITEMS(&trace->memory_events, offsetof(tkt_memory_event, track)));
    find_peak(window, trace);
    return status;
}

/* A record costs about a tenth more than its clock readings (docs/overhead.md). */
#define COST_PER_READING 1.1

static void fill_facts(const tkt_window *window, takt_trace *trace)
{
    takt_facts *facts = &trace->facts;
    facts->end_ns = tkt_clock_ns(&window->fit, window->end_ticks);
    facts->realtime_offset_ns = window->realtime_offset_ns;
    facts->clock_uncertainty_ns = window->fit.uncertainty_ns > window->residual_ns
                                      ? window->fit.uncertainty_ns
                                      : window->residual_ns;
    facts->cost_ns = count_readings(trace) * clock_cost_ns(&window->fit) * COST_PER_READING;
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        facts->losses[i] += window->losses[i];
}

takt_status tkt_window_describe(const tkt_window *window, takt_trace *trace)
{
    uint32_t name = tkt_trace_string_of(trace, tkt_program_name());
    uint32_t backend = tkt_trace_string_of(trace, "none");
    uint32_t clock = tkt_trace_string_of(trace, tkt_clock_name());
    if (name == TKT_STRTAB_FULL || backend == TKT_STRTAB_FULL || clock == TKT_STRTAB_FULL)
        return TAKT_NO_MEMORY;
    trace->name = name;
    trace->backend = backend;
    trace->clock = clock;
    takt_facts *facts = &trace->facts;
    facts->begin_ns = tkt_clock_ns(&window->fit, window->begin_ticks);
    facts->realtime_offset_ns = tkt_clock_realtime_offset_ns();
    facts->process_id = tkt_process_id();
    facts->has_spans = (window->wish.modes & TKT_KEEP) != 0;
    facts->clock_resolution_ns = tkt_clock_resolution_ns(&window->fit);
    facts->clock_uncertainty_ns = window->fit.uncertainty_ns;
    return TAKT_OK;
}

takt_status tkt_window_seal(const tkt_window *window, takt_trace **out)
{
    const tkt_seal_window what = {
        .begin_ticks = window->begin_ticks,
        .end_ticks = window->end_ticks,
        .fit = window->fit,
        .with_spans = (window->wish.modes & TKT_KEEP) != 0,
        .with_fold = (window->wish.modes & TKT_FOLD) != 0,
        .folds = window->folds.items,
        .fold_count = window->folds.count,
    };
    if (tkt_record_is_disabled())
        return TAKT_BAD_STATE;
    if (window->folds_status != TAKT_OK)
        return window->folds_status;
    takt_trace *trace;
    takt_status status = tkt_seal(&what, &trace);
    if (status != TAKT_OK)
        return status;
    status = tkt_window_describe(window, trace);
    fill_facts(window, trace);
    if (status == TAKT_OK)
        status = fill_memory(window, trace);
    if (status == TAKT_OK)
        *out = trace;
    else
        takt_trace_release(trace);
    return status;
}
