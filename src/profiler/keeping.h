/* Crash-safe profilers (output.crash_safe): the file that events are kept in, see record/mapping.h,
 * and what it says of each cycle. */
#ifndef TKT_PROFILER_KEEPING_H
#define TKT_PROFILER_KEEPING_H

#include "profiler/cycle.h"

/* Makes the file DIRECTORY/NAME.PID.crash, unless the process has one. What goes wrong is logged.
 */
takt_status tkt_keeping_start(tkt_saved_options *options);

/* Notes the cycle, whose window has begun; its end; and that it is saved or not wanted. Cycles of
 * other profilers are ignored. */
void tkt_keeping_begin(tkt_cycle *cycle, const tkt_window *window);
void tkt_keeping_end(const tkt_cycle *cycle, uint64_t end_ticks);
void tkt_keeping_done(tkt_cycle *cycle);

#endif
