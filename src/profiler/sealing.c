/* From an ended window to its trace: what the logs hold, what devices did, and the facts of the
 * recording. */
#include "profiler/window.h"

#include "base/error.h"
#include "base/file.h"
#include "trace/order.h"
#include "trace/seal.h"

#include <stdatomic.h>
#include <stdio.h>

#define MOST_RESEALING_NS UINT64_C(500000000)

#define EVENT_RESOLUTION_NS 500 /* cudaEventElapsedTime(): about half a microsecond */

/* What one reading of the clock costs, in ns, measured once. */
static double clock_cost_ns(const tkt_clock_fit *fit)
{
    static double cost; /* racing threads store about the same */
    double known;
    __atomic_load(&cost, &known, __ATOMIC_RELAXED);
    if (known > 0)
        return known;
    enum {
        READINGS = 256
    };
    uint64_t begin = tkt_ticks(), last = begin;
    for (int i = 0; i < READINGS; i++)
        last = tkt_ticks();
    known = (double)(last - begin) * tkt_clock_resolution_ns(fit) / READINGS;
    __atomic_store(&cost, &known, __ATOMIC_RELAXED);
    return known;
}

/* How many clock readings a trace took: two a span, one a phase; and a call stack of 20 frames that
 * has been seen before costs as much as two. */
static double count_readings(const takt_trace *trace)
{
    double readings = 0;
    for (size_t t = 0; t < trace->tracks.count; t++) {
        const tkt_spans *spans = &trace->tracks.items[t].spans;
        readings += 2.0 * (double)trace->tracks.items[t].stacks.count;
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

/* The string of the backend's name. */
static uint32_t add_backend(takt_trace *trace, const tkt_cuda_status *devices)
{
    char text[sizeof devices->text + 32];
    bool are_unsure = devices->backend == TKT_BACKEND_CUPTI && tkt_cuda_are_graphs_unsure();
    snprintf(text, sizeof text, "%s%s", devices->text,
             are_unsure ? ", scopes of graphs unsure" : "");
    return tkt_trace_string_of(trace, text);
}

takt_status tkt_window_describe(const tkt_window *window, takt_trace *trace)
{
    uint32_t name = tkt_trace_string_of(trace, tkt_program_name());
    tkt_cuda_status devices = {.text = "none"};
    if (window->devices.is_on)
        devices = tkt_cuda_status_now();
    uint32_t backend = add_backend(trace, &devices);
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
    if (devices.backend != TKT_BACKEND_NONE)
        facts->device_resolution_ns =
            devices.backend == TKT_BACKEND_EVENTS ? EVENT_RESOLUTION_NS : 1;
    return TAKT_OK;
}

/* What the logs hold. */
static takt_status seal_logs(const tkt_window *window, takt_trace **out)
{
    const tkt_seal_window what = {
        .begin_ticks = window->begin_ticks,
        .end_ticks = window->end_ticks,
        .last_correlation =
            window->devices.is_on ? tkt_devices_last_correlation(&window->devices) : 0,
        .fit = window->fit,
        .with_spans = (window->wish.modes & TKT_KEEP) != 0,
        .with_fold = (window->wish.modes & TKT_FOLD) != 0,
        .folds = window->folds.items,
        .fold_count = window->folds.count,
        .device_fold = window->devices.fold,
    };
    return tkt_seal(&what, out);
}

static tkt_join what_of_devices(const tkt_window *window)
{
    return (tkt_join){
        .filter = window->wish.modes & TKT_KEEP ? window->wish.devices : 0,
        .whole_graphs = window->wish.whole_graphs && (window->wish.modes & TKT_KEEP),
        .begin_ticks = window->begin_ticks,
        .end_ticks = window->end_ticks,
        .fit = window->fit,
    };
}

/* Seals what is known by now, and waits for what the logs say was launched. Without spans the folds
 * say it, which are sealed afterwards. */
static takt_status seal_and_settle(tkt_window *window, takt_trace **trace, tkt_device_end *end)
{
    const tkt_join what = what_of_devices(window);
    const tkt_device_wait how = {
        .synchronize = !window->wish.no_synchronize,
        .timeout_ms =
            window->wish.device_wait_ms ? window->wish.device_wait_ms : TKT_DEVICE_WAIT_MS,
        .window = window,
    };
    bool is_folded = window->devices.fold != NULL;
    takt_status status = is_folded && !what.filter ? TAKT_OK : seal_logs(window, trace);
    if (status == TAKT_OK)
        status = tkt_devices_settle(&window->devices, &what, &how, *trace, end);
    if (!is_folded || status != TAKT_OK)
        return status;
    takt_trace_release(*trace);
    return seal_logs(window, trace);
}

/* Calls that were under way when the window ended come into the logs when they return, and their
 * activities may come before. So the logs are sealed once more while there are such activities, but
 * not for ever: a call may block. */
static takt_status seal_settled(tkt_window *window, takt_trace **out, bool *is_settled)
{
    tkt_device_end end = {.is_settled = true};
    takt_trace *trace = NULL;
    takt_status status = seal_and_settle(window, &trace, &end);
    uint64_t until_ns = takt_now_ns() + MOST_RESEALING_NS;
    for (uint32_t pause_ms = 1;
         status == TAKT_OK && end.has_strays && !window->devices.fold && takt_now_ns() < until_ns;
         pause_ms *= 2) {
        tkt_thread_pause_ms(pause_ms);
        takt_trace_release(trace);
        trace = NULL;
        status = seal_and_settle(window, &trace, &end);
    }
    if (status != TAKT_OK) {
        takt_trace_release(trace);
        trace = NULL;
    }
    *is_settled = end.is_settled;
    *out = trace;
    return status;
}

/* A program that loads CUDA late, as a plug-in's, is noticed by windows that open afterwards. */
static void tell_late_cuda(const tkt_window *window)
{
    static atomic_flag is_told = ATOMIC_FLAG_INIT;
    if (window->wish.devices && !window->devices.is_on && tkt_cuda_is_used() &&
        !atomic_flag_test_and_set_explicit(&is_told, memory_order_relaxed))
        tkt_log(TAKT_LOG_WARNING, "CUDA was loaded while this was recorded: what devices do is "
                                  "recorded from the next recording on");
}

takt_status tkt_window_seal(tkt_window *window, takt_trace **out)
{
    if (tkt_record_is_disabled())
        return TAKT_BAD_STATE;
    if (window->folds_status != TAKT_OK)
        return window->folds_status;
    tell_late_cuda(window);
    bool is_settled;
    takt_trace *trace;
    takt_status status = seal_settled(window, &trace, &is_settled);
    if (status != TAKT_OK)
        return status;
    status = tkt_window_describe(window, trace);
    fill_facts(window, trace);
    if (status == TAKT_OK)
        status = fill_memory(window, trace);
    const tkt_join what = what_of_devices(window);
    if (status == TAKT_OK)
        status = tkt_devices_fill(&window->devices, &what, is_settled, trace);
    if (status == TAKT_OK)
        *out = trace;
    else
        takt_trace_release(trace);
    return status;
}
