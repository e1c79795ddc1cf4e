/* What the profiler does between two steps: torch.profiler's table of transitions, as a
 * function. */
#ifndef TKT_PROFILER_TRANSITION_H
#define TKT_PROFILER_TRANSITION_H

#include <takt/profiler.h>

#define TKT_STOPPED ((takt_action)-1) /* the profiler does not run */

/* In this order. */
#define TKT_DO_WARN    0x01u /* the schedule leaves a recording without saving it */
#define TKT_DO_SAVE    0x02u /* end the recording, and keep it */
#define TKT_DO_DISCARD 0x04u /* end the warm-up or recording, and forget it */
#define TKT_DO_PREPARE 0x08u /* begin to warm up; with TKT_DO_START for no more than a moment */
#define TKT_DO_START   0x10u /* begin to record */

/* What leads from a step of action `from` to one of action `to`; either may be TKT_STOPPED. */
uint32_t tkt_transition(takt_action from, takt_action to);

#endif
