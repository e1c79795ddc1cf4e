/* Statistics of a few runs, each with one value.
 *
 * If A and B are the same program, every run could have belonged to the other side. So a
 * permutation test deals the runs to the sides in every possible way; p is the share of ways in
 * which the sides differ as much as in reality. The test is exact for any distribution and any
 * number of runs. It compares trimmed means, on which one stray run has no effect.
 *
 * A machine's state drifts over time, by more than programs differ. If the runs alternated, they
 * are divided into blocks of neighbours in time. The block's median is subtracted from each value,
 * and runs are only dealt within their block. This removes everything that the runs of a block have
 * in common. */
#include "cli/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_WAYS = 8000, /* ways to deal the runs; if there are more, a random sample of this size */
    IN_BLOCK = 4,     /* runs per block; the last block may have more */
    HALVINGS = 26     /* bisection steps for each end of the interval */
};

bool cli_values_add(cli_values *values, cli_value value)
{
    if (values->count == values->capacity) {
        size_t capacity = values->capacity ? 2 * values->capacity : 8;
        cli_value *items = realloc(values->items, capacity * sizeof *items);
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

static size_t trimmed(size_t count)
{
    return count / 5;
}

/* Returns the number of values that come before this one in ascending order. */
static size_t place_of(const cli_values *values, size_t i)
{
    size_t place = 0;
    for (size_t j = 0; j < values->count; j++)
        place += values->items[j].ns < values->items[i].ns ||
                 (j < i && values->items[j].ns == values->items[i].ns);
    return place;
}

double cli_values_trimmed_mean(const cli_values *values)
{
    size_t count = values->count, less = trimmed(count);
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        size_t place = place_of(values, i);
        sum += place >= less && place < count - less ? values->items[i].ns : 0;
    }
    return count ? sum / (double)(count - 2 * less) : NAN;
}

/* Returns the number of ways to choose `k` of `n`. */
static double ways_to_choose(size_t n, size_t k)
{
    double ways = 1;
    for (size_t i = 1; i <= k; i++)
        ways = ways * (double)(n - k + i) / (double)i;
    return ways;
}

bool cli_runs_suffice(size_t a, size_t b)
{
    return a >= CLI_LEAST_RUNS && b >= CLI_LEAST_RUNS && 2 / ways_to_choose(a + b, a) < CLI_ALPHA;
}

/* ---- Order of runs ---- */

/* A run of either side. */
typedef struct run {
    cli_value value;
    bool is_b;
} run;

static int by_begin(const void *a, const void *b)
{
    uint64_t x = ((const run *)a)->value.begin_ns, y = ((const run *)b)->value.begin_ns;
    return (x > y) - (x < y);
}

/* Returns all runs, A's first; NULL: no memory. The caller frees. */
static run *pool(const cli_values *a, const cli_values *b)
{
    run *runs = malloc((a->count + b->count + 1) * sizeof *runs);
    for (size_t i = 0; runs && i < a->count; i++)
        runs[i] = (run){a->items[i], false};
    for (size_t i = 0; runs && i < b->count; i++)
        runs[a->count + i] = (run){b->items[i], true};
    return runs;
}

/* The last block takes the remaining runs. */
static size_t block_length(size_t first, size_t count)
{
    size_t left = count - first;
    return left < 2 * IN_BLOCK ? left : IN_BLOCK;
}

static bool is_balanced(const run *runs, size_t count)
{
    size_t of_b = 0;
    for (size_t i = 0; i < count; i++)
        of_b += runs[i].is_b;
    return 2 * of_b == count;
}

/* `runs` must be sorted by begin. False if two begin at the same time, because they have no
 * order. */
static bool take_turns(const run *runs, size_t count)
{
    if (count < 2 * CLI_LEAST_PAIRS || !is_balanced(runs, count))
        return false;
    for (size_t i = 1; i < count; i++)
        if (runs[i].value.begin_ns == runs[i - 1].value.begin_ns)
            return false;
    for (size_t i = 0, length; i < count; i += length) {
        length = block_length(i, count);
        if (!is_balanced(runs + i, length))
            return false;
    }
    return true;
}

bool cli_values_take_turns(const cli_values *a, const cli_values *b)
{
    size_t count = a->count + b->count;
    run *runs = pool(a, b);
    bool result = false;

    if (runs) {
        qsort(runs, count, sizeof *runs, by_begin);
        result = take_turns(runs, count);
    }
    free(runs);
    return result;
}

bool cli_values_are_apart(const cli_values *a, const cli_values *b)
{
    size_t count = a->count + b->count, changes = 0;
    run *runs = pool(a, b);

    if (runs)
        qsort(runs, count, sizeof *runs, by_begin);
    for (size_t i = 1; runs && i < count; i++)
        changes += runs[i].value.begin_ns == runs[i - 1].value.begin_ns
                       ? 2
                       : runs[i].is_b != runs[i - 1].is_b;
    free(runs);
    return changes == 1;
}

/* ---- Dealing ---- */

typedef struct block {
    size_t first, count, of_b;
} block;

typedef struct point {
    double ns;
    size_t run;
} point;

/* All runs, and the ways to deal them to sides. Blocks are contiguous. */
typedef struct deals {
    run *runs;
    size_t count, of_a, of_b;
    block *blocks;
    size_t block_count;
    point *sorted; /* values under the assumed shift, ascending */
    bool *is_b;    /* the current way to deal the runs */
    double ways;
    uint64_t state; /* of the random generator */
} deals;

static void cut(deals *d, bool by_turns)
{
    for (size_t i = 0, length; i < d->count; i += length) {
        block *b = &d->blocks[d->block_count++];
        length = by_turns ? block_length(i, d->count) : d->count;
        *b = (block){.first = i, .count = length};
        for (size_t j = i; j < i + length; j++)
            b->of_b += d->runs[j].is_b;
        d->ways *= ways_to_choose(b->count, b->of_b);
    }
}

static bool init(deals *d, const cli_values *a, const cli_values *b)
{
    *d = (deals){.count = a->count + b->count, .of_a = a->count, .of_b = b->count, .ways = 1};
    d->runs = pool(a, b);
    d->blocks = calloc(d->count, sizeof *d->blocks);
    d->sorted = calloc(d->count, sizeof *d->sorted);
    d->is_b = calloc(d->count, sizeof *d->is_b);
    if (!d->runs || !d->blocks || !d->sorted || !d->is_b)
        return false;
    qsort(d->runs, d->count, sizeof *d->runs, by_begin);
    cut(d, take_turns(d->runs, d->count));
    return true;
}

static void fini(deals *d)
{
    free(d->runs);
    free(d->blocks);
    free(d->sorted);
    free(d->is_b);
}

static int by_point(const void *a, const void *b)
{
    double x = ((const point *)a)->ns, y = ((const point *)b)->ns;
    return (x > y) - (x < y);
}

/* Computes the values under the assumption that B's runs are longer by `shift` and nothing else
 * differs. With several blocks, subtracts the block's median. */
static void suppose(deals *d, double shift)
{
    for (size_t i = 0; i < d->block_count; i++) {
        const block *b = &d->blocks[i];
        point *points = d->sorted + b->first;
        for (size_t j = 0; j < b->count; j++) {
            const run *r = &d->runs[b->first + j];
            points[j] = (point){r->value.ns - (r->is_b ? shift : 0), b->first + j};
        }
        if (d->block_count == 1)
            break;
        qsort(points, b->count, sizeof *points, by_point);
        double middle = (points[(b->count - 1) / 2].ns + points[b->count / 2].ns) / 2;
        for (size_t j = 0; j < b->count; j++)
            points[j].ns -= middle;
    }
    qsort(d->sorted, d->count, sizeof *d->sorted, by_point);
}

/* By how much B exceeds A: the difference of the trimmed means; if those are equal, which happens
 * with equal values, the difference of the means. */
typedef struct score {
    double trimmed, plain;
} score;

static score score_of(const deals *d, const bool *is_b)
{
    size_t seen[2] = {0, 0}, sizes[2] = {d->of_a, d->of_b};
    size_t less[2] = {trimmed(d->of_a), trimmed(d->of_b)};
    double inner[2] = {0, 0}, all[2] = {0, 0};

    for (size_t i = 0; i < d->count; i++) {
        int side = is_b[d->sorted[i].run];
        size_t place = seen[side]++;
        all[side] += d->sorted[i].ns;
        if (place >= less[side] && place < sizes[side] - less[side])
            inner[side] += d->sorted[i].ns;
    }
    return (score){inner[1] / (double)(sizes[1] - 2 * less[1]) -
                       inner[0] / (double)(sizes[0] - 2 * less[0]),
                   all[1] / (double)sizes[1] - all[0] / (double)sizes[0]};
}

/* Returns 1, 0 or -1. Differences up to `rounding` count as equal. */
static int compare_scores(score a, score b, double rounding)
{
    double by = fabs(a.trimmed - b.trimmed) > rounding ? a.trimmed - b.trimmed : a.plain - b.plain;
    return (by > rounding) - (by < -rounding);
}

static void first_way(const deals *d)
{
    for (size_t i = 0; i < d->block_count; i++)
        for (size_t j = 0; j < d->blocks[i].count; j++)
            d->is_b[d->blocks[i].first + j] = j >= d->blocks[i].count - d->blocks[i].of_b;
}

/* Makes the next way, in the order of binary numbers. False after the last way; the block then has
 * the first way again. */
static bool next_in_block(bool *is_b, size_t count)
{
    size_t up = count, ones = 0;

    while (up > 1 && !(is_b[up - 1] && !is_b[up - 2]))
        ones += is_b[--up];
    bool is_last = up <= 1;
    if (is_last)
        ones += count > 0 && is_b[0];
    else
        is_b[up - 2] = true; /* takes the place of the last true item behind it */
    for (size_t i = is_last ? 0 : up - 1; i < count; i++)
        is_b[i] = i >= count - ones;
    return !is_last;
}

static bool next_way(const deals *d)
{
    for (size_t i = 0; i < d->block_count; i++)
        if (next_in_block(d->is_b + d->blocks[i].first, d->blocks[i].count))
            return true;
    return false;
}

/* Uses Marsaglia's xorshift. The seed is constant, so the same files give the same numbers. */
static size_t draw(deals *d, size_t below)
{
    d->state ^= d->state << 13;
    d->state ^= d->state >> 7;
    d->state ^= d->state << 17;
    return (size_t)((d->state >> 11) % below);
}

static void draw_way(deals *d)
{
    for (size_t i = 0; i < d->block_count; i++) {
        bool *is_b = d->is_b + d->blocks[i].first;
        for (size_t j = d->blocks[i].count; j > 1; j--) {
            size_t other = draw(d, j);
            bool last = is_b[j - 1];
            is_b[j - 1] = is_b[other];
            is_b[other] = last;
        }
    }
}

/* Which ways to count: those with a difference of at least the real one (UP), or at most (DOWN). */
typedef enum direction {
    UP = 1,
    DOWN = -1
} direction;

/* Returns their share of all ways, assuming that B's runs are longer by `shift`. Stops counting
 * when the share reaches `enough`. */
static double share_of_ways(deals *d, double shift, direction where, double enough)
{
    bool draws = d->ways > MOST_WAYS;
    double all = draws ? MOST_WAYS : d->ways;
    double found = draws; /* the random sample includes the real way */

    suppose(d, shift);
    for (size_t i = 0; i < d->count; i++)
        d->is_b[i] = d->runs[i].is_b;
    double rounding = 1e-9 * (d->sorted[d->count - 1].ns - d->sorted[0].ns);
    score as_it_was = score_of(d, d->is_b);

    d->state = UINT64_C(0x9e3779b97f4a7c15);
    first_way(d);
    for (double i = draws; i < all && found < enough * all; i++) {
        if (draws)
            draw_way(d);
        found += compare_scores(score_of(d, d->is_b), as_it_was, rounding) * (int)where >= 0;
        if (!draws)
            next_way(d);
    }
    return found / all;
}

/* ---- The interval ---- */

/* Finds one end of the interval by bisection: the test rejects shifts beyond it. */
static double find_end(deals *d, double inside, double outside, direction where)
{
    for (int i = 0; i < HALVINGS; i++) {
        double middle = (inside + outside) / 2;
        if (share_of_ways(d, middle, where, CLI_ALPHA / 2) < CLI_ALPHA / 2)
            outside = middle;
        else
            inside = middle;
    }
    return inside;
}

static double range_of(const cli_values *values, bool of_most)
{
    double end = values->items[0].ns;
    for (size_t i = 1; i < values->count; i++)
        end = of_most ? fmax(end, values->items[i].ns) : fmin(end, values->items[i].ns);
    return end;
}

/* Bounds for the search: with a shift below `least`, every value of B is above every value of A;
 * with a shift above `most`, below. */
static void find_interval(deals *d, const cli_values *a, const cli_values *b, cli_noise *out)
{
    double least = range_of(b, false) - range_of(a, true);
    double most = range_of(b, true) - range_of(a, false);
    double more = 1 + 1e-6 * (most - least);

    out->low_ns = find_end(d, out->shift_ns, least - more, UP);
    out->high_ns = find_end(d, out->shift_ns, most + more, DOWN);
}

bool cli_noise_of_runs(const cli_values *a, const cli_values *b, cli_noise *out)
{
    deals d;

    *out = CLI_NO_NOISE;
    if (a->count == 0 || b->count == 0)
        return true;
    bool has_memory = init(&d, a, b);
    if (has_memory) {
        suppose(&d, 0);
        for (size_t i = 0; i < d.count; i++)
            d.is_b[i] = d.runs[i].is_b;
        out->shift_ns = score_of(&d, d.is_b).trimmed;
    }
    if (has_memory && cli_runs_suffice(a->count, b->count)) {
        double up = share_of_ways(&d, 0, UP, 1), down = share_of_ways(&d, 0, DOWN, 1);
        out->p = out->own_p = fmin(1, 2 * fmin(up, down));
        out->least_p = 2 / fmin(d.ways, MOST_WAYS);
        find_interval(&d, a, b, out);
    }
    fini(&d);
    return has_memory;
}
