/* What a frame of a call stack is called. */
#ifndef TKT_SUMMARY_FRAME_TEXT_H
#define TKT_SUMMARY_FRAME_TEXT_H

#include "trace/model.h"

/* The function, or "libforces.so+0x1a2b" where its name is not known; cut to fit. Returns out. */
char *tkt_frame_function(char *out, size_t size, const takt_trace *trace, const tkt_frame *frame);

/* The same with its place, if that is known: "forces.c(42): compute_forces", as torch has it. */
char *tkt_frame_place(char *out, size_t size, const takt_trace *trace, const tkt_frame *frame);

/* The frame at that distance from the innermost one of a stack. */
static inline const tkt_frame *tkt_frame_at(const takt_trace *trace, uint32_t stack,
                                            uint32_t index)
{
    size_t first = trace->stacks.items[stack].first_frame;
    return &trace->frames.items[trace->stack_frames.items[first + index]];
}

#endif
