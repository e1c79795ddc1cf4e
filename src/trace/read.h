/* Reads Takt's Perfetto files. The files read*.c share these types and functions. */
#ifndef TKT_TRACE_READ_H
#define TKT_TRACE_READ_H

#include "base/file.h"
#include "trace/model.h"
#include "trace/perfetto.h"
#include "trace/protobuf.h"

/* Makes a trace from the bytes of a file, compressed with gzip or not. Messages call the file
 * `name`. Fails as takt_trace_open() does. */
takt_status tkt_trace_read(const uint8_t *bytes, size_t size, const char *name, takt_trace **out,
                           takt_error *error);

/* The same for an open input, whose name and error it uses. The caller closes the input. Unless
 * `host_devices` is NULL, the trace lacks activities of the host on devices whose names do not begin
 * like it: only their number is known. */
takt_status tkt_trace_read_input(tkt_input *input, const char *host_devices, takt_trace **out);

/* A packet sequence. */
typedef struct tkt_read_row {
    tkt_pf_track_kind kind;
    uint32_t          track;
    uint64_t          last_ns;   /* the current time of its clock */
    uint64_t          latest_ns; /* of its events */
    uint32_t          stream; /* this and the next two: rows of streams only */
    uint32_t          context;
    uint32_t          device; /* string */
    TKT_ARRAY_OF(uint32_t) open; /* open spans, activities, waits or overheads; outermost first */
} tkt_read_row;

/* The state of a reader. Files number sites and keys by first use: numbers count up, and these
 * tables stay smaller than the file. */
typedef struct tkt_read {
    takt_trace    *trace;
    tkt_input     *input;
    takt_status    status;
    uint64_t       latest_ns; /* of all times seen; 0: none yet */
    bool           has_facts;
    bool           are_facts_late; /* the last facts came after events: the file is a stream */
    bool           has_step; /* a step is open */
    bool           is_complete;
    tkt_unpacker  *unpacker; /* NULL: no compressed packet yet */
    const uint8_t *packed;   /* the compressed packet being read, or NULL */
    tkt_map        counters; /* uuid -> name, a string */
    tkt_map        memories; /* uuid -> device, a string << 32 | kind of memory */
    TKT_ARRAY_OF(tkt_read_row) rows;  /* sequence - 1 */
    TKT_ARRAY_OF(uint32_t) sites;     /* number in the file - 1 -> index */
    TKT_ARRAY_OF(uint32_t) keys;      /* number in the file - TKT_PF_KEY_FIRST -> string */
    TKT_ARRAY_OF(uint32_t) phases;    /* number in the file -> string */
    uint64_t       phase_start; /* cycles: of the last record of a segment */
} tkt_read;

/* Stands for the span of an event that was written late, until the time of the event decides. */
#define TKT_READ_SPAN_BY_TIME (TKT_NO_SPAN - 1)

/* Both set the status and return false. `at` is the place in the file. */
bool tkt_read_bad(tkt_read *read, const uint8_t *at, const char *problem);
bool tkt_read_no_memory(tkt_read *read);

/* All functions below return false on failure, with the status set. */

/* Checks that a message was read to its end. */
bool tkt_read_done(tkt_read *read, const tkt_pb_reader *message);

/* Interns the text of a field. */
bool tkt_read_text(tkt_read *read, const tkt_pb_field *field, uint32_t *string);

/* Reads a packet from its content; bytes up to `readable` may be loaded. The second function reads
 * those that the first one does not know by their form. */
bool tkt_read_packet(tkt_read *read, const tkt_pb_field *packet, const uint8_t *readable);
bool tkt_read_other_packet(tkt_read *read, const tkt_pb_field *packet);

/* Reads packets up to the end of the trace or of these bytes. */
bool tkt_read_packets(tkt_read *read, tkt_pb_reader *packets);

/* Reads the packets of a compressed packet. */
bool tkt_read_packed(tkt_read *read, const tkt_pb_field *packed);

/* Reads a track_event on any row. */
bool tkt_read_timed_event(tkt_read *read, tkt_read_row *row, uint64_t time_ns,
                          const tkt_pb_field *event);

/* Add a span or activity that stays open; `at` is the place of the event. */
bool tkt_read_begin_span(tkt_read *read, tkt_read_row *row, uint64_t time_ns, uint64_t site_iid,
                         const uint8_t *at);
bool tkt_read_begin_activity(tkt_read *read, tkt_read_row *row, uint64_t time_ns,
                             uint64_t shape_iid, uint32_t correlation, const uint8_t *at);

/* Ends the innermost open span. *index: that span; TKT_NO_SPAN if none is open. */
bool tkt_read_end_span(tkt_read *read, tkt_read_row *row, uint64_t time_ns, const uint8_t *at,
                       uint32_t *index);

/* Ends the innermost open activity, wait or overhead of a row, if there is one. */
bool tkt_read_end_on_device(tkt_read *read, tkt_read_row *row, uint64_t time_ns,
                            const uint8_t *at);

/* Reads a track_event on the row of a track or of the steps. `is_late`: the file has later events
 * before it. */
bool tkt_read_event(tkt_read *read, tkt_read_row *row, uint64_t time_ns, bool is_late,
                    const tkt_pb_field *event);

/* Reads a track_event on the row of a device's activities, waits or overheads. */
bool tkt_read_device_event(tkt_read *read, tkt_read_row *row, uint64_t time_ns,
                           const tkt_pb_field *event);

/* At the end of the file: drops the open events of such a row, since their durations are
 * unknown. */
void tkt_read_close_device_row(tkt_read *read, tkt_read_row *row);

/* The row of a packet sequence; NULL for one that is not Takt's. */
static inline tkt_read_row *tkt_read_row_of(tkt_read *read, uint64_t sequence)
{
    return sequence - 1 < read->rows.count ? &read->rows.items[sequence - 1] : NULL;
}

static inline bool tkt_read_is_device_row(const tkt_read_row *row)
{
    return row->kind >= TKT_PF_TRACK_OF_STREAM && row->kind <= TKT_PF_TRACK_OF_OVERHEADS;
}

/* At the end of a file: adds the steps that a stream has written after its run. */
void tkt_read_complete_run(takt_trace *trace);

/* Reads a message into the members of a struct. */
bool tkt_read_fields(tkt_read *read, const tkt_pb_field *from, const tkt_pf_field *fields,
                     void *out);

/* Statistics. The first function makes a histogram in the arena of the trace's fold; the second one
 * sets *histogram to the field with the histogram, which the third one reads. */
bool tkt_read_stats(tkt_read *read, const tkt_pb_field *from, tkt_stats *stats,
                    tkt_histogram **histogram);
bool tkt_read_stats_fields(tkt_read *read, const tkt_pb_field *from, tkt_stats *stats,
                           tkt_pb_field *histogram);
bool tkt_read_histogram(tkt_read *read, const tkt_pb_field *from, tkt_histogram *histogram);

/* Parts of Takt's own message. */
bool tkt_read_device(tkt_read *read, const tkt_pb_field *device);
bool tkt_read_shape(tkt_read *read, const tkt_pb_field *shape);
bool tkt_read_frame(tkt_read *read, const tkt_pb_field *frame);
bool tkt_read_stack(tkt_read *read, const tkt_pb_field *stack);
bool tkt_read_node_activity(tkt_read *read, const tkt_pb_field *from);
bool tkt_read_facts(tkt_read *read, const tkt_pb_field *facts);
bool tkt_read_run(tkt_read *read, const tkt_pb_field *from);
bool tkt_read_node(tkt_read *read, const tkt_pb_field *node);
bool tkt_read_counter(tkt_read *read, const tkt_pb_field *counter);
bool tkt_read_task(tkt_read *read, const tkt_pb_field *task);
bool tkt_read_thread(tkt_read *read, const tkt_pb_field *thread);
bool tkt_read_phase_name(tkt_read *read, const tkt_pb_field *from);
bool tkt_read_segment(tkt_read *read, const tkt_pb_field *from);
bool tkt_read_records(tkt_read *read, const tkt_pb_field *from);
bool tkt_read_has_lists(tkt_read *read, bool has_lists);
bool tkt_read_fold_end(tkt_read *read, uint64_t other_count);

#endif
