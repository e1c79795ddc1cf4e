/* Every macro of takt/device.cuh: in a function for both sides, twice on a line, nested, below
 * `if`, with an early return; and in a kernel where the compiler knows kernels. Compiled, never
 * run. */
#include <takt/device.cuh>

#ifdef __CUDACC__
#define TEST_BOTH static __host__ __device__
#else
#define TEST_BOTH static
#endif

enum use_phase {
    USE_ALL,
    USE_FIRST,
    USE_LAST
};

int use_device_timers(takt_device_view view, int count);

TEST_BOTH int use_phases(takt_device_view &timers, int count)
{
    TAKT_DEVICE_SCOPE(timers, USE_ALL);
    {
        TAKT_DEVICE_SCOPE(timers, USE_FIRST);
    }
    {
        TAKT_DEVICE_SCOPE(timers, 1 + 1);
        TAKT_DEVICE_PHASE(timers, timers.number);
    }
    for (int i = 0; i < count; i++) {
        TAKT_DEVICE_ITERATION(timers, i);
        TAKT_DEVICE_PHASE(timers, USE_FIRST);
        if (i == 7)
            TAKT_DEVICE_PHASE(timers, USE_LAST);
        else
            TAKT_DEVICE_PHASE_END(timers);
        if (i == 9)
            return i;
    }
    return count;
}

#ifdef __CUDACC__
__global__ void use_kernel(takt_device_view timers, int *out)
{
    TAKT_DEVICE_SCOPE(timers, USE_ALL);
    *out = use_phases(timers, *out);
}
#endif

int use_device_timers(takt_device_view view, int count)
{
    takt_device_view timers = takt_device_for_block(view, 3);
    return use_phases(timers, count);
}
