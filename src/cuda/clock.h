/* From CUPTI's clock to Takt's.
 *
 * Both count nanoseconds on the same machine. Only the offset between them is unknown: it drifts by
 * parts per million, and jumps when somebody sets CLOCK_REALTIME. Takt samples pairs of both clocks
 * while it records. A segment has one offset, and lasts until a pair shows that the offset has
 * moved by more than the tolerance. Within a segment all times move by a constant, so durations and
 * gaps stay the device's own to the nanosecond. */
#ifndef TKT_CUDA_CLOCK_H
#define TKT_CUDA_CLOCK_H

#include "base/containers.h"
#include "base/clock.h"

#include <takt/base.h>

/* One reading of CUPTI's clock, between two readings of Takt's. */
typedef struct tkt_clock_pair {
    uint64_t ticks;         /* the middle between the two readings */
    uint64_t cupti_ns;
    uint32_t bracket_ticks; /* between the two readings */
    uint32_t reserved;
} tkt_clock_pair;

typedef struct tkt_cuda_clock {
    TKT_ARRAY_OF(tkt_clock_pair) pairs; /* by time; sparse where the clocks run evenly */
    bool is_cupti; /* the pairs are of CUPTI's host clock, and say nothing about the devices'
                    * clocks */
} tkt_cuda_clock;

/* A clock prepared for mapping: a fit of Takt's clock turns the pairs into segments. */
typedef struct tkt_clock_segment {
    uint64_t from_cupti_ns; /* first time stamp that it applies to */
    int64_t  offset_ns;     /* add this */
} tkt_clock_segment;

typedef struct tkt_clock_map {
    TKT_ARRAY_OF(tkt_clock_segment) segments;
    double uncertainty_ns; /* largest sum of half a bracket and a pair's distance from its segment;
                            * where a clock was set, the whole step */
    bool   was_set;        /* somebody set a clock meanwhile: times near that moment are wrong */
} tkt_clock_map;

/* Samples a pair: the narrowest of 16 brackets around `read`, which returns CUPTI's clock. */
tkt_clock_pair tkt_clock_sample(uint64_t (*read)(void));

/* Adds a pair, which must be later than all others; false without memory. */
bool tkt_cuda_clock_add(tkt_cuda_clock *clock, const tkt_clock_pair *pair);

/* Makes the map of a clock for a fit of Takt's clock. Without pairs the map changes nothing.
 * TAKT_NO_MEMORY. */
takt_status tkt_clock_map_make(const tkt_cuda_clock *clock, const tkt_clock_fit *fit,
                               tkt_clock_map *out);
void tkt_clock_map_fini(tkt_clock_map *map);

/* Returns a stamp's time on the time line of takt_now_ns(), in ns. For an activity, map its begin
 * and add its duration: its end may lie in another segment. */
uint64_t tkt_clock_map_ns(const tkt_clock_map *map, uint64_t cupti_ns);

#endif
