/* Which launches of a sealed trace have their activities in the store: what the end of a window
 * waits for. */
#ifndef TKT_TRACE_ARRIVALS_H
#define TKT_TRACE_ARRIVALS_H

#include "cuda/store.h"
#include "trace/calls.h"
#include "trace/devices.h"

typedef struct tkt_arrivals {
    const takt_trace *trace;
    const tkt_join   *what;
    tkt_call_index    index;
    uint64_t          position;   /* of the store: looked at up to here */
    uint8_t          *launches;   /* by call: it was to cause an activity that `what` asks for */
    uint32_t         *counts;     /* by call: activities that have come, */
    uint32_t         *graphs;     /* by call: and the graph that they are nodes of; 0: none */
    uint64_t          missing;    /* launches of which nothing has come */
    uint64_t          strays;     /* activities of the window whose call the trace does not have */
} tkt_arrivals; /* starts as {0} */

/* `what` stays the caller's, as long as this is used. TAKT_NO_MEMORY. */
takt_status tkt_arrivals_init(tkt_arrivals *arrivals, const takt_trace *trace,
                              const tkt_join *what);
void tkt_arrivals_fini(tkt_arrivals *arrivals);

/* Looks at what has come since the last time. True: every launch has an activity, and every graph
 * launch as many as the others of its graph; false also while a graph was launched only once, since
 * then nobody knows how many it has. Takes the store's lock. */
bool tkt_arrivals_look(tkt_arrivals *arrivals, tkt_store *store);

/* By call: the graph that it launched (0: none), and how many of its nodes have come. How many are
 * missing, where a graph has as many as any of its launches. TAKT_NO_MEMORY. */
takt_status tkt_missing_nodes(const uint32_t *graphs, const uint32_t *nodes, size_t count,
                              uint64_t *missing);

/* The call that launched an activity of the store, or TKT_NO_CALL. Some releases of CUPTI give what
 * graphs launched the ids of other calls: a call that launches no graph is not believed. */
uint32_t tkt_call_of_stored(const tkt_call_index *index, const takt_trace *trace,
                            const tkt_store *store, const tkt_stored_activity *activity);

enum {
    TKT_LAUNCHES_NOTHING,
    TKT_LAUNCHES_WORK,
    TKT_LAUNCHES_MARK
};

/* The launches of the trace that were to cause activities of this filter: a byte a call, which the
 * caller frees; NULL without memory. Calls that failed, copied nothing or were captured are none. */
uint8_t *tkt_calls_that_launch(const takt_trace *trace, uint32_t filter);

#endif
