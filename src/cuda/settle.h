/* The end of a window: waiting for what it launched. */
#ifndef TKT_CUDA_SETTLE_H
#define TKT_CUDA_SETTLE_H

#include "cuda/event.h"

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

/* ======== Whether devices are done ======== */

/* Whether devices have done what they had been given at some moment - asked, not waited for. */

#define TKT_IDLE_CONTEXTS 64u /* beyond these a context counts as idle */

/* An event in each live context, reached when all that the context had been given is done. */
typedef struct tkt_idle_mark {
    uint32_t count;
    struct {
        tkt_event_context context;
        void *event;
    } items[TKT_IDLE_CONTEXTS];
} tkt_idle_mark;

typedef enum tkt_idle_state {
    TKT_IDLE_NOT_YET,
    TKT_IDLE_DONE,
    TKT_IDLE_BROKEN /* a sticky error: what is unfinished will never finish */
} tkt_idle_state;

/* Marks this moment. Drivers before 12.5 cannot: there it waits until the devices are idle.
 * TKT_IDLE_NOT_YET: a stream is being captured, so nothing may be recorded; try again. */
tkt_idle_state tkt_idle_begin(const tkt_driver *driver, tkt_idle_mark *mark);

/* Looks whether it is reached. Contexts that are gone are done. */
tkt_idle_state tkt_idle_look(const tkt_driver *driver, tkt_idle_mark *mark);

#endif
