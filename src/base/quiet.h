/* Writing without the signals that a write can raise. */
#ifndef TKT_BASE_QUIET_H
#define TKT_BASE_QUIET_H

#include <signal.h>
#include <stdbool.h>

/* Between begin and end, a write of this thread to a closed pipe or beyond `ulimit -f` fails with
 * EPIPE or EFBIG, and raises neither SIGPIPE nor SIGXFSZ. A host that has no handler for them would
 * die inside Takt. The host's handlers and masks stay as they are. A pair costs three system calls,
 * so use one for a whole buffer. */
typedef struct tkt_quiet {
    sigset_t mask;   /* the thread's before */
    sigset_t raised; /* of the two, those that were not pending before */
} tkt_quiet;

void tkt_quiet_begin(tkt_quiet *quiet);

/* `has_failed`: a write has failed, and may have raised a signal. Keeps errno. */
void tkt_quiet_end(const tkt_quiet *quiet, bool has_failed);

#endif
