/* A comparison as tables. */
#ifndef TAKT_CLI_COMPARE_PRINT_H
#define TAKT_CLI_COMPARE_PRINT_H

#include "cli/compare.h"
#include "report/table.h"

/* What to say below the tables (compare_notes.c). */
void cli_compare_notes(const cli_comparison *comparison, tkt_document *document);

/* Prints the comparison. Returns the exit status; a wrong column to sort by is told. */
int cli_compare_print(const cli_comparison *comparison, const takt_report_options *options,
                      const cli_syntax *syntax);

#endif
