/* ScopedTimer. What it prints is between its two clock readings; everything that costs - windows,
 * NVTX, waiting for activities, tables - happens before the first and after the second. */
#include <takt/timer.h>

#include "base/error.h"
#include "cuda/cuda.h"
#include "nvtx/nvtx.h"
#include "profiler/print.h"
#include "profiler/session.h"
#include "profiler/timing.h"
#include "record/scope.h"

#include <takt/report.h>

#include <string.h>

#define INDENT_WIDTH 4u
#define MAX_INDENT   64u

/* What stands in a takt_timer. */
typedef struct __attribute__((may_alias)) running {
    bool is_running; /* false: it has ended, or did nothing */
    uint64_t begin_ticks;
    const char *name;
    takt_open scope;
    takt_timing *timing;
    tkt_window *window;
    uint64_t nvtx_range;
    uint32_t indent;
    takt_timer_options options;
} running;

_Static_assert(sizeof(running) <= sizeof(takt_timer), "programs were compiled with its size");

TAKT_API uint32_t takt_timers_off_v1;

void takt_timers_enable(bool enable)
{
    __atomic_store_n(&takt_timers_off_v1, enable ? 0 : 1, __ATOMIC_RELAXED);
}

/* ---- Begin ----------------------------------------------------------------------------------- */

/* False where the options cannot be understood. */
static bool take_options(running *timer, const takt_timer_options *options)
{
    if (!options) {
        timer->options = (takt_timer_options){.struct_size = sizeof *options};
        return true;
    }
    if (options->struct_size == sizeof *options) {
        timer->options = *options;
        return true;
    }
    if (tkt_options_import(&timer->options, sizeof *options, options) == TAKT_OK)
        return true;
    tkt_log(TAKT_LOG_ERROR,
            "timer %s does nothing: struct_size of its options must be sizeof(takt_timer_options), "
            "and what is unknown to Takt %s be 0",
            timer->name, takt_version());
    return false;
}

static void collect_activities(running *timer)
{
    const takt_timing_options how = {.struct_size = sizeof how, .filter = timer->options.filter};
    if (takt_timing_begin(&how, &timer->timing) != TAKT_OK)
        tkt_log(TAKT_LOG_WARNING, "timer %s: activities are not collected", timer->name);
}

static void collect_scopes(running *timer)
{
    const tkt_wish wish = {.modes = TKT_KEEP, .mask = TAKT_NORMAL_BIT};
    if (tkt_window_open(&wish, &timer->window) != TAKT_OK)
        tkt_log(TAKT_LOG_WARNING, "timer %s: scopes are not collected", timer->name);
}

bool takt_timer_begin(takt_timer *opaque, const char *name, const takt_timer_options *options)
{
    running *timer = (running *)opaque;
    timer->is_running = false;
    timer->name = name ? name : "(null)";
    if (!takt_timers_are_on() || !take_options(timer, options) || timer->options.inactive)
        return false;
    timer->is_running = true;
    timer->timing = NULL;
    timer->window = NULL;
    if (timer->options.synchronize)
        tkt_cuda_synchronize();
    if (!timer->options.silent)
        timer->indent = (uint32_t)(takt_thread_hot_v1.printing_timers++ * INDENT_WIDTH);
    if (timer->options.filter)
        collect_activities(timer);
    if (timer->options.detailed)
        collect_scopes(timer);
    if (timer->options.nvtx)
        timer->nvtx_range = tkt_nvtx_range_start(timer->name, timer->options.color);
    timer->scope = tkt_scope_open_named(timer->name, __builtin_return_address(0));
    timer->begin_ticks = tkt_ticks();
    return true;
}

/* ---- End ------------------------------------------------------------------------------------- */

static void append_sample(takt_samples *samples, double ms)
{
    if (tkt_array_reserve(&samples->ms, &samples->capacity, samples->count + 1, sizeof(double)))
        samples->ms[samples->count++] = ms;
}

void takt_samples_free(takt_samples *samples)
{
    tkt_free(samples->ms);
    *samples = (takt_samples){0};
}

static void print_activities(const running *timer, const char *indent)
{
    if (timer->options.report)
        timer->options.report(timer->timing, indent, timer->options.user);
    else
        takt_timing_print(timer->timing, indent);
}

/* Leaves this thread's track alone in the trace. */
static void keep_thread(takt_trace *trace, uint32_t thread_id)
{
    for (size_t i = 0; i < trace->tracks.count; i++)
        if (trace->tracks.items[i].thread_id != thread_id)
            trace->tracks.items[i].spans.count = 0;
}

static void print_tree(running *timer, uint64_t ticks)
{
    takt_trace *trace;
    tkt_window_end(timer->window, ticks);
    if (tkt_window_seal(timer->window, &trace) == TAKT_OK) {
        takt_sink sink = tkt_print_sink();
        const takt_report_options how = {.struct_size = sizeof how,
                                         .width = tkt_print_width(0),
                                         .width_key = "a terminal's width of "};
        keep_thread(trace, tkt_thread_id());
        if (tkt_trace_finish(trace) == TAKT_OK)
            takt_report(trace, "tree", &how, &sink);
        takt_trace_release(trace);
    }
    tkt_window_close(timer->window);
    timer->window = NULL;
}

static void print_line(const running *timer, const char *indent, double ms)
{
    const char *extra = timer->options.extra ? timer->options.extra : "";
    tkt_print("%s%s took %.2f ms%s%s\n", indent, timer->name, ms, *extra ? " " : "", extra);
}

static void print(running *timer, uint64_t end_ticks, double ms)
{
    char indent[MAX_INDENT + 1];
    uint32_t width = timer->indent < MAX_INDENT ? timer->indent : MAX_INDENT;
    memset(indent, ' ', width);
    indent[width] = '\0';
    if (timer->timing)
        print_activities(timer, indent);
    if (timer->window)
        print_tree(timer, end_ticks);
    print_line(timer, indent, ms);
    takt_thread_hot_v1.printing_timers--;
}

double takt_timer_end(takt_timer *opaque)
{
    running *timer = (running *)opaque;
    if (!timer || !timer->is_running)
        return 0;
    if (timer->options.synchronize)
        tkt_cuda_synchronize();
    uint64_t end_ticks = tkt_ticks();
    timer->is_running = false;
    takt_scope_close(timer->scope);
    if (timer->options.nvtx)
        tkt_nvtx_range_end(timer->nvtx_range);
    if (timer->timing)
        tkt_timing_end_at(timer->timing, tkt_ticks());
    uint64_t ticks = end_ticks - timer->begin_ticks;
    double ms = (double)tkt_clock_duration_ns(tkt_clock_rate(end_ticks), ticks) / 1e6;
    if (timer->options.elapsed_ms)
        *timer->options.elapsed_ms = ms;
    if (timer->options.samples)
        append_sample(timer->options.samples, ms);
    if (!timer->options.silent)
        print(timer, end_ticks, ms);
    if (timer->window)
        tkt_window_close(timer->window);
    if (timer->timing)
        takt_timing_free(timer->timing);
    return ms;
}
