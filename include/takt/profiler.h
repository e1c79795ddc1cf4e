/* takt/profiler.h - the stepping profiler: records some steps of a long run, on a schedule.
 *
 *     takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
 *     options.schedule = (takt_schedule){.wait = 80, .warmup = 3, .active = 1, .repeat = 1};
 *     takt_profiler *profiler;
 *     takt_profiler_create(&options, &profiler);
 *     takt_profiler_start(profiler);
 *     for (...) { simulate(); takt_profiler_step(profiler); }
 *     takt_profiler_stop(profiler);
 *     takt_profiler_destroy(profiler);
 *
 * A NULL profiler stands for the one that the environment asks for: where TAKT_CONFIG names a file
 * or TAKT_OPTIONS is set, the first call of takt_profiler_start(NULL) or takt_profiler_step(NULL)
 * begins its step 0. Otherwise NULL does nothing and returns TAKT_OK, so that a program may keep its
 * calls when it runs without a profiler. Where the environment asks for one that cannot be made,
 * takt_profiler_start(NULL) and takt_profiler_stop(NULL) return why.
 *
 * One thread at a time uses a profiler; a second one gets TAKT_BAD_STATE. exit() saves what a
 * running profiler has recorded and prints its reports, but does not call on_trace, since what that
 * uses may be gone: a stop or destroy that comes later, in a static object's destructor, does. A
 * forked child records and saves nothing; there the functions return TAKT_BAD_STATE.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_PROFILER_H
#define TAKT_PROFILER_H

#include <takt/activity.h>
#include <takt/base.h>
#include <takt/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The schedule: a pure function of the step ----------------------------------------------- */

typedef enum takt_action {
    TAKT_ACTION_NONE,
    TAKT_ACTION_WARMUP,         /* prepared, nothing kept */
    TAKT_ACTION_RECORD,
    TAKT_ACTION_RECORD_AND_SAVE /* the last step of a cycle */
} takt_action;

typedef enum takt_repeat_mode {
    TAKT_REPEAT_CYCLES,    /* repeat = number of cycles of wait, warmup, active; 0: for ever */
    TAKT_REPEAT_ADDITIONAL /* wait once, then repeat + 1 rounds of warmup and active */
} takt_repeat_mode;

/* Numbers of steps. active = 0 means no schedule: record from start to stop, one trace. Frozen. */
typedef struct takt_schedule {
    uint32_t         skip_first;      /* before anything else */
    uint32_t         wait;            /* at the start of each cycle; nothing is enabled */
    uint32_t         warmup;          /* recording is on, its result discarded */
    uint32_t         active;          /* recorded */
    uint32_t         repeat;          /* see repeat_mode */
    uint32_t         skip_first_wait; /* not 0: the first cycle has no wait */
    takt_repeat_mode repeat_mode;
} takt_schedule;

/* What step number `step`, counted from 0, is. Any thread. */
TAKT_API takt_action takt_schedule_action(const takt_schedule *schedule, uint64_t step);

/* How many steps a program must run until the last cycle is saved; 0 when there is no last one.
 * The save happens in the call of takt_profiler_step() that ends the last of them. Any thread. */
TAKT_API uint64_t takt_schedule_steps_needed(const takt_schedule *schedule);

/* ---- The profiler ---------------------------------------------------------------------------- */

typedef struct takt_profiler takt_profiler;

typedef enum takt_mode {
    TAKT_MODE_TRACE,   /* every span */
    TAKT_MODE_SUMMARY, /* a call tree with counts, totals and quantiles, in bounded memory */
    TAKT_MODE_BOTH,
    TAKT_MODE_FLIGHT   /* the last max_memory_bytes of spans */
} takt_mode;

/* Gets the trace of a cycle on the thread that steps. It is borrowed until the function returns;
 * takt_trace_retain() keeps it. */
typedef void (*takt_on_trace)(const takt_trace *trace, void *user);

/* One category switched on or off. Frozen. */
typedef struct takt_category_switch {
    const char *name;
    bool        is_on;
} takt_category_switch;

/* For what is on where nothing is said. */
typedef enum takt_choice { TAKT_DEFAULT, TAKT_ON, TAKT_OFF } takt_choice;

typedef enum takt_graph {
    TAKT_GRAPH_NODE,  /* each node of a CUDA graph is an activity */
    TAKT_GRAPH_LAUNCH /* each launch of a graph is one */
} takt_graph;

/* How to profile, under the names of the configuration's keys. Start from TAKT_PROFILER_OPTIONS_INIT; a zero field means what its comment says.
 * Everything it points to is copied by takt_profiler_create(). */
typedef struct takt_profiler_options {
    size_t        struct_size; /* set by the initialiser */
    takt_schedule schedule;
    takt_mode     mode;
    const char   *name;              /* of the run, for file names; NULL: the program's name */
    takt_on_trace on_trace;          /* may be NULL */
    void         *user;              /* of on_trace */
    uint64_t      max_memory_bytes;  /* of recorded events of the process, and as much again of
                                      * those of CUDA devices; 0: 256 MiB */
    uint32_t      level;             /* finest level that is recorded; 0: TAKT_LEVEL_NORMAL */
    bool          synchronize;       /* wait for all devices before each step boundary */
    bool          with_flops;        /* show declared work in tables */
    takt_choice   background;        /* seal and export beside the program, and not inside
                                      * takt_profiler_step(); on */
    takt_choice   record_shapes;     /* values of TAKT_ARG; on */
    takt_choice   profile_memory;    /* memory events, of the host and of devices; on */
    uint32_t      activities;        /* TAKT_ACTIVITIES_ bits; 0: all */
    uint32_t      filter;            /* TAKT_TIMING_ bits of activities kept; 0: all */
    const takt_category_switch *categories;
    size_t        category_count;

    /* What becomes of a saved cycle. Files are written on a background thread before on_trace is
     * called, reports are printed after it, on the thread that steps. */
    const char *const *reports;       /* names of reports printed to standard output */
    size_t             report_count;
    const char        *directory;     /* {name} {time} {pid} {host} {rank} are replaced; with {time}
                                       * it is a new one, if need be with -2, -3 behind it; a
                                       * relative one is of takt_profiler_start()'s working
                                       * directory, whatever that is later; NULL: "." */
    const char *const *traces;        /* exporters: "perfetto", "chrome", "chrome.gz", ... */
    size_t             trace_count;
    uint64_t           max_trace_bytes; /* of one file; more goes into a next one; 0: 256 MiB */
    bool               stream;          /* write a Perfetto trace while recording */

    takt_graph         graph;           /* TAKT_GRAPH_LAUNCH, too, without kernels in `filter` */
    const char *const *builtin;         /* as takt_kernel_builtin() takes them */
    size_t             builtin_count;
    bool               view;            /* takt_profiler_stop() runs `takt view` for the last trace:
                                         * it prints a link, and waits in the background */
    bool               with_stack;      /* record the call stacks of scopes and of calls into CUDA;
                                         * not in summaries. A thread that has recorded without
                                         * begins with at most 500 spans that have none */
    double             peak_flops;      /* of each device, a second, for the report `ops`; */
    double             peak_bandwidth;  /* bytes a second; 0: what the device's attributes tell */
    double             host_peak_flops; /* of a thread of the host; 0: not known */
    double             host_peak_bandwidth;
    uint32_t           device_wait_ms;  /* how long sealing a cycle waits at most for devices to
                                         * finish what the cycle launched; what has not finished by
                                         * then is counted as incomplete; 0: 10000 */
    uint32_t           width;    /* columns of printed reports; 0: the terminal's, or 160 */
    uint32_t           rank;            /* of this process, and of how many: names of files have it
                                         * (NAME.rank3.0.pftrace); world_size 0: both are as the
                                         * variables of MPI's launchers, Slurm or torchrun say */
    uint32_t           world_size;
    bool               crash_safe;      /* events lie in a file of max_memory_bytes and more, reserved
                                         * in `directory` by the first start, so that `takt recover`
                                         * gives them back however the process ends; removed at exit
                                         */
} takt_profiler_options;

#define TAKT_PROFILER_OPTIONS_INIT TAKT_OPTIONS_INIT(takt_profiler_options)

/* Makes a profiler; nothing is recorded yet. The caller frees it with takt_profiler_destroy().
 * TAKT_BAD_ARGUMENT names in the log what is wrong; TAKT_NO_MEMORY. */
TAKT_API takt_status takt_profiler_create(const takt_profiler_options *options,
                                          takt_profiler **out);

/* Begins step 0. TAKT_BAD_STATE if it runs already, and in a child that was forked while anything was
 * recorded. TAKT_IO_ERROR, and the log says why, if it is to be crash_safe and there is no room for
 * the file; then nothing is recorded. */
TAKT_API takt_status takt_profiler_start(takt_profiler *profiler);

/* Ends the current step and moves the schedule forward by one. Traces that have become ready are
 * handed to on_trace here. TAKT_BAD_STATE if the profiler does not run. */
TAKT_API takt_status takt_profiler_step(takt_profiler *profiler);

/* Saves the window that is open, if one is, marked as partial unless there is no schedule, and
 * waits for exports and callbacks that are outstanding. The step that has begun is not counted. A
 * program that ends before the schedule does is told so in the log. The profiler can be started
 * again, and counts its cycles on. Returns the first failure since the start, such as TAKT_IO_ERROR
 * for a trace, stream or report that could not be written; the log has said which. */
TAKT_API takt_status takt_profiler_stop(takt_profiler *profiler);

/* Declares how much simulated time one step advances, in seconds, for the real-time factor.
 * TAKT_BAD_ARGUMENT unless it is positive and finite. */
TAKT_API takt_status takt_profiler_step_time(takt_profiler *profiler, double seconds);

/* The last trace that was saved, or NULL. Borrowed until the next one, or destroy. */
TAKT_API const takt_trace *takt_profiler_trace(const takt_profiler *profiler);

/* The number of the current step, and what it is; TAKT_ACTION_NONE when stopped. */
TAKT_API uint64_t takt_profiler_step_number(const takt_profiler *profiler);
TAKT_API takt_action takt_profiler_action(const takt_profiler *profiler);

/* Stops it if it runs, and frees it. NULL is ignored. */
TAKT_API void takt_profiler_destroy(takt_profiler *profiler);

#ifdef __cplusplus
}
#endif
#endif
