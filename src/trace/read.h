/* Reading Takt's Perfetto files: what the parts of the reader share. */
#ifndef TKT_TRACE_READ_H
#define TKT_TRACE_READ_H

#include "base/file.h"
#include "trace/model.h"
#include "trace/perfetto.h"
#include "trace/protobuf.h"

/* Makes a trace of the bytes of a file, packed with gzip or not. `name` stands for the file in
 * messages. Fails as takt_trace_open() does. */
takt_status tkt_trace_read(const uint8_t *bytes, size_t size, const char *name, takt_trace **out,
                           takt_error *error);

/* The same of an input, which the caller closes; its name and its error are used. */
takt_status tkt_trace_read_input(tkt_input *input, takt_trace **out);

/* A packet sequence. */
typedef struct tkt_read_row {
    tkt_pf_track_kind kind;
    uint32_t          track;
    uint64_t          last_ns;   /* what its clock shows */
    uint64_t          latest_ns; /* of its events */
    uint32_t          stream; /* of rows of streams, and so are these: */
    uint32_t          context;
    uint32_t          device; /* string */
    TKT_ARRAY_OF(uint32_t) open; /* spans that have begun, outermost first; or activities, ... */
} tkt_read_row;

/* Sites and keys are numbered by first use in the whole file, so that numbers count up and tables
 * stay as small as the file. */
typedef struct tkt_read {
    takt_trace    *trace;
    tkt_input     *input;
    takt_status    status;
    uint64_t       latest_ns; /* of all times seen; 0: none yet */
    bool           has_facts;
    bool           are_facts_late; /* the last ones came after events: those of a stream */
    bool           has_step; /* that has begun */
    bool           is_complete;
    tkt_map        counters; /* uuid -> name, a string */
    tkt_map        memories; /* uuid -> device, a string << 32 | kind of memory */
    TKT_ARRAY_OF(tkt_read_row) rows;  /* sequence - 1 */
    TKT_ARRAY_OF(uint32_t) sites;     /* number in the file - 1 -> index */
    TKT_ARRAY_OF(uint32_t) keys;      /* number in the file - TKT_PF_KEY_FIRST -> string */
} tkt_read;

/* The span of an event that was written late: the one that its time falls into. */
#define TKT_READ_SPAN_BY_TIME (TKT_NO_SPAN - 1)

/* Both set the status and return false. `at` is the place in the file. */
bool tkt_read_bad(tkt_read *read, const uint8_t *at, const char *what);
bool tkt_read_no_memory(tkt_read *read);

/* Whether all of a message was read; says what is wrong otherwise. */
bool tkt_read_done(tkt_read *read, const tkt_pb_reader *message);

/* A field that is a text, interned. */
bool tkt_read_text(tkt_read *read, const tkt_pb_field *field, uint32_t *string);

/* One packet: `packet` is its content. */
bool tkt_read_packet(tkt_read *read, const tkt_pb_field *packet);

/* Its track_event, at a time; the row is a track's or that of the steps. `is_late`: it was written
 * after later ones. */
bool tkt_read_event(tkt_read *read, tkt_read_row *row, uint64_t time_ns, bool is_late,
                    const tkt_pb_field *event);

/* The same of rows of devices: activities, waits, overheads. */
bool tkt_read_device_event(tkt_read *read, tkt_read_row *row, uint64_t time_ns,
                           const tkt_pb_field *event);

/* What a file that ends leaves open of them is dropped, since nobody knows how long it took. */
void tkt_read_close_device_row(tkt_read *read, tkt_read_row *row);

static inline bool tkt_read_is_device_row(const tkt_read_row *row)
{
    return row->kind >= TKT_PF_TRACK_OF_STREAM && row->kind <= TKT_PF_TRACK_OF_OVERHEADS;
}

/* A message as the members of a struct. */
bool tkt_read_fields(tkt_read *read, const tkt_pb_field *from, const tkt_pf_field *fields,
                     void *out);

/* Takt's own message in it. */
bool tkt_read_device(tkt_read *read, const tkt_pb_field *device);
bool tkt_read_shape(tkt_read *read, const tkt_pb_field *shape);
bool tkt_read_frame(tkt_read *read, const tkt_pb_field *frame);
bool tkt_read_stack(tkt_read *read, const tkt_pb_field *stack);
bool tkt_read_node_activity(tkt_read *read, const tkt_pb_field *from);
bool tkt_read_stats(tkt_read *read, const tkt_pb_field *from, tkt_stats *stats,
                    tkt_histogram **histogram);
bool tkt_read_facts(tkt_read *read, const tkt_pb_field *facts);
bool tkt_read_node(tkt_read *read, const tkt_pb_field *node);
bool tkt_read_fold_end(tkt_read *read, uint64_t other_count);

#endif
