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
    tkt_gap_list stream_gaps;
    tkt_gap_list device_gaps;
} tkt_gaps; /* starts as {0} */

typedef struct tkt_gaps_wish {
    size_t longest; /* so many gaps each of devices and of streams */
    bool   scopes;
    bool   devices_only; /* no streams, and of the causes none but TKT_IDLE_HOST is reliable: what
                          * streams tell, that work waited, is not looked at */
    /* Hears of each launch whose latency nothing hid, by begin; and this of each activity. */
    void (*late)(void *user, const tkt_activity *activity, uint64_t waited_ns);
    void (*each)(void *user, const tkt_activity *activity);
    void  *user;
} tkt_gaps_wish;

/* TAKT_NO_SPANS, TAKT_NO_MEMORY. */
takt_status tkt_gaps_of(const takt_trace *trace, const tkt_gaps_wish *wish, tkt_gaps *out);

void tkt_gaps_fini(tkt_gaps *gaps); /* also of a zeroed one */

#endif
