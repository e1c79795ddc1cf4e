/* How the records of this library lie in memory, and the words it has for its results. */
#include "simgpu/cupti/cupti.h"

#include <string.h>

#define UNKNOWN_KIND                                                                               \
    57u /* the kind that "cupti.unknown_every" writes, which this library knows                    \
         */

/* Bytes by kind; 0: this library has no such kind. Those of 13.0 were read from the library itself.
 * Of 12.8 it is known which fields came later, and for some records (device, context, overhead)
 * only that they are no shorter than this. */
static const uint16_t record_bytes[SIM_KIND_COUNT + 2] = {
    [1] = 96,   [2] = 88,   [4] = 40,   [5] = 40,   [11] = 32, [12] = 56,  [18] = 144, [19] = 40,
    [20] = 40,  [22] = 96,  [25] = 104, [26] = 32,  [27] = 24, [28] = 24,  [33] = 152, [34] = 152,
    [35] = 120, [36] = 56,  [37] = 24,  [38] = 56,  [39] = 24, [40] = 136, [45] = 80,  [46] = 168,
    [47] = 40,  [48] = 40,  [49] = 128, [51] = 56,  [53] = 56, [54] = 64,
#if SIM_CUPTI_LIBRARY == 12
    [3] = 208,  [8] = 176,  [9] = 24,   [10] = 208, [13] = 32, [17] = 48,  [50] = 72,  [52] = 64,
#else
    [8] = 184,  [9] = 32,   [13] = 40,  [17] = 56, [50] = 80, [52] = 72,  [55] = 32,
#endif
#if SIM_CUPTI_LIBRARY == 13
    [3] = 216,  [10] = 216,
#elif SIM_CUPTI_LIBRARY == 133
    [3] = 240,  [10] = 240, /* stands for the growth since 13.0, whose layout is not known here */
#endif
};

uint32_t simc_record_bytes(uint32_t kind)
{
    if (kind == UNKNOWN_KIND)
        return simc_option.unknown_every ? 48 : 0;
    return kind < SIM_KIND_COUNT ? record_bytes[kind] : 0;
}

/* A record that is not wholly within the valid bytes ends the buffer like the buffer's end does;
 * only a kind that does not exist is an error. So does the real one. */
static int32_t next_record(uint8_t *buffer, size_t valid_bytes, uint8_t **record)
{
    if (!buffer || !record)
        return SIM_CUPTI_ERROR_INVALID_PARAMETER;
    size_t at = 0;
    uint32_t kind;
    if (*record) {
        memcpy(&kind, *record, sizeof kind);
        at = (size_t)(*record - buffer) + simc_record_bytes(kind);
    }
    if (at + sizeof kind > valid_bytes)
        return SIM_CUPTI_ERROR_MAX_LIMIT_REACHED;
    memcpy(&kind, buffer + at, sizeof kind);
    uint32_t bytes = simc_record_bytes(kind);
    if (bytes && at + bytes > valid_bytes)
        return SIM_CUPTI_ERROR_MAX_LIMIT_REACHED;
    if (!bytes)
        return SIM_CUPTI_ERROR_INVALID_KIND;
    *record = buffer + at;
    return SIM_CUPTI_SUCCESS;
}

int32_t cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_bytes, uint8_t **record)
{
    SIMC_ENTER(cuptiActivityGetNextRecord);
    return next_record(buffer, valid_bytes, record);
}

#if SIM_CUPTI_LIBRARY == 133
int32_t cuptiActivityGetNextRecord_v2(sim_subscriber_handle subscriber, uint8_t *buffer,
                                      size_t valid_bytes, uint8_t **record)
{
    SIMC_ENTER(cuptiActivityGetNextRecord_v2);
    if (!simc_is_live(subscriber))
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    return next_record(buffer, valid_bytes, record);
}

int32_t cuptiActivityGetStructSize(uint32_t kind, uint32_t version, size_t *bytes)
{
    SIMC_ENTER(cuptiActivityGetStructSize);
    if (!bytes || version != simc_option.version)
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    if (!simc_record_bytes(kind))
        return simc_fail(SIM_CUPTI_ERROR_INVALID_KIND);
    *bytes = simc_record_bytes(kind);
    return SIM_CUPTI_SUCCESS;
}
#endif

static const char *result_name(int32_t result)
{
    switch (result) {
#define RESULT(name, value)                                                                        \
    case value:                                                                                    \
        return "CUPTI_" #name;
        SIM_CUPTI_RESULTS(RESULT)
    default:
        return NULL;
    }
}

int32_t cuptiGetResultString(int32_t result, const char **text)
{
    SIMC_ENTER(cuptiGetResultString);
    if (!text)
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    const char *name = result_name(result);
    *text = name ? name : "<unknown>";
    return name ? SIM_CUPTI_SUCCESS : SIM_CUPTI_ERROR_INVALID_PARAMETER;
}

/* The real one has prose for a handful of results, and its symbol for the others. */
int32_t cuptiGetErrorMessage(int32_t result, const char **text)
{
    SIMC_ENTER(cuptiGetErrorMessage);
    if (!text)
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    const char *name = result_name(result);
    *text = name ? name : "<unknown>";
    if (result == SIM_CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
        *text = "simulated: the user may not profile here\n";
    else if (result == SIM_CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES)
        *text = "simulated: the hypervisor does not allow profiling\n";
    else if (result == SIM_CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED)
        *text = "simulated: confidential computing is on\n";
    return SIM_CUPTI_SUCCESS;
}

int32_t cuptiGetVersion(uint32_t *version)
{
    SIMC_ENTER(cuptiGetVersion);
    if (!version)
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    *version = simc_option.version;
    return SIM_CUPTI_SUCCESS;
}
