/* The library's own fast paths, which write without tkt_log_enter() and tkt_log_leave().
 *
 * Their conditions are those of the macros in scope.h. In every unusual case (a new thread, a clock
 * that is not inline, call stacks, nothing recorded) the library leaves no room at the cursor, and
 * the thread busy. So if there is room, the thread has a log and nothing is unusual. */
#ifndef TKT_RECORD_FAST_H
#define TKT_RECORD_FAST_H

#include "record/log.h"
#include "record/slot.h"

/* For slow paths: not inlined, so that the fast ones need not save registers for them. */
#define TKT_APART __attribute__((noinline))

/* Does takt_enter(), and returns the cursor in *slot if there is room for `count` slots. Otherwise
 * leaves again. It must enter first: a signal handler may use up room that was seen before. */
static inline bool tkt_enter_to_write(takt_thread_v1 *thread, size_t count, takt_record **slot)
{
    if (thread->busy)
        return false;
    takt_enter(thread);
    *slot = thread->cursor;
    if (TAKT_LIKELY((uintptr_t)*slot + count * sizeof **slot <= (uintptr_t)thread->limit))
        return true;
    takt_leave(thread);
    return false;
}

/* Opens a scope between takt_enter() and takt_leave(). False if the library has to do it. */
static inline bool tkt_push_inside(takt_thread_v1 *thread, uint32_t tag, uint32_t flag)
{
    takt_frame *frame = thread->top;
    tag |= frame->depth;
    if (TAKT_UNLIKELY(tag & TAKT_SLOW))
        return false;
    __atomic_store_n(&frame->tag, tag | flag, __ATOMIC_RELEASE);
    __atomic_store_n(&frame->start, takt_ticks(), __ATOMIC_RELEASE);
    /* release: pairs with the acquire in copy_frames() of log_moment.c */
    __atomic_store_n(&thread->top, frame + 1, __ATOMIC_RELEASE);
    return true;
}

/* Opens a scope of the site with that tag. False if the library has to do it, for example because
 * the site is unknown. */
static inline bool tkt_push(takt_thread_v1 *thread, uint32_t tag, uint32_t flag)
{
    uint64_t busy = thread->busy;
    takt_enter(thread);
    if (TAKT_LIKELY(tkt_push_inside(thread, tag | (uint32_t)busy, flag))) {
        takt_leave(thread);
        return true;
    }
    thread->busy = busy;
    return false;
}

static inline uint32_t tkt_open_scopes(const takt_thread_v1 *thread)
{
    return thread->top->depth & 0xFFu; /* at most TKT_DEEP, as slots have it */
}

static inline void tkt_write_one(takt_thread_v1 *thread, takt_record *slot, tkt_slot_kind kind,
                                 uint64_t start, uint32_t ticks)
{
    tkt_slot_write(slot, (takt_record){start, ticks, tkt_slot_tag(kind, tkt_open_scopes(thread))});
    __atomic_store_n(&thread->cursor, slot + 1, __ATOMIC_RELEASE);
}

static inline void tkt_write_two(takt_thread_v1 *thread, takt_record *slot, tkt_slot_kind kind,
                                 uint64_t start, uint32_t ticks, uint64_t more_start)
{
    uint32_t open_scopes = tkt_open_scopes(thread);
    tkt_slot_write(slot, (takt_record){start, ticks, tkt_slot_tag(kind, open_scopes)});
    tkt_slot_write(slot + 1, (takt_record){more_start, 0,
                                           tkt_slot_tag(TKT_SLOT_MORE, open_scopes)});
    __atomic_store_n(&thread->cursor, slot + 2, __ATOMIC_RELEASE);
}

#endif
