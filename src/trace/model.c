/* Creates and destroys traces, and adds their strings, sites and tracks; finds spans at a time.
 * model_finish.c derives the rest of a trace's contents, and model_fold.c its folded form. */
#include "trace/model.h"

#include "base/text.h"

#include <string.h>

/* ======== Traces ======== */

#define MAX_SITES ((UINT32_C(1) << 24) - 1) /* the index has 24 bits in tkt_span.site_flags */

static void destroy_track(tkt_track *track)
{
    TKT_ARRAY_FREE(&track->spans);
    TKT_ARRAY_FREE(&track->args);
    TKT_ARRAY_FREE(&track->works);
    TKT_ARRAY_FREE(&track->stacks);
}

static void destroy(takt_trace *trace)
{
    for (size_t i = 0; i < trace->tracks.count; i++)
        destroy_track(&trace->tracks.items[i]);
    TKT_ARRAY_FREE(&trace->tracks);
    TKT_ARRAY_FREE(&trace->sites);
    TKT_ARRAY_FREE(&trace->activities);
    TKT_ARRAY_FREE(&trace->marks);
    TKT_ARRAY_FREE(&trace->counters);
    TKT_ARRAY_FREE(&trace->flows);
    TKT_ARRAY_FREE(&trace->memory_events);
    TKT_ARRAY_FREE(&trace->calls);
    TKT_ARRAY_FREE(&trace->late_calls);
    TKT_ARRAY_FREE(&trace->shapes);
    TKT_ARRAY_FREE(&trace->devices);
    TKT_ARRAY_FREE(&trace->waits);
    TKT_ARRAY_FREE(&trace->overheads);
    TKT_ARRAY_FREE(&trace->node_activities);
    TKT_ARRAY_FREE(&trace->device_memory);
    TKT_ARRAY_FREE(&trace->frames);
    TKT_ARRAY_FREE(&trace->stack_frames);
    TKT_ARRAY_FREE(&trace->stacks);
    TKT_ARRAY_FREE(&trace->steps);
    TKT_ARRAY_FREE(&trace->phase_segments);
    TKT_ARRAY_FREE(&trace->phase_records);
    tkt_map_fini(&trace->site_index);
    tkt_strtab_fini(&trace->strings);
    tkt_fold_fini(&trace->fold);
    tkt_fold_fini(&trace->derived);
    tkt_free(trace->run);
    tkt_free(trace->begins);
    if (trace->gaps)
        trace->destroy_gaps(trace->gaps);
    tkt_free(trace);
}

takt_status tkt_trace_create(takt_trace **out)
{
    takt_trace *trace = tkt_alloc_zeroed(sizeof *trace);
    if (!trace)
        return TAKT_NO_MEMORY;
    tkt_mutex_init(&trace->fold_lock);
    tkt_mutex_init(&trace->gaps_lock);
    trace->references = 1;
    trace->facts.name = trace->facts.backend = "";
    tkt_stats_init(&trace->all_steps.stats);

    takt_status status = tkt_strtab_init(&trace->strings);
    if (status == TAKT_OK && tkt_trace_site_index(trace, &(tkt_trace_site){0}) != 0)
        status = TAKT_NO_MEMORY;
    if (status != TAKT_OK) {
        destroy(trace);
        return status;
    }
    *out = trace;
    return TAKT_OK;
}

const takt_trace *takt_trace_retain(const takt_trace *trace)
{
    /* relaxed: the caller already holds a reference, so the trace is visible to it */
    if (trace)
        __atomic_fetch_add(&((takt_trace *)trace)->references, 1, __ATOMIC_RELAXED);
    return trace;
}

void takt_trace_release(const takt_trace *trace)
{
    takt_trace *mine = (takt_trace *)trace;
    /* acquire and release: pairs with itself; the last owner must see the others' accesses done */
    if (mine && __atomic_sub_fetch(&mine->references, 1, __ATOMIC_ACQ_REL) == 0)
        destroy(mine);
}

static bool is_utf8(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size;) {
        size_t length = (unsigned char)bytes[i] < 0x80 ? 1 : tkt_utf8_length(bytes + i, size - i);
        if (length == 0)
            return false;
        i += length;
    }
    return true;
}

uint32_t tkt_trace_string(takt_trace *trace, const char *bytes, size_t size)
{
    if (is_utf8(bytes, size))
        return tkt_strtab_intern(&trace->strings, bytes, size);

    size_t capacity = 3 * size + 1; /* U+FFFD has three bytes and replaces at least one byte */
    char *clean = tkt_alloc(capacity);
    if (!clean)
        return TKT_STRTAB_FULL;
    uint32_t id =
        tkt_strtab_intern(&trace->strings, clean, tkt_utf8_clean(clean, capacity, bytes, size));
    tkt_free(clean);
    return id;
}

uint32_t tkt_trace_string_of(takt_trace *trace, const char *text)
{
    return tkt_trace_string(trace, text ? text : "(null)", strlen(text ? text : "(null)"));
}

takt_status tkt_trace_begin_fold(takt_trace *trace)
{
    takt_status status = tkt_fold_init(&trace->fold);
    trace->fold.more_name = tkt_trace_string_of(trace, "(more names)");
    return trace->fold.more_name == TKT_STRTAB_FULL ? TAKT_NO_MEMORY : status;
}

uint32_t tkt_trace_site_index(takt_trace *trace, const tkt_trace_site *site)
{
    uint64_t *place = tkt_map_find(&trace->site_index, tkt_hash_bytes(site, sizeof *site),
                                   trace->sites.items, sizeof *site, NULL, site);
    if (place && *place)
        return (uint32_t)*place - 1;
    size_t index = trace->sites.count;
    if (!place || index == MAX_SITES || !TKT_ARRAY_RESERVE(&trace->sites, index + 1))
        return UINT32_MAX;
    trace->sites.items[index] = *site;
    *place = ++trace->sites.count;
    return (uint32_t)index;
}

uint32_t tkt_trace_add_track(takt_trace *trace, takt_track_kind kind, uint32_t name,
                             uint32_t thread_id)
{
    tkt_track *track = TKT_ARRAY_ADD(&trace->tracks);
    if (!track)
        return TKT_NO_TRACK;
    *track = (tkt_track){.kind = kind, .name = name, .thread_id = thread_id};
    return (uint32_t)trace->tracks.count - 1;
}

/* ======== Spans at a time ======== */

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

/* A search passes at most this many spans that have ended. No stack is deeper; the limit keeps
 * crafted files from making the reader slow. */
#define MOST_ENDED 10000

uint32_t tkt_span_at(const tkt_track *track, uint64_t time_ns)
{
    size_t begun = track->kind == TAKT_TRACK_THREAD ? tkt_spans_begun(track, time_ns) : 0;
    uint32_t span = begun ? (uint32_t)begun - 1 : TKT_NO_SPAN;
    for (int up = 0; up < MOST_ENDED && span != TKT_NO_SPAN; up++) {
        if (track->spans.items[span].end_ns >= time_ns)
            return span;
        span = track->spans.items[span].parent;
    }
    return TKT_NO_SPAN;
}

/* ======== What is known ======== */

/* Some of what came after the last slice of a stream that was broken off. */
static bool has_part_of_end(const takt_trace *trace)
{
    return tkt_is_broken_off(&trace->facts) && trace->facts.known_until_ns < trace->facts.end_ns;
}

bool tkt_trace_lacks_spans(const takt_trace *trace)
{
    const uint64_t *losses = trace->losses;
    bool has_losses = losses[TAKT_LOSS_BUFFER_FULL] | losses[TAKT_LOSS_OVERWRITTEN] |
                      losses[TAKT_LOSS_NO_MEMORY] | losses[TAKT_LOSS_TOO_MANY_SITES];
    return trace->facts.has_spans && (has_losses || has_part_of_end(trace));
}

bool tkt_trace_lacks_work(const takt_trace *trace)
{
    const uint64_t *losses = trace->losses;
    uint64_t lost = losses[TAKT_LOSS_DEVICE_DROPPED] + losses[TAKT_LOSS_OVERWRITTEN] +
                    trace->facts.missing_activities;
    uint64_t count = trace->facts.activity_count;
    return lost > count / 100 || losses[TAKT_LOSS_INCOMPLETE] > count / 4 || has_part_of_end(trace);
}

bool tkt_trace_has_summary(const takt_trace *trace)
{
    return trace->fold.items != NULL;
}

bool tkt_trace_lacks_time(const takt_trace *trace)
{
    return tkt_trace_lacks_spans(trace) && !tkt_trace_has_summary(trace);
}

bool tkt_trace_prefers_lists(const takt_trace *trace)
{
    return !trace->facts.has_spans ||
           (tkt_trace_lacks_spans(trace) && tkt_trace_has_summary(trace) && trace->fold.has_lists);
}
