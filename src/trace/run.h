/* The duration of every step of a run, recorded or not, in memory that does not grow.
 *
 * The run consists of parts. At first each part is one step, 8 bytes. When all parts are in use,
 * neighbours are joined in pairs, and from then on a part has twice as many steps. Totals, minima
 * and maxima of the parts stay exact, and the slowest steps are kept one by one. */
#ifndef TKT_TRACE_RUN_H
#define TKT_TRACE_RUN_H

#include <stddef.h>
#include <stdint.h>

#define TKT_RUN_PARTS   4096u /* even */
#define TKT_RUN_SLOWEST 10u
#define TKT_RUN_WINDOWS 128u

typedef struct tkt_run_step {
    uint64_t number; /* from 0 */
    uint64_t duration_ns;
} tkt_run_step;

/* Recorded steps. If there are too many windows, two neighbours become one, which then also has
 * steps that were not recorded. */
typedef struct tkt_run_window {
    uint64_t first; /* number of a step */
    uint64_t last;
    uint64_t recorded; /* steps; last - first + 1 unless windows were joined */
} tkt_run_window;

typedef struct tkt_run_steps {
    uint64_t       step_count; /* steps that have ended */
    uint64_t       shift;      /* a part has 1 << shift steps, the last one perhaps fewer */
    uint64_t       slowest_count;
    uint64_t       window_count;
    tkt_run_step   slowest[TKT_RUN_SLOWEST]; /* slowest first; of equal ones the earlier */
    tkt_run_window windows[TKT_RUN_WINDOWS]; /* in order */
    uint64_t       total_ns[TKT_RUN_PARTS];
    uint64_t       min_ns[TKT_RUN_PARTS]; /* unused while a part is one step, and so is this: */
    uint64_t       max_ns[TKT_RUN_PARTS];
} tkt_run_steps;

typedef struct tkt_run_part {
    uint64_t first; /* number of its first step */
    uint64_t count; /* at least 1 */
    uint64_t total_ns;
    uint64_t min_ns;
    uint64_t max_ns;
} tkt_run_part;

/* Forgets all steps. Zeros are an empty run, too. */
void tkt_run_clear(tkt_run_steps *run);

/* Adds the next step. */
void tkt_run_add(tkt_run_steps *run, uint64_t duration_ns);

/* Adds a window of `count` recorded steps, which is behind all others. None if `count` is 0. */
void tkt_run_add_window(tkt_run_steps *run, uint64_t first, uint64_t count);

static inline size_t tkt_run_part_count(const tkt_run_steps *run)
{
    uint64_t whole = run->step_count >> run->shift;
    return (size_t)(whole + (whole << run->shift < run->step_count));
}

/* Of each array that is in use. */
static inline size_t tkt_run_part_bytes(const tkt_run_steps *run)
{
    return tkt_run_part_count(run) * sizeof run->total_ns[0];
}

/* `index` is below tkt_run_part_count(). */
tkt_run_part tkt_run_part_at(const tkt_run_steps *run, size_t index);

typedef enum tkt_run_recorded {
    TKT_RUN_NOT_RECORDED,
    TKT_RUN_RECORDED,
    TKT_RUN_PERHAPS_RECORDED /* its window was joined from several */
} tkt_run_recorded;

tkt_run_recorded tkt_run_is_recorded(const tkt_run_steps *run, uint64_t step);

/* Returns a copy to be freed with tkt_free(). NULL without memory. */
tkt_run_steps *tkt_run_copy(const tkt_run_steps *run);

#endif
