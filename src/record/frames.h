/* Frames of open scopes, for the files that push and pop them: scope.c, pair.c. */
#ifndef TKT_RECORD_FRAMES_H
#define TKT_RECORD_FRAMES_H

#include "record/control.h"
#include "record/fast.h"

/* The return address into the program, in a function that the program calls. */
#define TKT_CALLER __builtin_return_address(0)

static inline bool tkt_frame_is_phase(const takt_frame *frame)
{
    return (frame->tag & TAKT_FRAME_PHASE) != 0;
}

/* True for a scope that was open when recording was last switched on. */
static inline bool tkt_began_before_recording(const takt_frame *frame)
{
    return frame->start < __atomic_load_n(&tkt_record_control.began_ticks, __ATOMIC_RELAXED);
}

/* Pops a frame whose span fits the slot at the cursor. */
static inline void tkt_pop_plain(takt_thread_v1 *thread, takt_record *slot, takt_frame *frame,
                                 uint64_t start, uint64_t ticks)
{
    tkt_slot_write(slot, (takt_record){start, (uint32_t)ticks, frame->tag});
    __atomic_store_n(&thread->cursor, slot + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&thread->top, frame, __ATOMIC_RELEASE);
}

/* Pushes a frame, and reads the clock last. NULL when the stack is full. */
takt_frame *tkt_scope_push(tkt_thread_log *log, uint32_t site, uint32_t flag, const void *caller);

/* Closes the scope at `depth`, and everything open inside it. */
void tkt_scope_close_at(tkt_thread_log *log, uint32_t depth, uint64_t now);

#endif
