/* Calls into CUDA as CUPTI tells them, other ids of them, and captures of streams. */
#ifndef TKT_CUDA_CALLBACK_H
#define TKT_CUDA_CALLBACK_H

#include "cuda/cuda.h"
#include "cuda/cupti.h"

#include <stdbool.h>
#include <stdint.h>

/* ======== Calls ======== */

/* What CUPTI calls back for: calls of the program's into CUDA, contexts that come and go. */

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

/* ======== Ids of inner calls ======== */

/* Other correlation ids of one call. A call of the runtime contains calls of the driver, which are
 * not recorded; with some releases of CUPTI they may have ids of their own, and what they launch may
 * carry those. Activities are given the id of the recorded call when they are stored. */

/* `inner` is of a call inside the one of `outer`. From any thread; before `inner` launches. */
void tkt_alias_add(uint32_t inner, uint32_t outer);

/* The recorded call's id: `correlation` itself, unless it is of a call inside. */
uint32_t tkt_alias_outer(uint32_t correlation);

/* ======== Captures ======== */

/* Captures of streams, and Takt's own waiting for devices, keep out of each other's way: waiting for
 * a context in which a stream is being captured would spoil the capture. */

/* A capture is about to begin on the calling thread. Waits until nobody waits for devices, at most
 * two seconds. */
void tkt_capture_begin(void);

/* It has ended, or could not begin. */
void tkt_capture_end(void);

/* How many are known to go on. */
uint32_t tkt_capture_count(void);

/* Keeps captures from beginning until the release, while the caller waits for a device; false while
 * one goes on: then there is nothing to release. */
bool tkt_capture_hold(void);
void tkt_capture_release(void);

#endif
