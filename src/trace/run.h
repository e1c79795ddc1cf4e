/* A run: the slots of one thread in one log, in the order they were written. */
#ifndef TKT_TRACE_RUN_H
#define TKT_TRACE_RUN_H

#include "record/log.h"
#include "record/site.h"
#include "trace/seal.h"
#include "trace/stacks.h"

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
