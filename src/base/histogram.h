/* A log-linear histogram of nanoseconds. Each power of two has sixteen buckets, so a quantile is
 * within 1/32 (3.2 %) of the value; values below 16 are exact. The layout of buckets is
 * HdrHistogram's.
 *
 * Counts have 32 bits. From 2^32 values on, every second value counts, from 2^33 on every fourth,
 * and so on, and at each such number the counts so far are halved: all values keep the same weight.
 * So whoever adds or merges must know how many values there are. */
#ifndef TKT_BASE_HISTOGRAM_H
#define TKT_BASE_HISTOGRAM_H

#include <stdint.h>

#define TKT_HISTOGRAM_SUB_BITS 4
#define TKT_HISTOGRAM_SUB      (1u << TKT_HISTOGRAM_SUB_BITS)
#define TKT_HISTOGRAM_TOP_BITS 46 /* values from 2^46 ns (19 hours) on share the last bucket */
#define TKT_HISTOGRAM_BUCKETS                                                                      \
    ((TKT_HISTOGRAM_TOP_BITS - TKT_HISTOGRAM_SUB_BITS + 1) * TKT_HISTOGRAM_SUB)

typedef struct tkt_histogram {
    uint32_t buckets[TKT_HISTOGRAM_BUCKETS];
} tkt_histogram;

static inline uint32_t tkt_histogram_bucket(uint64_t value)
{
    if (value < TKT_HISTOGRAM_SUB)
        return (uint32_t)value;
    if (value >> TKT_HISTOGRAM_TOP_BITS)
        return TKT_HISTOGRAM_BUCKETS - 1;
    uint32_t top = 63u - (uint32_t)__builtin_clzll(value);
    uint32_t shift = top - TKT_HISTOGRAM_SUB_BITS;
    return shift * TKT_HISTOGRAM_SUB + (uint32_t)(value >> shift);
}

/* For tkt_histogram_add() from 2^32 values on. */
void tkt_histogram_add_late(tkt_histogram *histogram, uint64_t number, uint64_t value);

/* Adds the value with this number, from 1. */
static inline void tkt_histogram_add(tkt_histogram *histogram, uint64_t number, uint64_t value)
{
    if (__builtin_expect(number >> 32 == 0, 1))
        histogram->buckets[tkt_histogram_bucket(value)]++;
    else
        tkt_histogram_add_late(histogram, number, value);
}

/* The middle of a bucket. */
uint64_t tkt_histogram_value(uint32_t bucket);

/* Adds the `more` values of `from` to the `count` values of `into`. */
void tkt_histogram_merge(tkt_histogram *into, uint64_t count, const tkt_histogram *from,
                         uint64_t more);

/* The number of values that count. */
uint64_t tkt_histogram_count(const tkt_histogram *histogram);

/* The rank, from 1, among `count` ascending values of the quantile `q`: ceil(q * count), within 1
 * to count. */
uint64_t tkt_nearest_rank(double q, uint64_t count);

/* The quantile `q` (0 to 1) of all values, by nearest rank; 0 when empty. */
uint64_t tkt_histogram_quantile(const tkt_histogram *histogram, double q);

#endif
