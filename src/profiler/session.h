/* One log, many windows. Each cycle of a profiler, takt_timing and detailed ScopedTimer opens a
 * window on the process's recording. The process records the union of their requests. A chunk goes
 * back to the pool when the last window that needs it is closed. */
#ifndef TKT_PROFILER_SESSION_H
#define TKT_PROFILER_SESSION_H

#include "base/clock.h"
#include "cuda/cuda.h"
#include "record/allocations.h"
#include "record/control.h"
#include "record/mapping.h"
#include "trace/devices.h"
#include "trace/model.h"
#include "trace/seal.h"

#include <takt/activity.h>

/* ======== Windows ======== */

/* A window's request: what to record. */
typedef struct tkt_wish {
    uint32_t modes; /* TKT_KEEP and so on, see record/control.h; 0: keep nothing */
    uint64_t mask;
    uint64_t max_bytes; /* limit of all chunks; the largest request applies; 0: no request */
    uint32_t devices;   /* TAKT_TIMING_ bits of CUDA activities; 0: ignore devices */
    uint32_t left_out;  /* TAKT_TIMING_ bits: host activities of these kinds are scopes */
    bool     whole_graphs;   /* one activity per graph launch; also set if graphs are requested
                              * without kernels */
    bool     no_synchronize; /* sealing does not wait for launched work */
    uint32_t device_wait_ms; /* longest wait for it; 0: TKT_DEVICE_WAIT_MS */
} tkt_wish;

#define TKT_DEVICE_WAIT_MS 10000u

typedef struct tkt_window tkt_window;

/* Opens a window that begins now; with devices, once CUPTI is on. Hold no lock. TAKT_BAD_STATE in a
 * forked child, or if it requests folding while another window folds. */
takt_status tkt_window_open(const tkt_wish *wish, tkt_window **out);

/* Announces that the window will end at once, at a time that is read after this call: until then its
 * threads fold nothing that is later than the end. NULL is ignored. */
void tkt_window_end_soon(const tkt_window *window);

/* Ends the window at `ticks`; its records stay until it is closed. Any thread, once. */
void tkt_window_end(tkt_window *window, uint64_t ticks);

/* Returns the memory that the program reported, with the most that it held since the window's
 * begin. */
tkt_memory_state tkt_window_memory(const tkt_window *window);

/* What timed the window's devices, and what was not to be timed: "CUPTI 13.0 (130001), without
 * memcpy memset". */
void tkt_window_backend(const tkt_window *window, const tkt_cuda_status *devices,
                        char out[TKT_BACKEND_SIZE]);

/* Fills in the facts that are known when the recording begins: program, clock, backend. */
takt_status tkt_window_describe(const tkt_window *window, takt_trace *trace);

bool tkt_window_has_ended(const tkt_window *window);

/* What a window has lost so far. What its stream has read before is no loss of the stream's, but of
 * a trace that is made from memory. */
typedef struct tkt_window_losses {
    uint64_t counts[TAKT_LOSS_COUNT];
    uint64_t overwritten_read; /* by the stream; not among the counts */
    uint64_t dropped_read;
} tkt_window_losses;
tkt_window_losses tkt_window_losses_now(const tkt_window *window);

/* Updates the facts of a window that is being written: losses, memory, clock; and adds the cost of
 * a slice. With slice NULL it uses the final figures of an ended window. Adds to existing losses;
 * does not include those of devices. */
void tkt_window_progress(const tkt_window *window, const takt_trace *slice, takt_trace *so_far);

/* Waits for the devices of an ended window whose earlier records were released, as
 * tkt_window_seal() does. Reports whether all activities have arrived. Moves the window's begin to
 * the first kept record. */
takt_status tkt_window_settle(tkt_window *window, bool *is_settled);

/* Adds the sums of an ended window to a trace that has none, if the window folds. Devices must have
 * settled. */
takt_status tkt_window_seal_sums(const tkt_window *window, takt_trace *trace);

/* Makes the trace of a summary as of now. TAKT_BAD_STATE if the window has ended. */
takt_status tkt_window_snapshot(tkt_window *window, takt_trace **out);

/* Returns the position in the store at which the window's activities begin. */
uint64_t tkt_window_position(const tkt_window *window);

/* True when half of the memory for records is used; never for the flight recorder. */
bool tkt_window_is_full(const tkt_window *window);

/* Gives back records before `ticks`, and activities before `position`, unless another window needs
 * them. tkt_window_seal() then no longer gives the whole trace. */
void tkt_window_release(tkt_window *window, uint64_t ticks, uint64_t position);
bool tkt_window_was_released(const tkt_window *window);

/* Makes a trace of an ended window, with the facts of the recording. The caller adds its own facts
 * and calls tkt_trace_finish(). Waits for devices as the request says. */
takt_status tkt_window_seal(tkt_window *window, takt_trace **out);

/* Replaces what timers inside kernels recorded in a trace of an ended window that was read from a
 * file: the trace has the kernels, and memory still has all reads of timers. */
takt_status tkt_window_fill_phases(const tkt_window *window, takt_trace *trace);

/* Ends the window if needed, and gives its memory back. NULL is ignored. */
void tkt_window_close(tkt_window *window);

/* While held at least once, CUPTI continues between windows to report allocations on devices, which
 * keeps the totals right. This starts with the first window that uses devices. Hold no lock. */
void tkt_session_hold_memory(bool is_held);

/* True if no other window uses devices or waits for their work. */
bool tkt_session_is_alone(const tkt_window *window);

/* Frees the activities that no window needs any more. */
void tkt_session_release_devices(void);

/* The begin of the window and its clock, for a request to seal it; if it has ended, its end. */
tkt_seal_window tkt_window_bounds(const tkt_window *window, bool has_ended);
const tkt_clock_fit *tkt_window_fit(const tkt_window *window);

/* ======== Devices of a window ======== */

/* A window's part in the work of devices. Only tkt_devices_unite() is called with the session's
 * lock. */

typedef struct tkt_device_part {
    bool             is_wanted;
    bool             is_on; /* if false, all else below is 0 */
    uint64_t         position; /* position in the store, atomic: earlier activities are not
                                * needed */
    uint64_t         began_ticks;
    uint64_t         first_call; /* tkt_cuda_last_call() at its begin */
    uint64_t         last_call;  /* and at its end, atomic; UINT64_MAX before */
    tkt_cuda_losses  losses; /* the counts at its begin, */
    tkt_cuda_losses  end_losses; /* and at its end, or later if activities were missing then */
    tkt_device_fold *fold;   /* NULL: activities are kept one by one, or not at all */
    struct tkt_device_folder *folder; /* the thread that folds */
    tkt_mutex        rounds; /* held while `fold` changes, until the window ends */
} tkt_device_part;

/* Prepares the part if devices are requested and the program uses CUDA. Switches nothing on. */
void tkt_devices_begin(tkt_device_part *part, const tkt_wish *wish);

/* CUDA recording is on: launches belong to the window from here on. */
void tkt_devices_began(tkt_device_part *part, const tkt_wish *wish, const tkt_clock_fit *fit,
                       uint64_t begin_ticks);

/* tkt_devices_end() ends this. Call tkt_devices_take() after taking the folds of the logs: it adds
 * the calls that they have folded. */
void tkt_devices_end(tkt_device_part *part);
void tkt_devices_take(tkt_device_part *part);

/* Folds the activities that have arrived, before they are given back. False if the part has ended,
 * and its fold needs them later. */
bool tkt_devices_fold_now(tkt_device_part *part);

/* How the end of a window waits for its launches. */
typedef struct tkt_device_wait {
    bool              synchronize; /* if false, only activities that have arrived count */
    uint32_t          timeout_ms;
    const tkt_window *window; /* the window that ends */
    const uint32_t   *calls;  /* ids of the calls that were under way before the logs were sealed */
    size_t            call_count;
} tkt_device_wait;

typedef struct tkt_device_end {
    bool is_settled; /* missing activities do not exist; otherwise they had not finished, or are
                      * lost */
    bool has_strays; /* some activities belong to calls that were not recorded yet when the trace
                      * was sealed */
    bool is_call_under_way; /* at least one of these calls was then */
    uint64_t known_until;   /* see tkt_join */
} tkt_device_end;

/* Waits until all activities launched in `trace`, the sealed window, have arrived in the store.
 * `join` supplies filter, times and fit; without a filter the trace is not needed.
 * TAKT_NO_MEMORY. */
takt_status tkt_devices_settle(tkt_device_part *part, const tkt_join *join,
                               const tkt_device_wait *how, const takt_trace *trace,
                               tkt_device_end *out);

/* Puts the activities into the sealed trace, and counts missing ones. */
takt_status tkt_devices_fill(const tkt_device_part *part, const tkt_join *join,
                             const tkt_device_end *end, takt_trace *trace);

/* Adds the store's losses since the part began to the counts by takt_loss. Returns the number of
 * lost activities. */
uint64_t tkt_devices_losses(const tkt_device_part *part, uint64_t *losses);

/* The same, with the losses of the fold, for a window that has not ended. Call it with `rounds`
 * held. */
void tkt_devices_progress(const tkt_device_part *part, uint64_t *losses);

/* Returns the bytes allocated on a device when the trace's recording began, as far as the store
 * goes back. */
uint64_t tkt_devices_begin_bytes(const tkt_clock_fit *fit, const takt_trace *trace, uint32_t label);

/* tkt_devices_fill_memory() makes the figures of an entry absolute: the trace counts from 0 at the
 * window's begin. tkt_devices_ask_memory() asks the driver for free and total memory. */
void tkt_devices_fill_memory(const tkt_clock_fit *fit, const takt_trace *trace,
                             uint64_t begin_bytes, tkt_device_memory *memory);
void tkt_devices_ask_memory(const takt_trace *trace, tkt_device_memory *memory);

/* Return the ids that limit the window, as in tkt_join. */
uint32_t tkt_devices_first_correlation(const tkt_device_part *part);
uint32_t tkt_devices_last_correlation(const tkt_device_part *part);

void tkt_devices_fini(tkt_device_part *part);

/* Adds a window's request to the request of all windows. */
void tkt_devices_unite(tkt_cuda_wish *all, const tkt_wish *wish);

/* Switches the recording of calls into CUDA on or off. */
void tkt_devices_record_calls(bool are_recorded);

/* ======== A window's data ======== */

/* Only for session.c, sealing.c, keeping.c and stream_devices.c. */

struct tkt_window {
    tkt_window      *next; /* list of open windows */
    tkt_wish         wish;
    bool             is_ended;
    uint64_t         begin_ticks;
    uint64_t         end_ticks;
    tkt_boundary     begin;
    tkt_boundary     end;
    uint64_t         kept_ticks; /* first moment whose records are kept: begin_ticks, or later once
                                  * released */
    bool             was_released;
    uint64_t         settled_ticks; /* see tkt_record_settle(); 0: it goes on, or keeps nothing */
    uint32_t         number;        /* of tkt_record_open() */
    tkt_excused      excused_before; /* at its begin */
    tkt_clock_fit    fit;
    tkt_window_losses losses;       /* while it lasted; set when it has ended */
    uint64_t         losses_before[TAKT_LOSS_COUNT]; /* counts at its begin */
    tkt_memory_state memory_before;
    tkt_memory_peak memory_high; /* until a later window set a mark */
    tkt_memory_state memory_after;
    int64_t          realtime_offset_ns;
    double           residual_ns;
    uint64_t         longest_ticks; /* of tkt_record_longest(), when it has ended */
    TKT_ARRAY_OF(tkt_fold) folds; /* taken from the logs when it has ended */
    size_t           folds_made;  /* so many have memory, though empty ones may not be counted */
    takt_frame      *frames;      /* room to take them; NULL: not yet */
    takt_status      folds_status;
    tkt_device_part  devices;
    tkt_mutex        snapshots; /* held while making a snapshot, and while the window ends */
};

/* The memory of a window, all 0 but for room in its arrays; NULL without memory. Unmaking frees what
 * it has. Hold no lock. */
tkt_window *tkt_window_make(void);
void tkt_window_unmake(tkt_window *window);

/* Adds an empty fold to the window's; NULL without memory. */
tkt_fold *tkt_window_add_fold(tkt_window *window);

/* While they are kept, the memory of closed windows is used again, and at first some is ready, so that
 * a step that ends one window and begins another calls no allocator. Calls nest. */
void tkt_windows_keep(void);
void tkt_windows_keep_no_more(void);

/* ======== Timings ======== */

/* Collecting activities in a window of the common log. */

/* takt_timing_end() for an end that was read before. */
takt_status tkt_timing_end_at(takt_timing *timing, uint64_t ticks);

/* Returns the time at which an activity was issued: a device's at its launch, the host's at its
 * begin. */
uint64_t tkt_activity_issue_ns(const takt_trace *trace, const tkt_activity *activity);

#endif
