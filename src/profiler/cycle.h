/* Cycles of a profiler, from the step that ends one to its files and tables; and what they need:
 * transitions, the background thread, cost, crash-safe files, printing, showing a trace. */
#ifndef TKT_PROFILER_CYCLE_H
#define TKT_PROFILER_CYCLE_H

#include "base/clock.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/thread.h"
#include "profiler/blocks.h"
#include "profiler/options.h"
#include "profiler/session.h"
#include "profiler/stream.h"
#include "trace/model.h"

#include <takt/base.h>
#include <takt/profiler.h>

#include <stdbool.h>

/* ======== Transitions ======== */

/* The profiler's work between two steps: torch.profiler's table of transitions, as a function. */

#define TKT_STOPPED ((takt_action)-1) /* the profiler is not running */

/* Bits, in the order of execution. */
#define TKT_DO_WARN    0x01u /* the schedule ends a recording without saving it */
#define TKT_DO_SAVE    0x02u /* end the recording and keep it */
#define TKT_DO_DISCARD 0x04u /* end the warm-up or the recording and drop it */
#define TKT_DO_PREPARE 0x08u /* begin to warm up; together with TKT_DO_START only for a moment */
#define TKT_DO_START   0x10u /* begin to record */

/* Returns the work between a step of action `from` and one of action `to`; either may be
 * TKT_STOPPED. */
uint32_t tkt_transition(takt_action from, takt_action to);

/* ======== Cycles ======== */

/* One recorded cycle, from its first step to its files and tables. */

/* The file of the reports, if they go to one (output.reports). */
typedef struct tkt_report_place {
    tkt_file file;
    bool     is_open; /* from the first report on, until the profiler is destroyed */
    bool     has_failed;
} tkt_report_place;

/* Durations in ns of steps that the thread that seals does not know yet. */
typedef struct tkt_new_steps {
    tkt_blocks durations; /* of uint64_t */
    bool begin_run; /* they are its first */
    bool lack_some; /* there are too many, or there was no memory */
} tkt_new_steps;

void tkt_new_steps_add(tkt_new_steps *steps, uint64_t duration_ns);

typedef struct tkt_cycle {
    struct tkt_cycle        *next;
    const tkt_saved_options *options; /* borrowed from the profiler */
    tkt_report_place        *reports; /* the same */
    tkt_window              *window;  /* NULL once the cycle is sealed */
    uint32_t                 mapped;  /* its number in the crash-safe file, plus 1; 0: not there */
    tkt_stream              *stream;  /* NULL if not streamed, and once the complete file is
                                       * written */
    uint32_t                 number;
    uint64_t                 first_step;
    uint64_t                 begun_ns; /* takt_now_ns() */
    bool                     is_partial;
    uint64_t                 step_count;
    uint64_t                 steps_lost; /* steps that `steps` lacks because memory ran out */
    uint64_t                 steps_beyond; /* and those for which it had no room */
    tkt_blocks               steps; /* tkt_step of the first steps; their times are ticks */
    tkt_new_steps            new_steps; /* since the cycle before; if they lack some, also: */
    tkt_all_steps            all_steps;
    tkt_blocks               run; /* empty without memory */
    double                   simulated_seconds; /* per step */
    const struct tkt_run_so_far *so_far; /* of the worker, while it seals the cycle */
    takt_trace              *trace; /* NULL until the cycle is sealed, and if sealing failed */
    takt_trace              *earlier; /* the one that the profiler kept before it; may be NULL */
    char                    *viewable; /* path of a file that a browser can show; may be NULL */
    char                    *first_file; /* path of the first trace that was saved; may be NULL */
    char                    *announcement; /* output.announce: the line about files; may be NULL */
    uint32_t                 file_count;
    takt_status              status; /* first failure to do what the options request */
    bool                     is_printed;
} tkt_cycle;

/* Calls on_trace and prints the reports. Runs on the thread that steps. */
void tkt_cycle_deliver(tkt_cycle *cycle);

/* Prints the reports, once: tkt_cycle_deliver() then only calls on_trace. */
void tkt_cycle_print(tkt_cycle *cycle);

/* Notes a failure. Every error that is logged must also be noted. */
void tkt_cycle_note(tkt_cycle *cycle, takt_status status);

/* Keeps the run as it is now, for the trace of the cycle: the steps since the cycle before, which are
 * then no longer new, or all of it. */
void tkt_cycle_keep_run(tkt_cycle *cycle, tkt_new_steps *steps, const tkt_all_steps *all_steps,
                        const tkt_run_steps *run);

/* Destroys a cycle; NULL is ignored. */
void tkt_cycle_destroy(tkt_cycle *cycle);

/* ======== The background thread ======== */

/* The thread that seals cycles, one after another. */

/* The run when the cycle ended that was sealed last. */
typedef struct tkt_run_so_far {
    bool          is_known; /* there was memory */
    tkt_all_steps all_steps;
    tkt_run_steps run;
} tkt_run_so_far;

/* Continues the run up to the end of `cycle`. */
void tkt_run_so_far_advance(tkt_run_so_far *to, tkt_cycle *cycle);

typedef struct tkt_worker {
    tkt_mutex     lock;
    tkt_condition changed;
    tkt_cycle    *waiting;  /* lock; oldest first */
    tkt_cycle    *done;     /* lock; oldest first */
    tkt_cycle    *spent;    /* lock; to recycle */
    tkt_cycle    *spares;   /* lock; memory for cycles */
    uint32_t      open;     /* lock; submitted but not done */
    tkt_run_so_far so_far;  /* of whoever seals a cycle */
    bool is_ended;          /* lock; the thread must end */
    bool is_idle;           /* lock; the thread has ended */
    bool is_looking;        /* lock; the thread wakes up soon */
    bool          has_done; /* atomic; a hint that saves taking the lock */
    bool          has_thread;
    tkt_thread    thread;
} tkt_worker;

void tkt_worker_init(tkt_worker *worker);

/* Makes memory for as many cycles ready as can wait, and starts the thread if cycles are sealed there,
 * so that steps do not. */
void tkt_worker_prepare(tkt_worker *worker, bool in_foreground);

/* Returns an empty cycle, for tkt_worker_recycle(). NULL without memory. */
tkt_cycle *tkt_worker_new_cycle(tkt_worker *worker);

/* Seals `cycle` in the background. Seals it on this thread if `in_foreground`, or if no thread can
 * be started. */
void tkt_worker_submit(tkt_worker *worker, tkt_cycle *cycle, bool in_foreground);

/* False if no cycle is sealed; true if one may be. */
static inline bool tkt_worker_has_done(const tkt_worker *worker)
{
    return __atomic_load_n(&worker->has_done, __ATOMIC_ACQUIRE);
}

/* True if too many cycles wait to be sealed, with `more` that were not submitted yet. Each takes up to
 * 110 KB besides its events, so a schedule that is faster than the disk would take all memory in
 * time. */
#define TKT_MOST_CYCLES 64u
bool tkt_worker_is_behind(tkt_worker *worker, uint32_t more);

/* Returns the oldest sealed cycle, now the caller's, or NULL. */
tkt_cycle *tkt_worker_take(tkt_worker *worker);

/* Frees what a cycle has, on the worker's thread if there is one, at its next turn: a hard loop neither
 * waits for the allocator nor for the kernel. Its memory is used again. */
void tkt_worker_recycle(tkt_worker *worker, tkt_cycle *cycle);

/* Waits until all submitted cycles are sealed. */
void tkt_worker_wait(tkt_worker *worker);

/* Waits for all cycles and ends the thread, so that a forked child of a single thread records. A
 * later cycle starts another one. */
void tkt_worker_end(tkt_worker *worker);

/* Does the same for good. Destroys cycles that nobody took. */
void tkt_worker_fini(tkt_worker *worker);

/* ======== Cost ======== */

/* Takt's own time inside a recording: the number of its events of each kind, times the cost of one
 * on this machine. */

/* Returns the cost in ns, for facts.cost_ns. The first call in a process measures, which takes
 * microseconds. */
double tkt_cost_of(const takt_trace *trace, const tkt_clock_fit *fit);

/* ======== Crash-safe files ======== */

/* The crash-safe file (output.crash_safe) that events are kept in, and its entries for cycles. See
 * record/mapping.h. */

/* Creates DIRECTORY/NAME.PID.crash, unless the process has such a file. Failures are logged. */
takt_status tkt_keeping_start(tkt_saved_options *options);

/* Note in the file that the cycle's window has begun; that it has ended; and that the cycle is
 * saved or dropped. Do nothing for profilers without crash_safe. */
void tkt_keeping_begin(tkt_cycle *cycle, const tkt_window *window);
void tkt_keeping_end(const tkt_cycle *cycle, uint64_t end_ticks);
void tkt_keeping_done(tkt_cycle *cycle);

/* Keeps a cycle whose trace could not be written in the file, and takes its window: until the next
 * cycle begins, which needs the memory, or for takt recover if the program ends before. */
void tkt_keeping_hold(tkt_cycle *cycle);

/* A change to the run of a profiler, which the file has. */
typedef struct tkt_run_change {
    enum { TKT_RUN_BEGINS, TKT_RUN_STEP, TKT_RUN_WINDOW } kind;
    uint64_t duration_ns; /* of the step */
    double   simulated_seconds; /* per step */
    uint64_t first; /* step of the window, */
    uint64_t count; /* and how many it has */
} tkt_run_change;

/* Note a change in the file, and that the run is over. The file has one run at a time: that of the
 * first profiler with crash_safe, then of the next one that starts. */
void tkt_keeping_change_run(const tkt_saved_options *options, const tkt_run_change *change);
void tkt_keeping_end_run(const tkt_saved_options *options);

/* ======== Printing ======== */

/* Printing to standard output or standard error, in order with the program's own output there. */

takt_sink tkt_print_sink(void); /* standard output */
void tkt_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns `given`. If it is 0, returns the width of the terminal on standard output, or 0 without a
 * terminal. */
uint32_t tkt_print_width(uint32_t given);

/* Where the reports of a cycle go, by output.reports. */
typedef struct tkt_report_output {
    takt_sink sink;
    uint32_t  width; /* of the terminal; 0: none */
    bool      color;
} tkt_report_output;

/* Fills *out. Creates the file when it is needed first, and again if somebody has removed it. A
 * file that cannot be created is logged once. */
takt_status tkt_report_place_open(tkt_report_place *place, const tkt_saved_options *options,
                                  tkt_report_output *out);
void tkt_report_place_close(tkt_report_place *place);

/* Why a report has failed: a text that is static or in *error. */
const char *tkt_report_place_why(const tkt_report_place *place, takt_status status,
                                 takt_error *error);

/* True if reports go to a file in the run's folder. */
bool tkt_reports_need_folder(const tkt_saved_options *options);
/* True if reports go to standard output or standard error. */
bool tkt_reports_are_printed(const takt_profiler_options *options);

/* Returns the line about the files of a sealed cycle, which the caller frees: "wrote run.0.pftrace
 * (1.20 MiB); open it: takt view run.0.pftrace". NULL if there is no file, or without memory. */
char *tkt_announcement_of(const tkt_cycle *cycle);

/* ======== Showing a trace ======== */

/* Shows the last trace in a browser after the profiler has stopped (output.view). */

/* Keeps a copy of `path` in *viewable, which the caller frees, if a browser can show files of this
 * output. Prefers a Perfetto trace to a Chrome one. */
void tkt_view_keep(char **viewable, const char *output, const char *path);

/* Runs `takt view` for the file. It prints a link and continues in the background, as a process
 * that is not a child of the host. On failure logs the command to type instead. */
void tkt_view(const char *path);

#endif
