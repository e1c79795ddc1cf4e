/* Writing a trace while the program records, so that one that dies leaves what it had.
 *
 * Of spans a stream is one file that grows. What is written is released when memory runs short; then
 * the whole trace is only in the file. Of a summary it is a small file that is replaced now and
 * then. */
#ifndef TKT_PROFILER_STREAM_H
#define TKT_PROFILER_STREAM_H

#include "base/file.h"
#include "export/perfetto.h"
#include "profiler/options.h"
#include "profiler/session.h"
#include "trace/devices.h"
#include "trace/seal.h"

/* ======== Streams ======== */

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

/* ======== Their files ======== */

/* The file of a stream: what its slices have in common, and what is open between them. */

/* A slice of the file that has begun and not ended: as its span was sealed first. */
typedef struct tkt_open_slice {
    uint64_t begin_ns;
    uint32_t site; /* of the file's trace */
} tkt_open_slice;

/* An argument or work of an open slice. It is written with the end. */
typedef struct tkt_late_note {
    uint32_t depth;
    bool     is_work;
    tkt_arg  arg; /* strings are the file's trace's */
    tkt_work work;
} tkt_late_note;

/* A row of the file that belongs to a thread or async track. */
typedef struct tkt_stream_row {
    uint32_t track;   /* of the file's trace */
    uint64_t last_ns; /* no slice begins or ends before */
    TKT_ARRAY_OF(tkt_open_slice) open; /* outermost first */
    TKT_ARRAY_OF(tkt_late_note) late;
} tkt_stream_row;

#define TKT_STREAM_CALLS 8192u /* of which the rows are remembered; a power of two */

typedef struct tkt_stream_call {
    uint32_t correlation;
    uint32_t row;
} tkt_stream_call;

/* What is allocated of one kind of memory of a device. */
typedef struct tkt_stream_memory {
    uint32_t device; /* string */
    uint32_t kind;
    uint64_t bytes;
} tkt_stream_memory;

/* What has been taken out of the store. */
typedef struct tkt_stream_batch {
    TKT_ARRAY_OF(tkt_activity) activities;
    TKT_ARRAY_OF(tkt_wait) waits;
    TKT_ARRAY_OF(tkt_overhead) overheads;
    TKT_ARRAY_OF(tkt_memory_event) memory; /* `span` is the correlation id */
    double clock_uncertainty_ns;
    bool   was_clock_set;
} tkt_stream_batch;

typedef struct tkt_stream_file {
    tkt_file file;
    tkt_writer writer;
    tkt_perfetto perfetto;
    takt_trace *trace; /* names, sites, tracks, shapes and facts so far; no spans */
    tkt_map rows;      /* thread's serial, or ~name of an async track -> index in states + 1 */
    TKT_ARRAY_OF(tkt_stream_row) states;
    TKT_ARRAY_OF(uint32_t) slice_sites; /* sites of the slice -> the trace's + 1 */
    tkt_stacks stacks;
    uint64_t memory_bytes; /* of the host, after the last event */

    /* What devices did. */
    uint64_t position; /* in the store: what came before is written, ... */
    uint64_t sequence; /* ... and so are waits, overheads and memory events */
    tkt_graphs graphs; /* launches whose nodes may not have come yet; the owner is when one came */
    tkt_map shapes;    /* hash of a shape -> index in the trace + 1 */
    uint64_t lost[TAKT_LOSS_COUNT]; /* activities without times */
    tkt_stream_batch batch;
    TKT_ARRAY_OF(tkt_stream_memory) memories;
    TKT_ARRAY_OF(tkt_device_memory) window_memory; /* counted from the recording's begin */
    TKT_ARRAY_OF(uint64_t) begin_bytes;            /* of each of them, then */
    tkt_stream_call calls[TKT_STREAM_CALLS];       /* by the lowest bits of the correlation id */
} tkt_stream_file;

/* Writes a sealed and finished slice. `is_last`: what is open stays so. */
void tkt_stream_write_host(tkt_stream_file *to, const takt_trace *slice, bool is_last);

/* Takes what has come of devices; what the last calls made them do may still come. Before the slice
 * is sealed that tells of the calls, so that no file has activities without them. */
void tkt_stream_take_devices(tkt_stream_file *to, const tkt_window *window, bool is_last);

/* Writes it. Puts what is allocated on devices, and how sure their times are, into the facts. */
void tkt_stream_write_devices(tkt_stream_file *to, const tkt_window *window, bool is_last);

/* The string of the file's trace; 0 without memory. */
uint32_t tkt_stream_string(tkt_stream_file *to, const char *bytes, size_t size);

void tkt_stream_file_fini(tkt_stream_file *to);

#endif
