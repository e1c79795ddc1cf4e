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

/* Rounds up: what is rare stays. */
static uint32_t half(uint64_t count)
{
    return (uint32_t)((count + 1) / 2);
}

__attribute__((cold)) void tkt_histogram_halve(tkt_histogram *histogram, uint32_t *bucket)
{
    *bucket = UINT32_MAX;
    for (uint32_t i = 0; i < TKT_HISTOGRAM_BUCKETS; i++)
        histogram->buckets[i] = half(histogram->buckets[i]);
}

void tkt_histogram_merge(tkt_histogram *into, const tkt_histogram *from)
{
    bool is_full = false;
    for (uint32_t i = 0; i < TKT_HISTOGRAM_BUCKETS; i++)
        is_full |= from->buckets[i] > UINT32_MAX - into->buckets[i];
    for (uint32_t i = 0; i < TKT_HISTOGRAM_BUCKETS; i++) {
        uint64_t sum = (uint64_t)into->buckets[i] + from->buckets[i];
        into->buckets[i] = is_full ? half(sum) : (uint32_t)sum;
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
