/* Decimal numbers without printf, two digits at a time: exports are mostly numbers, and printf
 * takes ten times as long. */
#include "base/text.h"

#include <string.h>

static const char two_digits[] = "00010203040506070809101112131415161718192021222324"
                                 "25262728293031323334353637383940414243444546474849"
                                 "50515253545556575859606162636465666768697071727374"
                                 "75767778798081828384858687888990919293949596979899";

char *tkt_put_u64(char *out, uint64_t value)
{
    char digits[20];
    char *begin = digits + sizeof digits;
    while (value >= 100) {
        begin -= 2;
        memcpy(begin, two_digits + value % 100 * 2, 2);
        value /= 100;
    }
    if (value >= 10) {
        begin -= 2;
        memcpy(begin, two_digits + value * 2, 2);
    } else {
        *--begin = (char)('0' + value);
    }
    size_t size = (size_t)(digits + sizeof digits - begin);
    memcpy(out, begin, size);
    return out + size;
}

char *tkt_put_i64(char *out, int64_t value)
{
    uint64_t magnitude = (uint64_t)value;
    if (value < 0) {
        *out++ = '-';
        magnitude = -magnitude;
    }
    return tkt_put_u64(out, magnitude);
}

char *tkt_put_us(char *out, uint64_t ns)
{
    out = tkt_put_u64(out, ns / 1000);
    unsigned rest = (unsigned)(ns % 1000);
    *out++ = '.';
    *out++ = (char)('0' + rest / 100);
    memcpy(out, two_digits + (size_t)(rest % 100) * 2, 2);
    return out + 2;
}
