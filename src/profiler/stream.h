/* Writing a Perfetto trace while the program records, so that one that dies leaves what it had. */
#ifndef TKT_PROFILER_STREAM_H
#define TKT_PROFILER_STREAM_H

#include "profiler/options.h"
#include "profiler/session.h"

typedef struct tkt_stream tkt_stream;

/* Begins to write DIRECTORY/NAME.CYCLE.partial.pftrace about the window, on a thread of its own.
 * NULL, and the log says why, when it cannot. */
tkt_stream *tkt_stream_start(const tkt_saved_options *options, uint32_t cycle,
                             const tkt_window *window);

/* Adds a recorded step; times are ticks. Any thread. */
void tkt_stream_step(tkt_stream *stream, const tkt_step *step);

/* Ends it and waits for its thread. The file stays. NULL is ignored. */
void tkt_stream_stop(tkt_stream *stream);

/* Frees a stream that was stopped, with its file if `remove_file`. NULL is ignored. */
void tkt_stream_destroy(tkt_stream *stream, bool remove_file);

#endif
