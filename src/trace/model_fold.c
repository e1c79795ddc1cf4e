/* The folded form of a trace, made on demand: its call tree, and sums of device activities by node
 * of this tree. */
#include "trace/model.h"
#include "trace/devices.h"
#include "trace/order.h"

#include <stdlib.h>

/* ======== Spans ======== */

/* One walk over each track. Spans are in preorder, so a span's parent is on the stack of open
 * spans. */

#define MOST_NODES (2 * (size_t)TKT_FOLD_MAX_NODES) /* beyond this, new paths get no node */

typedef struct open_span {
    uint32_t span;
    uint32_t node;
} open_span;

typedef struct folding {
    const takt_trace *trace;
    tkt_fold *fold;
    TKT_ARRAY_OF(open_span) open;
    size_t next_call; /* the trace's calls have the order of this walk: by track, then span */
} folding;

/* Closes what is not above `parent`, and returns the node of the innermost open span, or the root.
 */
static uint32_t close_until(folding *f, uint32_t parent)
{
    while (f->open.count && f->open.items[f->open.count - 1].span != parent)
        f->open.count--;
    return f->open.count ? f->open.items[f->open.count - 1].node : 0;
}

/* Sets *node to the node of span `index`, or to TKT_NO_NODE if the fold has no room for more paths.
 * False without memory. */
static bool fold_span(folding *f, const tkt_span *span, uint32_t index, uint32_t *node)
{
    tkt_fold *fold = f->fold;
    *node = tkt_fold_child(fold, close_until(f, span->parent), tkt_span_site(span));
    open_span *open = TKT_ARRAY_ADD(&f->open);
    if (!open)
        return false;
    *open = (open_span){index, *node};
    if (*node == TKT_NO_NODE) /* without memory, the fold silently leaves out nodes */
        return fold->count >= MOST_NODES;
    tkt_node *at = &fold->items[*node];
    if (tkt_span_is_piece(span)) {
        tkt_stats_add_piece(&at->stats, span->end_ns - span->begin_ns);
        return true;
    }
    return tkt_fold_count(fold, &at->stats, &at->histogram, span->end_ns - span->begin_ns);
}

static void fold_calls(folding *f, uint32_t track, uint32_t span, uint32_t node)
{
    for (; f->next_call < f->trace->calls.count; f->next_call++) {
        const tkt_call_info *call = &f->trace->calls.items[f->next_call];
        if (call->track > track || (call->track == track && call->span > span))
            return;
        if (call->track == track && call->result != 0 && node != TKT_NO_NODE)
            f->fold->items[node].errors++;
    }
}

/* Fills `nodes`, unless it is NULL, with the node of each span. */
static bool fold_track(folding *f, uint32_t number, uint32_t *nodes)
{
    const tkt_track *track = &f->trace->tracks.items[number];
    size_t work = 0;
    f->open.count = 0;
    for (uint32_t i = 0; i < track->spans.count; i++) {
        uint32_t node;
        if (!fold_span(f, &track->spans.items[i], i, &node))
            return false;
        if (nodes)
            nodes[i] = node;
        fold_calls(f, number, i, node);
        for (; work < track->works.count && track->works.items[work].span == i; work++) {
            if (node == TKT_NO_NODE)
                continue;
            f->fold->items[node].flops += track->works.items[work].flops;
            f->fold->items[node].bytes += track->works.items[work].bytes;
        }
    }
    return true;
}

/* Fills nodes[track] with the node of each span, if there are activities of devices to add to
 * them. */
static bool fold_tracks(const takt_trace *trace, tkt_fold *fold, uint32_t **nodes)
{
    folding f = {.trace = trace, .fold = fold};
    bool is_kept = tkt_device_activity_count(trace) > 0;
    bool is_folded = tkt_fold_init(fold) == TAKT_OK;
    for (uint32_t i = 0; i < trace->tracks.count && is_folded; i++) {
        const tkt_track *track = &trace->tracks.items[i];
        if (track->kind != TAKT_TRACK_THREAD) /* async spans are not CPU time */
            continue;
        if (is_kept)
            nodes[i] = tkt_alloc((track->spans.count + 1) * sizeof **nodes);
        is_folded = (nodes[i] || !is_kept) && fold_track(&f, i, nodes[i]);
    }
    TKT_ARRAY_FREE(&f.open);
    tkt_fold_find_self(fold);
    tkt_fold_find_others(fold);
    return is_folded;
}

static bool make_fold(takt_trace *trace, uint32_t **nodes)
{
    tkt_fold fold = {0};
    if (!fold_tracks(trace, &fold, nodes)) {
        tkt_fold_fini(&fold);
        return false;
    }
    trace->derived = fold;
    return true;
}

/* ======== Activities of paths ======== */

static bool is_same(const void *item, const void *wanted)
{
    const tkt_node_activity *a = item, *b = wanted;
    return a->node == b->node && a->name == b->name && a->device == b->device &&
           a->filter == b->filter;
}

size_t tkt_node_activity_index(tkt_node_activities *list, const tkt_node_activity *key)
{
    takt_trace *trace = list->trace;
    uint64_t hash = tkt_hash_u64((uint64_t)key->node << 32 | key->name) ^ key->device;
    uint64_t *place =
        tkt_map_find(&list->index, hash, trace->node_activities.items, sizeof *key, is_same, key);
    if (place && *place)
        return (size_t)*place - 1;
    tkt_node_activity *added = place ? TKT_ARRAY_ADD(&trace->node_activities) : NULL;
    if (!added)
        return SIZE_MAX;
    *added = *key;
    tkt_stats_init(&added->stats);
    *place = trace->node_activities.count;
    return (size_t)*place - 1;
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

static tkt_fold *fold_of(takt_trace *trace)
{
    return trace->fold.items ? &trace->fold : &trace->derived;
}

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
 * if it is needed and the fold was not made from the spans. */
static uint32_t node_of(takt_trace *trace, uint32_t **nodes, const tkt_activity *activity)
{
    uint32_t track = activity->track;
    if (track == TKT_NO_TRACK || activity->scope == TKT_NO_SPAN)
        return 0;
    if (!nodes[track])
        nodes[track] = find_nodes(fold_of(trace), &trace->tracks.items[track].spans);
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

static bool add_activities(takt_trace *trace, uint32_t **nodes)
{
    uint32_t latest[LATEST] = {0};
    tkt_node_activities list = {.trace = trace};
    tkt_node_activity key = {.node = 0}; /* made once: its sums are large, and stay 0 */
    bool is_added = true;
    size_t count = tkt_device_activity_count(trace);
    for (size_t i = 0; i < count && is_added; i++) {
        const tkt_activity *activity = &trace->activities.items[i];
        key.node = node_of(trace, nodes, activity);
        key.name = activity->name;
        key.device = activity->device;
        key.filter = activity->filter;
        uint32_t *place = latest_of(latest, &key);
        size_t index = key.node == TKT_NO_NODE ? SIZE_MAX : *place;
        if (index != SIZE_MAX && (index >= trace->node_activities.count ||
                                  !is_same(&trace->node_activities.items[index], &key)))
            index = tkt_node_activity_index(&list, &key);
        if (index == SIZE_MAX) {
            is_added = false;
            break;
        }
        *place = (uint32_t)index;
        tkt_node_activity *entry = &trace->node_activities.items[index];
        is_added = tkt_fold_count(fold_of(trace), &entry->stats, &entry->histogram,
                                  activity->end_ns - activity->begin_ns);
    }
    tkt_map_fini(&list.index);
    return is_added;
}

/* The entries stay in the order of first issue. Sorting by string ids would make the order differ
 * between a trace and its file, which numbers strings differently. */
static bool derive_activities(takt_trace *trace, uint32_t **nodes)
{
    if (!add_activities(trace, nodes)) {
        TKT_ARRAY_FREE(&trace->node_activities);
        return false;
    }
    trace->node_activities_are_derived = true;
    return true;
}

/* ======== On demand ======== */

static bool lacks_activities(const takt_trace *trace)
{
    return trace->facts.has_spans && trace->node_activities.count == 0 &&
           !trace->node_activities_are_derived;
}

/* Also adds up activities, unless Takt did so while recording. */
static bool make_all(takt_trace *trace)
{
    uint32_t **nodes = tkt_alloc_zeroed((trace->tracks.count + 1) * sizeof *nodes);
    bool is_made = nodes && (fold_of(trace)->items || make_fold(trace, nodes));
    if (is_made && lacks_activities(trace))
        is_made = derive_activities(trace, nodes);
    for (size_t i = 0; nodes && i < trace->tracks.count; i++)
        tkt_free(nodes[i]);
    tkt_free(nodes);
    return is_made;
}

const tkt_fold *tkt_trace_fold(const takt_trace *trace)
{
    /* A sealed trace is constant except for its caches; fold_lock guards this one. */
    takt_trace *mine = (takt_trace *)trace;
    tkt_mutex_lock(&mine->fold_lock);
    bool is_made = (fold_of(mine)->items && !lacks_activities(mine)) || make_all(mine);
    tkt_mutex_unlock(&mine->fold_lock);
    return is_made ? fold_of(mine) : NULL;
}
