/* Growable arrays. */
#include "base/containers.h"

#include "support/test.h"

TEST(items_survive_growth)
{
    TKT_ARRAY_OF(uint64_t) squares = {0};
    for (uint64_t i = 0; i < 10000; i++) {
        uint64_t *square = TKT_ARRAY_ADD(&squares);
        assert_non_null(square);
        *square = i * i;
    }
    assert_int_equal(squares.count, 10000);
    for (uint64_t i = 0; i < 10000; i++)
        assert_int_equal(squares.items[i], i * i);
    TKT_ARRAY_FREE(&squares);
    assert_null(squares.items);
    assert_int_equal(squares.count + squares.capacity, 0);
}

TEST(capacity_grows_by_half_at_least)
{
    TKT_ARRAY_OF(char) bytes = {0};
    size_t moves = 0;
    for (size_t i = 0; i < 100000; i++) {
        size_t before = bytes.capacity;
        *TKT_ARRAY_ADD(&bytes) = 'x';
        if (bytes.capacity != before) {
            assert_true(bytes.capacity >= before + before / 2);
            moves++;
        }
    }
    assert_true(moves < 30); /* log(100000 / 8) / log(1.5) = 23.3 */
    TKT_ARRAY_FREE(&bytes);
}

TEST(reserving_what_is_there_changes_nothing)
{
    TKT_ARRAY_OF(int) numbers = {0};
    assert_true(TKT_ARRAY_RESERVE(&numbers, 100));
    assert_true(numbers.capacity >= 100);
    int *items = numbers.items;
    assert_true(TKT_ARRAY_RESERVE(&numbers, 50));
    assert_ptr_equal(numbers.items, items);
    TKT_ARRAY_FREE(&numbers);
}

TEST(without_memory_the_array_stays_as_it_was)
{
    TKT_ARRAY_OF(int) numbers = {0};
    *TKT_ARRAY_ADD(&numbers) = 7;
    while (numbers.count < numbers.capacity)
        *TKT_ARRAY_ADD(&numbers) = 8;
    size_t count = numbers.count;
    tkt_alloc_fail(0, UINT64_MAX);
    int *added = TKT_ARRAY_ADD(&numbers);
    tkt_alloc_fail(0, 0);
    assert_null(added);
    assert_int_equal(numbers.count, count);
    assert_int_equal(numbers.capacity, count);
    assert_int_equal(numbers.items[0], 7);
    TKT_ARRAY_FREE(&numbers);
}

TEST(sizes_that_overflow_are_refused)
{
    TKT_ARRAY_OF(uint64_t) numbers = {0};
    assert_false(TKT_ARRAY_RESERVE(&numbers, SIZE_MAX));
    assert_false(TKT_ARRAY_RESERVE(&numbers, SIZE_MAX / 8 + 2)); /* times 8 is 8 */
    assert_null(numbers.items);
    assert_int_equal(numbers.capacity, 0);
}

/* Files that are compiled for size call it in place of the macro. */
TEST(the_function_adds_as_the_macro_does)
{
    struct {
        int before;
        TKT_ARRAY(uint16_t);
        int behind;
    } numbers = {.before = 1, .behind = 2};
    for (uint16_t i = 0; i < 1000; i++) {
        uint16_t *added = tkt_array_add(&numbers.items, sizeof *numbers.items);
        assert_ptr_equal(added, &numbers.items[i]);
        *added = i;
        assert_int_equal(numbers.count, i + 1);
        assert_true(numbers.capacity >= numbers.count);
    }
    for (uint16_t i = 0; i < 1000; i++)
        assert_int_equal(numbers.items[i], i);
    numbers.capacity = numbers.count;
    tkt_alloc_fail(0, UINT64_MAX);
    assert_null(tkt_array_add(&numbers.items, sizeof *numbers.items));
    tkt_alloc_fail(0, 0);
    assert_int_equal(numbers.count, 1000);
    assert_int_equal(numbers.before + numbers.behind, 3);
    TKT_ARRAY_FREE(&numbers);
}

TEST_MAIN(NULL, NULL)
