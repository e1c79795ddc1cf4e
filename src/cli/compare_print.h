/* A comparison as tables. */
#ifndef TAKT_CLI_COMPARE_PRINT_H
#define TAKT_CLI_COMPARE_PRINT_H

#include "cli/compare.h"
#include "cli/table.h"

/* Values of facts that are no text elsewhere, for as long as the table. */
typedef struct cli_fact_texts {
    char steps[64];
    char wall[64];
} cli_fact_texts;

/* The table of what the traces are (compare_facts.c). False: no memory. */
bool cli_compare_facts(const cli_comparison *comparison, cli_fact_texts texts[CLI_BOTH],
                       cli_table *out);

/* Prints the comparison. Returns the exit status; a wrong column to sort by is told. */
int cli_compare_print(const cli_comparison *comparison, const takt_report_options *options,
                      const cli_syntax *syntax);

#endif
