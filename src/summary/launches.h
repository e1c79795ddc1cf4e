/* Launches by kernel or graph: how long the call took, how long the work queued, how long it ran,
 * and whether a device waited for it. The times are those of Nsight Systems' cuda_kern_exec_sum. */
#ifndef TKT_SUMMARY_LAUNCHES_H
#define TKT_SUMMARY_LAUNCHES_H

#include "trace/model.h"

typedef enum tkt_launch_time {
    TKT_LAUNCH_CALL,  /* duration of the call */
    TKT_LAUNCH_QUEUE, /* from the call's end to the work's begin; only launches whose work began
                       * later */
    TKT_LAUNCH_WORK,  /* from the begin of the first activity to the end of the last */
    TKT_LAUNCH_TOTAL, /* from the begin of the call to the end of the work */
    TKT_LAUNCH_TIMES
} tkt_launch_time;

/* Names whose percentiles are known; each has a histogram for every time. */
#define TKT_LAUNCH_HISTOGRAMS 1024u

typedef struct tkt_launch_stats {
    tkt_stats      stats;
    tkt_histogram *histogram; /* NULL beyond the first TKT_LAUNCH_HISTOGRAMS names */
} tkt_launch_stats;

/* All launches of one name. */
typedef struct tkt_launch {
    uint32_t name;  /* string: name of the activity; of the first one if a call launched several */
    uint32_t graph; /* executable graph, whose nodes form one launch; otherwise 0 */
    uint32_t call;  /* string: the call's name, or 0 if the calls differ */
    tkt_launch_stats times[TKT_LAUNCH_TIMES];
    uint64_t late;      /* late launches for which a device was idle: see gaps.h */
    uint64_t waited_ns; /* how long the devices were idle for them */
} tkt_launch;

typedef struct tkt_launches {
    TKT_ARRAY(tkt_launch); /* in order of first appearance */
    tkt_map   index;
    tkt_arena histograms;
    uint64_t  launched; /* number of launches; this and the next two are sums over all rows */
    uint64_t  late;
    uint64_t  waited_ns;
    uint64_t  unattributed; /* activities whose launch is unknown; not in any sum */
} tkt_launches; /* starts as {0} */

/* Fills `out`. TAKT_NO_SPANS, TAKT_NO_MEMORY. */
takt_status tkt_launches_of(const takt_trace *trace, tkt_launches *out);

void tkt_launches_fini(tkt_launches *launches); /* accepts a zeroed struct; call it after a failure
                                                 * too */

/* ======== Launches without an activity ======== */

/* Launches whose activity was lost, by the scopes that made them. */

/* Launches by the same call in the same scopes. */
typedef struct tkt_missing {
    uint32_t call; /* index of one of them */
    uint64_t count;
} tkt_missing;

typedef struct tkt_missings {
    TKT_ARRAY(tkt_missing); /* in order of first appearance */
    tkt_map index;
} tkt_missings; /* starts as {0} */

/* Fills `out`. TAKT_NO_MEMORY. */
takt_status tkt_missings_of(const takt_trace *trace, tkt_missings *out);

void tkt_missings_fini(tkt_missings *missings); /* accepts a zeroed struct; call it after a failure
                                                 * too */

const char *tkt_missing_call(const takt_trace *trace, const tkt_missing *missing);

/* The scopes around the call, outermost first: "step > forces"; of a very deep stack "... >" and the
 * innermost ones. NULL without memory. */
const char *tkt_missing_scopes(const takt_trace *trace, const tkt_missing *missing,
                               tkt_arena *texts);

#endif
