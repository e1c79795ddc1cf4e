/* Whether devices have done what they had been given at some moment - asked, not waited for. */
#ifndef TKT_CUDA_IDLE_H
#define TKT_CUDA_IDLE_H

#include "cuda/event.h"

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
