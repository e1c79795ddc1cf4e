/* The trace: Takt computes every table and file from a sealed takt_trace and from nothing else. The
 * sealer (seal.c) makes a trace from the logs of the threads, the reader of Perfetto files (read.c)
 * from a file. Both fill the arrays below and call tkt_trace_finish(). After that a trace never
 * changes.
 *
 * All strings are ids in `strings`; tkt_trace_string() ensures that they are valid UTF-8. Times are
 * ns on the time line of takt_now_ns(). Spans of a thread track are in preorder: sorted by begin,
 * parents before children. Spans of an async track are sorted by begin. */
#ifndef TKT_TRACE_MODEL_H
#define TKT_TRACE_MODEL_H

#include "base/containers.h"
#include "base/lock.h"
#include "cuda/store.h"
#include "record/fold.h"
#include "trace/phases.h"
#include "trace/run.h"

#include <takt/scope.h>
#include <takt/trace.h>

#include <math.h>

#define TKT_NO_SPAN  UINT32_MAX
#define TKT_NO_TRACK UINT32_MAX

/* A call site; equal sites share an index. Index 0 is the nameless site of tree roots. */
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
static inline bool tkt_span_is_call(const tkt_span *span)
{
    return (tkt_span_flags(span) & TAKT_SPAN_CALL) != 0;
}
/* True if the window has cut the span. */
static inline bool tkt_span_is_piece(const tkt_span *span)
{
    return (tkt_span_flags(span) & (TAKT_SPAN_BEGUN_BEFORE | TAKT_SPAN_UNFINISHED)) != 0;
}
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

/* The TAKT_WORK of a span; several declarations add up. */
typedef struct tkt_work {
    uint32_t span;
    double   flops;
    double   bytes;
} tkt_work;

/* The call stack at which a span began. */
typedef struct tkt_span_stack {
    uint32_t span;
    uint32_t stack; /* index into the trace's stacks */
} tkt_span_stack;

/* A frame of call stacks. The trace stores equal frames once, and equal stacks too. */
typedef struct tkt_frame {
    uint64_t offset;   /* address minus the module's load address */
    uint32_t module;   /* string: path */
    uint32_t function; /* string; 0: not known */
    uint32_t file;     /* string */
    uint32_t line;
    uint32_t is_inline; /* inlined into the next frame */
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
    uint64_t        serial; /* number of the thread in the recording process; 0 in files */
    tkt_spans       spans;
    tkt_args        args;  /* sorted by span, then as recorded */
    tkt_works       works; /* sorted by span, at most one per span */
    TKT_ARRAY_OF(tkt_span_stack) stacks; /* sorted by span */
} tkt_track;

#define TKT_NO_CALL  UINT32_MAX
#define TKT_NO_SHAPE UINT32_MAX

/* A call into a device's library, recorded as a span of kind TAKT_SITE_CALL. */
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
    uint32_t span;   /* host activities: their own span on that track; otherwise TKT_NO_SPAN */
    uint32_t scope;  /* the span that launched it on that track, never a call; or TKT_NO_SPAN */
    uint32_t call;   /* index into `calls` of the launching call, or TKT_NO_CALL */
    uint32_t shape;  /* index into `shapes`; TKT_NO_SHAPE for host activities */
    uint32_t stream; /* this and the next two: CUDA devices only, otherwise 0 */
    uint32_t context;
    uint32_t correlation;
    uint32_t reserved;
} tkt_activity;

/* A wait for a device, as the device's library reported it. Separate from takt_wait_info, which may
 * grow and lacks kinds that files may contain. */
typedef struct tkt_wait {
    uint64_t begin_ns;
    uint64_t end_ns;
    uint32_t correlation;
    uint32_t context;
    uint32_t stream; /* UINT32_MAX: all of the context */
    uint32_t kind;   /* takt_wait_kind, or an unknown kind */
    uint32_t event;  /* CUPTI's number; 0: the wait is not for an event */
    uint32_t record_correlation; /* of the call that recorded the event; 0: before the window */
    uint32_t record_stream;      /* where it was recorded, if that call is known */
    uint32_t call_number; /* of the waiting call: index into `calls` + 1; 0: unknown */
} tkt_wait;

/* Time that the device's library or Takt itself cost. */
typedef struct tkt_overhead {
    uint64_t begin_ns;
    uint64_t end_ns;
    uint32_t kind; /* CUpti_ActivityOverheadKind */
    uint32_t thread_id; /* 0: unknown */
} tkt_overhead;

/* The folded form of device activities: one entry for each path, device and name. tkt_trace_fold()
 * makes these entries together with the fold. Host activities are nodes of the fold. */
typedef struct tkt_node_activity {
    uint32_t       node; /* of the fold; 0: not attributed, or outside of all scopes */
    uint32_t       name; /* string */
    uint32_t       device; /* string */
    uint32_t       filter;
    tkt_stats      stats; /* of durations; self_ns is 0 */
    tkt_histogram *histogram; /* in the fold's arena; NULL as in tkt_node */
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

/* One end of an arrow. */
typedef struct tkt_flow {
    uint64_t time_ns;
    uint64_t id;
    uint32_t track;
    uint32_t span; /* innermost open span, or TKT_NO_SPAN */
    bool     is_end;
} tkt_flow;

/* An allocation or a free of host memory, as the program reports it, or of device memory. */
typedef struct tkt_memory_event {
    uint64_t time_ns;
    uint64_t address;
    int64_t  bytes; /* negative: freed */
    uint32_t track; /* TKT_NO_TRACK: not known */
    uint32_t span;  /* innermost open scope, or TKT_NO_SPAN */
    uint32_t device; /* string; 0: the host */
    uint32_t kind;   /* takt_memory_kind, perhaps with TKT_MEMORY_POOL; 0 for host memory */
} tkt_memory_event;

/* A memory pool reserved or released this memory; the event is not an allocation. */
#define TKT_MEMORY_POOL 0x100u

/* True for host memory: memory that the program reported, and memory that CUDA pinned for any
 * device. */
static inline bool tkt_memory_is_host(const tkt_memory_event *event)
{
    return event->device == 0 || (event->kind & ~TKT_MEMORY_POOL) == TAKT_MEMORY_PINNED;
}

/* Totals of the host memory that the program reports. "window" stands for the recording. */
typedef struct tkt_memory_totals {
    uint64_t window_begin_bytes; /* allocated when the recording began */
    uint64_t window_peak_bytes;
    uint64_t window_peak_ns;
    uint64_t window_allocations;
    uint64_t window_frees;
    uint64_t current_bytes; /* allocated when the recording ended */
    uint64_t peak_bytes;    /* since the program began */
    uint64_t peak_ns;
    uint64_t allocations;
    uint64_t frees;
    uint64_t unmatched_frees;
    uint64_t is_of_recording; /* 1: memory from before the recording is not known. Then the fields
                               * from peak_bytes on are 0, and the others count only memory that
                               * was allocated during the recording. */
} tkt_memory_totals;

/* Totals of the memory of a CUDA device, all kinds together. Allocations from pools count, not the
 * pools' reservations. */
typedef struct tkt_device_memory {
    uint32_t          device; /* string */
    uint32_t          reserved;
    tkt_memory_totals totals;
    uint64_t          free_bytes; /* reported by the driver at the end of the recording, */
    uint64_t          capacity_bytes; /* and so is this; 0: not known */
    uint64_t          pool_bytes; /* reserved by pools at the end */
    uint64_t          pool_used_bytes;
} tkt_device_memory;

/* Steps of a recording that are kept one by one; further ones only count. */
#define TKT_MOST_STEPS (UINT32_C(1) << 20)

/* A recorded step. Separate from takt_step_info, which has the same fields but may grow. */
typedef struct tkt_step {
    uint64_t number;
    uint64_t begin_ns;
    uint64_t end_ns;
} tkt_step;

/* All steps of the run up to the end of the recording, including steps that were not recorded. */
typedef struct tkt_all_steps {
    tkt_stats     stats; /* self_ns is 0 */
    tkt_histogram histogram;
    double        simulated_seconds; /* per step, as declared; 0: not declared */
} tkt_all_steps;

/* Adds a step, also to the run if that is not NULL. */
void tkt_all_steps_add(tkt_all_steps *steps, tkt_run_steps *run, uint64_t duration_ns);

/* Adds those of the trace's steps to its run that the run lacks. `are_new`: steps that all steps do not
 * count yet are added there, too. */
void tkt_trace_complete_run(takt_trace *trace, bool are_new);

/* True if the recording was not written to its end: what is known is known up to some moment. */
static inline bool tkt_is_broken_off(const takt_facts *facts)
{
    return facts->ending == TAKT_ENDING_KILLED || facts->ending == TAKT_ENDING_STOPPED;
}

static inline const char *tkt_ending_name(const takt_facts *facts)
{
    static const char *const names[] = {"whole", "killed", "cut", "stopped"};
    return names[facts->ending];
}

/* The site with the most scopes that began in the recording but did not end in it. */
typedef struct tkt_most_unfinished {
    uint32_t site;
    uint64_t count; /* unfinished spans of this site; 0: no site has any */
} tkt_most_unfinished;

/* In the text of a backend: before the kinds of activities that were not recorded. */
#define TKT_BACKEND_WITHOUT ", without "

struct takt_trace {
    uint32_t references; /* atomic */
    takt_facts facts;    /* tkt_trace_finish() fills the counts, begun_before and unfinished */
    uint64_t   losses[TAKT_LOSS_COUNT];
    uint32_t   name;     /* of the run, string */
    uint32_t   backend;  /* string, "none" */
    uint32_t   clock;    /* string: "tsc", "cntvct", "monotonic" */
    bool       with_flops;
    bool       is_recovered; /* from a crash-safe file, which lacks Takt's cost */
    uint32_t   stream; /* streamed files: TKT_PF_STREAMED and TAKT_TIMING_ bits; otherwise 0 */
    takt_peak  device_peak; /* declared by the program, for each device */
    takt_peak  host_peak;   /* declared by the program, for each host thread */
    tkt_strtab strings;
    tkt_map    site_index;
    TKT_ARRAY_OF(tkt_trace_site) sites;
    TKT_ARRAY_OF(tkt_track) tracks;
    TKT_ARRAY_OF(tkt_activity) activities; /* devices' in issue order, then the host's by begin */
    const char *host_devices; /* activities of the host are only counted, unless their device's name
                               * begins like this; NULL: all are kept. For tkt_trace_finish() */
    TKT_ARRAY_OF(tkt_mark) marks;          /* this and the next three: sorted by time */
    TKT_ARRAY_OF(tkt_counter) counters;
    TKT_ARRAY_OF(tkt_flow) flows;
    TKT_ARRAY_OF(tkt_memory_event) memory_events;
    TKT_ARRAY_OF(tkt_call_info) calls; /* sorted by track, then span */
    TKT_ARRAY_OF(uint32_t) late_calls; /* ids of calls that began after the window; for the join */
    TKT_ARRAY_OF(tkt_shape) shapes;    /* with the trace's strings */
    TKT_ARRAY_OF(tkt_device) devices;  /* sorted by ordinal; with the trace's strings */
    TKT_ARRAY_OF(tkt_wait) waits;         /* this and the next: sorted by begin */
    TKT_ARRAY_OF(tkt_overhead) overheads;
    TKT_ARRAY_OF(tkt_node_activity) node_activities; /* of the fold's nodes */
    TKT_ARRAY_OF(tkt_device_memory) device_memory;
    TKT_ARRAY_OF(tkt_frame) frames;
    TKT_ARRAY_OF(uint32_t) stack_frames; /* indices into `frames` */
    TKT_ARRAY_OF(tkt_stack) stacks;
    TKT_ARRAY_OF(tkt_step) steps;
    TKT_ARRAY_OF(tkt_phase_segment) phase_segments; /* sorted by begin, then block */
    TKT_ARRAY_OF(tkt_phase_record) phase_records; /* a segment's: by start, outer ones first */
    tkt_memory_totals memory; /* of the host */
    tkt_all_steps     all_steps;
    tkt_run_steps    *run; /* every step of the run so far; NULL: not known */
    uint32_t          stopped_by; /* tkt_file_reason() why the file was not written on; 0: none */
    tkt_most_unfinished most_unfinished;
    tkt_fold          fold; /* the recorded summary; items NULL: none */
    tkt_fold          derived; /* made from the spans: not written to files */
    bool              node_activities_are_derived; /* made from activities: not written to files */
    uint32_t         *begins; /* cache of tkt_trace_begins() */
    bool              begins_are_known;
    tkt_mutex         fold_lock; /* guards `derived`, node_activities, `begins`: made on demand */
    void             *gaps; /* cache of tkt_trace_gaps(); NULL at first */
    void            (*destroy_gaps)(void *gaps); /* frees `gaps` with the trace */
    tkt_mutex         gaps_lock; /* taken before fold_lock */
};

/* The most devices of a trace: lists of them are searched from end to end. */
#define TKT_MOST_DEVICES 1024u

/* Makes an empty trace with one reference, zeroed facts, the string "" and site 0. */
takt_status tkt_trace_create(takt_trace **out);

/* The string id of these bytes, with invalid UTF-8 replaced: a trace and its file must have equal
 * names. TKT_STRTAB_FULL without memory. A NULL text becomes "(null)". */
uint32_t tkt_trace_string(takt_trace *trace, const char *bytes, size_t size);
uint32_t tkt_trace_string_of(takt_trace *trace, const char *text);

/* Makes an empty fold for a summary. TAKT_NO_MEMORY. */
takt_status tkt_trace_begin_fold(takt_trace *trace);

/* The index of this site, added if it is new. UINT32_MAX without memory, or when the trace already
 * has 2^24 - 1 sites. `site->reserved` must be 0. */
uint32_t tkt_trace_site_index(takt_trace *trace, const tkt_trace_site *site);

/* Adds an empty track and returns its index; TKT_NO_TRACK without memory. */
uint32_t tkt_trace_add_track(takt_trace *trace, takt_track_kind kind, uint32_t name,
                             uint32_t thread_id);

/* Returns how many of the track's spans have begun by `time_ns`. Binary search. */
size_t tkt_spans_begun(const tkt_track *track, uint64_t time_ns);

/* The innermost span of a thread at a time: the last one to begin, or its innermost ancestor that
 * had not ended. TKT_NO_SPAN if there is none, and on async tracks. */
uint32_t tkt_span_at(const tkt_track *track, uint64_t time_ns);

/* Derives the rest of a trace's contents. Call once. TAKT_NO_MEMORY.
 * - Sorts async spans, waits and overheads by begin; arguments, work and stacks by span; marks,
 *   counters, flows and memory events by time, then track.
 * - With spans: sets the PHASE, CALL and ACTIVITY flags of spans, and appends host activities, made
 *   from the spans of activity sites and sorted by begin.
 * - Orders what timers inside kernels recorded, and finds the kernels' activities (phases.c).
 * - Sets the facts' name, backend, first step, and the counts of spans, activities and steps. */
takt_status tkt_trace_finish(takt_trace *trace);

/* Part of tkt_trace_finish(): counts what the summary's tree had no room for. */
void tkt_trace_add_fold_losses(takt_trace *trace);

/* The folded form. Makes it from the spans of threads, and node_activities from the activities, if
 * the trace does not have them yet. Sites are the trace's. NULL without memory. Any thread. */
const tkt_fold *tkt_trace_fold(const takt_trace *trace);

/* True if it is known which spans the recording cut: begun_before and unfinished. The summary of a
 * crash-safe file does not know. */
static inline bool tkt_trace_knows_cuts(const takt_trace *trace)
{
    return trace->facts.has_spans || trace->fold.has_lists;
}

/* True if a flight recorder has overwritten events of the recording. */
static inline bool tkt_trace_is_of_flight(const takt_trace *trace)
{
    return trace->losses[TAKT_LOSS_OVERWRITTEN] > 0;
}

/* True if scopes are missing among those of the time line: times add up to less than there was. */
bool tkt_trace_lacks_spans(const takt_trace *trace);

/* True if so much of what devices did is missing that their busy times, and rates of work, say
 * nothing: a hundredth was lost or is cut off, or a quarter had not finished. */
bool tkt_trace_lacks_work(const takt_trace *trace);

/* True if a summary was recorded, beside spans or without. */
bool tkt_trace_has_summary(const takt_trace *trace);

/* True if sums over the whole recording are not known: the time line lacks scopes, and no summary
 * was recorded beside it. */
bool tkt_trace_lacks_time(const takt_trace *trace);

/* True if threads, tasks and counters are better taken from the summary's lists. */
bool tkt_trace_prefers_lists(const takt_trace *trace);

/* True for a recording by another profiler, whose files do not tell what it cost. */
static inline bool tkt_is_imported(const takt_facts *facts)
{
    return isnan(facts->cost_ns);
}

/* True for a process that was started together with others. */
static inline bool tkt_has_rank(const takt_facts *facts)
{
    return facts->world_size > 1 || facts->rank > 0;
}

/* Writes "rank 3 of 8", or "rank 3" if the number of processes is not known. Writes "" and returns
 * false for a process that ran alone. */
bool tkt_trace_rank_text(char *text, size_t size, const takt_facts *facts);

/* True for another profiler's file, and for one that was cut before its first save: what the
 * recording lost and cost is not in it. Counted losses are what reading it has found. */
static inline bool tkt_is_unknown(const takt_facts *facts)
{
    return tkt_is_imported(facts) ||
           (facts->ending != TAKT_ENDING_WHOLE && facts->known_until_ns == 0);
}

/* False where a count of 0 does not say that nothing was lost. */
static inline bool tkt_loss_is_known(const takt_trace *trace, int loss)
{
    return trace->losses[loss] > 0 || loss == TAKT_LOSS_CUT || !tkt_is_unknown(&trace->facts);
}

/* True if counted losses are lower bounds. */
static inline bool tkt_losses_are_least(const takt_facts *facts)
{
    return tkt_is_unknown(facts) || tkt_is_broken_off(facts);
}

/* The length of the recording; 0 for a file in which the recording ends before it begins. */
static inline uint64_t tkt_wall_ns(const takt_facts *facts)
{
    return facts->end_ns > facts->begin_ns ? facts->end_ns - facts->begin_ns : 0;
}

/* The scope's color, 0xFFRRGGBB; 0 if it has none. */
static inline uint32_t tkt_site_color(const tkt_trace_site *site)
{
    return site->kind == TAKT_SITE_SCOPE ? site->filter : 0;
}

static inline const char *tkt_trace_text(const takt_trace *trace, uint32_t string)
{
    return tkt_strtab_text(&trace->strings, string);
}

/* The string with a span's name. */
static inline uint32_t tkt_span_name(const takt_trace *trace, const tkt_span *span)
{
    return trace->sites.items[tkt_span_site(span)].name;
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
