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

/* `rows`, by node, is where each stands in the list; until it has been added, 0 or TKT_NO_ROW. */
static takt_status list_paths(const takt_trace *trace, const tkt_fold *fold, uint32_t *rows,
                              tkt_tree *tree)
{
    for (size_t i = 0; i < fold->count; i++)
        rows[i] = TKT_NO_ROW;
    mark_used(fold, rows);
    rows[0] = TKT_NO_ROW;
    for (size_t i = 1; i < fold->count; i++) {
        const tkt_node *node = &fold->items[i];
        tree->self_ns += node->stats.self_ns;
        if (rows[i] == TKT_NO_ROW)
            continue;
        uint32_t parent = rows[node->parent];
        rows[i] = (uint32_t)tree->count;
        tkt_path *path = TKT_ARRAY_ADD(tree);
        if (!path)
            return TAKT_NO_MEMORY;
        *path = (tkt_path){.node = node, .name = tkt_node_name(trace, node), .parent = parent};
        path->depth = parent == TKT_NO_ROW ? 0 : tree->items[parent].depth + 1;
    }
    return TAKT_OK;
}

takt_status tkt_tree_of(const takt_trace *trace, tkt_tree *out)
{
    const tkt_fold *fold = tkt_trace_fold(trace);
    uint32_t *rows = fold ? tkt_alloc(fold->count * sizeof *rows) : NULL;
    if (!rows)
        return TAKT_NO_MEMORY;
    tkt_tree tree = {0};
    takt_status status = list_paths(trace, fold, rows, &tree);
    tkt_free(rows);
    if (status != TAKT_OK) {
        tkt_tree_fini(&tree);
        return status;
    }
    *out = tree;
    return TAKT_OK;
}

void tkt_tree_fini(tkt_tree *tree)
{
    TKT_ARRAY_FREE(tree);
}
