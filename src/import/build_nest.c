/* Puts the spans of threads in preorder.
 *
 * Sorted by begin, the longer first, each span's parent is the innermost one before it that has not
 * ended. Profilers that round times let a child end slightly after its parent: such a child is cut.
 * A call is cut however far it reaches: what counts is in which scope it began. Another span that
 * reaches further is no part of a call tree. One of the two moves to a track beside the thread's,
 * on which spans may overlap: a Python function rather than anything else, because
 * record_function() begins and ends inside functions of its own; otherwise the one that leaves
 * fewer calls without it; otherwise the span that begins later. */
#include "import/build.h"

#include "trace/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BEYOND_NS 1000u /* what a child may end after its parent, to be cut */

/* Where a span of the file went: its index on the thread's track, or with this bit on the track
 * beside it. */
#define BESIDE 0x80000000u

typedef struct nesting {
    imp_build *build;
    uint32_t track;
    uint32_t beside;             /* track of the crossing spans, or TKT_NO_TRACK */
    uint32_t *now;               /* by number in the file; BESIDE: has to move there */
    uint32_t *calls;             /* by span in order of begins: calls before it */
    TKT_ARRAY_OF(uint32_t) open; /* indices of the spans around the next one */
} nesting;

/* ---- Order ----------------------------------------------------------------------------------- */

static int compare_ends(const void *a, const void *b)
{
    const tkt_span *x = a, *y = b;
    if (x->end_ns != y->end_ns)
        return x->end_ns > y->end_ns ? -1 : 1;
    return x->parent < y->parent ? -1 : 1;
}

/* Sorts into a new array: the events of several tables or writers interleave, and tkt_order_apply()
 * would go back and forth through all of the memory. */
static takt_status order_by_begin(tkt_spans *spans)
{
    uint32_t *places;
    takt_status status = tkt_order_find(TKT_ORDER_ITEMS(spans, 0), &places);
    tkt_span *sorted = places ? tkt_alloc(spans->count * sizeof *sorted) : NULL;
    for (size_t i = 0; i < spans->count && sorted; i++)
        sorted[i] = spans->items[places[i]];
    if (places && !sorted)
        status = TAKT_NO_MEMORY;
    tkt_free(places);
    if (!sorted)
        return status;
    tkt_free(spans->items);
    spans->items = sorted;
    spans->capacity = spans->count;
    return TAKT_OK;
}

/* By begin, then the longer first, then as in the file. */
static takt_status order(tkt_spans *spans)
{
    takt_status status = order_by_begin(spans);
    for (size_t i = 0, end; i < spans->count && status == TAKT_OK; i = end) {
        bool is_ordered = true;
        for (end = i + 1;
             end < spans->count && spans->items[end].begin_ns == spans->items[i].begin_ns; end++)
            is_ordered &= spans->items[end].end_ns <= spans->items[end - 1].end_ns;
        if (!is_ordered)
            qsort(&spans->items[i], end - i, sizeof *spans->items, compare_ends);
    }
    return status;
}

/* ---- Nesting --------------------------------------------------------------------------------- */

static uint32_t track_beside(nesting *n)
{
    takt_trace *trace = n->build->trace;
    char name[300];
    if (n->beside != TKT_NO_TRACK)
        return n->beside;
    const tkt_track *track = &trace->tracks.items[n->track];
    const char *text = tkt_trace_text(trace, track->name);
    if (text[0])
        snprintf(name, sizeof name, "%.250s (crossing spans)", text);
    else
        snprintf(name, sizeof name, "crossing spans of thread %u", track->thread_id);
    uint32_t string = imp_build_string(n->build, name, strlen(name));
    n->beside = tkt_trace_add_track(trace, TAKT_TRACK_ASYNC, string, track->thread_id);
    return n->beside;
}

static bool move_beside(nesting *n, const tkt_span *span)
{
    uint32_t beside = track_beside(n);
    tkt_span *added =
        beside == TKT_NO_TRACK ? NULL : TKT_ARRAY_ADD(&n->build->trace->tracks.items[beside].spans);
    if (!added)
        return false;
    n->now[span->parent] =
        BESIDE | (uint32_t)(n->build->trace->tracks.items[beside].spans.count - 1);
    *added = *span;
    added->parent = TKT_NO_SPAN;
    n->build->trace->losses[TAKT_LOSS_CROSSING_SPANS]++;
    return true;
}

/* ---- Spans that give way --------------------------------------------------------------------- */

/* A span around the next one, with the end that it has when it is cut. */
typedef struct around {
    uint64_t begin_ns;
    uint64_t end_ns;
    uint32_t number; /* in the file */
    bool is_python;
} around;

typedef TKT_ARRAY_OF(around) arounds;

static bool is_python(const nesting *n, const tkt_span *span)
{
    const takt_trace *trace = n->build->trace;
    return n->build->python && trace->sites.items[tkt_span_site(span)].category == n->build->python;
}

static bool is_call(const nesting *n, const tkt_span *span)
{
    return n->build->trace->sites.items[tkt_span_site(span)].kind == TAKT_SITE_CALL;
}

static bool count_calls(nesting *n, const tkt_spans *spans)
{
    n->calls = tkt_alloc((spans->count + 1) * sizeof *n->calls);
    if (!n->calls)
        return false;
    n->calls[0] = 0;
    for (size_t i = 0; i < spans->count; i++)
        n->calls[i + 1] = n->calls[i] + is_call(n, &spans->items[i]);
    return true;
}

/* The number of calls that begin before this time. */
static uint32_t calls_before(const nesting *n, uint64_t time_ns)
{
    const tkt_spans *spans = &n->build->trace->tracks.items[n->track].spans;
    size_t from = 0, to = spans->count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (spans->items[middle].begin_ns < time_ns)
            from = middle + 1;
        else
            to = middle;
    }
    return n->calls[from];
}

/* True if a span gives way to a later one that crosses it. */
static bool gives_way(const nesting *n, const around *span, const around *later)
{
    if (span->is_python != later->is_python)
        return span->is_python;
    uint32_t in_span = calls_before(n, later->begin_ns) - calls_before(n, span->begin_ns);
    return calls_before(n, later->end_ns) - calls_before(n, span->end_ns) > in_span;
}

/* Ends the spans that end before this one begins, and those that give way to it. */
static void close_around(nesting *n, arounds *open, const around *span, bool may_cross)
{
    while (open->count) {
        const around *last = &open->items[open->count - 1];
        bool has_ended = last->end_ns <= span->begin_ns;
        bool is_crossing = may_cross && span->end_ns > last->end_ns &&
                           span->end_ns - last->end_ns > MOST_BEYOND_NS;
        if (!has_ended && (!is_crossing || !gives_way(n, last, span)))
            return;
        if (!has_ended)
            n->now[last->number] = BESIDE;
        open->count--;
    }
}

/* Notes which spans have to move beside for later ones. False without memory. */
static bool note_crossing(nesting *n, const tkt_spans *spans)
{
    arounds open = {0};
    bool is_good = count_calls(n, spans);
    for (size_t i = 0; i < spans->count && is_good; i++) {
        const tkt_span *span = &spans->items[i];
        around next = {span->begin_ns, span->end_ns, span->parent, is_python(n, span)};
        bool may_cross = !is_call(n, span);
        close_around(n, &open, &next, may_cross);
        if (open.count && next.end_ns > open.items[open.count - 1].end_ns) {
            uint64_t end_ns = open.items[open.count - 1].end_ns;
            if (may_cross && next.end_ns - end_ns > MOST_BEYOND_NS) {
                n->now[next.number] = next.is_python ? BESIDE : 0;
                continue;
            }
            next.end_ns = end_ns;
        }
        around *added = TKT_ARRAY_ADD(&open);
        is_good = added != NULL;
        if (added)
            *added = next;
    }
    TKT_ARRAY_FREE(&open);
    return is_good;
}

/* ---- Places ---------------------------------------------------------------------------------- */

/* Places a span, the next in order, at `index` of the thread's track. *is_crossing: it cannot be
 * there. False without memory. */
static bool place(nesting *n, tkt_spans *spans, tkt_span span, uint32_t index, bool *is_crossing)
{
    while (n->open.count && spans->items[n->open.items[n->open.count - 1]].end_ns <= span.begin_ns)
        n->open.count--;
    uint32_t parent = n->open.count ? n->open.items[n->open.count - 1] : TKT_NO_SPAN;
    *is_crossing = false;
    if (parent != TKT_NO_SPAN && span.end_ns > spans->items[parent].end_ns) {
        *is_crossing = span.end_ns - spans->items[parent].end_ns > MOST_BEYOND_NS;
        if (*is_crossing && !is_call(n, &span))
            return true;
        n->build->trace->losses[TAKT_LOSS_CROSSING_SPANS] += *is_crossing;
        *is_crossing = false;
        span.end_ns = spans->items[parent].end_ns;
    }
    uint32_t *open = TKT_ARRAY_ADD(&n->open);
    if (!open)
        return false;
    *open = index;
    n->now[span.parent] = index;
    spans->items[index] = span;
    spans->items[index].parent = parent;
    return true;
}

static bool place_all(nesting *n)
{
    size_t count = n->build->trace->tracks.items[n->track].spans.count;
    uint32_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        /* Adding the track beside it moves the tracks. */
        tkt_spans *spans = &n->build->trace->tracks.items[n->track].spans;
        tkt_span span = spans->items[i];
        bool is_crossing = n->now[span.parent] == BESIDE;
        if (!is_crossing && !place(n, spans, span, kept, &is_crossing))
            return false;
        if (is_crossing && !move_beside(n, &span))
            return false;
        kept += !is_crossing;
    }
    n->build->trace->tracks.items[n->track].spans.count = kept;
    return true;
}

/* Sets *span to the span's new index, and returns the track that has it now. */
static uint32_t follow(const nesting *n, uint32_t *span)
{
    uint32_t now = n->now[*span];
    *span = now & ~BESIDE;
    return now & BESIDE ? n->beside : n->track;
}

/* Arguments follow their spans. */
static bool move_args(nesting *n)
{
    tkt_track *tracks = n->build->trace->tracks.items;
    tkt_args *args = &tracks[n->track].args;
    size_t kept = 0;
    for (size_t i = 0; i < args->count; i++) {
        tkt_arg arg = args->items[i];
        uint32_t track = follow(n, &arg.span);
        bool is_kept = track == n->track;
        tkt_arg *to = is_kept ? &args->items[kept++] : TKT_ARRAY_ADD(&tracks[track].args);
        if (!to)
            return false;
        *to = arg;
    }
    args->count = kept;
    return true;
}

/* Declared work, too. */
static bool move_works(nesting *n)
{
    tkt_track *tracks = n->build->trace->tracks.items;
    tkt_works *works = &tracks[n->track].works;
    size_t kept = 0;
    for (size_t i = 0; i < works->count; i++) {
        tkt_work work = works->items[i];
        uint32_t track = follow(n, &work.span);
        bool is_kept = track == n->track;
        tkt_work *to = is_kept ? &works->items[kept++] : TKT_ARRAY_ADD(&tracks[track].works);
        if (!to)
            return false;
        *to = work;
    }
    works->count = kept;
    return true;
}

static bool nest_track(imp_build *build, uint32_t track, nesting *n)
{
    tkt_spans *spans = &build->trace->tracks.items[track].spans;
    *n = (nesting){.build = build, .track = track, .beside = TKT_NO_TRACK};
    n->now = tkt_alloc_zeroed((spans->count + 1) * sizeof *n->now);
    bool is_good = n->now && order(spans) == TAKT_OK && note_crossing(n, spans) && place_all(n) &&
                   move_args(n) && move_works(n);
    tkt_free(n->calls);
    TKT_ARRAY_FREE(&n->open);
    return is_good;
}

/* ---- All tracks ------------------------------------------------------------------------------ */

static void move_calls(imp_build *build, const nesting *tracks, size_t count)
{
    for (size_t i = 0; i < build->trace->calls.count; i++) {
        tkt_call_info *call = &build->trace->calls.items[i];
        if (call->track >= count || !tracks[call->track].now)
            continue;
        call->track = follow(&tracks[call->track], &call->span);
    }
}

static uint32_t span_at(const takt_trace *trace, uint32_t track, uint64_t time_ns)
{
    return track == TKT_NO_TRACK ? TKT_NO_SPAN : tkt_span_at(&trace->tracks.items[track], time_ns);
}

static void find_spans_of_events(takt_trace *trace)
{
    for (size_t i = 0; i < trace->memory_events.count; i++) {
        tkt_memory_event *event = &trace->memory_events.items[i];
        event->span = span_at(trace, event->track, event->time_ns);
    }
    for (size_t i = 0; i < trace->flows.count; i++) {
        tkt_flow *flow = &trace->flows.items[i];
        flow->span = span_at(trace, flow->track, flow->time_ns);
    }
}

takt_status imp_nest(imp_build *build)
{
    size_t count = build->trace->tracks.count;
    nesting *tracks = tkt_alloc_zeroed((count + 1) * sizeof *tracks);
    bool is_good = tracks != NULL;
    for (uint32_t i = 0; i < count && is_good; i++)
        if (build->trace->tracks.items[i].kind == TAKT_TRACK_THREAD)
            is_good = nest_track(build, i, &tracks[i]);
    if (is_good) {
        move_calls(build, tracks, count);
        find_spans_of_events(build->trace);
    }
    for (size_t i = 0; tracks && i < count; i++)
        tkt_free(tracks[i].now);
    tkt_free(tracks);
    return is_good ? TAKT_OK : TAKT_NO_MEMORY;
}
