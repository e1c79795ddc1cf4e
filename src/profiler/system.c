/* takt_memory_query(), and facts about the library and its clock. */
#include "base/clock.h"
#include "base/error.h"
#include "base/own.h"
#include "cuda/cuda.h"
#include "nvtx/nvtx.h"
#include "record/allocations.h"

#include <takt/memory.h>
#include <takt/system.h>

#include <stdlib.h>
#include <string.h>

/* ======== Memory ======== */

/* takt_memory_query(): memory that the program reports, and memory of devices. */

static takt_memory query_host(const tkt_clock_fit *fit)
{
    tkt_memory_state now = tkt_memory_now();
    return (takt_memory){
        .current_bytes = now.current_bytes,
        .peak_bytes = now.peak.bytes,
        .peak_time_ns = now.peak.ticks ? tkt_clock_ns(fit, now.peak.ticks) : 0,
        .allocations = now.allocations,
        .frees = now.frees,
        .unmatched_frees = now.unmatched_frees,
    };
}

/* Reads the number of "cuda:N". */
static bool read_ordinal(const char *device, uint32_t *ordinal)
{
    char *end;
    if (strncmp(device, "cuda:", 5) != 0 || device[5] < '0' || device[5] > '9')
        return false;
    unsigned long number = strtoul(device + 5, &end, 10);
    *ordinal = (uint32_t)number;
    return *end == '\0' && number <= UINT16_MAX;
}

static bool query_device(uint32_t ordinal, const tkt_clock_fit *fit, takt_memory *out)
{
    tkt_stored_totals totals = {0};
    uint64_t free_bytes, capacity_bytes;
    if (!tkt_cuda_memory(ordinal, &free_bytes, &capacity_bytes))
        return false;
    tkt_store_totals(ordinal, fit, UINT64_MAX, UINT64_MAX, &totals);
    *out = (takt_memory){
        .current_bytes = totals.current_bytes,
        .peak_bytes = totals.peak_bytes,
        .peak_time_ns = totals.peak_time,
        .allocations = totals.allocations,
        .frees = totals.frees,
        .unmatched_frees = totals.unmatched_frees,
        .free_bytes = free_bytes,
        .capacity_bytes = capacity_bytes,
    };
    return true;
}

takt_status takt_memory_query_v1(const char *device, takt_memory *out, size_t size)
{
    uint32_t ordinal;
    takt_memory all;
    if (!device || !out)
        return TAKT_BAD_ARGUMENT;
    if (strcmp(device, "host") == 0 && !tkt_memory_now().is_since_start)
        return TAKT_BAD_STATE;
    tkt_clock_fit fit = tkt_clock_fit_now();
    if (strcmp(device, "host") == 0)
        all = query_host(&fit);
    else if (!read_ordinal(device, &ordinal) || !query_device(ordinal, &fit, &all))
        return TAKT_NOT_FOUND;
    return tkt_fill(out, size, &all, sizeof all);
}

/* ======== The clock ======== */

void takt_system_v1(takt_system_info *out, size_t size)
{
    TKT_OWN_WORK;
    tkt_clock_fit fit = tkt_clock_fit_now();
    takt_system_info info = {.clock = tkt_clock_name(),
                             .clock_resolution_ns = tkt_clock_resolution_ns(&fit),
                             .has_nvtx = tkt_nvtx_is_built()};
    tkt_fill(out, size, &info, sizeof info);
}
