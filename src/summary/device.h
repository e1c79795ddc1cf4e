/* Sums over the activities of devices: by node of the call tree and by device. The trace's list of
 * activities holds those of devices first, then those of the host. */
#ifndef TKT_SUMMARY_DEVICE_H
#define TKT_SUMMARY_DEVICE_H

#include "trace/order.h"
#include "trace/model.h"

/* True if the trace has activities of devices, in its list or in the call tree. Call
 * tkt_trace_fold() first. */
static inline bool tkt_has_device_activities(const takt_trace *trace)
{
    return trace->node_activities.count > 0 || tkt_device_activity_count(trace) > 0;
}

/* Times of the activities launched in a node of the tree (self), and in it or below it (total). */
typedef struct tkt_node_device {
    uint64_t self_ns;
    uint64_t total_ns;
} tkt_node_device;

/* Returns one entry for each node. Entries of calls are 0, since their activities belong to the
 * calling scope. The root's total covers all activities; its self time is that of activities
 * without a scope. The caller frees the array with tkt_free(). NULL without memory. */
tkt_node_device *tkt_node_device_of(const takt_trace *trace, const tkt_fold *fold);

/* Calls `visit` for each activity of a device, sorted by begin. TAKT_NO_MEMORY. */
takt_status tkt_device_visit(const takt_trace *trace,
                             void (*visit)(void *user, const tkt_activity *activity), void *user);

/* The part of the recording in which it is known what devices did: of a flight recorder that has
 * overwritten some from its first activity on; until the last one where there was no room for more,
 * or where the end of a recording that was broken off lacks some; and until its last slice. */
void tkt_device_known(const takt_trace *trace, uint64_t *from_ns, uint64_t *until_ns);

/* Adds an interval to a union of intervals that arrive sorted by begin. `until` is the union's end
 * so far. Returns by how much the union has grown. */
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
    uint64_t total_ns;     /* sum of its activities' durations */
    uint64_t known_ns;     /* this and the next four as in tkt_idle; 0 unless has_spans */
    uint64_t busy_ns;
    uint64_t first_ns;
    uint64_t step_busy_ns;
    uint64_t step_unknown_ns;
} tkt_device_use;

typedef struct tkt_device_uses {
    TKT_ARRAY(tkt_device_use); /* in order of first appearance */
    uint64_t total_ns;
    uint64_t step_ns; /* total_ns without activities known to be launched outside of the recorded
                       * steps */
    uint64_t step_count; /* of how many steps that is */
    uint64_t wall_ns;    /* of the recording, which known_ns is a part of; 0 unless has_spans */
} tkt_device_uses; /* starts as {0} */

/* True if devices were idle when no activity ran, in the time of tkt_device_known(): not only marked
 * launches are known, as without CUPTI or with a filter, and the file was not cut before the end of
 * its activities. For the gaps, which tell what is known. */
bool tkt_device_idle_is_known(const takt_trace *trace);

/* True if nearly all that the device did is known, and none to speak of was lost, so that conclusions
 * can be drawn from it. */
bool tkt_device_use_is_known(const takt_trace *trace, const tkt_device_uses *uses,
                             const tkt_device_use *use);

/* The caller calls TKT_ARRAY_FREE(). TAKT_NO_MEMORY. */
takt_status tkt_device_uses_of(const takt_trace *trace, tkt_device_uses *out);

/* ======== Peak performance ======== */

/* Peak performance of a device's string ("cuda:0"), or of the host, which is 0. Values from the
 * program or its configuration override those computed from the device's attributes. The host has
 * no attributes.
 *
 *     flops     = multiprocessors x FP32 lanes of each x 2 x clock: fused multiply-adds, each of
 *                 which is two operations, without tensor cores. Lanes by compute capability: CUDA
 *                 C++ Programming Guide, throughput of 32-bit floating-point instructions
 *     bandwidth = 2 x memory clock x bus width / 8: double data rate, as NVIDIA's deviceQuery and
 *                 "How to Implement Performance Metrics in CUDA C/C++" have it
 *
 * Unknown values are 0. */
takt_peak tkt_peak_of(const takt_trace *trace, uint32_t device);

#endif
