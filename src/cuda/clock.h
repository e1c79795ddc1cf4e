/* From CUPTI's clock to Takt's.
 *
 * Both count nanoseconds of the same machine, so what is unknown is the distance between them,
 * which drifts by parts per million and jumps when CLOCK_REALTIME is set. Pairs of both clocks are
 * sampled while recording. A segment holds one distance: it lasts until a pair shows that the
 * distance has moved by more than the segment's tolerance. Within a segment times move by a
 * constant, so durations and gaps are the device's own to the nanosecond. */
#ifndef TKT_CUDA_CLOCK_H
#define TKT_CUDA_CLOCK_H

#include "base/containers.h"
#include "base/clock.h"

#include <takt/base.h>

/* One reading: CUPTI's clock, between two readings of Takt's. */
typedef struct tkt_clock_pair {
    uint64_t ticks;         /* the middle */
    uint64_t cupti_ns;
    uint32_t bracket_ticks; /* between the two readings */
    uint32_t reserved;
} tkt_clock_pair;

typedef struct tkt_cuda_clock {
    TKT_ARRAY_OF(tkt_clock_pair) pairs; /* by time; thinned out in quiet stretches */
    bool is_cupti; /* pairs are of CUPTI's clock of the host, and tell nothing of devices' own */
} tkt_cuda_clock;

/* A clock made ready to map: the pairs turned into segments with a fit. */
typedef struct tkt_clock_segment {
    uint64_t from_cupti_ns; /* first stamp that it is for */
    int64_t  offset_ns;     /* add this */
} tkt_clock_segment;

typedef struct tkt_clock_map {
    TKT_ARRAY_OF(tkt_clock_segment) segments;
    double uncertainty_ns; /* largest half bracket plus distance between a pair and its segment;
                            * where a clock was set, as far as it was set */
    bool   was_set;        /* a clock was set meanwhile: times near that moment are wrong */
} tkt_clock_map;

/* Samples a pair: the narrowest of 16 brackets around `read`, which returns CUPTI's clock. */
tkt_clock_pair tkt_clock_sample(uint64_t (*read)(void));

/* Adds a pair, later than all others; false without memory. */
bool tkt_cuda_clock_add(tkt_cuda_clock *clock, const tkt_clock_pair *pair);

/* Makes the map of a clock for a fit of Takt's clock; without pairs it changes nothing.
 * TAKT_NO_MEMORY. */
takt_status tkt_clock_map_make(const tkt_cuda_clock *clock, const tkt_clock_fit *fit,
                               tkt_clock_map *out);
void tkt_clock_map_fini(tkt_clock_map *map);

/* ns of the takt_now_ns() time line for a stamp. Map where an activity begins and add its duration:
 * its end may be another segment's. */
uint64_t tkt_clock_map_ns(const tkt_clock_map *map, uint64_t cupti_ns);

#endif
