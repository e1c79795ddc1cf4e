/* Derives the rest of a trace from its contents, once when these are complete: orders, flags, host
 * activities and counts. */
#include "trace/model.h"
#include "trace/devices.h"
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
        TKT_ORDER_ITEMS(&trace->waits, 0),
        TKT_ORDER_ITEMS(&trace->overheads, 0),
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        takt_status status = tkt_order_by_time(lists[i]);
        if (status != TAKT_OK)
            return status;
    }
    return TAKT_OK;
}

/* ---- The order of spans ---------------------------------------------------------------------- */

/* New indices of spans after sorting: now[track][old index]. now[track] is NULL if the track's
 * spans did not move. */
typedef struct moves {
    uint32_t **now; /* NULL if no track has moved spans */
    size_t track_count;
} moves;

static void renumber(const uint32_t *now, uint32_t *span)
{
    if (now && *span != TKT_NO_SPAN)
        *span = now[*span];
}

static void renumber_track(tkt_track *track, const uint32_t *now)
{
    for (size_t i = 0; i < track->spans.count; i++)
        renumber(now, &track->spans.items[i].parent);
    for (size_t i = 0; i < track->args.count; i++)
        renumber(now, &track->args.items[i].span);
    for (size_t i = 0; i < track->works.count; i++)
        renumber(now, &track->works.items[i].span);
    for (size_t i = 0; i < track->stacks.count; i++)
        renumber(now, &track->stacks.items[i].span);
}

/* Updates the span indices in events. */
static void renumber_events(takt_trace *trace, const moves *moved)
{
    if (!moved->now)
        return;
    for (size_t i = 0; i < trace->flows.count; i++) {
        tkt_flow *flow = &trace->flows.items[i];
        renumber(moved->now[flow->track], &flow->span);
    }
    for (size_t i = 0; i < trace->memory_events.count; i++) {
        tkt_memory_event *event = &trace->memory_events.items[i];
        if (event->track != TKT_NO_TRACK)
            renumber(moved->now[event->track], &event->span);
    }
    for (size_t i = 0; i < trace->activities.count; i++) {
        tkt_activity *activity = &trace->activities.items[i];
        if (activity->track != TKT_NO_TRACK)
            renumber(moved->now[activity->track], &activity->scope);
    }
}

static takt_status note_moves(takt_trace *trace, uint32_t number, const uint32_t *places,
                              moves *moved)
{
    size_t count = trace->tracks.items[number].spans.count;
    if (!moved->now) {
        moved->track_count = trace->tracks.count;
        moved->now = tkt_alloc_zeroed(moved->track_count * sizeof *moved->now);
    }
    uint32_t *now = moved->now ? tkt_alloc(count * sizeof *now) : NULL;
    if (!now)
        return TAKT_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        now[places[i]] = (uint32_t)i;
    moved->now[number] = now;
    renumber_track(&trace->tracks.items[number], now);
    return TAKT_OK;
}

/* By begin; of spans that begin together the longer one comes first, so that viewers draw it above
 * the others. */
static tkt_order_key async_key(const tkt_span *spans, size_t index)
{
    uint64_t us = (spans[index].end_ns - spans[index].begin_ns) / 1024;
    return (tkt_order_key){.time_ns = spans[index].begin_ns,
                           .group = UINT32_MAX - (uint32_t)(us < UINT32_MAX ? us : UINT32_MAX),
                           .index = (uint32_t)index};
}

static bool is_ordered_async(const tkt_span *spans, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        tkt_order_key last = async_key(spans, i - 1), key = async_key(spans, i);
        if (key.time_ns < last.time_ns || (key.time_ns == last.time_ns && key.group < last.group))
            return false;
    }
    return true;
}

/* Spans of an async track are recorded in the order of their ends, or in any order. */
static takt_status order_async_track(takt_trace *trace, uint32_t number, moves *moved)
{
    const tkt_order_items *spans = TKT_ORDER_ITEMS(&trace->tracks.items[number].spans, 0);
    uint32_t *places;
    if (is_ordered_async(spans->items, spans->count))
        return TAKT_OK;
    tkt_order_key *keys = tkt_alloc(spans->count * sizeof *keys);
    if (!keys)
        return TAKT_NO_MEMORY;
    for (size_t i = 0; i < spans->count; i++)
        keys[i] = async_key(spans->items, i);
    takt_status status = tkt_order_keys(keys, spans->count, &places);
    tkt_free(keys);
    if (status != TAKT_OK)
        return status;
    status = tkt_order_apply(spans, places);
    if (status == TAKT_OK)
        status = note_moves(trace, number, places, moved);
    tkt_free(places);
    return status;
}

static uint32_t span_of(const tkt_order_items *items, size_t index)
{
    uint32_t span; /* the first member of tkt_arg, tkt_work and tkt_span_stack */
    memcpy(&span, (const char *)items->items + index * items->item_size, sizeof span);
    return span;
}

static bool is_by_span(const tkt_order_items *items)
{
    for (size_t i = 1; i < items->count; i++) {
        if (span_of(items, i) < span_of(items, i - 1))
            return false;
    }
    return true;
}

/* Sorts arguments, work or stacks by span. A span may have been given arguments after the spans
 * inside it. */
static takt_status order_by_span(const tkt_order_items *items)
{
    if (is_by_span(items))
        return TAKT_OK;
    uint64_t *spans = tkt_alloc(items->count * sizeof *spans);
    if (!spans)
        return TAKT_NO_MEMORY;
    for (size_t i = 0; i < items->count; i++)
        spans[i] = span_of(items, i);
    uint32_t *places;
    takt_status status =
        tkt_order_find(&(tkt_order_items){spans, items->count, sizeof *spans, 0}, &places);
    if (status == TAKT_OK && places)
        status = tkt_order_apply(items, places);
    tkt_free(places);
    tkt_free(spans);
    return status;
}

/* Adds up work that was declared several times on a span. */
static void join_works(tkt_works *works)
{
    size_t kept = 0;
    for (size_t i = 0; i < works->count; i++) {
        const tkt_work *work = &works->items[i];
        if (kept && works->items[kept - 1].span == work->span) {
            works->items[kept - 1].flops += work->flops;
            works->items[kept - 1].bytes += work->bytes;
        } else {
            works->items[kept++] = *work;
        }
    }
    works->count = kept;
}

static takt_status order_track(takt_trace *trace, uint32_t number, moves *moved)
{
    tkt_track *track = &trace->tracks.items[number];
    takt_status status = TAKT_OK;
    if (track->kind == TAKT_TRACK_ASYNC)
        status = order_async_track(trace, number, moved);
    if (status == TAKT_OK)
        status = order_by_span(TKT_ORDER_ITEMS(&track->args, 0));
    if (status == TAKT_OK)
        status = order_by_span(TKT_ORDER_ITEMS(&track->works, 0));
    if (status == TAKT_OK)
        status = order_by_span(TKT_ORDER_ITEMS(&track->stacks, 0));
    if (status == TAKT_OK)
        join_works(&track->works);
    return status;
}

static takt_status order_tracks(takt_trace *trace)
{
    moves moved = {0};
    takt_status status = TAKT_OK;
    for (uint32_t i = 0; i < trace->tracks.count && status == TAKT_OK; i++)
        status = order_track(trace, i, &moved);
    if (status == TAKT_OK)
        renumber_events(trace, &moved);
    for (size_t i = 0; moved.now && i < moved.track_count; i++)
        tkt_free(moved.now[i]);
    tkt_free(moved.now);
    return status;
}

/* ---- Host activities ------------------------------------------------------------------------- */

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

#define LEFT_OUT TKT_STRTAB_FULL /* instead of a label */

static bool is_left_out(const takt_trace *trace, const tkt_trace_site *site)
{
    const char *begin = trace->host_devices;
    return begin && strncmp(tkt_trace_text(trace, site->device), begin, strlen(begin)) != 0;
}

/* Fills labels[site] with the label of the site's activities, for activity sites only. */
static takt_status make_labels(takt_trace *trace, uint32_t *labels)
{
    for (size_t i = 0; i < trace->sites.count; i++) {
        if (trace->sites.items[i].kind != TAKT_SITE_ACTIVITY)
            continue;
        if (is_left_out(trace, &trace->sites.items[i])) {
            labels[i] = LEFT_OUT;
            continue;
        }
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
                               .scope = span->parent,
                               .call = TKT_NO_CALL,
                               .shape = TKT_NO_SHAPE};
    return true;
}

/* Counts a span that the recording cut. Counts unfinished ones also for their site, and updates the
 * site with the most; leaves out phases, which end with their scope. False without memory. */
static bool count_cut(takt_trace *trace, const tkt_span *span, tkt_map *counts)
{
    trace->facts.begun_before += (span->site_flags & TAKT_SPAN_BEGUN_BEFORE) != 0;
    trace->facts.unfinished += (span->site_flags & TAKT_SPAN_UNFINISHED) != 0;
    const uint32_t mask = TAKT_SPAN_UNFINISHED | TAKT_SPAN_BEGUN_BEFORE | TAKT_SPAN_PHASE;
    uint32_t site = tkt_span_site(span);
    if ((tkt_span_flags(span) & mask) != TAKT_SPAN_UNFINISHED)
        return true;
    uint64_t *count = tkt_map_put(counts, site);
    if (count && ++*count > trace->most_unfinished.count)
        trace->most_unfinished = (tkt_most_unfinished){site, *count};
    return count != NULL;
}

/* One pass over a track's spans: sets flags that follow from sites, adds activities, counts. */
static takt_status visit_spans(takt_trace *trace, uint32_t number, const uint32_t *labels,
                               tkt_map *unfinished)
{
    const tkt_spans spans = trace->tracks.items[number].spans;
    for (size_t i = 0; i < spans.count; i++) {
        tkt_span *span = &spans.items[i];
        uint8_t kind = trace->sites.items[tkt_span_site(span)].kind;
        bool is_cut = span->site_flags & (TAKT_SPAN_BEGUN_BEFORE | TAKT_SPAN_UNFINISHED);
        if (kind == TAKT_SITE_PHASE)
            span->site_flags |= TAKT_SPAN_PHASE;
        if (kind == TAKT_SITE_CALL)
            span->site_flags |= TAKT_SPAN_CALL;
        if (is_cut && !count_cut(trace, span, unfinished))
            return TAKT_NO_MEMORY;
        if (kind != TAKT_SITE_ACTIVITY)
            continue;
        span->site_flags |= TAKT_SPAN_ACTIVITY;
        trace->facts.activity_count++;
        if (labels[tkt_span_site(span)] != LEFT_OUT &&
            !add_activity(trace, number, (uint32_t)i, labels[tkt_span_site(span)]))
            return TAKT_NO_MEMORY;
    }
    trace->facts.span_count += spans.count;
    return TAKT_OK;
}

static takt_status visit_tracks(takt_trace *trace)
{
    trace->facts.span_count = trace->facts.begun_before = trace->facts.unfinished = 0;
    trace->facts.activity_count = trace->activities.count;
    trace->most_unfinished = (tkt_most_unfinished){0};
    tkt_map unfinished = {0};
    uint32_t *labels = tkt_alloc_zeroed(trace->sites.count * sizeof *labels);
    takt_status status = labels ? make_labels(trace, labels) : TAKT_NO_MEMORY;
    for (uint32_t i = 0; i < trace->tracks.count && status == TAKT_OK; i++)
        status = visit_spans(trace, i, labels, &unfinished);
    tkt_map_fini(&unfinished);
    tkt_free(labels);
    return status;
}

/* Device activities stay first, in order of issue. Host activities follow, sorted by begin. */
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

static uint64_t without_percentiles(const tkt_stats *stats, const tkt_histogram *histogram)
{
    return tkt_stats_are_known(stats, histogram) ? 0 : stats->count;
}

/* Counts calls, tasks and activities whose histogram had no room. */
static uint64_t count_without_percentiles(const takt_trace *trace)
{
    const tkt_fold *fold = &trace->fold;
    uint64_t count = 0;
    for (size_t i = 1; i < fold->count; i++)
        count += without_percentiles(&fold->items[i].stats, fold->items[i].histogram);
    for (size_t i = 0; i < fold->tasks.count; i++)
        count += without_percentiles(&fold->tasks.items[i].stats, fold->tasks.items[i].histogram);
    for (size_t i = 0; i < trace->node_activities.count; i++) {
        const tkt_node_activity *sum = &trace->node_activities.items[i];
        count += without_percentiles(&sum->stats, sum->histogram);
    }
    return count;
}

/* A file keeps both numbers: the tree's own, and as losses. */
__attribute__((cold)) void tkt_trace_add_fold_losses(takt_trace *trace)
{
    if (trace->fold.other_count > 0)
        trace->losses[TAKT_LOSS_TOO_MANY_PATHS] = trace->fold.other_count;
    trace->losses[TAKT_LOSS_NO_MEMORY] += trace->fold.lost_count;
    trace->losses[TAKT_LOSS_MORE_NAMES] += trace->fold.unnamed_count;
    trace->losses[TAKT_LOSS_MORE_THREADS] += trace->fold.unlisted_threads;
    trace->fold.lost_count = trace->fold.unnamed_count = trace->fold.unlisted_threads = 0;
    if (trace->fold.count > 0)
        trace->losses[TAKT_LOSS_NO_PERCENTILES] = count_without_percentiles(trace);
}

takt_status tkt_trace_finish(takt_trace *trace)
{
    takt_status status = order_tracks(trace);
    if (status == TAKT_OK)
        status = order_events(trace);
    if (status == TAKT_OK && trace->facts.has_spans)
        status = add_host_activities(trace);
    if (status == TAKT_OK)
        status = tkt_phases_finish(trace);
    if (status != TAKT_OK)
        return status;

    takt_facts *facts = &trace->facts;
    facts->name = tkt_trace_text(trace, trace->name);
    facts->backend = tkt_trace_text(trace, trace->backend);
    bool is_list_cut =
        facts->step_count >= TKT_MOST_STEPS || trace->losses[TAKT_LOSS_MORE_STEPS] > 0;
    bool has_all = facts->step_count <= trace->steps.count || !is_list_cut;
    if (has_all && (facts->has_spans || trace->steps.count))
        facts->step_count = trace->steps.count;
    if (has_all && trace->steps.count)
        facts->first_step = trace->steps.items[0].number;
    if (facts->ending == TAKT_ENDING_WHOLE)
        facts->known_until_ns = facts->end_ns;
    tkt_trace_add_fold_losses(trace);
    return TAKT_OK;
}
