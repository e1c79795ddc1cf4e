/* Cycles of a profiler, and the thread that saves them. */
#ifndef TKT_PROFILER_CYCLE_H
#define TKT_PROFILER_CYCLE_H

#include "base/thread.h"
#include "profiler/options.h"
#include "profiler/session.h"
#include "profiler/stream.h"

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

#endif
