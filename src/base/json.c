/* The reader keeps the open containers and what may come next; a token is read straight from the
 * input's window. Strings are copied into the caller's buffer and cut there, so that neither a huge
 * string nor deep nesting costs memory. */
#include "base/json.h"

#include "base/error.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

/* What may come next. */
enum {
    VALUE,       /* a value */
    FIRST_VALUE, /* a value or the end of the array */
    FIRST_KEY,   /* a key or the end of the object */
    NEXT_KEY,    /* a key */
    AFTER_VALUE, /* a comma or the end of the container; at depth 0 the end of the document */
    OVER,
    FAILED
};

void tkt_json_begin(tkt_json *json, tkt_input *input, char *text, size_t capacity)
{
    json->input = input;
    json->text = text;
    json->capacity = capacity;
    json->size = 0;
    json->number = 0;
    json->status = TAKT_OK;
    json->line = 1;
    json->line_begin = 0;
    json->depth = 0;
    json->expects = VALUE;
    text[0] = 0;
}

tkt_json_token tkt_json_fail(tkt_json *json, const char *problem)
{
    uint64_t column = tkt_input_offset(json->input, json->input->window.at) - json->line_begin + 1;
    json->expects = FAILED;
    json->status = json->input->status;
    if (json->status == TAKT_OK) /* otherwise the input has told why it ends here */
        json->status = tkt_error_at(json->input->error, TAKT_BAD_TRACE, json->line,
                                    (uint32_t)column, "%s:%u:%llu: %s", json->input->name,
                                    json->line, (unsigned long long)column, problem);
    return TKT_JSON_ERROR;
}

/* Returns the next byte without taking it; -1 at the end. */
static inline int peek(tkt_json *json)
{
    return tkt_input_need(json->input, 1) ? *json->input->window.at : -1;
}

static inline void take(tkt_json *json)
{
    json->input->window.at++;
}

/* Skips white space. Returns the byte after it, or -1. */
static int next_byte(tkt_json *json)
{
    int byte;
    while ((byte = peek(json)) == ' ' || byte == '\n' || byte == '\t' || byte == '\r') {
        take(json);
        if (byte == '\n') {
            json->line++;
            json->line_begin = tkt_input_offset(json->input, json->input->window.at);
        }
    }
    return byte;
}

/* ---- Strings --------------------------------------------------------------------------------- */

/* Appends a character in UTF-8; cuts the text there when it does not fit. */
static void put_character(tkt_json *json, uint32_t c, bool *is_cut)
{
    char bytes[4];
    size_t size = 0;
    if (c < 0x80) {
        bytes[size++] = (char)c;
    } else if (c < 0x800) {
        bytes[size++] = (char)(0xC0 | c >> 6);
    } else if (c < 0x10000) {
        bytes[size++] = (char)(0xE0 | c >> 12);
        bytes[size++] = (char)(0x80 | (c >> 6 & 0x3F));
    } else {
        bytes[size++] = (char)(0xF0 | c >> 18);
        bytes[size++] = (char)(0x80 | (c >> 12 & 0x3F));
        bytes[size++] = (char)(0x80 | (c >> 6 & 0x3F));
    }
    if (c >= 0x80)
        bytes[size++] = (char)(0x80 | (c & 0x3F));
    *is_cut = *is_cut || json->size + size >= json->capacity;
    if (*is_cut)
        return;
    memcpy(json->text + json->size, bytes, size);
    json->size += size;
}

/* Reads four hexadecimal digits; -1 if they are none. */
static int32_t read_hex(tkt_json *json)
{
    int32_t value = 0;
    for (int i = 0; i < 4; i++) {
        int byte = peek(json), lower = byte | 0x20;
        int digit = byte >= '0' && byte <= '9'     ? byte - '0'
                    : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10
                                                   : -1;
        if (digit < 0)
            return -1;
        value = value << 4 | digit;
        take(json);
    }
    return value;
}

/* Reads the digits of \u, and the second half of a surrogate pair. Half a pair is U+FFFD, as
 * writers that cut strings leave some. -1: malformed. */
static int32_t read_unicode(tkt_json *json)
{
    int32_t first = read_hex(json);
    if (first < 0xD800 || first > 0xDFFF)
        return first ? first : 0xFFFD;
    if (first > 0xDBFF || !tkt_input_need(json->input, 6) ||
        memcmp(json->input->window.at, "\\u", 2) != 0)
        return 0xFFFD;
    const uint8_t *before = json->input->window.at;
    json->input->window.at += 2;
    int32_t second = read_hex(json);
    if (second < 0)
        return -1;
    if (second < 0xDC00 || second > 0xDFFF) {
        json->input->window.at = before; /* a character of its own */
        return 0xFFFD;
    }
    return 0x10000 + ((first & 0x3FF) << 10 | (second & 0x3FF));
}

static bool read_escape(tkt_json *json, bool *is_cut)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    int byte = peek(json);
    const char *found = byte > 0 ? strchr(from, byte) : NULL;
    if (!found && byte != 'u')
        return false;
    take(json);
    int32_t c = found ? to[found - from] : read_unicode(json);
    if (c >= 0)
        put_character(json, (uint32_t)c, is_cut);
    return c >= 0;
}

/* Copies bytes up to the next quote, backslash or control character. */
static void copy_plain(tkt_json *json, bool *is_cut)
{
    const uint8_t *at = json->input->window.at, *end = json->input->window.end;
    while (at < end && *at != '"' && *at != '\\' && *at >= 0x20)
        at++;
    size_t size = (size_t)(at - json->input->window.at);
    size_t room = json->capacity - 1 - json->size;
    size_t fits = *is_cut ? 0 : size < room ? size : room;
    memcpy(json->text + json->size, json->input->window.at, fits);
    json->size += fits;
    *is_cut = *is_cut || fits < size;
    json->input->window.at = at;
}

/* Removes the begin of a character whose rest was cut off. */
static void end_text(tkt_json *json, bool is_cut)
{
    size_t back = 0;
    while (is_cut && back < 3 && back < json->size &&
           ((uint8_t)json->text[json->size - 1 - back] & 0xC0) == 0x80)
        back++;
    size_t first = json->size - 1 - back;
    if (is_cut && back < json->size && ((uint8_t)json->text[first] & 0x80) &&
        tkt_utf8_length(json->text + first, json->size - first) != back + 1)
        json->size = first;
    json->text[json->size] = 0;
}

/* Reads a string behind its first quote. Returns `token`. */
static tkt_json_token read_string(tkt_json *json, tkt_json_token token)
{
    bool is_cut = false;
    json->size = 0;
    for (;;) {
        int byte = peek(json);
        if (byte < 0)
            return tkt_json_fail(json, "the file ends within a string");
        if (byte < 0x20)
            return tkt_json_fail(json, "a control character in a string must be escaped");
        if (byte != '"' && byte != '\\') {
            copy_plain(json, &is_cut);
            continue;
        }
        take(json);
        if (byte == '"')
            break;
        if (!read_escape(json, &is_cut))
            return tkt_json_fail(json, "unknown escape sequence in a string");
    }
    end_text(json, is_cut);
    return token;
}

/* ---- Numbers and words ----------------------------------------------------------------------- */

/* Reads digits into a mantissa of at most 19 digits. Returns how many there were, up to a million;
 * `*dropped` counts those of them that did not fit. */
static uint32_t read_digits(tkt_json *json, uint64_t *mantissa, int32_t *dropped)
{
    uint32_t count = 0;
    for (int byte; (byte = peek(json)) >= '0' && byte <= '9'; take(json)) {
        bool fits = *mantissa <= (UINT64_MAX - 9) / 10;
        if (fits)
            *mantissa = *mantissa * 10 + (uint64_t)(byte - '0');
        if (count < 1000000) {
            count++;
            *dropped += !fits;
        }
    }
    return count;
}

static bool read_exponent(tkt_json *json, int32_t *exponent)
{
    uint64_t value = 0;
    int32_t dropped = 0;
    take(json);
    int sign = peek(json);
    if (sign == '+' || sign == '-')
        take(json);
    if (read_digits(json, &value, &dropped) == 0)
        return false;
    int32_t size = dropped || value > 100000 ? 100000 : (int32_t)value;
    *exponent += sign == '-' ? -size : size;
    return true;
}

/* Exact for mantissas below 2^53 and small exponents, as times have; otherwise to a few ulp. */
static double scale(uint64_t mantissa, int32_t exponent)
{
    double value = (double)mantissa;
    if (mantissa == 0 || exponent == 0)
        return value;
    if (exponent < -400 || exponent > 400)
        return exponent < 0 ? 0 : (double)INFINITY;
    if (exponent < -300) /* 10^-exponent alone would overflow */
        return value / pow(10, 300) / pow(10, -exponent - 300);
    return exponent < 0 ? value / pow(10, -exponent) : value * pow(10, exponent);
}

static tkt_json_token read_number(tkt_json *json)
{
    uint64_t mantissa = 0;
    int32_t whole_dropped = 0, dropped = 0, exponent = 0;
    bool is_negative = peek(json) == '-';
    if (is_negative)
        take(json);
    bool is_good = read_digits(json, &mantissa, &whole_dropped) > 0;
    if (is_good && peek(json) == '.') {
        take(json);
        uint32_t decimals = read_digits(json, &mantissa, &dropped);
        is_good = decimals > 0;
        exponent = whole_dropped ? 0 : -(int32_t)(decimals - (uint32_t)dropped);
    }
    exponent += whole_dropped;
    if (is_good && (peek(json) | 0x20) == 'e')
        is_good = read_exponent(json, &exponent);
    if (!is_good)
        return tkt_json_fail(json, "expected a number");
    json->number = scale(mantissa, exponent) * (is_negative ? -1 : 1);
    return TKT_JSON_NUMBER;
}

static tkt_json_token read_word(tkt_json *json)
{
    static const struct {
        char text[6];
        tkt_json_token token;
    } words[] = {{"true", TKT_JSON_TRUE}, {"false", TKT_JSON_FALSE}, {"null", TKT_JSON_NULL}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t size = strlen(words[i].text);
        if (tkt_input_need(json->input, size) &&
            memcmp(json->input->window.at, words[i].text, size) == 0) {
            json->input->window.at += size;
            return words[i].token;
        }
    }
    return tkt_json_fail(json, "expected a value");
}

/* ---- Structure ------------------------------------------------------------------------------- */

static tkt_json_token open_container(tkt_json *json, bool is_object)
{
    if (json->depth == TKT_JSON_DEPTH)
        return tkt_json_fail(json, "values are nested more than 512 deep");
    json->is_object[json->depth++] = is_object;
    json->expects = is_object ? FIRST_KEY : FIRST_VALUE;
    take(json);
    return is_object ? TKT_JSON_OBJECT : TKT_JSON_ARRAY;
}

static tkt_json_token close_container(tkt_json *json)
{
    json->depth--;
    json->expects = AFTER_VALUE;
    take(json);
    return json->is_object[json->depth] ? TKT_JSON_OBJECT_END : TKT_JSON_ARRAY_END;
}

static tkt_json_token read_key(tkt_json *json, int byte)
{
    if (byte != '"')
        return tkt_json_fail(json, "expected a key in double quotes");
    take(json);
    tkt_json_token token = read_string(json, TKT_JSON_KEY);
    if (token == TKT_JSON_ERROR)
        return token;
    if (next_byte(json) != ':')
        return tkt_json_fail(json, "expected ':' after a key");
    take(json);
    json->expects = VALUE;
    return token;
}

static tkt_json_token read_value(tkt_json *json, int byte)
{
    if (byte == '{' || byte == '[')
        return open_container(json, byte == '{');
    json->expects = AFTER_VALUE;
    if (byte == '"') {
        take(json);
        return read_string(json, TKT_JSON_STRING);
    }
    if (byte == '-' || (byte >= '0' && byte <= '9'))
        return read_number(json);
    return read_word(json);
}

static tkt_json_token read_after_value(tkt_json *json, int byte)
{
    if (json->depth == 0) {
        if (byte >= 0)
            return tkt_json_fail(json, "the file goes on after its end");
        json->expects = json->input->status == TAKT_OK ? OVER : FAILED;
        json->status = json->input->status;
        return tkt_json_next(json);
    }
    bool is_object = json->is_object[json->depth - 1];
    if (byte == (is_object ? '}' : ']'))
        return close_container(json);
    if (byte != ',')
        return tkt_json_fail(json, byte < 0    ? "the file ends too early"
                                   : is_object ? "expected ',' or '}'"
                                               : "expected ',' or ']'");
    take(json);
    json->expects = is_object ? NEXT_KEY : VALUE;
    return tkt_json_next(json);
}

tkt_json_token tkt_json_next(tkt_json *json)
{
    if (json->expects >= OVER)
        return json->expects == OVER ? TKT_JSON_END : TKT_JSON_ERROR;
    int byte = next_byte(json);
    if (json->expects == AFTER_VALUE)
        return read_after_value(json, byte);
    if (byte < 0)
        return tkt_json_fail(json, "the file ends too early");
    if ((json->expects == FIRST_KEY && byte == '}') ||
        (json->expects == FIRST_VALUE && byte == ']'))
        return close_container(json);
    if (json->expects == FIRST_KEY || json->expects == NEXT_KEY)
        return read_key(json, byte);
    return read_value(json, byte);
}

bool tkt_json_skip(tkt_json *json, tkt_json_token token)
{
    uint32_t outside = json->depth - 1;
    if (token != TKT_JSON_OBJECT && token != TKT_JSON_ARRAY)
        return token != TKT_JSON_ERROR;
    while (json->depth > outside)
        if (tkt_json_next(json) == TKT_JSON_ERROR)
            return false;
    return true;
}
