/* The end of a window: waiting for what it launched. */
#ifndef TKT_CUDA_SETTLE_H
#define TKT_CUDA_SETTLE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tkt_settling {
    bool     synchronize; /* wait for work that was launched; otherwise flush once */
    bool     must_force;  /* at the end of the time give up what is unfinished, whoever's it is */
    uint32_t timeout_ms;  /* to wait at most */
    /* True when nothing is missing any more. Called on this thread when something has arrived; NULL:
     * waits until devices have done all that they had been given. */
    bool (*is_complete)(void *user);
    /* True if nobody but the caller waits for unfinished work: then it is given up at the end of
     * the time, for the sake of what has finished. NULL: as must_force says. */
    bool (*may_force)(void *user);
    void *user;
} tkt_settling;

/* Brings the store up to date, on the calling thread with the collector's help. True: nothing is
 * missing, or what is has no activity. False: the time has passed, no device has got on for some
 * seconds, a device has failed, the process exits or CUPTI hangs: what is missing stays missing. */
bool tkt_cuda_settle(const tkt_settling *how);

#endif
