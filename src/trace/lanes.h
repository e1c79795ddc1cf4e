/* Timers inside kernels: finds the launch that each lane belongs to. See lane_kernels.c. */
#ifndef TKT_TRACE_LANES_H
#define TKT_TRACE_LANES_H

#include "trace/devices.h"

/* Devices count in ticks of up to 1024 ns, so a lane's time and a kernel's may each be one tick
 * off. Times of kernels also follow the host's clock in steps of 1000 ns, see cuda/clock.c. */
#define TKT_LANE_TOLERANCE_NS 3100

/* A kernel that ran on the lanes' device. */
typedef struct tkt_lane_kernel {
    uint64_t begin_ns;
    uint64_t end_ns;
    uint32_t name;        /* string */
    uint32_t correlation; /* 0: unknown */
} tkt_lane_kernel;

/* The offset from the device's timer to the trace's time lies within these. */
typedef struct tkt_lane_offsets {
    int64_t low;  /* INT64_MIN: no bound */
    int64_t high; /* INT64_MAX: no bound */
} tkt_lane_offsets;

typedef struct tkt_lane {
    uint64_t global;      /* the device's timer at its begin */
    uint64_t least_ns;    /* it lasted at least this long */
    uint64_t after;       /* tkt_calls_heard() before its launch, and ... */
    uint64_t before;      /* ... behind it; 0: unknown */
    uint32_t view;
    uint32_t block;
    uint32_t lane;
    uint32_t correlation; /* of the launch that its view was made for; 0: unknown */

    /* Set by the search. */
    tkt_lane_offsets offsets;
    tkt_phase_launch launch;
    uint32_t kernel;      /* index + 1; 0: not known, or not recorded */
    uint32_t kernel_name; /* string, also of an uncertain launch; 0: unknown */
    bool is_own;          /* its launch is the one that its view was made for */
    bool is_complete;     /* all launches that may be its own are recorded */
    uint32_t first_place; /* of the search's places: kernels that may be its own */
    uint32_t place_count;
} tkt_lane;

typedef struct tkt_lane_search {
    TKT_ARRAY_OF(tkt_lane_kernel) kernels; /* of one device */
    TKT_ARRAY_OF(tkt_lane) lanes;          /* of the same device, in any order */
    uint32_t first_correlation;            /* the recording has all launches after this id, ... */
    uint32_t last_correlation;             /* ... up to this one */
    bool has_lost;                         /* but records of some kernels are missing */
} tkt_lane_search;

/* Sets what is to be set of each lane. TAKT_NO_MEMORY. */
takt_status tkt_lanes_find(tkt_lane_search *search);

#endif
