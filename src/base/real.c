/* Doubles as text. printf and strtod use the decimal point of the host program's locale, which may
 * have several bytes. */
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *tkt_put_double(char *out, double value, int least)
{
    char text[TKT_DOUBLE_BYTES + 8]; /* and more of the locale's point */
    int digits = least;
    do
        snprintf(text, sizeof text, "%.*g", digits, value);
    while (digits++ < 17 && strtod(text, NULL) != value);
    const char *begin = out;
    for (const char *from = text; *from; from++) {
        if (strchr("0123456789+-aefin", *from))
            *out++ = *from;
        else if (out == begin || out[-1] != '.')
            *out++ = '.';
    }
    return out;
}
