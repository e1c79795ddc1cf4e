/* Scans objects, values and strings: where they begin and end. */
#include "import/scan.h"

#include <endian.h>
#include <string.h>

const uint8_t *imp_skip_space(const uint8_t *at, const uint8_t *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    return at;
}

/* ---- Strings --------------------------------------------------------------------------------- */

#define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Non-zero if one of the eight bytes is zero. The lowest bit set is of the first one. */
static inline uint64_t zero_in(uint64_t bytes)
{
    return (bytes - EACH_BYTE(1)) & ~bytes & EACH_BYTE(0x80);
}

/* The next quote, backslash or line feed. Most strings are a few bytes. */
static const uint8_t *find_special(const uint8_t *at, const uint8_t *end)
{
    for (; end - at >= 8; at += 8) {
        uint64_t bytes;
        memcpy(&bytes, at, sizeof bytes);
        bytes = le64toh(bytes);
        uint64_t found = zero_in(bytes ^ EACH_BYTE('"')) | zero_in(bytes ^ EACH_BYTE('\\')) |
                         zero_in(bytes ^ EACH_BYTE('\n'));
        if (found)
            return at + __builtin_ctzll(found) / 8;
    }
    while (at < end && *at != '"' && *at != '\\' && *at != '\n')
        at++;
    return at;
}

/* Tells from the bytes behind a quote whether the quote ends the string. Behind the last quote of a
 * value comes a closing brace or bracket, or a comma and then a brace or a key. Behind that of a
 * key comes a colon; `may_be_key` allows one. IMP_BAD: the quote belongs to the text. */
static imp_result is_closing(const uint8_t *at, const uint8_t *end, bool may_be_key)
{
    at = imp_skip_space(at, end);
    if (at == end)
        return IMP_MORE;
    if (*at == '}' || *at == ']' || (may_be_key && *at == ':'))
        return IMP_DONE;
    if (*at != ',')
        return IMP_BAD;
    at = imp_skip_space(at + 1, end);
    if (at == end)
        return IMP_MORE;
    if (*at == '}' || *at == '{')
        return IMP_DONE;
    if (*at != '"')
        return IMP_BAD;
    const uint8_t *quote = find_special(at + 1, end);
    if (quote == end)
        return IMP_MORE;
    quote = imp_skip_space(quote + 1, end);
    return quote == end ? IMP_MORE : *quote == ':' ? IMP_DONE : IMP_BAD;
}

/* True for the bytes behind a quote that ends a key. */
static bool ends_key(const uint8_t *at, const uint8_t *end)
{
    at = imp_skip_space(at, end);
    return at < end && *at == ':';
}

/* From behind the opening quote to behind the closing one. A string with line feeds and with what
 * looks like a key lacks its own end: it runs on into the members behind it. */
static imp_result scan_string(const uint8_t **place, const uint8_t *end, imp_quotes quotes,
                              bool may_be_key, imp_value *out)
{
    const uint8_t *at = *place;
    bool has_line = false, has_key = false;
    *out = (imp_value){.bytes = at, .kind = IMP_STRING};
    for (;; at++) {
        at = find_special(at, end);
        if (at == end)
            return IMP_MORE;
        if (*at == '\\') {
            out->is_escaped = true;
            if (++at == end)
                return IMP_MORE;
            continue;
        }
        if (*at == '"' && quotes == IMP_QUOTES_STRICT)
            break;
        has_line |= *at == '\n';
        has_key |= *at == '"' && ends_key(at + 1, end);
        if (has_line && (has_key || quotes == IMP_QUOTES_STRICT)) {
            *place = at;
            return IMP_BAD;
        }
        imp_result closes = *at == '"' ? is_closing(at + 1, end, may_be_key) : IMP_BAD;
        if (closes == IMP_MORE)
            return IMP_MORE;
        if (closes == IMP_DONE)
            break;
    }
    out->size = (size_t)(at - out->bytes);
    *place = at + 1;
    return IMP_DONE;
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* True for bytes that may follow a string in a list or an object. */
static bool goes_on(const uint8_t *at, const uint8_t *end)
{
    at = imp_skip_space(at, end);
    return at == end || *at == ',' || *at == ':' || *at == ']' || *at == '}';
}

/* Moves *place from an opening brace or bracket to behind the one that closes it. A bracket may
 * close a brace here: scanning the content finds that fault later. */
static imp_result scan_nested(const uint8_t **place, const uint8_t *end, imp_quotes quotes)
{
    const uint8_t *at = *place;
    size_t depth = 0;
    while (at < end) {
        uint8_t byte = *at++;
        if (byte == '"') {
            imp_value string;
            imp_result result = scan_string(&at, end, quotes, true, &string);
            if (result == IMP_DONE && !goes_on(at, end))
                result = IMP_BAD;
            if (result != IMP_DONE) {
                *place = at;
                return result;
            }
        } else if ((byte | 0x20) == '{') { /* brackets differ from braces by this bit */
            depth++;
        } else if ((byte | 0x20) == '}' && --depth == 0) {
            *place = at;
            return IMP_DONE;
        }
    }
    return IMP_MORE;
}

static bool is_word(uint8_t byte)
{
    uint8_t letter = byte | 0x20;
    return (uint8_t)(byte - '0') <= 9 || (uint8_t)(letter - 'a') <= 'z' - 'a' || byte == '-' ||
           byte == '+' || byte == '.';
}

static imp_result scan_word(const uint8_t **place, const uint8_t *end, imp_value *out)
{
    const uint8_t *at = *place;
    while (at < end && is_word(*at))
        at++;
    if (at == end)
        return IMP_MORE;
    if (at == *place)
        return IMP_BAD;
    *out = (imp_value){.bytes = *place, .size = (size_t)(at - *place), .kind = IMP_WORD};
    *place = at;
    return IMP_DONE;
}

imp_result imp_scan_value(const uint8_t **place, const uint8_t *end, imp_quotes quotes,
                          imp_value *out)
{
    *place = imp_skip_space(*place, end);
    const uint8_t *begin = *place;
    if (begin == end)
        return IMP_MORE;
    if (*begin == '"') {
        ++*place;
        return scan_string(place, end, quotes, false, out);
    }
    if (*begin != '{' && *begin != '[')
        return scan_word(place, end, out);
    imp_result result = scan_nested(place, end, quotes);
    *out = (imp_value){.bytes = begin,
                       .size = (size_t)(*place - begin),
                       .kind = *begin == '{' ? IMP_OBJECT : IMP_ARRAY};
    return result;
}

/* ---- Objects --------------------------------------------------------------------------------- */

imp_result imp_scan_key(const uint8_t **place, const uint8_t *end, imp_value *out)
{
    *place = imp_skip_space(*place, end);
    if (*place == end)
        return IMP_MORE;
    if (**place != '"')
        return IMP_BAD;
    ++*place;
    imp_result result = scan_string(place, end, IMP_QUOTES_STRICT, true, out);
    if (result != IMP_DONE)
        return result;
    *place = imp_skip_space(*place, end);
    if (*place == end)
        return IMP_MORE;
    return *(*place)++ == ':' ? IMP_DONE : IMP_BAD;
}

/* The arguments of an event, read once. */
static imp_result scan_args(const uint8_t **place, const uint8_t *end, imp_object *args,
                            const uint8_t **args_begin, imp_value *out)
{
    const uint8_t *begin = imp_skip_space(*place, end), *at = begin + 1;
    if (begin == end || *begin != '{')
        return imp_scan_value(place, end, IMP_QUOTES_STRICT, out);
    imp_result result = imp_scan_object(&at, end, IMP_QUOTES_STRICT, args);
    *args_begin = begin;
    *out = (imp_value){.bytes = begin, .size = (size_t)(at - begin), .kind = IMP_OBJECT};
    *place = at;
    return result;
}

/* `args`: NULL, or those of an event. */
static inline imp_result scan_members(const uint8_t **place, const uint8_t *end, imp_quotes quotes,
                                      imp_object *out, imp_object *args, const uint8_t **args_begin)
{
    out->count = 0;
    for (;;) {
        *place = imp_skip_space(*place, end);
        if (*place == end)
            return IMP_MORE;
        if (**place == '}') {
            ++*place;
            return IMP_DONE;
        }
        imp_member member;
        imp_result result = imp_scan_key(place, end, &member.key);
        if (result != IMP_DONE)
            return result;
        if (args && imp_is(&member.key, "args"))
            result = scan_args(place, end, args, args_begin, &member.value);
        else
            result = imp_scan_value(place, end, quotes, &member.value);
        if (result != IMP_DONE)
            return result;
        if (out->count < IMP_MOST_MEMBERS)
            out->members[out->count++] = member;
        *place = imp_skip_space(*place, end);
        if (*place == end)
            return IMP_MORE;
        if (**place == ',')
            ++*place;
        else if (**place != '}')
            return IMP_BAD;
    }
}

imp_result imp_scan_object(const uint8_t **place, const uint8_t *end, imp_quotes quotes,
                           imp_object *out)
{
    return scan_members(place, end, quotes, out, NULL, NULL);
}

bool imp_scan_inside(const imp_value *value, imp_object *out)
{
    if (value->kind != IMP_OBJECT)
        return false;
    imp_result result = IMP_BAD;
    for (int quotes = IMP_QUOTES_STRICT; quotes <= IMP_QUOTES_LOOSE && result != IMP_DONE;
         quotes++) {
        const uint8_t *at = value->bytes + 1;
        result = imp_scan_object(&at, value->bytes + value->size, (imp_quotes)quotes, out);
    }
    return result == IMP_DONE;
}

imp_result imp_scan_event(const uint8_t **place, const uint8_t *end, imp_object *out,
                          imp_object *args, const uint8_t **args_begin)
{
    *args_begin = NULL;
    return scan_members(place, end, IMP_QUOTES_STRICT, out, args, args_begin);
}
