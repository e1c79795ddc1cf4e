/* The thread that makes the calls of CUPTI's, and those who wait for it. */
#ifndef TKT_CUDA_COLLECTOR_H
#define TKT_CUDA_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

/* There is a full buffer to decode. Any thread, also inside a callback: it takes no lock. */
void tkt_collector_nudge(void);

/* Sees to it that the process leaves collecting before it leaves what was registered until now:
 * handlers run in reverse order, and the driver's must come later. */
void tkt_collector_leave_at_exit(void);

/* ---- For settle.c ---------------------------------------------------------------------------- */

/* False: nothing runs that could be settled. */
bool tkt_collector_is_collecting(void);

/* A ticket for this moment: settled when devices have done what they have been given until now, and
 * it has arrived. The next flush begins to look. */
uint64_t tkt_collector_ticket(void);

/* Has the collector flush CUPTI and decode what comes; a forced flush gives up what is unfinished
 * for good. False: it hangs, or the process exits. */
bool tkt_collector_flush(bool is_forced);

typedef struct tkt_collector_view {
    uint64_t turns; /* counts flushes, and times at which something came by itself */
    bool     is_settled;
    bool     is_broken; /* a device has an error that stays: what is unfinished will never finish */
    bool     is_gone;   /* the collector hangs, or the process exits */
} tkt_collector_view;
tkt_collector_view tkt_collector_look(uint64_t ticket);

/* Waits until there was another turn, at most so long. */
void tkt_collector_wait(uint64_t turns, uint32_t timeout_ms);

#endif
