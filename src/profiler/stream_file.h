/* The file of a stream: what its slices have in common, and what is open between them. */
#ifndef TKT_PROFILER_STREAM_FILE_H
#define TKT_PROFILER_STREAM_FILE_H

#include "base/file.h"
#include "export/perfetto.h"
#include "profiler/devices.h"
#include "trace/graphs.h"
#include "trace/stacks.h"

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
