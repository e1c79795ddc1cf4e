/* Where time goes, by call path: the folded form as a list. */
#ifndef TKT_SUMMARY_TREE_H
#define TKT_SUMMARY_TREE_H

#include "trace/model.h"

#define TKT_NO_ROW UINT32_MAX

typedef struct tkt_path {
    const tkt_node *node;   /* the trace's */
    const char     *name;   /* the trace's */
    uint32_t        parent; /* its index, smaller than this one's, or TKT_NO_ROW */
    uint32_t        depth;  /* 0: opened outside of any other */
} tkt_path;

typedef struct tkt_tree {
    TKT_ARRAY(tkt_path); /* in the order in which they were first seen */
    uint64_t self_ns; /* of all: what percentages refer to */
} tkt_tree; /* starts as {0} */

/* All paths that were called, or lead to one that was. TAKT_NO_MEMORY. */
takt_status tkt_tree_of(const takt_trace *trace, tkt_tree *out);

void tkt_tree_fini(tkt_tree *tree); /* also of a zeroed one */

#endif
