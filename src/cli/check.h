/* What `takt check` is asked, and what came out. */
#ifndef TAKT_CLI_CHECK_H
#define TAKT_CLI_CHECK_H

#include "cli/compare.h"

/* ---- Running both (check_run.c) ---- */

/* Commands to run by turns. */
typedef struct cli_check_runs {
    const char *commands[CLI_BOTH]; /* as a shell takes them */
    long        count; /* of each; 0: there are traces already */
    const char *keep;  /* the folder for the traces; NULL: one that goes away */
} cli_check_runs;

/* Folders that runs left their traces in. */
typedef struct cli_check_folders {
    char root[4096];
    char sides[CLI_BOTH][4096 + 8];
    bool is_temporary;
} cli_check_folders;

/* Runs them all, with a line on standard error for each. CLI_OK, or it is told. The caller frees,
 * whatever it returns. */
int  cli_check_run(const cli_check_runs *runs, cli_check_folders *out);
void cli_check_folders_free(cli_check_folders *folders);

/* ---- What is asked (check.c) ---- */

typedef struct cli_check_request {
    cli_compare_options options; /* with the rows that are asked about */
    cli_operands   operands;
    bool           has_base; /* --against was given */
    cli_check_runs runs;
    double         run_noise; /* of 1: what runs of one program may differ by */
    bool           allow_different;
    bool           accept_undecided;
    bool           json;
} cli_check_request;

/* ---- What came out (check_judge.c) ---- */

typedef struct cli_check_result {
    cli_obstacles obstacles; /* those that count */
    size_t       *offenders; /* numbers of rows: what is worse */
    size_t        offender_count;
    size_t       *open; /* rows that look worse, and runs of one program might differ as much */
    size_t        open_count;
    size_t       *below; /* rows that are worse, but were not asked about: where it comes from */
    size_t        below_count;
    size_t        asked;   /* rows */
    size_t        decided; /* of them: with a band */
} cli_check_result;

/* What came out; a check that could not be made is not passed, whatever else it found. */
typedef enum cli_check_outcome {
    CLI_CHECK_PASSED,
    CLI_CHECK_FAILED,
    CLI_CHECK_NOT_COMPARABLE,
    CLI_CHECK_UNDECIDED
} cli_check_outcome;

/* TAKT_NO_MEMORY. The caller frees, whatever it returns. */
takt_status cli_check_judge(const cli_check_request *request, const cli_comparison *comparison,
                            cli_check_result *out);
void cli_check_result_free(cli_check_result *result);

cli_check_outcome cli_check_outcome_of(const cli_check_result *result);

/* Lines for what was asked, what is worse and the verdict; or all of it as JSON (check_print.c). */
void cli_check_print(const cli_check_request *request, const cli_comparison *comparison,
                     const cli_check_result *result);

#endif
