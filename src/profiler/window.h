/* A window, for those who make it what it is: session.c and sealing.c. */
#ifndef TKT_PROFILER_WINDOW_H
#define TKT_PROFILER_WINDOW_H

#include "profiler/devices.h"
#include "profiler/session.h"

struct tkt_window {
    tkt_window      *next; /* in the list of open windows */
    tkt_wish         wish;
    bool             is_ended;
    uint64_t         begin_ticks;
    uint64_t         end_ticks;
    uint64_t         kept_ticks; /* records from here on are kept: as begin_ticks, unless released */
    bool             was_released;
    tkt_clock_fit    fit;
    uint64_t         losses[TAKT_LOSS_COUNT]; /* ended: while it lasted */
    uint64_t         losses_before[TAKT_LOSS_COUNT]; /* when it began */
    tkt_memory_state memory_before;
    tkt_memory_state memory_after;
    int64_t          realtime_offset_ns;
    double           residual_ns;
    TKT_ARRAY_OF(tkt_fold) folds; /* of the logs, when it has ended */
    takt_status      folds_status;
    tkt_device_part  devices;
    tkt_mutex        snapshots; /* held while one is made, and while the window ends */
};

#endif
