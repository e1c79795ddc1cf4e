/* CUPTI's clock: CLOCK_REALTIME, or the client's own where it has registered one. The simulator
 * stamps with CLOCK_REALTIME; for a client's clock, pairs of both tell how to convert. */
#include "simgpu/cupti/cupti.h"

/* From 13.3 Update 3 on, devices' stamps follow a client's clock that comes after the context;
 * those of a client of cuptiSubscribe() do so in 13.0 Update 1, too, on an H200. */
#define LATE_CLOCK_SINCE 130303u

static _Atomic(sim_timestamp_fn) own_clock;
static atomic_bool is_late; /* a context was there when the clock came: devices keep the old one */
static atomic_ullong first_own;
static atomic_ullong first_time;

bool simc_has_own_clock(void)
{
    return own_clock != (sim_timestamp_fn)0;
}

void simc_forget_clock(void)
{
    own_clock = (sim_timestamp_fn)0;
}

uint64_t simc_now(void)
{
    sim_timestamp_fn clock = own_clock;
    return clock ? clock() : sim_now_ns();
}

/* A line through a pair at registration and one of now. Where the client's clock counts
 * nanoseconds, as it should, the slope is 1 but for the noise of reading both: then durations are
 * left exact. */
static uint64_t to_own(sim_timestamp_fn clock, uint64_t time_ns)
{
    uint64_t own = clock(), time = sim_time_ns();
    double span = (double)(time - first_time);
    double slope = span > 1e6 ? (double)(own - first_own) / span : 1.0;
    if (slope > 0.99 && slope < 1.01)
        return first_own + (time_ns - first_time);
    return first_own + (uint64_t)(int64_t)((double)(int64_t)(time_ns - first_time) * slope);
}

uint64_t simc_time(int device, uint64_t time_ns)
{
    sim_timestamp_fn clock = own_clock;
    uint64_t stamp = sim_stamp_ns(device, time_ns);
    if (!clock || (device >= 0 && is_late))
        return stamp;
    int64_t error = (int64_t)(stamp - sim_stamp_ns(-1, time_ns)); /* of the device's clock */
    return to_own(clock, time_ns) + (uint64_t)error;
}

static void count_context(const sim_context_info *context, void *count)
{
    (void)context;
    ++*(int *)count;
}

static bool has_context(void)
{
    int count = 0;
    if (sim_is_initialised())
        sim_each_context(count_context, &count);
    return count > 0;
}

int32_t cuptiActivityRegisterTimestampCallback(sim_timestamp_fn timestamp)
{
    SIMC_ENTER(cuptiActivityRegisterTimestampCallback);
    if (!timestamp)
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    SIMC_NEED_DRIVER();
    for (int n = 0; n < SIMC_SESSIONS; n++) {
        simc_session *session = simc_session_at(n);
        for (uint32_t kind = 0; kind < SIM_KIND_COUNT; kind++)
            simc_count.late_settings += session->kinds[kind];
    }
    is_late =
        has_context() && simc_option.version < LATE_CLOCK_SINCE && simc_subscribers[0].is_by_v2;
    first_own = timestamp();
    first_time = sim_time_ns();
    own_clock = timestamp;
    return SIM_CUPTI_SUCCESS;
}

int32_t cuptiGetTimestamp(uint64_t *timestamp)
{
    SIMC_ENTER(cuptiGetTimestamp);
    if (!timestamp)
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    *timestamp = simc_now();
    return SIM_CUPTI_SUCCESS;
}
