/* Prints what a libcupti says on a machine without a driver, one fact a line, so that two libraries
 * can be compared: prog_cupti_facts LIBRARY */
#include "simgpu/cupti_client.h"

#include <stdio.h>

static cupti_client cupti;

#define TELL(call) printf("%s = %d\n", #call, (int)cupti.call)

static void on_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
    *buffer = NULL;
    *size = *max_records = 0;
}

static void on_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    (void)context, (void)stream, (void)buffer, (void)size, (void)valid;
}

static uint64_t on_timestamp(void)
{
    return 1;
}

/* The step from a record of each kind to the external correlation that lies everywhere behind it.
 */
static void tell_sizes(void)
{
    static _Alignas(8) uint8_t buffer[2048];
    for (uint32_t kind = 0; kind < 64; kind++) {
        uint32_t external = SIM_KIND_EXTERNAL_CORRELATION;
        for (size_t at = 0; at < sizeof buffer; at += 8)
            memcpy(buffer + at, &external, sizeof external);
        memcpy(buffer, &kind, sizeof kind);
        uint8_t *record = NULL;
        int32_t first = cupti.cuptiActivityGetNextRecord(buffer, sizeof buffer, &record);
        int32_t second =
            first ? -1 : cupti.cuptiActivityGetNextRecord(buffer, sizeof buffer, &record);
        printf("kind %u: %d %d, %td bytes\n", kind, (int)first, (int)second,
               second ? 0 : record - buffer);
    }
}

static void tell_iterator(void)
{
    static _Alignas(8) uint8_t buffer[1024];
    uint32_t kind = SIM_KIND_CONCURRENT_KERNEL;
    memcpy(buffer, &kind, sizeof kind);
    memcpy(buffer + sizeof(sim_rec_kernel), &kind, sizeof kind);
    for (size_t valid = 0; valid < 2 * sizeof(sim_rec_kernel) + 8; valid += 8) {
        uint8_t *record = NULL;
        int32_t first = cupti.cuptiActivityGetNextRecord(buffer, valid, &record);
        int32_t second = first ? -1 : cupti.cuptiActivityGetNextRecord(buffer, valid, &record);
        printf("valid %zu: %d %d\n", valid, (int)first, (int)second);
    }
    uint8_t *record = NULL;
    printf("no buffer: %d\n", (int)cupti.cuptiActivityGetNextRecord(NULL, 8, &record));
    memset(buffer, 0, sizeof buffer);
    printf("zeros: %d\n", (int)cupti.cuptiActivityGetNextRecord(buffer, sizeof buffer, &record));
}

static void tell_words(void)
{
    for (int32_t result = -1; result < 1000; result++) {
        const char *text = "unset";
        int32_t status = cupti.cuptiGetResultString(result, &text);
        printf("result %d: %d %s\n", (int)result, (int)status, text);
        status = cupti.cuptiGetErrorMessage(result, &text);
        printf("message %d: %d\n", (int)result, (int)status);
    }
}

static void tell_callbacks(void)
{
    for (uint32_t domain = 0; domain < 8; domain++) {
        for (uint32_t cbid = 0; cbid < 1000; cbid++) {
            const char *name = NULL;
            if (!cupti.cuptiGetCallbackName(domain, cbid, &name))
                printf("callback %u %u %s\n", domain, cbid, name);
        }
    }
}

static void tell_setup(void)
{
    sim_subscriber_handle handle = NULL, none = NULL;
    sim_subscriber_params params = {0};
    uint32_t number = 0;
    TELL(cuptiGetVersion(&number));
    TELL(cuptiGetVersion(NULL));
    printf("version %u\n", number);
    TELL(cuptiSubscribe(&handle, NULL, NULL));
    TELL(cuptiSubscribe(NULL, NULL, NULL));
    TELL(cuptiSubscribe_v2(&handle, NULL, NULL, NULL));
    TELL(cuptiSubscribe_v2(&handle, NULL, NULL, &params));
    params.structSize = SIM_SUBSCRIBER_PARAMS_13_0;
    TELL(cuptiSubscribe_v2(&handle, NULL, NULL, &params));
    TELL(cuptiUnsubscribe(none));
    TELL(cuptiUnsubscribe((sim_subscriber_handle)(void *)&number));
    TELL(cuptiEnableCallback(1, none, 1, 1));
    TELL(cuptiEnableDomain(1, none, 1));
    TELL(cuptiEnableAllDomains(1, none));
    TELL(cuptiGetCallbackState(&number, none, 1, 1));
    TELL(cuptiSupportedDomains(NULL, NULL));
}

static void tell_activity(void)
{
    size_t size = 1, dropped;
    uint64_t id = 0;
    uint8_t byte = 1;
    TELL(cuptiActivityRegisterCallbacks(NULL, NULL));
    TELL(cuptiActivityRegisterCallbacks(on_request, on_complete));
    TELL(cuptiActivityEnable(10));
    TELL(cuptiActivityEnable(777));
    TELL(cuptiActivityEnableAndDump(8));
    TELL(cuptiActivityEnableContext(NULL, 10));
    TELL(cuptiActivityDisable(10));
    TELL(cuptiActivityDisableContext(NULL, 10));
    TELL(cuptiActivityFlushAll(0));
    TELL(cuptiActivityFlushAll(1));
    TELL(cuptiActivityFlush(NULL, 0, 0));
    TELL(cuptiActivityFlushPeriod(10));
    TELL(cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
    TELL(cuptiActivityGetNumDroppedRecords(NULL, 0, NULL));
    TELL(cuptiActivityGetAttribute(9, &size, &byte));
    TELL(cuptiActivitySetAttribute(9, &size, &byte));
    TELL(cuptiActivityGetAttribute(9, NULL, NULL));
    TELL(cuptiActivitySetAttribute(9, NULL, NULL));
    TELL(cuptiActivityPushExternalCorrelationId(3, 1));
    TELL(cuptiActivityPopExternalCorrelationId(3, &id));
    TELL(cuptiActivityPopExternalCorrelationId(3, NULL));
    TELL(cuptiActivityRegisterTimestampCallback(on_timestamp));
    TELL(cuptiActivityRegisterTimestampCallback((sim_timestamp_fn)0));
    TELL(cuptiGetTimestamp(&id));
    TELL(cuptiGetTimestamp(NULL));
}

static void tell_switches(void)
{
    TELL(cuptiActivityEnableLatencyTimestamps(1));
    TELL(cuptiActivityEnableRuntimeApi(211, 1));
    TELL(cuptiActivityEnableDriverApi(307, 1));
    TELL(cuptiActivityEnableAllSyncRecords(1));
    TELL(cuptiActivityEnableCudaEventDeviceTimestamps(1));
    TELL(cuptiActivityEnableHWTrace(1));
    TELL(cuptiActivityEnableDeviceGraph(1));
    TELL(cuptiActivityEnableLaunchAttributes(1));
    TELL(cuptiActivityEnableAllocationSource(1));
}

static void tell_ids(void)
{
    uint32_t number = 0;
    int32_t yes = 0;
    TELL(cuptiSetThreadIdType(1));
    TELL(cuptiGetThreadIdType(&number));
    TELL(cuptiGetThreadIdType(NULL));
    TELL(cuptiGetContextId(NULL, &number));
    TELL(cuptiGetContextId(NULL, NULL));
    TELL(cuptiGetStreamId(NULL, NULL, &number));
    TELL(cuptiGetStreamIdEx(NULL, NULL, 0, &number));
    TELL(cuptiGetStreamIdEx(NULL, NULL, 0, NULL));
    TELL(cuptiGetDeviceId(NULL, &number));
    TELL(cuptiGetGraphId(NULL, &number));
    TELL(cuptiGetGraphExecId(NULL, &number));
    TELL(cuptiGetGraphNodeId(NULL, NULL));
    TELL(cuptiDeviceSupported(0, &yes));
    TELL(cuptiDeviceSupported(0, NULL));
    TELL(cuptiComputeCapabilitySupported(9, 0, &yes));
    printf("9.0 supported: %d\n", (int)yes);
    TELL(cuptiGetLastError());
    TELL(cuptiFinalize());
}

int main(int argc, char **argv)
{
    if (argc < 2 || !cupti_client_open(&cupti, argv[1])) {
        fprintf(stderr, "%s\n", argc > 1 ? dlerror() : "usage: prog_cupti_facts LIBRARY");
        return 1;
    }
    tell_sizes();
    tell_iterator();
    tell_words();
    tell_callbacks();
    tell_setup();
    tell_activity();
    tell_switches();
    tell_ids();
    return 0;
}
