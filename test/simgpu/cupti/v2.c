/* The functions of 13.3 for several subscribers: each has kinds, buffers and external ids of its
 * own. Which fields a record has cannot be chosen here. */
#include "simgpu/cupti/cupti.h"

#if SIM_CUPTI_LIBRARY == 133

#define V2_SESSION(subscriber)                                                                     \
    do {                                                                                           \
        if (!simc_is_live(subscriber))                                                             \
            return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);                                   \
        if (!(subscriber)->is_v2)                                                                  \
            return simc_fail(SIM_CUPTI_ERROR_NOT_COMPATIBLE);                                      \
    } while (0)

int32_t cuptiActivityRegisterCallbacks_v2(sim_subscriber_handle subscriber,
                                          sim_request_v2_fn request, sim_complete_v2_fn complete)
{
    SIMC_ENTER(cuptiActivityRegisterCallbacks_v2);
    V2_SESSION(subscriber);
    if (!request || !complete)
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    subscriber->session.request_v2 = request;
    subscriber->session.complete_v2 = complete;
    simc_start_worker();
    return SIM_CUPTI_SUCCESS;
}

int32_t cuptiActivityEnable_v2(sim_subscriber_handle subscriber, uint32_t kind, void *config)
{
    SIMC_ENTER(cuptiActivityEnable_v2);
    V2_SESSION(subscriber);
    return config ? simc_fail(SIM_CUPTI_ERROR_NOT_SUPPORTED)
                  : simc_enable(&subscriber->session, kind, false);
}

int32_t cuptiActivityEnableAndDump_v2(sim_subscriber_handle subscriber, uint32_t kind, void *config)
{
    SIMC_ENTER(cuptiActivityEnableAndDump_v2);
    V2_SESSION(subscriber);
    return config ? simc_fail(SIM_CUPTI_ERROR_NOT_SUPPORTED)
                  : simc_enable(&subscriber->session, kind, true);
}

int32_t cuptiActivityDisable_v2(sim_subscriber_handle subscriber, uint32_t kind, void *config)
{
    SIMC_ENTER(cuptiActivityDisable_v2);
    V2_SESSION(subscriber);
    (void)config;
    return simc_disable(&subscriber->session, kind);
}

int32_t cuptiActivityGetAttribute_v2(sim_subscriber_handle subscriber, uint32_t attribute,
                                     size_t *size, void *value)
{
    SIMC_ENTER(cuptiActivityGetAttribute_v2);
    V2_SESSION(subscriber);
    return simc_get_attribute(&subscriber->session, attribute, size, value);
}

int32_t cuptiActivitySetAttribute_v2(sim_subscriber_handle subscriber, uint32_t attribute,
                                     size_t *size, void *value)
{
    SIMC_ENTER(cuptiActivitySetAttribute_v2);
    V2_SESSION(subscriber);
    return simc_set_attribute(&subscriber->session, attribute, size, value);
}

int32_t cuptiActivityGetNumDroppedRecords_v2(sim_subscriber_handle subscriber, void *context,
                                             uint32_t stream, size_t *dropped)
{
    SIMC_ENTER(cuptiActivityGetNumDroppedRecords_v2);
    V2_SESSION(subscriber);
    (void)context, (void)stream;
    if (!dropped)
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    *dropped = simc_take_dropped(&subscriber->session);
    return SIM_CUPTI_SUCCESS;
}

int32_t cuptiActivityPushExternalCorrelationId_v2(sim_subscriber_handle subscriber, uint32_t kind,
                                                  uint64_t id)
{
    SIMC_ENTER(cuptiActivityPushExternalCorrelationId_v2);
    V2_SESSION(subscriber);
    return simc_push_external(1 + subscriber->index, kind, id);
}

int32_t cuptiActivityPopExternalCorrelationId_v2(sim_subscriber_handle subscriber, uint32_t kind,
                                                 uint64_t *last)
{
    SIMC_ENTER(cuptiActivityPopExternalCorrelationId_v2);
    V2_SESSION(subscriber);
    return simc_pop_external(1 + subscriber->index, kind, last);
}

int32_t cuptiGetTimestamp_v2(sim_subscriber_handle subscriber, uint64_t *timestamp)
{
    SIMC_ENTER(cuptiGetTimestamp_v2);
    V2_SESSION(subscriber);
    if (!timestamp)
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    *timestamp = simc_now();
    return SIM_CUPTI_SUCCESS;
}

int32_t cuptiIsTracingSessionRunning(uint8_t *running)
{
    SIMC_ENTER(cuptiIsTracingSessionRunning);
    if (!running)
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    *running = simc_is_subscribed();
    return SIM_CUPTI_SUCCESS;
}

static bool is_enabled(sim_subscriber_handle subscriber, uint32_t kind)
{
    if (subscriber)
        return subscriber->session.kinds[kind];
    for (int n = 0; n < SIMC_SESSIONS; n++) {
        if (simc_session_at(n)->kinds[kind])
            return true;
    }
    return false;
}

int32_t cuptiActivityGetEnabledKinds(sim_subscriber_handle subscriber, uint32_t *kinds,
                                     uint32_t *size, uint32_t *count)
{
    SIMC_ENTER(cuptiActivityGetEnabledKinds);
    if (!size || !count || (subscriber && !simc_is_live(subscriber)))
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    *count = 0;
    for (uint32_t kind = 0; kind < SIM_KIND_COUNT; kind++) {
        if (!is_enabled(subscriber, kind))
            continue;
        if (kinds && (*count + 1) * sizeof *kinds <= *size)
            kinds[*count] = kind;
        ++*count;
    }
    return SIM_CUPTI_SUCCESS;
}

#else
typedef int simc_no_v2; /* a file may not be empty */
#endif
