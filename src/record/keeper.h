/* The thread that keeps memory for records ready; one in a process, while a profiler runs. Without
 * it the program's threads get memory themselves. */
#ifndef TKT_RECORD_KEEPER_H
#define TKT_RECORD_KEEPER_H

/* Counted. The last end waits for the thread. Hold no lock. */
void tkt_keeper_begin(void);
void tkt_keeper_end(void);

/* Recording begins: wakes the thread, which may rest. */
void tkt_keeper_wake(void);

/* In a forked child, which has no such thread. */
void tkt_keeper_forget(void);

#endif
