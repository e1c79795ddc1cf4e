/* CUPTI: loading and subscribing, explaining its errors, and a check for `takt doctor`. */
#include "cuda/cupti.h"

#include "base/dynlib.h"
#include "base/error.h"
#include "base/file.h"
#include "base/own.h"

#include <takt/system.h>

#include <stdio.h>
#include <string.h>

/* ======== Loading and subscribing ======== */

/* Two numbers decide how far Takt trusts CUPTI: its version, because of known faults, and the sizes
 * of its records, which Takt measures. The library is never closed: between 13.0 and 13.2 that
 * would leave the driver with pointers into it. */

#define PROBE_BYTES 4096u

static bool look_up(tkt_cupti *cupti, void *library)
{
#define PLACE(member, symbol, is_required, parameters)                                             \
    {#symbol, is_required, offsetof(tkt_cupti, member)},
    static const struct {
        char symbol[39]; /* an array, since a pointer would need relocating */
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

/* The size is how far the library's own iterator steps from a record to the next one. The buffer is
 * filled so that a record may begin anywhere. */
bool tkt_cupti_measure(tkt_cupti *cupti)
{
    _Alignas(16) static uint8_t buffer[PROBE_BYTES]; /* static: only one thread calls this */
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
    return tkt_cupti_is_measured(cupti);
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
                 "%s can crash programs: install the one of CUDA 13.0 Update 1 or later", text);
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
    if (!cupti->search.library && wish && strcmp(wish, "none") == 0)
        snprintf(reason, TKT_REASON_BYTES, "TAKT_CUPTI_LIBRARY is none");
    else if (!cupti->search.library && wish)
        snprintf(reason, TKT_REASON_BYTES, "TAKT_CUPTI_LIBRARY=%.100s cannot be loaded", wish);
    else if (!cupti->search.library)
        snprintf(reason, TKT_REASON_BYTES,
                 "libcupti was not found: install it (cuda-cupti) or set TAKT_CUPTI_LIBRARY to it; "
                 "takt doctor lists the places searched");
    else if (!look_up(cupti, cupti->search.library))
        snprintf(reason, TKT_REASON_BYTES,
                 "libcupti lacks functions: install the one of CUDA 12 or 13");
    else if (is_usable(cupti, reason)) {
        tkt_cupti_measure(cupti);
        return true;
    }
    return false;
}

/* Passes the parameters in their form of 13.0, without those for several subscribers. */
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

/* Explains a failure to subscribe. CUPTI also answers "unknown error" where there is no device. */
static void explain(const tkt_cupti *cupti, char reason[TKT_REASON_BYTES], int result,
                    const char *other)
{
    char text[64];
    int driver = cupti->search.driver_release;
    bool is_of_versions =
        result == TKT_CUPTI_NOT_INITIALIZED || (result == TKT_CUPTI_UNKNOWN && has_device());
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

/* Subscribes in the old form, which the functions without _v2 need. Before result 39 existed, 12
 * meant the same. Since 13.3 there is another family of functions, for several subscribers at once,
 * and a process cannot mix both. In 13.3 cuptiSubscribe_v2 may fail where cuptiSubscribe succeeds,
 * unless a named other tool is subscribed. */
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

/* ======== Explanations ======== */

/* Names for CUPTI's versions, and what its results mean to people. CUPTI's own texts name the
 * constant at best. */

/* Versions before 13 are consecutive: the release of each, from 18 on. 25 was never seen. */
static const char old_releases[][5] = {"11.8", "12.0", "12.2", "12.3", "12.4", "12.5",
                                       "12.6", "12.7", "12.8", "12.9", "12.9"};

int tkt_cupti_release(uint32_t version)
{
    uint32_t old = version - TKT_CUPTI_11_8;
    uint32_t last = sizeof old_releases / sizeof *old_releases - 1;
    if (version >= TKT_CUPTI_13_0)
        return (int)(version / 10000 * 1000 + version / 100 % 100 * 10);
    if (version < TKT_CUPTI_11_8)
        return 0;
    const char *text = old_releases[old < last ? old : last];
    return (text[0] - '0') * 10000 + (text[1] - '0') * 1000 + (text[3] - '0') * 10;
}

void tkt_cupti_describe(char *out, size_t size, uint32_t version)
{
    uint32_t old = version - TKT_CUPTI_11_8;
    if (version >= TKT_CUPTI_13_0)
        snprintf(out, size, "CUPTI %u.%u (%u)", version / 10000, version / 100 % 100, version);
    else if (old < sizeof old_releases / sizeof *old_releases)
        snprintf(out, size, "CUPTI %s (%u)", old_releases[old], version);
    else
        snprintf(out, size, "CUPTI (%u)", version);
}

static const struct {
    uint16_t result;
    char text[126];
} texts[] = {
    {TKT_CUPTI_INVALID_DEVICE,
     "this libcupti does not support the GPU: use the libcupti of another CUDA release"},
    {TKT_CUPTI_OUT_OF_MEMORY, "there is not enough memory for it"},
    {TKT_CUPTI_NOT_COMPATIBLE, "another tool uses it in a way that excludes this one"},
    {TKT_CUPTI_NOT_INITIALIZED,
     "the driver is too old for this libcupti: update the driver, or use the libcupti of its CUDA "
     "version"},
    {TKT_CUPTI_DISABLED, "another tool has disabled it"},
    {TKT_CUPTI_VIRTUALIZED, "the virtual machine's GPU does not support it"},
    {TKT_CUPTI_INSUFFICIENT_PRIVILEGES,
     "the driver forbids it to users: see developer.nvidia.com/ERR_NVGPUCTRPERM"},
    {TKT_CUPTI_VIRTUALIZED_PRIVILEGES, "the hypervisor forbids it to this virtual machine"},
    {TKT_CUPTI_CONFIDENTIAL,
     "confidential computing forbids it: only its devtools mode can be profiled"},
    {TKT_CUPTI_CMP_DEVICE, "mining processors (CMP) do not support it"},
    {TKT_CUPTI_MIG_DEVICE, "GPU instances (MIG) do not support it"},
    {TKT_CUPTI_SLI_DEVICE, "GPUs coupled by SLI do not support it"},
    {TKT_CUPTI_WSL_DEVICE, "Windows' subsystem for Linux does not support it on this GPU"},
    {TKT_CUPTI_UNKNOWN, "there is no driver or GPU that it can use"},
};

void tkt_cupti_explain(char reason[TKT_REASON_BYTES], int result, const char *other)
{
    if (result == TKT_CUPTI_TAKEN) {
        snprintf(
            reason, TKT_REASON_BYTES,
            "another profiler (%s) uses CUPTI already, which serves one at a time: run without "
            "it",
            other && *other ? other : "Nsight, compute-sanitizer, cuda-gdb or PyTorch's, perhaps");
        return;
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (texts[i].result == result) {
            snprintf(reason, TKT_REASON_BYTES, "CUPTI cannot be used (%d): %s", result,
                     texts[i].text);
            return;
        }
    }
    snprintf(reason, TKT_REASON_BYTES, "CUPTI cannot be used: it failed with %d", result);
}

/* ======== A check without collecting ======== */

/* Reports CUDA for someone who asks what could be recorded. Unlike the rest of this folder this
 * initialises the driver, because nothing else in the process does. */

typedef int (*initialise_function)(unsigned);

static int initialise_driver(void)
{
    void *library = tkt_library_loaded("libcuda.so.1");
    void *address = library ? tkt_library_symbol(library, "cuInit") : NULL;
    initialise_function initialise = NULL;
    memcpy(&initialise, &address, sizeof initialise);
    return initialise ? initialise(0) : TKT_CUDA_NOT_INITIALIZED;
}

static void ignore_call(void *user, int domain, uint32_t id, const void *data)
{
    (void)user;
    (void)domain;
    (void)id;
    (void)data;
}

static tkt_cupti cupti; /* the result of the last search */

takt_status takt_cuda_searched_v1(uint32_t index, takt_cuda_place *out, size_t size)
{
    if (!out)
        return TAKT_BAD_ARGUMENT;
    if (index >= cupti.search.count)
        return TAKT_NOT_FOUND;
    return tkt_fill(out, size, &cupti.search.places[index], sizeof *out);
}

static void ask_cupti(const tkt_driver *driver, takt_cuda_info *out)
{
    bool is_usable = tkt_cupti_load(&cupti, driver, out->problem);
    out->cupti_version = cupti.version;
    if (cupti.version)
        tkt_cupti_describe(out->cupti_name, sizeof out->cupti_name, cupti.version);
    if (cupti.get_version)
        tkt_library_path((const void *)(uintptr_t)cupti.get_version, out->cupti_path,
                         sizeof out->cupti_path);
    if (!is_usable || tkt_cupti_subscribe(&cupti, ignore_call, out->problem) != TKT_CUPTI_SUCCESS)
        return;
    cupti.unsubscribe(cupti.subscriber);
    out->has_cupti = true;
}

static void ask_driver(const tkt_driver *driver, takt_cuda_info *out)
{
    int version = 0, count = 0;
    tkt_library_path((const void *)(uintptr_t)driver->driver_version, out->driver_path,
                     sizeof out->driver_path);
    out->driver_status = initialise_driver();
    driver->driver_version(&version);
    out->driver_version = (uint32_t)version;
    if (out->driver_status == TKT_CUDA_SUCCESS && driver->device_count(&count) == TKT_CUDA_SUCCESS)
        out->device_count = (uint32_t)count;
}

void takt_cuda_v1(takt_cuda_info *out, size_t size)
{
    takt_cuda_info info = {0};
    memset(&cupti, 0, sizeof cupti);
    const tkt_driver *driver = tkt_driver_get();
    if (driver)
        ask_driver(driver, &info);
    if (!driver)
        snprintf(info.problem, sizeof info.problem, "there is no NVIDIA driver (libcuda.so.1)");
    else if (info.driver_status != TKT_CUDA_SUCCESS)
        snprintf(info.problem, sizeof info.problem,
                 "the driver cannot be initialised (CUDA error %d)", (int)info.driver_status);
    else if (info.device_count == 0)
        snprintf(info.problem, sizeof info.problem, "the driver finds no device");
    else
        ask_cupti(driver, &info);
    tkt_fill(out, size, &info, sizeof info);
}

takt_status takt_cuda_device_v1(uint32_t index, takt_cuda_device_info *out, size_t size)
{
    TKT_OWN_WORK;
    const tkt_driver *driver = tkt_driver_get();
    tkt_device device = {0};
    int handle;
    if (!out)
        return TAKT_BAD_ARGUMENT;
    if (!driver || !tkt_driver_device(driver, index, &handle))
        return TAKT_NOT_FOUND;
    tkt_driver_read_device(driver, handle, &device);
    takt_cuda_device_info info = {.compute_major = device.major,
                                  .compute_minor = device.minor,
                                  .multiprocessors = device.multiprocessors,
                                  .memory_bytes = device.memory_bytes};
    driver->device_name(info.name, sizeof info.name - 1, handle);
    return tkt_fill(out, size, &info, sizeof info);
}
