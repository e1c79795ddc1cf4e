/* The call that ends a step, where the schedule does not change what is done: while the profiler
 * waits, and in the middle of a long recording. */
#include "bench.h"

#include <stdio.h>

#define STEPS 1000u

static takt_profiler *profiler;

static __attribute__((noinline)) void run_step(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        takt_profiler_step(profiler);
}

static void measure(const char *name, takt_schedule schedule, double max_value)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.schedule = schedule;
    if (takt_profiler_create(&options, &profiler) != TAKT_OK ||
        takt_profiler_start(profiler) != TAKT_OK) {
        bench_tell_missing(name, "the profiler could not be started");
        takt_profiler_destroy(profiler);
        return;
    }
    const bench_loop step = {.run = run_step, .count = STEPS};
    bench_time time = bench_measure(&step);
    takt_profiler_destroy(profiler);
    bench_tell((bench_figure){.name = name,
                              .value = time.ns,
                              .unit = "ns",
                              .floor = time.floor_ns,
                              .max_value = max_value});
}

static void ignore_line(takt_log_level level, const char *line, void *user)
{
    (void)level;
    (void)line;
    (void)user;
}

void bench_step(void)
{
    takt_set_log(ignore_line, NULL); /* "no cycle was recorded" */
    measure("step_boundary", (takt_schedule){.active = UINT32_MAX, .repeat = 1}, 500);
    measure("step_boundary_waiting", (takt_schedule){.wait = UINT32_MAX, .active = 1, .repeat = 1},
            500);
    takt_set_log(NULL, NULL);
}
