/* When devices and their streams had nothing to do, why, and what the host did meanwhile.
 *
 * A gap lies between two activities of a stream, or of a device, where it is the time in which none
 * of its streams runs. What comes after the gap tells its cause. Work counts as handed over when
 * the call that launched it returned or, where it began before that, when the call began: copies
 * that are waited for are known no better. It is late when that is after the begin of the gap, by
 * more than host and device times are uncertain. */
#ifndef TKT_SUMMARY_GAPS_H
#define TKT_SUMMARY_GAPS_H

#include "trace/model.h"

/* Gaps shorter than this are what a device needs between two pieces of work that it has already. */
#define TKT_SHORT_GAP_NS 5000

typedef enum tkt_idle_cause {
    TKT_IDLE_HOST,  /* launched late: until it was handed over, and a short rest, the latency */
    TKT_IDLE_WAIT,  /* handed over, but waited: for an event, or for another stream's work, which
                     * ended less than a short gap before */
    TKT_IDLE_SHORT, /* handed over in time, and began soon */
    TKT_IDLE_GRAPH, /* between activities of one launch, the nodes of a graph */
    TKT_IDLE_EDGE,  /* before the first activity of the recording, and after the last */
    TKT_IDLE_OTHER, /* handed over, but began late; or its launch is not known */
    TKT_IDLE_CAUSES
} tkt_idle_cause;

/* Of a stream, or of a device. Within the recording; busy and idle add up to its length. */
typedef struct tkt_idle {
    uint32_t device; /* string */
    uint32_t context;
    uint32_t stream;
    bool     is_device; /* context and stream are 0 */
    uint64_t count;     /* activities */
    uint64_t busy_ns;
    uint64_t idle_ns;
    uint64_t cause_ns[TKT_IDLE_CAUSES]; /* add up to idle_ns */
    uint64_t gaps;                      /* edges are none */
    uint64_t late; /* of them: those whose activity was launched late. Of a device: launches whose
                    * latency nothing hid, and cause_ns[TKT_IDLE_HOST] is how long it waited */
    uint64_t total_ns;     /* of a device: the sum of its activities' durations, */
    uint64_t step_busy_ns; /* and its busy time within recorded steps */
} tkt_idle;

/* Of the longest ones. */
typedef struct tkt_gap {
    uint64_t begin_ns;
    uint64_t end_ns;
    uint32_t idle;   /* of `idles` */
    uint32_t cause;  /* tkt_idle_cause; of the longer part, where there are two */
    uint32_t before; /* activity, or UINT32_MAX: none */
    uint32_t after;
    uint32_t name;   /* string: the scope in which the thread that launched `after` was longest; 0:
                      * in none */
} tkt_gap;

/* Idle time of a device by the innermost scope that the host was in: the thread that launched what
 * came after the gap; behind the last activity, the thread that launched that one. */
typedef struct tkt_idle_scope {
    uint32_t device; /* string */
    uint32_t name;   /* string; 0: outside of all scopes, or */
    bool     is_unknown; /* it is not known which thread launched */
    uint64_t idle_ns;
    uint64_t host_ns; /* of it: of cause TKT_IDLE_HOST */
    uint64_t call_ns; /* of it: inside calls into the device's library */
} tkt_idle_scope;

typedef struct tkt_gap_list {
    TKT_ARRAY(tkt_gap); /* the longest first */
} tkt_gap_list;

typedef struct tkt_gaps {
    TKT_ARRAY_OF(tkt_idle) idles;        /* each device, and behind it its streams */
    TKT_ARRAY_OF(tkt_idle_scope) scopes; /* by device; of each, the longest first */
    tkt_map late;   /* tkt_launch_key() -> late launches for which a device was idle, */
    tkt_map waited; /* and for how many ns */
    tkt_gap_list stream_gaps;
    tkt_gap_list device_gaps;
    uint64_t step_ns; /* durations of the activities of devices, but for those known to have been
                       * launched outside of the recorded steps */
} tkt_gaps; /* starts as {0} */

/* As many gaps of streams and of devices as the trace keeps. */
#define TKT_MOST_GAPS 1000

/* The gaps of a trace. The first call finds them in one pass over the activities, and the trace
 * keeps them until it is released. `name` of each gap is 0: tkt_gaps_name() finds it. Any thread.
 * TAKT_NO_SPANS, TAKT_NO_MEMORY. */
takt_status tkt_trace_gaps(const takt_trace *trace, const tkt_gaps **out);

/* A gap or an edge, as the pass finds it. */
typedef struct tkt_idle_time {
    const tkt_idle *idle; /* whose; not complete yet */
    const tkt_gap  *gap;  /* without `idle` and `name` */
    uint64_t        host_until_ns; /* from its begin on its cause is TKT_IDLE_HOST, then `rest` */
    tkt_idle_cause  rest;
    bool            is_late;
} tkt_idle_time;

/* A part of the idle time of a device that the host spent in one scope: `idle_ns` and so on are of
 * this part. */
typedef void (*tkt_idle_stay)(void *user, const tkt_idle_scope *part);

typedef struct tkt_gaps_wish {
    size_t longest; /* so many gaps each of devices and of streams */
    void (*each)(void *user, const tkt_idle_time *time); /* or NULL */
    tkt_idle_stay stay; /* or NULL. Comes behind `each`, for the same time of the device */
    void  *user;
} tkt_gaps_wish;

/* The same by a pass of its own. The caller calls tkt_gaps_fini(). TAKT_NO_SPANS, TAKT_NO_MEMORY. */
takt_status tkt_gaps_of(const takt_trace *trace, const tkt_gaps_wish *wish, tkt_gaps *out);

void tkt_gaps_fini(tkt_gaps *gaps); /* also of a zeroed one */

/* Fills the names of gaps. TAKT_NO_MEMORY. */
takt_status tkt_gaps_name(const takt_trace *trace, tkt_gap *gaps, size_t count);

/* Launches of one key are one row of the report: `first` is a call's first activity. All nodes of a
 * graph have the graph's key. */
static inline uint64_t tkt_launch_key(const takt_trace *trace, const tkt_activity *first)
{
    uint32_t graph =
        first->shape == TKT_NO_SHAPE ? 0 : trace->shapes.items[first->shape].graph;
    return graph ? (uint64_t)graph << 32 : first->name;
}

#endif
