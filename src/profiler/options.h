/* The profiler's own copy of its options. */
#ifndef TKT_PROFILER_OPTIONS_H
#define TKT_PROFILER_OPTIONS_H

#include "base/containers.h"

#include <takt/profiler.h>

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

#endif
