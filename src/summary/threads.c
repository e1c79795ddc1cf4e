/* Times by thread.
 *
 * Spans of a thread are in preorder and nest. A span is therefore inside an earlier one of the same
 * kind exactly if it begins before the latest end of that kind: no walk up the parents is needed to
 * count only outermost spans. */
#include "summary/threads.h"

#include "summary/owners.h"
#include "trace/devices.h"

#include <stdlib.h>
#include <string.h>

/* The main thread has the number of its process. */
static uint32_t main_track(const takt_trace *trace)
{
    for (uint32_t i = 0; i < trace->tracks.count; i++) {
        const tkt_track *track = &trace->tracks.items[i];
        if (track->kind == TAKT_TRACK_THREAD && track->thread_id == trace->facts.process_id)
            return i;
    }
    return TKT_NO_TRACK;
}

static uint32_t span_name(const takt_trace *trace, const tkt_span *span)
{
    return trace->sites.items[tkt_span_site(span)].name;
}

static bool is_call(const tkt_span *span)
{
    return tkt_span_flags(span) & TAKT_SPAN_CALL;
}

/* ======== Threads ======== */

/* True for calls that wait for a device, and for scopes whose name says that they wait. */
static bool site_waits(const takt_trace *trace, uint32_t site)
{
    const char *name = tkt_trace_text(trace, trace->sites.items[site].name);
    if (tkt_site_is_call(trace, site))
        return tkt_call_waits(name);
    return strcasestr(name, "wait") || strcasestr(name, "_barrier");
}

typedef struct waits {
    const takt_trace *trace;
    bool *of_site;
    uint64_t *sums; /* by name: time of one thread's outermost waits */
} waits;

static void add_wait(waits *w, tkt_thread_time *thread, const tkt_span *span)
{
    uint32_t name = span_name(w->trace, span);
    w->sums[name] += span->end_ns - span->begin_ns;
    thread->wait_ns += span->end_ns - span->begin_ns;
    if (w->sums[name] > w->sums[thread->wait_name])
        thread->wait_name = name;
}

static void add_thread(waits *w, tkt_threads *threads, uint32_t track, bool is_main)
{
    const tkt_spans *spans = &w->trace->tracks.items[track].spans;
    tkt_thread_time *thread = &threads->items[threads->count++];
    uint64_t waits_until_ns = 0;
    *thread = (tkt_thread_time){.track = track, .is_main = is_main};
    memset(w->sums, 0, w->trace->strings.count * sizeof *w->sums);
    for (size_t i = 0; i < spans->count; i++) {
        const tkt_span *span = &spans->items[i];
        if (span->parent == TKT_NO_SPAN && !is_call(span))
            thread->scope_ns += span->end_ns - span->begin_ns;
        if (span->begin_ns < waits_until_ns || !w->of_site[tkt_span_site(span)])
            continue;
        waits_until_ns = span->end_ns;
        add_wait(w, thread, span);
    }
}

/* Ids of threads rise in the order in which a program makes them. */
static int by_id(const void *a, const void *b, void *tracks)
{
    const tkt_thread_time *x = a, *y = b;
    const tkt_track *of = tracks;
    if (x->is_main != y->is_main)
        return x->is_main ? -1 : 1;
    uint32_t id_x = of[x->track].thread_id, id_y = of[y->track].thread_id;
    if (id_x != id_y)
        return id_x < id_y ? -1 : 1;
    return x->track < y->track ? -1 : 1;
}

static takt_status add_threads(const takt_trace *trace, uint32_t main, tkt_threads *out)
{
    waits w = {.trace = trace,
               .of_site = tkt_alloc(trace->sites.count * sizeof *w.of_site),
               .sums = tkt_alloc(trace->strings.count * sizeof *w.sums)};
    bool has_memory = w.of_site && w.sums && TKT_ARRAY_RESERVE(out, trace->tracks.count);
    for (uint32_t i = 0; has_memory && i < trace->sites.count; i++)
        w.of_site[i] = site_waits(trace, i);
    for (uint32_t i = 0; has_memory && i < trace->tracks.count; i++) {
        if (trace->tracks.items[i].kind == TAKT_TRACK_THREAD)
            add_thread(&w, out, i, i == main);
    }
    if (out->count > 0)
        qsort_r(out->items, out->count, sizeof *out->items, by_id, trace->tracks.items);
    tkt_free(w.of_site);
    tkt_free(w.sums);
    return has_memory ? TAKT_OK : TAKT_NO_MEMORY;
}

/* ======== Parts of regions ======== */

/* A thread's outermost scope is a part of the innermost scope of the main thread around it. The
 * main thread often works too, with scopes like those of the other threads: it may be in such a
 * scope while another thread runs a shorter one. Scopes with a name that other threads open
 * outermost are therefore never regions, nor are scopes inside them. */

typedef struct partition {
    const takt_trace *trace;
    const tkt_track *main;
    tkt_threads *threads;
    bool *is_part;               /* by name: some other thread opens it outermost */
    uint64_t *main_ns;           /* by name: the main thread's time in it */
    uint64_t *until_ns;          /* by name: when the main thread's latest outermost one ended */
    tkt_map rows;                /* region << 32 | name -> index of the part + 1 */
    TKT_ARRAY_OF(uint64_t) sums; /* by part: time of the current thread; UINT64_MAX: none */
} partition;

static bool is_outermost_scope(const tkt_span *span)
{
    return span->parent == TKT_NO_SPAN && !is_call(span);
}

static void find_names(partition *p, const tkt_track *track)
{
    for (size_t i = 0; i < track->spans.count; i++) {
        const tkt_span *span = &track->spans.items[i];
        if (is_outermost_scope(span))
            p->is_part[span_name(p->trace, span)] = true;
    }
}

/* Returns the innermost scope from `span` outwards that neither is a part nor lies in one. */
static uint32_t region_from(const partition *p, uint32_t span)
{
    const tkt_span *spans = p->main->spans.items;
    uint32_t region = tkt_scope_of(p->main, span);
    for (; span != TKT_NO_SPAN; span = spans[span].parent) {
        if (p->is_part[span_name(p->trace, &spans[span])])
            region = tkt_scope_of(p->main, spans[span].parent);
    }
    return region;
}

/* Adds a call to the part of this region and name. Only a worker's call creates the part. */
static bool add_call(partition *p, uint32_t region_span, const tkt_span *span, bool is_of_main)
{
    uint32_t region = span_name(p->trace, &p->main->spans.items[region_span]);
    uint32_t name = span_name(p->trace, span);
    uint64_t key = (uint64_t)region << 32 | name;
    if (is_of_main && !tkt_map_get(&p->rows, key))
        return true;
    uint64_t *row = tkt_map_put(&p->rows, key);
    if (row && *row == 0) {
        tkt_thread_part *part = TKT_ARRAY_ADD(&p->threads->parts);
        uint64_t *sum = part ? TKT_ARRAY_ADD(&p->sums) : NULL;
        if (!sum)
            return false;
        *part = (tkt_thread_part){.region = region, .name = name, .min_ns = UINT64_MAX};
        *sum = UINT64_MAX;
        *row = p->threads->parts.count;
    }
    if (!row)
        return false;
    uint64_t *sum = &p->sums.items[*row - 1];
    *sum = (*sum == UINT64_MAX ? 0 : *sum) + span->end_ns - span->begin_ns;
    p->threads->parts.items[*row - 1].calls++;
    return true;
}

/* Turns the current thread's sums into figures of the parts. */
static void end_thread(partition *p)
{
    for (size_t i = 0; i < p->sums.count; i++) {
        tkt_thread_part *part = &p->threads->parts.items[i];
        uint64_t sum = p->sums.items[i];
        p->sums.items[i] = UINT64_MAX;
        if (sum == UINT64_MAX)
            continue;
        part->threads++;
        part->total_ns += sum;
        part->min_ns = sum < part->min_ns ? sum : part->min_ns;
        part->max_ns = sum > part->max_ns ? sum : part->max_ns;
    }
}

static bool add_worker(partition *p, const tkt_track *track)
{
    const tkt_spans *main = &p->main->spans;
    size_t begun = 0;
    bool has_memory = true;
    for (size_t i = 0; i < track->spans.count && has_memory; i++) {
        const tkt_span *span = &track->spans.items[i];
        if (!is_outermost_scope(span))
            continue;
        while (begun < main->count && main->items[begun].begin_ns <= span->begin_ns)
            begun++;
        uint32_t around = begun > 0 ? (uint32_t)begun - 1 : TKT_NO_SPAN;
        while (around != TKT_NO_SPAN && main->items[around].end_ns < span->end_ns)
            around = main->items[around].parent;
        uint32_t region = region_from(p, around);
        if (region != TKT_NO_SPAN)
            has_memory = add_call(p, region, span, false);
    }
    end_thread(p);
    return has_memory;
}

/* Adds the main thread's own parts, and its time in each region. */
static bool add_main(partition *p)
{
    const tkt_spans *spans = &p->main->spans;
    bool has_memory = true;
    for (size_t i = 0; i < spans->count && has_memory; i++) {
        const tkt_span *span = &spans->items[i];
        uint32_t name = span_name(p->trace, span);
        if (is_call(span) || span->begin_ns < p->until_ns[name])
            continue;
        p->until_ns[name] = span->end_ns;
        p->main_ns[name] += span->end_ns - span->begin_ns;
        uint32_t region = span->parent;
        if (p->is_part[name] && region != TKT_NO_SPAN && region_from(p, region) == region)
            has_memory = add_call(p, region, span, true);
    }
    end_thread(p);
    for (size_t i = 0; i < p->threads->parts.count; i++)
        p->threads->parts.items[i].region_ns = p->main_ns[p->threads->parts.items[i].region];
    return has_memory;
}

static bool is_worker(const partition *p, uint32_t track)
{
    const tkt_track *of = &p->trace->tracks.items[track];
    return of->kind == TAKT_TRACK_THREAD && of != p->main;
}

static takt_status add_parts(const takt_trace *trace, uint32_t main, tkt_threads *out)
{
    if (main == TKT_NO_TRACK)
        return TAKT_OK;
    partition p = {.trace = trace,
                   .main = &trace->tracks.items[main],
                   .threads = out,
                   .is_part = tkt_alloc_zeroed(trace->strings.count * sizeof *p.is_part),
                   .main_ns = tkt_alloc_zeroed(trace->strings.count * sizeof *p.main_ns),
                   .until_ns = tkt_alloc_zeroed(trace->strings.count * sizeof *p.until_ns)};
    bool has_memory = p.is_part && p.main_ns && p.until_ns;
    for (uint32_t i = 0; has_memory && i < trace->tracks.count; i++) {
        if (is_worker(&p, i))
            find_names(&p, &trace->tracks.items[i]);
    }
    for (uint32_t i = 0; has_memory && i < trace->tracks.count; i++) {
        if (is_worker(&p, i))
            has_memory = add_worker(&p, &trace->tracks.items[i]);
    }
    has_memory = has_memory && add_main(&p);
    tkt_free(p.is_part);
    tkt_free(p.main_ns);
    tkt_free(p.until_ns);
    tkt_map_fini(&p.rows);
    TKT_ARRAY_FREE(&p.sums);
    return has_memory ? TAKT_OK : TAKT_NO_MEMORY;
}

takt_status tkt_threads_of(const takt_trace *trace, tkt_threads *out)
{
    if (!trace->facts.has_spans)
        return TAKT_NO_SPANS;
    uint32_t main = main_track(trace);
    takt_status status = add_threads(trace, main, out);
    return status == TAKT_OK ? add_parts(trace, main, out) : status;
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
    bool has_calls;
} share;

static void add_share(tkt_scope_total *total, const share *of_thread)
{
    uint64_t ns = of_thread->ns;
    if (!of_thread->has_calls)
        return;
    total->thread_min_ns =
        total->threads == 0 || ns < total->thread_min_ns ? ns : total->thread_min_ns;
    total->thread_max_ns = ns > total->thread_max_ns ? ns : total->thread_max_ns;
    total->thread_sum_ns += ns;
    total->threads++;
}

takt_status tkt_threads_spread(const takt_trace *trace, const uint32_t *of_site, tkt_scopes *scopes)
{
    share *shares = tkt_alloc((scopes->count + 1) * sizeof *shares);
    if (!shares)
        return TAKT_NO_MEMORY;
    for (size_t i = 0; i < trace->tracks.count; i++) {
        const tkt_track *track = &trace->tracks.items[i];
        if (track->kind != TAKT_TRACK_THREAD)
            continue;
        memset(shares, 0, scopes->count * sizeof *shares);
        for (size_t s = 0; s < track->spans.count; s++) {
            const tkt_span *span = &track->spans.items[s];
            uint32_t group = of_site[tkt_span_site(span)];
            if (group == TKT_NO_GROUP || span->begin_ns < shares[group].until_ns)
                continue;
            shares[group] =
                (share){shares[group].ns + span->end_ns - span->begin_ns, span->end_ns, true};
        }
        for (size_t group = 0; group < scopes->count; group++)
            add_share(&scopes->items[group], &shares[group]);
    }
    tkt_free(shares);
    return TAKT_OK;
}
