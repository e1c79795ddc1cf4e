/* What a difference means: whether it is above the limits, and beyond the noise. */
#include "cli/compare.h"

#include <math.h>
#include <stdlib.h>

bool cli_is_above_limits(const cli_compare_options *options, double change, double base)
{
    return fabs(change) > options->limit * base && fabs(change) > options->absolute_ns;
}

static void describe_calls(cli_part *part)
{
    part->median_ns = cli_samples_median(&part->samples);
    part->mean_ns = part->samples.count ? cli_samples_mean(&part->samples)
                    : part->calls       ? part->total_ns / (double)part->calls
                                        : NAN;
}

static void describe_runs(cli_part *part)
{
    bool has_medians = part->medians.count == part->means.count;

    part->median_ns = has_medians ? cli_values_mean(&part->medians) : NAN;
    part->mean_ns = cli_values_mean(&part->means);
}

bool cli_row_has_samples(const cli_row *row)
{
    return !isnan(row->parts[CLI_A].median_ns) && !isnan(row->parts[CLI_B].median_ns);
}

static bool compare_calls(cli_row *row)
{
    cli_part *a = &row->parts[CLI_A], *b = &row->parts[CLI_B];

    if (!cli_samples_sort(&a->samples) || !cli_samples_sort(&b->samples))
        return false;
    describe_calls(a);
    describe_calls(b);
    row->noise = cli_noise_of(&a->samples, &b->samples);
    return true;
}

static void compare_runs(cli_row *row)
{
    cli_part *a = &row->parts[CLI_A], *b = &row->parts[CLI_B];

    describe_runs(a);
    describe_runs(b);
    cli_noise of_means = cli_noise_of_runs(&a->means, &b->means);
    row->noise = cli_row_has_samples(row) ? cli_noise_of_runs(&a->medians, &b->medians) : of_means;
    row->noise.mean_p = of_means.p;
}

static bool measure(const cli_comparison *comparison, cli_row *row)
{
    const cli_part *a = &row->parts[CLI_A], *b = &row->parts[CLI_B];

    if (comparison->is_by_run)
        compare_runs(row);
    else if (!compare_calls(row))
        return false;
    row->base_ns = cli_row_has_samples(row) ? a->median_ns : a->mean_ns;
    row->change_ns = isnan(row->noise.shift_ns) ? b->mean_ns - a->mean_ns : row->noise.shift_ns;
    row->self_change_ns =
        b->self_ns * comparison->scale[CLI_B] - a->self_ns * comparison->scale[CLI_A];
    return true;
}

/* Calls count where the time that they take does. */
static bool has_other_calls(const cli_comparison *c, const cli_row *row, double *more)
{
    double a = (double)row->parts[CLI_A].calls * c->scale[CLI_A];
    double b = (double)row->parts[CLI_B].calls * c->scale[CLI_B];
    double self_ns = row->parts[CLI_A].self_ns * c->scale[CLI_A];

    *more = b - a;
    return row->kind != CLI_ROW_STEP && fabs(b - a) > c->options.limit * a &&
           (b - a) * row->self_change_ns > 0 &&
           cli_is_above_limits(&c->options, row->self_change_ns, self_ns);
}

static cli_verdict verdict_of(const cli_comparison *c, const cli_row *row)
{
    const cli_part *a = &row->parts[CLI_A], *b = &row->parts[CLI_B];
    const cli_noise *noise = &row->noise;
    bool is_beyond_noise = noise->p < CLI_ALPHA && (noise->low_ns > 0 || noise->high_ns < 0);
    double mean_change = b->mean_ns - a->mean_ns, more_calls;

    if (a->calls == 0 || b->calls == 0)
        return a->calls == 0 ? CLI_NEW : CLI_GONE;
    if (is_beyond_noise && cli_is_above_limits(&c->options, row->change_ns, row->base_ns))
        return row->change_ns > 0 ? CLI_SLOWER : CLI_FASTER;
    if (noise->mean_p < CLI_ALPHA && cli_is_above_limits(&c->options, mean_change, a->mean_ns))
        return mean_change > 0 ? CLI_TAIL_SLOWER : CLI_TAIL_FASTER;
    if (has_other_calls(c, row, &more_calls))
        return more_calls > 0 ? CLI_MORE_CALLS : CLI_FEWER_CALLS;
    if (isnan(noise->low_ns))
        return CLI_UNKNOWN;
    if (is_beyond_noise || (!cli_is_above_limits(&c->options, noise->low_ns, row->base_ns) &&
                            !cli_is_above_limits(&c->options, noise->high_ns, row->base_ns)))
        return CLI_SAME;
    return CLI_NOISE;
}

/* Each row is a test, and with many of them some are beyond the noise by chance. */
static bool adjust(cli_comparison *c)
{
    double **p = malloc((c->rows.count + 1) * sizeof *p);
    size_t tests = 0;

    if (!p)
        return false;
    for (size_t i = 0; i < c->rows.count; i++)
        if (!isnan(c->rows.items[i].noise.low_ns))
            p[tests++] = &c->rows.items[i].noise.p;
    cli_holm(p, tests);
    c->tests = tests;
    for (size_t i = tests = 0; i < c->rows.count; i++)
        p[tests++] = &c->rows.items[i].noise.mean_p;
    cli_holm(p, tests);
    free(p);
    return true;
}

takt_status cli_compare_judge(cli_comparison *comparison)
{
    for (size_t i = 0; i < comparison->rows.count; i++)
        if (!measure(comparison, &comparison->rows.items[i]))
            return TAKT_NO_MEMORY;
    if (!adjust(comparison))
        return TAKT_NO_MEMORY;
    for (size_t i = 0; i < comparison->rows.count; i++) {
        cli_row *row = &comparison->rows.items[i];
        row->verdict = verdict_of(comparison, row);
    }
    return TAKT_OK;
}
