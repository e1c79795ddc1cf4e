/* Scopes, calls into CUDA and spans of tracks, as the library itself writes them. */
#ifndef TKT_RECORD_SCOPE_H
#define TKT_RECORD_SCOPE_H

#include "record/control.h"
#include "record/log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ======== Scopes ======== */

/* Opening and closing scopes without the macros. */

/* Closes all scopes and phases at and above `depth`, with the same end. Each closed scope counts as
 * a mismatch of that cause; phases do not. */
void tkt_scope_unwind(tkt_thread_log *log, uint32_t depth, uint64_t now, tkt_mismatch cause);

/* Ends the innermost phase of this thread, if no scope is open inside it: the end of a step ends
 * phases, as the end of a scope does. Returns the current ticks, which are the end of the phase. */
uint64_t tkt_scope_end_phase(void);

/* Opens a scope with a run-time name; its frame is NULL when nothing records. `caller` is the
 * return address into the program, see tkt_stack_here(). */
takt_open tkt_scope_open_named(const char *name, const void *caller);
takt_open tkt_scope_open_made(uint32_t site, const void *caller);

/* ======== Calls into CUDA ======== */

/* Calls into a device's library, recorded as spans of the calling thread. */

typedef struct tkt_call {
    const char *name; /* static: becomes a site of kind TAKT_SITE_CALL */
    const char *category; /* "cuda_runtime", "cuda_driver"; static */
    uint64_t    begin_ticks;
    uint64_t    end_ticks;
    uint32_t    correlation; /* 0: none */
    int32_t     result; /* 0: success */
    bool        is_capturing; /* a stream was being captured: the call may have launched nothing */
    const void *caller;       /* return address into the device's library, see tkt_stack_here() */
} tkt_call;

/* Records a finished call as a child of this thread's innermost open scope. */
void tkt_record_call(const tkt_call *call);

/* ======== Tasks ======== */

/* Open spans of tracks. */

typedef struct tkt_task {
    uint64_t begin_ticks;
    uint32_t site;
    uint32_t track; /* text id of its name */
} tkt_task;

/* Calls `visit` for every open span, with a lock held: `visit` must not begin or end one. */
void tkt_task_visit(void (*visit)(void *user, const tkt_task *task), void *user);

/* Forgets all spans. Nobody may begin or end one any more. */
void tkt_task_free_all(void);

#endif
