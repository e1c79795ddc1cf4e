/* The streaming reader of JSON. Each document is read in pieces of several sizes, and written down
 * again as a line of tokens. */
#include "base/json.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

static const size_t steps[] = {1, 2, 3, 7, 4096};

static char line[4096];
static size_t used;

static void put(const char *text)
{
    size_t size = strlen(text);
    if (used + size < sizeof line) {
        memcpy(line + used, text, size + 1);
        used += size;
    }
}

static void put_token(const tkt_json *json, tkt_json_token token)
{
    static const char *const marks[] = {
        [TKT_JSON_OBJECT] = "{",    [TKT_JSON_OBJECT_END] = "}", [TKT_JSON_ARRAY] = "[",
        [TKT_JSON_ARRAY_END] = "]", [TKT_JSON_TRUE] = "true ",   [TKT_JSON_FALSE] = "false ",
        [TKT_JSON_NULL] = "null "};
    char number[32];
    if (token == TKT_JSON_KEY || token == TKT_JSON_STRING) {
        put(token == TKT_JSON_KEY ? "" : "'");
        put(json->text);
        put(token == TKT_JSON_KEY ? ":" : "' ");
    } else if (token == TKT_JSON_NUMBER) {
        snprintf(number, sizeof number, "%.17g ", json->number);
        put(number);
    } else {
        put(marks[token]);
    }
}

/* Reads a document with a buffer of `capacity` bytes. Returns its tokens, or the error message. */
static const char *read_all(const char *document, size_t size, size_t step, size_t capacity)
{
    char *copy = malloc(size + 1), *text = malloc(capacity); /* exactly sized, for ASan */
    takt_error error = {.status = TAKT_OK};
    tkt_input input;
    tkt_json json;
    memcpy(copy, document, size);
    assert_int_equal(tkt_input_borrow(&input, (const uint8_t *)copy, size, "f.json", &error),
                     TAKT_OK);
    input.step = step;
    tkt_json_begin(&json, &input, text, capacity);
    tkt_json_token token;
    used = 0;
    line[0] = 0;
    while ((token = tkt_json_next(&json)) > TKT_JSON_ERROR)
        put_token(&json, token);
    assert_int_equal(tkt_json_next(&json), token);
    if (token == TKT_JSON_ERROR) {
        assert_int_equal(json.status, error.status);
        snprintf(line, sizeof line, "%s", error.message);
    }
    tkt_input_close(&input);
    free(copy);
    free(text);
    return line;
}

static void assert_reads(const char *document, const char *expected)
{
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        assert_string_equal(read_all(document, strlen(document), steps[i], 64), expected);
}

TEST(values_of_each_kind_are_read)
{
    assert_reads("{\"a\": [1, -2.5, \"x\", true, false, null, {}, []], \"b\":{\"c\":0}}",
                 "{a:[1 -2.5 'x' true false null {}[]]b:{c:0 }}");
    assert_reads(" 7 ", "7 ");
    assert_reads("\"\"", "'' ");
    assert_reads("{\n\t\"a\":\t1,\r\n\t\"b\": 2\n}\n", "{a:1 b:2 }");
}

TEST(numbers_are_exact_where_times_are)
{
    assert_reads("[1234567890.123, 0.001, 1e3, 1E+3, 25e-1]",
                 "[1234567890.1229999 0.001 1000 1000 2.5 ]");
    assert_reads("[9007199254740991, 123456789012345678901234567890]",
                 "[9007199254740991 1.2345678901234568e+29 ]");
    assert_reads("[1e999, -1e999, 1e-999]", "[inf -inf 0 ]");
    assert_reads("[25e-3]", "[0.025000000000000001 ]");
    assert_reads("[2.5000000000000000000000]", "[2.5 ]"); /* more decimals than a mantissa has */
}

TEST(numbers_may_be_longer_than_anybody_writes)
{
    static char text[1200004] = "[1.";
    memset(text + 3, '1', sizeof text - 5);
    memcpy(text + sizeof text - 2, "]", 2);
    assert_reads(text, "[1.1111111111111112 ]");
}

TEST(escapes_become_utf_8)
{
    assert_reads("\"a\\u00e9\\u20ac\\ud83d\\ude00\\/\\n\\\"\"",
                 "'a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80/\n\"' ");
    assert_reads("[\"\\ud83d\", \"\\ude00\", \"\\ud83d\\u0041\", \"\\ud83dx\", \"a\\u0000b\"]",
                 "['\xEF\xBF\xBD' '\xEF\xBF\xBD' '\xEF\xBF\xBD"
                 "A' '\xEF\xBF\xBDx' 'a\xEF\xBF\xBD"
                 "b' ]");
}

TEST(a_long_text_is_cut_between_characters)
{
    const char *document = "[\"abc\xC3\xA9\xC3\xA9\", \"abcd\", 1]";
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        size_t size = strlen(document);
        assert_string_equal(read_all(document, size, steps[i], 5), "['abc' 'abcd' 1 ]");
        assert_string_equal(read_all(document, size, steps[i], 6), "['abc\xC3\xA9' 'abcd' 1 ]");
        assert_string_equal(read_all(document, size, steps[i], 7), "['abc\xC3\xA9' 'abcd' 1 ]");
    }
    char key[3000];
    memset(key, 'k', sizeof key);
    memcpy(key, "{\"", 2);
    memcpy(key + sizeof key - 5, "\":1}", 5);
    assert_string_equal(read_all(key, sizeof key - 1, 100, 4), "{kkk:1 }");
}

TEST(errors_have_line_and_column)
{
    assert_reads("{\"a\": 1,\n  oops}", "f.json:2:3: expected a key in double quotes");
    assert_reads("[{}, \"inputFiles\": []]", "f.json:1:18: expected ',' or ']'");
    assert_reads("{\"a\": NaN}", "f.json:1:7: expected a value");
    assert_reads("{\"a\" 1}", "f.json:1:6: expected ':' after a key");
    assert_reads("[1 2]", "f.json:1:4: expected ',' or ']'");
    assert_reads("[1,]", "f.json:1:4: expected a value");
    assert_reads("[-]", "f.json:1:3: expected a number");
    assert_reads("[1.]", "f.json:1:4: expected a number");
    assert_reads("[\"a\nb\"]", "f.json:1:4: a control character in a string must be escaped");
    assert_reads("[\"\\x\"]", "f.json:1:4: unknown escape sequence in a string");
    assert_reads("[\"\\u12g4\"]", "f.json:1:7: unknown escape sequence in a string");
    assert_reads("[] []", "f.json:1:4: the file goes on after its end");
    assert_reads("", "f.json:1:1: the file ends too early");
    assert_reads("[", "f.json:1:2: the file ends too early");
    assert_reads("[\"a", "f.json:1:4: the file ends within a string");
}

TEST(deep_nesting_is_refused)
{
    char deep[10000];
    memset(deep, '[', sizeof deep);
    assert_string_equal(read_all(deep, sizeof deep, 4096, 8),
                        "f.json:1:513: values are nested more than 512 deep");
    memset(deep + 512, ']', 512);
    read_all(deep, 1024, 4096, 8);
    assert_int_equal(used, 1024);
}

/* Every prefix of a document is an error, and no prefix reads beyond its end. */
TEST(truncated_documents_are_errors)
{
    const char *document = "{\"a\": [1.5e3, \"\\ud83d\\ude00\\n\", true, null], \"b\": {}}";
    for (size_t size = 0; size < strlen(document); size++)
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
            assert_memory_equal(read_all(document, size, steps[i], 16), "f.json:1:", 9);
}

TEST(skipping_reads_to_the_end_of_a_value)
{
    const char *document = "[{\"a\": [1, {\"b\": 2}]}, 3, \"x\", 4]";
    char text[8];
    tkt_input input;
    tkt_json json;
    assert_int_equal(
        tkt_input_borrow(&input, (const uint8_t *)document, strlen(document), "f", NULL), TAKT_OK);
    tkt_json_begin(&json, &input, text, sizeof text);
    assert_int_equal(tkt_json_next(&json), TKT_JSON_ARRAY);
    assert_true(tkt_json_skip(&json, tkt_json_next(&json)));
    assert_int_equal(tkt_json_next(&json), TKT_JSON_NUMBER);
    assert_true(json.number == 3);
    assert_true(tkt_json_skip(&json, tkt_json_next(&json)));
    assert_int_equal(tkt_json_next(&json), TKT_JSON_NUMBER);
    assert_true(json.number == 4);
    tkt_input_close(&input);
}

TEST_MAIN(NULL, NULL)
