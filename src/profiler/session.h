/* One log, many windows. A profiler's cycle, a takt_timing and an open ScopedTimer each ask for a
 * window of what the process records; what is recorded is the union of their wishes, and a chunk
 * goes back to the pool when the last window that reaches it is closed. */
#ifndef TKT_PROFILER_SESSION_H
#define TKT_PROFILER_SESSION_H

#include "base/clock.h"
#include "cuda/cuda.h"
#include "record/allocations.h"
#include "record/control.h"
#include "trace/devices.h"
#include "trace/model.h"

#include <takt/activity.h>

/* ======== Windows ======== */

/* What a window wants recorded. */
typedef struct tkt_wish {
    uint32_t modes; /* TKT_KEEP and so on, see record/control.h; 0: nothing is kept */
    uint64_t mask;
    uint64_t max_bytes; /* of all chunks; the largest wish holds; 0: any */
    uint32_t devices;   /* TAKT_TIMING_ bits of what CUDA devices do; 0: they are left alone */
    bool     whole_graphs;   /* a graph's launch is one activity; so it is without kernels, too */
    bool     no_synchronize; /* sealing does not wait for work that was launched */
    uint32_t device_wait_ms; /* how long it waits at most; 0: TKT_DEVICE_WAIT_MS */
} tkt_wish;

#define TKT_DEVICE_WAIT_MS 10000u

typedef struct tkt_window tkt_window;

/* Opens a window that begins now; with devices that is when CUPTI is on. Hold no lock.
 * TAKT_BAD_STATE in a forked child, or when it wants to be folded while another one is. */
takt_status tkt_window_open(const tkt_wish *wish, tkt_window **out);

/* Ends it at `ticks`; what is recorded stays until it is closed. Any thread, once. */
void tkt_window_end(tkt_window *window, uint64_t ticks);

/* Fills in what is known of the recording as soon as it has begun: program, clock, backend. */
takt_status tkt_window_describe(const tkt_window *window, takt_trace *trace);

/* Fills in what is known of a window while it goes on: losses, memory, clock; and adds the cost of a
 * slice. Without a slice: what is known of an ended one. Losses are added to those that are there; those of devices are not among them. */
void tkt_window_progress(const tkt_window *window, const takt_trace *slice, takt_trace *so_far);

/* What is left of a window whose earlier records were released, from a moment on: the end of its
 * logs. It waits for devices like tkt_window_seal(), and says whether all has come. */
takt_status tkt_window_settle(tkt_window *window, bool *is_settled);

/* The trace of a summary as it is by now. TAKT_BAD_STATE when the window has ended. */
takt_status tkt_window_snapshot(tkt_window *window, takt_trace **out);

/* Where in the store the window's activities begin. */
uint64_t tkt_window_position(const tkt_window *window);

/* True when the memory of its records is running short. */
bool tkt_window_is_full(const tkt_window *window);

/* Gives back what was recorded before `ticks`, and of devices before `position`, unless another
 * window needs it. What tkt_window_seal() would make is then no longer all. */
void tkt_window_release(tkt_window *window, uint64_t ticks, uint64_t position);
bool tkt_window_was_released(const tkt_window *window);

/* Makes a trace of an ended window, with the facts of the recording filled in; the caller adds its
 * own and calls tkt_trace_finish(). Waits for devices, as its wish says. */
takt_status tkt_window_seal(tkt_window *window, takt_trace **out);

/* Ends it if need be and gives its memory back. NULL is ignored. */
void tkt_window_close(tkt_window *window);

/* While it is held at least once, CUPTI goes on between windows to tell what is allocated on
 * devices, so that the totals stay right: from the first window that uses devices on. Hold no
 * lock. */
void tkt_session_hold_memory(bool is_held);

/* True if no window but this one asks for devices, or waits for what they have been given. */
bool tkt_session_is_alone(const tkt_window *window);

/* Forgets the activities that no window needs any more. */
void tkt_session_release_devices(void);

uint64_t tkt_window_begin_ticks(const tkt_window *window);
const tkt_clock_fit *tkt_window_fit(const tkt_window *window);

/* ======== Their devices ======== */

/* A window's part in what devices do. Nothing here is done with the session's lock held but
 * tkt_devices_unite(). */

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

/* ======== What a window is ======== */

/* A window, for those who make it what it is: session.c and sealing.c. */

struct tkt_window {
    tkt_window      *next; /* in the list of open windows */
    tkt_wish         wish;
    bool             is_ended;
    uint64_t         begin_ticks;
    uint64_t         end_ticks;
    uint64_t         kept_ticks; /* records from here on are kept: as begin_ticks, unless released */
    bool             was_released;
    tkt_clock_fit    fit;
    uint64_t         losses[TAKT_LOSS_COUNT]; /* ended: while it lasted */
    uint64_t         losses_before[TAKT_LOSS_COUNT]; /* when it began */
    tkt_memory_state memory_before;
    tkt_memory_state memory_after;
    int64_t          realtime_offset_ns;
    double           residual_ns;
    TKT_ARRAY_OF(tkt_fold) folds; /* of the logs, when it has ended */
    takt_status      folds_status;
    tkt_device_part  devices;
    tkt_mutex        snapshots; /* held while one is made, and while the window ends */
};

/* ======== Timings ======== */

/* Collecting activities in a window of the common log. */

/* takt_timing_end() with an end that was read before. */
takt_status tkt_timing_end_at(takt_timing *timing, uint64_t ticks);

/* When an activity was issued: a device's with its launch, the host's as it began. */
uint64_t tkt_activity_issue_ns(const takt_trace *trace, const tkt_activity *activity);

#endif
