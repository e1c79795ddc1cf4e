/* CUPTI with all the kinds that Takt decodes, and a consumer that writes every buffer down. */
#include "gpu/recorder.h"

#include "base/file.h"
#include "cuda/cupti.h"
#include "support/recording.h"
#include "support/lost.h"

#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES (1u << 20)

static tkt_cupti cupti;
static cupti_recorder recorder;

static void request(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
    *buffer = calloc(1, BUFFER_BYTES); /* aligned for any type, which is what CUPTI wants */
    *bytes = *buffer ? BUFFER_BYTES : 0;
    *max_records = 0;
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
                     size_t valid_bytes)
{
    (void)context;
    (void)stream;
    (void)bytes;
    recorder_buffer(&recorder, buffer, valid_bytes);
    free(buffer);
}

static void ignore(void *user, int domain, uint32_t id, const void *data)
{
    (void)user;
    (void)domain;
    (void)id;
    (void)data;
}

static void record_clock(void)
{
    uint64_t before = takt_now_ns(), cupti_ns = 0;
    cupti.timestamp(&cupti_ns);
    uint64_t after = takt_now_ns();
    recorder_clock(&recorder, before + (after - before) / 2, cupti_ns, (uint32_t)(after - before));
}

bool gpu_record_begin(const char *path)
{
    static const int kinds[] = {TKT_KIND_DEVICE,      TKT_KIND_CONTEXT,  TKT_KIND_CONCURRENT_KERNEL,
                                TKT_KIND_MEMCPY,      TKT_KIND_MEMSET,   TKT_KIND_MEMORY2,
                                TKT_KIND_MEMORY_POOL, TKT_KIND_OVERHEAD, TKT_KIND_SYNCHRONIZATION,
                                TKT_KIND_RUNTIME,     TKT_KIND_DRIVER};
    char reason[TKT_REASON_BYTES] = "there is no driver";
    const tkt_driver *driver = tkt_driver_get();
    if (!driver || !tkt_cupti_load(&cupti, driver, reason) ||
        tkt_cupti_subscribe(&cupti, ignore, reason) != TKT_CUPTI_SUCCESS) {
        printf("%s\n", reason);
        return false;
    }
    if (!recorder_open(&recorder, path, cupti.version, &cupti.sizes)) {
        perror(path);
        return false;
    }
    cupti.register_callbacks(request, complete);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (cupti.enable(kinds[i]) != TKT_CUPTI_SUCCESS)
            printf("kind %d is not recorded\n", kinds[i]);
    record_clock();
    return true;
}

bool gpu_record_end(void)
{
    record_clock();
    cupti.flush_all(1);
    cupti.unsubscribe(cupti.subscriber);
    return recorder_close(&recorder);
}

bool gpu_record_count(const char *path, uint64_t *activities, uint64_t *unreadable)
{
    static uint8_t bytes[64u << 20];
    cupti_recording recording;
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file)
        fclose(file);
    if (recording_read(bytes, size, &recording) != TAKT_OK)
        return false;
    tkt_store *store = tkt_store_get();
    recording_replay(&recording, store);
    recording_fini(&recording);
    *activities = count_lost(store, 0);
    *unreadable =
        store->losses.unknown + store->losses.bad_time + store->next_sequence - *activities;
    return true;
}
