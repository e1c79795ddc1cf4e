/* Lines of an XSpace file's host that are not spans: steps, marks, counters, memory, waits for
 * devices and CUPTI's overheads. */
#include "export/xplane.h"

#include "base/own.h"
#include "cuda/kinds.h"

#include <math.h>

/* ---- Steps ----------------------------------------------------------------------------------- */

/* XProf makes a group of each root event (_r), and adds the consumers of what it produces. */
void tkt_xplane_steps(tkt_xplane *x)
{
    const takt_trace *trace = x->trace;
    if (!trace->steps.count)
        return;
    tkt_xplane_begin_line(x, "steps");
    uint32_t name = tkt_xplane_name(x, "step", 4, (tkt_xname){0});
    for (size_t i = 0; i < trace->steps.count; i++) {
        const tkt_step *step = &trace->steps.items[i];
        uint64_t begin_ps = tkt_xplane_ps(x, step->begin_ns);
        tkt_xplane_stat(x, TKT_XSTAT_ROOT, TKT_XVALUE_INT, 1);
        tkt_xplane_stat(x, TKT_XSTAT_STEP_NUM, TKT_XVALUE_INT, step->number);
        tkt_xplane_stat(x, TKT_XSTAT_PRODUCER_TYPE, TKT_XVALUE_INT, 0);
        tkt_xplane_stat(x, TKT_XSTAT_PRODUCER, TKT_XVALUE_UINT, step->number);
        tkt_xplane_event(x, name, begin_ps, tkt_xplane_ps(x, step->end_ns) - begin_ps);
    }
    tkt_xplane_end_line(x);
}

/* ---- Marks and counters ---------------------------------------------------------------------- */

static void put_thread(tkt_xplane *x, uint32_t track)
{
    if (track < x->trace->tracks.count && x->trace->tracks.items[track].name)
        tkt_xplane_stat_text(x, TKT_XSTAT_THREAD,
                             tkt_trace_text(x->trace, x->trace->tracks.items[track].name));
}

static void put_marks(tkt_xplane *x)
{
    const takt_trace *trace = x->trace;
    if (!trace->marks.count)
        return;
    tkt_xplane_begin_line(x, "marks");
    for (size_t i = 0; i < trace->marks.count; i++) {
        const tkt_mark *mark = &trace->marks.items[i];
        uint32_t string = trace->sites.items[mark->site].name;
        put_thread(x, mark->track);
        tkt_xplane_event(x, tkt_xplane_plain_name(x, "mark ", string, mark->site),
                         tkt_xplane_ps(x, mark->time_ns), 0);
    }
    tkt_xplane_end_line(x);
}

/* XProf draws the events of a line with this name as counters. It adds a label to their values, so
 * they must not have one. */
static void put_counters(tkt_xplane *x)
{
    const takt_trace *trace = x->trace;
    if (!trace->counters.count)
        return;
    tkt_xplane_begin_line(x, "_counters_");
    for (size_t i = 0; i < trace->counters.count; i++) {
        const tkt_counter *counter = &trace->counters.items[i];
        if (!tkt_is_finite(counter->value))
            continue;
        tkt_xplane_stat_double(x, TKT_XSTAT_VALUE, counter->value);
        tkt_xplane_event(x, tkt_xplane_plain_name(x, "counter ", counter->name, 0),
                         tkt_xplane_ps(x, counter->time_ns), 0);
    }
    tkt_xplane_end_line(x);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Bytes allocated on the host or on a device. */
typedef struct total {
    uint32_t device; /* string; 0: the host */
    uint64_t now;
    uint64_t peak;
    uint64_t capacity; /* 0: unknown */
} total;

typedef TKT_ARRAY_OF(total) totals;

static total first_total(const takt_trace *trace, uint32_t device)
{
    uint64_t begin = device ? 0 : trace->memory.window_begin_bytes, capacity = 0;
    for (size_t i = 0; i < trace->device_memory.count && device; i++)
        if (trace->device_memory.items[i].device == device) {
            begin = trace->device_memory.items[i].totals.window_begin_bytes;
            capacity = trace->device_memory.items[i].capacity_bytes;
        }
    return (total){device, begin, begin, capacity};
}

static total *total_of(tkt_xplane *x, totals *all, const tkt_memory_event *event)
{
    uint32_t device = tkt_memory_is_host(event) ? 0 : event->device;
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].device == device)
            return &all->items[i];
    total *added = TKT_ARRAY_ADD(all);
    if (added)
        *added = first_total(x->trace, device);
    else
        x->status = TAKT_NO_MEMORY;
    return added;
}

static void add_up(total *of, int64_t bytes)
{
    uint64_t freed = bytes < 0 ? 0 - (uint64_t)bytes : 0;
    of->now = bytes < 0 ? of->now - (freed < of->now ? freed : of->now) : of->now + (uint64_t)bytes;
    of->peak = of->now > of->peak ? of->now : of->peak;
}

static void put_memory_event(tkt_xplane *x, const tkt_memory_event *event, const total *of)
{
    static const char *const names[] = {"MemoryAllocation", "MemoryDeallocation"};
    const char *name = names[event->bytes < 0];
    uint64_t bytes = event->bytes < 0 ? 0 - (uint64_t)event->bytes : (uint64_t)event->bytes;
    tkt_xplane_stat_text(x, TKT_XSTAT_ALLOCATOR,
                         of->device ? tkt_trace_text(x->trace, of->device) : "host");
    tkt_xplane_stat(x, TKT_XSTAT_ALLOCATED, TKT_XVALUE_INT, of->now);
    tkt_xplane_stat(x, TKT_XSTAT_AVAILABLE, TKT_XVALUE_INT,
                    of->capacity > of->now ? of->capacity - of->now : 0);
    tkt_xplane_stat(x, TKT_XSTAT_PEAK, TKT_XVALUE_INT, of->peak);
    tkt_xplane_stat(x, TKT_XSTAT_REQUESTED, TKT_XVALUE_INT, bytes);
    tkt_xplane_stat(x, TKT_XSTAT_ALLOCATION, TKT_XVALUE_INT, bytes);
    tkt_xplane_stat(x, TKT_XSTAT_ADDRESS, TKT_XVALUE_INT, event->address);
    tkt_xplane_stat_text(x, TKT_XSTAT_REGION, tkt_memory_kind_name(event->kind));
    if (event->track < x->trace->tracks.count && event->span != TKT_NO_SPAN)
        tkt_xplane_scope(x, event->track, event->span);
    tkt_xplane_event(x, tkt_xplane_name(x, name, strlen(name), (tkt_xname){0}),
                     tkt_xplane_ps(x, event->time_ns), 0);
}

/* For the tool memory_profile. Pools' reservations are not allocations. */
static void put_memory(tkt_xplane *x)
{
    const takt_trace *trace = x->trace;
    totals all = {0};
    if (!trace->memory_events.count)
        return;
    tkt_xplane_begin_line(x, "memory");
    for (size_t i = 0; i < trace->memory_events.count && x->status == TAKT_OK; i++) {
        const tkt_memory_event *event = &trace->memory_events.items[i];
        total *of = event->kind & TKT_MEMORY_POOL ? NULL : total_of(x, &all, event);
        if (!of)
            continue;
        add_up(of, event->bytes);
        put_memory_event(x, event, of);
    }
    tkt_xplane_end_line(x);
    TKT_ARRAY_FREE(&all);
}

/* ---- Waits and overheads --------------------------------------------------------------------- */

static tkt_xslice wait_at(const void *user, size_t index)
{
    const tkt_wait *wait = &((const takt_trace *)user)->waits.items[index];
    return (tkt_xslice){wait->begin_ns, wait->end_ns, 0};
}

static tkt_xslice overhead_at(const void *user, size_t index)
{
    const tkt_overhead *overhead = &((const takt_trace *)user)->overheads.items[index];
    return (tkt_xslice){overhead->begin_ns, overhead->end_ns, 0};
}

static void put_slices(tkt_xplane *x, const char *title, const tkt_xlines *lines,
                       tkt_xslice (*at)(const void *user, size_t index))
{
    bool is_wait = at == wait_at;
    for (size_t i = 0; i < lines->count; i++) {
        tkt_xplane_begin_line(x, title);
        for (size_t k = 0; k < lines->items[i].count; k++) {
            uint32_t index = lines->order[lines->items[i].first + k];
            const tkt_xslice slice = at(x->trace, index);
            const char *name = is_wait ? tkt_wait_name(x->trace->waits.items[index].kind)
                                       : tkt_overhead_name(x->trace->overheads.items[index].kind);
            uint64_t begin_ps = tkt_xplane_ps(x, slice.begin_ns);
            tkt_xplane_event(x, tkt_xplane_name(x, name, strlen(name), (tkt_xname){0}), begin_ps,
                             tkt_xplane_ps(x, slice.end_ns) - begin_ps);
        }
        tkt_xplane_end_line(x);
    }
}

/* ---- All ------------------------------------------------------------------------------------- */

void tkt_xplane_event_lines(tkt_xplane *x)
{
    put_marks(x);
    put_counters(x);
    put_memory(x);
    put_slices(x, "waits for devices", &x->waits, wait_at);
    put_slices(x, "CUPTI overhead", &x->overheads, overhead_at);
}

takt_status tkt_xplane_events_init(tkt_xplane *x)
{
    takt_status status = tkt_xlines_make(&x->waits, x->trace->waits.count, wait_at, x->trace);
    if (status == TAKT_OK)
        status = tkt_xlines_make(&x->overheads, x->trace->overheads.count, overhead_at, x->trace);
    return status;
}

void tkt_xplane_events_fini(tkt_xplane *x)
{
    tkt_xlines_fini(&x->waits);
    tkt_xlines_fini(&x->overheads);
}
