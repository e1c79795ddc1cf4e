/* What is collected with CUPTI, by the collector alone: nothing here may be called by two threads
 * at once, nor with a lock that a callback of CUPTI's takes. */
#ifndef TKT_CUDA_TRACING_H
#define TKT_CUDA_TRACING_H

#include "cuda/cuda.h"
#include "cuda/cupti.h"

/* Subscribes and prepares buffers; nothing is collected yet. False with the reason, and the
 * CUptiResult if it was CUPTI that failed, otherwise 0. */
bool tkt_tracing_open(const tkt_driver *driver, int *result, char reason[TKT_REASON_BYTES]);

/* Collects what is wished for. False with the reason when it can collect nothing: then it is closed
 * again. A part that it cannot collect is said once, and the rest goes on. */
bool tkt_tracing_switch(const tkt_cuda_wish *wish, char reason[TKT_REASON_BYTES]);

/* Has CUPTI give back the buffers that are complete, or all if it is forced: then what is unfinished
 * in them is lost for good. Brings the store up to date. */
void tkt_tracing_flush(const tkt_cuda_wish *wish, bool is_forced);

/* Decodes what came back without being asked for. */
void tkt_tracing_drain(const tkt_cuda_wish *wish);

/* Version of the library in use. */
uint32_t tkt_tracing_version(void);

#endif
