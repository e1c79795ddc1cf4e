/* Copies added up. There are few kinds, so that a search finds theirs; mostly it is the last. */
#include "summary/copies.h"

#include "summary/device.h"

static tkt_copy_total *find(tkt_copies *copies, size_t *last, const tkt_copy_total *kind)
{
    for (size_t i = 0; i <= copies->count; i++) {
        size_t at = i == 0 ? *last : i - 1;
        if (at >= copies->count)
            continue;
        tkt_copy_total *total = &copies->items[at];
        if (total->name != kind->name || total->source != kind->source ||
            total->target != kind->target)
            continue;
        *last = at;
        return total;
    }
    tkt_copy_total *total = TKT_ARRAY_ADD(copies);
    if (total)
        *total = *kind;
    return total;
}

takt_status tkt_copies_of(const takt_trace *trace, tkt_copies *out)
{
    tkt_copies copies = {0};
    size_t last = 0;
    size_t count = tkt_device_activity_count(trace);
    for (size_t i = 0; i < count; i++) {
        const tkt_activity *activity = &trace->activities.items[i];
        if (activity->filter != TAKT_TIMING_MEMCPY || activity->shape == TKT_NO_SHAPE)
            continue;
        const tkt_shape *shape = &trace->shapes.items[activity->shape];
        tkt_copy_total *total = find(&copies, &last,
                                     &(tkt_copy_total){.name = activity->name,
                                                       .source = shape->source,
                                                       .target = shape->target,
                                                       .min_bytes = UINT64_MAX});
        if (!total) {
            TKT_ARRAY_FREE(&copies);
            return TAKT_NO_MEMORY;
        }
        total->count++;
        total->bytes += shape->bytes;
        total->min_bytes = shape->bytes < total->min_bytes ? shape->bytes : total->min_bytes;
        total->max_bytes = shape->bytes > total->max_bytes ? shape->bytes : total->max_bytes;
        total->time_ns += activity->end_ns - activity->begin_ns;
    }
    *out = copies;
    return TAKT_OK;
}
