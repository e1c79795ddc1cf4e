/* Chrome's JSON trace format, in the dialect of torch's Kineto, which chrome://tracing, Perfetto,
 * TensorBoard's PyTorch plugin and Holistic Trace Analysis read. docs/viewing.md says what each
 * of Takt's things becomes in it. */
#ifndef TKT_EXPORT_CHROME_H
#define TKT_EXPORT_CHROME_H

#include "base/containers.h"
#include "base/text.h"
#include "base/writer.h"
#include "export/devices.h"
#include "trace/model.h"

#include <takt/trace.h>

/* ======== The format ======== */

/* A limit below this one is raised to it: metadata alone needs a good part of it. */
#define TKT_CHROME_MIN_BYTES (UINT64_C(16) << 10)

/* How to divide a trace that is too large for one file. Every file is valid by itself and holds
 * what began in one stretch of time. */
typedef struct tkt_chrome_parts {
    /* Of one file. Only a single event of over a KiB can make a file larger than that. */
    uint64_t max_bytes;

    /* Flushes the writer, ends the current file and lets the writer go on in file number `part`,
     * the first call being for 2. */
    takt_status (*next)(void *user, uint32_t part, tkt_writer *writer);
    void *user;
} tkt_chrome_parts;

/* Writes the whole trace. `parts` NULL: into one file, whatever its size. A failure of the sink
 * stays in the writer; TAKT_NO_MEMORY and failures of `next` are returned. */
takt_status tkt_chrome_export(const takt_trace *trace, tkt_writer *writer,
                              const tkt_chrome_parts *parts);

/* ======== The file ======== */

/* What the parts of the Chrome exporter share: the state of one export, and how values are
 * written.
 *
 *     chrome.c        the order of things: windows of time, and the division into files
 *     chrome_head.c   what surrounds the events: header, metadata rows, end; rows of what may overlap;
 *                     what all spans of a site share
 *     chrome_span.c   spans and their arguments; the fast path
 *     chrome_device.c what devices did, and what is known of them
 *     chrome_event.c  steps, marks, counters, flows, memory; strings and numbers */

/* Rows that are no threads get ids from here on. Linux' thread ids stay below 2^22. */
#define TKT_CHROME_FIRST_ROW_ID 1000000000u

/* Readers know these categories. Scopes, phases and host activities are operators, since
 * TensorBoard computes its tables, and the steps of a trace without steps, from nothing else. Steps
 * and the spans of async tracks, which are no thread's time, are annotations. */
#define TKT_CHROME_CAT_SCOPE "cpu_op"
#define TKT_CHROME_CAT_ASYNC "user_annotation"
#define TKT_CHROME_CAT_STEP  "user_annotation"
#define TKT_CHROME_CAT_MARK  "cpu_instant_event"

/* Texts of a call site, made at its first span. */
typedef struct tkt_chrome_site {
    const char *head;      /* {"ph":"X", ... "tid":     NULL: not made yet */
    const char *tail;      /* ,"args":{"file":"a.c:1"}},   with a newline at the end */
    size_t      head_size;
    size_t      tail_size;
    size_t      args_size; /* of the tail before its closing braces; 0: it has no args */
} tkt_chrome_site;

/* Texts are copied in steps of this many bytes, so they end in as many that may be read, and the
 * writer's room is larger by as many. */
#define TKT_CHROME_STRIDE 32

#define TKT_CHROME_FRAME_BYTES 1024 /* of one frame of a call stack; more is cut */

/* One row of the viewer. */
typedef struct tkt_chrome_row {
    uint32_t pid;
    uint32_t tid;
    uint32_t part;      /* the file that has its metadata; 0: none yet */
    uint32_t name;      /* string */
    const char *title;  /* in its place, when it is not NULL; static */
    uint32_t stream;    /* of a stream's: its number */
    uint32_t lane;      /* 0, 1, ... of the rows that share a name */
    uint32_t thread_id; /* 0: not a thread's row */
    int32_t  order;     /* from top to bottom; the row of steps has a negative one */
    uint32_t text_size;
    char     text[TKT_CHROME_STRIDE]; /* 1234,"ts": */
} tkt_chrome_row;

/* Rows for what may overlap. */
typedef struct tkt_chrome_lanes {
    TKT_ARRAY_OF(tkt_chrome_row) rows;
    tkt_lanes lanes;
    uint32_t  name; /* string */
    const char *title; /* in its place, when it is not NULL; static */
    uint32_t  stream; /* or the number of a stream */
    uint32_t  pid; /* of the rows */
    uint32_t  tid; /* of the first one; 0: any */
} tkt_chrome_lanes;

/* How far a track has been written. */
typedef struct tkt_chrome_track {
    tkt_chrome_row   row;   /* of threads */
    tkt_chrome_lanes lanes; /* of async tracks */
    size_t           span;
    size_t           arg;
    size_t           work;
    size_t           call;
    size_t           stack;
} tkt_chrome_track;

/* An activity that is no host span: what a device did. */
typedef struct tkt_chrome_work {
    uint64_t begin_ns;
    size_t   activity;
} tkt_chrome_work;

/* A device is a process of the viewer's. */
typedef struct tkt_chrome_device {
    uint32_t         name; /* string */
    uint32_t         pid;  /* its ordinal */
    uint32_t         part; /* the file that has its metadata; 0: none yet */
    tkt_chrome_lanes waits;
} tkt_chrome_device;

/* The rows of a stream. */
typedef struct tkt_chrome_stream {
    uint32_t         device; /* index of devices */
    tkt_chrome_lanes lanes;
} tkt_chrome_stream;

/* Bytes of one kind of memory of a device. */
typedef struct tkt_chrome_bytes {
    uint32_t device; /* string; 0: host */
    uint32_t kind;
    int64_t  bytes;
} tkt_chrome_bytes;

typedef struct tkt_chrome {
    const takt_trace       *trace;
    tkt_writer             *writer;
    const tkt_chrome_parts *parts; /* NULL: one file */
    takt_status             status;

    uint32_t part;       /* 1, 2, ... */
    uint64_t part_begin; /* bytes of the files before */
    uint64_t part_limit; /* bytes of all files at which this one is full */
    uint64_t head_bytes; /* bytes of all files when this one had nothing but its head */
    uint64_t window_ns;      /* where the current window of time begins */
    uint64_t window_last_ns; /* and ends */

    int64_t  base_ns;  /* CLOCK_REALTIME of ts 0 */
    uint64_t shift_ns; /* ts less the trace's time, modulo 2^64 */
    uint64_t second;   /* whose digits second_text holds */
    char     second_text[24];
    size_t   second_size;

    tkt_arena         texts;
    tkt_chrome_site  *sites;  /* by site: two each, for threads and for async tracks */
    tkt_chrome_track *tracks; /* by track */
    TKT_ARRAY_OF(tkt_chrome_device) devices;
    tkt_streams streams;
    TKT_ARRAY_OF(tkt_chrome_stream) stream_rows; /* by stream */
    TKT_ARRAY_OF(tkt_chrome_work) works; /* by begin */
    TKT_ARRAY_OF(tkt_chrome_bytes) memories;
    tkt_chrome_lanes overheads;
    uint32_t      *arrows; /* by call: how many lead from it */
    tkt_chrome_row steps_row;
    uint32_t       next_row_id;
    int32_t        next_order;

    uint64_t *keys;      /* by string: event << 32 | times seen in it */
    uint32_t  key_event; /* the event whose keys are being written */

    size_t  work; /* cursors */
    size_t  step;
    size_t  mark;
    size_t  counter;
    size_t  flow;
    size_t  memory_event;
    size_t  wait;
    size_t  overhead;
} tkt_chrome;

/* chrome.c: makes sure that another event fits, in a new file if need be. False after a failure:
 * stop writing. Call before each event. */
bool tkt_chrome_fits_slow(tkt_chrome *chrome);
static inline bool tkt_chrome_fits(tkt_chrome *chrome)
{
    uint64_t bytes = chrome->writer->total + chrome->writer->used;
    if (__builtin_expect(bytes > chrome->part_limit || chrome->status != TAKT_OK, 0))
        return tkt_chrome_fits_slow(chrome);
    return true;
}

/* The thread id of a track's row. */
uint32_t tkt_chrome_tid(const tkt_chrome *chrome, uint32_t track);

/* chrome_head.c */
void tkt_chrome_begin_file(tkt_chrome *chrome);

/* Writes the metadata of a device, as a process, unless this file has it. */
void tkt_chrome_announce_device(tkt_chrome *chrome, tkt_chrome_device *device);
void tkt_chrome_end_file(tkt_chrome *chrome, uint64_t end_ns);

/* Writes the metadata of a row unless this file has it. */
void tkt_chrome_announce_slow(tkt_chrome *chrome, tkt_chrome_row *row);
static inline void tkt_chrome_announce(tkt_chrome *chrome, tkt_chrome_row *row)
{
    if (row->part != chrome->part)
        tkt_chrome_announce_slow(chrome, row);
}

/* chrome_head.c: makes the texts of chrome->sites[2 * number + is_async]; false without memory. */
bool tkt_chrome_make_site(tkt_chrome *chrome, uint32_t number, bool is_async);

/* chrome_span.c: what began until `last_ns`, beginning where the last call stopped. */
void tkt_chrome_thread_spans(tkt_chrome *chrome, uint32_t track, uint64_t last_ns);

/* The next span of an async track, on a row that has been announced. */
void tkt_chrome_async_span(tkt_chrome *chrome, uint32_t track, const tkt_chrome_row *row);

/* chrome_head.c */
void tkt_chrome_row_init(tkt_chrome_row *row, uint32_t pid, uint32_t tid, int32_t order);
void tkt_chrome_async_spans(tkt_chrome *chrome, uint32_t track, uint64_t last_ns);

/* The row for a slice, announced; NULL when there is no memory. */
tkt_chrome_row *tkt_chrome_find_row(tkt_chrome *chrome, tkt_chrome_lanes *lanes, uint64_t begin_ns,
                                    uint64_t end_ns);
void tkt_chrome_lanes_fini(tkt_chrome_lanes *lanes);

/* chrome_device.c */
takt_status tkt_chrome_find_works(tkt_chrome *chrome);
void tkt_chrome_device_works(tkt_chrome *chrome, uint64_t last_ns);
void tkt_chrome_waits(tkt_chrome *chrome, uint64_t last_ns);
void tkt_chrome_overheads(tkt_chrome *chrome, uint64_t last_ns);
void tkt_chrome_device_properties(tkt_chrome *chrome); /* the list in the header */
void tkt_chrome_devices_fini(tkt_chrome *chrome);

/* The index of a device; UINT32_MAX without memory. */
uint32_t tkt_chrome_device_index(tkt_chrome *chrome, uint32_t name);

/* chrome_event.c */
void tkt_chrome_steps(tkt_chrome *chrome, uint64_t last_ns);
void tkt_chrome_marks(tkt_chrome *chrome, uint64_t last_ns);
void tkt_chrome_counters(tkt_chrome *chrome, uint64_t last_ns);
void tkt_chrome_flows(tkt_chrome *chrome, uint64_t last_ns);
void tkt_chrome_memory(tkt_chrome *chrome, uint64_t last_ns);

/* chrome_event.c */
void tkt_chrome_put_text(tkt_writer *writer, const char *text, size_t size); /* without quotes */
void tkt_chrome_put_string(tkt_chrome *chrome, uint32_t string);             /* with quotes */
void tkt_chrome_put_u64(tkt_writer *writer, uint64_t value);
void tkt_chrome_put_i64(tkt_writer *writer, int64_t value);
void tkt_chrome_put_us(tkt_writer *writer, uint64_t ns);
void tkt_chrome_put_ts(tkt_chrome *chrome, uint64_t time_ns); /* a time of the trace */

/* NaN and infinities, which JSON does not have, become strings: "NaN", "Infinity", "-Infinity". */
void tkt_chrome_put_double(tkt_writer *writer, double value);

/* The part of a path behind its last '/'. */
const char *tkt_chrome_file_name(const char *path);

#endif
