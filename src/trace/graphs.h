/* Launches of graphs: combined from nodes, and of what they launch on the device. */
#ifndef TKT_TRACE_GRAPHS_H
#define TKT_TRACE_GRAPHS_H

#include "cuda/store.h"
#include "trace/model.h"

/* ======== Whole launches ======== */

/* Combines a graph's nodes into one activity for each launch. This serves windows that ask for
 * whole graphs when CUPTI recorded nodes: because the graph was instantiated before CUPTI recorded
 * whole launches, or because another window wants the nodes. */

/* Begins with its first node and ends with its last. */
typedef struct tkt_graph_launch {
    tkt_stored_activity whole; /* device, context and stream are the first node's */
    uint64_t owner; /* for the caller to use; 0 at first */
    uint64_t set;   /* tells the names of the graph's own nodes, in any order */
    uint32_t nodes; /* that have arrived */
} tkt_graph_launch;

/* Starts as {0}. */
typedef struct tkt_graphs {
    TKT_ARRAY_OF(tkt_graph_launch) items; /* in the order of the first arrivals */
    tkt_map index;  /* correlation -> index + 1 */
    tkt_map shapes; /* hash of graph, node count and set -> shape of the trace + 1 */
} tkt_graphs;

void tkt_graphs_fini(tkt_graphs *graphs);

/* Adds a node, an activity of the store whose `graph` is set, to its launch. Returns the launch,
 * valid until the next node is added; NULL without memory. */
tkt_graph_launch *tkt_graphs_add(tkt_graphs *graphs, const tkt_store *store,
                                 const tkt_stored_activity *node);

/* Adds a body to its launch and returns that; NULL if the launch is not there any more. */
tkt_graph_launch *tkt_graphs_extend(tkt_graphs *graphs, const tkt_stored_activity *body);

/* Removes the first `count` launches. A node of one of them that arrives later starts a new
 * launch. */
void tkt_graphs_drop(tkt_graphs *graphs, size_t count);

/* Before the names of the first `count` launches are asked for, which are complete: so these do not
 * depend on the order of arrivals. With the store's lock. */
void tkt_graphs_name(const tkt_graphs *graphs, size_t count, tkt_store *store);

/* The launch's name in tables, "graph 5 from nodes"; returns out. Graphs with the same nodes, such as
 * one that is instantiated again and again, have the number of the one that was launched first. With
 * the store's lock. */
const char *tkt_launch_label(char out[TKT_GRAPH_LABEL_BYTES], tkt_store *store,
                             const tkt_graph_launch *launch);

/* The index of the launch's shape in the trace, added if it is new; TKT_NO_SHAPE without memory.
 * With the store's lock. */
uint32_t tkt_graph_shape(tkt_graphs *graphs, tkt_store *store, takt_trace *trace,
                         const tkt_graph_launch *launch);

/* ======== Bodies ======== */

/* What a graph launches on the device itself, such as the body of a conditional node, has the graph
 * but the id of no call. Launches of one executable graph follow each other: a body belongs to the
 * one whose own node was the last to begin before it. Records of bodies come in buffers of their
 * own, often before those of the nodes, so those who cannot wait for all records hold bodies: for a
 * second if a later launch of the graph is known, otherwise for ten. */

/* The earliest known node of a launch. */
typedef struct tkt_launch_node {
    uint64_t begin;
    uint32_t correlation;
} tkt_launch_node;

/* The launches of one executable graph. */
typedef struct tkt_graph_nodes {
    TKT_ARRAY(tkt_launch_node); /* by begin */
    uint32_t graph;
    bool is_unsorted;
    bool has_held; /* bodies, when launches were last forgotten */
} tkt_graph_nodes;

typedef struct tkt_held_body {
    tkt_stored_activity activity; /* its shape and context are for the holder to use */
    uint64_t            since_ns; /* takt_now_ns() */
} tkt_held_body;

/* Starts as {0}. */
typedef struct tkt_bodies {
    TKT_ARRAY_OF(tkt_graph_nodes) graphs;
    tkt_map index;                    /* executable graph -> index + 1 */
    size_t bytes;                     /* of the nodes, roughly */
    size_t kept_bytes;                /* when launches were last forgotten */
    TKT_ARRAY_OF(tkt_held_body) held; /* in order of arrival */
} tkt_bodies;

void tkt_bodies_fini(tkt_bodies *bodies);

/* Takes the nodes of the store from `position` on. Nodes for which there is no memory are left out.
 * With the store's lock. */
void tkt_bodies_note(tkt_bodies *bodies, const tkt_store *store, uint64_t position);

/* Gives a body the correlation id of its launch, if a node is known. */
void tkt_bodies_own(const tkt_bodies *bodies, tkt_stored_activity *body);

/* Takes a body with its launch; it must not hold others. */
typedef void tkt_body_settler(void *user, const tkt_stored_activity *body);

/* Holds a copy of a body. Passes on the oldest first if there are too many, and this one at once if
 * there is no memory. */
void tkt_bodies_hold(tkt_bodies *bodies, const tkt_stored_activity *body, tkt_body_settler *settled,
                     void *user);

/* Passes on the bodies that were held long enough, or all, and forgets launches that no body can
 * need any more. */
void tkt_bodies_settle(tkt_bodies *bodies, bool is_all, tkt_body_settler *settled, void *user);

#endif
