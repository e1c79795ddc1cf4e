/* takt/device.cuh - timers inside kernels: macros for device code, and for the same kernel as host
 * code. For nvcc and for any C++ compiler.
 *
 *     __global__ void solve(takt_device_view timers, ...)
 *     {
 *         TAKT_DEVICE_SCOPE(timers, SOLVE);              // until the end of the block
 *         for (int i = 0; i < iterations; i++) {
 *             TAKT_DEVICE_ITERATION(timers, i);
 *             TAKT_DEVICE_PHASE(timers, LINE_SEARCH);    // ends the last phase, begins this one
 *             ...
 *             TAKT_DEVICE_PHASE(timers, GRADIENT);
 *             ...
 *         }
 *     }                                                  // ends the open phase, then the scope
 *
 * `timers` is an lvalue of type takt_device_view; phases are numbers below the count of names given
 * to takt_device_timers_create(). Only lanes record (see takt/device.h); other threads read the
 * clock, but store nothing. No thread waits for another, so macros may stand in divergent code. The
 * first use on a lane takes a segment with one atomic addition; recording a phase takes one plain
 * store. Let the first macro stand outside of loops and branches: then later ones in the function
 * do not ask again for the segment.
 *
 * Cycles come from the clock of the lane's SM. Clocks of different SMs cannot be compared: Takt
 * only uses differences on one SM.
 *
 * As host code, the program calls the kernel once for each block, with takt_device_for_block(view,
 * block). The macros then read Takt's clock. A program that defines TAKT_DEVICE_CLOCK() before
 * including this header supplies another clock. With TAKT_DISABLE the macros do nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_DEVICE_CUH
#define TAKT_DEVICE_CUH

#ifndef __cplusplus
#error "takt/device.cuh is for CUDA and C++; C code uses takt/device.h"
#endif

#include <takt/takt.h>

#ifdef __CUDACC__
#define TAKT_DEVICE_INLINE static __host__ __device__ __forceinline__
#define TAKT_DEVICE_METHOD __host__ __device__ __forceinline__
#define TAKT_DEVICE_COLD   static inline __host__ __device__ __noinline__
#else
#define TAKT_DEVICE_INLINE static inline __attribute__((__always_inline__, __no_instrument_function__))
#define TAKT_DEVICE_METHOD inline __attribute__((__always_inline__, __no_instrument_function__))
#define TAKT_DEVICE_COLD   static inline __attribute__((__noinline__, __no_instrument_function__))
#endif

/* Returns the view with the number of the block, and of the lane in the block. Only host code needs
 * this: a kernel knows both numbers. */
TAKT_DEVICE_INLINE takt_device_view takt_device_for_block(takt_device_view view, uint32_t block,
                                                          uint32_t lane = 0)
{
    view.block = block;
    view.lane = lane;
    return view;
}

#ifdef TAKT_DISABLE

/* sizeof type-checks the arguments without evaluating them. */
#define TAKT_DEVICE_SCOPE(timers, phase)                                                           \
    ((void)sizeof((timers).number + TAKT_TO(uint32_t, phase)))
#define TAKT_DEVICE_PHASE(timers, phase) TAKT_DEVICE_SCOPE(timers, phase)
#define TAKT_DEVICE_PHASE_END(timers)    TAKT_DEVICE_SCOPE(timers, 0)
#define TAKT_DEVICE_ITERATION(timers, i) TAKT_DEVICE_SCOPE(timers, i)

#else

/* Times until the end of the block. Phases that begin inside also end there. */
#define TAKT_DEVICE_SCOPE(timers, phase)                                                           \
    TAKT_QUIET_BEGIN                                                                               \
    const takt_device_scope TAKT_JOIN(takt_device_scope_,                                          \
                                      __COUNTER__)((timers), TAKT_TO(uint32_t, phase))             \
    TAKT_QUIET_END

/* Ends the last phase, if one is open in this scope, and begins this one at the same moment. */
#define TAKT_DEVICE_PHASE(timers, phase)                                                           \
    takt_device_phase((timers), TAKT_TO(uint32_t, phase))

/* Ends the last phase. */
#define TAKT_DEVICE_PHASE_END(timers) takt_device_phase_end((timers))

/* Sets the iteration of scopes and phases that begin from now on; 65535 stands for all larger
 * ones. */
#define TAKT_DEVICE_ITERATION(timers, i)                                                           \
    takt_device_iteration((timers), TAKT_TO(uint32_t, i))

#include <takt/detail/device.h>

#endif
#endif
