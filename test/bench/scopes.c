/* What a scope costs in the program that has it, in each mode of recording. The calls stand in
 * loops of their own: nothing of them is hoisted, and the loop itself costs a third of a
 * nanosecond. */
#include "bench.h"

#include "record/control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE     __attribute__((noinline))
#define RANDOM_COUNT 4096u /* a power of two */
#define TREE_SCOPES  15u

static NOINLINE void run_scope(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        TAKT_SCOPE("scope");
        BENCH_BARRIER();
    }
}

static NOINLINE void run_call(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        takt_begin("a scope by name");
        BENCH_BARRIER();
        takt_end();
    }
}

static NOINLINE void run_begin_end(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        TAKT_BEGIN("begin and end");
        BENCH_BARRIER();
        TAKT_END("begin and end");
    }
}

static NOINLINE void run_phase(uint64_t count)
{
    TAKT_SCOPE("phases");
    for (uint64_t i = 0; i < count; i++) {
        TAKT_PHASE("phase");
        BENCH_BARRIER();
    }
}

static NOINLINE void run_inactive_timer(uint64_t count)
{
    static volatile bool is_inactive = true;
    for (uint64_t i = 0; i < count; i++) {
        TAKT_TIMER("timer", .inactive = is_inactive);
        BENCH_BARRIER();
    }
}

static NOINLINE void run_silent_timer(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        TAKT_TIMER("timer", .silent = true);
        BENCH_BARRIER();
    }
}

/* A scope of its own each. */
#define SITE_FUNCTION(number)                                                                      \
    static inline void scope_##number(void)                                                        \
    {                                                                                              \
        TAKT_SCOPE("scope " #number);                                                              \
        BENCH_BARRIER();                                                                           \
    }
SITE_FUNCTION(0)
SITE_FUNCTION(1)
SITE_FUNCTION(2)
SITE_FUNCTION(3)
SITE_FUNCTION(4)
SITE_FUNCTION(5)
SITE_FUNCTION(6)
SITE_FUNCTION(7)

static NOINLINE void run_eight(uint64_t count)
{
    for (uint64_t i = 0; i < count; i += 8) {
        scope_0();
        scope_1();
        scope_2();
        scope_3();
        scope_4();
        scope_5();
        scope_6();
        scope_7();
    }
}

static void run_one_of_eight(unsigned which)
{
    switch (which) {
    case 0:
        scope_0();
        break;
    case 1:
        scope_1();
        break;
    case 2:
        scope_2();
        break;
    case 3:
        scope_3();
        break;
    case 4:
        scope_4();
        break;
    case 5:
        scope_5();
        break;
    case 6:
        scope_6();
        break;
    default:
        scope_7();
        break;
    }
}

static uint8_t random_sites[RANDOM_COUNT];
static unsigned next_random;

/* The processor mispredicts the branch to most of them, which scope_trace_8_random shows too. */
static NOINLINE void run_eight_random(uint64_t count)
{
    unsigned at = next_random;
    for (uint64_t i = 0; i < count; i++)
        run_one_of_eight(random_sites[at++ % RANDOM_COUNT]);
    next_random = at;
}

/* A tree four deep, as instrumented code has it: fifteen scopes, eight of them leaves. */
static NOINLINE void run_tree(uint64_t count)
{
    for (uint64_t i = 0; i < count; i += TREE_SCOPES) {
        TAKT_SCOPE("root");
        for (int j = 0; j < 2; j++) {
            TAKT_SCOPE("branch");
            for (int k = 0; k < 2; k++) {
                TAKT_SCOPE("twig");
                scope_0();
                scope_1();
            }
        }
    }
}

static void fill_random_sites(void)
{
    srand(1);
    for (unsigned i = 0; i < RANDOM_COUNT; i++)
        random_sites[i] = (uint8_t)((unsigned)rand() >> 8 & 7u);
}

/* Figures without a budget show what stands behind those that have one. */
static const struct scope_case {
    const char *name;
    void (*run)(uint64_t count);
    uint32_t modes;
    double max_ratio;
} cases[] = {
    {"scope_trace", run_scope, TKT_KEEP, 1.10},
    {"scope_trace_8", run_eight, TKT_KEEP, 0},
    {"scope_trace_8_random", run_eight_random, TKT_KEEP, 0},
    {"scope_trace_tree", run_tree, TKT_KEEP, 0},
    {"scope_call", run_call, TKT_KEEP, 1.6},
    {"scope_begin_end", run_begin_end, TKT_KEEP, 0},
    {"phase_trace", run_phase, TKT_KEEP, 0.6},
    {"scope_summary", run_scope, TKT_FOLD, 1.30},
    {"scope_summary_8", run_eight, TKT_FOLD, 1.6},
    {"scope_summary_8_random", run_eight_random, TKT_FOLD, 0},
    {"scope_summary_tree", run_tree, TKT_FOLD, 0},
    {"phase_summary", run_phase, TKT_FOLD, 0},
    {"scope_both", run_scope, TKT_KEEP | TKT_FOLD, 1.45},
    {"timer_silent", run_silent_timer, 0, 0}, /* outside of any recording */
};

#define CASE_COUNT (sizeof cases / sizeof *cases)

/* Whole chunks, as BENCH_BATCH. */
static uint64_t count_of(const struct scope_case *one)
{
    return one->run == run_tree ? TREE_SCOPES * (uint64_t)TKT_CHUNK_SLOTS : BENCH_BATCH;
}

static void measure(const struct scope_case *one)
{
    bench_loop loop = {.run = one->run, .between = bench_release, .count = count_of(one)};
    if (one->modes)
        bench_record_begin(one->modes);
    bench_time time = bench_measure(&loop);
    if (one->modes)
        bench_record_end();
    bench_tell((bench_figure){.name = one->name,
                              .value = time.ns,
                              .unit = "ns",
                              .floor = time.floor_ns,
                              .max_ratio = one->max_ratio});
}

static void measure_off(const char *name, void (*run)(uint64_t count), double max_ns)
{
    const bench_loop loop = {.run = run};
    bench_time time = bench_measure_above(&loop, &bench_empty);
    bench_tell((bench_figure){.name = name,
                              .value = time.ns,
                              .unit = "ns",
                              .floor = time.floor_ns,
                              .max_value = max_ns});
}

void bench_scopes(void)
{
    fill_random_sites();
    measure_off("scope_off", run_scope, 0.5);
    measure_off("timer_inactive", run_inactive_timer, 1);
    for (size_t i = 0; i < CASE_COUNT; i++)
        measure(&cases[i]);
}
