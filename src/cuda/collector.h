/* The thread that makes the calls of CUPTI's, and those who wait for it. */
#ifndef TKT_CUDA_COLLECTOR_H
#define TKT_CUDA_COLLECTOR_H

/* There is a full buffer to decode. Any thread, also inside a callback: it takes no lock. */
void tkt_collector_nudge(void);

/* Sees to it that the process leaves collecting before it leaves what was registered until now:
 * handlers run in reverse order, and the driver's must come later. */
void tkt_collector_leave_at_exit(void);

#endif
