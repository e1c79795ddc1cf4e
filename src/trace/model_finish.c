/* What a trace's contents imply, made once when all of them are there. */
#include "trace/model.h"

#include "trace/order.h"

#include <stdio.h>
#include <string.h>

static takt_status order_events(takt_trace *trace)
{
    const tkt_order_items *lists[] = {
        TKT_ORDER_ITEMS(&trace->marks, offsetof(tkt_mark, track)),
        TKT_ORDER_ITEMS(&trace->counters, offsetof(tkt_counter, track)),
        TKT_ORDER_ITEMS(&trace->flows, offsetof(tkt_flow, track)),
        TKT_ORDER_ITEMS(&trace->memory_events, offsetof(tkt_memory_event, track)),
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        takt_status status = tkt_order_by_time(lists[i]);
        if (status != TAKT_OK)
            return status;
    }
    return TAKT_OK;
}

static void renumber(uint32_t *span, const uint32_t *now)
{
    if (*span != TKT_NO_SPAN)
        *span = now[*span];
}

/* Everything that refers to spans of this track follows them; now[old index] is the new index. */
static void renumber_spans(takt_trace *trace, uint32_t number, const uint32_t *now)
{
    tkt_track *track = &trace->tracks.items[number];
    for (size_t i = 0; i < track->spans.count; i++)
        renumber(&track->spans.items[i].parent, now);
    for (size_t i = 0; i < track->args.count; i++)
        renumber(&track->args.items[i].span, now);
    for (size_t i = 0; i < track->works.count; i++)
        renumber(&track->works.items[i].span, now);
    for (size_t i = 0; i < trace->flows.count; i++) {
        if (trace->flows.items[i].track == number)
            renumber(&trace->flows.items[i].span, now);
    }
    for (size_t i = 0; i < trace->memory_events.count; i++) {
        if (trace->memory_events.items[i].track == number)
            renumber(&trace->memory_events.items[i].span, now);
    }
    for (size_t i = 0; i < trace->activities.count; i++) {
        if (trace->activities.items[i].track == number)
            renumber(&trace->activities.items[i].scope, now);
    }
}

/* The keys of an item's span and of an event's time lie in different places; sorting by span is
 * sorting by a time that is the span's number. */
#define ORDER_BY_SPAN(array) order_by_span((array)->items, (array)->count, sizeof *(array)->items)

static takt_status order_by_span(void *items, size_t count, size_t item_size)
{
    uint64_t *spans = tkt_alloc((count + 1) * sizeof *spans);
    if (!spans)
        return TAKT_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        uint32_t span; /* the first member of tkt_arg and tkt_work */
        memcpy(&span, (const char *)items + i * item_size, sizeof span);
        spans[i] = span;
    }
    uint32_t *places;
    takt_status status =
        tkt_order_find(&(tkt_order_items){spans, count, sizeof *spans, 0}, &places);
    if (status == TAKT_OK && places)
        status = tkt_order_apply(&(tkt_order_items){items, count, item_size, 0}, places);
    tkt_free(places);
    tkt_free(spans);
    return status;
}

/* Spans of an async track are known when they end or in no order at all. */
static takt_status order_async_track(takt_trace *trace, uint32_t number)
{
    tkt_track *track = &trace->tracks.items[number];
    const tkt_order_items *spans = TKT_ORDER_ITEMS(&track->spans, 0);
    uint32_t *places;
    takt_status status = tkt_order_find(spans, &places);
    if (status != TAKT_OK || !places)
        return status;

    uint32_t *now = tkt_alloc(spans->count * sizeof *now);
    status = now ? tkt_order_apply(spans, places) : TAKT_NO_MEMORY;
    if (status == TAKT_OK) {
        for (size_t i = 0; i < spans->count; i++)
            now[places[i]] = (uint32_t)i;
        renumber_spans(trace, number, now);
        status = ORDER_BY_SPAN(&track->args);
    }
    if (status == TAKT_OK)
        status = ORDER_BY_SPAN(&track->works);
    tkt_free(now);
    tkt_free(places);
    return status;
}

/* The label of an activity site, interned. */
static uint32_t label_of(takt_trace *trace, const tkt_trace_site *site)
{
    const char *name = tkt_trace_text(trace, site->name);
    char small[256];
    size_t size = strlen(name) + 32;
    char *text = size <= sizeof small ? small : tkt_alloc(size);
    if (!text)
        return TKT_STRTAB_FULL;
    uint32_t label =
        tkt_strtab_intern_text(&trace->strings, tkt_activity_label(text, size, site->filter, name));
    if (text != small)
        tkt_free(text);
    return label;
}

/* labels[s] is what activities of site s are called; 0 where it is none. */
static takt_status make_labels(takt_trace *trace, uint32_t *labels)
{
    for (size_t i = 0; i < trace->sites.count; i++) {
        if (trace->sites.items[i].kind != TAKT_SITE_ACTIVITY)
            continue;
        labels[i] = label_of(trace, &trace->sites.items[i]);
        if (labels[i] == TKT_STRTAB_FULL)
            return TAKT_NO_MEMORY;
    }
    return TAKT_OK;
}

static bool add_activity(takt_trace *trace, uint32_t track, uint32_t index, uint32_t label)
{
    const tkt_span *span = &trace->tracks.items[track].spans.items[index];
    const tkt_trace_site *site = &trace->sites.items[tkt_span_site(span)];
    tkt_activity *activity = TKT_ARRAY_ADD(&trace->activities);
    if (!activity)
        return false;
    *activity = (tkt_activity){.begin_ns = span->begin_ns,
                               .end_ns = span->end_ns,
                               .name = label,
                               .device = site->device,
                               .filter = site->filter,
                               .track = track,
                               .span = index,
                               .scope = span->parent};
    return true;
}

/* One pass over a track's spans: flags that their sites imply, activities, counts. */
static takt_status visit_spans(takt_trace *trace, uint32_t number, const uint32_t *labels)
{
    const tkt_track *track = &trace->tracks.items[number];
    for (size_t i = 0; i < track->spans.count; i++) {
        tkt_span *span = &track->spans.items[i];
        uint8_t kind = trace->sites.items[tkt_span_site(span)].kind;
        trace->facts.begun_before += (span->site_flags & TAKT_SPAN_BEGUN_BEFORE) != 0;
        trace->facts.unfinished += (span->site_flags & TAKT_SPAN_UNFINISHED) != 0;
        if (kind == TAKT_SITE_PHASE)
            span->site_flags |= TAKT_SPAN_PHASE;
        if (kind != TAKT_SITE_ACTIVITY)
            continue;
        span->site_flags |= TAKT_SPAN_ACTIVITY;
        if (!add_activity(trace, number, (uint32_t)i, labels[tkt_span_site(span)]))
            return TAKT_NO_MEMORY;
    }
    trace->facts.span_count += track->spans.count;
    return TAKT_OK;
}

static takt_status visit_tracks(takt_trace *trace)
{
    trace->facts.span_count = trace->facts.begun_before = trace->facts.unfinished = 0;
    uint32_t *labels = tkt_alloc_zeroed(trace->sites.count * sizeof *labels);
    takt_status status = labels ? make_labels(trace, labels) : TAKT_NO_MEMORY;
    for (uint32_t i = 0; i < trace->tracks.count && status == TAKT_OK; i++)
        status = visit_spans(trace, i, labels);
    tkt_free(labels);
    return status;
}

static takt_status order_tracks(takt_trace *trace)
{
    takt_status status = TAKT_OK;
    for (uint32_t i = 0; i < trace->tracks.count && status == TAKT_OK; i++) {
        if (trace->tracks.items[i].kind == TAKT_TRACK_ASYNC)
            status = order_async_track(trace, i);
    }
    return status;
}

/* Device activities stay in front in their order of issue; those of the host follow by begin. */
static takt_status add_host_activities(takt_trace *trace)
{
    size_t before = trace->activities.count;
    takt_status status = visit_tracks(trace);
    if (status != TAKT_OK || trace->activities.count == before)
        return status;
    return tkt_order_by_time(
        &(tkt_order_items){trace->activities.items + before, trace->activities.count - before,
                           sizeof(tkt_activity), offsetof(tkt_activity, track)});
}

takt_status tkt_trace_finish(takt_trace *trace)
{
    takt_status status = order_tracks(trace);
    if (status == TAKT_OK)
        status = order_events(trace);
    if (status == TAKT_OK && trace->facts.has_spans)
        status = add_host_activities(trace);
    if (status != TAKT_OK)
        return status;

    takt_facts *facts = &trace->facts;
    facts->name = tkt_trace_text(trace, trace->name);
    facts->backend = tkt_trace_text(trace, trace->backend);
    if (facts->has_spans)
        facts->activity_count = trace->activities.count;
    facts->step_count = trace->steps.count;
    if (trace->steps.count)
        facts->first_step = trace->steps.items[0].number;
    return TAKT_OK;
}
