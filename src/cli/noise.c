/* Statistics of two sets of durations: shift, tests and confidence bands; and sorting of durations.
 *
 * The rank statistics depend on all pairs of a duration of A and a duration of B, but no function
 * visits every pair. One merge of the sorted sets gives U. The k-th smallest difference is found by
 * interpolation and bisection: each step counts in O(n + m) how many differences are at most a
 * value. */
#include "cli/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_EXACT = 24,     /* up to this many samples on both sides, U's distribution is exact */
    LEAST_FOR_MEANS = 30 /* samples per side from which a mean is treated as normally distributed */
};

#define NORMAL_975 1.959963984540054 /* 97.5 % quantile of the normal distribution */

/* ---- Ranks ---- */

typedef struct ranks {
    double u;                     /* pairs with a < b, plus half of those with a = b */
    double ties;                  /* sum of t^3 - t over groups of t equal durations */
    unsigned doubled[MOST_EXACT]; /* twice the midranks, ascending; only if samples are few */
} ranks;

static ranks rank(const cli_samples *a, const cli_samples *b)
{
    ranks r = {0};
    size_t i = 0, j = 0, all = a->count + b->count;

    while (i < a->count || j < b->count) {
        bool is_a = j == b->count || (i < a->count && a->items[i] <= b->items[j]);
        uint64_t ns = is_a ? a->items[i] : b->items[j];
        size_t before = i, first = i + j;
        for (; i < a->count && a->items[i] == ns; i++)
            ;
        size_t here = j;
        for (; j < b->count && b->items[j] == ns; j++)
            ;
        double size = (double)(i + j - first);
        r.u += (double)(j - here) * ((double)before + (double)(i - before) / 2);
        r.ties += size * size * size - size;
        for (size_t k = first; all <= MOST_EXACT && k < i + j; k++)
            r.doubled[k] = (unsigned)(first + i + j + 1);
    }
    return r;
}

/* The number of ways to choose `chosen` scores with each sum. */
typedef struct choices {
    double ways[MOST_EXACT / 2 + 1][MOST_EXACT * (MOST_EXACT + 1) + 1];
    double all;
    size_t chosen;
    size_t most; /* the largest sum */
} choices;

static void count_choices(choices *c, const unsigned *scores, size_t count, size_t chosen)
{
    *c = (choices){.ways = {{1}}, .chosen = chosen, .most = count * (count + 1)};
    for (size_t i = 0; i < count; i++)
        for (size_t k = chosen; k > 0; k--)
            for (size_t sum = scores[i]; sum <= c->most; sum++)
                c->ways[k][sum] += c->ways[k - 1][sum - scores[i]];
    for (size_t sum = 0; sum <= c->most; sum++)
        c->all += c->ways[chosen][sum];
}

/* Returns the share of all ways to deal these ranks in which U is at least as far from its mean. */
static double exact_p(const ranks *r, size_t n, size_t m)
{
    choices c;
    double far = fabs(2 * r->u - (double)n * (double)m), ways = 0;

    count_choices(&c, r->doubled, n + m, n < m ? n : m);
    double mean = (double)(c.chosen * (n + m + 1));
    for (size_t sum = 0; sum <= c.most; sum++)
        ways += fabs((double)sum - mean) >= far ? c.ways[c.chosen][sum] : 0;
    return ways / c.all;
}

static double rank_p(const ranks *r, size_t n, size_t m)
{
    double pairs = (double)n * (double)m, all = (double)n + (double)m;

    if (n == 0 || m == 0)
        return NAN;
    if (n + m <= MOST_EXACT)
        return exact_p(r, n, m);
    double variance = pairs / 12 * (all + 1 - r->ties / (all * (all - 1)));
    double far = fabs(r->u - pairs / 2) - 0.5;
    return variance > 0 && far > 0 ? erfc(far / sqrt(2 * variance)) : 1;
}

/* ---- Shift ---- */

static uint64_t pairs_up_to(const cli_samples *a, const cli_samples *b, int64_t difference)
{
    uint64_t pairs = 0;
    size_t j = 0;

    for (size_t i = 0; i < a->count; i++) {
        int64_t most = (int64_t)a->items[i] + difference;
        while (j < b->count && (int64_t)b->items[j] <= most)
            j++;
        pairs += j;
    }
    return pairs;
}

/* A count from pairs_up_to(). */
typedef struct counted {
    int64_t ns;
    uint64_t pairs; /* with a difference of at most this */
} counted;

/* Searches in the differences of two sets. A count takes long, so later searches use the counts of
 * earlier ones: they look for places close to each other. */
typedef struct search {
    const cli_samples *a, *b;
    counted known[64];
    size_t known_count;
} search;

static void narrow(counted *low, counted *high, const counted *by, uint64_t k)
{
    if (by->pairs < k && by->ns > low->ns)
        *low = *by;
    if (by->pairs >= k && by->ns < high->ns)
        *high = *by;
}

/* The place of the k-th difference if differences were spread evenly; never an end. */
static int64_t expected_at(const counted *low, const counted *high, uint64_t k)
{
    double share = ((double)(k - low->pairs) - 0.5) / (double)(high->pairs - low->pairs);
    int64_t at = low->ns + (int64_t)(share * (double)(high->ns - low->ns));
    at = at > low->ns ? at : low->ns + 1;
    return at < high->ns ? at : high->ns - 1;
}

/* Returns the k-th smallest difference b - a; k starts at 1. Looks where it expects the difference.
 * If this did not halve the interval, the next look does. */
static double difference_at(search *s, uint64_t k)
{
    const cli_samples *a = s->a, *b = s->b;
    counted low = {(int64_t)b->items[0] - (int64_t)a->items[a->count - 1] - 1, 0};
    counted high = {(int64_t)b->items[b->count - 1] - (int64_t)a->items[0],
                    (uint64_t)a->count * b->count};
    bool halves = false;

    for (size_t i = 0; i < s->known_count; i++)
        narrow(&low, &high, &s->known[i], k);
    while (high.ns - low.ns > 1) {
        int64_t width = high.ns - low.ns;
        counted now = {halves ? low.ns + width / 2 : expected_at(&low, &high, k), 0};
        now.pairs = pairs_up_to(a, b, now.ns);
        if (s->known_count < sizeof s->known / sizeof *s->known)
            s->known[s->known_count++] = now;
        narrow(&low, &high, &now, k);
        halves = high.ns - low.ns > width / 2;
    }
    return (double)high.ns;
}

/* Returns the number k of the difference at which the 95 % interval begins: U falls below k with
 * a probability of at most 2.5 %. 0: too few samples for an interval. */
static uint64_t first_inside(size_t n, size_t m)
{
    double pairs = (double)n * (double)m, below = 0;
    unsigned doubled[MOST_EXACT];
    choices c;

    if (n + m > MOST_EXACT) {
        double k = floor(pairs / 2 - NORMAL_975 * sqrt(pairs * (double)(n + m + 1) / 12));
        return k > 0 ? (uint64_t)k : 0;
    }
    for (unsigned i = 0; i < n + m; i++)
        doubled[i] = 2 * (i + 1);
    count_choices(&c, doubled, n + m, n < m ? n : m);
    size_t least = c.chosen * (c.chosen + 1); /* twice the smallest sum of ranks */
    uint64_t k = 0;
    while ((below += c.ways[c.chosen][least + 2 * k]) <= CLI_ALPHA / 2 * c.all)
        k++;
    return k;
}

static void shift(const cli_samples *a, const cli_samples *b, cli_noise *out)
{
    uint64_t pairs = (uint64_t)a->count * b->count;
    uint64_t first = first_inside(a->count, b->count);
    search s = {.a = a, .b = b};

    out->shift_ns = difference_at(&s, (pairs + 1) / 2);
    if (pairs % 2 == 0)
        out->shift_ns = (out->shift_ns + difference_at(&s, pairs / 2 + 1)) / 2;
    if (first == 0)
        return;
    out->low_ns = difference_at(&s, first);
    out->high_ns = difference_at(&s, pairs + 1 - first);
}

/* ---- Means ---- */

/* Returns the squared standard error of the mean. */
static double error_squared(const cli_samples *samples, double mean)
{
    double sum = 0, n = (double)samples->count;
    for (size_t i = 0; i < samples->count; i++)
        sum += ((double)samples->items[i] - mean) * ((double)samples->items[i] - mean);
    return sum / (n - 1) / n;
}

cli_noise cli_noise_of_means(const cli_samples *a, const cli_samples *b)
{
    cli_noise noise = CLI_NO_NOISE;
    double mean_a = cli_samples_mean(a), mean_b = cli_samples_mean(b);

    if (a->count == 0 || b->count == 0)
        return noise;
    noise.shift_ns = mean_b - mean_a;
    if (a->count < LEAST_FOR_MEANS || b->count < LEAST_FOR_MEANS)
        return noise;
    double variance = error_squared(a, mean_a) + error_squared(b, mean_b);
    noise.low_ns = noise.shift_ns - NORMAL_975 * sqrt(variance);
    noise.high_ns = noise.shift_ns + NORMAL_975 * sqrt(variance);
    noise.p = variance > 0 ? erfc(fabs(noise.shift_ns) / sqrt(2 * variance)) : mean_a == mean_b;
    return noise;
}

cli_noise cli_noise_of(const cli_samples *a, const cli_samples *b)
{
    cli_noise noise = CLI_NO_NOISE;

    if (a->count == 0 || b->count == 0)
        return noise;
    ranks r = rank(a, b);
    noise.p = rank_p(&r, a->count, b->count);
    shift(a, b, &noise);
    return noise;
}

/* ---- Many tests ---- */

static int compare_p(const void *a, const void *b)
{
    double x = **(double *const *)a, y = **(double *const *)b;
    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

void cli_holm(double **p, size_t count)
{
    double least = 0;

    qsort(p, count, sizeof *p, compare_p);
    while (count > 0 && isnan(*p[count - 1]))
        count--;
    for (size_t i = 0; i < count; i++) {
        double adjusted = fmin(1, *p[i] * (double)(count - i));
        least = fmax(least, adjusted);
        *p[i] = least;
    }
}

/* ======== Durations ======== */

/* Arrays of durations, which may have millions of items; a radix sort. */

enum {
    DIGIT_BITS = 8,
    DIGITS = 1 << DIGIT_BITS
};

bool cli_samples_add(cli_samples *samples, uint64_t ns)
{
    if (samples->count == samples->capacity) {
        size_t capacity = samples->capacity ? 2 * samples->capacity : 16;
        uint64_t *items = realloc(samples->items, capacity * sizeof *items);
        if (!items)
            return false;
        samples->items = items;
        samples->capacity = capacity;
    }
    samples->items[samples->count++] = ns < CLI_LONGEST_NS ? ns : CLI_LONGEST_NS;
    return true;
}

void cli_samples_free(cli_samples *samples)
{
    free(samples->items);
    *samples = (cli_samples){0};
}

/* One stable pass of the sort, by the digit at bit `shift`. */
static void sort_digit(const uint64_t *from, uint64_t *to, size_t count, unsigned shift)
{
    size_t place[DIGITS + 1] = {0};

    for (size_t i = 0; i < count; i++)
        place[(from[i] >> shift) % DIGITS + 1]++;
    for (size_t i = 1; i < DIGITS; i++)
        place[i] += place[i - 1];
    for (size_t i = 0; i < count; i++)
        to[place[(from[i] >> shift) % DIGITS]++] = from[i];
}

bool cli_samples_sort(cli_samples *samples)
{
    uint64_t bits = 0;
    uint64_t *other = malloc((samples->count + 1) * sizeof *other);

    if (!other)
        return false;
    for (size_t i = 0; i < samples->count; i++)
        bits |= samples->items[i];
    for (unsigned shift = 0; shift < 64 && bits >> shift; shift += DIGIT_BITS) {
        uint64_t *from = samples->items;
        sort_digit(from, other, samples->count, shift);
        samples->items = other;
        other = from;
    }
    samples->capacity = samples->count; /* what the remaining array can hold at least */
    free(other);
    return true;
}

double cli_samples_median(const cli_samples *samples)
{
    size_t half = samples->count / 2;
    if (samples->count == 0)
        return NAN;
    if (samples->count % 2)
        return (double)samples->items[half];
    return ((double)samples->items[half - 1] + (double)samples->items[half]) / 2;
}

double cli_samples_mean(const cli_samples *samples)
{
    double sum = 0;
    if (samples->count == 0)
        return NAN;
    for (size_t i = 0; i < samples->count; i++)
        sum += (double)samples->items[i];
    return sum / (double)samples->count;
}
