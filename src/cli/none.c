/* Replacements for parts of the command that need an optional library. */
#include "cli/cli.h"
#include "cli/view.h"

#include <stdio.h>

/* ======== Without libdw ======== */

/* Replaces symbols.c. */

#ifndef TKT_HAVE_DW

void cli_name_frames(takt_trace *trace)
{
    static bool is_told;
    if (takt_trace_count(trace, TAKT_TRACE_STACKS) > 0 && !is_told)
        fprintf(stderr, "takt: built without libdw, so only exported functions have names\n");
    is_told = is_told || takt_trace_count(trace, TAKT_TRACE_STACKS) > 0;
}

#endif

/* ======== Without libmicrohttpd ======== */

/* Replaces view_server.c. */

#ifndef TKT_HAVE_MICROHTTPD

bool view_has_server(void)
{
    return false;
}

view_end view_serve(const view_offer *offer, unsigned seconds)
{
    (void)offer;
    (void)seconds;
    return VIEW_NO_SERVER;
}

#endif
