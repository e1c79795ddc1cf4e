/* Histograms against the sorted values themselves. */
#include "base/histogram.h"

#include "base/alloc.h"

#include "support/test.h"

#include <math.h>
#include <stdlib.h>

#define VALUES 20000

static uint64_t random_word(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    return *seed ^= *seed << 17;
}

static int by_size(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* The value of nearest rank in integers: the smallest with at least permille/1000 of all at or
 * below it. */
static uint64_t exact_quantile(const uint64_t *sorted, size_t count, unsigned permille)
{
    size_t rank = (permille * count + 999) / 1000;
    return sorted[rank ? rank - 1 : 0];
}

static void assert_quantiles(uint64_t *values, size_t count)
{
    tkt_histogram *histogram = tkt_alloc_zeroed(sizeof *histogram);
    for (size_t i = 0; i < count; i++)
        tkt_histogram_add(histogram, 1, values[i]);
    qsort(values, count, sizeof *values, by_size);
    for (unsigned permille = 0; permille <= 1000; permille++) {
        uint64_t exact = exact_quantile(values, count, permille);
        uint64_t found = tkt_histogram_quantile(histogram, permille / 1000.0);
        assert_int_equal(tkt_histogram_bucket(found), tkt_histogram_bucket(exact));
        assert_true(distance(found, exact) <= exact / 32);
    }
    tkt_free(histogram);
}

TEST(quantile_is_within_a_32nd_of_the_exact_value)
{
    uint64_t *values = tkt_alloc(VALUES * sizeof *values);
    uint64_t seed = 42;
    for (unsigned bits = 1; bits <= TKT_HISTOGRAM_TOP_BITS; bits += 5) {
        for (size_t i = 0; i < VALUES; i++)
            values[i] = random_word(&seed) >> (64 - bits) >> random_word(&seed) % bits;
        assert_quantiles(values, VALUES);
    }
    tkt_free(values);
}

TEST(quantiles_of_few_values_have_the_right_rank)
{
    for (size_t count = 1; count <= 100; count++) {
        uint64_t values[100];
        for (size_t i = 0; i < count; i++)
            values[i] = (i * 37 % count) * 1000;
        assert_quantiles(values, count);
    }
}

TEST(values_below_32_are_exact)
{
    for (uint64_t value = 0; value < 32; value++)
        assert_int_equal(tkt_histogram_value(tkt_histogram_bucket(value)), value);
}

/* Each bucket's values, found by asking for the bucket of values around its middle. */
TEST(buckets_are_contiguous_and_their_value_is_their_middle)
{
    uint64_t begin = 0;
    for (uint32_t bucket = 0; bucket < TKT_HISTOGRAM_BUCKETS; bucket++) {
        uint64_t middle = tkt_histogram_value(bucket);
        assert_int_equal(tkt_histogram_bucket(begin), bucket);
        assert_int_equal(tkt_histogram_bucket(middle), bucket);
        uint64_t half = middle - begin;
        uint64_t last = middle + (half ? half - 1 : 0);
        assert_int_equal(tkt_histogram_bucket(last), bucket);
        begin = last + 1;
    }
    assert_int_equal(begin, UINT64_C(1) << TKT_HISTOGRAM_TOP_BITS);
}

TEST(huge_values_share_the_last_bucket)
{
    assert_int_equal(tkt_histogram_bucket(UINT64_C(1) << 46), TKT_HISTOGRAM_BUCKETS - 1);
    assert_int_equal(tkt_histogram_bucket(UINT64_MAX), TKT_HISTOGRAM_BUCKETS - 1);
    assert_int_equal(tkt_histogram_value(UINT32_MAX),
                     tkt_histogram_value(TKT_HISTOGRAM_BUCKETS - 1));
}

#define BILLIONS_4 (UINT64_C(1) << 32)

/* Values 2^32 + 1 to 2^33 count half as often, and those before only half. */
TEST(quantiles_stay_right_beyond_32_bits)
{
    static tkt_histogram one;
    one.buckets[tkt_histogram_bucket(100)] = UINT32_MAX - 40;
    one.buckets[3] = 40;
    uint64_t number = BILLIONS_4;
    for (; number < BILLIONS_4 + 1000; number++)
        tkt_histogram_add(&one, number, 1000);
    assert_int_equal(one.buckets[tkt_histogram_bucket(100)], (UINT32_MAX - 40) / 2 + 1);
    assert_int_equal(one.buckets[3], 20);
    assert_int_equal(one.buckets[tkt_histogram_bucket(1000)], 500);
    one.buckets[tkt_histogram_bucket(1000)] = UINT32_C(1) << 31; /* as if so many more were added */
    tkt_histogram_add(&one, 2 * BILLIONS_4, 1000);
    assert_int_equal(one.buckets[tkt_histogram_bucket(1000)], (UINT32_C(1) << 30) + 1);
    assert_in_range(tkt_histogram_quantile(&one, 0.49), 97, 103);
    assert_in_range(tkt_histogram_quantile(&one, 0.51), 970, 1030);
    assert_int_equal(tkt_histogram_quantile(&one, 0), 3);
}

/* 6 billion values of 100, of which every second counted, and 2 billion of 1000. */
TEST(merging_many_keeps_the_shares)
{
    static tkt_histogram many, few;
    many.buckets[tkt_histogram_bucket(100)] = 3000000000u;
    few.buckets[tkt_histogram_bucket(1000)] = 2000000000u;
    few.buckets[3] = 1;
    tkt_histogram_merge(&many, UINT64_C(6000000000), &few, 2000000001);
    assert_int_equal(many.buckets[tkt_histogram_bucket(100)], 3000000000u);
    assert_int_equal(many.buckets[tkt_histogram_bucket(1000)], 1000000000u);
    assert_int_equal(many.buckets[3], 1);
    tkt_histogram_merge(&few, 2000000001, &few, 2000000001);
    assert_int_equal(few.buckets[tkt_histogram_bucket(1000)], 4000000000u);
}

TEST(merging_equals_adding_all_to_one)
{
    static tkt_histogram all, even, odd;
    uint64_t seed = 7;
    for (int i = 0; i < VALUES; i++) {
        uint64_t value = random_word(&seed) >> 30;
        tkt_histogram_add(&all, 1, value);
        tkt_histogram_add(i % 2 ? &odd : &even, 1, value);
    }
    tkt_histogram_merge(&even, VALUES / 2, &odd, VALUES / 2);
    assert_memory_equal(&even, &all, sizeof all);
    assert_int_equal(tkt_histogram_count(&even), VALUES);
}

TEST(an_empty_histogram_has_quantile_0)
{
    static tkt_histogram empty;
    assert_int_equal(tkt_histogram_quantile(&empty, 0.5), 0);
    assert_int_equal(tkt_histogram_count(&empty), 0);
}

TEST(shares_outside_0_to_1_mean_the_ends)
{
    static tkt_histogram two;
    tkt_histogram_add(&two, 1, 3);
    tkt_histogram_add(&two, 1, 9);
    assert_int_equal(tkt_histogram_quantile(&two, -1), 3);
    assert_int_equal(tkt_histogram_quantile(&two, (double)NAN), 3);
    assert_int_equal(tkt_histogram_quantile(&two, 2), 9);
}

TEST_MAIN(NULL, NULL)
