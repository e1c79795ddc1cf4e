/* Values as text: units, rounding, doubles that read back, names of any bytes and any length. */
#include "support/test.h"
#include "support/report_build.h"

#include "base/text.h"
#include "report/table.h"
#include "support/locale.h"
#include "support/skip.h"

#include <math.h>
#include <stdio.h>

static void assert_text(tkt_cell_type type, tkt_cell cell, const char *expected)
{
    char text[TKT_VALUE_SIZE];
    assert_int_equal(tkt_value_text(text, type, cell), strlen(expected));
    assert_string_equal(text, expected);
}

static void assert_raw(tkt_cell_type type, tkt_cell cell, const char *expected)
{
    char text[TKT_VALUE_SIZE];
    assert_int_equal(tkt_value_raw(text, type, cell), strlen(expected));
    assert_string_equal(text, expected);
}

TEST(times_have_the_units_of_torch)
{
    static const struct {
        uint64_t ns;
        const char *text;
    } times[] = {
        {0, "0.000us"},           {1, "0.001us"},
        {999, "0.999us"},         {373000, "373.000us"},
        {999999, "999.999us"},    {1000000, "1.000ms"},
        {1790000, "1.790ms"},     {8306999, "8.307ms"},
        {8306499, "8.306ms"},     {999999499, "999.999ms"},
        {1000000000, "1.000s"},   {59999499999, "59.999s"},
        {59999500000, "60.000s"}, {UINT64_MAX - 1, "18446744073.710s"},
    };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        assert_text(TKT_CELL_TIME, (tkt_cell){.u = times[i].ns}, times[i].text);
}

TEST(signed_values_have_a_minus)
{
    assert_text(TKT_CELL_OFFSET, (tkt_cell){.i = -1}, "-0.001us");
    assert_text(TKT_CELL_OFFSET, (tkt_cell){.i = 1500000}, "1.500ms");
    assert_text(TKT_CELL_CHANGE, (tkt_cell){.i = -1536}, "-1.50 KiB");
    assert_raw(TKT_CELL_OFFSET, (tkt_cell){.i = -1}, "-1");
    assert_raw(TKT_CELL_CHANGE, (tkt_cell){.i = INT64_MAX}, "9223372036854775807");
}

TEST(bytes_have_binary_units)
{
    assert_text(TKT_CELL_BYTES, (tkt_cell){.u = 0}, "0 B");
    assert_text(TKT_CELL_BYTES, (tkt_cell){.u = 1023}, "1023 B");
    assert_text(TKT_CELL_BYTES, (tkt_cell){.u = 1024}, "1.00 KiB");
    assert_text(TKT_CELL_BYTES, (tkt_cell){.u = 5000000}, "4.77 MiB");
    assert_text(TKT_CELL_BYTES, (tkt_cell){.u = UINT64_C(1) << 60}, "1.00 EiB");
    assert_raw(TKT_CELL_BYTES, (tkt_cell){.u = 5000000}, "5000000");
}

TEST(shares_are_percent)
{
    assert_text(TKT_CELL_SHARE, (tkt_cell){.d = 0.7203}, "72.03%");
    assert_text(TKT_CELL_SHARE, (tkt_cell){.d = 1}, "100.00%");
    assert_text(TKT_CELL_SHARE, (tkt_cell){.d = 0}, "0.00%");
    assert_text(TKT_CELL_SHARE, (tkt_cell){.d = NAN}, "NaN");
    assert_raw(TKT_CELL_SHARE, (tkt_cell){.d = 0.125}, "12.5");
    assert_raw(TKT_CELL_SHARE, (tkt_cell){.d = NAN}, "");
}

TEST(numbers_keep_digits_that_tell)
{
    assert_text(TKT_CELL_NUMBER, (tkt_cell){.d = 0}, "0.000");
    assert_text(TKT_CELL_NUMBER, (tkt_cell){.d = 304.3986}, "304.399");
    assert_text(TKT_CELL_NUMBER, (tkt_cell){.d = 12345.678}, "12345.7");
    assert_text(TKT_CELL_NUMBER, (tkt_cell){.d = 999.9994}, "999.999");
    assert_text(TKT_CELL_NUMBER, (tkt_cell){.d = 1000}, "1000.0");
    assert_text(TKT_CELL_NUMBER, (tkt_cell){.d = 0.25}, "0.250");
    assert_text(TKT_CELL_NUMBER, (tkt_cell){.d = 0.1}, "0.100");
    assert_text(TKT_CELL_NUMBER, (tkt_cell){.d = 0.09995}, "0.099950");
    assert_text(TKT_CELL_NUMBER, (tkt_cell){.d = 0.001}, "0.001000");
    assert_text(TKT_CELL_NUMBER, (tkt_cell){.d = 0.00099951}, "0.001");
    assert_text(TKT_CELL_NUMBER, (tkt_cell){.d = 0.01234567}, "0.012346");
    assert_text(TKT_CELL_NUMBER, (tkt_cell){.d = 0.0000123456}, "1.23e-05");
    assert_text(TKT_CELL_NUMBER, (tkt_cell){.d = -2.5}, "-2.500");
    assert_text(TKT_CELL_NUMBER, (tkt_cell){.d = 1e300}, "1e+300");
}

TEST(what_is_not_there_is_empty)
{
    assert_text(TKT_CELL_COUNT, (tkt_cell){.u = TKT_NO_VALUE}, "");
    assert_text(TKT_CELL_TIME, (tkt_cell){.u = TKT_NO_VALUE}, "");
    assert_text(TKT_CELL_OFFSET, (tkt_cell){.i = TKT_NO_SIGNED}, "");
    assert_text(TKT_CELL_NUMBER, (tkt_cell){.d = NAN}, "");
    assert_raw(TKT_CELL_TIME, (tkt_cell){.u = TKT_NO_VALUE}, "");
    assert_raw(TKT_CELL_NUMBER, (tkt_cell){.d = INFINITY}, "");
}

/* As printf would round, up to ties. */
TEST(fixed_numbers_are_within_half_a_digit)
{
    uint64_t seed = 1;
    for (int i = 0; i < 10000; i++) {
        double value = ((double)build_random(&seed) - 1e9) / (1 + build_random(&seed) % 100000);
        unsigned decimals = build_random(&seed) % 7;
        char text[TKT_VALUE_SIZE];
        size_t size = tkt_value_fixed(text, value, decimals);
        assert_int_equal(size, strlen(text));
        assert_near(strtod(text, NULL), value, 0.500001 * pow(10, -(double)decimals));
        const char *point = strchr(text, '.');
        assert_int_equal(point ? strlen(point + 1) : 0, decimals);
    }
    char text[TKT_VALUE_SIZE];
    tkt_value_fixed(text, -0.001, 2);
    assert_string_equal(text, "0.00");
}

TEST(raw_doubles_read_back_equal)
{
    uint64_t seed = 1;
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = (uint64_t)build_random(&seed) << 33 ^ (uint64_t)build_random(&seed) << 2;
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        char text[TKT_VALUE_SIZE];
        assert_true(tkt_value_raw(text, TKT_CELL_NUMBER, (tkt_cell){.d = value}) > 0);
        assert_true(strtod(text, NULL) == value);
    }
    assert_raw(TKT_CELL_NUMBER, (tkt_cell){.d = 0.1}, "0.1");
}

/* A host program may have called setlocale(); its comma must not get into JSON. */
TEST(the_locale_changes_nothing)
{
    if (!use_comma())
        SKIP_CASE("there is no locale with a comma");
    assert_raw(TKT_CELL_NUMBER, (tkt_cell){.d = 1234.5}, "1234.5");
    assert_text(TKT_CELL_NUMBER, (tkt_cell){.d = 0.0000123456}, "1.23e-05");
    assert_text(TKT_CELL_SHARE, (tkt_cell){.d = 0.5}, "50.00%");
    setlocale(LC_ALL, "C");
}

TEST(changes_have_signs_and_compare_by_size)
{
    assert_text(TKT_CELL_LENGTH, (tkt_cell){.d = 1234567.4}, "1.235ms");
    assert_text(TKT_CELL_LENGTH, (tkt_cell){.d = 0.5}, "0.001us");
    assert_text(TKT_CELL_LENGTH, (tkt_cell){.d = NAN}, "");
    assert_text(TKT_CELL_SHIFT, (tkt_cell){.d = 1500}, "+1.500us");
    assert_text(TKT_CELL_SHIFT, (tkt_cell){.d = -2.5e9}, "-2.500s");
    assert_text(TKT_CELL_SHIFT, (tkt_cell){.d = 0}, "0.000us");
    assert_text(TKT_CELL_GROWTH, (tkt_cell){.d = 12.345}, "+12.35%");
    assert_text(TKT_CELL_GROWTH, (tkt_cell){.d = -0.5}, "-0.50%");
    assert_text(TKT_CELL_CHANCE, (tkt_cell){.d = 0.0079}, "0.0079");
    assert_text(TKT_CELL_CHANCE, (tkt_cell){.d = 0.00005}, "<0.0001");
    assert_raw(TKT_CELL_SHIFT, (tkt_cell){.d = -2.5}, "-2.5");
    assert_true(tkt_value_compare(TKT_CELL_SHIFT, (tkt_cell){.d = -3}, (tkt_cell){.d = 2}) > 0);
    assert_true(tkt_value_compare(TKT_CELL_GROWTH, (tkt_cell){.d = 1}, (tkt_cell){.d = -2}) < 0);
}

TEST(facts_say_one_thing_in_two_ways)
{
    tkt_said wall = {"1.234 s", "1234000000"}, name = {"fluid", ""};
    assert_string_equal(tkt_value_words(TKT_CELL_FACT, (tkt_cell){.said = &wall}), "1.234 s");
    assert_raw(TKT_CELL_FACT, (tkt_cell){.said = &wall}, "1234000000");
    assert_raw(TKT_CELL_FACT, (tkt_cell){.said = &name}, "");
    assert_null(tkt_value_words(TKT_CELL_COUNT, (tkt_cell){.u = 3}));
}

TEST(values_compare_as_people_count)
{
    assert_true(tkt_value_is_none(TKT_CELL_TIME, (tkt_cell){.u = TKT_NO_VALUE}));
    assert_true(tkt_value_is_none(TKT_CELL_NUMBER, (tkt_cell){.d = NAN}));
    assert_false(tkt_value_is_none(TKT_CELL_TIME, (tkt_cell){.u = 0}));
    assert_true(tkt_value_compare(TKT_CELL_TIME, (tkt_cell){.u = 1}, (tkt_cell){.u = 0}) > 0);
    assert_true(tkt_value_compare(TKT_CELL_NUMBER, (tkt_cell){.d = -5}, (tkt_cell){.d = 3}) < 0);
    assert_true(tkt_value_compare(TKT_CELL_OFFSET, (tkt_cell){.i = -5}, (tkt_cell){.i = 3}) < 0);
    assert_true(tkt_value_compare(TKT_CELL_TEXT, (tkt_cell){.text = "b"}, (tkt_cell){.text = "a"}) >
                0);
}

/* Everything that `put` writes, in memory that the caller frees. */
static char *written(void (*put)(tkt_writer *writer, const char *text, size_t extra),
                     const char *text, size_t extra)
{
    memory_sink memory = {0};
    tkt_writer writer;
    assert_int_equal(tkt_writer_init(&writer, memory_sink_of(&memory), 0), TAKT_OK);
    put(&writer, text, extra);
    tkt_writer_put(&writer, "", 1);
    assert_int_equal(tkt_writer_fini(&writer), TAKT_OK);
    return memory.data;
}

static void put_printable(tkt_writer *writer, const char *text, size_t extra)
{
    (void)extra;
    tkt_put_printable(writer, text, strlen(text));
}

static void put_json(tkt_writer *writer, const char *text, size_t extra)
{
    (void)extra;
    tkt_put_json(writer, text);
}

static void put_cut(tkt_writer *writer, const char *text, size_t width)
{
    assert_true(tkt_put_cut(writer, text, width) <= width);
}

/* Every kind of byte and character, at every distance from the ends of pieces. */
static char *long_name(size_t size, uint64_t seed)
{
    static const char *const pieces[] = {"a",      "\xC3\xA9", "\xE6\xB5\x81", "\xF0\x9F\x8C\x8A",
                                         "\x1B[1", "\"",       "\\",           "\xFF",
                                         "\n",     "\xE6\xB5"};
    char *name = malloc(size + 8);
    size_t used = 0;
    while (used < size) {
        const char *piece = pieces[build_random(&seed) % 10];
        strcpy(name + used, piece);
        used += strlen(piece);
    }
    return name;
}

TEST(pieces_change_nothing)
{
    for (uint64_t seed = 0; seed < 50; seed++) {
        char *name = long_name(3000, seed);
        size_t size = strlen(name);
        char *whole = malloc(6 * size + 3);
        tkt_printable(whole, 6 * size, name, size);
        char *printed = written(put_printable, name, 0);
        assert_string_equal(printed, whole);

        whole[0] = '"';
        strcpy(tkt_json_escape(whole + 1, name, size), "\"");
        char *escaped = written(put_json, name, 0);
        assert_string_equal(escaped, whole);
        tkt_free(printed);
        tkt_free(escaped);
        free(whole);
        free(name);
    }
}

TEST(cut_texts_fit_and_say_so)
{
    static const struct {
        const char *text;
        size_t width;
        const char *expected;
    } cases[] = {
        {"forces", 6, "forces"},
        {"forces", 10, "forces"},
        {"neighbours", 9, "neighb..."},
        {"neighbours", 5, "neigh"},
        {"\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", 7,
         "\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9..."},
        {"", 3, ""},
        {"\x1B[31mred", 8, "?[31mred"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *cut = written(put_cut, cases[i].text, cases[i].width);
        assert_string_equal(cut, cases[i].expected);
        tkt_free(cut);
    }
}

TEST(widths_are_counted_in_columns)
{
    assert_int_equal(tkt_text_width("", 100), 0);
    assert_int_equal(tkt_text_width("density", 100), 7);
    assert_int_equal(tkt_text_width("\xC3\xA9t\xC3\xA9", 100), 3);
    char *name = long_name(1 << 20, 3);
    assert_true(tkt_text_width(name, 55) > 55);
    assert_true(tkt_text_width(name, 55) < 1000);
    free(name);
}

TEST_MAIN(NULL, NULL)
