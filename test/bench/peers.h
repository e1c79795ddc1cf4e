/* Others that a program may have its scopes from, measured in the same run. */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

void bench_nvtx(void);
void bench_lttng(void);

/* Run again by lttng-active.sh, inside a session: prints ns and floor of a pair of events. */
int bench_lttng_active(void);

#endif
