/* Ticks, and what they are in nanoseconds.
 *
 * Ticks come from the invariant TSC (x86-64) or cntvct_el0 (aarch64) where it can be trusted,
 * otherwise they are CLOCK_MONOTONIC's nanoseconds; TAKT_CLOCK=monotonic in the environment asks
 * for the latter. A fit is a straight line through two readings of both clocks: one taken when the
 * library was loaded, one when the fit is made. It maps ticks to nanoseconds with integers, the
 * same for everyone who holds the same fit. */
#ifndef TKT_BASE_CLOCK_H
#define TKT_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Both gcc and clang have it on every platform of Takt's. */
__extension__ typedef __int128 tkt_int128;

typedef struct tkt_clock_fit {
    uint64_t base_ticks;
    uint64_t base_ns;
    uint64_t ns_per_tick; /* fixed point, 32 fractional bits */
    double   uncertainty_ns; /* at most so far off between loading and the fit, see clock.c */
} tkt_clock_fit;

/* Whether the inline fast path of takt/scope.h reads the same clock as tkt_ticks(). */
bool tkt_clock_is_inline(void);

uint64_t tkt_ticks(void);

/* Which clock that is: "tsc", "cntvct" or "monotonic"; static. */
const char *tkt_clock_name(void);

/* A fit over the time since the library was loaded, of 2 ms at least: it waits for what is missing
 * once in a process's life. */
tkt_clock_fit tkt_clock_fit_now(void);

/* ns_per_tick of a fit over at least half of the time up to `now_ticks`, a reading of the clock:
 * for durations, where a fit of their own would cost more than what they are taken of. */
uint64_t tkt_clock_rate(uint64_t now_ticks);

/* How far the fit is from CLOCK_MONOTONIC at this moment, in ns, absolute. */
double tkt_clock_residual_ns(const tkt_clock_fit *fit);

/* Rounds to nearest; ticks before base_ticks work too. */
static inline uint64_t tkt_clock_ns(const tkt_clock_fit *fit, uint64_t ticks)
{
    int64_t since_ticks = (int64_t)(ticks - fit->base_ticks);
    tkt_int128 since = (tkt_int128)since_ticks * (tkt_int128)fit->ns_per_tick;
    return fit->base_ns + (uint64_t)(int64_t)((since + (INT64_C(1) << 31)) >> 32);
}

/* A duration of so many ticks, rounded to nearest. */
static inline uint64_t tkt_clock_duration_ns(uint64_t ns_per_tick, uint64_t ticks)
{
    return (uint64_t)(((tkt_int128)ticks * (tkt_int128)ns_per_tick + (INT64_C(1) << 31)) >> 32);
}

/* Duration of one tick in ns. */
double tkt_clock_resolution_ns(const tkt_clock_fit *fit);

/* CLOCK_REALTIME minus CLOCK_MONOTONIC, in ns, now. */
int64_t tkt_clock_realtime_offset_ns(void);

/* Tests: ticks are what `read` returns, and fits map one tick to one nanosecond; NULL ends it. */
void tkt_clock_fake(uint64_t (*read)(void));

#endif
