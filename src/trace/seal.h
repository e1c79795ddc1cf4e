/* Logs become a trace. */
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

/* Makes a trace from the logs of all threads. */

/* Up to where the logs have been sealed in slices. Slices go by what is published, not by times: a
 * thread may be suspended between reading its clock and publishing the event. Starts as {0}. */
typedef struct tkt_seal_place {
    const takt_record *slots; /* of the log's last chunk then; NULL: of none */
    uint64_t           begun_ticks;
    uint32_t           count;
} tkt_seal_place;

typedef struct tkt_seal_places {
    TKT_ARRAY_OF(tkt_seal_place) logs; /* by number */
    uint64_t ticks; /* when the last slice was made: chunks that were full before are not needed */
} tkt_seal_places;

/* The window to seal. Spans that reach over its ends are cut there and marked. */
typedef struct tkt_seal_window {
    uint64_t      begin_ticks;
    uint64_t      end_ticks;
    uint32_t      last_correlation; /* ids of later calls than the window's are kept up to this one */
    tkt_clock_fit fit;
    bool          with_spans; /* the full form */
    tkt_seal_places *places;  /* a slice: what came since the last one, and what is open; moved on
                               * when all went well. NULL: everything */
    bool          with_fold;  /* the folded form, from: */
    const tkt_fold *folds;    /* what tkt_log_fold_take() gave of each log */
    size_t        fold_count;
    const tkt_device_fold *device_fold; /* with it; NULL: none */
    const struct tkt_seal_source *source; /* of trace/recovery.h; NULL: this process */
} tkt_seal_window;

/* A trace with everything that the logs hold of the window; the caller adds what it knows of the
 * run - name, steps, losses, memory totals - and calls tkt_trace_finish(). TAKT_NO_MEMORY. */
takt_status tkt_seal(const tkt_seal_window *window, takt_trace **out);

/* ======== Spans on tracks of their own ======== */

/* Spans on tracks of their own. They stand whole in the log of the thread that ended them; those
 * that have not ended are asked for when all logs have been read. */

struct tkt_sealing;

/* Takes a TKT_SLOT_TASK or TKT_SLOT_SPAN_AT; tkt_trace_finish() will put the spans in order. */
void tkt_async_add(struct tkt_sealing *sealing, const takt_record *slot);

/* Adds the spans that are open. */
void tkt_async_add_open(struct tkt_sealing *sealing);

/* ======== Call stacks ======== */

/* Adding call stacks to a trace: equal frames and equal stacks are one. */

typedef struct tkt_stacks {
    takt_trace *trace;
    tkt_map     frames; /* hash -> index + 1 */
    tkt_map     stacks; /* the same */
} tkt_stacks; /* starts as {.trace = trace}, for a trace without stacks */

/* The index of this frame, added if it is new; UINT32_MAX when there is no memory.
 * `frame->reserved` must be 0. */
uint32_t tkt_stacks_frame(tkt_stacks *known, const tkt_frame *frame);

/* The same for the stack of these frames, innermost first. */
uint32_t tkt_stacks_add(tkt_stacks *known, const uint32_t *frames, uint32_t count);

/* The string for a function's symbol, as people write it: C++'s names demangled, without parameters.
 * TKT_STRTAB_FULL when there is no memory. */
uint32_t tkt_stacks_function(tkt_stacks *known, const char *symbol);

void tkt_stacks_fini(tkt_stacks *known);

/* ======== Runs ======== */

/* A run: the slots of one thread in one log, in the order they were written. */

typedef struct tkt_segment {
    const takt_record *first;
    const takt_record *end;
} tkt_segment;

typedef struct tkt_run {
    TKT_ARRAY_OF(tkt_segment) segments;
    tkt_thread_mark   thread; /* the name is the last one given */
    const takt_frame *frames; /* open at the end; outermost first */
    uint32_t          frame_count;
} tkt_run;

/* What sealing keeps beside the trace. */
typedef struct tkt_sealing {
    const tkt_seal_window *window;
    takt_trace            *trace;
    TKT_ARRAY_OF(uint32_t) sites; /* record site id -> trace site + 1 */
    tkt_map async_tracks; /* text id of the name -> track + 1 */
    tkt_map stacks;       /* number of a recorded call stack -> the trace's + 1 */
    tkt_stacks known_stacks;
    TKT_ARRAY_OF(tkt_seal_place) places; /* of a slice, by log */
    bool    is_out_of_memory;
} tkt_sealing;

/* The trace's site for a recorded one; 0, and out of memory is noted, when it cannot be made. */
uint32_t tkt_sealing_site(tkt_sealing *sealing, uint32_t record_site);

/* A recorded text, and the trace's string for it. */
tkt_text tkt_sealing_text_bytes(const tkt_sealing *sealing, uint32_t text);
uint32_t tkt_sealing_text(tkt_sealing *sealing, uint32_t text);

/* The trace's stack for a recorded one, a call's without the frames of the device's library, or
 * UINT32_MAX. */
uint32_t tkt_sealing_stack(tkt_sealing *sealing, uint32_t number, bool is_call);

static inline uint64_t tkt_sealing_ns(const tkt_sealing *sealing, uint64_t ticks)
{
    return tkt_clock_ns(&sealing->window->fit, ticks);
}

static inline bool tkt_sealing_holds(const tkt_sealing *sealing, uint64_t ticks)
{
    return ticks >= sealing->window->begin_ticks && ticks <= sealing->window->end_ticks;
}

/* nest.c: places the spans of a run on `track` in preorder, with their arguments and work, and the
 * other events of the run where they belong. */
void tkt_seal_run(tkt_sealing *sealing, const tkt_run *run, uint32_t track);

#endif
