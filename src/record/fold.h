/* The fold of a recording: a call tree with counts, times and histograms for each path of call
 * sites. Its memory does not grow with time.
 *
 * Nodes are numbered; 0 is the root, which stands for no scope. Parents have smaller numbers than
 * their children. All times are nanoseconds, rounded once per call. */
#ifndef TKT_RECORD_FOLD_H
#define TKT_RECORD_FOLD_H

#include "base/containers.h"
#include "base/histogram.h"

#include <takt/base.h>

#define TKT_NO_NODE UINT32_MAX

/* The site of the root, and of nodes that stand for several paths. */
#define TKT_SITE_OTHER 0u

/* The most paths of one tree. Further paths are counted, and share a child of site TKT_SITE_OTHER
 * of the scope they were found in. There may be as many such children again. */
#define TKT_FOLD_MAX_NODES 65536u

typedef struct tkt_stats {
    uint64_t count;
    uint64_t total_ns;
    uint64_t self_ns; /* total minus the totals of direct children: see tkt_fold_find_self() */
    uint64_t min_ns;  /* UINT64_MAX while count is 0 */
    uint64_t max_ns;
    double   sum_squares; /* of durations, ns^2 */
} tkt_stats;

typedef struct tkt_node {
    tkt_stats      stats;
    tkt_histogram *histogram; /* of durations; NULL while count is 0, or without memory */
    double         flops;     /* declared with TAKT_WORK */
    double         bytes;
    uint64_t       errors; /* failed calls into a device's library */
    uint32_t       site;
    uint32_t       parent;
    uint32_t       first_child;
    uint32_t       next_sibling;
    uint32_t       last_hit; /* the child looked up last */
} tkt_node;

#define TKT_FOLD_RECENT_BITS 8

typedef struct tkt_fold {
    TKT_ARRAY(tkt_node);
    tkt_map   children; /* parent << 32 | site -> node */
    tkt_arena histograms;
    uint64_t  other_count; /* spans that went into an "other" node */
    uint64_t  lost_count;  /* spans without a node, because there was no memory */
    uint32_t  log;         /* number of its log */
    uint32_t  recent[1u << TKT_FOLD_RECENT_BITS]; /* nodes by a hash of parent and site, or 0 */
} tkt_fold;

takt_status tkt_fold_init(tkt_fold *fold);
void tkt_fold_fini(tkt_fold *fold); /* also of a zeroed one */

/* The general case of tkt_fold_child(); `parent` is a node. */
uint32_t tkt_fold_find_child(tkt_fold *fold, uint32_t parent, uint32_t site);

static inline uint32_t *tkt_fold_recent(tkt_fold *fold, uint32_t parent, uint32_t site)
{
    uint32_t hash = (parent ^ site << 16 ^ site >> 16) * 0x9e3779b9u; /* Knuth, 6.4: golden ratio */
    return &fold->recent[hash >> (32 - TKT_FOLD_RECENT_BITS)];
}

/* The child of `parent` for `site`, a scope's site; made if it is new. TKT_NO_NODE when memory or
 * numbers ran out, or when `parent` is TKT_NO_NODE. */
static inline uint32_t tkt_fold_child(tkt_fold *fold, uint32_t parent, uint32_t site)
{
    if (parent == TKT_NO_NODE)
        return TKT_NO_NODE;
    tkt_node *nodes = fold->items;
    uint32_t node = nodes[parent].last_hit;
    if (nodes[node].site == site)
        return node;
    node = *tkt_fold_recent(fold, parent, site);
    if (nodes[node].site != site || nodes[node].parent != parent)
        return tkt_fold_find_child(fold, parent, site);
    nodes[parent].last_hit = node;
    return node;
}

/* `duration_ns` is below 2^63. Leaves self_ns alone. */
static inline void tkt_stats_add(tkt_stats *stats, uint64_t duration_ns)
{
    double duration = (double)(int64_t)duration_ns;
    stats->count++;
    stats->total_ns += duration_ns;
    stats->min_ns = duration_ns < stats->min_ns ? duration_ns : stats->min_ns;
    stats->max_ns = duration_ns > stats->max_ns ? duration_ns : stats->max_ns;
    stats->sum_squares += duration * duration;
}

/* NULL without memory. */
tkt_histogram *tkt_fold_new_histogram(tkt_fold *fold);

/* Adds a call of `node` that took `duration_ns`. Ignores TKT_NO_NODE. */
static inline void tkt_fold_add(tkt_fold *fold, uint32_t node, uint64_t duration_ns)
{
    if (node == TKT_NO_NODE)
        return;
    tkt_node *at = &fold->items[node];
    tkt_stats_add(&at->stats, duration_ns);
    if (!at->histogram)
        at->histogram = tkt_fold_new_histogram(fold);
    if (at->histogram)
        tkt_histogram_add(at->histogram, duration_ns);
}

/* Computes self times after all calls are added. The root's stays 0. */
void tkt_fold_find_self(tkt_fold *fold);

/* Adds all of `from`; its site s is sites[s] in `into` (`sites` NULL: the same numbers). Sets
 * nodes[n], for n below from->count, to the number of node n in `into`, or to TKT_NO_NODE. Without
 * memory it adds nothing, but may leave empty nodes. Site TKT_SITE_OTHER stays itself. */
takt_status tkt_fold_merge(tkt_fold *into, const tkt_fold *from, const uint32_t *sites,
                           uint32_t *nodes);

void tkt_stats_init(tkt_stats *stats);
void tkt_stats_merge(tkt_stats *into, const tkt_stats *from);
double tkt_stats_mean(const tkt_stats *stats);

/* A quantile by nearest rank. The extremes are exact, other ranks come from the histogram and never
 * lie outside the extremes. 0 without calls. */
uint64_t tkt_stats_quantile(const tkt_stats *stats, const tkt_histogram *histogram, double q);

/* Standard deviation of a sample (n - 1); 0 below two calls. */
double tkt_stats_stddev(const tkt_stats *stats);

#endif
