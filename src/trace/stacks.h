/* Adding call stacks to a trace: equal frames and equal stacks are one. */
#ifndef TKT_TRACE_STACKS_H
#define TKT_TRACE_STACKS_H

#include "trace/model.h"

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

#endif
