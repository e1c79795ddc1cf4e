/* What scopes cost among a program's work, in estimates: takt_facts.cost_ns prices them in a loop
 * of nothing else. Each shape of work runs in turns with and without a recording. The bounds that
 * reports tell (src/trace/cost.c) come from here. */
#include "bench.h"

#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

enum {
    CELLS = 1 << 23, /* 32 MiB: beyond the caches */
    NEAR_CELLS = 1 << 17,
    SCOPES = 1 << 17
};

static uint32_t *cells;
static uint32_t seed = 1;
static volatile uint32_t sink;

static uint32_t next(void)
{
    return seed = seed * 1664525 + 1013904223;
}

static NOINLINE void nothing(void)
{
    TAKT_SCOPE("nothing");
    BENCH_BARRIER();
}

static void run_tight(void)
{
    for (int i = 0; i < SCOPES; i++)
        nothing();
}

/* Loads that do not depend on each other: the processor has several under way, but waits for them
 * before it reads the clock. */
static NOINLINE uint32_t gather(uint32_t k, uint32_t count)
{
    TAKT_SCOPE("gather");
    return cells[k % count] + cells[k * 7919 % count] + cells[k * 104729 % count] +
           cells[k * 15485863 % count];
}

static void run_near(void)
{
    for (int i = 0; i < SCOPES; i++)
        sink += gather(next(), NEAR_CELLS);
}

static void run_far(void)
{
    for (int i = 0; i < SCOPES; i++)
        sink += gather(next(), CELLS);
}

/* Each load depends on the one before: the processor has time for Takt meanwhile. */
static NOINLINE uint32_t follow(uint32_t k)
{
    TAKT_SCOPE("follow");
    return cells[k % CELLS];
}

static void run_chain(void)
{
    uint32_t k = 1;
    for (int i = 0; i < SCOPES; i++)
        k = follow(k + (uint32_t)i);
    sink = k;
}

/* Many functions that are called in no order, as in an engine. */
#define F1(n)                                                                                      \
    static NOINLINE float f##n(float x)                                                            \
    {                                                                                              \
        TAKT_SCOPE("f" #n);                                                                        \
        return x * 0.5F + (float)(cells[n##U * 977U % CELLS] >> 8);                                \
    }
#define F10(n)                                                                                     \
    F1(n##0) F1(n##1) F1(n##2) F1(n##3) F1(n##4) F1(n##5) F1(n##6) F1(n##7) F1(n##8) F1(n##9)
#define F100(n)                                                                                    \
    F10(n##0)                                                                                      \
    F10(n##1) F10(n##2) F10(n##3) F10(n##4) F10(n##5) F10(n##6) F10(n##7) F10(n##8) F10(n##9)
#define P1(n) f##n,
#define P10(n)                                                                                     \
    P1(n##0) P1(n##1) P1(n##2) P1(n##3) P1(n##4) P1(n##5) P1(n##6) P1(n##7) P1(n##8) P1(n##9)
#define P100(n)                                                                                    \
    P10(n##0)                                                                                      \
    P10(n##1) P10(n##2) P10(n##3) P10(n##4) P10(n##5) P10(n##6) P10(n##7) P10(n##8) P10(n##9)
F100(1)
F100(2)
F100(3) F100(4) F100(5) F100(6) F100(7) F100(8) static float (*const functions[])(float) = {
    P100(1) P100(2) P100(3) P100(4) P100(5) P100(6) P100(7) P100(8)};

static void run_code(void)
{
    float x = 0;
    for (int i = 0; i < SCOPES; i++)
        x = functions[(next() >> 8) % 800](x);
    sink = (uint32_t)x;
}

static void tell(const char *name, void (*run)(void))
{
    double ratio = bench_cost_in_estimates(run, run);
    if (isnan(ratio))
        bench_tell_missing(name, "no memory");
    else
        bench_tell(
            (bench_figure){.name = name, .value = ratio, .unit = "estimates", .max_value = 5});
}

void bench_cost_places(void)
{
    cells = malloc(CELLS * sizeof *cells);
    if (!cells) {
        bench_tell_missing("cost_in_places", "no memory");
        return;
    }
    for (size_t i = 0; i < CELLS; i++)
        cells[i] = next();
    tell("cost_in_tight_loop", run_tight);
    tell("cost_in_code", run_code);
    tell("cost_in_chain_of_loads", run_chain);
    tell("cost_in_near_loads", run_near);
    tell("cost_in_far_loads", run_far);
    free(cells);
}
