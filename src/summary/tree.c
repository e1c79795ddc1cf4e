/* The call tree as a list of paths, parents before children. */
#include "summary/tree.h"

#include "summary/scopes.h"

/* Marks the nodes that have calls, or whose descendants have. Children have greater numbers than
 * their parents, so one pass from the end suffices. */
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
    uint32_t *rows; /* by node: where it stands; until it has been added, 0 or TKT_NO_ROW */
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

/* A hidden call's own time is its scope's, and what is inside hangs there. */
static void join_scope(listing *l, uint32_t i, uint32_t parent)
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
            join_scope(l, i, parent);
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
