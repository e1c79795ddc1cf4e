/* The folded form of a recording: a call tree that keeps, for each path of call sites, how often
 * and how long, in memory that does not grow with time.
 *
 * Nodes are numbered; 0 is the root, which stands for no scope. Parents have smaller numbers than
 * their children. All times are nanoseconds, rounded once a call. */
#ifndef TKT_RECORD_FOLD_H
#define TKT_RECORD_FOLD_H

#include "base/arena.h"
#include "base/array.h"
#include "base/hash.h"
#include "base/histogram.h"

#include <takt/base.h>

#define TKT_NO_NODE UINT32_MAX

/* The site of the root and of nodes that stand for other paths. */
#define TKT_SITE_OTHER 0u

/* The most paths of one tree; further ones are folded into one child of site TKT_SITE_OTHER of the
 * scope that they were found in, and counted. There may be as many such children again. */
#define TKT_FOLD_MAX_NODES 65536u

typedef struct tkt_stats {
    uint64_t count;
    uint64_t total_ns;
    uint64_t self_ns; /* total less the totals of direct children */
    uint64_t min_ns;  /* UINT64_MAX while count is 0 */
    uint64_t max_ns;
    double   sum_squares; /* of durations, ns^2 */
} tkt_stats;

typedef struct tkt_node {
    tkt_stats      stats;
    tkt_histogram *histogram; /* of durations; NULL while count is 0, or for want of memory */
    double         flops;     /* declared with TAKT_WORK */
    double         bytes;
    uint64_t       errors; /* of calls into a device's library: those that did not succeed */
    uint32_t       site;
    uint32_t       parent;
    uint32_t       first_child;
    uint32_t       next_sibling;
    uint32_t       last_hit; /* the child looked up last */
    uint32_t       next_hit; /* the sibling that was looked up after this one */
} tkt_node;

typedef struct tkt_fold {
    TKT_ARRAY(tkt_node);
    tkt_map   children; /* parent << 32 | site -> node */
    tkt_arena histograms;
    uint64_t  other_count; /* spans that went into an "other" node */
    uint64_t  lost_count;  /* spans for which no node could be made for want of memory */
    uint32_t  log;         /* number of the log that it is of */
} tkt_fold;

takt_status tkt_fold_init(tkt_fold *fold);
void tkt_fold_fini(tkt_fold *fold); /* also of a zeroed one */

/* The general case of tkt_fold_child(); `parent` is a node. */
uint32_t tkt_fold_find_child(tkt_fold *fold, uint32_t parent, uint32_t site);

/* The child of `parent` for `site`, made if it is new; TKT_NO_NODE when there is no memory or no
 * number left, or when `parent` is TKT_NO_NODE. */
static inline uint32_t tkt_fold_child(tkt_fold *fold, uint32_t parent, uint32_t site)
{
    if (parent == TKT_NO_NODE)
        return TKT_NO_NODE;
    const tkt_node *nodes = fold->items;
    uint32_t node = nodes[parent].last_hit;
    if (node != TKT_NO_NODE && nodes[node].site == site)
        return node;
    node = node != TKT_NO_NODE ? nodes[node].next_hit : TKT_NO_NODE;
    if (node == TKT_NO_NODE || nodes[node].site != site)
        return tkt_fold_find_child(fold, parent, site);
    fold->items[parent].last_hit = node;
    return node;
}

/* One call of `node` took `duration_ns`; its parent's self time shrinks by that, the root's apart.
 * A parent's calls may be added before or after its children's: until both are there, its self time
 * may have wrapped below 0. TKT_NO_NODE is ignored. */
void tkt_fold_add(tkt_fold *fold, uint32_t node, uint64_t duration_ns);

/* Adds all of `from`, whose site s is sites[s] in `into`; `sites` NULL: the same numbers. nodes[n],
 * of from->count, becomes the number that node n has in `into`, or TKT_NO_NODE. All or nothing is
 * added; empty nodes may be left behind without memory. Site TKT_SITE_OTHER stays. */
takt_status tkt_fold_merge(tkt_fold *into, const tkt_fold *from, const uint32_t *sites,
                           uint32_t *nodes);

void tkt_stats_init(tkt_stats *stats);
void tkt_stats_add(tkt_stats *stats, uint64_t duration_ns); /* self_ns is not touched */
void tkt_stats_merge(tkt_stats *into, const tkt_stats *from);
double tkt_stats_mean(const tkt_stats *stats);

/* A quantile by nearest rank, of the histogram but for the extremes, which are known exactly; it
 * never lies outside of them. 0 when there is no call. */
uint64_t tkt_stats_quantile(const tkt_stats *stats, const tkt_histogram *histogram, double q);

/* Of the sample (n - 1); 0 below two calls. */
double tkt_stats_stddev(const tkt_stats *stats);

#endif
