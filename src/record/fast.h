/* The library's own fast paths: what a thread may do without tkt_log_enter() and tkt_log_leave().
 *
 * The conditions are those of the macros in scope.h. `limit` and `top_limit` are shut by the
 * library whenever something is unusual: a new thread, a clock that is not inline, call stacks,
 * nothing recorded. So room below them says that the thread has a log, and that all is as usual. */
#ifndef TKT_RECORD_FAST_H
#define TKT_RECORD_FAST_H

#include "record/log.h"
#include "record/slot.h"

/* The slow paths stand apart, so that the fast ones save no registers for them. */
#define TKT_APART __attribute__((noinline))

/* Each does takt_enter(), looks whether there is room, and leaves again if there is none. Not the
 * other way round: a signal handler may take the room that was seen before takt_enter(). */
static inline bool tkt_enter_to_push(takt_thread_v1 *thread)
{
    if (thread->is_busy)
        return false;
    takt_enter(thread);
    if (TAKT_LIKELY(thread->top != thread->top_limit))
        return true;
    takt_leave(thread);
    return false;
}

/* Room for so many slots behind the cursor. */
static inline bool tkt_enter_to_write(takt_thread_v1 *thread, size_t count)
{
    if (thread->is_busy)
        return false;
    takt_enter(thread);
    size_t room = (uintptr_t)thread->limit - (uintptr_t)thread->cursor;
    if (TAKT_LIKELY(room >= count * sizeof *thread->cursor))
        return true;
    takt_leave(thread);
    return false;
}

/* After one of these; takt_leave() follows. */
static inline void tkt_push(takt_thread_v1 *thread, uint32_t site_and_flag)
{
    takt_frame *frame = thread->top;
    __atomic_store_n(&frame->site, site_and_flag, __ATOMIC_RELEASE);
    __atomic_store_n(&frame->start, takt_ticks(), __ATOMIC_RELEASE);
    /* release: pairs with the acquire in copy_frames() of log_read.c */
    __atomic_store_n(&thread->top, frame + 1, __ATOMIC_RELEASE);
}

static inline uint32_t tkt_open_scopes(const takt_thread_v1 *thread)
{
    return (uint32_t)(thread->top - ((const tkt_thread_log *)thread->log)->frames);
}

static inline void tkt_write_one(takt_thread_v1 *thread, tkt_slot_kind kind, uint64_t start,
                                 uint32_t ticks)
{
    takt_record *slot = thread->cursor;
    tkt_slot_write(slot, (takt_record){start, ticks, tkt_slot_tag(kind, tkt_open_scopes(thread))});
    __atomic_store_n(&thread->cursor, slot + 1, __ATOMIC_RELEASE);
}

static inline void tkt_write_two(takt_thread_v1 *thread, tkt_slot_kind kind, uint64_t start,
                                 uint32_t ticks, uint64_t more_start)
{
    takt_record *slot = thread->cursor;
    uint32_t open_scopes = tkt_open_scopes(thread);
    tkt_slot_write(slot, (takt_record){start, ticks, tkt_slot_tag(kind, open_scopes)});
    tkt_slot_write(slot + 1, (takt_record){more_start, 0,
                                           tkt_slot_tag(TKT_SLOT_MORE, open_scopes)});
    __atomic_store_n(&thread->cursor, slot + 2, __ATOMIC_RELEASE);
}

#endif
