/* A comparison as tables. */
#ifndef TAKT_CLI_COMPARE_PRINT_H
#define TAKT_CLI_COMPARE_PRINT_H

#include "cli/compare.h"
#include "cli/table.h"

/* Sentences, and the list of them up to NULL. */
typedef struct cli_notes {
    char texts[32][512];
    const char *list[32 + 1];
    size_t count;
} cli_notes;

/* What to say below the tables (compare_notes.c). */
void cli_compare_notes(const cli_comparison *comparison, cli_notes *out);

/* Prints the comparison. Returns the exit status; a wrong column to sort by is told. */
int cli_compare_print(const cli_comparison *comparison, const takt_report_options *options,
                      const cli_syntax *syntax);

#endif
