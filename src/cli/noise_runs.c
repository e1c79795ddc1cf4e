/* Statistics of few runs, each of which gave one value.
 *
 * A rank test cannot prove anything with three runs on a side, however far they are apart: of the
 * twenty ways to deal six ranks one in ten is as extreme. But the value of a run, a median or mean
 * of many calls, is near enough to normally distributed for Student's t. */
#include "cli/noise.h"

#include <math.h>
#include <stdlib.h>

bool cli_values_add(cli_values *values, double value)
{
    if (values->count == values->capacity) {
        size_t capacity = values->capacity ? 2 * values->capacity : 8;
        double *items = realloc(values->items, capacity * sizeof *items);
        if (!items)
            return false;
        values->items = items;
        values->capacity = capacity;
    }
    values->items[values->count++] = value;
    return true;
}

void cli_values_free(cli_values *values)
{
    free(values->items);
    *values = (cli_values){0};
}

double cli_values_mean(const cli_values *values)
{
    double sum = 0;
    for (size_t i = 0; i < values->count; i++)
        sum += values->items[i];
    return sum / (double)values->count;
}

/* ---- Student's t ---- */

/* The continued fraction of the incomplete beta function, NIST's Digital Library of Mathematical
 * Functions 8.17.22, by Lentz's method: from its front, until a step changes nothing. Quick for x
 * below (a + 1) / (a + b + 2); no denominator is 0 then. */
static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), fraction = d, step = 0;

    for (int m = 1; m < 1000 && fabs(step - 1) > 1e-15; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / (1 + even * d);
        c = 1 + even / c;
        fraction *= c * d;
        d = 1 / (1 + odd * d);
        c = 1 + odd / c;
        step = c * d;
        fraction *= step;
    }
    return fraction;
}

/* The regularized incomplete beta function. */
static double beta(double a, double b, double x)
{
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                     : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* The chance of a t as far from 0 as this one or farther. */
static double t_p(double t, double freedom)
{
    return beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

/* The t whose chance is CLI_ALPHA, found by halving: 12.7 for one degree of freedom, and less for
 * more. */
static double t_at_alpha(double freedom)
{
    double low = 0, high = 13;

    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (t_p(middle, freedom) > CLI_ALPHA)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* ---- Welch's test ---- */

/* The square of the standard error of the mean. */
static double error_squared(const cli_values *values)
{
    double sum = 0, n = (double)values->count, mean = cli_values_mean(values);
    for (size_t i = 0; i < values->count; i++)
        sum += (values->items[i] - mean) * (values->items[i] - mean);
    return sum / (n - 1) / n;
}

cli_noise cli_noise_of_runs(const cli_values *a, const cli_values *b)
{
    cli_noise noise = {NAN, NAN, NAN, NAN, NAN};

    if (a->count == 0 || b->count == 0)
        return noise;
    noise.shift_ns = cli_values_mean(b) - cli_values_mean(a);
    if (a->count < CLI_LEAST_RUNS || b->count < CLI_LEAST_RUNS)
        return noise;
    double of_a = error_squared(a), of_b = error_squared(b), error = of_a + of_b;
    if (error <= 0) { /* all runs of each side agree */
        noise.low_ns = noise.high_ns = noise.shift_ns;
        noise.p = noise.shift_ns == 0 ? 1 : 0;
        return noise;
    }
    double freedom = error * error /
                     (of_a * of_a / ((double)a->count - 1) + of_b * of_b / ((double)b->count - 1));
    double half = t_at_alpha(freedom) * sqrt(error);
    noise.low_ns = noise.shift_ns - half;
    noise.high_ns = noise.shift_ns + half;
    noise.p = t_p(noise.shift_ns / sqrt(error), freedom);
    return noise;
}
