/* Figures of the steps.
 *
 * A quantile of the recorded steps is found byte by byte, most significant byte first. Each pass
 * counts the next byte of all durations that share the bytes found so far; the counts tell which
 * byte holds the wanted rank. Eight passes are enough for any number of steps, without memory. */
#include "summary/steps.h"

static uint64_t step_ns(const tkt_step *step)
{
    return step->end_ns - step->begin_ns;
}

/* Counts the byte at `shift` of all durations whose higher bytes equal those of `prefix`. */
static void count_bytes(const takt_trace *trace, uint64_t prefix, uint32_t shift,
                        uint64_t counts[256])
{
    for (size_t i = 0; i < trace->steps.count; i++) {
        uint64_t duration_ns = step_ns(&trace->steps.items[i]);
        if (shift == 56 || (duration_ns ^ prefix) >> (shift + 8) == 0)
            counts[duration_ns >> shift & 0xFF]++;
    }
}

/* Returns the duration of this rank, counted from 0. `rank` is less than the number of steps. */
static uint64_t step_of_rank(const takt_trace *trace, uint64_t rank)
{
    uint64_t value = 0;
    for (uint32_t shift = 64; shift > 0;) {
        shift -= 8;
        uint64_t counts[256] = {0};
        count_bytes(trace, value, shift, counts);
        uint64_t byte = 0;
        for (; rank >= counts[byte]; byte++)
            rank -= counts[byte];
        value |= byte << shift;
    }
    return value;
}

static uint64_t median_ns(const takt_trace *trace)
{
    uint64_t count = trace->steps.count;
    uint64_t upper = step_of_rank(trace, count / 2);
    if (count % 2 == 1)
        return upper;
    uint64_t lower = step_of_rank(trace, count / 2 - 1);
    return lower + (upper - lower + 1) / 2;
}

static void add_exact(const takt_trace *trace, tkt_step_figures *figures)
{
    figures->median_ns = median_ns(trace);
    figures->p99_ns = step_of_rank(trace, (trace->steps.count * 99 + 99) / 100 - 1);
}

/* Fills the mean, the extremes and the rates. */
static void add_rates(const takt_trace *trace, const tkt_stats *stats, tkt_step_figures *figures)
{
    double mean_ns = tkt_stats_mean(stats);
    figures->count = stats->count;
    figures->mean_ns = (uint64_t)(mean_ns + 0.5);
    figures->min_ns = stats->min_ns;
    figures->max_ns = stats->max_ns;
    if (mean_ns <= 0)
        return;
    figures->steps_per_second = 1e9 / mean_ns;
    figures->realtime_factor = trace->all_steps.simulated_seconds * figures->steps_per_second;
}

tkt_step_figures tkt_steps_recorded(const takt_trace *trace)
{
    tkt_step_figures figures = {0};
    uint64_t count = trace->steps.count;
    if (count == 0)
        return figures;
    tkt_stats stats;
    tkt_stats_init(&stats);
    for (size_t i = 0; i < count; i++)
        tkt_stats_add(&stats, step_ns(&trace->steps.items[i]));
    add_rates(trace, &stats, &figures);
    add_exact(trace, &figures);
    return figures;
}

tkt_step_figures tkt_steps_all(const takt_trace *trace)
{
    tkt_step_figures figures = {0};
    const tkt_all_steps *steps = &trace->all_steps;
    if (steps->stats.count == 0)
        return figures;
    add_rates(trace, &steps->stats, &figures);
    if (tkt_steps_are_exact(trace)) {
        add_exact(trace, &figures);
        return figures;
    }
    figures.median_ns = tkt_stats_median(&steps->stats, &steps->histogram);
    figures.p99_ns = tkt_stats_quantile(&steps->stats, &steps->histogram, 0.99);
    return figures;
}
