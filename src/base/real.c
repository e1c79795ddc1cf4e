/* Doubles as text. printf and strtod use the decimal point of the host program's locale, which may
 * have several bytes. */
#include "base/text.h"

#include <float.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef char number_text[TKT_DOUBLE_BYTES + 8]; /* with the locale's point */

static bool reads_back(const char *text, double value, bool as_float)
{
    return as_float ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value;
}

/* Prints the fewest digits from `digits` on that read back; returns how many. */
static int print(number_text text, double value, int digits, bool as_float)
{
    int most = as_float ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG;
    snprintf(text, sizeof(number_text), "%.*g", digits, value);
    while (digits < most && !reads_back(text, value, as_float))
        snprintf(text, sizeof(number_text), "%.*g", ++digits, value);
    return digits;
}

/* True for the value of a float, but for those below FLT_MIN. Looks at bits, since a conversion
 * could overflow. */
static bool is_float(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7FF) - 1022; /* as FLT_MIN_EXP counts */
    return (bits & ((UINT64_C(1) << (DBL_MANT_DIG - FLT_MANT_DIG)) - 1)) == 0 &&
           exponent >= FLT_MIN_EXP && exponent <= FLT_MAX_EXP;
}

/* Many doubles are the value of a float: 2^30, 0.5. So only those are taken for floats that need
 * more digits than a double keeps of a number that people write. */
static void print_real(number_text text, double value, int least)
{
    if (print(text, value, least, false) > TKT_DOUBLE_DIGITS && is_float(value))
        print(text, value, FLT_DIG, true);
}

static char *with_point(char *out, const char *text)
{
    const char *begin = out;
    for (const char *from = text; *from; from++) {
        if (strchr("0123456789+-aefin", *from))
            *out++ = *from;
        else if (out == begin || out[-1] != '.')
            *out++ = '.';
    }
    return out;
}

char *tkt_put_double(char *out, double value, int least)
{
    number_text text;
    print(text, value, least, false);
    return with_point(out, text);
}

char *tkt_put_real(char *out, double value, int least)
{
    number_text text;
    print_real(text, value, least);
    return with_point(out, text);
}

double tkt_real_shown(double value)
{
    number_text text;
    if (!is_float(value))
        return value;
    print_real(text, value, TKT_DOUBLE_DIGITS);
    return strtod(text, NULL);
}
