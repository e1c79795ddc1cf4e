/* Two clocks and the line between them. Reading the processor's counter takes 7 to 20 ns, and the
 * inline code of takt/scope.h can do it. Other tools and other processes use CLOCK_MONOTONIC.
 *
 * A pair brackets one reading of CLOCK_MONOTONIC between two of the counter. The counter's value at
 * that moment lies between the two, so half of their distance bounds the error. Of a few pairs the
 * narrowest is kept. The counter itself resolves only a tick, which is 40 ns on aarch64 machines
 * whose counter runs at 25 MHz; so a tick is added to the error.
 *
 * The uncertainty of a fit is the larger error of its two pairs, plus CLOCK_MONOTONIC's granularity
 * of 1 ns: between two points that are at most e0 and e1 off, a line is at most max(e0, e1) off.
 * The uncertainty does not include NTP, which steers CLOCK_MONOTONIC's rate. Over long runs the
 * true relation bends by parts in a million; the residual of an older fit shows how much. */
#include "base/clock.h"

#include "base/file.h"

#include <takt/base.h>

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>

static uint64_t read_counter(void)
{
    return __rdtsc();
}

static uint64_t read_counter_in_order(void)
{
    return __rdtsc();
}

/* Advanced power management leaf, EDX bit 8: the TSC runs at one rate in all power states (Intel
 * SDM volume 3, "Invariant TSC"; AMD APM volume 3, appendix E.4). */
static bool counter_is_invariant(void)
{
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) && (edx >> 8 & 1);
}
#else
static uint64_t read_counter(void)
{
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

/* The processor may read its counter before earlier instructions have finished (Arm ARM, "Generic
 * Timer"); the barrier prevents that. */
static uint64_t read_counter_in_order(void)
{
    uint64_t ticks;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks)::"memory");
    return ticks;
}

/* The architecture fixes the generic timer's rate. */
static bool counter_is_invariant(void)
{
    return true;
}
#endif

#if defined(__x86_64__)
#define COUNTER_NAME "tsc"
#else
#define COUNTER_NAME "cntvct"
#endif

#define NS_PER_SECOND      INT64_C(1000000000)
#define BASELINE_NS        UINT64_C(2000000)
#define PAIR_ATTEMPTS      4
#define ONE_NS_PER_TICK    (UINT64_C(1) << 32)
#define MONOTONIC_GRAIN_NS 1.0
#define NO_SLEEP_NS        INT64_C(1000000) /* no machine sleeps for less */

typedef struct clock_pair {
    uint64_t ticks;
    uint64_t ns;
    uint64_t width_ticks; /* between the two counter readings */
    int64_t  asleep_ns;   /* how long the machine has slept since it was started */
} clock_pair;

typedef uint64_t (*tick_reader)(void);

enum {
    SOURCE_UNKNOWN,
    SOURCE_COUNTER,
    SOURCE_MONOTONIC
};

static pthread_once_t first_once = PTHREAD_ONCE_INIT;
static clock_pair first_pair; /* set by first_once */

/* What fits begin with: first_pair, or one from after the machine's last sleep. A reader takes no
 * lock, so a later pair does not overwrite the one before. */
static _Atomic(const clock_pair *) fit_begin = &first_pair;
static clock_pair later_pairs[8];
static atomic_uint later_count;

static pthread_once_t source_once = PTHREAD_ONCE_INIT;
static atomic_int source; /* set by source_once; no longer changes when it is known */
static _Atomic(tick_reader) fake_reader;

static int64_t read_clock(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

static uint64_t read_monotonic(void)
{
    return (uint64_t)read_clock(CLOCK_MONOTONIC);
}

/* CLOCK_MONOTONIC stands still while the machine sleeps, and CLOCK_BOOTTIME does not. If this thread
 * has to wait between the two, the difference is too small: the largest is right. */
static int64_t read_sleep(void)
{
    int64_t most = INT64_MIN;
    for (int i = 0; i < PAIR_ATTEMPTS; i++) {
        int64_t since_start = read_clock(CLOCK_BOOTTIME);
        int64_t asleep = since_start - read_clock(CLOCK_MONOTONIC);
        most = asleep > most ? asleep : most;
    }
    return most;
}

static clock_pair read_pair(void)
{
    clock_pair best = {.width_ticks = UINT64_MAX};
    for (int i = 0; i < PAIR_ATTEMPTS; i++) {
        uint64_t before = read_counter_in_order();
        uint64_t ns = read_monotonic();
        uint64_t width = read_counter_in_order() - before;
        if (width < best.width_ticks)
            best = (clock_pair){before + width / 2, ns, width, 0};
    }
    best.asleep_ns = read_sleep();
    return best;
}

/* TAKT_CLOCK=tsc selects the counter without the flag, which virtual machines often hide. */
static int choose_source(void)
{
    const char *value = tkt_environment("TAKT_CLOCK");
    if (value && strcmp(value, "monotonic") == 0)
        return SOURCE_MONOTONIC;
    if (value && strcmp(value, "tsc") == 0)
        return SOURCE_COUNTER;
    return counter_is_invariant() ? SOURCE_COUNTER : SOURCE_MONOTONIC;
}

static void find_source(void)
{
    atomic_store_explicit(&source, choose_source(), memory_order_relaxed);
}

/* Relaxed: the value is written once and orders nothing else. */
static int source_now(void)
{
    int now = atomic_load_explicit(&source, memory_order_relaxed);
    if (__builtin_expect(now != SOURCE_UNKNOWN, 1))
        return now;
    pthread_once(&source_once, find_source);
    return atomic_load_explicit(&source, memory_order_relaxed);
}

static void take_first_pair(void)
{
    first_pair = read_pair();
}

/* The earlier the first pair, the longer the baseline of every fit. choose_source() runs later:
 * cpuid traps in virtual machines, for up to tens of microseconds, and a program that never
 * profiles should not pay that. */
__attribute__((constructor(101))) static void start_at_load(void)
{
    pthread_once(&first_once, take_first_pair);
}

static tick_reader fake_now(void)
{
    /* acquire: pairs with the release in tkt_clock_fake() */
    return atomic_load_explicit(&fake_reader, memory_order_acquire);
}

bool tkt_clock_is_inline(void)
{
    return !fake_now() && source_now() == SOURCE_COUNTER;
}

const char *tkt_clock_name(void)
{
    return source_now() == SOURCE_COUNTER ? COUNTER_NAME : "monotonic";
}

uint64_t tkt_ticks(void)
{
    tick_reader fake = fake_now();
    if (__builtin_expect(fake != NULL, 0))
        return fake();
    return source_now() == SOURCE_COUNTER ? read_counter() : read_monotonic();
}

static tkt_clock_fit identity(double uncertainty_ns)
{
    return (tkt_clock_fit){.ns_per_tick = ONE_NS_PER_TICK, .uncertainty_ns = uncertainty_ns};
}

static void wait_until(uint64_t ns)
{
    struct timespec end = {(time_t)(ns / NS_PER_SECOND), (long)(ns % NS_PER_SECOND)};
    while (read_monotonic() < ns)
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL);
}

static double error_of(clock_pair pair, double ns_per_tick)
{
    return ((double)pair.width_ticks / 2 + 1) * ns_per_tick;
}

static tkt_clock_fit line_through(clock_pair from, clock_pair to)
{
    uint64_t ticks = to.ticks - from.ticks;
    tkt_int128 scaled_ns = (tkt_int128)(to.ns - from.ns) << 32;
    uint64_t ns_per_tick = (uint64_t)((scaled_ns + ticks / 2) / ticks);
    double rate = (double)ns_per_tick / (double)ONE_NS_PER_TICK;
    double from_error = error_of(from, rate);
    double to_error = error_of(to, rate);
    return (tkt_clock_fit){
        /* The later point is the base, since events are near it: over a short distance the rounding
         * of ns_per_tick adds up to little. */
        .base_ticks = to.ticks,
        .base_ns = to.ns,
        .ns_per_tick = ns_per_tick,
        .uncertainty_ns = MONOTONIC_GRAIN_NS + (from_error > to_error ? from_error : to_error),
    };
}

static void begin_fits_at(clock_pair pair)
{
    clock_pair *later = &later_pairs[atomic_fetch_add(&later_count, 1) % 8];
    *later = pair;
    /* release: pairs with the acquire in tkt_clock_fit_now() */
    atomic_store_explicit(&fit_begin, later, memory_order_release);
}

/* True if one line does not fit both: the machine slept, during which the counter may go on; or the
 * counter was reset, after a sleep or because the machine moved to another host. */
static bool have_parted(clock_pair from, clock_pair now)
{
    return now.asleep_ns - from.asleep_ns > NO_SLEEP_NS || (int64_t)(now.ticks - from.ticks) <= 0;
}

/* Once a recording; cold: the file is compiled for speed, but this for size. */
__attribute__((cold)) static tkt_clock_fit fit_from(clock_pair from)
{
    wait_until(from.ns + BASELINE_NS);
    clock_pair now = read_pair();
    if (!have_parted(from, now))
        return line_through(from, now);
    begin_fits_at(now);
    return fit_from(now);
}

tkt_clock_fit tkt_clock_fit_now(void)
{
    if (fake_now())
        return identity(0);
    if (source_now() != SOURCE_COUNTER)
        return identity(MONOTONIC_GRAIN_NS);
    pthread_once(&first_once, take_first_pair); /* done already, unless a constructor calls */
    /* acquire: pairs with the release in begin_fits_at() */
    return fit_from(*atomic_load_explicit(&fit_begin, memory_order_acquire));
}

static _Atomic uint64_t last_rate;
static _Atomic uint64_t rate_until; /* ticks up to which last_rate is good */

static uint64_t make_rate(void)
{
    tkt_clock_fit fit = tkt_clock_fit_now();
    const clock_pair *begin = atomic_load_explicit(&fit_begin, memory_order_acquire);
    atomic_store_explicit(&last_rate, fit.ns_per_tick, memory_order_relaxed);
    /* release: pairs with the acquire in tkt_clock_rate() */
    atomic_store_explicit(&rate_until, 2 * fit.base_ticks - begin->ticks, memory_order_release);
    return fit.ns_per_tick;
}

uint64_t tkt_clock_rate(uint64_t now_ticks)
{
    if (fake_now() || source_now() != SOURCE_COUNTER)
        return ONE_NS_PER_TICK;
    /* acquire: pairs with the release in make_rate() */
    if (now_ticks >= atomic_load_explicit(&rate_until, memory_order_acquire))
        return make_rate();
    return atomic_load_explicit(&last_rate, memory_order_relaxed);
}

__attribute__((cold)) double tkt_clock_residual_ns(const tkt_clock_fit *fit)
{
    if (fake_now() || source_now() != SOURCE_COUNTER)
        return 0;
    clock_pair now = read_pair();
    int64_t difference = (int64_t)(tkt_clock_ns(fit, now.ticks) - now.ns);
    return (double)(difference < 0 ? -difference : difference);
}

double tkt_clock_resolution_ns(const tkt_clock_fit *fit)
{
    return (double)fit->ns_per_tick / (double)ONE_NS_PER_TICK;
}

__attribute__((cold)) int64_t tkt_clock_realtime_offset_ns(void)
{
    int64_t best_width = INT64_MAX;
    int64_t offset = 0;
    for (int i = 0; i < PAIR_ATTEMPTS; i++) {
        int64_t before = read_clock(CLOCK_MONOTONIC);
        int64_t realtime = read_clock(CLOCK_REALTIME);
        int64_t width = read_clock(CLOCK_MONOTONIC) - before;
        if (width < best_width) {
            best_width = width;
            offset = realtime - (before + width / 2);
        }
    }
    return offset;
}

void tkt_clock_fake(uint64_t (*read)(void))
{
    /* release: pairs with the acquire in fake_now() */
    atomic_store_explicit(&fake_reader, read, memory_order_release);
}

/* Does not use a fit. A kept fit would drift away from the clock, and a new one for each call would
 * cost more than the C library's own reading, which uses the counter too. */
uint64_t takt_now_ns(void)
{
    tick_reader fake = fake_now();
    return fake ? fake() : read_monotonic();
}
