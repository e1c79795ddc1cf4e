/* Turns spans sorted by end into spans sorted by begin, in linear time.
 *
 * A thread writes a span when the span ends, so logs contain children before their parents. In this
 * order, the subtree of span i consists of size[i] consecutive spans, of which i is the last. In
 * preorder, the same spans are consecutive too, but i is the first, and all its ancestors come
 * before them:
 *
 *     place(i) = i - size[i] + 1 + ancestors(i)
 *
 * A forward pass finds the sizes: a span adopts the finished subtrees before it that are deeper and
 * began no earlier. A backward pass visits parents before their children, so it knows the number of
 * ancestors. It places the spans, and assigns arguments and other events to the scope that was open
 * around them. */
#include "trace/seal.h"

#include "record/site.h"
#include "record/slot.h"

#include <assert.h>
#include <string.h>

/* Finished neighbouring subtrees of one depth that wait for their parent. */
typedef struct pending {
    uint64_t begin; /* of the first subtree */
    uint32_t depth;
    uint32_t gap; /* the number of gaps before; subtrees are not joined across a gap */
    uint32_t size;
} pending;

/* A placed span; the backward pass is currently inside its subtree. */
typedef struct ancestor {
    size_t first; /* index of its subtree's first span, in the order of ends */
    uint64_t begin;
    uint32_t place;
    uint32_t depth; /* as recorded */
} ancestor;

typedef struct nest {
    tkt_sealing *sealing;
    const tkt_run *run;
    tkt_track *track;
    uint32_t track_index;
    uint32_t *sizes;
    size_t count; /* forward: spans so far; backward: spans not yet placed */
    uint32_t gaps;
    TKT_ARRAY_OF(pending) pendings;
    TKT_ARRAY_OF(ancestor) ancestors; /* outermost first */
    bool has_begun;                   /* forward: a span ended after the window's begin */
    bool is_unfinished;               /* the spans being placed are open scopes of the stack */
    bool is_before;                   /* backward: the rest was recorded before the window */
    tkt_side side;                    /* backward: of the segment */
} nest;

/* Passes on what TKT_ARRAY_ADD() returned, and notes if that is NULL. */
static inline void *added(nest *n, void *item)
{
    if (!item)
        n->sealing->is_out_of_memory = true;
    return item;
}

static bool is_in_window(const nest *n, const tkt_slot_span *span)
{
    const tkt_seal_window *window = n->sealing->window;
    return tkt_slot_overlaps(span, window->begin_ticks, window->end_ticks);
}

/* The open scope at this depth of the stack, as a span that ends with the window. */
static tkt_slot_span span_of_frame(const nest *n, uint32_t depth)
{
    const takt_frame *frame = &n->run->frames[depth];
    return (tkt_slot_span){frame->start, n->sealing->window->end_ticks, tkt_frame_site(frame),
                           depth};
}

/* ---- Forward: sizes -------------------------------------------------------------------------- */

static bool is_inside(const pending *subtree, const tkt_slot_span *span)
{
    return subtree->depth > span->depth && subtree->begin >= span->begin;
}

static void measure(nest *n, const tkt_slot_span *span)
{
    uint32_t size = 1;
    while (n->pendings.count > 0) {
        const pending *last = &n->pendings.items[n->pendings.count - 1];
        if (!is_inside(last, span))
            break;
        size += last->size;
        n->pendings.count--;
    }
    n->sizes[n->count++] = size;
    pending *last = n->pendings.count ? &n->pendings.items[n->pendings.count - 1] : NULL;
    if (last && last->depth == span->depth && last->gap == n->gaps) {
        last->size += size;
        return;
    }
    last = added(n, TKT_ARRAY_ADD(&n->pendings));
    if (last)
        *last = (pending){span->begin, span->depth, n->gaps, size};
}

/* Drops the spans counted so far, when a span has ended before the window. These spans began and
 * ended in the window's first tick, before that span ended, so they belong to the time before the
 * window too. */
static void leave_out_what_came_before(nest *n)
{
    if (n->has_begun)
        return;
    n->count = 0;
    n->pendings.count = 0;
}

static void measure_segment(nest *n, const tkt_segment *segment)
{
    uint64_t begin = n->sealing->window->begin_ticks;
    tkt_slot_span span;
    for (const takt_record *slot = segment->first; slot < segment->end; slot++) {
        if (tkt_slot_read_span(slot, &span)) {
            n->has_begun |= span.end > begin;
            if (is_in_window(n, &span))
                measure(n, &span);
            else if (span.end <= begin)
                leave_out_what_came_before(n);
        } else if (tkt_slot_kind_of(slot) == TKT_SLOT_GAP) {
            n->gaps++;
        }
    }
}

static void measure_all(nest *n)
{
    for (size_t i = 0; i < n->run->segments.count; i++)
        measure_segment(n, &n->run->segments.items[i]);
    for (uint32_t depth = n->run->frame_count; depth-- > 0;) {
        tkt_slot_span span = span_of_frame(n, depth);
        if (is_in_window(n, &span))
            measure(n, &span);
    }
}

/* ---- Backward: places ------------------------------------------------------------------------ */

static uint32_t flags_of(const nest *n, const tkt_slot_span *span, uint8_t kind)
{
    const tkt_seal_window *window = n->sealing->window;
    uint32_t flags = 0;
    if (span->begin < window->begin_ticks)
        flags |= TAKT_SPAN_BEGUN_BEFORE;
    if (n->is_unfinished || span->end > window->end_ticks)
        flags |= TAKT_SPAN_UNFINISHED;
    if (kind == TAKT_SITE_PHASE)
        flags |= TAKT_SPAN_PHASE;
    if (kind == TAKT_SITE_ACTIVITY)
        flags |= TAKT_SPAN_ACTIVITY;
    if (kind == TAKT_SITE_CALL)
        flags |= TAKT_SPAN_CALL;
    return flags;
}

static uint64_t cut(const tkt_seal_window *window, uint64_t ticks)
{
    if (ticks < window->begin_ticks)
        return window->begin_ticks;
    return ticks > window->end_ticks ? window->end_ticks : ticks;
}

static void place(nest *n, const tkt_slot_span *span)
{
    size_t index = --n->count;
    while (n->ancestors.count > 0 && index < n->ancestors.items[n->ancestors.count - 1].first)
        n->ancestors.count--;
    size_t ancestors = n->ancestors.count;
    size_t first = index - n->sizes[index] + 1;
    uint32_t place = (uint32_t)(first + ancestors);
    uint32_t site = tkt_sealing_site(n->sealing, span->site);
    uint8_t kind = n->sealing->trace->sites.items[site].kind;
    const tkt_seal_window *window = n->sealing->window;
    n->track->spans.items[place] = (tkt_span){
        .begin_ns = tkt_sealing_ns(n->sealing, cut(window, span->begin)),
        .end_ns = tkt_sealing_ns(n->sealing, cut(window, span->end)),
        .site_flags = site << 8 | flags_of(n, span, kind),
        .parent = ancestors ? n->ancestors.items[ancestors - 1].place : TKT_NO_SPAN,
    };
    ancestor *mine = TKT_ARRAY_ADD(&n->ancestors);
    if (mine)
        *mine = (ancestor){first, span->begin, place, span->depth};
    else
        n->sealing->is_out_of_memory = true;
}

/* Goes back over missing events. Spans that began after `ticks` have none of the earlier events,
 * which belong to spans whose ends are missing. */
static void go_over_gap(nest *n, uint64_t ticks)
{
    while (n->ancestors.count > 0 && n->ancestors.items[n->ancestors.count - 1].begin > ticks)
        n->ancestors.count--;
}

/* The innermost of `open` open scopes, or NULL. A scope's events come before the record of its next
 * child or of itself, so the scope is among the current ancestors. */
static const ancestor *innermost(const nest *n, uint32_t open)
{
    for (size_t i = open > 0 ? n->ancestors.count : 0; i-- > 0;)
        if (n->ancestors.items[i].depth == open - 1)
            return &n->ancestors.items[i];
    return NULL;
}

/* Its span, or TKT_NO_SPAN. */
static uint32_t owner(const nest *n, uint32_t open)
{
    const ancestor *found = innermost(n, open);
    return found ? found->place : TKT_NO_SPAN;
}

/* True if an argument or work was written in the window. */
static bool is_part_of_window(const nest *n, const takt_record *slot)
{
    const ancestor *scope = n->side == TKT_BEFORE ? innermost(n, tkt_slot_depth(slot)) : NULL;
    return n->side == TKT_INSIDE || (scope && scope->begin > n->sealing->window->begin_ticks);
}

/* The owner of an argument or of work, which is lost with its span. */
static uint32_t owner_of_part(nest *n, const takt_record *slot)
{
    uint32_t span = owner(n, tkt_slot_depth(slot));
    if (span == TKT_NO_SPAN && (n->gaps || n->run->gap_ticks))
        n->sealing->trace->losses[TAKT_LOSS_BUFFER_FULL]++;
    return span;
}

static void add_arg(nest *n, const takt_record *slot, tkt_arg_type type)
{
    uint32_t span = owner_of_part(n, slot);
    uint32_t key = tkt_sealing_site(n->sealing, slot->ticks);
    tkt_arg *arg = span == TKT_NO_SPAN ? NULL : added(n, TKT_ARRAY_ADD(&n->track->args));
    if (!arg)
        return;
    *arg = (tkt_arg){.span = span, .type = type, .value.u = slot->start};
    arg->key = n->sealing->trace->sites.items[key].name;
    if (type == TKT_ARG_BOOL)
        arg->value.b = slot->start != 0;
    if (type == TKT_ARG_STRING)
        arg->value.string = tkt_sealing_text(n->sealing, (uint32_t)slot->start);
}

/* Compares the begin too, since the span that the stack belongs to may be missing. */
static void add_stack(nest *n, const takt_record *slot)
{
    uint32_t index = owner(n, tkt_slot_depth(slot));
    if (index == TKT_NO_SPAN)
        return;
    const tkt_span *span = &n->track->spans.items[index];
    if (span->begin_ns != tkt_sealing_ns(n->sealing, cut(n->sealing->window, slot->start)))
        return;
    bool is_call = tkt_span_is_call(span);
    uint32_t number = tkt_sealing_stack(n->sealing, slot->ticks, is_call);
    tkt_span_stack *stack =
        added(n, number == UINT32_MAX ? NULL : TKT_ARRAY_ADD(&n->track->stacks));
    if (stack)
        *stack = (tkt_span_stack){index, number};
}

static void add_work(nest *n, const takt_record *slot)
{
    uint32_t span = owner_of_part(n, slot);
    tkt_work *work = span == TKT_NO_SPAN ? NULL : added(n, TKT_ARRAY_ADD(&n->track->works));
    if (work)
        *work = (tkt_work){span, tkt_slot_double(slot[0].start), tkt_slot_double(slot[1].start)};
}

static void add_memory(nest *n, const takt_record *slot)
{
    tkt_memory_event *event = added(n, TKT_ARRAY_ADD(&n->sealing->trace->memory_events));
    if (event)
        *event = (tkt_memory_event){.time_ns = tkt_sealing_ns(n->sealing, slot[0].start),
                                    .address = slot[1].start,
                                    .bytes = (int64_t)slot[2].start,
                                    .track = n->track_index,
                                    .span = owner(n, tkt_slot_depth(slot))};
}

static void add_flow(nest *n, const takt_record *slot)
{
    tkt_flow *flow = added(n, TKT_ARRAY_ADD(&n->sealing->trace->flows));
    if (flow)
        *flow =
            (tkt_flow){tkt_sealing_ns(n->sealing, slot[0].start), slot[1].start, n->track_index,
                       owner(n, tkt_slot_depth(slot)), tkt_slot_kind_of(slot) == TKT_SLOT_FLOW_END};
}

/* Adds the facts of the call whose span was placed last. Does nothing if the call's span is outside
 * of the window. */
static void add_call(nest *n, const takt_record *slot)
{
    const ancestor *last = n->ancestors.count ? &n->ancestors.items[n->ancestors.count - 1] : NULL;
    if (!last || last->depth != (slot->ticks & ~TKT_SLOT_CAPTURING))
        return;
    tkt_span *span = &n->track->spans.items[last->place];
    if (!tkt_span_is_call(span))
        return;
    if (slot->ticks & TKT_SLOT_CAPTURING)
        span->site_flags |= TAKT_SPAN_CAPTURING;
    tkt_call_info *call = added(n, TKT_ARRAY_ADD(&n->sealing->trace->calls));
    if (call)
        *call = (tkt_call_info){n->track_index, last->place, (uint32_t)slot->start,
                                (int32_t)(slot->start >> 32)};
}

static void add_mark(nest *n, const takt_record *slot)
{
    tkt_mark *mark = added(n, TKT_ARRAY_ADD(&n->sealing->trace->marks));
    if (mark)
        *mark = (tkt_mark){tkt_sealing_ns(n->sealing, slot->start), n->track_index,
                           tkt_sealing_site(n->sealing, slot->ticks)};
}

static void add_counter(nest *n, const takt_record *slot)
{
    tkt_counter *counter = added(n, TKT_ARRAY_ADD(&n->sealing->trace->counters));
    if (!counter)
        return;
    const takt_trace *trace = n->sealing->trace;
    uint32_t site = tkt_sealing_site(n->sealing, slot[0].ticks);
    *counter =
        (tkt_counter){tkt_sealing_ns(n->sealing, slot[0].start), tkt_slot_double(slot[1].start),
                      trace->sites.items[site].name, n->track_index};
}

/* Adds any event other than a span of the thread. */
static void place_event(nest *n, const takt_record *slot)
{
    tkt_slot_kind kind = tkt_slot_kind_of(slot);
    if (kind == TKT_SLOT_GAP)
        go_over_gap(n, slot->start);
    if (n->is_before)
        return;
    if (kind >= TKT_SLOT_ARG_INT && kind <= TKT_SLOT_ARG_STRING) {
        if (is_part_of_window(n, slot))
            add_arg(n, slot, (tkt_arg_type)(kind - TKT_SLOT_ARG_INT));
        return;
    }
    if (kind == TKT_SLOT_WORK) {
        if (is_part_of_window(n, slot))
            add_work(n, slot);
        return;
    }
    if (kind == TKT_SLOT_CALL) {
        add_call(n, slot);
        return;
    }
    if (kind == TKT_SLOT_STACK) {
        add_stack(n, slot);
        return;
    }
    if (!tkt_sealing_holds(n->sealing, slot->start))
        return;
    if (kind == TKT_SLOT_MARK)
        add_mark(n, slot);
    else if (kind == TKT_SLOT_COUNTER)
        add_counter(n, slot);
    else if (kind == TKT_SLOT_MEMORY)
        add_memory(n, slot);
    else if (kind == TKT_SLOT_FLOW_BEGIN || kind == TKT_SLOT_FLOW_END)
        add_flow(n, slot);
}

static void place_slots(nest *n, const takt_record *first, const takt_record *end)
{
    tkt_slot_span span;
    for (const takt_record *slot = end; slot-- > first;) {
        if (!tkt_slot_read_span(slot, &span))
            place_event(n, slot);
        else if (n->count > 0 && is_in_window(n, &span))
            place(n, &span);
        else if (span.end <= n->sealing->window->begin_ticks)
            n->is_before = true; /* a recovered log does not know the window's boundaries */
    }
}

static void place_all(nest *n)
{
    n->is_unfinished = true;
    for (uint32_t depth = 0; depth < n->run->frame_count; depth++) {
        tkt_slot_span span = span_of_frame(n, depth);
        if (is_in_window(n, &span))
            place(n, &span);
    }
    n->is_unfinished = false;
    if (n->run->gap_ticks)
        go_over_gap(n, n->run->gap_ticks);
    for (size_t i = n->run->segments.count; i-- > 0;) {
        const tkt_segment *segment = &n->run->segments.items[i];
        n->side = segment->side;
        place_slots(n, segment->first, segment->end);
    }
}

/* ---- Recorded order -------------------------------------------------------------------------- */

/* The backward pass adds events in reverse. These functions restore the recorded order. */

static void reverse(void *list, size_t count, size_t item_size)
{
    char *items = list, swapped[64];
    assert(item_size <= sizeof swapped);
    for (size_t i = 0; i < count / 2; i++) {
        char *a = items + i * item_size, *b = items + (count - 1 - i) * item_size;
        memcpy(swapped, a, item_size);
        memcpy(a, b, item_size);
        memcpy(b, swapped, item_size);
    }
}

/* The number of events before this run. */
typedef struct event_counts {
    size_t marks, counters, flows, memory_events, calls;
} event_counts;

static event_counts count_events(const takt_trace *trace)
{
    return (event_counts){trace->marks.count, trace->counters.count, trace->flows.count,
                          trace->memory_events.count, trace->calls.count};
}

#define REVERSE_SINCE(list, first)                                                                 \
    reverse((list)->items + (first), (list)->count - (first), sizeof *(list)->items)

/* Sorting by time keeps the order of events with equal times, so they must be in recorded order
 * before: a free and an allocation at the same time make no peak, and the later of two counter
 * values must win. */
static void reverse_events(takt_trace *trace, const event_counts *before)
{
    if (trace->marks.count > before->marks)
        REVERSE_SINCE(&trace->marks, before->marks);
    if (trace->counters.count > before->counters)
        REVERSE_SINCE(&trace->counters, before->counters);
    if (trace->flows.count > before->flows)
        REVERSE_SINCE(&trace->flows, before->flows);
    if (trace->memory_events.count > before->memory_events)
        REVERSE_SINCE(&trace->memory_events, before->memory_events);
    if (trace->calls.count > before->calls)
        REVERSE_SINCE(&trace->calls, before->calls);
}

/* tkt_trace_finish() sorts these by span and keeps the order within a span. */
static void reverse_extras(tkt_track *track)
{
    if (track->args.count)
        REVERSE_SINCE(&track->args, 0);
    if (track->works.count)
        REVERSE_SINCE(&track->works, 0);
    if (track->stacks.count)
        REVERSE_SINCE(&track->stacks, 0);
}

/* ---- A run ----------------------------------------------------------------------------------- */

static size_t slots_of(const tkt_run *run)
{
    size_t count = 0;
    for (size_t i = 0; i < run->segments.count; i++)
        count += (size_t)(run->segments.items[i].end - run->segments.items[i].first);
    return count;
}

void tkt_seal_run(tkt_sealing *sealing, const tkt_run *run, uint32_t track)
{
    nest n = {.sealing = sealing, .run = run, .track_index = track};
    n.track = &sealing->trace->tracks.items[track];
    n.sizes = tkt_alloc((slots_of(run) + run->frame_count + 1) * sizeof *n.sizes);
    if (n.sizes)
        measure_all(&n);
    if (n.sizes && !sealing->is_out_of_memory && TKT_ARRAY_RESERVE(&n.track->spans, n.count)) {
        event_counts before = count_events(sealing->trace);
        n.track->spans.count = n.count;
        place_all(&n);
        reverse_extras(n.track);
        reverse_events(sealing->trace, &before);
    } else {
        sealing->is_out_of_memory = true;
    }
    tkt_free(n.sizes);
    TKT_ARRAY_FREE(&n.pendings);
    TKT_ARRAY_FREE(&n.ancestors);
}
