/* Merges call trees where nobody asks what number a node has got. */
#ifndef TEST_MERGE_FOLDS_H
#define TEST_MERGE_FOLDS_H

#include "record/fold.h"

#include <stdlib.h>

static inline takt_status merge_folds(tkt_fold *into, const tkt_fold *from, const uint32_t *sites)
{
    uint32_t *nodes = malloc((from->count + 1) * sizeof *nodes);
    takt_status status = nodes ? tkt_fold_merge(into, from, sites, nodes) : TAKT_NO_MEMORY;
    free(nodes);
    return status;
}

#endif
