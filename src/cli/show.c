/* Options of tables: format, order, size, colour. */
#include "cli/show.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    WIDEST = 10000,
    SILENT_TERMINAL = 80,
    USUAL_WIDTH = 160
};

const cli_option cli_show_options[CLI_SHOW_COUNT] = {
    [CLI_SHOW_JSON] = {0, "json", NULL, "as JSON; several tables become one array"},
    [CLI_SHOW_CSV] = {0, "csv", NULL, "as comma-separated values"},
    [CLI_SHOW_MARKDOWN] = {0, "markdown", NULL, "as Markdown"},
    [CLI_SHOW_SORT] = {0, "sort", "COLUMN", "sorts by a column, named as --json names it"},
    [CLI_SHOW_ROWS] = {0, "rows", "N", "at most N rows; \"all\" for all of them"},
    [CLI_SHOW_WIDTH] = {0, "width", "N", "columns of text; else the terminal's, or 160"},
    [CLI_SHOW_FULL_NAMES] = {0, "full-names", NULL, "does not shorten names"},
    [CLI_SHOW_COLOR] = {0, "color", "WHEN", "auto, always or never; auto heeds NO_COLOR"},
};

static int bad_value(const cli_syntax *syntax, int option, const char *value)
{
    static const char *const expected[CLI_SHOW_COUNT] = {
        [CLI_SHOW_SORT] = "the name of a column",
        [CLI_SHOW_ROWS] = "a number from 1 on, or all",
        [CLI_SHOW_WIDTH] = "a number of columns, from 1 to 10000",
        [CLI_SHOW_COLOR] = "auto, always or never",
    };
    return cli_usage_error(syntax, "--%s \"%s\": expected %s", cli_show_options[option].name, value,
                           expected[option]);
}

static bool parse_color(const char *text, cli_color *out)
{
    static const char *const names[] = {"auto", "always", "never"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i]) == 0) {
            *out = (cli_color)i;
            return true;
        }
    return false;
}

static bool take_value(cli_show *show, int option, const char *value)
{
    long number = -1;

    switch (option) {
    case CLI_SHOW_SORT:
        show->options.sort = value;
        return value[0] != '\0';
    case CLI_SHOW_ROWS:
        if (strcmp(value, "all") != 0 && !cli_parse_count(value, INT32_MAX, &number))
            return false;
        show->options.rows = number;
        return true;
    case CLI_SHOW_WIDTH:
        if (!cli_parse_count(value, WIDEST, &number))
            return false;
        show->options.width = (uint32_t)number;
        return true;
    case CLI_SHOW_COLOR:
        return parse_color(value, &show->color);
    default:
        return true;
    }
}

int cli_show_take(cli_show *show, const cli_syntax *syntax, int option, const char *value)
{
    switch (option) {
    case CLI_SHOW_JSON:
        show->options.format = TAKT_FORMAT_JSON;
        return CLI_OK;
    case CLI_SHOW_CSV:
        show->options.format = TAKT_FORMAT_CSV;
        return CLI_OK;
    case CLI_SHOW_MARKDOWN:
        show->options.format = TAKT_FORMAT_MARKDOWN;
        return CLI_OK;
    case CLI_SHOW_FULL_NAMES:
        show->options.full_names = true;
        return CLI_OK;
    default:
        return take_value(show, option, value) ? CLI_OK : bad_value(syntax, option, value);
    }
}

/* Serial lines and fresh pseudo-terminals do not know their size. */
static uint32_t terminal_width(void)
{
    struct winsize window;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0)
        return USUAL_WIDTH;
    return window.ws_col ? window.ws_col : SILENT_TERMINAL;
}

void cli_show_settle(cli_show *show)
{
    const char *terminal = getenv("TERM");
    bool is_plain = cli_variable("NO_COLOR") || (terminal && strcmp(terminal, "dumb") == 0);

    if (show->options.width == 0)
        show->options.width = terminal_width();
    show->options.width_key = "--width ";
    show->options.color = show->color == CLI_COLOR_ALWAYS ||
                          (show->color == CLI_COLOR_AUTO && isatty(STDOUT_FILENO) && !is_plain);
}
