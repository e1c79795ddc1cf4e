/* Formats values as text.
 *
 * printf's %f and %g use the decimal point of the host program's locale. Numbers are therefore
 * formatted from integers here. Texts may have megabytes, so they pass through a small buffer in pieces. */
#include "report/table.h"

#include "base/own.h"
#include "base/text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES 160

static size_t finish(char *out, char *end, const char *unit)
{
    size_t size = strlen(unit);
    memcpy(end, unit, size + 1);
    return (size_t)(end - out) + size;
}

static size_t put_double(char *out, double value)
{
    return finish(out, tkt_put_double(out, value, TKT_DOUBLE_DIGITS), "");
}

double tkt_share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : NAN;
}

uint64_t tkt_p99_cell(uint64_t count, uint64_t p99_ns)
{
    return count < TKT_P99_LEAST ? TKT_NO_VALUE : p99_ns;
}

uint64_t tkt_deviation_cell(uint64_t count, double deviation)
{
    return count > 1 && deviation < 1e19 ? (uint64_t)(deviation + 0.5) : TKT_NO_VALUE;
}

uint64_t tkt_mean(uint64_t total, uint64_t count)
{
    return count ? total / count + (total % count >= count - count / 2) : 0;
}

double tkt_imbalance(uint64_t most, uint64_t sum, uint64_t count)
{
    return sum ? (double)most * (double)count / (double)sum : NAN;
}

size_t tkt_value_fixed(char *out, double value, unsigned decimals)
{
    static const double powers[] = {1, 10, 100, 1e3, 1e4, 1e5, 1e6};
    if (!tkt_is_finite(value))
        return finish(out, out, isnan(value) ? "NaN" : value > 0 ? "inf" : "-inf");
    double scaled = fabs(value) * powers[decimals] + 0.5;
    if (scaled >= 9e18)
        return put_double(out, value);

    uint64_t digits = (uint64_t)scaled;
    uint64_t power = (uint64_t)powers[decimals];
    char *end = out;
    if (value < 0 && digits > 0)
        *end++ = '-';
    end = tkt_put_u64(end, digits / power);
    if (decimals > 0)
        *end++ = '.';
    for (uint64_t rest = digits % power; power > 1; rest %= power) {
        power /= 10;
        *end++ = (char)('0' + rest / power);
    }
    return finish(out, end, "");
}

/* torch's units: us below 1 ms, ms below 1 s, three decimals. */
static size_t put_time(char *out, uint64_t ns)
{
    if (ns < UINT64_C(1000000))
        return finish(out, tkt_put_us(out, ns), "us");
    if (ns < UINT64_C(1000000000))
        return finish(out, tkt_put_us(out, (ns + 500) / 1000), "ms");
    return finish(out, tkt_put_us(out, ns / 1000000 + (ns % 1000000 >= 500000)), "s");
}

static size_t put_bytes(char *out, uint64_t bytes)
{
    static const char *const units[] = {" KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
    if (bytes < 1024)
        return finish(out, tkt_put_u64(out, bytes), " B");
    double value = (double)bytes / 1024;
    size_t unit = 0;
    for (; value >= 1024 && unit < 5; unit++)
        value /= 1024;
    return finish(out, out + tkt_value_fixed(out, value, 2), units[unit]);
}

static size_t put_signed(char *out, int64_t value, size_t (*put)(char *, uint64_t))
{
    if (value >= 0)
        return put(out, (uint64_t)value);
    *out = '-';
    return 1 + put(out + 1, 0 - (uint64_t)value);
}

/* Like put_time(), for a fractional number of ns. */
static size_t put_length(char *out, double ns)
{
    double size = fabs(ns);
    if (size < 1e6)
        return finish(out, out + tkt_value_fixed(out, ns / 1e3, 3), "us");
    if (size < 1e9)
        return finish(out, out + tkt_value_fixed(out, ns / 1e6, 3), "ms");
    return finish(out, out + tkt_value_fixed(out, ns / 1e9, 3), "s");
}

void tkt_value_precision(char out[TKT_VALUE_SIZE], double ns, unsigned decimals)
{
    static const char units[][4] = {" ns", " us", " ms", " s"};
    size_t unit = 0;
    for (; fabs(ns) >= 1000 && unit < 3; unit++)
        ns /= 1000;
    finish(out, out + tkt_value_fixed(out, ns, unit ? 1 : decimals), units[unit]);
}

/* Writes a plus if the value is positive. Returns where the number starts. */
static char *put_plus(char *out, double value)
{
    *out = '+';
    return out + (value > 0);
}

static size_t put_growth(char *out, double percent)
{
    char *number = put_plus(out, percent);
    return finish(out, number + tkt_value_fixed(number, percent, 2), "%");
}

static size_t put_chance(char *out, double p)
{
    if (p < 0.0001)
        return finish(out, out, "<0.0001");
    return tkt_value_fixed(out, p, 4);
}

/* Enough digits for small factors, no exponent for large ones. */
static size_t put_number(char *out, double value)
{
    double size = fabs(value);
    if (size >= 0.1 || size == 0 || isnan(value))
        return tkt_value_fixed(out, value, size >= 1000 ? 1 : 3);
    if (size >= 0.001)
        return tkt_value_fixed(out, value, 6);
    char digits[32];
    snprintf(digits, sizeof digits, "%.3g", value);
    return put_double(out, strtod(digits, NULL));
}

static bool is_double(tkt_cell_type type)
{
    return type >= TKT_CELL_SHARE && type <= TKT_CELL_CHANCE;
}

static bool is_signed(tkt_cell_type type)
{
    return type == TKT_CELL_OFFSET || type == TKT_CELL_CHANGE;
}

bool tkt_value_is_none(tkt_cell_type type, tkt_cell cell)
{
    if (type == TKT_CELL_TEXT)
        return !cell.text;
    if (type == TKT_CELL_FACT)
        return false;
    if (is_signed(type))
        return cell.i == TKT_NO_SIGNED;
    return is_double(type) ? isnan(cell.d) : cell.u == TKT_NO_VALUE;
}

size_t tkt_value_text(char *out, tkt_cell_type type, tkt_cell cell)
{
    if (tkt_value_is_none(type, cell))
        return finish(out, out, type == TKT_CELL_SHARE ? "NaN" : "");
    switch (type) {
    case TKT_CELL_TEXT:
    case TKT_CELL_FACT:
        break;
    case TKT_CELL_COUNT:
        return finish(out, tkt_put_u64(out, cell.u), "");
    case TKT_CELL_TIME:
        return put_time(out, cell.u);
    case TKT_CELL_OFFSET:
        return put_signed(out, cell.i, put_time);
    case TKT_CELL_BYTES:
        return put_bytes(out, cell.u);
    case TKT_CELL_CHANGE:
        return put_signed(out, cell.i, put_bytes);
    case TKT_CELL_SHARE:
        return finish(out, out + tkt_value_fixed(out, cell.d * 100, 2), "%");
    case TKT_CELL_PERCENT:
        return finish(out, out + tkt_value_fixed(out, cell.d, 2), "%");
    case TKT_CELL_NUMBER:
        return put_number(out, cell.d);
    case TKT_CELL_LENGTH:
        return put_length(out, cell.d);
    case TKT_CELL_SHIFT: {
        char *number = put_plus(out, cell.d);
        return (size_t)(number - out) + put_length(number, cell.d);
    }
    case TKT_CELL_GROWTH:
        return put_growth(out, cell.d);
    case TKT_CELL_CHANCE:
        return put_chance(out, cell.d);
    }
    return finish(out, out, "");
}

size_t tkt_value_raw(char *out, tkt_cell_type type, tkt_cell cell)
{
    if (type == TKT_CELL_FACT)
        return finish(out, out, cell.said->raw);
    if (type == TKT_CELL_TEXT || tkt_value_is_none(type, cell))
        return finish(out, out, "");
    if (is_double(type)) {
        double value = type == TKT_CELL_SHARE ? cell.d * 100 : cell.d;
        return tkt_is_finite(value) ? put_double(out, value) : finish(out, out, "");
    }
    if (is_signed(type))
        return finish(out, tkt_put_i64(out, cell.i), "");
    return finish(out, tkt_put_u64(out, cell.u), "");
}

const char *tkt_value_words(tkt_cell_type type, tkt_cell cell)
{
    if (type == TKT_CELL_FACT)
        return cell.said->text;
    if (type == TKT_CELL_TEXT)
        return cell.text ? cell.text : "";
    return NULL;
}

int tkt_value_compare(tkt_cell_type type, tkt_cell a, tkt_cell b)
{
    if (tkt_value_words(type, a))
        return strcmp(tkt_value_words(type, a), tkt_value_words(type, b));
    if (type == TKT_CELL_SHIFT || type == TKT_CELL_GROWTH)
        return (fabs(a.d) > fabs(b.d)) - (fabs(a.d) < fabs(b.d));
    if (is_double(type))
        return (a.d > b.d) - (a.d < b.d);
    if (is_signed(type))
        return (a.i > b.i) - (a.i < b.i);
    return (a.u > b.u) - (a.u < b.u);
}

/* Returns the size of the first character, or 1 if the bytes are not UTF-8. `size` is not 0. */
static size_t character_size(const char *text, size_t size)
{
    size_t length = tkt_utf8_length(text, size);
    return length ? length : 1;
}

size_t tkt_text_piece(const char *text, size_t size)
{
    if (size <= PIECE_BYTES)
        return size;
    size_t end = 0;
    while (end < PIECE_BYTES - 4)
        end += character_size(text + end, size - end);
    return end;
}

size_t tkt_text_width(const char *text, size_t most)
{
    char clean[TKT_PIECE_SIZE];
    size_t size = strlen(text);
    size_t width = 0;
    for (size_t piece; width <= most && (piece = tkt_text_piece(text, size)) > 0;) {
        tkt_printable(clean, sizeof clean, text, piece);
        width += tkt_text_columns(clean);
        text += piece;
        size -= piece;
    }
    return width;
}

const char *tkt_text_name(char out[TKT_NAME_SIZE], const char *name)
{
    size_t size = strlen(name);
    size_t end = 0;
    for (size_t piece; end < size && end < TKT_NAME_SIZE - 8; end += piece)
        piece = character_size(name + end, size - end);
    memcpy(out, name, end);
    memcpy(out + end, "...", 4);
    if (end == size)
        out[end] = '\0';
    return out;
}

void tkt_put_printable(tkt_writer *writer, const char *text, size_t size)
{
    char clean[TKT_PIECE_SIZE];
    for (size_t piece; (piece = tkt_text_piece(text, size)) > 0; size -= piece, text += piece)
        tkt_writer_put(writer, clean, tkt_printable(clean, sizeof clean, text, piece));
}

void tkt_put_json(tkt_writer *writer, const char *text)
{
    char escaped[TKT_PIECE_SIZE];
    size_t size = strlen(text);
    tkt_writer_put(writer, "\"", 1);
    for (size_t piece; (piece = tkt_text_piece(text, size)) > 0; size -= piece, text += piece)
        tkt_writer_put(writer, escaped, (size_t)(tkt_json_escape(escaped, text, piece) - escaped));
    tkt_writer_put(writer, "\"", 1);
}

size_t tkt_put_columns(tkt_writer *writer, const char *text, size_t width)
{
    size_t size = strlen(text);
    size_t used = 0;
    while (size > 0) {
        char clean[8];
        size_t length = character_size(text, size);
        size_t bytes = tkt_printable(clean, sizeof clean, text, length);
        size_t columns = tkt_text_columns(clean);
        if (used + columns > width)
            break;
        tkt_writer_put(writer, clean, bytes);
        used += columns;
        text += length;
        size -= length;
    }
    return used;
}

size_t tkt_put_cut(tkt_writer *writer, const char *text, size_t width)
{
    if (tkt_text_width(text, width) <= width)
        return tkt_put_columns(writer, text, width);
    size_t dots = width < 6 ? 0 : 3;
    size_t used = tkt_put_columns(writer, text, width - dots);
    tkt_put_repeated(writer, '.', dots);
    return used + dots;
}

void tkt_put_repeated(tkt_writer *writer, char byte, size_t count)
{
    char run[64];
    memset(run, byte, sizeof run);
    for (; count > 0; count -= count < sizeof run ? count : sizeof run)
        tkt_writer_put(writer, run, count < sizeof run ? count : sizeof run);
}
