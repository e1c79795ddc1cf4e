/* Options of what compares traces. */
#include "cli/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const cli_option cli_compare_option_list[CLI_COMPARE_COUNT] = {
    [CLI_COMPARE_LIMIT] = {0, "limit", "P%", "smaller changes are none, in percent of A"},
    [CLI_COMPARE_ABSOLUTE] = {0, "absolute", "T", "nor are smaller ones than this, such as 1us"},
    [CLI_COMPARE_ALL] = {0, "all", NULL, "rows for calls into CUDA, too"},
    [CLI_COMPARE_TO] = {0, "to", "B", "with several runs a side: B's begin here, A's end"},
    [CLI_COMPARE_BY_PATH] = {0, "by-path", NULL, "scopes by what they are called from"},
};

/* A number that is not negative, and what follows it. */
static bool parse_number(const char *text, double *out, char **rest)
{
    *out = strtod(text, rest);
    return *rest != text && isfinite(*out) && *out >= 0;
}

bool cli_parse_percent(const char *text, double *out)
{
    char *rest;
    if (!parse_number(text, out, &rest) || (strcmp(rest, "%") != 0 && *rest != '\0'))
        return false;
    *out /= 100;
    return true;
}

static bool parse_time(const char *text, double *out)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    char *rest;

    if (!parse_number(text, out, &rest))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(rest, units[i].name) == 0) {
            *out *= units[i].ns;
            return true;
        }
    return *out == 0 && *rest == '\0';
}

int cli_compare_take(cli_compare_options *options, const cli_syntax *syntax, int option,
                     const char *value)
{
    switch (option) {
    case CLI_COMPARE_LIMIT:
        if (!cli_parse_percent(value, &options->limit))
            return cli_usage_error(syntax, "--limit \"%s\": expected percent, such as 5%%", value);
        break;
    case CLI_COMPARE_ABSOLUTE:
        if (!parse_time(value, &options->absolute_ns))
            return cli_usage_error(
                syntax, "--absolute \"%s\": expected a time, such as 500ns, 1us or 2ms", value);
        break;
    case CLI_COMPARE_ALL:
        options->all = true;
        break;
    case CLI_COMPARE_BY_PATH:
        options->by_path = true;
        break;
    }
    return CLI_OK;
}
