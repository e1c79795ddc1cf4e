/* Durations by the million: gathered, sorted by their bytes. */
#include "cli/noise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* One pass of the sort: stable, by the digit at `shift`. */
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
    samples->capacity = samples->count; /* of the array that is kept, at least */
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
    for (size_t i = 0; i < samples->count; i++)
        sum += (double)samples->items[i];
    return sum / (double)samples->count;
}
