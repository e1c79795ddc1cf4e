/* Chrome's JSON trace format, in the dialect of torch's Kineto. chrome://tracing, Perfetto,
 * TensorBoard's PyTorch plugin and Holistic Trace Analysis read it. docs/viewing.md explains how
 * each part of a trace appears in it. */
#ifndef TKT_EXPORT_CHROME_H
#define TKT_EXPORT_CHROME_H

#include "base/containers.h"
#include "base/text.h"
#include "base/writer.h"
#include "export/devices.h"
#include "export/exporter.h"
#include "trace/model.h"

#include <takt/trace.h>

/* ======== The format ======== */

/* Smaller limits are raised to this one, since metadata alone takes much of it. */
#define TKT_CHROME_MIN_BYTES (UINT64_C(16) << 10)

/* ======== The file ======== */

/* Shared by the files of the Chrome exporter: the state of one export, and functions that write
 * values.
 *
 *     chrome.c        windows of time, division into files, order of events
 *     chrome_head.c   header, metadata rows, end of file; rows for overlapping slices; texts that
 *                     all spans of a site share
 *     chrome_span.c   spans and their arguments; the fast path
 *     chrome_device.c activities and properties of devices
 *     chrome_phases.c timers inside kernels
 *     chrome_event.c  steps, marks, counters, flows, memory; strings and numbers */

/* Rows without a thread have ids from here on. Thread ids on Linux stay below 2^22. */
#define TKT_CHROME_FIRST_ROW_ID 1000000000u

/* Readers know these categories. Scopes, phases and host activities are operators: TensorBoard
 * computes its tables only from operators, and also the steps if the trace has none. Steps and
 * spans of async tracks are annotations, because they are not a thread's time. */
#define TKT_CHROME_CAT_SCOPE "cpu_op"
#define TKT_CHROME_CAT_ASYNC "user_annotation"
#define TKT_CHROME_CAT_STEP  "user_annotation"
#define TKT_CHROME_CAT_MARK  "cpu_instant_event"

/* Texts of a call site, created with its first span. */
typedef struct tkt_chrome_site {
    const char *head;      /* {"ph":"X", ... "tid":     NULL: not created yet */
    const char *tail;      /* ,"args":{"file":"a.c:1"}},   and a newline */
    size_t      head_size;
    size_t      tail_size;
    size_t      args_size; /* size of the tail without its closing braces; 0: no args */
} tkt_chrome_site;

/* Texts are copied in blocks of this size, so each text is followed by as many readable bytes, and
 * the writer reserves as many extra bytes. */
#define TKT_CHROME_STRIDE 32

#define TKT_CHROME_FRAME_BYTES 1024 /* limit for one frame of a call stack; longer ones are cut */

/* One row of the viewer. */
typedef struct tkt_chrome_row {
    uint32_t pid;
    uint32_t tid;
    uint32_t part;      /* number of the file that has its metadata; 0: none yet */
    uint32_t name;      /* string */
    const char *title;  /* replaces the name if not NULL; static */
    uint32_t stream;    /* number of the stream, if the row is a stream's */
    uint32_t lane;      /* 0, 1, ... among rows with the same name */
    uint32_t thread_id; /* 0: not the row of a thread */
    int32_t  order;     /* position from top to bottom; negative for the row of steps */
    uint32_t text_size;
    char     text[TKT_CHROME_STRIDE]; /* 1234,"ts": */
} tkt_chrome_row;

/* Rows for slices that may overlap. */
typedef struct tkt_chrome_lanes {
    TKT_ARRAY_OF(tkt_chrome_row) rows;
    tkt_lanes lanes;
    uint32_t  name; /* string */
    const char *title; /* replaces the name if not NULL; static */
    uint32_t  stream; /* number of the stream, if the rows are a stream's */
    uint32_t  pid; /* process id of the rows */
    uint32_t  tid; /* thread id of the first row; 0: choose one */
} tkt_chrome_lanes;

/* How much of a track has been written: indices of the next items. */
typedef struct tkt_chrome_track {
    tkt_chrome_row   row;   /* of a thread */
    tkt_chrome_lanes lanes; /* of an async track */
    size_t           span;
    size_t           arg;
    size_t           work;
    size_t           call;
    size_t           stack;
    uint64_t         first; /* spans of earlier tracks */
} tkt_chrome_track;

/* An activity of a device. */
typedef struct tkt_chrome_work {
    uint64_t begin_ns;
    size_t   activity;
} tkt_chrome_work;

/* A device appears as a process. */
typedef struct tkt_chrome_device {
    uint32_t         name; /* string */
    uint32_t         pid;  /* its ordinal */
    uint32_t         part; /* number of the file that has its metadata; 0: none yet */
    tkt_chrome_lanes waits;
} tkt_chrome_device;

/* The rows of a stream. */
typedef struct tkt_chrome_stream {
    uint32_t         device; /* index in `devices` */
    tkt_chrome_lanes lanes;
} tkt_chrome_stream;

typedef struct tkt_chrome {
    const takt_trace       *trace;
    tkt_writer             *writer;
    tkt_export_choice       choice;
    uint32_t                only; /* string: the only device to write; 0: all */
    takt_status             status;

    uint32_t part;       /* current file: 1, 2, ... */
    uint64_t part_begin; /* size of all previous files */
    uint64_t part_limit; /* the file is full when the size of all files reaches this */
    uint64_t head_bytes; /* size of all files after writing this file's head */
    uint64_t window_ns;      /* begin of the current window of time */
    uint64_t window_last_ns; /* end of that window */

    int64_t  base_ns;  /* CLOCK_REALTIME of ts 0 */
    uint64_t shift_ns; /* ts minus time in the trace, modulo 2^64 */
    uint64_t second;   /* the second whose digits are in second_text */
    char     second_text[24];
    size_t   second_size;

    tkt_arena         texts;
    tkt_chrome_site  *sites;  /* by site: one for threads, then one for async tracks */
    tkt_chrome_track *tracks; /* by track */
    TKT_ARRAY_OF(tkt_chrome_device) devices;
    tkt_streams streams;
    uint32_t zero_stream; /* number of streams that have number 0 */
    tkt_map     contexts; /* context -> string of its device; empty unless `only` */
    TKT_ARRAY_OF(tkt_chrome_stream) stream_rows; /* by stream */
    TKT_ARRAY_OF(tkt_chrome_work) works; /* sorted by begin */
    tkt_memory_sums         memories;
    tkt_chrome_lanes overheads;
    uint64_t      *launchers; /* bits by tkt_chrome_external_id(): spans with an id; NULL: none */
    tkt_sms          sms;
    TKT_ARRAY_OF(tkt_chrome_lanes) sm_rows; /* by SM */
    tkt_phase_slices phase_slices; /* of the segment that is being written */
    uint32_t      *arrows; /* by call: number of arrows written from it */
    tkt_chrome_row steps_row;
    uint32_t pid; /* of the program, or TKT_CHROME_FREE_PIDS more */
    uint32_t       next_row_id;
    int32_t        next_order;

    uint64_t *keys;      /* by string: event << 32 | times seen in it */
    uint32_t  key_event; /* number of the event whose keys are being written */

    size_t  work; /* indices of the next events */
    size_t  step;
    size_t  mark;
    size_t  counter;
    size_t  flow;
    size_t  memory_event;
    size_t  wait;
    size_t  overhead;
    size_t  segment;
} tkt_chrome;

/* chrome.c: makes sure that the next event fits, if necessary by starting a new file. False after a
 * failure: stop writing. Call it before each event. */
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

/* The number that links a scope, its calls and what they launched: Kineto's "External id". 0
 * without a scope. */
static inline uint64_t tkt_chrome_external_id(const tkt_chrome *chrome, uint32_t track,
                                              uint32_t span)
{
    return span == TKT_NO_SPAN || track == TKT_NO_TRACK ? 0
                                                        : chrome->tracks[track].first + span + 1;
}

/* True if the span is a scope with calls or work of its own. */
static inline bool tkt_chrome_is_launcher(const tkt_chrome *chrome, uint64_t id)
{
    return chrome->launchers && chrome->launchers[id / 64] >> id % 64 & 1;
}

/* chrome_head.c */
void tkt_chrome_begin_file(tkt_chrome *chrome);

/* Writes a device's metadata, unless this file already has it. */
void tkt_chrome_announce_device(tkt_chrome *chrome, tkt_chrome_device *device);
void tkt_chrome_end_file(tkt_chrome *chrome, uint64_t end_ns, bool is_last);

/* Writes a row's metadata, unless this file already has it. */
void tkt_chrome_announce_slow(tkt_chrome *chrome, tkt_chrome_row *row);
static inline void tkt_chrome_announce(tkt_chrome *chrome, tkt_chrome_row *row)
{
    if (row->part != chrome->part)
        tkt_chrome_announce_slow(chrome, row);
}

/* chrome_head.c: creates the texts of chrome->sites[2 * number + is_async]. False without
 * memory. */
bool tkt_chrome_make_site(tkt_chrome *chrome, uint32_t number, bool is_async);

/* chrome_span.c: writes the spans that began until `last_ns` and are not written yet. */
void tkt_chrome_thread_spans(tkt_chrome *chrome, uint32_t track, uint64_t last_ns);

/* Writes the next span of an async track to a row that has been announced. */
void tkt_chrome_async_span(tkt_chrome *chrome, uint32_t track, const tkt_chrome_row *row);

/* chrome_head.c */
void tkt_chrome_row_init(tkt_chrome_row *row, uint32_t pid, uint32_t tid, int32_t order);
void tkt_chrome_async_spans(tkt_chrome *chrome, uint32_t track, uint64_t last_ns);

/* Returns a free row for a slice, and announces it. NULL without memory. */
tkt_chrome_row *tkt_chrome_find_row(tkt_chrome *chrome, tkt_chrome_lanes *lanes, uint64_t begin_ns,
                                    uint64_t end_ns);
void tkt_chrome_lanes_fini(tkt_chrome_lanes *lanes);

/* chrome_device.c */
takt_status tkt_chrome_find_works(tkt_chrome *chrome);
takt_status tkt_chrome_find_launchers(tkt_chrome *chrome);
void tkt_chrome_device_works(tkt_chrome *chrome, uint64_t last_ns);
void tkt_chrome_waits(tkt_chrome *chrome, uint64_t last_ns);
void tkt_chrome_overheads(tkt_chrome *chrome, uint64_t last_ns);
void tkt_chrome_device_properties(tkt_chrome *chrome); /* the list in the header */
void tkt_chrome_devices_fini(tkt_chrome *chrome);

/* Returns the index of a device, added if it is new. UINT32_MAX without memory. */
uint32_t tkt_chrome_device_index(tkt_chrome *chrome, uint32_t name);

/* chrome_phases.c */
void tkt_chrome_phases(tkt_chrome *chrome, uint64_t last_ns);
void tkt_chrome_phases_fini(tkt_chrome *chrome);

/* chrome_event.c */
void tkt_chrome_steps(tkt_chrome *chrome, uint64_t last_ns);
void tkt_chrome_marks(tkt_chrome *chrome, uint64_t last_ns);
void tkt_chrome_counters(tkt_chrome *chrome, uint64_t last_ns);
void tkt_chrome_flows(tkt_chrome *chrome, uint64_t last_ns);
void tkt_chrome_memory(tkt_chrome *chrome, uint64_t last_ns);

/* chrome_event.c: values */
void tkt_chrome_put_text(tkt_writer *writer, const char *text, size_t size); /* without quotes */
void tkt_chrome_put_string(tkt_chrome *chrome, uint32_t string);             /* with quotes */
void tkt_chrome_put_u64(tkt_writer *writer, uint64_t value);
void tkt_chrome_put_i64(tkt_writer *writer, int64_t value);
void tkt_chrome_put_ts(tkt_chrome *chrome, uint64_t time_ns); /* a time of the trace */

/* Writes begin and duration of a slice: 12.000,"dur":3.456   Both are times of the trace. */
void tkt_chrome_put_times(tkt_chrome *chrome, uint64_t begin_ns, uint64_t end_ns);

/* The double that readers parse from a ts or dur of so many nanoseconds. IEEE division rounds
 * correctly if both numbers are exact. From 2^53 ns on, the fraction is added to exact whole
 * microseconds: it never lies so close to the middle of two doubles that rounding it first could
 * matter. */
static inline double tkt_chrome_us(uint64_t ns)
{
    if (__builtin_expect(ns < UINT64_C(1) << 53, 1))
        return (double)ns / 1000.0;
    return (double)(ns / 1000) + (double)(ns % 1000) / 1000.0;
}

/* True if readers that add ts and dur, both with three decimals, get the end as they would parse it
 * as a ts. */
static inline bool tkt_chrome_adds_up(uint64_t begin, uint64_t end)
{
    return tkt_chrome_us(begin) + tkt_chrome_us(end - begin) == tkt_chrome_us(end);
}

/* Writes a duration with as many decimals as it takes to add up, at most 32 bytes. Times are ns
 * since ts 0. */
char *tkt_chrome_put_fine(char *out, uint64_t begin, uint64_t end);

/* JSON has no NaN and no infinities: they are written as "NaN", "Infinity", "-Infinity". */
void tkt_chrome_put_double(tkt_writer *writer, double value);

#endif
