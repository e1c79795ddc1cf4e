/* CUDA as it is found by somebody who asks what could be recorded. Unlike the rest of this folder
 * it initialises the driver: nobody else in the process will. */
#include "base/dynlib.h"
#include "base/error.h"
#include "cuda/cupti.h"

#include <takt/system.h>

#include <stdio.h>
#include <string.h>

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

static tkt_cupti cupti; /* the last one that was looked for */

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
    const tkt_driver *driver = tkt_driver_get();
    tkt_device device = {0};
    int handle;
    if (!out)
        return TAKT_BAD_ARGUMENT;
    if (!driver || index > INT32_MAX || driver->device_get(&handle, (int)index) != TKT_CUDA_SUCCESS)
        return TAKT_NOT_FOUND;
    tkt_driver_read_device(driver, handle, &device);
    takt_cuda_device_info info = {.compute_major = device.major,
                                  .compute_minor = device.minor,
                                  .multiprocessors = device.multiprocessors,
                                  .memory_bytes = device.memory_bytes};
    driver->device_name(info.name, sizeof info.name - 1, handle);
    return tkt_fill(out, size, &info, sizeof info);
}
