/* Writing a trace while the program records: a program that dies leaves the trace so far.
 *
 * A stream of spans is one growing file. Written records are released when memory runs short; from
 * then on only the file has the whole trace. A stream of a summary is a small file that is replaced
 * now and then. */
#ifndef TKT_PROFILER_STREAM_H
#define TKT_PROFILER_STREAM_H

#include "base/file.h"
#include "base/thread.h"
#include "export/perfetto.h"
#include "profiler/options.h"
#include "profiler/session.h"
#include "trace/devices.h"
#include "trace/seal.h"

/* ======== Streams ======== */

typedef struct tkt_stream tkt_stream;

/* What the stream knows about the cycle. */
typedef struct tkt_stream_cycle {
    uint32_t number;
    uint64_t first_step;
    const tkt_all_steps *all_steps; /* so far; copied */
    const tkt_run_steps *run;       /* the same */
} tkt_stream_cycle;

/* Starts a thread that writes the window to DIRECTORY/NAME.CYCLE.partial.pftrace. Never replaces a
 * file: if the name exists, "-2" follows NAME.CYCLE. The thread makes folder and file, so that the
 * program waits for no file system. NULL without memory or thread, with the reason in the log. */
tkt_stream *tkt_stream_start(const tkt_saved_options *options, const tkt_stream_cycle *cycle,
                             tkt_window *window);

/* Adds a recorded step; times are ticks. `simulated_seconds` is what the program has declared so
 * far. Any thread. */
void tkt_stream_step(tkt_stream *stream, const tkt_step *step, double simulated_seconds);

/* Announces that the recording ends at `ticks`, and returns at once. The window may be ended then.
 * NULL is ignored. */
void tkt_stream_end(tkt_stream *stream, uint64_t ticks);

/* Waits until the stream's thread has written everything up to the end. Keeps the file. NULL is
 * ignored. */
void tkt_stream_stop(tkt_stream *stream);

/* False for a stopped stream whose file could not be made; the log has the reason. */
bool tkt_stream_was_opened(const tkt_stream *stream);

/* True for a stopped stream that could not be written to its end; the log has the reason. */
bool tkt_stream_is_broken(const tkt_stream *stream);

/* Completes the file of a stopped stream, which may break it, and opens it as a trace. If the file
 * exceeds `most_bytes`, only completes it: TAKT_OK with *out NULL. The window must have ended.
 * `is_partial`: the cycle is cut off. */
takt_status tkt_stream_read_back(tkt_stream *stream, bool is_partial, uint64_t most_bytes,
                                 takt_trace **out, takt_error *error);

const char *tkt_stream_path(const tkt_stream *stream);

/* Frees a stopped stream, and removes its file if `remove_file`. NULL is ignored. */
void tkt_stream_destroy(tkt_stream *stream, bool remove_file);

/* ======== The file of a stream ======== */

/* State that slices share, and spans that stay open between them. */

/* A slice that the file has begun but not ended, as its span was sealed first. */
typedef struct tkt_open_slice {
    uint64_t begin_ns;
    uint32_t site; /* index in the file's trace */
} tkt_open_slice;

/* An argument or work of an open slice. It is written at the slice's end. */
typedef struct tkt_late_note {
    uint32_t depth;
    bool     is_work;
    tkt_arg  arg; /* its strings belong to the file's trace */
    tkt_work work;
} tkt_late_note;

/* A span of an async track that the file has begun but not ended. */
typedef struct tkt_open_task {
    uint64_t begin_ns;
    uint32_t site;   /* index in the file's trace */
    uint32_t row;
    uint32_t lane;
    uint32_t misses; /* slices in a row that lacked the span; TKT_TASK_ENDED: it has ended */
} tkt_open_task;

#define TKT_TASK_ENDED UINT32_MAX

/* A row of the file for a thread or an async track. */
typedef struct tkt_stream_row {
    uint32_t track;   /* index in the file's trace */
    uint64_t last_ns; /* all further slices begin and end at or after this */
    TKT_ARRAY_OF(tkt_open_slice) open; /* outermost first */
    TKT_ARRAY_OF(tkt_late_note) late;
    TKT_ARRAY_OF(tkt_open_task) tasks; /* sorted by begin */
} tkt_stream_row;

#define TKT_STREAM_CALLS 8192u /* calls whose rows are remembered; a power of two */

typedef struct tkt_stream_call {
    uint32_t correlation;
    uint32_t row;
} tkt_stream_call;

/* Memory allocated of one kind on a device. */
typedef struct tkt_stream_memory {
    uint32_t device; /* string */
    uint32_t kind;
    uint64_t bytes;
} tkt_stream_memory;

/* Records taken out of the store but not yet written. */
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
    tkt_perfetto_pack pack;
    tkt_perfetto perfetto;
    takt_trace *trace; /* names, sites, tracks, shapes and facts so far; no spans */
    tkt_map rows;      /* thread's serial, or ~name of an async track -> index in `states` + 1 */
    TKT_ARRAY_OF(tkt_stream_row) states;
    TKT_ARRAY_OF(uint32_t) slice_sites; /* site of the slice -> index in the trace + 1 */
    tkt_stacks stacks;
    uint64_t memory_bytes; /* host memory after the latest event */

    /* Work of devices. */
    uint64_t position; /* in the store: earlier activities are taken */
    uint64_t sequence; /* the same for waits, overheads and memory events */
    tkt_graphs graphs; /* launches that wait for more nodes; their `owner` is the time of the latest
                        * node */
    tkt_bodies bodies; /* a held one has the trace's shape */
    tkt_map shapes;    /* hash of a shape -> index in the trace + 1 */
    uint64_t phase_batches; /* of timers inside kernels: number of the last one written */
    uint64_t lost[TAKT_LOSS_COUNT]; /* activities without times, and phases inside kernels */
    tkt_stream_batch batch;
    TKT_ARRAY_OF(tkt_stream_memory) memories;
    TKT_ARRAY_OF(tkt_device_memory) window_memory; /* counted from the recording's begin */
    TKT_ARRAY_OF(uint64_t) begin_bytes;            /* for each of them, bytes allocated at that
                                                    * moment */
    tkt_stream_call calls[TKT_STREAM_CALLS];       /* indexed by the lowest bits of the correlation
                                                    * id */
} tkt_stream_file;

/* Writes a sealed and finished slice. `is_last`: unfinished async spans are written too. */
void tkt_stream_write_host(tkt_stream_file *to, const takt_trace *slice, bool is_last);

/* Takes new records of devices out of the store; activities of the latest calls may still be
 * missing. Call it before sealing the slice of those calls: the file then has no activities without
 * their calls. */
void tkt_stream_take_devices(tkt_stream_file *to, const tkt_window *window, bool is_last);

/* Writes these records. Sets the facts about device memory and the uncertainty of device times. */
void tkt_stream_write_devices(tkt_stream_file *to, const tkt_window *window, bool is_last);

/* Writes what timers inside kernels have recorded since the last call, and adds `lost` to the trace's
 * losses. */
void tkt_stream_write_phases(tkt_stream_file *to, bool is_last);

/* Returns a string of the file's trace; 0 without memory. */
uint32_t tkt_stream_string(tkt_stream_file *to, const char *bytes, size_t size);

void tkt_stream_file_fini(tkt_stream_file *to);

/* ======== Inside a stream ======== */

#define TKT_STREAM_REMOVED "somebody has removed or replaced"

/* The pause between slices, and at first between snapshots. Tests that wait for several of them set
 * it to less before they start a stream. */
extern uint32_t tkt_stream_pause_ms;

struct tkt_stream {
    tkt_window *window;
    const tkt_saved_options *options; /* borrowed from the profiler */
    tkt_seal_places places;
    uint64_t facts_ns;    /* time at which facts were last written */
    uint64_t facts_bytes; /* size of the file then */
    uint32_t pause_ms;    /* before the next slice or snapshot */
    bool is_summary;
    bool is_open; /* its file was made: known when its thread has ended */
    bool is_plain;  /* packets are not compressed */
    bool is_broken; /* set with the lock: a stream of spans has stopped for good, or the latest
                     * snapshot of a summary is not written */
    tkt_thread thread;
    tkt_stream_file to; /* its `file` is closed while there is none: nothing could be written */
    char *path;         /* of the file, if nobody has the name; a number follows its first `stem` bytes */
    size_t stem;
    TKT_ARRAY_OF(tkt_step) fetched; /* steps not yet taken; times are ticks */

    uint64_t end_ticks; /* with the lock, and so is the rest; 0: the recording goes on */
    double simulated_seconds;
    TKT_ARRAY_OF(tkt_step) steps; /* the program's latest ones; times are ticks */
};

/* Moves the steps that have ended by `until_ns` into the file or, for a summary, its trace. */
void tkt_stream_take_steps(tkt_stream *stream, uint64_t until_ns);

/* Waits for the time of the next slice or snapshot. False if the recording has ended. */
bool tkt_stream_wait(tkt_stream *stream, uint64_t *end_ticks);

/* Opens a writer of whole packets to a file. */
takt_status tkt_stream_open_writer(const tkt_stream *stream, tkt_file *file,
                                   tkt_perfetto_pack *pack, tkt_writer *writer);

/* Creates the stream's file, still empty, and its folder. */
takt_status tkt_stream_claim(tkt_stream *stream, takt_error *error);

/* Declares that the file cannot be written on, and says so in the file; removes an empty file.
 * `reason` is for tkt_file_reason(); 0: the file is not there. */
void tkt_stream_break(tkt_stream *stream, int reason);

/* Declares that the file is written again. */
void tkt_stream_mend(tkt_stream *stream);

/* stream_summary.c: the thread of a stream of a summary. */
void *tkt_stream_run_summaries(void *stream);

#endif
