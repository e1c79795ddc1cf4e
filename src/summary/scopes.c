/* Scopes by name, from the call tree.
 *
 * Nodes of one name are added up. Self times simply add. Totals would count a recursive scope more
 * than once, so the tree is walked depth first with a count of open nodes for each name, and only a
 * node under no other of its name adds its total. */
#include "summary/scopes.h"

/* Names are told apart by their string's id; other paths have none. */
#define OTHER_KEY UINT64_MAX

typedef struct grouping {
    const takt_trace *trace;
    const tkt_fold *fold;
    tkt_scopes *scopes;
    tkt_map by_name;    /* key -> index + 1 */
    uint32_t *group_of; /* by node */
    uint32_t *open;     /* by group: how many of its nodes the walk is inside of */
} grouping;

static tkt_scope_total *find_group(grouping *g, const tkt_node *node)
{
    bool is_other = node->site == TKT_SITE_OTHER;
    uint64_t key = is_other ? OTHER_KEY : g->trace->sites.items[node->site].name;
    uint64_t *place = tkt_map_put(&g->by_name, key);
    if (!place)
        return NULL;
    if (*place)
        return &g->scopes->items[*place - 1];

    tkt_scope_total *total = TKT_ARRAY_ADD(g->scopes);
    if (!total)
        return NULL;
    *total = (tkt_scope_total){.name = tkt_node_name(g->trace, node), .min_ns = UINT64_MAX};
    *place = g->scopes->count;
    return total;
}

/* Everything but the totals, in the order of the nodes' numbers. */
static takt_status add_nodes(grouping *g)
{
    for (uint32_t i = 1; i < g->fold->count; i++) {
        const tkt_node *node = &g->fold->items[i];
        tkt_scope_total *total = find_group(g, node);
        if (!total)
            return TAKT_NO_MEMORY;
        const tkt_stats *stats = &node->stats;
        total->calls += stats->count;
        total->self_ns += stats->self_ns;
        total->min_ns = stats->min_ns < total->min_ns ? stats->min_ns : total->min_ns;
        total->max_ns = stats->max_ns > total->max_ns ? stats->max_ns : total->max_ns;
        total->flops += node->flops;
        total->bytes += node->bytes;
        g->scopes->self_ns += stats->self_ns;
        g->group_of[i] = (uint32_t)(total - g->scopes->items);
    }
    return TAKT_OK;
}

static void enter(grouping *g, uint32_t node)
{
    uint32_t group = g->group_of[node];
    if (g->open[group]++ == 0)
        g->scopes->items[group].total_ns += g->fold->items[node].stats.total_ns;
}

static void add_totals(grouping *g)
{
    const tkt_node *nodes = g->fold->items;
    uint32_t node = nodes[0].first_child;
    while (node != TKT_NO_NODE) {
        enter(g, node);
        uint32_t next = nodes[node].first_child;
        while (next == TKT_NO_NODE && node != 0) {
            g->open[g->group_of[node]]--;
            next = nodes[node].next_sibling;
            node = nodes[node].parent;
        }
        node = next;
    }
}

/* Scopes of which no call is known go: a tree may hold nodes that were made and never used. */
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
    if (status != TAKT_OK)
        return status;
    g->open = tkt_alloc_zeroed((g->scopes->count + 1) * sizeof *g->open);
    if (!g->open)
        return TAKT_NO_MEMORY;
    add_totals(g);
    drop_unused(g->scopes);
    return TAKT_OK;
}

takt_status tkt_scopes_by_name(const takt_trace *trace, tkt_scopes *out)
{
    tkt_scopes scopes = {0};
    grouping g = {.trace = trace, .fold = tkt_trace_fold(trace), .scopes = &scopes};
    if (!g.fold)
        return TAKT_NO_MEMORY;
    g.group_of = tkt_alloc_zeroed(g.fold->count * sizeof *g.group_of);
    takt_status status = g.group_of ? group_nodes(&g) : TAKT_NO_MEMORY;
    tkt_map_fini(&g.by_name);
    tkt_free(g.group_of);
    tkt_free(g.open);
    if (status != TAKT_OK) {
        tkt_scopes_fini(&scopes);
        return status;
    }
    *out = scopes;
    return TAKT_OK;
}

void tkt_scopes_fini(tkt_scopes *scopes)
{
    TKT_ARRAY_FREE(scopes);
}
