/* Reading histograms. Writing is on the hot path, so it is in the header. */
#include "base/histogram.h"

#include <stdbool.h>

uint64_t tkt_histogram_value(uint32_t bucket)
{
    if (bucket >= TKT_HISTOGRAM_BUCKETS)
        bucket = TKT_HISTOGRAM_BUCKETS - 1;
    if (bucket < 2 * TKT_HISTOGRAM_SUB)
        return bucket;
    uint32_t shift = bucket / TKT_HISTOGRAM_SUB - 1;
    uint64_t low = (uint64_t)(bucket - shift * TKT_HISTOGRAM_SUB) << shift;
    return low + (UINT64_C(1) << shift >> 1);
}

/* Of `count` values, every 2^shift-th counts. */
static uint32_t shift_of(uint64_t count)
{
    return count >> 32 ? 32 - (uint32_t)__builtin_clz((uint32_t)(count >> 32)) : 0;
}

/* Rounds up: what is rare stays. */
static uint64_t scaled(uint32_t count, uint32_t shift)
{
    return ((uint64_t)count + (UINT64_C(1) << shift) - 1) >> shift;
}

__attribute__((cold)) void tkt_histogram_add_late(tkt_histogram *histogram, uint64_t number,
                                                  uint64_t value)
{
    uint32_t *bucket = &histogram->buckets[tkt_histogram_bucket(value)];
    bool is_first = (number & (number - 1)) == 0; /* with a greater shift */
    for (uint32_t i = 0; is_first && i < TKT_HISTOGRAM_BUCKETS; i++)
        histogram->buckets[i] = (uint32_t)scaled(histogram->buckets[i], 1);
    bool counts = (number & ((UINT64_C(1) << shift_of(number)) - 1)) == 0;
    *bucket += counts && *bucket < UINT32_MAX;
}

__attribute__((cold)) void tkt_histogram_merge(tkt_histogram *into, uint64_t count,
                                               const tkt_histogram *from, uint64_t more)
{
    uint32_t shift = shift_of(count + more);
    uint32_t mine = shift - shift_of(count), theirs = shift - shift_of(more);
    for (uint32_t i = 0; i < TKT_HISTOGRAM_BUCKETS; i++) {
        uint64_t sum = scaled(into->buckets[i], mine) + scaled(from->buckets[i], theirs);
        into->buckets[i] = sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
    }
}

uint64_t tkt_histogram_count(const tkt_histogram *histogram)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < TKT_HISTOGRAM_BUCKETS; i++)
        count += histogram->buckets[i];
    return count;
}

/* Products such as 0.07 * 100 come out slightly above the whole number that is meant, and must not
 * be rounded up to the next one. */
uint64_t tkt_nearest_rank(double q, uint64_t count)
{
    double exact = q * (double)count;
    if (!(exact > 1))
        return 1;
    if (exact >= (double)count)
        return count;
    uint64_t rank = (uint64_t)exact;
    return exact - (double)rank > 1e-9 * exact ? rank + 1 : rank;
}

uint64_t tkt_histogram_quantile(const tkt_histogram *histogram, double q)
{
    uint64_t count = tkt_histogram_count(histogram);
    if (count == 0)
        return 0;
    uint64_t rank = tkt_nearest_rank(q, count);
    uint64_t passed = 0;
    uint32_t bucket = 0;
    while ((passed += histogram->buckets[bucket]) < rank)
        bucket++;
    return tkt_histogram_value(bucket);
}
