/* The request of a `takt check` and its result. */
#ifndef TAKT_CLI_CHECK_H
#define TAKT_CLI_CHECK_H

#include "cli/compare.h"

/* ---- Running both commands (check_run.c) ---- */

/* Commands to run alternately. */
typedef struct cli_check_runs {
    const char *commands[CLI_BOTH]; /* shell commands */
    long        count; /* runs of each command; 0: the user has traces already */
    bool        has_rank; /* of a run's traces, take that of this rank */
    uint32_t    rank;
    const char *keep;  /* the folder for the traces; NULL: a temporary one */
} cli_check_runs;

/* Folders with the traces of the runs. */
typedef struct cli_check_folders {
    char root[4096];
    char sides[CLI_BOTH][4096 + 8];
    bool is_temporary;
} cli_check_folders;

/* Runs all commands and prints a line on standard error for each run. Returns CLI_OK, or CLI_FAILED
 * after reporting an error. The caller frees `out` in both cases. */
int  cli_check_run(const cli_check_runs *runs, cli_check_folders *out);
void cli_check_folders_free(cli_check_folders *folders);

/* ---- The request (check.c) ---- */

typedef struct cli_check_request {
    cli_compare_options options; /* includes the names given with --scope */
    cli_operands   operands;
    bool           has_base; /* --against was given */
    cli_check_runs runs;
    double         run_noise; /* as a fraction: how much two runs of one program may differ */
    bool           allow_different;
    bool           accept_undecided;
    bool           json;
} cli_check_request;

/* ---- The result (check_judge.c) ---- */

typedef struct cli_check_result {
    cli_obstacles obstacles; /* reasons that forbid a comparison */
    size_t       *offenders; /* indices of rows that fail the check */
    size_t        offender_count;
    size_t       *open; /* indices of rows that look worse, but two runs of one program might differ
                         * as much */
    size_t        open_count;
    size_t       *below; /* indices of other rows that became worse: they show where a change comes
                          * from */
    size_t        below_count;
    size_t        asked;   /* number of rows that the check is about */
    size_t        decided; /* number of those that have a confidence band */
} cli_check_result;

/* The verdict. A check with an obstacle never passes, whatever else it found. */
typedef enum cli_check_outcome {
    CLI_CHECK_PASSED,
    CLI_CHECK_FAILED,
    CLI_CHECK_NOT_COMPARABLE,
    CLI_CHECK_UNDECIDED
} cli_check_outcome;

/* Returns TAKT_OK or TAKT_NO_MEMORY. The caller frees `out` in both cases. */
takt_status cli_check_judge(const cli_check_request *request, const cli_comparison *comparison,
                            cli_check_result *out);
void cli_check_result_free(cli_check_result *result);

cli_check_outcome cli_check_outcome_of(const cli_check_result *result);

/* Prints the request, the worse rows and the verdict as text or, with --json, as JSON
 * (check_print.c). */
void cli_check_print(const cli_check_request *request, const cli_comparison *comparison,
                     const cli_check_result *result);

#endif
