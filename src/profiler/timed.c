/* Timed blocks: every repetition is kept, which makes the median exact. */
#include <takt/timer.h>

#include "base/error.h"
#include "base/own.h"
#include "base/text.h"
#include "cuda/cuda.h"
#include "profiler/cycle.h"
#include "profiler/session.h"
#include "report/show.h"
#include "record/control.h"
#include "record/log.h"

#include <takt/report.h>
#include <takt/trace.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RESULT_BYTES ((size_t)64 << 10) /* larger than takt_timed in any version */

typedef struct round_ticks {
    uint64_t begin;
    uint64_t end;
} round_ticks;

struct tkt_timed {
    takt_timed_options options;
    TKT_ARRAY_OF(double) ns;          /* of each repetition that counts */
    TKT_ARRAY_OF(round_ticks) rounds; /* the same repetitions; only with devices */
    uint64_t begin_ticks;             /* of the current round */
    tkt_window *window;               /* requests declared work and devices */
    tkt_window *reported;             /* of the rounds that count; NULL without reports */
    bool with_devices;
    bool has_cupti;
    uint32_t correlation;              /* of the last call into CUDA before the current round */
    double flops_before, bytes_before; /* declared before the rounds that count */
    double flops, bytes;               /* declared up to the end of the last round */
};

/* The content of a takt_timed_loop. */
typedef struct __attribute__((may_alias)) rounds {
    takt_timed *result;
    size_t result_size;
    uint64_t round;          /* rounds begun, including warm-up */
    struct tkt_timed *state; /* NULL without memory: the rounds run but are not measured */
    uint32_t repeat, warmup;
    bool synchronizes;
    bool is_lazy; /* waits for devices only after rounds that called CUDA */
} rounds;

_Static_assert(sizeof(rounds) <= sizeof(takt_timed_loop), "programs were compiled with its size");

static takt_timed_options take_options(const takt_timed_options *options)
{
    takt_timed_options all = {.struct_size = sizeof all};
    if (tkt_options_import(&all, sizeof all, options) != TAKT_OK)
        tkt_log(TAKT_LOG_ERROR,
                "a timed block runs without its options: their struct_size must be "
                "sizeof(takt_timed_options), and fields unknown to Takt %s must be 0",
                takt_version());
    if (all.repeat == 0)
        all.repeat = 1;
    return all;
}

/* True if rounds wait for devices although the options do not ask for it. Callers that do not know
 * how to say no get what they got before. */
static bool waits_by_default(const takt_timed_options *given, const takt_timed_options *read)
{
    const size_t known = offsetof(takt_timed_options, no_synchronize) + sizeof(bool);
    return given && given->struct_size >= known && !read->no_synchronize && tkt_cuda_is_used();
}

/* Returns the caller's sizeof(takt_timed), or 0 if the size is invalid or there is no result. */
static size_t room_in(const takt_timed *result, size_t size)
{
    if (result && (size < sizeof result->struct_size || size > MOST_RESULT_BYTES)) {
        tkt_log(TAKT_LOG_ERROR, "a timed block gives no result: result_size must be "
                                "sizeof(takt_timed)");
        return 0;
    }
    return result ? size : 0;
}

/* Opens the window that notes declared work and, if the program uses CUDA, devices. */
static void observe(struct tkt_timed *state)
{
    tkt_wish wish = {.mask = TAKT_WORK_BIT};
    uint32_t activities = state->options.activities;
    bool with_cuda = !activities || (activities & TAKT_ACTIVITIES_CUDA);
    if (with_cuda && tkt_cuda_is_used()) {
        wish.devices = TAKT_TIMING_ALL;
        wish.modes = TKT_KEEP | TKT_MEMORY;
    }
    if (tkt_window_open(&wish, &state->window) != TAKT_OK)
        return;
    state->with_devices = wish.devices != 0;
    if (state->with_devices)
        state->has_cupti = tkt_cuda_status_now().backend == TKT_BACKEND_CUPTI;
}

takt_timed_loop takt_timed_begin(takt_timed *result, size_t result_size,
                                 const takt_timed_options *options)
{
    TKT_OWN_WORK;
    takt_timed_loop opaque = {{0}};
    rounds *loop = (rounds *)&opaque;
    takt_timed_options all = take_options(options);
    loop->result = result;
    loop->result_size = room_in(result, result_size);
    loop->repeat = all.repeat;
    loop->warmup = all.warmup;
    loop->synchronizes = all.synchronize;
    loop->is_lazy = !all.synchronize && waits_by_default(options, &all);
    loop->state = tkt_alloc_zeroed(sizeof *loop->state);
    if (loop->state) {
        loop->state->options = all;
        observe(loop->state);
    }
    if (loop->synchronizes || loop->is_lazy)
        tkt_cuda_synchronize();
    return opaque;
}

/* Waits for the devices at the end of a round. CUPTI numbers the calls into CUDA: a round without a
 * new number gave the devices nothing to do. */
static void wait_for_devices(const rounds *loop)
{
    const struct tkt_timed *state = loop->state;
    bool is_quiet = state && state->has_cupti && state->correlation == tkt_cuda_last_correlation();
    if (loop->synchronizes || (loop->is_lazy && !is_quiet))
        tkt_cuda_synchronize();
}

/* Opens a second window behind the warm-up, for the reports. */
static void open_reported(struct tkt_timed *state)
{
    const tkt_wish wish = {.modes = TKT_KEEP | TKT_MEMORY | TKT_ARGUMENTS,
                           .mask = TAKT_NORMAL_BIT | TAKT_WORK_BIT,
                           .devices = state->with_devices ? TAKT_TIMING_ALL : 0};
    if (tkt_window_open(&wish, &state->reported) != TAKT_OK)
        state->reported = NULL;
}

/* Reads the declared work after each round: a round that `break` leaves does not count. */
static void end_round(struct tkt_timed *state, uint64_t now)
{
    double round_ns = (double)tkt_clock_duration_ns(tkt_clock_rate(now), now - state->begin_ticks);
    double *ns = TKT_ARRAY_ADD(&state->ns);
    if (ns)
        *ns = round_ns;
    round_ticks *ticks = ns && state->with_devices ? TKT_ARRAY_ADD(&state->rounds) : NULL;
    if (ticks)
        *ticks = (round_ticks){state->begin_ticks, now};
    tkt_log_work(&state->flops, &state->bytes);
}

bool takt_timed_next(takt_timed_loop *opaque)
{
    rounds *loop = (rounds *)opaque;
    if (loop->round > 0)
        wait_for_devices(loop);
    uint64_t now = tkt_ticks();
    struct tkt_timed *state = loop->state;
    uint64_t warmup = loop->warmup;
    if (state && loop->round > warmup)
        end_round(state, now);
    if (loop->round == warmup + loop->repeat)
        return false;
    if (state && loop->round == warmup) {
        tkt_log_work(&state->flops_before, &state->bytes_before);
        if (state->options.reports)
            open_reported(state);
    }
    loop->round++;
    if (state) {
        state->correlation = tkt_cuda_last_correlation();
        state->begin_ticks = tkt_ticks();
    }
    return true;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct times {
    double mean, median, min, max, stddev;
} times;

/* Returns the statistics of `count` durations, at least one; sorts them. */
static times times_of(double *ns, size_t count)
{
    double sum = 0, squares = 0;
    qsort(ns, count, sizeof *ns, by_value);
    for (size_t i = 0; i < count; i++)
        sum += ns[i];
    double mean = sum / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (ns[i] - mean) * (ns[i] - mean);
    return (times){
        .mean = mean,
        .median = count % 2 ? ns[count / 2] : (ns[count / 2 - 1] + ns[count / 2]) / 2,
        .min = ns[0],
        .max = ns[count - 1],
        .stddev = count > 1 ? sqrt(squares / (double)(count - 1)) : 0,
    };
}

static void fill_times(takt_timed *result, double *ns, size_t count)
{
    times host = times_of(ns, count);
    result->count = count;
    result->mean_ns = host.mean;
    result->median_ns = host.median;
    result->min_ns = host.min;
    result->max_ns = host.max;
    result->stddev_ns = host.stddev;
}

/* ---- Devices --------------------------------------------------------------------------------- */

/* Returns the round that contains `ns`, or the number of rounds. */
static size_t round_at(const struct tkt_timed *state, uint64_t ns)
{
    const tkt_clock_fit *fit = tkt_window_fit(state->window);
    size_t first = 0, count = state->rounds.count;
    while (count > 0) {
        size_t half = count / 2;
        if (tkt_clock_ns(fit, state->rounds.items[first + half].end) < ns) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    bool is_inside =
        first < state->rounds.count && tkt_clock_ns(fit, state->rounds.items[first].begin) <= ns;
    return is_inside ? first : state->rounds.count;
}

/* Work of devices in the rounds that count, in ns. */
typedef struct device_work {
    const char *precision; /* in which peak_flops is wanted; NULL: any */
    double computing;      /* kernels and graphs */
    double moving;         /* copies and sets */
    uint32_t device;       /* string: one that computed; 0: none */
    double peak_flops;     /* of the devices that computed; 0 if theirs differ */
    bool is_known;
} device_work;

/* The device's attributes tell its rates in fp32 and fp64. 0: unknown. */
static double peak_in(const char *precision, const takt_trace *trace, uint32_t device)
{
    double flops = takt_trace_peak(trace, tkt_trace_text(trace, device)).flops;
    if (!precision || *precision == '\0' || strcmp(precision, "fp32") == 0)
        return flops;
    for (size_t i = 0; i < trace->devices.count && strcmp(precision, "fp64") == 0; i++) {
        const tkt_device *of = &trace->devices.items[i];
        if (of->label == device && of->fp64_slowdown)
            return flops / of->fp64_slowdown;
    }
    return 0;
}

static void note_peak(device_work *work, const takt_trace *trace, uint32_t device)
{
    if (work->device == device)
        return;
    double flops = peak_in(work->precision, trace, device);
    work->peak_flops = work->device && work->peak_flops != flops ? 0 : flops;
    work->device = device;
}

static void add_work(device_work *work, const takt_trace *trace, const tkt_activity *activity)
{
    double ns = (double)(activity->end_ns - activity->begin_ns);
    if (activity->filter & (TAKT_TIMING_MEMCPY | TAKT_TIMING_MEMSET)) {
        work->moving += ns;
    } else {
        work->computing += ns;
        note_peak(work, trace, activity->device);
    }
}

/* Adds each activity to the round that launched it. */
static device_work fill_device_times(takt_timed *result, const struct tkt_timed *state,
                                     const takt_trace *trace)
{
    const uint64_t *losses = trace->losses;
    device_work work = {.precision = state->options.precision,
                        .is_known = losses[TAKT_LOSS_INCOMPLETE] == 0 &&
                                    losses[TAKT_LOSS_DEVICE_DROPPED] == 0 &&
                                    losses[TAKT_LOSS_BAD_TIME] == 0};
    size_t count = state->rounds.count;
    double *ns = count ? tkt_alloc_zeroed(count * sizeof *ns) : NULL;
    for (size_t i = 0; ns && i < trace->activities.count; i++) {
        const tkt_activity *activity = &trace->activities.items[i];
        if (activity->call == TKT_NO_CALL)
            continue;
        size_t at = round_at(state, tkt_activity_issue_ns(trace, activity));
        if (at == count)
            continue;
        ns[at] += (double)(activity->end_ns - activity->begin_ns);
        result->device_activities++;
        add_work(&work, trace, activity);
    }
    if (result->device_activities) {
        times device = times_of(ns, count);
        result->device_mean_ns = device.mean;
        result->device_median_ns = device.median;
        result->device_min_ns = device.min;
        result->device_max_ns = device.max;
        result->device_stddev_ns = device.stddev;
    }
    tkt_free(ns);
    return work;
}

static void fill_overheads(takt_timed *result, const takt_trace *trace)
{
    for (size_t i = 0; i < trace->overheads.count; i++) {
        const tkt_overhead *overhead = &trace->overheads.items[i];
        double ns = (double)(overhead->end_ns - overhead->begin_ns);
        if (overhead->kind == TKT_OVERHEAD_COMPILING)
            result->compile_ns += ns;
        if (overhead->kind == TKT_OVERHEAD_COMPILING || overhead->kind == TKT_OVERHEAD_LOADING ||
            overhead->kind == TKT_OVERHEAD_LOADING_LAZILY)
            result->loading_ns += ns;
    }
}

static void fill_memory(takt_timed *result, const takt_trace *trace)
{
    uint64_t largest = 0, used = 0;
    for (size_t i = 0; i < trace->device_memory.count; i++) {
        const tkt_device_memory *memory = &trace->device_memory.items[i];
        const tkt_memory_totals *totals = &memory->totals;
        result->device_peak_bytes += totals->window_peak_bytes;
        result->device_current_bytes += totals->current_bytes;
        result->device_free_bytes += memory->free_bytes;
        result->device_capacity_bytes += memory->capacity_bytes;
        result->device_reserved_bytes += memory->pool_bytes;
        used += memory->pool_used_bytes;
        if (totals->window_peak_bytes > largest &&
            totals->window_peak_ns >= trace->facts.begin_ns) {
            largest = totals->window_peak_bytes;
            result->device_peak_at_ns = (double)(totals->window_peak_ns - trace->facts.begin_ns);
        }
    }
    if (result->device_reserved_bytes > used)
        result->device_fragmentation = 1 - (double)used / (double)result->device_reserved_bytes;
}

static device_work fill_devices(takt_timed *result, const struct tkt_timed *state)
{
    takt_trace *trace;
    tkt_window_end(state->window, tkt_ticks());
    if (tkt_window_seal(state->window, &trace) != TAKT_OK)
        return (device_work){0};
    device_work work = fill_device_times(result, state, trace);
    fill_overheads(result, trace);
    fill_memory(result, trace);
    takt_trace_release(trace);
    return work;
}

/* Returns an amount per second; NaN if its time is unknown. */
static double rate(double amount, double ns)
{
    if (!(amount > 0))
        return 0;
    return ns > 0 ? amount / (ns / 1e9) : NAN;
}

/* Uses the devices' own time where there is any: launching takes the host only a moment of the time
 * that the device works. */
static void fill_rates(takt_timed *result, const struct tkt_timed *state, const device_work *work)
{
    double flops = state->flops - state->flops_before, bytes = state->bytes - state->bytes_before;
    double device_ns = work->computing > 0 || flops > 0 ? work->computing : work->moving;
    double count = (double)result->count;
    result->is_device_work = device_ns > 0;
    result->work_ns = device_ns > 0 ? device_ns / count : result->mean_ns;
    if (!work->is_known)
        result->work_ns = 0;
    result->flops = flops / count;
    result->flops_per_second = rate(result->flops, result->work_ns);
    result->bytes_per_second = rate(bytes / count, result->work_ns);
}

static void fill_peak(takt_timed *result, const takt_timed_options *options,
                      const device_work *work)
{
    result->peak_flops = options->peak_flops > 0  ? options->peak_flops
                         : result->is_device_work ? work->peak_flops
                                                  : 0;
    if (result->peak_flops > 0 && result->flops_per_second > 0)
        result->utilization = result->flops_per_second / result->peak_flops;
    if (options->precision)
        tkt_utf8_clean(result->precision, sizeof result->precision, options->precision,
                       strlen(options->precision));
}

static void fill_name(takt_timed *result, const takt_timed_options *options)
{
    const char *name = options->name;
    if (!name)
        name = options->place ? tkt_base_name(options->place) : "";
    tkt_printable(result->name, sizeof result->name, name, strlen(name));
}

static void fill(takt_timed *result, struct tkt_timed *state)
{
    tkt_memory_state memory = {0};
    device_work work = {.is_known = true};
    fill_times(result, state->ns.items, state->ns.count);
    if (state->window)
        memory = tkt_window_memory(state->window);
    result->peak_bytes = memory.is_since_start ? memory.high.bytes : 0;
    result->current_bytes = memory.is_since_start ? memory.current_bytes : 0;
    if (state->with_devices)
        work = fill_devices(result, state);
    fill_rates(result, state, &work);
    fill_peak(result, &state->options, &work);
}

/* ---- Reports --------------------------------------------------------------------------------- */

static void print_report(const takt_trace *trace, const char *name)
{
    const takt_report_options how = {.struct_size = sizeof how,
                                     .width = tkt_print_width(0),
                                     .width_key = "a terminal's width of "};
    takt_sink sink = tkt_print_sink();
    takt_status status = TAKT_NOT_FOUND;
    if (tkt_report_known(name)) {
        tkt_print("%s\n", name);
        status = takt_report(trace, name, &how, &sink);
        tkt_print("\n");
    }
    if (status != TAKT_OK)
        tkt_log(TAKT_LOG_ERROR, "a timed block cannot print the report \"%s\": %s", name,
                status == TAKT_NOT_FOUND ? "there is none of that name; takt help report lists them"
                                         : takt_status_text(status));
}

/* Prints the reports of a list such as "kernels, ops". */
static void print_reports(const takt_trace *trace, const char *names)
{
    while (*(names += strspn(names, ", ")) != '\0') {
        char name[32];
        size_t size = strcspn(names, ", ");
        snprintf(name, sizeof name, "%.*s", (int)(size < sizeof name ? size : sizeof name), names);
        print_report(trace, name);
        names += size;
    }
}

static void report(struct tkt_timed *state)
{
    takt_trace *trace;
    if (!state->reported || state->ns.count == 0)
        return;
    tkt_window_end(state->reported, tkt_ticks());
    if (tkt_window_seal(state->reported, &trace) != TAKT_OK)
        return;
    if (tkt_trace_finish(trace) == TAKT_OK)
        print_reports(trace, state->options.reports);
    takt_trace_release(trace);
}

static void copy_result(const rounds *loop, takt_timed *result)
{
    result->struct_size = loop->result_size < sizeof *result ? loop->result_size : sizeof *result;
    tkt_fill(loop->result, loop->result_size, result, sizeof *result);
}

void takt_timed_end(takt_timed_loop *opaque)
{
    TKT_OWN_WORK;
    rounds *loop = (rounds *)opaque;
    struct tkt_timed *state = loop->state;
    takt_timed result = {0};
    if (loop->result_size && state)
        fill_name(&result, &state->options);
    if (loop->result_size && state && state->ns.count > 0)
        fill(&result, state);
    if (loop->result_size)
        copy_result(loop, &result);
    if (!state)
        return;
    report(state);
    tkt_window_close(state->reported);
    tkt_window_close(state->window);
    TKT_ARRAY_FREE(&state->ns);
    TKT_ARRAY_FREE(&state->rounds);
    tkt_free(state);
    loop->state = NULL;
}
