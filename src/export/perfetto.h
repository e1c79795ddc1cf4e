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

#include "base/containers.h"
#include "base/writer.h"
#include "export/devices.h"
#include "trace/model.h"
#include "trace/perfetto.h"
#include "trace/protobuf.h"

#include <stdint.h>

/* ======== Messages ======== */

/* Building protobuf messages whose size is not known beforehand: the rare ones, with texts and
 * messages inside messages. Memory is kept from one message to the next. */

typedef struct tkt_message {
    TKT_ARRAY(char);
    bool is_short; /* memory ran out; what follows is thrown away */
} tkt_message; /* starts as {0}, ends with TKT_ARRAY_FREE */

static inline void tkt_message_clear(tkt_message *message) { message->count = 0; }

void tkt_message_uint(tkt_message *message, uint32_t field, uint64_t value);
void tkt_message_int(tkt_message *message, uint32_t field, int64_t value);
void tkt_message_double(tkt_message *message, uint32_t field, double value);
void tkt_message_fixed64(tkt_message *message, uint32_t field, uint64_t value);
void tkt_message_varint(tkt_message *message, uint64_t value); /* inside a packed field */

/* Bytes that are text, with invalid UTF-8 replaced: Perfetto's fields of type string. */
void tkt_message_text(tkt_message *message, uint32_t field, const char *bytes, size_t size);
void tkt_message_string(tkt_message *message, uint32_t field, const char *text);

/* Another message, as it is. */
void tkt_message_append(tkt_message *message, const tkt_message *fields);

/* A message within a message; `mark` is what begin returned. */
size_t tkt_message_begin(tkt_message *message, uint32_t field);
void tkt_message_end(tkt_message *message, size_t mark);

/* The same fields, left out where they are zero or empty, which is what reading gives then. */
void tkt_message_uint_if(tkt_message *message, uint32_t field, uint64_t value);
void tkt_message_double_if(tkt_message *message, uint32_t field, double value);
void tkt_message_string_if(tkt_message *message, uint32_t field, const char *text);

/* ======== Packets ======== */

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

/* ======== The file ======== */

/* What the parts of the packet writer share. */

#define TKT_PERFETTO_PROCESS_UUID 1u

/* Arrows from calls to activities have this number plus the correlation id; programs' own arrows
 * have whatever they like. */
#define TKT_PERFETTO_FLOW (UINT64_C(0x74616B74) << 32)

static inline bool tkt_perfetto_set_has(const tkt_perfetto_set *set, uint32_t number)
{
    return number >> 6 < set->count && (set->items[number >> 6] >> (number & 63) & 1);
}

bool tkt_perfetto_set_add(tkt_perfetto_set *set, uint32_t number);

/* An empty packet to be filled, on the sequence of `row`. */
tkt_message *tkt_perfetto_packet(tkt_perfetto *file, uint32_t row);

/* Writes the packet that has been built. */
void tkt_perfetto_packet_write(tkt_perfetto *file);

void tkt_perfetto_no_memory(tkt_perfetto *file);

/* A sequence whose events are on the track `uuid` by default; row 0, the file's own, when there is
 * no memory. */
uint32_t tkt_perfetto_add_row(tkt_perfetto *file, uint64_t uuid);

/* The row that steps are on. */
uint32_t tkt_perfetto_steps_row(tkt_perfetto *file);

/* The uuids of counters' tracks, which are described at the first call. */
uint64_t tkt_perfetto_counter_uuid(tkt_perfetto *file, uint32_t name);
uint64_t tkt_perfetto_memory_uuid(tkt_perfetto *file, uint32_t device, uint32_t kind);

/* Takt's half of a track's description. */
typedef struct tkt_takt_half {
    tkt_pf_track_kind kind;
    uint64_t    index; /* of the track in the trace; of a counter: its uuid */
    uint32_t    lane;
    uint32_t    thread_id;
    const char *name;
    uint32_t    context; /* of streams */
    uint32_t    stream;
    uint32_t    memory_kind;
} tkt_takt_half;

/* A row and the description of its track: its name in the viewer, and whose child it is. */
uint32_t tkt_perfetto_open_row(tkt_perfetto *file, const tkt_takt_half *half, const char *name,
                               uint64_t parent);

/* The track that those of a device are children of. */
uint64_t tkt_perfetto_device_uuid(tkt_perfetto *file, uint32_t device);

/* Describes a track on which there is nothing but other tracks. */
void tkt_perfetto_group(tkt_perfetto *file, uint64_t uuid, const char *name, int32_t rank);

/* Takes a lane; *lane is UINT32_MAX when there is no memory. Whether its row is there already; if
 * not, the caller opens and adds it. */
bool tkt_perfetto_take_lane(tkt_perfetto *file, tkt_perfetto_lanes *rows, uint64_t begin_ns,
                            uint64_t end_ns, uint32_t *lane);
void tkt_perfetto_add_lane(tkt_perfetto *file, tkt_perfetto_lanes *rows, uint32_t row);
void tkt_perfetto_lanes_fini(tkt_perfetto_lanes *rows);

/* Begins a packet with an event of the given type, of which more may follow; returns its mark. The
 * annotations that were made are put behind it. */
size_t tkt_perfetto_event(tkt_perfetto *file, uint32_t row, uint32_t type, uint64_t time_ns);
void tkt_perfetto_event_end(tkt_perfetto *file, size_t mark);

/* One annotation of the next event with a name of Takt's own; `field` is its type. */
void tkt_perfetto_annotate(tkt_perfetto *file, uint32_t row, tkt_pf_key key, uint32_t field,
                           uint64_t value);

/* Statistics as a field of a message, left out where there is nothing to tell. */
void tkt_perfetto_put_stats(tkt_message *into, uint32_t field, const tkt_stats *stats,
                            const tkt_histogram *histogram);

/* Interned texts. */
void tkt_perfetto_put_interned(tkt_message *packet, uint32_t list, uint32_t iid, const char *name);

/* The fields of a struct as tkt_pf_field describes them. */
void tkt_perfetto_put_fields(tkt_perfetto *file, tkt_message *into, const tkt_pf_field *fields,
                             const void *from);

void tkt_perfetto_devices_fini(tkt_perfetto *file);

/* Makes a site of the trace known to the file and interned on the row; NULL without memory. */
const tkt_perfetto_site *tkt_perfetto_introduce(tkt_perfetto *file, uint32_t row, uint32_t site);

/* The number that nodes of a fold call a site by; described at the first call, 0 without memory. */
uint32_t tkt_perfetto_site_iid(tkt_perfetto *file, uint32_t site);

/* Interns the name of an annotation on the row. */
void tkt_perfetto_use_key(tkt_perfetto *file, uint32_t row, tkt_pf_key key);

/* The same for the key of an argument; its number, or 0 without memory. */
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
