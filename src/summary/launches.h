/* Launches by what they launched: how long the call took, how long the work queued, how long it
 * ran, and whether a device waited for it. The times are those of Nsight Systems'
 * cuda_kern_exec_sum. */
#ifndef TKT_SUMMARY_LAUNCHES_H
#define TKT_SUMMARY_LAUNCHES_H

#include "trace/model.h"

typedef enum tkt_launch_time {
    TKT_LAUNCH_CALL,  /* how long the call took */
    TKT_LAUNCH_QUEUE, /* from its end to the work's begin, where the work began no earlier */
    TKT_LAUNCH_WORK,  /* from the begin of the first activity to the end of the last */
    TKT_LAUNCH_TOTAL, /* from the begin of the call to the end of the work */
    TKT_LAUNCH_TIMES
} tkt_launch_time;

typedef struct tkt_launch_stats {
    tkt_stats      stats;
    tkt_histogram *histogram; /* NULL beyond the first thousand names */
} tkt_launch_stats;

/* All launches of one name. */
typedef struct tkt_launch {
    uint32_t name;  /* string: the activity's; that of the first, where a call launched several */
    uint32_t graph; /* executable graph: its nodes are one launch; otherwise 0 */
    uint32_t call;  /* string: the call's name, or 0 where they differ */
    tkt_launch_stats times[TKT_LAUNCH_TIMES];
    uint64_t late;      /* whose latency nothing hid: gaps.h */
    uint64_t waited_ns; /* how long the devices were idle for that */
} tkt_launch;

typedef struct tkt_launches {
    TKT_ARRAY(tkt_launch); /* in the order in which they were first seen */
    tkt_map   index;
    tkt_arena histograms;
    uint64_t  launched; /* these of all */
    uint64_t  late;
    uint64_t  waited_ns;
    uint64_t  unattributed; /* activities whose launch is not known; they are in no sum */
} tkt_launches; /* starts as {0} */

/* TAKT_NO_SPANS, TAKT_NO_MEMORY. */
takt_status tkt_launches_of(const takt_trace *trace, tkt_launches *out);

void tkt_launches_fini(tkt_launches *launches); /* also of a zeroed one, or after a failure */

/* ======== Launches without an activity ======== */

/* Launches whose activity is lost, by the scopes that made them. */

/* All of one path and call. */
typedef struct tkt_missing {
    uint32_t call; /* one such */
    uint64_t count;
} tkt_missing;

typedef struct tkt_missings {
    TKT_ARRAY(tkt_missing); /* in the order in which they were first seen */
    tkt_map index;
} tkt_missings; /* starts as {0} */

/* TAKT_NO_MEMORY. */
takt_status tkt_missings_of(const takt_trace *trace, tkt_missings *out);

void tkt_missings_fini(tkt_missings *missings); /* also of a zeroed one, or after a failure */

/* The call's name. */
const char *tkt_missing_call(const takt_trace *trace, const tkt_missing *missing);

/* Scopes, the outermost first: "step > forces". Of very deep ones the innermost. NULL without
 * memory. */
const char *tkt_missing_scopes(const takt_trace *trace, const tkt_missing *missing,
                               tkt_arena *texts);

#endif
