#ifndef TAKT_CLI_COMPARE_PRINT_H
#define TAKT_CLI_COMPARE_PRINT_H

#include "cli/compare.h"

#include <takt/report.h>

/* Prints a comparison as tables. Returns the exit status; a wrong column to sort by is told. */
int cli_compare_print(const cli_comparison *comparison, const takt_report_options *options,
                      const cli_syntax *syntax);

#endif
