/* Decimal numbers against printf. */
#include "base/text.h"

#include "support/test.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_put(uint64_t value)
{
    char expected[32], out[32];
    snprintf(expected, sizeof expected, "%" PRIu64, value);
    *tkt_put_u64(out, value) = 0;
    assert_string_equal(out, expected);
    snprintf(expected, sizeof expected, "%" PRId64, (int64_t)value);
    *tkt_put_i64(out, (int64_t)value) = 0;
    assert_string_equal(out, expected);
    snprintf(expected, sizeof expected, "%" PRIu64 ".%03u", value / 1000, (unsigned)(value % 1000));
    *tkt_put_us(out, value) = 0;
    assert_string_equal(out, expected);
}

TEST(small_numbers_print_as_printf_prints_them)
{
    for (uint64_t value = 0; value < 100000; value++)
        assert_put(value);
}

TEST(numbers_of_every_length_print_as_printf_prints_them)
{
    uint64_t power = 1;
    for (int digits = 1; digits <= 20; digits++, power *= 10) {
        for (uint64_t step = 0; step < 200; step++) {
            assert_put(power + step);
            assert_put(power - step);
            assert_put(power * 3 + step * 7919);
        }
    }
    for (int bit = 0; bit < 64; bit++) {
        assert_put(UINT64_C(1) << bit);
        assert_put((UINT64_C(1) << bit) - 1);
        assert_put(~(UINT64_C(1) << bit));
    }
}

static void assert_double(double value, const char *expected)
{
    char out[TKT_DOUBLE_BYTES + 1];
    *tkt_put_double(out, value, TKT_DOUBLE_DIGITS) = 0;
    assert_string_equal(out, expected);
}

TEST(doubles_have_the_fewest_digits_that_read_back)
{
    assert_double(0.1, "0.1");
    assert_double(1.0 / 3, "0.3333333333333333");
    assert_double(0.1 + 0.2, "0.30000000000000004");
    assert_double(-2.5, "-2.5");
    assert_double(1e30, "1e+30");
    assert_double(4096, "4096");
    assert_double(-1.7976931348623157e308, "-1.7976931348623157e+308");
    assert_double(NAN, "nan");
    assert_double(-INFINITY, "-inf");
}

static void assert_real(double value, int least, const char *expected)
{
    char out[TKT_DOUBLE_BYTES + 1];
    *tkt_put_real(out, value, least) = 0;
    assert_string_equal(out, expected);
}

TEST(floats_have_the_fewest_digits_that_read_back_as_a_float)
{
    assert_real(0.1f, TKT_DOUBLE_DIGITS, "0.1");
    assert_real(-1.1f, TKT_DOUBLE_DIGITS, "-1.1");
    assert_real(1.0f / 3, TKT_DOUBLE_DIGITS, "0.33333334");
    assert_real(16777217.5, TKT_DOUBLE_DIGITS, "16777217.5");
    assert_real(3.4028234663852886e38, TKT_DOUBLE_DIGITS, "3.4028235e+38");
    assert_real(1e20f, 6, "1e+20");
    assert_real(0.1f, 6, "0.1");
}

TEST(numbers_that_need_no_float_keep_their_digits)
{
    assert_real(0.1, TKT_DOUBLE_DIGITS, "0.1");
    assert_real(1073741824, TKT_DOUBLE_DIGITS, "1073741824");
    assert_real(1.0 / 3, TKT_DOUBLE_DIGITS, "0.3333333333333333");
    assert_real(1.0 / 1024, TKT_DOUBLE_DIGITS, "0.0009765625");
    assert_real(2e9, 6, "2e+09");
    assert_real(1e300, TKT_DOUBLE_DIGITS, "1e+300");
    assert_real(NAN, TKT_DOUBLE_DIGITS, "nan");
    assert_real(-INFINITY, 6, "-inf");
}

/* Of random floats: the text reads back as the float, and one digit less does not. */
TEST(no_shorter_text_reads_back)
{
    uint32_t random = 1;
    for (int i = 0; i < 20000; i++) {
        char out[TKT_DOUBLE_BYTES + 1], shorter[320];
        float value;
        random = random * 1664525u + 1013904223u;
        uint32_t bits = (random & 0x807FFFFF) | (96 + (random >> 8) % 64) << 23;
        memcpy(&value, &bits, sizeof value);
        *tkt_put_real(out, value, TKT_DOUBLE_DIGITS) = 0;
        assert_true(strtof(out, NULL) == value);
        assert_true(tkt_real_shown(value) == strtod(out, NULL));
        int digits = 0;
        for (const char *at = out; *at && *at != 'e'; at++)
            digits += *at >= '1' || (*at == '0' && digits);
        snprintf(shorter, sizeof shorter, "%.*g", digits - 1, (double)value);
        assert_true(strtod(out, NULL) == (double)value || strtof(shorter, NULL) != value);
    }
}

TEST(the_extremes_take_the_bytes_that_the_header_grants)
{
    char out[32];
    memset(out, 'E', sizeof out);
    assert_int_equal(tkt_put_u64(out, UINT64_MAX) - out, 20);
    assert_int_equal(out[20], 'E');
    assert_int_equal(tkt_put_i64(out, INT64_MIN) - out, 20);
    assert_int_equal(out[20], 'E');
    assert_in_range(tkt_put_us(out, UINT64_MAX) - out, 1, 24);
    assert_int_equal(out[24], 'E');
}

TEST_MAIN(NULL, NULL)
