/* Interned strings. */
#include "base/containers.h"

#include "support/test.h"

#include <stdio.h>
#include <string.h>

#define NAMES 20000

static uint32_t intern_number(tkt_strtab *strings, unsigned number)
{
    char text[32];
    snprintf(text, sizeof text, "name %u", number);
    return tkt_strtab_intern_text(strings, text);
}

TEST(ids_are_dense_and_start_with_the_empty_string)
{
    tkt_strtab strings;
    assert_int_equal(tkt_strtab_init(&strings), TAKT_OK);
    assert_string_equal(tkt_strtab_text(&strings, 0), "");
    assert_int_equal(tkt_strtab_intern(&strings, NULL, 0), 0);
    assert_int_equal(tkt_strtab_intern_text(&strings, ""), 0);
    for (unsigned i = 0; i < NAMES; i++)
        assert_int_equal(intern_number(&strings, i), i + 1);
    assert_int_equal(strings.count, NAMES + 1);
    tkt_strtab_fini(&strings);
}

TEST(equal_bytes_get_equal_ids)
{
    tkt_strtab strings;
    assert_int_equal(tkt_strtab_init(&strings), TAKT_OK);
    for (unsigned i = 0; i < NAMES; i++)
        intern_number(&strings, i);
    for (unsigned i = 0; i < NAMES; i++)
        assert_int_equal(intern_number(&strings, i), i + 1);
    assert_int_equal(strings.count, NAMES + 1);
    tkt_strtab_fini(&strings);
}

TEST(texts_stay_where_they_are)
{
    tkt_strtab strings;
    assert_int_equal(tkt_strtab_init(&strings), TAKT_OK);
    const char *first = tkt_strtab_text(&strings, tkt_strtab_intern_text(&strings, "first"));
    for (unsigned i = 0; i < NAMES; i++)
        intern_number(&strings, i);
    assert_ptr_equal(tkt_strtab_text(&strings, 1), first);
    assert_string_equal(first, "first");
    tkt_strtab_fini(&strings);
}

TEST(strings_differ_behind_a_nul)
{
    tkt_strtab strings;
    assert_int_equal(tkt_strtab_init(&strings), TAKT_OK);
    uint32_t a = tkt_strtab_intern(&strings, "x\0a", 3);
    uint32_t b = tkt_strtab_intern(&strings, "x\0b", 3);
    uint32_t x = tkt_strtab_intern(&strings, "x", 1);
    uint32_t nul = tkt_strtab_intern(&strings, "", 1);
    assert_true(a != b && b != x && a != x && nul != 0);
    assert_int_equal(strings.items[a].size, 3);
    assert_memory_equal(tkt_strtab_text(&strings, a), "x\0a", 4);
    tkt_strtab_fini(&strings);
}

TEST(null_reads_as_null_in_parentheses)
{
    tkt_strtab strings;
    assert_int_equal(tkt_strtab_init(&strings), TAKT_OK);
    assert_string_equal(tkt_strtab_text(&strings, tkt_strtab_intern_text(&strings, NULL)),
                        "(null)");
    tkt_strtab_fini(&strings);
}

TEST(ten_megabytes_are_a_string_too)
{
    const size_t size = 10u << 20;
    tkt_strtab strings;
    char *large = tkt_alloc(size);
    assert_int_equal(tkt_strtab_init(&strings), TAKT_OK);
    memset(large, 'x', size);
    uint32_t first = tkt_strtab_intern(&strings, large, size);
    large[size - 1] = 'y';
    uint32_t second = tkt_strtab_intern(&strings, large, size);
    large[size - 1] = 'x';
    assert_int_equal(first, 1);
    assert_int_equal(second, 2);
    assert_int_equal(tkt_strtab_intern(&strings, large, size), 1);
    assert_int_equal(strlen(tkt_strtab_text(&strings, 2)), size);
    tkt_free(large);
    tkt_strtab_fini(&strings);
}

/* Interns with every single allocation failing once, and again after. */
TEST(without_memory_nothing_is_half_added)
{
    for (uint64_t after = 0; after < 40; after++) {
        tkt_strtab strings;
        tkt_alloc_fail(after, 1);
        takt_status status = tkt_strtab_init(&strings);
        if (status != TAKT_OK) {
            assert_int_equal(status, TAKT_NO_MEMORY);
            assert_int_equal(tkt_strtab_init(&strings), TAKT_OK);
        }
        for (unsigned i = 0; i < 3000; i++) {
            size_t count = strings.count;
            if (intern_number(&strings, i) != i + 1) {
                assert_int_equal(strings.count, count);
                assert_int_equal(intern_number(&strings, i), i + 1);
            }
        }
        tkt_alloc_fail(0, 0);
        for (unsigned i = 0; i < 3000; i++)
            assert_int_equal(intern_number(&strings, i), i + 1);
        tkt_strtab_fini(&strings);
    }
}

TEST(failure_is_told_from_every_id)
{
    tkt_strtab strings;
    assert_int_equal(tkt_strtab_init(&strings), TAKT_OK);
    char *large = tkt_alloc_zeroed(100000);
    tkt_alloc_fail(0, 1);
    assert_int_equal(tkt_strtab_intern(&strings, large, 100000), TKT_STRTAB_FULL);
    tkt_alloc_fail(0, 0);
    tkt_free(large);
    tkt_strtab_fini(&strings);
}

TEST(fini_takes_a_zeroed_one)
{
    tkt_strtab strings = {0};
    tkt_strtab_fini(&strings);
    assert_null(strings.items);
}

TEST_MAIN(NULL, NULL)
