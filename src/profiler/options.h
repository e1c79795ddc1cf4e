/* The profiler's own copy of its options, saving at exit, and the environment's profiler. */
#ifndef TKT_PROFILER_OPTIONS_H
#define TKT_PROFILER_OPTIONS_H

#include "base/containers.h"
#include "trace/model.h"

#include <takt/profiler.h>

/* ======== Options ======== */

typedef struct tkt_saved_options {
    takt_profiler_options given;     /* its pointers point into `memory` */
    char                 *directory; /* placeholders are replaced */
    size_t                shown_from; /* bytes of paths to leave out in messages: the working
                                       * directory at the start */
    bool                  is_of_its_time; /* the directory's name contains {time}: see
                                           * tkt_options_claim_directory() */
    bool is_of_job;                  /* {time} is in its last part, and nothing tells ranks apart */
    char                 *file_name; /* start of the names of the run's files */
    tkt_arena             memory;
} tkt_saved_options;

/* Copies the options with all that they point to, and replaces zeros by defaults. Logs invalid
 * options: TAKT_BAD_ARGUMENT. */
takt_status tkt_options_save(tkt_saved_options *saved, const takt_profiler_options *options);

/* Makes a relative directory absolute. Call it when profiling starts: a later chdir() of the
 * program then does not move the directory. */
void tkt_options_hold_directory(tkt_saved_options *saved);

/* Creates the directory if its name contains {time}. Call it before writing the first file. Such a
 * folder belongs to one run; if another process or profiler of the same second has created it, this
 * one appends "-2", unless both are ranks of a job. Does nothing for other directories. */
void tkt_options_claim_directory(tkt_saved_options *saved);

static inline bool tkt_wants_devices(const takt_profiler_options *saved)
{
    return (saved->activities & TAKT_ACTIVITIES_CUDA) != 0;
}

/* Sets what a trace says of the options: name, rank and the like. TAKT_NO_MEMORY. */
takt_status tkt_options_describe(const tkt_saved_options *saved, takt_trace *trace);

void tkt_options_fini(tkt_saved_options *saved);

/* ======== At exit ======== */

/* Saves recordings when the program ends without takt_profiler_stop(). */

/* Makes exit() save the profiler. Call it before entering the profiler. */
void tkt_exit_watch(takt_profiler *profiler);

/* Afterwards exit() does not touch the profiler; it may have done so before. */
void tkt_exit_forget(takt_profiler *profiler);

/* Makes exit() save all profilers before it runs the handlers registered so far. Works once. */
void tkt_exit_save_earlier(void);

/* Logs once that a recording is lost, if one is, because a signal handler that interrupted Takt
 * exits. POSIX forbids that, but many programs end so at SIGTERM. */
void tkt_exit_tell_lost(void);

/* Counts the profilers whose recording would be lost: +1 at its begin, -1 once it is saved. */
void tkt_exit_count_unsaved(int32_t change);

/* profiler.c: locks other threads out of the profiler from now on. False if one of them is inside.
 * *is_inside: exit() was called from on_trace. */
bool tkt_profiler_take_at_exit(takt_profiler *profiler, bool *is_inside);

/* profiler.c: saves the recording and prints reports. Does not call on_trace, since its data may be
 * gone; a later stop calls it. */
void tkt_profiler_save_at_exit(takt_profiler *profiler, bool is_inside);

/* profiler.c: logs that a forked child saves nothing. */
void tkt_profiler_tell_child(void);

/* ======== The profiler of the environment ======== */

/* The profiler that environment variables configure, for programs that step a NULL profiler. */

/* Returns this profiler, or NULL if the environment requests none. The first call creates it; a
 * wrong configuration is logged once. */
takt_profiler *tkt_environment_profiler(void);

/* Returns the reason why there is none; TAKT_OK if none was requested. */
takt_status tkt_environment_status(void);

#endif
