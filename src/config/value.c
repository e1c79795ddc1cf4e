/* Reading values. There is one reader per type, for all texts: defaults, YAML, options and
 * arguments. Its messages say what it expected; the caller adds where the text came from. */
#include "config/schema.h"

#include "config/config.h"

#include "base/text.h"
#include "report/request.h"

#include <stdarg.h>
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
#define UNIT_COUNT     (sizeof units / sizeof *units)
#define BINARY_UNITS   5 /* the first ones, which Takt prints */
#define LIST_SEPARATOR ','

const char *tkt_config_quote(char out[TKT_CONFIG_QUOTED], const char *text)
{
    const size_t size = strlen(text);
    const size_t limit = TKT_CONFIG_QUOTED - sizeof "'...'";
    out[0] = '\'';
    size_t shown = tkt_printable(out + 1, limit + 1, text, size);
    snprintf(out + 1 + shown, TKT_CONFIG_QUOTED - 1 - shown, "%s'", size > limit ? "..." : "");
    return out;
}

void tkt_config_format_bytes(char *out, size_t capacity, uint64_t bytes)
{
    size_t unit = 0;
    while (unit + 1 < BINARY_UNITS && bytes >= units[unit + 1].bytes &&
           bytes % units[unit + 1].bytes == 0)
        unit++;
    snprintf(out, capacity, "%llu %s", (unsigned long long)(bytes / units[unit].bytes),
             units[unit].name);
}

/* ---- Expected values ------------------------------------------------------------------------- */

/* Appends to a text of `capacity` bytes, cut to fit. */
static void append(char *out, size_t capacity, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void append(char *out, size_t capacity, const char *format, ...)
{
    size_t used = strlen(out);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(out + used, capacity - used, format, arguments);
    va_end(arguments);
}

/* Appends "trace, summary, both or flight". */
static void append_words(char *out, size_t capacity, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        append(out, capacity, "%s%s", i == 0 ? "" : words[i + 1] ? ", " : " or ", words[i]);
}

static void append_sizes(char *out, size_t capacity, const tkt_config_key *key)
{
    char min[32], max[32];
    tkt_config_format_bytes(min, sizeof min, key->min);
    tkt_config_format_bytes(max, sizeof max, key->max);
    append(out, capacity, "a size from %s to %s, such as '256 MiB'", min, max);
}

void tkt_config_expects(const tkt_config_key *key, char *out, size_t capacity)
{
    out[0] = '\0';
    switch (key->type) {
    case TKT_CONFIG_TYPE_SWITCH:
        append(out, capacity, "true or false");
        break;
    case TKT_CONFIG_TYPE_COUNT:
        append(out, capacity, "a whole number from %llu to %llu", (unsigned long long)key->min,
               (unsigned long long)key->max);
        break;
    case TKT_CONFIG_TYPE_BYTES:
        append_sizes(out, capacity, key);
        break;
    case TKT_CONFIG_TYPE_RATE:
        append(out, capacity, "an amount per second up to 1000 P, such as '67.5 T'");
        break;
    case TKT_CONFIG_TYPE_TEXT:
        append(out, capacity, "%s", key->expects);
        break;
    case TKT_CONFIG_TYPE_CHOICE:
        append_words(out, capacity, key->words);
        break;
    case TKT_CONFIG_TYPE_CHOICES:
        append(out, capacity, "a list of ");
        append_words(out, capacity, key->words);
        break;
    case TKT_CONFIG_TYPE_LIST:
        append(out, capacity, "a list, each item %s", key->expects);
        break;
    case TKT_CONFIG_TYPE_SWITCHES:
        append(out, capacity, "names that are on or off, such as {io: off}");
        break;
    }
}

bool tkt_config_refuse(tkt_config_problem *problem, const tkt_config_key *key, const char *got)
{
    char expected[128];
    tkt_config_expects(key, expected, sizeof expected);
    problem->status = TAKT_BAD_CONFIG;
    snprintf(problem->text, sizeof problem->text, "expected %s, got %s", expected, got);
    return false;
}

static bool refuse_text(tkt_config_problem *problem, const tkt_config_key *key, const char *text)
{
    char quoted[TKT_CONFIG_QUOTED];
    return tkt_config_refuse(problem, key, tkt_config_quote(quoted, text));
}

static bool refuse_length(tkt_config_problem *problem, size_t max, size_t length)
{
    problem->status = TAKT_BAD_CONFIG;
    snprintf(problem->text, sizeof problem->text, "expected at most %zu bytes, got %zu", max,
             length);
    return false;
}

static bool no_memory(tkt_config_problem *problem)
{
    problem->status = TAKT_NO_MEMORY;
    snprintf(problem->text, sizeof problem->text, "%s", takt_status_text(TAKT_NO_MEMORY));
    return false;
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

static bool read_bytes(const char *text, uint64_t *out)
{
    const char *unit = read_digits(text, out);
    if (!unit)
        return false;
    unit += strspn(unit, " ");
    if (*unit == '\0')
        return true;
    for (size_t i = 0; i < UNIT_COUNT; i++) {
        if (strcasecmp(unit, units[i].name) == 0)
            return !__builtin_mul_overflow(*out, units[i].bytes, out);
    }
    return false;
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
    if (__builtin_mul_overflow(*out, factor, out))
        return false;
    *out += parts * (factor / parts_in_one) + parts * (factor % parts_in_one) / parts_in_one;
    for (size_t i = 0; i < sizeof rated / sizeof *rated; i++) {
        if (strcmp(at, rated[i]) == 0)
            return true;
    }
    return false;
}

static bool read_word(const char *const *words, const char *text, uint64_t *out)
{
    for (size_t i = 0; words[i]; i++) {
        if (strcmp(words[i], text) == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

/* True for control characters, which a terminal might obey: C0, DEL, and C1 in UTF-8. */
static bool is_control(const char *text)
{
    unsigned char first = (unsigned char)text[0];
    return first < 0x20 || first == 0x7F || (first == 0xC2 && (unsigned char)text[1] < 0xA0);
}

/* True for valid UTF-8 without control characters: texts end up in file names, tables and log
 * lines. */
static bool is_clean(const char *text)
{
    size_t size = strlen(text);
    while (size > 0) {
        size_t length = tkt_utf8_length(text, size);
        if (length == 0 || is_control(text))
            return false;
        text += length;
        size -= length;
    }
    return true;
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
        return read_word(key->words, text, out);
    default:
        return false;
    }
}

/* ---- Lists ----------------------------------------------------------------------------------- */

/* Refuses wrong options of a known report; false if the report itself is unknown. */
static bool refuse_request(tkt_config_problem *problem, const char *item)
{
    char why[TKT_REQUEST_WHY];
    tkt_report_request request;
    if (tkt_report_request_read(&request, item, why) || !*why)
        return false;
    problem->status = TAKT_BAD_CONFIG;
    tkt_printable(problem->text, sizeof problem->text, why, strlen(why));
    return true;
}

/* Refuses an unknown name. Suggesting the nearest one helps more than listing all. */
static bool refuse_name(tkt_config_problem *problem, const tkt_config_key *key, const char *item)
{
    const char *names[TKT_CONFIG_ITEMS_MAX + 1] = {0};
    bool is_report = tkt_config_id_of(key) == TKT_CONFIG_REPORTS;
    bool is_trace = tkt_config_id_of(key) == TKT_CONFIG_TRACES;
    for (size_t i = 0; (is_report || is_trace) && i < TKT_CONFIG_ITEMS_MAX; i++) {
        names[i] = is_report ? tkt_config_report_name(i) : tkt_config_trace_name(i);
        if (!names[i])
            break;
    }
    char word[32]; /* the name without options */
    snprintf(word, sizeof word, "%.*s", is_report ? (int)strcspn(item, " ") : 31, item);
    const char *near = tkt_nearest_word(word, names);
    char quoted[TKT_CONFIG_QUOTED];
    if (is_report && refuse_request(problem, item))
        return false;
    problem->status = TAKT_BAD_CONFIG;
    if (is_trace && strcmp(item, "html") == 0)
        snprintf(problem->text, sizeof problem->text,
                 "html is no trace format: write perfetto, then run takt report --html");
    else
        snprintf(problem->text, sizeof problem->text, "expected %s, got %s%s%s%s", key->expects,
                 tkt_config_quote(quoted, item), near ? "; did you mean '" : "", near ? near : "",
                 near ? "'?" : "");
    return false;
}

static bool refuse_word(tkt_config_problem *problem, const tkt_config_key *key, const char *item)
{
    char words[96] = "";
    char quoted[TKT_CONFIG_QUOTED];
    append_words(words, sizeof words, key->words);
    problem->status = TAKT_BAD_CONFIG;
    snprintf(problem->text, sizeof problem->text, "expected %s, got %s", words,
             tkt_config_quote(quoted, item));
    return false;
}

static bool refuse_twice(tkt_config_problem *problem, const char *item)
{
    char quoted[TKT_CONFIG_QUOTED];
    problem->status = TAKT_BAD_CONFIG;
    snprintf(problem->text, sizeof problem->text, "%s appears twice",
             tkt_config_quote(quoted, item));
    return false;
}

static bool add_choice(const tkt_config_key *key, const char *item, tkt_config_value *value,
                       tkt_config_problem *problem)
{
    uint64_t index = 0;
    if (!read_word(key->words, item, &index))
        return refuse_word(problem, key, item);
    if (value->number >> index & 1)
        return refuse_twice(problem, item);
    value->number |= UINT64_C(1) << index;
    value->count++;
    return true;
}

static bool add_item(const char *item, bool is_on, tkt_arena *memory, tkt_config_value *value,
                     tkt_config_problem *problem)
{
    for (size_t i = 0; i < value->count; i++) {
        if (strcmp(value->items[i].name, item) == 0)
            return refuse_twice(problem, item);
    }
    if (value->count == TKT_CONFIG_ITEMS_MAX) {
        problem->status = TAKT_BAD_CONFIG;
        snprintf(problem->text, sizeof problem->text, "expected at most %d items",
                 TKT_CONFIG_ITEMS_MAX);
        return false;
    }
    if (!value->items)
        value->items = tkt_arena_alloc(memory, TKT_CONFIG_ITEMS_MAX * sizeof *value->items);
    char *name = value->items ? tkt_arena_copy(memory, item, strlen(item)) : NULL;
    if (!name)
        return no_memory(problem);
    value->items[value->count++] = (takt_category_switch){.name = name, .is_on = is_on};
    return true;
}

bool tkt_config_value_add(const tkt_config_key *key, const char *item, const char *state,
                          tkt_arena *memory, tkt_config_value *value, tkt_config_problem *problem)
{
    bool is_on = true;
    if (key->type == TKT_CONFIG_TYPE_CHOICES)
        return add_choice(key, item, value, problem);
    if (strlen(item) > TKT_CONFIG_ITEM_BYTES)
        return refuse_length(problem, TKT_CONFIG_ITEM_BYTES, strlen(item));
    if (key->type == TKT_CONFIG_TYPE_LIST && (!is_clean(item) || !key->accepts(item)))
        return refuse_name(problem, key, item);
    if (key->type == TKT_CONFIG_TYPE_SWITCHES) {
        if (*item == '\0' || !is_clean(item) || !state)
            return refuse_text(problem, key, item);
        if (!tkt_text_switch(state, &is_on))
            return refuse_text(problem, key, state);
    }
    return add_item(item, is_on, memory, value, problem);
}

bool tkt_config_value_check(const tkt_config_key *key, const tkt_config_value *value,
                            tkt_config_problem *problem)
{
    return value->count >= key->min || tkt_config_refuse(problem, key, "an empty list");
}

/* Returns the text from `begin` to `end` without blanks around it, NUL-terminated in place. */
static char *trim(char *begin, char *end)
{
    while (begin < end && *begin == ' ')
        begin++;
    while (begin < end && end[-1] == ' ')
        end--;
    *end = '\0';
    return begin;
}

/* Cuts the first item out of a list; NULL at the end. */
static char *cut_item(char **rest)
{
    char *item = *rest;
    if (!item)
        return NULL;
    char *comma = strchr(item, LIST_SEPARATOR);
    *rest = comma ? comma + 1 : NULL;
    return trim(item, comma ? comma : item + strlen(item));
}

/* Cuts "io:off" at the last colon and returns the state; NULL without a colon. */
static char *cut_state(char *item)
{
    char *colon = strrchr(item, ':');
    if (!colon)
        return NULL;
    trim(item, colon);
    return trim(colon + 1, colon + strlen(colon + 1) + 1);
}

static bool parse_list(const tkt_config_key *key, const char *text, tkt_arena *memory,
                       tkt_config_value *out, tkt_config_problem *problem)
{
    bool is_switches = key->type == TKT_CONFIG_TYPE_SWITCHES;
    tkt_config_value value = {0};
    char *rest = tkt_arena_copy(memory, text, strlen(text));
    if (!rest)
        return no_memory(problem);
    if (text[strspn(text, " ")] == '\0')
        rest = NULL;
    for (char *item = cut_item(&rest); item; item = cut_item(&rest)) {
        const char *state = is_switches ? cut_state(item) : NULL;
        if (!tkt_config_value_add(key, item, state, memory, &value, problem))
            return false;
    }
    if (!tkt_config_value_check(key, &value, problem))
        return false;
    *out = value;
    return true;
}

bool tkt_config_value_parse(const tkt_config_key *key, const char *text, tkt_arena *memory,
                            tkt_config_value *out, tkt_config_problem *problem)
{
    tkt_config_value value = {0};
    switch (key->type) {
    case TKT_CONFIG_TYPE_CHOICES:
    case TKT_CONFIG_TYPE_LIST:
    case TKT_CONFIG_TYPE_SWITCHES:
        return parse_list(key, text, memory, out, problem);
    case TKT_CONFIG_TYPE_TEXT:
        if (strlen(text) > key->max)
            return refuse_length(problem, key->max, strlen(text));
        if (!is_clean(text) || !key->accepts(text))
            return refuse_text(problem, key, text);
        value.text = tkt_arena_copy(memory, text, strlen(text));
        if (!value.text)
            return no_memory(problem);
        break;
    default:
        if (!read_number(key, text, &value.number))
            return refuse_text(problem, key, text);
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
