/* The summary of a process that died: for each log the last fold that is complete in the file, and
 * what was recorded since, folded now. */
#include "record/mapping_fold.h"
#include "record/online.h"
#include "record/slot.h"
#include "trace/recovery.h"

#include <stdlib.h>
#include <string.h>

/* The pieces of a fold, one after another. */
typedef struct reader {
    TKT_ARRAY_OF(const tkt_chunk *) pieces;
    size_t piece;
    size_t used;
} reader;

static int compare(const void *a, const void *b)
{
    const tkt_chunk *const *x = a, *const *y = b;
    return (*x)->sequence < (*y)->sequence ? -1 : (*x)->sequence > (*y)->sequence;
}

static bool take(reader *from, void *into, size_t size)
{
    char *to = into;
    while (size && from->piece < from->pieces.count) {
        const tkt_chunk *chunk = from->pieces.items[from->piece];
        size_t room = sizeof chunk->slots - from->used;
        size_t part = size < room ? size : room;
        memcpy(to, (const char *)chunk->slots + from->used, part);
        to += part;
        size -= part;
        from->used += part;
        if (from->used == sizeof chunk->slots) {
            from->used = 0;
            from->piece++;
        }
    }
    return size == 0;
}

static void find_pieces(tkt_recovery *r, uint32_t number, uint32_t generation, reader *out)
{
    for (uint32_t i = 0; i < r->head.chunks.count; i++) {
        const tkt_chunk *chunk = tkt_recovery_item(r, &r->head.chunks, i);
        if (chunk->log != (TKT_KEPT_FOLD | (number + 1)) || chunk->depth != generation)
            continue;
        const tkt_chunk **piece = TKT_ARRAY_ADD(&out->pieces);
        if (piece)
            *piece = chunk;
        else
            r->is_short = true;
    }
    if (out->pieces.count)
        qsort(out->pieces.items, out->pieces.count, sizeof *out->pieces.items, compare);
}

static bool read_histogram(reader *from, const tkt_kept_node *kept, tkt_fold *fold, tkt_node *node)
{
    tkt_kept_bucket bucket;
    if (kept->bucket_count == 0)
        return true;
    if (kept->bucket_count > TKT_HISTOGRAM_BUCKETS)
        return false;
    node->histogram = tkt_arena_alloc(&fold->histograms, sizeof *node->histogram);
    if (node->histogram)
        memset(node->histogram, 0, sizeof *node->histogram);
    for (uint32_t i = 0; i < kept->bucket_count; i++) {
        if (!take(from, &bucket, sizeof bucket) || bucket.index >= TKT_HISTOGRAM_BUCKETS)
            return false;
        if (node->histogram)
            node->histogram->buckets[bucket.index] = bucket.count;
    }
    return true;
}

/* Nodes get the numbers again that they had. */
static bool read_node(reader *from, uint32_t number, tkt_fold *fold)
{
    tkt_kept_node kept;
    if (!take(from, &kept, sizeof kept) || kept.site > TKT_SITE_MAX)
        return false;
    if (number && (kept.parent >= number || tkt_fold_find_child(fold, kept.parent, kept.site) != number))
        return false;
    tkt_node *node = &fold->items[number];
    node->stats = kept.stats;
    node->flops = kept.flops;
    node->bytes = kept.bytes;
    node->errors = kept.errors;
    return read_histogram(from, &kept, fold, node);
}

/* The fold that is in the file; *next becomes the first chunk that is not in it. */
static bool read_fold(reader *from, uint64_t from_ticks, tkt_fold *fold, uint32_t *next)
{
    tkt_kept_fold head;
    if (!take(from, &head, sizeof head) || head.from_ticks != from_ticks)
        return false;
    for (uint32_t i = 0; i < head.node_count; i++)
        if (!read_node(from, i, fold))
            return false;
    fold->other_count = head.other_count;
    fold->lost_count = head.lost_count;
    *next = head.next_sequence;
    return true;
}

static void read_kept(tkt_recovery *r, uint32_t number, uint64_t from_ticks, tkt_fold *fold,
                      uint32_t *next)
{
    reader pieces = {.piece = 0};
    *next = 0;
    if (number >= r->head.logs.count)
        return;
    const tkt_mapping_log *log = tkt_recovery_item(r, &r->head.logs, number);
    if (log->fold_generation)
        find_pieces(r, number, log->fold_generation, &pieces);
    if (pieces.pieces.count && !read_fold(&pieces, from_ticks, fold, next)) {
        tkt_fold_fini(fold);
        r->is_short |= tkt_fold_init(fold) != TAKT_OK;
        *next = 0;
    }
    TKT_ARRAY_FREE(&pieces.pieces);
}

/* Folds what the log holds beside: its thread's log is made up of the copies. */
static void fold_rest(tkt_recovery *r, const tkt_log_view *view, tkt_chunk *first,
                      const tkt_mapping_window *window, uint64_t until_ticks, tkt_fold *fold)
{
    const tkt_chunk *last = first;
    while (last && last->next)
        last = last->next;
    tkt_thread_log *log = tkt_alloc_zeroed(sizeof *log);
    uint32_t *path = tkt_alloc((TKT_MAX_DEPTH + 1) * sizeof *path);
    if (log && path && last) {
        log->fold = *fold;
        log->path = path;
        log->unfolded = first;
        r->is_short |= tkt_online_fold_from(log, last->slots + last->count, view->frames,
                                            view->frame_count, window->fold_from_ticks, until_ticks,
                                            window->fit.ns_per_tick) != TAKT_OK;
        *fold = log->fold;
        TKT_ARRAY_FREE(&log->folded_calls);
    } else {
        r->is_short |= !log || !path;
    }
    tkt_free(path);
    tkt_free(log);
}

void tkt_recover_folds(tkt_recovery *r, const tkt_mapping_window *window, uint64_t until_ticks)
{
    for (size_t i = 0; i < r->source.views.count && !r->is_short; i++) {
        uint32_t next;
        tkt_fold *fold = TKT_ARRAY_ADD(&r->source.folds);
        if (!fold || tkt_fold_init(fold) != TAKT_OK) {
            r->source.folds.count -= fold != NULL;
            r->is_short = true;
            return;
        }
        read_kept(r, r->logs.items[i].number, window->fold_from_ticks, fold, &next);
        tkt_chunk *first = r->logs.items[i].first;
        while (first && first->sequence < next)
            first = first->next;
        fold_rest(r, &r->source.views.items[i], first, window, until_ticks, fold);
        fold->log = (uint32_t)i;
    }
}
