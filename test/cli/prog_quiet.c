/* Uses Takt as far as it goes without a device, and then prints what is mapped into the process;
 * the script no_cuda.sh looks for what should not be there. */
#include <takt/takt.h>

#include <stdio.h>

static void work(void)
{
    TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, "work");
    TAKT_TIMER("work", .synchronize = true, .filter = TAKT_TIMING_ALL, .nvtx = true);
}

static void profile(takt_mode mode)
{
    static const char *const reports[] = {"summary",    "scopes",  "tree",  "timeline",
                                          "activities", "devices", "steps", "memory"};
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = NULL;
    options.schedule = (takt_schedule){.warmup = 1, .active = 2, .repeat = 1};
    options.mode = mode;
    options.synchronize = true;
    options.filter = TAKT_TIMING_ALL;
    options.reports = reports;
    options.report_count = sizeof reports / sizeof *reports;
    takt_profiler_create(&options, &profiler);
    takt_profiler_start(profiler);
    for (int step = 0; step < 3; step++) {
        work();
        takt_profiler_step(profiler);
    }
    takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
}

static int print_maps(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    if (!maps)
        return 1;
    for (int c = getc(maps); c != EOF; c = getc(maps))
        fputc(c, stderr);
    return fclose(maps);
}

int main(void)
{
    takt_timed result;
    takt_memory memory;
    work();
    profile(TAKT_MODE_TRACE);
    profile(TAKT_MODE_SUMMARY);
    profile(TAKT_MODE_FLIGHT);
    TAKT_TIMED(&result, .repeat = 2) {
        work();
    }
    takt_timed_print(&result);
    takt_memory_query("cuda:0", &memory);
    return print_maps();
}
