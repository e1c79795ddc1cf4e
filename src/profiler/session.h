/* One log, many windows. A profiler's cycle, a takt_timing and an open ScopedTimer each ask for a
 * window of what the process records; what is recorded is the union of their wishes, and a chunk
 * goes back to the pool when the last window that reaches it is closed. */
#ifndef TKT_PROFILER_SESSION_H
#define TKT_PROFILER_SESSION_H

#include "base/clock.h"
#include "record/control.h"
#include "record/memory.h"
#include "trace/model.h"

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

#endif
