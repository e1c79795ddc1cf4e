/* Times by thread.
 *
 * Spans of a thread are in preorder and nest. A span is therefore inside an earlier one of the same
 * kind exactly if it begins before the latest end of that kind: no walk up the parents is needed to
 * count only outermost spans. */
#include "summary/threads.h"

#include "summary/owners.h"
#include "trace/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t tkt_main_track(const takt_trace *trace)
{
    for (uint32_t i = 0; i < trace->tracks.count; i++) {
        const tkt_track *track = &trace->tracks.items[i];
        if (track->kind == TAKT_TRACK_THREAD && track->thread_id == trace->facts.process_id)
            return i;
    }
    return TKT_NO_TRACK;
}

/* ======== Threads ======== */

typedef struct waits {
    const takt_trace *trace;
    bool *of_site;
    uint64_t *sums; /* by name: time of one thread's outermost waits; 0 between threads */
} waits;

static void add_wait(waits *w, tkt_thread_time *thread, uint32_t name, uint64_t ns)
{
    w->sums[name] += ns;
    thread->wait_ns += ns;
    if (w->sums[name] > w->sums[thread->wait_name])
        thread->wait_name = name;
}

static void add_thread(waits *w, tkt_threads *threads, uint32_t number, bool is_main)
{
    const tkt_track *track = &w->trace->tracks.items[number];
    const tkt_spans *spans = &track->spans;
    tkt_thread_time *thread = &threads->items[threads->count++];
    uint64_t waits_until_ns = 0;
    *thread = (tkt_thread_time){.name = track->name,
                                .thread_id = track->thread_id,
                                .number = number,
                                .is_main = is_main,
                                .spans = spans->count,
                                .first_ns = spans->count ? spans->items[0].begin_ns : 0};
    for (size_t i = 0; i < spans->count; i++) {
        const tkt_span *span = &spans->items[i];
        if (span->parent == TKT_NO_SPAN && !tkt_span_is_call(span))
            thread->scope_ns += span->end_ns - span->begin_ns;
        if (span->begin_ns < waits_until_ns || !w->of_site[tkt_span_site(span)])
            continue;
        waits_until_ns = span->end_ns;
        add_wait(w, thread, tkt_span_name(w->trace, span), span->end_ns - span->begin_ns);
    }
    for (size_t i = 0; i < spans->count; i++) /* clearing all would cost threads times names */
        w->sums[tkt_span_name(w->trace, &spans->items[i])] = 0;
}

/* Ids of threads rise in the order in which a program makes them. */
static int by_id(const void *a, const void *b)
{
    const tkt_thread_time *x = a, *y = b;
    if (x->is_main != y->is_main)
        return x->is_main ? -1 : 1;
    if (x->thread_id != y->thread_id)
        return x->thread_id < y->thread_id ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

/* ---- Of a summary ---------------------------------------------------------------------------- */

/* The tree takes the place of spans. Its nodes have larger numbers than their parents. */

/* True for a scope and what is inside one; a thread may also call CUDA from no scope. */
static bool is_in_scope(const takt_trace *trace, uint32_t node)
{
    const tkt_node *nodes = trace->fold.items;
    while (nodes[node].parent != 0)
        node = nodes[node].parent;
    return !tkt_site_is_call(trace, nodes[node].site);
}

/* Adds what a thread ran of a node. */
static void add_part(waits *w, const bool *is_in_wait, tkt_thread_time *thread,
                     const tkt_thread_node *part)
{
    const tkt_node *node = &w->trace->fold.items[part->node];
    thread->spans += part->count;
    if (node->parent == 0 && !tkt_site_is_call(w->trace, node->site))
        thread->scope_ns += part->total_ns;
    if (!is_in_wait[part->node] || is_in_wait[node->parent])
        return;
    add_wait(w, thread, w->trace->sites.items[node->site].name, part->total_ns);
    thread->scope_wait_ns += is_in_scope(w->trace, part->node) ? part->total_ns : 0;
}

/* Adds the listed threads, and subtracts what they ran from `rest`. */
static void add_listed(waits *w, const bool *is_in_wait, tkt_thread_node *rest, tkt_threads *out)
{
    const tkt_fold *fold = &w->trace->fold;
    bool has_main = false;
    size_t part = 0;
    for (uint32_t i = 0; i < fold->threads.count; i++) {
        const tkt_folded_thread *from = &fold->threads.items[i];
        bool is_main = !has_main && from->thread_id == w->trace->facts.process_id;
        tkt_thread_time *thread = &out->items[out->count++];
        *thread = (tkt_thread_time){
            .name = from->name, .thread_id = from->thread_id, .number = i, .is_main = is_main};
        has_main |= is_main;
        for (size_t k = part; k < from->end; k++) {
            tkt_thread_node *left = &rest[fold->parts.items[k].node];
            add_part(w, is_in_wait, thread, &fold->parts.items[k]);
            left->count -= fold->parts.items[k].count;
            left->total_ns -= fold->parts.items[k].total_ns;
        }
        for (; part < from->end; part++)
            w->sums[w->trace->sites.items[fold->items[fold->parts.items[part].node].site].name] = 0;
    }
}

static void add_rest(waits *w, const bool *is_in_wait, const tkt_thread_node *rest,
                     tkt_threads *out)
{
    tkt_thread_time thread = {.thread_id = UINT32_MAX, .number = TKT_NO_TRACK};
    for (size_t i = 1; i < w->trace->fold.count; i++)
        add_part(w, is_in_wait, &thread, &rest[i]);
    if (thread.spans > 0 || w->trace->losses[TAKT_LOSS_MORE_THREADS] > 0)
        out->items[out->count++] = thread;
}

static bool add_folded(waits *w, tkt_threads *out)
{
    const tkt_fold *fold = &w->trace->fold;
    bool *is_in_wait = tkt_alloc_zeroed((fold->count + 1) * sizeof *is_in_wait);
    tkt_thread_node *rest = tkt_alloc_zeroed((fold->count + 1) * sizeof *rest);
    bool has_memory = is_in_wait && rest && TKT_ARRAY_RESERVE(out, fold->threads.count + 1);
    for (size_t i = 1; has_memory && i < fold->count; i++) {
        const tkt_node *node = &fold->items[i];
        is_in_wait[i] = is_in_wait[node->parent] || w->of_site[node->site];
        rest[i] = (tkt_thread_node){i, node->stats.count, node->stats.total_ns};
    }
    if (has_memory) {
        add_listed(w, is_in_wait, rest, out);
        add_rest(w, is_in_wait, rest, out);
    }
    tkt_free(is_in_wait);
    tkt_free(rest);
    return has_memory;
}

static takt_status add_threads(const takt_trace *trace, uint32_t main, tkt_threads *out)
{
    waits w = {.trace = trace,
               .of_site = tkt_alloc(trace->sites.count * sizeof *w.of_site),
               .sums = tkt_alloc_zeroed(trace->strings.count * sizeof *w.sums)};
    bool has_memory = w.of_site && w.sums && TKT_ARRAY_RESERVE(out, trace->tracks.count);
    for (uint32_t i = 0; has_memory && i < trace->sites.count; i++)
        w.of_site[i] = tkt_site_waits(trace, i);
    bool is_folded = tkt_trace_prefers_lists(trace);
    if (has_memory && is_folded)
        has_memory = add_folded(&w, out);
    for (uint32_t i = 0; has_memory && !is_folded && i < trace->tracks.count; i++) {
        if (trace->tracks.items[i].kind == TAKT_TRACK_THREAD)
            add_thread(&w, out, i, i == main);
    }
    if (out->count > 0)
        qsort(out->items, out->count, sizeof *out->items, by_id);
    tkt_free(w.of_site);
    tkt_free(w.sums);
    return has_memory ? TAKT_OK : TAKT_NO_MEMORY;
}

takt_status tkt_threads_of(const takt_trace *trace, tkt_threads *out)
{
    if (!trace->facts.has_spans && !trace->fold.has_lists)
        return TAKT_NO_SPANS;
    uint32_t main = tkt_main_track(trace);
    takt_status status = add_threads(trace, main, out);
    bool has_parts = status == TAKT_OK && !tkt_trace_lacks_spans(trace);
    return has_parts ? tkt_regions_of(trace, main, out) : status;
}

const char *tkt_thread_label(char out[TKT_THREAD_LABEL], const takt_trace *trace,
                             const tkt_thread_time *thread)
{
    if (thread->number == TKT_NO_TRACK)
        return "(more threads)";
    if (thread->name)
        return tkt_trace_text(trace, thread->name);
    if (thread->is_main)
        return "main";
    snprintf(out, TKT_THREAD_LABEL, "thread %u", thread->thread_id);
    return out;
}

void tkt_threads_fini(tkt_threads *threads)
{
    TKT_ARRAY_FREE(threads);
    TKT_ARRAY_FREE(&threads->parts);
}

/* ======== Scopes over threads ======== */

/* What one thread spent in a group of scopes. */
typedef struct share {
    uint64_t ns;
    uint64_t until_ns; /* when its latest outermost call ended */
    uint64_t calls;
} share;

static void widen(uint64_t *min, uint64_t *max, uint64_t value, bool is_first)
{
    if (is_first || value < *min)
        *min = value;
    if (is_first || value > *max)
        *max = value;
}

static void add_share(tkt_scope_total *total, const share *of_thread, uint32_t track, bool is_main)
{
    uint64_t ns = of_thread->ns, calls = of_thread->calls;
    bool is_first = total->threads == 0;
    if (calls == 0)
        return;
    if (is_first || ns > total->thread_max_ns)
        total->track = track;
    widen(&total->thread_min_ns, &total->thread_max_ns, ns, is_first);
    widen(&total->thread_min_calls, &total->thread_max_calls, calls, is_first);
    total->thread_sum_ns += ns;
    total->main_ns += is_main ? ns : 0;
    total->threads++;
}

static void add_shares(tkt_scopes *scopes, const share *shares, uint32_t track, bool is_main)
{
    for (size_t group = 0; group < scopes->count; group++)
        add_share(&scopes->items[group], &shares[group], track, is_main);
}

/* Sets groups[n] to the group of node n, or to TKT_NO_GROUP inside another node of the group. */
static void find_outermost(const takt_trace *trace, const uint32_t *of_site, uint32_t *groups)
{
    const tkt_node *nodes = trace->fold.items;
    for (size_t i = 1; i < trace->fold.count; i++) {
        uint32_t above = nodes[i].parent;
        groups[i] = of_site[nodes[i].site];
        while (above != 0 && of_site[nodes[above].site] != groups[i])
            above = nodes[above].parent;
        if (above != 0)
            groups[i] = TKT_NO_GROUP;
    }
}

/* Leaves out the groups that threads entered which are not listed. calls[] has room for all
 * groups. */
static void leave_out_partial(const tkt_fold *fold, const uint32_t *groups, uint64_t *calls,
                              tkt_scopes *scopes)
{
    memset(calls, 0, scopes->count * sizeof *calls);
    for (size_t i = 1; i < fold->count; i++)
        if (groups[i] != TKT_NO_GROUP)
            calls[groups[i]] += fold->items[i].stats.count;
    for (size_t i = 0; i < fold->parts.count; i++)
        if (groups[fold->parts.items[i].node] != TKT_NO_GROUP)
            calls[groups[fold->parts.items[i].node]] -= fold->parts.items[i].count;
    for (size_t group = 0; group < scopes->count; group++)
        if (calls[group] > 0)
            scopes->items[group].threads = 0;
}

static takt_status spread_folded(const takt_trace *trace, const uint32_t *of_site, share *shares,
                                 tkt_scopes *scopes)
{
    const tkt_fold *fold = &trace->fold;
    uint32_t *groups = tkt_alloc((fold->count + 1) * sizeof *groups);
    uint64_t *calls = tkt_alloc((scopes->count + 1) * sizeof *calls);
    size_t part = 0;
    if (groups && calls)
        find_outermost(trace, of_site, groups);
    for (uint32_t i = 0; groups && calls && i < fold->threads.count; i++) {
        memset(shares, 0, scopes->count * sizeof *shares);
        for (; part < fold->threads.items[i].end; part++) {
            const tkt_thread_node *from = &fold->parts.items[part];
            uint32_t group = groups[from->node];
            if (group == TKT_NO_GROUP)
                continue;
            shares[group].ns += from->total_ns;
            shares[group].calls += from->count;
        }
        add_shares(scopes, shares, i, fold->threads.items[i].thread_id == trace->facts.process_id);
    }
    if (groups && calls)
        leave_out_partial(fold, groups, calls, scopes);
    takt_status status = groups && calls ? TAKT_OK : TAKT_NO_MEMORY;
    tkt_free(groups);
    tkt_free(calls);
    return status;
}

takt_status tkt_threads_spread(const takt_trace *trace, const uint32_t *of_site, tkt_scopes *scopes)
{
    share *shares = tkt_alloc((scopes->count + 1) * sizeof *shares);
    takt_status status = TAKT_OK;
    if (!shares)
        return TAKT_NO_MEMORY;
    bool are_folded = tkt_trace_prefers_lists(trace);
    if (are_folded)
        status = spread_folded(trace, of_site, shares, scopes);
    for (uint32_t i = 0; i < trace->tracks.count && !are_folded; i++) {
        const tkt_track *track = &trace->tracks.items[i];
        if (track->kind != TAKT_TRACK_THREAD || track->spans.count == 0)
            continue;
        memset(shares, 0, scopes->count * sizeof *shares);
        const tkt_span *end = track->spans.items + track->spans.count;
        for (const tkt_span *span = track->spans.items; span < end; span++) {
            uint32_t group = of_site[tkt_span_site(span)];
            if (group == TKT_NO_GROUP)
                continue;
            share *mine = &shares[group];
            mine->calls++;
            if (span->begin_ns < mine->until_ns)
                continue;
            mine->until_ns = span->end_ns;
            mine->ns += span->end_ns - span->begin_ns;
        }
        add_shares(scopes, shares, i, track->thread_id == trace->facts.process_id);
    }
    tkt_free(shares);
    return status;
}
