/* Cycles of a profiler: from the step that ends one to its files and tables. */
#ifndef TKT_PROFILER_CYCLE_H
#define TKT_PROFILER_CYCLE_H

#include "base/clock.h"
#include "base/thread.h"
#include "profiler/options.h"
#include "profiler/session.h"
#include "profiler/stream.h"
#include "trace/model.h"

#include <takt/base.h>
#include <takt/profiler.h>

#include <stdbool.h>

/* ======== Transitions ======== */

/* What the profiler does between two steps: torch.profiler's table of transitions, as a
 * function. */

#define TKT_STOPPED ((takt_action)-1) /* the profiler does not run */

/* In this order. */
#define TKT_DO_WARN    0x01u /* the schedule leaves a recording without saving it */
#define TKT_DO_SAVE    0x02u /* end the recording, and keep it */
#define TKT_DO_DISCARD 0x04u /* end the warm-up or recording, and forget it */
#define TKT_DO_PREPARE 0x08u /* begin to warm up; with TKT_DO_START for no more than a moment */
#define TKT_DO_START   0x10u /* begin to record */

/* What leads from a step of action `from` to one of action `to`; either may be TKT_STOPPED. */
uint32_t tkt_transition(takt_action from, takt_action to);

/* ======== Cycles ======== */

/* One recorded cycle, from the end of its last step to its files and tables. */

typedef struct tkt_cycle {
    struct tkt_cycle        *next;
    const tkt_saved_options *options; /* the profiler's */
    tkt_window              *window;  /* NULL once it is sealed */
    uint32_t                 mapped;  /* its number in the crash-safe file + 1; 0: none */
    tkt_stream              *stream;  /* NULL without one, and once the complete file is there */
    uint32_t                 number;
    uint64_t                 first_step;
    bool                     is_partial;
    uint64_t                 step_count;
    uint64_t                 steps_lost; /* of those, for want of memory */
    TKT_ARRAY_OF(tkt_step) steps; /* the first of them; times are ticks until it is sealed */
    tkt_all_steps            all_steps;
    takt_trace              *trace; /* NULL until it is sealed, and if it could not be */
    char                    *viewable; /* path of a file that a browser can show; may be NULL */
    takt_status              status; /* the first failure of what the options ask for */
    bool                     is_printed;
} tkt_cycle;

/* Seals it, and writes the files that the options ask for. What goes wrong is logged. Runs on any
 * thread, without a lock. */
void tkt_cycle_seal(tkt_cycle *cycle);

/* Calls on_trace and prints the reports. Runs on the thread that steps. */
void tkt_cycle_deliver(tkt_cycle *cycle);

/* Prints the reports, once: tkt_cycle_deliver() only calls on_trace then. */
void tkt_cycle_print(tkt_cycle *cycle);

/* Notes a failure; what is logged as an error is one. */
void tkt_cycle_note(tkt_cycle *cycle, takt_status status);

/* NULL is ignored. */
void tkt_cycle_destroy(tkt_cycle *cycle);

/* ======== The background thread ======== */

/* The background thread that seals cycles, one after another. */

typedef struct tkt_worker {
    tkt_mutex     lock;
    tkt_condition changed;
    tkt_cycle    *waiting;  /* lock; oldest first */
    tkt_cycle    *done;     /* lock; oldest first */
    uint32_t      open;     /* lock; submitted and not yet done */
    bool          is_ended; /* lock */
    bool          has_done; /* atomic; a hint for those who do not want to lock */
    bool          has_thread;
    tkt_thread    thread;
} tkt_worker;

void tkt_worker_init(tkt_worker *worker);

/* Seals `cycle` in the background; here and now if `in_foreground`, or if no thread can be had. */
void tkt_worker_submit(tkt_worker *worker, tkt_cycle *cycle, bool in_foreground);

/* The oldest cycle that is sealed, now the caller's, or NULL. */
tkt_cycle *tkt_worker_take(tkt_worker *worker);

/* Waits until all submitted cycles are sealed. */
void tkt_worker_wait(tkt_worker *worker);

/* Waits, ends the thread; cycles not taken are destroyed. */
void tkt_worker_fini(tkt_worker *worker);

/* ======== Cost ======== */

/* Takt's own time inside a recording: how many events of each kind it has, times what one of them
 * costs on this machine. */

/* In ns, for facts.cost_ns. The first call of a process measures, which takes microseconds. */
double tkt_cost_of(const takt_trace *trace, const tkt_clock_fit *fit);

/* ======== Crash-safe files ======== */

/* Crash-safe profilers (output.crash_safe): the file that events are kept in, see record/mapping.h,
 * and what it says of each cycle. */

/* Makes the file DIRECTORY/NAME.PID.crash, unless the process has one. What goes wrong is logged.
 */
takt_status tkt_keeping_start(tkt_saved_options *options);

/* Notes the cycle, whose window has begun; its end; and that it is saved or not wanted. Cycles of
 * other profilers are ignored. */
void tkt_keeping_begin(tkt_cycle *cycle, const tkt_window *window);
void tkt_keeping_end(const tkt_cycle *cycle, uint64_t end_ticks);
void tkt_keeping_done(tkt_cycle *cycle);

/* ======== Printing ======== */

/* Printing to standard output, in order with what the program prints there itself. */

takt_sink tkt_print_sink(void);
void tkt_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* `given`, or where it is 0 the width of the terminal that standard output is, otherwise 0. */
uint32_t tkt_print_width(uint32_t given);

/* Whether standard output is a terminal that wants colour (NO_COLOR is not set). */
bool tkt_print_in_color(void);

/* ======== Showing a trace ======== */

/* Showing the last trace in a browser when the profiler has stopped (output.view). */

/* Remembers `path` in *viewable, which the caller frees, if files of this output can be shown; a
 * Perfetto trace rather than a Chrome one. */
void tkt_view_keep(char **viewable, const char *output, const char *path);

/* Runs `takt view` for the file. It prints a link and goes on in the background, as a process that
 * is not the host's child. What goes wrong is logged, with what to type instead. */
void tkt_view(const char *path);

#endif
