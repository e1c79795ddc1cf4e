/* Whether two sets of durations differ by more than chance: rank statistics, which make no
 * assumption about how durations are distributed, and a test of the means for what ranks miss. */
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

/* Values of runs in ns, such as the median call of each. */
typedef struct cli_values {
    double *items;
    size_t  count;
    size_t  capacity;
} cli_values;

/* What B's durations are against A's. NaN stands for what the samples are too few to tell. */
typedef struct cli_noise {
    double shift_ns; /* Hodges-Lehmann estimate: the median of all differences b - a */
    double low_ns;   /* its 95 % confidence interval */
    double high_ns;
    double p;        /* Mann-Whitney U test, two-sided */
    double mean_p;   /* Welch's test of the means, two-sided; from 30 samples on each side on */
} cli_noise;

/* Adds one; longer ones count as CLI_LONGEST_NS. False: no memory. */
bool cli_samples_add(cli_samples *samples, uint64_t ns);
void cli_samples_free(cli_samples *samples);

/* Sorts in time linear in their number. False: no memory. */
bool cli_samples_sort(cli_samples *samples);

/* Of sorted samples; NaN where there are none. */
double cli_samples_median(const cli_samples *samples);
double cli_samples_mean(const cli_samples *samples);

/* Both sorted. Some O(n + m) times the bits of the largest difference.
 * Sources: Mann and Whitney 1947 (U; exact up to 24 samples in all, with ties conditional on them,
 * beyond by the normal approximation with corrections for ties and continuity), Hodges and Lehmann
 * 1963 (shift), Hollander and Wolfe, Nonparametric Statistical Methods, section 4.3 (its interval),
 * Welch 1947 (means). */
cli_noise cli_noise_of(const cli_samples *a, const cli_samples *b);

/* ---- Runs (noise_runs.c) ---- */

/* Runs that are needed on each side to say anything of how much they differ. */
#define CLI_LEAST_RUNS 3

/* Adds one. False: no memory. */
bool cli_values_add(cli_values *values, double value);
void cli_values_free(cli_values *values);

/* NaN where there are none. */
double cli_values_mean(const cli_values *values);

/* The same of few values, each of a whole run, which may be taken for normally distributed: the
 * difference of the means, its confidence interval, and p of Welch's t-test. There is no `mean_p`.
 * Sources: Welch 1947, Satterthwaite 1946 (degrees of freedom), Georges, Buytaert and Eeckhout,
 * Statistically Rigorous Java Performance Evaluation, 2007, section 3 (of runs of a program). */
cli_noise cli_noise_of_runs(const cli_values *a, const cli_values *b);

/* ---- Many tests ---- */

/* Adjusts p values for their number, Holm 1979: the chance that any of them is below CLI_ALPHA
 * where nothing differs stays at CLI_ALPHA. NaNs are no tests, and stay. Sorts the pointers. */
void cli_holm(double **p, size_t count);

#endif
