/* Where time goes, by call path: the folded form as a list. */
#ifndef TKT_SUMMARY_TREE_H
#define TKT_SUMMARY_TREE_H

#include "summary/device.h"

#define TKT_NO_ROW UINT32_MAX

typedef struct tkt_path {
    const tkt_node *node;   /* the trace's */
    const char     *name;   /* the trace's */
    uint64_t        self_ns; /* with the calls into devices' libraries that are no paths */
    tkt_node_device device;  /* activities that it launched: itself; and inside */
    uint32_t        parent; /* its index, smaller than this one's, or TKT_NO_ROW */
    uint32_t        depth;  /* 0: opened outside of any other */
} tkt_path;

typedef struct tkt_tree {
    TKT_ARRAY(tkt_path); /* in the order in which they were first seen */
    uint64_t self_ns;    /* of all: what percentages refer to */
    uint64_t device_ns;  /* of all activities of devices, each once */
    bool     has_device; /* there are such activities */
} tkt_tree; /* starts as {0} */

/* All paths that were called, or lead to one that was; calls into devices' libraries are paths only
 * with `all`. TAKT_NO_MEMORY. */
takt_status tkt_tree_of(const takt_trace *trace, bool all, tkt_tree *out);

void tkt_tree_fini(tkt_tree *tree); /* also of a zeroed one */

#endif
