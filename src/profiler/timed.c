/* Timed blocks: every repetition is kept, so that the median is exact. */
#include <takt/timer.h>

#include "base/error.h"
#include "profiler/session.h"
#include "record/log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct tkt_timed {
    TKT_ARRAY_OF(double) ns; /* of each repetition that counts */
    uint64_t    begin_ticks; /* of the round */
    tkt_window *window;      /* asks for declared work */
    double      flops_before, bytes_before; /* declared before the rounds that count, */
    double      flops, bytes;               /* up to the end of the last one, */
    double      total_ns;                   /* which took so long together */
};

takt_timed_loop takt_timed_begin(takt_timed *result, const takt_timed_options *options)
{
    takt_timed_loop loop = {.result = result};
    if (tkt_options_import(&loop.options, sizeof loop.options, options) != TAKT_OK)
        loop.options = (takt_timed_options){0};
    if (loop.options.repeat == 0)
        loop.options.repeat = 1;
    loop.state = tkt_alloc_zeroed(sizeof *loop.state);
    const tkt_wish wish = {.mask = TAKT_WORK_BIT};
    if (loop.state)
        tkt_window_open(&wish, &loop.state->window);
    return loop;
}

/* Work is read here and not at the end of all, since a round that `break` leaves does not count. */
static void end_round(struct tkt_timed *state, uint64_t now)
{
    tkt_clock_fit fit = tkt_clock_fit_now();
    double round_ns = (double)tkt_clock_duration_ns(fit.ns_per_tick, now - state->begin_ticks);
    double *ns = TKT_ARRAY_ADD(&state->ns);
    if (ns)
        *ns = round_ns;
    state->total_ns += round_ns;
    tkt_log_work(&state->flops, &state->bytes);
}

bool takt_timed_next(takt_timed_loop *loop)
{
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

static void fill_times(takt_timed *result, double *ns, size_t count)
{
    double sum = 0, squares = 0;
    qsort(ns, count, sizeof *ns, by_value);
    for (size_t i = 0; i < count; i++)
        sum += ns[i];
    result->count = count;
    result->mean_ns = sum / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (ns[i] - result->mean_ns) * (ns[i] - result->mean_ns);
    result->median_ns = count % 2 ? ns[count / 2] : (ns[count / 2 - 1] + ns[count / 2]) / 2;
    result->min_ns = ns[0];
    result->max_ns = ns[count - 1];
    result->stddev_ns = count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
}

static void fill_rates(takt_timed *result, const struct tkt_timed *state)
{
    double seconds = state->total_ns / 1e9;
    if (seconds <= 0)
        return;
    result->flops_per_second = (state->flops - state->flops_before) / seconds;
    result->bytes_per_second = (state->bytes - state->bytes_before) / seconds;
}

void takt_timed_end(takt_timed_loop *loop)
{
    struct tkt_timed *state = loop->state;
    takt_timed *result = loop->result;
    if (result)
        *result = (takt_timed){.struct_size = sizeof *result};
    if (result && state && state->ns.count > 0) {
        tkt_memory_state memory = tkt_memory_now();
        fill_times(result, state->ns.items, state->ns.count);
        fill_rates(result, state);
        result->peak_bytes = memory.peak_bytes;
        result->current_bytes = memory.current_bytes;
    }
    if (!state)
        return;
    tkt_window_close(state->window);
    TKT_ARRAY_FREE(&state->ns);
    tkt_free(state);
    loop->state = NULL;
}

/* Nanoseconds with the unit that reads best. */
static void print_time(const char *label, double ns)
{
    if (ns < 1e3)
        printf("  %-8s %10.0f ns\n", label, ns);
    else if (ns < 1e6)
        printf("  %-8s %10.3f us\n", label, ns / 1e3);
    else if (ns < 1e9)
        printf("  %-8s %10.3f ms\n", label, ns / 1e6);
    else
        printf("  %-8s %10.3f s\n", label, ns / 1e9);
}

void takt_timed_print(const takt_timed *result)
{
    printf("%lu repetition%s\n", (unsigned long)result->count, result->count == 1 ? "" : "s");
    if (result->count > 0) {
        print_time("mean", result->mean_ns);
        print_time("median", result->median_ns);
        print_time("min", result->min_ns);
        print_time("max", result->max_ns);
        print_time("stddev", result->stddev_ns);
    }
    if (result->flops_per_second > 0)
        printf("  %-8s %10.3f GFLOP/s\n", "work", result->flops_per_second / 1e9);
    if (result->bytes_per_second > 0)
        printf("  %-8s %10.3f GB/s\n", "moved", result->bytes_per_second / 1e9);
    if (result->peak_bytes > 0)
        printf("  %-8s %10.3f MiB at most, %.3f MiB now\n", "memory",
               (double)result->peak_bytes / 1048576, (double)result->current_bytes / 1048576);
    fflush(stdout);
}
