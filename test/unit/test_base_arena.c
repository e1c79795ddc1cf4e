/* Memory that is freed all at once. */
#include "base/containers.h"

#include "base/alloc.h"

#include "support/test.h"

#include <string.h>

#define PIECES 3000

/* Sizes from one byte to more than a block, without order. */
static size_t size_of_piece(size_t i)
{
    return i % 97 == 0 ? 40000 + i : i * 7919 % 300;
}

TEST(pieces_are_aligned_and_do_not_overlap)
{
    tkt_arena arena = {0};
    unsigned char *pieces[PIECES];
    for (size_t i = 0; i < PIECES; i++) {
        pieces[i] = tkt_arena_alloc(&arena, size_of_piece(i));
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % 16, 0);
        memset(pieces[i], (int)(i & 0xFF), size_of_piece(i));
        if (i % 3 == 0)
            assert_non_null(tkt_arena_copy(&arena, "odd", i % 4)); /* upsets the alignment */
    }
    for (size_t i = 0; i < PIECES; i++) {
        for (size_t j = 0; j < size_of_piece(i); j++)
            assert_int_equal(pieces[i][j], i & 0xFF);
    }
    tkt_arena_fini(&arena);
    assert_null(arena.blocks);
    assert_int_equal(arena.total_bytes, 0);
}

TEST(pieces_of_no_bytes_are_distinct)
{
    tkt_arena arena = {0};
    void *first = tkt_arena_alloc(&arena, 0);
    void *second = tkt_arena_alloc(&arena, 0);
    assert_non_null(first);
    assert_ptr_not_equal(first, second);
    tkt_arena_fini(&arena);
}

TEST(copies_end_in_nul_and_keep_nul_within)
{
    tkt_arena arena = {0};
    char *copy = tkt_arena_copy(&arena, "a\0bc", 3);
    assert_memory_equal(copy, "a\0b", 4);
    assert_string_equal(tkt_arena_copy(&arena, NULL, 0), "");
    tkt_arena_fini(&arena);
}

TEST(all_that_was_handed_out_is_counted)
{
    tkt_arena arena = {0};
    tkt_arena_alloc(&arena, 100);
    tkt_arena_copy(&arena, "four", 4);
    tkt_arena_alloc(&arena, 1000000);
    assert_int_equal(arena.total_bytes, 100 + 5 + 1000000);
    tkt_arena_fini(&arena);
}

TEST(something_large_does_not_waste_the_rest_of_a_block)
{
    tkt_arena arena = {0};
    char *before = tkt_arena_alloc(&arena, 16);
    assert_non_null(tkt_arena_alloc(&arena, 1000000));
    assert_ptr_equal(tkt_arena_alloc(&arena, 16), before + 16);
    tkt_arena_fini(&arena);
}

TEST(small_pieces_share_few_blocks)
{
    tkt_arena arena = {0};
    tkt_alloc_fail(14, UINT64_MAX); /* 16 KiB doubling to 512 KiB, then eight of 1 MiB */
    for (size_t i = 0; i < 8u << 20; i += 64)
        assert_non_null(tkt_arena_alloc(&arena, 64));
    tkt_alloc_fail(0, 0);
    tkt_arena_fini(&arena);
}

TEST(what_was_cleared_is_handed_out_again)
{
    tkt_arena arena = {0};
    for (int round = 0; round < 3; round++) {
        if (round > 0)
            tkt_alloc_fail(0, UINT64_MAX);
        for (size_t i = 0; i < PIECES; i++) {
            char *piece = tkt_arena_alloc(&arena, 1 + i % 300);
            assert_non_null(piece);
            memset(piece, 'x', 1 + i % 300);
        }
        tkt_alloc_fail(0, 0);
        tkt_arena_clear(&arena);
        assert_int_equal(arena.total_bytes, 0);
    }
    tkt_arena_fini(&arena);
    assert_null(arena.spares);
}

TEST(without_memory_nothing_is_handed_out)
{
    tkt_arena arena = {0};
    tkt_alloc_fail(0, 2);
    assert_null(tkt_arena_alloc(&arena, 10));
    assert_null(tkt_arena_copy(&arena, "text", 4));
    assert_int_equal(arena.total_bytes, 0);
    char *copy = tkt_arena_copy(&arena, "text", 4);
    assert_string_equal(copy, "text");
    tkt_alloc_fail(0, 1);
    assert_null(tkt_arena_alloc(&arena, 100000));
    assert_int_equal(arena.total_bytes, 5);
    assert_null(tkt_arena_alloc(&arena, SIZE_MAX));
    assert_null(tkt_arena_copy(&arena, "", SIZE_MAX));
    tkt_arena_fini(&arena);
}

TEST_MAIN(NULL, NULL)
