/* The fold of a recording, see fold.h. */
#include "record/fold.h"

#include <math.h>

/* A child is found by (parent, site): first in the parent's last hit, since loops call the same
 * scope again and again; then in a small table of recent nodes; then in a hash map.
 *
 * The number of nodes is bounded. From TKT_FOLD_MAX_NODES on, a new path goes to a child of site
 * TKT_SITE_OTHER. There may be as many such children again, but no more, since deep recursion would
 * chain them without end. Self times are computed last, when all totals are known. */

#define ALL_NODES  (2 * TKT_FOLD_MAX_NODES)
#define ROOT       0u
#define NODE_BYTES 192u /* with its place in the map and its times by thread */

/* ---- Shared memory --------------------------------------------------------------------------- */

static uint64_t most_bytes = UINT64_C(64) << 20; /* atomic */
static uint64_t live_bytes;                      /* atomic; of all folds of logs */

void tkt_fold_limit(uint64_t bytes)
{
    __atomic_store_n(&most_bytes, bytes, __ATOMIC_RELAXED);
}

/* False if the folds of logs would then have more than 1/part of their bytes. Threads that ask at
 * the same time may exceed that a little. */
static bool take_bytes(tkt_fold *fold, uint64_t bytes, uint64_t part)
{
    if (!fold->is_live)
        return true;
    uint64_t most = __atomic_load_n(&most_bytes, __ATOMIC_RELAXED) / part;
    if (__atomic_load_n(&live_bytes, __ATOMIC_RELAXED) + bytes > most)
        return false;
    __atomic_fetch_add(&live_bytes, bytes, __ATOMIC_RELAXED);
    fold->live_bytes += bytes;
    return true;
}

static void give_bytes_back(tkt_fold *fold)
{
    __atomic_fetch_sub(&live_bytes, fold->live_bytes, __ATOMIC_RELAXED);
    fold->live_bytes = 0;
}

/* ---- Durations ------------------------------------------------------------------------------- */

void tkt_stats_init(tkt_stats *stats)
{
    *stats = (tkt_stats){.min_ns = UINT64_MAX};
}

void tkt_stats_merge(tkt_stats *into, const tkt_stats *from)
{
    into->count += from->count;
    into->total_ns += from->total_ns;
    into->min_ns = from->min_ns < into->min_ns ? from->min_ns : into->min_ns;
    into->max_ns = from->max_ns > into->max_ns ? from->max_ns : into->max_ns;
    into->sum_squares += from->sum_squares;
    into->pieces += from->pieces;
    into->pieces_ns += from->pieces_ns;
}

double tkt_stats_mean(const tkt_stats *stats)
{
    uint64_t count = tkt_stats_whole(stats), ns = stats->total_ns - stats->pieces_ns;
    return count ? (double)ns / (double)count : 0;
}

double tkt_stats_stddev(const tkt_stats *stats)
{
    uint64_t count = tkt_stats_whole(stats);
    if (count < 2)
        return 0;
    double squares =
        stats->sum_squares - tkt_stats_mean(stats) * (double)(stats->total_ns - stats->pieces_ns);
    /* With equal durations, rounding may make this slightly negative. */
    return squares > 0 ? sqrt(squares / (double)(count - 1)) : 0;
}

tkt_histogram *tkt_fold_new_histogram(tkt_fold *fold)
{
    tkt_histogram *histogram = take_bytes(fold, sizeof *histogram, 2)
                                   ? tkt_arena_alloc(&fold->histograms, sizeof *histogram)
                                   : NULL;
    if (histogram)
        *histogram = (tkt_histogram){{0}};
    return histogram;
}

bool tkt_fold_count_few(tkt_fold *fold, tkt_stats *stats, tkt_histogram **histogram,
                        uint64_t duration_ns)
{
    if (tkt_stats_whole(stats) == TKT_MOST_EXTREMES &&
        (*histogram = tkt_fold_new_histogram(fold))) {
        tkt_histogram_add_stats(*histogram, 0, stats, NULL);
        tkt_histogram_add(*histogram, TKT_MOST_EXTREMES + 1, duration_ns);
    }
    tkt_stats_add(stats, duration_ns);
    return tkt_stats_are_known(stats, *histogram);
}

/* Makes the histogram that `more` durations need, of those so far. False without memory. */
static bool make_histogram(tkt_fold *fold, const tkt_stats *stats, tkt_histogram **histogram,
                           uint64_t more)
{
    if (*histogram || tkt_stats_whole(stats) + more <= TKT_MOST_EXTREMES ||
        !tkt_stats_are_known(stats, NULL))
        return true;
    *histogram = tkt_fold_new_histogram(fold);
    if (*histogram)
        tkt_histogram_add_stats(*histogram, 0, stats, NULL);
    return *histogram != NULL;
}

void tkt_fold_add_stats(tkt_fold *fold, tkt_stats *stats, tkt_histogram **histogram,
                        const tkt_stats *more, const tkt_histogram *histogram_of_more)
{
    bool are_known =
        tkt_stats_are_known(stats, *histogram) && tkt_stats_are_known(more, histogram_of_more);
    if (!are_known || !make_histogram(fold, stats, histogram, tkt_stats_whole(more)))
        *histogram = NULL;
    else if (*histogram)
        tkt_histogram_add_stats(*histogram, tkt_stats_whole(stats), more, histogram_of_more);
    tkt_stats_merge(stats, more);
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static uint32_t add_node(tkt_fold *fold, uint32_t parent, uint32_t site)
{
    uint32_t number = (uint32_t)fold->count;
    if (!TKT_ARRAY_RESERVE(fold, fold->count + 1))
        return TKT_NO_NODE;
    uint64_t *place =
        parent == TKT_NO_NODE ? NULL : tkt_map_put(&fold->children, tkt_fold_key(parent, site));
    if (parent != TKT_NO_NODE && !place)
        return TKT_NO_NODE;

    tkt_node *node = &fold->items[fold->count++];
    *node = (tkt_node){.site = site,
                       .parent = parent,
                       .depth = place ? fold->items[parent].depth + 1 : 0,
                       .first_child = TKT_NO_NODE,
                       .next_sibling = TKT_NO_NODE,
                       .last_hit = ROOT}; /* its site is not a scope's */
    tkt_stats_init(&node->stats);
    if (place) {
        *place = number;
        node->next_sibling = fold->items[parent].first_child;
        fold->items[parent].first_child = number;
    }
    return number;
}

takt_status tkt_fold_init(tkt_fold *fold)
{
    *fold = (tkt_fold){.more_name = TKT_MORE_NAMES};
    return add_node(fold, TKT_NO_NODE, TKT_SITE_OTHER) == ROOT ? TAKT_OK : TAKT_NO_MEMORY;
}

__attribute__((cold)) void tkt_fold_fini(tkt_fold *fold)
{
    give_bytes_back(fold);
    TKT_ARRAY_FREE(fold);
    tkt_map_fini(&fold->children);
    tkt_arena_fini(&fold->histograms);
    TKT_ARRAY_FREE(&fold->counters);
    tkt_map_fini(&fold->counter_index.entries);
    TKT_ARRAY_FREE(&fold->tasks);
    tkt_map_fini(&fold->task_index.entries);
    TKT_ARRAY_FREE(&fold->ahead);
    TKT_ARRAY_FREE(&fold->threads);
    TKT_ARRAY_FREE(&fold->parts);
    TKT_ARRAY_FREE(&fold->before);
    *fold = (tkt_fold){0};
}

#define MOST_KEPT (UINT64_C(512) << 10)

/* The room of a list without its items. */
#define ROOM_OF(list) {(list).items, 0, (list).capacity}

static void keep_memory(tkt_fold *fold)
{
    tkt_arena_clear(&fold->histograms);
    tkt_map_clear(&fold->children);
    tkt_map_clear(&fold->counter_index.entries);
    tkt_map_clear(&fold->task_index.entries);
    *fold = (tkt_fold){
        .items = fold->items,
        .capacity = fold->capacity,
        .children = fold->children,
        .histograms = fold->histograms,
        .lost_count = fold->lost_later,
        .more_name = TKT_MORE_NAMES,
        .counters = ROOM_OF(fold->counters),
        .counter_index.entries = fold->counter_index.entries,
        .tasks = ROOM_OF(fold->tasks),
        .task_index.entries = fold->task_index.entries,
        .ahead = fold->ahead,
        .threads = ROOM_OF(fold->threads),
        .parts = ROOM_OF(fold->parts),
        .before = ROOM_OF(fold->before),
    };
    add_node(fold, TKT_NO_NODE, TKT_SITE_OTHER); /* there is room for one */
}

__attribute__((cold)) void tkt_fold_clear(tkt_fold *fold)
{
    bool is_kept = fold->items && fold->live_bytes <= MOST_KEPT;
    give_bytes_back(fold);
    if (is_kept) {
        keep_memory(fold);
        return;
    }
    tkt_fold empty = {0};
    tkt_fold_hand_on(fold, &empty);
    tkt_fold_fini(fold);
    *fold = empty;
}

/* True if a node for `site` may be added: ordinary nodes up to the limit, others up to twice
 * that. */
static bool has_room(const tkt_fold *fold, uint32_t site)
{
    return fold->count < (site == TKT_SITE_OTHER ? ALL_NODES : TKT_FOLD_MAX_NODES);
}

static uint32_t find_or_add(tkt_fold *fold, uint32_t parent, uint32_t site)
{
    const uint64_t *known = tkt_map_get(&fold->children, tkt_fold_key(parent, site));
    if (known)
        return (uint32_t)*known;
    bool is_other = site == TKT_SITE_OTHER; /* has its bytes in any case: there are few */
    if (has_room(fold, site) && (take_bytes(fold, NODE_BYTES, 1) || is_other))
        return add_node(fold, parent, site);
    return site == TKT_SITE_OTHER ? TKT_NO_NODE : find_or_add(fold, parent, TKT_SITE_OTHER);
}

uint32_t tkt_fold_find_child(tkt_fold *fold, uint32_t parent, uint32_t site)
{
    uint32_t node = find_or_add(fold, parent, site);
    if (node == TKT_NO_NODE) {
        fold->lost_count += has_room(fold, TKT_SITE_OTHER);
        return TKT_NO_NODE;
    }
    if (fold->items[node].site != site)
        return node;
    *tkt_fold_recent(fold, parent, site) = node;
    fold->items[parent].last_hit = node;
    return node;
}

void tkt_fold_find_self(tkt_fold *fold)
{
    for (size_t i = 1; i < fold->count; i++)
        fold->items[i].stats.self_ns = fold->items[i].stats.total_ns;
    for (size_t i = 1; i < fold->count; i++) {
        uint64_t *self_ns = &fold->items[fold->items[i].parent].stats.self_ns;
        uint64_t total_ns = fold->items[i].stats.total_ns;
        if (fold->items[i].parent != ROOT)
            *self_ns = *self_ns > total_ns ? *self_ns - total_ns : 0; /* 0: calls were rounded */
    }
}

void tkt_fold_find_others(tkt_fold *fold)
{
    for (size_t i = 1; i < fold->count; i++)
        if (fold->items[i].site == TKT_SITE_OTHER)
            fold->other_count += fold->items[i].stats.count;
}

/* Sets *number to the node of `into` for a node below `parent`, with room for its histogram, or to
 * TKT_NO_NODE if no number is left. */
static takt_status map_node(tkt_fold *into, uint32_t parent, const tkt_node *node, uint32_t site,
                            uint32_t *number)
{
    *number = parent == TKT_NO_NODE ? TKT_NO_NODE : find_or_add(into, parent, site);
    if (*number == TKT_NO_NODE)
        return has_room(into, TKT_SITE_OTHER) ? TAKT_NO_MEMORY : TAKT_OK;
    tkt_node *mine = &into->items[*number];
    return make_histogram(into, &mine->stats, &mine->histogram, node->stats.count) ? TAKT_OK
                                                                                   : TAKT_NO_MEMORY;
}

/* Finds or adds the node of `into` for each node of `from`. */
static takt_status map_nodes(tkt_fold *into, const tkt_fold *from, const uint32_t *sites,
                             uint32_t *nodes)
{
    takt_status status = TAKT_OK;
    nodes[ROOT] = ROOT;
    for (size_t i = 1; i < from->count && status == TAKT_OK; i++) {
        const tkt_node *node = &from->items[i];
        bool is_other = node->site == TKT_SITE_OTHER;
        uint32_t site = sites && !is_other ? sites[node->site] : node->site;
        status = map_node(into, nodes[node->parent], node, site, &nodes[i]);
    }
    return status;
}

static void merge_nodes(tkt_fold *into, const tkt_fold *from, const uint32_t *nodes)
{
    for (uint32_t i = 1; i < from->count; i++) {
        const tkt_node *node = &from->items[i];
        if (nodes[i] == TKT_NO_NODE) { /* its time stays in its parent's self time */
            into->other_count += node->stats.count;
            continue;
        }
        tkt_node *mine = &into->items[nodes[i]];
        tkt_fold_add_stats(into, &mine->stats, &mine->histogram, &node->stats, node->histogram);
        mine->flops += node->flops;
        mine->bytes += node->bytes;
        mine->errors += node->errors;
    }
    into->lost_count += from->lost_count;
    into->unnamed_count += from->unnamed_count;
    into->unlisted_threads += from->unlisted_threads;
    into->cost_ns += from->cost_ns;
    into->passed += from->passed;
    into->begun_before += from->begun_before;
    into->unfinished += from->unfinished;
}

/* Cold, as is the next one: the file is compiled for speed, but these for size. */
__attribute__((cold)) takt_status tkt_fold_merge(tkt_fold *into, const tkt_fold *from,
                                                 const uint32_t *sites, uint32_t *nodes)
{
    if (from->count == 0)
        return TAKT_OK;
    takt_status status = map_nodes(into, from, sites, nodes);
    if (status == TAKT_OK)
        merge_nodes(into, from, nodes);
    return status;
}

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

__attribute__((cold)) takt_status tkt_fold_copy_tree(tkt_fold *to, const tkt_fold *from)
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
    to->lost_count = from->lost_count;
    to->unnamed_count = from->unnamed_count;
    to->cost_ns = from->cost_ns;
    to->passed = from->passed;
    to->begun_before = from->begun_before;
    to->unfinished = from->unfinished;
    return TAKT_OK;
}

void tkt_histogram_add_stats(tkt_histogram *into, uint64_t count, const tkt_stats *stats,
                             const tkt_histogram *histogram)
{
    uint64_t whole = tkt_stats_whole(stats);
    if (histogram) {
        tkt_histogram_merge(into, count, histogram, whole);
        return;
    }
    if (whole > 0)
        tkt_histogram_add(into, count + 1, stats->min_ns);
    if (whole > 1)
        tkt_histogram_add(into, count + 2, stats->max_ns);
}

uint64_t tkt_stats_quantile(const tkt_stats *stats, const tkt_histogram *histogram, double q)
{
    uint64_t count = tkt_stats_whole(stats);
    if (count == 0)
        return 0;
    uint64_t rank = tkt_nearest_rank(q, count);
    if (rank == 1)
        return stats->min_ns;
    if (rank == count)
        return stats->max_ns;
    if (!histogram)
        return TKT_NO_QUANTILE;
    uint64_t value = tkt_histogram_quantile(histogram, q);
    value = value < stats->min_ns ? stats->min_ns : value;
    return value > stats->max_ns ? stats->max_ns : value;
}

uint64_t tkt_stats_median(const tkt_stats *stats, const tkt_histogram *histogram)
{
    uint64_t count = tkt_stats_whole(stats), lower = tkt_stats_quantile(stats, histogram, 0.5);
    if (count == 0 || count % 2 == 1 || lower == TKT_NO_QUANTILE)
        return lower;
    double next = (double)(count / 2 + 1) / (double)count;
    uint64_t upper = tkt_stats_quantile(stats, histogram, next);
    return upper == TKT_NO_QUANTILE ? upper : lower + (upper - lower + 1) / 2;
}
