/* Assigns time, activities and allocations to scopes. */
#include "summary/owners.h"

#include "summary/device.h"

/* ======== Where a thread was ======== */

/* Spans are sorted by begin, parents before children. The innermost open span is therefore the last
 * one that has begun, or an ancestor of it. */

/* Returns the first span, from `span` outwards, that is still open. */
static uint32_t open_at(const tkt_span *spans, uint32_t span, uint64_t time_ns)
{
    while (span != TKT_NO_SPAN && spans[span].end_ns <= time_ns)
        span = spans[span].parent;
    return span;
}

size_t tkt_visit_stays(const tkt_track *track, size_t begun, uint64_t begin_ns, uint64_t end_ns,
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

/* ======== Activities and allocations ======== */

/* Each event counts for the span that launched or allocated, and for its ancestors. The innermost
 * scope's group gets it as its own (self), every group on the way gets it once in its total.
 * Activities arrive sorted by begin, so the union of a scope's intervals grows only at its end. */

/* State of a group. */
typedef struct state {
    uint64_t last_event; /* number of the event that was added last */
    uint64_t busy_until; /* end of the union of its activities' intervals */
    size_t place;        /* in the list that find_above() made last */
} state;

typedef struct group_above {
    uint32_t group;
    uint32_t times; /* more than 1: a recursive scope */
} group_above;

/* The groups that the last launching span of a track belongs to. The track's next activity usually
 * has the same span. */
typedef struct above {
    uint32_t span; /* the span + 1; 0: none yet */
    TKT_ARRAY(group_above);
} above;

typedef struct adding {
    const takt_trace *trace;
    const tkt_groups *groups;
    tkt_scopes *scopes;
    state *states;
    above *above; /* by track */
    uint64_t events;
    bool is_short; /* memory ran out */
} adding;

static uint32_t group_of(const adding *c, uint32_t track, uint32_t span)
{
    const tkt_groups *groups = c->groups;
    if (groups->first)
        return groups->items[groups->first[track] + span];
    return groups->items[tkt_span_site(&c->trace->tracks.items[track].spans.items[span])];
}

/* Returns the next group, from *span outwards, that has not got this event yet. Moves *span to
 * the parent of the group's span. */
static uint32_t next_group(adding *c, uint32_t track, uint32_t *span)
{
    const tkt_span *spans = c->trace->tracks.items[track].spans.items;
    while (*span != TKT_NO_SPAN) {
        uint32_t group = group_of(c, track, *span);
        *span = spans[*span].parent;
        if (group == TKT_NO_GROUP || c->states[group].last_event == c->events)
            continue;
        c->states[group].last_event = c->events;
        return group;
    }
    return TKT_NO_GROUP;
}

static void find_above(adding *c, above *a, const tkt_activity *activity)
{
    const tkt_span *spans = c->trace->tracks.items[activity->track].spans.items;
    a->span = activity->scope + 1;
    a->count = 0;
    c->events++;
    for (uint32_t span = activity->scope; span != TKT_NO_SPAN; span = spans[span].parent) {
        uint32_t group = group_of(c, activity->track, span);
        if (group == TKT_NO_GROUP)
            continue;
        state *known = &c->states[group];
        if (known->last_event == c->events) {
            a->items[known->place].times++;
            continue;
        }
        group_above *added = TKT_ARRAY_ADD(a);
        if (!added) {
            c->is_short = true;
            return;
        }
        *added = (group_above){group, 1};
        known->last_event = c->events;
        known->place = a->count - 1;
    }
}

static void add_activity(void *user, const tkt_activity *activity)
{
    adding *c = user;
    uint64_t ns = activity->end_ns - activity->begin_ns;
    c->scopes->device_ns += ns;
    if (activity->track == TKT_NO_TRACK || activity->scope == TKT_NO_SPAN)
        return;
    above *a = &c->above[activity->track];
    if (a->span != activity->scope + 1)
        find_above(c, a, activity);
    for (size_t i = 0; i < a->count; i++) {
        uint32_t group = a->items[i].group;
        tkt_scope_total *total = &c->scopes->items[group];
        total->device_self_ns += i == 0 ? ns : 0;
        total->device_total_ns += ns;
        total->device_sum_ns += ns * a->items[i].times;
        total->device_busy_ns +=
            tkt_union_add(&c->states[group].busy_until, activity->begin_ns, activity->end_ns);
    }
}

static takt_status add_activities(adding *c)
{
    size_t tracks = c->trace->tracks.count;
    c->above = tkt_alloc_zeroed((tracks + 1) * sizeof *c->above);
    takt_status status = c->above ? tkt_device_visit(c->trace, add_activity, c) : TAKT_NO_MEMORY;
    for (size_t i = 0; c->above && i < tracks; i++)
        TKT_ARRAY_FREE(&c->above[i]);
    tkt_free(c->above);
    return c->is_short ? TAKT_NO_MEMORY : status;
}

/* Programs may report any size; sums wrap around. */
static void add_bytes(int64_t *sum, int64_t bytes)
{
    *sum = (int64_t)((uint64_t)*sum + (uint64_t)bytes);
}

static void add_memory(adding *c, const tkt_memory_event *event)
{
    int64_t self_bytes = event->bytes;
    bool is_host = tkt_memory_is_host(event);
    if (c->trace->facts.has_spans) /* without spans no scope gets them */
        *(is_host ? &c->scopes->has_host_memory : &c->scopes->has_device_memory) = true;
    if (event->track == TKT_NO_TRACK || event->kind & TKT_MEMORY_POOL)
        return;
    c->events++;
    uint32_t group;
    uint32_t span = event->span;
    while ((group = next_group(c, event->track, &span)) != TKT_NO_GROUP) {
        tkt_scope_total *total = &c->scopes->items[group];
        add_bytes(is_host ? &total->host_self_bytes : &total->device_self_bytes, self_bytes);
        add_bytes(is_host ? &total->host_bytes : &total->device_bytes, event->bytes);
        self_bytes = 0;
    }
}

#define AHEAD 8 /* the spans of allocations lie far apart */

/* A macro: gcc takes a function that only prefetches for one that does nothing. */
#define FETCH_SPAN(trace, event)                                                                   \
    do {                                                                                           \
        if ((event)->track != TKT_NO_TRACK && (event)->span != TKT_NO_SPAN)                        \
            __builtin_prefetch(&(trace)->tracks.items[(event)->track].spans.items[(event)->span]); \
    } while (0)

takt_status tkt_scopes_add_events(const takt_trace *trace, const tkt_groups *groups,
                                  bool with_activities, tkt_scopes *scopes)
{
    adding c = {.trace = trace, .groups = groups, .scopes = scopes};
    c.states = tkt_alloc_zeroed((scopes->count + 1) * sizeof *c.states);
    if (!c.states)
        return TAKT_NO_MEMORY;
    takt_status status = with_activities ? add_activities(&c) : TAKT_OK;
    /* Where spans are lost, so are events of memory. */
    size_t count = tkt_trace_lacks_spans(trace) ? 0 : trace->memory_events.count;
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count)
            FETCH_SPAN(trace, &trace->memory_events.items[i + AHEAD]);
        add_memory(&c, &trace->memory_events.items[i]);
    }
    tkt_free(c.states);
    return status;
}

static tkt_scope_total *activity_row(tkt_scopes *scopes, tkt_map *rows, const char *name,
                                     uint32_t string)
{
    uint64_t *row = tkt_map_put(rows, string);
    if (!row || *row)
        return row ? &scopes->items[*row - 1] : NULL;
    tkt_scope_total *total = TKT_ARRAY_ADD(scopes);
    if (!total)
        return NULL;
    *total = (tkt_scope_total){.name = name, .kind = TKT_KIND_ACTIVITY};
    *row = scopes->count;
    return total;
}

takt_status tkt_scopes_add_activities(const takt_trace *trace, tkt_scopes *scopes)
{
    tkt_map rows = {0}; /* string -> index + 1 */
    takt_status status = tkt_trace_fold(trace) ? TAKT_OK : TAKT_NO_MEMORY;
    for (size_t i = 0; i < trace->node_activities.count && status == TAKT_OK; i++) {
        const tkt_node_activity *activity = &trace->node_activities.items[i];
        tkt_scope_total *total =
            activity_row(scopes, &rows, tkt_trace_text(trace, activity->name), activity->name);
        if (!total) {
            status = TAKT_NO_MEMORY;
            break;
        }
        total->calls += activity->stats.count;
        total->device_self_ns += activity->stats.total_ns;
        total->device_total_ns += activity->stats.total_ns;
    }
    tkt_map_fini(&rows);
    return status;
}
