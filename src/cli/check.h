/* What `takt check` is asked, and what came out. */
#ifndef TAKT_CLI_CHECK_H
#define TAKT_CLI_CHECK_H

#include "cli/compare.h"

typedef struct cli_check_request {
    cli_compare_options options;
    cli_operands operands;
    bool         has_base; /* --against was given */
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

/* What came out; a check that could not be made is not passed, whatever else it found. */
typedef enum cli_check_outcome {
    CLI_CHECK_PASSED,
    CLI_CHECK_FAILED,
    CLI_CHECK_NOT_COMPARABLE
} cli_check_outcome;

cli_check_outcome cli_check_outcome_of(const cli_check_result *result);

/* A line for each obstacle and offender, and the verdict; or all of it as JSON. */
void cli_check_print(const cli_check_request *request, const cli_comparison *comparison,
                     const cli_check_result *result);

#endif
