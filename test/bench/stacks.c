/* What call stacks cost: a scope below so many frames of the bench's own, whose stack is the one it
 * had last time, and walking the stack, as it is done for one that is new to the thread. */
#include "bench.h"

#include "base/dynlib.h"
#include "record/control.h"

#define NOINLINE __attribute__((noinline))
#define BATCH    4000u

static void (*at_the_bottom)(uint64_t count);

/* Frames are counted, so no call of these may be the last thing that its caller does. */
static NOINLINE void descend(uint32_t frames, uint64_t count)
{
    if (frames > 1)
        descend(frames - 1, count);
    else
        at_the_bottom(count);
    BENCH_BARRIER();
}

static NOINLINE void run_scope(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        TAKT_SCOPE("scope with a stack");
        BENCH_BARRIER();
    }
}

static NOINLINE void walk_from(const void *caller, uint64_t count)
{
    tkt_return returns[128];
    for (uint64_t i = 0; i < count; i++)
        tkt_unwind(caller, returns, 128);
}

static NOINLINE void run_walk(uint64_t count)
{
    walk_from(__builtin_return_address(0), count);
    BENCH_BARRIER();
}

static void below_10(uint64_t count)
{
    descend(10, count);
}
static void below_20(uint64_t count)
{
    descend(20, count);
}

static void measure(const char *name, void (*bottom)(uint64_t), void (*run)(uint64_t))
{
    const bench_loop loop = {.run = run, .between = bench_release, .count = BATCH};
    at_the_bottom = bottom;
    bench_time time = bench_measure(&loop);
    bench_tell(
        (bench_figure){.name = name, .value = time.ns, .unit = "ns", .floor = time.floor_ns});
}

void bench_stacks(void)
{
    if (!tkt_unwind_load()) {
        bench_tell_missing("scope_stack_10", "there is no libgcc_s.so.1");
        return;
    }
    bench_record_begin(TKT_KEEP | TKT_STACKS);
    measure("scope_stack_10", run_scope, below_10);
    measure("scope_stack_20", run_scope, below_20);
    bench_record_end();
    measure("stack_walk_10", run_walk, below_10);
    measure("stack_walk_20", run_walk, below_20);
}
