/* Text that comes from anywhere. Validity is decided independently: from the code points that an
 * encoder here writes down, from arithmetic on the bits, and by jansson for JSON. */
#include "base/text.h"

#include "support/test.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define REPLACEMENT "\xEF\xBF\xBD"

static uint64_t random_word(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    return *seed ^= *seed << 17;
}

static size_t encode(uint32_t code, unsigned char out[4])
{
    if (code < 0x80) {
        out[0] = (unsigned char)code;
        return 1;
    }
    size_t tails = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char marks[] = {0, 0xC0, 0xE0, 0xF0};
    for (size_t i = tails; i > 0; i--, code >>= 6)
        out[i] = (unsigned char)(0x80 | (code & 0x3F));
    out[0] = (unsigned char)(marks[tails] | code);
    return tails + 1;
}

static size_t length_of(const unsigned char *bytes, size_t size)
{
    return tkt_utf8_length((const char *)bytes, size);
}

/* All sequences of up to three bytes, against the set of those that an encoder writes. */
TEST(exactly_the_short_encodings_are_valid)
{
    unsigned char *lengths = calloc(1, 1 << 24);
    unsigned char bytes[4] = {0};
    for (uint32_t code = 0; code < 0x10000; code++) {
        if (code >= 0xD800 && code <= 0xDFFF)
            continue;
        memset(bytes, 0, sizeof bytes);
        size_t length = encode(code, bytes);
        lengths[bytes[0] << 16 | bytes[1] << 8 | bytes[2]] = (unsigned char)length;
    }
    for (uint32_t word = 0; word < 1 << 24; word++) {
        const unsigned char text[3] = {(unsigned char)(word >> 16), (unsigned char)(word >> 8),
                                       (unsigned char)word};
        size_t expected = 0;
        for (unsigned size = 1; size <= 3 && !expected; size++) {
            uint32_t prefix = word & ~(0xFFFFFFu >> 8 * size);
            expected = lengths[prefix] == size ? size : 0;
        }
        if (length_of(text, 3) != expected)
            fail_msg("bytes %06x", word);
    }
    free(lengths);
}

/* Four bytes by arithmetic: every first byte from F0 and every second one. */
TEST(four_bytes_are_valid_up_to_10ffff)
{
    static const unsigned char thirds[] = {0x00, 0x7F, 0x80, 0x9F, 0xBF, 0xC0, 0xFF};
    for (unsigned first = 0xF0; first <= 0xFF; first++) {
        for (unsigned rest = 0; rest < 256 * 49; rest++) {
            const unsigned char text[4] = {(unsigned char)first, (unsigned char)(rest / 49),
                                           thirds[rest / 7 % 7], thirds[rest % 7]};
            bool has_tails = true;
            uint32_t code = first & 0x07;
            for (int i = 1; i < 4; i++) {
                has_tails &= (text[i] & 0xC0) == 0x80;
                code = code << 6 | (text[i] & 0x3F);
            }
            bool is_valid = first < 0xF8 && has_tails && code >= 0x10000 && code <= 0x10FFFF;
            assert_int_equal(length_of(text, 4), is_valid ? 4 : 0);
        }
    }
}

TEST(a_cut_character_is_invalid)
{
    for (uint32_t code = 0x80; code < 0x110000; code += 127) {
        unsigned char bytes[4];
        if (code >= 0xD800 && code <= 0xDFFF)
            continue;
        size_t length = encode(code, bytes);
        assert_int_equal(length_of(bytes, length), length);
        for (size_t size = 0; size < length; size++)
            assert_int_equal(length_of(bytes, size), 0);
    }
}

static void assert_clean(const char *text, size_t size, const char *expected)
{
    char out[128];
    assert_int_equal(tkt_utf8_clean(out, sizeof out, text, size), strlen(expected));
    assert_string_equal(out, expected);
}

TEST(cleaning_replaces_each_invalid_byte)
{
    assert_clean("plain", 5, "plain");
    assert_clean("\xC3\xA4", 2, "\xC3\xA4");
    assert_clean("a\xFFz", 3, "a" REPLACEMENT "z");
    assert_clean("\xC0\x80", 2, REPLACEMENT REPLACEMENT);                 /* overlong NUL */
    assert_clean("\xED\xA0\x80", 3, REPLACEMENT REPLACEMENT REPLACEMENT); /* surrogate */
    assert_clean("a\xE2\x82", 3, "a" REPLACEMENT REPLACEMENT);            /* cut */
    assert_clean("\n\x1B", 2, "\n\x1B");
    assert_clean("", 0, "");
}

/* Valid output, of the right size, for any bytes and any room. */
TEST(cleaning_always_fits_and_is_always_valid)
{
    uint64_t seed = 3;
    for (int round = 0; round < 20000; round++) {
        char text[24], out[40];
        for (size_t i = 0; i < sizeof text; i++)
            text[i] = (char)(random_word(&seed) >> 40);
        size_t capacity = random_word(&seed) % 32;
        memset(out, 'E', sizeof out);
        size_t written = tkt_utf8_clean(out, capacity, text, sizeof text);
        assert_int_equal(out[capacity], 'E');
        if (capacity == 0)
            continue;
        assert_in_range(written, capacity < 4 ? 0 : capacity - 4, capacity - 1);
        assert_int_equal(out[written], 0);
        for (size_t at = 0, length; at < written; at += length) {
            length = tkt_utf8_length(out + at, written - at);
            assert_int_not_equal(length, 0);
        }
    }
}

TEST(a_cut_falls_between_characters)
{
    char out[8];
    assert_int_equal(tkt_utf8_clean(out, 4, "ab\xC3\xA4", 4), 2);
    assert_string_equal(out, "ab");
    assert_int_equal(tkt_utf8_clean(out, 5, "ab\xC3\xA4", 4), 4);
    assert_string_equal(out, "ab\xC3\xA4");
}

static void assert_printable(const char *text, size_t size, const char *expected)
{
    char out[128];
    assert_int_equal(tkt_printable(out, sizeof out, text, size), strlen(expected));
    assert_string_equal(out, expected);
}

TEST(terminals_get_no_control_characters)
{
    assert_printable("a\x1B[31mb", 7, "a?[31mb");
    assert_printable("\0\t\n\r\x7F", 5, "?????");
    assert_printable("\xC2\x80\xC2\x9B\xC2\x9F\xC2\xA0", 8, "???\xC2\xA0"); /* C1, then NBSP */
    assert_printable("\x9B", 1, REPLACEMENT);
    assert_printable("\xC3\xA4\xE2\x82\xAC", 5, "\xC3\xA4\xE2\x82\xAC");
}

/* What turns the order of a line's other columns, or breaks it; their neighbours are texts. */
TEST(terminals_get_nothing_that_turns_lines)
{
    assert_printable("a\xE2\x80\xAE"
                     "b\xE2\x81\xA6"
                     "c\xE2\x81\xA9\xD8\x9C",
                     14, "a?b?c??");
    assert_printable("\xE2\x80\x8E\xE2\x80\x8F\xE2\x80\xA8\xE2\x80\xA9", 12, "????");
    assert_printable("\xE2\x80\x8D\xE2\x80\x90\xE2\x80\xA7\xE2\x80\xAF", 12,
                     "\xE2\x80\x8D\xE2\x80\x90\xE2\x80\xA7\xE2\x80\xAF");
}

TEST(only_what_stays_as_it_is_counts_as_printable)
{
    assert_true(tkt_is_printable(""));
    assert_true(tkt_is_printable("K\xC3\xB6ln, \xE6\xB5\x81"));
    assert_false(tkt_is_printable("a\nb"));
    assert_false(tkt_is_printable("cut\xE6\xB5"));
    assert_false(tkt_is_printable("c1 \xC2\x85"));
    assert_false(tkt_is_printable("turned \xE2\x80\xAE"));
    assert_false(tkt_is_printable("line \xE2\x80\xA8"));
}

TEST(columns_are_counted_as_terminals_do)
{
    assert_int_equal(tkt_text_columns(""), 0);
    assert_int_equal(tkt_text_columns("plain"), 5);
    assert_int_equal(tkt_text_columns("K\xC3\xB6ln"), 4);
    assert_int_equal(tkt_text_columns("a\xCC\x88"), 1);                /* combining diaeresis */
    assert_int_equal(tkt_text_columns("\xE6\xB5\x81\xE4\xBD\x93"), 4); /* two Han characters */
    assert_int_equal(tkt_text_columns("\xED\x95\x9C"), 2);             /* a Hangul syllable */
    assert_int_equal(tkt_text_columns("\xF0\x9F\x9A\x80"), 2);         /* a rocket */
    assert_int_equal(tkt_text_columns("\xF0\x9F\xAA\x90"), 2);         /* a planet with rings */
    assert_int_equal(tkt_text_columns("\xE2\x9C\x85\xE2\x9A\xA1"), 4); /* a check mark, lightning */
    assert_int_equal(tkt_text_columns("\xE2\x80\x8B"
                                      "x"),
                     1);                               /* zero-width space */
    assert_int_equal(tkt_text_columns("\xFF\xFE"), 2); /* as two U+FFFD */
}

static void assert_escaped(const char *text, size_t size, const char *expected)
{
    char out[400];
    char *end = tkt_json_escape(out, text, size);
    assert_int_equal(end - out, strlen(expected));
    assert_memory_equal(out, expected, strlen(expected));
}

TEST(json_escapes_what_rfc_8259_wants_escaped)
{
    assert_escaped("", 0, "");
    assert_escaped("\"\\/", 3, "\\\"\\\\/");
    assert_escaped("\b\f\n\r\t", 5, "\\b\\f\\n\\r\\t");
    assert_escaped("\0\x01\x1F", 3, "\\u0000\\u0001\\u001f");
    assert_escaped("\xE2\x82\xAC\xFF", 4, "\xE2\x82\xAC" REPLACEMENT);
}

TEST(json_escapes_what_drives_terminals)
{
    assert_escaped("\x7F\xC2\x80\xC2\x9B"
                   "0m",
                   7, "\\u007f\\u0080\\u009b0m");
    assert_escaped("\xE2\x80\xAE\xD8\x9C\xE2\x81\xA9", 8, "\\u202e\\u061c\\u2069");
}

/* A special character at every place of a text that is otherwise plain, so that it meets both the
 * path of eight bytes and that of single ones. */
TEST(json_escapes_at_every_place)
{
    static const char specials[] = "\"\\\n\x1F\x7F\x80\xFF";
    for (size_t special = 0; special < 7; special++) {
        for (size_t place = 0; place < 24; place++) {
            char text[24], expected[64], out[160];
            memset(text, '~', sizeof text);
            text[place] = specials[special];
            static const char *const escaped[] = {"\\\"",    "\\\\",      "\\n",      "\\u001f",
                                                  "\\u007f", REPLACEMENT, REPLACEMENT};
            int size = snprintf(expected, sizeof expected, "%.*s%s%.*s", (int)place,
                                "~~~~~~~~~~~~~~~~~~~~~~~~", escaped[special], (int)(23 - place),
                                "~~~~~~~~~~~~~~~~~~~~~~~~");
            assert_int_equal(tkt_json_escape(out, text, sizeof text) - out, size);
            assert_memory_equal(out, expected, (size_t)size);
        }
    }
}

/* Reads `text` back through jansson. */
static json_t *read_back(const char *text, size_t size, size_t *escaped_size)
{
    char *quoted = malloc(size * 6 + 3);
    quoted[0] = '"';
    char *end = tkt_json_escape(quoted + 1, text, size);
    *escaped_size = (size_t)(end - quoted - 1);
    *end++ = '"';
    json_error_t error;
    json_t *value =
        json_loadb(quoted, (size_t)(end - quoted), JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    free(quoted);
    return value;
}

TEST(valid_text_comes_back_from_json_as_it_was)
{
    uint64_t seed = 5;
    for (int round = 0; round < 20000; round++) {
        char text[160];
        size_t size = 0, escaped;
        size_t characters = random_word(&seed) % 40;
        for (size_t i = 0; i < characters; i++) {
            uint32_t code = (uint32_t)(random_word(&seed) >> 43) >> random_word(&seed) % 16;
            if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
                code = '"';
            size += encode(code, (unsigned char *)text + size);
        }
        json_t *value = read_back(text, size, &escaped);
        assert_non_null(value);
        assert_int_equal(json_string_length(value), size);
        assert_memory_equal(json_string_value(value), text, size);
        json_decref(value);
    }
}

TEST(any_bytes_become_valid_json_of_at_most_six_times_their_size)
{
    uint64_t seed = 9;
    for (int round = 0; round < 20000; round++) {
        char text[64];
        size_t size = random_word(&seed) % sizeof text, escaped;
        for (size_t i = 0; i < size; i++)
            text[i] = (char)(random_word(&seed) >> 30 & (round % 2 ? 0xFF : 0x3F));
        json_t *value = read_back(text, size, &escaped);
        assert_non_null(value);
        assert_true(escaped <= size * 6);
        json_decref(value);
    }
}

/* The definition of Levenshtein's distance, without any table. */
static size_t distance_by_definition(const char *a, const char *b)
{
    if (!*a || !*b)
        return strlen(a) + strlen(b);
    size_t replaced = distance_by_definition(a + 1, b + 1) + (*a != *b);
    size_t deleted = distance_by_definition(a + 1, b) + 1;
    size_t inserted = distance_by_definition(a, b + 1) + 1;
    size_t least = replaced < deleted ? replaced : deleted;
    return least < inserted ? least : inserted;
}

TEST(edit_distance_is_the_smallest_number_of_edits)
{
    uint64_t seed = 11;
    for (int round = 0; round < 3000; round++) {
        char words[2][7] = {{0}};
        for (int word = 0; word < 2; word++) {
            size_t size = random_word(&seed) % 7;
            for (size_t i = 0; i < size; i++)
                words[word][i] = (char)('a' + random_word(&seed) % 3);
        }
        size_t exact = distance_by_definition(words[0], words[1]);
        for (size_t limit = 0; limit < 8; limit++)
            assert_int_equal(tkt_edit_distance(words[0], words[1], limit),
                             exact <= limit ? exact : limit + 1);
    }
}

TEST(long_words_are_equal_or_far_apart)
{
    char a[300], b[300];
    memset(a, 'x', sizeof a);
    memset(b, 'x', sizeof b);
    a[299] = b[299] = 0;
    assert_int_equal(tkt_edit_distance(a, b, 2), 0);
    b[0] = 'y';
    assert_int_equal(tkt_edit_distance(a, b, 2), 3);
    a[255] = b[255] = 0;
    assert_int_equal(tkt_edit_distance(a, b, 2), 1);
    assert_int_equal(tkt_edit_distance("a", b, SIZE_MAX - 1), 255);
}

TEST(a_misspelling_or_a_beginning_suggests_a_word)
{
    const char *const words[] = {"directory", "max_memory", "max_trace_size", "wait", NULL};
    assert_string_equal(tkt_nearest_word("diretcory", words), "directory");
    assert_string_equal(tkt_nearest_word("dir", words), "directory");
    assert_string_equal(tkt_nearest_word("max_mem", words), "max_memory");
    assert_string_equal(tkt_nearest_word("wiat", words), "wait");
    assert_null(tkt_nearest_word("max", words)); /* of two */
    assert_null(tkt_nearest_word("di", words));
    assert_null(tkt_nearest_word("", words));
    assert_null(tkt_nearest_word("something else", words));
}

TEST_MAIN(NULL, NULL)
