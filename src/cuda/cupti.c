/* Taking CUPTI. Two numbers decide what can be believed of it: its version, because of faults that
 * are known, and the sizes of its records, which it is asked for. The library is never closed:
 * between 13.0 and 13.2 that leaves the driver with pointers into it. */
#include "cuda/cupti.h"

#include "base/dynlib.h"
#include "base/file.h"

#include <stdio.h>
#include <string.h>

#define PROBE_BYTES 4096u

static bool look_up(tkt_cupti *cupti, void *library)
{
#define PLACE(member, symbol, is_required, parameters)                                             \
    {#symbol, is_required, offsetof(tkt_cupti, member)},
    static const struct {
        char symbol[39]; /* no pointers, which would need relocating */
        bool is_required;
        uint16_t offset;
    } places[] = {TKT_CUPTI_FUNCTION_LIST(PLACE)};
#undef PLACE
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        void *address = tkt_library_symbol(library, places[i].symbol);
        if (!address && places[i].is_required)
            return false;
        memcpy((char *)cupti + places[i].offset, &address, sizeof address);
    }
    return true;
}

/* How far the library's own iterator steps from a record of each kind to the next one, which may
 * begin anywhere behind it. */
static void probe_sizes(tkt_cupti *cupti)
{
    _Alignas(16) static uint8_t buffer[PROBE_BYTES]; /* one thread asks, once */
    for (uint32_t kind = 1; kind < TKT_CUPTI_KINDS; kind++) {
        memset(buffer, 0, sizeof buffer);
        for (size_t at = 8; at < sizeof buffer; at += 8)
            buffer[at] = TKT_KIND_EXTERNAL_CORRELATION;
        buffer[0] = (uint8_t)kind;
        void *record = NULL;
        cupti->sizes.bytes[kind] = 0;
        if (cupti->next_record(buffer, sizeof buffer, &record) == TKT_CUPTI_SUCCESS &&
            cupti->next_record(buffer, sizeof buffer, &record) == TKT_CUPTI_SUCCESS)
            cupti->sizes.bytes[kind] = (uint16_t)((uint8_t *)record - buffer);
    }
}

static bool is_usable(tkt_cupti *cupti, char reason[TKT_REASON_BYTES])
{
    if (cupti->get_version(&cupti->version) != TKT_CUPTI_SUCCESS)
        cupti->version = 0;
    char text[64];
    tkt_cupti_describe(text, sizeof text, cupti->version);
    if (cupti->version < TKT_CUPTI_11_8)
        snprintf(reason, TKT_REASON_BYTES, "%s is older than 11.8: install a newer one", text);
    /* NVIDIA lists crashes in cuptiActivityFlushAll and after NVTX, and a deadlock on disabling
     * kernels, as fixed in Update 1. */
    else if (cupti->version == TKT_CUPTI_13_0)
        snprintf(reason, TKT_REASON_BYTES,
                 "%s can crash programs: install that of CUDA 13.0 Update 1 or later", text);
    else
        return true;
    return false;
}

bool tkt_cupti_load(tkt_cupti *cupti, const tkt_driver *driver, char reason[TKT_REASON_BYTES])
{
    const char *wish = tkt_environment("TAKT_CUPTI_LIBRARY");
    int driver_release = 0;
    driver->driver_version(&driver_release);
    tkt_cupti_find(&cupti->search, driver_release);
    if (!cupti->search.library && wish)
        snprintf(reason, TKT_REASON_BYTES, "TAKT_CUPTI_LIBRARY=%.100s cannot be loaded", wish);
    else if (!cupti->search.library)
        snprintf(reason, TKT_REASON_BYTES,
                 "libcupti was not found: install it (cuda-cupti) or set TAKT_CUPTI_LIBRARY to it; "
                 "takt doctor lists where it was looked for");
    else if (!look_up(cupti, cupti->search.library))
        snprintf(reason, TKT_REASON_BYTES,
                 "libcupti lacks functions: install that of CUDA 12 or "
                 "13");
    else if (is_usable(cupti, reason)) {
        probe_sizes(cupti);
        return true;
    }
    return false;
}

/* The parameters in their form of 13.0, without those for several subscribers. */
static int subscribe_by_name(tkt_cupti *cupti, tkt_cupti_callback callback, char *other,
                             size_t other_bytes)
{
    tkt_subscriber_params parameters = {sizeof parameters, "Takt", other, other_bytes};
    int result = cupti->subscribe_v2(&cupti->subscriber, callback, NULL, &parameters);
    other[other_bytes - 1] = '\0';
    return result;
}

static bool is_newer_than_driver(const tkt_cupti *cupti)
{
    int driver = cupti->search.driver_release;
    return driver && tkt_cupti_release(cupti->version) > driver;
}

static bool has_device(void)
{
    const tkt_driver *driver = tkt_driver_get();
    int count = 0;
    return driver && driver->device_count(&count) == TKT_CUDA_SUCCESS && count > 0;
}

/* Without a device CUPTI answers "unknown error", too. */
static void explain(const tkt_cupti *cupti, char reason[TKT_REASON_BYTES], int result,
                    const char *other)
{
    char text[64];
    int driver = cupti->search.driver_release;
    bool is_of_versions = result == TKT_CUPTI_NOT_INITIALIZED ||
                          (result == TKT_CUPTI_UNKNOWN && has_device());
    if (!is_of_versions || !is_newer_than_driver(cupti)) {
        tkt_cupti_explain(reason, result, other);
        return;
    }
    tkt_cupti_describe(text, sizeof text, cupti->version);
    snprintf(reason, TKT_REASON_BYTES,
             "%s is newer than the driver, which is for CUDA up to %d.%d (%d): update the driver, "
             "or install the libcupti of CUDA %d.%d",
             text, driver / 1000, driver % 1000 / 10, result, driver / 1000, driver % 1000 / 10);
}

bool tkt_cupti_go_back(tkt_cupti *cupti)
{
    bool is_possible = cupti->version >= TKT_CUPTI_13_3 && cupti->subscribe_v2;
    if (is_possible)
        cupti->subscribe_v2 = NULL;
    return is_possible;
}

/* Before 39 existed, 12 said the same. A subscription in the old form is what goes with the
 * functions without _v2: since 13.3 there are others, for several subscribers at once, and the two
 * families do not mix in a process. There cuptiSubscribe_v2 may fail where cuptiSubscribe does not,
 * unless a tool that it names is in the way. */
int tkt_cupti_subscribe(tkt_cupti *cupti, tkt_cupti_callback callback,
                        char reason[TKT_REASON_BYTES])
{
    char other[64] = "";
    int result = cupti->subscribe_v2 ? subscribe_by_name(cupti, callback, other, sizeof other)
                                     : cupti->subscribe(&cupti->subscriber, callback, NULL);
    bool is_named = result == TKT_CUPTI_TAKEN && other[0];
    if (result != TKT_CUPTI_SUCCESS && !is_named && tkt_cupti_go_back(cupti))
        result = cupti->subscribe(&cupti->subscriber, callback, NULL);
    if (result == TKT_CUPTI_SUCCESS)
        return result;
    cupti->subscriber = NULL;
    if (result == TKT_CUPTI_MAX_LIMIT_REACHED)
        result = TKT_CUPTI_TAKEN;
    explain(cupti, reason, result, other);
    return result;
}
