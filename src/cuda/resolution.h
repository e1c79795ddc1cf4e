/* The step of a device's clock, from how long activities took: CUPTI does not tell it. An H200's times
 * are multiples of 32 ns, give or take the rounding of one. */
#ifndef TKT_CUDA_RESOLUTION_H
#define TKT_CUDA_RESOLUTION_H

#include <stdint.h>

enum {
    TKT_DURATIONS = 512
};

typedef struct tkt_durations {
    uint32_t ns[TKT_DURATIONS]; /* the first ones that differ from those before them */
    uint32_t count;
} tkt_durations; /* starts as {0} */

static inline void tkt_durations_add(tkt_durations *durations, uint64_t ns)
{
    uint32_t count = durations->count;
    if (count == TKT_DURATIONS || ns == 0 || ns > UINT32_MAX ||
        (count > 0 && durations->ns[count - 1] == ns))
        return;
    durations->ns[count] = (uint32_t)ns;
    durations->count = count + 1;
}

/* The greatest step that all durations are multiples of within 1 ns; 1 if there is none. NAN: too few
 * different durations to tell. Changes the durations. */
double tkt_durations_step_ns(tkt_durations *durations);

#endif
