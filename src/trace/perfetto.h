/* Field numbers of the Perfetto messages that Takt writes and reads, and of Takt's own message
 * inside TracePacket. docs/formats.md explains their use. Perfetto's numbers come from its public
 * protocol definitions, protos/perfetto/trace/. */
#ifndef TKT_TRACE_PERFETTO_H
#define TKT_TRACE_PERFETTO_H

#include <stdbool.h>
#include <stdint.h>

#define TKT_PF_TRACE_PACKET 1

enum {
    TKT_PF_PACKET_CLOCK_SNAPSHOT = 6,
    TKT_PF_PACKET_TIMESTAMP = 8,
    TKT_PF_PACKET_SEQUENCE = 10, /* trusted_packet_sequence_id */
    TKT_PF_PACKET_TRACK_EVENT = 11,
    TKT_PF_PACKET_INTERNED = 12,
    TKT_PF_PACKET_FLAGS = 13,
    TKT_PF_PACKET_COMPRESSED = 50, /* packets in zlib's format */
    TKT_PF_PACKET_CLOCK = 58, /* timestamp_clock_id */
    TKT_PF_PACKET_DEFAULTS = 59,
    TKT_PF_PACKET_TRACK = 60,
    TKT_PF_PACKET_IS_FIRST = 87,

    /* Takt's own message. Perfetto uses numbers up to 1000 and reserves those up to 1999 for
     * extensions; its decoder skips higher numbers. The tag has two bytes. */
    TKT_PF_PACKET_TAKT = 2020
};

#define TKT_PF_STATE_CLEARED 1 /* in TKT_PF_PACKET_FLAGS */

enum { TKT_PF_DEFAULTS_TRACK_EVENT = 11, TKT_PF_DEFAULTS_CLOCK = 58 };

enum { TKT_PF_SNAPSHOT_CLOCKS = 1, TKT_PF_SNAPSHOT_PRIMARY = 2 };
enum {
    TKT_PF_CLOCK_ID = 1,
    TKT_PF_CLOCK_TIMESTAMP = 2,
    TKT_PF_CLOCK_IS_INCREMENTAL = 3
};
enum { TKT_PF_REALTIME = 1, TKT_PF_MONOTONIC = 3, TKT_PF_DELTA_CLOCK = 64 };

enum {
    TKT_PF_TRACK_UUID = 1,
    TKT_PF_TRACK_NAME = 2,
    TKT_PF_TRACK_PROCESS = 3,
    TKT_PF_TRACK_THREAD = 4,
    TKT_PF_TRACK_PARENT = 5,
    TKT_PF_TRACK_COUNTER = 8,
    TKT_PF_TRACK_CHILD_ORDER = 11, /* 3: explicit */
    TKT_PF_TRACK_RANK = 12,
    TKT_PF_TRACK_MERGE = 15 /* 2: never */
};
enum { TKT_PF_PROCESS_PID = 1, TKT_PF_PROCESS_NAME = 6, TKT_PF_PROCESS_LABELS = 8 };
enum { TKT_PF_THREAD_PID = 1, TKT_PF_THREAD_TID = 2, TKT_PF_THREAD_NAME = 5 };
enum { TKT_PF_COUNTER_UNIT = 3, TKT_PF_UNIT_BYTES = 3 };

enum {
    TKT_PF_EVENT_CATEGORY_IIDS = 3,
    TKT_PF_EVENT_ANNOTATIONS = 4,
    TKT_PF_EVENT_TYPE = 9,
    TKT_PF_EVENT_NAME_IID = 10,
    TKT_PF_EVENT_TRACK_UUID = 11,
    TKT_PF_EVENT_NAME = 23,
    TKT_PF_EVENT_COUNTER_INT = 30,
    TKT_PF_EVENT_LOCATION_IID = 34,
    TKT_PF_EVENT_COUNTER_DOUBLE = 44,
    TKT_PF_EVENT_FLOWS = 47,
    TKT_PF_EVENT_ENDING_FLOWS = 48,
    TKT_PF_EVENT_STACK_IID = 56
};
enum {
    TKT_PF_SLICE_BEGIN = 1,
    TKT_PF_SLICE_END = 2,
    TKT_PF_INSTANT = 3,
    TKT_PF_COUNTER = 4
};

enum {
    TKT_PF_ANNOTATION_NAME_IID = 1,
    TKT_PF_ANNOTATION_BOOL = 2,
    TKT_PF_ANNOTATION_UINT = 3,
    TKT_PF_ANNOTATION_INT = 4,
    TKT_PF_ANNOTATION_DOUBLE = 5,
    TKT_PF_ANNOTATION_STRING = 6,
    TKT_PF_ANNOTATION_POINTER = 7,
    TKT_PF_ANNOTATION_ARRAY = 12,     /* annotations without names */
    TKT_PF_ANNOTATION_STRING_IID = 17 /* the tag has two bytes */
};

enum {
    TKT_PF_INTERNED_CATEGORIES = 1,
    TKT_PF_INTERNED_EVENT_NAMES = 2,
    TKT_PF_INTERNED_ANNOTATION_NAMES = 3,
    TKT_PF_INTERNED_LOCATIONS = 4,
    TKT_PF_INTERNED_FUNCTIONS = 5,
    TKT_PF_INTERNED_FRAMES = 6,
    TKT_PF_INTERNED_STACKS = 7,
    TKT_PF_INTERNED_MAPPING_PATHS = 17,
    TKT_PF_INTERNED_SOURCES = 18,
    TKT_PF_INTERNED_MAPPINGS = 19,
    TKT_PF_INTERNED_STRINGS = 29
};
enum { TKT_PF_INTERNED_IID = 1, TKT_PF_INTERNED_NAME = 2 };
enum { TKT_PF_LOCATION_FILE = 2, TKT_PF_LOCATION_FUNCTION = 3, TKT_PF_LOCATION_LINE = 4 };

/* profiling/profile_common.proto: frames refer to mappings, which are loaded modules. */
enum { TKT_PF_MAPPING_PATHS = 7 };
enum {
    TKT_PF_FRAME_FUNCTION = 2,
    TKT_PF_FRAME_MAPPING = 3,
    TKT_PF_FRAME_OFFSET = 4,
    TKT_PF_FRAME_SOURCE = 5,
    TKT_PF_FRAME_LINE = 6
};
enum { TKT_PF_STACK_FRAMES = 2 }; /* outermost first */

/* ---- Takt's message -------------------------------------------------------------------------- */

#define TKT_PF_FORMAT 1 /* written by this version; readers refuse greater numbers */

enum {
    TKT_PF_TAKT_FORMAT = 1, /* alone in the first packet */
    TKT_PF_TAKT_FACTS = 2,  /* the last one in the file counts */
    TKT_PF_TAKT_TRACK = 3,  /* the kind of row that this packet's sequence holds */
    TKT_PF_TAKT_SITES = 4,
    TKT_PF_TAKT_KEYS = 5,
    TKT_PF_TAKT_NODES = 6,
    TKT_PF_TAKT_FOLD_END = 7, /* after the last node: tkt_fold.other_count */
    TKT_PF_TAKT_END = 8,      /* true in the last packet */
    TKT_PF_TAKT_DEVICES = 9,
    TKT_PF_TAKT_SHAPES = 10,  /* numbered from 1 in the order of the file */
    TKT_PF_TAKT_NODE_ACTIVITIES = 11,
    TKT_PF_TAKT_FRAMES = 12,  /* numbered from 0 in the order of the file */
    TKT_PF_TAKT_STACKS = 13,  /* likewise */
    TKT_PF_TAKT_RUN = 14,     /* tkt_run_steps; the last one in the file counts */
    TKT_PF_TAKT_COUNTERS = 15, /* tkt_folded_counter, before the end of the fold */
    TKT_PF_TAKT_TASKS = 16,    /* tkt_folded_task, likewise */
    TKT_PF_TAKT_THREADS = 17,  /* tkt_folded_thread, likewise */
    TKT_PF_TAKT_HAS_LISTS = 18, /* tkt_fold.has_lists, likewise */
    TKT_PF_TAKT_PHASE_NAMES = 20, /* likewise */
    TKT_PF_TAKT_SEGMENTS = 21,    /* tkt_phase_segment */
    TKT_PF_TAKT_RECORDS = 22,     /* of the last segment, packed: name's number, iteration, start
                                   * since the start of the previous record, cycles */
    TKT_PF_TAKT_STOPPED = 23      /* tkt_file_reason() why the file was not written on; 0: none */
};

/* Where the second packet of an unfinished file has the value of TKT_PF_TAKT_STOPPED. It is one byte,
 * and changed in place: a full disk has no room for another packet. */
#define TKT_PF_STOPPED_OFFSET 14

enum { /* further ones: tkt_pf_facts_fields */
    TKT_PF_FACTS_BEGIN_NS = 4,
    TKT_PF_FACTS_END_NS = 5,
    TKT_PF_FACTS_LOSSES = 15,
    TKT_PF_FACTS_MEMORY = 22,
    TKT_PF_FACTS_ALL_STEPS = 23,
    TKT_PF_FACTS_DEVICE_MEMORY = 24
};

/* Bits of takt_trace.stream. TKT_PF_STREAMED: the writer wrote activities as they arrived, so the
 * reader must find launches without activities and the error of device clocks. */
#define TKT_PF_STREAMED       0x80000000u
#define TKT_PF_STREAM_SETTLED 0x40000000u /* all activities had arrived; a launch may have none */
#define TKT_PF_STREAM_FILTER  0x3FFFFFFFu /* the TAKT_TIMING_ bits that were requested */

enum { TKT_PF_LOSS_NAME = 1, TKT_PF_LOSS_COUNT = 2 };

typedef enum tkt_pf_field_kind {
    TKT_PF_NUMBER, /* a varint */
    TKT_PF_FLAG,   /* a varint for a bool */
    TKT_PF_TEXT,
    TKT_PF_DOUBLE,
    TKT_PF_OTHER   /* the caller reads and writes it */
} tkt_pf_field_kind;

/* Describes a struct whose members are the fields of a message. The first entry is field 1, the
 * next field 2, and so on; an entry of size 0 ends the table. */
typedef struct tkt_pf_field {
    uint16_t offset;
    uint8_t  size;
    uint8_t  kind; /* tkt_pf_field_kind */
} tkt_pf_field;

extern const tkt_pf_field tkt_pf_facts_fields[];         /* takt_trace */
extern const tkt_pf_field tkt_pf_site_fields[];          /* tkt_trace_site */
extern const tkt_pf_field tkt_pf_memory_fields[];        /* tkt_memory_totals */
extern const tkt_pf_field tkt_pf_device_memory_fields[]; /* tkt_device_memory */
extern const tkt_pf_field tkt_pf_device_fields[];        /* tkt_device */
extern const tkt_pf_field tkt_pf_shape_fields[];         /* tkt_shape */
extern const tkt_pf_field tkt_pf_frame_fields[];         /* tkt_frame */
extern const tkt_pf_field tkt_pf_segment_fields[];       /* tkt_phase_segment */
extern const tkt_pf_field tkt_pf_counter_fields[];       /* tkt_folded_counter */
extern const tkt_pf_field tkt_pf_run_step_fields[];      /* tkt_run_step */
extern const tkt_pf_field tkt_pf_run_window_fields[];    /* tkt_run_window */

enum { TKT_PF_ALL_STEPS_STATS = 1, TKT_PF_ALL_STEPS_SIMULATED_SECONDS = 2 };

enum {
    TKT_PF_RUN_STEP_COUNT = 1,
    TKT_PF_RUN_SHIFT = 2,    /* a part has 1 << shift steps */
    TKT_PF_RUN_TOTAL_NS = 3, /* packed, one for each part */
    TKT_PF_RUN_MIN_NS = 4,   /* likewise, and so is the next; only if parts have several steps */
    TKT_PF_RUN_MAX_NS = 5,
    TKT_PF_RUN_SLOWEST = 6, /* steps, the slowest first */
    TKT_PF_RUN_WINDOWS = 7
};

enum {
    TKT_PF_STATS_COUNT = 1,
    TKT_PF_STATS_TOTAL_NS = 2,
    TKT_PF_STATS_SELF_NS = 3,
    TKT_PF_STATS_MIN_NS = 4,
    TKT_PF_STATS_MAX_NS = 5,
    TKT_PF_STATS_SUM_SQUARES = 6,
    TKT_PF_STATS_HISTOGRAM = 7, /* packed pairs: distance from the last bucket, count */
    TKT_PF_STATS_PIECES = 8, /* of the count: calls that the window has cut */
    TKT_PF_STATS_PIECES_NS = 9
};

enum {
    TKT_PF_NODE_SITE = 1,
    TKT_PF_NODE_PARENT = 2,
    TKT_PF_NODE_STATS = 3,
    TKT_PF_NODE_FLOPS = 4,
    TKT_PF_NODE_BYTES = 5,
    TKT_PF_NODE_ERRORS = 6
};

/* tkt_folded_task. */
enum {
    TKT_PF_TASK_NAME = 1,
    TKT_PF_TASK_TRACK = 2,
    TKT_PF_TASK_STATS = 3
};

/* tkt_folded_thread. */
enum {
    TKT_PF_FOLDED_THREAD_NAME = 1,
    TKT_PF_FOLDED_THREAD_ID = 2,
    TKT_PF_FOLDED_THREAD_PARTS = 3 /* packed: node, count and total of each tkt_thread_node */
};

/* tkt_node_activity. */
enum {
    TKT_PF_NODE_ACTIVITY_NODE = 1,
    TKT_PF_NODE_ACTIVITY_NAME = 2,
    TKT_PF_NODE_ACTIVITY_DEVICE = 3,
    TKT_PF_NODE_ACTIVITY_FILTER = 4,
    TKT_PF_NODE_ACTIVITY_STATS = 5
};

enum {
    TKT_PF_TAKT_TRACK_KIND = 1,
    TKT_PF_TAKT_TRACK_INDEX = 2,
    TKT_PF_TAKT_TRACK_LANE = 3,
    TKT_PF_TAKT_TRACK_NAME = 4,
    TKT_PF_TAKT_TRACK_THREAD_ID = 5,
    TKT_PF_TAKT_TRACK_CONTEXT = 6,
    TKT_PF_TAKT_TRACK_STREAM = 7,
    TKT_PF_TAKT_TRACK_MEMORY_KIND = 8
};
typedef enum tkt_pf_track_kind {
    TKT_PF_TRACK_NONE,
    TKT_PF_TRACK_OF_THREAD,
    TKT_PF_TRACK_ASYNC,
    TKT_PF_TRACK_OF_STEPS,
    TKT_PF_TRACK_OF_COUNTER,
    TKT_PF_TRACK_OF_MEMORY,
    TKT_PF_TRACK_OF_STREAM, /* named like the device */
    TKT_PF_TRACK_OF_WAITS,
    TKT_PF_TRACK_OF_OVERHEADS,
    TKT_PF_TRACK_OF_DEVICE_MEMORY, /* a counter, named like the device */
    TKT_PF_TRACK_OF_EVENTS,        /* memory events without a thread */
    TKT_PF_TRACK_OF_SM             /* for viewers only: readers use the segments */
} tkt_pf_track_kind;

enum { TKT_PF_SITE_IID = 1, TKT_PF_SITE_NAME = 2 }; /* further ones: tkt_pf_site_fields */

enum { TKT_PF_TAKT_STACK_FRAMES = 1 }; /* packed: numbers of frames, innermost first */

enum { TKT_PF_PHASE_NAME_TEXT = 1 };

enum { TKT_PF_KEY_IID = 1, TKT_PF_KEY_NAME = 2 };

/* Interning ids of annotation names: Takt's own have fixed ids, keys of TAKT_ARG follow. */
typedef enum tkt_pf_key {
    TKT_PF_KEY_NONE,
    TKT_PF_KEY_BEGUN_BEFORE,
    TKT_PF_KEY_UNFINISHED,
    TKT_PF_KEY_FLOPS,
    TKT_PF_KEY_BYTES,
    TKT_PF_KEY_STEP,
    TKT_PF_KEY_ADDRESS,
    TKT_PF_KEY_SIZE,
    TKT_PF_KEY_SPAN, /* index of the event's span, if nesting would suggest another one */
    TKT_PF_KEY_CORRELATION,
    TKT_PF_KEY_RESULT,
    TKT_PF_KEY_CONTEXT, /* this and the next three: on rows of waits and overheads */
    TKT_PF_KEY_STREAM,
    TKT_PF_KEY_KIND,
    TKT_PF_KEY_THREAD,
    TKT_PF_KEY_NO_ACTIVITY, /* on calls; false: during a capture, so that none lacks */
    TKT_PF_KEY_FIRST = 16,
    TKT_PF_KEY_EVENT = 16, /* this and the next two: on rows of waits, which have no TAKT_ARG */
    TKT_PF_KEY_RECORD_CORRELATION,
    TKT_PF_KEY_RECORD_STREAM,
    TKT_PF_KEYS
} tkt_pf_key;

#endif
