/* Strings and numbers of scanned values. */
#include "import/scan.h"

#include <stdlib.h>
#include <string.h>

/* ---- Strings --------------------------------------------------------------------------------- */

static int hex_digit(uint8_t byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* The four digits of \uXXXX; -1 if there are none. */
static int32_t hex4(const uint8_t *at, const uint8_t *end)
{
    int32_t code = 0;
    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(at[i]);
        if (digit < 0)
            return -1;
        code = code << 4 | digit;
    }
    return code;
}

static char *put_utf8(char *out, int32_t code)
{
    if (code < 0x80) {
        *out++ = (char)code;
    } else if (code < 0x800) {
        *out++ = (char)(0xC0 | code >> 6);
        *out++ = (char)(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        *out++ = (char)(0xE0 | code >> 12);
        *out++ = (char)(0x80 | (code >> 6 & 0x3F));
        *out++ = (char)(0x80 | (code & 0x3F));
    } else {
        *out++ = (char)(0xF0 | code >> 18);
        *out++ = (char)(0x80 | (code >> 12 & 0x3F));
        *out++ = (char)(0x80 | (code >> 6 & 0x3F));
        *out++ = (char)(0x80 | (code & 0x3F));
    }
    return out;
}

/* Reads \uXXXX, or the two of a surrogate pair, from behind the first `u`. Six bytes of input give
 * at most three of output, twelve at most four. */
static const uint8_t *put_unicode(const uint8_t *at, const uint8_t *end, char **out)
{
    int32_t code = hex4(at, end);
    at += 4;
    if (code >= 0xD800 && code < 0xDC00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u') {
        int32_t low = hex4(at + 2, end);
        if (low >= 0xDC00 && low < 0xE000) {
            *out = put_utf8(*out, 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00));
            return at + 6;
        }
    }
    bool is_bad = code == 0 || (code >= 0xD800 && code < 0xE000);
    *out = put_utf8(*out, is_bad ? 0xFFFD : code);
    return at;
}

size_t imp_unescape(const imp_value *string, char *out)
{
    static const char names[] = "bfnrt\"\\/", bytes[] = "\b\f\n\r\t\"\\/";
    const uint8_t *at = string->bytes, *end = at + string->size;
    char *begin = out;
    while (at < end) {
        if (*at != '\\' || at + 1 == end) {
            *out++ = (char)*at++;
            continue;
        }
        const char *name = at[1] ? strchr(names, at[1]) : NULL;
        if (name) {
            *out++ = bytes[name - names];
            at += 2;
        } else if (at[1] == 'u' && hex4(at + 2, end) >= 0) {
            at = put_unicode(at + 2, end, &out);
        } else {
            *out++ = (char)*at++;
        }
    }
    return (size_t)(out - begin);
}

/* ---- Numbers --------------------------------------------------------------------------------- */

/* A number as digits and a power of ten: 12.5e3 is 125 * 10^2. */
typedef struct decimal {
    uint64_t digits;
    int32_t exponent;
    bool is_negative;
} decimal;

/* Digits beyond 19 do not fit: those before the point make the number too large, those behind it
 * are less than any time resolution and left out. */
static bool add_digit(decimal *number, uint8_t digit, bool is_fraction)
{
    if (number->digits > (UINT64_MAX - 9) / 10)
        return is_fraction;
    number->digits = number->digits * 10 + (uint64_t)(digit - '0');
    number->exponent -= is_fraction;
    return true;
}

static bool read_exponent(const uint8_t *at, const uint8_t *end, int32_t *exponent)
{
    bool is_negative = at < end && *at == '-';
    int32_t value = 0;
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (at == end)
        return false;
    for (; at < end; at++) {
        if (*at < '0' || *at > '9' || value > 1000)
            return false;
        value = value * 10 + (*at - '0');
    }
    *exponent += is_negative ? -value : value;
    return true;
}

static bool read_decimal(const imp_value *value, decimal *out)
{
    bool is_fraction = false, has_digits = false;
    *out = (decimal){0};
    if (value->kind != IMP_WORD && value->kind != IMP_STRING)
        return false;
    const uint8_t *at = value->bytes, *end = at + value->size;
    if (at < end && (*at == '-' || *at == '+'))
        out->is_negative = *at++ == '-';
    for (; at < end && *at != 'e' && *at != 'E'; at++) {
        if (*at == '.' && !is_fraction)
            is_fraction = true;
        else if (*at < '0' || *at > '9' || !add_digit(out, *at, is_fraction))
            return false;
        else
            has_digits = true;
    }
    return has_digits && (at == end || read_exponent(at + 1, end, &out->exponent));
}

/* digits * 10^exponent, rounded half up. */
static bool scale(uint64_t digits, int32_t exponent, uint64_t *out)
{
    for (; exponent > 0 && digits; exponent--) {
        if (digits > UINT64_MAX / 10)
            return false;
        digits *= 10;
    }
    for (; exponent < -1 && digits; exponent++)
        digits /= 10;
    *out = exponent == -1 ? digits / 10 + (digits % 10 >= 5) : digits;
    return true;
}

bool imp_integer(const imp_value *value, int64_t *out)
{
    decimal number;
    uint64_t size;
    if (!read_decimal(value, &number) || !scale(number.digits, number.exponent, &size) ||
        size > INT64_MAX)
        return false;
    *out = number.is_negative ? -(int64_t)size : (int64_t)size;
    return true;
}

bool imp_time(const imp_value *value, int64_t *ns)
{
    decimal number;
    uint64_t size;
    if (!read_decimal(value, &number) || !scale(number.digits, number.exponent + 3, &size) ||
        size > INT64_MAX / 2 || (number.is_negative && size))
        return false;
    *ns = (int64_t)size;
    return true;
}

bool imp_real(const imp_value *value, double *out)
{
    char text[64];
    char *end;
    if ((value->kind != IMP_WORD && value->kind != IMP_STRING) || value->size == 0 ||
        value->size >= sizeof text)
        return false;
    memcpy(text, value->bytes, value->size);
    text[value->size] = '\0';
    *out = strtod(text, &end);
    return *end == '\0';
}

size_t imp_integers(const imp_value *array, int64_t *out, size_t most)
{
    if (array->kind != IMP_ARRAY)
        return 0;
    const uint8_t *at = array->bytes + 1, *end = array->bytes + array->size;
    size_t count = 0;
    imp_value item;
    while (count < most && imp_scan_value(&at, end, IMP_QUOTES_STRICT, &item) == IMP_DONE &&
           imp_integer(&item, &out[count])) {
        count++;
        at = imp_skip_space(at, end);
        if (at == end || *at++ != ',')
            break;
    }
    return count;
}

bool imp_step_number(const char *name, size_t size, uint64_t *out)
{
    static const char head[] = "ProfilerStep#";
    size_t head_size = sizeof head - 1;
    int64_t number;
    if (size <= head_size || memcmp(name, head, head_size) != 0)
        return false;
    imp_value digits = {(const uint8_t *)name + head_size, size - head_size, IMP_WORD, false};
    if (!imp_integer(&digits, &number) || number < 0)
        return false;
    *out = (uint64_t)number;
    return true;
}
