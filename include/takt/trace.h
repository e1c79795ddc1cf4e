/* takt/trace.h - reads a sealed recording, in the program that made it or from its file.
 *
 *     takt_trace *trace;
 *     if (takt_trace_open("run.pftrace", &trace, NULL) == TAKT_OK) {
 *         takt_step_info step;
 *         for (size_t i = 0; takt_trace_step(trace, i, &step) == TAKT_OK; i++)
 *             printf("%f ms\n", (double)(step.end_ns - step.begin_ns) * 1e-6);
 *         takt_trace_release(trace);
 *     }
 *
 * A trace never changes; any number of threads may read it. Its tracks are the rows of the
 * timeline. The spans of a track are sorted by start time, parents before children. Times are
 * integer nanoseconds on the time line of takt_now_ns(). A function that fills *out lends strings,
 * which belong to the trace. For an index past the end such a function returns TAKT_BAD_ARGUMENT
 * and leaves *out untouched.
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

/* Reads a Perfetto trace that Takt wrote (.pftrace, or .pftrace.gz). A truncated file is read up to
 * the cut; `ending` in takt_trace_facts() then says so. The caller frees *out with
 * takt_trace_release(). `error` may be NULL. Any thread. TAKT_IO_ERROR, TAKT_BAD_TRACE (also for a
 * file cut before the end of its head, of which nothing can be read), TAKT_NO_MEMORY. */
TAKT_API takt_status takt_trace_open(const char *path, takt_trace **out, takt_error *error);

/* Makes a trace from the file that a crash-safe recording (takt_profiler_options.crash_safe) left
 * at `path`. The trace contains all cycles that were not saved, and is marked as partial. The
 * caller frees *out with takt_trace_release(). Any thread. TAKT_NOT_FOUND if there is no such
 * cycle. TAKT_UNSUPPORTED for a file of another version of Takt or of another kind of machine.
 * Otherwise fails as takt_trace_open() does. */
TAKT_API takt_status takt_trace_recover(const char *path, takt_trace **out, takt_error *error);

/* takt_trace_retain() adds an owner to a borrowed trace and returns the same trace. Each retain
 * needs one takt_trace_release(); the last release frees the trace. Any thread. Both ignore NULL;
 * the other functions that take a trace need one. */
TAKT_API const takt_trace *takt_trace_retain(const takt_trace *trace);
TAKT_API void takt_trace_release(const takt_trace *trace);

/* Reasons why events are missing or changed. takt_trace_loss() returns the counts. A later library
 * may have more reasons: takt_loss_name() returns NULL after the last one. */
#define TAKT_LOSS_LIST(X)                                                                          \
    X(TAKT_LOSS_BUFFER_FULL, "dropped", "events dropped because max_memory was used up")           \
    X(TAKT_LOSS_OVERWRITTEN, "overwritten", "events overwritten by the flight recorder")           \
    X(TAKT_LOSS_NO_MEMORY, "out of memory", "events dropped because memory could not be had")      \
    X(TAKT_LOSS_TOO_DEEP, "too deep", "scopes dropped because too many were open")                 \
    X(TAKT_LOSS_TOO_MANY_SITES, "too many sites", "events dropped for want of a call site id")     \
    X(TAKT_LOSS_TOO_MANY_PATHS, "too many paths", "scopes folded into their parent's other")       \
    X(TAKT_LOSS_MISMATCH, "mismatched", "ends without begin, and scopes closed by another's end")  \
    X(TAKT_LOSS_CLOCK, "clock", "spans that would have had a negative duration")                   \
    X(TAKT_LOSS_UNMATCHED_SPAN, "unmatched", "spans on tracks whose begin or end is missing")      \
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
    X(TAKT_LOSS_ADDRESSES, "addresses", "allocations dropped because too many were not freed")     \
    X(TAKT_LOSS_PHASE_BLOCKS, "phase blocks", "blocks of kernels without room for their phases")   \
    X(TAKT_LOSS_PHASES, "phases", "phases inside kernels for which a block had no room")           \
    X(TAKT_LOSS_PHASE_NUMBER, "phase numbers", "phases inside kernels with a number out of range") \
    X(TAKT_LOSS_SKIPPED_EVENTS, "skipped events", "events of another tool's file, not understood") \
    X(TAKT_LOSS_CROSSING_SPANS, "crossing spans", "spans that overlap others instead of nesting")  \
    X(TAKT_LOSS_MORE_THREADS, "more threads", "threads that share the row (more threads)")         \
    X(TAKT_LOSS_NO_PERCENTILES, "no percentiles", "calls and activities without percentiles")      \
    X(TAKT_LOSS_MORE_STEPS, "more steps", "recorded steps beyond those that a trace can list")     \
    X(TAKT_LOSS_OPEN_SPANS, "open spans", "spans on tracks dropped because too many were open")

typedef enum takt_loss {
#define TAKT_LOSS_ENUM(code, name, text) code,
    TAKT_LOSS_LIST(TAKT_LOSS_ENUM)
#undef TAKT_LOSS_ENUM
    TAKT_LOSS_COUNT
} takt_loss;

/* How the file of a trace ends. A trace made in the running program is always whole. */
typedef enum takt_ending {
    TAKT_ENDING_WHOLE,
    TAKT_ENDING_KILLED, /* a streamed or recovered file of a program that was killed, ended without
                         * takt_profiler_stop(), or still runs */
    TAKT_ENDING_CUT,    /* the file was complete, but its end is missing */
    TAKT_ENDING_STOPPED /* a streamed file that could not be written on, such as on a full disk; the
                         * program went on */
} takt_ending;

/* Facts on the whole trace. */
typedef struct takt_facts {
    const char *name;    /* of the run */
    const char *backend; /* source of device times: "none", "CUDA events", "CUPTI 13.0 (130001)" */
    uint64_t    begin_ns;
    uint64_t    end_ns;
    int64_t     realtime_offset_ns; /* CLOCK_REALTIME minus the time line, at the end of the
                                     * trace */
    uint32_t    process_id;
    uint32_t    cycle;         /* counted from 0 */
    uint64_t    first_step;    /* number of the first recorded step */
    uint64_t    step_count;    /* recorded steps */
    bool        is_partial;    /* the recording stopped before the cycle was complete */
    bool        has_spans;     /* false: the trace has only the call tree of a summary */
    uint64_t    span_count;
    uint64_t    activity_count; /* both 0 without spans: see takt_trace_sum() */
    double      clock_resolution_ns;
    double      clock_uncertainty_ns; /* residual of the fit against CLOCK_MONOTONIC */
    double      cost_ns;              /* Takt's own time in the recording: what the same events
                                       * cost in a loop of nothing else. See docs/overhead.md */
    uint64_t    begun_before;         /* spans that were open when recording began */
    uint64_t    unfinished;           /* spans that were open when it ended */
    double      device_uncertainty_ns; /* of device times relative to host times; 0 without a
                                        * device */
    double      device_resolution_ns;  /* of device times */
    bool        device_uncertainty_is_least; /* the uncertainty may be larger: the recording has no
                                              * launch, or no wait, to bound it */
    double      device_shift_ns; /* largest shift applied to a device's times, because work seemed
                                  * to begin before its launch or to end after a wait; usually 0 */
    takt_ending ending;
    uint64_t    known_until_ns; /* losses and cost are known up to this time. 0: unknown. Whole
                                 * traces: end_ns */
    uint64_t    missing_spans;  /* spans lost with the end of the file, if the file says how
                                 * many it had */
    uint64_t    missing_activities; /* activities lost in the same way */
    uint32_t    rank;            /* of this process among the processes started together */
    uint32_t    world_size;      /* number of processes started together; 0: unknown, or only one */
    bool        has_capture_range; /* profiled with TAKT_NSIGHT_CAPTURE_RANGE */
    uint64_t    process_key; /* random, the same in all traces of one process: in containers process_id
                              * tells them apart no longer; below 2^53; 0: unknown */
    double      cost_longest_ns; /* the longest that a thread was inside Takt at once while it
                                  * recorded, as far as that is measured: see docs/overhead.md.
                                  * 0: unknown, or nothing took longer than an event */
} takt_facts;

/* The lists of a trace. Items are numbered from 0. */
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

/* Returns the number of items in a list; 0 for a list unknown to this version. */
TAKT_API size_t takt_trace_count(const takt_trace *trace, takt_trace_list list);

/* Returns the facts of the trace, which belong to the trace. */
TAKT_API const takt_facts *takt_trace_facts(const takt_trace *trace);

/* Returns how many events were lost for this reason; 0 for an unknown reason. */
TAKT_API uint64_t takt_trace_loss(const takt_trace *trace, takt_loss loss);

/* Return the texts of TAKT_LOSS_LIST: the short name and the explanation. Static; NULL for an
 * unknown reason. */
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

#define TAKT_SPAN_BEGUN_BEFORE 0x1u /* open when the recording began: begin_ns is the begin of the
                                     * recording */
#define TAKT_SPAN_UNFINISHED   0x2u /* open when the recording ended: end_ns is the end of the
                                     * recording */
#define TAKT_SPAN_PHASE        0x4u
#define TAKT_SPAN_ACTIVITY     0x8u
#define TAKT_SPAN_CALL         0x10u /* a call into a device's library */
/* A call during stream capture, which may have launched nothing. Of files, Perfetto's keep it. */
#define TAKT_SPAN_CAPTURING    0x20u
#define TAKT_SPAN_NO_ACTIVITY  0x40u /* a call whose activity is lost: see losses */

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
    const char *device; /* host activities (TAKT_SPAN_ACTIVITY): "cpu"; otherwise "" */
    uint32_t    filter; /* host activities: one TAKT_TIMING_ bit; otherwise 0 */
    uint32_t    color;  /* color from TAKT_SCOPE_COLOR: 0xFFRRGGBB; otherwise 0 */
} takt_span_info;

TAKT_SIZED takt_status takt_trace_track(const takt_trace *trace, size_t track,
                                        takt_track_info *out);
TAKT_SIZED takt_status takt_trace_span(const takt_trace *trace, size_t track, size_t span,
                                       takt_span_info *out);

/* Activities of devices come first, in the order of their launch, then those of the host, in the
 * order of their begin. */
TAKT_SIZED takt_status takt_trace_activity(const takt_trace *trace, size_t index,
                                           takt_activity *out);

/* A CUDA device of the recording. Unknown fields are 0 or "". */
typedef struct takt_device_info {
    const char *device; /* "cuda:0", as in activities */
    const char *name;   /* product name */
    uint32_t    compute_major; /* compute capability */
    uint32_t    compute_minor;
    uint32_t    multiprocessors;
    uint64_t    memory_bytes;
} takt_device_info;

/* Devices are sorted by number. */
TAKT_SIZED takt_status takt_trace_device(const takt_trace *trace, size_t index,
                                         takt_device_info *out);

/* The highest rates of a device or host thread, per second; 0: unknown. Frozen. */
typedef struct takt_peak {
    double flops;     /* floating-point operations */
    double bandwidth; /* bytes read from and written to memory */
} takt_peak;

/* Returns the peak rates of `device`. For "cuda:0" and so on: the configured profiling.peak_flops
 * and peak_bandwidth, or else rates from the device's attributes, as in the report "ops". For
 * "cpu", one host thread: the configured host_peak_flops and host_peak_bandwidth. */
TAKT_API takt_peak takt_trace_peak(const takt_trace *trace, const char *device);

typedef struct takt_counter_info {
    const char *name;
    uint64_t    time_ns;
    double      value;
} takt_counter_info;

/* Counter samples are sorted by time. */
TAKT_SIZED takt_status takt_trace_counter(const takt_trace *trace, size_t index,
                                          takt_counter_info *out);

/* A recorded step. */
typedef struct takt_step_info {
    uint64_t number; /* number in the run, from 0 */
    uint64_t begin_ns;
    uint64_t end_ns;
} takt_step_info;

TAKT_SIZED takt_status takt_trace_step(const takt_trace *trace, size_t index, takt_step_info *out);

/* Statistics of all steps of the run until the end of the recording, recorded or not. */
typedef struct takt_all_steps {
    uint64_t count;
    uint64_t total_ns;
    uint64_t min_ns; /* this and the next three are 0 without steps */
    uint64_t median_ns; /* within 1/32; p99_ns too */
    uint64_t p99_ns;
    uint64_t max_ns;
    double   simulated_seconds; /* per step, as declared by the program; 0: not declared */
} takt_all_steps;

TAKT_SIZED takt_status takt_trace_all_steps(const takt_trace *trace, takt_all_steps *out);

/* A call into a device's library: a span with TAKT_SPAN_CALL and further facts. */
typedef struct takt_call_info {
    size_t   track;
    size_t   span;        /* index on that track; the span has name and times */
    uint32_t correlation; /* shared with the activities that the call launched; 0: none */
    int32_t  result;      /* value that the call returned; 0: success */
} takt_call_info;

/* Calls are sorted by track, then by begin. */
TAKT_SIZED takt_status takt_trace_call(const takt_trace *trace, size_t index, takt_call_info *out);

typedef enum takt_arg_kind {
    TAKT_ARG_INT,
    TAKT_ARG_UINT,
    TAKT_ARG_DOUBLE,
    TAKT_ARG_BOOL,
    TAKT_ARG_TEXT
} takt_arg_kind;

/* A TAKT_ARG of a span. */
typedef struct takt_arg_info {
    const char   *key;
    takt_arg_kind kind; /* says which of the next fields has the value; the others are 0 or "" */
    int64_t       i;    /* TAKT_ARG_INT; TAKT_ARG_BOOL: 0 or 1 */
    uint64_t      u;
    double        d;
    const char   *text;
} takt_arg_info;

/* Arguments of a span, in the order of recording. takt_trace_arg_count() returns 0 for an unknown
 * span. */
TAKT_API size_t takt_trace_arg_count(const takt_trace *trace, size_t track, size_t span);
TAKT_SIZED takt_status takt_trace_arg(const takt_trace *trace, size_t track, size_t span,
                                      size_t index, takt_arg_info *out);

/* Stores the work that TAKT_WORK declared for a span: floating-point operations, and bytes moved.
 * Both are 0 without such a declaration. TAKT_BAD_ARGUMENT for an unknown span. */
TAKT_API takt_status takt_trace_work(const takt_trace *trace, size_t track, size_t span,
                                     double *flops, double *bytes);

/* An allocation or free, of host memory reported by the program or of device memory. */
typedef struct takt_memory_info {
    uint64_t    time_ns;
    uint64_t    address;
    int64_t     bytes;  /* negative: a free */
    const char *device; /* "cuda:0"; "": the host's memory */
    const char *scope;  /* innermost open scope; NULL: no scope was open, or unknown */
    uint32_t    kind;   /* takt_memory_kind; 0: host memory */
    uint32_t    thread; /* operating system's id; 0: unknown */
    bool        is_pool; /* true: memory that a pool reserves, not an allocation */
    size_t      track;   /* of the thread that allocated or freed; SIZE_MAX: unknown */
    size_t      span;    /* innermost open span on that track, possibly a call; or SIZE_MAX */
} takt_memory_info;

/* Memory events are sorted by time. */
TAKT_SIZED takt_status takt_trace_memory(const takt_trace *trace, size_t index,
                                         takt_memory_info *out);

/* Totals of one memory over a period. Frozen. */
typedef struct takt_memory_period {
    uint64_t begin_bytes; /* allocated at the begin of the period */
    uint64_t peak_bytes;
    uint64_t peak_ns; /* time of the peak; 0: no peak */
    uint64_t allocations;
    uint64_t frees;
    /* Frees of unknown addresses; always 0 for `recording`, where Takt does not know them. */
    uint64_t unmatched_frees;
} takt_memory_period;

/* Memory totals, as in the report "memory"; summaries have them too. */
typedef struct takt_memory_totals {
    const char        *device; /* "cuda:0"; "": the host's memory, as the program reports it */
    takt_memory_period recording;
    takt_memory_period since_start; /* since the start of the program, or since Takt began to
                                     * collect */
    uint64_t           current_bytes; /* allocated when the recording ended */
    uint64_t           free_bytes; /* free on the device at the end of the recording: the driver's
                                    * value, for all processes; 0: unknown */
    uint64_t           capacity_bytes; /* total memory of the device; 0: unknown */
    uint64_t           pool_bytes; /* reserved by memory pools at the end of the recording */
    uint64_t           pool_used_bytes;
    bool               is_of_recording; /* true: allocations before the recording are unknown, see
                                         * takt_memory_keep_totals(). Then since_start is 0, and the
                                         * other fields count only memory allocated during the
                                         * recording */
} takt_memory_totals;

/* Index 0 is the host; devices follow. */
TAKT_SIZED takt_status takt_trace_memory_totals(const takt_trace *trace, size_t index,
                                                takt_memory_totals *out);

typedef struct takt_mark_info {
    const char *name;
    uint64_t    time_ns;
    size_t      track;
} takt_mark_info;

/* Marks are sorted by time. */
TAKT_SIZED takt_status takt_trace_mark(const takt_trace *trace, size_t index, takt_mark_info *out);

/* A wait of the host for a device, or of one stream for another, as seen by the device's
 * library. */
typedef enum takt_wait_kind {
    TAKT_WAIT_UNKNOWN,
    TAKT_WAIT_EVENT,        /* host waits for an event */
    TAKT_WAIT_STREAM_EVENT, /* stream waits for an event */
    TAKT_WAIT_STREAM,       /* host waits for a stream */
    TAKT_WAIT_CONTEXT       /* host waits for a device */
} takt_wait_kind;

typedef struct takt_wait_info {
    uint64_t       begin_ns;
    uint64_t       end_ns;
    takt_wait_kind kind;
    uint32_t       correlation; /* correlation of the waiting call */
    uint32_t       context;
    uint32_t       stream; /* UINT32_MAX: all streams of the context */
    size_t         track;  /* this and the next: of the waiting call; SIZE_MAX if not recorded */
    size_t         span;
    uint32_t       event;  /* the device library's number of the event; 0: none */
    uint32_t       record_correlation; /* of the call that recorded the event; 0: unknown, or the
                                        * call came before the recording */
    uint32_t       record_stream; /* stream on which that call recorded it */
    uint32_t       reserved;      /* 0 */
} takt_wait_info;

/* Waits are sorted by begin. */
TAKT_SIZED takt_status takt_trace_wait(const takt_trace *trace, size_t index, takt_wait_info *out);

/* One frame of a host call stack, recorded with profiling.with_stack. Unknown fields are "" or 0.
 * The program itself knows only its exported functions. The command `takt` reads names and lines of
 * the others from debugging information. */
typedef struct takt_frame_info {
    const char *function;
    const char *module;    /* path of the program or library that contains the code */
    /* Address in that file, of the last byte of the call instruction. A lookup of its source line
     * therefore finds the line of the call. */
    uint64_t    offset;
    const char *file;
    uint32_t    line;
    bool        is_inline; /* inlined into the next frame */
} takt_frame_info;

#define TAKT_NO_STACK SIZE_MAX

/* Each distinct stack is stored once. Frames are numbered innermost first, from the function that
 * began the scope or made the call. takt_trace_frame_count() returns 0 for an unknown stack. */
TAKT_API size_t takt_trace_frame_count(const takt_trace *trace, size_t stack);
TAKT_SIZED takt_status takt_trace_frame(const takt_trace *trace, size_t stack, size_t frame,
                                        takt_frame_info *out);

/* Returns the number of the stack at which a span began, or TAKT_NO_STACK. */
TAKT_API size_t takt_trace_span_stack(const takt_trace *trace, size_t track, size_t span);

/* ---- Call tree and sums ----------------------------------------------------------------------
 *
 * A node stands for one scope under one path of enclosing scopes, summed over all threads. Every
 * trace has nodes. In a summary they are all that remains of the scopes. Other traces derive the
 * nodes from their spans on first use. */

/* Statistics of summed calls. Frozen. */
typedef struct takt_durations {
    uint64_t count;
    uint64_t total_ns;
    uint64_t min_ns; /* of whole calls, as what follows; 0 if there is none */
    uint64_t max_ns;
    uint64_t median_ns; /* from a histogram, within 3.2 %; p99_ns too */
    uint64_t p99_ns;
} takt_durations;

typedef struct takt_node_info {
    const char    *name;     /* "(other paths)" for calls beyond the limit of paths */
    const char    *category; /* "" for the default one */
    const char    *file;     /* "" for names given at run time */
    uint32_t       line;
    uint32_t       flags;  /* TAKT_SPAN_PHASE, _ACTIVITY, _CALL */
    size_t         parent; /* a smaller index, or TAKT_NO_PARENT */
    uint32_t       depth;  /* 0: opened outside of any other scope */
    uint32_t       filter; /* host activities: one TAKT_TIMING_ bit; otherwise 0 */
    takt_durations durations; /* count 0: only scopes inside this one were recorded */
    uint64_t       self_ns;   /* total_ns minus total_ns of the children */
    uint64_t       errors;    /* calls into a device's library: number of failed calls */
    double         flops;     /* declared with TAKT_WORK */
    double         bytes;
    const char    *device; /* host activities: "cpu"; otherwise "" */
    uint32_t       color;  /* color from TAKT_SCOPE_COLOR: 0xFFRRGGBB; otherwise 0 */
    uint64_t       pieces; /* of durations.count: calls that the recording's begin or end has cut */
} takt_node_info;

/* Parents come before their children; siblings have no order. TAKT_NO_MEMORY if the nodes could not
 * be made; takt_trace_count() is 0 then. */
TAKT_SIZED takt_status takt_trace_node(const takt_trace *trace, size_t index, takt_node_info *out);

/* The activities of one name on one device that scopes of one node launched, added up. */
typedef struct takt_sum_info {
    size_t         node; /* TAKT_NO_PARENT: launched outside of any scope */
    const char    *name;
    const char    *device; /* "cuda:0" */
    uint32_t       filter; /* one TAKT_TIMING_ bit */
    takt_durations durations;
} takt_sum_info;

/* Sums are sorted by node. */
TAKT_SIZED takt_status takt_trace_sum(const takt_trace *trace, size_t index, takt_sum_info *out);

/* ---- Implementation of TAKT_SIZED functions -------------------------------------------------- */

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
