/* The waist of Takt: everything that people see is computed from a sealed takt_trace and from
 * nothing else. The sealer (seal.c) makes one from the logs of the threads, the reader of Perfetto
 * files (read.c) from a file; both fill the arrays below and call tkt_trace_finish(). After that a
 * trace never changes.
 *
 * All strings are ids of `strings` and valid UTF-8: tkt_trace_string() sees to it. Times are ns of
 * the takt_now_ns() time line. Spans of a thread track stand in preorder: by begin, parents before
 * children; of an async track by begin. */
#ifndef TKT_TRACE_MODEL_H
#define TKT_TRACE_MODEL_H

#include "base/containers.h"
#include "base/thread.h"
#include "cuda/store.h"
#include "record/fold.h"

#include <takt/scope.h>
#include <takt/trace.h>

#define TKT_NO_SPAN  UINT32_MAX
#define TKT_NO_TRACK UINT32_MAX

/* A call site; equal ones share an index. Index 0 is the nameless site that tree roots have. */
typedef struct tkt_trace_site {
    uint32_t name;
    uint32_t category; /* 0, "": the default category */
    uint32_t file;
    uint32_t function;
    uint32_t device; /* of activities */
    uint32_t line;
    uint32_t filter; /* of activities: one TAKT_TIMING_ bit; of scopes: a color, or 0 */
    uint8_t  kind;   /* takt_site_kind */
    uint8_t  level;
    uint16_t reserved; /* 0: sites are compared as bytes */
} tkt_trace_site;

typedef struct tkt_span {
    uint64_t begin_ns;
    uint64_t end_ns;
    uint32_t site_flags; /* site << 8 | TAKT_SPAN_ bits */
    uint32_t parent;     /* index on the same track, or TKT_NO_SPAN */
} tkt_span;

static inline uint32_t tkt_span_site(const tkt_span *span) { return span->site_flags >> 8; }
static inline uint32_t tkt_span_flags(const tkt_span *span) { return span->site_flags & 0xFFu; }
static inline void tkt_span_mark(tkt_span *span, uint32_t flags) { span->site_flags |= flags; }

typedef enum tkt_arg_type {
    TKT_ARG_INT,
    TKT_ARG_UINT,
    TKT_ARG_DOUBLE,
    TKT_ARG_BOOL,
    TKT_ARG_STRING
} tkt_arg_type;

/* A TAKT_ARG on a span. */
typedef struct tkt_arg {
    uint32_t span;
    uint32_t key; /* string */
    union {
        int64_t  i;
        uint64_t u;
        double   d;
        bool     b;
        uint32_t string;
    } value;
    tkt_arg_type type;
} tkt_arg;

/* TAKT_WORK on a span; several add up. */
typedef struct tkt_work {
    uint32_t span;
    double   flops;
    double   bytes;
} tkt_work;

/* At which call stack a span began. */
typedef struct tkt_span_stack {
    uint32_t span;
    uint32_t stack; /* of the trace's */
} tkt_span_stack;

/* Equal frames and equal stacks are one. */
typedef struct tkt_frame {
    uint64_t offset;   /* address less where the module was loaded */
    uint32_t module;   /* string: path */
    uint32_t function; /* string; 0: not known */
    uint32_t file;     /* string */
    uint32_t line;
    uint32_t is_inline; /* into the next frame */
    uint32_t reserved;  /* 0: frames are compared as bytes */
} tkt_frame;

typedef struct tkt_stack {
    uint32_t first_frame; /* in stack_frames; innermost first */
    uint32_t frame_count;
} tkt_stack;

typedef TKT_ARRAY_OF(tkt_span) tkt_spans;
typedef TKT_ARRAY_OF(tkt_arg) tkt_args;
typedef TKT_ARRAY_OF(tkt_work) tkt_works;

typedef struct tkt_track {
    takt_track_kind kind;
    uint32_t        name; /* string; 0 when it has none */
    uint32_t        thread_id;
    uint64_t        serial; /* counts the threads of the recording process; 0 in files */
    tkt_spans       spans;
    tkt_args        args;  /* in the order of their spans, then as recorded */
    tkt_works       works; /* in the order of their spans, at most one each */
    TKT_ARRAY_OF(tkt_span_stack) stacks; /* the same */
} tkt_track;

#define TKT_NO_CALL  UINT32_MAX
#define TKT_NO_SHAPE UINT32_MAX

/* What a span of kind TAKT_SITE_CALL was: a call into a device's library. */
typedef struct tkt_call_info {
    uint32_t track;
    uint32_t span;
    uint32_t correlation; /* 0: none */
    int32_t  result; /* 0: success */
} tkt_call_info;

/* One activity; at most 64 bytes. */
typedef struct tkt_activity {
    uint64_t begin_ns;
    uint64_t end_ns;
    uint32_t name;   /* string, as tables print it */
    uint32_t device; /* string */
    uint32_t filter; /* one TAKT_TIMING_ bit */
    uint32_t track;  /* of the thread that launched or ran it, or TKT_NO_TRACK */
    uint32_t span;   /* host activities: its own span on that track; otherwise TKT_NO_SPAN */
    uint32_t scope;  /* the span that launched it on that track, or TKT_NO_SPAN: never a call */
    uint32_t call;   /* of `calls`: what launched it, or TKT_NO_CALL */
    uint32_t shape;  /* of `shapes`, or TKT_NO_SHAPE: on a host device */
    uint32_t stream; /* these on CUDA devices, otherwise 0 */
    uint32_t context;
    uint32_t correlation;
    uint32_t reserved;
} tkt_activity;

/* A wait for a device, as the device's library saw it. Files may have kinds that takt_wait_info does
 * not know, and takt_wait_info may grow. */
typedef struct tkt_wait {
    uint64_t begin_ns;
    uint64_t end_ns;
    uint32_t correlation;
    uint32_t context;
    uint32_t stream; /* UINT32_MAX: all of the context */
    uint32_t kind;   /* takt_wait_kind, or one that has no name */
} tkt_wait;

/* Time that the device's library and Takt cost; kinds of CUpti_ActivityOverheadKind. */
typedef struct tkt_overhead {
    uint64_t begin_ns;
    uint64_t end_ns;
    uint32_t kind;
    uint32_t thread_id; /* 0: unknown */
} tkt_overhead;

/* Activities of one name launched by scopes of one path: the folded form of devices' activities.
 * Those of the host are nodes of the fold. tkt_trace_fold() makes them with it. */
typedef struct tkt_node_activity {
    uint32_t       node; /* of the fold; 0: not attributed, or outside of all scopes */
    uint32_t       name; /* string */
    uint32_t       device; /* string */
    uint32_t       filter;
    tkt_stats      stats; /* of durations; self_ns is 0 */
    tkt_histogram *histogram; /* in the fold's arena; NULL for want of memory */
} tkt_node_activity;

typedef struct tkt_mark {
    uint64_t time_ns;
    uint32_t track;
    uint32_t site;
} tkt_mark;

typedef struct tkt_counter {
    uint64_t time_ns;
    double   value;
    uint32_t name; /* string */
    uint32_t track;
} tkt_counter;

/* One half of an arrow. */
typedef struct tkt_flow {
    uint64_t time_ns;
    uint64_t id;
    uint32_t track;
    uint32_t span; /* innermost open one, or TKT_NO_SPAN */
    bool     is_end;
} tkt_flow;

/* An allocation or free: reported by the program, or of a device's memory. */
typedef struct tkt_memory_event {
    uint64_t time_ns;
    uint64_t address;
    int64_t  bytes; /* negative: freed */
    uint32_t track; /* TKT_NO_TRACK: not known */
    uint32_t span;  /* innermost open scope, or TKT_NO_SPAN */
    uint32_t device; /* string; 0: the host */
    uint32_t kind;   /* takt_memory_kind, and TKT_MEMORY_POOL; of host memory 0 */
} tkt_memory_event;

/* The event is of a memory pool's reservation, not of an allocation. */
#define TKT_MEMORY_POOL 0x100u

/* The memory is the host's: the program reported it, or CUDA pinned it, whichever device it is
 * registered with. */
static inline bool tkt_memory_is_host(const tkt_memory_event *event)
{
    return event->device == 0 || (event->kind & ~TKT_MEMORY_POOL) == TAKT_MEMORY_PINNED;
}

/* Host memory that the program reports. "window" is the recording. */
typedef struct tkt_memory_totals {
    uint64_t window_begin_bytes; /* allocated when the recording began */
    uint64_t window_peak_bytes;
    uint64_t window_peak_ns;
    uint64_t window_allocations;
    uint64_t window_frees;
    uint64_t current_bytes; /* when it ended */
    uint64_t peak_bytes;    /* since the program began */
    uint64_t peak_ns;
    uint64_t allocations;
    uint64_t frees;
    uint64_t unmatched_frees;
    uint64_t is_of_recording; /* 1: what was before the recording is not known; from peak_bytes on
                               * all is 0, and the other figures are of what was allocated in it */
} tkt_memory_totals;

/* Memory of a CUDA device, of all kinds that live on it, pools by what is allocated in them. */
typedef struct tkt_device_memory {
    uint32_t          device; /* string */
    uint32_t          reserved;
    tkt_memory_totals totals;
    uint64_t          free_bytes; /* as the driver said at the end of the recording; */
    uint64_t          capacity_bytes; /* 0: not known */
    uint64_t          pool_bytes; /* reserved by pools at the end */
    uint64_t          pool_used_bytes;
} tkt_device_memory;

/* A recorded step. takt_step_info has the same fields today, but it may grow. */
typedef struct tkt_step {
    uint64_t number;
    uint64_t begin_ns;
    uint64_t end_ns;
} tkt_step;

/* All steps of the run up to the end of the recording, recorded or not. */
typedef struct tkt_all_steps {
    tkt_stats     stats; /* self_ns is 0 */
    tkt_histogram histogram;
    double        simulated_seconds; /* per step, as declared; 0: not declared */
} tkt_all_steps;

/* The place with the most scopes that the recording saw begin and not end. */
typedef struct tkt_most_unfinished {
    uint32_t site;
    uint64_t count; /* of its spans; 0: there is none */
} tkt_most_unfinished;

struct takt_trace {
    uint32_t references; /* atomic */
    takt_facts facts;    /* finish fills counts and begun_before, unfinished */
    uint64_t   losses[TAKT_LOSS_COUNT];
    uint32_t   name;     /* of the run, string */
    uint32_t   backend;  /* string, "none" */
    uint32_t   clock;    /* string: "tsc", "cntvct", "monotonic" */
    bool       with_flops;
    uint32_t   stream; /* of the file of a stream: TKT_PF_STREAMED, and TAKT_TIMING_ bits */
    takt_peak  device_peak; /* as the program has said: of each device, */
    takt_peak  host_peak;   /* and of a thread of the host */
    tkt_strtab strings;
    tkt_map    site_index;
    TKT_ARRAY_OF(tkt_trace_site) sites;
    TKT_ARRAY_OF(tkt_track) tracks;
    TKT_ARRAY_OF(tkt_activity) activities; /* issue order; finish adds those of host spans */
    TKT_ARRAY_OF(tkt_mark) marks;          /* these by time, each */
    TKT_ARRAY_OF(tkt_counter) counters;
    TKT_ARRAY_OF(tkt_flow) flows;
    TKT_ARRAY_OF(tkt_memory_event) memory_events;
    TKT_ARRAY_OF(tkt_call_info) calls; /* by track, then span */
    TKT_ARRAY_OF(uint32_t) late_calls; /* ids of calls that began after the window; for the join */
    TKT_ARRAY_OF(tkt_shape) shapes;    /* strings are the trace's */
    TKT_ARRAY_OF(tkt_device) devices;  /* by ordinal; strings are the trace's */
    TKT_ARRAY_OF(tkt_wait) waits;         /* these by begin */
    TKT_ARRAY_OF(tkt_overhead) overheads;
    TKT_ARRAY_OF(tkt_node_activity) node_activities; /* beside the fold; by node, device, name */
    TKT_ARRAY_OF(tkt_device_memory) device_memory;
    TKT_ARRAY_OF(tkt_frame) frames;
    TKT_ARRAY_OF(uint32_t) stack_frames; /* of `frames` */
    TKT_ARRAY_OF(tkt_stack) stacks;
    TKT_ARRAY_OF(tkt_step) steps;
    tkt_memory_totals memory; /* of the host */
    tkt_all_steps     all_steps;
    tkt_most_unfinished most_unfinished;
    tkt_fold          fold; /* items NULL: not folded (yet) */
    bool              fold_is_derived; /* made from the spans: files leave it out */
    bool              node_activities_are_derived; /* from the activities: the same */
    uint32_t         *begins; /* tkt_trace_begins() keeps it here */
    bool              begins_are_known;
    tkt_mutex         fold_lock; /* of what is made when it is first wanted: this, and the fold */
    void             *gaps; /* tkt_trace_gaps() keeps its result here, NULL at first, */
    void            (*destroy_gaps)(void *gaps); /* to be freed with this */
    tkt_mutex         gaps_lock; /* taken before fold_lock */
};

/* An empty trace with one reference, facts zeroed, strings "" and site 0 in place. */
takt_status tkt_trace_create(takt_trace **out);

/* The id of these bytes with invalid UTF-8 replaced, so that a trace and its file have equal names;
 * TKT_STRTAB_FULL when there is no memory. NULL reads as "(null)". */
uint32_t tkt_trace_string(takt_trace *trace, const char *bytes, size_t size);
uint32_t tkt_trace_string_of(takt_trace *trace, const char *text);

/* The index of this site, added if it is new; UINT32_MAX when there is no memory, or 2^24 - 1
 * sites. `site->reserved` must be 0. */
uint32_t tkt_trace_site_index(takt_trace *trace, const tkt_trace_site *site);

/* A new track, zeroed but for what is given; TKT_NO_TRACK when there is no memory. */
uint32_t tkt_trace_add_track(takt_trace *trace, takt_track_kind kind, uint32_t name,
                             uint32_t thread_id);

/* Makes what can be derived, once: the order of async spans by begin, of arguments and work by
 * span, of marks, counters, flows and memory events by time, then track; the PHASE and ACTIVITY
 * flags of spans; host activities from spans of activity sites, by begin, behind those that are
 * there; name and backend in facts, counts of activities and steps, and where has_spans those of
 * spans. */
takt_status tkt_trace_finish(takt_trace *trace);

/* The folded form, made from the spans of threads when the trace has none yet, and with it
 * node_activities from the activities; NULL when there is no memory. Any thread. Sites are the
 * trace's. */
const tkt_fold *tkt_trace_fold(const takt_trace *trace);

/* "rank 3 of 8"; false, and "", of a process that was alone. */
bool tkt_trace_rank_text(char *text, size_t size, const takt_facts *facts);

/* How long the recording was. A file may say that it ended before it began. */
static inline uint64_t tkt_wall_ns(const takt_facts *facts)
{
    return facts->end_ns > facts->begin_ns ? facts->end_ns - facts->begin_ns : 0;
}

/* 0xFFRRGGBB; 0: none was given. */
static inline uint32_t tkt_site_color(const tkt_trace_site *site)
{
    return site->kind == TAKT_SITE_SCOPE ? site->filter : 0;
}

static inline const char *tkt_trace_text(const takt_trace *trace, uint32_t string)
{
    return tkt_strtab_text(&trace->strings, string);
}

#define TKT_OTHER_NAME "(other paths)"

/* The name of a node of the trace's tree. */
static inline const char *tkt_node_name(const takt_trace *trace, const tkt_node *node)
{
    if (node->site == TKT_SITE_OTHER)
        return TKT_OTHER_NAME;
    return tkt_trace_text(trace, trace->sites.items[node->site].name);
}

#endif
