/* Sealing: makes a trace from the logs of all threads.
 *
 * The first section is the interface. The others are shared by the files that seal: spans on tracks
 * of their own, call stacks, and the events of one thread (nest.c). */
#ifndef TKT_TRACE_SEAL_H
#define TKT_TRACE_SEAL_H

#include "base/clock.h"
#include "base/containers.h"
#include "record/log.h"
#include "record/site.h"
#include "trace/devices.h"
#include "trace/model.h"

#include <takt/scope.h>

/* ======== Sealing ======== */

/* Where the last slice ended in all logs. Starts as {0}. */
typedef struct tkt_seal_places {
    TKT_ARRAY_OF(tkt_fold_place) logs; /* by the log's number */
    uint64_t ticks; /* of the slice; chunks that were full before are not needed */
} tkt_seal_places;

/* The window to seal. Spans that cross its ends are cut there and marked. Arguments and declared
 * work have no time: they belong to the window if they were written between its two boundaries, or
 * where the fold of their log begins and ends, so that both forms of a trace have the same. */
typedef struct tkt_seal_window {
    uint64_t      begin_ticks;
    uint64_t      end_ticks;
    const uint64_t *end_now;  /* atomic; once it is not 0, it counts instead. NULL: never */
    tkt_boundary  begin;     /* number 0: where the slots begin */
    tkt_boundary  end;       /* ... or end */
    uint32_t      last_correlation; /* late_calls gets ids up to this one */
    tkt_clock_fit fit;
    bool          with_spans; /* make the full form */
    uint32_t      left_out;   /* TAKT_TIMING_ bits: host activities of these kinds are scopes */
    tkt_seal_places *places;  /* seal a slice: what was published since the last slice, whatever
                               * its time, and open spans; updated on success. NULL: seal all */
    bool          with_fold;  /* make the folded form from the next three */
    const tkt_fold *folds;    /* results of tkt_log_fold_take() for each log */
    size_t        fold_count;
    const tkt_device_fold *device_fold; /* NULL: none */
    const struct tkt_seal_source *source; /* a recovered process; NULL: this one */
} tkt_seal_window;

/* Makes a trace from the logs' events in the window. The caller adds facts of the run (name, steps,
 * losses, memory totals) and calls tkt_trace_finish(). TAKT_NO_MEMORY. */
takt_status tkt_seal(const tkt_seal_window *window, takt_trace **out);

/* Adds only the folded form to a trace without one. TAKT_NO_MEMORY. */
takt_status tkt_seal_sums(const tkt_seal_window *window, takt_trace *trace);

/* ======== Spans on tracks of their own ======== */

/* The log of the thread that ended such a span contains it as a whole. Open spans are in a registry
 * of the process, which the sealer reads after all logs. */

struct tkt_sealing;

/* Adds the span of a TKT_SLOT_TASK or TKT_SLOT_SPAN_AT. tkt_trace_finish() will sort the spans. */
void tkt_async_add(struct tkt_sealing *sealing, const takt_record *slot);

/* Adds the open spans. */
void tkt_async_add_open(struct tkt_sealing *sealing);

/* ======== Call stacks ======== */

/* Adds call stacks to a trace; equal frames and equal stacks are stored once. */
typedef struct tkt_stacks {
    takt_trace *trace;
    tkt_map     frames; /* hash -> index + 1 */
    tkt_map     stacks; /* hash -> index + 1 */
} tkt_stacks; /* starts as {.trace = trace}, for a trace without stacks */

/* The index of this frame, added if it is new; UINT32_MAX without memory. `frame->reserved` must be
 * 0. */
uint32_t tkt_stacks_frame(tkt_stacks *known, const tkt_frame *frame);

/* The index of the stack of these frames, innermost first, added if it is new; UINT32_MAX without
 * memory. */
uint32_t tkt_stacks_add(tkt_stacks *known, const uint32_t *frames, uint32_t count);

/* The string of a function's symbol, demangled and without parameters; TKT_STRTAB_FULL without
 * memory. */
uint32_t tkt_stacks_function(tkt_stacks *known, const char *symbol);

void tkt_stacks_fini(tkt_stacks *known);

/* ======== Runs ======== */

/* A run is the slots of one thread in one log, in the order in which they were written. When a
 * thread ends, the next new thread continues its log, so a log may have several runs. */

/* Where what has no time was written. */
typedef enum tkt_side {
    TKT_INSIDE, /* in the window, */
    TKT_BEFORE, /* before it, unless its scope began in it: a thread may hear of a boundary late, */
    TKT_OUTSIDE
} tkt_side;

typedef struct tkt_segment {
    const takt_record *first;
    const takt_record *end;
    tkt_side           side;
} tkt_segment;

typedef struct tkt_run {
    TKT_ARRAY_OF(tkt_segment) segments;
    tkt_thread_mark   thread; /* with the last name that it was given */
    const takt_frame *frames; /* open at the end; outermost first */
    uint32_t          frame_count;
    uint64_t          gap_ticks; /* since when events are missing at the end; 0: none are */
} tkt_run;

/* The state of tkt_seal(). */
typedef struct tkt_sealing {
    const tkt_seal_window *window;
    tkt_seal_window        own; /* what it points to where the end may come meanwhile */
    takt_trace            *trace;
    TKT_ARRAY_OF(uint32_t) sites; /* recorded site id -> trace site + 1 */
    tkt_map async_tracks; /* text id of the name -> track + 1 */
    tkt_map stacks;       /* recorded stack number << 1 | is_call -> trace stack + 1 */
    tkt_stacks known_stacks;
    tkt_seal_places places; /* the new ones of a slice */
    bool    is_out_of_memory;
} tkt_sealing;

/* The trace's site for a recorded site. Without memory sets is_out_of_memory and returns 0. */
uint32_t tkt_sealing_site(tkt_sealing *sealing, uint32_t record_site);

/* The bytes of a recorded text, and the trace's string for it. */
tkt_text tkt_sealing_text_bytes(const tkt_sealing *sealing, uint32_t text);
uint32_t tkt_sealing_text(tkt_sealing *sealing, uint32_t text);

/* The trace's stack for a recorded stack, or UINT32_MAX without memory. The stack of a call leaves
 * out the frames of the device's library. */
uint32_t tkt_sealing_stack(tkt_sealing *sealing, uint32_t number, bool is_call);

static inline uint64_t tkt_sealing_ns(const tkt_sealing *sealing, uint64_t ticks)
{
    return tkt_clock_ns(&sealing->window->fit, ticks);
}

static inline bool tkt_sealing_holds(const tkt_sealing *sealing, uint64_t ticks)
{
    return ticks >= sealing->window->begin_ticks && ticks <= sealing->window->end_ticks;
}

/* seal_fold.c: makes the folded form. */
takt_status tkt_seal_folds(tkt_sealing *sealing);

/* nest.c: puts the spans of a run on `track` in preorder, with their arguments, work and stacks.
 * Adds the other events of the run to the trace. */
void tkt_seal_run(tkt_sealing *sealing, const tkt_run *run, uint32_t track);

#endif
