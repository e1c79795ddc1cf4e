/* Writes XSpace, the Protocol Buffers file of XProf (github.com/openxla/xprof), the TensorBoard
 * plugin of TensorFlow and JAX. An XSpace has planes, a plane has lines, a line has events:
 *
 *     /host:CPU           a line for each thread, and lanes of async tracks
 *     /device:GPU:0       a line for each stream
 *     Task Environment    when the recording began
 *
 * Names of planes, stats and details are those that XProf's converters look up (xplane_schema.cc,
 * gpu_event_stats.cc, kernel_stats_utils.cc, group_events.cc). Rules of theirs that shape the file:
 *
 * - An operation is an event with a name "PATH:", or with a stat tf_op of that form. The type is
 *   the last part of the path.
 * - XProf finds steps itself, and derives further lines, only if no plane has a stat group_id. So a
 *   step is an event with _r and step_num. It produces (_pt, _p) what the outermost spans of the
 *   step consume (_ct, _c). correlation_id leads from a call to its activities.
 * - Times become picoseconds in 64 bits. So a line begins at 0, not at its time since 1970.
 * - XProf reads stats of activities from the event, not from its metadata.
 *
 * Lengths come before contents in the format. The exporter walks through a plane twice, first to
 * count and then to write, so it needs little memory. */
#ifndef TKT_EXPORT_XPLANE_H
#define TKT_EXPORT_XPLANE_H

#include "base/containers.h"
#include "base/writer.h"
#include "export/devices.h"
#include "export/perfetto.h"
#include "trace/model.h"

/* ======== Names ======== */

/* The stats of events and planes; the enum's values are their ids in every plane. */
/* clang-format off */
#define TKT_XPLANE_STATS(STAT) \
    STAT(ROOT, "_r") \
    STAT(STEP_NUM, "step_num") \
    STAT(PRODUCER_TYPE, "_pt") \
    STAT(PRODUCER, "_p") \
    STAT(CONSUMER_TYPE, "_ct") \
    STAT(CONSUMER, "_c") \
    STAT(CORRELATION, "correlation_id") \
    STAT(FLOW, "flow") \
    STAT(TF_OP, "tf_op") \
    STAT(KERNEL, "kernel_details") \
    STAT(MEMCPY, "memcpy_details") \
    STAT(MEMSET, "Memset_details") \
    STAT(OCCUPANCY, "theoretical_occupancy_pct") \
    STAT(DEVICE, "device_id") \
    STAT(CONTEXT, "context_id") \
    STAT(GRAPH, "cuda_graph_id") \
    STAT(GRAPH_LAUNCH, "cuda_graph_exec_id") \
    STAT(GRAPH_NODE, "cuda_graph_node_id") \
    STAT(SOURCE, "source") \
    STAT(SOURCE_STACK, "source_stack") \
    STAT(CATEGORY, "category") \
    STAT(RESULT, "result") \
    STAT(FLOPS, "work flops") \
    STAT(BYTES, "work bytes") \
    STAT(BEGUN_BEFORE, "begun before") \
    STAT(UNFINISHED, "unfinished") \
    STAT(THREAD, "thread") \
    STAT(VALUE, "value") \
    STAT(ALLOCATOR, "allocator_name") \
    STAT(ALLOCATED, "bytes_allocated") \
    STAT(AVAILABLE, "bytes_available") \
    STAT(PEAK, "peak_bytes_in_use") \
    STAT(REQUESTED, "requested_bytes") \
    STAT(ALLOCATION, "allocation_bytes") \
    STAT(ADDRESS, "addr") \
    STAT(REGION, "region_type") \
    STAT(DEVICE_TYPE, "device_type_string") \
    STAT(DEVICE_NAME, "gpu_device_name") \
    STAT(VENDOR, "device_vendor") \
    STAT(CLOCK, "clock_rate") \
    STAT(CORES, "core_count") \
    STAT(BANDWIDTH, "memory_bandwidth") \
    STAT(MEMORY, "memory_size") \
    STAT(MAJOR, "compute_cap_major") \
    STAT(MINOR, "compute_cap_minor") \
    STAT(START, "profile_start_time") \
    STAT(STOP, "profile_stop_time")
/* clang-format on */

typedef enum tkt_xstat {
    TKT_XSTAT_NONE,
#define TKT_XPLANE_ENUM(word, name) TKT_XSTAT_##word,
    TKT_XPLANE_STATS(TKT_XPLANE_ENUM)
} tkt_xstat;

/* Fields of XStat, one for each type of value. */
typedef enum tkt_xvalue {
    TKT_XVALUE_DOUBLE = 2,
    TKT_XVALUE_UINT = 3,
    TKT_XVALUE_INT = 4,
    TKT_XVALUE_TEXT = 5,
    TKT_XVALUE_REF = 7 /* the id of a stat's name, which is the text */
} tkt_xvalue;

/* What events of one name share. */
typedef struct tkt_xname {
    uint32_t label; /* string that viewers show; 0: the name itself */
    uint32_t site;  /* for source and category; 0: none */
    uint32_t depth; /* of a path */
} tkt_xname;

/* The names of a plane. Ids of both tables are ids in the file. */
typedef struct tkt_xnames {
    tkt_strtab stats;  /* names of stats, and texts that stats refer to */
    tkt_strtab events; /* names of events */
    TKT_ARRAY_OF(tkt_xname) shared; /* by id of an event's name */
} tkt_xnames;

/* ======== Lines of slices that may overlap ======== */

typedef struct tkt_xslice {
    uint64_t begin_ns;
    uint64_t end_ns;
    uint32_t group; /* slices of different groups never share a line */
} tkt_xslice;

typedef struct tkt_xline {
    uint32_t group;
    uint32_t lane; /* 0: the first line of the group */
    size_t   first; /* in `order` */
    size_t   count;
} tkt_xline;

typedef struct tkt_xlines {
    TKT_ARRAY(tkt_xline);
    uint32_t *order; /* indices of slices, by line and then by time */
} tkt_xlines; /* starts as {0} */

/* ======== The file ======== */

/* The path that the latest event of a name had: usually the next one has the same. */
typedef struct tkt_xrecent {
    uint32_t parent;
    uint32_t path; /* 0: none yet */
} tkt_xrecent;

typedef struct tkt_xdevice {
    uint32_t name;   /* string, "cuda:0" */
    uint32_t number; /* in "/device:GPU:0": the ordinal, unless another device has it */
} tkt_xdevice;

typedef struct tkt_xplane {
    const takt_trace *trace;
    tkt_writer       *writer;
    takt_status       status;
    uint64_t          base_ns; /* offsets of events count from here */
    uint64_t          total;   /* bytes of the planes so far */

    /* the plane being written */
    tkt_xnames *names;
    bool        is_counting;
    const tkt_xdevice *device;
    uint32_t    line_id;
    size_t      line;       /* index into line_bytes */
    uint64_t    bytes;      /* of its complete lines */
    uint64_t    line_begin; /* `written` at the begin of the line */
    uint64_t    written;    /* bytes of events while counting */
    TKT_ARRAY_OF(uint64_t) line_bytes;
    tkt_message message; /* head of a line, or end of the plane */
    tkt_message stats;   /* of the next event */

    /* the host's paths, to which devices refer */
    tkt_xnames   host;
    tkt_map      paths;  /* parent << 32 | name -> id */
    tkt_xrecent *recent; /* by name */
    uint32_t     deep;   /* the path that stands for those which are too deep */
    size_t      *first;  /* by track: index of its first span in span_names */
    uint32_t    *span_names; /* by span: id of its name */
    tkt_xlines  *async;      /* by track */
    tkt_xlines   waits;
    tkt_xlines   overheads;
    TKT_ARRAY_OF(uint64_t) ends; /* ps, of the spans that are open */
    TKT_ARRAY_OF(uint32_t) open; /* their indices */
    uint64_t    *arg_spans; /* by key: the last span that had it */

    /* devices */
    TKT_ARRAY_OF(tkt_xdevice) devices; /* those with activities, by number */
    tkt_streams  streams;
    const uint32_t *begins; /* their activities by begin; NULL: sorted already */
    tkt_xlines   works;     /* of them */
    uint32_t    *call_devices; /* by call: number + 1 of the device it launched on; 0: none */
    uint32_t    *shape_texts;  /* by shape: id of its details in the plane; 0: not known yet */
} tkt_xplane;

/* ---- xplane.c: events ------------------------------------------------------------------------ */

/* Picoseconds since the base, at most INT64_MAX. */
static inline uint64_t tkt_xplane_ps(const tkt_xplane *x, uint64_t time_ns)
{
    uint64_t ns = time_ns > x->base_ns ? time_ns - x->base_ns : 0;
    return ns < INT64_MAX / 1000 ? ns * 1000 : INT64_MAX / 1000 * 1000;
}

/* What links a call and its activities: CUPTI's id, or one of ours. 0: nothing. */
static inline uint64_t tkt_xplane_link(uint32_t call, uint32_t correlation)
{
    return correlation || call == TKT_NO_CALL ? correlation : (UINT64_C(1) << 32) + call;
}

/* XFlow, the value of the stat "flow": a direction, 56 bits of an id, a category. */
typedef enum tkt_xflow {
    TKT_XFLOW_IN = 1,
    TKT_XFLOW_OUT = 2
} tkt_xflow;

static inline uint64_t tkt_xplane_flow(tkt_xflow direction, uint64_t id)
{
    return direction | id << 2 | UINT64_C(9) << 58; /* of a launch */
}

/* Adds a stat to the next event. */
void tkt_xplane_stat(tkt_xplane *x, tkt_xstat stat, tkt_xvalue type, uint64_t value);
void tkt_xplane_stat_double(tkt_xplane *x, tkt_xstat stat, double value);
void tkt_xplane_stat_text(tkt_xplane *x, tkt_xstat stat, const char *text); /* unless empty */

/* Writes an event with the stats added so far. Events of a line come in order of begin. */
void tkt_xplane_event(tkt_xplane *x, uint32_t name, uint64_t begin_ps, uint64_t duration_ps);

void tkt_xplane_begin_line(tkt_xplane *x, const char *name);
void tkt_xplane_end_line(tkt_xplane *x);

/* Moves the stats added so far to the plane, instead of to an event. */
void tkt_xplane_plane_stats(tkt_xplane *x, tkt_message *plane);

/* ---- xplane_names.c -------------------------------------------------------------------------- */

takt_status tkt_xnames_init(tkt_xnames *names);
void tkt_xnames_fini(tkt_xnames *names); /* accepts a zeroed struct */

/* Appends the fields event_metadata and stat_metadata of a plane. */
void tkt_xnames_put(const tkt_xplane *x, const tkt_xnames *names, tkt_message *plane);

/* The id of an event's name in the current plane. `shared` counts when the name is new. Without
 * memory 0, and the status says so. */
uint32_t tkt_xplane_name(tkt_xplane *x, const char *name, size_t size, tkt_xname shared);

/* The same for a name of the program's, in which ':' becomes '_': it must not look like an
 * operation. `kind` stands in front of it. If there is also a site, viewers show only the name. */
uint32_t tkt_xplane_plain_name(tkt_xplane *x, const char *kind, uint32_t string, uint32_t site);

/* The id of a text that stats refer to. */
uint32_t tkt_xplane_text(tkt_xplane *x, const char *text, size_t size);

/* The id of the path of a scope below the path `parent`, 0 for none; in the host's plane. */
uint32_t tkt_xplane_path(tkt_xplane *x, uint32_t parent, uint32_t site);

/* Divides slices, sorted by begin, into lines on which none overlap. */
takt_status tkt_xlines_make(tkt_xlines *lines, size_t count,
                            tkt_xslice (*at)(const void *user, size_t index), const void *user);
void tkt_xlines_fini(tkt_xlines *lines);

/* ---- xplane_host.c, xplane_event.c, xplane_device.c ------------------------------------------- */

takt_status tkt_xplane_host_init(tkt_xplane *x);
void tkt_xplane_host_lines(tkt_xplane *x);
void tkt_xplane_host_fini(tkt_xplane *x);

/* The other lines of the host: steps; marks, counters, memory, waits and overheads. The latter come
 * after the lines of spans, which find the paths of spans. */
takt_status tkt_xplane_events_init(tkt_xplane *x);
void tkt_xplane_steps(tkt_xplane *x);
void tkt_xplane_event_lines(tkt_xplane *x);
void tkt_xplane_events_fini(tkt_xplane *x);

/* Adds the stat tf_op: the path of a scope. */
void tkt_xplane_scope(tkt_xplane *x, uint32_t track, uint32_t span);

takt_status tkt_xplane_devices_init(tkt_xplane *x);
void tkt_xplane_device_lines(tkt_xplane *x);
void tkt_xplane_device_stats(tkt_xplane *x, tkt_message *plane);
void tkt_xplane_devices_fini(tkt_xplane *x);

#endif
