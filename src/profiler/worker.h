/* The background thread that seals cycles, one after another. */
#ifndef TKT_PROFILER_WORKER_H
#define TKT_PROFILER_WORKER_H

#include "base/thread.h"
#include "profiler/cycle.h"

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
