/* Printing to standard output, in order with what the program prints there itself. */
#ifndef TKT_PROFILER_PRINT_H
#define TKT_PROFILER_PRINT_H

#include <takt/base.h>

#include <stdbool.h>

takt_sink tkt_print_sink(void);
void tkt_print_text(const char *text);

/* Whether standard output is a terminal that wants colour (NO_COLOR is not set). */
bool tkt_print_in_color(void);

#endif
