/* When devices and their streams were idle, why, and what the host did meanwhile.
 *
 * A gap of a stream lies between two of its activities. A gap of a device is a time in which none
 * of its streams runs anything. The activity after the gap determines the cause.
 *
 * An activity counts as handed over when the call that launched it returned. If the activity began
 * before the call returned, as in a blocking copy, the begin of the call counts: the exact time is
 * unknown. A launch is late if the activity was handed over after the gap had begun, by more than
 * the uncertainty between host and device times. */
#ifndef TKT_SUMMARY_GAPS_H
#define TKT_SUMMARY_GAPS_H

#include "trace/model.h"

/* Between two activities that it already has, a device needs less time than this. */
#define TKT_SHORT_GAP_NS 5000

typedef enum tkt_idle_cause {
    TKT_IDLE_HOST,  /* launched late: the time until the hand-over; the rest of the gap counts too
                     * if it is shorter than TKT_SHORT_GAP_NS (launch latency) */
    TKT_IDLE_WAIT,  /* handed over, but waited: for an event, or for an activity of another stream
                     * that ended less than TKT_SHORT_GAP_NS before this one began */
    TKT_IDLE_SHORT, /* handed over in time, began within TKT_SHORT_GAP_NS */
    TKT_IDLE_GRAPH, /* between activities of one launch: nodes of a graph */
    TKT_IDLE_EDGE,  /* before the first activity of the recording, or after the last */
    TKT_IDLE_OTHER, /* handed over, but began late for no known reason; or the launch is unknown */
    TKT_IDLE_CAUSES
} tkt_idle_cause;

/* Idle time of one stream or device during the recording.
 *
 * A stream executes in order. From the launch of its first recorded activity to the begin of that it
 * was busy, with the launch or with work from before the recording; before that launch nothing is
 * known of it, nor of its device, unless the device was watched before the recording. The device
 * counts from the launch of its first activity on. */
typedef struct tkt_idle {
    uint32_t device; /* string */
    uint32_t context;
    uint32_t stream;
    bool     is_device; /* a device's row: context and stream are 0 */
    uint64_t count;     /* activities */
    uint64_t known_ns; /* busy and idle time together; 0: it is not known when this was idle, and only
                        * counts and sums of the work itself are valid */
    uint64_t busy_ns;
    uint64_t idle_ns;
    uint64_t cause_ns[TKT_IDLE_CAUSES]; /* add up to idle_ns */
    uint64_t gaps;                      /* without the edges */
    uint64_t late; /* gaps before an activity that was launched late. Of a device: late launches for
                    * which the whole device was idle, cause_ns[TKT_IDLE_HOST] in total */
    /* Of a device: */
    uint64_t total_ns;     /* sum of its activities' durations */
    uint64_t first_ns;     /* from here on it was idle if nothing recorded ran, but for: */
    uint64_t unseen_ns;    /* gaps while a stream had not begun its first activity; not in known_ns */
    uint64_t step_busy_ns; /* its busy time in recorded steps */
    uint64_t step_unknown_ns; /* what is not known of the recorded steps */
    uint64_t computing_ns; /* its busy time with anything but copies */
    uint64_t copies;
    uint64_t copied_bytes;
} tkt_idle;

/* One of the longest gaps. */
typedef struct tkt_gap {
    uint64_t begin_ns;
    uint64_t end_ns;
    uint32_t idle;   /* index of `idles` */
    uint32_t cause;  /* tkt_idle_cause; if the gap has two parts, that of the longer one */
    uint32_t before; /* index of the activity, or UINT32_MAX: none */
    uint32_t after;
    uint32_t name;   /* string: the scope in which the launching thread of `after` spent most of the
                      * gap; 0: outside of scopes */
} tkt_gap;

/* Idle time of a device by the innermost scope of a host thread: the thread that launched the
 * activity after the gap. After the last activity it is the thread that launched that one. */
typedef struct tkt_idle_scope {
    uint32_t device; /* string */
    uint32_t name;   /* string; 0: outside of all scopes, or is_unknown */
    bool     is_unknown; /* the launching thread is unknown */
    uint64_t idle_ns;
    uint64_t host_ns; /* the part whose cause is TKT_IDLE_HOST */
    uint64_t call_ns; /* the part inside calls into the device's library */
} tkt_idle_scope;

/* A time in which it is not known whether a device was idle: see tkt_idle.unseen_ns. */
typedef struct tkt_unseen {
    uint32_t device; /* string */
    uint64_t begin_ns;
    uint64_t end_ns;
} tkt_unseen;

typedef struct tkt_gap_list {
    TKT_ARRAY(tkt_gap); /* longest first */
} tkt_gap_list;

/* Copies of all devices whose size is known. */
typedef struct tkt_copying {
    uint64_t count;
    uint64_t bytes;
    uint64_t ns;             /* sum of their durations */
    uint64_t pageable_count; /* of these: from or to pageable memory */
    uint64_t pageable_bytes;
    uint64_t pageable_ns;
} tkt_copying;

typedef struct tkt_gaps {
    TKT_ARRAY_OF(tkt_idle) idles;        /* each device, followed by its streams */
    TKT_ARRAY_OF(tkt_unseen) unseen;     /* of each device in order */
    TKT_ARRAY_OF(tkt_idle_scope) scopes; /* sorted by device, then longest first */
    tkt_map late;   /* tkt_launch_key() -> number of late launches for which a device was idle */
    tkt_map waited; /* tkt_launch_key() -> how long devices were idle for these launches, in ns */
    tkt_gap_list stream_gaps;
    tkt_gap_list device_gaps;
    uint64_t wall_ns; /* of the recording */
    uint64_t step_ns; /* sum of the durations of devices' activities, without those known to be
                       * launched outside of the recorded steps */
    tkt_copying copying;
} tkt_gaps; /* starts as {0} */

/* Number of gaps of streams, and of devices, that tkt_trace_gaps() keeps. */
#define TKT_MOST_GAPS 1000

/* Returns the gaps of a trace. The first call computes them in one pass over the activities; the
 * trace owns them until it is released. `name` of each gap is 0: tkt_gaps_name() finds it. Any
 * thread. TAKT_NO_SPANS, TAKT_NO_MEMORY. */
takt_status tkt_trace_gaps(const takt_trace *trace, const tkt_gaps **out);

/* The row of a device's string. NULL: the device has no activities. */
const tkt_idle *tkt_idle_of(const tkt_gaps *gaps, uint32_t label);

/* A gap or an edge, reported during the pass. */
typedef struct tkt_idle_time {
    const tkt_idle *idle; /* its stream or device; not complete yet */
    const tkt_gap  *gap;  /* its `idle` and `name` are not valid yet */
    uint64_t        host_until_ns; /* until then the cause is TKT_IDLE_HOST, afterwards `rest` */
    tkt_idle_cause  rest;
    bool            is_late;
} tkt_idle_time;

/* Reports a part of a device's idle time that the host spent in one scope. The times in `part` are
 * those of this part. */
typedef void (*tkt_idle_stay)(void *user, const tkt_idle_scope *part);

typedef struct tkt_gaps_wish {
    size_t longest; /* keep this many gaps of devices and this many of streams */
    void (*each)(void *user, const tkt_idle_time *time); /* called for each gap and edge; or NULL */
    tkt_idle_stay stay; /* called after `each` for the same gap of a device; or NULL */
    void  *user;
} tkt_gaps_wish;

/* Computes the gaps in a pass of its own, as `wish` requests. The caller calls tkt_gaps_fini().
 * TAKT_NO_SPANS, TAKT_NO_MEMORY. */
takt_status tkt_gaps_of(const takt_trace *trace, const tkt_gaps_wish *wish, tkt_gaps *out);

void tkt_gaps_fini(tkt_gaps *gaps); /* accepts a zeroed struct */

/* Fills the names of gaps. TAKT_NO_MEMORY. */
takt_status tkt_gaps_name(const takt_trace *trace, tkt_gap *gaps, size_t count);

/* Launches with the same key share a row of the report. `first` is the first activity of a call.
 * All nodes of a graph have the graph's key. */
static inline uint64_t tkt_launch_key(const takt_trace *trace, const tkt_activity *first)
{
    uint32_t graph =
        first->shape == TKT_NO_SHAPE ? 0 : trace->shapes.items[first->shape].graph;
    return graph ? (uint64_t)graph << 32 : first->name;
}

#endif
