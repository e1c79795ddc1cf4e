/* The longest gaps, and what the host did meanwhile. */
#include "summary/idle.h"

#include "summary/owners.h"

#include <stdlib.h>
#include <string.h>

/* ======== The longest gaps ======== */

/* Gaps are appended until there are twice as many as wanted. Then they are sorted and the shorter
 * half is dropped, so each gap costs little, however many there are. */

static int by_length(const void *a, const void *b)
{
    const tkt_gap *x = a;
    const tkt_gap *y = b;
    uint64_t x_ns = x->end_ns - x->begin_ns;
    uint64_t y_ns = y->end_ns - y->begin_ns;
    if (x_ns != y_ns)
        return x_ns > y_ns ? -1 : 1;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return x->idle < y->idle ? -1 : x->idle > y->idle;
}

void tkt_longest_sort(tkt_longest *l)
{
    if (l->count > 0)
        qsort(l->items, l->count, sizeof *l->items, by_length);
    if (l->count <= l->wanted)
        return;
    l->count = l->wanted;
    l->least_ns = l->items[l->count - 1].end_ns - l->items[l->count - 1].begin_ns;
}

bool tkt_longest_add(tkt_longest *l, const tkt_gap *gap)
{
    if (l->wanted == 0 || (l->least_ns && by_length(gap, &l->items[l->wanted - 1]) > 0))
        return true;
    tkt_gap *added = TKT_ARRAY_ADD(l);
    if (!added)
        return false;
    *added = *gap;
    if (l->count >= 2 * l->wanted)
        tkt_longest_sort(l);
    return true;
}

/* ---- Names ----------------------------------------------------------------------------------- */

typedef struct naming {
    const takt_trace *trace;
    uint32_t track;
    uint64_t *sums; /* by first site of a name: time in scopes of that name */
    uint32_t *first_site;
    uint32_t longest; /* the site with the largest sum */
} naming;

static void add_stay(void *user, uint32_t span, uint64_t begin_ns, uint64_t end_ns)
{
    naming *n = user;
    const tkt_track *on = &n->trace->tracks.items[n->track];
    uint32_t scope = tkt_scope_of(on, span);
    uint32_t site = scope == TKT_NO_SPAN ? 0 : tkt_span_site(&on->spans.items[scope]);
    site = n->first_site[site];
    n->sums[site] += end_ns - begin_ns;
    if (n->sums[site] > n->sums[n->longest])
        n->longest = site;
}

static void name_gap(naming *n, tkt_gap *gap)
{
    const tkt_activity *activities = n->trace->activities.items;
    uint32_t next_to = gap->after != UINT32_MAX ? gap->after : gap->before;
    n->track = next_to == UINT32_MAX ? TKT_NO_TRACK : activities[next_to].track;
    n->longest = 0;
    gap->name = 0;
    if (n->track == TKT_NO_TRACK)
        return;
    for (size_t i = 0; i < n->trace->sites.count; i++)
        n->sums[i] = 0;
    const tkt_track *track = &n->trace->tracks.items[n->track];
    tkt_visit_stays(track, tkt_spans_begun(track, gap->begin_ns), gap->begin_ns, gap->end_ns,
                    add_stay, n);
    gap->name = n->trace->sites.items[n->longest].name;
}

static bool find_first_sites(naming *n)
{
    tkt_map sites = {0}; /* name -> first site + 1 */
    bool is_done = true;
    for (size_t i = 0; i < n->trace->sites.count && is_done; i++) {
        uint64_t *first = tkt_map_put(&sites, n->trace->sites.items[i].name);
        is_done = first != NULL;
        if (first && *first == 0)
            *first = i + 1;
        n->first_site[i] = first ? (uint32_t)*first - 1 : 0;
    }
    tkt_map_fini(&sites);
    return is_done;
}

takt_status tkt_gaps_name(const takt_trace *trace, tkt_gap *gaps, size_t count)
{
    naming n = {.trace = trace};
    n.sums = tkt_alloc(trace->sites.count * sizeof *n.sums);
    n.first_site = tkt_alloc(trace->sites.count * sizeof *n.first_site);
    takt_status status = TAKT_NO_MEMORY;
    if (n.sums && n.first_site && find_first_sites(&n))
        status = TAKT_OK;
    for (size_t i = 0; i < count && status == TAKT_OK; i++)
        name_gap(&n, &gaps[i]);
    tkt_free(n.sums);
    tkt_free(n.first_site);
    return status;
}

/* ======== What the host did ======== */

/* A device's gaps are sorted by time. For each thread an index into its spans moves forward with
 * them, so each span is visited once per device. */

static uint32_t name_of(const takt_trace *trace, uint32_t track, uint32_t span)
{
    const tkt_track *on = &trace->tracks.items[track];
    uint32_t scope = tkt_scope_of(on, span);
    if (scope == TKT_NO_SPAN)
        return 0;
    return trace->sites.items[tkt_span_site(&on->spans.items[scope])].name;
}

/* Returns the row of a scope, created if it is new. NULL without memory. UINT32_MAX marks the
 * unknown thread: ids of strings are smaller. */
static tkt_idle_scope *row_of(tkt_idle_scopes *s, uint32_t name, bool is_unknown)
{
    uint64_t key = (uint64_t)s->device << 32 | (is_unknown ? UINT32_MAX : name);
    uint64_t *row = tkt_map_put(&s->rows, key);
    if (row && *row == 0) {
        tkt_idle_scope *added = TKT_ARRAY_ADD(s);
        if (!added)
            return NULL;
        *added = (tkt_idle_scope){.device = s->device, .name = name, .is_unknown = is_unknown};
        *row = s->count;
    }
    return row ? &s->items[*row - 1] : NULL;
}

static void add_time(tkt_idle_scopes *s, tkt_idle_scope *row, uint64_t begin_ns, uint64_t end_ns,
                     bool is_call)
{
    if (!row) {
        s->is_short = true;
        return;
    }
    uint64_t ns = end_ns - begin_ns;
    uint64_t host_ns = 0;
    if (begin_ns < s->host_until_ns)
        host_ns = (end_ns < s->host_until_ns ? end_ns : s->host_until_ns) - begin_ns;
    row->idle_ns += ns;
    row->host_ns += host_ns;
    row->call_ns += is_call ? ns : 0;
    if (!s->stay)
        return;
    tkt_idle_scope part = *row;
    part.idle_ns = ns;
    part.host_ns = host_ns;
    part.call_ns = is_call ? ns : 0;
    s->stay(s->user, &part);
}

/* Returns the row of the thread's scope, usually the same as in the previous call. */
static tkt_idle_scope *row_of_thread(tkt_idle_scopes *s, uint32_t name)
{
    tkt_idle_thread *thread = s->thread;
    if (thread->row && thread->name == name)
        return &s->items[thread->row - 1];
    tkt_idle_scope *row = row_of(s, name, false);
    thread->name = name;
    thread->row = row ? (uint32_t)(row - s->items) + 1 : 0;
    return row;
}

static void add_idle_stay(void *user, uint32_t span, uint64_t begin_ns, uint64_t end_ns)
{
    tkt_idle_scopes *s = user;
    const tkt_span *spans = s->trace->tracks.items[s->track].spans.items;
    bool is_call = span != TKT_NO_SPAN && tkt_span_is_call(&spans[span]);
    tkt_idle_scope *row = row_of_thread(s, name_of(s->trace, s->track, span));
    add_time(s, row, begin_ns, end_ns, is_call);
}

/* Returns the entry of a thread and device, created if it is new. NULL without memory. */
static tkt_idle_thread *find_thread(tkt_idle_scopes *s, uint32_t device, uint32_t track)
{
    if (!s->last)
        s->last = tkt_alloc_zeroed(s->trace->tracks.count * sizeof *s->last);
    if (s->last && s->last[track] && s->threads.items[s->last[track] - 1].device == device)
        return &s->threads.items[s->last[track] - 1];
    uint64_t *known = s->last ? tkt_map_put(&s->thread_of, (uint64_t)device << 32 | track) : NULL;
    if (known && *known == 0) {
        tkt_idle_thread *added = TKT_ARRAY_ADD(&s->threads);
        if (!added)
            return NULL;
        *added = (tkt_idle_thread){.device = device};
        *known = s->threads.count;
    }
    if (!known)
        return NULL;
    s->last[track] = (uint32_t)*known;
    return &s->threads.items[*known - 1];
}

void tkt_idle_scopes_add(tkt_idle_scopes *s, uint32_t device, const tkt_activity *activity,
                         uint64_t begin_ns, uint64_t host_until_ns, uint64_t end_ns)
{
    if (begin_ns >= end_ns)
        return;
    s->device = device;
    s->host_until_ns = host_until_ns;
    if (!activity || activity->track == TKT_NO_TRACK) {
        add_time(s, row_of(s, 0, true), begin_ns, end_ns, false);
        return;
    }
    s->track = activity->track;
    s->thread = find_thread(s, device, s->track);
    if (s->thread)
        s->thread->begun = tkt_visit_stays(&s->trace->tracks.items[s->track], s->thread->begun,
                                           begin_ns, end_ns, add_idle_stay, s);
    s->is_short |= !s->thread;
}

/* Compares texts, since ids of strings change when a trace is read from a file. */
static int by_idle(const void *a, const void *b, void *trace)
{
    const tkt_idle_scope *x = a;
    const tkt_idle_scope *y = b;
    int order = strcmp(tkt_trace_text(trace, x->device), tkt_trace_text(trace, y->device));
    if (order != 0)
        return order;
    if (x->idle_ns != y->idle_ns)
        return x->idle_ns > y->idle_ns ? -1 : 1;
    if (x->is_unknown != y->is_unknown)
        return x->is_unknown ? 1 : -1;
    return strcmp(tkt_trace_text(trace, x->name), tkt_trace_text(trace, y->name));
}

void tkt_idle_scopes_sort(tkt_idle_scopes *scopes, const takt_trace *trace)
{
    if (scopes->count > 0)
        qsort_r(scopes->items, scopes->count, sizeof *scopes->items, by_idle, (void *)trace);
}

void tkt_idle_scopes_fini(tkt_idle_scopes *scopes)
{
    TKT_ARRAY_FREE(scopes);
    tkt_map_fini(&scopes->rows);
    tkt_map_fini(&scopes->thread_of);
    TKT_ARRAY_FREE(&scopes->threads);
    tkt_free(scopes->last);
}
