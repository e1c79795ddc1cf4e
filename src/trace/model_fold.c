/* The folded form of a trace that holds spans: one walk over each track. Preorder makes the parent
 * of a span one of those on a stack, which is kept with their nodes. */
#include "trace/node_activities.h"

#define MOST_NODES (2 * (size_t)TKT_FOLD_MAX_NODES) /* then spans find no node any more */

typedef struct ancestor {
    uint32_t span;
    uint32_t node;
} ancestor;

typedef TKT_ARRAY_OF(ancestor) ancestors;

typedef struct folding {
    const takt_trace *trace;
    tkt_fold *fold;
    ancestors stack;
    size_t next_call; /* of the trace's calls, which come by track, then span, as the walk does */
} folding;

/* Takes back what is not above `parent`; the node that remains on top, or the root. */
static uint32_t node_above(ancestors *stack, uint32_t parent)
{
    while (stack->count && stack->items[stack->count - 1].span != parent)
        stack->count--;
    return stack->count ? stack->items[stack->count - 1].node : 0;
}

/* *out becomes the span's node, TKT_NO_NODE where there is no room for more paths. */
static bool fold_span(folding *f, const tkt_span *span, uint32_t index, uint32_t *out)
{
    tkt_fold *fold = f->fold;
    uint32_t node = tkt_fold_child(fold, node_above(&f->stack, span->parent), tkt_span_site(span));
    ancestor *top = TKT_ARRAY_ADD(&f->stack);
    if (!top)
        return false;
    *top = (ancestor){index, node};
    *out = node;
    tkt_fold_add(fold, node, span->end_ns - span->begin_ns);
    /* Without memory folding goes on and leaves something out; here that is a failure. */
    return node == TKT_NO_NODE ? fold->count >= MOST_NODES : fold->items[node].histogram != NULL;
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

static takt_status fold_track(folding *f, uint32_t number)
{
    const tkt_track *track = &f->trace->tracks.items[number];
    size_t work = 0;
    f->stack.count = 0;
    for (uint32_t i = 0; i < track->spans.count; i++) {
        uint32_t node;
        if (!fold_span(f, &track->spans.items[i], i, &node))
            return TAKT_NO_MEMORY;
        fold_calls(f, number, i, node);
        for (; work < track->works.count && track->works.items[work].span == i; work++) {
            if (node == TKT_NO_NODE)
                continue;
            f->fold->items[node].flops += track->works.items[work].flops;
            f->fold->items[node].bytes += track->works.items[work].bytes;
        }
    }
    return TAKT_OK;
}

static takt_status fold_tracks(const takt_trace *trace, tkt_fold *fold)
{
    folding f = {.trace = trace, .fold = fold};
    takt_status status = tkt_fold_init(fold);
    for (uint32_t i = 0; i < trace->tracks.count && status == TAKT_OK; i++) {
        if (trace->tracks.items[i].kind == TAKT_TRACK_THREAD) /* others are nobody's CPU time */
            status = fold_track(&f, i);
    }
    TKT_ARRAY_FREE(&f.stack);
    tkt_fold_find_self(fold);
    return status;
}

static takt_status make_fold(takt_trace *trace)
{
    tkt_fold fold = {0};
    takt_status status = fold_tracks(trace, &fold);
    if (status == TAKT_OK) {
        trace->fold = fold;
        trace->fold_is_derived = true;
    } else {
        tkt_fold_fini(&fold);
    }
    return status;
}

/* Activities are added up with it, unless that was done while they were recorded. */
static const tkt_fold *fold_of(takt_trace *trace)
{
    if (!trace->fold.items && make_fold(trace) != TAKT_OK)
        return NULL;
    bool has_none = trace->node_activities.count == 0 && !trace->node_activities_are_derived;
    if (has_none && trace->facts.has_spans) {
        if (tkt_node_activities_derive(trace) != TAKT_OK)
            return NULL;
        trace->node_activities_are_derived = true;
    }
    return &trace->fold;
}

const tkt_fold *tkt_trace_fold(const takt_trace *trace)
{
    /* All else in a sealed trace is constant; this cache has the lock for itself. */
    takt_trace *mine = (takt_trace *)trace;
    tkt_mutex_lock(&mine->fold_lock);
    const tkt_fold *fold = fold_of(mine);
    tkt_mutex_unlock(&mine->fold_lock);
    return fold;
}
