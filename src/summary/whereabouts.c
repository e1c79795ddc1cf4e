/* Spans stand by begin, parents before children, so the innermost one that is open is found among
 * the last that has begun and those around it. */
#include "summary/whereabouts.h"

size_t tkt_spans_begun(const tkt_track *track, uint64_t time_ns)
{
    size_t first = 0;
    size_t end = track->spans.count;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (track->spans.items[middle].begin_ns <= time_ns)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* From `span` outwards the first that is still open. */
static uint32_t open_at(const tkt_span *spans, uint32_t span, uint64_t time_ns)
{
    while (span != TKT_NO_SPAN && spans[span].end_ns <= time_ns)
        span = spans[span].parent;
    return span;
}

size_t tkt_whereabouts(const tkt_track *track, size_t begun, uint64_t begin_ns, uint64_t end_ns,
                       tkt_stay stay, void *user)
{
    const tkt_span *spans = track->spans.items;
    size_t count = track->spans.count;
    uint32_t inside = TKT_NO_SPAN;
    for (uint64_t time_ns = begin_ns; time_ns < end_ns;) {
        while (begun < count && spans[begun].begin_ns <= time_ns)
            inside = (uint32_t)begun++;
        if (time_ns == begin_ns && begun > 0)
            inside = (uint32_t)begun - 1;
        inside = open_at(spans, inside, time_ns);
        uint64_t until_ns = end_ns;
        if (inside != TKT_NO_SPAN && spans[inside].end_ns < until_ns)
            until_ns = spans[inside].end_ns;
        if (begun < count && spans[begun].begin_ns < until_ns)
            until_ns = spans[begun].begin_ns;
        stay(user, inside, time_ns, until_ns);
        time_ns = until_ns;
    }
    return begun;
}
