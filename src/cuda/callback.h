/* What CUPTI calls back for: calls of the program's into CUDA, contexts that come and go. */
#ifndef TKT_CUDA_CALLBACK_H
#define TKT_CUDA_CALLBACK_H

#include "cuda/cuda.h"
#include "cuda/cupti.h"

/* The function to subscribe with. */
void tkt_callback(void *user, int domain, uint32_t id, const void *data);

/* Asks CUPTI for the names of all its callbacks and keeps those that matter; once, before
 * subscribing. A CUptiResult: fails without memory, and when there is no name at all. */
int tkt_callback_setup(const tkt_cupti *cupti);

/* Contexts and captures are watched as long as there is a subscription, calls while they are
 * wanted. Both return the first failure, a CUptiResult; `is_any` is whether one was switched. */
int tkt_callback_watch(const tkt_cupti *cupti);
int tkt_callback_switch_calls(const tkt_cupti *cupti, bool is_on, bool *is_any);

/* While paused, calls are not handed on: their ids are remembered. For releases of CUPTI that must
 * not be switched off. Any thread. */
void tkt_callback_pause(bool pause);

/* The function's name as people know it: "cudaLaunchKernel" for "__cudaLaunchKernel_ptsz_v13000".
 * Writes at most `size` bytes. */
void tkt_callback_name(char *out, size_t size, const char *symbol);

/* Hands a call to tkt_cuda_on_call()'s function, on the thread that made it. */
void tkt_callback_report(const tkt_cuda_call *call);

/* Makes this id the highest one so far, where another backend numbers calls from now on. */
void tkt_callback_continue_from(uint32_t correlation);

/* In a forked child nothing is reported any more. */
void tkt_callback_forget(void);

#endif
