/* Functions, files and lines of call stacks, from the debugging information of the programs and
 * libraries that were recorded, as far as they are still there. */
#ifndef TAKT_CLI_SYMBOLS_H
#define TAKT_CLI_SYMBOLS_H

#include <takt/trace.h>

/* Names the frames of a trace, if it has any. What cannot be named is told once. */
void cli_name_frames(takt_trace *trace);

#endif
