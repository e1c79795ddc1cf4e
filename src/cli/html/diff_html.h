/* takt diff --html: two runs and their comparison as one page. */
#ifndef TAKT_CLI_HTML_DIFF_HTML_H
#define TAKT_CLI_HTML_DIFF_HTML_H

#include "cli/compare.h"
#include "cli/html/html.h"

/* Puts the page's name in `out`: next to B or, if B is a folder, in it. `output` is a file or a
 * folder, NULL: neither. Refuses to overwrite one of the traces. Returns CLI_OK, or the exit status
 * after reporting the error. */
int html_name_diff(const cli_operands *operands, const cli_syntax *syntax, const char *output,
                   char out[HTML_PATH_SIZE]);

/* Writes the page of a comparison and says so. The page shows the only run of a side, else the one
 * in the middle. Returns the exit status. */
int html_write_diff(cli_comparison *comparison, const cli_syntax *syntax, const char *path);

#endif
