/* Better names for the frames of call stacks, from somebody who reads debugging information. Only for
 * the command and tests: libtakt.so is without it. */
#ifndef TKT_TRACE_RESOLVE_H
#define TKT_TRACE_RESOLVE_H

#include <takt/trace.h>

/* Says what stands in the source at a frame's place: writes the function, file and line of the
 * innermost one inlined there to out[0], and so on to that which is no inline function, at most
 * `capacity`; returns how many, or 0 to leave the frame as it is. Modules and offsets stay. Texts
 * are copied; C++'s names may be mangled. */
typedef size_t (*tkt_frame_resolver)(void *user, const takt_frame_info *frame,
                                     takt_frame_info *out, size_t capacity);

/* Asks about each frame and rebuilds the stacks. `trace` is one that takt_trace_open() gave, and
 * that nobody else has yet. TAKT_NO_MEMORY leaves it as it was. */
takt_status tkt_trace_resolve(takt_trace *trace, tkt_frame_resolver resolve, void *user);

#endif
