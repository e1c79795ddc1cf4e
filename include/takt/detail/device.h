/* takt/detail/device.h - the functions behind the macros of takt/device.cuh.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_DETAIL_DEVICE_H
#define TAKT_DETAIL_DEVICE_H

#include <takt/detail/fast.h>

#define TAKT_DEVICE_OPEN     1u   /* set in takt_device_view.phase while a phase is open */
#define TAKT_DEVICE_NO_PHASE 254u /* stands for all numbers from here on */

/* Sets the lane of the block's thread of this number. True if this thread records for the lane. */
TAKT_DEVICE_INLINE bool takt_device_choose(takt_device_view &view, uint32_t thread,
                                           uint32_t threads)
{
    uint32_t per_lane = view.lanes == TAKT_DEVICE_BLOCKS  ? threads
                        : view.lanes == TAKT_DEVICE_WARPS ? 32u
                                                          : 1u;
    view.lane = thread / per_lane;
    uint32_t all = view.block * ((threads + per_lane - 1) / per_lane) + view.lane;
    return thread % per_lane == 0 && (view.every < 2 || all % view.every == 0);
}

/* ---- What differs between a device and a host ------------------------------------------------ */

#if defined(__CUDA_ARCH__)

/* True if macros leave the view alone. In a kernel they change it all the same: then compilers need
 * not tell a view that is off from one that is on, and the fields keep their registers. */
#define TAKT_DEVICE_SKIPS(view) false

TAKT_DEVICE_INLINE uint64_t takt_device_clock(void)
{
    unsigned long long cycles;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
    return cycles;
}

TAKT_DEVICE_INLINE uint64_t takt_device_global(void)
{
    unsigned long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

TAKT_DEVICE_INLINE uint32_t takt_device_sm(void)
{
    unsigned sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    return sm;
}

TAKT_DEVICE_INLINE uint64_t takt_device_take(takt_device_pool *pool)
{
    return atomicAdd(reinterpret_cast<unsigned long long *>(&pool->taken), 1ull);
}

/* Another stream's read may move it at any time. */
TAKT_DEVICE_INLINE uint64_t takt_device_base(const takt_device_pool *pool)
{
    return *static_cast<const volatile uint64_t *>(&pool->base);
}

/* A value that nobody uses. Unlike a 0 it costs no instruction. */
TAKT_DEVICE_INLINE uint64_t takt_device_any(void)
{
    unsigned long long any;
    asm("" : "=l"(any));
    return any;
}

/* The upper half of a record's start, and its `rest`, each in one instruction. */
TAKT_DEVICE_INLINE uint32_t takt_device_start(uint32_t start_high, uint32_t end_high)
{
    return __byte_perm(start_high, end_high, 0x5210);
}

TAKT_DEVICE_INLINE uint32_t takt_device_rest(uint32_t word, uint32_t end_high)
{
    return __byte_perm(word, end_high, 0x3214);
}

/* Writes the record, or the count if the record has no room. Only the stores depend on predicates:
 * a branch, or values that wait for one, would take longer than all the rest. For a thread that
 * does not record, `records` is 0: no count is below it, and none above 0 - 1. */
TAKT_DEVICE_INLINE void takt_device_store(takt_device_segment *segment, uint32_t at,
                                          uint32_t records, uint64_t start, uint32_t end,
                                          uint32_t rest)
{
    uint64_t head = __cvta_generic_to_global(segment);
    uint64_t to =
        head + sizeof(takt_device_segment) + static_cast<uint64_t>(at) * sizeof(takt_device_record);
    asm volatile("{\n\t"
                 ".reg .pred has_room, has_none;\n\t"
                 "setp.lt.u32 has_room, %0, %1;\n\t"
                 "setp.gt.u32 has_none, %0, %2;\n\t"
                 "@has_room st.global.v4.u32 [%5], {%6, %7, %8, %9};\n\t"
                 "@has_none st.global.u32 [%4 + %10], %3;\n\t"
                 "}" ::"r"(at),
                 "r"(records), "r"(records - 1), "r"(at + 1), "l"(head), "l"(to),
                 "r"(static_cast<uint32_t>(start)), "r"(static_cast<uint32_t>(start >> 32)),
                 "r"(end), "r"(rest), "n"(offsetof(takt_device_segment, count)));
}

/* Fills in the block and the thread's lane. True if this thread records for its lane. */
TAKT_DEVICE_INLINE bool takt_device_is_lane(takt_device_view &view)
{
    uint32_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    view.block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    return takt_device_choose(view, thread, blockDim.x * blockDim.y * blockDim.z);
}

#else

#define TAKT_DEVICE_SKIPS(view) (!(view).pool)

#ifndef TAKT_DEVICE_CLOCK
#define TAKT_DEVICE_CLOCK() takt_ticks()
#endif

TAKT_DEVICE_INLINE uint64_t takt_device_clock(void)
{
    return TAKT_DEVICE_CLOCK();
}

TAKT_DEVICE_INLINE uint64_t takt_device_global(void)
{
    return takt_now_ns();
}

TAKT_DEVICE_INLINE uint32_t takt_device_sm(void)
{
    return 0;
}

/* relaxed: lanes share nothing but the numbers */
TAKT_DEVICE_INLINE uint64_t takt_device_take(takt_device_pool *pool)
{
    return __atomic_fetch_add(&pool->taken, 1, __ATOMIC_RELAXED);
}

TAKT_DEVICE_INLINE uint64_t takt_device_base(const takt_device_pool *pool)
{
    return __atomic_load_n(&pool->base, __ATOMIC_RELAXED);
}

TAKT_DEVICE_INLINE uint64_t takt_device_any(void)
{
    return 0;
}

TAKT_DEVICE_INLINE uint32_t takt_device_start(uint32_t start_high, uint32_t end_high)
{
    return (start_high & 0x00FFFFFFu) | (end_high << 16 & 0xFF000000u);
}

TAKT_DEVICE_INLINE uint32_t takt_device_rest(uint32_t word, uint32_t end_high)
{
    return (word & 0xFFFFFF00u) | (end_high & 0xFFu);
}

TAKT_DEVICE_INLINE void takt_device_store(takt_device_segment *segment, uint32_t at,
                                          uint32_t records, uint64_t start, uint32_t end,
                                          uint32_t rest)
{
    if (at < records) {
        takt_device_record *to = reinterpret_cast<takt_device_record *>(segment + 1);
        to[at].start = start;
        to[at].end = end;
        to[at].rest = rest;
    } else if (records != 0) {
        segment->count = at + 1;
    }
}

/* In host code the caller counts lanes as blocks. */
TAKT_DEVICE_INLINE bool takt_device_is_lane(takt_device_view &view)
{
    return view.every < 2 || view.block % view.every == 0;
}

#endif

/* ---- A lane ---------------------------------------------------------------------------------- */

TAKT_DEVICE_INLINE takt_device_segment *takt_device_slot(const takt_device_view &view,
                                                         uint64_t slot)
{
    uint64_t stride = sizeof(takt_device_segment) +
                      static_cast<uint64_t>(view.records) * sizeof(takt_device_record);
    void *first = view.pool + 1;
    void *segment = static_cast<char *>(first) + slot * stride;
    return static_cast<takt_device_segment *>(segment);
}

/* Gives the lane a segment, once in a launch; NULL if this thread does not record, or without room.
 * Not inlined, and with a copy of the view, so that the view itself stays in registers. If a read
 * has moved `base` past the ticket, the slot wraps to a large number. */
TAKT_DEVICE_COLD takt_device_segment *takt_device_attach(takt_device_view view)
{
    if (!takt_device_is_lane(view))
        return nullptr;
    uint64_t ticket = takt_device_take(view.pool);
    uint64_t slot = ticket - takt_device_base(view.pool);
    if (slot >= view.segments)
        return nullptr;
    takt_device_segment *segment = takt_device_slot(view, slot);
    segment->ticket = ticket + 1;
    segment->view = view.number;
    segment->block = view.block;
    segment->lane = view.lane;
    segment->sm = takt_device_sm();
    segment->global = takt_device_global();
    segment->clock = takt_device_clock();
    return segment;
}

/* True unless the view is off, which is the same for all threads: it costs one branch, and no code
 * to join them again. A thread's first macro looks for its segment. After it compilers know that
 * `segments` is 0, so macros that follow in the same function do not even ask. */
TAKT_DEVICE_INLINE bool takt_device_is_on(takt_device_view &view)
{
    if (view.segments != 0) {
        view.segment = takt_device_attach(view);
        if (view.segment == nullptr)
            view.records = 0;
    }
    view.segments = 0;
    return view.pool != nullptr;
}

/* takt_device_record.rest for this phase, with TAKT_DEVICE_OPEN in place of bits of the clock; 255
 * stands for all numbers that do not fit. */
TAKT_DEVICE_INLINE uint32_t takt_device_word(const takt_device_view &view, uint32_t phase)
{
    return view.iteration | TAKT_DEVICE_OPEN |
           ((phase < TAKT_DEVICE_NO_PHASE ? phase : TAKT_DEVICE_NO_PHASE) + 1) << 8;
}

/* Nothing is subtracted here: to put bits of the clock together takes fewer instructions. */
TAKT_DEVICE_INLINE void takt_device_record_phase(takt_device_view &view, uint64_t start,
                                                 uint32_t word, uint64_t end)
{
    uint32_t end_high = static_cast<uint32_t>(end >> 32);
    uint64_t start_high = takt_device_start(static_cast<uint32_t>(start >> 32), end_high);
    takt_device_store(view.segment, view.count, view.records,
                      static_cast<uint32_t>(start) | start_high << 32, static_cast<uint32_t>(end),
                      takt_device_rest(word, end_high));
    view.count++;
}

TAKT_DEVICE_INLINE void takt_device_phase(takt_device_view &view, uint32_t phase)
{
    if (TAKT_DEVICE_SKIPS(view))
        return;
    uint64_t now = takt_device_any();
    if (takt_device_is_on(view)) {
        now = takt_device_clock();
        if (view.phase)
            takt_device_record_phase(view, view.start, view.phase, now);
    }
    view.start = now;
    view.phase = takt_device_word(view, phase);
}

TAKT_DEVICE_INLINE void takt_device_phase_end(takt_device_view &view)
{
    if (TAKT_DEVICE_SKIPS(view))
        return;
    if (view.pool != nullptr && view.phase != 0)
        takt_device_record_phase(view, view.start, view.phase, takt_device_clock());
    view.phase = 0;
}

TAKT_DEVICE_INLINE void takt_device_iteration(takt_device_view &view, uint32_t iteration)
{
    view.iteration = (iteration < 65535u ? iteration : 65535u) << 16;
}

/* TAKT_DEVICE_SCOPE. Holds the phase that was open around it. */
struct takt_device_scope {
    takt_device_view &view;
    uint64_t outer_start;
    uint64_t start;
    uint32_t outer_phase;
    uint32_t word;

    TAKT_DEVICE_METHOD takt_device_scope(takt_device_view &timers, uint32_t phase)
        : view(timers), outer_start(timers.start), start(takt_device_any()),
          outer_phase(timers.phase), word(takt_device_word(timers, phase))
    {
        if (TAKT_DEVICE_SKIPS(view))
            return;
        view.phase = 0;
        if (takt_device_is_on(view))
            start = takt_device_clock();
    }
    takt_device_scope(const takt_device_scope &) = delete;
    takt_device_scope &operator=(const takt_device_scope &) = delete;

    TAKT_DEVICE_METHOD ~takt_device_scope()
    {
        if (TAKT_DEVICE_SKIPS(view))
            return;
        if (view.pool != nullptr) {
            uint64_t now = takt_device_clock();
            if (view.phase)
                takt_device_record_phase(view, view.start, view.phase, now);
            takt_device_record_phase(view, start, word, now);
        }
        view.start = outer_start;
        view.phase = outer_phase;
    }
};

#endif
