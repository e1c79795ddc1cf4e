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
#include "trace/skew.h"

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

#endif
