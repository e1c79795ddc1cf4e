/* What the rest of the interface costs while it records, and a timer, which prints nothing here. */
#include "bench.h"
#include "device.h"

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

/* Kernels as host code: each batch is a block, and is read before the next one. */

static takt_device_timers *device_timers;
static bool are_on;

static void run_device_scopes(uint64_t count)
{
    bench_device_scopes(takt_device_timers_view(are_on ? device_timers : NULL), count);
}

static void run_device_phases(uint64_t count)
{
    bench_device_phases(takt_device_timers_view(device_timers), count);
}

static void read_device(void)
{
    takt_device_timers_read(device_timers, NULL);
}

static void tell_device(const char *name, void (*run)(uint64_t count))
{
    bench_time time = bench_measure(&(bench_loop){.run = run, .between = read_device});
    bench_tell(
        (bench_figure){.name = name, .value = time.ns, .unit = "ns", .floor = time.floor_ns});
}

static void tell_device_timers(void)
{
    static const char *const names[] = {"phase"};
    takt_device_timers_options options = TAKT_DEVICE_TIMERS_OPTIONS_INIT;
    options.on_host = options.always = true;
    options.blocks = 4;
    options.records = (uint32_t)BENCH_BATCH;
    if (takt_device_timers_create(names, 1, &options, &device_timers) != TAKT_OK) {
        bench_tell_missing("device_scope_host", "no memory");
        return;
    }
    are_on = true;
    tell_device("device_scope_host", run_device_scopes);
    tell_device("device_phase_host", run_device_phases);
    are_on = false;
    tell_device("device_scope_off_host", run_device_scopes);
    takt_device_timers_destroy(device_timers);
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
    tell_device_timers();
}
