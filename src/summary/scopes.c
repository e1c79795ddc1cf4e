/* Scopes, by name and by path. */
#include "summary/scopes.h"

#include "summary/device.h"
#include "summary/owners.h"
#include "summary/threads.h"
#include "trace/devices.h"

#include <string.h>

/* ======== By name ======== */

/* Scopes by name, computed from the call tree.
 *
 * Nodes with the same name form a group. Self times are simply added. Adding totals would count a
 * recursive scope twice, so a depth-first walk counts the open nodes of each group: only an
 * outermost node adds its total. A call without a row belongs to the group of the calling scope,
 * which also gets its self time. */

/* Keys are the id of the name and one bit for calls. Paths beyond the limit have this key. */
#define OTHER_KEY UINT64_MAX

/* Which events are read in addition to the folded form. */
typedef enum event_choice {
    NO_EVENTS,
    MEMORY_EVENTS,
    ALL_EVENTS
} event_choice;

typedef struct grouping {
    const takt_trace *trace;
    const tkt_fold *fold;
    const tkt_node_device *devices; /* by node */
    tkt_scopes *scopes;
    bool all;
    event_choice events;
    bool has_threads;
    tkt_map by_name;    /* key -> index + 1 */
    uint32_t *group_of; /* by node, or TKT_NO_GROUP */
    uint32_t *open;     /* by group: how many of its nodes are open in the walk */
} grouping;

static uint64_t key_of(const grouping *g, uint32_t site)
{
    return site == TKT_SITE_OTHER ? OTHER_KEY : tkt_site_name_key(g->trace, site);
}

static tkt_scope_total *find_group(grouping *g, const tkt_node *node)
{
    uint64_t *place = tkt_map_put(&g->by_name, key_of(g, node->site));
    if (!place)
        return NULL;
    if (*place)
        return &g->scopes->items[*place - 1];

    tkt_scope_total *total = TKT_ARRAY_ADD(g->scopes);
    if (!total)
        return NULL;
    *total = (tkt_scope_total){.name = tkt_node_name(g->trace, node),
                               .min_ns = UINT64_MAX,
                               .site = node->site,
                               .kind = tkt_site_is_call(g->trace, node->site) ? TKT_KIND_CALL
                                                                              : TKT_KIND_SCOPE};
    *place = g->scopes->count;
    return total;
}

/* Adds a call's self time to the calling scope. Outside of all scopes nothing gets it. */
static void join_scope(grouping *g, uint32_t node)
{
    const tkt_stats *stats = &g->fold->items[node].stats;
    uint32_t group = g->group_of[g->fold->items[node].parent];
    g->group_of[node] = group;
    if (group == TKT_NO_GROUP)
        return;
    tkt_scope_total *total = &g->scopes->items[group];
    total->self_ns += stats->self_ns;
    g->scopes->self_ns += stats->self_ns;
    if (tkt_call_waits(tkt_node_name(g->trace, &g->fold->items[node]))) {
        total->waits += stats->count;
        total->waiting_ns += stats->self_ns;
    }
}

static bool add_node(grouping *g, uint32_t i)
{
    const tkt_node *node = &g->fold->items[i];
    tkt_scope_total *total = find_group(g, node);
    if (!total)
        return false;
    const tkt_stats *stats = &node->stats;
    total->calls += stats->count;
    total->is_wait = total->is_wait || tkt_site_waits(g->trace, node->site);
    total->self_ns += stats->self_ns;
    total->min_ns = stats->min_ns < total->min_ns ? stats->min_ns : total->min_ns;
    total->max_ns = stats->max_ns > total->max_ns ? stats->max_ns : total->max_ns;
    total->whole_ns += stats->total_ns - stats->pieces_ns;
    total->pieces += stats->pieces;
    total->flops += node->flops;
    total->bytes += node->bytes;
    g->scopes->self_ns += stats->self_ns;
    g->group_of[i] = (uint32_t)(total - g->scopes->items);
    return true;
}

/* Fills everything except totals and times of devices, by increasing node number. */
static takt_status add_nodes(grouping *g)
{
    g->group_of[0] = TKT_NO_GROUP;
    for (uint32_t i = 1; i < g->fold->count; i++) {
        if (!g->all && tkt_site_is_call(g->trace, g->fold->items[i].site))
            join_scope(g, i);
        else if (!add_node(g, i))
            return TAKT_NO_MEMORY;
    }
    return TAKT_OK;
}

static void enter(grouping *g, uint32_t node)
{
    uint32_t group = g->group_of[node];
    if (group == TKT_NO_GROUP)
        return;
    tkt_scope_total *total = &g->scopes->items[group];
    total->device_self_ns += g->devices[node].self_ns;
    total->device_sum_ns += g->devices[node].total_ns;
    if (g->open[group]++ > 0)
        return;
    total->total_ns += g->fold->items[node].stats.total_ns;
    total->device_total_ns += g->devices[node].total_ns;
}

static void leave(grouping *g, uint32_t node)
{
    if (g->group_of[node] != TKT_NO_GROUP)
        g->open[g->group_of[node]]--;
}

static void add_totals(grouping *g)
{
    const tkt_node *nodes = g->fold->items;
    uint32_t node = nodes[0].first_child;
    while (node != TKT_NO_NODE) {
        enter(g, node);
        uint32_t next = nodes[node].first_child;
        while (next == TKT_NO_NODE && node != 0) {
            leave(g, node);
            next = nodes[node].next_sibling;
            node = nodes[node].parent;
        }
        node = next;
    }
}

/* Adds memory, busy times and times by thread, which only events and spans can tell. Sums of
 * devices' times are discarded: those of the tree also contain activities whose span was dropped.
 */
static takt_status add_events(grouping *g)
{
    const takt_trace *trace = g->trace;
    tkt_scopes *scopes = g->scopes;
    uint32_t *of_site = tkt_alloc(trace->sites.count * sizeof *of_site);
    if (!of_site)
        return TAKT_NO_MEMORY;
    for (uint32_t i = 0; i < trace->sites.count; i++) {
        const uint64_t *place = tkt_map_get(&g->by_name, key_of(g, i));
        of_site[i] = place ? (uint32_t)*place - 1 : TKT_NO_GROUP;
    }
    takt_status status = TAKT_OK;
    if (g->events != NO_EVENTS)
        status = tkt_scopes_add_events(trace, &(tkt_groups){of_site, NULL}, g->events == ALL_EVENTS,
                                       scopes);
    for (size_t i = 0; i < scopes->count; i++)
        scopes->items[i].device_self_ns = scopes->items[i].device_total_ns =
            scopes->items[i].device_sum_ns = 0;
    if (status == TAKT_OK && g->has_threads)
        status = tkt_threads_spread(trace, of_site, scopes);
    tkt_free(of_site);
    return status;
}

/* Removes scopes without a known call: the tree may hold nodes that were created but never used. */
static void drop_unused(tkt_scopes *scopes)
{
    size_t kept = 0;
    for (size_t i = 0; i < scopes->count; i++) {
        if (scopes->items[i].calls > 0)
            scopes->items[kept++] = scopes->items[i];
    }
    scopes->count = kept;
}

static takt_status group_nodes(grouping *g)
{
    takt_status status = add_nodes(g);
    if (status == TAKT_OK && (g->events != NO_EVENTS || g->has_threads))
        status = add_events(g);
    if (status != TAKT_OK)
        return status;
    g->open = tkt_alloc_zeroed((g->scopes->count + 1) * sizeof *g->open);
    if (!g->open)
        return TAKT_NO_MEMORY;
    add_totals(g);
    drop_unused(g->scopes);
    g->scopes->device_ns = g->devices[0].total_ns;
    g->scopes->has_device = tkt_has_device_activities(g->trace);
    return g->all ? tkt_scopes_add_activities(g->trace, g->scopes) : TAKT_OK;
}

static takt_status group_by_name(grouping *g)
{
    g->group_of = tkt_alloc_zeroed(g->fold->count * sizeof *g->group_of);
    tkt_node_device *devices = tkt_node_device_of(g->trace, g->fold);
    g->devices = devices;
    takt_status status = g->group_of && devices ? group_nodes(g) : TAKT_NO_MEMORY;
    tkt_map_fini(&g->by_name);
    tkt_free(devices);
    tkt_free(g->group_of);
    tkt_free(g->open);
    return status;
}

bool tkt_has_threads(const takt_trace *trace)
{
    size_t count = 0;
    for (size_t i = 0; i < trace->tracks.count && trace->facts.has_spans; i++) {
        const tkt_track *track = &trace->tracks.items[i];
        count += track->kind == TAKT_TRACK_THREAD && track->spans.count > 0;
    }
    return count > 1 || trace->fold.threads.count > 1;
}

bool tkt_scopes_mix_times(const takt_trace *trace)
{
    return tkt_trace_lacks_time(trace) && tkt_has_threads(trace);
}

static takt_status scopes_of(const takt_trace *trace, bool all, event_choice events,
                             tkt_scopes *out)
{
    tkt_scopes scopes = {0};
    grouping g = {.trace = trace,
                  .fold = tkt_trace_fold(trace),
                  .scopes = &scopes,
                  .all = all,
                  .events = events,
                  .has_threads = events == ALL_EVENTS || tkt_has_threads(trace)};
    takt_status status = g.fold ? group_by_name(&g) : TAKT_NO_MEMORY;
    if (status != TAKT_OK) {
        tkt_scopes_fini(&scopes);
        return status;
    }
    *out = scopes;
    return TAKT_OK;
}

takt_status tkt_scopes_by_name(const takt_trace *trace, bool all, tkt_scopes *out)
{
    return scopes_of(trace, all, ALL_EVENTS, out);
}

takt_status tkt_scopes_memory(const takt_trace *trace, tkt_scopes *out)
{
    return scopes_of(trace, false, MEMORY_EVENTS, out);
}

takt_status tkt_scopes_sums(const takt_trace *trace, tkt_scopes *out)
{
    return scopes_of(trace, false, NO_EVENTS, out);
}

uint64_t tkt_scope_mean_ns(const tkt_scope_total *scope)
{
    uint64_t whole = scope->calls - scope->pieces;
    return whole ? (scope->whole_ns + whole / 2) / whole : UINT64_MAX;
}

void tkt_scopes_fini(tkt_scopes *scopes)
{
    TKT_ARRAY_FREE(scopes);
}

/* ======== By path ======== */

/* Marks nodes with calls, and their ancestors. Children have greater numbers than their parents, so
 * one pass from the end is enough. */
static void mark_used(const tkt_fold *fold, uint32_t *rows)
{
    for (size_t i = fold->count; i-- > 1;) {
        const tkt_node *node = &fold->items[i];
        if (node->stats.count > 0 || rows[i] != TKT_NO_ROW) {
            rows[i] = 0;
            rows[node->parent] = 0;
        }
    }
}

typedef struct listing {
    const takt_trace *trace;
    const tkt_fold *fold;
    const tkt_node_device *devices;
    uint32_t *rows; /* by node: its row; before it is added, 0 for a used node and TKT_NO_ROW for
                     * others */
    tkt_tree *tree;
    bool all;
} listing;

static bool add_path(listing *l, uint32_t i, uint32_t parent)
{
    const tkt_node *node = &l->fold->items[i];
    l->rows[i] = (uint32_t)l->tree->count;
    tkt_path *path = TKT_ARRAY_ADD(l->tree);
    if (!path)
        return false;
    *path = (tkt_path){.node = node,
                       .name = tkt_node_name(l->trace, node),
                       .self_ns = node->stats.self_ns,
                       .device = l->devices[i],
                       .parent = parent};
    path->depth = parent == TKT_NO_ROW ? 0 : l->tree->items[parent].depth + 1;
    return true;
}

/* Adds a hidden call's self time to the calling scope, and attaches the call's children there. */
static void join_path(listing *l, uint32_t i, uint32_t parent)
{
    l->rows[i] = parent;
    if (parent == TKT_NO_ROW)
        l->tree->self_ns -= l->fold->items[i].stats.self_ns;
    else
        l->tree->items[parent].self_ns += l->fold->items[i].stats.self_ns;
}

static takt_status list_paths(listing *l)
{
    const tkt_fold *fold = l->fold;
    for (size_t i = 0; i < fold->count; i++)
        l->rows[i] = TKT_NO_ROW;
    mark_used(fold, l->rows);
    l->rows[0] = TKT_NO_ROW;
    for (uint32_t i = 1; i < fold->count; i++) {
        uint32_t parent = l->rows[fold->items[i].parent];
        l->tree->self_ns += fold->items[i].stats.self_ns;
        if (l->rows[i] == TKT_NO_ROW)
            continue;
        if (!l->all && tkt_site_is_call(l->trace, fold->items[i].site))
            join_path(l, i, parent);
        else if (!add_path(l, i, parent))
            return TAKT_NO_MEMORY;
    }
    l->tree->device_ns = l->devices[0].total_ns;
    l->tree->has_device = tkt_has_device_activities(l->trace);
    return TAKT_OK;
}

takt_status tkt_tree_of(const takt_trace *trace, bool all, tkt_tree *out)
{
    const tkt_fold *fold = tkt_trace_fold(trace);
    if (!fold)
        return TAKT_NO_MEMORY;
    tkt_tree tree = {0};
    tkt_node_device *devices = tkt_node_device_of(trace, fold);
    uint32_t *rows = tkt_alloc(fold->count * sizeof *rows);
    takt_status status = TAKT_NO_MEMORY;
    if (devices && rows)
        status = list_paths(&(listing){trace, fold, devices, rows, &tree, all});
    tkt_free(rows);
    tkt_free(devices);
    if (status == TAKT_OK)
        *out = tree;
    else
        tkt_tree_fini(&tree);
    return status;
}

void tkt_tree_fini(tkt_tree *tree)
{
    TKT_ARRAY_FREE(tree);
}
