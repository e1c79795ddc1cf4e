/* Stands in for symbols.c where the command is built without libdw. */
#include "cli/symbols.h"

#ifndef TKT_HAVE_DW

#include <stdio.h>

void cli_name_frames(takt_trace *trace)
{
    static bool is_told;
    if (takt_trace_count(trace, TAKT_TRACE_STACKS) > 0 && !is_told)
        fprintf(stderr, "takt: built without libdw: of functions, only exported ones have names\n");
    is_told = is_told || takt_trace_count(trace, TAKT_TRACE_STACKS) > 0;
}

#endif
