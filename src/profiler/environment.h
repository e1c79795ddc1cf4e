/* The profiler that the environment asks for, in programs that step a NULL profiler. */
#ifndef TKT_PROFILER_ENVIRONMENT_H
#define TKT_PROFILER_ENVIRONMENT_H

#include <takt/profiler.h>

/* It, or NULL when the environment asks for none. It is made at the first call. What is wrong with
 * its configuration is logged once. */
takt_profiler *tkt_environment_profiler(void);

/* Why there is none; TAKT_OK when none was asked for. */
takt_status tkt_environment_status(void);

#endif
