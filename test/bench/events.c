/* What the rest of the interface costs while it records, and a timer, which prints nothing here. */
#include "bench.h"

#include "record/control.h"

#define NOINLINE __attribute__((noinline))

static NOINLINE void run_mark(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        TAKT_MARK("mark");
}

static NOINLINE void run_counter(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        TAKT_COUNTER("counter", i);
}

static NOINLINE void run_argument(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        TAKT_SCOPE("scope with an argument");
        TAKT_ARG("cells", i);
    }
}

static NOINLINE void run_activity(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, "activity");
        BENCH_BARRIER();
    }
}

static NOINLINE void run_timer(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        TAKT_TIMER("timer", .silent = true);
        BENCH_BARRIER();
    }
}

static void tell(const char *name, void (*run)(uint64_t count))
{
    bench_time time = bench_measure(&(bench_loop){.run = run, .between = bench_release});
    bench_tell(
        (bench_figure){.name = name, .value = time.ns, .unit = "ns", .floor = time.floor_ns});
}

void bench_events(void)
{
    bench_record_begin(TKT_KEEP | TKT_ARGUMENTS);
    tell("mark_trace", run_mark);
    tell("counter_trace", run_counter);
    tell("scope_argument_trace", run_argument);
    tell("activity_trace", run_activity);
    bench_record_end();
    tell("timer_silent", run_timer);
}
