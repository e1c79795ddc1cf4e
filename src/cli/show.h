/* How the verbs that print tables are asked to print them: the same options everywhere. */
#ifndef TAKT_CLI_SHOW_H
#define TAKT_CLI_SHOW_H

#include "cli/cli.h"

#include <takt/report.h>

typedef enum cli_show_option {
    CLI_SHOW_JSON,
    CLI_SHOW_CSV,
    CLI_SHOW_MARKDOWN,
    CLI_SHOW_SORT,
    CLI_SHOW_ROWS,
    CLI_SHOW_WIDTH,
    CLI_SHOW_FULL_NAMES,
    CLI_SHOW_COLOR,
    CLI_SHOW_COUNT
} cli_show_option;

extern const cli_option cli_show_options[CLI_SHOW_COUNT];

typedef enum cli_color {
    CLI_COLOR_AUTO,
    CLI_COLOR_ALWAYS,
    CLI_COLOR_NEVER
} cli_color;

typedef struct cli_show {
    takt_report_options options;
    cli_color           color;
} cli_show;

/* Takes one of the options. Anything but CLI_OK ends the verb. */
int cli_show_take(cli_show *show, const cli_syntax *syntax, int option, const char *value);

/* Everything is taken: decides about colour and width. */
void cli_show_settle(cli_show *show);

#endif
