/* Numbers of what the program has handles of. */
#include "simgpu/cupti/cupti.h"

int32_t cuptiGetContextId(void *context, uint32_t *id)
{
    SIMC_ENTER(cuptiGetContextId);
    if (!id)
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    SIMC_NEED_DRIVER();
    sim_context_info info;
    if (!context || !sim_context_of(context, &info))
        return simc_fail(SIM_CUPTI_ERROR_INVALID_CONTEXT);
    *id = info.id;
    return SIM_CUPTI_SUCCESS;
}

int32_t cuptiGetDeviceId(void *context, uint32_t *id)
{
    SIMC_ENTER(cuptiGetDeviceId);
    if (!id)
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    SIMC_NEED_DRIVER();
    sim_context_info info;
    if (!sim_context_of(context, &info))
        return simc_fail(SIM_CUPTI_ERROR_INVALID_CONTEXT);
    *id = info.device;
    return SIM_CUPTI_SUCCESS;
}

static int32_t stream_id(void *context, void *stream, bool is_per_thread, uint32_t *id)
{
    if (!id)
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    SIMC_NEED_DRIVER();
    sim_stream_info info;
    if (!sim_stream_of(context, stream, is_per_thread, &info))
        return simc_fail(SIM_CUPTI_ERROR_INVALID_STREAM);
    *id = info.id;
    return SIM_CUPTI_SUCCESS;
}

int32_t cuptiGetStreamId(void *context, void *stream, uint32_t *id)
{
    SIMC_ENTER(cuptiGetStreamId);
    return stream_id(context, stream, false, id);
}

int32_t cuptiGetStreamIdEx(void *context, void *stream, uint8_t per_thread, uint32_t *id)
{
    SIMC_ENTER(cuptiGetStreamIdEx);
    return stream_id(context, stream, per_thread != 0, id);
}

int32_t cuptiGetGraphId(void *graph, uint32_t *id)
{
    SIMC_ENTER(cuptiGetGraphId);
    if (!id || !sim_graph_id(graph))
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    *id = sim_graph_id(graph);
    return SIM_CUPTI_SUCCESS;
}

int32_t cuptiGetGraphExecId(void *exec, uint32_t *id)
{
    SIMC_ENTER(cuptiGetGraphExecId);
    if (!id || !sim_graph_exec_id(exec))
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    *id = sim_graph_exec_id(exec);
    return SIM_CUPTI_SUCCESS;
}

int32_t cuptiGetGraphNodeId(void *node, uint64_t *id)
{
    SIMC_ENTER(cuptiGetGraphNodeId);
    if (!id || !sim_graph_node_id(node))
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    *id = sim_graph_node_id(node);
    return SIM_CUPTI_SUCCESS;
}

int32_t cuptiDeviceSupported(int32_t device, int32_t *supported)
{
    SIMC_ENTER(cuptiDeviceSupported);
    if (!supported)
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    if (!simc_has_driver() || !sim_device_info_of(device))
        return simc_fail(SIM_CUPTI_ERROR_INVALID_DEVICE);
    *supported = sim_device_info_of(device)->major >= 7;
    return SIM_CUPTI_SUCCESS;
}

int32_t cuptiComputeCapabilitySupported(int32_t major, int32_t minor, int32_t *supported)
{
    SIMC_ENTER(cuptiComputeCapabilitySupported);
    if (!supported)
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    *supported = major * 10 + minor >= 75;
    return SIM_CUPTI_SUCCESS;
}

/* The client takes NVTX over itself. */
int32_t cuptiNvtxInitialize2(void *table)
{
    SIMC_ENTER(cuptiNvtxInitialize2);
    (void)table;
    return SIM_CUPTI_SUCCESS;
}
