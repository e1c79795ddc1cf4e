/* A device's gaps follow each other in time, so a mark in each thread's spans moves forward with
 * them and no span is looked at twice for one device. */
#include "summary/idle_scopes.h"

#include "summary/whereabouts.h"

#include <stdlib.h>

static uint32_t name_of(const takt_trace *trace, uint32_t track, uint32_t span)
{
    const tkt_track *on = &trace->tracks.items[track];
    uint32_t scope = tkt_scope_of(on, span);
    if (scope == TKT_NO_SPAN)
        return 0;
    return trace->sites.items[tkt_span_site(&on->spans.items[scope])].name;
}

/* ---- All of a device's idle time ------------------------------------------------------------- */

/* NULL without memory. Names are ids of the trace's strings, of which there are less than 2^32. */
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

static void add_time(tkt_idle_scopes *s, tkt_idle_scope *row, uint64_t begin_ns, uint64_t end_ns)
{
    if (!row) {
        s->is_short = true;
        return;
    }
    row->idle_ns += end_ns - begin_ns;
    if (begin_ns < s->host_until_ns)
        row->host_ns += (end_ns < s->host_until_ns ? end_ns : s->host_until_ns) - begin_ns;
}

static void charge_stay(void *user, uint32_t span, uint64_t begin_ns, uint64_t end_ns)
{
    tkt_idle_scopes *s = user;
    tkt_idle_scope *row = row_of(s, name_of(s->trace, s->track, span), false);
    add_time(s, row, begin_ns, end_ns);
    const tkt_span *spans = s->trace->tracks.items[s->track].spans.items;
    if (row && span != TKT_NO_SPAN && tkt_span_flags(&spans[span]) & TAKT_SPAN_CALL)
        row->call_ns += end_ns - begin_ns;
}

void tkt_idle_scopes_charge(tkt_idle_scopes *s, uint32_t device, const tkt_activity *activity,
                            uint64_t begin_ns, uint64_t host_until_ns, uint64_t end_ns)
{
    if (begin_ns >= end_ns)
        return;
    s->device = device;
    s->host_until_ns = host_until_ns;
    if (!activity || activity->track == TKT_NO_TRACK) {
        add_time(s, row_of(s, 0, true), begin_ns, end_ns);
        return;
    }
    s->track = activity->track;
    uint64_t *begun = tkt_map_put(&s->begun, (uint64_t)device << 32 | s->track);
    if (begun)
        *begun = tkt_whereabouts(&s->trace->tracks.items[s->track], *begun, begin_ns, end_ns,
                                 charge_stay, s);
    s->is_short |= !begun;
}

static int by_idle(const void *a, const void *b)
{
    const tkt_idle_scope *x = a;
    const tkt_idle_scope *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->idle_ns != y->idle_ns)
        return x->idle_ns > y->idle_ns ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

void tkt_idle_scopes_sort(tkt_idle_scopes *scopes)
{
    if (scopes->count > 0)
        qsort(scopes->items, scopes->count, sizeof *scopes->items, by_idle);
}

void tkt_idle_scopes_fini(tkt_idle_scopes *scopes)
{
    TKT_ARRAY_FREE(scopes);
    tkt_map_fini(&scopes->rows);
    tkt_map_fini(&scopes->begun);
}

/* ---- Single gaps ----------------------------------------------------------------------------- */

typedef struct naming {
    const takt_trace *trace;
    uint32_t track;
    uint64_t
        *sums; /* by site: the time in scopes of its name; of names, that of their first site */
    uint32_t *first_site;
    uint32_t longest; /* site */
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
    n->track = activities[gap->after != UINT32_MAX ? gap->after : gap->before].track;
    n->longest = 0;
    gap->name = 0;
    if (n->track == TKT_NO_TRACK)
        return;
    for (size_t i = 0; i < n->trace->sites.count; i++)
        n->sums[i] = 0;
    const tkt_track *track = &n->trace->tracks.items[n->track];
    tkt_whereabouts(track, tkt_spans_begun(track, gap->begin_ns), gap->begin_ns, gap->end_ns,
                    add_stay, n);
    gap->name = n->trace->sites.items[n->longest].name;
}

static bool find_first_sites(naming *n)
{
    tkt_map sites = {0}; /* name -> site + 1 */
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
