/* Every macro of takt/event.h, as C and as C++: twice on a line, nested, below `if`, with `break`.
 * Compiled, never run. */
#include <takt/event.h>

int use_events(void *stream, int cells);

int use_events(void *stream, int cells)
{
    int launched = 0;
    TAKT_STREAM_SCOPE(stream, "step");
    { TAKT_STREAM_SCOPE(stream, "one"); } { TAKT_STREAM_SCOPE(NULL, "another on this line"); }
    if (cells)
        TAKT_LAUNCH(stream, TAKT_TIMING_KERNEL, "density") {
            TAKT_LAUNCH(NULL, TAKT_TIMING_MEMCPY, "HtoD") { launched++; }
            if (launched > cells)
                break;
            launched++;
        }
    else
        TAKT_LAUNCH(stream, TAKT_TIMING_GRAPH, "step") { return launched; }
    return launched + cells;
}
