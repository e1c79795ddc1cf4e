/* The activities of devices in the order of their begins. */
#ifndef TKT_TRACE_BEGINS_H
#define TKT_TRACE_BEGINS_H

#include "trace/model.h"

/* How many activities of devices are in the list; those of the host stand behind. */
size_t tkt_device_activity_count(const takt_trace *trace);

/* Where they stand by begin: place i has the i-th; *places is NULL where they are in order as they
 * are. Found when it is first asked for, then kept with the trace. Any thread. TAKT_NO_MEMORY. */
takt_status tkt_trace_begins(const takt_trace *trace, const uint32_t **places);

#endif
