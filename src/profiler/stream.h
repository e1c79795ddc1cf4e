/* Writing a trace while the program records, so that one that dies leaves what it had.
 *
 * Of spans a stream is one file that grows. What is written is released when memory runs short; then
 * the whole trace is only in the file. Of a summary it is a small file that is replaced now and
 * then. */
#ifndef TKT_PROFILER_STREAM_H
#define TKT_PROFILER_STREAM_H

#include "profiler/options.h"
#include "profiler/session.h"

typedef struct tkt_stream tkt_stream;

/* What the stream is told of the cycle. */
typedef struct tkt_stream_cycle {
    uint32_t number;
    uint64_t first_step;
    const tkt_all_steps *all_steps; /* up to now; copied */
} tkt_stream_cycle;

/* Begins to write DIRECTORY/NAME.CYCLE.partial.pftrace about the window, on a thread of its own; a
 * file that is there already stays as it is, and NAME.CYCLE gets "-2" behind it. NULL, and the log says why, when it cannot. */
tkt_stream *tkt_stream_start(const tkt_saved_options *options, const tkt_stream_cycle *cycle,
                             tkt_window *window);

/* Adds a recorded step; times are ticks. Any thread. */
void tkt_stream_step(tkt_stream *stream, const tkt_step *step);

/* Says that the recording ends at `ticks`; returns at once. The window may be ended then. NULL is
 * ignored. */
void tkt_stream_end(tkt_stream *stream, uint64_t ticks);

/* Waits until the stream's thread has written what came until then. The file stays. */
void tkt_stream_stop(tkt_stream *stream);

/* True of a stopped stream that could not be written to its end; the log has said so. */
bool tkt_stream_is_broken(const tkt_stream *stream);

/* Makes the file of a stream that was stopped complete, and a trace of it. With more than
 * `most_bytes` it is left alone: TAKT_OK, and *out is NULL. The window is ended. */
takt_status tkt_stream_read_back(tkt_stream *stream, uint64_t most_bytes, takt_trace **out,
                                 takt_error *error);

const char *tkt_stream_path(const tkt_stream *stream);

/* Frees a stream that was stopped, with its file if `remove_file`. NULL is ignored. */
void tkt_stream_destroy(tkt_stream *stream, bool remove_file);

#endif
