/* Ticks, and their conversion to nanoseconds.
 *
 * Ticks come from the invariant TSC (x86-64) or cntvct_el0 (aarch64) if that clock can be trusted.
 * Otherwise, or with TAKT_CLOCK=monotonic in the environment, they are CLOCK_MONOTONIC's
 * nanoseconds. A fit is a straight line through two readings of both clocks: one taken when the
 * library was loaded, or after the machine slept, and one when the fit is made. It maps ticks to
 * nanoseconds in integer arithmetic, so everyone who holds the same fit gets the same result. */
#ifndef TKT_BASE_CLOCK_H
#define TKT_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* gcc and clang have it on every platform that Takt supports. */
__extension__ typedef __int128 tkt_int128;

typedef struct tkt_clock_fit {
    uint64_t base_ticks;
    uint64_t base_ns;
    uint64_t ns_per_tick; /* fixed point, 32 fractional bits */
    double   uncertainty_ns; /* bound of the error between loading and the fit, see clock.c */
} tkt_clock_fit;

/* True if the inline fast path of takt/scope.h reads the same clock as tkt_ticks(). */
bool tkt_clock_is_inline(void);

uint64_t tkt_ticks(void);

/* The name of the clock that tkt_ticks() reads: "tsc", "cntvct" or "monotonic"; static. */
const char *tkt_clock_name(void);

/* A fit over the time since the library was loaded, or since the machine slept. That time must be
 * at least 2 ms, so an early call waits for the rest of it. */
tkt_clock_fit tkt_clock_fit_now(void);

/* ns_per_tick of a fit that covers at least half of the time up to `now_ticks`, a reading of the
 * clock. For durations so short that a new fit would cost more. */
uint64_t tkt_clock_rate(uint64_t now_ticks);

/* The absolute distance of the fit from CLOCK_MONOTONIC at this moment, in ns. */
double tkt_clock_residual_ns(const tkt_clock_fit *fit);

/* Rounds to nearest. Accepts ticks before base_ticks. */
static inline uint64_t tkt_clock_ns(const tkt_clock_fit *fit, uint64_t ticks)
{
    int64_t since_ticks = (int64_t)(ticks - fit->base_ticks);
    tkt_int128 since = (tkt_int128)since_ticks * (tkt_int128)fit->ns_per_tick;
    return fit->base_ns + (uint64_t)(int64_t)((since + (INT64_C(1) << 31)) >> 32);
}

/* The duration of `ticks`, rounded to nearest. */
static inline uint64_t tkt_clock_duration_ns(uint64_t ns_per_tick, uint64_t ticks)
{
    return (uint64_t)(((tkt_int128)ticks * (tkt_int128)ns_per_tick + (INT64_C(1) << 31)) >> 32);
}

/* The duration of one tick in ns. */
double tkt_clock_resolution_ns(const tkt_clock_fit *fit);

/* CLOCK_REALTIME minus CLOCK_MONOTONIC at this moment, in ns. */
int64_t tkt_clock_realtime_offset_ns(void);

/* For tests: `read` returns the ticks, and fits map one tick to one nanosecond; NULL ends this. */
void tkt_clock_fake(uint64_t (*read)(void));

#endif
