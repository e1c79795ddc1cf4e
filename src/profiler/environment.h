/* The profiler that the environment asks for, in programs that step a NULL profiler. */
#ifndef TKT_PROFILER_ENVIRONMENT_H
#define TKT_PROFILER_ENVIRONMENT_H

#include <takt/profiler.h>

/* It, or NULL when the environment asks for none. It is made at the first call and stopped at
 * exit. What is wrong with its configuration is logged once. */
takt_profiler *tkt_environment_profiler(void);

/* If it is this one: stops it at exit before anything that was set up since. Once. */
void tkt_environment_stop_earlier(const takt_profiler *profiler);

#endif
