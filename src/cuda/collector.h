/* The thread that makes the calls of CUPTI's, and those who wait for it. */
#ifndef TKT_CUDA_COLLECTOR_H
#define TKT_CUDA_COLLECTOR_H

/* There is a full buffer to decode. Any thread, also inside a callback: it takes no lock. */
void tkt_collector_nudge(void);

/* A context is about to end with all its records: has devices waited for and flushes, for a second
 * at most. On the program's thread, in the callback of the call that ends it; hold no lock. */
void tkt_collector_flush_before_reset(void);

/* Sees to it that the process leaves collecting before it leaves what was registered until now:
 * handlers run in reverse order, and the driver's must come later. */
void tkt_collector_leave_at_exit(void);

#endif
