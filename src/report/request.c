/* A report and its options as one text, "kernels rows=20 sort=total", as configurations and the
 * profiler's options have it. */
#include "report/request.h"

#include "base/text.h"
#include "report/show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_FRAMES 128
#define MOST_WIDTH  10000
#define MOST_ROWS   1000000000

static const char *const names[] = {"all",  "by_arguments", "by_stack", "full_names", "rows",
                                    "sort", "with_flops",   "width",    NULL};

enum {
    ALL,
    BY_ARGUMENTS,
    BY_STACK,
    FULL_NAMES,
    ROWS,
    SORT,
    WITH_FLOPS,
    WIDTH,
    OPTION_COUNT
};

/* The reports that take an option; none: all do. */
static const char *const takers[OPTION_COUNT][2] = {[ALL] = {"scopes", "tree"},
                                                    [BY_ARGUMENTS] = {"scopes", "kernels"},
                                                    [BY_STACK] = {"scopes"},
                                                    [WITH_FLOPS] = {"scopes"}};

_Static_assert(sizeof names / sizeof *names == OPTION_COUNT + 1, "a name for each option");

/* Text for messages, cut to fit. */
#define SHOWN 40

/* An option without a value is switched on. */
static bool read_switch(const char *value, bool *out)
{
    *out = true;
    return *value == '\0' || tkt_text_switch(value, out);
}

static bool read_number(const char *value, long most, long *out)
{
    char *end;
    *out = strtol(value, &end, 10);
    return *value >= '0' && *value <= '9' && *end == '\0' && *out >= 1 && *out <= most;
}

/* "-column" sorts the other way. */
static bool read_sort(tkt_report_request *request, const char *value)
{
    const char *key = tkt_report_column(request->name, value + (*value == '-'));
    if (!key)
        return false;
    snprintf(request->sort, sizeof request->sort, "%s%s", *value == '-' ? "-" : "", key);
    request->options.sort = request->sort;
    return true;
}

/* Returns what the option takes, if it does not take this value; otherwise NULL. */
static const char *set_option(tkt_report_request *request, size_t option, const char *value)
{
    takt_report_options *options = &request->options;
    long number = 0;
    switch (option) {
    case ALL:
        return read_switch(value, &options->all) ? NULL : "true or false";
    case BY_ARGUMENTS:
        return read_switch(value, &options->by_arguments) ? NULL : "true or false";
    case FULL_NAMES:
        return read_switch(value, &options->full_names) ? NULL : "true or false";
    case WITH_FLOPS:
        return read_switch(value, &options->with_flops) ? NULL : "true or false";
    case BY_STACK:
        if (!read_number(value, MOST_FRAMES, &number))
            return "a number of frames from 1 to 128";
        options->by_stack = (uint32_t)number;
        return NULL;
    case ROWS:
        if (strcmp(value, "all") != 0 && !read_number(value, MOST_ROWS, &number))
            return "a number of rows from 1, or all";
        options->rows = number > 0 ? number : -1;
        return NULL;
    case WIDTH:
        if (!read_number(value, MOST_WIDTH, &number))
            return "a number of columns from 1 to 10000";
        options->width = (uint32_t)number;
        return NULL;
    default:
        return read_sort(request, value) ? NULL : "one of its columns, named as in the table or in JSON";
    }
}

static size_t find_option(const char *name)
{
    size_t option = 0;
    while (option < OPTION_COUNT && strcmp(names[option], name) != 0)
        option++;
    return option;
}

static bool is_taken(const char *report, const char *const of[2])
{
    return !of[0] || strcmp(of[0], report) == 0 || (of[1] && strcmp(of[1], report) == 0);
}

/* Reads "rows=20" or "all". */
static bool read_option(tkt_report_request *request, char *word, char why[TKT_REQUEST_WHY])
{
    char *equals = strchr(word, '=');
    if (equals)
        *equals = '\0';
    size_t option = find_option(word);
    if (option == OPTION_COUNT) {
        const char *near = tkt_nearest_word(word, names);
        snprintf(why, TKT_REQUEST_WHY, "%s: unknown option '%.*s'%s%s%s", request->name, SHOWN,
                 word, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
        return false;
    }
    const char *const *of = takers[option];
    if (!is_taken(request->name, of)) {
        snprintf(why, TKT_REQUEST_WHY, "%s: %s is an option of %s%s%s only", request->name, word,
                 of[0], of[1] ? " and " : "", of[1] ? of[1] : "");
        return false;
    }
    const char *value = equals ? equals + 1 : "";
    const char *expected = set_option(request, option, value);
    if (expected)
        snprintf(why, TKT_REQUEST_WHY, "%s: %s: expected %s, got '%.*s'", request->name,
                 names[option], expected, SHOWN, value);
    return !expected;
}

bool tkt_report_request_read(tkt_report_request *request, const char *text,
                             char why[TKT_REQUEST_WHY])
{
    char copy[TKT_REQUEST_BYTES];
    char *rest = NULL;
    *request = (tkt_report_request){.options = TAKT_REPORT_OPTIONS_INIT};
    why[0] = '\0';
    if (strlen(text) >= sizeof copy) {
        snprintf(why, TKT_REQUEST_WHY, "'%.*s...' has more than %d bytes", SHOWN, text,
                 TKT_REQUEST_BYTES - 1);
        return false;
    }
    strcpy(copy, text);
    char *word = strtok_r(copy, " ", &rest);
    if (!word)
        return false;
    request->name = tkt_report_known(word);
    if (!request->name)
        return false;
    while ((word = strtok_r(NULL, " ", &rest)))
        if (!read_option(request, word, why))
            return false;
    return true;
}
