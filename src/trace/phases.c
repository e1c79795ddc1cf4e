/* Timers inside kernels: puts the records of each block in order, and finds the activity of the
 * kernel that the block belongs to. */
#include "trace/phases.h"

#include "base/own.h"
#include "trace/model.h"
#include "trace/order.h"

#include <math.h>
#include <stdlib.h>

/* ---- Order ----------------------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
    const tkt_phase_record *x = a;
    const tkt_phase_record *y = b;
    if (x->start_cycles != y->start_cycles)
        return x->start_cycles < y->start_cycles ? -1 : 1;
    if (x->cycles != y->cycles)
        return x->cycles > y->cycles ? -1 : 1; /* the outer record first */
    if (x->iteration != y->iteration)
        return x->iteration < y->iteration ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

/* Equal times keep their order, so that a file reads back as it was written. */
static bool are_in_order(const tkt_phase_record *records, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const tkt_phase_record *x = &records[i - 1];
        const tkt_phase_record *y = &records[i];
        if (y->start_cycles < x->start_cycles ||
            (y->start_cycles == x->start_cycles && y->cycles > x->cycles))
            return false;
    }
    return true;
}

static void tidy_segment(takt_trace *trace, tkt_phase_segment *segment)
{
    size_t count = trace->phase_records.count;
    if (segment->first_record > count)
        segment->first_record = segment->record_count = 0;
    if (segment->record_count > count - segment->first_record)
        segment->record_count = (uint32_t)(count - segment->first_record);
    if (!tkt_is_finite(segment->ns_per_cycle) || segment->ns_per_cycle < 0)
        segment->ns_per_cycle = 0;
    tkt_phase_record *records = tkt_phase_records(trace, segment);
    if (records && !are_in_order(records, segment->record_count))
        qsort(records, segment->record_count, sizeof *records, by_start);
}

tkt_phase_record *tkt_phase_records(const takt_trace *trace, const tkt_phase_segment *segment)
{
    return segment->record_count ? &trace->phase_records.items[segment->first_record] : NULL;
}

uint64_t tkt_phase_extent(const takt_trace *trace, const tkt_phase_segment *segment)
{
    const tkt_phase_record *records = tkt_phase_records(trace, segment);
    uint64_t last = 0;
    for (uint32_t i = 0; i < segment->record_count; i++) {
        uint64_t end = tkt_phase_end(&records[i]);
        last = end > last ? end : last;
    }
    return last;
}

/* ---- The kernel's activity ------------------------------------------------------------------- */

/* Device activities by correlation: a list for each one that segments have. */
typedef struct activity_lists {
    tkt_map first;  /* correlation -> first activity of its list + 1 */
    uint32_t *next; /* by activity: the list's next one + 1 */
} activity_lists;

static takt_status make_lists(const takt_trace *trace, activity_lists *lists)
{
    size_t count = tkt_device_activity_count(trace);
    lists->next = tkt_alloc_zeroed((count + 1) * sizeof *lists->next);
    if (!lists->next)
        return TAKT_NO_MEMORY;
    for (size_t i = 0; i < trace->phase_segments.count; i++)
        if (!tkt_map_put(&lists->first, trace->phase_segments.items[i].correlation))
            return TAKT_NO_MEMORY;
    for (size_t i = count; i-- > 0;) {
        const tkt_activity *activity = &trace->activities.items[i];
        uint64_t *first = tkt_map_get(&lists->first, activity->correlation);
        if (!first || !activity->correlation || activity->filter != TAKT_TIMING_KERNEL)
            continue;
        lists->next[i] = (uint32_t)*first;
        *first = i + 1;
    }
    return TAKT_OK;
}

/* How far a time is outside of an activity. */
static uint64_t distance_ns(const tkt_activity *activity, uint64_t time_ns)
{
    if (time_ns < activity->begin_ns)
        return activity->begin_ns - time_ns;
    return time_ns > activity->end_ns ? time_ns - activity->end_ns : 0;
}

/* The search passes at most this many kernels of one launch; with more, the right one is not known.
 * The limit keeps crafted files from making the reader slow. */
#define MOST_KERNELS 4096

/* A graph's kernels share a correlation: takes a kernel of the right name, if there is one, and of
 * these the one that ran at the time of the attach, or closest to it. */
static void find_activity(takt_trace *trace, const activity_lists *lists,
                          tkt_phase_segment *segment)
{
    const uint64_t *first = tkt_map_get(&lists->first, segment->correlation);
    uint32_t at = first ? (uint32_t)*first : 0;
    uint64_t least_ns = UINT64_MAX;
    bool has_name = false;
    int i = 0;
    segment->activity = TKT_NO_ACTIVITY;
    for (; at && i < MOST_KERNELS; i++, at = lists->next[at - 1]) {
        const tkt_activity *activity = &trace->activities.items[at - 1];
        uint64_t far_ns = distance_ns(activity, segment->begin_ns);
        bool is_named = segment->kernel_name && activity->name == segment->kernel_name;
        bool is_nearer = segment->activity == TKT_NO_ACTIVITY || far_ns < least_ns;
        if (activity->device != segment->device || is_named < has_name ||
            (is_named == has_name && !is_nearer))
            continue;
        segment->activity = at - 1;
        least_ns = far_ns;
        has_name = is_named;
    }
    if (at)
        segment->activity = TKT_NO_ACTIVITY;
    if (segment->activity != TKT_NO_ACTIVITY && !segment->kernel_name)
        segment->kernel_name = trace->activities.items[segment->activity].name;
}

static takt_status find_activities(takt_trace *trace)
{
    activity_lists lists = {0};
    takt_status status = make_lists(trace, &lists);
    for (size_t i = 0; i < trace->phase_segments.count && status == TAKT_OK; i++)
        find_activity(trace, &lists, &trace->phase_segments.items[i]);
    tkt_map_fini(&lists.first);
    tkt_free(lists.next);
    return status;
}

/* A stream writes blocks before it knows their kernel. Moves those of a launch that begin outside
 * of the kernel: the first one begins with the kernel. */
static takt_status move_into_kernels(takt_trace *trace)
{
    tkt_map firsts = {0}; /* activity -> begin of its first block */
    takt_status status = TAKT_OK;
    for (size_t i = 0; i < trace->phase_segments.count && status == TAKT_OK; i++) {
        const tkt_phase_segment *segment = &trace->phase_segments.items[i];
        uint64_t *first = tkt_map_put(&firsts, segment->activity);
        if (!first)
            status = TAKT_NO_MEMORY;
        else if (*first == 0 || segment->begin_ns < *first)
            *first = segment->begin_ns;
    }
    for (size_t i = 0; i < trace->phase_segments.count && status == TAKT_OK; i++) {
        tkt_phase_segment *segment = &trace->phase_segments.items[i];
        if (segment->activity == TKT_NO_ACTIVITY)
            continue;
        const tkt_activity *kernel = &trace->activities.items[segment->activity];
        uint64_t first = *tkt_map_get(&firsts, segment->activity);
        if (first < kernel->begin_ns || first > kernel->end_ns)
            segment->begin_ns = kernel->begin_ns + (segment->begin_ns - first);
        if (segment->begin_ns > kernel->end_ns)
            segment->begin_ns = kernel->end_ns;
    }
    tkt_map_fini(&firsts);
    return status;
}

takt_status tkt_phases_finish(takt_trace *trace)
{
    if (trace->phase_segments.count == 0)
        return TAKT_OK;
    for (size_t i = 0; i < trace->phase_segments.count; i++)
        tidy_segment(trace, &trace->phase_segments.items[i]);
    takt_status status = find_activities(trace);
    if (status == TAKT_OK && trace->stream)
        status = move_into_kernels(trace);
    return status == TAKT_OK ? tkt_order_by_time(TKT_ORDER_ITEMS(
                                   &trace->phase_segments, offsetof(tkt_phase_segment, block)))
                             : status;
}
