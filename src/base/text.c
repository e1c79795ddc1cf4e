/* Text made safe for output, and numbers as text. */
#include "base/text.h"

#include <string.h>
#include <strings.h>

/* ======== Texts ======== */

/* Names come from sources, compilers, drivers and files, so they may contain any bytes; JSON,
 * terminals and trace viewers each refuse some. Each invalid byte becomes one U+FFFD, so the rest
 * of a damaged name stays readable. */

#define REPLACEMENT  "\xEF\xBF\xBD" /* U+FFFD */
#define LONGEST_WORD 255

static bool is_tail(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

/* The second byte excludes overlong forms, surrogates and codes beyond Unicode: RFC 3629, section
 * 4. */
static bool second_is_valid(unsigned char first, unsigned char second)
{
    switch (first) {
    case 0xE0:
        return second >= 0xA0 && second <= 0xBF;
    case 0xED:
        return second >= 0x80 && second <= 0x9F;
    case 0xF0:
        return second >= 0x90 && second <= 0xBF;
    case 0xF4:
        return second >= 0x80 && second <= 0x8F;
    default:
        return second >= 0x80 && second <= 0xBF;
    }
}

/* 0 for bytes that cannot begin a character. */
static size_t length_by_first(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first < 0xC2)
        return 0;
    if (first < 0xE0)
        return 2;
    if (first < 0xF0)
        return 3;
    return first < 0xF5 ? 4 : 0;
}

size_t tkt_utf8_length(const char *text, size_t size)
{
    if (size == 0)
        return 0;
    size_t length = length_by_first((unsigned char)text[0]);
    if (length <= 1)
        return length;
    if (length > size || !second_is_valid((unsigned char)text[0], (unsigned char)text[1]))
        return 0;
    for (size_t i = 2; i < length; i++) {
        if (!is_tail(text[i]))
            return 0;
    }
    return length;
}

typedef struct code_range {
    uint32_t first;
    uint32_t last;
} code_range;

/* Characters that control a terminal: C0, DEL and C1; the marks and overrides that change the
 * direction of the text after them (UAX #9); separators of lines and paragraphs. */
static const code_range controls[] = {
    {0x0000, 0x001F}, {0x007F, 0x009F}, {0x061C, 0x061C},
    {0x200E, 0x200F}, {0x2028, 0x202E}, {0x2066, 0x2069},
};

static bool is_within(const code_range *ranges, size_t count, uint32_t code)
{
    for (size_t i = 0; i < count; i++) {
        if (code >= ranges[i].first && code <= ranges[i].last)
            return true;
    }
    return false;
}

/* The code of a valid character of `length` bytes. */
static uint32_t code_of(const char *text, size_t length)
{
    static const unsigned char first_mask[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t code = (unsigned char)text[0] & first_mask[length];
    for (size_t i = 1; i < length; i++)
        code = code << 6 | ((unsigned char)text[i] & 0x3F);
    return code;
}

static bool is_control(const char *text, size_t length)
{
    return is_within(controls, sizeof controls / sizeof *controls, code_of(text, length));
}

static size_t clean(char *out, size_t capacity, const char *text, size_t size, bool for_people)
{
    if (capacity == 0)
        return 0;
    size_t written = 0;
    size_t step = 0;
    for (size_t at = 0; at < size; at += step) {
        const char *from = text + at;
        size_t length = step = tkt_utf8_length(from, size - at);
        if (length == 0) {
            from = REPLACEMENT;
            length = sizeof REPLACEMENT - 1;
            step = 1;
        } else if (for_people && is_control(from, length)) {
            from = "?";
            length = 1;
        }
        if (length >= capacity - written)
            break;
        memcpy(out + written, from, length);
        written += length;
    }
    out[written] = 0;
    return written;
}

size_t tkt_utf8_clean(char *out, size_t capacity, const char *text, size_t size)
{
    return clean(out, capacity, text, size, false);
}

size_t tkt_printable(char *out, size_t capacity, const char *text, size_t size)
{
    return clean(out, capacity, text, size, true);
}

bool tkt_is_printable(const char *text)
{
    for (size_t size = strlen(text), length; size > 0; size -= length, text += length) {
        length = tkt_utf8_length(text, size);
        if (length == 0 || is_control(text, length))
            return false;
    }
    return true;
}

void tkt_text_end(char *out, size_t capacity, size_t length)
{
    size_t end = length;
    if (end >= capacity) {
        size_t dots = capacity > 4 ? 3 : 0;
        end = capacity > 4 ? capacity - 4 : 0;
        while (end && ((unsigned char)out[end] & 0xC0u) == 0x80)
            end--;
        memset(out + end, '.', dots);
        end += dots;
    }
    out[end] = '\0';
}

/* The C library's wcwidth() depends on the host's locale. These are the blocks that occur in names,
 * from Unicode's DerivedGeneralCategory (Mn, Me, Cf) and EastAsianWidth (W, F). */
static const code_range zero_columns[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x064B, 0x065F},   {0x0E31, 0x0E31},
    {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},   {0x200B, 0x200F},
    {0x202A, 0x202E}, {0x2060, 0x2064}, {0x20D0, 0x20F0}, {0x302A, 0x302D},   {0x3099, 0x309A},
    {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0xE0100, 0xE01EF},
};
static const code_range two_columns[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x23E9, 0x23EC},   {0x23F0, 0x23F0},
    {0x23F3, 0x23F3},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267F, 0x267F},
    {0x2693, 0x2693},   {0x26A1, 0x26A1},   {0x26BD, 0x26BE},   {0x26D4, 0x26D4},
    {0x2705, 0x2705},   {0x270A, 0x270B},   {0x2728, 0x2728},   {0x274C, 0x274C},
    {0x274E, 0x274E},   {0x2753, 0x2755},   {0x2757, 0x2757},   {0x2795, 0x2797},
    {0x27B0, 0x27B0},   {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2B55, 0x2B55},
    {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},   {0x4E00, 0xA4CF},
    {0xA960, 0xA97C},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
    {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF},
    {0x1F7E0, 0x1F7EB}, {0x1F900, 0x1F9FF}, {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD},
};

static size_t columns_of(uint32_t code)
{
    if (code < zero_columns[0].first)
        return 1;
    if (is_within(zero_columns, sizeof zero_columns / sizeof *zero_columns, code))
        return 0;
    return is_within(two_columns, sizeof two_columns / sizeof *two_columns, code) ? 2 : 1;
}

size_t tkt_text_columns(const char *text)
{
    size_t columns = 0;
    size_t size = strlen(text);
    while (size > 0) {
        size_t length = tkt_utf8_length(text, size);
        columns += length ? columns_of(code_of(text, length)) : 1;
        length += length == 0;
        text += length;
        size -= length;
    }
    return columns;
}

/* The character after the backslash: 'u' stands for four hexadecimal digits, 0 for characters that
 * need no escape. */
static const char json_short[128] = {
    [0] = 'u',  [1] = 'u',    [2] = 'u',    [3] = 'u',    [4] = 'u',   [5] = 'u',     [6] = 'u',
    [7] = 'u',  ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', [11] = 'u',  ['\f'] = 'f',  ['\r'] = 'r',
    [14] = 'u', [15] = 'u',   [16] = 'u',   [17] = 'u',   [18] = 'u',  [19] = 'u',    [20] = 'u',
    [21] = 'u', [22] = 'u',   [23] = 'u',   [24] = 'u',   [25] = 'u',  [26] = 'u',    [27] = 'u',
    [28] = 'u', [29] = 'u',   [30] = 'u',   [31] = 'u',   ['"'] = '"', ['\\'] = '\\', [127] = 'u',
};

#define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Not 0 if any byte of the word is zero; exact for bytes below 0x80. */
static uint64_t has_zero(uint64_t word)
{
    return (word - EACH_BYTE(1)) & ~word & EACH_BYTE(0x80);
}

/* True if eight bytes are ASCII that needs no escape. The borrow of the first difference may make
 * plain bytes look special, which only costs time. */
static bool is_plain(uint64_t word)
{
    uint64_t special = (word - EACH_BYTE(0x20)) | word;
    special |= has_zero(word ^ EACH_BYTE('"')) | has_zero(word ^ EACH_BYTE('\\'));
    special |= has_zero(word ^ EACH_BYTE(127));
    return (special & EACH_BYTE(0x80)) == 0;
}

static char *escape_code(char *out, uint32_t code)
{
    *out++ = '\\';
    *out++ = 'u';
    for (int shift = 12; shift >= 0; shift -= 4)
        *out++ = "0123456789abcdef"[code >> shift & 15];
    return out;
}

static char *escape_ascii(char *out, unsigned char byte)
{
    char escape = json_short[byte];
    if (escape == 'u')
        return escape_code(out, byte);
    if (escape)
        *out++ = '\\';
    *out++ = escape ? escape : (char)byte;
    return out;
}

/* Escapes one character. Returns the end, and moves *at past the character. */
static char *escape_one(char *out, const char *text, size_t size, size_t *at)
{
    unsigned char first = (unsigned char)text[*at];
    if (first < 0x80) {
        (*at)++;
        return escape_ascii(out, first);
    }
    size_t length = tkt_utf8_length(text + *at, size - *at);
    if (length == 0) {
        (*at)++;
        memcpy(out, REPLACEMENT, sizeof REPLACEMENT - 1);
        return out + sizeof REPLACEMENT - 1;
    }
    const char *from = text + *at;
    *at += length;
    if (is_control(from, length))
        return escape_code(out, code_of(from, length));
    memcpy(out, from, length);
    return out + length;
}

char *tkt_json_escape(char *out, const char *text, size_t size)
{
    size_t at = 0;
    while (at < size) {
        uint64_t word;
        if (size - at >= sizeof word) {
            memcpy(&word, text + at, sizeof word);
            if (is_plain(word)) {
                memcpy(out, &word, sizeof word);
                out += sizeof word;
                at += sizeof word;
                continue;
            }
        }
        out = escape_one(out, text, size, &at);
    }
    return out;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Computes one row of the Wagner-Fischer table in place. Returns its smallest entry. */
static size_t next_row(size_t *row, char letter, const char *b, size_t b_size)
{
    size_t diagonal = row[0];
    size_t least = ++row[0];
    for (size_t j = 1; j <= b_size; j++) {
        size_t replaced = diagonal + (b[j - 1] != letter);
        diagonal = row[j];
        row[j] = smaller(replaced, smaller(row[j - 1], row[j]) + 1);
        least = smaller(least, row[j]);
    }
    return least;
}

/* For messages; cold: the file is compiled for speed, but this for size. */
__attribute__((cold)) size_t tkt_edit_distance(const char *a, const char *b, size_t limit)
{
    if (strcmp(a, b) == 0)
        return 0;
    size_t a_size = strlen(a);
    size_t b_size = strlen(b);
    size_t difference = a_size > b_size ? a_size - b_size : b_size - a_size;
    if (difference > limit || a_size > LONGEST_WORD || b_size > LONGEST_WORD)
        return limit + 1;
    size_t row[LONGEST_WORD + 1];
    for (size_t j = 0; j <= b_size; j++)
        row[j] = j;
    for (size_t i = 0; i < a_size; i++) {
        if (next_row(row, a[i], b, b_size) > limit)
            return limit + 1;
    }
    return smaller(row[b_size], limit + 1);
}

/* ======== Decimal numbers ======== */

/* Decimal numbers without printf, two digits at a time. Exports are mostly numbers, and printf
 * takes ten times as long. */

const char tkt_two_digits[] = "00010203040506070809101112131415161718192021222324"
                              "25262728293031323334353637383940414243444546474849"
                              "50515253545556575859606162636465666768697071727374"
                              "75767778798081828384858687888990919293949596979899";

static void put_pair(char *out, unsigned value)
{
    memcpy(out, tkt_two_digits + (size_t)value * 2, 2);
}

#define FOUR_POWERS(first) (first), (first)*10, (first)*100, (first)*1000

/* 1233 / 4096 is slightly more than log10(2): the product is the number of digits, or one less. */
static unsigned count_digits(uint64_t value)
{
    static const uint64_t powers[] = {0,
                                      10,
                                      100,
                                      1000,
                                      FOUR_POWERS(UINT64_C(10000)),
                                      FOUR_POWERS(UINT64_C(100000000)),
                                      FOUR_POWERS(UINT64_C(1000000000000)),
                                      FOUR_POWERS(UINT64_C(10000000000000000))};
    unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1);
    unsigned least = bits * 1233 >> 12;
    return least + (value >= powers[least]);
}

char *tkt_put_u64(char *out, uint64_t value)
{
    char *end = out + count_digits(value), *at = end;
    for (; value >= 10000; value /= 10000) {
        unsigned four = (unsigned)(value % 10000);
        at -= 4;
        put_pair(at, four / 100);
        put_pair(at + 2, four % 100);
    }
    unsigned rest = (unsigned)value;
    if (rest >= 100) {
        put_pair(at -= 2, rest % 100);
        rest /= 100;
    }
    if (rest >= 10)
        put_pair(at - 2, rest);
    else
        at[-1] = (char)('0' + rest);
    return end;
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
    put_pair(out, rest % 100);
    return out + 2;
}

const char *tkt_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool tkt_is_formula(const char *text)
{
    return *text && strchr("=+-@\t\r", *text);
}

bool tkt_begins_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

bool tkt_has_ending(const char *name, size_t size, const char *ending)
{
    size_t length = strlen(ending);
    return size > length && memcmp(name + size - length, ending, length) == 0;
}

bool tkt_text_switch(const char *text, bool *out)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcasecmp(text, words[i]) == 0) {
            *out = i % 2 != 0;
            return true;
        }
    }
    return false;
}

/* Returns how many edits a misspelling may have; two swapped letters count as two. */
static size_t reach(const char *word)
{
    size_t length = strlen(word);
    return length < 4 ? 1 : length < 9 ? 2 : length <= 64 ? 3 : 0;
}

__attribute__((cold)) static const char *similar_word(const char *word, const char *const *words)
{
    const char *nearest = NULL;
    size_t best = reach(word);
    if (best == 0)
        return NULL;
    for (; *words; words++) {
        size_t distance = tkt_edit_distance(word, *words, best);
        if (distance <= best && !(nearest && distance == best)) {
            nearest = *words;
            best = distance;
        }
    }
    return nearest;
}

/* Returns the only word that begins with `word`; NULL if there are several. */
static const char *only_longer_word(const char *word, const char *const *words)
{
    const char *longer = NULL;
    for (; *words; words++) {
        if (!tkt_begins_with(*words, word))
            continue;
        if (longer)
            return NULL;
        longer = *words;
    }
    return longer;
}

__attribute__((cold)) const char *tkt_nearest_word(const char *word, const char *const *words)
{
    const char *similar = similar_word(word, words);
    return similar || strlen(word) < 3 ? similar : only_longer_word(word, words);
}
