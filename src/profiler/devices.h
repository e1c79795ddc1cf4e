/* A window's part in what devices do. Nothing here is done with the session's lock held but
 * tkt_devices_unite(). */
#ifndef TKT_PROFILER_DEVICES_H
#define TKT_PROFILER_DEVICES_H

#include "cuda/cuda.h"
#include "profiler/session.h"
#include "trace/devices.h"

typedef struct tkt_device_part {
    bool             is_on; /* otherwise all else is 0 */
    uint64_t         position; /* of the store, atomic: what came earlier is not needed */
    uint64_t         began_ticks;
    uint32_t         first_correlation;
    uint32_t         last_correlation;
    tkt_cuda_losses  losses; /* when it began */
    tkt_device_fold *fold;   /* NULL: activities are kept one by one, or not at all */
    struct tkt_device_folder *folder; /* the thread that adds up */
    tkt_mutex        rounds; /* held while `fold` changes, until the window ends */
} tkt_device_part;

/* Begins a part if the wish asks for devices and the program uses CUDA; nothing is switched on
 * yet. */
void tkt_devices_begin(tkt_device_part *part, const tkt_wish *wish);

/* CUDA is on: launches are the window's from here on. */
void tkt_devices_began(tkt_device_part *part, const tkt_wish *wish);

/* Launches are no longer the window's. tkt_devices_take() then adds what the logs have folded, when
 * their folds have been taken. */
void tkt_devices_end(tkt_device_part *part);
void tkt_devices_take(tkt_device_part *part);

/* How the end of a window waits for its launches. */
typedef struct tkt_device_wait {
    bool              synchronize; /* otherwise what has arrived is all */
    uint32_t          timeout_ms;
    const tkt_window *window; /* whose end it is */
} tkt_device_wait;

typedef struct tkt_device_end {
    bool is_settled; /* what is missing has no activity; otherwise it had not finished, or is lost */
    bool has_strays; /* activities of calls that were not recorded yet when the trace was sealed */
} tkt_device_end;

/* Waits until all that `trace`, the sealed window, has launched has arrived in the store. `what` says
 * what the part does not know: filter, times, fit; without a filter the trace is not needed.
 * TAKT_NO_MEMORY. */
takt_status tkt_devices_settle(tkt_device_part *part, const tkt_join *what,
                               const tkt_device_wait *how, const takt_trace *trace,
                               tkt_device_end *out);

/* Puts the part into the sealed trace, and counts what is missing from it. */
takt_status tkt_devices_fill(const tkt_device_part *part, const tkt_join *what, bool is_settled,
                             takt_trace *trace);

/* Adds what the store has lost since the part began to the counts by takt_loss; returns the lost
 * activities. */
uint64_t tkt_devices_losses(const tkt_device_part *part, uint64_t *losses);

/* The same of a part that adds up, with what the sums have lost. With `rounds`. */
void tkt_devices_progress(const tkt_device_part *part, uint64_t *losses);

/* What was allocated on a device when the trace's recording began, as far as the store goes back. */
uint64_t tkt_devices_begin_bytes(const tkt_clock_fit *fit, const takt_trace *trace, uint32_t label);

/* Makes absolute figures of an entry of the trace that counts from 0 at the window's begin. The
 * second asks the driver how much is free. */
void tkt_devices_fill_memory(const tkt_clock_fit *fit, const takt_trace *trace,
                             uint64_t begin_bytes, tkt_device_memory *memory);
void tkt_devices_ask_memory(const takt_trace *trace, tkt_device_memory *memory);

/* The highest correlation id that is the window's. */
uint32_t tkt_devices_last_correlation(const tkt_device_part *part);

void tkt_devices_fini(tkt_device_part *part);

/* Adds what a window wants to what others want. */
void tkt_devices_unite(tkt_cuda_wish *all, const tkt_wish *wish);

/* Switches the recording of calls into CUDA. */
void tkt_devices_record_calls(bool are_recorded);

#endif
