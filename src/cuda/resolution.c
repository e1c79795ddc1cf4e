#include "cuda/resolution.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Of durations that have no step, three in `step` lie within 1 ns of a multiple by chance. */
#define LEAST_STEP  4
#define MOST_STEP   4096
#define LEAST_TAKEN 100 /* durations */
#define LEAST_KINDS 25  /* different ones */

static int compare(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Sorts them, and keeps one of each. */
static uint32_t keep_different(uint32_t *ns, uint32_t count)
{
    uint32_t kept = 0;
    qsort(ns, count, sizeof *ns, compare);
    for (uint32_t i = 0; i < count; i++)
        if (kept == 0 || ns[kept - 1] != ns[i])
            ns[kept++] = ns[i];
    return kept;
}

static bool is_step(const uint32_t *ns, uint32_t count, uint32_t step)
{
    for (uint32_t i = 0; i < count; i++)
        if ((ns[i] + 1) % step > 2)
            return false;
    return true;
}

double tkt_durations_step_ns(tkt_durations *durations)
{
    const uint32_t *ns = durations->ns;
    uint32_t count = keep_different(durations->ns, durations->count);
    if (durations->count < LEAST_TAKEN || count < LEAST_KINDS)
        return NAN;
    for (uint32_t step = MOST_STEP; step >= LEAST_STEP; step--)
        if (is_step(ns, count, step))
            return step;
    return 1;
}
