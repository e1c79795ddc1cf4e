/* Launches of graphs put together from their nodes, for windows that ask for graphs where CUPTI has
 * recorded nodes: a graph that was made executable before whole launches were recorded, or another
 * window that wants the nodes. */
#ifndef TKT_TRACE_GRAPHS_H
#define TKT_TRACE_GRAPHS_H

#include "cuda/store.h"
#include "trace/model.h"

/* Begins with its first node and ends with its last one. */
typedef struct tkt_graph_launch {
    tkt_stored_activity whole; /* device, context and stream are the first node's */
    uint64_t owner; /* the caller's; 0 at first */
    uint32_t nodes; /* that have arrived */
} tkt_graph_launch;

/* Starts as {0}. */
typedef struct tkt_graphs {
    TKT_ARRAY_OF(tkt_graph_launch) items; /* in the order of the first arrivals */
    tkt_map index;  /* correlation -> index + 1 */
    tkt_map shapes; /* graph << 32 | nodes -> shape of the trace + 1 */
} tkt_graphs;

void tkt_graphs_fini(tkt_graphs *graphs);

/* Adds a node, an activity whose `graph` is set, to its launch, which is returned; NULL without
 * memory. Valid until the next one is added. */
tkt_graph_launch *tkt_graphs_add(tkt_graphs *graphs, const tkt_stored_activity *node);

/* Forgets the first launches; a node that comes later still makes another one. */
void tkt_graphs_drop(tkt_graphs *graphs, size_t count);

#define TKT_GRAPH_LABEL_BYTES 32u

/* What tables print for such a launch, "graph 5 from nodes"; returns out. */
const char *tkt_graph_label(char out[TKT_GRAPH_LABEL_BYTES], const tkt_graph_launch *launch);

/* The index of the launch's shape in the trace; TKT_NO_SHAPE without memory. */
uint32_t tkt_graph_shape(tkt_graphs *graphs, takt_trace *trace, const tkt_graph_launch *launch);

#endif
