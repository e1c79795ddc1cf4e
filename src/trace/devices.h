/* What devices did in a window, brought together with the calls that made them do it.
 *
 * Full form: seal, join, finish. The join copies the window's activities out of the store; each is
 * found its call by the correlation id, and its scope by the call.
 *
 *     tkt_seal(&window, &trace);
 *     tkt_trace_join(trace, tkt_store_get(), &what, &joined);
 *     tkt_trace_finish(trace);
 *
 * Folded form: activities are added up while they arrive, by the path that launched them. Whoever
 * owns the window brings the calls of all logs and then the store, now and then and once more when
 * the window has ended, and gives the sums to tkt_seal() with the folds (seal.h):
 *
 *     tkt_device_fold_create(position, first_correlation, filter, &sums);
 *     tkt_log_fold_calls(log, &calls);           each log; at the end tkt_log_fold_take()
 *     tkt_device_fold_calls(sums, log->number, &calls);
 *     tkt_device_fold_update(sums, tkt_store_get(), UINT32_MAX);
 */
#ifndef TKT_TRACE_DEVICES_H
#define TKT_TRACE_DEVICES_H

#include "cuda/store.h"
#include "record/log.h"
#include "trace/model.h"

/* ======== Calls ======== */

/* Finding calls by their correlation ids. */

/* Ids count up, so their lowest bits spread them evenly over a table of lists. A list is followed
 * so far at most, and so are calls inside calls: a file that is made to be slow must not have its
 * way. */
#define TKT_MOST_EQUAL_CALLS 64

typedef struct tkt_call_index {
    const tkt_call_info *calls;
    uint32_t *first; /* by the lowest bits: a call + 1 */
    uint32_t *next;  /* by call: the next one + 1 */
    uint32_t  mask;
} tkt_call_index;

takt_status tkt_call_index_init(tkt_call_index *index, const takt_trace *trace);
void tkt_call_index_fini(tkt_call_index *index); /* also of a zeroed one */

/* The first call of that id, or TKT_NO_CALL. */
static inline uint32_t tkt_call_find(const tkt_call_index *index, uint32_t correlation)
{
    uint32_t call = index->first[correlation & index->mask];
    for (int i = 0; call && correlation && i < TKT_MOST_EQUAL_CALLS; i++) {
        if (index->calls[call - 1].correlation == correlation)
            return call - 1;
        call = index->next[call - 1];
    }
    return TKT_NO_CALL;
}

static inline tkt_span *tkt_call_span(const takt_trace *trace, uint32_t call)
{
    const tkt_call_info *info = &trace->calls.items[call];
    return &trace->tracks.items[info->track].spans.items[info->span];
}

/* The innermost span around a call's that is no call itself, or TKT_NO_SPAN. */
static inline uint32_t tkt_call_scope(const takt_trace *trace, uint32_t call)
{
    const tkt_call_info *info = &trace->calls.items[call];
    const tkt_span *spans = trace->tracks.items[info->track].spans.items;
    uint32_t span = spans[info->span].parent;
    for (int i = 0; i < TKT_MOST_EQUAL_CALLS && span != TKT_NO_SPAN; i++) {
        if (!(tkt_span_flags(&spans[span]) & TAKT_SPAN_CALL))
            return span;
        span = spans[span].parent;
    }
    return TKT_NO_SPAN;
}

/* True for the id of a call that began after the window: other threads go on launching while it
 * ends. */
bool tkt_call_is_late(const takt_trace *trace, uint32_t correlation);

/* What a call of this name launches, as TAKT_TIMING_ bits: any of them; 0: nothing. A mark, which
 * times what the program says without CUPTI, has always an activity. */
#define TKT_LAUNCHED_MARK UINT32_MAX
uint32_t tkt_launched_by(const char *name);

/* True for the name of a call that waits for a device: cudaDeviceSynchronize, cuStreamSynchronize, ... */
bool tkt_call_waits(const char *name);

/* True for cudaGraphLaunch and its variants. */
bool tkt_call_launches_graph(const takt_trace *trace, uint32_t call);

/* Gives an activity what its call, or the lack of one, implies. */
void tkt_call_attribute(const takt_trace *trace, uint32_t call, tkt_activity *activity);

/* Puts activities from `first` on, which have their calls, in the order of issue. */
takt_status tkt_calls_order(takt_trace *trace, size_t first);

/* ======== How far clocks are off ======== */

/* How far the times of devices are off the host's, as the calls around their activities show.
 *
 * CUPTI and the driver convert a device's clock to the host's, and may be some microseconds wrong.
 * Reading two clocks of the host side by side cannot tell. Causality can: no activity begins before
 * the call that launched it began, and none ends after a wait for it has returned. So each launch
 * bounds the error on one side, and each wait on the other. */

typedef TKT_ARRAY_OF(tkt_wait) tkt_waits;

typedef struct tkt_skew {
    double  host_ns;        /* given: uncertainty of mapping CUPTI's clock to Takt's */
    bool    is_movable;     /* given: activities may be moved to where they are possible */
    bool    is_least;       /* for a device nothing bounds one side: the uncertainty may be more */
    double  uncertainty_ns; /* the largest of all devices; at least host_ns */
    int64_t shift_ns;       /* the furthest that a device's activities were moved; usually 0 */
} tkt_skew;

/* Bounds the error of each device's times with the activities from `first` on, which must be in
 * the order of issue, and moves a device's activities where the bounds exclude an error of 0: by
 * the least that satisfies all of them, or, where they contradict each other, to the middle.
 * `later` are waits behind the end of the recording whose calls are not in the trace.
 * TAKT_NO_MEMORY. */
takt_status tkt_skew_correct(takt_trace *trace, size_t first, const tkt_call_index *index,
                             const tkt_waits *later, tkt_skew *skew);

/* ======== Joining ======== */

/* Which of the store's contents are a window's. An activity is its own when its call began in the
 * window, or, where the call is not known, when its correlation id is in the window's range. */
typedef struct tkt_join {
    uint64_t position;          /* tkt_store_position() when the window began */
    uint32_t first_correlation; /* tkt_cuda_last_correlation() then: later ids are the window's, */
    uint32_t last_correlation;  /* up to this one, read when it ended */
    uint32_t filter;            /* TAKT_TIMING_ bits */
    bool     whole_graphs;      /* nodes of a graph become one activity for each launch */
    uint64_t begin_ticks;       /* of the window, as in tkt_seal_window */
    uint64_t end_ticks;
    tkt_clock_fit fit;
} tkt_join;

/* `last_correlation` where no call was heard: then activities are the window's that began in it. */
#define TKT_NO_CALL_HEARD (UINT32_MAX - 1)

typedef struct tkt_joined {
    uint64_t activities;    /* that were added */
    uint64_t unattributed;  /* of them: without a call; the trace's facts have counted them */
    uint64_t missing;       /* launches, copies and sets of the filter of which nothing has arrived:
                             * what is late, or lost, or had nothing to do. The session tells which.
                             * Calls that failed, copied nothing or were captured are no launches. */
    uint64_t missing_marks; /* the same of TAKT_LAUNCH and TAKT_STREAM_SCOPE without CUPTI: these
                             * have one activity each, so one that is missing is late or lost */
    uint64_t missing_nodes; /* of graph launches of which something has arrived: how many nodes fewer
                             * than the graph's other launches have; late, if not all was waited for */
    uint64_t incomplete;    /* activities that came before they had finished, */
    uint64_t bad_time;      /* and with impossible times */
    tkt_skew skew;          /* of the times against the host's */
} tkt_joined;

/* Adds to a trace that tkt_seal() made: activities in the order of issue, shapes, devices, waits,
 * overheads, memory events, and device_memory of devices that have such events, with window_
 * totals, current_bytes and pool_bytes as the events say, from 0 at the window's begin; the caller
 * adds what it knows besides.
 * Takes the store's lock. TAKT_NO_MEMORY. */
takt_status tkt_trace_join(takt_trace *trace, tkt_store *store, const tkt_join *what,
                           tkt_joined *out);

/* Puts the device activities, which must be the only ones yet, in the order of issue: by the begin
 * of their calls, those of one call by their own; and finds each its call, track and scope by its
 * correlation id. For those that fill the model themselves. TAKT_NO_MEMORY. */
takt_status tkt_trace_link(takt_trace *trace);

/* The entry of a device, by its label, made if it is new; NULL without memory. Valid until the next
 * one is made. */
tkt_device_memory *tkt_trace_device_memory(takt_trace *trace, uint32_t device);

/* Adds an event of the device's memory to what it had at the window's begin, 0. */
void tkt_device_memory_add(tkt_device_memory *memory, const tkt_memory_event *event);

/* ---- The folded form ------------------------------------------------------------------------- */

typedef struct tkt_device_fold tkt_device_fold;

takt_status tkt_device_fold_create(uint64_t position, uint32_t first_correlation, uint32_t filter,
                                   tkt_device_fold **out);
void tkt_device_fold_destroy(tkt_device_fold *sums); /* NULL is ignored */

/* Adds up launches of graphs instead of their nodes. Before the first update. */
void tkt_device_fold_whole_graphs(tkt_device_fold *sums);

/* Notes which paths have made calls; nodes are those of the fold of log number `log`. The oldest of
 * some hundred thousand calls are forgotten: activities that come later still have no path. */
void tkt_device_fold_calls(tkt_device_fold *sums, uint32_t log, const tkt_folded_calls *calls);

/* Nothing is missing of calls after `last_correlation`, the window's last, up to `newest`. The logs
 * give some that were made while the window ended. */
void tkt_device_fold_forget(tkt_device_fold *sums, uint32_t last_correlation, uint32_t newest);

/* Adds up the activities that have arrived since the last time. One whose call is not known yet
 * waits for the next time. `last_correlation` is UINT32_MAX until the window has ended; then later
 * ids are left out. Returns the position that the store may be released up to. Takes the store's
 * lock. */
uint64_t tkt_device_fold_update(tkt_device_fold *sums, tkt_store *store, uint32_t last_correlation);

/* Adds up without a path what still waits for its call. Takes the store's lock. */
void tkt_device_fold_finish(tkt_device_fold *sums, tkt_store *store);

/* What was not added up as it should: a part of tkt_joined, and more. */
typedef struct tkt_fold_losses {
    uint64_t unattributed; /* activities that were added up without a path */
    uint64_t no_memory;    /* activities that were not added up */
    uint64_t missing;      /* launches of which nothing has arrived, */
    uint64_t missing_marks; /* and marks */
    uint64_t incomplete;
    uint64_t bad_time;
} tkt_fold_losses;
tkt_fold_losses tkt_device_fold_losses(const tkt_device_fold *sums);

/* For tkt_seal(): puts the sums into trace->node_activities. nodes[log] are the numbers that the
 * nodes of a log's fold have in the trace's; NULL where the log has none. */
takt_status tkt_device_fold_into(const tkt_device_fold *sums, const uint32_t *const *nodes,
                                 size_t log_count, takt_trace *trace);

/* ======== What has arrived ======== */

/* Which launches of a sealed trace have their activities in the store: what the end of a window
 * waits for. */

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

/* ======== Launches of graphs ======== */

/* Launches of graphs put together from their nodes, for windows that ask for graphs where CUPTI has
 * recorded nodes: a graph that was made executable before whole launches were recorded, or another
 * window that wants the nodes. */

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

/* ======== Activities of call paths ======== */

/* The folded form of device activities: trace->node_activities, beside the fold. */

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
