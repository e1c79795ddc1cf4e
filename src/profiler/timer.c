/* ScopedTimer, and timings: activities collected over a block. */
#include "base/error.h"
#include "base/own.h"
#include "cuda/cuda.h"
#include "nvtx/nvtx.h"
#include "profiler/cycle.h"
#include "profiler/session.h"
#include "record/scope.h"
#include "report/show.h"
#include "report/text.h"

#include <takt/report.h>
#include <takt/timer.h>
#include <takt/trace.h>

#include <string.h>

/* ======== ScopedTimer ======== */

/* The time that a ScopedTimer prints lies between its two clock readings. All costly work happens
 * before the first or after the second: windows, NVTX, waiting for activities, tables. */

#define INDENT_WIDTH 4u
#define MAX_INDENT   64u
#define TREE_BYTES   ((size_t)64 << 10) /* most of a tree that is written at once */

/* The content of a takt_timer. */
typedef struct __attribute__((may_alias)) running {
    bool is_running; /* false: it has ended, or was inactive */
    uint64_t begin_ticks;
    const char *name;
    takt_open scope;
    takt_timing *timing;
    tkt_window *window;
    tkt_nvtx_open nvtx_range;
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

/* Reads the options. False if they are invalid. */
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
            "and fields unknown to Takt %s must be 0",
            timer->name, takt_version());
    return false;
}

static void collect_activities(running *timer)
{
    const takt_timing_options how = {.struct_size = sizeof how,
                                     .filter = timer->options.filter,
                                     .graph = timer->options.graph};
    if (takt_timing_begin(&how, &timer->timing) != TAKT_OK)
        tkt_log(TAKT_LOG_WARNING, "timer %s: activities are not collected", timer->name);
}

static void collect_scopes(running *timer)
{
    const tkt_wish wish = {.modes = TKT_KEEP, .mask = TAKT_NORMAL_BIT};
    if (tkt_window_open(&wish, &timer->window) != TAKT_OK)
        tkt_log(TAKT_LOG_WARNING, "timer %s: scopes are not collected", timer->name);
}

static tkt_nvtx_open start_range(const running *timer)
{
    const takt_timer_options *options = &timer->options;
    return tkt_nvtx_range_start(&(tkt_nvtx_range){
        .name = timer->name,
        .color = options->color,
        .domain = options->domain,
        .category = options->category,
        .payload = options->payload,
        .has_payload = options->has_payload,
    });
}

bool takt_timer_begin(takt_timer *opaque, const char *name, const takt_timer_options *options)
{
    running *timer = (running *)opaque;
    timer->is_running = false;
    timer->name = name ? name : "(null)";
    if (!takt_timers_are_on() || !take_options(timer, options) || timer->options.inactive)
        return false;
    timer->is_running = true;
    tkt_options_heeded();
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
        timer->nvtx_range = start_range(timer);
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

static void report_activities(const running *timer, const char *indent)
{
    TKT_PROGRAMS_WORK;
    timer->options.report(timer->timing, indent, timer->options.user);
}

/* Removes the spans of all other threads. */
static void keep_thread(takt_trace *trace, uint32_t thread_id)
{
    for (size_t i = 0; i < trace->tracks.count; i++)
        if (trace->tracks.items[i].thread_id != thread_id)
            trace->tracks.items[i].spans.count = 0;
}

/* A sink that indents lines. */
typedef struct indented {
    tkt_writer writer;
    const char *indent;
    bool is_inside; /* of a line */
} indented;

static takt_status write_indented(void *user, const void *data, size_t size)
{
    indented *to = user;
    const char *text = data;
    for (size_t length; size > 0; text += length, size -= length) {
        const char *end = memchr(text, '\n', size);
        length = end ? (size_t)(end - text) + 1 : size;
        if (!to->is_inside)
            tkt_writer_text(&to->writer, to->indent);
        tkt_writer_put(&to->writer, text, length);
        to->is_inside = !end;
    }
    return TAKT_OK;
}

/* What the lines below the table say holds for all trees. A loss does not. */
static tkt_part part_to_print(const takt_trace *trace)
{
    static bool was_printed; /* atomic */
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        if (trace->losses[i])
            return TKT_ALL;
    return __atomic_exchange_n(&was_printed, true, __ATOMIC_RELAXED) ? TKT_TABLES_ALONE : TKT_ALL;
}

static void print_tables(const takt_trace *trace, const char *indent)
{
    indented to = {.indent = indent};
    uint32_t width = tkt_print_width(0), used = (uint32_t)strlen(indent);
    const takt_sink sink = {write_indented, &to};
    const takt_report_options how = {.struct_size = sizeof how,
                                     .width = width > used ? width - used : width,
                                     .width_key = "a terminal's width of "};
    if (tkt_writer_init(&to.writer, tkt_print_sink(), TREE_BYTES) != TAKT_OK)
        return;
    tkt_report_part(trace, "tree", part_to_print(trace), &how, &sink);
    tkt_writer_fini(&to.writer);
}

static void print_tree(running *timer, uint64_t ticks, const char *indent)
{
    takt_trace *trace;
    tkt_window_end(timer->window, ticks);
    if (tkt_window_seal(timer->window, &trace) == TAKT_OK) {
        keep_thread(trace, tkt_thread_id());
        if (tkt_trace_finish(trace) == TAKT_OK)
            print_tables(trace, indent);
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

static void print(running *timer, uint64_t closed_ticks, double ms)
{
    char indent[MAX_INDENT + 1];
    uint32_t width = timer->indent < MAX_INDENT ? timer->indent : MAX_INDENT;
    TKT_UNCANCELLED;
    TKT_OWN_WORK;
    memset(indent, ' ', width);
    indent[width] = '\0';
    if (timer->timing && timer->options.report)
        report_activities(timer, indent);
    else if (timer->timing)
        takt_timing_print(timer->timing, indent);
    if (timer->window)
        print_tree(timer, closed_ticks, indent);
    print_line(timer, indent, ms);
    takt_thread_hot_v1.printing_timers--;
}

/* What a silent timer that collects nothing has no need of. */
static void tell(running *timer, uint64_t closed_ticks, double ms)
{
    if (!timer->options.silent)
        print(timer, closed_ticks, ms);
    else if (timer->timing && timer->options.report)
        report_activities(timer, "");
    if (timer->window)
        tkt_window_close(timer->window);
    if (timer->timing)
        takt_timing_free(timer->timing);
    if (!timer->options.silent)
        pthread_testcancel(); /* a thread may be cancelled where it prints */
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
    uint64_t closed_ticks = timer->window ? tkt_ticks() : 0;
    if (timer->options.nvtx)
        tkt_nvtx_range_end(timer->nvtx_range);
    if (timer->timing)
        tkt_timing_end_at(timer->timing, tkt_ticks());
    uint64_t ticks = end_ticks - timer->begin_ticks;
    double ms = tkt_own_ms(tkt_clock_duration_ns(tkt_clock_rate(end_ticks), ticks));
    if (timer->options.elapsed_ms)
        *timer->options.elapsed_ms = ms;
    if (timer->options.samples)
        append_sample(timer->options.samples, ms);
    if (!timer->options.silent || timer->timing || timer->window)
        tell(timer, closed_ticks, ms);
    return ms;
}

/* ======== Timings ======== */

struct takt_timing {
    takt_timing_options options;
    tkt_window *window; /* NULL once it has ended */
    takt_trace *trace;  /* keeps alive what the activities point to */
    TKT_ARRAY_OF(takt_activity) activities;
};

takt_status takt_timing_begin(const takt_timing_options *options, takt_timing **out)
{
    TKT_OWN_WORK;
    if (!out)
        return TAKT_BAD_ARGUMENT;
    takt_timing *timing = tkt_alloc_zeroed(sizeof *timing);
    if (!timing)
        return TAKT_NO_MEMORY;
    takt_status status = tkt_options_read(&timing->options, sizeof timing->options, options,
                                          "TAKT_TIMING_OPTIONS_INIT");
    if (timing->options.filter == 0)
        timing->options.filter = TAKT_TIMING_ALL;
    const tkt_wish wish = {
        .modes = TKT_KEEP,
        .mask = TAKT_NORMAL_BIT,
        .devices = timing->options.filter,
        .no_synchronize = timing->options.no_synchronize,
        .whole_graphs = timing->options.graph == TAKT_GRAPH_LAUNCH,
    };
    if (status == TAKT_OK)
        status = tkt_window_open(&wish, &timing->window);
    if (status != TAKT_OK) {
        tkt_free(timing);
        return status;
    }
    *out = timing;
    return TAKT_OK;
}

/* True if the activity is of a requested kind and was launched in the window. */
static bool is_wanted(const takt_timing *timing, const tkt_activity *activity)
{
    if (!(activity->filter & timing->options.filter))
        return false;
    if (activity->span == TKT_NO_SPAN)
        return true;
    const tkt_track *track = &timing->trace->tracks.items[activity->track];
    return !(tkt_span_flags(&track->spans.items[activity->span]) & TAKT_SPAN_BEGUN_BEFORE);
}

static takt_status add_activity(takt_timing *timing, size_t index)
{
    if (!is_wanted(timing, &timing->trace->activities.items[index]))
        return TAKT_OK;
    takt_activity *activity = TKT_ARRAY_ADD(&timing->activities);
    if (!activity)
        return TAKT_NO_MEMORY;
    takt_trace_activity(timing->trace, index, activity);
    return TAKT_OK;
}

uint64_t tkt_activity_issue_ns(const takt_trace *trace, const tkt_activity *activity)
{
    if (activity->call == TKT_NO_CALL)
        return activity->begin_ns;
    const tkt_call_info *call = &trace->calls.items[activity->call];
    return trace->tracks.items[call->track].spans.items[call->span].begin_ns;
}

/* Takes activities in issue order. A trace lists those of devices before those of the host, each in
 * issue order. */
static takt_status take_activities(takt_timing *timing)
{
    const takt_trace *trace = timing->trace;
    const tkt_activity *all = trace->activities.items;
    size_t device = 0, count = trace->activities.count, host = 0;
    takt_status status = TAKT_OK;
    while (host < count && all[host].span == TKT_NO_SPAN)
        host++;
    size_t device_count = host;
    while (status == TAKT_OK && (device < device_count || host < count)) {
        bool is_device =
            host == count || (device < device_count &&
                              tkt_activity_issue_ns(trace, &all[device]) <= all[host].begin_ns);
        status = add_activity(timing, is_device ? device++ : host++);
    }
    return status;
}

takt_status tkt_timing_end_at(takt_timing *timing, uint64_t ticks)
{
    TKT_OWN_WORK;
    TKT_UNCANCELLED;
    if (!timing || !timing->window)
        return TAKT_BAD_STATE;
    tkt_window_end(timing->window, ticks);
    takt_status status = tkt_window_seal(timing->window, &timing->trace);
    tkt_window_close(timing->window);
    timing->window = NULL;
    if (status == TAKT_OK)
        status = tkt_trace_finish(timing->trace);
    if (status == TAKT_OK)
        status = take_activities(timing);
    return status;
}

takt_status takt_timing_end(takt_timing *timing)
{
    return tkt_timing_end_at(timing, tkt_ticks());
}

size_t takt_timing_count(const takt_timing *timing)
{
    return timing ? timing->activities.count : 0;
}

/* The first ones are those of devices that told nothing. */
static const uint8_t timing_losses[] = {TAKT_LOSS_INCOMPLETE,  TAKT_LOSS_NO_ACTIVITY,
                                        TAKT_LOSS_BUFFER_FULL, TAKT_LOSS_OVERWRITTEN,
                                        TAKT_LOSS_NO_MEMORY,   TAKT_LOSS_DEVICE_DROPPED};
#define UNTOLD_LOSSES 2

static uint64_t count_losses(const takt_timing *timing, size_t from, size_t to)
{
    uint64_t lost = 0;
    for (size_t i = from; timing && timing->trace && i < to; i++)
        lost += takt_trace_loss(timing->trace, timing_losses[i]);
    return lost;
}

uint64_t takt_timing_lost(const takt_timing *timing)
{
    return count_losses(timing, 0, sizeof timing_losses);
}

const takt_activity *takt_timing_at(const takt_timing *timing, size_t index)
{
    return index < takt_timing_count(timing) ? &timing->activities.items[index] : NULL;
}

void takt_timing_print(const takt_timing *timing, const char *indent)
{
    TKT_OWN_WORK;
    takt_sink sink = tkt_print_sink();
    uint64_t untold = count_losses(timing, 0, UNTOLD_LOSSES);
    uint64_t lost = takt_timing_lost(timing) - untold;
    if (timing)
        tkt_warp_print(timing->activities.items, timing->activities.count, indent, &sink);
    if (lost)
        tkt_print("%sCareful: %llu events were lost, perhaps activities; raise max_memory\n",
                  indent ? indent : "", (unsigned long long)lost);
    if (untold)
        tkt_print("%sCareful: of %llu launches no activity has arrived\n", indent ? indent : "",
                  (unsigned long long)untold);
}

void takt_timing_free(takt_timing *timing)
{
    if (!timing)
        return;
    tkt_window_close(timing->window);
    takt_trace_release(timing->trace);
    TKT_ARRAY_FREE(&timing->activities);
    tkt_free(timing);
}
