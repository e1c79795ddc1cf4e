/* takt/trace.h - a sealed recording, read-only: in the program that made it, or from its file.
 *
 * A trace is immutable; any number of threads may read it. Its tracks are rows of the timeline, a
 * track's spans stand in the order of their begin, parents before children. Times are integer nanoseconds of the takt_now_ns() time line. What fills *out lends its
 * strings from the trace, and past the end returns TAKT_BAD_ARGUMENT and leaves *out alone.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_TRACE_H
#define TAKT_TRACE_H

#include <takt/activity.h>
#include <takt/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct takt_trace takt_trace;

/* Reads a Perfetto trace that Takt wrote (.pftrace, or .pftrace.gz). A file that is cut off is read
 * up to the cut; takt_trace_facts then says so. The caller releases it. TAKT_IO_ERROR,
 * TAKT_BAD_TRACE, TAKT_NO_MEMORY. */
TAKT_API takt_status takt_trace_open(const char *path, takt_trace **out, takt_error *error);

/* Makes a trace of what a crash-safe recording (takt_profiler_options.crash_safe) has left at
 * `path` when its program ended: of all cycles that were not saved, marked as partial. Any thread.
 * TAKT_NOT_FOUND if there is no such cycle, TAKT_UNSUPPORTED for files of another version of Takt
 * or of another kind of machine; otherwise fails as takt_trace_open() does. */
TAKT_API takt_status takt_trace_recover(const char *path, takt_trace **out, takt_error *error);

/* Keeps a borrowed trace until as many calls of takt_trace_release(). Any thread. */
TAKT_API const takt_trace *takt_trace_retain(const takt_trace *trace);
TAKT_API void takt_trace_release(const takt_trace *trace);

/* Why events are missing or changed; takt_trace_loss() has the counts. A later library may know of
 * more: takt_loss_name() is NULL behind the last. */
#define TAKT_LOSS_LIST(X)                                                                          \
    X(TAKT_LOSS_BUFFER_FULL, "dropped", "events dropped because max_memory was used up")           \
    X(TAKT_LOSS_OVERWRITTEN, "overwritten", "events overwritten by the flight recorder")           \
    X(TAKT_LOSS_NO_MEMORY, "out of memory", "events dropped because memory could not be had")      \
    X(TAKT_LOSS_TOO_DEEP, "too deep", "scopes dropped because too many were open")                 \
    X(TAKT_LOSS_TOO_MANY_SITES, "too many sites", "events dropped for want of a call site id")     \
    X(TAKT_LOSS_TOO_MANY_PATHS, "too many paths", "scopes folded into their parent's other")       \
    X(TAKT_LOSS_MISMATCH, "mismatched", "ends without begin, and scopes closed by another's end")  \
    X(TAKT_LOSS_CLOCK, "clock", "spans that would have had a negative duration")                   \
    X(TAKT_LOSS_UNMATCHED_SPAN, "unmatched", "span ends and flows whose other half is missing")    \
    X(TAKT_LOSS_CUT, "cut", "bytes at the end of a file that could not be read")                   \
    X(TAKT_LOSS_DEVICE_DROPPED, "device dropped", "activities for which there was no room")        \
    X(TAKT_LOSS_INCOMPLETE, "incomplete", "launches whose activity had not finished")              \
    X(TAKT_LOSS_UNATTRIBUTED, "unattributed", "activities whose launch is not known")              \
    X(TAKT_LOSS_BAD_TIME, "bad time", "activities with impossible timestamps")                     \
    X(TAKT_LOSS_UNKNOWN_RECORD, "unknown", "records of CUPTI's that could not be decoded")         \
    X(TAKT_LOSS_NO_STACK, "no stack", "scopes and calls whose call stack could not be kept")       \
    X(TAKT_LOSS_NO_ACTIVITY, "no activity", "launches of which devices told nothing")              \
    X(TAKT_LOSS_IN_SIGNAL, "in signals", "events of signal handlers that interrupted Takt itself") \
    X(TAKT_LOSS_MORE_NAMES, "more names", "names and texts that became (more names)")              \
    X(TAKT_LOSS_ADDRESSES, "addresses", "allocations dropped because too many were not freed")

typedef enum takt_loss {
#define TAKT_LOSS_ENUM(code, name, text) code,
    TAKT_LOSS_LIST(TAKT_LOSS_ENUM)
#undef TAKT_LOSS_ENUM
    TAKT_LOSS_COUNT
} takt_loss;

/* How the trace of a file ends. Traces that a program has made itself are whole. */
typedef enum takt_ending {
    TAKT_ENDING_WHOLE,
    TAKT_ENDING_KILLED, /* of output.stream, or recovered: the program was killed, or ended without
                         * takt_profiler_stop(), or still runs */
    TAKT_ENDING_CUT     /* the file was complete, and has lost its end */
} takt_ending;

/* What a trace is, as a whole. */
typedef struct takt_facts {
    const char *name;    /* of the run */
    const char *backend; /* what timed devices: "none", "CUDA events", "CUPTI 13.0 (130001)" */
    uint64_t    begin_ns;
    uint64_t    end_ns;
    int64_t     realtime_offset_ns; /* CLOCK_REALTIME minus the time line, at the end */
    uint32_t    process_id;
    uint32_t    cycle;         /* counted from 0 */
    uint64_t    first_step;    /* that was recorded */
    uint64_t    step_count;    /* recorded */
    bool        is_partial;    /* stopped before the cycle was complete */
    bool        has_spans;     /* false: only the folded form */
    uint64_t    span_count;
    uint64_t    activity_count;
    double      clock_resolution_ns;
    double      clock_uncertainty_ns; /* residual of the fit against CLOCK_MONOTONIC */
    double      cost_ns;              /* Takt's own estimated time inside the recording */
    uint64_t    begun_before;         /* spans that were open when recording began */
    uint64_t    unfinished;           /* spans that were open when it ended */
    double      device_uncertainty_ns; /* of device times against host times; 0 without a device */
    double      device_resolution_ns;  /* of device times */
    bool        device_uncertainty_is_least; /* it may be more: the recording has no launch, or no
                                              * wait, that would bound it */
    double      device_shift_ns; /* the furthest that a device's times were moved, because work
                                  * began before its launch or ended after a wait; usually 0 */
    takt_ending ending;
    uint64_t    known_until_ns; /* losses and cost are known up to here. 0: not at all. Of a whole
                                 * trace: end_ns */
    uint64_t    missing_spans;  /* of a file that has lost its end: what it said it had */
    uint64_t    missing_activities; /* the same */
    uint32_t    rank;            /* of the process among those that were started together */
    uint32_t    world_size;      /* how many these are; 0: not known, or it was alone */
} takt_facts;

/* The lists of a trace. Their items have numbers from 0. */
typedef enum takt_trace_list {
    TAKT_TRACE_TRACKS,
    TAKT_TRACE_ACTIVITIES,
    TAKT_TRACE_DEVICES,
    TAKT_TRACE_COUNTERS,
    TAKT_TRACE_STEPS,
    TAKT_TRACE_CALLS,
    TAKT_TRACE_MEMORY,
    TAKT_TRACE_MARKS,
    TAKT_TRACE_WAITS,
    TAKT_TRACE_STACKS,
    TAKT_TRACE_NODES,
    TAKT_TRACE_SUMS
} takt_trace_list;

/* How many items a list has; 0 for a list that this version does not know. */
TAKT_API size_t takt_trace_count(const takt_trace *trace, takt_trace_list list);

/* Borrowed as long as the trace. */
TAKT_API const takt_facts *takt_trace_facts(const takt_trace *trace);

/* How many were lost so; 0 out of range. */
TAKT_API uint64_t takt_trace_loss(const takt_trace *trace, takt_loss loss);

/* The texts of TAKT_LOSS_LIST: the short name and the explanation. Static; NULL out of range. */
TAKT_API const char *takt_loss_name(takt_loss loss);
TAKT_API const char *takt_loss_text(takt_loss loss);

typedef enum takt_track_kind {
    TAKT_TRACK_THREAD, /* spans nest */
    TAKT_TRACK_ASYNC   /* spans may overlap */
} takt_track_kind;

typedef struct takt_track_info {
    takt_track_kind kind;
    const char     *name; /* "" when it has none */
    uint32_t        thread_id;
    size_t          span_count;
} takt_track_info;

#define TAKT_SPAN_BEGUN_BEFORE 0x1u /* begin is where the recording began */
#define TAKT_SPAN_UNFINISHED   0x2u /* end is where the recording ended */
#define TAKT_SPAN_PHASE        0x4u
#define TAKT_SPAN_ACTIVITY     0x8u
#define TAKT_SPAN_CALL         0x10u /* a call into a device's library */
#define TAKT_SPAN_CAPTURING    0x20u /* such a call while a stream was captured: it may have launched
                                      * nothing; not kept in files */
#define TAKT_SPAN_NO_ACTIVITY  0x40u /* such a call whose activity is lost: see losses */

#define TAKT_NO_PARENT SIZE_MAX

typedef struct takt_span_info {
    const char *name;
    const char *category; /* "" for the default one */
    const char *file;     /* "" for names given at run time */
    uint32_t    line;
    uint32_t    flags; /* TAKT_SPAN_ bits */
    uint64_t    begin_ns;
    uint64_t    end_ns;
    size_t      parent; /* index on the same track, or TAKT_NO_PARENT */
    const char *device; /* of a host activity, TAKT_SPAN_ACTIVITY: "cpu"; otherwise "" */
    uint32_t    filter; /* of a host activity: one TAKT_TIMING_ bit; otherwise 0 */
    uint32_t    color;  /* of TAKT_SCOPE_COLOR: 0xFFRRGGBB; otherwise 0 */
} takt_span_info;

TAKT_SIZED takt_status takt_trace_track(const takt_trace *trace, size_t track,
                                        takt_track_info *out);
TAKT_SIZED takt_status takt_trace_span(const takt_trace *trace, size_t track, size_t span,
                                       takt_span_info *out);

/* Activities in issue order: on host devices by begin time. */
TAKT_SIZED takt_status takt_trace_activity(const takt_trace *trace, size_t index,
                                           takt_activity *out);

/* A CUDA device that the recording knows. Fields that nobody could tell are 0 or "". */
typedef struct takt_device_info {
    const char *device; /* "cuda:0", as activities have it */
    const char *name;   /* the product's */
    uint32_t    compute_major; /* compute capability */
    uint32_t    compute_minor;
    uint32_t    multiprocessors;
    uint64_t    memory_bytes;
} takt_device_info;

/* Devices by their numbers. */
TAKT_SIZED takt_status takt_trace_device(const takt_trace *trace, size_t index,
                                         takt_device_info *out);

/* The most that something can do in a second; 0: not known. Frozen. */
typedef struct takt_peak {
    double flops;     /* floating-point operations */
    double bandwidth; /* bytes from and to memory */
} takt_peak;

/* Of a device, "cuda:0", what profiling.peak_flops and peak_bandwidth say or else its attributes
 * tell, as the report "ops" has it; of "cpu", a thread of the host, what host_peak_flops and
 * host_peak_bandwidth say. */
TAKT_API takt_peak takt_trace_peak(const takt_trace *trace, const char *device);

typedef struct takt_counter_info {
    const char *name;
    uint64_t    time_ns;
    double      value;
} takt_counter_info;

/* Counter samples in the order of their time. */
TAKT_SIZED takt_status takt_trace_counter(const takt_trace *trace, size_t index,
                                          takt_counter_info *out);

/* A step that was recorded. */
typedef struct takt_step_info {
    uint64_t number; /* of the run, from 0 */
    uint64_t begin_ns;
    uint64_t end_ns;
} takt_step_info;

TAKT_SIZED takt_status takt_trace_step(const takt_trace *trace, size_t index, takt_step_info *out);

/* All steps of the run up to the end of the recording, recorded or not. */
typedef struct takt_all_steps {
    uint64_t count;
    uint64_t total_ns;
    uint64_t min_ns; /* these are 0 where there were none */
    uint64_t median_ns; /* within 1/32, as the next one */
    uint64_t p99_ns;
    uint64_t max_ns;
    double   simulated_seconds; /* per step, as the program has declared; 0: it has not */
} takt_all_steps;

TAKT_SIZED takt_status takt_trace_all_steps(const takt_trace *trace, takt_all_steps *out);

/* A call into a device's library: a span with TAKT_SPAN_CALL, and what else is known of it. */
typedef struct takt_call_info {
    size_t   track;
    size_t   span;        /* on that track: name and times */
    uint32_t correlation; /* that of the activities which it launched; 0: none */
    int32_t  result;      /* what it returned; 0: success */
} takt_call_info;

/* Calls by track, then by begin. */
TAKT_SIZED takt_status takt_trace_call(const takt_trace *trace, size_t index, takt_call_info *out);

typedef enum takt_arg_kind {
    TAKT_ARG_INT,
    TAKT_ARG_UINT,
    TAKT_ARG_DOUBLE,
    TAKT_ARG_BOOL,
    TAKT_ARG_TEXT
} takt_arg_kind;

/* A TAKT_ARG on a span. */
typedef struct takt_arg_info {
    const char   *key;
    takt_arg_kind kind; /* which of these it is; the others are 0 or "" */
    int64_t       i;    /* TAKT_ARG_INT; TAKT_ARG_BOOL: 0 or 1 */
    uint64_t      u;
    double        d;
    const char   *text;
} takt_arg_info;

/* Arguments of a span, in the order in which they were recorded; 0 past the end. */
TAKT_API size_t takt_trace_arg_count(const takt_trace *trace, size_t track, size_t span);
TAKT_SIZED takt_status takt_trace_arg(const takt_trace *trace, size_t track, size_t span,
                                      size_t index, takt_arg_info *out);

/* Work that was declared for a span by TAKT_WORK: floating-point operations, and bytes moved.
 * Both 0 where there was none. */
TAKT_API takt_status takt_trace_work(const takt_trace *trace, size_t track, size_t span,
                                     double *flops, double *bytes);

/* An allocation or free that the program reported, or of a device's memory. */
typedef struct takt_memory_info {
    uint64_t    time_ns;
    uint64_t    address;
    int64_t     bytes;  /* negative: freed */
    const char *device; /* "cuda:0"; "": the host's memory */
    const char *scope;  /* innermost open one; NULL: none was open, or it is not known */
    uint32_t    kind;   /* takt_memory_kind; 0: the host's */
    uint32_t    thread; /* operating system's id; 0: not known */
    bool        is_pool; /* what a pool reserves, not an allocation */
    size_t      track;   /* of the thread that did it; SIZE_MAX: not known */
    size_t      span;    /* the innermost open one on that track, maybe a call; or SIZE_MAX */
} takt_memory_info;

/* Memory events in the order of their time. */
TAKT_SIZED takt_status takt_trace_memory(const takt_trace *trace, size_t index,
                                         takt_memory_info *out);

/* Totals of an allocator over a time. Frozen. */
typedef struct takt_memory_period {
    uint64_t begin_bytes; /* allocated when it began */
    uint64_t peak_bytes;
    uint64_t peak_ns; /* when that was; 0: there was none */
    uint64_t allocations;
    uint64_t frees;
    uint64_t unmatched_frees; /* of addresses that nobody allocated; of the recording not known: 0 */
} takt_memory_period;

/* Memory as the report "memory" has it, in summaries too. */
typedef struct takt_memory_totals {
    const char        *device; /* "cuda:0"; "": the host's memory, as the program reports it */
    takt_memory_period recording;
    takt_memory_period since_start; /* of the program, or since collection began */
    uint64_t           current_bytes; /* allocated when the recording ended */
    uint64_t           free_bytes; /* then of a device, as its driver says, whoever uses it; */
    uint64_t           capacity_bytes; /* 0: not known */
    uint64_t           pool_bytes; /* reserved by memory pools then */
    uint64_t           pool_used_bytes;
    bool               is_of_recording; /* what was allocated before is not known, see
                                         * takt_memory_keep_totals(): since_start is 0, and the rest
                                         * is of what was allocated while it recorded */
} takt_memory_totals;

/* The host's is at index 0, those of devices behind it. */
TAKT_SIZED takt_status takt_trace_memory_totals(const takt_trace *trace, size_t index,
                                                takt_memory_totals *out);

typedef struct takt_mark_info {
    const char *name;
    uint64_t    time_ns;
    size_t      track;
} takt_mark_info;

/* Marks in the order of their time. */
TAKT_SIZED takt_status takt_trace_mark(const takt_trace *trace, size_t index, takt_mark_info *out);

/* A wait of the host for a device, or of one stream for another, as the device's library saw it. */
typedef enum takt_wait_kind {
    TAKT_WAIT_UNKNOWN,
    TAKT_WAIT_EVENT,        /* the host for an event */
    TAKT_WAIT_STREAM_EVENT, /* a stream for an event */
    TAKT_WAIT_STREAM,       /* the host for a stream */
    TAKT_WAIT_CONTEXT       /* the host for a device */
} takt_wait_kind;

typedef struct takt_wait_info {
    uint64_t       begin_ns;
    uint64_t       end_ns;
    takt_wait_kind kind;
    uint32_t       correlation; /* the call's */
    uint32_t       context;
    uint32_t       stream; /* UINT32_MAX: all of the context */
} takt_wait_info;

/* Waits in the order of their begin. */
TAKT_SIZED takt_status takt_trace_wait(const takt_trace *trace, size_t index, takt_wait_info *out);

/* One frame of a host call stack that profiling.with_stack recorded. What is not known is "" or 0:
 * the program knows its exported functions, `takt` reads the others' names and lines from the
 * debugging information. */
typedef struct takt_frame_info {
    const char *function;
    const char *module;    /* path of the program or library that the code is in */
    uint64_t    offset;    /* address in that file: of the call's last byte, so that it has its line */
    const char *file;
    uint32_t    line;
    bool        is_inline; /* inlined into the next frame */
} takt_frame_info;

#define TAKT_NO_STACK SIZE_MAX

/* Equal stacks are one. Frames stand innermost first: that of the scope's begin, or of the call. */
TAKT_API size_t takt_trace_frame_count(const takt_trace *trace, size_t stack);
TAKT_SIZED takt_status takt_trace_frame(const takt_trace *trace, size_t stack, size_t frame,
                                        takt_frame_info *out);

/* The stack at which a span began, or TAKT_NO_STACK. */
TAKT_API size_t takt_trace_span_stack(const takt_trace *trace, size_t track, size_t span);

/* ---- What is added up ------------------------------------------------------------------------
 *
 * A node stands for a scope as it was opened inside of the same scopes, for all threads together.
 * Every trace has nodes: those of a summary are all that is left of its scopes, those of other
 * traces are made from their spans when they are first asked for. */

/* Of calls that were added up. Frozen. */
typedef struct takt_durations {
    uint64_t count;
    uint64_t total_ns;
    uint64_t min_ns;
    uint64_t max_ns;
    uint64_t median_ns; /* of a histogram, within 3.2 % */
    uint64_t p99_ns;
} takt_durations;

typedef struct takt_node_info {
    const char    *name;     /* "(other paths)" where there were too many */
    const char    *category; /* "" for the default one */
    const char    *file;     /* "" for names given at run time */
    uint32_t       line;
    uint32_t       flags;  /* TAKT_SPAN_PHASE, _ACTIVITY, _CALL */
    size_t         parent; /* a smaller number, or TAKT_NO_PARENT */
    uint32_t       depth;  /* 0: opened outside of any other */
    uint32_t       filter; /* of a host activity: one TAKT_TIMING_ bit; otherwise 0 */
    takt_durations durations; /* count 0: only scopes inside of it were recorded */
    uint64_t       self_ns;   /* total_ns less that of its children */
    uint64_t       errors;    /* of calls into a device's library: those that did not succeed */
    double         flops;     /* declared with TAKT_WORK */
    double         bytes;
    const char    *device; /* of a host activity: "cpu"; otherwise "" */
    uint32_t       color;  /* of TAKT_SCOPE_COLOR: 0xFFRRGGBB; otherwise 0 */
} takt_node_info;

/* Parents come before their children; siblings are in no order. TAKT_NO_MEMORY where the nodes could not be made; then there
 * are none. */
TAKT_SIZED takt_status takt_trace_node(const takt_trace *trace, size_t index, takt_node_info *out);

/* Activities of one name on one device that scopes of one node have launched. */
typedef struct takt_sum_info {
    size_t         node; /* TAKT_NO_PARENT: of no scope */
    const char    *name;
    const char    *device; /* "cuda:0" */
    uint32_t       filter; /* one TAKT_TIMING_ bit */
    takt_durations durations;
} takt_sum_info;

/* By node. */
TAKT_SIZED takt_status takt_trace_sum(const takt_trace *trace, size_t index, takt_sum_info *out);

/* ---- The functions above that fill *out ------------------------------------------------------ */

TAKT_PASS_SIZE(takt_trace_track, takt_track_info,
               (const takt_trace *trace, size_t track), trace, track)
TAKT_PASS_SIZE(takt_trace_span, takt_span_info,
               (const takt_trace *trace, size_t track, size_t span), trace, track, span)
TAKT_PASS_SIZE(takt_trace_activity, takt_activity,
               (const takt_trace *trace, size_t index), trace, index)
TAKT_PASS_SIZE(takt_trace_device, takt_device_info,
               (const takt_trace *trace, size_t index), trace, index)
TAKT_PASS_SIZE(takt_trace_counter, takt_counter_info,
               (const takt_trace *trace, size_t index), trace, index)
TAKT_PASS_SIZE(takt_trace_step, takt_step_info,
               (const takt_trace *trace, size_t index), trace, index)
TAKT_PASS_SIZE(takt_trace_all_steps, takt_all_steps, (const takt_trace *trace), trace)
TAKT_PASS_SIZE(takt_trace_call, takt_call_info,
               (const takt_trace *trace, size_t index), trace, index)
TAKT_PASS_SIZE(takt_trace_arg, takt_arg_info,
               (const takt_trace *trace, size_t track, size_t span, size_t index),
               trace, track, span, index)
TAKT_PASS_SIZE(takt_trace_memory, takt_memory_info,
               (const takt_trace *trace, size_t index), trace, index)
TAKT_PASS_SIZE(takt_trace_memory_totals, takt_memory_totals,
               (const takt_trace *trace, size_t index), trace, index)
TAKT_PASS_SIZE(takt_trace_mark, takt_mark_info,
               (const takt_trace *trace, size_t index), trace, index)
TAKT_PASS_SIZE(takt_trace_wait, takt_wait_info,
               (const takt_trace *trace, size_t index), trace, index)
TAKT_PASS_SIZE(takt_trace_node, takt_node_info,
               (const takt_trace *trace, size_t index), trace, index)
TAKT_PASS_SIZE(takt_trace_sum, takt_sum_info,
               (const takt_trace *trace, size_t index), trace, index)
TAKT_PASS_SIZE(takt_trace_frame, takt_frame_info,
               (const takt_trace *trace, size_t stack, size_t frame), trace, stack, frame)

#ifdef __cplusplus
}
#endif
#endif
