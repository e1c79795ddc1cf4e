/* Whether two sets of durations differ by more than chance. Of single calls: ranks, which make no
 * assumption about how durations are distributed, and a test of the means for what ranks miss. Of
 * runs: permutation tests, which are exact for few of them. */
#ifndef TAKT_CLI_NOISE_H
#define TAKT_CLI_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Durations in ns, below CLI_LONGEST_NS. The statistics want them sorted. */
typedef struct cli_samples {
    uint64_t *items;
    size_t    count;
    size_t    capacity;
} cli_samples;

#define CLI_LONGEST_NS (UINT64_MAX >> 4)

/* The level of every test and band: 5 %, two-sided. */
#define CLI_ALPHA 0.05

/* What one run said, such as its median call, and when the run began: 0 where that is not known. */
typedef struct cli_value {
    double   ns;
    uint64_t begin_ns;
} cli_value;

typedef struct cli_values {
    cli_value *items;
    size_t     count;
    size_t     capacity;
} cli_values;

/* How much longer B's calls are than A's. NaN stands for what the samples are too few to tell. */
typedef struct cli_noise {
    double shift_ns;
    double low_ns; /* its 95 % confidence interval */
    double high_ns;
    double p; /* two-sided */
} cli_noise;

/* Adds one; longer ones count as CLI_LONGEST_NS. False: no memory. */
bool cli_samples_add(cli_samples *samples, uint64_t ns);
void cli_samples_free(cli_samples *samples);

/* Sorts in time linear in their number. False: no memory. */
bool cli_samples_sort(cli_samples *samples);

/* Of sorted samples; NaN where there are none. */
double cli_samples_median(const cli_samples *samples);
double cli_samples_mean(const cli_samples *samples);

/* How much longer a typical call is: the Hodges-Lehmann shift, the median of all differences b - a.
 * Both sorted. Some O(n + m) times the bits of the largest difference.
 * Sources: Mann and Whitney 1947 (U; exact up to 24 samples in all, with ties conditional on them,
 * beyond by the normal approximation with corrections for ties and continuity), Hodges and Lehmann
 * 1963 (shift), Hollander and Wolfe, Nonparametric Statistical Methods, section 4.3 (its
 * interval). */
cli_noise cli_noise_of(const cli_samples *a, const cli_samples *b);

/* How much longer the mean call is, by Welch's test (1947): interval and p from 30 samples on each
 * side on. */
cli_noise cli_noise_of_means(const cli_samples *a, const cli_samples *b);

/* ---- Runs (noise_runs.c) ---- */

/* Fewer runs of a side are never compared as such. */
#define CLI_LEAST_RUNS 3

/* Runs of each side that are asked for: four can prove a change, and with five one stray run does
 * not hide it. */
#define CLI_WANTED_RUNS 5

/* True if so many runs can prove anything: at least CLI_LEAST_RUNS on each side, and dealing them
 * to the sides anew has more than 2 / CLI_ALPHA outcomes. */
bool cli_runs_suffice(size_t a, size_t b);

/* Adds one. False: no memory. */
bool cli_values_add(cli_values *values, cli_value value);
void cli_values_free(cli_values *values);

/* The mean without the smallest and the largest fifth, so that one stray run of five says nothing.
 * NaN where there are none. */
double cli_values_trimmed_mean(const cli_values *values);

/* True if these runs began by turns, so evenly that neighbours can be compared: as many on each
 * side, CLI_LEAST_PAIRS or more, and two of each among any four that began after each other. */
#define CLI_LEAST_PAIRS 6
bool cli_values_take_turns(const cli_values *a, const cli_values *b);

/* True if all runs of one side began before those of the other. */
bool cli_values_are_apart(const cli_values *a, const cli_values *b);

/* How much B's runs differ from A's: the difference of the trimmed means, p of a permutation test
 * of it, and the interval of all shifts that the test does not refuse. Where the runs took turns,
 * each is held against its neighbours in time, and only they change sides.
 * False: no memory. Sources: Pitman 1937 (permutation tests), Tukey and McLaughlin 1963 (trimmed
 * means), Box, Hunter and Hunter, Statistics for Experimenters, chapters 3 and 4 (blocks), Dwass
 * 1957 (drawing permutations where there are too many). */
bool cli_noise_of_runs(const cli_values *a, const cli_values *b, cli_noise *out);

/* ---- Many tests ---- */

/* Adjusts p values for their number, Holm 1979: the chance that any of them is below CLI_ALPHA
 * where nothing differs stays at CLI_ALPHA. NaNs are no tests, and stay. Sorts the pointers. */
void cli_holm(double **p, size_t count);

#endif
