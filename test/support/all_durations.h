/* The histogram of all durations, where a fold keeps none because the extremes tell all. */
#ifndef TEST_ALL_DURATIONS_H
#define TEST_ALL_DURATIONS_H

#include "record/fold.h"

static inline tkt_histogram all_durations(const tkt_stats *stats, const tkt_histogram *histogram)
{
    tkt_histogram all = {{0}};
    tkt_histogram_add_stats(&all, 0, stats, histogram);
    return all;
}

#endif
