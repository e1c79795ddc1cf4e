/* The fold of a recording, see fold.h; and folding while the program runs. */
#include "record/fold.h"

#include "base/clock.h"
#include "record/control.h"
#include "record/log.h"
#include "record/slot.h"

#include <math.h>

/* ======== The tree ======== */

/* A child is found by (parent, site): first in the parent's last hit, since loops call the same
 * scope again and again; then in a small table of recent nodes; then in a hash map.
 *
 * The number of nodes is bounded. From TKT_FOLD_MAX_NODES on, a new path goes to a child of site
 * TKT_SITE_OTHER. There may be as many such children again, but no more, since deep recursion would
 * chain them without end. Self times are computed last, when all totals are known. */

#define ALL_NODES (2 * TKT_FOLD_MAX_NODES)
#define ROOT      0u

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
}

double tkt_stats_mean(const tkt_stats *stats)
{
    return stats->count ? (double)stats->total_ns / (double)stats->count : 0;
}

double tkt_stats_stddev(const tkt_stats *stats)
{
    if (stats->count < 2)
        return 0;
    double mean = tkt_stats_mean(stats);
    double squares = stats->sum_squares - mean * (double)stats->total_ns;
    /* With equal durations, rounding may make this slightly negative. */
    return squares > 0 ? sqrt(squares / (double)(stats->count - 1)) : 0;
}

static uint64_t child_key(uint32_t parent, uint32_t site)
{
    return (uint64_t)parent << 32 | site;
}

static uint32_t add_node(tkt_fold *fold, uint32_t parent, uint32_t site)
{
    uint32_t number = (uint32_t)fold->count;
    if (!TKT_ARRAY_RESERVE(fold, fold->count + 1))
        return TKT_NO_NODE;
    uint64_t *place =
        parent == TKT_NO_NODE ? NULL : tkt_map_put(&fold->children, child_key(parent, site));
    if (parent != TKT_NO_NODE && !place)
        return TKT_NO_NODE;

    tkt_node *node = &fold->items[fold->count++];
    *node = (tkt_node){.site = site,
                       .parent = parent,
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
    *fold = (tkt_fold){0};
    return add_node(fold, TKT_NO_NODE, TKT_SITE_OTHER) == ROOT ? TAKT_OK : TAKT_NO_MEMORY;
}

void tkt_fold_fini(tkt_fold *fold)
{
    TKT_ARRAY_FREE(fold);
    tkt_map_fini(&fold->children);
    tkt_arena_fini(&fold->histograms);
    *fold = (tkt_fold){0};
}

/* True if a node for `site` may be added: ordinary nodes up to the limit, others up to twice
 * that. */
static bool has_room(const tkt_fold *fold, uint32_t site)
{
    return fold->count < (site == TKT_SITE_OTHER ? ALL_NODES : TKT_FOLD_MAX_NODES);
}

static uint32_t find_or_add(tkt_fold *fold, uint32_t parent, uint32_t site)
{
    const uint64_t *known = tkt_map_get(&fold->children, child_key(parent, site));
    if (known)
        return (uint32_t)*known;
    if (has_room(fold, site))
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
    if (fold->items[node].site != site) {
        fold->other_count++;
        return node;
    }
    *tkt_fold_recent(fold, parent, site) = node;
    fold->items[parent].last_hit = node;
    return node;
}

tkt_histogram *tkt_fold_new_histogram(tkt_fold *fold)
{
    tkt_histogram *histogram = tkt_arena_alloc(&fold->histograms, sizeof *histogram);
    if (histogram)
        *histogram = (tkt_histogram){{0}};
    return histogram;
}

void tkt_fold_find_self(tkt_fold *fold)
{
    for (size_t i = 1; i < fold->count; i++)
        fold->items[i].stats.self_ns = fold->items[i].stats.total_ns;
    for (size_t i = 1; i < fold->count; i++)
        if (fold->items[i].parent != ROOT)
            fold->items[fold->items[i].parent].stats.self_ns -= fold->items[i].stats.total_ns;
}

/* Finds or adds the node of `into` for each node of `from`, with room for its histogram. Nodes for
 * which no number is left become TKT_NO_NODE. */
static takt_status map_nodes(tkt_fold *into, const tkt_fold *from, const uint32_t *sites,
                             uint32_t *nodes)
{
    nodes[ROOT] = ROOT;
    for (uint32_t i = 1; i < from->count; i++) {
        const tkt_node *node = &from->items[i];
        uint32_t parent = nodes[node->parent];
        bool is_other = node->site == TKT_SITE_OTHER;
        uint32_t site = sites && !is_other ? sites[node->site] : node->site;
        nodes[i] = parent == TKT_NO_NODE ? TKT_NO_NODE : find_or_add(into, parent, site);
        if (nodes[i] == TKT_NO_NODE) {
            if (has_room(into, TKT_SITE_OTHER))
                return TAKT_NO_MEMORY;
            continue;
        }
        tkt_node *mine = &into->items[nodes[i]];
        if (node->histogram && !mine->histogram &&
            !(mine->histogram = tkt_fold_new_histogram(into)))
            return TAKT_NO_MEMORY;
    }
    return TAKT_OK;
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
        tkt_stats_merge(&mine->stats, &node->stats);
        mine->flops += node->flops;
        mine->bytes += node->bytes;
        mine->errors += node->errors;
        if (node->histogram)
            tkt_histogram_merge(mine->histogram, node->histogram);
        if (mine->site == TKT_SITE_OTHER && node->site != TKT_SITE_OTHER)
            into->other_count += node->stats.count;
    }
    into->other_count += from->other_count;
    into->lost_count += from->lost_count;
}

takt_status tkt_fold_merge(tkt_fold *into, const tkt_fold *from, const uint32_t *sites,
                           uint32_t *nodes)
{
    if (from->count == 0)
        return TAKT_OK;
    takt_status status = map_nodes(into, from, sites, nodes);
    if (status == TAKT_OK)
        merge_nodes(into, from, nodes);
    return status;
}

uint64_t tkt_stats_quantile(const tkt_stats *stats, const tkt_histogram *histogram, double q)
{
    if (stats->count == 0)
        return 0;
    uint64_t rank = tkt_nearest_rank(q, stats->count);
    if (rank == 1)
        return stats->min_ns;
    if (rank == stats->count)
        return stats->max_ns;
    uint64_t value = tkt_histogram_quantile(histogram, q);
    value = value < stats->min_ns ? stats->min_ns : value;
    return value > stats->max_ns ? stats->max_ns : value;
}

/* ======== Folding while the program runs ======== */

/* A log holds spans in the order of their ends, children before parents. That is the wrong order
 * for a call tree: a child's path is known only when its parent is. So the slots are read
 * backwards, from the scopes that are open now. Then a parent comes before its children, and the
 * path of a span at depth d consists of the nodes last seen at depths 0 to d - 1. */

typedef struct walk {
    tkt_fold *fold;
    tkt_folded_calls *calls;
    uint32_t *above; /* the node above each depth: the root, and those last seen at 0, 1, ... */
    uint32_t known;  /* depths that `above` is valid for */
    uint32_t shift;  /* scopes met that began before the recording: earlier spans are deeper */
    uint64_t from;   /* ticks; spans are cut to from..until */
    uint64_t until;
    uint64_t ns_per_tick;
} walk;

#define MOST_SHIFT (TKT_MAX_DEPTH - TKT_DEEP - 1)

/* Where the record of a level was dropped, the nearest node above takes its place. */
static void fill_up_to(walk *w, uint32_t depth)
{
    for (; w->known < depth; w->known++)
        w->above[w->known + 1] = w->above[w->known];
}

/* Returns the node of `site` at `depth`, below the nodes last seen above it. `depth` is less than
 * TKT_MAX_DEPTH. */
static inline uint32_t enter(walk *w, uint32_t depth, uint32_t site)
{
    if (TAKT_UNLIKELY(depth > w->known))
        fill_up_to(w, depth);
    uint32_t node = tkt_fold_child(w->fold, w->above[depth], site);
    w->above[depth + 1] = node;
    w->known = depth + 1;
    return node;
}

static void add(walk *w, uint32_t node, uint64_t begin, uint64_t end)
{
    if (begin < w->from)
        begin = w->from;
    if (end > w->until)
        end = w->until;
    if (node == TKT_NO_NODE || end < begin)
        return;
    tkt_fold_add(w->fold, node, tkt_clock_duration_ns(w->ns_per_tick, end - begin));
}

static void fold_span(walk *w, const tkt_slot_span *span)
{
    uint32_t depth = span->depth + w->shift;
    uint32_t node = enter(w, depth < TKT_MAX_DEPTH ? depth : TKT_MAX_DEPTH - 1, span->site);
    if (span->begin == 0 && w->shift < MOST_SHIFT)
        w->shift++;
    if (tkt_slot_overlaps(span, w->from, w->until))
        add(w, node, span->begin, span->end);
}

/* The common span: of one slot, and usually entirely in the window. */
static inline void fold_plain(walk *w, const takt_record *slot)
{
    uint64_t end = slot->start + slot->ticks;
    uint32_t node = enter(w, tkt_slot_depth(slot) + w->shift, tkt_tag_site(slot->tag));
    if (TAKT_LIKELY(slot->start >= w->from && end <= w->until))
        tkt_fold_add(w->fold, node, tkt_clock_duration_ns(w->ns_per_tick, slot->ticks));
    else if (end > w->from && slot->start <= w->until)
        add(w, node, slot->start, end);
}

static double as_double(uint64_t bits)
{
    union {
        uint64_t bits;
        double value;
    } both = {bits};
    return both.value;
}

static void fold_work(walk *w, const takt_record *slot)
{
    uint32_t open = tkt_slot_depth(slot) + w->shift;
    if (open == 0 || open > w->known || w->above[open] == TKT_NO_NODE)
        return;
    tkt_node *node = &w->fold->items[w->above[open]];
    node->flops += as_double(slot[0].start);
    node->bytes += as_double(slot[1].start);
}

/* Counts a failed call. Its span, the slot after it, has just been folded. */
static void fold_error(walk *w, const takt_record *slot, uint32_t depth)
{
    tkt_slot_span span;
    uint32_t node = depth < w->known ? w->above[depth + 1] : TKT_NO_NODE;
    if (node != TKT_NO_NODE && tkt_slot_read_span(slot + 1, &span) &&
        tkt_slot_overlaps(&span, w->from, w->until))
        w->fold->items[node].errors++;
}

/* The site of a call that may have launched something; otherwise 0. */
static uint32_t launching_site(const takt_record *slot)
{
    tkt_slot_span span;
    bool has_failed = slot->start >> 32 != 0;
    if (has_failed || slot->ticks & TKT_SLOT_CAPTURING || !tkt_slot_read_span(slot + 1, &span))
        return 0;
    return span.site;
}

/* On the path, the scope that made the call is above the call. */
static void fold_call(walk *w, const takt_record *slot)
{
    uint32_t depth = (slot->ticks & ~TKT_SLOT_CAPTURING) + w->shift;
    if (slot->start >> 32)
        fold_error(w, slot, depth);
    uint32_t node = depth <= w->known ? w->above[depth] : 0;
    if (node == TKT_NO_NODE || (uint32_t)slot->start == 0 || w->calls->count == TKT_FOLDED_CALLS)
        return;
    tkt_folded_call *call = TKT_ARRAY_ADD(w->calls);
    if (call)
        *call = (tkt_folded_call){(uint32_t)slot->start, node, launching_site(slot)};
}

static void fold_slots(walk *w, const takt_record *first, const takt_record *end)
{
    tkt_slot_span span;
    for (const takt_record *slot = end; slot-- > first;) {
        if (tkt_slot_is_plain(slot))
            fold_plain(w, slot);
        else if (tkt_slot_read_span(slot, &span))
            fold_span(w, &span);
        else if (tkt_slot_kind_of(slot) == TKT_SLOT_WORK)
            fold_work(w, slot);
        else if (tkt_slot_kind_of(slot) == TKT_SLOT_CALL)
            fold_call(w, slot);
        else if (tkt_slot_kind_of(slot) == TKT_SLOT_THREAD)
            w->known = w->shift = 0;
    }
}

static void fold_frames(walk *w, const takt_frame *frames, uint32_t count, uint64_t until_ticks)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = enter(w, i, tkt_frame_site(&frames[i]));
        if (until_ticks && frames[i].start <= until_ticks)
            add(w, node, frames[i].start, until_ticks);
    }
}

typedef TKT_ARRAY_OF(tkt_chunk *) chunk_list;

/* The chunks from the first unfolded one to the one that holds the cursor. */
static takt_status list_chunks(const tkt_thread_log *log, const takt_record *cursor,
                               chunk_list *list)
{
    tkt_chunk *chunk = log->unfolded;
    for (;;) {
        tkt_chunk **item = TKT_ARRAY_ADD(list);
        if (!item)
            return TAKT_NO_MEMORY;
        *item = chunk;
        if (cursor >= chunk->slots && cursor <= chunk->slots + TKT_CHUNK_SLOTS)
            return TAKT_OK;
        chunk = tkt_chunk_after(chunk);
    }
}

static void fold_chunks(walk *w, const chunk_list *list, uint32_t first_slot,
                        const takt_record *cursor)
{
    for (size_t i = list->count; i-- > 0;) {
        const tkt_chunk *chunk = list->items[i];
        const takt_record *end = i + 1 == list->count ? cursor : chunk->slots + chunk->count;
        fold_slots(w, chunk->slots + (i == 0 ? first_slot : 0), end);
    }
}

/* Skips a chunk that is folded to its end, so that usually only one is left. */
static void skip_folded_chunk(tkt_thread_log *log)
{
    tkt_chunk *after = tkt_chunk_after(log->unfolded);
    if (!after || log->unfolded_slot != log->unfolded->count)
        return;
    log->unfolded = after;
    log->unfolded_slot = 0;
}

takt_status tkt_online_fold_from(tkt_thread_log *log, const takt_record *cursor,
                                 const takt_frame *frames, uint32_t frame_count,
                                 uint64_t from_ticks, uint64_t until_ticks, uint64_t ns_per_tick)
{
    if (!log->fold.items && tkt_fold_init(&log->fold) != TAKT_OK)
        return TAKT_NO_MEMORY;
    walk w = {
        .fold = &log->fold,
        .calls = &log->folded_calls,
        .above = log->path,
        .from = from_ticks,
        .until = until_ticks ? until_ticks : UINT64_MAX,
        .ns_per_tick = ns_per_tick,
    };
    skip_folded_chunk(log);
    tkt_chunk *only = log->unfolded;
    chunk_list list = {0};
    bool is_one = cursor >= only->slots && cursor <= only->slots + TKT_CHUNK_SLOTS;
    if (!is_one && list_chunks(log, cursor, &list) != TAKT_OK) {
        TKT_ARRAY_FREE(&list);
        return TAKT_NO_MEMORY; /* the next fold begins at the same slot */
    }
    w.above[0] = 0;
    fold_frames(&w, frames, frame_count, until_ticks);
    if (is_one)
        fold_slots(&w, only->slots + log->unfolded_slot, cursor);
    else
        fold_chunks(&w, &list, log->unfolded_slot, cursor);
    if (!is_one)
        log->unfolded = list.items[list.count - 1];
    log->unfolded_slot = (uint32_t)(cursor - log->unfolded->slots);
    TKT_ARRAY_FREE(&list);
    return TAKT_OK;
}

takt_status tkt_online_fold(tkt_thread_log *log, const takt_record *cursor,
                            const takt_frame *frames, uint32_t frame_count, uint64_t until_ticks)
{
    return tkt_online_fold_from(
        log, cursor, frames, frame_count,
        __atomic_load_n(&tkt_record_control.fold_from_ticks, __ATOMIC_RELAXED), until_ticks,
        __atomic_load_n(&tkt_record_control.fold_ns_per_tick, __ATOMIC_RELAXED));
}
