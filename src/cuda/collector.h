/* The collector: the thread that makes every call of CUPTI that switches or flushes, and what CUPTI calls back. */
#ifndef TKT_CUDA_COLLECTOR_H
#define TKT_CUDA_COLLECTOR_H

#include "cuda/cuda.h"
#include "cuda/cupti.h"

#include <stdbool.h>
#include <stdint.h>

/* ======== The thread ======== */

/* The thread that makes the calls of CUPTI's, and those who wait for it. */

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

/* ======== Switching and flushing ======== */

/* What is collected with CUPTI, by the collector alone: nothing here may be called by two threads
 * at once, nor with a lock that a callback of CUPTI's takes. */

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

/* ======== Buffers ======== */

/* The buffers that CUPTI fills. CUPTI asks for one on the program's threads and gives it back on
 * any thread; the collector alone decodes, zeroes and returns them.
 *
 * Size decides how long a record waits. CUPTI gives a buffer back when all of its records are
 * complete and it is full or somebody flushes; a forced flush gives up what is unfinished. On a
 * device that is never idle the buffer that a thread writes to always holds an unfinished record,
 * so only full ones come back. Each thread therefore gets buffers that it fills in a few hundredths
 * of a second: of one record where it launches rarely, of some hundreds where it launches all the
 * time. */

#define TKT_BUFFER_LEAST_BYTES ((size_t)4 << 10)
#define TKT_BUFFER_MOST_BYTES  ((size_t)64 << 10)

/* Called by CUPTI: tkt_cupti_requested and tkt_cupti_completed. */
void tkt_buffers_request(uint8_t **buffer, size_t *bytes, size_t *max_records);
void tkt_buffers_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
                          size_t valid_bytes);

/* The rest is called by the collector. */

/* Before the first request: the sizes that records have, which stay the caller's, and whether CUPTI
 * can be refused a buffer. Where it cannot, there are a few small ones for when no other is left;
 * what they hold is thrown away. False without memory. */
bool tkt_buffers_setup(const tkt_record_sizes *sizes, bool may_refuse);

/* Lets all buffers together take so many bytes. Requests are refused beyond that, and only then. */
void tkt_buffers_limit(uint64_t bytes);

/* Bytes of all buffers, whoever has them. */
uint64_t tkt_buffers_bytes(void);

/* Gives each buffer that has come back to `use`, in the order in which they came. */
void tkt_buffers_drain(void (*use)(const void *buffer, size_t valid_bytes));

/* Frees unused buffers beyond this many bytes. */
void tkt_buffers_trim(uint64_t idle_bytes);

/* What went wrong since the last time. */
typedef struct tkt_buffer_losses {
    uint64_t records; /* thrown away */
    uint64_t foreign; /* buffers given back that were not handed out */
    uint64_t refused; /* requests */
} tkt_buffer_losses;
tkt_buffer_losses tkt_buffers_take_losses(void);

/* How many buffers were handed out so far; and whether all that were handed out before there were
 * `count` have come back and been drained. */
uint64_t tkt_buffers_count(void);
bool tkt_buffers_are_back(uint64_t count);

/* In a forked child: the thread that held the lock does not exist there. */
void tkt_buffers_forget(void);

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
