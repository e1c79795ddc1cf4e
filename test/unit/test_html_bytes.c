/* How numbers and texts get into a page: cli/html/bytes.c and set.c. */
#include "cli/html/bytes.c"
#include "cli/html/set.c"

#include "support/test.h"

static void becomes(const char *text, size_t size, const char *json)
{
    html_bytes bytes = {.used = 0};
    html_put_json(&bytes, text, size);
    assert_false(bytes.has_failed);
    assert_int_equal(bytes.used, strlen(json));
    assert_memory_equal(bytes.data, json, bytes.used);
    free(bytes.data);
}

TEST(json_cannot_end_a_script)
{
    becomes("</script>", 9, "\"\\u003c/script\\u003e\"");
    becomes("<!--&", 5, "\"\\u003c!--\\u0026\"");
    becomes("a\"b\\c", 5, "\"a\\u0022b\\u005cc\"");
    becomes("\0\n\x1f\x7f", 4, "\"\\u0000\\u000a\\u001f\\u007f\"");
    becomes("\xE2\x80\xA8\xE2\x80\xA9", 6, "\"\\u2028\\u2029\"");
}

TEST(json_is_utf8)
{
    becomes("", 0, "\"\"");
    becomes("\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEF\xBF\xBF", 13,
            "\"\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEF\xBF\xBF\"");
    becomes("\xF0\x90\x80\x80\xF4\x8F\xBF\xBF", 8, "\"\xF0\x90\x80\x80\xF4\x8F\xBF\xBF\"");
    becomes("\xE2\x80\xA7\xE2\x80\xAA", 6, "\"\xE2\x80\xA7\xE2\x80\xAA\"");
    /* Overlong, surrogates, beyond the last one, cut off, out of place. */
    becomes("\xC0\xAF", 2, "\"\\ufffd\\ufffd\"");
    becomes("\xE0\x9F\xBF", 3, "\"\\ufffd\\ufffd\\ufffd\"");
    becomes("\xED\xA0\x80", 3, "\"\\ufffd\\ufffd\\ufffd\"");
    becomes("\xF0\x8F\xBF\xBF", 4, "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
    becomes("\xF4\x90\x80\x80", 4, "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
    becomes("x\xE2\x80", 3, "\"x\\ufffd\\ufffd\"");
    becomes("\x80x\xFF", 3, "\"\\ufffdx\\ufffd\"");
}

/* The bytes of LEB128, by the example of DWARF 4, section 7.6, and the limits. */
TEST(varints_are_leb128)
{
    static const struct {
        uint64_t value;
        size_t size;
        uint8_t bytes[10];
    } cases[] = {
        {0, 1, {0}},
        {2, 1, {2}},
        {127, 1, {0x7f}},
        {128, 2, {0x80, 1}},
        {12857, 2, {0xb9, 0x64}},
        {UINT64_MAX, 10, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        html_bytes bytes = {.used = 0};
        html_put_varint(&bytes, cases[i].value);
        assert_int_equal(bytes.used, cases[i].size);
        assert_memory_equal(bytes.data, cases[i].bytes, cases[i].size);
        free(bytes.data);
    }
}

TEST(zigzag_takes_turns)
{
    static const int64_t values[] = {0, -1, 1, -2, 2, -3};
    html_bytes bytes = {.used = 0};
    for (size_t i = 0; i < 6; i++)
        html_put_zigzag(&bytes, values[i]);
    assert_memory_equal(bytes.data, "\0\1\2\3\4\5", 6);
    bytes.used = 0;
    html_put_zigzag(&bytes, INT64_MIN);
    assert_int_equal(bytes.used, 10);
    assert_int_equal(bytes.data[9], 1);
    free(bytes.data);
}

TEST(a_set_numbers_what_is_new)
{
    html_set set = {.count = 0};
    char text[32];
    size_t size;
    assert_int_equal(html_set_add(&set, "", 0), 0);
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 10000; i++) {
            int length = snprintf(text, sizeof text, "%u items", i);
            assert_int_equal(html_set_add(&set, text, (size_t)length), i + 1);
        }
    assert_int_equal(html_set_add(&set, "", 0), 0);
    assert_int_equal(set.count, 10001);
    assert_memory_equal(html_set_at(&set, 4712, &size), "4711 items", 10);
    assert_int_equal(size, 10);
    assert_int_equal(html_set_add(&set, "4711 item", 9), 10001);
    assert_false(html_set_has_failed(&set));
    html_set_free(&set);
}

TEST_MAIN(NULL, NULL)
