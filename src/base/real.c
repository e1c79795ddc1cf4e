/* Doubles as text. printf and strtod use the decimal point of the host program's locale, which may
 * have several bytes. And how the processor computes with them. */
#include "base/floats.h"
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

fenv_t tkt_floats_take(void)
{
    fenv_t hosts;
    fegetenv(&hosts);
    fesetenv(FE_DFL_ENV);
    return hosts;
}

void tkt_floats_restore(const fenv_t *hosts)
{
    fesetenv(hosts);
}
