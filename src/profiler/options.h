/* The profiler's own copy of its options. */
#ifndef TKT_PROFILER_OPTIONS_H
#define TKT_PROFILER_OPTIONS_H

#include "base/containers.h"

#include <takt/profiler.h>

/* ======== Options ======== */

typedef struct tkt_saved_options {
    takt_profiler_options given;     /* its pointers lead into `memory` */
    char                 *directory; /* with the placeholders replaced */
    bool                  is_of_its_time; /* the directory is named after the time: see below */
    char                 *file_name; /* what the run's files begin with */
    tkt_arena             memory;
} tkt_saved_options;

/* Copies the options with everything they point to and puts defaults in the place of zeros. What is
 * not valid is logged: TAKT_BAD_ARGUMENT. */
takt_status tkt_options_save(tkt_saved_options *saved, const takt_profiler_options *options);

/* When profiling starts: makes a relative directory absolute, so that a later chdir() of the
 * program's does not move it. */
void tkt_options_hold_directory(tkt_saved_options *saved);

/* Before the first file is written: makes the directory if {time} is part of its name. Such a name
 * means a folder of the run's own, which another process, or another profiler, of the same second
 * would share; the later one gets "-2" behind it. Other directories are left as they are. */
void tkt_options_claim_directory(tkt_saved_options *saved);

static inline bool tkt_wants_devices(const takt_profiler_options *saved)
{
    return (saved->activities & TAKT_ACTIVITIES_CUDA) != 0;
}

void tkt_options_fini(tkt_saved_options *saved);

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
