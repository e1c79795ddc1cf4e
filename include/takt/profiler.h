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
 * A NULL profiler stands for the environment's profiler. It exists if TAKT_CONFIG names a file or
 * TAKT_OPTIONS is set. The first call of takt_profiler_start(NULL) or takt_profiler_step(NULL)
 * begins its step 0. Without an environment profiler, calls with NULL do nothing and return
 * TAKT_OK, so a program can keep its calls when nobody profiles. If the environment asks for a
 * profiler that cannot be made, takt_profiler_start(NULL) and takt_profiler_stop(NULL) return the
 * reason. If it asks for one, and the program starts no profiler and uses no timers, the log says so
 * at exit, except in forked children.
 *
 * Only one thread at a time may use a profiler; a second thread gets TAKT_BAD_STATE. A thread is not
 * cancelled inside these functions, which are no cancellation points. If a profiler
 * still runs at exit(), Takt saves its recording and prints its reports. Takt does not call
 * on_trace then, because data of the callback may be destroyed already. A later stop or destroy,
 * such as in the destructor of a static object, does call on_trace. A child process forked while
 * Takt recorded saves nothing; there the functions return TAKT_BAD_STATE.
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
    TAKT_ACTION_WARMUP,         /* recording is prepared; nothing is kept */
    TAKT_ACTION_RECORD,
    TAKT_ACTION_RECORD_AND_SAVE /* the last step of a cycle */
} takt_action;

typedef enum takt_repeat_mode {
    TAKT_REPEAT_CYCLES,    /* repeat = number of cycles of wait, warmup, active; 0: no end */
    TAKT_REPEAT_ADDITIONAL /* wait once, then repeat + 1 rounds of warmup and active */
} takt_repeat_mode;

/* Numbers of steps. With active = 0 there is no schedule: one trace from start to stop. Frozen. */
typedef struct takt_schedule {
    uint32_t         skip_first;      /* steps before the first cycle */
    uint32_t         wait;            /* at the start of each cycle; nothing is enabled */
    uint32_t         warmup;          /* recording is on; the result is discarded */
    uint32_t         active;          /* recorded */
    uint32_t         repeat;          /* see repeat_mode */
    uint32_t         skip_first_wait; /* not 0: the first cycle has no wait */
    takt_repeat_mode repeat_mode;
} takt_schedule;

/* Returns the action of step number `step`, counted from 0. Any thread. */
TAKT_API takt_action takt_schedule_action(const takt_schedule *schedule, uint64_t step);

/* Returns how many steps a program must run until the last cycle is saved; 0 if the schedule has no
 * end. The call of takt_profiler_step() that ends the last step saves the cycle. Any thread. */
TAKT_API uint64_t takt_schedule_steps_needed(const takt_schedule *schedule);

/* ---- The profiler ---------------------------------------------------------------------------- */

typedef struct takt_profiler takt_profiler;

typedef enum takt_mode {
    TAKT_MODE_TRACE,   /* every span */
    TAKT_MODE_SUMMARY, /* a call tree with counts, totals and quantiles, in bounded memory */
    TAKT_MODE_BOTH,
    TAKT_MODE_FLIGHT   /* the last max_memory_bytes of spans */
} takt_mode;

/* Receives the trace of a cycle, on the thread that steps. The trace is borrowed until the function
 * returns; takt_trace_retain() keeps it longer. */
typedef void (*takt_on_trace)(const takt_trace *trace, void *user);

/* One category switched on or off. Frozen. */
typedef struct takt_category_switch {
    const char *name;
    bool        is_on;
} takt_category_switch;

/* A switch with a default; each field's comment names the default. */
typedef enum takt_choice { TAKT_DEFAULT, TAKT_ON, TAKT_OFF } takt_choice;

/* What to do for NVIDIA's Nsight tools. */
typedef enum takt_nsight {
    TAKT_NSIGHT_OFF,
    TAKT_NSIGHT_CAPTURE_RANGE /* tell the tool to record exactly the steps that Takt records: call
                               * cuProfilerStart() when recording begins and cuProfilerStop() when
                               * it ends, each after waiting for all devices. Each of these steps
                               * is an NVTX range "step N" of the domain "takt", with N as payload.
                               * Works also beside a tool that keeps CUPTI from Takt */
} takt_nsight;

/* Options of a profiler, named like the keys of the configuration. Start from
 * TAKT_PROFILER_OPTIONS_INIT. Each field's comment says what zero means. takt_profiler_create()
 * copies everything that the options point to. */
typedef struct takt_profiler_options {
    size_t        struct_size; /* set by the initialiser */
    takt_schedule schedule;
    takt_mode     mode;
    const char   *name;              /* of the run, for file names; NULL: the program's name */
    takt_on_trace on_trace;          /* may be NULL */
    void         *user;              /* passed to on_trace */
    uint64_t      max_memory_bytes;  /* for recorded events of the process, and as much again for
                                      * events of CUDA devices; 64 KiB or more; 0: 256 MiB */
    uint32_t      level;             /* finest level of scopes to record, unless another profiler
                                      * records finer ones meanwhile; 0: TAKT_LEVEL_NORMAL */
    bool          synchronize;       /* wait for all devices before each step boundary */
    bool          with_flops;        /* show declared work in tables */
    takt_choice   background;        /* seal and export on a background thread; off: inside
                                      * takt_profiler_step(). Default on */
    takt_choice   record_shapes;     /* record the values of TAKT_ARG; default on */
    takt_choice   profile_memory;    /* record memory events of the host and of devices; default
                                      * on */
    uint32_t      activities;        /* TAKT_ACTIVITIES_ bits; 0: all */
    uint32_t      filter;            /* TAKT_TIMING_ bits of the activities to keep; 0: all */
    const takt_category_switch *categories;
    size_t        category_count;

    /* What to do with a saved cycle. A background thread writes the files, then the thread that
     * steps calls on_trace, then the same thread prints the reports. */
    const char *const *reports;       /* names of the reports to print, see report_file.
                                       * Options of takt_report_options may follow a name: "scopes
                                       * rows=20 sort=calls all" */
    size_t             report_count;
    const char        *directory;     /* folder for files; {name} {time} {pid} {host} {rank} are
                                       * replaced. With {time} the folder is a new one: if the name
                                       * is taken, "-2", "-3" ... is appended. The ranks of a job
                                       * share the folder: the launcher's id of the job, or else
                                       * its begin, tells which. A relative path starts from the
                                       * working directory at takt_profiler_start(). NULL: "." */
    const char *const *traces;        /* exporters: "perfetto", "chrome", "chrome.gz", ... */
    size_t             trace_count;
    uint64_t           max_trace_bytes; /* of one Chrome file; the rest goes into further files; 0:
                                         * 256 MiB */
    bool               stream;          /* write a Perfetto trace while recording */

    takt_graph         graph;           /* without kernels in `filter` always TAKT_GRAPH_LAUNCH */
    const char *const *builtin;         /* patterns, as for takt_kernel_builtin() */
    size_t             builtin_count;
    bool               view;            /* takt_profiler_stop() starts `takt view` for the last
                                         * trace; that command prints a link and waits in the
                                         * background */
    bool               with_stack;      /* record call stacks of scopes and of calls into CUDA; not
                                         * in summaries. In a thread that has recorded without
                                         * stacks before, at most the first 500 spans lack a
                                         * stack */
    double             peak_flops;      /* floating-point operations a second of each device, for
                                         * the report `ops`; 0: derived from the device's
                                         * attributes */
    double             peak_bandwidth;  /* bytes a second of each device; 0: derived from
                                         * attributes */
    double             host_peak_flops; /* floating-point operations a second of one host
                                     * thread; 0: unknown */
    double             host_peak_bandwidth; /* bytes a second of one host thread; 0: unknown */
    uint32_t           device_wait_ms;  /* longest time to wait, when a cycle is sealed, for devices
                                         * to finish work that the cycle launched. Unfinished work
                                         * then counts as incomplete; 0: 10000 */
    uint32_t           width;    /* columns of printed reports; 0: the terminal's width, or 160 */
    uint32_t           rank;            /* rank of this process; part of file names
                                         * (NAME.rank3.0.pftrace). If world_size is 0, rank and
                                         * world_size come from the variables of MPI launchers,
                                         * Slurm or torchrun */
    uint32_t           world_size;
    bool               crash_safe;      /* keep events in a file in /dev/shm, of max_memory_bytes or
                                         * more, from which `takt recover` restores them after a
                                         * crash. The first start makes it, and a link in
                                         * `directory`; a normal exit removes both. Where /dev/shm
                                         * cannot have it, `directory` has, and the log says so */
    uint64_t           nsight;          /* a takt_nsight */
    takt_choice        compress;        /* compress the packets of Perfetto traces; default on */
    const char *const *compile_traces;  /* shell patterns of files that nvcc or NVRTC write with
                                         * --fdevice-time-trace: those written during a cycle are
                                         * read when it ends, on the thread that steps. Relative
                                         * ones start from the working directory of that moment */
    size_t             compile_trace_count;
    const char        *report_file;     /* where reports go; NULL or "stdout": standard output;
                                         * "stderr"; otherwise a file of this name, in `directory`
                                         * unless the name begins with '/'. The rank is added to
                                         * the name, and "-2" and so on if the name is taken. Later
                                         * cycles of the profiler are appended */
    uint64_t           announce;        /* not 0: write a line to standard error for each cycle:
                                         * the file, its size and the command that opens it. Of
                                         * several ranks only 0 writes it */
} takt_profiler_options;

#define TAKT_PROFILER_OPTIONS_INIT TAKT_OPTIONS_INIT(takt_profiler_options)

/* Makes a profiler; nothing is recorded yet. The caller frees it with takt_profiler_destroy().
 * TAKT_BAD_ARGUMENT if an option is not valid (the log names it); TAKT_NO_MEMORY. */
TAKT_API takt_status takt_profiler_create(const takt_profiler_options *options,
                                          takt_profiler **out);

/* Begins step 0. TAKT_BAD_STATE if the profiler already runs (logged once), or in a child process that
 * was forked while anything was recorded. While another profiler records a summary, cycles of this one that
 * want a summary are not recorded: the log says so, and takt_profiler_stop() returns
 * TAKT_BAD_STATE. TAKT_IO_ERROR if crash_safe is set and the file cannot be reserved;
 * the log says why, and nothing is recorded. */
TAKT_API takt_status takt_profiler_start(takt_profiler *profiler);

/* Ends the current step and moves the schedule forward by one. Hands traces that have become ready
 * to on_trace. TAKT_BAD_STATE if the profiler does not run. */
TAKT_API takt_status takt_profiler_step(takt_profiler *profiler);

/* Stops the profiler: saves the recording if one is open, then waits for outstanding exports and
 * callbacks. With a schedule, that recording is marked as partial. The unfinished step does not
 * count. If the program stops before its schedule ends, the log says so. The profiler can be
 * started again; cycle numbers continue. Returns the first failure since the start, such as
 * TAKT_IO_ERROR for a trace, stream or report that could not be written; the log names the file. */
TAKT_API takt_status takt_profiler_stop(takt_profiler *profiler);

/* Declares the simulated time of one step, in seconds, for the real-time factor. TAKT_BAD_ARGUMENT
 * unless `seconds` is positive and finite. */
TAKT_API takt_status takt_profiler_step_time(takt_profiler *profiler, double seconds);

/* Returns the last saved trace, or NULL. It is borrowed until the next trace is saved or the
 * profiler is destroyed. */
TAKT_API const takt_trace *takt_profiler_trace(const takt_profiler *profiler);

/* Return the number of the current step, and its action: TAKT_ACTION_NONE when stopped. */
TAKT_API uint64_t takt_profiler_step_number(const takt_profiler *profiler);
TAKT_API takt_action takt_profiler_action(const takt_profiler *profiler);

/* Stops the profiler if it runs, and frees it. NULL is ignored. */
TAKT_API void takt_profiler_destroy(takt_profiler *profiler);

#ifdef __cplusplus
}
#endif
#endif
