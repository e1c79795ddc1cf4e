/* From an ended window to its trace: the content of the logs, the activities of devices, and the
 * facts of the recording. */
#include "profiler/cycle.h"

#include "base/dynlib.h"
#include "base/error.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/thread.h"
#include "cuda/timers.h"
#include "profiler/session.h"
#include "trace/cost.h"
#include "trace/order.h"
#include "trace/seal.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>

#define RESEALING_MS  500u /* for calls that may not exist */
#define MOST_PAUSE_MS 256u
#define MOST_CALLS    256u

#define EVENT_RESOLUTION_NS 500 /* cudaEventElapsedTime(): about half a microsecond */

static void fill_totals(const tkt_window *window, const tkt_memory_state *after,
                        tkt_memory_totals *memory)
{
    const tkt_memory_state *before = &window->memory_before;
    memory->window_begin_bytes = before->current_bytes;
    memory->window_allocations = after->allocations - before->allocations;
    memory->window_frees = after->frees - before->frees;
    memory->current_bytes = after->current_bytes;
    memory->peak_bytes = after->peak.bytes;
    memory->peak_ns = after->peak.ticks ? tkt_clock_ns(&window->fit, after->peak.ticks) : 0;
    memory->allocations = after->allocations;
    memory->frees = after->frees;
    memory->unmatched_frees = after->unmatched_frees;
}

/* Clears totals that are unknown since the program's start. */
static void keep_known(const tkt_memory_state *after, tkt_memory_totals *memory)
{
    if (after->is_since_start)
        return;
    memory->is_of_recording = 1;
    memory->peak_bytes = memory->peak_ns = 0;
    memory->allocations = memory->frees = memory->unmatched_frees = 0;
}

/* The mark at which the peak began anew is a moment before the recording's begin. */
static void fill_peak(const tkt_window *window, const tkt_memory_state *after, takt_trace *trace)
{
    uint64_t ticks = after->high.ticks;
    trace->memory.window_peak_bytes = after->high.bytes;
    trace->memory.window_peak_ns =
        ticks > window->begin_ticks ? tkt_clock_ns(&window->fit, ticks) : trace->facts.begin_ns;
}

static takt_status fill_memory(const tkt_window *window, takt_trace *trace)
{
    fill_totals(window, &window->memory_after, &trace->memory);
    takt_status status = tkt_order_by_time(
        TKT_ORDER_ITEMS(&trace->memory_events, offsetof(tkt_memory_event, track)));
    fill_peak(window, &window->memory_after, trace);
    if (status == TAKT_OK)
        tkt_memory_raise_peak(trace);
    keep_known(&window->memory_after, &trace->memory);
    return status;
}

/* So far, or of an ended window. */
static double longest_ns(const tkt_window *window)
{
    uint64_t ticks = tkt_window_has_ended(window) ? window->longest_ticks
                                                  : tkt_record_longest(window->number);
    return (double)ticks * tkt_clock_resolution_ns(&window->fit);
}

static void fill_facts(const tkt_window *window, takt_trace *trace)
{
    takt_facts *facts = &trace->facts;
    facts->cost_longest_ns = longest_ns(window);
    facts->end_ns = tkt_clock_ns(&window->fit, window->end_ticks);
    facts->realtime_offset_ns = window->realtime_offset_ns;
    facts->clock_uncertainty_ns = window->fit.uncertainty_ns > window->residual_ns
                                      ? window->fit.uncertainty_ns
                                      : window->residual_ns;
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        trace->losses[i] += window->losses.counts[i];
    trace->losses[TAKT_LOSS_OVERWRITTEN] += window->losses.overwritten_read;
    trace->losses[TAKT_LOSS_BUFFER_FULL] += window->losses.dropped_read;
}

/* Returns by how much. */
static uint64_t subtract(uint64_t *from, uint64_t now, uint64_t before)
{
    uint64_t since = now > before ? now - before : 0;
    since = since < *from ? since : *from;
    *from -= since;
    return since;
}

/* Reads what excuses losses first: a loss that comes in between rather counts too much. */
tkt_window_losses tkt_window_losses_now(const tkt_window *window)
{
    const tkt_excused now = tkt_record_excused(window->number), *before = &window->excused_before;
    bool is_kept = (window->wish.modes & TKT_KEEP) != 0;
    tkt_window_losses losses = {0};
    tkt_log_losses(losses.counts);
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        losses.counts[i] -= window->losses_before[i];
    uint64_t *overwritten = &losses.counts[TAKT_LOSS_OVERWRITTEN];
    uint64_t *dropped = &losses.counts[TAKT_LOSS_BUFFER_FULL];
    subtract(overwritten, now.overwritten, before->overwritten);
    subtract(dropped, is_kept ? now.dropped : now.folded,
             is_kept ? before->dropped : before->folded);
    if (!is_kept)
        return losses;
    losses.overwritten_read = subtract(overwritten, now.overwritten_read, before->overwritten_read);
    losses.dropped_read = subtract(dropped, now.dropped_read, before->dropped_read);
    return losses;
}

static double device_resolution_ns(tkt_backend backend)
{
    if (backend == TKT_BACKEND_NONE)
        return 0;
    return backend == TKT_BACKEND_EVENTS ? EVENT_RESOLUTION_NS : tkt_store_step_ns(tkt_store_get());
}

void tkt_window_progress(const tkt_window *window, const takt_trace *slice, takt_trace *so_far)
{
    takt_facts *facts = &so_far->facts;
    bool goes_on = slice && !tkt_window_has_ended(window);
    const tkt_window_losses losses = goes_on ? tkt_window_losses_now(window) : window->losses;
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        so_far->losses[i] += losses.counts[i];
    const tkt_memory_state memory = slice ? tkt_window_memory(window) : window->memory_after;
    fill_totals(window, &memory, &so_far->memory);
    fill_peak(window, &memory, so_far);
    keep_known(&memory, &so_far->memory);
    facts->cost_ns += slice ? tkt_cost_of(slice, &window->fit) : 0;
    facts->cost_longest_ns = longest_ns(window);
    facts->realtime_offset_ns = tkt_clock_realtime_offset_ns();
    if (facts->device_resolution_ns != 0)
        facts->device_resolution_ns = device_resolution_ns(tkt_cuda_status_now().backend);
    facts->clock_uncertainty_ns = tkt_clock_residual_ns(&window->fit);
    if (window->fit.uncertainty_ns > facts->clock_uncertainty_ns)
        facts->clock_uncertainty_ns = window->fit.uncertainty_ns;
}

void tkt_window_backend(const tkt_window *window, const tkt_cuda_status *devices,
                        char out[TKT_BACKEND_SIZE])
{
    static const char *const kinds[] = {"kernel", "builtin", "memcpy", "memset"};
    bool are_unsure = devices->backend == TKT_BACKEND_CUPTI && tkt_cuda_are_graphs_unsure();
    int size = snprintf(out, TKT_BACKEND_SIZE, "%s%s", devices->text,
                        are_unsure ? ", scopes of graphs unsure" : "");
    const char *before = TKT_BACKEND_WITHOUT;
    for (size_t i = 0; devices->backend && i < sizeof kinds / sizeof *kinds; i++)
        if (!(window->wish.devices & (TAKT_TIMING_KERNEL << i))) {
            size += snprintf(out + size, TKT_BACKEND_SIZE - (size_t)size, "%s%s", before, kinds[i]);
            before = " ";
        }
}

takt_status tkt_window_describe(const tkt_window *window, takt_trace *trace)
{
    uint32_t name = tkt_trace_string_of(trace, tkt_program_name());
    tkt_cuda_status devices = {.text = "none"};
    char text[TKT_BACKEND_SIZE];
    if (window->devices.is_on)
        devices = tkt_cuda_status_now();
    tkt_window_backend(window, &devices, text);
    uint32_t backend = tkt_trace_string_of(trace, text);
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
    facts->process_key = tkt_process_key();
    tkt_rank(&facts->rank, &facts->world_size);
    facts->has_spans = (window->wish.modes & TKT_KEEP) != 0;
    facts->clock_resolution_ns = tkt_clock_resolution_ns(&window->fit);
    facts->clock_uncertainty_ns = window->fit.uncertainty_ns;
    facts->device_resolution_ns = device_resolution_ns(devices.backend);
    return TAKT_OK;
}

static void add_folds(const tkt_window *window, tkt_seal_window *request)
{
    request->with_fold = (window->wish.modes & TKT_FOLD) != 0;
    request->folds = window->folds.items;
    request->fold_count = window->folds.count;
    request->device_fold = window->devices.fold;
}

/* Seals the content of the logs from `begin_ticks` on. */
static takt_status seal_logs(const tkt_window *window, uint64_t begin_ticks, takt_trace **out)
{
    tkt_seal_window request = tkt_window_bounds(window, true);
    request.begin_ticks = begin_ticks;
    if (window->devices.is_on)
        request.last_correlation = tkt_devices_last_correlation(&window->devices);
    request.with_spans = (window->wish.modes & TKT_KEEP) != 0;
    add_folds(window, &request);
    return tkt_seal(&request, out);
}

static tkt_join join_from(const tkt_window *window, uint64_t begin_ticks)
{
    return (tkt_join){
        .filter = window->wish.modes & TKT_KEEP ? window->wish.devices : 0,
        .whole_graphs = window->wish.whole_graphs && (window->wish.modes & TKT_KEEP),
        .begin_ticks = begin_ticks,
        .end_ticks = window->end_ticks,
        .fit = window->fit,
    };
}

static uint32_t wait_ms(const tkt_window *window)
{
    uint32_t ms = window->wish.device_wait_ms;
    return ms ? ms : tkt_patience_ms(TKT_DEVICE_WAIT_MS);
}

/* Seals the records so far, and waits for the work that they launched. Without spans the folds have
 * the launches, and are sealed afterwards. */
static takt_status seal_and_settle(tkt_window *window, uint64_t begin_ticks, takt_trace **trace,
                                   tkt_device_end *end)
{
    const tkt_join join = join_from(window, begin_ticks);
    uint32_t calls[MOST_CALLS];
    const tkt_device_wait how = {
        .synchronize = !window->wish.no_synchronize,
        .timeout_ms = wait_ms(window),
        .window = window,
        .calls = calls,
        .call_count = tkt_log_calls_under_way(calls, MOST_CALLS),
    };
    bool is_folded = window->devices.fold != NULL;
    takt_status status =
        is_folded && !join.filter ? TAKT_OK : seal_logs(window, begin_ticks, trace);
    if (status == TAKT_OK)
        status = tkt_devices_settle(&window->devices, &join, &how, *trace, end);
    if (!is_folded || status != TAKT_OK)
        return status;
    size_t awaited = *trace ? (*trace)->calls.count : 0;
    takt_trace_release(*trace);
    *trace = NULL;
    status = seal_logs(window, begin_ticks, trace);
    /* Calls that have returned meanwhile were not waited for. */
    end->has_strays |= status == TAKT_OK && join.filter && (*trace)->calls.count > awaited;
    return status;
}

static uint64_t resealing_ns(const tkt_window *window, const tkt_device_end *end)
{
    bool waits = end->is_call_under_way && !window->wish.no_synchronize;
    uint32_t ms = waits && wait_ms(window) > RESEALING_MS ? wait_ms(window) : RESEALING_MS;
    return ms * UINT64_C(1000000);
}

/* Calls that were under way when the window ended reach the logs when they return, and their
 * activities may arrive before. The logs are then sealed again: for as long as the window waits for
 * devices if such a call is known, otherwise for a short time, since the call may not exist. */
static takt_status seal_settled(tkt_window *window, uint64_t begin_ticks, takt_trace **out,
                                tkt_device_end *end)
{
    takt_trace *trace = NULL;
    *end = (tkt_device_end){.is_settled = true};
    takt_status status = seal_and_settle(window, begin_ticks, &trace, end);
    uint64_t begin_ns = takt_now_ns();
    uint32_t pause_ms = 1;
    while (status == TAKT_OK && end->has_strays &&
           takt_now_ns() - begin_ns < resealing_ns(window, end)) {
        tkt_thread_pause_ms(pause_ms);
        pause_ms = pause_ms < MOST_PAUSE_MS ? 2 * pause_ms : pause_ms;
        takt_trace_release(trace);
        trace = NULL;
        status = seal_and_settle(window, begin_ticks, &trace, end);
    }
    if (status != TAKT_OK) {
        takt_trace_release(trace);
        trace = NULL;
    }
    *out = trace;
    return status;
}

/* Warns if CUDA was loaded late, as by a plugin: only windows that open later notice. */
static void warn_late_cuda(const tkt_window *window)
{
    static atomic_flag is_told = ATOMIC_FLAG_INIT;
    if (window->wish.devices && !window->devices.is_on && tkt_cuda_is_used() &&
        !atomic_flag_test_and_set_explicit(&is_told, memory_order_relaxed))
        tkt_log(TAKT_LOG_WARNING,
                "CUDA was loaded during this recording: activities of devices are "
                "recorded from the next recording on");
}

static const char *file_of(const char *name)
{
    return *name ? name : tkt_program_name();
}

/* Warns once about several copies of Takt. At this point plugins have been loaded, and their scopes
 * are missing. */
static void warn_instances(void)
{
    static atomic_flag is_told = ATOMIC_FLAG_INIT;
    const char *names[2];
    size_t count = tkt_instances(names, 2);
    if (count > 1 && !atomic_flag_test_and_set_explicit(&is_told, memory_order_relaxed))
        tkt_log(
            TAKT_LOG_WARNING,
            "this process has %zu copies of Takt, in %s and %s, and each records its own "
            "scopes only: link the program and its plugins with libtakt.so instead of libtakt.a",
            count, file_of(names[0]), file_of(names[1]));
}

/* Reads of timers inside kernels that are under way belong to the launches that the window waited
 * for. */
static takt_status fill_phases(const tkt_window *window, takt_trace *trace)
{
    tkt_timers_settle(window->wish.no_synchronize ? 0 : wait_ms(window));
    const tkt_phase_window what = {
        .begin_ns = tkt_clock_ns(&window->fit, window->begin_ticks),
        .end_ns = tkt_clock_ns(&window->fit, window->end_ticks),
        .first_correlation = tkt_devices_first_correlation(&window->devices),
        .last_correlation = tkt_devices_last_correlation(&window->devices),
    };
    return tkt_phases_fill(trace, &what);
}

takt_status tkt_window_seal(tkt_window *window, takt_trace **out)
{
    if (tkt_process_is_disabled())
        return TAKT_BAD_STATE;
    if (window->folds_status != TAKT_OK)
        return window->folds_status;
    warn_late_cuda(window);
    warn_instances();
    tkt_device_end end;
    takt_trace *trace;
    takt_status status = seal_settled(window, window->begin_ticks, &trace, &end);
    if (status != TAKT_OK)
        return status;
    status = tkt_window_describe(window, trace);
    fill_facts(window, trace);
    if (status == TAKT_OK)
        status = fill_memory(window, trace);
    trace->facts.cost_ns = fmin(tkt_cost_of(trace, &window->fit), tkt_cost_limit(trace));
    const tkt_join join = join_from(window, window->begin_ticks);
    if (status == TAKT_OK)
        status = tkt_devices_fill(&window->devices, &join, &end, trace);
    if (status == TAKT_OK)
        status = fill_phases(window, trace);
    if (status == TAKT_OK)
        *out = trace;
    else
        takt_trace_release(trace);
    return status;
}

takt_status tkt_window_fill_phases(const tkt_window *window, takt_trace *trace)
{
    trace->phase_segments.count = trace->phase_records.count = 0;
    trace->losses[TAKT_LOSS_PHASES] = trace->losses[TAKT_LOSS_PHASE_BLOCKS] = 0;
    trace->losses[TAKT_LOSS_PHASE_NUMBER] = 0;
    takt_status status = fill_phases(window, trace);
    return status == TAKT_OK ? tkt_phases_finish(trace) : status;
}

takt_status tkt_window_seal_sums(const tkt_window *window, takt_trace *trace)
{
    tkt_seal_window request = tkt_window_bounds(window, true);
    add_folds(window, &request);
    if (!request.with_fold || window->folds_status != TAKT_OK)
        return window->folds_status;
    return tkt_seal_sums(&request, trace);
}

takt_status tkt_window_settle(tkt_window *window, bool *is_settled)
{
    tkt_device_end end;
    takt_trace *rest;
    if (tkt_process_is_disabled())
        return TAKT_BAD_STATE;
    takt_status status = seal_settled(window, window->kept_ticks, &rest, &end);
    if (status == TAKT_OK)
        takt_trace_release(rest);
    *is_settled = end.is_settled;
    return status;
}

/* ---- While it goes on ------------------------------------------------------------------------ */

static takt_status copy_folds(tkt_window *window)
{
    takt_status status = TAKT_OK;
    for (tkt_thread_log *log = tkt_log_first(); log && status == TAKT_OK; log = tkt_log_next(log)) {
        tkt_fold *fold = tkt_window_add_fold(window);
        status = fold ? tkt_log_fold_copy(log, window->end_ticks, fold) : TAKT_NO_MEMORY;
    }
    if (window->folds.count > 0 && status == TAKT_OK)
        tkt_fold_open_tasks(&window->folds.items[0], window->end_ticks);
    return status;
}

static void drop_folds(tkt_window *window)
{
    for (size_t i = 0; i < window->folds.count; i++)
        tkt_fold_fini(&window->folds.items[i]);
    window->folds.count = 0;
}

/* With the window's lock `snapshots`: makes a trace as if the window ended now. */
static takt_status take_snapshot(tkt_window *window, takt_trace **out)
{
    window->end_ticks = tkt_ticks();
    tkt_mutex_lock(&window->devices.rounds);
    takt_status status = copy_folds(window);
    if (status == TAKT_OK)
        status = seal_logs(window, window->begin_ticks, out);
    if (status == TAKT_OK)
        tkt_devices_progress(&window->devices, (*out)->losses);
    tkt_mutex_unlock(&window->devices.rounds);
    drop_folds(window);
    return status;
}

takt_status tkt_window_snapshot(tkt_window *window, takt_trace **out)
{
    tkt_mutex_lock(&window->snapshots);
    bool is_over = window->is_ended || tkt_process_is_disabled();
    takt_status status = is_over ? TAKT_BAD_STATE : take_snapshot(window, out);
    uint64_t end_ticks = window->end_ticks;
    tkt_mutex_unlock(&window->snapshots);
    if (status != TAKT_OK)
        return status;
    (*out)->facts.end_ns = tkt_clock_ns(&window->fit, end_ticks);
    status = tkt_window_describe(window, *out);
    tkt_window_progress(window, *out, *out);
    if (status != TAKT_OK)
        takt_trace_release(*out);
    return status;
}
