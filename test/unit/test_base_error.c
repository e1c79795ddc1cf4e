/* Errors, and option structs that age. */
#include "base/error.h"

#include "support/test.h"

#include <stdio.h>
#include <string.h>

TEST(every_status_has_a_text_of_its_own)
{
    for (int i = 0; i < TAKT_STATUS_COUNT; i++) {
        for (int j = 0; j < i; j++)
            assert_string_not_equal(takt_status_text((takt_status)i),
                                    takt_status_text((takt_status)j));
    }
    assert_string_equal(takt_status_text(TAKT_OK), "ok");
    assert_string_equal(takt_status_text(TAKT_UNSUPPORTED), "not supported here");
}

TEST(a_number_that_is_no_status_has_a_text_too)
{
    assert_string_equal(takt_status_text(TAKT_STATUS_COUNT), "unknown status");
    assert_string_equal(takt_status_text((takt_status)-1), "unknown status");
}

TEST(the_version_is_that_of_the_header)
{
    char expected[32];
    snprintf(expected, sizeof expected, "%d.%d.%d", TAKT_VERSION_MAJOR, TAKT_VERSION_MINOR,
             TAKT_VERSION_PATCH);
    assert_string_equal(takt_version(), expected);
    assert_string_equal(takt_version(), TAKT_VERSION);
}

TEST(an_error_carries_status_place_and_message)
{
    takt_error error;
    memset(&error, 0xEE, sizeof error);
    assert_int_equal(tkt_error_at(&error, TAKT_BAD_CONFIG, 3, 5, "key %s, %d", "wiat", 7),
                     TAKT_BAD_CONFIG);
    assert_int_equal(error.status, TAKT_BAD_CONFIG);
    assert_int_equal(error.line, 3);
    assert_int_equal(error.column, 5);
    assert_string_equal(error.message, "key wiat, 7");
    assert_int_equal(tkt_error_set(&error, TAKT_IO_ERROR, "gone"), TAKT_IO_ERROR);
    assert_int_equal(error.status, TAKT_IO_ERROR);
    assert_int_equal(error.line + error.column, 0);
    assert_string_equal(error.message, "gone");
}

TEST(nobody_needs_to_want_the_error)
{
    assert_int_equal(tkt_error_set(NULL, TAKT_NOT_FOUND, "%s", "x"), TAKT_NOT_FOUND);
    assert_int_equal(tkt_error_at(NULL, TAKT_NOT_FOUND, 1, 1, "%s", "x"), TAKT_NOT_FOUND);
}

TEST(messages_are_one_harmless_line)
{
    takt_error error;
    tkt_error_set(&error, TAKT_IO_ERROR, "cannot read %s", "a\nb\x1B[2J\xC2\x9B\xFF");
    assert_string_equal(error.message, "cannot read a?b?[2J?\xEF\xBF\xBD");
}

/* Texts of two-byte characters, longer and longer, up to beyond every buffer on the way. */
TEST(messages_are_cut_between_characters)
{
    for (int size = 200; size < 6000; size++) {
        char text[6001];
        for (int i = 0; i < size; i++)
            text[i] = i % 2 ? '\xA4' : '\xC3';
        text[size / 2 * 2] = 0;
        takt_error error;
        tkt_error_set(&error, TAKT_IO_ERROR, size % 3 ? "%s" : "-%s", text);
        size_t length = strlen(error.message), dots = strcspn(error.message, ".");
        assert_in_range(length, size < 238 ? size - 1 : 236, 239);
        for (size_t i = size % 3 ? 0 : 1; i < length; i += 2) {
            i += i == dots ? 3 : 0;
            assert_memory_equal(error.message + i, "\xC3\xA4", 2);
        }
    }
}

TEST(a_message_about_a_long_path_says_why)
{
    char path[4096];
    takt_error error;
    memset(path, 'p', sizeof path);
    for (size_t size = 1; size < sizeof path; size++) {
        path[size] = '\0';
        tkt_error_set(&error, TAKT_IO_ERROR, "cannot create %s: No space left on device", path);
        path[size] = 'p';
        assert_memory_equal(error.message, "cannot create p", 15);
        assert_string_equal(strstr(error.message, ": "), ": No space left on device");
        assert_int_equal(strstr(error.message, "ppp...ppp") != NULL, size > 200);
    }
}

/* An option struct as it is, as it was and as it may become. */
typedef struct options {
    size_t struct_size;
    int first;
    int second;
    double third;
} options;
typedef struct old_options {
    size_t struct_size;
    int first;
} old_options;
typedef struct new_options {
    options known;
    long fourth;
    char fifth;
} new_options;

TEST(options_of_the_same_size_are_copied)
{
    options from = {sizeof from, 1, 2, 3.5};
    options into;
    memset(&into, 0xEE, sizeof into);
    assert_int_equal(tkt_options_import(&into, sizeof into, &from), TAKT_OK);
    assert_memory_equal(&into, &from, sizeof into);
}

TEST(old_options_are_padded_with_zeros)
{
    /* What follows the old struct in memory must not be read. */
    struct {
        old_options old;
        char other[64];
    } from = {.old = {offsetof(options, second), 7}};
    memset(from.other, 0xEE, sizeof from.other);
    options into;
    memset(&into, 0xEE, sizeof into);
    assert_int_equal(tkt_options_import(&into, sizeof into, &from), TAKT_OK);
    assert_int_equal(into.struct_size, sizeof into);
    assert_int_equal(into.first, 7);
    assert_int_equal(into.second, 0);
    assert_true(into.third == 0);
}

TEST(newer_options_are_taken_while_the_unknown_part_is_zero)
{
    new_options from;
    memset(&from, 0, sizeof from);
    from.known = (options){sizeof from, 1, 2, 3.5};
    options into = {0};
    assert_int_equal(tkt_options_import(&into, sizeof into, &from), TAKT_OK);
    assert_int_equal(into.struct_size, sizeof into);
    assert_int_equal(into.second, 2);
}

TEST(unknown_wishes_are_refused_and_leave_the_output_alone)
{
    new_options from;
    unsigned char *last = (unsigned char *)&from + sizeof from - 1;
    for (int which = 0; which < 3; which++) {
        memset(&from, 0, sizeof from);
        from.known = (options){sizeof from, 1, 2, 3.5};
        if (which == 0)
            from.fifth = 1;
        else if (which == 1)
            from.fourth = 1L << 40;
        else
            *last = 1;
        options into = {9, 9, 9, 9};
        assert_int_equal(tkt_options_import(&into, sizeof into, &from), TAKT_BAD_ARGUMENT);
        assert_int_equal(into.struct_size, 9);
        assert_int_equal(into.first, 9);
    }
}

TEST(no_options_are_all_zero)
{
    options into = {9, 9, 9, 9};
    assert_int_equal(tkt_options_import(&into, sizeof into, NULL), TAKT_OK);
    options expected = {.struct_size = sizeof into};
    assert_memory_equal(&into, &expected, sizeof into);
}

TEST(sizes_that_cannot_be_are_refused)
{
    static const size_t sizes[] = {0, 1, sizeof(size_t) - 1, 1 << 20, SIZE_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        options from = {sizes[i], 1, 2, 3.5};
        options into = {9, 9, 9, 9};
        assert_int_equal(tkt_options_import(&into, sizeof into, &from), TAKT_BAD_ARGUMENT);
        assert_int_equal(into.first, 9);
    }
}

static void keep_line(takt_log_level level, const char *line, void *user)
{
    assert_int_equal(level, TAKT_LOG_ERROR);
    snprintf(user, 240, "%s", line);
}

TEST(options_that_are_refused_say_what_to_do)
{
    char line[240] = "";
    takt_set_log(keep_line, line);
    new_options from = {.known = {sizeof from, 1, 2, 3.5}};
    options into = {9, 9, 9, 9};
    assert_int_equal(tkt_options_read(&into, sizeof into, &from, "TAKT_X_INIT"), TAKT_OK);
    assert_int_equal(tkt_options_read(&into, sizeof into, NULL, "TAKT_X_INIT"), TAKT_OK);
    assert_string_equal(line, "");
    from.fifth = 1;
    assert_int_equal(tkt_options_read(&into, sizeof into, &from, "TAKT_X_INIT"), TAKT_BAD_ARGUMENT);
    assert_non_null(strstr(line, "from newer headers (TAKT_X_INIT)"));
    from.known.struct_size = 0;
    assert_int_equal(tkt_options_read(&into, sizeof into, &from, "TAKT_X_INIT"), TAKT_BAD_ARGUMENT);
    assert_string_equal(line, "invalid options: struct_size is 0; initialise the struct with "
                              "TAKT_X_INIT");
    takt_set_log(NULL, NULL);
}

/* ---- Structs of the caller's ------------------------------------------------------------------
 */

TEST(as_much_is_filled_as_the_caller_has)
{
    const options own = {1, 2, 3, 4.5};
    unsigned char room[sizeof own + 16];
    for (size_t size = 0; size <= sizeof room; size++) {
        size_t common = size < sizeof own ? size : sizeof own;
        memset(room, 0xEE, sizeof room);
        assert_int_equal(tkt_fill(room, size, &own, sizeof own), TAKT_OK);
        assert_memory_equal(room, &own, common);
        for (size_t i = common; i < sizeof room; i++)
            assert_int_equal(room[i], i < size ? 0 : 0xEE);
    }
}

TEST_MAIN(NULL, NULL)
