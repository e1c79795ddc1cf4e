/* Figures of the steps.
 *
 * Quantiles of the recorded steps are found byte by byte, most significant byte first. Each pass
 * counts the next byte of all durations that share the bytes found so far; the counts tell which
 * byte holds the wanted rank. A pass for each byte of the longest duration is enough for any number
 * of steps, without memory. */
#include "summary/steps.h"

#include "base/own.h"

#include <string.h>

static uint64_t longest_ns(const takt_trace *trace)
{
    uint64_t longest = 0;
    for (size_t i = 0; i < trace->steps.count; i++) {
        uint64_t duration_ns = tkt_step_ns(&trace->steps.items[i]);
        longest = duration_ns > longest ? duration_ns : longest;
    }
    return longest;
}

typedef struct wanted_rank {
    uint64_t rank; /* counted from 0; among the durations that begin with the bytes of `ns` */
    uint64_t ns;   /* the bytes found so far */
    uint64_t counts[256]; /* of these durations, by the next byte */
} wanted_rank;

static void count_bytes(const takt_trace *trace, uint32_t shift, wanted_rank wanted[2])
{
    memset(wanted[0].counts, 0, sizeof wanted[0].counts);
    memset(wanted[1].counts, 0, sizeof wanted[1].counts);
    for (size_t i = 0; i < trace->steps.count; i++) {
        uint64_t duration_ns = tkt_step_ns(&trace->steps.items[i]);
        for (int k = 0; k < 2; k++)
            wanted[k].counts[duration_ns >> shift & 0xFF] +=
                (duration_ns ^ wanted[k].ns) >> shift >> 8 == 0;
    }
}

/* Finds the durations of both ranks, which are less than the number of steps. */
static void find_ranks(const takt_trace *trace, wanted_rank wanted[2])
{
    uint64_t longest = longest_ns(trace);
    uint32_t shift = 0;
    while (shift < 64 && longest >> shift != 0)
        shift += 8;
    while (shift > 0) {
        shift -= 8;
        count_bytes(trace, shift, wanted);
        for (int k = 0; k < 2; k++) {
            uint64_t byte = 0;
            for (; wanted[k].rank >= wanted[k].counts[byte]; byte++)
                wanted[k].rank -= wanted[k].counts[byte];
            wanted[k].ns |= byte << shift;
        }
    }
}

/* Returns the duration of the rank before `rank`, whose duration is `next_ns`. */
static uint64_t step_before(const takt_trace *trace, uint64_t rank, uint64_t next_ns)
{
    uint64_t shorter = 0, longest = 0;
    for (size_t i = 0; i < trace->steps.count; i++) {
        uint64_t duration_ns = tkt_step_ns(&trace->steps.items[i]);
        shorter += duration_ns < next_ns;
        if (duration_ns < next_ns && duration_ns > longest)
            longest = duration_ns;
    }
    return shorter == rank ? longest : next_ns;
}

static void add_exact(const takt_trace *trace, tkt_step_figures *figures)
{
    uint64_t count = trace->steps.count;
    wanted_rank wanted[] = {{.rank = count / 2}, {.rank = (count * 99 + 99) / 100 - 1}};
    find_ranks(trace, wanted);
    uint64_t upper = wanted[0].ns;
    uint64_t lower = count % 2 == 0 ? step_before(trace, count / 2, upper) : upper;
    figures->median_ns = lower + (upper - lower + 1) / 2;
    figures->p99_ns = wanted[1].ns;
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
    double factor = trace->all_steps.simulated_seconds * figures->steps_per_second;
    figures->realtime_factor = tkt_is_finite(factor) ? factor : 0;
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
        tkt_stats_add(&stats, tkt_step_ns(&trace->steps.items[i]));
    add_rates(trace, &stats, &figures);
    add_exact(trace, &figures);
    return figures;
}

/* `recorded` may be NULL. */
static tkt_step_figures figures_of_all(const takt_trace *trace, const tkt_step_figures *recorded)
{
    tkt_step_figures figures = {0};
    const tkt_all_steps *steps = &trace->all_steps;
    if (steps->stats.count == 0)
        return figures;
    add_rates(trace, &steps->stats, &figures);
    if (!tkt_steps_are_exact(trace)) {
        figures.median_ns = tkt_stats_median(&steps->stats, &steps->histogram);
        figures.p99_ns = tkt_stats_quantile(&steps->stats, &steps->histogram, 0.99);
    } else if (recorded) {
        figures.median_ns = recorded->median_ns;
        figures.p99_ns = recorded->p99_ns;
    } else {
        add_exact(trace, &figures);
    }
    return figures;
}

tkt_step_figures tkt_steps_all(const takt_trace *trace)
{
    return figures_of_all(trace, NULL);
}

void tkt_steps_both(const takt_trace *trace, tkt_step_figures *recorded, tkt_step_figures *all)
{
    *recorded = tkt_steps_recorded(trace);
    *all = figures_of_all(trace, recorded);
}
