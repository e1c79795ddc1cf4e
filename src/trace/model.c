/* Creates and destroys traces, and adds their strings, sites and tracks; also sums of device
 * activities by call path, and spans at a time. model_finish.c derives the rest of a trace's contents. */
#include "trace/model.h"

#include "base/text.h"
#include "trace/devices.h"

#include <stdlib.h>
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
    tkt_free(trace->begins);
    if (trace->gaps)
        trace->destroy_gaps(trace->gaps);
    tkt_mutex_fini(&trace->fold_lock);
    tkt_mutex_fini(&trace->gaps_lock);
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

/* The map's keys are hashes of sites. A site whose hash is taken gets the next free key. */
uint32_t tkt_trace_site_index(takt_trace *trace, const tkt_trace_site *site)
{
    uint64_t key = tkt_hash_bytes(site, sizeof *site);
    for (const uint64_t *at; (at = tkt_map_get(&trace->site_index, key)) != NULL; key++) {
        if (memcmp(&trace->sites.items[*at], site, sizeof *site) == 0)
            return (uint32_t)*at;
    }
    uint32_t index = (uint32_t)trace->sites.count;
    if (index == MAX_SITES || !TKT_ARRAY_RESERVE(&trace->sites, index + (size_t)1))
        return UINT32_MAX;
    uint64_t *place = tkt_map_put(&trace->site_index, key);
    if (!place)
        return UINT32_MAX;
    *place = index;
    trace->sites.items[trace->sites.count++] = *site;
    return index;
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

/* ======== Activities of call paths ======== */

static bool is_same(const tkt_node_activity *a, const tkt_node_activity *b)
{
    return a->node == b->node && a->name == b->name && a->device == b->device &&
           a->filter == b->filter;
}

static size_t add_entry(takt_trace *trace, const tkt_node_activity *key)
{
    tkt_histogram *histogram = tkt_arena_alloc(&trace->fold.histograms, sizeof *histogram);
    tkt_node_activity *entry = histogram ? TKT_ARRAY_ADD(&trace->node_activities) : NULL;
    if (!entry)
        return SIZE_MAX;
    *histogram = (tkt_histogram){{0}};
    *entry = *key;
    entry->histogram = histogram;
    tkt_stats_init(&entry->stats);
    return trace->node_activities.count - 1;
}

size_t tkt_node_activity_index(tkt_node_activities *list, const tkt_node_activity *key)
{
    uint64_t hash = tkt_hash_u64((uint64_t)key->node << 32 | key->name) ^ key->device;
    for (;; hash++) {
        uint64_t *place = tkt_map_put(&list->index, hash);
        if (!place)
            return SIZE_MAX;
        if (*place == 0) {
            size_t index = add_entry(list->trace, key);
            if (index == SIZE_MAX)
                tkt_map_remove(&list->index, hash);
            else
                *place = index + 1;
            return index;
        }
        if (is_same(&list->trace->node_activities.items[*place - 1], key))
            return (size_t)*place - 1;
    }
}

static int compare(const void *a, const void *b)
{
    const tkt_node_activity *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return x->filter < y->filter ? -1 : x->filter > y->filter;
}

void tkt_node_activities_sort(takt_trace *trace)
{
    if (trace->node_activities.count)
        qsort(trace->node_activities.items, trace->node_activities.count,
              sizeof *trace->node_activities.items, compare);
}

/* ---- From a list of activities --------------------------------------------------------------- */

/* The fold's node of each span of a track; NULL without memory. Parents come before their
 * children. */
static uint32_t *find_nodes(tkt_fold *fold, const tkt_spans *spans)
{
    uint32_t *nodes = tkt_alloc((spans->count + 1) * sizeof *nodes);
    for (size_t i = 0; nodes && i < spans->count; i++) {
        const tkt_span *span = &spans->items[i];
        uint32_t above = span->parent == TKT_NO_SPAN ? 0 : nodes[span->parent];
        nodes[i] = tkt_fold_child(fold, above, tkt_span_site(span));
    }
    return nodes;
}

/* The node of the scope that launched an activity; TKT_NO_NODE without memory. Fills nodes[track]
 * when it is first needed. */
static uint32_t node_of(takt_trace *trace, uint32_t **nodes, const tkt_activity *activity)
{
    uint32_t track = activity->track;
    if (track == TKT_NO_TRACK || activity->scope == TKT_NO_SPAN)
        return 0;
    if (!nodes[track])
        nodes[track] = find_nodes(&trace->fold, &trace->tracks.items[track].spans);
    if (!nodes[track])
        return TKT_NO_NODE;
    uint32_t node = nodes[track][activity->scope];
    return node == TKT_NO_NODE ? 0 : node; /* there is no room for more paths */
}

#define LATEST 256u /* a power of two */

/* The place in a small cache of the latest entries. Threads that launch the same kernels alternate,
 * so the place depends on the node and the device too. The index finds displaced entries. */
static uint32_t *latest_of(uint32_t *latest, const tkt_node_activity *key)
{
    return &latest[(key->name + key->device * 31 + key->node * 7) % LATEST];
}

static takt_status add_activities(takt_trace *trace, uint32_t **nodes)
{
    uint32_t latest[LATEST] = {0};
    tkt_node_activities list = {.trace = trace};
    takt_status status = TAKT_OK;
    for (size_t i = 0; i < trace->activities.count; i++) {
        const tkt_activity *activity = &trace->activities.items[i];
        if (activity->span != TKT_NO_SPAN)
            continue;
        const tkt_node_activity key = {.node = node_of(trace, nodes, activity),
                                       .name = activity->name,
                                       .device = activity->device,
                                       .filter = activity->filter};
        uint32_t *place = latest_of(latest, &key);
        size_t index = key.node == TKT_NO_NODE ? SIZE_MAX : *place;
        if (index != SIZE_MAX && (index >= trace->node_activities.count ||
                                  !is_same(&trace->node_activities.items[index], &key)))
            index = tkt_node_activity_index(&list, &key);
        if (index == SIZE_MAX) {
            status = TAKT_NO_MEMORY;
            break;
        }
        *place = (uint32_t)index;
        tkt_node_activity *entry = &trace->node_activities.items[index];
        tkt_stats_add(&entry->stats, activity->end_ns - activity->begin_ns);
        tkt_histogram_add(entry->histogram, activity->end_ns - activity->begin_ns);
    }
    tkt_map_fini(&list.index);
    return status;
}

/* The entries stay in the order of first issue. Sorting by string ids would make the order differ
 * between a trace and its file, which numbers strings differently. */
takt_status tkt_node_activities_derive(takt_trace *trace)
{
    uint32_t **nodes = tkt_alloc_zeroed((trace->tracks.count + 1) * sizeof *nodes);
    takt_status status = nodes ? add_activities(trace, nodes) : TAKT_NO_MEMORY;
    for (size_t i = 0; nodes && i < trace->tracks.count; i++)
        tkt_free(nodes[i]);
    tkt_free(nodes);
    if (status != TAKT_OK)
        TKT_ARRAY_FREE(&trace->node_activities);
    return status;
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
