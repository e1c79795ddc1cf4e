/* What a client has enabled, and the attributes of its buffers. */
#include "simgpu/cupti/cupti.h"

#include <string.h>

#define V1_ONLY()                                                                                  \
    do {                                                                                           \
        if (simc_is_v2())                                                                          \
            return simc_fail(SIM_CUPTI_ERROR_NOT_COMPATIBLE);                                      \
    } while (0)

pthread_mutex_t simc_lock = PTHREAD_MUTEX_INITIALIZER;
simc_session simc_v1;

typedef struct external_stack {
    uint64_t ids[SIMC_STACK];
    uint32_t depth;
} external_stack;

static void set_defaults(simc_session *session);

static _Thread_local external_stack stacks[SIMC_SESSIONS][SIM_EXTERNAL_COUNT];

simc_session *simc_session_at(int n)
{
    return n == 0 ? &simc_v1 : &simc_subscribers[n - 1].session;
}

/* --- kinds --------------------------------------------------------------------------------------
 */

static bool is_one_of(uint32_t kind, const uint8_t *kinds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (kinds[i] == kind)
            return true;
    }
    return false;
}

static int32_t check_kind(const simc_session *session, uint32_t kind)
{
    static const uint8_t dead[] = {6, 7, 14, 15, 16, 21, 23, 24, 29, 30, 31, 32, 41, 42, 43, 44};
    static const uint8_t never[] = {SIM_KIND_CDP_KERNEL, SIM_KIND_MODULE, SIM_KIND_DEVICE_ATTRIBUTE,
                                    SIM_KIND_DEVICE_GRAPH_TRACE};
    if (is_one_of(kind, dead, sizeof dead))
        return SIM_CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED;
    if (!simc_record_bytes(kind) || kind >= SIM_KIND_COUNT)
        return SIM_CUPTI_ERROR_INVALID_KIND;
    if (is_one_of(kind, never, sizeof never))
        return SIM_CUPTI_ERROR_NOT_COMPATIBLE;
    if (kind == SIM_KIND_MARKER_DATA && !session->kinds[SIM_KIND_MARKER])
        return SIM_CUPTI_ERROR_NOT_COMPATIBLE;
    if ((kind == SIM_KIND_KERNEL && session->kinds[SIM_KIND_CONCURRENT_KERNEL]) ||
        (kind == SIM_KIND_CONCURRENT_KERNEL && session->kinds[SIM_KIND_KERNEL]))
        return SIM_CUPTI_ERROR_NOT_COMPATIBLE;
    return SIM_CUPTI_SUCCESS;
}

int32_t simc_enable(simc_session *session, uint32_t kind, bool dump)
{
    SIMC_NEED_DRIVER();
    int32_t status = check_kind(session, kind);
    if (status)
        return simc_fail(status);
    if (dump && !session->request && !session->request_v2)
        return simc_fail(SIM_CUPTI_ERROR_INVALID_OPERATION);
    set_defaults(session);
    if (simc_is_device_work(kind) && !session->kinds[kind] && session->was_enabled[kind])
        session->is_later = true;
    session->was_enabled[kind] = true;
    session->kinds[kind] = true;
    simc_listen();
    if (dump)
        simc_dump(session, kind);
    return SIM_CUPTI_SUCCESS;
}

int32_t simc_disable(simc_session *session, uint32_t kind)
{
    SIMC_NEED_DRIVER();
    if (kind >= SIM_KIND_COUNT || !simc_record_bytes(kind))
        return simc_fail(SIM_CUPTI_ERROR_INVALID_KIND);
    session->kinds[kind] = false;
    return SIM_CUPTI_SUCCESS;
}

int32_t cuptiActivityEnable(uint32_t kind)
{
    SIMC_ENTER(cuptiActivityEnable);
    V1_ONLY();
    if (simc_refuses_kinds())
        return simc_fail(SIM_CUPTI_ERROR_NOT_COMPATIBLE);
    return simc_enable(&simc_v1, kind, false);
}

int32_t cuptiActivityEnableAndDump(uint32_t kind)
{
    SIMC_ENTER(cuptiActivityEnableAndDump);
    V1_ONLY();
    return simc_enable(&simc_v1, kind, true);
}

int32_t cuptiActivityDisable(uint32_t kind)
{
    SIMC_ENTER(cuptiActivityDisable);
    V1_ONLY();
    return simc_disable(&simc_v1, kind);
}

/* One context's kinds are everybody's here. */
int32_t cuptiActivityEnableContext(void *context, uint32_t kind)
{
    SIMC_ENTER(cuptiActivityEnableContext);
    V1_ONLY();
    SIMC_NEED_DRIVER();
    sim_context_info info;
    if (!context || !sim_context_of(context, &info))
        return simc_fail(SIM_CUPTI_ERROR_INVALID_CONTEXT);
    return simc_enable(&simc_v1, kind, false);
}

int32_t cuptiActivityDisableContext(void *context, uint32_t kind)
{
    SIMC_ENTER(cuptiActivityDisableContext);
    V1_ONLY();
    SIMC_NEED_DRIVER();
    sim_context_info info;
    if (!context || !sim_context_of(context, &info))
        return simc_fail(SIM_CUPTI_ERROR_INVALID_CONTEXT);
    return simc_disable(&simc_v1, kind);
}

int32_t cuptiActivityRegisterCallbacks(sim_request_fn request, sim_complete_fn complete)
{
    SIMC_ENTER(cuptiActivityRegisterCallbacks);
    V1_ONLY();
    if (!request || !complete)
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    simc_v1.request = request;
    simc_v1.complete = complete;
    simc_start_worker();
    return SIM_CUPTI_SUCCESS;
}

int32_t cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped)
{
    SIMC_ENTER(cuptiActivityGetNumDroppedRecords);
    (void)context, (void)stream;
    if (!dropped)
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    *dropped = simc_take_dropped(&simc_v1);
    return SIM_CUPTI_SUCCESS;
}

/* --- attributes ---------------------------------------------------------------------------------
 */

static size_t attribute_bytes(uint32_t attribute)
{
    static const uint8_t bytes[SIM_ATTR_COUNT] = {
        [SIM_ATTR_DEVICE_BUFFER_SIZE] = 8,
        [SIM_ATTR_DEVICE_BUFFER_POOL_LIMIT] = 8,
        [SIM_ATTR_ZEROED_OUT_ACTIVITY_BUFFER] = 1,
        [SIM_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE] = 8,
        [SIM_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED] = 1,
        [SIM_ATTR_PER_THREAD_ACTIVITY_BUFFER] = 1,
        [SIM_ATTR_DEVICE_BUFFER_SIZE_DEVICE_GRAPHS] = 8,
    };
    return attribute < SIM_ATTR_COUNT ? bytes[attribute] : 0;
}

static void set_defaults(simc_session *session)
{
    if (session->has_attributes)
        return;
    session->has_attributes = true;
    session->attributes[SIM_ATTR_DEVICE_BUFFER_SIZE] = 3200000;
    session->attributes[SIM_ATTR_DEVICE_BUFFER_POOL_LIMIT] = 250;
    session->attributes[SIM_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE] = 3;
    session->attributes[SIM_ATTR_PER_THREAD_ACTIVITY_BUFFER] = simc_option.version >= 130000;
    session->attributes[SIM_ATTR_DEVICE_BUFFER_SIZE_DEVICE_GRAPHS] = 16u << 20;
}

static int32_t check_attribute(uint32_t attribute, const size_t *size, const void *value)
{
    if (!size || !value)
        return SIM_CUPTI_ERROR_INVALID_PARAMETER;
    SIMC_NEED_DRIVER();
    if (!attribute_bytes(attribute))
        return SIM_CUPTI_ERROR_INVALID_PARAMETER;
    if (*size < attribute_bytes(attribute))
        return SIM_CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
    return SIM_CUPTI_SUCCESS;
}

int32_t simc_get_attribute(simc_session *session, uint32_t attribute, size_t *size, void *value)
{
    int32_t status = check_attribute(attribute, size, value);
    if (status)
        return simc_fail(status);
    set_defaults(session);
    *size = attribute_bytes(attribute);
    memcpy(value, &session->attributes[attribute], *size);
    return SIM_CUPTI_SUCCESS;
}

int32_t simc_set_attribute(simc_session *session, uint32_t attribute, size_t *size, void *value)
{
    int32_t status = check_attribute(attribute, size, value);
    if (status)
        return simc_fail(status);
    set_defaults(session);
    for (uint32_t kind = 0; kind < SIM_KIND_COUNT; kind++) {
        if (session->kinds[kind]) {
            simc_count.late_settings++;
            break;
        }
    }
    session->attributes[attribute] = 0;
    memcpy(&session->attributes[attribute], value, attribute_bytes(attribute));
    return SIM_CUPTI_SUCCESS;
}

int32_t cuptiActivityGetAttribute(uint32_t attribute, size_t *size, void *value)
{
    SIMC_ENTER(cuptiActivityGetAttribute);
    V1_ONLY();
    return simc_get_attribute(&simc_v1, attribute, size, value);
}

int32_t cuptiActivitySetAttribute(uint32_t attribute, size_t *size, void *value)
{
    SIMC_ENTER(cuptiActivitySetAttribute);
    V1_ONLY();
    return simc_set_attribute(&simc_v1, attribute, size, value);
}

/* --- external correlation -----------------------------------------------------------------------
 */

static external_stack *stack_of(int session, uint32_t kind)
{
    return kind > 0 && kind < SIM_EXTERNAL_COUNT ? &stacks[session][kind] : NULL;
}

int32_t simc_push_external(int session, uint32_t kind, uint64_t id)
{
    SIMC_NEED_DRIVER();
    external_stack *stack = stack_of(session, kind);
    if (!stack)
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    if (stack->depth == SIMC_STACK)
        return simc_fail(SIM_CUPTI_ERROR_OUT_OF_MEMORY);
    stack->ids[stack->depth++] = id;
    return SIM_CUPTI_SUCCESS;
}

int32_t simc_pop_external(int session, uint32_t kind, uint64_t *last)
{
    SIMC_NEED_DRIVER();
    external_stack *stack = stack_of(session, kind);
    if (!stack)
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    if (!stack->depth)
        return simc_fail(SIM_CUPTI_ERROR_QUEUE_EMPTY);
    stack->depth--;
    if (last)
        *last = stack->ids[stack->depth];
    return SIM_CUPTI_SUCCESS;
}

bool simc_external(int session, uint32_t kind, uint64_t *id)
{
    const external_stack *stack = &stacks[session][kind];
    if (stack->depth)
        *id = stack->ids[stack->depth - 1];
    return stack->depth > 0;
}

int32_t cuptiActivityPushExternalCorrelationId(uint32_t kind, uint64_t id)
{
    SIMC_ENTER(cuptiActivityPushExternalCorrelationId);
    V1_ONLY();
    return simc_push_external(0, kind, id);
}

int32_t cuptiActivityPopExternalCorrelationId(uint32_t kind, uint64_t *last)
{
    SIMC_ENTER(cuptiActivityPopExternalCorrelationId);
    V1_ONLY();
    return simc_pop_external(0, kind, last);
}

/* --- switches -----------------------------------------------------------------------------------
 */

static int32_t switch_cbid(uint32_t domain, uint32_t cbid, uint8_t enable)
{
    SIMC_NEED_DRIVER();
    if (cbid >= SIMC_CBIDS || !sim_callback_name((sim_domain)domain, cbid))
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    simc_v1.is_quiet[domain][cbid] = !enable;
    return SIM_CUPTI_SUCCESS;
}

int32_t cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t enable)
{
    SIMC_ENTER(cuptiActivityEnableRuntimeApi);
    V1_ONLY();
    return switch_cbid(SIM_DOMAIN_RUNTIME, cbid, enable);
}

int32_t cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t enable)
{
    SIMC_ENTER(cuptiActivityEnableDriverApi);
    V1_ONLY();
    return switch_cbid(SIM_DOMAIN_DRIVER, cbid, enable);
}

atomic_bool simc_latency;

int32_t cuptiActivityEnableLatencyTimestamps(uint8_t enable)
{
    SIMC_ENTER(cuptiActivityEnableLatencyTimestamps);
    SIMC_NEED_DRIVER();
    simc_latency = enable != 0;
    return SIM_CUPTI_SUCCESS;
}

atomic_bool simc_event_times;

#if SIM_CUPTI_LIBRARY != 12
int32_t cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t enable)
{
    SIMC_ENTER(cuptiActivityEnableCudaEventDeviceTimestamps);
    SIMC_NEED_DRIVER();
    simc_event_times = enable != 0;
    return SIM_CUPTI_SUCCESS;
}
#endif

/* Switches that the simulation has nothing to show for. */
#define ACCEPTED_SWITCH(function)                                                                  \
    int32_t function(uint8_t enable)                                                               \
    {                                                                                              \
        SIMC_ENTER(function);                                                                      \
        (void)enable;                                                                              \
        SIMC_NEED_DRIVER();                                                                        \
        return SIM_CUPTI_SUCCESS;                                                                  \
    }
ACCEPTED_SWITCH(cuptiActivityEnableAllSyncRecords)
ACCEPTED_SWITCH(cuptiActivityEnableDeviceGraph)
ACCEPTED_SWITCH(cuptiActivityEnableLaunchAttributes)
ACCEPTED_SWITCH(cuptiActivityEnableAllocationSource)

/* Devices older than Blackwell have no such trace. */
int32_t cuptiActivityEnableHWTrace(uint8_t enable)
{
    SIMC_ENTER(cuptiActivityEnableHWTrace);
    SIMC_NEED_DRIVER();
    return enable ? simc_fail(SIM_CUPTI_ERROR_NOT_SUPPORTED) : SIM_CUPTI_SUCCESS;
}

atomic_uint simc_thread_id_type;

int32_t cuptiSetThreadIdType(uint32_t type)
{
    SIMC_ENTER(cuptiSetThreadIdType);
    SIMC_NEED_DRIVER();
    if (type > SIM_THREAD_ID_SYSTEM)
        return simc_fail(SIM_CUPTI_ERROR_NOT_SUPPORTED);
    simc_thread_id_type = type;
    return SIM_CUPTI_SUCCESS;
}

int32_t cuptiGetThreadIdType(uint32_t *type)
{
    SIMC_ENTER(cuptiGetThreadIdType);
    if (!type)
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    SIMC_NEED_DRIVER();
    *type = simc_thread_id_type;
    return SIM_CUPTI_SUCCESS;
}

/* Never unloads; what was enabled no longer is. */
int32_t cuptiFinalize(void)
{
    SIMC_ENTER(cuptiFinalize);
    for (int n = 0; n < SIMC_SESSIONS; n++) {
        for (uint32_t kind = 0; kind < SIM_KIND_COUNT; kind++)
            simc_session_at(n)->kinds[kind] = false;
    }
    simc_unsubscribe_all();
    return SIM_CUPTI_SUCCESS;
}
