/* Why a text is no value of a key: what was expected, and what to write instead. */
#include "config/value.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

const char *tkt_config_quote(char out[TKT_CONFIG_QUOTED], const char *text)
{
    const size_t size = strlen(text);
    const size_t limit = TKT_CONFIG_QUOTED - sizeof "'...'";
    out[0] = '\'';
    size_t shown = tkt_printable(out + 1, limit + 1, text, size);
    snprintf(out + 1 + shown, TKT_CONFIG_QUOTED - 1 - shown, "%s'", size > limit ? "..." : "");
    return out;
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
void tkt_config_append_words(char *out, size_t capacity, const char *const *words)
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
        tkt_config_append_words(out, capacity, key->words);
        break;
    case TKT_CONFIG_TYPE_CHOICES:
        append(out, capacity, "a list of ");
        tkt_config_append_words(out, capacity, key->words);
        break;
    case TKT_CONFIG_TYPE_LIST:
        append(out, capacity, "a list, each item %s", key->expects);
        break;
    case TKT_CONFIG_TYPE_SWITCHES:
        append(out, capacity, "names that are on or off, such as {io: off}");
        break;
    }
}

/* ---- What to write instead ------------------------------------------------------------------- */

/* "1,000", "007", "3 steps" and "5," contain one number. "1e3", "2.5" and "-1" do not. */
static void advise_count(const tkt_config_key *key, const char *text, char *out, size_t capacity)
{
    char digits[24];
    size_t used = 0;
    const char *at = text + strspn(text, "0");
    for (; *at != '\0' && strchr("0123456789,_", *at) && used + 1 < sizeof digits; at++) {
        if (*at != ',' && *at != '_')
            digits[used++] = *at;
    }
    bool has_more = strlen(text) > used;
    bool is_ms = tkt_has_ending(key->name, strlen(key->name), "_ms");
    at += strspn(at, " ");
    if (used > 0 && is_ms && strcmp(at, "s") == 0) {
        snprintf(out, capacity, "; write milliseconds: %.*s000", (int)used, digits);
        return;
    }
    if (used > 0 && has_more && (*at == '\0' || !strchr(".eExX", *at)))
        snprintf(out, capacity, "; write the number alone: %.*s", (int)used, digits);
}

static void advise_unit(const tkt_config_key *key, const char *text, char *out, size_t capacity)
{
    size_t digits = strspn(text, "0123456789.");
    bool is_bytes = key->type == TKT_CONFIG_TYPE_BYTES;
    if (digits > 0 && digits < 12 && text[digits] == '\0' && is_bytes)
        snprintf(out, capacity, "; with a unit: '%s MiB'?", text);
    else if (digits > 0 && text[digits] != '\0')
        snprintf(out, capacity, "; units are %s",
                 is_bytes ? "B, KiB, MiB, GiB, TiB, KB, MB, GB and TB" : "k, M, G, T and P");
}

static void advise_word(const char *const *words, const char *text, char *out, size_t capacity)
{
    bool is_gpu = strcasecmp(text, "gpu") == 0; /* not "cpu", which is nearer */
    const char *near = is_gpu ? "cuda" : tkt_nearest_word(text, words);
    if (near)
        snprintf(out, capacity, "; did you mean '%s'?", near);
    else if (strchr(text, ' '))
        snprintf(out, capacity, "; commas separate words: [a, b]");
}

static void advise_switch(const char *text, char *out, size_t capacity)
{
    static const char *const words[] = {"true", "false", "yes", "no", "on", "off", NULL};
    if (strcmp(text, "0") == 0 || strcmp(text, "1") == 0)
        snprintf(out, capacity, "; did you mean '%s'?", *text == '1' ? "true" : "false");
    else
        advise_word(words, text, out, capacity);
}

void tkt_config_advise(const tkt_config_key *key, const char *text, char *out, size_t capacity)
{
    const char *unknown;
    out[0] = '\0';
    if (*text != '\0' && strchr(text + 1, '#'))
        snprintf(out, capacity, "; a comment needs a blank before '#'");
    else if (*text != '\0' && text[strlen(text) - 1] == ',')
        snprintf(out, capacity, "; leave out the comma");
    else if (tkt_config_id_of(key) == TKT_CONFIG_DIRECTORY &&
             (unknown = tkt_config_unknown_placeholder(text)))
        snprintf(out, capacity, "; there is no %.*s", (int)strcspn(unknown, "}") + 1, unknown);
    else if (key->type == TKT_CONFIG_TYPE_SWITCH)
        advise_switch(text, out, capacity);
    else if (key->type == TKT_CONFIG_TYPE_COUNT)
        advise_count(key, text, out, capacity);
    else if (key->type == TKT_CONFIG_TYPE_BYTES || key->type == TKT_CONFIG_TYPE_RATE)
        advise_unit(key, text, out, capacity);
    else if (key->words)
        advise_word(key->words, text, out, capacity);
    else if (key->type == TKT_CONFIG_TYPE_LIST && *text == '-')
        snprintf(out, capacity, "; an item needs a blank behind its '-'");
    else if (key->type == TKT_CONFIG_TYPE_LIST && strchr(text, ' '))
        snprintf(out, capacity, "; commas separate items: [a, b]");
    else if (key->type == TKT_CONFIG_TYPE_TEXT && !tkt_is_printable(text))
        snprintf(out, capacity, "; a '\\' needs single quotes");
}

/* ---- Problems -------------------------------------------------------------------------------- */

bool tkt_config_refuse(tkt_config_problem *problem, const tkt_config_key *key, const char *got)
{
    char expected[128];
    tkt_config_expects(key, expected, sizeof expected);
    problem->status = TAKT_BAD_CONFIG;
    snprintf(problem->text, sizeof problem->text, "expected %s, got %s", expected, got);
    return false;
}

bool tkt_config_refuse_text(tkt_config_problem *problem, const tkt_config_key *key,
                            const char *text)
{
    char got[TKT_CONFIG_QUOTED + TKT_CONFIG_ADVICE];
    tkt_config_quote(got, text);
    tkt_config_advise(key, text, got + strlen(got), TKT_CONFIG_ADVICE);
    return tkt_config_refuse(problem, key, got);
}

bool tkt_config_refuse_length(tkt_config_problem *problem, size_t max, size_t length)
{
    problem->status = TAKT_BAD_CONFIG;
    snprintf(problem->text, sizeof problem->text, "expected at most %zu bytes, got %zu", max,
             length);
    return false;
}

bool tkt_config_no_memory(tkt_config_problem *problem)
{
    problem->status = TAKT_NO_MEMORY;
    snprintf(problem->text, sizeof problem->text, "%s", takt_status_text(TAKT_NO_MEMORY));
    return false;
}
