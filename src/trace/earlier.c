/* Work that devices still did in a recording for launches before it. A host that launches ahead has
 * some at every begin. It belongs to no scope and step of the recording, but without it a busy
 * device would look idle. */
#include "trace/devices.h"

#include <stdlib.h>

bool tkt_earlier_add(tkt_earlier *earlier, uint32_t device, uint64_t begin_ns, uint64_t end_ns)
{
    tkt_earlier_work *added = TKT_ARRAY_ADD(earlier);
    if (added)
        *added = (tkt_earlier_work){begin_ns, end_ns, device};
    return added != NULL;
}

static int by_begin(const void *a, const void *b)
{
    const tkt_earlier_work *x = a, *y = b;
    return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

void tkt_earlier_sum(tkt_earlier *earlier, takt_trace *trace)
{
    if (earlier->count > 0)
        qsort(earlier->items, earlier->count, sizeof *earlier->items, by_begin);
    for (size_t i = 0; i < earlier->count; i++) {
        const tkt_earlier_work *work = &earlier->items[i];
        tkt_device *device =
            work->device < trace->devices.count ? &trace->devices.items[work->device] : NULL;
        if (!device || work->end_ns <= device->earlier_until_ns)
            continue;
        bool overlaps = work->begin_ns < device->earlier_until_ns;
        device->earlier_busy_ns +=
            work->end_ns - (overlaps ? device->earlier_until_ns : work->begin_ns);
        device->earlier_until_ns = work->end_ns;
    }
}
