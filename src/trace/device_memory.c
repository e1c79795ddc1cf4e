/* Totals of a trace's memory events: of the host's peak, and of each device. */
#include "trace/devices.h"

#include "trace/order.h"

#include <stddef.h>

tkt_device_memory *tkt_trace_device_memory(takt_trace *trace, uint32_t device)
{
    for (size_t i = 0; i < trace->device_memory.count; i++)
        if (trace->device_memory.items[i].device == device)
            return &trace->device_memory.items[i];
    tkt_device_memory *memory = TKT_ARRAY_ADD(&trace->device_memory);
    if (memory)
        *memory = (tkt_device_memory){.device = device};
    return memory;
}

void tkt_memory_totals_add(tkt_memory_totals *totals, uint64_t time_ns, int64_t bytes)
{
    totals->window_allocations += bytes >= 0;
    totals->window_frees += bytes < 0;
    totals->current_bytes += (uint64_t)bytes;
    if ((int64_t)totals->current_bytes > (int64_t)totals->window_peak_bytes) {
        totals->window_peak_bytes = totals->current_bytes;
        totals->window_peak_ns = time_ns;
    }
}

void tkt_memory_raise_peak(takt_trace *trace)
{
    tkt_memory_totals found = {0}, *memory = &trace->memory;
    size_t count = tkt_trace_lacks_spans(trace) ? 0 : trace->memory_events.count;
    for (size_t i = 0; i < count; i++) {
        const tkt_memory_event *event = &trace->memory_events.items[i];
        if (event->device == 0)
            tkt_memory_totals_add(&found, event->time_ns, event->bytes);
    }
    uint64_t peak_bytes = memory->window_begin_bytes + found.window_peak_bytes;
    if (peak_bytes > memory->window_peak_bytes) {
        memory->window_peak_bytes = peak_bytes;
        memory->window_peak_ns = found.window_peak_ns;
    }
    if (!memory->is_of_recording && peak_bytes > memory->peak_bytes) {
        memory->peak_bytes = peak_bytes;
        memory->peak_ns = found.window_peak_ns;
    }
}

void tkt_device_memory_add(tkt_device_memory *memory, const tkt_memory_event *event)
{
    if (event->kind & TKT_MEMORY_POOL)
        memory->pool_bytes += (uint64_t)event->bytes;
    else
        tkt_memory_totals_add(&memory->totals, event->time_ns, event->bytes);
}

takt_status tkt_device_memory_fill(takt_trace *trace)
{
    takt_status status = tkt_order_by_time(
        TKT_ORDER_ITEMS(&trace->memory_events, offsetof(tkt_memory_event, track)));
    if (status != TAKT_OK)
        return status;
    for (size_t i = 0; i < trace->memory_events.count; i++) {
        const tkt_memory_event *event = &trace->memory_events.items[i];
        if (tkt_memory_is_host(event))
            continue;
        tkt_device_memory *memory = tkt_trace_device_memory(trace, event->device);
        if (!memory)
            return TAKT_NO_MEMORY;
        tkt_device_memory_add(memory, event);
    }
    return TAKT_OK;
}
