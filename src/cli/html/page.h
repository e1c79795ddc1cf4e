/* A trace as one HTML file that needs no network: FORMAT.md says what is in it. */
#ifndef TAKT_CLI_HTML_PAGE_H
#define TAKT_CLI_HTML_PAGE_H

#include "cli/cli.h"

/* Writes the page to `path`: first under a temporary name beside it, then renamed. `file` is the
 * name of the trace's file, of which the page shows the last part. Returns CLI_OK, or CLI_FAILED
 * with the reason told. */
int cli_html_write(const takt_trace *trace, const char *file, const char *path);

/* `takt report --html`: a page for each file. `output` is a file or a folder; NULL: beside each
 * file, under its name. */
int cli_report_html(const cli_syntax *syntax, char **files, size_t count, const char *output);

#endif
