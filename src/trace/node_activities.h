/* The folded form of device activities: trace->node_activities, beside the fold. */
#ifndef TKT_TRACE_NODE_ACTIVITIES_H
#define TKT_TRACE_NODE_ACTIVITIES_H

#include "trace/model.h"

/* Finds entries while they are being made. */
typedef struct tkt_node_activities {
    takt_trace *trace; /* its fold must be there */
    tkt_map     index; /* hash of node, device and name -> index + 1 */
} tkt_node_activities; /* fini with tkt_map_fini(&index) */

/* The index of the entry of this node, device, name and filter, made if it is new, with a
 * histogram; SIZE_MAX without memory. */
size_t tkt_node_activity_index(tkt_node_activities *list, const tkt_node_activity *key);

/* Puts the entries in order. */
void tkt_node_activities_sort(takt_trace *trace);

/* Makes them from the activities of devices; the fold must be there. With spans only. All or
 * nothing is made. TAKT_NO_MEMORY. */
takt_status tkt_node_activities_derive(takt_trace *trace);

#endif
