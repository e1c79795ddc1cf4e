/* Strings and numbers of Chrome's JSON, off the fast path.
 *
 * Doubles are printed so that reading them gives the same double again. Most that programs record
 * have few decimals: n / 10^k with n below 2^53 is the double that its digits stand for, because
 * both are exact and IEEE division rounds correctly; printf is left for the others. Its decimal
 * point depends on the host's locale and is put right. */
#include "export/chrome_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TWO_53 9007199254740992.0

/* Escaping takes at most six bytes for one, and a reserve at most half of the writer's buffer. */
static size_t chunk_bytes(const tkt_writer *writer)
{
    size_t bytes = writer->capacity / 2 / 6;
    return bytes < 8192 ? bytes : 8192;
}

/* Where to cut so that no character is cut in two. */
static size_t cut_at_character(const char *text, size_t size)
{
    size_t cut = size;
    while (cut > size - 3 && ((unsigned char)text[cut] & 0xC0) == 0x80)
        cut--;
    return cut;
}

void tkt_chrome_put_text(tkt_writer *writer, const char *text, size_t size)
{
    size_t chunk = chunk_bytes(writer);
    while (size) {
        size_t part = size > chunk ? cut_at_character(text, chunk) : size;
        char *out = tkt_writer_reserve(writer, part * 6);
        tkt_writer_commit(writer, tkt_json_escape(out, text, part));
        text += part;
        size -= part;
    }
}

void tkt_chrome_put_string(tkt_chrome *chrome, uint32_t string)
{
    const tkt_string *text = &chrome->trace->strings.items[string];
    tkt_writer_text(chrome->writer, "\"");
    tkt_chrome_put_text(chrome->writer, text->bytes, text->size);
    tkt_writer_text(chrome->writer, "\"");
}

void tkt_chrome_put_u64(tkt_writer *writer, uint64_t value)
{
    tkt_writer_commit(writer, tkt_put_u64(tkt_writer_reserve(writer, 20), value));
}

void tkt_chrome_put_i64(tkt_writer *writer, int64_t value)
{
    tkt_writer_commit(writer, tkt_put_i64(tkt_writer_reserve(writer, 20), value));
}

void tkt_chrome_put_us(tkt_writer *writer, uint64_t ns)
{
    tkt_writer_commit(writer, tkt_put_us(tkt_writer_reserve(writer, 24), ns));
}

void tkt_chrome_put_ts(tkt_chrome *chrome, uint64_t time_ns)
{
    tkt_chrome_put_us(chrome->writer, time_ns + chrome->shift_ns);
}

/* "12.5" for 125 and 1 decimal; `decimals` may be 0, which writes "12.0". */
static char *put_decimal(char *out, uint64_t digits, int decimals)
{
    uint64_t scale = 1;
    for (int i = 0; i < decimals; i++)
        scale *= 10;
    out = tkt_put_u64(out, digits / scale);
    *out++ = '.';
    if (!decimals)
        *out++ = '0';
    for (uint64_t rest = digits % scale; decimals > 0; decimals--) {
        scale /= 10;
        *out++ = (char)('0' + rest / scale);
        rest %= scale;
    }
    return out;
}

/* NULL when it does not have few digits. */
static char *put_short_double(char *out, double value)
{
    static const double powers[] = {1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
    if (signbit(value)) {
        *out++ = '-';
        value = -value;
    }
    for (int decimals = 0; decimals < 10; decimals++) {
        double digits = nearbyint(value * powers[decimals]);
        if (digits >= TWO_53)
            return NULL;
        if (digits / powers[decimals] == value)
            return put_decimal(out, (uint64_t)digits, decimals);
    }
    return NULL;
}

/* Copies printf's number with a point in it, and with ".0" if it looks like an integer. */
static char *put_printed(char *out, const char *text)
{
    bool is_integer = true;
    bool in_point = false;
    for (; *text; text++) {
        bool is_ours = strchr("0123456789+-e", *text) != NULL;
        if (is_ours)
            *out++ = *text;
        else if (!in_point)
            *out++ = '.';
        in_point = !is_ours;
        is_integer = is_integer && is_ours && *text != 'e';
    }
    if (is_integer) {
        *out++ = '.';
        *out++ = '0';
    }
    return out;
}

/* The fewest digits that give the same double again. */
static char *put_long_double(char *out, double value)
{
    char text[64];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return put_printed(out, text);
}

void tkt_chrome_put_double(tkt_writer *writer, double value)
{
    if (isnan(value)) {
        tkt_writer_text(writer, "\"NaN\"");
        return;
    }
    if (isinf(value)) {
        tkt_writer_text(writer, value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
        return;
    }
    char *out = tkt_writer_reserve(writer, 64);
    char *end = put_short_double(out, value);
    tkt_writer_commit(writer, end ? end : put_long_double(out, value));
}

const char *tkt_chrome_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
