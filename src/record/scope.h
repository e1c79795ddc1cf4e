/* Closing scopes, for those who are not the macros. */
#ifndef TKT_RECORD_SCOPE_H
#define TKT_RECORD_SCOPE_H

#include "record/log.h"
#include "record/control.h"

/* Closes what is open at and above `depth`, all with one end; scopes, but not phases, count as
 * mismatches of that cause. */
void tkt_scope_unwind(tkt_thread_log *log, uint32_t depth, uint64_t now, tkt_mismatch cause);

/* Ends the phase that is innermost on this thread, if one is: steps end phases as scopes do.
 * Returns the ticks of now, which are the phase's end. */
uint64_t tkt_scope_end_phase(void);

/* Opens a scope for a name of run time; its frame is NULL when nothing records. `caller` is where
 * the program goes on, see tkt_stack_here(). */
takt_open tkt_scope_open_named(const char *name, const void *caller);

#endif
