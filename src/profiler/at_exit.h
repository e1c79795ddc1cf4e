/* The profiler that the environment asks for, and what exit() saves. */
#ifndef TKT_PROFILER_AT_EXIT_H
#define TKT_PROFILER_AT_EXIT_H

#include <takt/profiler.h>

/* ======== At exit ======== */

/* Saving what is still recorded when the program ends without takt_profiler_stop(). */

/* From now on exit() saves the profiler. Hold nothing of the profiler's. */
void tkt_exit_watch(takt_profiler *profiler);

/* When this returns exit() does not touch the profiler, or has done so already. */
void tkt_exit_forget(takt_profiler *profiler);

/* exit() saves all profilers before it runs what was set up until now. Once. */
void tkt_exit_save_earlier(void);

/* profiler.c: keeps other threads from using the profiler from now on; false, and the log says so,
 * when one of them is using it and does not end. *is_inside: exit() was called from on_trace. */
bool tkt_profiler_take_at_exit(takt_profiler *profiler, bool *is_inside);

/* profiler.c: saves what is recorded and prints reports. on_trace is not called, since what it uses
 * may be gone; a later stop calls it. */
void tkt_profiler_save_at_exit(takt_profiler *profiler, bool is_inside);

/* profiler.c: says that a forked child saves nothing. */
void tkt_profiler_tell_child(void);

/* ======== The profiler of the environment ======== */

/* The profiler that the environment asks for, in programs that step a NULL profiler. */

/* It, or NULL when the environment asks for none. It is made at the first call. What is wrong with
 * its configuration is logged once. */
takt_profiler *tkt_environment_profiler(void);

/* Why there is none; TAKT_OK when none was asked for. */
takt_status tkt_environment_status(void);

#endif
