/* Writing Perfetto traces packet by packet: the lower half of the "perfetto" exporter, which a
 * program that streams while it records uses too. docs/formats.md describes the file.
 *
 *     tkt_perfetto file;
 *     tkt_perfetto_open(&file, &writer, trace);
 *     uint32_t row = tkt_perfetto_track(&file, track);
 *     tkt_perfetto_begin(&file, row, site, begin_ns);
 *     tkt_perfetto_end(&file, row, end_ns);
 *     status = tkt_perfetto_close(&file);
 *
 * Sites, strings, tracks and facts are those of a takt_trace. It may grow while the file is open,
 * and it may hold no spans at all: what is written is what these functions are called with. What a
 * row needs - its descriptor, names, sources - is written the first time that it is used.
 *
 * Each row is a packet sequence with a clock of its own that counts on from event to event: times
 * that do not decrease on a row take least room, others are written whole. A slice that has begun
 * and never ends reads as unfinished, so that a program that dies leaves what it had.
 *
 * Failures of the writer stay in the writer, those for want of memory in the file; all calls may
 * go on after either. One thread at a time. */
#ifndef TKT_EXPORT_PERFETTO_H
#define TKT_EXPORT_PERFETTO_H

#include "base/writer.h"
#include "export/lanes.h"
#include "export/perfetto_message.h"
#include "trace/model.h"

#define TKT_PERFETTO_EVENT_BYTES 24 /* the longest has 20; two registers copy it */

/* What the events of a site have in common, ready to be copied. */
typedef struct tkt_perfetto_site {
    uint32_t iid; /* its number in the file, by first use; 0: not used yet */
    uint8_t  size;
    char     event[TKT_PERFETTO_EVENT_BYTES]; /* track_event of a slice's begin */
} tkt_perfetto_site;

/* A set of small numbers. */
typedef TKT_ARRAY_OF(uint64_t) tkt_perfetto_set;

/* A packet sequence. */
typedef struct tkt_perfetto_row {
    uint64_t         last_ns;
    uint32_t         sequence;
    uint8_t          head_size;
    char             head[8]; /* its sequence id as a field, at most six bytes */
    tkt_perfetto_set sites;   /* iids of interned sites */
    tkt_perfetto_set keys;
    tkt_perfetto_set stacks;
} tkt_perfetto_row;

/* The rows of what may overlap: the lanes of an async track, of a stream. */
typedef struct tkt_perfetto_lanes {
    tkt_lanes lanes;
    TKT_ARRAY_OF(uint32_t) rows; /* by lane */
} tkt_perfetto_lanes;

/* A counter's track of a device's memory of one kind. */
typedef struct tkt_perfetto_memory_track {
    uint32_t device; /* string */
    uint32_t kind;
    uint64_t uuid;
} tkt_perfetto_memory_track;

typedef struct tkt_perfetto {
    tkt_writer       *writer;
    const takt_trace *trace;
    takt_status       status;
    uint64_t          base_ns; /* where the clocks of all rows start */
    uint64_t          last_uuid;
    uint32_t          steps_row;   /* 0: no such row yet; row 0 is the file's own */
    uint32_t          events_row;  /* of memory events without a thread; the same */
    uint32_t          site_count;
    uint32_t          key_count;
    uint32_t          shape_count; /* that the file has, and these: */
    size_t            frame_count;
    size_t            stack_count;
    tkt_message       message;     /* the packet that is being built */
    tkt_message       annotations; /* of the next event */
    tkt_map           keys;        /* string -> number in the file */
    tkt_map           counters;    /* string -> uuid of the counter's track */
    tkt_map           thread_ids;  /* that a track has been written for */
    TKT_ARRAY_OF(tkt_perfetto_row) rows;
    TKT_ARRAY_OF(tkt_perfetto_lanes) tracks; /* of threads: one lane */
    tkt_streams       streams;
    TKT_ARRAY_OF(tkt_perfetto_lanes) stream_rows; /* by stream */
    tkt_perfetto_lanes waits;
    tkt_perfetto_lanes overheads;
    TKT_ARRAY_OF(tkt_perfetto_memory_track) memories;
    TKT_ARRAY_OF(tkt_message) shapes; /* annotations that activities of a shape have in common */
    tkt_map           device_uuids; /* string -> uuid */
    TKT_ARRAY_OF(tkt_perfetto_site) sites;
} tkt_perfetto;

/* Writes the head of the file, with facts as far as they are known. The trace's begin_ns is where
 * times count from; its memory is borrowed until the file is closed. Unless `status` is TAKT_OK
 * behind it, there is not even the first row, and the file can only be closed. */
void tkt_perfetto_open(tkt_perfetto *file, tkt_writer *writer, const takt_trace *trace);

/* Writes the facts as they are now; the last ones in a file count. */
void tkt_perfetto_facts(tkt_perfetto *file);

/* Writes the folded form. Call it once; of a trace that is folded while the file is being written,
 * before closing. */
void tkt_perfetto_fold(tkt_perfetto *file, const tkt_fold *fold);

/* Marks the file as complete and frees everything but the writer, which is not flushed. */
takt_status tkt_perfetto_close(tkt_perfetto *file);

/* The row of a track of the trace, which is opened with all tracks before it. Async tracks: the
 * first of its lanes. */
uint32_t tkt_perfetto_track(tkt_perfetto *file, uint32_t track);

/* Tells Takt the name that the trace's track has by now; Perfetto keeps the first one. */
void tkt_perfetto_rename(tkt_perfetto *file, uint32_t track);

/* A lane of an async track that is free at `begin_ns`, and from then on taken until `end_ns`. */
uint32_t tkt_perfetto_lane_for(tkt_perfetto *file, uint32_t track, uint64_t begin_ns,
                               uint64_t end_ns);

void tkt_perfetto_begin(tkt_perfetto *file, uint32_t row, uint32_t site, uint64_t time_ns);
void tkt_perfetto_end(tkt_perfetto *file, uint32_t row, uint64_t time_ns);
void tkt_perfetto_mark(tkt_perfetto *file, uint32_t row, uint32_t site, uint64_t time_ns);
void tkt_perfetto_counter(tkt_perfetto *file, uint32_t row, const tkt_counter *counter);
void tkt_perfetto_flow(tkt_perfetto *file, uint32_t row, const tkt_flow *flow);
void tkt_perfetto_step(tkt_perfetto *file, const tkt_step *step);

/* `current_bytes`: allocated of that device and kind after the event. */
void tkt_perfetto_memory(tkt_perfetto *file, uint32_t row, const tkt_memory_event *event,
                         uint64_t current_bytes);

/* ---- Devices: perfetto_device.c -------------------------------------------------------------- */

/* What is known of the trace's devices, before their rows; once more where more is known. */
void tkt_perfetto_devices(tkt_perfetto *file);

/* The number of the stream that an activity is on. */
uint32_t tkt_perfetto_stream_of(tkt_perfetto *file, const tkt_activity *activity);

/* An activity of a device. Those of a stream come in the order of their begin. */
void tkt_perfetto_activity(tkt_perfetto *file, uint32_t stream, const tkt_activity *activity);

/* The same: by begin. */
void tkt_perfetto_wait(tkt_perfetto *file, const tkt_wait *wait);
void tkt_perfetto_overhead(tkt_perfetto *file, const tkt_overhead *overhead);

/* The row of memory events that no thread is known of. */
uint32_t tkt_perfetto_events_row(tkt_perfetto *file);

/* Writes node_activities; behind the fold. */
void tkt_perfetto_node_activities(tkt_perfetto *file);

/* These annotate the next event, which must be on `row`. Those of a slice may stand before its end
 * as well as before its begin. */
void tkt_perfetto_arg(tkt_perfetto *file, uint32_t row, const tkt_arg *arg);
void tkt_perfetto_text_arg(tkt_perfetto *file, uint32_t row, uint32_t key, const char *text);
void tkt_perfetto_work(tkt_perfetto *file, uint32_t row, const tkt_work *work);
void tkt_perfetto_flags(tkt_perfetto *file, uint32_t row, uint32_t span_flags);

/* What is new of the trace's call stacks, before the slices that have them; and which one a slice
 * has. */
void tkt_perfetto_stacks(tkt_perfetto *file);
void tkt_perfetto_stack(tkt_perfetto *file, uint32_t row, uint32_t stack);

/* `has_work`: activities have it as their call, and arrows lead to them. */
void tkt_perfetto_call(tkt_perfetto *file, uint32_t row, const tkt_call_info *call, bool has_work);

/* The span that the next flow or memory event belongs to. Otherwise it is the innermost slice that
 * is open on the row; or, when the event's time lies before what has been written on it, the slice
 * that the time falls into. */
void tkt_perfetto_owner(tkt_perfetto *file, uint32_t row, uint32_t span);

#endif
