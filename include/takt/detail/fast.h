/* takt/detail/fast.h - the fast path of scopes and phases, inline in the program.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_DETAIL_FAST_H
#define TAKT_DETAIL_FAST_H

#include <takt/detail/layout.h>

#ifndef __CUDA_ARCH__

#define TAKT_LIKELY(x)   __builtin_expect(!!(x), 1)
#define TAKT_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Assembler for places where compilers generate more code than the fast path needs. */
#if defined(__x86_64__) && defined(__GCC_ASM_FLAG_OUTPUTS__) && !defined(__CUDACC__)
#define TAKT_USE_FLAGS
#endif

TAKT_INLINES_BEGIN

/* Reads the clock, in ticks. If the processor has no invariant counter, the library keeps all fast
 * paths shut and reads CLOCK_MONOTONIC instead. */
TAKT_INLINE uint64_t takt_ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#endif
}

/* Stores the ticks since *start. Returns false if they exceed the 32 bits of a record; *ticks is
 * then not valid. */
TAKT_INLINE bool takt_ticks_since(const uint64_t *start, uint64_t *ticks)
{
#ifdef TAKT_USE_FLAGS
    typedef uint32_t __attribute__((__may_alias__)) takt_half;
    const takt_half *from = TAKT_CAST(const takt_half *, TAKT_CAST(const void *, start));
    bool is_more;
    __asm__ volatile("rdtsc\n\tsubl %2, %%eax\n\tsbbl %3, %%edx"
                     : "=&a"(*ticks), "=@ccnz"(is_more)
                     : "m"(from[0]), "m"(from[1])
                     : "edx");
    return !is_more;
#else
    uint64_t passed = takt_ticks() - *start;
    *ticks = passed;
    return passed >> 32 == 0;
#endif
}

TAKT_INLINE bool takt_is_on(uint64_t bits)
{
    return (__atomic_load_n(&takt_switch_hot_v1.mask, __ATOMIC_RELAXED) & bits) != 0;
}

/* Marks the thread as busy until takt_leave(). Meanwhile a signal handler records nothing, so it
 * never sees half an event, or a clock reading that is not stored yet. */
TAKT_INLINE void takt_enter(takt_thread_v1 *thread)
{
    thread->busy = TAKT_BUSY | 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

TAKT_INLINE void takt_leave(takt_thread_v1 *thread)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread->busy = 0;
}

/* The same after an event was written, for the thread that seals: it sees that this one has left
 * only if it sees the event, too. */
TAKT_INLINE void takt_leave_written(takt_thread_v1 *thread)
{
    __atomic_store_n(&thread->busy, TAKT_CAST(uint64_t, 0), __ATOMIC_RELEASE);
}

/* True if this thread has an open scope. */
TAKT_INLINE bool takt_has_open(void)
{
    return takt_thread_hot_v1.top[-1].tag != TAKT_NO_SCOPE;
}

/* Returns the tag for a record of `site` in `frame`. If TAKT_SLOW is set in it, the library
 * decides. */
TAKT_INLINE uint32_t takt_tag(const takt_site *site, const takt_frame *frame, uint64_t busy)
{
    uint32_t tag = __atomic_load_n(&site->tag, __ATOMIC_RELAXED) | frame->depth;
    __asm__("" : "+r"(tag)); /* this order saves a register */
    return tag | TAKT_CAST(uint32_t, busy);
}

/* Opens a scope. The returned frame is NULL if the scope is not recorded. Release stores publish
 * frames to the thread that seals, see src/record/log.h. */
TAKT_INLINE takt_open takt_scope_open(takt_site *site, uint64_t bits)
{
    takt_open open = {TAKT_NULL, 0};
    uint64_t mask = __atomic_load_n(&takt_switch_hot_v1.mask, __ATOMIC_RELAXED);
    if (!(mask & (bits | TAKT_SCOPES_BIT)))
        return open;
    if (TAKT_UNLIKELY(!(mask & bits)))
        return takt_scope_hide_v1(); /* its arguments are not those of the scope around it */
    takt_thread_v1 *thread = &takt_thread_hot_v1;
    uint64_t busy = thread->busy;
    takt_enter(thread);
    takt_frame *frame = thread->top; /* not earlier: a signal handler may change `top` */
    uint32_t tag = takt_tag(site, frame, busy);
    if (TAKT_UNLIKELY(tag & TAKT_SLOW)) {
        thread->busy = busy;
        return takt_scope_begin_v1(site);
    }
    open.frame = frame;
    __atomic_store_n(&frame->tag, tag, __ATOMIC_RELEASE);
    open.start = takt_ticks();
    __atomic_store_n(&frame->start, open.start, __ATOMIC_RELEASE);
    __atomic_store_n(&thread->top, frame + 1, __ATOMIC_RELEASE);
    takt_leave(thread);
    return open;
}

/* The same, of a category and level of its own. */
TAKT_INLINE takt_open takt_scope_open_in(takt_site *site)
{
    return takt_scope_open(site, __atomic_load_n(&site->bits, __ATOMIC_RELAXED));
}

/* Closes the scope and writes its record. Unusual cases go to the library: an open phase, crossed
 * scopes, a full chunk, a span of 2^32 ticks or more. */
TAKT_INLINE void takt_scope_close(takt_open open)
{
    takt_frame *frame = open.frame;
    if (!frame) {
        if (TAKT_UNLIKELY(open.start != 0))
            takt_scope_unhide_v1(open.start);
        return;
    }
    takt_thread_v1 *thread = &takt_thread_hot_v1;
    if (TAKT_LIKELY(thread->top == frame + 1 && frame->start == open.start)) {
        uint32_t tag = frame->tag;
        takt_enter(thread);
        takt_record *record = thread->cursor;
        uint64_t ticks = 0;
        if (TAKT_LIKELY(record != thread->limit && takt_ticks_since(&frame->start, &ticks))) {
            record->start = open.start;
            record->ticks = TAKT_CAST(uint32_t, ticks);
            __atomic_signal_fence(__ATOMIC_RELEASE); /* a tag marks a complete record */
            __atomic_store_n(&record->tag, tag, __ATOMIC_RELAXED); /* not merged with `ticks` */
            __atomic_store_n(&thread->cursor, record + 1, __ATOMIC_RELEASE);
            __atomic_store_n(&thread->top, frame, __ATOMIC_RELEASE);
            takt_leave_written(thread);
        } else {
            takt_scope_end_inside_v1(frame, open.start);
        }
    } else {
        takt_scope_end_v1(frame, open.start);
    }
}

/* If a phase is open, ends it and begins the next one with one clock read and one record. */
TAKT_INLINE void takt_phase_next(takt_site *site, uint64_t bits)
{
    if (!takt_is_on(bits))
        return;
    takt_thread_v1 *thread = &takt_thread_hot_v1;
    takt_frame *frame = thread->top - 1;
    uint32_t ended = frame->tag;
    uint32_t tag = ended & TAKT_FRAME_PHASE ? takt_tag(site, frame, thread->busy) : TAKT_SLOW;
    if (TAKT_LIKELY(!(tag & TAKT_SLOW))) {
        takt_enter(thread);
        takt_record *record = thread->cursor;
        uint64_t ticks = 0;
        if (TAKT_LIKELY(record != thread->limit && takt_ticks_since(&frame->start, &ticks))) {
            uint64_t start = frame->start;
            record->start = start;
            record->ticks = TAKT_CAST(uint32_t, ticks);
            __atomic_signal_fence(__ATOMIC_RELEASE);
            __atomic_store_n(&record->tag, ended, __ATOMIC_RELAXED);
            __atomic_store_n(&thread->cursor, record + 1, __ATOMIC_RELEASE);
            __atomic_store_n(&frame->tag, tag, __ATOMIC_RELEASE);
            __atomic_store_n(&frame->start, start + ticks, __ATOMIC_RELEASE);
            takt_leave_written(thread);
            return;
        }
        takt_leave(thread);
    }
    takt_phase_v1(site);
}

#ifdef __cplusplus
/* Closes its scope at the end of the block. */
struct takt_scope_guard {
    takt_open open;
    TAKT_INLINE explicit takt_scope_guard(takt_open opened) : open(opened) {}
    takt_scope_guard(const takt_scope_guard &) = delete;
    takt_scope_guard &operator=(const takt_scope_guard &) = delete;
    TAKT_INLINE ~takt_scope_guard() { takt_scope_close(open); }
};
#define TAKT_SCOPE_GUARD(variable, opened) takt_scope_guard variable(opened)
#else
TAKT_INLINE void takt_scope_leave(takt_open *open)
{
    takt_scope_close(*open);
}
/* A leading attribute would become that of an empty statement behind `if (x)` or a label. */
#define TAKT_SCOPE_GUARD(variable, opened)                                                         \
    takt_open variable __attribute__((__cleanup__(takt_scope_leave), __unused__)) = (opened)
#endif

TAKT_INLINES_END

#endif
#endif
