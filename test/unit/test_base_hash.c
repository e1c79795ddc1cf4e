/* The map against a plain array as its model. */
#include "base/containers.h"

#include "base/alloc.h"

#include "support/test.h"

#include <stdio.h>
#include <string.h>

#define KEYS 512

/* A fixed sequence (Marsaglia's xorshift), so that a failure can be repeated. */
static uint64_t random_word(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    return *seed ^= *seed << 17;
}

typedef struct model {
    bool is_there[KEYS];
    uint64_t values[KEYS];
    size_t count;
} model;

static void put_in_both(tkt_map *map, model *expected, uint64_t key, uint64_t value)
{
    uint64_t *place = tkt_map_put(map, key);
    assert_non_null(place);
    assert_int_equal(*place, expected->is_there[key] ? expected->values[key] : 0);
    *place = value;
    expected->count += !expected->is_there[key];
    expected->is_there[key] = true;
    expected->values[key] = value;
}

static void remove_from_both(tkt_map *map, model *expected, uint64_t key)
{
    assert_int_equal(tkt_map_remove(map, key), expected->is_there[key]);
    expected->count -= expected->is_there[key];
    expected->is_there[key] = false;
}

static void assert_same(const tkt_map *map, const model *expected)
{
    assert_int_equal(map->count, expected->count);
    for (uint64_t key = 0; key < KEYS; key++) {
        const uint64_t *value = tkt_map_get(map, key);
        assert_int_equal(value != NULL, expected->is_there[key]);
        if (value)
            assert_int_equal(*value, expected->values[key]);
    }
}

TEST(the_map_does_what_an_array_of_all_keys_does)
{
    uint64_t seed = 1;
    tkt_map map = {0};
    model expected = {0};
    for (int i = 0; i < 40000; i++) {
        uint64_t word = random_word(&seed);
        uint64_t key = word >> 20 & (KEYS - 1);
        /* The share of removals swings, so that the map fills and empties. */
        if ((word & 15) < (i / 5000 % 2 ? 10u : 5u))
            remove_from_both(&map, &expected, key);
        else
            put_in_both(&map, &expected, key, word);
        if (i % 9973 == 9972) {
            tkt_map_clear(&map);
            expected = (model){0};
        }
        if (i % 97 == 0)
            assert_same(&map, &expected);
    }
    assert_same(&map, &expected);
    tkt_map_fini(&map);
    assert_int_equal(map.count + map.capacity, 0);
}

/* All these keys want the last slot of the smallest table, so that the run wraps around. */
TEST(removal_keeps_the_rest_of_a_run_that_wraps)
{
    uint64_t keys[6];
    size_t found = 0;
    for (uint64_t key = 1; found < 6; key++) {
        if ((tkt_hash_u64(key) & 15) == 15)
            keys[found++] = key;
    }
    for (size_t removed = 0; removed < 6; removed++) {
        tkt_map map = {0};
        for (size_t i = 0; i < 6; i++)
            *tkt_map_put(&map, keys[i]) = i;
        assert_int_equal(map.capacity, 16);
        assert_true(tkt_map_remove(&map, keys[removed]));
        for (size_t i = 0; i < 6; i++)
            assert_int_equal(tkt_map_get(&map, keys[i]) != NULL, i != removed);
        tkt_map_fini(&map);
    }
}

TEST(an_empty_map_has_nothing)
{
    tkt_map map = {0};
    assert_null(tkt_map_get(&map, 0));
    assert_null(tkt_map_get(&map, 5));
    assert_false(tkt_map_remove(&map, 0));
    tkt_map_fini(&map);
}

TEST(extreme_keys_are_keys_as_others)
{
    const uint64_t keys[] = {0, 1, UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 63};
    tkt_map map = {0};
    for (size_t i = 0; i < 5; i++)
        *tkt_map_put(&map, keys[i]) = i + 100;
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(*tkt_map_get(&map, keys[i]), i + 100);
    assert_int_equal(map.count, 5);
    tkt_map_fini(&map);
}

TEST(without_memory_old_entries_stay)
{
    tkt_map map = {0};
    tkt_alloc_fail(0, 1);
    assert_null(tkt_map_put(&map, 1));
    uint64_t added = 0;
    for (uint64_t *place; (place = tkt_map_put(&map, added)) != NULL; added++) {
        *place = added;
        tkt_alloc_fail(0, UINT64_MAX);
    }
    tkt_alloc_fail(0, 0);
    assert_int_equal(map.count, added);
    for (uint64_t key = 0; key <= added; key++)
        assert_int_equal(tkt_map_get(&map, key) != NULL, key < added);
    assert_non_null(tkt_map_put(&map, added));
    tkt_map_fini(&map);
}

TEST(every_byte_and_the_size_count_in_a_hash)
{
    char bytes[40] = {0};
    for (size_t size = 0; size < sizeof bytes; size++) {
        uint64_t hash = tkt_hash_bytes(bytes, size);
        assert_int_not_equal(hash, tkt_hash_bytes(bytes, size + 1));
        for (size_t bit = 0; bit < size * 8; bit++) {
            bytes[bit / 8] ^= (char)(1 << bit % 8);
            assert_int_not_equal(hash, tkt_hash_bytes(bytes, size));
            bytes[bit / 8] ^= (char)(1 << bit % 8);
        }
        assert_int_equal(hash, tkt_hash_bytes(bytes, size));
    }
}

TEST(hashing_reads_no_byte_too_many)
{
    for (size_t size = 0; size < 40; size++) {
        char *exact = tkt_alloc(size); /* its end is what AddressSanitizer watches */
        char loose[64];
        memset(exact, 'x', size);
        memset(loose, 'y', sizeof loose);
        memcpy(loose + 3, exact, size);
        assert_int_equal(tkt_hash_bytes(exact, size), tkt_hash_bytes(loose + 3, size));
        tkt_free(exact);
    }
}

/* With 2^16 hashes in 2^8 bins, a bin holds 256 on average with a deviation of 16. */
TEST(low_bits_of_hashes_spread_evenly)
{
    unsigned bins[2][256] = {{0}};
    for (uint64_t i = 0; i < 65536; i++) {
        char text[32];
        int size = snprintf(text, sizeof text, "kernel_%llu", (unsigned long long)i);
        bins[0][tkt_hash_bytes(text, (size_t)size) & 255]++;
        bins[1][tkt_hash_u64(i << 12) & 255]++;
    }
    for (int i = 0; i < 256; i++) {
        assert_in_range(bins[0][i], 256 - 6 * 16, 256 + 6 * 16);
        assert_in_range(bins[1][i], 256 - 6 * 16, 256 + 6 * 16);
    }
}

/* What comes out is what went in, in the order of the keys. */
TEST(a_heap_gives_the_least_first)
{
    enum {
        COUNT = 3000
    };
    tkt_heap heap = {0};
    static bool is_out[COUNT];
    uint64_t random = 1, keys[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        keys[i] = random >> 54; /* many are equal */
        assert_true(tkt_heap_add(&heap, keys[i], i));
    }
    uint64_t before = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        tkt_heap_item item = tkt_heap_take(&heap);
        assert_true(item.key >= before && item.key == keys[item.value] && !is_out[item.value]);
        is_out[item.value] = true;
        before = item.key;
    }
    assert_int_equal(heap.count, 0);
    TKT_ARRAY_FREE(&heap);
}

TEST_MAIN(NULL, NULL)
