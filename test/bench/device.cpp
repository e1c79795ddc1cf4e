/* Timers inside kernels, in the form for host code: the macros are C++, the other groups are C. */
#include "device.h"

#include <takt/device.cuh>

extern "C" __attribute__((noinline)) void bench_device_scopes(takt_device_view view, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        TAKT_DEVICE_SCOPE(view, 0);
        __asm__ volatile("" ::: "memory");
    }
}

extern "C" __attribute__((noinline)) void bench_device_phases(takt_device_view view, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        TAKT_DEVICE_PHASE(view, 0);
        __asm__ volatile("" ::: "memory");
    }
    TAKT_DEVICE_PHASE_END(view);
}
