/* Reading values. There is one reader per type, for all texts: defaults, YAML, options and
 * arguments. Its messages say what it expected; the caller adds where the text came from. */
#include "config/value.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct unit {
    const char *name;
    uint64_t bytes;
} units[] = {
    {"B", 1},
    {"KiB", UINT64_C(1) << 10},
    {"MiB", UINT64_C(1) << 20},
    {"GiB", UINT64_C(1) << 30},
    {"TiB", UINT64_C(1) << 40},
    {"K", UINT64_C(1) << 10}, /* as in dd and head */
    {"M", UINT64_C(1) << 20},
    {"G", UINT64_C(1) << 30},
    {"T", UINT64_C(1) << 40},
    {"KB", UINT64_C(1000)},
    {"MB", UINT64_C(1000000)},
    {"GB", UINT64_C(1000000000)},
    {"TB", UINT64_C(1000000000000)},
};
#define UNIT_COUNT   (sizeof units / sizeof *units)
#define BINARY_UNITS 5 /* the first ones, which Takt prints */

void tkt_config_format_bytes(char *out, size_t capacity, uint64_t bytes)
{
    size_t unit = 0;
    while (unit + 1 < BINARY_UNITS && bytes >= units[unit + 1].bytes &&
           bytes % units[unit + 1].bytes == 0)
        unit++;
    snprintf(out, capacity, "%llu %s", (unsigned long long)(bytes / units[unit].bytes),
             units[unit].name);
}

/* ---- Single values --------------------------------------------------------------------------- */

/* Reads decimal digits and returns their end. NULL without digits, on overflow, and for a leading
 * zero, which YAML 1.1 would read as octal. */
static const char *read_digits(const char *text, uint64_t *out)
{
    uint64_t number = 0;
    if (*text < '0' || *text > '9' || (*text == '0' && text[1] >= '0' && text[1] <= '9'))
        return NULL;
    for (; *text >= '0' && *text <= '9'; text++) {
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(*text - '0'), &number))
            return NULL;
    }
    *out = number;
    return text;
}

static bool read_count(const char *text, uint64_t *out)
{
    const char *end = read_digits(text, out);
    return end && *end == '\0';
}

/* Reads an SI prefix. Returns the text after it; *out is the factor. */
static const char *read_prefix(const char *text, uint64_t *out)
{
    static const char prefixes[] = "kMGTP";
    char prefix = *text == 'K' ? 'k' : *text;
    const char *found = prefix ? strchr(prefixes, prefix) : NULL;
    *out = 1;
    for (const char *at = prefixes; found && at <= found; at++)
        *out *= 1000;
    return found ? text + 1 : text;
}

/* Reads a fraction such as ".5", of at most nine digits: `parts` of `parts_in_one`. Returns its
 * end; NULL if a dot has no digits. */
static const char *read_parts(const char *text, uint64_t *parts, uint64_t *parts_in_one)
{
    const char *at = text;
    *parts = 0;
    *parts_in_one = 1;
    if (*at != '.')
        return at;
    for (at++; *at >= '0' && *at <= '9' && at - text < 10; at++) {
        *parts = *parts * 10 + (uint64_t)(*at - '0');
        *parts_in_one *= 10;
    }
    return at - text > 1 ? at : NULL;
}

/* Multiplies *out and its fraction; false on overflow. */
static bool multiply(uint64_t *out, uint64_t parts, uint64_t parts_in_one, uint64_t factor)
{
    uint64_t more =
        parts * (factor / parts_in_one) + parts * (factor % parts_in_one) / parts_in_one;
    return !__builtin_mul_overflow(*out, factor, out) && !__builtin_add_overflow(*out, more, out);
}

/* Reads "256 MiB", "1.5 GB" or "65536". */
static bool read_bytes(const char *text, uint64_t *out)
{
    uint64_t parts, parts_in_one;
    const char *unit = read_digits(text, out);
    unit = unit ? read_parts(unit, &parts, &parts_in_one) : NULL;
    if (!unit)
        return false;
    unit += strspn(unit, " ");
    for (size_t i = 0; i < UNIT_COUNT; i++) {
        if (strcasecmp(unit, units[i].name) == 0)
            return multiply(out, parts, parts_in_one, units[i].bytes);
    }
    return *unit == '\0' && parts == 0;
}

/* Reads "67.5 T", "3350 GB/s" or "19.5 TFLOP/s". The unit is not checked against the key. */
static bool read_rate(const char *text, uint64_t *out)
{
    static const char *const rated[] = {"", "B/s", "FLOP/s", "FLOPS"};
    uint64_t parts, parts_in_one, factor;
    const char *at = read_digits(text, out);
    at = at ? read_parts(at, &parts, &parts_in_one) : NULL;
    if (!at)
        return false;
    at = read_prefix(at + strspn(at, " "), &factor);
    if (!multiply(out, parts, parts_in_one, factor))
        return false;
    for (size_t i = 0; i < sizeof rated / sizeof *rated; i++) {
        if (strcmp(at, rated[i]) == 0)
            return true;
    }
    return false;
}

bool tkt_config_read_word(const char *const *words, const char *text, uint64_t *out)
{
    for (size_t i = 0; words[i]; i++) {
        if (strcmp(words[i], text) == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

static bool read_number(const tkt_config_key *key, const char *text, uint64_t *out)
{
    bool is_on = false;
    switch (key->type) {
    case TKT_CONFIG_TYPE_SWITCH:
        if (!tkt_text_switch(text, &is_on))
            return false;
        *out = is_on;
        return true;
    case TKT_CONFIG_TYPE_COUNT:
        return read_count(text, out) && *out >= key->min && *out <= key->max;
    case TKT_CONFIG_TYPE_BYTES:
        return read_bytes(text, out) && *out >= key->min && *out <= key->max;
    case TKT_CONFIG_TYPE_RATE:
        return read_rate(text, out) && *out >= key->min && *out <= key->max;
    case TKT_CONFIG_TYPE_CHOICE:
        return tkt_config_read_word(key->words, text, out);
    default:
        return false;
    }
}

bool tkt_config_value_parse(const tkt_config_key *key, const char *text, tkt_arena *memory,
                            tkt_config_value *out, tkt_config_problem *problem)
{
    tkt_config_value value = {0};
    switch (key->type) {
    case TKT_CONFIG_TYPE_CHOICES:
    case TKT_CONFIG_TYPE_LIST:
    case TKT_CONFIG_TYPE_SWITCHES:
        return tkt_config_parse_list(key, text, memory, out, problem);
    case TKT_CONFIG_TYPE_TEXT:
        if (strlen(text) > key->max)
            return tkt_config_refuse_length(problem, key->max, strlen(text));
        if (!tkt_is_printable(text) || !key->accepts(text))
            return tkt_config_refuse_text(problem, key, text);
        value.text = tkt_arena_copy(memory, text, strlen(text));
        if (!value.text)
            return tkt_config_no_memory(problem);
        break;
    default:
        if (!read_number(key, text, &value.number))
            return tkt_config_refuse_text(problem, key, text);
    }
    *out = value;
    return true;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

bool tkt_config_value_copy(const tkt_config_value *from, tkt_arena *memory, tkt_config_value *out)
{
    tkt_config_value value = *from;
    if (from->text) {
        value.text = tkt_arena_copy(memory, from->text, strlen(from->text));
        if (!value.text)
            return false;
    }
    if (from->items) {
        value.items = tkt_arena_alloc(memory, from->count * sizeof *from->items);
        if (!value.items)
            return false;
        for (size_t i = 0; i < from->count; i++) {
            const char *name = from->items[i].name;
            value.items[i] = from->items[i];
            value.items[i].name = tkt_arena_copy(memory, name, strlen(name));
            if (!value.items[i].name)
                return false;
        }
    }
    *out = value;
    return true;
}

bool tkt_config_value_equal(const tkt_config_key *key, const tkt_config_value *a,
                            const tkt_config_value *b)
{
    if (key->type == TKT_CONFIG_TYPE_TEXT)
        return strcmp(a->text, b->text) == 0;
    if (key->type == TKT_CONFIG_TYPE_CHOICES)
        return a->number == b->number;
    if (a->number != b->number || a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        if (strcmp(a->items[i].name, b->items[i].name) != 0 ||
            a->items[i].is_on != b->items[i].is_on)
            return false;
    }
    return true;
}
