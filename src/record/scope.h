/* What the library writes into logs besides what the macros write. */
#ifndef TKT_RECORD_SCOPE_H
#define TKT_RECORD_SCOPE_H

#include "record/control.h"
#include "record/log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ======== Scopes ======== */

/* Closing scopes, for those who are not the macros. */

/* Closes what is open at and above `depth`, all with one end; scopes, but not phases, count as
 * mismatches of that cause. */
void tkt_scope_unwind(tkt_thread_log *log, uint32_t depth, uint64_t now, tkt_mismatch cause);

/* Ends the phase that is innermost on this thread, if one is: steps end phases as scopes do.
 * Returns the ticks of now, which are the phase's end. */
uint64_t tkt_scope_end_phase(void);

/* Opens a scope for a name of run time; its frame is NULL when nothing records. `caller` is where
 * the program goes on, see tkt_stack_here(). */
takt_open tkt_scope_open_named(const char *name, const void *caller);

/* ======== Calls into CUDA ======== */

/* Calls into a device's library, recorded as spans of the calling thread. */

typedef struct tkt_call {
    const char *name; /* static: becomes a site of kind TAKT_SITE_CALL */
    const char *category; /* "cuda_runtime", "cuda_driver"; static */
    uint64_t    begin_ticks;
    uint64_t    end_ticks;
    uint32_t    correlation; /* 0: none */
    int32_t     result; /* 0: success */
    bool        is_capturing; /* a stream was being captured: it may have launched nothing */
    const void *caller;       /* where the device's library goes on, see tkt_stack_here() */
} tkt_call;

/* Records a call that has returned, as a child of the innermost open scope of this thread. */
void tkt_record_call(const tkt_call *call);

/* ======== Tasks ======== */

/* Spans on tracks of their own that have begun and not ended. */

typedef struct tkt_task {
    uint64_t begin_ticks;
    uint32_t site;
    uint32_t track; /* text id of its name */
} tkt_task;

/* Calls `visit` for every open one, with a lock held: it must not begin or end any. */
void tkt_task_visit(void (*visit)(void *user, const tkt_task *task), void *user);

/* Forgets all, when nobody begins or ends any more. */
void tkt_task_free_all(void);

#endif
