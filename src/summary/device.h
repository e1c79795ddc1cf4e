/* What devices did: by node of the call tree, by device, and whether two of their activities
 * overlap. A trace's list holds the activities of devices in front of those of the host. */
#ifndef TKT_SUMMARY_DEVICE_H
#define TKT_SUMMARY_DEVICE_H

#include "trace/order.h"
#include "trace/model.h"

/* Whether there are any, in either form of the trace. Call tkt_trace_fold() first. */
static inline bool tkt_has_device_activities(const takt_trace *trace)
{
    return trace->node_activities.count > 0 || tkt_device_activity_count(trace) > 0;
}

/* Times of the activities that a node of the tree launched: in it, and in it or below. */
typedef struct tkt_node_device {
    uint64_t self_ns;
    uint64_t total_ns;
} tkt_node_device;

/* One for each node, from the folded form; those of calls are 0, their activities belong to the
 * scope that makes them. Root: all activities, of which self_ns is attributed to no scope. The
 * caller frees it with tkt_free(). NULL without memory. */
tkt_node_device *tkt_node_device_of(const takt_trace *trace, const tkt_fold *fold);

/* Calls `visit` for each activity of a device in the order of begins. TAKT_NO_MEMORY. */
takt_status tkt_device_visit(const takt_trace *trace,
                             void (*visit)(void *user, const tkt_activity *activity), void *user);

/* Adds to a union of intervals that come by begin; `until` is its end so far. Returns what it has
 * grown by. */
static inline uint64_t tkt_union_add(uint64_t *until, uint64_t begin_ns, uint64_t end_ns)
{
    uint64_t from = begin_ns > *until ? begin_ns : *until;
    if (end_ns <= from)
        return 0;
    *until = end_ns;
    return end_ns - from;
}

typedef struct tkt_device_use {
    uint32_t device; /* string */
    uint64_t count;
    uint64_t total_ns;     /* of its activities */
    uint64_t busy_ns;      /* of the recording, while at least one ran; only where has_spans */
    uint64_t step_busy_ns; /* the same of the recorded steps */
} tkt_device_use;

typedef struct tkt_device_uses {
    TKT_ARRAY(tkt_device_use); /* in the order in which they were first seen */
    uint64_t total_ns;
    uint64_t step_ns; /* of those not known to have been launched outside of the recorded steps */
} tkt_device_uses; /* starts as {0} */

/* The caller calls TKT_ARRAY_FREE(). TAKT_NO_MEMORY. */
takt_status tkt_device_uses_of(const takt_trace *trace, tkt_device_uses *out);

/* ======== What a device could do at most ======== */

/* What a device could do at most. */

/* Of a device's string ("cuda:0"), or 0: the host. What the program or its configuration says goes
 * before what the device's attributes tell, which of the host is nothing:
 *
 *     flops     = multiprocessors x FP32 lanes of each x 2 x clock: fused multiply-adds, each of
 *                 which is two operations, without tensor cores. Lanes by compute capability: CUDA
 *                 C++ Programming Guide, throughput of 32-bit floating-point instructions
 *     bandwidth = 2 x memory clock x bus width / 8: double data rate, as NVIDIA's deviceQuery and
 *                 "How to Implement Performance Metrics in CUDA C/C++" have it
 *
 * What is not known is 0. */
takt_peak tkt_peak_of(const takt_trace *trace, uint32_t device);

#endif
