/* The scanner of other profilers' JSON: where values end, numbers, escapes. */
#include "import/scan.h"

#include <stdio.h>
#include <string.h>

#include "support/test.h"

/* Reads TEXT as the inside of an object. */
static imp_result scan(const char *text, imp_quotes quotes, imp_object *out)
{
    const uint8_t *at = (const uint8_t *)text;
    return imp_scan_object(&at, at + strlen(text), quotes, out);
}

static const char *text_of(const imp_value *value)
{
    static char text[256];
    size_t size = value->size < sizeof text ? imp_unescape(value, text) : 0;
    text[size] = '\0';
    return text;
}

static imp_value word(const char *text)
{
    return (imp_value){(const uint8_t *)text, strlen(text), IMP_WORD, false};
}

static imp_value string(const char *text)
{
    return (imp_value){(const uint8_t *)text, strlen(text), IMP_STRING, true};
}

TEST(members_are_found_in_what_nearly_is_json)
{
    imp_object object;
    assert_int_equal(
        scan("\"a\": 1, \"b\" : [1, {\"c\": \"]}\"}], \"d\": NaN, }", IMP_QUOTES_STRICT, &object),
        IMP_DONE);
    assert_int_equal(object.count, 3);
    assert_true(imp_is(imp_find(&object, "a"), "1"));
    assert_true(imp_is(imp_find(&object, "b"), "[1, {\"c\": \"]}\"}]"));
    assert_int_equal(imp_find(&object, "d")->kind, IMP_WORD);
    assert_int_equal(imp_find(&object, "c")->kind, IMP_NONE);
}

TEST(an_object_that_ends_too_early_is_not_bad)
{
    static const char text[] = "\"a\": \"x\\\"y\", \"b\": {\"c\": [1, \"z\"]}, \"d\": -1.5e3}";
    imp_object object;
    for (size_t size = 0; size < sizeof text - 1; size++) {
        const uint8_t *at = (const uint8_t *)text;
        assert_int_equal(imp_scan_object(&at, at + size, IMP_QUOTES_STRICT, &object), IMP_MORE);
        at = (const uint8_t *)text;
        assert_int_equal(imp_scan_object(&at, at + size, IMP_QUOTES_LOOSE, &object), IMP_MORE);
    }
    assert_int_equal(scan(text, IMP_QUOTES_STRICT, &object), IMP_DONE);
}

TEST(arguments_are_read_with_their_event)
{
    static const char whole[] = "\"ph\": \"X\", \"args\": {\"n\": 7, \"l\": [1]}, \"ts\": 1}";
    static const char broken[] = "\"args\": {\"n\": \"say \"hi\"\"}, \"ts\": 1}";
    imp_object event, args;
    const uint8_t *at = (const uint8_t *)whole, *begin;
    for (size_t size = 0; size < sizeof whole - 1; size++, at = (const uint8_t *)whole)
        assert_int_equal(imp_scan_event(&at, at + size, &event, &args, &begin), IMP_MORE);
    assert_int_equal(imp_scan_event(&at, at + sizeof whole - 1, &event, &args, &begin), IMP_DONE);
    assert_int_equal(event.count, 3);
    assert_true(imp_is(imp_find(&event, "args"), "{\"n\": 7, \"l\": [1]}"));
    assert_ptr_equal(imp_find(&event, "args")->bytes, begin);
    assert_int_equal(args.count, 2);
    assert_true(imp_is(imp_find(&args, "n"), "7"));
    at = (const uint8_t *)broken;
    assert_int_equal(imp_scan_event(&at, at + sizeof broken - 1, &event, &args, &begin), IMP_BAD);
    assert_int_equal(scan(broken, IMP_QUOTES_LOOSE, &event), IMP_DONE);
    assert_true(imp_is(imp_find(&event, "args"), "{\"n\": \"say \"hi\"\"}"));
    assert_true(imp_scan_inside(imp_find(&event, "args"), &args));
    assert_true(imp_is(imp_find(&args, "n"), "say \"hi\""));
}

TEST(quotes_in_names_are_found)
{
    static const char *const names[] = {"say \"hi\"", "f(\"a\", \"b\")", "\"",     "\"\"",
                                        "a\" b \"",   "operator\"\"_s",  "f\nx\n", "a \"b\"\n\tc"};
    char text[128];
    imp_object object;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(text, sizeof text, "\"name\": \"%s\", \"ph\": \"X\"}", names[i]);
        assert_int_equal(scan(text, IMP_QUOTES_LOOSE, &object), IMP_DONE);
        assert_int_equal(object.count, 2);
        assert_string_equal(text_of(imp_find(&object, "name")), names[i]);
        assert_string_equal(text_of(imp_find(&object, "ph")), "X");
    }
}

TEST(what_is_no_object_is_bad)
{
    static const char *const texts[] = {
        "\"a\" 1}",         "a: 1}", "\"a\": }", "\"a\": 1 \"b\": 2}", "\"a\nb\": 1}",
        "\"a\": \"x\ny\"}", "{}"};
    imp_object object;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(scan(texts[i], IMP_QUOTES_STRICT, &object), IMP_BAD);
}

TEST(escapes_become_utf8_and_unknown_ones_stay)
{
    static const struct {
        const char *from, *to;
    } pairs[] = {{"a\\n\\t\\\"\\\\\\/", "a\n\t\"\\/"},
                 {"\\u00e9\\u20AC", "\xC3\xA9\xE2\x82\xAC"},
                 {"\\ud83d\\ude00", "\xF0\x9F\x98\x80"},
                 {"\\ud83dx\\ude00", "\xEF\xBF\xBDx\xEF\xBF\xBD"},
                 {"\\u0000", "\xEF\xBF\xBD"},
                 {"C:\\Users\\data", "C:\\Users\\data"},
                 {"\\u12", "\\u12"},
                 {"end\\", "end\\"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        imp_value value = string(pairs[i].from);
        assert_string_equal(text_of(&value), pairs[i].to);
    }
}

TEST(microseconds_are_exact_nanoseconds)
{
    static const struct {
        const char *text;
        int64_t ns;
    } times[] = {{"0", 0},
                 {"1", 1000},
                 {"1.5", 1500},
                 {"1.0004", 1000},
                 {"1.0005", 1001},
                 {"1.00049999999999", 1000},
                 {"1.5e3", 1500000},
                 {"25e-3", 25},
                 {"1700000000123456.789", INT64_C(1700000000123456789)},
                 {"4611686018427387.903", INT64_C(4611686018427387903)},
                 {"-0.0", 0}};
    static const char *const bad[] = {
        "-1",          "NaN", "", "1.2.3", "1e", "1e99", "0x10", "null", "99999999999999999999",
        "1e9999999999"};
    int64_t ns;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        imp_value as_word = word(times[i].text), as_string = string(times[i].text);
        assert_true(imp_time(&as_word, &ns));
        assert_int_equal(ns, times[i].ns);
        assert_true(imp_time(&as_string, &ns));
        assert_int_equal(ns, times[i].ns);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        imp_value value = word(bad[i]);
        assert_false(imp_time(&value, &ns));
    }
}

TEST(whole_numbers_and_lists_of_them)
{
    int64_t number, list[3];
    imp_value value = word("-9223372036854775807");
    assert_true(imp_integer(&value, &number));
    assert_int_equal(number, -INT64_MAX);
    value = word("9223372036854775808");
    assert_false(imp_integer(&value, &number));
    value = (imp_value){(const uint8_t *)"[1, \"2\" ,3,4]", 13, IMP_ARRAY, false};
    assert_int_equal(imp_integers(&value, list, 3), 3);
    assert_int_equal(list[0] + 10 * list[1] + 100 * list[2], 321);
    value = (imp_value){(const uint8_t *)"[1, x]", 6, IMP_ARRAY, false};
    assert_int_equal(imp_integers(&value, list, 3), 1);
}

TEST(the_number_of_a_step)
{
    uint64_t number;
    assert_true(imp_step_number("ProfilerStep#17", 15, &number));
    assert_int_equal(number, 17);
    assert_false(imp_step_number("ProfilerStep#", 13, &number));
    assert_false(imp_step_number("ProfilerStep#x", 14, &number));
    assert_false(imp_step_number("ProfilerStep", 12, &number));
}

TEST_MAIN(NULL, NULL)
