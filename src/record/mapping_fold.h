/* Summary mode in a crash-safe recording. A chunk that has been folded is written again, and its
 * fold is in the process' memory; so before that the fold is written to the file, into chunks of
 * its own. Because that takes time and room, chunks are kept until they are several times as many
 * as the fold needs. */
#ifndef TKT_RECORD_MAPPING_FOLD_H
#define TKT_RECORD_MAPPING_FOLD_H

#include "record/log.h"

/* In tkt_chunk.log: the chunk is a piece of a fold; `sequence` counts the pieces, `depth` is the
 * fold's generation. The pieces hold one after another a tkt_kept_fold, and for each node a
 * tkt_kept_node and its buckets that are not 0. */
#define TKT_KEPT_FOLD 0x80000000u

typedef struct tkt_kept_fold {
    uint64_t from_ticks;    /* of the window */
    uint64_t other_count;
    uint64_t lost_count;
    uint32_t next_sequence; /* chunks of the log from this one on are not in it */
    uint32_t node_count;
} tkt_kept_fold;

typedef struct tkt_kept_node {
    tkt_stats stats;
    double    flops;
    double    bytes;
    uint64_t  errors;
    uint32_t  site;
    uint32_t  parent;
    uint32_t  bucket_count;
    uint32_t  reserved;
} tkt_kept_node;

typedef struct tkt_kept_bucket {
    uint32_t index;
    uint32_t count;
} tkt_kept_bucket;

/* With the lock, by the log's thread, when all its chunks are folded: true if they may be written
 * again, because the fold is in the file or cannot be. */
bool tkt_mapping_keep_fold(tkt_thread_log *log);

#endif
