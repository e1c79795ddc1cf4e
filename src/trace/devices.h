/* Attributes the activities of devices to the calls and scopes that launched them.
 *
 * Full form: seal, join, finish. The join copies the window's activities from the store into the
 * trace. The correlation id leads from an activity to its call, and the call to its scope.
 *
 *     tkt_seal(&window, &trace);
 *     tkt_trace_join(trace, tkt_store_get(), &what, &joined);
 *     tkt_trace_finish(trace);
 *
 * Folded form: Takt adds activities up as they arrive, by the path that launched them. The owner
 * of the window now and then passes the new calls of all logs, then the store, and does so once
 * more after the window's end. Then it gives the sums to tkt_seal() together with the folds
 * (seal.h):
 *
 *     tkt_device_fold_create(position, first_correlation, filter, &fold);
 *     tkt_log_fold_calls(log, &calls);           each log; at the end tkt_log_fold_take()
 *     tkt_device_fold_calls(fold, log->number, &calls);
 *     tkt_device_fold_update(fold, tkt_store_get(), UINT32_MAX);
 *
 * The sections below: an index of calls, the error of device clocks, the join, the folded form,
 * waiting for missing activities, and sums by call path. Graphs are in graphs.h.
 */
#ifndef TKT_TRACE_DEVICES_H
#define TKT_TRACE_DEVICES_H

#include "cuda/cuda.h"
#include "record/log.h"
#include "trace/graphs.h"
#include "trace/model.h"

/* ======== Calls ======== */

/* Correlation ids count up and wrap around: of two ids, the later one is up to 2^31 after the
 * other. The upper half of tkt_calls_heard() does not matter. */
static inline bool tkt_is_later_call(uint32_t correlation, uint64_t than)
{
    return (int32_t)(correlation - (uint32_t)than) > 0;
}

/* The last id of a window that goes on. TKT_NO_CALL_HEARD is the same if Takt saw no calls: then
 * the begin of an activity decides. */
#define TKT_ANY_LATER_CALL UINT32_MAX
#define TKT_NO_CALL_HEARD  (UINT32_MAX - 1)

/* False for ids after the window's last one. */
static inline bool tkt_is_call_until(uint32_t correlation, uint32_t last)
{
    return last >= TKT_NO_CALL_HEARD || !tkt_is_later_call(correlation, last);
}

/* True for ids of the window: after `first`, up to `last`. */
static inline bool tkt_is_call_within(uint32_t correlation, uint64_t first, uint32_t last)
{
    return tkt_is_later_call(correlation, first) && tkt_is_call_until(correlation, last);
}

/* A window that goes on for longer than half of all ids has a later first id, this far back: no
 * device is so far behind. */
#define TKT_CALLS_BACK (UINT32_C(1) << 30)

/* A lookup visits at most this many calls with equal low bits, or calls nested in each other. The
 * limit keeps crafted files from making the reader slow. */
#define TKT_MOST_EQUAL_CALLS 64

/* Finds calls by correlation id. Ids count up, so their lowest bits spread them evenly over a table
 * of lists. */
typedef struct tkt_call_index {
    const tkt_call_info *calls;
    uint32_t *first; /* by the lowest bits of the id: first call of the list + 1 */
    uint32_t *next;  /* by call: next call of the list + 1 */
    uint32_t  mask;
} tkt_call_index;

takt_status tkt_call_index_init(tkt_call_index *index, const takt_trace *trace);
void tkt_call_index_fini(tkt_call_index *index); /* accepts a zeroed index */

/* The first call with this id, or TKT_NO_CALL. Id 0 has no call. */
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

/* The innermost span around the call that is not itself a call, or TKT_NO_SPAN. */
static inline uint32_t tkt_call_scope(const takt_trace *trace, uint32_t call)
{
    const tkt_call_info *info = &trace->calls.items[call];
    const tkt_span *spans = trace->tracks.items[info->track].spans.items;
    uint32_t span = spans[info->span].parent;
    for (int i = 0; i < TKT_MOST_EQUAL_CALLS && span != TKT_NO_SPAN; i++) {
        if (!tkt_span_is_call(&spans[span]))
            return span;
        span = spans[span].parent;
    }
    return TKT_NO_SPAN;
}

/* True for the id of a call that began after the window. Other threads may launch work while the
 * window is being closed. */
bool tkt_call_is_late(const takt_trace *trace, uint32_t correlation);

/* The kinds of work that a call of this name may launch, as TAKT_TIMING_ bits; 0 for none.
 * TKT_LAUNCHED_MARK for marks, TAKT_LAUNCH and TAKT_STREAM_SCOPE without CUPTI: a mark always has
 * one activity. */
#define TKT_LAUNCHED_MARK UINT32_MAX
uint32_t tkt_launched_by(const char *name);

/* True for the name of a call that waits for a device: cudaDeviceSynchronize, cuStreamSynchronize, ... */
bool tkt_call_waits(const char *name);

/* True for the name of a call that allocates or frees memory. */
bool tkt_call_changes_memory(const char *name);

/* The same, except from pools, which is cheap. */
bool tkt_call_allocates(const char *name);

/* True for the name of a call that loads, links or compiles code: see class_of() of
 * src/cuda/callback.c. */
bool tkt_call_loads(const char *name);

/* Calls `visit` for each call whose name passes `test`, in order, until it returns false; tests
 * the name of each site only once. TAKT_NO_MEMORY, also if `visit` returned false. */
takt_status tkt_calls_visit(const takt_trace *trace, bool (*test)(const char *name),
                            bool (*visit)(void *user, uint32_t call), void *user);

/* True for cudaGraphLaunch and its variants. */
bool tkt_call_launches_graph(const takt_trace *trace, uint32_t call);

/* Sets the call of an activity, and the track and scope that follow from it. `call` may be
 * TKT_NO_CALL. */
void tkt_call_attribute(const takt_trace *trace, uint32_t call, tkt_activity *activity);

/* Sorts the activities from `first` on by order of issue. Their calls must be set.
 * TAKT_NO_MEMORY. */
takt_status tkt_calls_order(takt_trace *trace, size_t first);

/* ======== The error of device clocks ======== */

/* CUPTI and the driver convert a device's clock to the host's, and may be wrong by some
 * microseconds. Reading two clocks of the host one after the other does not show this error, but
 * causality does: no activity begins before the call that launched it, and none ends after a wait
 * for it has returned. So each launch bounds the error on one side, and each wait on the other. */

typedef TKT_ARRAY_OF(tkt_wait) tkt_waits;

typedef struct tkt_skew {
    double  host_ns;        /* in: uncertainty of mapping CUPTI's clock to Takt's */
    bool    is_movable;     /* in: times may be corrected; false if the system clock was set */
    bool    is_least;       /* one side of a device's error has no bound, so it may be larger */
    double  uncertainty_ns; /* the largest of all devices; at least host_ns */
    int64_t shift_ns;       /* the largest shift of a device's activities; usually 0 */
} tkt_skew;

/* Bounds the error of each device's times from the activities from `first` on, which must be in
 * order of issue. Where the bounds exclude an error of 0, moves the device's activities: by the
 * smallest shift that satisfies all bounds or, if they contradict each other, to their middle.
 * `later` has waits after the end of the recording, whose calls are not in the trace.
 * TAKT_NO_MEMORY. */
takt_status tkt_skew_correct(takt_trace *trace, size_t first, const tkt_call_index *index,
                             const tkt_waits *later, tkt_skew *skew);

/* Sets the calls of the waits from `first` on. */
void tkt_waits_attribute(takt_trace *trace, size_t first, const tkt_call_index *index);

/* The records of events, sorted, to find those that waits are for. */
typedef struct tkt_records {
    tkt_stored_record *items; /* by event, then by correlation */
    size_t             count;
} tkt_records;

/* Copies the store's records. TAKT_NO_MEMORY. */
takt_status tkt_records_init(tkt_records *records, const tkt_store *store);
void tkt_records_fini(tkt_records *records);

/* Returns the record that a wait is for: the one with the same sync id, or if CUPTI gives none, the
 * last one of the event before the wait. NULL if the event was recorded before the window. */
const tkt_stored_record *tkt_records_find(const tkt_records *records, const tkt_stored_wait *wait);

/* Converts a wait that begins at `begin_ns`. Its call stays unknown. */
tkt_wait tkt_wait_of(const tkt_stored_wait *from, uint64_t begin_ns, const tkt_records *records);

/* ======== From the store's terms to the trace's ======== */

/* Converts what begins at `begin_ns` on the device of that label. `index` is the place of `shape` in
 * the trace. What follows from the call stays unknown. */
static inline void tkt_activity_set(tkt_activity *to, const tkt_stored_activity *from,
                                    uint64_t begin_ns, const tkt_shape *shape, uint32_t index,
                                    uint32_t device)
{
    *to = (tkt_activity){.begin_ns = begin_ns,
                         .end_ns = begin_ns + (from->end - from->begin),
                         .name = shape->label,
                         .device = device,
                         .filter = shape->filter,
                         .shape = index,
                         .stream = from->stream,
                         .context = from->context,
                         .correlation = from->correlation};
}

static inline tkt_overhead tkt_overhead_of(const tkt_stored_overhead *from, uint64_t begin_ns)
{
    return (tkt_overhead){begin_ns, begin_ns + (from->end - from->begin), from->kind, from->thread};
}

static inline tkt_memory_event tkt_memory_event_of(const tkt_stored_memory *from, uint64_t time_ns,
                                                   uint32_t device)
{
    return (tkt_memory_event){.time_ns = time_ns,
                              .address = from->address,
                              .bytes = from->bytes,
                              .track = TKT_NO_TRACK,
                              .span = TKT_NO_SPAN,
                              .device = device,
                              .kind = from->kind | (from->is_pool ? TKT_MEMORY_POOL : 0)};
}

/* ======== Phases inside kernels ======== */

typedef struct tkt_phase_window {
    uint64_t begin_ns;
    uint64_t end_ns;
    uint32_t first_correlation; /* as in tkt_join */
    uint32_t last_correlation;
    uint64_t *seen; /* NULL: all batches. Otherwise those after this number, which is moved on, while
                     * kernels are not known yet. */
} tkt_phase_window;

/* Adds the lanes of the kernels in the trace, or that began in this time, and counts the losses of
 * their reads. Call after tkt_trace_join(), when the trace has its losses. TAKT_NO_MEMORY. */
takt_status tkt_phases_fill(takt_trace *trace, const tkt_phase_window *window);

/* ======== Joining ======== */

/* Selects a window's part of the store. An activity belongs to the window if its call began in the
 * window. If its call is unknown, its correlation id must be in the window's range, and it must
 * have arrived before `known_until`: a call that became known later is not in the window. */
typedef struct tkt_join {
    uint64_t position;          /* tkt_store_position() when the window began, */
    uint64_t known_until;       /* and when it last looked for calls that it lacks; 0: it did not */
    uint32_t first_correlation; /* tkt_cuda_last_correlation() when the window began, */
    uint32_t last_correlation;  /* and when it ended; the window has the ids after the first */
    uint32_t filter;            /* TAKT_TIMING_ bits */
    bool     whole_graphs;      /* combine a graph's nodes into one activity for each launch */
    bool     is_settled;        /* all work is done: a graph without an activity has none */
    uint64_t begin_ticks;       /* of the window, as in tkt_seal_window */
    uint64_t end_ticks;
    tkt_clock_fit fit;
} tkt_join;

typedef struct tkt_joined {
    uint64_t activities;    /* added to the trace */
    uint64_t unattributed;  /* of these, activities without a call; already in the trace's losses */
    uint64_t missing;       /* launches, copies and sets of the filter without an activity: late,
                             * lost, or without work. The session decides which. Calls that failed,
                             * copied nothing or were captured do not count, nor do graphs that have none. */
    uint64_t missing_marks; /* the same for TAKT_LAUNCH and TAKT_STREAM_SCOPE without CUPTI. Each
                             * of them has one activity, so a missing one is late or lost. */
    uint64_t missing_nodes; /* nodes that graph launches lack compared with other launches of the
                             * same graph; late, unless the window waited for all activities */
    uint64_t incomplete;    /* activities that were reported before they had finished */
    uint64_t bad_time;      /* activities with impossible times */
    tkt_skew skew;          /* the error of the times */
} tkt_joined;

/* Adds a window's part of the store to a trace that tkt_seal() made: activities in order of issue,
 * shapes, devices, waits, overheads and memory events. Devices with memory events also get a
 * device_memory with window_ totals, current_bytes and pool_bytes, counted from 0 at the window's
 * begin; the caller fills in the rest. Takes the store's lock. TAKT_NO_MEMORY. */
takt_status tkt_trace_join(takt_trace *trace, tkt_store *store, const tkt_join *what,
                           tkt_joined *out);

/* A window, for the work of launches before it. */
typedef struct tkt_earlier {
    const tkt_clock_map *map;
    uint32_t last_call; /* before the window */
    uint64_t begin_ns;
    uint64_t end_ns;
} tkt_earlier;

/* What a device's earlier_until_ns begins with: the window's begin if a launch before it was seen,
 * for then all that it did is known; else 0. */
uint64_t tkt_watched_until_ns(const tkt_device *stored, const tkt_earlier *window);

/* Notes in the trace's devices, which must be the store's, until when one works for a launch before
 * the window. False if it changes nothing, such as for the window's own work. */
bool tkt_note_earlier(takt_trace *trace, const tkt_stored_activity *from,
                      const tkt_earlier *window);

/* Finds the call, track and scope of each activity by its correlation id. Then sorts the activities
 * by order of issue: by the begin of their calls, and within a call by their own begin. For code
 * that fills the model itself, before host activities are added. TAKT_NO_MEMORY. */
takt_status tkt_trace_link(takt_trace *trace);

/* The entry of the device with this label, added if it is new; NULL without memory. Valid until the
 * next entry is added. */
tkt_device_memory *tkt_trace_device_memory(takt_trace *trace, uint32_t device);

/* Adds an allocation, or a free with bytes below 0, to the totals of a recording. */
void tkt_memory_totals_add(tkt_memory_totals *totals, uint64_t time_ns, int64_t bytes);

/* Raises the peaks of the host's memory to the most that the events add up to, unless some are
 * lost. The events must be sorted by time. Threads report at the same time, and the totals see
 * their reports in another order: a free before the allocation that it overlapped. */
void tkt_memory_raise_peak(takt_trace *trace);

/* Sorts the memory events by time, and adds those of devices to the devices' totals.
 * TAKT_NO_MEMORY. */
takt_status tkt_device_memory_fill(takt_trace *trace);

/* Adds a memory event to the device's totals and its pool_bytes. */
void tkt_device_memory_add(tkt_device_memory *memory, const tkt_memory_event *event);

/* ---- The folded form ------------------------------------------------------------------------- */

typedef struct tkt_device_fold tkt_device_fold;

takt_status tkt_device_fold_create(uint64_t position, uint32_t first_correlation, uint32_t filter,
                                   tkt_device_fold **out);
void tkt_device_fold_destroy(tkt_device_fold *fold); /* NULL is ignored */

/* Adds up launches of graphs instead of their nodes. Call before the first update. */
void tkt_device_fold_whole_graphs(tkt_device_fold *fold);

/* Sets the window's times, which decide about bodies of unknown launches. `end_ns` is 0 until the
 * window has ended. Not while another thread updates. */
void tkt_device_fold_bound(tkt_device_fold *fold, const tkt_clock_fit *fit, uint64_t begin_ns,
                           uint64_t end_ns);

/* True if a call launched a graph, whose bodies may come later than all nodes. */
bool tkt_device_fold_has_graphs(const tkt_device_fold *fold);

/* Remembers which paths made these calls; their nodes are those of the fold of log number `log`.
 * Only the latest quarter of a million calls are kept: activities that arrive later than that have
 * no path. */
void tkt_device_fold_calls(tkt_device_fold *fold, uint32_t log, const tkt_folded_calls *calls);

/* Stops counting calls with ids after `last_correlation`, the window's last, up to `newest` as
 * missing. The logs also contain calls made while the window was being closed. */
void tkt_device_fold_forget(tkt_device_fold *fold, uint32_t last_correlation, uint32_t newest);

/* Adds up the activities that have arrived since the last update. An activity whose call is not
 * known yet waits for the next update. Pass TKT_ANY_LATER_CALL as `last_correlation` until the
 * window has ended; after that, the update skips later ids. Returns the position up to which the
 * store may release activities. Takes the store's lock. */
uint64_t tkt_device_fold_update(tkt_device_fold *fold, tkt_store *store, uint32_t last_correlation);

/* Adds up, without a path, the activities that still wait for their calls, except those of late
 * calls: these are not in the window though they have ids of it. NULL as `is_late`: there are none.
 * Takes the store's lock. */
void tkt_device_fold_finish(tkt_device_fold *fold, tkt_store *store,
                            bool (*is_late)(uint32_t correlation));

/* Launches and activities that are missing from the sums or have no path; see tkt_joined. */
typedef struct tkt_fold_losses {
    uint64_t unattributed;  /* activities added up without a path */
    uint64_t no_memory;     /* activities not added up */
    uint64_t missing;       /* launches without an activity, except of graphs */
    uint64_t missing_graphs;
    uint64_t missing_marks; /* marks without an activity */
    uint64_t silent;        /* launches of graphs without one, of which the filter may leave out all:
                             * no loss, but the devices may still be at work */
    uint64_t incomplete;
    uint64_t bad_time;
} tkt_fold_losses;
tkt_fold_losses tkt_device_fold_losses(const tkt_device_fold *fold);

/* For tkt_seal(): puts the sums into trace->node_activities, see tkt_device_sums_into(). */
takt_status tkt_device_fold_into(const tkt_device_fold *fold, const uint32_t *const *nodes,
                                 size_t log_count, takt_trace *trace);

/* ---- Durations added up ---------------------------------------------------------------------- */

#define TKT_NO_LOG UINT32_MAX

typedef struct tkt_device_sum_key {
    uint32_t log;    /* of the path; TKT_NO_LOG: none */
    uint32_t node;   /* of the log's fold */
    uint32_t device; /* ordinal */
    uint32_t label;  /* string of the store */
    uint32_t filter;
} tkt_device_sum_key;

typedef struct tkt_device_sum {
    tkt_device_sum_key key;
    const char        *label;
    const char        *device;
    tkt_stats          stats;
    tkt_histogram     *histogram;
} tkt_device_sum;

/* Starts as {0}. */
typedef struct tkt_device_sums {
    TKT_ARRAY_OF(tkt_device_sum) items;
    tkt_map  index;      /* hash of a key -> index + 1 */
    tkt_fold histograms; /* and nothing else */
} tkt_device_sums;

void tkt_device_sums_fini(tkt_device_sums *sums);

/* Counts a duration. With the store's lock. False without memory. */
bool tkt_device_sums_add(tkt_device_sums *sums, const tkt_store *store,
                         const tkt_device_sum_key *key, uint64_t duration_ns);

/* Puts the sums into trace->node_activities. nodes[log][n] is the node of the trace's fold that
 * node n of the log's fold became; nodes[log] is NULL for a log without a fold. TAKT_NO_MEMORY. */
takt_status tkt_device_sums_into(const tkt_device_sums *sums, const uint32_t *const *nodes,
                                 size_t log_count, takt_trace *trace);

/* ======== Arrivals ======== */

/* Tracks which launches of a sealed trace have activities in the store. The end of a window waits
 * for the missing ones. */
typedef struct tkt_arrivals {
    const takt_trace *trace;
    const tkt_join   *what;
    tkt_call_index    index;
    uint64_t          position;   /* in the store: everything before has been checked */
    uint8_t          *launches;   /* by call: TKT_LAUNCHES_ */
    uint32_t         *counts;     /* by call: activities that have arrived */
    uint32_t         *graphs;     /* by call: the graph that it launched; 0: none */
    uint64_t          missing;    /* launches without an activity, except of graphs */
    uint64_t          missing_graphs;
    uint64_t          strays;     /* activities of the window whose calls are not in the trace */
    const uint32_t   *calls;      /* for the caller to set, as the next: ids of calls to look for */
    size_t            call_count;
    bool              has_call;   /* a stray belongs to one of them */
} tkt_arrivals; /* starts as {0} */

/* `trace` and `what` must stay valid until fini. TAKT_NO_MEMORY. */
takt_status tkt_arrivals_init(tkt_arrivals *arrivals, const takt_trace *trace,
                              const tkt_join *what);
void tkt_arrivals_fini(tkt_arrivals *arrivals);

/* Checks the activities that have arrived since the last look. TKT_COMPLETE when every launch has
 * an activity, and all launches of a graph have the same number of nodes. A graph that was launched
 * only once lacks some, because its number of nodes is unknown. Takes the store's lock. */
tkt_completeness tkt_arrivals_look(tkt_arrivals *arrivals, tkt_store *store);

/* Counts the nodes that are missing from `count` calls. graphs[i] is the graph that call i launched
 * (0: none), nodes[i] the number of its nodes that have arrived. Assumes that each launch of a
 * graph has as many nodes as the launch with the most. TAKT_NO_MEMORY. */
takt_status tkt_missing_nodes(const uint32_t *graphs, const uint32_t *nodes, size_t count,
                              uint64_t *missing);

/* The call that launched an activity of the store, or TKT_NO_CALL. Some releases of CUPTI give the
 * activities of graphs the ids of other calls, so a call that launches no graph is rejected for
 * them. */
uint32_t tkt_call_of_stored(const tkt_call_index *index, const takt_trace *trace,
                            const tkt_store *store, const tkt_stored_activity *activity);

enum {
    TKT_LAUNCHES_NOTHING,
    TKT_LAUNCHES_WORK,
    TKT_LAUNCHES_MARK,
    TKT_LAUNCHES_PERHAPS /* a graph of which the filter may leave everything out: nothing lacks */
};

/* TKT_LAUNCHES_ for a call with this result of tkt_launched_by(), with a window's filter. */
uint8_t tkt_must_launch(uint32_t launched, uint32_t filter);

/* True if a call without an activity that may launch this lacks one. With `are_graphs_sure`, a graph
 * without an activity is one that gives devices nothing to do: all work is settled, and no activity
 * is left that may be its. */
bool tkt_call_lacks(const takt_trace *trace, uint32_t call, uint8_t launches,
                    bool are_graphs_sure);

/* A byte for each call of the trace: the TKT_LAUNCHES_ of its name. Calls that failed, copied
 * nothing or were captured have TKT_LAUNCHES_NOTHING. The caller frees the array; NULL without
 * memory. */
uint8_t *tkt_calls_that_launch(const takt_trace *trace, uint32_t filter);

/* ======== Activities of call paths ======== */

/* The folded form of device activities is trace->node_activities, next to the fold. */

/* Finds entries while the list grows. */
typedef struct tkt_node_activities {
    takt_trace *trace; /* its fold must exist */
    tkt_map     index; /* hash of node, device and name -> index + 1 */
} tkt_node_activities; /* fini with tkt_map_fini(&index) */

/* The index of the entry with this node, device, name and filter. Adds the entry, without a
 * histogram, if it is new. SIZE_MAX without memory. */
size_t tkt_node_activity_index(tkt_node_activities *list, const tkt_node_activity *key);

/* Sorts the entries by node, device, name and filter. */
void tkt_node_activities_sort(takt_trace *trace);

#endif
