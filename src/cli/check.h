/* What `takt check` is asked, and what came out. */
#ifndef TAKT_CLI_CHECK_H
#define TAKT_CLI_CHECK_H

#include "cli/compare.h"

typedef struct cli_check_request {
    cli_compare_options options;
    const char  *paths[CLI_BOTH];
    const char **names; /* wanted ones, of argv; none: all */
    size_t       name_count;
    bool         allow_different;
    bool         json;
} cli_check_request;

typedef struct cli_check_result {
    cli_obstacles obstacles; /* those that count */
    size_t       *offenders; /* numbers of rows */
    size_t        offender_count;
    size_t        compared;  /* rows */
    size_t        undecided; /* of them: above the limits, with too few calls to tell */
    size_t        decided;   /* of them: with a band */
} cli_check_result;

bool cli_check_passed(const cli_check_result *result);

/* A line for each obstacle and offender, and the verdict; or all of it as JSON. */
void cli_check_print(const cli_check_request *request, const cli_comparison *comparison,
                     const cli_check_result *result);

#endif
