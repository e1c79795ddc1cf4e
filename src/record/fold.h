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

/* The folds of logs share tkt_fold_limit() bytes. A path without room is counted as one beyond
 * TKT_FOLD_MAX_NODES; one with more than TKT_MOST_EXTREMES calls and no room for its histogram has
 * no percentiles. Histograms take half of the bytes at most.
 *
 * The most paths of one tree. Further paths are counted, and share a child of site TKT_SITE_OTHER
 * of the scope they were found in. There may be as many such children again. */
#define TKT_FOLD_MAX_NODES 65536u

/* Of calls, some of which the window may have cut: such a piece counts, and its time belongs to the
 * sums, but how long a call takes is told by whole ones alone. */
typedef struct tkt_stats {
    uint64_t count;
    uint64_t total_ns;
    uint64_t self_ns; /* total minus the totals of direct children: see tkt_fold_find_self() */
    uint64_t min_ns;  /* of whole calls, as the next two; UINT64_MAX while there is none */
    uint64_t max_ns;
    double   sum_squares; /* of durations, ns^2 */
    uint64_t pieces;      /* of `count` */
    uint64_t pieces_ns;   /* of `total_ns` */
} tkt_stats;

typedef struct tkt_node {
    tkt_stats      stats;
    tkt_histogram *histogram; /* of durations; NULL while the extremes tell all, or without memory */
    double         flops;     /* declared with TAKT_WORK */
    double         bytes;
    uint64_t       errors; /* failed calls into a device's library */
    uint32_t       site;
    uint32_t       parent;
    uint32_t       depth; /* 0: the root */
    uint32_t       first_child;
    uint32_t       next_sibling;
    uint32_t       last_hit; /* the child looked up last */
    uint32_t       unused[2]; /* a size of 128 bytes is multiplied by with a shift */
} tkt_node;

/* The most counters of one fold, and the most tasks, by track. The names of further ones become
 * `more_name`. Tasks stay on their tracks, up to TKT_FOLD_MORE_TRACKS; those of further tracks have
 * none. */
#define TKT_FOLD_MAX_NAMES   1024u
#define TKT_FOLD_MORE_TRACKS 64u
#define TKT_MORE_NAMES       UINT32_MAX /* `more_name` in the fold of a log */

typedef struct tkt_fold_index {
    tkt_map  entries; /* track << 32 | name -> index + 1 */
    uint32_t more;    /* entries of `more_name` */
} tkt_fold_index;

/* Sums for the mean of finite values with weights, whose sum is below 2^64. Large values are added up
 * apart, since their sum may be too large for a double. */
typedef struct tkt_weighted {
    double sum;    /* of values below 2^512, each times its weight */
    double large;  /* of the others, times 2^-64 */
    double weight;
} tkt_weighted;

void tkt_weighted_add(tkt_weighted *sums, double value, double weight);

/* NaN without weights. */
double tkt_weighted_mean(const tkt_weighted *sums);

/* The samples of a counter. Times are ticks in the fold of a log, ns in that of a trace. */
typedef struct tkt_folded_counter {
    uint32_t name;     /* text id; in a trace: string */
    uint32_t is_mixed; /* 1: threads or names sampled it by turns; `held` is too small */
    tkt_weighted held; /* finite values by the time until the next sample */
    uint64_t samples;
    uint64_t first_time;
    uint64_t last_time;
    double   first;
    double   last;
    double   min; /* of finite values, and so is this: NaN if there is none */
    double   max;
    uint64_t walk; /* that added samples last; while it goes on, it has read the samples from here */
    uint64_t next_time;
    double   next;
    uint64_t before_time; /* the last sample before the walk */
    double   before;
} tkt_folded_counter;

/* Spans of one name on tracks of one name. */
typedef struct tkt_folded_task {
    uint32_t       name;  /* its site; in a trace: string */
    uint32_t       track; /* text id; in a trace: string */
    tkt_stats      stats; /* self_ns is 0 */
    tkt_histogram *histogram; /* in the fold's arena */
} tkt_folded_task;

/* A task with given times. */
typedef struct tkt_timed_task {
    uint32_t name; /* its site */
    uint32_t track; /* text id */
    uint64_t begin_ns;
    uint64_t end_ns;
} tkt_timed_task;

/* The most tasks of a log's fold whose end is still to come. Further ones are lost. */
#define TKT_FOLD_MAX_AHEAD 4096u

/* What a thread ran of a node. A file has these three numbers. */
typedef struct tkt_thread_node {
    uint64_t node;
    uint64_t count;
    uint64_t total_ns;
} tkt_thread_node;

/* From this many parts and threads on, a fold counts further threads instead of listing them. */
#define TKT_FOLD_MAX_PARTS 16384u

typedef struct tkt_folded_thread {
    uint32_t name; /* text id; in a trace: string */
    uint32_t thread_id;
    size_t   end; /* of its parts, which begin where those of the previous thread end */
} tkt_folded_thread;

/* A thread of this process. */
typedef struct tkt_thread_mark {
    uint64_t serial; /* counts threads as they appear; 0: none */
    uint32_t thread_id;
    uint32_t name; /* text id */
} tkt_thread_mark;

/* How far a log was written at one moment. The place is gone if its chunk was begun anew later. */
typedef struct tkt_fold_place {
    const void *cursor; /* NULL: none */
    uint64_t    ticks;  /* the moment */
} tkt_fold_place;

#define TKT_FOLD_RECENT_BITS 8

typedef struct tkt_fold {
    TKT_ARRAY(tkt_node);
    bool      is_live;   /* the fold of a log: shares tkt_fold_limit() */
    bool      has_lists; /* a trace: counters, tasks and threads were listed */
    tkt_map   children; /* parent << 32 | site -> node */
    tkt_arena histograms;
    uint64_t  other_count; /* of a trace: calls in "other" nodes, and those without a node */
    uint64_t  lost_count;  /* spans without a node, because there was no memory */
    uint64_t  lost_later;  /* tasks without room in `ahead`, which the next fold lacks */
    uint64_t  unnamed_count; /* samples and tasks whose names became the next one */
    uint32_t  more_name;     /* of a trace: string "(more names)" */
    uint64_t  live_bytes;   /* of the bytes that the folds of logs share */
    uint64_t  cost_ns;      /* the program's threads took this time to fold */
    uint64_t  passed;       /* events that are not kept: marks, flows, arguments, by slots */
    uint64_t  begun_before; /* spans that were open when the recording began */
    uint64_t  unfinished;   /* ... when it ended */
    uint32_t  log;         /* number of its log, */
    tkt_fold_place from;   /* and where in it tkt_log_fold_reset() began, */
    tkt_fold_place until;  /* and tkt_log_fold_take() ended */
    TKT_ARRAY_OF(tkt_folded_counter) counters;
    tkt_fold_index counter_index;
    TKT_ARRAY_OF(tkt_folded_task) tasks;
    tkt_fold_index task_index;
    TKT_ARRAY_OF(tkt_timed_task) ahead; /* not in `tasks` yet: they end later than was folded */
    TKT_ARRAY_OF(tkt_folded_thread) threads; /* only those with scopes or other events */
    uint64_t  unlisted_threads;
    TKT_ARRAY_OF(tkt_thread_node) parts;
    tkt_thread_mark thread; /* that continues the fold of a log; its parts are not listed yet */
    bool thread_has_events; /* marks, samples and the like */
    TKT_ARRAY_OF(tkt_thread_node) before; /* by node: what it had before that thread */
    bool lists_no_threads; /* any more: there was no memory for `before` */
    uint64_t  walk;          /* counts the pieces of the log that were folded */
    uint32_t  recent[1u << TKT_FOLD_RECENT_BITS]; /* nodes by a hash of parent and site, or 0 */
} tkt_fold;

takt_status tkt_fold_init(tkt_fold *fold);
void tkt_fold_fini(tkt_fold *fold); /* also of a zeroed one */

/* Makes the fold of a log empty, but for what was handed on to it. It keeps its memory, unless that
 * is much. */
void tkt_fold_clear(tkt_fold *fold);

/* The key of a child in tkt_fold.children. */
static inline uint64_t tkt_fold_key(uint32_t parent, uint32_t site)
{
    return (uint64_t)parent << 32 | site;
}

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

static inline void tkt_stats_add_piece(tkt_stats *stats, uint64_t duration_ns)
{
    stats->count++;
    stats->total_ns += duration_ns;
    stats->pieces++;
    stats->pieces_ns += duration_ns;
}

static inline uint64_t tkt_stats_whole(const tkt_stats *stats)
{
    return stats->count - stats->pieces;
}

/* The folds of logs share this many bytes from now on; 64 MiB at first. */
void tkt_fold_limit(uint64_t bytes);

/* NULL without memory. */
tkt_histogram *tkt_fold_new_histogram(tkt_fold *fold);

/* The general case of tkt_fold_count(). */
bool tkt_fold_count_few(tkt_fold *fold, tkt_stats *stats, tkt_histogram **histogram,
                        uint64_t duration_ns);

/* Adds a duration. Many paths are called once or twice, so a histogram begins with the third call.
 * False if there is no memory for it: then the percentiles are unknown from now on. */
static inline bool tkt_fold_count(tkt_fold *fold, tkt_stats *stats, tkt_histogram **histogram,
                                  uint64_t duration_ns)
{
    if (!*histogram)
        return tkt_fold_count_few(fold, stats, histogram, duration_ns);
    tkt_stats_add(stats, duration_ns);
    tkt_histogram_add(*histogram, stats->count, duration_ns);
    return true;
}

/* Adds a call of `node` that took `duration_ns`. Ignores TKT_NO_NODE. */
static inline void tkt_fold_add(tkt_fold *fold, uint32_t node, uint64_t duration_ns)
{
    if (node == TKT_NO_NODE)
        return;
    tkt_node *at = &fold->items[node];
    tkt_fold_count(fold, &at->stats, &at->histogram, duration_ns);
}

/* Copies the tree; nodes keep their numbers. *to is a zeroed fold, which the caller frees, after a
 * failure too. */
takt_status tkt_fold_copy_tree(tkt_fold *to, const tkt_fold *from);

/* Computes self times after all calls are added. The root's stays 0. */
void tkt_fold_find_self(tkt_fold *fold);

/* Adds the calls in "other" nodes to other_count. Call it once, after all calls are added: while
 * they are, a node is looked up more often than it is called. */
void tkt_fold_find_others(tkt_fold *fold);

/* Adds all of `from`; its site s is sites[s] in `into` (`sites` NULL: the same numbers). Sets
 * nodes[n], for n below from->count, to the number of node n in `into`, or to TKT_NO_NODE. Without
 * memory it adds nothing, but may leave empty nodes. Site TKT_SITE_OTHER stays itself. */
takt_status tkt_fold_merge(tkt_fold *into, const tkt_fold *from, const uint32_t *sites,
                           uint32_t *nodes);

/* Adds a sample to a log's fold. Walks begin with ++fold->walk, read samples from the newest to the
 * oldest, and end with the second function. */
void tkt_fold_sample(tkt_fold *fold, uint32_t name, uint64_t time, double value);
void tkt_fold_end_samples(tkt_fold *fold);

/* Adds the samples of a counter to those of the same name. If threads did not sample it by turns,
 * the one that begins first comes first, and the mean stays known. False without memory. */
bool tkt_fold_add_counter(tkt_fold *fold, const tkt_folded_counter *from);

/* Adds a task, or the tasks of a name and track. Without memory, the first function counts the task
 * as lost, and the second returns false. */
void tkt_fold_task(tkt_fold *fold, uint32_t site, uint32_t track, uint64_t duration_ns,
                   bool is_piece);
bool tkt_fold_add_task(tkt_fold *fold, const tkt_folded_task *from);

/* Adds a task of a recording that began at from_ns and ended at until_ns, without what it has
 * outside of the recording. While the recording goes on, the second function takes its place; tasks
 * that end after now_ns then wait. from_ns is UINT64_MAX before the recording begins. When it ends,
 * the third one adds those that wait, and the fourth one adds further tasks. What ends later still
 * waits then, for the fold of the next recording, to which the last one hands it on. */
void tkt_fold_task_within(tkt_fold *fold, const tkt_timed_task *task, uint64_t from_ns,
                          uint64_t until_ns);
void tkt_fold_task_so_far(tkt_fold *fold, const tkt_timed_task *task, uint64_t from_ns,
                          uint64_t now_ns);
void tkt_fold_end_tasks(tkt_fold *fold, uint64_t from_ns, uint64_t until_ns);
void tkt_fold_task_at_end(tkt_fold *fold, const tkt_timed_task *task, uint64_t from_ns,
                          uint64_t until_ns);
void tkt_fold_hand_on(tkt_fold *from, tkt_fold *to); /* *to is empty */

/* Lists what the thread has run, which ends, or whose fold ends; without room it counts the thread.
 */
void tkt_fold_end_thread(tkt_fold *fold);

/* Up to two durations are the extremes, so they need no histogram. */
#define TKT_MOST_EXTREMES 2u

/* True if the percentiles are known. */
static inline bool tkt_stats_are_known(const tkt_stats *stats, const tkt_histogram *histogram)
{
    return histogram || tkt_stats_whole(stats) <= TKT_MOST_EXTREMES;
}

/* Adds durations to others of `fold`. Without memory, the percentiles are unknown. */
void tkt_fold_add_stats(tkt_fold *fold, tkt_stats *stats, tkt_histogram **histogram,
                        const tkt_stats *more, const tkt_histogram *histogram_of_more);

/* Adds the durations of `stats` to the `count` durations of `into`. Without a histogram of theirs
 * there are at most TKT_MOST_EXTREMES. */
void tkt_histogram_add_stats(tkt_histogram *into, uint64_t count, const tkt_stats *stats,
                             const tkt_histogram *histogram);

void tkt_stats_init(tkt_stats *stats);
void tkt_stats_merge(tkt_stats *into, const tkt_stats *from);
double tkt_stats_mean(const tkt_stats *stats);

#define TKT_NO_QUANTILE UINT64_MAX

/* A quantile by nearest rank. The extremes are exact, other ranks come from the histogram and never
 * lie outside the extremes. 0 without calls, TKT_NO_QUANTILE without a histogram that is needed. */
uint64_t tkt_stats_quantile(const tkt_stats *stats, const tkt_histogram *histogram, double q);

/* The same for the median: of an even number, the mean of the middle two. */
uint64_t tkt_stats_median(const tkt_stats *stats, const tkt_histogram *histogram);

/* Standard deviation of a sample (n - 1); 0 below two calls. */
double tkt_stats_stddev(const tkt_stats *stats);

#endif
