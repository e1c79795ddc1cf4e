#include "summary/peak.h"

#include <string.h>

/* Results of 32-bit floating-point instructions that a multiprocessor has in a clock. */
static uint32_t lanes_of(const tkt_device *device)
{
    static const struct {
        uint32_t major, minor, lanes;
    } known[] = {
        {5, 0, 128},  {5, 2, 128},  {5, 3, 128},  {6, 0, 64},   {6, 1, 128},
        {6, 2, 128},  {7, 0, 64},   {7, 2, 64},   {7, 5, 64},   {8, 0, 64},
        {8, 6, 128},  {8, 7, 128},  {8, 9, 128},  {9, 0, 128},  {10, 0, 128},
        {10, 3, 128}, {11, 0, 128}, {12, 0, 128}, {12, 1, 128},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].major == device->major && known[i].minor == device->minor)
            return known[i].lanes;
    }
    return 0;
}

static tkt_peak peak_by_attributes(const tkt_device *device)
{
    double flops_per_clock = 2.0 * device->multiprocessors * lanes_of(device);
    double bytes_per_clock = 2.0 * device->memory_bus_bits / 8;
    return (tkt_peak){flops_per_clock * device->clock_khz * 1e3,
                      bytes_per_clock * device->memory_clock_khz * 1e3};
}

tkt_peak tkt_peak_of(const takt_trace *trace, uint32_t device)
{
    if (device == 0)
        return trace->host_peak;
    tkt_peak peak = {0, 0};
    for (size_t i = 0; i < trace->devices.count; i++) {
        if (trace->devices.items[i].label == device)
            peak = peak_by_attributes(&trace->devices.items[i]);
    }
    if (trace->device_peak.flops > 0)
        peak.flops = trace->device_peak.flops;
    if (trace->device_peak.bandwidth > 0)
        peak.bandwidth = trace->device_peak.bandwidth;
    return peak;
}

takt_peak takt_trace_peak(const takt_trace *trace, const char *device)
{
    uint32_t label = UINT32_MAX; /* of no device: what holds for each */
    if (strcmp(device, "cpu") == 0)
        label = 0;
    for (size_t i = 0; i < trace->devices.count; i++) {
        if (strcmp(tkt_trace_text(trace, trace->devices.items[i].label), device) == 0)
            label = trace->devices.items[i].label;
    }
    tkt_peak peak = tkt_peak_of(trace, label);
    return (takt_peak){peak.flops, peak.bandwidth};
}
