/* Printing to standard output, in order with what the program prints there itself. */
#ifndef TKT_PROFILER_PRINT_H
#define TKT_PROFILER_PRINT_H

#include <takt/base.h>

#include <stdbool.h>

takt_sink tkt_print_sink(void);
void tkt_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* `given`, or where it is 0 the width of the terminal that standard output is, otherwise 0. */
uint32_t tkt_print_width(uint32_t given);

/* Whether standard output is a terminal that wants colour (NO_COLOR is not set). */
bool tkt_print_in_color(void);

/* ======== Showing a trace ======== */

/* Showing the last trace in a browser when the profiler has stopped (output.view). */

/* Remembers `path` in *viewable, which the caller frees, if files of this output can be shown; a
 * Perfetto trace rather than a Chrome one. */
void tkt_view_keep(char **viewable, const char *output, const char *path);

/* Runs `takt view` for the file. It prints a link and goes on in the background, as a process that
 * is not the host's child. What goes wrong is logged, with what to type instead. */
void tkt_view(const char *path);

#endif
