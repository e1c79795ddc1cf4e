/* Blocking SIGPIPE alone only delays it: the kernel sends both signals to the thread that writes,
 * where they stay pending until the thread unblocks them. So Takt takes them back first, unless
 * they were pending before, which makes them the host's. */
#include "base/quiet.h"

#include <errno.h>
#include <time.h>

static const int signals[] = {SIGPIPE, SIGXFSZ};

#define SIGNAL_COUNT (sizeof signals / sizeof *signals)

void tkt_quiet_begin(tkt_quiet *quiet)
{
    sigset_t pending, both;
    sigemptyset(&both);
    sigemptyset(&quiet->raised);
    sigpending(&pending);
    for (size_t i = 0; i < SIGNAL_COUNT; i++) {
        sigaddset(&both, signals[i]);
        if (!sigismember(&pending, signals[i]))
            sigaddset(&quiet->raised, signals[i]);
    }
    pthread_sigmask(SIG_BLOCK, &both, &quiet->mask);
}

void tkt_quiet_end(const tkt_quiet *quiet, bool has_failed)
{
    static const struct timespec at_once = {0, 0};
    int number = errno;
    while (has_failed && (sigtimedwait(&quiet->raised, NULL, &at_once) >= 0 || errno == EINTR))
        continue;
    pthread_sigmask(SIG_SETMASK, &quiet->mask, NULL);
    errno = number;
}
