/* Writes Perfetto traces packet by packet. The "perfetto" exporter uses it, and so does streaming
 * while recording. docs/formats.md describes the file.
 *
 *     tkt_perfetto file;
 *     tkt_perfetto_open(&file, &writer, trace);
 *     uint32_t row = tkt_perfetto_track(&file, track);
 *     tkt_perfetto_begin(&file, row, site, begin_ns);
 *     tkt_perfetto_end(&file, row, end_ns);
 *     status = tkt_perfetto_close(&file);
 *
 * Sites, strings, tracks and facts come from a takt_trace, which may grow while the file is open.
 * The trace need not contain the events: these functions write only what they are called with. A
 * row's descriptor, names and sources are written when the row first needs them.
 *
 * Each row is a packet sequence with its own clock, which counts from event to event. Events in
 * order of time take the least space; a time before the row's last one is written in full. A slice
 * that never ends reads as unfinished, so the file of a program that dies keeps its open slices.
 *
 * Failures of the writer stay in the writer. Failures to get memory set the file's status. All
 * functions may still be called after either. One thread at a time. */
#ifndef TKT_EXPORT_PERFETTO_H
#define TKT_EXPORT_PERFETTO_H

#include "base/containers.h"
#include "base/writer.h"
#include "export/devices.h"
#include "trace/model.h"
#include "trace/perfetto.h"
#include "trace/protobuf.h"

#include <stdint.h>

/* ======== Messages ======== */

/* Builds protobuf messages of unknown size: the rare ones, with texts and nested messages. A
 * message keeps its memory when it is cleared. */

typedef struct tkt_message {
    TKT_ARRAY(char);
    bool is_short; /* memory ran out; further fields are discarded */
} tkt_message; /* starts as {0}, ends with TKT_ARRAY_FREE */

static inline void tkt_message_clear(tkt_message *message) { message->count = 0; }

void tkt_message_uint(tkt_message *message, uint32_t field, uint64_t value);
void tkt_message_int(tkt_message *message, uint32_t field, int64_t value);
void tkt_message_double(tkt_message *message, uint32_t field, double value);
void tkt_message_fixed64(tkt_message *message, uint32_t field, uint64_t value);
void tkt_message_varint(tkt_message *message, uint64_t value); /* inside a packed field */

/* Text bytes, with invalid UTF-8 replaced: for Perfetto's fields of type string. */
void tkt_message_text(tkt_message *message, uint32_t field, const char *bytes, size_t size);
void tkt_message_string(tkt_message *message, uint32_t field, const char *text);

/* Appends the fields of another message unchanged. */
void tkt_message_append(tkt_message *message, const tkt_message *fields);

/* A nested message. `mark` is the value returned by tkt_message_begin(). */
size_t tkt_message_begin(tkt_message *message, uint32_t field);
void tkt_message_end(tkt_message *message, size_t mark);

/* The same, but zero and empty values are omitted; readers assume these values. */
void tkt_message_uint_if(tkt_message *message, uint32_t field, uint64_t value);
void tkt_message_double_if(tkt_message *message, uint32_t field, double value);
void tkt_message_string_if(tkt_message *message, uint32_t field, const char *text);

/* ======== Packets ======== */

#define TKT_PERFETTO_EVENT_BYTES 24 /* the longest event has 20 bytes; two registers copy it */

/* The bytes that all events of a site have in common, ready to be copied. */
typedef struct tkt_perfetto_site {
    uint32_t iid; /* its number in the file, in order of first use; 0: not used yet */
    uint8_t  size;
    char     event[TKT_PERFETTO_EVENT_BYTES]; /* the track_event of a slice's begin */
} tkt_perfetto_site;

/* A set of small numbers. */
typedef TKT_ARRAY_OF(uint64_t) tkt_perfetto_set;

/* A packet sequence. */
typedef struct tkt_perfetto_row {
    uint64_t         last_ns;
    uint32_t         sequence;
    uint8_t          head_size;
    char             head[8]; /* the sequence id as a field, at most six bytes */
    tkt_perfetto_set sites;   /* iids of interned sites */
    tkt_perfetto_set keys;
    tkt_perfetto_set stacks;
} tkt_perfetto_row;

/* Rows for slices that may overlap: the lanes of an async track or a stream. */
typedef struct tkt_perfetto_lanes {
    tkt_lanes lanes;
    TKT_ARRAY_OF(uint32_t) rows; /* by lane */
} tkt_perfetto_lanes;

/* The counter track for one kind of memory of a device. */
typedef struct tkt_perfetto_memory_track {
    uint32_t device; /* string */
    uint32_t kind;
    uint64_t uuid;
} tkt_perfetto_memory_track;

typedef struct tkt_perfetto {
    tkt_writer       *writer;
    const takt_trace *trace;
    takt_status       status;
    uint64_t          base_ns; /* the time at which the clocks of all rows start */
    uint64_t          last_uuid;
    uint32_t          steps_row;   /* 0: no such row yet; row 0 belongs to the file itself */
    uint32_t          events_row;  /* row of memory events without a thread; 0: none yet */
    uint32_t          site_count;
    uint32_t          key_count;
    uint32_t first_shape; /* number in the file of the trace's first shape */
    uint32_t shape_count; /* number of shapes written since; the next two count frames and
                           * stacks written */
    size_t            frame_count;
    size_t            stack_count;
    size_t            takt_mark;   /* of tkt_perfetto_takt(), as the next */
    size_t            field_mark;
    tkt_message       message;     /* the packet being built */
    tkt_message       annotations; /* of the next event */
    tkt_map           keys;        /* string -> number in the file */
    tkt_map           phase_names; /* string -> number in the file + 1 */
    tkt_map           counters;    /* string -> uuid of the counter's track */
    tkt_map           thread_ids;  /* thread id -> number of tracks written for it */
    TKT_ARRAY_OF(tkt_perfetto_row) rows;
    TKT_ARRAY_OF(tkt_perfetto_lanes) tracks; /* by track; a thread has one lane */
    tkt_streams       streams;
    TKT_ARRAY_OF(tkt_perfetto_lanes) stream_rows; /* by stream */
    tkt_perfetto_lanes waits;
    tkt_perfetto_lanes overheads;
    TKT_ARRAY_OF(tkt_perfetto_memory_track) memories;
    TKT_ARRAY_OF(tkt_message) shapes; /* by shape: annotations of its activities */
    tkt_map           device_uuids; /* string -> uuid */
    TKT_ARRAY_OF(tkt_perfetto_site) sites;
} tkt_perfetto;

/* Writes the head of the file, including the facts known so far. Times count from the trace's
 * begin_ns. The trace is borrowed until the file is closed. If `status` is not TAKT_OK afterwards,
 * the first row is missing too, and the file can only be closed. */
void tkt_perfetto_open(tkt_perfetto *file, tkt_writer *writer, const takt_trace *trace);

/* Writes the current facts. Readers use the last facts of a file. */
void tkt_perfetto_facts(tkt_perfetto *file);

/* Writes the run so far. Readers use the last run of a file, and add the steps that follow it. */
void tkt_perfetto_run(tkt_perfetto *file, const tkt_run_steps *run);

/* Writes the folded form. Call it once; for a trace folded while the file is written, call it just
 * before closing. */
void tkt_perfetto_fold(tkt_perfetto *file, const tkt_fold *fold);

/* Packs what a writer hands to `sink`, and passes it on. The writer must only hand over whole
 * packets, as tkt_perfetto's functions do. In a build without zlib *sink is `into`. */
typedef struct tkt_perfetto_pack {
    takt_sink   into;
    tkt_packer *packer;
} tkt_perfetto_pack;

takt_status tkt_perfetto_pack_init(tkt_perfetto_pack *pack, takt_sink into, takt_sink *sink);
void tkt_perfetto_pack_fini(tkt_perfetto_pack *pack); /* accepts a zeroed struct */

/* Marks the file as complete and frees everything except the writer, which is not flushed. */
takt_status tkt_perfetto_close(tkt_perfetto *file);

/* Returns the row of a track, opened together with the tracks before it. For an async track: its
 * first lane. */
uint32_t tkt_perfetto_track(tkt_perfetto *file, uint32_t track);

/* Writes the current name of a track for Takt. Perfetto keeps the first name. */
void tkt_perfetto_rename(tkt_perfetto *file, uint32_t track);

/* Returns the row of a lane of an async track that is free at `begin_ns`, and takes it until
 * `end_ns`. */
uint32_t tkt_perfetto_lane_for(tkt_perfetto *file, uint32_t track, uint64_t begin_ns,
                               uint64_t end_ns);

/* The same for a span whose end is not known yet: it has the lane until it is freed. *lane is
 * UINT32_MAX without memory. */
uint32_t tkt_perfetto_hold_lane(tkt_perfetto *file, uint32_t track, uint64_t begin_ns,
                                uint32_t *lane);
void tkt_perfetto_free_lane(tkt_perfetto *file, uint32_t track, uint32_t lane, uint64_t end_ns);

void tkt_perfetto_begin(tkt_perfetto *file, uint32_t row, uint32_t site, uint64_t time_ns);
void tkt_perfetto_end(tkt_perfetto *file, uint32_t row, uint64_t time_ns);
void tkt_perfetto_mark(tkt_perfetto *file, uint32_t row, uint32_t site, uint64_t time_ns);
void tkt_perfetto_counter(tkt_perfetto *file, uint32_t row, const tkt_counter *counter);
void tkt_perfetto_flow(tkt_perfetto *file, uint32_t row, const tkt_flow *flow);
void tkt_perfetto_step(tkt_perfetto *file, const tkt_step *step);

/* `current_bytes`: bytes of that device and kind allocated after the event. */
void tkt_perfetto_memory(tkt_perfetto *file, uint32_t row, const tkt_memory_event *event,
                         uint64_t current_bytes);

/* Sums up these bytes for all memory events beforehand: they are sorted by time, but tracks are
 * written one after the other. *out is NULL without events; the caller frees it. False without
 * memory. */
bool tkt_perfetto_memory_after(const takt_trace *trace, uint64_t **out);

/* ---- Devices: perfetto_device.c -------------------------------------------------------------- */

/* Writes the known properties and shapes of devices. Call it before writing their rows, and again
 * when more is known. */
void tkt_perfetto_devices(tkt_perfetto *file);

/* For a trace that is going to forget its shapes: all that follow get new numbers in the file. */
void tkt_perfetto_forget_shapes(tkt_perfetto *file);

/* Returns the number of an activity's stream. */
uint32_t tkt_perfetto_stream_of(tkt_perfetto *file, const tkt_activity *activity);

/* Writes an activity of a device. Call in order of begin for each stream. */
void tkt_perfetto_activity(tkt_perfetto *file, uint32_t stream, const tkt_activity *activity);

/* Write a wait or an overhead. Call in order of begin. */
void tkt_perfetto_wait(tkt_perfetto *file, const tkt_wait *wait);
void tkt_perfetto_overhead(tkt_perfetto *file, const tkt_overhead *overhead);

/* Writes what timers inside kernels recorded: for Takt, and as slices on the rows of SMs. Call it
 * once. tkt_perfetto_blocks() leaves out the slices, and writes what the trace has at the moment. */
void tkt_perfetto_phases(tkt_perfetto *file);
void tkt_perfetto_blocks(tkt_perfetto *file);

/* Returns the row of memory events without a known thread. */
uint32_t tkt_perfetto_events_row(tkt_perfetto *file);

/* Writes node_activities. Call it after tkt_perfetto_fold(). */
void tkt_perfetto_node_activities(tkt_perfetto *file);

/* These functions annotate the next event, which must be on `row`. Annotations of a slice may come
 * before its begin or before its end. */
void tkt_perfetto_arg(tkt_perfetto *file, uint32_t row, const tkt_arg *arg);
void tkt_perfetto_text_arg(tkt_perfetto *file, uint32_t row, uint32_t key, const char *text);
void tkt_perfetto_work(tkt_perfetto *file, uint32_t row, const tkt_work *work);
void tkt_perfetto_flags(tkt_perfetto *file, uint32_t row, uint32_t span_flags);

/* The first function writes new call stacks of the trace; call it before writing slices that have
 * them. The second one sets the call stack of the next slice. */
void tkt_perfetto_stacks(tkt_perfetto *file);
void tkt_perfetto_stack(tkt_perfetto *file, uint32_t row, uint32_t stack);

/* `has_work`: the call launched activities, and arrows lead to them. */
void tkt_perfetto_call(tkt_perfetto *file, uint32_t row, const tkt_call_info *call, bool has_work);

/* Sets the span that the next flow or memory event belongs to. Without this call it is the
 * innermost open slice of the row. If the event's time is earlier than the row's last event, it is
 * the slice at that time. */
void tkt_perfetto_owner(tkt_perfetto *file, uint32_t row, uint32_t span);

/* ======== The file ======== */

/* Shared by the files of the packet writer. */

#define TKT_PERFETTO_PROCESS_UUID 1u

/* Arrows from calls to activities have this number plus the correlation id. Arrows of the program
 * may have any number. */
#define TKT_PERFETTO_FLOW (UINT64_C(0x74616B74) << 32)

static inline bool tkt_perfetto_set_has(const tkt_perfetto_set *set, uint32_t number)
{
    return number >> 6 < set->count && (set->items[number >> 6] >> (number & 63) & 1);
}

bool tkt_perfetto_set_add(tkt_perfetto_set *set, uint32_t number);

/* Starts an empty packet on the sequence of `row`. */
tkt_message *tkt_perfetto_packet(tkt_perfetto *file, uint32_t row);

/* Writes the packet. */
void tkt_perfetto_packet_write(tkt_perfetto *file);

/* The same for a packet without a row, with only this field of Takt's message. */
tkt_message *tkt_perfetto_takt(tkt_perfetto *file, uint32_t field);
void tkt_perfetto_takt_write(tkt_perfetto *file);

void tkt_perfetto_no_memory(tkt_perfetto *file);

/* Adds a sequence whose events are on the track `uuid` by default. Without memory it returns row 0,
 * the file's own. */
uint32_t tkt_perfetto_add_row(tkt_perfetto *file, uint64_t uuid);

/* Returns the row of the steps. */
uint32_t tkt_perfetto_steps_row(tkt_perfetto *file);

/* These return the uuid of a counter's track. The first call for a counter describes the track. */
uint64_t tkt_perfetto_counter_uuid(tkt_perfetto *file, uint32_t name);
uint64_t tkt_perfetto_memory_uuid(tkt_perfetto *file, uint32_t device, uint32_t kind);

/* Takt's own part of a track's description. */
typedef struct tkt_takt_half {
    tkt_pf_track_kind kind;
    uint64_t    index; /* index of the track in the trace; for a counter its uuid */
    uint32_t    lane;
    uint32_t    thread_id;
    const char *name;
    uint32_t    context; /* of a stream, like `stream` */
    uint32_t    stream;
    uint32_t    memory_kind;
} tkt_takt_half;

/* Adds a row and describes its track: the name in the viewer, and the parent track. */
uint32_t tkt_perfetto_open_row(tkt_perfetto *file, const tkt_takt_half *half, const char *name,
                               uint64_t parent);

/* Returns the track that is the parent of a device's tracks. */
uint64_t tkt_perfetto_device_uuid(tkt_perfetto *file, uint32_t device);

/* Describes a track that contains only other tracks. */
void tkt_perfetto_group(tkt_perfetto *file, uint64_t uuid, const char *name, int32_t rank);

/* Takes a lane; *lane is UINT32_MAX without memory. True if the lane already has a row. Otherwise
 * the caller opens a row and adds it. */
bool tkt_perfetto_take_lane(tkt_perfetto *file, tkt_perfetto_lanes *rows, uint64_t begin_ns,
                            uint64_t end_ns, uint32_t *lane);
void tkt_perfetto_add_lane(tkt_perfetto *file, tkt_perfetto_lanes *rows, uint32_t row);
void tkt_perfetto_lanes_fini(tkt_perfetto_lanes *rows);

/* Starts a packet with an event of this type and returns its mark; the caller may add fields.
 * tkt_perfetto_event_end() appends the annotations and writes the packet. */
size_t tkt_perfetto_event(tkt_perfetto *file, uint32_t row, uint32_t type, uint64_t time_ns);
void tkt_perfetto_event_end(tkt_perfetto *file, size_t mark);

/* Annotates the next event under one of Takt's own names. `field` is the type of the value. */
void tkt_perfetto_annotate(tkt_perfetto *file, uint32_t row, tkt_pf_key key, uint32_t field,
                           uint64_t value);

/* Writes statistics as a field of a message; omitted if they are empty. */
void tkt_perfetto_put_stats(tkt_message *into, uint32_t field, const tkt_stats *stats,
                            const tkt_histogram *histogram);

/* Writes an interned text. */
void tkt_perfetto_put_interned(tkt_message *packet, uint32_t list, uint32_t iid, const char *name);

/* Writes the fields of a struct, as described by `fields`. */
void tkt_perfetto_put_fields(tkt_perfetto *file, tkt_message *into, const tkt_pf_field *fields,
                             const void *from);

void tkt_perfetto_devices_fini(tkt_perfetto *file);

/* Writes a site of the trace if it is new in the file, and interns it on the row. NULL without
 * memory. */
const tkt_perfetto_site *tkt_perfetto_introduce(tkt_perfetto *file, uint32_t row, uint32_t site);

/* Returns the number under which nodes of a fold refer to a site. The first call describes the
 * site. 0 without memory. */
uint32_t tkt_perfetto_site_iid(tkt_perfetto *file, uint32_t site);

/* Interns the name of one of Takt's annotations on the row. */
void tkt_perfetto_use_key(tkt_perfetto *file, uint32_t row, tkt_pf_key key);

/* The same for the key of an argument. Returns its number, or 0 without memory. */
uint32_t tkt_perfetto_arg_key(tkt_perfetto *file, uint32_t row, uint32_t string);

static inline const tkt_perfetto_site *tkt_perfetto_site_on(tkt_perfetto *file, uint32_t row,
                                                            uint32_t site)
{
    if (__builtin_expect(site < file->sites.count, 1)) {
        const tkt_perfetto_site *known = &file->sites.items[site];
        if (__builtin_expect(tkt_perfetto_set_has(&file->rows.items[row].sites, known->iid), 1))
            return known;
    }
    return tkt_perfetto_introduce(file, row, site);
}

#endif
