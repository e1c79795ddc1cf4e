/* Reading lists: choices, names, and switches, item by item or from one text. */
#include "config/value.h"

#include "base/text.h"
#include "config/config.h"
#include "export/formats.h"
#include "report/request.h"

#include <stdio.h>
#include <string.h>

#define LIST_SEPARATOR ','

/* Refuses wrong options of a known report; false if the report itself is unknown. */
static bool refuse_request(tkt_config_problem *problem, const char *item)
{
    char why[TKT_REQUEST_WHY];
    tkt_report_request request;
    if (tkt_report_request_read(&request, item, why) || !*why)
        return false;
    problem->status = TAKT_BAD_CONFIG;
    size_t used = tkt_printable(problem->text, sizeof problem->text, why, strlen(why));
    const char *advice = strstr(item, " - ")  ? "; begin each '- ' in the same column"
                         : !strchr(item, '=') ? "; commas separate reports"
                                              : "";
    snprintf(problem->text + used, sizeof problem->text - used, "%s", advice);
    return true;
}

#define NAME(word, name, description) " " name
#define FORMATS                       "; the formats:" TKT_FORMATS(NAME)

/* Refuses an unknown name. Suggesting the nearest one helps more than listing all formats; the
 * reports are too many to list. */
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
    char advice[TKT_CONFIG_ADVICE];
    if (is_report && refuse_request(problem, item))
        return false;
    if (near && *item != '-')
        snprintf(advice, sizeof advice, "; did you mean '%s'?", near);
    else
        tkt_config_advise(key, item, advice, sizeof advice);
    problem->status = TAKT_BAD_CONFIG;
    if (is_trace && strcmp(item, "html") == 0)
        snprintf(problem->text, sizeof problem->text,
                 "html is no trace format: write perfetto, then run takt report --html");
    else
        snprintf(problem->text, sizeof problem->text, "expected %s, got %s%s", key->expects,
                 tkt_config_quote(quoted, item), is_trace && !*advice ? FORMATS : advice);
    return false;
}

static bool refuse_word(tkt_config_problem *problem, const tkt_config_key *key, const char *item)
{
    char words[96] = "";
    char quoted[TKT_CONFIG_QUOTED];
    char advice[TKT_CONFIG_ADVICE];
    tkt_config_append_words(words, sizeof words, key->words);
    tkt_config_advise(key, item, advice, sizeof advice);
    problem->status = TAKT_BAD_CONFIG;
    snprintf(problem->text, sizeof problem->text, "expected %s, got %s%s", words,
             tkt_config_quote(quoted, item), advice);
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
    if (!tkt_config_read_word(key->words, item, &index))
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
        return tkt_config_no_memory(problem);
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
        return tkt_config_refuse_length(problem, TKT_CONFIG_ITEM_BYTES, strlen(item));
    if (key->type == TKT_CONFIG_TYPE_LIST && (!tkt_is_printable(item) || !key->accepts(item)))
        return refuse_name(problem, key, item);
    if (key->type == TKT_CONFIG_TYPE_SWITCHES) {
        if (*item == '\0' || !tkt_is_printable(item) || !state)
            return tkt_config_refuse_text(problem, key, item);
        if (!tkt_text_switch(state, &is_on))
            return tkt_config_refuse_text(problem, key, state);
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

bool tkt_config_parse_list(const tkt_config_key *key, const char *text, tkt_arena *memory,
                           tkt_config_value *out, tkt_config_problem *problem)
{
    bool is_switches = key->type == TKT_CONFIG_TYPE_SWITCHES;
    tkt_config_value value = {0};
    char *rest = tkt_arena_copy(memory, text, strlen(text));
    if (!rest)
        return tkt_config_no_memory(problem);
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
