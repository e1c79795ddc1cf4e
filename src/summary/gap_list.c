/* Gaps are kept as they come until there are twice as many as are wanted; then the shorter half
 * goes, so that each of them costs little, however many there are. */
#include "summary/gap_list.h"

#include "summary/whereabouts.h"

#include <stdlib.h>

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
    if (l->wanted == 0 || gap->end_ns - gap->begin_ns < l->least_ns)
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
    uint64_t *sums; /* by site, that of the first site of its name: time in scopes of the name */
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
