/* Changes, orders and copies the tree of a log's fold.
 *
 * While a scope is open that began before the recording, nobody knows of it. When it ends, all that
 * the thread has run so far gets a new node above it. So a parent may have a larger number than its
 * children. Nodes keep their numbers, since others refer to them: launches whose activities have
 * not arrived, and times of threads. */
#include "record/fold.h"

#include <string.h>

#define ROOT 0u

/* ---- Scopes that began before the recording -------------------------------------------------- */

uint64_t tkt_fold_thread_ns(const tkt_fold *fold)
{
    uint64_t total_ns = 0;
    for (uint32_t i = fold->items[ROOT].first_child; i != TKT_NO_NODE;
         i = fold->items[i].next_sibling) {
        uint64_t before_ns = i < fold->before.count ? fold->before.items[i].total_ns : 0;
        total_ns += fold->items[i].stats.total_ns - before_ns;
    }
    return total_ns;
}

/* True if the tree has times of earlier threads, or may have some. */
static bool is_shared(const tkt_fold *fold)
{
    bool is_true = fold->lists_no_threads;
    for (size_t i = 0; i < fold->before.count && !is_true; i++)
        is_true = fold->before.items[i].count > 0;
    return is_true;
}

/* Enters the root's children as those of `parent`, too. False without memory. */
static bool enter_children(tkt_fold *fold, uint32_t parent)
{
    for (uint32_t i = fold->items[ROOT].first_child; i != TKT_NO_NODE;
         i = fold->items[i].next_sibling) {
        uint64_t *place = tkt_map_put(&fold->children, tkt_fold_key(parent, fold->items[i].site));
        if (!place)
            return false;
        *place = i;
    }
    return true;
}

static void forget_children(tkt_fold *fold, uint32_t parent)
{
    for (uint32_t i = fold->items[ROOT].first_child; i != TKT_NO_NODE;
         i = fold->items[i].next_sibling)
        tkt_map_remove(&fold->children, tkt_fold_key(parent, fold->items[i].site));
}

/* Enters the root's children below `number`, and that below the root. False without memory: then
 * nothing has changed. */
static bool change_index(tkt_fold *fold, uint32_t number, uint32_t site)
{
    if (!enter_children(fold, number)) {
        forget_children(fold, number);
        return false;
    }
    forget_children(fold, ROOT); /* makes room, unless there are none */
    uint64_t *place = tkt_map_put(&fold->children, tkt_fold_key(ROOT, site));
    if (place)
        *place = number;
    return place != NULL;
}

uint32_t tkt_fold_enclose(tkt_fold *fold, uint32_t site)
{
    uint32_t number = (uint32_t)fold->count;
    if (is_shared(fold) || number >= TKT_FOLD_MAX_NODES ||
        !TKT_ARRAY_RESERVE(fold, fold->count + 1) || !change_index(fold, number, site))
        return TKT_NO_NODE;
    tkt_node *root = &fold->items[ROOT], *node = &fold->items[fold->count++];
    *node = (tkt_node){.site = site,
                       .parent = ROOT,
                       .first_child = root->first_child,
                       .next_sibling = TKT_NO_NODE,
                       .last_hit = ROOT};
    tkt_stats_init(&node->stats);
    for (uint32_t i = root->first_child; i != TKT_NO_NODE; i = fold->items[i].next_sibling)
        fold->items[i].parent = number;
    root->first_child = number;
    root->last_hit = ROOT;
    return number;
}

/* ---- Order ----------------------------------------------------------------------------------- */

/* The outermost scope around a node, or the node itself, that has no place yet. */
static uint32_t first_without(const tkt_fold *fold, const uint32_t *place, uint32_t node)
{
    while (place[fold->items[node].parent] == TKT_NO_NODE)
        node = fold->items[node].parent;
    return node;
}

void tkt_fold_order(const tkt_fold *fold, uint32_t *order, uint32_t *place)
{
    uint32_t count = 1;
    memset(place, 0xff, fold->count * sizeof *place); /* TKT_NO_NODE */
    order[0] = place[0] = ROOT;
    for (uint32_t i = 1; i < fold->count; i++) {
        while (place[i] == TKT_NO_NODE) {
            uint32_t next = first_without(fold, place, i);
            order[count] = next;
            place[next] = count++;
        }
    }
}

/* ---- Copies ---------------------------------------------------------------------------------- */

static bool copy_histogram(tkt_fold *to, tkt_histogram **histogram)
{
    const tkt_histogram *from = *histogram;
    *histogram = from ? tkt_fold_new_histogram(to) : NULL;
    if (*histogram)
        **histogram = *from;
    return !from || *histogram;
}

static bool enter_node(tkt_fold *to, const tkt_node *node, size_t number)
{
    uint64_t *place = tkt_map_put(&to->children, tkt_fold_key(node->parent, node->site));
    if (place)
        *place = number;
    return place != NULL;
}

takt_status tkt_fold_copy_tree(tkt_fold *to, const tkt_fold *from)
{
    if (!TKT_ARRAY_RESERVE(to, from->count))
        return TAKT_NO_MEMORY;
    for (size_t i = 0; i < from->count; i++) {
        tkt_node *node = &to->items[to->count++];
        *node = from->items[i];
        if (!copy_histogram(to, &node->histogram) || (i != ROOT && !enter_node(to, node, i)))
            return TAKT_NO_MEMORY;
    }
    to->more_name = from->more_name;
    to->other_count = from->other_count;
    to->lost_count = from->lost_count;
    to->unnamed_count = from->unnamed_count;
    to->cost_ns = from->cost_ns;
    to->begun_before = from->begun_before;
    to->unfinished = from->unfinished;
    return TAKT_OK;
}
