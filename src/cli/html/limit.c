/* Chooses the events to leave out of a page if a trace is too large for a browser: the shortest
 * ones. A span's parents are at least as long as the span, so almost every shown span keeps its
 * parents.
 *
 * Durations are counted in buckets, sixteen per power of two. In the bucket that fits only partly,
 * every n-th event is kept, which spreads the kept events over the whole recording. */
#include "cli/html/html.h"

#include <takt/activity.h>

enum {
    BITS = 4,
    BUCKETS = (64 - BITS + 1) << BITS
};

static unsigned bucket_of(uint64_t duration)
{
    if (duration < 1u << BITS)
        return (unsigned)duration;
    unsigned shift = 63 - BITS - (unsigned)__builtin_clzll(duration);
    return (shift << BITS) + (unsigned)(duration >> shift);
}

/* Returns the smallest duration of a bucket. */
static uint64_t bucket_begin(unsigned bucket)
{
    if (bucket < 2u << BITS)
        return bucket;
    unsigned shift = (bucket >> BITS) - 1;
    return (uint64_t)((bucket & ((1u << BITS) - 1)) | 1u << BITS) << shift;
}

bool html_is_of_device(const takt_activity *activity)
{
    return activity->correlation != 0 || activity->context != 0;
}

static uint64_t count_spans(const takt_trace *trace, uint64_t *counts)
{
    takt_track_info track;
    takt_span_info span;
    uint64_t total = 0;

    for (size_t i = 0; takt_trace_track(trace, i, &track) == TAKT_OK;
         i++, total += track.span_count)
        for (size_t k = 0; counts && takt_trace_span(trace, i, k, &span) == TAKT_OK; k++)
            counts[bucket_of(span.end_ns - span.begin_ns)]++;
    return total;
}

static uint64_t count_activities(const takt_trace *trace, uint64_t *counts)
{
    takt_activity activity;
    uint64_t total = 0;

    for (size_t i = 0; takt_trace_activity(trace, i, &activity) == TAKT_OK; i++)
        if (html_is_of_device(&activity)) {
            total++;
            if (counts)
                counts[bucket_of(activity.end_ns - activity.begin_ns)]++;
        }
    return total;
}

html_limit html_limit_of(const takt_trace *trace, uint64_t most)
{
    static const html_limit no_limit;
    uint64_t counts[BUCKETS] = {0}, kept = 0, total;
    unsigned bucket = BUCKETS - 1;

    total = count_spans(trace, NULL) + count_activities(trace, NULL);
    if (total <= most)
        return no_limit;
    count_spans(trace, counts);
    count_activities(trace, counts);
    for (; kept + counts[bucket] <= most; bucket--)
        kept += counts[bucket];
    uint64_t room = most - kept;
    uint64_t every = room ? (counts[bucket] + room - 1) / room : counts[bucket] + 1;
    kept += counts[bucket] / every;
    return (html_limit){.hidden = total - kept,
                        .below_ns = bucket_begin(bucket),
                        .upto_ns = bucket_begin(bucket + 1),
                        .every = every};
}

bool html_limit_keeps(html_limit *limit, uint64_t duration_ns)
{
    if (duration_ns >= limit->upto_ns)
        return true;
    if (duration_ns < limit->below_ns)
        return false;
    return ++limit->seen % limit->every == 0;
}
