/* Better names for the frames of call stacks, from a caller that reads debugging information. Only
 * the command and tests use this; libtakt.so does not contain it. */
#ifndef TKT_TRACE_RESOLVE_H
#define TKT_TRACE_RESOLVE_H

#include <takt/trace.h>

/* Looks up a frame in the source. Writes function, file and line of the innermost inlined function
 * to out[0], of its caller to out[1], and so on up to the first function that is not inlined.
 * Returns their number, at most `capacity`, or 0 to leave the frame unchanged. Takt keeps module
 * and offset and copies the texts; C++ names may be mangled. */
typedef size_t (*tkt_frame_resolver)(void *user, const takt_frame_info *frame,
                                     takt_frame_info *out, size_t capacity);

/* Calls `resolve` for each frame and rebuilds the stacks. `trace` must come from takt_trace_open(),
 * and no other thread may use it yet. TAKT_NO_MEMORY leaves it unchanged. */
takt_status tkt_trace_resolve(takt_trace *trace, tkt_frame_resolver resolve, void *user);

#endif
