#include "record/mapping_fold.h"

#include "record/control.h"
#include "record/mapping.h"

#include <string.h>

#define CHUNKS_PER_PIECE                                                                           \
    4u /* so many chunks are recorded for each one that a fold is written to                       \
        */

/* A fold being written. */
typedef struct pieces {
    const tkt_thread_log *log;
    uint32_t generation;
    tkt_chunk *first; /* linked by `next` */
    tkt_chunk *last;
    uint32_t count;
    size_t used; /* bytes of the last one */
    bool is_full;
} pieces;

static void add_piece(pieces *to)
{
    tkt_chunk *chunk = tkt_pool_take(0);
    if (!chunk) {
        to->is_full = true;
        return;
    }
    __atomic_store_n(&chunk->log, 0, __ATOMIC_RELEASE);
    tkt_mapping_barrier();
    chunk->next = NULL;
    chunk->sequence = to->count++;
    chunk->depth = to->generation;
    chunk->count = 0;
    tkt_mapping_barrier();
    __atomic_store_n(&chunk->log, TKT_KEPT_FOLD | (to->log->number + 1), __ATOMIC_RELEASE);
    if (to->last)
        to->last->next = chunk;
    else
        to->first = chunk;
    to->last = chunk;
    to->used = 0;
}

static void put(pieces *to, const void *data, size_t size)
{
    const char *from = data;
    while (size && !to->is_full) {
        size_t room = to->last ? sizeof to->last->slots - to->used : 0;
        size_t part = size < room ? size : room;
        if (part)
            memcpy((char *)to->last->slots + to->used, from, part);
        to->used += part;
        from += part;
        size -= part;
        if (size)
            add_piece(to);
    }
}

static void put_node(pieces *to, const tkt_node *node)
{
    tkt_kept_bucket buckets[TKT_HISTOGRAM_BUCKETS];
    tkt_kept_node kept = {.stats = node->stats,
                          .flops = node->flops,
                          .bytes = node->bytes,
                          .errors = node->errors,
                          .site = node->site,
                          .parent = node->parent};
    for (uint32_t i = 0; node->histogram && i < TKT_HISTOGRAM_BUCKETS; i++)
        if (node->histogram->buckets[i])
            buckets[kept.bucket_count++] = (tkt_kept_bucket){i, node->histogram->buckets[i]};
    put(to, &kept, sizeof kept);
    put(to, buckets, kept.bucket_count * sizeof *buckets);
}

static void give_back(tkt_chunk *chunk)
{
    while (chunk) {
        tkt_chunk *next = chunk->next;
        tkt_pool_give(chunk);
        chunk = next;
    }
}

/* Writes the fold, and puts it in the place of the one before. */
static void write_fold(tkt_thread_log *log)
{
    pieces to = {.log = log, .generation = log->mapped->fold_generation + 1};
    const tkt_kept_fold head = {
        .from_ticks = __atomic_load_n(&tkt_record_control.fold_from_ticks, __ATOMIC_RELAXED),
        .other_count = log->fold.other_count,
        .lost_count = log->fold.lost_count,
        .next_sequence = log->chunk_count,
        .node_count = (uint32_t)log->fold.count,
    };
    put(&to, &head, sizeof head);
    for (size_t i = 0; i < log->fold.count; i++)
        put_node(&to, &log->fold.items[i]);
    if (to.is_full) {
        __atomic_fetch_add(&tkt_mapping()->folds_lost, 1, __ATOMIC_RELAXED);
        give_back(to.first);
        return;
    }
    tkt_mapping_barrier();
    __atomic_store_n(&log->mapped->fold_generation, to.generation, __ATOMIC_RELEASE);
    give_back(log->kept_fold);
    log->kept_fold = to.first;
    log->kept_pieces = to.count;
}

bool tkt_mapping_keep_fold(tkt_thread_log *log)
{
    if (!log->mapped || !tkt_record_has(TKT_FOLD))
        return true;
    uint32_t waiting = log->chunk_count - log->kept_sequence;
    if (waiting < CHUNKS_PER_PIECE * log->kept_pieces && tkt_pool_is_roomy())
        return false;
    write_fold(log);
    log->kept_sequence = log->chunk_count;
    return true;
}
