/* All verbs, for what is made of their help: the manual page and the shells' completion. */
#ifndef TAKT_CLI_VERBS_H
#define TAKT_CLI_VERBS_H

#include "cli/cli.h"

/* In the order of the overview; NULL past the end. */
const cli_verb *cli_verb_at(size_t index);

/* Calls `print` with the syntax of each verb that has one; `help` has none. Stops at the first verb
 * that fails, and returns its status. */
int cli_each_syntax(void (*print)(const cli_syntax *syntax));

/* Prints the manual page takt(1), in man's macros. Returns the exit status. */
int cli_print_manual(void);

#endif
