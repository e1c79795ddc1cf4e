/* Time: the program's own, and what CUPTI and the devices make of it. */
#include "sim_core.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t read_clock(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t sim_time_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

static struct {
    uint64_t begin_ns;    /* of the time line, when the library was loaded */
    uint64_t realtime_ns; /* then */
} origin;

__attribute__((constructor)) static void remember_origin(void)
{
    origin.begin_ns = sim_time_ns();
    origin.realtime_ns = read_clock(CLOCK_REALTIME);
}

/* "AT:BY,AT:BY": AT ns after the beginning the clock jumps by BY ns. */
static int64_t steps_before(int64_t after_begin_ns)
{
    const char *text = sim_option("clock.step");
    int64_t sum = 0;
    while (text && *text) {
        char *rest;
        long long at = strtoll(text, &rest, 10);
        long long by = *rest == ':' ? strtoll(rest + 1, &rest, 10) : 0;
        if (after_begin_ns >= at)
            sum += by;
        text = rest + strcspn(rest, ",");
        text += *text == ',';
    }
    return sum;
}

uint64_t sim_stamp_ns(int device, uint64_t time_ns)
{
    int64_t after = (int64_t)(time_ns - origin.begin_ns);
    int64_t stamp = (int64_t)origin.realtime_ns + after + steps_before(after);
    if (device >= 0) {
        int64_t drift = sim_option_on("clock.drift", device, 0); /* in 1/10^9 */
        stamp += sim_option_on("clock.offset", device, 0);
        stamp += (int64_t)((double)after * (double)drift / 1e9);
    }
    return (uint64_t)stamp;
}

uint64_t sim_now_ns(void)
{
    return sim_stamp_ns(-1, sim_time_ns());
}

static _Atomic(uint64_t) held_ns; /* 0: not held */

void sim_hold(bool is_held)
{
    atomic_store(&held_ns, is_held ? sim_time_ns() : 0);
}

/* Of a device's error; 0: there is none. */
static _Atomic(uint64_t) broken_ns;
static _Atomic(int) broken_status;

void sim_break(uint64_t time_ns, int status)
{
    atomic_store(&broken_status, status);
    atomic_store(&broken_ns, time_ns);
}

void sim_mend(void)
{
    atomic_store(&broken_ns, 0);
}

static uint64_t before_error(uint64_t time_ns)
{
    uint64_t end_ns = atomic_load(&broken_ns);
    return end_ns && end_ns < time_ns ? end_ns : time_ns;
}

/* The first ones work even with "errors=everywhere". */
int sim_error(const char *function)
{
    static const char *const working[] = {"cuInit",     "cuDriver",    "cuDevicePrimaryCtxReset",
                                          "cudaGet",    "cudaPeek",    "cudaDeviceReset",
                                          "cudaDriver", "cudaRuntime", "cuDevice",
                                          "cuGet",      "cuCtxGet",    "cuCtxSet",
                                          "cuCtxPush",  "cuCtxPop",    "cuThread"};
    uint64_t end_ns = atomic_load(&broken_ns);
    if (!end_ns || sim_device_time_ns() < end_ns)
        return 0;
    size_t count = sim_option("errors") ? 8 : sizeof working / sizeof *working;
    for (size_t i = 0; i < count; i++) {
        if (strncmp(function, working[i], strlen(working[i])) == 0)
            return 0;
    }
    return atomic_load(&broken_status);
}

uint64_t sim_device_time_ns(void)
{
    uint64_t held = atomic_load(&held_ns);
    return before_error(held ? held : sim_time_ns());
}

/* Time that was waited for has passed. */
static void hold_from(uint64_t time_ns)
{
    uint64_t held = atomic_load(&held_ns);
    while (held && held < time_ns && !atomic_compare_exchange_weak(&held_ns, &held, time_ns))
        ;
}

void sim_wait_until(uint64_t time_ns)
{
    time_ns = before_error(time_ns);
    struct timespec until = {.tv_sec = (time_t)(time_ns / 1000000000u),
                             .tv_nsec = (long)(time_ns % 1000000000u)};
    while (sim_time_ns() < time_ns &&
           clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL)) {
    }
    hold_from(time_ns);
}
