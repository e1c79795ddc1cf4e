/* What a scope costs in the program that has it, in each mode of recording. The calls stand in
 * loops of their own: nothing of them is hoisted, and the loop itself costs a third of a
 * nanosecond. */
#include "bench.h"

#include "base/arena.h"
#include "record/control.h"
#include "record/log.h"

#include <stdlib.h>

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

/* Groups of figures. */

static void tell(const char *name, void (*run)(uint64_t count), double max_ratio)
{
    bench_loop loop = {.run = run, .between = bench_release};
    if (run == run_tree)
        loop.count = TREE_SCOPES * (uint64_t)TKT_CHUNK_SLOTS;
    bench_time time = bench_measure(&loop);
    bench_tell((bench_figure){.name = name,
                              .value = time.ns,
                              .unit = "ns",
                              .floor = time.floor_ns,
                              .max_ratio = max_ratio});
}

static void measure_off(void)
{
    const bench_loop scope = {.run = run_scope};
    bench_time time = bench_measure_above(&scope, &bench_empty);
    bench_tell((bench_figure){.name = "scope_off",
                              .value = time.ns,
                              .unit = "ns",
                              .floor = time.floor_ns,
                              .max_value = 0.5});
}

static void measure_trace(void)
{
    bench_record_begin(TKT_KEEP);
    tell("scope_trace", run_scope, 1.10);
    tell("scope_trace_8", run_eight, 0);
    tell("scope_trace_8_random", run_eight_random, 0);
    tell("scope_trace_tree", run_tree, 0);
    tell("scope_call", run_call, 1.6);
    tell("scope_begin_end", run_begin_end, 0);
    tell("phase_trace", run_phase, 0.6);
    bench_record_end();
}

static void measure_summary(void)
{
    bench_record_begin(TKT_FOLD);
    tell("scope_summary", run_scope, 1.30);
    tell("scope_summary_8", run_eight, 1.6);
    tell("scope_summary_8_random", run_eight_random, 0);
    tell("scope_summary_tree", run_tree, 0);
    tell("phase_summary", run_phase, 0);
    bench_record_end();
    bench_record_begin(TKT_KEEP | TKT_FOLD);
    tell("scope_both", run_scope, 1.45);
    bench_record_end();
}

/* Into memory that nothing has touched yet, as after a start without a warmup. */
static void measure_fresh(void)
{
    const uint64_t bytes = UINT64_C(64) << 20;
    tkt_pool_limit(4 * bytes);
    bench_record_begin(TKT_KEEP);
    while (tkt_pool_used_bytes() + TKT_CHUNK_BYTES < tkt_pool_total_bytes())
        run_scope(BENCH_BATCH);
    double floor = bench_round(&bench_floor);
    const uint64_t count = bytes / sizeof(takt_record);
    uint64_t begin = bench_ticks_ordered();
    run_scope(count);
    double ns = (double)(bench_ticks_ordered() - begin) * bench_ns_per_tick() / (double)count;
    bench_record_end();
    bench_tell(
        (bench_figure){.name = "scope_trace_fresh", .value = ns, .unit = "ns", .floor = floor});
}

static uint64_t slots_in_log(void)
{
    tkt_log_view view;
    uint64_t slots = 0;
    if (tkt_log_view_open(takt_thread_hot_v1.log, 0, &view) != TAKT_OK)
        return 0;
    for (size_t i = 0; i < view.parts.count; i++)
        slots += view.parts.items[i].count;
    tkt_log_view_close(takt_thread_hot_v1.log, &view);
    return slots;
}

/* In the buffer; and what the pool gives for it, which counts the head of each chunk. */
static void measure_bytes(void)
{
    const uint64_t count = 1000 * BENCH_BATCH;
    bench_record_begin(TKT_KEEP);
    run_scope(1);
    uint64_t slots = slots_in_log();
    uint64_t bytes = tkt_pool_used_bytes();
    run_scope(count);
    slots = slots_in_log() - slots;
    bytes = tkt_pool_used_bytes() - bytes;
    bench_record_end();
    bench_tell((bench_figure){.name = "scope_bytes",
                              .value = (double)(slots * sizeof(takt_record)) / (double)count,
                              .unit = "bytes",
                              .max_value = 16});
    bench_tell((bench_figure){
        .name = "scope_bytes_in_pool", .value = (double)bytes / (double)count, .unit = "bytes"});
}

void bench_scopes(void)
{
    fill_random_sites();
    measure_off();
    measure_trace();
    measure_summary();
    measure_fresh();
    measure_bytes();
}
