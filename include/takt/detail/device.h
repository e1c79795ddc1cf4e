/* takt/detail/device.h - the functions behind the macros of takt/device.cuh.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_DETAIL_DEVICE_H
#define TAKT_DETAIL_DEVICE_H

#include <takt/detail/fast.h>

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

TAKT_DEVICE_INLINE void takt_device_store(takt_device_record *to, uint64_t start, uint32_t low,
                                          uint32_t high)
{
    *reinterpret_cast<uint4 *>(to) = make_uint4(static_cast<uint32_t>(start),
                                                static_cast<uint32_t>(start >> 32), low, high);
}

/* Fills in the block and the thread's lane. True if this thread records for its lane. */
TAKT_DEVICE_INLINE bool takt_device_is_lane(takt_device_view &view)
{
    uint32_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    view.block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    return takt_device_choose(view, thread, blockDim.x * blockDim.y * blockDim.z);
}

#else

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

TAKT_DEVICE_INLINE void takt_device_store(takt_device_record *to, uint64_t start, uint32_t low,
                                          uint32_t high)
{
    to->start = start;
    to->cycles_low = low;
    to->cycles_high = high;
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
    return reinterpret_cast<takt_device_segment *>(reinterpret_cast<char *>(view.pool + 1) +
                                                   slot * stride);
}

/* Gives the lane a segment, once in a launch; NULL if this thread does not record, or without room.
 * Not inlined, and with copies of the fields, so that the view itself stays in registers. If a read
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
    segment->count = 0;
    segment->global = takt_device_global();
    segment->clock = takt_device_clock();
    return segment;
}

/* Threads that do not record see a view that is off from then on. */
TAKT_DEVICE_INLINE bool takt_device_enter(takt_device_view &view)
{
    view.segment = takt_device_attach(view);
    if (view.segment == nullptr)
        view.pool = nullptr;
    return view.segment != nullptr;
}

/* True if this thread records. While the view is off, this is one branch. */
TAKT_DEVICE_INLINE bool takt_device_is_on(takt_device_view &view)
{
    return view.pool != nullptr && (view.segment != nullptr || takt_device_enter(view));
}

/* The upper half of a record of this phase; 255 stands for all numbers that do not fit. */
TAKT_DEVICE_INLINE uint32_t takt_device_word(const takt_device_view &view, uint32_t phase)
{
    return view.iteration | ((phase < TAKT_DEVICE_NO_PHASE ? phase : TAKT_DEVICE_NO_PHASE) + 1)
                                << 8;
}

/* Writes the record, and the count: a thread that returns early leaves its segment whole. */
TAKT_DEVICE_INLINE void takt_device_record_phase(takt_device_view &view, uint64_t start,
                                                 uint32_t word, uint64_t end)
{
    uint64_t cycles = end - start;
    uint32_t high = static_cast<uint32_t>(cycles >> 32);
    uint32_t at = view.count++;
    takt_device_record *records = reinterpret_cast<takt_device_record *>(view.segment + 1);
    if (at < view.records)
        takt_device_store(records + at, start, static_cast<uint32_t>(cycles),
                          word | (high < 255u ? high : 255u));
    view.segment->count = view.count;
}

TAKT_DEVICE_INLINE void takt_device_phase(takt_device_view &view, uint32_t phase)
{
    if (!takt_device_is_on(view))
        return;
    uint64_t now = takt_device_clock();
    if (view.phase)
        takt_device_record_phase(view, view.start, view.phase, now);
    view.start = now;
    view.phase = takt_device_word(view, phase);
}

TAKT_DEVICE_INLINE void takt_device_phase_end(takt_device_view &view)
{
    if (view.pool == nullptr || view.phase == 0)
        return;
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
        : view(timers), outer_start(timers.start), start(0), outer_phase(timers.phase), word(0)
    {
        if (!takt_device_is_on(view))
            return;
        word = takt_device_word(view, phase);
        view.phase = 0;
        start = takt_device_clock();
    }
    takt_device_scope(const takt_device_scope &) = delete;
    takt_device_scope &operator=(const takt_device_scope &) = delete;

    TAKT_DEVICE_METHOD ~takt_device_scope()
    {
        if (view.pool == nullptr)
            return;
        uint64_t now = takt_device_clock();
        if (view.phase)
            takt_device_record_phase(view, view.start, view.phase, now);
        takt_device_record_phase(view, start, word, now);
        view.start = outer_start;
        view.phase = outer_phase;
    }
};

#endif
