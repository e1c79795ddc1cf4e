/* Timing, see bench.h. A batch is about 20 microseconds: long against the clock that times it,
 * short against a time slice, so that an interruption spoils a few batches and not the median. */
#include "bench.h"

#include "base/clock.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS       15
#define BATCHES      201
#define CALIBRATE_NS 200e6

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double bench_seconds(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

double bench_cpu_seconds(void)
{
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t bench_ticks_ordered(void)
{
#if defined(__x86_64__)
    __builtin_ia32_lfence();
    uint64_t ticks = takt_ticks();
    __builtin_ia32_lfence();
    return ticks;
#else
    __asm__ volatile("isb" ::: "memory");
    return takt_ticks();
#endif
}

double bench_ns_per_tick(void)
{
    static double ns_per_tick;
    if (ns_per_tick != 0)
        return ns_per_tick;
    double begin = bench_seconds();
    uint64_t begin_ticks = bench_ticks_ordered();
    double end;
    do
        end = bench_seconds();
    while ((end - begin) * 1e9 < CALIBRATE_NS);
    uint64_t ticks = bench_ticks_ordered() - begin_ticks;
    ns_per_tick = (end - begin) * 1e9 / (double)ticks;
    return ns_per_tick;
}

void bench_pin(int core)
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET((unsigned)core, &cores);
    sched_setaffinity(0, sizeof cores, &cores);
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

double bench_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
    return values[count / 2];
}

static __attribute__((noinline)) void run_empty(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        BENCH_BARRIER();
}

static void run_inline_floor(uint64_t count)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t begin = takt_ticks();
        BENCH_BARRIER();
        sum += takt_ticks() - begin;
        __asm__ volatile("" : "+r"(sum)::"memory");
    }
}

/* Where Takt does not trust the processor's counter. */
static void run_library_floor(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        tkt_ticks();
        tkt_ticks();
    }
}

static __attribute__((noinline)) void run_floor(uint64_t count)
{
    if (tkt_clock_is_inline())
        run_inline_floor(count);
    else
        run_library_floor(count);
}

const bench_loop bench_empty = {.run = run_empty};
const bench_loop bench_floor = {.run = run_floor};

double bench_round(const bench_loop *loop)
{
    double batches[BATCHES];
    uint64_t count = loop->count ? loop->count : BENCH_BATCH;
    loop->run(count);
    for (size_t i = 0; i < BATCHES; i++) {
        if (loop->between)
            loop->between();
        uint64_t begin = bench_ticks_ordered();
        loop->run(count);
        batches[i] = (double)(bench_ticks_ordered() - begin) / (double)count;
    }
    return bench_median(batches, BATCHES) * bench_ns_per_tick();
}

static int compare_ratio(const void *left, const void *right)
{
    const bench_time *a = left;
    const bench_time *b = right;
    double difference = a->ns / a->floor_ns - b->ns / b->floor_ns;
    return (difference > 0) - (difference < 0);
}

bench_time bench_measure(const bench_loop *loop)
{
    bench_time rounds[ROUNDS];
    for (size_t i = 0; i < ROUNDS; i++) {
        double before = bench_round(&bench_floor);
        rounds[i].ns = bench_round(loop);
        rounds[i].floor_ns = fmin(before, bench_round(&bench_floor));
    }
    qsort(rounds, ROUNDS, sizeof *rounds, compare_ratio);
    return rounds[ROUNDS / 2];
}

bench_time bench_measure_above(const bench_loop *loop, const bench_loop *base)
{
    double above[ROUNDS];
    bench_time time = {.floor_ns = bench_round(&bench_floor)};
    for (size_t i = 0; i < ROUNDS; i++) {
        double before = bench_round(base);
        above[i] = bench_round(loop);
        above[i] -= fmin(before, bench_round(base));
    }
    time.ns = bench_median(above, ROUNDS);
    return time;
}
