/* Timed blocks: every repetition is kept, which makes the median exact. */
#include <takt/timer.h>

#include "base/error.h"
#include "cuda/cuda.h"
#include "profiler/cycle.h"
#include "profiler/session.h"
#include "record/log.h"

#include <math.h>
#include <stdlib.h>

/* Kinds of overhead: CUpti_ActivityOverheadKind. */
#define COMPILING      1u
#define LOADING        (4u << 16)
#define LOADING_LAZILY (5u << 16)

#define MOST_RESULT_BYTES ((size_t)64 << 10) /* larger than takt_timed in any version */

typedef struct round_ticks {
    uint64_t begin;
    uint64_t end;
} round_ticks;

struct tkt_timed {
    TKT_ARRAY_OF(double) ns;          /* of each repetition that counts */
    TKT_ARRAY_OF(round_ticks) rounds; /* the same repetitions; only with devices */
    uint64_t begin_ticks;             /* of the current round */
    tkt_window *window;               /* requests declared work and devices */
    bool with_devices;
    double flops_before, bytes_before; /* declared before the rounds that count */
    double flops, bytes;               /* declared up to the end of the last round */
};

/* The content of a takt_timed_loop. */
typedef struct __attribute__((may_alias)) rounds {
    takt_timed *result;
    size_t result_size;
    takt_timed_options options;
    uint64_t round;          /* rounds begun, including warm-up */
    struct tkt_timed *state; /* NULL without memory: the rounds run but are not measured */
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

takt_timed_loop takt_timed_begin(takt_timed *result, size_t result_size,
                                 const takt_timed_options *options)
{
    takt_timed_loop opaque = {{0}};
    rounds *loop = (rounds *)&opaque;
    loop->result = result;
    loop->result_size = room_in(result, result_size);
    loop->options = take_options(options);
    loop->state = tkt_alloc_zeroed(sizeof *loop->state);
    tkt_wish wish = {.mask = TAKT_WORK_BIT};
    uint32_t activities = loop->options.activities;
    bool with_cuda = !activities || (activities & TAKT_ACTIVITIES_CUDA);
    if (with_cuda && tkt_cuda_is_used()) {
        wish.devices = TAKT_TIMING_ALL;
        wish.modes = TKT_KEEP | TKT_MEMORY;
    }
    if (loop->state && tkt_window_open(&wish, &loop->state->window) == TAKT_OK)
        loop->state->with_devices = wish.devices != 0;
    if (loop->options.synchronize)
        tkt_cuda_synchronize();
    return opaque;
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
    if (loop->options.synchronize && loop->round > 0)
        tkt_cuda_synchronize();
    uint64_t now = tkt_ticks();
    struct tkt_timed *state = loop->state;
    uint64_t warmup = loop->options.warmup;
    if (state && loop->round > warmup)
        end_round(state, now);
    if (loop->round == warmup + loop->options.repeat)
        return false;
    if (state && loop->round == warmup)
        tkt_log_work(&state->flops_before, &state->bytes_before);
    loop->round++;
    if (state)
        state->begin_ticks = tkt_ticks();
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
    double computing; /* kernels and graphs */
    double moving;    /* copies and sets */
    bool is_known;
} device_work;

static void add_work(device_work *work, const tkt_activity *activity)
{
    double ns = (double)(activity->end_ns - activity->begin_ns);
    if (activity->filter & (TAKT_TIMING_MEMCPY | TAKT_TIMING_MEMSET))
        work->moving += ns;
    else
        work->computing += ns;
}

/* Adds each activity to the round that launched it. */
static device_work fill_device_times(takt_timed *result, const struct tkt_timed *state,
                                     const takt_trace *trace)
{
    const uint64_t *losses = trace->losses;
    device_work work = {.is_known = losses[TAKT_LOSS_INCOMPLETE] == 0 &&
                                    losses[TAKT_LOSS_DEVICE_DROPPED] == 0};
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
        add_work(&work, activity);
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

static device_work fill_devices(takt_timed *result, const struct tkt_timed *state)
{
    takt_trace *trace;
    tkt_window_end(state->window, tkt_ticks());
    if (tkt_window_seal(state->window, &trace) != TAKT_OK)
        return (device_work){0};
    device_work work = fill_device_times(result, state, trace);
    for (size_t i = 0; i < trace->overheads.count; i++) {
        const tkt_overhead *overhead = &trace->overheads.items[i];
        if (overhead->kind == COMPILING || overhead->kind == LOADING ||
            overhead->kind == LOADING_LAZILY)
            result->loading_ns += (double)(overhead->end_ns - overhead->begin_ns);
    }
    for (size_t i = 0; i < trace->device_memory.count; i++) {
        result->device_peak_bytes += trace->device_memory.items[i].totals.window_peak_bytes;
        result->device_current_bytes += trace->device_memory.items[i].totals.current_bytes;
    }
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
    result->flops_per_second = rate(flops / count, result->work_ns);
    result->bytes_per_second = rate(bytes / count, result->work_ns);
}

static void fill(takt_timed *result, struct tkt_timed *state)
{
    tkt_memory_state memory = tkt_memory_now();
    device_work work = {.is_known = true};
    fill_times(result, state->ns.items, state->ns.count);
    result->peak_bytes = memory.is_since_start ? memory.peak_bytes : 0;
    result->current_bytes = memory.is_since_start ? memory.current_bytes : 0;
    if (state->with_devices)
        work = fill_devices(result, state);
    fill_rates(result, state, &work);
}

static void copy_result(const rounds *loop, takt_timed *result)
{
    result->struct_size = loop->result_size < sizeof *result ? loop->result_size : sizeof *result;
    tkt_fill(loop->result, loop->result_size, result, sizeof *result);
}

void takt_timed_end(takt_timed_loop *opaque)
{
    rounds *loop = (rounds *)opaque;
    struct tkt_timed *state = loop->state;
    takt_timed result = {0};
    if (loop->result_size && state && state->ns.count > 0)
        fill(&result, state);
    if (loop->result_size)
        copy_result(loop, &result);
    if (!state)
        return;
    tkt_window_close(state->window);
    TKT_ARRAY_FREE(&state->ns);
    TKT_ARRAY_FREE(&state->rounds);
    tkt_free(state);
    loop->state = NULL;
}

/* Prints nanoseconds in a readable unit. */
static void print_time(const char *label, double ns)
{
    if (ns < 1e3)
        tkt_print("  %-8s %10.0f ns\n", label, ns);
    else if (ns < 1e6)
        tkt_print("  %-8s %10.3f us\n", label, ns / 1e3);
    else if (ns < 1e9)
        tkt_print("  %-8s %10.3f ms\n", label, ns / 1e6);
    else
        tkt_print("  %-8s %10.3f s\n", label, ns / 1e9);
}

static void print_memory(const char *label, uint64_t peak_bytes, uint64_t current_bytes)
{
    tkt_print("  %-8s %10.3f MiB at most, %.3f MiB now\n", label, (double)peak_bytes / 1048576,
              (double)current_bytes / 1048576);
}

static void print_rate(const takt_timed *result, const char *label, double rate, const char *unit)
{
    if (isnan(rate))
        tkt_print("  %-8s    unknown: Takt lost activities of devices\n", label);
    else if (rate > 0)
        tkt_print("  %-8s %10.3f %s%s\n", label, rate / 1e9, unit,
                  result->is_device_work ? " of device time" : "");
}

static void print_known(const takt_timed *result)
{
    tkt_print("%lu repetition%s\n", (unsigned long)result->count, result->count == 1 ? "" : "s");
    if (result->count > 0) {
        print_time("mean", result->mean_ns);
        print_time("median", result->median_ns);
        print_time("min", result->min_ns);
        print_time("max", result->max_ns);
        print_time("stddev", result->stddev_ns);
    }
    if (result->device_activities > 0) {
        tkt_print("  on devices, %.1f activities a repetition:\n",
                  (double)result->device_activities / (double)result->count);
        print_time("mean", result->device_mean_ns);
        print_time("median", result->device_median_ns);
        print_time("min", result->device_min_ns);
        print_time("max", result->device_max_ns);
        print_time("stddev", result->device_stddev_ns);
    }
    if (result->loading_ns > 0)
        print_time("loading", result->loading_ns);
    if (result->device_peak_bytes > 0)
        print_memory("memory", result->device_peak_bytes, result->device_current_bytes);
    print_rate(result, "work", result->flops_per_second, "GFLOP/s");
    print_rate(result, "moved", result->bytes_per_second, "GB/s");
    if (result->peak_bytes > 0)
        print_memory("memory", result->peak_bytes, result->current_bytes);
}

void takt_timed_print(const takt_timed *result)
{
    takt_timed all;
    if (!result || tkt_options_import(&all, sizeof all, result) != TAKT_OK)
        tkt_log(TAKT_LOG_ERROR, "takt_timed_print() was given a result that no block has filled: "
                                "its struct_size is not that of a takt_timed");
    else
        print_known(&all);
}
